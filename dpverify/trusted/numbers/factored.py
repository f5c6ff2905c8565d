"""Norms by symmetric matrices of balls, from a factor of the inverse with what it leaves out bounded (theory#factored-matrices).

Elimination on balls loses some bits at each step; here it is done at midpoints, and what is lost is seen once, at the end. No matrix is
changed to make it positive definite: where that is not certain, there is no answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Final

from flint import arb, arb_mat

from dpverify.trusted.kernel.balls import finite
from dpverify.trusted.kernel.errors import Undecided, require

_WHY: Final = "the covariance of the evaluations is not certainly positive definite: the points are too close for this precision."


def leading_norms(entry: Callable[[int, int], arb], h: Sequence[arb]) -> Iterator[arb]:
    """h' K^-1 h for every leading block of a symmetric K. Raises Undecided where K is not certainly positive definite.

    With R = X K X' and abs(R - 1) <= r < 1 in every norm that a row sum bounds, K is positive definite, and h' K^-1 h = (X h)' R^-1 (X h)
    lies between |X h|^2/(1 + r) and |X h|^2/(1 - r); as X is a lower triangle, so it does of every leading block.
    """
    n = len(h)
    if not n:
        return
    matrix = arb_mat([[entry(max(i, j), min(i, j)) for j in range(n)] for i in range(n)])
    factor = _factor_of_inverse(matrix)
    rows = (factor * matrix * factor.transpose()).tolist()
    left = arb(0)
    for i, row in enumerate(rows):
        left = left.max(sum((abs(x - (i == j)).upper() for j, x in enumerate(row)), arb(0)).upper())
    require(left < 1, Undecided(_WHY))
    for square in accumulate((x.abs_lower() ** 2).union(x.abs_upper() ** 2) for x in (factor * arb_mat([[x] for x in h])).entries()):
        yield finite((square / (1 + left)).union(square / (1 - left)))


def _factor_of_inverse(matrix: arb_mat) -> arb_mat:
    """An exact lower triangle X with X K X' about 1, by halves. Raises Undecided where a pivot is not positive."""
    n, rows = matrix.nrows(), matrix.mid().tolist()
    if n == 1:
        require(rows[0][0] > 0, Undecided(_WHY))
        return arb_mat([[1 / rows[0][0].sqrt()]]).mid()
    m = n // 2
    first = _factor_of_inverse(arb_mat([row[:m] for row in rows[:m]]))
    beside = (arb_mat([row[:m] for row in rows[m:]]) * first.transpose()).mid()
    second = _factor_of_inverse(arb_mat([row[m:] for row in rows[m:]]) - beside * beside.transpose())
    below = (second * (beside * first).mid()).mid()
    top = [[*row, *[arb(0)] * (n - m)] for row in first.tolist()]
    return arb_mat([*top, *([*(-x for x in low), *row] for low, row in zip(below.tolist(), second.tolist(), strict=True))])
