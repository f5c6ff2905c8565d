"""The number S of a workload: Gaussian noise of the best shape has the mean square error sigma^2 S, and any mechanism one of v S at least.

S is the least trace of a covariance that is above f f' for every difference f of neighbours' answers, in the order of matrices. Here are
bounds on it from the Gram matrix G of the queries alone, which are never written out: with columns for the kinds of records, G = W'W.

Source: docs/theory/necessary.md#shapes
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import isqrt, lcm, prod
from typing import Final

from flint import arb, fmpz, fmpz_mat

from dpverify.trusted.kernel.balls import rational
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.numbers.gaussian import gaussian_delta

NAME: Final = "shape-lower-bound"
MOST_CHARACTERS: Final = 4_000_000
"""Pairs of a table and a set of its attributes."""

FINE: Final = 2**20
"""By how much integers are multiplied before they have noise, so that it is as good as continuous."""
_FAR: Final = 200
"""Minus the logarithm of the probability of noise that is left out of account."""

Tables = Mapping[tuple[int, ...], Fraction]
"""Which tables of counts are asked for, by their attributes in order, with the squares of their weights."""
Ends = tuple[arb, arb]
"""A lower and an upper bound."""


def gram(part: str, size: int) -> fmpz_mat:
    """How many queries of a family on so many bins count both of two bins. Raises KeyError for a family that is none."""
    pairs = [(min(i, j), max(i, j)) for i in range(size) for j in range(size)]
    both = {
        "total": [1 for _ in pairs],
        "identity": [int(low == high) for low, high in pairs],
        "prefix": [size - high for _, high in pairs],
        "ranges": [(low + 1) * (size - high) for low, high in pairs],
    }[part]
    return fmpz_mat(size, size, both)


def kinds_of_characters(sizes: Sequence[int], tables: Tables) -> Iterator[tuple[tuple[int, ...], int, Fraction]]:
    """For each set of attributes the number of its characters, products of contrasts of these, and the eigenvalue of G that they share."""
    require(sum(2 ** len(table) for table in tables) <= MOST_CHARACTERS, Rejected(NAME, "the tables", "they are too many to go through"))
    cells, unit = prod(sizes), lcm(*(square.denominator for square in tables.values()))
    found: dict[tuple[int, ...], int] = {}
    for table, square in tables.items():
        outside = cells // prod(sizes[i] for i in table) * int(square * unit)
        for order in range(len(table) + 1):
            for kept in combinations(table, order):
                found[kept] = found.get(kept, 0) + outside
    for kept, value in found.items():
        yield kept, prod(sizes[i] - 1 for i in kept), Fraction(value, unit)


@dataclass(frozen=True, slots=True)
class Measured:
    """How the table of a set of attributes is measured: times FINE, and times n - J for each attribute, n the number of its values.

    cells: how many numbers it has; characters: of its attributes together; value: their eigenvalue. variance: of the noise on each number,
    over sigma^2, where what a record moves is sigma times 1 at most.
    """

    attributes: tuple[int, ...]
    cells: int
    characters: int
    value: Fraction
    variance: Fraction


def measured(sizes: Sequence[int], tables: Tables, adjacency: str) -> list[Measured]:
    """The mechanism of the best shape, but for rounding and what is lost where records are replaced. Raises Rejected.

    A record moves the numbers of a set A by FINE^2 * cells * characters in squares, two that are exchanged by at most `most` times that.
    The total is public where records are replaced.
    """
    found = []
    for kept, count, value in kinds_of_characters(sizes, tables):
        if adjacency == "replace":
            if kept:
                found.append((kept, count, value, max(Fraction(2 * sizes[i], sizes[i] - 1) for i in kept)))
        else:
            found.append((kept, count, value, Fraction(1)))
    shares = [Fraction(isqrt(int(value / most * 2**80)) + 1, 2**40) for _, _, value, most in found]
    whole = sum((share * count * most for share, (_, count, _, most) in zip(shares, found, strict=True)), Fraction(0))
    cells = [prod(sizes[i] for i in kept) for kept, _, _, _ in found]
    return [
        Measured(kept, size, count, value, FINE**2 * size * whole / share)
        for size, share, (kept, count, value, _) in zip(cells, shares, found, strict=True)
    ]


def of_tables(sizes: Sequence[int], tables: Tables, adjacency: str) -> Ends:
    """Bounds on S for tables of counts of attributes, about equal but under "replace". Raises Rejected."""
    kinds, cells = list(kinds_of_characters(sizes, tables)), prod(sizes)
    if adjacency == "l2":
        whole = rational(sum((count * value for _, count, value in kinds), Fraction(0)))
        return whole, whole
    replaced = adjacency == "replace"
    below = sum((count * rational(value).sqrt() for kept, count, value in kinds if kept or not replaced), arb(0)) ** 2
    used = measured(sizes, tables, adjacency)
    above = sum((rational(one.characters * one.value * one.variance / (FINE**2 * one.cells)) for one in used), arb(0)) / cells
    if not replaced:
        return below / cells, above
    apart = arb(0)  # weights on the pairs that differ in every attribute, in place of those on all pairs
    for kept, count, value in kinds:
        apart += count * rational(value * (1 - prod(Fraction(-1, sizes[i] - 1) for i in kept))).sqrt()
    return (2 * below / (cells - 1)).max(2 * apart**2 / cells), above


def of_product(factors: Sequence[Ends]) -> Ends:
    """Bounds on S where each query is a product of queries of factors, as are the kinds of records. Not for records that are replaced."""
    below, above = arb(1), arb(1)
    for low, high in factors:
        below, above = below * low, above * high
    return below, above


def from_below(counted: fmpz_mat, moves: fmpz_mat, turned: fmpz_mat, level: int, *, replaced: bool) -> arb:
    """A lower bound on S. moves: columns, each an integer times a difference of neighbours' histograms. Raises Rejected.

    turned: X, symmetric, with X K X about `level` times a projection, K = moves' G moves. replaced: whether a record is replaced by
    another, and not added or removed.
    """
    require(turned == turned.transpose() and level > 0, Rejected(NAME, "the matrix", "it is not symmetric, or has no level above 0"))
    inner = moves.transpose() * counted * moves
    half = turned * inner
    whole = half * turned
    off = arb(_squares(whole * whole - whole * level)).sqrt()
    most = (level + (arb(level) ** 2 + 4 * off).sqrt()) / 2  # no eigenvalue x has |x (x - level)| > off
    trace = sum((half[i, i] for i in range(half.nrows())), fmpz(0))
    return arb(trace if trace > 0 else 0) ** 2 / (most * _weight(moves, replaced=replaced))


def _weight(moves: fmpz_mat, *, replaced: bool) -> int:
    """The sum of the squares of the integers. Raises Rejected where a column is no multiple of a difference."""
    total = 0
    for column in moves.transpose().tolist():
        entries = [int(x) for x in column if x != 0]
        fits = len(entries) == 2 and sum(entries) == 0 if replaced else len(entries) == 1
        require(fits, Rejected(NAME, "a move", "it is no multiple of a difference of neighbours"))
        total += entries[0] ** 2
    return total


def from_above(counted: fmpz_mat, rows: fmpz_mat, undone: fmpz_mat, unit: int, *, replaced: bool) -> arb:
    """An upper bound on S: what noise on the rows of Z has, whose inverse is about Y/unit. Raises Rejected.

    rows: Z; undone: Y, integers; replaced: as above.
    """
    off = _off(rows, undone, unit)
    seen = counted * undone
    trace = sum((int(a) * int(b) for a, b in zip(undone.entries(), seen.entries(), strict=True)), 0)
    return arb(trace) * reach(rows, replaced=replaced) / (arb(unit) * (1 - off)) ** 2


def greatest_from_above(queries: fmpz_mat, rows: fmpz_mat, undone: fmpz_mat, unit: int, *, replaced: bool) -> arb:
    """An upper bound on the greatest variance of one answer of the same noise, over sigma^2. queries: W, integers. Raises Rejected."""
    off = _off(rows, undone, unit)
    most = max(sum(int(x) ** 2 for x in row) for row in (queries * undone).tolist())
    return arb(most) * reach(rows, replaced=replaced) / (arb(unit) * (1 - off)) ** 2


def variances_of_tables(sizes: Sequence[int], tables: Iterable[tuple[int, ...]], used: Sequence[Measured]) -> dict[tuple[int, ...], arb]:
    """The variance of one cell of each table over sigma^2, where tables are measured so."""
    each = {one.attributes: rational(one.variance * one.characters / (FINE**2 * one.cells**2)) for one in used}
    found = {}
    for table in tables:
        variance = arb(0)
        for order in range(len(table) + 1):
            for kept in combinations(table, order):
                variance += each.get(kept, arb(0)) / (prod(sizes[i] for i in kept) * prod(sizes[i] for i in table if i not in kept) ** 2)
        found[table] = variance
    return found


def reach(rows: fmpz_mat, *, replaced: bool) -> int:
    """The greatest square by which neighbours move the rows of Z."""
    size, inner = rows.ncols(), rows.transpose() * rows
    alone = [int(inner[i, i]) for i in range(size)]
    if not replaced:
        return max(alone)
    return max((alone[i] + alone[j] - 2 * int(inner[i, j]) for i in range(size) for j in range(i)), default=0)


def _off(rows: fmpz_mat, undone: fmpz_mat, unit: int) -> arb:
    """How far Z Y is from unit times the identity, over the unit. Raises Rejected where that is not below 1."""
    size = rows.nrows()
    near = rows * undone - fmpz_mat(size, size, [unit * int(i == j) for i in range(size) for j in range(size)])
    off = arb(_squares(near)).sqrt() / unit
    require(off < 1, Rejected(NAME, "the inverse", "it is not near enough to one"))
    return off


def _squares(matrix: fmpz_mat) -> fmpz:
    return sum((x * x for x in matrix.entries()), fmpz(0))


def integer_delta(epsilon: arb, sigma: arb, least: arb, count: int) -> arb:
    """An upper bound on the delta at epsilon of discrete Gaussian noise on `count` integers. Raises Rejected.

    least: the least of the parameters s_i, at least 1. sigma: neighbours move the integers, each over its s_i, by at most 1/sigma in l2.
    """
    require(least >= 1 and sigma > 0, Rejected(NAME, "the noise", "a parameter is not certainly at least 1, or sigma above 0"))
    coarse = 1 + 3 * (-2 * (arb.pi() * least) ** 2).exp()  # the sum over the integers over the integral, at most
    farthest = 4 * (arb(count) * arb(2).log() / 2 + _FAR)
    beyond = (-arb(_FAR)).exp() * coarse**count
    below = arb(count) / (24 * least**2)
    above = count * coarse.log() + (farthest.sqrt() + 1 / sigma) ** 2 / (24 * least**2)
    return below.exp() * gaussian_delta(1 / sigma, epsilon - above - below) + beyond
