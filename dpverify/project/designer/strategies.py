"""Strategies: queries A to which noise is added, with a map M back, M A = the query that was asked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Final

import numpy as np

from dpverify.project.designer.exact import basis, binary, coordinates, floats, inverse, times, transposed, unit
from dpverify.project.designer.question import Question
from dpverify.trusted.kernel.model import Matrix

MOST_COLUMNS: Final = 300
"""Of a query for which strategies over all kinds of records are tried."""
MOST_FITTED: Final = 200
"""Rows of a query of lower rank whose noisy answers are made to fit each other by least squares."""
MOST_TURNED: Final = 16
"""Dimensions in which a strategy of principal directions is tried; exact inverses of turned axes have long entries."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """Queries to be measured, and the map from their answers to those that were asked for; None where they are the same."""

    name: str
    rows: Matrix
    back: Matrix | None = None


def strategies(question: Question) -> Iterator[Strategy]:
    """The query itself, and those that may serve it better."""
    rows = question.query.rows
    columns = len(rows[0])
    yield Strategy("the query itself", rows)
    kept = basis(rows)
    independent = tuple(rows[i] for i in kept)
    if len(kept) < len(rows):
        found = coordinates(rows, independent)
        assert found is not None
        yield Strategy("independent rows", independent, found)
        if len(rows) <= MOST_FITTED:
            flat = times(times(found, inverse(times(transposed(found), found))), transposed(found))
            yield Strategy("the query itself by least squares", rows, flat)
    if columns <= MOST_COLUMNS:
        if rows != unit(columns):
            yield Strategy("histogram", unit(columns), rows)
        sizes = question.workload.sizes if question.workload else ()
        if len(sizes) < 2 and columns & (columns - 1) == 0 and columns > 2:
            sizes = (2,) * (columns.bit_length() - 1)
        if len(sizes) > 1:
            yield from _interactions(rows, sizes)
        if columns > 3:
            yield _wavelet(rows, columns)
            yield _tree(rows, columns)
    if 2 <= len(kept) <= MOST_TURNED:
        yield _principal(rows, independent)


def _interactions(rows: Matrix, sizes: tuple[int, ...]) -> Iterator[Strategy]:
    """Products of contrasts of the attributes that the query speaks of: orthogonal, and few for marginals."""
    axes = [_contrasts(size) for size in sizes]
    used: list[tuple[Fraction, ...]] = []
    back: list[list[Fraction]] = []
    support = [{j: x for j, x in enumerate(row) if x} for row in rows]
    for choice in product(*(range(size) for size in sizes)):
        contrast = [Fraction(1)]
        for axis, number in zip(axes, choice, strict=True):
            contrast = [x * y for x in contrast for y in axis[number]]
        square = sum(x * x for x in contrast)
        shares = [sum((x * contrast[j] for j, x in row.items()), Fraction(0)) / square for row in support]
        if any(shares):
            used.append(tuple(contrast))
            back.append(shares)
    if len(used) < len(rows[0]) or len(rows) > len(used):
        yield Strategy("interactions", tuple(used), transposed(tuple(map(tuple, back))))


def _contrasts(size: int) -> list[list[Fraction]]:
    """The mean and Helmert's contrasts, orthogonal."""
    return [[Fraction(1)] * size] + [[Fraction(1)] * k + [Fraction(-k)] + [Fraction(0)] * (size - k - 1) for k in range(1, size)]


def _wavelet(rows: Matrix, columns: int) -> Strategy:
    """Haar's: the total, and for each half of an interval against the other; the intervals are halved as evenly as they can be."""
    found = [(Fraction(1),) * columns]

    def split(low: int, high: int) -> None:
        if high - low < 2:
            return
        middle = (low + high) // 2
        left, right = Fraction(1, middle - low), Fraction(-1, high - middle)
        top = max(left, -right)  # entries of at most 1
        found.append(tuple(left / top if low <= j < middle else right / top if middle <= j < high else Fraction(0) for j in range(columns)))
        split(low, middle)
        split(middle, high)

    split(0, columns)
    squares = [sum(x * x for x in row) for row in found]
    columns_of = transposed(times(rows, transposed(tuple(found))))
    back = transposed(tuple(tuple(x / square for x in column) for column, square in zip(columns_of, squares, strict=True)))
    return Strategy("wavelet", tuple(found), back)


def _tree(rows: Matrix, columns: int) -> Strategy:
    """All intervals of repeated halving. Least squares is rounded for the inner ones, and the leaves make up for it exactly."""
    inner: list[tuple[int, int]] = []

    def split(low: int, high: int) -> None:
        if high - low < 2:
            return
        inner.append((low, high))
        split(low, (low + high) // 2)
        split((low + high) // 2, high)

    split(0, columns)
    nodes = tuple(tuple(Fraction(int(low <= j < high)) for j in range(columns)) for low, high in inner)
    strategy = (*unit(columns), *nodes)
    solved = floats(rows) @ np.linalg.pinv(floats(strategy))
    rounded = binary(solved[:, columns:], 8)
    covered = times(rounded, nodes)
    leaves = tuple(tuple(x - y for x, y in zip(row, seen, strict=True)) for row, seen in zip(rows, covered, strict=True))
    back = tuple((*leaf, *node) for leaf, node in zip(leaves, rounded, strict=True))
    return Strategy("tree", strategy, back)


def _principal(rows: Matrix, independent: Matrix) -> Strategy:
    """The answers along the axes of their spread, rounded; the map back is exact."""
    _, axes = np.linalg.eigh(floats(independent) @ floats(independent).T)
    turned = binary(axes.T, 5)
    try:
        undone = inverse(turned)
    except ZeroDivisionError:
        turned = undone = unit(len(independent))
    found = coordinates(rows, independent)
    assert found is not None
    return Strategy("principal directions", times(turned, independent), times(found, undone))
