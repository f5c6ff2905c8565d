"""Pairs of points of a density: an output as it lies from two answers that neighbours have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from flint import arb

from dpverify.trusted.kernel.assumptions import EVERY, REAL
from dpverify.trusted.kernel.balls import constant, rational, value
from dpverify.trusted.kernel.compare import certainly_equal, certainly_le
from dpverify.trusted.kernel.errors import CertificateError, ExprError, Rejected, Undecided, require
from dpverify.trusted.kernel.expr import Expr, Num, add, div, format_expr, neg, num, parse, sub, symbols
from dpverify.trusted.kernel.model import Claim, Product, Query, Radial, Translation, on_integers
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.language.noise import Additive, profile, variable
from dpverify.trusted.language.rationals import to_fraction
from dpverify.trusted.language.signs import NEGATIVE, plainly_non_negative
from dpverify.trusted.sensitivity.sensitivity import sensitivity_bounds, whole_part
from dpverify.trusted.shapes.convexity import Shapes
from dpverify.trusted.theories.additive.integrable import require_integrable
from dpverify.trusted.theories.additive.moves import certainly_within

RULE: Final = "point-witness"
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

    evidence: as in `integrable.require_integrable`.
    """
    noise = claim.mechanism
    if not isinstance(noise, Radial | Translation | Product):
        raise Rejected(rule, "the mechanism", "it wants additive noise: radial, translation or product")
    if claim.domains:
        names = ", ".join(name for name, _ in claim.domains)
        raise Rejected(rule, "the parameters", f"it wants a value for {names}; name one under 'at'")
    require_integrable(noise, evidence, rule)
    return noise


def sign_of(noise: Additive) -> tuple[str, ...]:
    """The hypothesis that the density is nowhere negative, where neither its form nor its logarithm shows that."""
    if on_integers(noise):
        from dpverify.trusted.language.whole_laws import known

        if isinstance(noise, Translation) and known(noise) is not None:
            return ()
    name = variable(noise)
    lower = noise.support[0] if isinstance(noise, Translation) else None
    positive = isinstance(noise, Radial) or (isinstance(lower, Num) and lower.value >= 0)
    if plainly_non_negative(profile(noise), (name,) if positive else ()):
        return ()
    try:
        Shapes(name, isinstance(noise, Radial), {}).shape(neg_log(profile(noise)))
    except (Undecided, ExprError):
        return (NEGATIVE,)
    return ()


def read_points(evidence: Mapping[str, Any]) -> Points:
    """The points of evidence, under "a" and "b". Raises CertificateError."""
    a, b = (tuple(map(read_point, evidence[key])) for key in ("a", "b"))
    few = all(1 <= len(side) <= MOST_COORDINATES for side in (a, b))
    require(few, CertificateError(f"{RULE}: either side must be a list of 1 to {MOST_COORDINATES} expressions."))
    return Points(a, b)


def read_point(text: Any) -> Expr:
    """A constant of evidence: a dyadic "m*2^e" or a closed form. Raises CertificateError."""
    if "^" in str(text):
        return Num(to_fraction(text, RULE))
    point = parse(str(text))
    require(not symbols(point), CertificateError(f"{RULE}: the point {text!r} has free symbols."))
    return point


def check_pair(claim: Claim, noise: Additive, points: Points, evidence: Mapping[str, Any]) -> tuple[str, ...]:
    """Check that some pair of neighbours and some output realise the two points. Raises Rejected.

    Returns what that takes for granted beyond that a pair is the sensitivity apart.
    """
    shifts = points.shifts
    if isinstance(noise, Product):
        if not (isinstance(noise.dimension, Num) and len(shifts) <= noise.dimension.value):
            raise Rejected(RULE, "a", "it has more coordinates than the noise")
    elif len(shifts) != 1:
        raise Rejected(RULE, "a", "this noise wants one point")
    if isinstance(noise, Translation) and noise.integers:
        for point in (*points.a, *points.b):
            if not (isinstance(point, Num) and point.value.denominator == 1):
                raise Rejected(RULE, format_expr(point), "this noise lives on the integers")
    if isinstance(noise, Radial):
        for point in (*points.a, *points.b):
            if not constant(point) >= 0:
                raise Rejected(RULE, format_expr(point), "a distance is not certainly non-negative")
    reach = sensitivity_bounds(claim, evidence.get("sensitivity")).lower
    if isinstance(noise, Radial):
        reach = div(reach, noise.scale)
    if claim.query is not None:
        return _check_difference(claim.query, noise, points, reach)
    require(within(shifts, noise, reach), Rejected(RULE, "b", "it is not certainly within the sensitivity of a"))
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
    return surrounded and certainly_within(shift, reach) and certainly_le(reach, add(points.a[0], points.b[0]))


def within(shifts: Sequence[Expr], noise: Additive, reach: Expr) -> bool:
    """Whether the norm of the shift, over the scale, is certainly at most the sensitivity."""
    if not isinstance(noise, Product):
        return certainly_within(shifts[0], reach)
    from dpverify.trusted.theories.additive import moves

    return bool(moves.within(shifts, noise, reach))


def _check_difference(query: Query, noise: Additive, points: Points, reach: Expr) -> tuple[str, ...]:
    """A query realises only its own differences: in dimension 2 and above any triangle on one of them, on the line two points."""
    if isinstance(noise, Product):
        from dpverify.trusted.theories.additive.moves import require_difference

        require_difference(query, points.shifts)
        return ()
    if _spans(noise, points, reach):
        return ()
    if query.adjacency in ("l1", "l2") and certainly_within(points.shifts[0], reach):
        return (REAL,)  # every smaller difference occurs too
    if isinstance(noise, Translation):
        from dpverify.trusted.theories.additive.moves import require_difference

        require_difference(query, points.shifts)
        return ()
    raise Rejected(RULE, "b", "its distance from a is not the sensitivity that the query gives")


# -- the neighbourhood -----------------------------------------------------------------------------


def neighbourhood(noise: Additive, point: Expr, radius: Fraction) -> arb:
    """The distances (or differences) from an answer to the outputs within `radius` of one at `point`."""
    centre, reach = constant(point), rational(radius)
    low, high = centre - reach, centre + reach
    if isinstance(noise, Radial) and not low > 0:
        return arb(0).union(high)
    return low.union(high) if radius else centre


def outside(noise: Additive, near: arb) -> bool | None:
    """True where a neighbourhood lies certainly outside the support, False where certainly inside, else None."""
    lower, upper = noise.support if isinstance(noise, Translation) else (None, None)
    if (lower is not None and near < constant(lower)) or (upper is not None and near > constant(upper)):
        return True
    inside = (lower is None or near >= constant(lower)) and (upper is None or near <= constant(upper))
    return False if inside else None


def density_on(noise: Additive, near: arb) -> arb:
    """The range of the density over a neighbourhood; zero outside the support. Raises Undecided across an edge."""
    beyond = outside(noise, near)
    if beyond is None:
        raise Undecided("the neighbourhood meets the edge of the support.")
    return arb(0) if beyond else value(profile(noise), {variable(noise): near})
