"""Minus the logarithm of a density, taken apart."""

from __future__ import annotations

from dpverify.trusted.kernel.errors import ExprError, require
from dpverify.trusted.kernel.expr import Add, Call, Expr, Mul, Num, Pow, add, call, format_expr, mul, neg
from dpverify.trusted.kernel.model import Product, Radial, Translation


def neg_log_profile(mechanism: Radial | Translation | Product) -> Expr:
    """h = -log(density) of additive noise, in r or z."""
    return neg_log(mechanism.profile if isinstance(mechanism, Radial) else mechanism.density)


def neg_log(density: Expr) -> Expr:
    """-log(density) with logarithms of products, powers and exponentials taken apart.

    Valid wherever the density is positive; an even power is taken by the absolute value of its base.
    """
    if isinstance(density, Num):
        require(density.value > 0, ExprError(f"the density {format_expr(density)} is not positive."))
        return call("log", Num(1 / density.value))
    if isinstance(density, Mul):
        if isinstance(density.args[0], Num) and density.args[0].value < 0:
            # the minus sign belongs to some factor that is negative where the density is positive
            return neg(Call("log", (density,)))
        return add(*(neg_log(factor) for factor in density.args))
    if isinstance(density, Pow):
        if isinstance(density.exponent, Num) and density.exponent.value.denominator == 1 and density.exponent.value % 2 == 0:
            from dpverify.trusted.language.signs import absolute

            return mul(density.exponent, neg_log(absolute(density.base)))
        return mul(density.exponent, neg_log(density.base))
    if isinstance(density, Call):
        if density.name == "exp":
            return neg(density.args[0])
        from dpverify.trusted.language.special_logarithms import neg_log_call

        return neg_log_call(density, neg_log)
    if isinstance(density, Add) and any(map(_exponential, density.args)):
        from dpverify.trusted.language.sums import neg_log_sum

        return neg_log_sum(density, neg_log)
    return neg(call("log", density))


def _exponential(term: Expr) -> bool:
    """Whether a term of a sum is an exponential, or a multiple of one."""
    return any(isinstance(factor, Call) and factor.name == "exp" for factor in (term.args if isinstance(term, Mul) else (term,)))
