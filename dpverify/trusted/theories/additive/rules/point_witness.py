"""A point with a neighbourhood that shows a loss: a lower bound on the tight epsilon, and the event behind it.

Theorem: If h(b) - h(a) >= v for h = -log(density), on a neighbourhood of an output y at distance a from q and b from q', where |a - b| is
at most the sensitivity over the scale, then the event S = that neighbourhood has P(S) >= exp(v) Q(S) > 0, so the tight epsilon is at least
v; it is infinite where the density of Q vanishes on S.

Checked:
- the density is integrable, and non-negative where no assumption says otherwise
- the points are within the sensitivity of each other, and their pair occurs
- the loss is at least the bound on the whole neighbourhood, or at the two points where h is continuous on it
- the density of P is positive there

Source: docs/theory/additive.md#point-witness
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

from flint import arb, ctx

from dpverify.trusted.kernel.balls import constant, precision, rational, value
from dpverify.trusted.kernel.bounds import INFINITE, Bound, Infinite
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import Expr, Num, substitute
from dpverify.trusted.kernel.model import Claim, Translation
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.language.noise import Additive, profile, variable
from dpverify.trusted.language.rationals import read_fraction, to_whole
from dpverify.trusted.theories.additive.points import (
    Points,
    check_pair,
    density_on,
    neighbourhood,
    noise_of,
    outside,
    read_point,
    read_points,
    sign_of,
)

NAME: Final = "point-witness"
ASSUMED: Final = ("the sampler is ideal",)


def check(claim: Claim, evidence: Mapping[str, Any]) -> Bound:
    """The lower bound of the evidence: its value, or infinity. Raises Rejected, CertificateError."""
    at: Mapping[str, Expr] = {}
    if "at" in evidence:
        from dpverify.trusted.combinators.parameters import fixed

        claim, at = fixed(claim, evidence, NAME)
    noise = noise_of(claim, evidence, NAME)
    points = read_points(evidence)
    radius = _radius(noise, evidence, "radius")
    with precision(_precision(evidence)):
        assumed = check_pair(claim, noise, points, evidence)
        bound: Expr | Infinite
        if "limit" in evidence:
            bound = read_point(evidence["limit"])
            from dpverify.trusted.theories.additive import point_limits

            point_limits.certify(noise, points, radius, bound)
        else:
            claimed: Fraction | Infinite = INFINITE if evidence.get("value") == "inf" else read_fraction(evidence, "value", NAME)
            certify(noise, points, radius, claimed)
            bound = claimed if isinstance(claimed, Infinite) else Num(claimed)
        witness = _event(noise, points, evidence) if "event" in evidence else None
    return Bound("lower", bound, witness=witness, at=at, assumed=(*assumed, *sign_of(noise)))


def shown(claim: Claim, noise: Additive, evidence: Mapping[str, Any]) -> dict[str, Any]:
    """The witness of an event; see `witnessed.event`. Raises Rejected for an impossible pair."""
    points = read_points(evidence)
    with precision(_precision(evidence)):
        check_pair(claim, noise, points, evidence)
        return _event(noise, points, evidence)


def _event(noise: Additive, points: Points, evidence: Mapping[str, Any]) -> dict[str, Any]:
    from dpverify.trusted.theories.additive.witnessed import event

    return event(noise, points, _radius(noise, evidence, "event"))


# -- reading ---------------------------------------------------------------------------------------


def _precision(evidence: Mapping[str, Any]) -> int:
    return max(to_whole(evidence.get("prec", ctx.prec), "prec", NAME, 53, 16384), ctx.prec)


def _radius(noise: Additive, evidence: Mapping[str, Any], key: str) -> Fraction:
    if isinstance(noise, Translation) and noise.integers:
        return Fraction(0)
    radius = read_fraction(evidence, key, NAME)
    require(radius > 0, Rejected(NAME, key, "it must be positive: a single point has probability 0"))
    return radius


# -- the loss --------------------------------------------------------------------------------------


def _height(noise: Additive, h: Expr, point: Expr, near: arb) -> arb:
    """h on a neighbourhood of a point; on the integers at the point itself, where floors are known."""
    whole = isinstance(noise, Translation) and noise.integers
    return constant(substitute(h, {variable(noise): point})) if whole else value(h, {variable(noise): near})


def certify(noise: Additive, points: Points, radius: Fraction, claimed: Fraction | Infinite) -> None:
    """Check that the loss is at least `claimed` on the whole neighbourhood. Raises Rejected."""
    h = neg_log(profile(noise))
    loss, vanishes = arb(0), False
    for a, b in zip(points.a, points.b, strict=True):
        near_a, near_b = neighbourhood(noise, a, radius), neighbourhood(noise, b, radius)
        at_a = _height(noise, h, a, near_a) if outside(noise, near_a) is False else arb("nan")
        if not at_a.is_finite():
            raise Rejected(NAME, "a", "the density of P is not certainly positive and finite here; make the radius smaller")
        if isinstance(claimed, Infinite):
            vanishes = vanishes or bool(density_on(noise, near_b) == 0)
        elif outside(noise, near_b) is False:
            loss += _height(noise, h, b, near_b) - at_a
        else:
            raise Rejected(NAME, "b", "the neighbourhood is not certainly inside the support")
    if isinstance(claimed, Infinite):
        require(vanishes, Rejected(NAME, "b", "the density of Q does not certainly vanish on the neighbourhood"))
    elif not loss >= rational(claimed):
        raise Rejected(NAME, "value", "the loss is not certainly at least this on the neighbourhood; make the radius smaller")
