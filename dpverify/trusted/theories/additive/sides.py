"""The ends of the line in the supremum rule: where h behaves as at infinity or at 0, or where it repeats with a rise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb

from dpverify.trusted.kernel.balls import constant, exact, rational
from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import ZERO, Expr, Num, add, mul, neg
from dpverify.trusted.language.rationals import to_fraction
from dpverify.trusted.numbers.asymptotics import End, Germ, end_jet
from dpverify.trusted.numbers.periods import quasi_period
from dpverify.trusted.shapes.convexity import Shapes
from dpverify.trusted.theories.additive.axis import NAME, Line


@dataclass(frozen=True, slots=True)
class Period:
    """An infinite side on which h repeats with a rise: h(x + outward * length) = h(x) + rise past `start`."""

    start: Fraction
    length: Fraction
    outward: int

    def boundary(self) -> Fraction:
        """How far pieces and cells have to reach: two periods past the start."""
        return self.start + 2 * self.outward * self.length


Side = End | Period


def read_side(data: Any, outward: int, line: Line) -> Side:
    """An end by its start, or a repeating side {"start": ..., "period": ...}."""
    if isinstance(data, Mapping):
        start, length = to_fraction(data["start"], NAME), to_fraction(data["period"], NAME)
        if not length > 0 or (line.half and (outward < 0 or start < 0)):
            raise Rejected(NAME, "period", "it must be positive, and outward of the line")
        return Period(start, length, outward)
    start = to_fraction(data, NAME)
    return End("+inf" if outward > 0 else "right" if line.half else "-inf", start)


def check_side(line: Line, side: Side, bound: Expr) -> None:
    """Raises Rejected unless the density has finite mass on a side, and the loss there is at most the bound (but near 0)."""
    if isinstance(side, Period):
        rise = period_rise(line, side)
        if rise is None or not constant(rise) > 0:
            raise Rejected(NAME, f"past {side.start}", "h does not certainly repeat with a positive rise, as an integrable density would")
        return
    if not end_integrable(line, side):
        raise Rejected(NAME, side.side, "the density is not certainly integrable at this end")
    if side.side != "right" and not end_holds(line, side, bound):
        raise Rejected(NAME, side.side, "the loss is not certainly below the bound on this end; start it further out")


def period_rise(line: Line, side: Period) -> Expr | None:
    """What h gains over one period outward, or None where the form does not show that it repeats."""
    smooth = line.smooth(*((side.start, None) if side.outward > 0 else (None, side.start)))
    return quasi_period(smooth, line.name, side.outward * side.length)


def end_direction(line: Line, end: End) -> int:
    """1 or -1 where h certainly never falls or never rises on the end, else 0."""
    slope = line.whole_slope_at(end).k
    return 1 if slope.lo >= 0 else -1 if slope.hi <= 0 else 0


def end_integrable(line: Line, end: End) -> bool:
    """Whether the density certainly has finite mass on the end: x h'(x) stays above the dimension far out, below it near 0."""
    return slope_integrable(line.whole_slope_at(end), end, constant(line.dimension))


def slope_integrable(slope: Germ, end: End, dimension: arb) -> bool:
    """The same from a germ of h'."""
    scale = Germ(rational(end.start), slope.k, slope.a + (1 if end.side in ("+inf", "-inf") else -1), slope.b, slope.growth)
    if end.side == "right":
        return bool(scale.bounds().hi < dimension)
    outward = scale.k.lo if end.side == "+inf" else -scale.k.hi
    direction = scale.direction()
    return bool(outward > 0) if direction > 0 else direction == 0 and bool(outward > dimension)


def end_holds(line: Line, end: End, bound: Expr) -> bool:
    """Whether both losses are at most the bound for pairs on an infinite end: D times the slope of h, by the mean value."""
    slope, rest = line.slope_at(end)
    bounds = rest.bounds()
    for sign in (1, -1):
        extreme = bounds.hi if sign > 0 else -bounds.lo
        excess = Num(exact(extreme)) if extreme > 0 else ZERO
        if not certainly_le(mul(line.shift, add(slope if sign > 0 else neg(slope), excess)), bound):
            return False
    return True


def start_holds(line: Line, end: End, bound: Expr, sign: int) -> bool:
    """Whether the loss is at most the bound for c within an end at 0 of the half line, by its range or by falling from 0."""
    loss, top = line.loss(Fraction(0), end.boundary(), sign), constant(bound)
    jet = end_jet(loss.expr, line.name, end)
    if jet.v.bounds().hi <= top:
        return True
    start = Shapes(line.name, True, {}).at_zero(loss.expr)  # the limit: c*besselk(1, c) tends to 1, not to 0
    return bool(jet.d1.k.hi <= 0) and start is not None and certainly_le(start, bound)
