"""Polytopes that are symmetric about 0, in floats and then exactly: independent points, vertices of facets, boundaries cut into simplices.

A library finds the facets, of points that are moved by a little along their rays so that all facets are simplices: these cut the facets
of the points themselves, alike on both sides of each ridge and of 0. What rests on it, the kernel checks. Where floats are too coarse the
boundary is built exactly, a pair of points at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import comb, lcm
from typing import Any, Final

import numpy as np
from flint import fmpq_mat, fmpz_mat
from numpy.typing import NDArray
from scipy.linalg import qr
from scipy.spatial import ConvexHull, QhullError

from dpverify.trusted.geometry.linear import dot, matrix, to_fraction
from dpverify.trusted.kernel.model import Matrix, Vector

Simplices = NDArray[np.int64]
"""Rows of numbers of points, counted from 1, -k for the opposite of k; increasing but for the signs. One of each pair S, -S."""

MOST_FACETS: Final = 4_000_000
"""The greatest number that a polytope of so many points can have of facets, for which they are looked for."""
MOST_EXACTLY: Final = 60_000
"""The same, where they are looked for without floats."""
_EXCHANGES, _NEAR = 500, 1.001
_MOVES: Final = (1e-6, 1e-4, 1e-9)
"""By how much points are moved along their rays, one after another."""


def most_facets(pairs: int, dimension: int) -> int:
    """The greatest number of facets of a simplicial polytope with so many pairs of vertices (McMullen's upper bound)."""
    n, half = 2 * pairs, dimension // 2
    return comb(n - half - dimension % 2, half) + comb(n - half - 1, half - 1 + dimension % 2) if dimension > 1 else 2


def independent(points: Matrix) -> list[int]:
    """Numbers, from 0, of as many independent points as there are; no exchange of one of them raises their determinant by much."""
    rank = matrix(points).rank() if points else 0
    found = _near_independent(points, rank)
    return found if rank == 0 or matrix([points[k] for k in found]).rank() == rank else _independent_exactly(points)


def _near_independent(points: Matrix, rank: int) -> list[int]:
    """What floats find."""
    tops = [max(map(abs, column)) or 1 for column in zip(*points, strict=True)]
    near = np.array([[float(x / top) for x, top in zip(point, tops, strict=True)] for point in points])
    found = [int(k) for k in qr(near.T, mode="r", pivoting=True)[1][:rank]]  # each the farthest from the span of those before
    for _ in range(_EXCHANGES if found else 0):
        weights = near @ np.linalg.pinv(near[found])
        k, i = divmod(int(np.abs(weights).argmax()), len(found))
        if abs(weights[k, i]) < _NEAR:
            break
        found[i] = k
    return found


def _independent_exactly(points: Matrix) -> list[int]:
    """The same, where floats find points that are not independent."""
    rest, found = [list(point) for point in points], list[int]()
    free = list(range(len(points[0])))
    while free:
        size, k, i = max((abs(row[i]), k, i) for k, row in enumerate(rest) for i in free)
        if not size:
            break
        pivot = rest[k]
        rest = [[x - row[i] / pivot[i] * y for x, y in zip(row, pivot, strict=True)] for row in rest]
        found.append(k)
        free.remove(i)
    while True:
        weights = combinations(points, found).tolist()
        largest, k, i = max((abs(x), k, i) for k, row in enumerate(weights) for i, x in enumerate(row))
        if largest < 2:
            return found
        found[i] = k


def combinations(points: Matrix, chosen: Sequence[int]) -> fmpq_mat:
    """The points as combinations of chosen ones, which are independent and span them all, as rows."""
    basis = matrix([points[k] for k in chosen])
    return matrix(points) * basis.transpose() * (basis * basis.transpose()).inv()


def spanning(points: Matrix) -> list[int]:
    """Numbers, from 0, of as many independent points as there are: each that those before do not span."""
    reduced, rank = matrix(tuple(zip(*points, strict=True))).rref()
    rows = reduced.tolist()
    return [next(k for k, x in enumerate(rows[i]) if x != 0) for i in range(rank)]


def boundary(points: Matrix, most: int = MOST_FACETS) -> Iterator[Simplices]:
    """Ways to cut the boundary of the hull of the points and their opposites, which span R^d, into simplices: the cheapest first.

    most: the greatest number of facets that so many points can have, for which they are looked for.
    """
    dimension = len(points[0])
    base = combinations(points, independent(points))
    if dimension == 1:
        sizes = [abs(x) for x in base.entries()]
        yield np.array([[1 + sizes.index(max(sizes))]])
        return
    if most_facets(len(points), dimension) <= most:
        near = np.array([[float(to_fraction(x)) for x in row] for row in base.tolist()])
        for move in _MOVES:
            found = _in_floats(near, move)
            if found is not None:
                yield found
    if most_facets(len(points), dimension) <= MOST_EXACTLY:
        yield _exactly(base)


def _in_floats(points: NDArray[np.float64], move: float) -> Simplices | None:
    """The boundary of points that have entries of at most about 1 and hold a basis; None where it is certainly none of theirs."""
    moved = points * (1 + move * np.random.default_rng(0).uniform(0, 1, len(points)))[:, None]
    try:
        numbers = ConvexHull(np.concatenate((moved, -moved))).simplices
    except QhullError:
        return None
    count = len(points)
    found = _one_of_each(np.where(numbers < count, numbers + 1, count - numbers - 1))
    try:
        normals = np.linalg.solve(corners(points, found), np.ones((*found.shape, 1)))[..., 0]
    except np.linalg.LinAlgError:
        return None
    return found if 2 * len(found) == len(numbers) and np.abs(normals @ points.T).max() < 1 + 1e-6 else None


def _one_of_each(simplices: Simplices) -> Simplices:
    """The simplices, with their opposites, as one of each pair, in one order."""
    return np.unique(ordered(simplices), axis=0)


def ordered(simplices: Simplices) -> Simplices:
    """Each simplex or its opposite, with increasing numbers of which the first is positive."""
    found = np.take_along_axis(simplices, np.argsort(np.abs(simplices), axis=1), axis=1)
    return np.asarray(found * np.sign(found[:, :1]))


def corners(points: NDArray[np.float64], simplices: Simplices) -> NDArray[np.float64]:
    """The corners of simplices, in floats."""
    return np.asarray(np.concatenate((np.zeros((1, points.shape[1])), points, -points[::-1]))[simplices])


def _exactly(points: fmpq_mat) -> Simplices:
    """The boundary, a pair of points after another: what a new point sees makes way for the simplices that join it to the rim."""
    unit = lcm(*(int(x.q) for x in points.entries()))
    rows = {k: [int(x * unit) for x in row] for k, row in enumerate(points.tolist(), 1)}
    rows |= {-k: [-x for x in row] for k, row in rows.items()}
    size = points.ncols()
    ones = fmpz_mat(size, 1, [1] * size)
    units = [[unit * (i == j) for j in range(size)] for i in range(size)]
    basis = sorted(next(k for k in rows if rows[k] == axis) for axis in units)
    planes: dict[tuple[int, ...], tuple[list[int], int]] = {}

    def put(simplex: tuple[int, ...]) -> None:
        solved: Any = fmpz_mat([rows[k] for k in simplex]).solve(ones)
        normal, level = solved.numer_denom()
        planes[simplex] = [int(x) for x in normal.entries()], int(level)

    for bits in range(1 << size):
        put(tuple(k if bits >> i & 1 else -k for i, k in enumerate(basis)))
    for new in (sign * k for k in rows if k > 0 and k not in basis for sign in (1, -1)):
        seen = [s for s, (normal, level) in planes.items() if sum(a * x for a, x in zip(normal, rows[new], strict=True)) > level]
        rim: dict[tuple[int, ...], int] = {}
        for simplex in seen:
            del planes[simplex]
            for i in range(size):
                side = simplex[:i] + simplex[i + 1 :]
                rim[side] = rim.get(side, 0) + 1
        for side in (side for side, times in rim.items() if times == 1):
            put(tuple(sorted((*side, new), key=abs)))
    return _one_of_each(np.array([*planes]))


def vertices(rows: Matrix) -> Matrix | None:
    """The vertices of {x : |<a, x>| <= 1 for all rows a}, one of each pair; None where there are too many to look for.

    They are the normals of the facets of the hull of + and - the rows.
    """
    for simplices in boundary(rows):
        signed = {k: row for number, row in enumerate(rows, 1) for k, row in ((number, row), (-number, tuple(-x for x in row)))}
        ones = matrix([(Fraction(1),)] * len(rows[0]))
        found = {normal(signed, simplex, ones) for simplex in simplices.tolist()}
        if all(abs(dot(row, vertex)) <= 1 for row in rows for vertex in found):
            return tuple(found)
    return None


def normal(signed: dict[int, Vector], simplex: Sequence[int], ones: fmpq_mat) -> Vector:
    """The a with <a, x> = 1 at the corners."""
    return tuple(to_fraction(x) for x in matrix([signed[k] for k in simplex]).solve(ones).entries())


def told(simplices: Simplices) -> list[str]:
    """Simplices as evidence has them."""
    return [" ".join(map(str, simplex)) for simplex in simplices.tolist()]
