"""Pairs that dominate noise by the slope of its exponent, or by its pure epsilon."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dpverify.trusted.facts.pairs import Pair, symmetric
from dpverify.trusted.geometry.sensitivity import Sensitivity
from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.errors import ExprError, Rejected, Undecided
from dpverify.trusted.kernel.expr import ZERO, Expr, mul, sub, substitute
from dpverify.trusted.kernel.model import Product, Radial
from dpverify.trusted.kernel.signs import AT_LEAST_ZERO
from dpverify.trusted.language.derivatives import derivative
from dpverify.trusted.shapes import limits
from dpverify.trusted.shapes.convexity import Shapes
from dpverify.trusted.theories.additive import slopes
from dpverify.trusted.theories.additive.integrable import require_integrable
from dpverify.trusted.theories.curves.rules import laplace, optimal_composition

RULE: Final = "lipschitz-exponent"


def require_sensible(noise: Radial | Product, reach: Sensitivity, told: Mapping[str, Any]) -> None:
    """Raises Rejected unless the noise is certainly integrable, and the sensitivity certainly at least 0."""
    if not (certainly_le(ZERO, reach.lower) and certainly_le(reach.lower, reach.upper)):
        raise Rejected(RULE, "the sensitivity", "it is not certainly at least 0")
    require_integrable(noise, told, RULE)


def laplacian(ratio: Expr) -> Pair:
    """The pair of Laplace noise moved by `ratio` scales. Raises Rejected unless that is certainly at least 0."""
    return symmetric(laplace.profile(ratio))


def dominating(h: Expr, shapes: Shapes, distance: Expr, told: Mapping[str, Any]) -> Pair:
    """The pair of a bounded slope, or of the pure epsilon of a concave exponent."""
    steepest = None if told.get("pure") is True else greatest_slope(h, shapes, told)
    if steepest is not None:
        return laplacian(mul(steepest, distance))
    start = shapes.at_zero(h) if shapes.shape(h).concave else None
    if start is None:
        raise Undecided(f"{RULE}: the exponent has neither a slope that is certainly bounded nor a finite pure epsilon.")
    # concave and integrable, so that it rises: subadditive after its value at 0
    return optimal_composition.pair(ZERO if distance == ZERO else sub(substitute(h, {"r": distance}), start))


def greatest_slope(h: Expr, shapes: Shapes, told: Mapping[str, Any]) -> Expr | None:
    """An upper bound on |h'|: the one that is told, with the cuts that show it, else the limit of a convex or concave h; None for neither.

    Raises Rejected, CertificateError where what is told does not hold, Undecided where h is not certainly continuous.
    """
    if "slope" in told:
        return slopes.told(h, shapes.name, shapes.half, told, RULE)
    shape = shapes.shape(h)
    if shape.convex and (shape.slope <= AT_LEAST_ZERO or not shapes.half):
        ends = [h] if shapes.half else [h, shapes.tidy(shapes.mirrored(h))]
        found = [limit for end in ends if (limit := limits.slope_limit(shapes, end)) is not None]
        if len(found) == len(ends):
            return limits.extreme(shapes, "max", found)
    if shape.concave and shape.slope <= AT_LEAST_ZERO and shapes.half:
        try:
            return shapes.at_zero(shapes.tidy(derivative(h, shapes.name)))
        except (ExprError, Undecided):
            return None
    return None
