"""Minus the logarithm of functions of the language other than the exponential."""

from __future__ import annotations

from collections.abc import Callable

from dpverify.trusted.kernel.expr import ONE, Add, Call, Expr, Mul, Num, Pow, add, call, mul, neg, num
from dpverify.trusted.language.signs import absolute


def neg_log_call(density: Call, neg_log: Callable[[Expr], Expr]) -> Expr:
    """-log of a function, taken apart where that is of use. neg_log: of any density."""
    u = density.args[-1] if density.args else ONE
    if density.name == "abs":
        return neg(call("log", density)) if not isinstance(u, Mul) else add(*(neg_log(absolute(f)) for f in u.args))
    if density.name == "cosh":
        size = absolute(u)
        return add(neg(size), neg(call("log", add(ONE, call("exp", mul(num(-2), size))))), call("log", num(2)))
    if density.name == "erfc":
        return neg(call("logerfc", u))
    if density.name == "besselk":
        return neg(call("logbesselk", *density.args))
    if density.name == "min":
        return call("max", *map(neg_log, density.args))
    if density.name == "max" and all(map(_plainly_positive, density.args)):
        return call("min", *map(neg_log, density.args))
    return neg(call("log", density))


def _plainly_positive(expr: Expr) -> bool:
    """Whether the form shows that the value is positive wherever it is defined."""
    if isinstance(expr, Num):
        return expr.value > 0
    if isinstance(expr, Add | Mul):
        return all(map(_plainly_positive, expr.args))
    if isinstance(expr, Pow):
        return _plainly_positive(expr.base)
    return isinstance(expr, Call) and expr.name in ("exp", "cosh", "erfc", "besselk", "pi")
