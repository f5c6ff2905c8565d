"""How the loss on a cell is shown to be at most a bound: by its range, at a point inside, at the ends of the cell, or by the slope of h."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from flint import arb

from dpverify.trusted.kernel.balls import constant, hull, rational
from dpverify.trusted.kernel.compare import certainly_equal, certainly_le
from dpverify.trusted.kernel.expr import ZERO, Expr, Num, mul, neg, substitute, symbols
from dpverify.trusted.language.derivatives import derivative
from dpverify.trusted.numbers.jets import Jet
from dpverify.trusted.theories.additive.axis import Line, Loss


@dataclass(frozen=True, slots=True)
class Cell:
    """The loss on [lower, upper], a bound on it, and a point of the cell about which it may be expanded."""

    line: Line
    lower: Fraction
    upper: Fraction
    sign: int
    bound: Expr
    point: Fraction

    @property
    def loss(self) -> Loss:
        return self.line.loss(self.lower, self.upper, self.sign)

    @property
    def over(self) -> Jet:
        """The loss with two derivatives over the cell."""
        return self.loss.jet(hull(self.lower, self.upper))

    @property
    def top(self) -> arb:
        return constant(self.bound)

    @property
    def sides(self) -> tuple[arb, arb]:
        """How far the cell reaches on either side of the point."""
        return rational(self.lower - self.point), rational(self.upper - self.point)

    def at_most(self, point: Fraction) -> bool:
        """Whether the loss at a point is at most the bound."""
        return self.loss.at_most(point, self.bound, self.top)


def _constant(cell: Cell) -> bool:
    """The variable has cancelled."""
    return cell.loss.is_constant() and certainly_le(cell.loss.expr, cell.bound)


def _range(cell: Cell) -> bool:
    return bool(cell.over.v <= cell.top)


def _mean(cell: Cell) -> bool:
    """By the mean value from the point."""
    return bool(cell.loss.jet(rational(cell.point)).v + cell.over.d1 * hull(*cell.sides) <= cell.top)


def _taylor(cell: Cell) -> bool:
    """By the second-order form from the point, the square taken whole; a concave loss lies below its tangent there."""
    (left, right), at, bend = cell.sides, cell.loss.jet(rational(cell.point)), cell.over.d2
    if not (at.d1.is_finite() and bend.is_finite()):
        return False
    rest = (bend.upper() / 2 * left.abs_upper().max(right.abs_upper()) ** 2).max(arb(0))
    return bool(at.v + (at.d1 * left).max(at.d1 * right) + rest <= cell.top)


def _rising(cell: Cell) -> bool:
    """It does not fall, and is at most the bound at the upper end."""
    over = cell.over
    rises = over.d1 >= 0 or (over.d2 <= 0 and cell.loss.jet(rational(cell.upper)).d1 >= 0)
    return bool(rises) and cell.at_most(cell.upper)


def _falling(cell: Cell) -> bool:
    """It does not rise, and is at most the bound at the lower end."""
    over = cell.over
    falls = over.d1 <= 0 or (over.d2 <= 0 and cell.loss.jet(rational(cell.lower)).d1 <= 0)
    return bool(falls) and cell.at_most(cell.lower)


def _convex(cell: Cell) -> bool:
    """It is convex, and at most the bound at both ends."""
    return bool(cell.over.d2 >= 0) and cell.at_most(cell.upper) and cell.at_most(cell.lower)


def _slope(cell: Cell) -> bool:
    """D times the supremum of sign * h' over [lower, upper + D], a slope that rises or falls being known at one end."""
    line, sign = cell.line, cell.sign
    far = line.far(cell.upper)
    slope, rest, program = line.program(line.smooth(cell.lower, far))
    lead = slope if sign > 0 else neg(slope)
    if line.name not in symbols(rest):
        return certainly_le(mul(line.shift, lead), cell.bound)
    over = program(hull(cell.lower, far))
    extreme = over.d1 * sign
    if over.d2 >= 0 or over.d2 <= 0:
        at = far if (over.d2 >= 0) == (sign > 0) else cell.lower
        extreme = program(rational(at)).d1 * sign
    if not extreme.is_finite():
        return False
    highest = extreme.upper()
    if highest > 0:
        return bool(line.step * (constant(lead) + highest) <= cell.top)
    return certainly_le(mul(line.shift, lead), cell.bound)


def summit(cell: Cell, at: Expr) -> bool:
    """It is concave, stationary at a point of the cell in closed form, and at most the bound there: it may meet the bound.

    Raises ExprError where the loss has no derivative in closed form.
    """
    if symbols(at) or not (certainly_le(Num(cell.lower), at) and certainly_le(at, Num(cell.upper)) and cell.over.d2 <= 0):
        return False
    loss, there = cell.loss.expr, {cell.line.name: at}
    return certainly_equal(substitute(derivative(loss, cell.line.name), there), ZERO) and certainly_le(substitute(loss, there), cell.bound)


WAYS: Final[Mapping[str, Callable[[Cell], bool]]] = {
    "constant": _constant,
    "range": _range,
    "mean": _mean,
    "taylor": _taylor,
    "rising": _rising,
    "falling": _falling,
    "convex": _convex,
    "slope": _slope,
}
"""Each says that the loss is certainly at most the bound, or not."""
