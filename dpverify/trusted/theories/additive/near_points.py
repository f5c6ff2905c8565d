"""Whether a density diverges or vanishes at a point while it is bounded, or away from zero, round another that neighbours reach."""

from __future__ import annotations

from collections.abc import Mapping
from math import lcm
from typing import Any, Final

from flint import arb

from dpverify.trusted.kernel.assumptions import EVERY
from dpverify.trusted.kernel.balls import constant, rational, value
from dpverify.trusted.kernel.compare import certainly_equal
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import ONE, ZERO, Call, Expr, Mul, Num, Pow, children, div, mul, neg, num, power, sub, substitute
from dpverify.trusted.kernel.model import Claim, Product, Radial, Translation
from dpverify.trusted.language.noise import Additive, profile, variable
from dpverify.trusted.language.rationals import read_fraction
from dpverify.trusted.numbers.asymptotics import End, Germ, end_jet
from dpverify.trusted.numbers.noise import domain
from dpverify.trusted.sensitivity.sensitivity import sensitivity_bounds
from dpverify.trusted.theories.additive.points import read_point, within

RULE: Final = "divergence"


def check_point(claim: Claim, noise: Additive, end: End, evidence: Mapping[str, Any]) -> tuple[str, ...]:
    """Outputs y with y - q near the point: y - q' runs through a neighbourhood of `other`, or the two answers trade places.

    Returns what is taken for granted beyond that a pair is the sensitivity apart.
    """
    check_reach(end, noise)
    if isinstance(noise, Translation) and noise.integers:
        raise Rejected(RULE, "point", "noise on the integers has no limits at a point")
    there, assumed = _there(claim, noise, Num(end.point), evidence)
    limit: Germ = end_jet(profile(noise), variable(noise), end).v
    if limit.diverges() == 1:
        require(there.is_finite(), Rejected(RULE, "other", "the density is not certainly bounded there"))
    elif limit.k.is_zero() or limit.direction() < 0:
        require(there > 0, Rejected(RULE, "other", "the density is not certainly positive there"))
    else:
        raise Rejected(RULE, f"{end.side} of {end.point}", "the density neither diverges nor vanishes there with certainty")
    return assumed


def check_inner_point(claim: Claim, noise: Additive, evidence: Mapping[str, Any]) -> tuple[str, ...]:
    """A power of the density, or of its inverse, is continuous and exactly 0 at a point inside: small about it.

    Returns what `check_point` does.
    """
    if isinstance(noise, Translation) and noise.integers:
        raise Rejected(RULE, "point", "noise on the integers has no limits at a point")
    point, name = read_point(evidence.get("point")), variable(noise)
    there, assumed = _there(claim, noise, point, evidence)
    small = _without_roots(profile(noise), -1 if evidence["side"] == "pole" else 1)
    radius = rational(read_fraction(evidence, "radius", RULE))
    near = (constant(point) - radius).union(constant(point) + radius)
    _check_inside(noise, near)
    require(_continuous(small, {name: near}), Rejected(RULE, "point", "the density, or its inverse, is not certainly continuous there"))
    if not certainly_equal(substitute(small, {name: point}), ZERO):
        raise Rejected(RULE, "point", "the density does not certainly vanish, or diverge, there")
    if not (there.is_finite() if evidence["side"] == "pole" else there > 0):
        raise Rejected(RULE, "other", "the density is not certainly bounded, or not certainly positive, there")
    return assumed


def _without_roots(density: Expr, sign: int) -> Expr:
    """The power of a density, q or -q, in which no factor has a fraction for its exponent."""
    factors = [(f.base, f.exponent) if isinstance(f, Pow) else (f, ONE) for f in (density.args if isinstance(density, Mul) else (density,))]
    q = lcm(*(e.value.denominator for _, e in factors if isinstance(e, Num)))
    return mul(*(power(base, mul(num(sign * q), e)) for base, e in factors))


def _continuous(expr: Expr, ranges: Mapping[str, arb]) -> bool:
    """Whether an expression is certainly continuous: everything in it is where it is finite, but floor, which must be constant."""
    ball = value(expr, ranges)
    if isinstance(expr, Call) and expr.name == "floor" and not ball.is_exact():
        return False
    return bool(ball.is_finite()) and all(_continuous(part, ranges) for part in children(expr))


def _there(claim: Claim, noise: Additive, point: Expr, evidence: Mapping[str, Any]) -> tuple[arb, tuple[str, ...]]:
    """The density round the other point, which lies as far from the point as two answers do from each other.

    With it what is taken for granted beyond that a pair is the sensitivity apart.
    """
    other = read_point(evidence.get("other"))
    radius = rational(read_fraction(evidence, "radius", RULE))
    reach = sensitivity_bounds(claim, evidence.get("sensitivity")).lower
    if isinstance(noise, Radial):
        reach = div(reach, noise.scale)
    shift = sub(other, point)
    if claim.query is None:
        require(within((shift,), noise, reach), Rejected(RULE, "other", "it is not certainly within the sensitivity of the point"))
    elif isinstance(noise, Product) or not certainly_equal(shift, reach):
        raise Rejected(RULE, "other", "it must lie exactly the query's sensitivity above the point")
    require(radius > 0, Rejected(RULE, "radius", "it must be positive"))
    near = (constant(other) - radius).union(constant(other) + radius)
    _check_inside(noise, near)
    stretched = () if certainly_equal(shift, reach) or certainly_equal(neg(shift), reach) else (EVERY,)
    return value(profile(noise), {variable(noise): near}), stretched


def check_reach(end: End, noise: Additive) -> None:
    """The end has to lie inside the domain of the density."""
    lower, upper = domain(noise)
    near = end.boundary()
    if end.side == "+inf":
        inside = upper is None and (lower is None or near >= lower)
    elif end.side == "-inf":
        inside = lower is None and (upper is None or near <= upper)
    else:
        low, high = min(near, end.point), max(near, end.point)
        inside = (lower is None or low >= lower) and (upper is None or high <= upper)
    require(inside, Rejected(RULE, end.side, "this end lies outside the domain of the density; start it further out"))


def _check_inside(noise: Additive, near: arb) -> None:
    lower, upper = domain(noise)
    if not ((lower is None or near >= rational(lower)) and (upper is None or near <= rational(upper))):
        raise Rejected(RULE, "other", "its neighbourhood is not certainly inside the domain of the density")
