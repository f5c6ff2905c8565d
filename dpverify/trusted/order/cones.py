"""Polytopes about 0 as cones over their facets: which share of the volume lies over the facets that hold a point, exactly.

Y of density proportional to exp(-||Y||), ||.|| the gauge of the polytope, is in a cone with the cone's share of the volume.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product
from math import comb
from typing import Final

from flint import fmpq, fmpq_mat

from dpverify.trusted.language.errors import Undecided
from dpverify.trusted.language.model import Matrix
from dpverify.trusted.order.geometry import Vector

MOST_CANDIDATES: Final = 4_000
"""The most choices of facets and signs that are tried for vertices."""
MOST_SIMPLICES: Final = 20_000

Face = frozenset[int]


def dot(row: Vector, vector: Vector) -> Fraction:
    """The inner product."""
    return sum((x * y for x, y in zip(row, vector, strict=True)), Fraction(0))


def matrix(rows: Sequence[Vector]) -> fmpq_mat:
    """Rows of rationals as flint has them."""
    return fmpq_mat(len(rows), len(rows[0]), [fmpq(x.numerator, x.denominator) for row in rows for x in row])


def up_to_sign(rows: Matrix) -> Matrix:
    """The rows without 0, repetitions and opposites."""
    found: dict[Vector, None] = {}
    for row in rows:
        opposite = tuple(-x for x in row)
        if any(row) and opposite not in found:
            found[row] = None
    return tuple(found)


def vertices(rows: Matrix) -> Matrix:
    """The vertices of {x : |<a, x>| <= 1 for every row a}, with their opposites. Raises Undecided where there is too much to try.

    By duality also the normals of the facets of the hull of + and - the rows.
    """
    rows, size = up_to_sign(rows), len(rows[0])
    if comb(len(rows), size) << (size - 1) > MOST_CANDIDATES:
        raise Undecided(f"{len(rows)} facets in {size} dimensions have too many candidate vertices to try.")
    signs = fmpq_mat(1 << size, size, [s for choice in product((1, -1), repeat=size) for s in choice]).transpose()
    found: dict[Vector, None] = {}
    for chosen in combinations(rows, size):
        basis = matrix(chosen)
        if basis.rank() < size:
            continue
        for candidate in basis.solve(signs).transpose().tolist():
            x = tuple(Fraction(int(entry.p), int(entry.q)) for entry in candidate)
            if all(abs(dot(row, x)) <= 1 for row in rows):
                found[x] = None
    return tuple(found)


class Cones:
    """The cones over the facets of a polytope, from its vertices and the normals a of its facets <a, x> = 1."""

    def __init__(self, corners: Matrix, normals: Matrix) -> None:
        self.corners, self.normals = corners, normals
        self._faces = [frozenset(j for j, corner in enumerate(corners) if dot(a, corner) == 1) for a in normals]
        volumes = [self._volume(face) for face in self._faces]
        total = sum(volumes, Fraction(0))
        self.shares = tuple(volume / total for volume in volumes)

    def gauge(self, point: Vector) -> Fraction:
        """The norm whose unit ball the polytope is."""
        return max(dot(a, point) for a in self.normals)

    def share(self, point: Vector) -> Fraction:
        """The share of the volume over the facets that hold the point, or what it is a multiple of."""
        heights = [dot(a, point) for a in self.normals]
        top = max(heights)
        return sum((share for share, height in zip(self.shares, heights, strict=True) if height == top), Fraction(0))

    def _volume(self, face: Face) -> Fraction:
        """Of the cone over a facet, times the factorial of the dimension."""
        total = Fraction(0)
        for count, simplex in enumerate(self._simplices(face, len(self.corners[0]) - 1)):
            if count > MOST_SIMPLICES:
                raise Undecided("a facet falls into too many simplices.")
            determinant = matrix([self.corners[j] for j in simplex]).det()
            total += abs(Fraction(int(determinant.p), int(determinant.q)))
        return total

    def _simplices(self, face: Face, dimension: int) -> Iterator[tuple[int, ...]]:
        """A face cut into simplices: one corner joined to the simplices of the sides that do not hold it."""
        apex = min(face)
        if dimension == 0:
            yield (apex,)
            return
        for side in self._sides(face):
            if apex not in side:
                for simplex in self._simplices(side, dimension - 1):
                    yield (apex, *simplex)

    def _sides(self, face: Face) -> list[Face]:
        """The facets of a face: its greatest proper intersections with facets of the polytope."""
        parts = {face & other for other in self._faces if not face <= other}
        return [part for part in parts if part and not any(part < other for other in parts)]
