"""A point with a neighbourhood that shows a loss: a lower bound on the tight epsilon, and the event behind it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from flint import arb, ctx

from dpverify.trusted.facts.bounds import INFINITE, Bound, Infinite
from dpverify.trusted.language.errors import CertificateError, ExprError, Rejected, Undecided
from dpverify.trusted.language.expr import Call, Expr, Num, add, children, format_expr, sub, substitute
from dpverify.trusted.language.loading import load
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.language.model import Claim, Radial, Source, Translation
from dpverify.trusted.language.rationals import read_fraction
from dpverify.trusted.numbers.balls import constant, finite, precision, rational, value
from dpverify.trusted.numbers.noise import Additive, variable
from dpverify.trusted.order.compare import certainly_le
from dpverify.trusted.parts.parameters import fixed
from dpverify.trusted.rules.additive.points import (
    Points,
    check_pair,
    noise_of,
    profile,
    read_point,
    read_points,
    sign_of,
)

NAME: Final = "point-witness"
STATEMENT: Final = (
    "If h(b) - h(a) >= v for h = -log(density), on a neighbourhood of an output y at distance a from q and b from q', where "
    "|a - b| is at most the sensitivity over the scale, then the event S = that neighbourhood has P(S) >= exp(v) Q(S) > 0, so "
    "the tight epsilon is at least v; it is infinite where the density of Q vanishes on S."
)
CHECKED: Final = (
    "the density is integrable, and non-negative where no assumption says otherwise",
    "the points are within the sensitivity of each other, and their pair occurs",
    "the loss is at least the bound on the whole neighbourhood, or at the two points where h is continuous on it",
    "the density of P is positive there",
)
ASSUMED: Final = ("the sampler is ideal",)
SOURCE: Final = Source("docs/theory/additive.md#point-witness")


def check(claim: Claim, evidence: Mapping[str, Any]) -> Bound:
    """The lower bound of the evidence: its value, or infinity. Raises Rejected, CertificateError."""
    claim, at = fixed(claim, evidence, NAME)
    noise = noise_of(claim, evidence, NAME)
    points = read_points(evidence)
    radius = _radius(noise, evidence, "radius")
    with precision(_precision(evidence)):
        assumed = check_pair(claim, noise, points, evidence)
        bound: Expr | Infinite
        if "limit" in evidence:
            bound = read_point(evidence["limit"])
            certify_limit(noise, points, radius, bound)
        else:
            claimed: Fraction | Infinite = INFINITE if evidence.get("value") == "inf" else read_fraction(evidence, "value", NAME)
            certify(noise, points, radius, claimed)
            bound = claimed if isinstance(claimed, Infinite) else Num(claimed)
        witness = event(noise, points, _radius(noise, evidence, "event")) if "event" in evidence else None
    return Bound("lower", bound, witness=witness, at=at, assumed=(*assumed, *sign_of(noise)))


def shown(claim: Claim, noise: Additive, evidence: Mapping[str, Any]) -> dict[str, Any]:
    """The witness of an event; see `event`. Raises Rejected for an impossible pair."""
    points = read_points(evidence)
    with precision(_precision(evidence)):
        check_pair(claim, noise, points, evidence)
        return event(noise, points, _radius(noise, evidence, "event"))


# -- reading ---------------------------------------------------------------------------------------


def _precision(evidence: Mapping[str, Any]) -> int:
    bits = evidence.get("prec", ctx.prec)
    if type(bits) is not int or not 53 <= bits <= 16384:  # exact
        raise CertificateError(f"{NAME}: prec must be an integer between 53 and 16384.")
    return max(bits, ctx.prec)


def _radius(noise: Additive, evidence: Mapping[str, Any], key: str) -> Fraction:
    if isinstance(noise, Translation) and noise.integers:
        return Fraction(0)
    radius = read_fraction(evidence, key, NAME)
    if radius <= 0:
        raise Rejected(NAME, key, "it must be positive: a single point has probability 0")
    return radius


# -- the pair --------------------------------------------------------------------------------------


# -- the neighbourhood -----------------------------------------------------------------------------


def neighbourhood(noise: Additive, point: Expr, radius: Fraction) -> arb:
    """The distances (or differences) from an answer to the outputs within `radius` of one at `point`."""
    centre, reach = constant(point), rational(radius)
    low, high = centre - reach, centre + reach
    if isinstance(noise, Radial) and not low > 0:
        return arb(0).union(high)
    return low.union(high) if radius else centre


def _outside(noise: Additive, near: arb) -> bool | None:
    """True where a neighbourhood lies certainly outside the support, False where certainly inside, else None."""
    lower, upper = noise.support if isinstance(noise, Translation) else (None, None)
    if (lower is not None and near < constant(lower)) or (upper is not None and near > constant(upper)):
        return True
    inside = (lower is None or near >= constant(lower)) and (upper is None or near <= constant(upper))
    return False if inside else None


def density_on(noise: Additive, near: arb) -> arb:
    """The range of the density over a neighbourhood; zero outside the support. Raises Undecided across an edge."""
    outside = _outside(noise, near)
    if outside is None:
        raise Undecided("the neighbourhood meets the edge of the support.")
    return arb(0) if outside else value(profile(noise), {variable(noise): near})


def certify(noise: Additive, points: Points, radius: Fraction, claimed: Fraction | Infinite) -> None:
    """Check that the loss is at least `claimed` on the whole neighbourhood. Raises Rejected."""
    h = neg_log(profile(noise))
    loss, vanishes = arb(0), False
    for a, b in zip(points.a, points.b, strict=True):
        near_a, near_b = neighbourhood(noise, a, radius), neighbourhood(noise, b, radius)
        at_a = value(h, {variable(noise): near_a}) if _outside(noise, near_a) is False else arb("nan")
        if not at_a.is_finite():
            raise Rejected(NAME, "a", "the density of P is not certainly positive and finite here; make the radius smaller")
        if isinstance(claimed, Infinite):
            vanishes = vanishes or bool(density_on(noise, near_b) == 0)
        elif _outside(noise, near_b) is False:
            loss += value(h, {variable(noise): near_b}) - at_a
        else:
            raise Rejected(NAME, "b", "the neighbourhood is not certainly inside the support")
    if isinstance(claimed, Infinite):
        if not vanishes:
            raise Rejected(NAME, "b", "the density of Q does not certainly vanish on the neighbourhood")
    elif not loss >= rational(claimed):
        raise Rejected(NAME, "value", "the loss is not certainly at least this on the neighbourhood; make the radius smaller")


def certify_limit(noise: Additive, points: Points, radius: Fraction, claimed: Expr) -> None:
    """Check that h is continuous on the neighbourhood, and the loss of the two points themselves at least `claimed`. Raises Rejected."""
    losses = [sub(_continuous(noise, b, radius, "b"), _continuous(noise, a, radius, "a")) for a, b in zip(points.a, points.b, strict=True)]
    if not certainly_le(claimed, add(*losses)):
        raise Rejected(NAME, "limit", "the loss of the two points is not certainly at least this")


def _continuous(noise: Additive, point: Expr, radius: Fraction, side: str) -> Expr:
    """h at a point. Raises Rejected unless it is finite nearby, and so continuous but for floors, which are to be constant."""
    near, name, h = neighbourhood(noise, point, radius), variable(noise), neg_log(profile(noise))
    if _outside(noise, near) is not False or not value(h, {name: near}).is_finite():
        raise Rejected(NAME, side, "the density is not certainly positive and finite here; make the radius smaller")
    if not all(value(floor, {name: near}).is_exact() for floor in _floors(h)):
        raise Rejected(NAME, side, "the density may jump here; make the radius smaller")
    return substitute(h, {name: point})


def _floors(expr: Expr) -> Iterator[Expr]:
    if isinstance(expr, Call) and expr.name == "floor":
        yield expr
    for part in children(expr):
        yield from _floors(part)


# -- the event -------------------------------------------------------------------------------------


def event(noise: Additive, points: Points, radius: Fraction) -> dict[str, Any]:
    """The pair, the event S of a radius, P(S) and Q(S) enclosed, and a lower bound of the loss on S; numbers as m*2^e."""
    a, b = (", ".join(map(format_expr, side)) for side in (points.a, points.b))
    least, vanishes, h, name = arb(0), False, neg_log(profile(noise)), variable(noise)
    for x, y in zip(points.a, points.b, strict=True):
        near_x, near_y = neighbourhood(noise, x, radius), neighbourhood(noise, y, radius)
        vanishes = vanishes or bool(density_on(noise, near_y) == 0)
        least += arb(0) if vanishes else value(h, {name: near_y}) - value(h, {name: near_x})
    masses = {key: _mass(noise, side, radius) for key, side in (("P", points.a), ("Q", points.b))}
    unit = ", in units of the scale" if isinstance(noise, Radial) else ""
    return {
        "pair": f"answers q and q' with an output y0 at ({a}) from q and at ({b}) from q'{unit}",
        "event": f"S = {{y : |y - y0| <= {radius}}}" if radius else "S = {y0}",
        **{key: [_dyadic(mass[0], up=False), _dyadic(mass[1], up=True)] for key, mass in masses.items() if mass is not None},
        "loss": "inf" if vanishes else _dyadic(finite(least), up=False),
    }


def _mass(noise: Additive, side: Sequence[Expr], radius: Fraction) -> tuple[arb, arb] | None:
    """Bounds on the probability of S: density times volume over the normaliser, coordinate by coordinate; None where not finite.

    Radial noise of dimension d: radius^d density / (d I), I the integral of profile(r) r^(d-1), free of any volume.
    """
    try:
        total: arb = load("numbers.quadrature").normaliser(noise)
        total = load("numbers.quadrature").normaliser(noise)
    except (Undecided, ExprError):
        return None
    if isinstance(noise, Radial):
        d = constant(noise.dimension)
        volume = rational(radius) ** d / d
    else:
        volume = 2 * rational(radius) if radius else arb(1)
    low, high = arb(1), arb(1)
    for point in side:
        near = neighbourhood(noise, point, radius)
        if density_on(noise, near) == 0:
            return arb(0), arb(0)
        h = value(neg_log(profile(noise)), {variable(noise): near})  # bounds of very different size keep their own exponents
        low, high = low * (-h.upper()).exp() * volume / total, high * (-h.lower()).exp() * volume / total
    return (low, high.min(arb(1))) if low.is_finite() and high.is_finite() else None


def _dyadic(ball: arb, up: bool) -> str:
    """An end of a ball as m*2^e."""
    with precision(64):
        mantissa, exponent = (ball.upper() if up else ball.lower()).man_exp()
    return f"{mantissa}*2^{exponent}"
