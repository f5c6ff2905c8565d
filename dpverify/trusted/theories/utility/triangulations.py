"""Convex bodies about 0 whose boundary is cut into simplices: that each direction is in one of them, their sizes and their moments.

What is proved of them stands in theory#polytope.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from math import factorial, lcm
from typing import Any

from flint import fmpq, fmpq_mat, fmpz, fmpz_mat

from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.model import Matrix

Simplex = tuple[int, ...]
"""Its corners by their numbers, counted from 1 and increasing but for the signs; -k is the opposite of the point k."""
Plane = tuple[tuple[fmpz, ...], fmpz]
"""(a, b): the hyperplane <a, x> = b, b > 0, in units of the common denominator."""


class Boundary:
    """Simplices that, with their opposites, hold one point of each ray from 0.

    unit: the common denominator of the points. points: the points times that. sizes: d! times the volume of the hull of 0 and each
    simplex, in these units, `total` their sum. planes: of each simplex the hyperplane that it lies in.
    """

    def __init__(self, points: Matrix, told: Any, rule: str) -> None:
        """Raises Rejected where a simplex is flat, a side of one is left open, or a ray meets two of them; CertificateError for no list."""
        self._rule = rule
        self.dimension = len(points[0])
        self.unit = lcm(*(x.denominator for point in points for x in point))
        self.points = fmpz_mat([[int(x * self.unit) for x in point] for point in points])
        self.simplices: list[Simplex] = [tuple(sorted(map(int, str(simplex).split()), key=abs)) for simplex in told]
        self._signed = dict(enumerate(self.points.tolist(), 1))
        self._signed |= {-k: [-x for x in row] for k, row in self._signed.items()}
        corners = [fmpz_mat([self._signed[k] for k in simplex]) for simplex in self.simplices]
        determinants: list[fmpz] = [matrix.det() for matrix in corners]
        flat = [number for number, determinant in enumerate(determinants) if determinant == 0]
        if flat:
            self._refuse(flat[0], "it is flat")
        self._require_closed([1 if determinant > 0 else -1 for determinant in determinants])
        self.sizes = [abs(determinant) for determinant in determinants]
        self.total = int(sum(self.sizes))
        ones = fmpz_mat(self.dimension, 1, [1] * self.dimension)
        self.planes = [_plane(matrix.solve(ones)) for matrix in corners]
        self._require_once(corners)

    def _refuse(self, number: int, why: str) -> None:
        raise Rejected(self._rule, f"simplex {number + 1}, {list(self.simplices[number])}", why)

    def _require_closed(self, signs: Sequence[int]) -> None:
        """Oriented as seen from 0, the simplices and their opposites have no boundary: each side is met from both of its sides."""
        found: Counter[Simplex] = Counter()
        mirror = (-1) ** self.dimension
        for simplex, sign in zip(self.simplices, signs, strict=True):
            for place in range(self.dimension):
                side = simplex[:place] + simplex[place + 1 :]
                found[side] += sign
                found[tuple(-k for k in side)] += mirror * sign
                sign = -sign
        broken = next((side for side, count in found.items() if count), None)
        if broken is not None:
            raise Rejected(self._rule, f"the side {list(broken)}", "it does not lie between two simplices: one is missing, or one too many")

    def _require_once(self, corners: Sequence[fmpz_mat]) -> None:
        """The ray through the middle of the first simplex meets no other one."""
        first, plane = corners[0], self.planes[0]
        middle = first.transpose() * fmpz_mat(self.dimension, 1, [1] * self.dimension)
        opposite = (tuple(-x for x in plane[0]), plane[1])
        for number, (matrix, other) in enumerate(zip(corners, self.planes, strict=True)):
            if number and other in (plane, opposite):
                weights = matrix.transpose().solve(middle if other == plane else -middle)
                if min(weights.entries()) >= 0:
                    self._refuse(number, "it and the first simplex, or their opposites, overlap")

    def require_supporting(self, points: Matrix) -> None:
        """Every point and its opposite is on this side of every hyperplane. Raises Rejected."""
        scaled = fmpz_mat([[int(x * self.unit) for x in point] for point in points]).transpose()
        planes = list(dict.fromkeys(self.planes))
        for (normal, level), heights in zip(planes, (fmpz_mat([a for a, _ in planes]) * scaled).tolist(), strict=True):
            if max(heights) > level or min(heights) < -level:
                number = self.planes.index((normal, level))
                self._refuse(number, "its hyperplane does not keep all points, with their opposites, on one side")

    def require_among(self, rows: Matrix) -> None:
        """Every hyperplane is <a, x> = 1 for one of the rows a or its opposite. Raises Rejected."""
        given = {tuple(sign * x for x in row) for row in rows for sign in (1, -1)}
        for number, (normal, level) in enumerate(self.planes):
            if tuple(Fraction(int(x) * self.unit, int(level)) for x in normal) not in given:
                self._refuse(number, "its hyperplane is none of the body's facets")

    def volume(self) -> Fraction:
        """Of the body."""
        return Fraction(2 * self.total, factorial(self.dimension) * self.unit**self.dimension)

    def second(self) -> fmpq_mat:
        """E[x x'] for x uniform in the body, whose simplices, joined to 0, have E[x x'] = (sum v v' + s s')/((d + 1)(d + 2)), s = sum v."""
        weights, sums = [fmpz(0)] * self.points.nrows(), []
        ones = fmpz_mat(1, self.dimension, [1] * self.dimension)
        for number, (simplex, size) in enumerate(zip(self.simplices, self.sizes, strict=True)):
            sums.append((ones * self.corners(number)).entries())
            for k in simplex:
                weights[abs(k) - 1] += size
        alone = self.points.transpose() * _times(weights, self.points.tolist())
        together = fmpz_mat(sums).transpose() * _times(self.sizes, sums)
        total = self.total * (self.dimension + 1) * (self.dimension + 2) * self.unit**2
        return fmpq_mat(alone + together) / fmpq(total)

    def corners(self, number: int) -> fmpz_mat:
        """The corners of a simplex, as rows."""
        return fmpz_mat([self._signed[k] for k in self.simplices[number]])


def _times(weights: Sequence[fmpz], rows: Sequence[Sequence[fmpz]]) -> fmpz_mat:
    """Every row times its weight."""
    return fmpz_mat([[weight * x for x in row] for weight, row in zip(weights, rows, strict=True)])


def _plane(solution: Any) -> Plane:
    normal, level = solution.numer_denom()
    return tuple(normal.entries()), level
