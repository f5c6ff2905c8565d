"""The ends of the line in the supremum rule: where h behaves as at infinity or at 0."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from flint import arb

from dpverify.trusted.kernel.balls import constant, exact, rational
from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import ZERO, Expr, Num, add, mul, neg
from dpverify.trusted.language.rationals import to_fraction
from dpverify.trusted.numbers.asymptotics import End, Germ, end_jet
from dpverify.trusted.shapes.convexity import Shapes
from dpverify.trusted.theories.additive.axis import NAME, Line


def checked_end(data: Any, outward: int, line: Line, bound: Expr) -> End:
    """An infinite end of the line, or of a half line at 0, by its start.

    Raises Rejected unless the density has finite mass there and the loss is at most the bound (but near 0).
    """
    end = End("+inf" if outward > 0 else "right" if line.half else "-inf", to_fraction(data, NAME))
    require(end_integrable(line, end), Rejected(NAME, end.side, "the density is not certainly integrable at this end"))
    if end.side != "right" and not end_holds(line, end, bound):
        raise Rejected(NAME, end.side, "the loss is not certainly below the bound on this end; start it further out")
    return end


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
