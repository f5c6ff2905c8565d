"""Mean squares of the numbers that a linear map makes of blocks of noise, and what they say of other errors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from flint import arb, fmpq_mat

from dpverify.trusted.facts.errors import ErrorBound, Measure, enclosed, known
from dpverify.trusted.geometry.linear import form, square
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.bounds import INFINITE, Infinite
from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, Num, add, call, div, mul, num, sqrt, sub
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


GREATEST: Final = div(sqrt(num(3)), num(2))


_LEAST: Final = sqrt(Num(Fraction(1, 2)))
"""The mean of |X| over the root of the mean of X^2, of a symmetric log-concave density, is between these."""


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


def of_shape(root: Measure, mean: Measure, squared: Size, coordinate: int | None, most: Expr | None) -> list[ErrorBound]:
    """What is known of the root of a mean square, and of the mean. most: how great their ratio is, None where the shape is unknown."""
    if isinstance(squared, Infinite):
        return [*known(root, INFINITE, coordinate)]
    bounds = [*(enclosed(root, squared.sqrt(), coordinate) if isinstance(squared, arb) else known(root, sqrt(squared), coordinate))]
    for bound in (*bounds,):
        assert isinstance(bound.value, Expr)
        if bound.side == "upper":
            bounds.append(ErrorBound(mean, "this", "upper", mul(most or ONE, bound.value), coordinate))
        elif most is not None:
            bounds.append(ErrorBound(mean, "this", "lower", mul(_LEAST, bound.value), coordinate))
    return bounds


def exceeded(squares: Sequence[Size], beta: Expr) -> list[ErrorBound]:
    """Both sides of the distance that the greatest number of the error is above with probability beta."""
    ends: dict[str, list[Expr]] = {"lower": [], "upper": []}
    for one in squares:
        for bound in of_shape("rms", "expected_absolute", one, None, None):
            if bound.measure == "rms" and isinstance(bound.value, Expr):
                ends[bound.side].append(bound.value)
    least, most = (call("max", *dict.fromkeys(ends[side])) for side in ("lower", "upper"))
    above = mul(GREATEST, most, add(ONE, call("log", div(num(len(squares)), beta))))
    below = mul(least, sub(_LEAST, sqrt(beta)))
    found = [ErrorBound("exceeded", "this", "upper", above, beta=beta)]
    return found + ([ErrorBound("exceeded", "this", "lower", below, beta=beta)] if certainly_le(ZERO, below) else [])
