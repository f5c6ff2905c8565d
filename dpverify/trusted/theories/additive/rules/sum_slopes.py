"""Sums of independent log-concave noises: what is lost far out, where the noise that falls least is all that is left.

The probabilities of the sum are log-concave, so that the loss of answers D apart is monotone, and its supremum is D times the limit of the
slope of -log p at the end that is steeper. E[exp(u X)] of the sum is the product of those of its noises: finite up to the least of their
slopes, and no further. So the slope of the sum is the least one. An end beyond which there is nothing counts as an infinite slope.

Theorem: A sum of independent log-concave noises, on the line or on the integers, has tight epsilon exactly D times the greater, over the
two ends, of the least of its noises' slopes there, D the sensitivity, on the integers its integer part. Noises of which nothing is known
only add: what the others show bounds epsilon from above. With dropouts it is the greatest over all sums of as few noises as may be left.

Checked:
- each noise is log-concave, and its slope at both ends is known; from above, that of one is enough
- the sensitivity is at least 0, and positive (at least 1 on the integers) for an infinite bound

Source: docs/theory/additive.md#sum-slopes
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

from dpverify.trusted.combinators.densities import convex_where_it_lives
from dpverify.trusted.combinators.gaussian_form import gaussian_form
from dpverify.trusted.combinators.laws_of_sums import is_log_concave_law, merged
from dpverify.trusted.combinators.sums import least
from dpverify.trusted.kernel.bounds import INFINITE, Bound, Infinite, sided
from dpverify.trusted.kernel.compare import certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, Sym, call, div, format_expr, mul, sub, substitute
from dpverify.trusted.kernel.model import Claim, Domain, OnLine, Product, Radial, Sum, Translation, on_integers
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.language.whole_laws import known
from dpverify.trusted.sensitivity.sensitivity import sensitivity_bounds, whole_part
from dpverify.trusted.theories.additive.rules.convex_exponent import one_way

NAME: Final = "sum-slopes"
ASSUMED: Final = ("the sampler is ideal",)

Slope = Expr | Infinite
Domains = Mapping[str, Domain]


def check(claim: Claim, evidence: Mapping[str, Any]) -> Bound:
    """D times the slope, as the upper or the lower bound that "side" asks for; a lower one may fix parameters under "at".

    Raises Rejected where it is not known, or the bound from above would be infinite.
    """
    side, claim, at = sided(claim, evidence, NAME)
    noise, domains = claim.mechanism, dict(claim.domains)
    if not isinstance(noise, Sum):
        raise Rejected(NAME, "the mechanism", "this rule is about sums of noises")
    bounds = sensitivity_bounds(claim, evidence.get("sensitivity"))
    moved = bounds.upper if side == "upper" else bounds.lower
    require(certainly_le(ZERO, moved, domains), Rejected(NAME, "the sensitivity", f"{format_expr(moved)} is not certainly at least 0"))
    moved = whole_part(moved, domains) if on_integers(noise) else moved
    ends = [end for one in least(noise) for end in _of_sum(one, side == "upper", domains)]
    steepest = ends[0]
    for end in ends[1:]:
        steepest = _extreme(steepest, end, "max", domains)
    if side == "upper":
        require(not isinstance(steepest, Infinite), Rejected(NAME, "the slope", "it is infinite at an end: no epsilon is finite"))
        return Bound("upper", mul(moved, steepest)) if not isinstance(steepest, Infinite) else Bound("upper", INFINITE)
    if isinstance(steepest, Infinite):
        require(certainly_lt(ZERO, moved, domains), Rejected(NAME, "the sensitivity", "it is not certainly positive"))
    value = INFINITE if isinstance(steepest, Infinite) else mul(moved, steepest)
    witness = {"pair": {"says": "answers-apart", "apart": format_expr(moved)}, "point": {"says": "far-along-their-line-in-the-limit"}}
    loss = "unbounded" if isinstance(value, Infinite) else format_expr(value)
    return Bound("lower", value, witness={**witness, "loss": loss}, at=at)


def slopes(noise: Sum, domains: Domains) -> tuple[Slope, Slope]:
    """The slopes of a sum without dropouts at its left end and at its right one. Raises Rejected where they are not known."""
    return _of_sum(noise, False, domains)


def _of_sum(noise: Sum, some: bool, domains: Domains) -> tuple[Slope, Slope]:
    """The slopes of a sum without dropouts at its left end and at its right one; some: those that its known noises bound it by."""
    found = [_slopes(one, domains) for one, _ in merged(noise)]
    slopes = [each for each in found if each is not None]
    require(bool(slopes) if some else None not in found, Rejected(NAME, "the noises", "one is not certainly log-concave with known slopes"))
    left, right = slopes[0]
    for first, second in slopes[1:]:
        left, right = _extreme(left, first, "min", domains), _extreme(right, second, "min", domains)
    return left, right


def _slopes(noise: OnLine, domains: Domains) -> tuple[Slope, Slope] | None:
    """The limits of the slope of -log p, outwards, at the left end and at the right one; None where it is not certainly log-concave."""
    law = known(noise) if isinstance(noise, Translation) else None
    if law is not None and law.name == "negative_binomial":
        falls = neg_log(sub(ONE, law.numbers[1]))
        ends: tuple[Slope, Slope] = (falls, INFINITE) if law.turned else (INFINITE, falls)
        return ends if is_log_concave_law(noise) else None
    if law is not None and law.name in ("poisson", "binomial"):
        return INFINITE, INFINITE
    if gaussian_form(noise) is not None:
        return INFINITE, INFINITE
    if isinstance(noise, Radial) and noise.dimension == ONE and noise.norm.kind == "lp":
        density = substitute(noise.profile, {"r": div(call("abs", Sym("z")), noise.scale)})
        return one_way(Translation(density), Fraction(1), domains) if certainly_lt(ZERO, noise.scale, domains) else None
    if isinstance(noise, Product) and noise.dimension == ONE:
        noise = Translation(noise.density)
    if not isinstance(noise, Translation):
        return None
    if None not in noise.support:
        return (INFINITE, INFINITE) if convex_where_it_lives(noise, domains) else None
    return one_way(noise, Fraction(1), domains)


def _extreme(one: Slope, other: Slope, way: str, domains: Domains) -> Slope:
    """The lesser or the greater of two slopes."""
    if isinstance(one, Infinite) or isinstance(other, Infinite):
        known_one = other if isinstance(one, Infinite) else one
        return INFINITE if way == "max" else known_one
    if certainly_le(one, other, domains):
        return one if way == "min" else other
    if certainly_le(other, one, domains):
        return other if way == "min" else one
    return call(way, one, other)
