"""Noise with a convex exponent: the worst outputs are far away.

h convex: h(c + s) - h(c) does not fall in c, so its supremum is its limit s lim h'. On [0, inf) with h non-decreasing this is the
whole loss; on the line both ends count, and the steeper one gives the supremum. A slope that grows without bound makes epsilon
infinite. Covers exp(-alpha r), the logistic and hyperbolic secant densities, exp(-sqrt(1 + r^2)), (1 + r) exp(-r).

Theorem: Noise of density exp(-h), h convex and non-decreasing in the distance (or convex on the line), has tight epsilon exactly D times
the limit of h' at infinity (the steeper of the two ends), in every norm and dimension, D the sensitivity over the scale.

Checked:
- h is convex, for all parameters
- h is non-decreasing in the distance, where it is one
- h' has a positive limit at each end, which makes exp(-h) integrable in every dimension (or infinity, for an infinite lower bound)
- the scale is positive and the sensitivity at least 0

Source: docs/theory/additive.md#convex-exponent
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

from dpverify.trusted.kernel.bounds import INFINITE, Bound, Infinite
from dpverify.trusted.kernel.errors import ExprError, Rejected, Undecided, require
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, Num, Sym, add, mul, neg, substitute
from dpverify.trusted.kernel.model import L1, Claim, Domain, Translation
from dpverify.trusted.language.logarithms import neg_log_profile
from dpverify.trusted.shapes import limits
from dpverify.trusted.shapes.convexity import Shapes
from dpverify.trusted.shapes.rising import rises_convexly
from dpverify.trusted.theories.additive.additive import Additive, additive

NAME: Final = "convex-exponent"
ASSUMED: Final = ("the sampler is ideal",)


def check(claim: Claim, evidence: Mapping[str, Any]) -> Bound:
    """D lim h', as the upper or the lower bound that "side" asks for; a lower one may fix parameters under "at"."""
    noise = additive(claim, evidence, NAME)
    shapes, h = noise.shapes, noise.h
    require(noise.shape.convex, Rejected(NAME, "h", "it is not certainly convex"))
    require(not shapes.half or rises_convexly(shapes, h), Rejected(NAME, "h", "it is not certainly non-decreasing in the distance"))
    ends = [h] if shapes.half else [h, shapes.tidy(shapes.mirrored(h))]
    found = [_limit(shapes, end) for end in ends]
    if None in found:
        if noise.side == "upper" or not shapes.positive(noise.shift):
            raise Rejected(NAME, "infinity", "the slope of h grows without bound: epsilon is infinite")
        return noise.bound(INFINITE, "far-along-their-line")
    steepest = limits.extreme(shapes, "max", [limit for limit in found if limit is not None])
    total = _linear_total(noise, steepest, even=found[0] == found[-1])
    return noise.bound(total, "far-along-their-line-in-the-limit")


def _linear_total(noise: Additive, slope: Expr, even: bool) -> Expr:
    """The tight epsilon from w(s) = slope * s: slope times the greatest l1-length of the shift.

    even: both directions of a coordinate have this slope; else one may have less, and the signs of the shift count.
    """
    uncertain = (noise.queried and noise.norm != L1) or (not even and (noise.queried or noise.norm.kind != "lp"))
    if noise.side == "lower" and noise.copies != ONE and uncertain:
        raise Rejected(NAME, "the norm", "the worst shift need not occur; this bounds from above only")
    return mul(slope, noise.longest(), noise.shift)


def one_way(noise: Translation, shift: Fraction, domains: Mapping[str, Domain]) -> tuple[Expr | Infinite, Expr | Infinite] | None:
    """The suprema of h(z) - h(z + s) and of h(z + s) - h(z), s > 0: of an answer over one that is s above it, and of that one over it.

    As h is convex, the first is s times the limit of -h' at minus infinity, the second s times that of h' at plus infinity; at a finite
    end of the support one of the two answers has outputs that the other has not. None where h is not certainly convex on the support, the
    support has two ends, or the limits are not known.
    """
    from dpverify.trusted.numbers.quotients import divided

    low, high = noise.support
    if (low is not None and high is not None) or (noise.integers and shift.denominator != 1):
        return None
    line, shapes = Shapes("z", False, domains), Shapes("z", noise.support != (None, None), domains)
    h, ends = neg_log_profile(noise), list[Expr | Infinite]()
    try:
        for outward, end, start in ((line.tidy(line.mirrored(h)), low, neg(high or ZERO)), (h, high, low or ZERO)):
            if end is not None:
                ends.append(INFINITE)
                continue
            moved = shapes.tidy(divided(substitute(outward, {"z": add(start, Sym("z"))}), "z"))
            if not shapes.shape(moved).convex:
                return None
            limit = _limit(shapes, moved)
            ends.append(INFINITE if limit is None else mul(limit, Num(shift)))
    except (Rejected, Undecided, ExprError):
        return None
    return ends[0], ends[1]


def _limit(shapes: Shapes, end: Expr) -> Expr | None:
    """The certainly positive limit of the slope at plus infinity, None where it is certainly infinite."""
    limit = limits.slope_limit(shapes, end)
    if limit is not None and shapes.positive(limit):
        return limit
    if limits.outgrows(shapes, end):
        return None
    raise Rejected(NAME, "infinity", "the limit of the slope of h is not certainly positive")
