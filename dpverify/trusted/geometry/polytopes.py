"""Convex polytopes with exact rational vertices: cutting by a plane, and the faces that a direction leads to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import combinations, product

from dpverify.trusted.geometry.linear import dot
from dpverify.trusted.kernel.model import Vector


def minus(a: Sequence[Fraction], b: Sequence[Fraction]) -> Vector:
    """a - b."""
    return tuple(x - y for x, y in zip(a, b, strict=True))


@dataclass(frozen=True)
class Polytope:
    """The hull of `vertices`, which is also the set where <normal, x> <= offset for every plane.

    A face of a polytope keeps all its planes: those that hold with equality at every vertex span its affine hull.
    """

    vertices: tuple[Vector, ...]
    planes: tuple[tuple[Vector, Fraction], ...]
    known: tuple[frozenset[int], ...] | None = field(default=None, compare=False, repr=False)

    @cached_property
    def tight(self) -> tuple[frozenset[int], ...]:
        """For each vertex the planes that hold with equality there; `known`, where the making of the polytope tells them."""
        if self.known is not None:
            return self.known
        return tuple(frozenset(i for i, (n, c) in enumerate(self.planes) if dot(n, v) == c) for v in self.vertices)

    @cached_property
    def spanning(self) -> frozenset[int]:
        """The planes that hold with equality everywhere."""
        return frozenset.intersection(*self.tight)

    @cached_property
    def box(self) -> tuple[tuple[Fraction, Fraction], ...]:
        """The least and the greatest value of each coordinate."""
        return tuple((min(values), max(values)) for values in zip(*self.vertices, strict=True))

    def below(self, normal: Vector, offset: Fraction) -> Polytope | None:
        """The part where <normal, x> <= offset, or None where that is empty.

        New vertices lie on edges; two vertices span an edge exactly when no third one is tight on all planes that both are
        tight on (Fukuda & Prodon 1996, Proposition 7).
        """
        sides = [dot(normal, v) - offset for v in self.vertices]
        if all(side <= 0 for side in sides):
            return self
        new = frozenset((len(self.planes),))
        kept = {v: tight if side < 0 else tight | new for v, side, tight in zip(self.vertices, sides, self.tight, strict=True) if side <= 0}
        for i, j in combinations(range(len(sides)), 2):
            if (sides[i] < 0) is not (sides[j] < 0) and sides[i] and sides[j] and self._is_edge(i, j):
                share = sides[i] / (sides[i] - sides[j])
                point = tuple(a + share * (b - a) for a, b in zip(self.vertices[i], self.vertices[j], strict=True))
                kept[point] = (self.tight[i] & self.tight[j]) | new  # a plane that holds inside an edge holds at both of its ends
        return Polytope(tuple(kept), (*self.planes, (normal, offset)), tuple(kept.values())) if kept else None

    def _is_edge(self, i: int, j: int) -> bool:
        common = self.tight[i] & self.tight[j]
        return not any(common <= planes for k, planes in enumerate(self.tight) if k not in (i, j))

    def spans(self, direction: Vector) -> bool:
        """Whether moving along the direction stays in the affine hull."""
        return all(dot(self.planes[i][0], direction) == 0 for i in self.spanning)

    def towards(self, direction: Vector) -> list[Polytope]:
        """The faces through which every line along the direction leaves the polytope."""
        faces: list[tuple[Vector, ...]] = []
        for i, (normal, _) in enumerate(self.planes):
            if i in self.spanning or not dot(normal, direction) > 0:
                continue
            face = tuple(v for v, planes in zip(self.vertices, self.tight, strict=True) if i in planes)
            if face:
                faces.append(face)
        faces = [f for f in faces if not any(set(f) < set(other) for other in faces)]
        return [Polytope(face, self.planes) for face in dict.fromkeys(faces)]


def box(ends: Sequence[tuple[Fraction, Fraction]]) -> Polytope:
    """The product of closed intervals."""
    planes: list[tuple[Vector, Fraction]] = []
    for axis, (low, high) in enumerate(ends):
        unit = tuple(Fraction(int(i == axis)) for i in range(len(ends)))
        planes += [(unit, high), (tuple(-x for x in unit), -low)]
    return Polytope(tuple(dict.fromkeys(product(*ends))), tuple(planes))
