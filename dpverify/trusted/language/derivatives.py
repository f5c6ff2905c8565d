"""Derivatives of expression trees."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from dpverify.trusted.kernel.errors import ExprError
from dpverify.trusted.kernel.expr import ONE, PI, Add, Call, Expr, Mul, Num, Pow, Sym, add, call, div, mul, neg, num, power, sub, symbols


def derivative(expr: Expr, name: str) -> Expr:
    """The derivative by the symbol `name`. Raises ExprError for functions with kinks or without a rule here."""
    if name not in symbols(expr):
        return num(0)
    if isinstance(expr, Sym):
        return ONE
    if isinstance(expr, Add):
        return add(*(derivative(term, name) for term in expr.args))
    if isinstance(expr, Mul):
        return add(*(mul(*expr.args[:i], derivative(factor, name), *expr.args[i + 1 :]) for i, factor in enumerate(expr.args)))
    if isinstance(expr, Pow):
        base, exponent = expr.base, expr.exponent
        if name not in symbols(exponent):
            return mul(exponent, power(base, sub(exponent, ONE)), derivative(base, name))
        inner = add(mul(derivative(exponent, name), call("log", base)), mul(exponent, derivative(base, name), power(base, num(-1))))
        return mul(expr, inner)
    assert isinstance(expr, Call)
    u = expr.args[-1]
    du = derivative(u, name)
    outer: Callable[[], Expr] | None = {
        "exp": lambda: expr,
        "log": lambda: power(u, num(-1)),
        "cosh": lambda: call("sinh", u),
        "sinh": lambda: call("cosh", u),
        "tanh": lambda: sub(ONE, power(call("tanh", u), num(2))),
        "asinh": lambda: power(add(ONE, power(u, num(2))), Num(Fraction(-1, 2))),
        "atanh": lambda: power(sub(ONE, power(u, num(2))), num(-1)),
        "erf": lambda: mul(num(2), power(PI, Num(Fraction(-1, 2))), call("exp", neg(power(u, num(2))))),
        "erfc": lambda: mul(num(-2), power(PI, Num(Fraction(-1, 2))), call("exp", neg(power(u, num(2))))),
        # K_v' = (v/u) K_v - K_(v+1)
        "logbesselk": lambda: sub(div(expr.args[0], u), call("exp", sub(call("logbesselk", add(expr.args[0], ONE), u), expr))),
    }.get(expr.name)
    if outer is None or any(name in symbols(order) for order in expr.args[:-1]):
        raise ExprError(f"{expr.name} has no derivative rule.")
    return mul(outer(), du)
