"""Rewriting where signs are certain: abs decided, logarithms of products and powers taken apart, powers merged (theory#shape-calculus)."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from dpverify.trusted.kernel.expr import PI, Call, Expr, Mul, Num, Pow, add, call, div, mul, neg, num, power, rebuild, symbols
from dpverify.trusted.kernel.signs import AT_LEAST_ZERO, AT_MOST_ZERO, POSITIVE
from dpverify.trusted.shapes.convexity import Shapes

HALF: Final = Num(Fraction(1, 2))


def tidy(shapes: Shapes, expr: Expr) -> Expr:
    """The same function with abs decided where a sign is certain, logarithms of products and powers taken apart, powers merged."""
    if shapes.name not in symbols(expr):
        return expr
    done = rebuild(expr, lambda part: tidy(shapes, part))
    if isinstance(done, Pow) and shapes.name not in symbols(done.exponent):
        return powered(shapes, done.base, done.exponent)
    if not isinstance(done, Call):
        return add(done)  # distributes a number
    u = done.args[-1]
    if done.name == "abs" and shapes.name in symbols(u):
        value = shapes.value(u)
        return u if value <= AT_LEAST_ZERO else neg(u) if value <= AT_MOST_ZERO else done
    if done.name == "log":
        return _apart(shapes, u)
    if done == Call("logbesselk", (HALF, u)):
        return add(neg(u), mul(Num(Fraction(-1, 2)), _apart(shapes, u)), mul(HALF, call("log", div(PI, num(2)))))
    return done


def powered(shapes: Shapes, base: Expr, exponent: Expr) -> Expr:
    """base ** exponent, with exponents multiplied where the inner base is certainly positive."""
    if isinstance(base, Pow) and shapes.value(base.base) == POSITIVE:
        return power(base.base, mul(base.exponent, exponent))
    if isinstance(base, Mul) and all(shapes.value(factor) == POSITIVE for factor in base.args):
        return mul(*(powered(shapes, factor, exponent) for factor in base.args))
    return power(base, exponent)


def _apart(shapes: Shapes, u: Expr) -> Expr:
    if isinstance(u, Mul) and all(shapes.value(factor) == POSITIVE for factor in u.args):
        return add(*(_apart(shapes, factor) for factor in u.args))
    if isinstance(u, Pow) and shapes.value(u.base) == POSITIVE:
        return mul(u.exponent, _apart(shapes, u.base))
    if isinstance(u, Call) and u.name == "exp":
        return u.args[0]
    if isinstance(u, Call) and u.name in ("min", "max") and all(shapes.value(arg) == POSITIVE for arg in u.args):
        return call(u.name, *(_apart(shapes, arg) for arg in u.args))
    return call("log", u)
