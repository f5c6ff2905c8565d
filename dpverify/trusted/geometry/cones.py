"""Polytopes about 0 as cones over their facets: which share of the volume lies over the facets that hold a point, exactly.

Y of density proportional to exp(-||Y||), ||.|| the gauge of the polytope, is in a cone with the cone's share of the volume.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from dpverify.trusted.geometry.linear import dot, matrix
from dpverify.trusted.geometry.vertices import half_of_vertices
from dpverify.trusted.kernel.errors import Undecided, require
from dpverify.trusted.kernel.model import Matrix, Vector

MOST_CANDIDATES: Final = 4_000
"""The most choices of facets and signs that are tried for vertices."""
MOST_SIMPLICES: Final = 20_000

Face = frozenset[int]


def vertices(rows: Matrix) -> Matrix:
    """The vertices of {x : |<a, x>| <= 1 for every row a}, with their opposites. Raises Undecided where there is too much to try.

    By duality also the normals of the facets of the hull of + and - the rows.
    """
    half = list(half_of_vertices(rows, MOST_CANDIDATES))
    return tuple(dict.fromkeys([*half, *(tuple(-x for x in v) for v in half)]))


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
            require(count <= MOST_SIMPLICES, Undecided("a facet falls into too many simplices."))
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
