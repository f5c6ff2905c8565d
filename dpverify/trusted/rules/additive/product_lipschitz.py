"""Independent coordinates with a log-Lipschitz density: at most the Lipschitz constant times the l1-length of the shift.

If h = -log(density) is continuous and |h'| <= L wherever it is smooth, h(z + s) - h(z) <= L |s| for each coordinate, and the losses of
independent coordinates add up. Exact where a coordinate can lose L |s| (see convex-exponent); an upper bound in general.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final

from flint import arb

from dpverify.trusted.facts.bounds import Bound
from dpverify.trusted.language.errors import CertificateError, ExprError, Rejected
from dpverify.trusted.language.expr import ZERO, Expr, Num, add, linear_part, mul, neg, parse, substitute, symbols
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.language.model import Claim, Product, Source, Translation
from dpverify.trusted.language.rationals import to_fraction
from dpverify.trusted.numbers.asymptotics import End, end_jet
from dpverify.trusted.numbers.balls import exact, hull, rational
from dpverify.trusted.numbers.jets import jet
from dpverify.trusted.numbers.kinks import resolve
from dpverify.trusted.order.compare import certainly_equal, certainly_le
from dpverify.trusted.order.geometry import l1_radius
from dpverify.trusted.order.sensitivity import sensitivity_bounds
from dpverify.trusted.rules.additive.additive import is_natural, require_integrable

NAME: Final = "product-lipschitz"
STATEMENT: Final = (
    "Independent coordinates of density exp(-h), h continuous with |h'| <= L, have tight epsilon at most L times the greatest "
    "l1-length of a shift within the sensitivity; one coordinate is the case of a shift of the line."
)
CHECKED: Final = (
    "|h'| <= L on each cell, and the cells cover the line between the ends",
    "|h'| <= L on both ends",
    "h is continuous where the cells meet",
    "the density is integrable",
    "the sensitivity is at least 0",
)
ASSUMED: Final = ("the sampler is ideal",)
SOURCE: Final = Source("docs/theory/additive.md#product-lipschitz")

MAX_CELLS: Final = 20_000
_Z: Final = "z"


def check(claim: Claim, evidence: Mapping[str, Any]) -> Bound:
    """L times the l1-length.

    evidence: "slope", the text of L; "cuts", rationals from the boundary of the left end to that of the right one; "sensitivity" and
    "radius" as in `geometry`. Raises Rejected or Undecided.
    """
    noise = claim.mechanism
    if claim.domains:
        raise Rejected(NAME, "the claim", "its parameters range over domains; this rule wants their values")
    if isinstance(noise, Translation):
        if noise.support != (None, None) or noise.integers:
            raise Rejected(NAME, "the support", "the density must live on the whole line")
        radius: Expr = Num(Fraction(1))
    elif isinstance(noise, Product) and is_natural(noise.dimension, claim) and isinstance(noise.dimension, Num):
        radius = l1_radius(noise.norm, int(noise.dimension.value), evidence.get("radius"))
    else:
        raise Rejected(NAME, "the mechanism", "only products, and noise on the line, are covered")
    shift = sensitivity_bounds(claim, evidence.get("sensitivity")).upper
    if not certainly_le(ZERO, shift):
        raise Rejected(NAME, "the sensitivity", "it is not certainly at least 0")
    require_integrable(noise, evidence, NAME)
    try:
        slope = parse(str(evidence["slope"]))
        cuts = [to_fraction(cut, NAME) for cut in evidence["cuts"]]
    except (KeyError, TypeError, ExprError) as error:
        raise CertificateError(f"{NAME}: the evidence cannot be read: {error}") from error
    if symbols(slope):
        raise Rejected(NAME, "slope", "it has free symbols")
    _check_slopes(neg_log(noise.density), slope, cuts)
    return Bound("upper", mul(slope, radius, shift))


def _check_slopes(h: Expr, slope: Expr, cuts: list[Fraction]) -> None:
    if not 2 <= len(cuts) <= MAX_CELLS or not cuts[0] < 0 < cuts[-1] or sorted(set(cuts)) != cuts:  # exact
        raise Rejected(NAME, "cuts", f"they must rise from below 0 to above 0, at most {MAX_CELLS} of them")
    for end in (End("-inf", -cuts[0]), End("+inf", cuts[-1])):
        if not end_within(h, slope, end):
            raise Rejected(NAME, end.side, "the slope of h is not certainly within L on this end; start it further out")
    for low, high in pairwise(cuts):
        if not cell_within(h, slope, low, high):
            raise Rejected(NAME, f"[{low}, {high}]", "the slope of h is not certainly within L here; split the cell")
    edges = [None, *cuts, None]
    for before, cut, after in zip(edges, cuts, edges[2:], strict=False):
        left, right = resolve(h, _Z, before, cut), resolve(h, _Z, cut, after)
        if left != right and not certainly_equal(substitute(left, {_Z: Num(cut)}), substitute(right, {_Z: Num(cut)})):
            raise Rejected(NAME, cut, "h is not certainly continuous here")


def cell_within(h: Expr, slope: Expr, low: Fraction, high: Fraction) -> bool:
    """Whether |h'| <= L is certain on a cell; sharp where h is linear there, or h' rises or falls towards L at an end of the cell."""
    linear, rest = linear_part(resolve(h, _Z, low, high), _Z)
    if _Z not in symbols(rest):
        return _slopes_within(linear, [arb(0)], slope)
    over = jet(rest, _Z, hull(low, high))
    if not over.v.is_finite():
        return False
    if over.d2 >= 0 or over.d2 <= 0:
        return _slopes_within(linear, [jet(rest, _Z, rational(end)).d1 for end in (low, high)], slope)
    if _slopes_within(linear, [over.d1], slope):
        return True
    middle = rational((low + high) / 2)
    return _slopes_within(linear, [jet(rest, _Z, middle).d1 + over.d2 * (hull(low, high) - middle)], slope)


def end_within(h: Expr, slope: Expr, end: End) -> bool:
    """Whether |h'| <= L is certain on an infinite end; sharp where h' tends to L."""
    far = end.boundary()
    linear, rest = linear_part(resolve(h, _Z, *((far, None) if end.side == "+inf" else (None, far))), _Z)
    bounds = end_jet(rest, _Z, end).d1.bounds()
    return _slopes_within(linear, [bounds.lo, bounds.hi], slope)


def _slopes_within(linear: Expr, others: list[arb], slope: Expr) -> bool:
    """Whether |linear + t| <= L is certain for all t in the convex hull of the others, whose outer ends are exact numbers."""
    if not all(other.is_finite() for other in others):
        return False
    return all(
        certainly_le(add(linear, Num(exact(other.upper()))), slope) and certainly_le(neg(add(linear, Num(exact(other.lower())))), slope)
        for other in others
    )
