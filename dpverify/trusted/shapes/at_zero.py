"""Limits of continuous trees as the variable falls to 0 (theory#shape-calculus)."""

from __future__ import annotations

from dpverify.trusted.kernel.expr import ZERO, Add, Call, Expr, Mul, Num, Pow, Sym, add, call, mul, symbols
from dpverify.trusted.shapes.convexity import Shapes
from dpverify.trusted.shapes.tidying import powered


def at_zero(shapes: Shapes, expr: Expr) -> Expr | None:
    """The limit of a continuous tree as the variable falls to 0, None where it is not certainly finite."""
    if shapes.name not in symbols(expr):
        return expr
    if isinstance(expr, Sym):
        return ZERO
    if isinstance(expr, Pow):
        base, exponent = at_zero(shapes, expr.base), at_zero(shapes, expr.exponent)
        if base is None or exponent is None:
            return None
        if shapes.positive(base) or (isinstance(exponent, Num) and exponent.value.denominator == 1 and exponent.value > 0):
            return powered(shapes, base, exponent)
        return ZERO if base == ZERO and shapes.positive(exponent) else None
    bessel = shapes.bessel_in(expr) if isinstance(expr, Add) else None
    if bessel is not None:
        rest = at_zero(shapes, bessel.rest)
        return None if rest is None or not shapes.positive(bessel.order) else add(bessel.at_zero(), rest)
    if isinstance(expr, Add | Mul):
        parts = [at_zero(shapes, part) for part in expr.args]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        return add(*known) if isinstance(expr, Add) else mul(*known)
    assert isinstance(expr, Call)
    inner = at_zero(shapes, expr.args[-1])
    if expr.name in ("min", "max"):
        values = [at_zero(shapes, arg) for arg in expr.args]
        return None if None in values else call(expr.name, *(v for v in values if v is not None))
    if inner is None or (expr.name in ("log", "besselk", "logbesselk") and not shapes.positive(inner)):
        return None
    if expr.name in ("floor", "atanh", "gamma") or any(shapes.name in symbols(arg) for arg in expr.args[:-1]):
        return None
    return call(expr.name, *expr.args[:-1], inner)
