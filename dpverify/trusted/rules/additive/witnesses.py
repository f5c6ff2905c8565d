"""The event of a point and its neighbourhood, for readers: the pair, S, P(S) and Q(S) enclosed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from flint import arb, ctx

from dpverify.trusted.language.errors import ExprError, Undecided
from dpverify.trusted.language.expr import Expr, Num, add, div, format_expr, mul, neg, num
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.language.model import Claim, Product, Radial
from dpverify.trusted.numbers.balls import constant, finite, precision, rational, value
from dpverify.trusted.numbers.noise import Additive, variable
from dpverify.trusted.numbers.quadrature import normaliser
from dpverify.trusted.order.compare import certainly_le
from dpverify.trusted.order.sensitivity import sensitivity_bounds
from dpverify.trusted.rules.additive.point_witness import Points, density_on, neighbourhood, profile_of

_DIGITS: Final = 9


def describe(claim: Claim, noise: Additive, points: Points, radius: Fraction, evidence: Mapping[str, Any]) -> dict[str, Any]:
    """The pair, the event S of the radius, P(S) and Q(S) enclosed, and the least loss on S, as text."""
    single = not isinstance(noise, Product)
    a, b = ((format_short(side[0]) if single else f"({', '.join(map(format_short, side))})") for side in (points.a, points.b))
    unit = "" if not isinstance(noise, Radial) or noise.scale == num(1) else f" in units of {format_expr(noise.scale)}"
    if isinstance(noise, Radial):
        apart = f"|b - a| = {format_short(_gap(points))}"
        place = f"y0 at distance a = {a} from q and b = {b} from q'{unit}; q' lies with y0 and q on a line where {apart}"
        if claim.query is not None or certainly_le(add(points.a[0], points.b[0]), _reach(claim, noise, evidence)):
            place = f"y0 at distance a = {a} from q and b = {b} from q'{unit}"
        event = f"S = {{y : ||y - y0|| <= {format_short(Num(radius))}}}{unit}"
    else:
        place = f"y0 = q + a = q' + b with a = {a}, b = {b}"
        if len(points.a) > 1 or isinstance(noise, Product):
            place += " in the first coordinate" if len(points.a) == 1 else f" in the first {len(points.a)} coordinates"
        event = "S = {y0}" if not radius else f"S = {{y : |y - y0| <= {format_short(Num(radius))}" + ("}" if single else " in those}")
    witness: dict[str, Any] = {
        "pair": f"answers q and q' at distance {format_expr(_distance(claim, noise, points, evidence))}",
        "point": place,
        "event": event,
    }
    masses = [_mass(noise, side, radius) for side in (points.a, points.b)]
    for key, mass in zip(("P", "Q"), masses, strict=True):
        if mass is not None:
            witness[key] = [_rounded(mass[0].lower(), up=False), _rounded(mass[1].upper(), up=True)]
    h, least = neg_log(profile_of(noise)), arb(0)
    for x, y in zip(points.a, points.b, strict=True):
        near_x, near_y = neighbourhood(noise, x, radius), neighbourhood(noise, y, radius)
        if density_on(noise, near_y) == 0:
            return {**witness, "loss": "inf"}
        least += value(h, {variable(noise): near_y}) - value(h, {variable(noise): near_x})
    return {**witness, "loss": _rounded(finite(least).lower(), up=False)}


def _reach(claim: Claim, noise: Additive, evidence: Mapping[str, Any]) -> Expr:
    reach = sensitivity_bounds(claim, evidence.get("sensitivity")).lower
    return div(reach, noise.scale) if isinstance(noise, Radial) else reach


def _distance(claim: Claim, noise: Additive, points: Points, evidence: Mapping[str, Any]) -> Expr:
    """The distance of the two answers, before scale."""
    if claim.query is not None or isinstance(noise, Product):
        return sensitivity_bounds(claim, evidence.get("sensitivity")).lower
    apart = _gap(points)
    return mul(apart, noise.scale) if isinstance(noise, Radial) else apart


def _gap(points: Points) -> Expr:
    """|b - a| of the first coordinate."""
    shift = points.shifts[0]
    return neg(shift) if constant(shift) < 0 else shift


def _mass(noise: Additive, side: Sequence[Expr], radius: Fraction) -> tuple[arb, arb] | None:
    """Bounds on the probability of S: density times volume over the normaliser, coordinate by coordinate; None where not finite.

    Radial noise of dimension d: radius^d density / (d I), I the integral of profile(r) r^(d-1), free of any volume.
    """
    try:
        total = normaliser(noise)
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
        h = value(neg_log(profile_of(noise)), {variable(noise): near})  # bounds of very different size keep their own exponents
        low, high = low * (-h.upper()).exp() * volume / total, high * (-h.lower()).exp() * volume / total
    return (low, high.min(arb(1))) if low.is_finite() and high.is_finite() else None


def format_short(expr: Expr) -> str:
    """A constant as text: large numbers as 2^k times an integer, anything else in the language of expressions."""
    if isinstance(expr, Num):
        top, bottom = expr.value.numerator, expr.value.denominator
        twos = (top & -top).bit_length() - 1 if top else 0
        if bottom & (bottom - 1) == 0 and max(bottom.bit_length(), twos) > 40:
            exponent = twos - (bottom.bit_length() - 1)
            mantissa = top >> twos
            power_text = f"2^{exponent}"
            return power_text if mantissa == 1 else f"{mantissa}*{power_text}"
    return format_expr(expr)


def _rounded(point: arb, *, up: bool) -> str:
    """An exact point as a decimal, in scientific notation with an exponent of any size where needed, rounded up or down."""
    if point == 0:
        return "0"
    if point < 0:
        return "-" + _rounded(-point, up=not up)
    with precision(max(ctx.prec, 64) + 64):
        exponent = _integer((point.log() / arb(10).log()).mid().floor())
        digits = _leading(point, exponent, up)
        if digits < 10 ** (_DIGITS - 1):
            exponent -= 1
            digits = _leading(point, exponent, up)
    if digits >= 10**_DIGITS:
        digits, exponent = -(-digits // 10) if up else digits // 10, exponent + 1
    text = str(digits)
    return f"{text[0]}.{text[1:]}e{exponent}" if exponent < -4 or exponent > _DIGITS else _plain(text, exponent)


def _leading(point: arb, exponent: int, up: bool) -> int:
    """The leading digits of a positive point below 10^(exponent + 1), rounded."""
    shift = _DIGITS - 1 - exponent
    scaled = point * arb(10) ** shift if shift >= 0 else point / arb(10) ** -shift
    return _integer(scaled.upper().ceil() if up else scaled.lower().floor())


def _integer(ball: arb) -> int:
    whole = ball.unique_fmpz()
    if whole is None:
        raise Undecided("an enclosure is too wide to be written as a decimal.")
    return int(whole)


def _plain(text: str, exponent: int) -> str:
    if exponent < 0:
        return f"0.{'0' * (-exponent - 1)}{text}"
    if exponent + 1 >= len(text):
        return text + "0" * (exponent + 1 - len(text))
    return f"{text[: exponent + 1]}.{text[exponent + 1 :]}"
