"""Convex functions on (0, inf) that never fall (theory#shape-calculus)."""

from __future__ import annotations

from dpverify.trusted.kernel.errors import ExprError, Undecided
from dpverify.trusted.kernel.expr import Expr
from dpverify.trusted.kernel.signs import AT_LEAST_ZERO
from dpverify.trusted.shapes.convexity import Shapes


def rises_convexly(shapes: Shapes, expr: Expr) -> bool:
    """Whether f is convex and never falls on (0, inf): by its shape, or because a convex f has its least slope at 0."""
    from dpverify.trusted.language.derivatives import derivative

    shape = shapes.shape(expr)
    if not shapes.half or not shape.convex or shape.slope <= AT_LEAST_ZERO:
        return shapes.half and shape.convex
    try:
        start = shapes.at_zero(shapes.tidy(derivative(expr, shapes.name)))
    except (ExprError, Undecided):
        return False
    return start is not None and shapes.sign(start) <= AT_LEAST_ZERO
