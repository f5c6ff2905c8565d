"""Mean squares of the numbers that a linear map makes of blocks of noise, and what they say of other errors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, fmpq_mat

from dpverify.trusted.facts.errors import ErrorBound, Measure, enclosed, known
from dpverify.trusted.geometry.linear import form, square
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.bounds import INFINITE, Infinite
from dpverify.trusted.kernel.expr import Expr, Num, add, mul, sqrt
from dpverify.trusted.kernel.model import Vector

Size = Expr | Infinite | arb
"""A mean square: exact, infinite, or enclosed."""


@dataclass(frozen=True, slots=True)
class Block:
    """Noise with the covariance size * spread, None for that of independent numbers; how many it has, and how often it is drawn."""

    size: Size
    spread: fmpq_mat | None
    width: int
    times: int


def shares_of(row: Vector, blocks: Sequence[Block]) -> Iterator[Fraction]:
    """m C m' for each block, without its size."""
    at = 0
    for block in blocks:
        share = Fraction(0)
        for _ in range(block.times):
            cut, at = row[at : at + block.width], at + block.width
            share += square(cut) if block.spread is None else form(block.spread, cut)
        yield share


def scaled_size(factor: Expr, size: Size) -> Size:
    """A mean square times a factor."""
    if isinstance(size, Infinite):
        return size
    return mul(factor, size) if isinstance(size, Expr) else constant(factor) * size


def total_square(shares: Sequence[Fraction], blocks: Sequence[Block]) -> Size:
    """The sum of the blocks' mean squares, each times its share."""
    parts = [scaled_size(Num(share), block.size) for share, block in zip(shares, blocks, strict=True) if share]
    if any(isinstance(part, Infinite) for part in parts):
        return INFINITE
    exact = [part for part in parts if isinstance(part, Expr)]
    if len(exact) == len(parts):
        return add(*exact)
    total = constant(add(*exact))
    for part in parts:
        total += part if isinstance(part, arb) else 0
    return total


def rooted(measure: Measure, squared: Size, coordinate: int | None) -> tuple[ErrorBound, ...]:
    """Both sides of the root of a mean square."""
    if isinstance(squared, Infinite):
        return known(measure, INFINITE, coordinate)
    return enclosed(measure, squared.sqrt(), coordinate) if isinstance(squared, arb) else known(measure, sqrt(squared), coordinate)
