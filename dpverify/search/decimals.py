"""Decimals that enclose a constant, for readers."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import ceil, floor
from typing import Final

from flint import arb, fmpz

from dpverify.trusted.kernel.balls import constant, exact, precision
from dpverify.trusted.kernel.compare import sign
from dpverify.trusted.kernel.errors import Undecided
from dpverify.trusted.kernel.expr import Expr, Num
from dpverify.trusted.kernel.signs import FINEST

MAX_BINARY_EXPONENT: Final = 1_000_000
"""The largest power of two that is written out as a decimal."""


def decimal_bounds(expr: Expr, digits: int) -> tuple[str, str]:
    """Two decimals of `digits` significant digits, rounded outward, that enclose the constant.

    Raises Undecided where no finite enclosure is found, ValueError for fewer than one digit.
    """
    if digits < 1:
        raise ValueError(f"{digits} digits; at least one is needed.")
    if isinstance(expr, Num):
        return _decimal(expr.value, digits, floor), _decimal(expr.value, digits, ceil)
    if sign(expr) == 0:
        return "0", "0"
    bits = 64 + 4 * digits
    with precision(bits):
        ball = constant(expr)
    if not ball.is_finite() or ball.rel_accuracy_bits() <= 4 * digits:
        with precision(FINEST + bits):
            ball = constant(expr)
    if not ball.is_finite():
        raise Undecided("no finite enclosure of the constant: it is undefined, or needs more precision.")
    middle, radius = _exact(ball.mid()), _exact(ball.rad())
    low, high = middle - radius, middle + radius
    return _decimal(low, digits, floor), _decimal(high, digits, ceil)


def _exact(point: arb) -> Fraction:
    mantissa, exponent = point.man_exp()
    if abs(exponent) > MAX_BINARY_EXPONENT:
        raise Undecided("a number too large or too small to write as a decimal.")
    return int(mantissa) * Fraction(2) ** int(exponent)


def _decimal(value: Fraction, digits: int, rounding: Callable[[Fraction], int]) -> str:
    """`value` rounded to significant digits in the direction of `rounding`, in the language of expressions."""
    if value == 0:
        return "0"
    size = abs(value)
    above, below = (len(str(fmpz(part))) for part in (size.numerator, size.denominator))  # Python writes no integer of so many digits
    exponent = above - below  # of the leading digit, or one too many
    if size < Fraction(10) ** exponent:
        exponent -= 1
    units = rounding(value / Fraction(10) ** (exponent - digits + 1))
    if abs(units) == 10**digits:
        units, exponent = units // 10, exponent + 1
    minus, text = "-" if units < 0 else "", str(abs(units))
    if -5 <= exponent < 0:
        return f"{minus}0.{'0' * (-exponent - 1)}{text}"
    if 0 <= exponent < digits:
        return f"{minus}{text[: exponent + 1]}" + (f".{text[exponent + 1 :]}" if exponent + 1 < digits else "")
    return f"{minus}{text[0]}" + (f".{text[1:]}" if digits > 1 else "") + f"e{exponent}"


def decimal_above(value: Expr, digits: int) -> str:
    """A decimal of a constant, rounded up, without needless zeros."""
    high = decimal_bounds(value, digits)[1]
    return high.rstrip("0").removesuffix(".") if "." in high and "e" not in high else high


def decimals(ball: arb, digits: int = 12) -> str:
    """One decimal where both ends round to the same, else "[low, high]", rounded outward."""
    try:
        low = decimal_bounds(Num(exact(ball.lower())), digits)[0]
        high = decimal_bounds(Num(exact(ball.upper())), digits)[1]
    except Undecided:
        return str(ball.str(digits))  # beyond what is written out digit by digit; arb rounds outward too
    return low if low == high else f"[{low}, {high}]"
