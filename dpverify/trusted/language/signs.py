"""What the form of an expression shows of its sign."""

from __future__ import annotations

from collections.abc import Container
from fractions import Fraction
from typing import Final

from dpverify.trusted.kernel.expr import Add, Call, Expr, Mul, Num, Pow, Sym, call, mul

NEGATIVE: Final = "the density is non-negative"


def plainly_non_negative(expr: Expr, known: Container[str] = ()) -> bool:
    """Whether an expression is at least 0 by its form, wherever it has a value. known: the symbols that are."""
    if isinstance(expr, Num):
        return expr.value >= 0
    if isinstance(expr, Sym):
        return expr.name in known
    if isinstance(expr, Mul):
        return all(plainly_non_negative(part, known) for part in expr.args)
    if isinstance(expr, Add):
        least = [_least(part, known) for part in expr.args]
        return None not in least and sum(value for value in least if value is not None) >= 0
    if isinstance(expr, Pow):
        even = isinstance(expr.exponent, Num) and expr.exponent.value.denominator == 1 and expr.exponent.value % 2 == 0
        return even or plainly_non_negative(expr.base, known)
    if expr.name in ("min", "max"):
        return (all if expr.name == "min" else any)(plainly_non_negative(part, known) for part in expr.args)
    return expr.name in ("exp", "abs", "cosh", "erfc", "besselk") or (expr.name == "floor" and plainly_non_negative(expr.args[0], known))


def _least(term: Expr, known: Container[str]) -> Fraction | None:
    """What a term is at least by its form: itself, 0, or a negative multiple of the least number in a min; None where none is known."""
    if isinstance(term, Num):
        return term.value
    if plainly_non_negative(term, known):
        return Fraction(0)
    if isinstance(term, Mul) and len(term.args) == 2 and isinstance(term.args[0], Num) and term.args[0].value < 0:
        inside = term.args[1]
        caps = [cap.value for cap in inside.args if isinstance(cap, Num)] if isinstance(inside, Call) and inside.name == "min" else []
        return term.args[0].value * min(caps) if caps else None
    return None


def absolute(expr: Expr) -> Expr:
    """abs(expr), left out where the form shows that it cannot be negative."""
    if plainly_non_negative(expr):
        return expr
    if isinstance(expr, Num):
        return Num(abs(expr.value))
    if isinstance(expr, Mul) and isinstance(expr.args[0], Num):
        return mul(Num(abs(expr.args[0].value)), absolute(mul(*expr.args[1:])))
    return call("abs", expr)
