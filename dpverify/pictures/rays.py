"""Lines through two answers along which additive noise loses the most, and the loss on them.

A line is given by the coordinates that move: on it the output at position t has coordinate i at u_i t, the two answers stand at t = 0
and t = shift, and the loss is the sum over i of h(u_i (t - shift)) - h(u_i t). For radial noise one term with u = 1 is the distance.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from flint import arb

from dpverify.pictures.exponent import Exponent
from dpverify.search.additive.sensitivity import propose_radius
from dpverify.search.numeric import Array
from dpverify.trusted.geometry.vertices import sign_vectors
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.model import Norm, Product

MOST_SIGNS: Final = 8
"""Greatest dimension whose diagonals are all tried."""
_NUDGE: Final = 1.1e-11
"""How far to the right of a step its loss is read: at the step itself rounding would decide."""


@dataclass(frozen=True, slots=True)
class Ray:
    """A line through two answers `shift` apart (in the noise's norm). terms: how many coordinates move, and each one's step u.

    text: which line it is, for people.
    """

    exponent: Exponent
    terms: tuple[tuple[int, float], ...]
    shift: float
    text: str

    def __call__(self, t: Array) -> Array:
        """log p(y)/p'(y) at positions t, p the density from the answer at 0; nan where both are 0, infinite where one is."""
        t = np.asarray(t, dtype=float) + (_NUDGE * self.exponent.unit if self.exponent.has_steps else 0.0)
        points = np.concatenate([u * s for _, u in self.terms for s in (t - self.shift, t)])
        values = self.exponent(points).reshape(len(self.terms), 2, *np.shape(t))
        with np.errstate(invalid="ignore"):
            return np.asarray(sum(m * (values[i, 0] - values[i, 1]) for i, (m, _) in enumerate(self.terms)))

    def ball(self, t: Fraction) -> arb:
        """The loss at one position, at the current precision."""
        total, shift = arb(0), Fraction(self.shift)
        for m, u in self.terms:
            step = Fraction(u)
            total += m * (self.exponent.ball(step * (t - shift)) - self.exponent.ball(step * t))
        return total

    def kinks(self, low: float, high: float) -> list[float]:
        """The positions from low to high where the loss may have a kink or a jump."""
        points: set[float] = set()
        for u in {u for _, u in self.terms}:
            ends = sorted((u * (low - abs(self.shift)), u * (high + abs(self.shift))))
            points |= {k / u + s for k in self.exponent.kinks(*ends) for s in (0.0, self.shift)}
        return sorted(k for k in points if low <= k <= high)


def directions(noise: Product, dimension: int) -> Iterator[tuple[tuple[tuple[int, float], ...], str]]:
    """Candidates for the worst direction of independent noise, each of length 1 in its norm."""
    norm = noise.norm
    if norm.kind == "lp":
        for count in sorted({1, dimension}):
            size = 1.0 if norm.p is None else count ** (-1 / float(norm.p))
            yield ((count, size),), "one coordinate" if count == 1 else f"the diagonal of all {dimension} coordinates"
    else:
        for vector in _extremes(norm, dimension):
            where = ", ".join(f"{x:.4g}" for x in vector)
            yield _grouped(vector), f"the direction ({where})"


def _grouped(vector: Array) -> tuple[tuple[int, float], ...]:
    sizes, counts = np.unique(vector[vector != 0], return_counts=True)
    return tuple((int(m), float(u)) for m, u in zip(counts, sizes, strict=True))


def _extremes(norm: Norm, dimension: int) -> Iterator[Array]:
    matrix = np.array([[float(entry) for entry in row] for row in norm.matrix])
    if norm.kind == "columns":
        yield from matrix
    elif norm.kind == "facets":
        try:
            dual = propose_radius(norm, dimension).get("dual", ())
        except DpverifyError:
            dual = ()
        if dual:
            yield np.array([float(Fraction(entry)) for entry in dual])
        for axis in np.eye(dimension):
            yield axis / np.abs(matrix @ axis).max()
    else:
        inverse = np.linalg.inv(matrix)
        signs = np.array(sign_vectors(dimension) if dimension <= MOST_SIGNS else [[1] * dimension], dtype=float)
        for sign in signs:
            yield matrix @ sign / np.sqrt(sign @ matrix @ sign)
        for axis in np.eye(dimension):
            yield axis / np.sqrt(axis @ inverse @ axis)
