"""A point with a neighbourhood that shows a loss: a lower bound on the tight epsilon, and the event behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from flint import arb, ctx

from dpverify.trusted.facts.assumptions import EVERY, REAL
from dpverify.trusted.facts.bounds import INFINITE, Bound, Infinite
from dpverify.trusted.language.errors import CertificateError, ExprError, Rejected, Undecided
from dpverify.trusted.language.expr import Expr, Num, add, call, div, format_expr, neg, num, parse, power, sub, symbols
from dpverify.trusted.language.loading import load
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.language.model import Claim, Norm, Product, Radial, Source, Translation, on_integers
from dpverify.trusted.language.rationals import read_fraction, to_fraction
from dpverify.trusted.language.signs import NEGATIVE, plainly_non_negative
from dpverify.trusted.numbers.balls import constant, precision, rational, value
from dpverify.trusted.numbers.noise import Additive, variable
from dpverify.trusted.order.compare import certainly_equal, certainly_le
from dpverify.trusted.order.convexity import Shapes
from dpverify.trusted.order.geometry import norm_value
from dpverify.trusted.order.sensitivity import sensitivity_bounds, whole_part
from dpverify.trusted.parts.parameters import fixed
from dpverify.trusted.rules.additive.additive import is_natural, require_integrable

NAME: Final = "point-witness"
STATEMENT: Final = (
    "If h(b) - h(a) >= v for h = -log(density), on a neighbourhood of an output y at distance a from q and b from q', where "
    "|a - b| is at most the sensitivity over the scale, then the event S = that neighbourhood has P(S) >= exp(v) Q(S) > 0, so "
    "the tight epsilon is at least v; it is infinite where the density of Q vanishes on S."
)
CHECKED: Final = (
    "the density is integrable, and non-negative where no assumption says otherwise",
    "the points are within the sensitivity of each other, and their pair occurs",
    "the loss is at least the bound on the whole neighbourhood",
    "the density of P is positive there",
)
ASSUMED: Final = ("the sampler is ideal",)
SOURCE: Final = Source("docs/theory/additive.md#point-witness")

MOST_COORDINATES: Final = 1000


@dataclass(frozen=True, slots=True)
class Points:
    """The output of the witness as it lies from q and from q', a coordinate each, in units of the scale."""

    a: tuple[Expr, ...]
    b: tuple[Expr, ...]

    @property
    def shifts(self) -> tuple[Expr, ...]:
        """b - a, coordinate by coordinate."""
        return tuple(sub(b, a) for a, b in zip(self.a, self.b, strict=True))


def noise_of(claim: Claim, evidence: Mapping[str, Any], rule: str) -> Additive:
    """The claim's mechanism, if it is additive noise with all parameters fixed and certainly integrable. Raises Rejected.

    evidence: as in `additive.require_integrable`.
    """
    noise = claim.mechanism
    if not isinstance(noise, Radial | Translation | Product):
        raise Rejected(rule, "the mechanism", "it wants additive noise: radial, translation or product")
    if claim.domains:
        names = ", ".join(name for name, _ in claim.domains)
        raise Rejected(rule, "the parameters", f"it wants a value for {names}; name one under 'at'")
    if not isinstance(noise, Translation) and not is_natural(noise.dimension, claim):
        raise Rejected(rule, "the dimension", "it is not certainly an integer of at least 1")
    if isinstance(noise, Radial) and not constant(noise.scale) > 0:
        raise Rejected(rule, "the scale", "it is not certainly positive")
    require_integrable(noise, evidence, rule)
    return noise


def sign_of(noise: Additive) -> tuple[str, ...]:
    """The hypothesis that the density is nowhere negative, where neither its form nor its logarithm shows that."""
    name = variable(noise)
    lower = noise.support[0] if isinstance(noise, Translation) else None
    positive = isinstance(noise, Radial) or (isinstance(lower, Num) and lower.value >= 0)
    if plainly_non_negative(profile_of(noise), (name,) if positive else ()):
        return ()
    try:
        Shapes(name, isinstance(noise, Radial), {}).shape(neg_log(profile_of(noise)))
    except (Undecided, ExprError):
        return (NEGATIVE,)
    return ()


def check(claim: Claim, evidence: Mapping[str, Any]) -> Bound:
    """The lower bound of the evidence: its value, or infinity. Raises Rejected, CertificateError."""
    claim, at = fixed(claim, evidence, NAME)
    noise = noise_of(claim, evidence, NAME)
    points = _points(evidence)
    radius = _radius(noise, evidence, "radius")
    claimed: Fraction | Infinite = INFINITE if evidence.get("value") == "inf" else read_fraction(evidence, "value", NAME)
    with precision(_precision(evidence)):
        assumed = check_pair(claim, noise, points, evidence)
        certify(noise, points, radius, claimed)
        witness = _described(claim, noise, points, evidence) if "event" in evidence else None
    value = claimed if isinstance(claimed, Infinite) else Num(claimed)
    return Bound("lower", value, witness=witness, at=at, assumed=(*assumed, *sign_of(noise)))


def shown(claim: Claim, noise: Additive, evidence: Mapping[str, Any]) -> dict[str, Any]:
    """The witness of an event, for readers: the pair, S, and P(S) and Q(S) enclosed. Raises Rejected for an impossible pair."""
    points = _points(evidence)
    with precision(_precision(evidence)):
        check_pair(claim, noise, points, evidence)
        return _described(claim, noise, points, evidence)


def _described(claim: Claim, noise: Additive, points: Points, evidence: Mapping[str, Any]) -> dict[str, Any]:
    radius = _radius(noise, evidence, "event")
    found: dict[str, Any] = load("rules.additive.witnesses").describe(claim, noise, points, radius, evidence)
    return found


# -- reading ---------------------------------------------------------------------------------------


def _precision(evidence: Mapping[str, Any]) -> int:
    bits = evidence.get("prec", ctx.prec)
    if type(bits) is not int or not 53 <= bits <= 16384:  # exact
        raise CertificateError(f"{NAME}: prec must be an integer between 53 and 16384.")
    return max(bits, ctx.prec)


def _points(evidence: Mapping[str, Any]) -> Points:
    sides = []
    for key in ("a", "b"):
        listed = evidence.get(key)
        if not isinstance(listed, list) or not 1 <= len(listed) <= MOST_COORDINATES:
            raise CertificateError(f"{NAME}: {key!r} must be a list of 1 to {MOST_COORDINATES} expressions.")
        sides.append(tuple(read_point(text) for text in listed))
    if len(sides[0]) != len(sides[1]):
        raise CertificateError(f"{NAME}: 'a' and 'b' differ in length.")
    return Points(sides[0], sides[1])


def read_point(text: Any) -> Expr:
    """A constant of evidence: a dyadic "m*2^e" or a closed form. Raises CertificateError."""
    if "^" in str(text):
        return Num(to_fraction(text, NAME))
    try:
        point = parse(str(text))
    except ExprError as error:
        raise CertificateError(f"{NAME}: {error}") from error
    if symbols(point):
        raise CertificateError(f"{NAME}: the point {text!r} has free symbols.")
    return point


def _radius(noise: Additive, evidence: Mapping[str, Any], key: str) -> Fraction:
    if isinstance(noise, Translation) and noise.integers:
        return Fraction(0)
    radius = read_fraction(evidence, key, NAME)
    if radius <= 0:
        raise Rejected(NAME, key, "it must be positive: a single point has probability 0")
    return radius


# -- the pair --------------------------------------------------------------------------------------


def check_pair(claim: Claim, noise: Additive, points: Points, evidence: Mapping[str, Any]) -> tuple[str, ...]:
    """Check that some pair of neighbours and some output realise the two points. Raises Rejected.

    Returns what that takes for granted beyond that a pair is the sensitivity apart.
    """
    shifts = points.shifts
    if isinstance(noise, Product):
        if not (isinstance(noise.dimension, Num) and len(shifts) <= noise.dimension.value):
            raise Rejected(NAME, "a", "it has more coordinates than the noise")
    elif len(shifts) != 1:
        raise Rejected(NAME, "a", "this noise wants one point")
    if isinstance(noise, Translation) and noise.integers:
        for point in (*points.a, *points.b):
            if not (isinstance(point, Num) and point.value.denominator == 1):
                raise Rejected(NAME, format_expr(point), "this noise lives on the integers")
    if isinstance(noise, Radial):
        for point in (*points.a, *points.b):
            if not constant(point) >= 0:
                raise Rejected(NAME, format_expr(point), "a distance is not certainly non-negative")
    reach = sensitivity_bounds(claim, evidence.get("sensitivity")).lower
    if isinstance(noise, Radial):
        reach = div(reach, noise.scale)
    if claim.query is not None:
        return _check_difference(claim, noise, points, reach)
    if not within(shifts, noise, reach):
        raise Rejected(NAME, "b", "it is not certainly within the sensitivity of a")
    whole = on_integers(noise)
    return () if _spans(noise, points, whole_part(reach, {}) if whole else reach) else (EVERY,)


def _spans(noise: Additive, points: Points, reach: Expr) -> bool:
    """Whether two answers exactly `reach` apart have an output at the two points."""
    if len(points.shifts) > 1:
        return False
    shift = points.shifts[0]
    if certainly_equal(shift, reach) or certainly_equal(neg(shift), reach):
        return True
    # in the plane and above, on the sphere of radius a round q, the distance from q' takes every value from |a - reach| to a + reach
    surrounded = isinstance(noise, Radial) and certainly_le(num(2), noise.dimension)
    return surrounded and _absolute_within(shift, reach) and certainly_le(reach, add(points.a[0], points.b[0]))


def within(shifts: Sequence[Expr], noise: Additive, reach: Expr) -> bool:
    """Whether the norm of the shift, over the scale, is certainly at most the sensitivity."""
    if not isinstance(noise, Product):
        return _absolute_within(shifts[0], reach)
    norm = noise.norm
    if norm.kind == "lp" and norm.p is None:
        return all(_absolute_within(shift, reach) for shift in shifts)
    if norm.kind == "lp" and len(shifts) == 1:
        return _absolute_within(shifts[0], reach)
    if norm == Norm("lp", Fraction(1)):
        return certainly_le(add(*(call("abs", shift) for shift in shifts)), reach)
    if norm == Norm("lp", Fraction(2)):
        return certainly_le(add(*(power(shift, num(2)) for shift in shifts)), power(reach, num(2)))
    exact = [shift.value for shift in shifts if isinstance(shift, Num)]
    if len(exact) < len(shifts) or not isinstance(noise.dimension, Num):
        raise Rejected(NAME, "b", "in this norm the shifts must be rational")
    return certainly_le(norm_value(norm, (*exact, *[Fraction(0)] * (int(noise.dimension.value) - len(exact)))), reach)


def _absolute_within(shift: Expr, reach: Expr) -> bool:
    return certainly_le(shift, reach) and certainly_le(neg(shift), reach)


def _check_difference(claim: Claim, noise: Additive, points: Points, reach: Expr) -> tuple[str, ...]:
    """A query realises only its own differences: in dimension 2 and above any triangle on one of them, on the line two points."""
    assert claim.query is not None
    if isinstance(noise, Product):
        wanted = tuple(shift.value for shift in points.shifts if isinstance(shift, Num))
        mirrored = tuple(-x for x in wanted)
        if claim.query.adjacency == "l2" or not {wanted, mirrored} & set(load("order.queries").differences(claim.query)):
            raise Rejected(NAME, "b", "the shift is not one of the query's extreme differences, all coordinates listed")
        return ()
    if _spans(noise, points, reach):
        return ()
    if claim.query.adjacency in ("l1", "l2") and _absolute_within(points.shifts[0], reach):
        return (REAL,)  # every smaller difference occurs too
    raise Rejected(NAME, "b", "its distance from a is not the sensitivity that the query gives")


# -- the neighbourhood -----------------------------------------------------------------------------


def neighbourhood(noise: Additive, point: Expr, radius: Fraction) -> arb:
    """The distances (or differences) from an answer to the outputs within `radius` of one at `point`."""
    centre, reach = constant(point), rational(radius)
    low, high = centre - reach, centre + reach
    if isinstance(noise, Radial) and not low > 0:
        return arb(0).union(high)
    return low.union(high) if radius else centre


def profile_of(noise: Additive) -> Expr:
    """The density of one coordinate, up to a factor."""
    return noise.profile if isinstance(noise, Radial) else noise.density


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
    return arb(0) if outside else value(profile_of(noise), {variable(noise): near})


def certify(noise: Additive, points: Points, radius: Fraction, claimed: Fraction | Infinite) -> None:
    """Check that the loss is at least `claimed` on the whole neighbourhood. Raises Rejected."""
    h = neg_log(profile_of(noise))
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
