"""What noise of one size on the rows of a strategy costs, where the sum of its absolute entries in a column is what a record moves.

The numbers here, times the variance of noise of which one has where an answer moves by 1, are at least the mean square errors.

Source: docs/theory/necessary.md#strategies-with-laplace-noise
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Final

from flint import arb, fmpz, fmpz_mat

from dpverify.trusted.kernel.balls import rational
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.theories.utility.noise_shapes import Tables, kinds_of_characters

NAME: Final = "laplace-strategy"


def reach(rows: fmpz_mat) -> int:
    """The greatest sum of the absolute entries of a column."""
    return max(sum(abs(int(x)) for x in column) for column in rows.transpose().tolist())


def of_rows(grams: Sequence[fmpz_mat], rows: fmpz_mat, undone: fmpz_mat, unit: int) -> list[arb]:
    """For the queries of each Gram matrix an upper bound on the squares of W (Y Z)^-1 Y, summed. Raises Rejected.

    rows: Z, at least as many as there are columns; undone: Y with Y Z about `unit` times 1.
    """
    size = rows.ncols()
    near = undone * rows - fmpz_mat(size, size, [unit * int(i == j) for i in range(size) for j in range(size)])
    off = _length(near) / unit
    require(unit > 0 and off < 1, Rejected(NAME, "the inverse", "it is not near enough to one"))
    beyond = off / (1 - off) * _length(undone)
    found = []
    for gram in grams:
        seen = gram * undone
        square = sum((x * y for x, y in zip(undone.entries(), seen.entries(), strict=True)), fmpz(0))
        trace = sum((gram[i, i] for i in range(size)), fmpz(0))
        found.append(((arb(square).sqrt() + arb(trace).sqrt() * beyond) / unit) ** 2)
    return found


def of_tables(sizes: Sequence[int], asked: Tables, shares: Mapping[tuple[int, ...], Fraction]) -> arb:
    """What noise on tables of counts has, of which each is measured as precisely as its share, times the square of all shares together.

    Answers are by least squares. Raises Rejected where some table that is asked for is not known from those that are measured.
    """
    seen = {kept: value for kept, _, value in kinds_of_characters(sizes, {table: share**2 for table, share in shares.items() if share > 0})}
    total = arb(0)
    for kept, count, value in kinds_of_characters(sizes, asked):
        require(kept in seen, Rejected(NAME, "the tables", "some table that is asked for is not known from those that are measured"))
        total += rational(count * value / seen[kept])
    return rational(sum(shares.values(), Fraction(0))) ** 2 * total


def _length(matrix: fmpz_mat) -> arb:
    return arb(sum((x * x for x in matrix.entries()), fmpz(0))).sqrt()
