"""Whether additive noise is integrable by the shape of its exponent, or by what is told of the ends of its density."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpverify.trusted.kernel.errors import ExprError, Rejected, Undecided, require
from dpverify.trusted.kernel.expr import ONE, Expr, Sym, add, num, power, substitute
from dpverify.trusted.kernel.model import Product, Radial, Translation, on_integers
from dpverify.trusted.shapes.convexity import Shapes
from dpverify.trusted.shapes.shape import Shape
from dpverify.trusted.theories.additive.additive import Additive, read


def require_integrable(noise: Radial | Translation | Product, evidence: Mapping[str, Any], rule: str) -> None:
    """Raises Rejected unless noise with a value for every parameter is certainly integrable (summable, on the integers).

    evidence: "normaliser", what is told of the ends of the density, as in `numbers.noise`; without it, the shape of h decides.
    """
    told = evidence.get("normaliser")
    if told is None:
        decided = integrable_by_shape(noise)
    else:
        from dpverify.trusted.numbers.noise import integrable

        decided = integrable(noise, told)
    require(decided, Rejected(rule, "the density", "it is not certainly integrable"))


def require_everywhere(noise: Additive) -> None:
    """Raises Rejected unless exp(-h) is certainly integrable (summable) at both ends of the line, or at infinity and at 0."""
    noise.integrable(noise.h)
    if not _at_both_ends(noise.h, noise.shapes, noise.shape, noise.dimension, noise.whole):
        where = "0" if noise.shapes.half else "minus infinity"
        raise Rejected(noise.rule, where, f"exp(-h) is not certainly integrable at {where}")


def integrable_by_shape(noise: Radial | Translation | Product) -> bool:
    """Whether the shape of h shows that noise with a value for every parameter is integrable (summable, on the integers)."""
    if isinstance(noise, Translation) and noise.support != (None, None):
        return False
    try:
        return _at_both_ends(*read(noise, (), None), noise.dimension if isinstance(noise, Radial) else ONE, on_integers(noise))
    except (Undecided, ExprError):
        return False


def _at_both_ends(h: Expr, shapes: Shapes, shape: Shape, dimension: Expr, whole: bool) -> bool:
    """Whether exp(-h), finite in between, is certainly integrable (summable) at both ends of the line, or at infinity and at 0."""
    from dpverify.trusted.shapes.limits import log_slope

    if not shapes.integrable(h, dimension):
        return False
    if not shapes.half:
        return shapes.integrable(shapes.tidy(shapes.mirrored(h)), dimension)
    if shapes.at_zero(h) is not None or shape.convex:  # a convex h is bounded from below, the density from above
        return True
    towards = log_slope(shapes, shapes.tidy(substitute(h, {shapes.name: power(Sym(shapes.name), num(-1))})))
    return not whole and towards is not None and shapes.positive(add(towards, dimension))
