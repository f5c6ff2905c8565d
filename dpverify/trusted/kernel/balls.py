"""Expressions on balls: their values.

A ball is an interval that certainly contains the true value (python-flint's arb). Precision is
flint's global `ctx.prec`; callers set it with `precision`. Nothing here decides anything: callers
accept a comparison only when it is True, so a non-finite ball never passes.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import reduce
from operator import add, mul
from typing import Final

from flint import arb, ctx, fmpq

from dpverify.trusted.kernel.errors import ExprError, Undecided, require
from dpverify.trusted.kernel.expr import Add, Expr, Mul, Num, Pow, Sym

MAX_PRECISION: Final = 20_000

NAN: Final = arb("nan")

_OF_BALLS: Final = ("exp", "log", "floor", "cosh", "sinh", "tanh", "asinh", "atanh", "erf", "erfc", "gamma")
"""Functions that balls have under the names of the language."""

WIDE: Final = 20  # a ball this wide gains from being taken at its two ends


class precision:
    """Set flint's global precision for a block and restore it. Raises ValueError beyond MAX_PRECISION."""

    __slots__ = ("_before", "_bits")

    def __init__(self, bits: int) -> None:
        if not 32 <= bits <= MAX_PRECISION:
            raise ValueError(f"a precision of {bits} bits; between 32 and {MAX_PRECISION} is allowed.")
        self._bits, self._before = bits, 0

    def __enter__(self) -> None:
        self._before = ctx.prec
        ctx.prec = self._bits

    def __exit__(self, *_: object) -> None:
        ctx.prec = self._before


def rational(value: Fraction | int) -> arb:
    """The ball of an exact rational at the current precision."""
    if isinstance(value, int):
        return arb(value)
    return arb(value.numerator) if value.denominator == 1 else arb(fmpq(value.numerator, value.denominator))


def exact(point: arb) -> Fraction:
    """The rational that an exact ball is. Raises Undecided where that is not finite, or too long to write out."""
    mantissa, exponent = map(int, finite(point).man_exp())
    require(abs(exponent) <= MAX_PRECISION, Undecided("a number too large or too small to write out."))
    return Fraction(mantissa << exponent) if exponent >= 0 else Fraction(mantissa, 1 << -exponent)


def hull(lower: Fraction | arb, upper: Fraction | arb) -> arb:
    """The smallest ball at hand that contains both ends."""
    left = lower if isinstance(lower, arb) else rational(lower)
    right = upper if isinstance(upper, arb) else rational(upper)
    return left.union(right)


def finite(ball: arb) -> arb:
    """The ball itself; raises Undecided where it is not finite."""
    require(ball.is_finite(), Undecided("an enclosure is not finite; split the cell or raise the precision."))
    return ball


def value(expr: Expr, values: Mapping[str, arb]) -> arb:
    """The value of a tree over balls, without derivatives. Raises ExprError for a symbol without a value."""
    if isinstance(expr, Num):
        return rational(expr.value)
    if isinstance(expr, Sym):
        if expr.name not in values:
            raise ExprError(f"the symbol {expr.name!r} has no value.")
        return values[expr.name]
    if isinstance(expr, Add):
        return reduce(add, (value(term, values) for term in expr.args))
    if isinstance(expr, Mul):
        return reduce(mul, (value(factor, values) for factor in expr.args))
    if isinstance(expr, Pow):
        base = value(expr.base, values)
        if isinstance(expr.exponent, Num):
            return ball_power(base, expr.exponent.value)
        return (value(expr.exponent, values) * base.log()).exp()
    if expr.name == "logratio":
        above, below, order = (value(arg, values) for arg in expr.args)
        return above.log() - order * below.log()
    if expr.name in ("besselk", "logbesselk"):
        from dpverify.trusted.numbers.bessel import logbesselk

        logarithm: arb = logbesselk(expr.args[0], value(expr.args[1], values))
        return logarithm if expr.name == "logbesselk" else logarithm.exp()
    return _function(expr.name, [value(arg, values) for arg in expr.args])


def constant(expr: Expr) -> arb:
    """The ball of an expression without symbols, at the current precision."""
    return value(expr, {})


def _function(name: str, args: list[arb]) -> arb:
    if name == "pi":
        return arb.pi()
    if name == "abs":
        return abs(args[0])
    if name in ("min", "max"):
        return reduce(getattr(arb, name), args)
    if name in ("logerfc", "logexprel"):
        from dpverify.trusted.numbers.special import LOGARITHMS

        return LOGARITHMS[name](args[0])
    if name in _OF_BALLS:
        result: arb = getattr(args[0], name)()
        return result
    raise ExprError(f"unknown function {name!r}.")


def ball_power(base: arb, exponent: Fraction) -> arb:
    """base ** exponent for an exact rational exponent; non-finite where the ball leaves the domain."""
    n, d = exponent.numerator, exponent.denominator
    if n == d == 1:
        return base
    if base.rel_accuracy_bits() < WIDE:
        if base > 0:
            return _exact_power(base.lower(), exponent).union(_exact_power(base.upper(), exponent))
        if d == 1 and n > 0:  # flint has no power of a ball about 0
            low, high = (base.abs_lower(), base.abs_upper()) if n % 2 == 0 else (base.lower(), base.upper())
            return (low**n).union(high**n)
    return base**n if d == 1 and n >= 0 else _exact_power(base, exponent)


def _exact_power(base: arb, exponent: Fraction) -> arb:
    n, d = exponent.numerator, exponent.denominator
    if n < 0:
        return 1 / _exact_power(base, -exponent)
    if d <= 2:
        return base**n if d == 1 else base.sqrt() ** n
    low = base.lower()
    if low > 0:
        return (rational(exponent) * base.log()).exp()
    if low >= 0:
        top = base.upper()
        return arb(0) if top == 0 else arb(0).union((rational(exponent) * top.log()).exp())
    return NAN
