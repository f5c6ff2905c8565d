"""Minus the logarithm of a density, taken apart."""

from __future__ import annotations

from dpverify.trusted.language.errors import ExprError
from dpverify.trusted.language.expr import ONE, Add, Call, Expr, Mul, Num, Pow, add, call, format_expr, mul, neg, num
from dpverify.trusted.language.loading import load
from dpverify.trusted.language.model import Product, Radial, Translation
from dpverify.trusted.language.signs import plainly_non_negative


def neg_log_profile(mechanism: Radial | Translation | Product) -> Expr:
    """h = -log(density) of additive noise, in r or z."""
    return neg_log(mechanism.profile if isinstance(mechanism, Radial) else mechanism.density)


def neg_log(density: Expr) -> Expr:
    """-log(density) with logarithms of products, powers and exponentials taken apart.

    Valid wherever the density is positive; an even power is taken by the absolute value of its base.
    """
    if isinstance(density, Num):
        if density.value <= 0:
            raise ExprError(f"the density {format_expr(density)} is not positive.")
        return call("log", Num(1 / density.value))
    if isinstance(density, Mul):
        if isinstance(density.args[0], Num) and density.args[0].value < 0:
            # the minus sign belongs to some factor that is negative where the density is positive
            return neg(Call("log", (density,)))
        return add(*(neg_log(factor) for factor in density.args))
    if isinstance(density, Pow):
        if isinstance(density.exponent, Num) and density.exponent.value.denominator == 1 and density.exponent.value % 2 == 0:
            return mul(density.exponent, neg_log(_absolute(density.base)))
        return mul(density.exponent, neg_log(density.base))
    if isinstance(density, Call):
        u = density.args[-1] if density.args else ONE
        if density.name == "exp":
            return neg(u)
        if density.name == "abs":
            return neg(call("log", density)) if not isinstance(u, Mul) else add(*(neg_log(_absolute(f)) for f in u.args))
        if density.name == "cosh":
            size = _absolute(u)
            return add(neg(size), neg(call("log", add(ONE, call("exp", mul(num(-2), size))))), call("log", num(2)))
        if density.name == "erfc":
            return neg(call("logerfc", u))
        if density.name == "besselk":
            return neg(call("logbesselk", *density.args))
        if density.name == "min":
            return call("max", *map(neg_log, density.args))
        if density.name == "max" and all(map(_plainly_positive, density.args)):
            return call("min", *map(neg_log, density.args))
    if isinstance(density, Add) and any(map(_exponential, density.args)):
        found: Expr = load("language.sums").neg_log_sum(density, neg_log)
        return found
    return neg(call("log", density))


def _exponential(term: Expr) -> bool:
    """Whether a term of a sum is an exponential, or a multiple of one."""
    return any(isinstance(factor, Call) and factor.name == "exp" for factor in (term.args if isinstance(term, Mul) else (term,)))


def _plainly_positive(expr: Expr) -> bool:
    """Whether the form shows that the value is positive wherever it is defined."""
    if isinstance(expr, Num):
        return expr.value > 0
    if isinstance(expr, Add | Mul):
        return all(map(_plainly_positive, expr.args))
    if isinstance(expr, Pow):
        return _plainly_positive(expr.base)
    return isinstance(expr, Call) and expr.name in ("exp", "cosh", "erfc", "besselk", "pi")


def _absolute(expr: Expr) -> Expr:
    """abs(expr), left out where the form shows that it cannot be negative."""
    if plainly_non_negative(expr):
        return expr
    if isinstance(expr, Num):
        return Num(abs(expr.value))
    if isinstance(expr, Mul) and isinstance(expr.args[0], Num):
        return mul(Num(abs(expr.args[0].value)), _absolute(mul(*expr.args[1:])))
    return call("abs", expr)
