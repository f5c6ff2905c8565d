"""Symmetric matrices of balls factored at their midpoints, with what that leaves out bounded (theory#factored-matrices).

Elimination on balls loses some bits at each step; here each tile is rounded to its midpoint before it is used, and what is lost there
is added up once. No matrix is changed to make it positive definite: where that is not certain, there is no answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Final

from flint import arb, arb_mat

from dpverify.trusted.kernel.balls import finite
from dpverify.trusted.kernel.errors import Undecided

_TILE: Final = 100
_WHY: Final = "the covariance of the evaluations is not certainly positive definite: the points are too close for this precision."

Tiles = list[list[arb_mat]]


def leading_norms(entry: Callable[[int, int], arb], h: Sequence[arb]) -> Iterator[arb]:
    """h' K^-1 h for every leading block of a symmetric K. Raises Undecided where K is not certainly positive definite."""
    n = len(h)
    starts = range(0, n, _TILE)
    sizes = [min(_TILE, n - start) for start in starts]
    tiles = [[_tile(entry, starts[i], sizes[i], starts[j], sizes[j]) for j in range(i + 1)] for i in range(len(starts))]
    lost = [arb_mat(size, 1) for size in sizes]
    _factor(tiles, lost)
    error = _largest(lost)
    most = _square_of_inverse(tiles, sizes)
    ratio = error * most
    if not ratio < 1:
        raise Undecided(_WHY)
    y, missed = _solved(tiles, h, starts, sizes)
    spread = (missed * most).sqrt()
    for square in accumulate(y[i, 0] * y[i, 0] for i in range(n)):
        length = square.sqrt()
        low, high = ((length - spread).max(arb(0)), length + spread)
        yield finite((low * low / (1 + ratio)).union(high * high / (1 - ratio)))


def _tile(entry: Callable[[int, int], arb], top: int, height: int, left: int, width: int) -> arb_mat:
    return arb_mat(height, width, [entry(top + i, left + j) for i in range(height) for j in range(width)])


def _ones(size: int) -> arb_mat:
    return arb_mat(size, 1, [1] * size)


def _sizes(matrix: arb_mat) -> arb_mat:
    """The entries' absolute values from above."""
    return arb_mat(matrix.nrows(), matrix.ncols(), [x.abs_upper() for x in matrix.entries()])


def _factor(tiles: Tiles, lost: list[arb_mat]) -> None:
    """Replace K by the tiles of L, exact, with K - L L' added up in `lost`, row by row."""
    for k in range(len(tiles)):
        whole = tiles[k][k]
        lower = _cholesky(whole)
        lost[k] += _sizes(whole - lower * lower.transpose()) * _ones(whole.ncols())
        tiles[k][k], inverse = lower, lower.inv().transpose()
        for i in range(k + 1, len(tiles)):
            old = tiles[i][k]
            tiles[i][k] = (old.mid() * inverse).mid()
            left = _sizes(old - tiles[i][k] * lower.transpose())
            lost[i] += left * _ones(left.ncols())
            lost[k] += left.transpose() * _ones(left.nrows())
        turned = [tiles[j][k].transpose() for j in range(k + 1, len(tiles))]
        for i in range(k + 1, len(tiles)):
            for j in range(k + 1, i + 1):
                tiles[i][j] -= tiles[i][k] * turned[j - k - 1]


def _cholesky(tile: arb_mat) -> arb_mat:
    """An exact lower triangle whose square is about a tile. Raises Undecided where a pivot is not positive."""
    rows, n = tile.mid().tolist(), tile.nrows()
    for i in range(n):
        for j in range(i):
            rows[i][j] = ((rows[i][j] - sum(map(arb.__mul__, rows[i][:j], rows[j][:j]), arb(0))) / rows[j][j]).mid()
        pivot = (rows[i][i] - sum((x * x for x in rows[i][:i]), arb(0))).mid()
        if not pivot > 0:
            raise Undecided(_WHY)
        rows[i][i:] = [pivot.sqrt().mid(), *([arb(0)] * (n - i - 1))]
    return arb_mat(rows)


def _largest(columns: Sequence[arb_mat]) -> arb:
    """The greatest entry, from above."""
    found = arb(0)
    for column in columns:
        for x in column.entries():
            found = found.max(x.abs_upper())
    return finite(found).upper()


def _square_of_inverse(lower: Tiles, sizes: Sequence[int]) -> arb:
    """A bound on the squared norm of L^-1: of an approximate inverse X, in the row and in the column norm, and of L X - 1."""
    found: Tiles = []
    rest: Tiles = []
    for i, size in enumerate(sizes):
        inverse = lower[i][i].inv().mid()
        totals = [_times(lower[i], found, range(j, i), j, (size, sizes[j])) for j in range(i)]
        found.append([*(-(inverse * total.mid()).mid() for total in totals), inverse])
        one = arb_mat(size, size, [-1 if a == b else 0 for a in range(size) for b in range(size)])
        rest.append([total + lower[i][i] * x for total, x in zip([*totals, one], found[i], strict=True)])
    product = arb(1)
    for most, left in zip(_norms(found, sizes), _norms(rest, sizes), strict=True):
        if not left < 1:
            raise Undecided(_WHY)
        product *= most / (1 - left)
    return product.upper()


def _times(row: Sequence[arb_mat], columns: Tiles, over: range, j: int, shape: tuple[int, int]) -> arb_mat:
    """The sum of row[k] columns[k][j]."""
    total = arb_mat(*shape)
    for k in over:
        total += row[k] * columns[k][j]
    return total


def _norms(tiles: Tiles, sizes: Sequence[int]) -> tuple[arb, arb]:
    """The largest sums of absolute values in a row, and in a column."""
    rows, columns = ([arb_mat(size, 1) for size in sizes] for _ in range(2))
    for i, row in enumerate(tiles):
        for j, tile in enumerate(row):
            absolute = _sizes(tile)
            rows[i] += absolute * _ones(sizes[j])
            columns[j] += absolute.transpose() * _ones(sizes[i])
    return _largest(rows), _largest(columns)


def _solved(lower: Tiles, h: Sequence[arb], starts: Sequence[int], sizes: Sequence[int]) -> tuple[arb_mat, arb]:
    """An exact y with L y about h, and the squared length of h - L y from above."""
    found: list[arb_mat] = []
    missed = arb(0)
    for i, size in enumerate(sizes):
        left = arb_mat(size, 1, [h[starts[i] + a] for a in range(size)])
        for j in range(i):
            left -= lower[i][j] * found[j]
        found.append((lower[i][i].inv() * left.mid()).mid())
        for x in (left - lower[i][i] * found[i]).entries():
            missed += x.abs_upper() * x.abs_upper()
    return arb_mat(len(h), 1, [x for part in found for x in part.entries()]), missed.upper()
