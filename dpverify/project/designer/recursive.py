"""Recursive mechanisms: answers are split along directions; each piece has noise in the norm of its own body, and a budget of its own.

The paper's mechanism (Hardt and Talwar, Section 7) keeps of the noise of a body what falls on the directions in which the body is short,
and goes on with the others, with equal budgets. Here too: noise in the norm of the projected body itself, with the split and the budgets
that promise the least error. Directions and budgets are found in floats and rounded: privacy holds for all of them, and is proved of those
that are written down.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from dpverify.project.designer import exact
from dpverify.project.designer.exact import Floats
from dpverify.project.designer.tuning import weights
from dpverify.search.utility.polytopes import most_facets
from dpverify.trusted.kernel.model import Matrix, Query
from dpverify.trusted.sensitivity.queries import differences

MOST_FACETS: Final = 20_000
"""Of the body of a piece."""
MOST_FACETS_OF_THE_WHOLE: Final = 200_000
"""Of the whole body, where it is halved as the paper does."""
BITS: Final = 6
"""Of the entries of directions."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Queries with noise in the norm of their own body and a share of epsilon; keep: what of their answers the estimate uses."""

    rows: Matrix
    share: Fraction
    keep: Matrix


@dataclass(frozen=True, slots=True)
class Split:
    """Pieces, the map from what they keep, stacked, to the queries, and the mean square error that floats expect at epsilon 1."""

    pieces: tuple[Piece, ...]
    back: Matrix
    square: float

    @property
    def matrix(self) -> Matrix:
        """The map from all that the pieces put out."""
        total = sum(len(piece.rows) for piece in self.pieces)
        kept: list[tuple[Fraction, ...]] = []
        at = 0
        for piece in self.pieces:
            size = len(piece.rows)
            kept += [(*[Fraction(0)] * at, *row, *[Fraction(0)] * (total - at - size)) for row in piece.keep]
            at += size
        return exact.times(self.back, tuple(kept))


def tuned(rows: Matrix, back: Matrix, adjacency: str) -> Iterator[Split]:
    """The split along principal directions, and along the queries themselves, with the least error that floats find.

    rows: independent queries. back: the map from these to the queries that were asked for.
    """
    for directions in (_principal(rows, adjacency), _by_size(rows)):
        found = None if directions is None else _best(rows, back, adjacency, directions)
        if found is not None:
            yield found


def of_the_paper(rows: Matrix, back: Matrix, adjacency: str) -> Split | None:
    """Halving with equal budgets, the noise being that of the whole body each time; None where a body is out of reach."""
    levels: list[tuple[Matrix, Matrix]] = []  # the queries of a level, and the short directions among them
    current = rows
    while True:
        spread = _covariance(_points(current, adjacency), MOST_FACETS_OF_THE_WHOLE)
        if spread is None:
            return None
        d = len(current)
        if d == 1:
            levels.append((current, exact.unit(1)))
            break
        _, axes = np.linalg.eigh(spread)
        turned = exact.binary(axes.T, BITS)  # the shortest first
        levels.append((current, turned[: d - d // 2]))
        current = exact.times(turned[d - d // 2 :], current)
    share = Fraction(1, len(levels))
    pieces = tuple(Piece(queries, share, short) for queries, short in levels)
    stacked = tuple(row for queries, short in levels for row in exact.times(short, queries))
    undone = exact.coordinates(rows, stacked)
    if undone is None:
        return None
    total, at = exact.times(back, undone), 0
    square = 0.0
    for piece in pieces:
        map_back = exact.floats(tuple(row[at : at + len(piece.keep)] for row in total)) @ exact.floats(piece.keep)
        at += len(piece.keep)
        square += _cost(_points(piece.rows, adjacency), map_back, MOST_FACETS_OF_THE_WHOLE) / float(share) ** 2
    return Split(pieces, total, square)


def _principal(rows: Matrix, adjacency: str) -> Matrix | None:
    """Axes of the covariance of the body, the longest first; where that is out of reach, of its points. Rounded."""
    points = _points(rows, adjacency)
    spread = _covariance(points)
    _, axes = np.linalg.eigh(points.T @ points if spread is None else spread)
    turned = exact.binary(axes.T[::-1], BITS)
    try:
        exact.inverse(turned)
    except ZeroDivisionError:
        return None
    return turned


def _by_size(rows: Matrix) -> Matrix:
    """The unit vectors, in the order of how much the queries move."""
    sizes = [max(map(abs, row)) for row in rows]
    order = sorted(range(len(rows)), key=lambda i: -sizes[i])
    unit = exact.unit(len(rows))
    return tuple(unit[i] for i in order)


def _best(rows: Matrix, back: Matrix, adjacency: str, directions: Matrix) -> Split | None:
    """The best partition of the directions, in their order, into pieces: by dynamic programming over where they end."""
    d, turned = len(rows), exact.times(directions, rows)
    points, map_back = _points(turned, adjacency), exact.times(back, exact.inverse(directions))
    lift = exact.floats(map_back)
    least: list[tuple[float, list[tuple[int, int]]]] = [(0.0, [])]
    for end in range(1, d + 1):
        choices = []
        for start in range(end):
            cost = _cost(points[:, start:end], lift[:, start:end])
            choices.append((least[start][0] + np.cbrt(cost), [*least[start][1], (start, end)]))
        least.append(min(choices, key=lambda choice: choice[0]))
    total, cuts = least[d]
    if not np.isfinite(total) or len(cuts) == 1:
        return None
    costs = np.array([_cost(points[:, start:end], lift[:, start:end]) for start, end in cuts])
    gauges = np.array([_gauges(points[:, start:end]) for start, end in cuts])
    shares = weights(costs, gauges, 1) * (1 - 1e-4)
    rounded = [exact.near(float(share), 4) for share in shares]
    pieces = tuple(Piece(turned[start:end], share, exact.unit(end - start)) for (start, end), share in zip(cuts, rounded, strict=True))
    return Split(pieces, map_back, float((costs / np.array([float(share) for share in rounded]) ** 2).sum()))


def _points(rows: Matrix, adjacency: str) -> Floats:
    return exact.floats(differences(Query(rows, adjacency)))


def _cost(points: Floats, lift: Floats, most: int = MOST_FACETS) -> float:
    """The mean square error of noise in the norm of the hull at epsilon 1, after a map; infinite where that is out of reach."""
    m = points.shape[1]
    spread = _covariance(points, most)
    return np.inf if spread is None else float((m + 1) * (m + 2) * np.trace(lift @ spread @ lift.T))


def _covariance(points: Floats, most: int = MOST_FACETS) -> Floats | None:
    """Of the uniform law on the hull of + and - the points, None where it is out of reach."""
    m = points.shape[1]
    if m == 1:
        return np.array([[float(np.abs(points).max()) ** 2 / 3]])
    hull = _hull(points, most)
    if hull is None:
        return None
    corners = hull.points[hull.simplices]
    sizes = np.abs(np.linalg.det(corners))
    sums = corners.sum(axis=1)
    second = np.einsum("s,sij,sik->jk", sizes, corners, corners) + np.einsum("s,sj,sk->jk", sizes, sums, sums)
    return np.asarray(second / sizes.sum() / ((m + 1) * (m + 2)))


def _gauges(points: Floats) -> Floats:
    """The norm of each point in that of their hull."""
    if points.shape[1] == 1:
        return np.asarray(np.abs(points[:, 0]) / np.abs(points).max())
    hull = _hull(points)
    assert hull is not None
    return np.asarray((points @ hull.equations[:, :-1].T / -hull.equations[:, -1]).max(axis=1).clip(0, 1))


def _hull(points: Floats, most: int = MOST_FACETS) -> ConvexHull | None:
    kept = np.unique(points, axis=0)
    if most_facets(len(kept), kept.shape[1]) > most:
        return None
    try:
        return ConvexHull(np.concatenate((kept, -kept)), qhull_options="QJ")
    except QhullError:
        return None
