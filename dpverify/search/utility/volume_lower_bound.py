"""Projections of the body of differences, and radii, for the rule about volumes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import exp, gamma, pi, sqrt
from typing import Final

import numpy as np
from scipy.linalg import qr
from scipy.spatial import ConvexHull, QhullError

from dpverify.search.utility import bodies, polytopes
from dpverify.search.utility.offers import Asked, Offer, Vectors, argmax, rational_text
from dpverify.trusted.facts.errors import EUCLIDEAN
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.expr import Num
from dpverify.trusted.kernel.model import Matrix
from dpverify.trusted.sensitivity.queries import differences
from dpverify.trusted.theories.utility.any_mechanism import REALS, over_shells
from dpverify.trusted.theories.utility.rules import volume_lower_bound

MOST_FACETS: Final = 70_000
"""The greatest number of facets that a body can have whose volume is asked for."""
MOST_DIMENSIONS: Final = 40
"""Of a body whose volume is asked for."""
FEW: Final = 12
"""The same, for an epsilon up to which no volume of a polytope with few facets gives more than lines."""
MOST_SUBSETS: Final = 16
"""As many choices of coordinates are all looked at."""
LARGE: Final = 1.0
"""An epsilon up to which an atom never helps."""


def offers(asked: Asked, best: tuple[float, float]) -> Iterator[Offer]:
    """For each error the projection of the body of differences that floats find best, where it gives more than is known."""
    if asked.query.adjacency not in REALS:
        return
    guesses = [guess for axes in _projections(asked) for guess in _guesses(asked, axes)]
    for number in range(len(EUCLIDEAN)) if guesses else ():
        worth, axes, parameters = max(guesses, key=lambda guess: guess[0][number])
        fact = bodies.fact(asked.proof, "query", axes) if worth[number] > best[number] else None
        if fact is not None:
            yield Offer(volume_lower_bound.NAME, parameters, (fact, *asked.granted), worth)


def _guesses(asked: Asked, axes: Matrix | None) -> Iterator[tuple[tuple[float, float], Matrix | None, Mapping[str, str]]]:
    """About what a projection proves, without and with an atom: the two bounds, the axes and the parameters."""
    k, size = _size(asked, axes)
    if size <= 0:
        return
    ball = pi ** (k / 2) / gamma(k / 2 + 1)
    mass = size * float(over_shells(constant(Num(Fraction(asked.epsilon))), k))
    r = (mass / ball) ** (1 / k)
    yield (r * k / (k + 1), r * sqrt(k / (k + 2))), axes, {}
    atom = _Atom(mass, exp(-asked.epsilon), k, ball)
    for number in range(len(EUCLIDEAN)) if asked.epsilon > LARGE else ():
        inner, radius = _radii(atom, number, (size / ball) ** (1 / k))
        yield atom(inner, radius), axes, {"inner": rational_text(inner), "radius": rational_text(radius)}


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
    """Axes to see the body along: its span, coordinates, directions in which the answers move most."""
    d = len(asked.query.rows)
    rows = np.array([[float(x) for x in row] for row in asked.query.rows])
    rank = int(np.linalg.matrix_rank(rows))
    if rank == 0 or rank > (MOST_DIMENSIONS if asked.epsilon > LARGE or asked.query.adjacency == "l2" else FEW):
        return
    yield None if rank == d else bodies.span(asked.proof.claim, "query")
    for k in range(1, rank):
        yield _leading(rows, k)
        yield from (tuple(_unit(d, i) for i in kept) for kept in _subsets(rows, k))


def _subsets(rows: Vectors, k: int) -> Iterator[tuple[int, ...]]:
    """Choices of k coordinates: all where they are few, else the ones that move most."""
    d = len(rows)
    if 2**d <= MOST_SUBSETS:
        yield from combinations(range(d), k)
    else:
        yield tuple(sorted(int(i) for i in np.argsort(-np.linalg.norm(rows, axis=1))[:k]))


def _leading(rows: Vectors, k: int) -> Matrix:
    """The k directions in which the answers move most, rounded."""
    _, axes = np.linalg.eigh(rows @ rows.T)
    return tuple(tuple(Fraction(round(float(x) * 1024), 1024) for x in axes[:, -1 - i]) for i in range(k))


def _unit(d: int, i: int) -> tuple[Fraction, ...]:
    return tuple(Fraction(int(i == j)) for j in range(d))


def _size(asked: Asked, axes: Matrix | None) -> tuple[int, float]:
    """The dimension of a projection and about its volume, or a lower bound on it; 0 where it has no interior."""
    columns = differences(asked.query) if asked.query.adjacency != "l2" else tuple(zip(*asked.query.rows, strict=True))
    points = np.array([[float(x) for x in column] for column in columns])
    rows = np.eye(points.shape[1]) if axes is None else np.array([[float(x) for x in row] for row in axes])
    placed, k = points @ np.linalg.qr(rows.T)[0], len(rows)
    if asked.query.adjacency == "l2":
        spread = np.linalg.svd(placed, compute_uv=False)
        return k, pi ** (k / 2) / gamma(k / 2 + 1) * float(np.prod(spread)) if len(spread) == k else 0.0
    if polytopes.most_facets(len(placed), k) <= MOST_FACETS:
        return k, _hull(placed)
    triangle = qr(placed.T, mode="r", pivoting=True)[0]
    return k, 2**k * abs(float(np.prod(np.diag(triangle)))) / gamma(k + 1)


def _hull(points: Vectors) -> float:
    """The volume of the hull of + and - the points, 0 where it has no interior."""
    if points.shape[1] == 1:
        return 2 * float(np.abs(points).max())
    try:
        return float(ConvexHull(np.concatenate((points, -points)), qhull_options="QJ").volume)
    except QhullError:
        return 0.0


def _radii(atom: _Atom, number: int, size: float) -> tuple[float, float]:
    """Two radii at which the bound is about greatest."""
    inner = radius = size / 4
    for _ in range(6):
        radius = argmax(atom.of_radius(inner, number), size * 1e-6, size)
        inner = argmax(atom.of_inner(radius, number), size * 1e-3, size)
    return inner, radius
