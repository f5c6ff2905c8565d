"""Projections of the body of differences, and radii, for the rules about volumes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import exp, gamma, pi, sqrt
from typing import Final

import numpy as np

from dpverify.search import bodies, polytopes
from dpverify.search.offers import Asked, Offer, Vectors, argmax, rational_text
from dpverify.trusted.facts.bodies import Body
from dpverify.trusted.facts.errors import EUCLIDEAN
from dpverify.trusted.language.expr import Num
from dpverify.trusted.language.model import Matrix
from dpverify.trusted.numbers.balls import constant
from dpverify.trusted.order.linear import matrix, to_fraction
from dpverify.trusted.order.queries import differences
from dpverify.trusted.rules.utility import rounding_lower_bound, volume_lower_bound
from dpverify.trusted.rules.utility.any_mechanism import COUNTS

MOST_FACETS: Final = 70_000
"""The greatest number of facets that a body can have whose volume is asked for."""
MOST_DIMENSIONS: Final = 40
"""Of a body whose volume is asked for."""
MOST_PROJECTIONS: Final = 60
"""Projections of a body that are looked at."""


def offers(asked: Asked) -> Iterator[Offer]:
    """The body of differences, whole and projected."""
    for axes in _projections(asked):
        fact = bodies.fact(asked.proof, "query", axes)
        if fact is None or not isinstance(fact.says, Body) or not fact.says.exact:
            continue
        k, premises = len(fact.says.axes), (fact, *asked.granted)
        gram = matrix(fact.says.axes) * matrix(fact.says.axes).transpose()
        size = float(constant(fact.says.volume)) / sqrt(float(to_fraction(gram.det())))
        ball = pi ** (k / 2) / gamma(k / 2 + 1)
        if asked.query.adjacency in COUNTS:
            r = (gamma(k + 1) * size / ball) ** (1 / k) * exp(-asked.epsilon) / asked.epsilon
            moved = sqrt(k) / 2 * max(sqrt(sum(float(x) ** 2 for x in step)) for step in differences(asked.query))
            mean = r * k / (k + 1) - moved
            yield Offer(rounding_lower_bound.NAME, {}, premises, (mean, mean))
            continue
        mass = size * _weight(asked.epsilon, k)
        r = (mass / ball) ** (1 / k)
        yield Offer(volume_lower_bound.NAME, {}, premises, (r * k / (k + 1), r * sqrt(k / (k + 2))))
        atom = _Atom(mass, exp(-asked.epsilon), k, ball)
        for number in range(len(EUCLIDEAN)):
            inner, radius = _radii(atom, number, (size / ball) ** (1 / k))
            parameters = {"inner": rational_text(inner), "radius": rational_text(radius)}
            yield Offer(volume_lower_bound.NAME, parameters, premises, atom(inner, radius))


def _weight(epsilon: float, k: int) -> float:
    return float(volume_lower_bound.weight(constant(Num(Fraction(epsilon))), k))


@dataclass(frozen=True, slots=True)
class _Atom:
    """In floats, what the rule about volumes proves with one answer by itself."""

    mass: float
    q: float
    k: int
    ball: float

    def __call__(self, inner: float, radius: float) -> tuple[float, float]:
        outside = self.mass - self.q * self.ball * (inner + radius) ** self.k
        if outside <= 0:
            return 0.0, 0.0
        first = inner * (self.k + 1) * outside / (self.ball * radius ** (self.k + 1))
        second = inner**2 * (self.k + 2) * outside / (2 * self.ball * radius ** (self.k + 2))
        mean = radius * first / (1 + first)
        return mean, max(mean, radius * sqrt(second / (1 + second)))

    def of_radius(self, inner: float, number: int) -> Callable[[float], float]:
        """One of the two bounds, of the radius."""
        return lambda radius: self(inner, radius)[number]

    def of_inner(self, radius: float, number: int) -> Callable[[float], float]:
        """One of the two bounds, of the inner radius."""
        return lambda inner: self(inner, radius)[number]


def _projections(asked: Asked) -> Iterator[Matrix | None]:
    """Axes to see the body along: its span, then, of those that floats find better than it, the best."""
    query, d = asked.query, len(asked.query.rows)
    whole = bodies.span(asked.proof.claim, "query")
    columns = differences(query) if query.adjacency != "l2" else tuple(zip(*query.rows, strict=True))
    if not columns or whole == ():
        return
    rank = d if whole is None else len(whole)
    if rank > MOST_DIMENSIONS:
        return
    choices: list[Matrix | None] = [whole]
    rows = np.array([[float(x) for x in row] for row in query.rows])
    for k in range(1, rank):
        choices += [tuple(_unit(d, i) for i in kept) for kept in _subsets(rows, k)]
        choices.append(_leading(rows, k))
    sizes = [(-_guess(asked, columns, axes), number) for number, axes in enumerate(choices[:MOST_PROJECTIONS])]
    usable = [number for size, number in sorted(sizes) if size < 0]
    yield from (choices[number] for number in usable[:2])


def _subsets(rows: Vectors, k: int) -> Iterator[tuple[int, ...]]:
    """Choices of k coordinates: all where they are few, else the ones that move most."""
    d = len(rows)
    if 2**d <= MOST_PROJECTIONS:
        yield from combinations(range(d), k)
    else:
        yield tuple(sorted(int(i) for i in np.argsort(-np.linalg.norm(rows, axis=1))[:k]))


def _leading(rows: Vectors, k: int) -> Matrix:
    """The k directions in which the answers move most, rounded."""
    _, axes = np.linalg.eigh(rows @ rows.T)
    return tuple(tuple(Fraction(round(float(x) * 1024), 1024) for x in axes[:, -1 - i]) for i in range(k))


def _unit(d: int, i: int) -> tuple[Fraction, ...]:
    return tuple(Fraction(int(i == j)) for j in range(d))


def _guess(asked: Asked, columns: Matrix, axes: Matrix | None) -> float:
    """About the bound on the mean length of a projection; 0 where its volume is out of reach."""
    points = np.array([[float(x) for x in column] for column in columns])
    rows = np.eye(points.shape[1]) if axes is None else np.array([[float(x) for x in row] for row in axes])
    k = len(rows)
    placed = points @ np.linalg.qr(rows.T)[0]
    if asked.query.adjacency == "l2":
        size = pi ** (k / 2) / gamma(k / 2 + 1) * float(np.prod(np.linalg.svd(placed, compute_uv=False)))
    elif polytopes.most_facets(len(placed), k) <= MOST_FACETS:
        size = _hull(placed)
    else:
        return 0.0
    return float(k / (k + 1) * (size * _weight(asked.epsilon, k) * gamma(k / 2 + 1)) ** (1 / k) / sqrt(pi))


def _hull(points: Vectors) -> float:
    """The volume of the hull of + and - the points, 0 where it has no interior."""
    from scipy.spatial import ConvexHull, QhullError

    if points.shape[1] == 1:
        return 2 * float(np.abs(points).max())
    try:
        return float(ConvexHull(np.concatenate((points, -points)), qhull_options="QJ").volume)
    except QhullError:
        return 0.0


def _radii(atom: _Atom, number: int, size: float) -> tuple[float, float]:
    """Two radii at which the bound is about greatest."""
    inner = radius = size / 4
    for _ in range(12):
        radius = argmax(atom.of_radius(inner, number), size * 1e-6, size)
        inner = argmax(atom.of_inner(radius, number), size * 1e-3, size)
    return inner, radius
