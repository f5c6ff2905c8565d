"""How far to go through answers on a lattice, and radii, for the rule about lattices."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from math import exp, gamma, lcm, pi, sqrt
from typing import Final

import numpy as np
from flint import fmpz_mat

from dpverify.search.utility.offers import Asked, Offer, Vectors, argmax, rational_text
from dpverify.trusted.facts.errors import EUCLIDEAN
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.model import Matrix
from dpverify.trusted.sensitivity.queries import differences
from dpverify.trusted.theories.utility.any_mechanism import COUNTS
from dpverify.trusted.theories.utility.rules import lattice_lower_bound as rule

MOST_DIMENSIONS: Final = 12
"""Above them no lattice is gone through far enough."""
STEPS: Final = 100_000
"""Steps between answers that the search spends."""


def offers(asked: Asked) -> Iterator[Offer]:
    """How far to go through answers, and radii."""
    rank = np.linalg.matrix_rank(np.array([[float(x) for x in row] for row in asked.query.rows]))
    steps = differences(asked.query) if asked.query.adjacency in COUNTS and rank <= MOST_DIMENSIONS else ()
    sizes = _layers(steps, asked.epsilon) if steps else []
    if not sizes:
        return
    basis = _basis(steps)
    rows = np.array([[float(x) for x in row] for row in basis])
    others = sum(size * exp(-asked.epsilon * n) for n, size in enumerate(sizes, 1))
    crowd = _Crowd(rows)
    told = {"reach": len(sizes), "basis": [[str(x) for x in row] for row in basis]}
    for number in range(len(EUCLIDEAN)):
        radius, share = _radius(crowd, others, number), _share(crowd, others, number)
        yield Offer(rule.NAME, {**told, "radius": rational_text(radius)}, asked.granted, crowd.plain(radius, others))
        radii = {"radius": rational_text(share * crowd.spacing), "inner": rational_text((1 - share) * crowd.spacing)}
        yield Offer(rule.NAME, {**told, **radii}, asked.granted, crowd.centred(share * crowd.spacing, others))


def _radius(crowd: _Crowd, others: float, number: int) -> float:
    """Of all answers alike: the best of some, among them those at which balls begin to meet."""
    found = argmax(lambda r: crowd.plain(r, others)[number], crowd.spacing / 4, 8 * crowd.spacing * (1 + others))
    return max((found, crowd.spacing / 2, crowd.spacing), key=lambda r: crowd.plain(r, others)[number])


def _share(crowd: _Crowd, others: float, number: int) -> float:
    """Of the answer 0 by itself: the share of the spacing that the others' radius is."""
    return argmax(lambda share: crowd.centred(share * crowd.spacing, others)[number], 1e-6, 0.5)


def _layers(steps: Matrix, epsilon: float) -> list[int]:
    """How many answers are so many steps away, as far as that is worth it."""
    reach, found = 1, list[int]()
    while len(found) < reach:
        try:
            found = rule.layers(steps, reach)
        except DpverifyError:
            break
        spent = 2 * len(steps) * sum(found)
        worth = found[-1] * exp(-epsilon * reach) > 1e-9 * (1 + sum(n * exp(-epsilon * k) for k, n in enumerate(found, 1)))
        if worth and spent < STEPS / 4:
            reach *= 2
    return found


def _basis(steps: Matrix) -> Matrix:
    """Short independent rows whose integer combinations are the answers' lattice."""
    whole = lcm(*(x.denominator for step in steps for x in step))
    numbers = fmpz_mat([[int(x * whole) for x in step] for step in steps])
    reduced = numbers.hnf()
    rows = [row for row in reduced.tolist() if any(row)]
    short = fmpz_mat(rows).lll().tolist()
    return tuple(tuple(Fraction(int(x), whole) for x in row) for row in short)


class _Crowd:
    """In floats, what the rule about lattices proves for a radius."""

    def __init__(self, rows: Vectors) -> None:
        gram = rows @ rows.T
        minors = [1.0, *(float(np.linalg.det(gram[:k, :k])) for k in range(1, len(rows) + 1))]
        self.k, self.cell = len(rows), sqrt(minors[-1])
        self.spacing = sqrt(min(after / before for before, after in pairwise(minors)))
        self.spread, self.ball = float((rows**2).sum()) / 12, pi ** (self.k / 2) / gamma(self.k / 2 + 1)

    def __call__(self, r: float) -> tuple[float, float]:
        if 2 * r <= self.spacing * (1 + 1e-12):
            return r, r * r
        linear = self.ball * (r + sqrt(self.spread)) ** (self.k + 1) / ((self.k + 1) * self.cell)
        if self.k == 1:
            n = np.arange(1, int(r / self.cell) + 1)
            linear = r + 2 * float((r - self.cell * n).sum())
        return linear, 2 * self.ball * (r * r + self.spread) ** (self.k / 2 + 1) / ((self.k + 2) * self.cell)

    def plain(self, r: float, others: float) -> tuple[float, float]:
        linear, square = self(r)
        mean = r - linear / (1 + others)
        return mean, max(mean, sqrt(max(r * r - square / (1 + others), 0)))

    def centred(self, r: float, others: float) -> tuple[float, float]:
        inner, (linear, square) = self.spacing - r, self(r)
        first, second = inner / linear * others, inner**2 / square * others
        mean = r * first / (1 + first)
        return mean, max(mean, r * sqrt(second / (1 + second)))
