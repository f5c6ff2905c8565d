"""Losses without bound: tails lighter than exponential, poles, and zeros of the density refute every finite epsilon."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import lcm
from typing import Any, Final

from flint import arb

from dpverify.trusted.facts.assumptions import EVERY
from dpverify.trusted.facts.bounds import INFINITE, Bound
from dpverify.trusted.language.errors import CertificateError, Rejected
from dpverify.trusted.language.expr import (
    ONE,
    ZERO,
    Call,
    Expr,
    Mul,
    Num,
    Pow,
    children,
    div,
    format_expr,
    mul,
    neg,
    num,
    power,
    sub,
    substitute,
)
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.language.model import Claim, Product, Radial, Source, Translation
from dpverify.trusted.language.noise import Additive, variable
from dpverify.trusted.language.rationals import read_fraction
from dpverify.trusted.numbers.asymptotics import End, Germ, end_jet
from dpverify.trusted.numbers.balls import constant, rational, value
from dpverify.trusted.numbers.noise import domain
from dpverify.trusted.order.compare import certainly_equal
from dpverify.trusted.order.sensitivity import sensitivity_bounds
from dpverify.trusted.parts.parameters import fixed
from dpverify.trusted.rules.additive.point_witness import shown
from dpverify.trusted.rules.additive.points import noise_of, read_point, sign_of, within

NAME: Final = "divergence"
STATEMENT: Final = (
    "Let h = -log(density) and D > 0 the sensitivity over the scale. If h' tends to infinity outwards, the loss h(c + D) - h(c) is "
    "unbounded. If the density tends to infinity or to zero at a point, and is bounded, or away from zero, round a point within D "
    "of it, the loss is unbounded too. No finite epsilon holds."
)
CHECKED: Final = (
    "the density is integrable, and non-negative where no assumption says otherwise",
    "the sensitivity is positive (at least 1 on the integers)",
    "h' certainly diverges, or the density does or vanishes, at the end, or at a point about which it or its inverse is continuous",
    "the density is bounded, or away from zero, round the other point",
)
ASSUMED: Final = ("the sampler is ideal",)
SOURCE: Final = Source("docs/theory/additive.md#divergence")


def check(claim: Claim, evidence: Mapping[str, Any]) -> Bound:
    """The bound that no finite epsilon holds. Raises Rejected, CertificateError, or Undecided from the end."""
    claim, at = fixed(claim, evidence, NAME)
    noise = noise_of(claim, evidence, NAME)
    side, assumed = evidence.get("side"), tuple[str, ...]()
    start = read_fraction(evidence, "start", NAME) if side not in ("zero", "pole") else Fraction(1)
    if side in ("+inf", "-inf"):
        _check_tail(claim, noise, End(side, start), evidence)
    elif side in ("zero", "pole"):
        assumed = _check_inner_point(claim, noise, evidence)
    elif side in ("right", "left"):
        assumed = _check_point(claim, noise, End(side, start, read_fraction(evidence, "point", NAME)), evidence)
    else:
        raise CertificateError(f"{NAME}: side must be '+inf', '-inf', 'right', 'left', 'zero' or 'pole'.")
    shows = evidence.get("witness")
    witness = _limit(claim, evidence) if shows is None else shown(claim, noise, shows)
    return Bound("lower", INFINITE, witness=witness, at=at, assumed=(*assumed, *sign_of(noise)))


def _limit(claim: Claim, evidence: Mapping[str, Any]) -> dict[str, Any]:
    """The witness where an event on which the loss passes the claim is out of reach of numbers: where the loss has no bound."""
    side = evidence["side"]
    beside = {"right": " from above", "left": " from below"}.get(side, "")
    at = side if "point" not in evidence else f"{evidence['point']}{beside}"
    reach = sensitivity_bounds(claim, evidence.get("sensitivity")).lower
    return {"pair": f"answers at distance {format_expr(reach)}", "point": f"y0 with y0 - q towards {at}", "loss": "unbounded"}


def _check_tail(claim: Claim, noise: Additive, end: End, evidence: Mapping[str, Any]) -> None:
    """By the mean value theorem the loss at c is at least D times the least slope beyond c. For one coordinate that moves."""
    _check_reach(end, noise)
    reach = constant(sensitivity_bounds(claim, evidence.get("sensitivity")).lower)
    lattice = isinstance(noise, Translation) and noise.integers
    if not (reach >= 1 if lattice else reach > 0):
        raise Rejected(NAME, "sensitivity", "it is not certainly positive" + (", at least 1" if lattice else ""))
    slope: Germ = end_jet(neg_log(_density(noise)), variable(noise), end).d1
    if slope.diverges() != (1 if end.side == "+inf" else -1):
        raise Rejected(NAME, end.side, "the slope of -log(density) does not certainly diverge outwards")


def _check_point(claim: Claim, noise: Additive, end: End, evidence: Mapping[str, Any]) -> tuple[str, ...]:
    """Outputs y with y - q near the point: y - q' runs through a neighbourhood of `other`, or the two answers trade places.

    Returns what is taken for granted beyond that a pair is the sensitivity apart.
    """
    _check_reach(end, noise)
    if isinstance(noise, Translation) and noise.integers:
        raise Rejected(NAME, "point", "noise on the integers has no limits at a point")
    there, assumed = _there(claim, noise, Num(end.point), evidence)
    limit: Germ = end_jet(_density(noise), variable(noise), end).v
    if limit.diverges() == 1:
        if not there.is_finite():
            raise Rejected(NAME, "other", "the density is not certainly bounded there")
    elif limit.k.is_zero() or limit.direction() < 0:
        if not there > 0:
            raise Rejected(NAME, "other", "the density is not certainly positive there")
    else:
        raise Rejected(NAME, f"{end.side} of {end.point}", "the density neither diverges nor vanishes there with certainty")
    return assumed


def _check_inner_point(claim: Claim, noise: Additive, evidence: Mapping[str, Any]) -> tuple[str, ...]:
    """A power of the density, or of its inverse, is continuous and exactly 0 at a point inside: small about it.

    Returns what `_check_point` does.
    """
    if isinstance(noise, Translation) and noise.integers:
        raise Rejected(NAME, "point", "noise on the integers has no limits at a point")
    point, name = read_point(evidence.get("point")), variable(noise)
    there, assumed = _there(claim, noise, point, evidence)
    small = _without_roots(_density(noise), -1 if evidence["side"] == "pole" else 1)
    radius = rational(read_fraction(evidence, "radius", NAME))
    near = (constant(point) - radius).union(constant(point) + radius)
    _check_inside(noise, near)
    if not _continuous(small, {name: near}):
        raise Rejected(NAME, "point", "the density, or its inverse, is not certainly continuous there")
    if not certainly_equal(substitute(small, {name: point}), ZERO):
        raise Rejected(NAME, "point", "the density does not certainly vanish, or diverge, there")
    if not (there.is_finite() if evidence["side"] == "pole" else there > 0):
        raise Rejected(NAME, "other", "the density is not certainly bounded, or not certainly positive, there")
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
    radius = rational(read_fraction(evidence, "radius", NAME))
    reach = sensitivity_bounds(claim, evidence.get("sensitivity")).lower
    if isinstance(noise, Radial):
        reach = div(reach, noise.scale)
    shift = sub(other, point)
    if claim.query is None:
        if not within((shift,), noise, reach):
            raise Rejected(NAME, "other", "it is not certainly within the sensitivity of the point")
    elif isinstance(noise, Product) or not certainly_equal(shift, reach):
        raise Rejected(NAME, "other", "it must lie exactly the query's sensitivity above the point")
    if not radius > 0:
        raise Rejected(NAME, "radius", "it must be positive")
    near = (constant(other) - radius).union(constant(other) + radius)
    _check_inside(noise, near)
    stretched = () if certainly_equal(shift, reach) or certainly_equal(neg(shift), reach) else (EVERY,)
    return value(_density(noise), {variable(noise): near}), stretched


def _check_reach(end: End, noise: Additive) -> None:
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
    if not inside:
        raise Rejected(NAME, end.side, "this end lies outside the domain of the density; start it further out")


def _check_inside(noise: Additive, near: arb) -> None:
    lower, upper = domain(noise)
    if not ((lower is None or near >= rational(lower)) and (upper is None or near <= rational(upper))):
        raise Rejected(NAME, "other", "its neighbourhood is not certainly inside the domain of the density")


def _density(noise: Additive) -> Any:
    return noise.profile if isinstance(noise, Radial) else noise.density
