"""How the loss on a cell is shown to be at most a bound: by its range, at a point inside, at the ends of the cell, or by the slope of h.

Then pieces of the line on which h rises, falls or turns, and the loss between those where it turns.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Final

from flint import arb

from dpverify.trusted.kernel.balls import constant, hull, rational
from dpverify.trusted.kernel.compare import certainly_equal, certainly_le
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import ZERO, Expr, Num, mul, neg, substitute, symbols
from dpverify.trusted.language.derivatives import derivative
from dpverify.trusted.numbers.asymptotics import End
from dpverify.trusted.numbers.jets import Jet
from dpverify.trusted.theories.additive.axis import Line, Loss, direction, range_of
from dpverify.trusted.theories.additive.sides import end_direction


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


def _monotone(side: int, cell: Cell) -> bool:
    """It does not fall (side 1) or does not rise (-1), and is at most the bound at the upper or the lower end."""
    over, end = cell.over, cell.upper if side > 0 else cell.lower
    goes = side * over.d1 >= 0 or (over.d2 <= 0 and side * cell.loss.jet(rational(end)).d1 >= 0)
    return bool(goes) and cell.at_most(end)


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
    "constant": _constant, "range": _range, "mean": _mean, "taylor": _taylor,
    "rising": partial(_monotone, 1), "falling": partial(_monotone, -1), "slope": _slope,
}  # fmt: skip
"""Each says that the loss is certainly at most the bound, or not."""


RULE: Final = "modulus"

MAX_CELLS: Final = 20_000


@dataclass(frozen=True, slots=True)
class Segment:
    """An interval on which h does not fall (direction 1), does not rise (-1), or is bounded as a whole (0); None is an infinite end."""

    lower: Fraction | None
    upper: Fraction | None
    direction: int


def check_pieces(line: Line, near: End | None, far: End, pieces: Sequence[tuple[Fraction, str]], bound: Expr) -> bool:
    """Check directions, joints and turns; True where h never falls, so that only h(c + D) - h(c) matters."""
    first, last = Fraction(0) if near is None else near.boundary(), far.boundary()
    if not pieces or pieces[0][0] != first or not first < last or len(pieces) > MAX_CELLS:
        raise Rejected(RULE, "pieces", f"they must cover [{first}, {last}], with at most {MAX_CELLS} of them")
    cuts = [cut for cut, _ in pieces] + [last]
    segments = [_segment(line, cut, upper, kind) for (cut, kind), upper in zip(pieces, cuts[1:], strict=True)]
    if near is not None:
        sign = end_direction(line, near)
        if sign == 0 or (near.side == "-inf" and sign > 0):
            raise Rejected(RULE, near.side, "h is not certainly monotone in the right sense on this end")
        segments.insert(0, Segment(Fraction(0) if line.half else None, first, sign))
    require(end_direction(line, far) == 1, Rejected(RULE, "+inf", "h does not certainly rise on this end"))
    segments.append(Segment(last, None, 1))
    turns = [(each.lower, each.upper, line.smooth(each.lower, each.upper)) for each in segments if each.direction == 0]
    turns += _joints(line, segments)
    if line.half:
        turns.append((Fraction(0), Fraction(0), line.smooth(segments[0].lower, segments[0].upper)))
    _check_turns(line, [(low, high, h) for low, high, h in turns if low is not None and high is not None], bound)
    return all(each.direction == 1 for each in segments)


def _segment(line: Line, lower: Fraction, upper: Fraction, kind: str) -> Segment:
    """A piece with the direction that it is said to have, checked."""
    require(lower < upper, Rejected(RULE, lower, "the pieces do not go forward"))
    if kind == "turn":
        return Segment(lower, upper, 0)
    sign = direction(line, lower, upper, 1 if kind == "up" else -1)
    if sign == 0 or (kind == "up") != (sign > 0):
        raise Rejected(RULE, f"[{lower}, {upper}]", f"h is not certainly going {kind} here; split the piece or mark it as a turn")
    return Segment(lower, upper, sign)


def _joints(line: Line, segments: Sequence[Segment]) -> Iterator[tuple[Fraction, Fraction, Expr]]:
    """Check that h is continuous where segments meet, or jumps the way both go; yield the points where it turns."""
    for before, after in itertools.pairwise(segments):
        cut = after.lower
        assert cut is not None
        left, right = line.smooth(before.lower, cut), line.smooth(cut, after.upper)
        if left != right:
            from_left, from_right = (substitute(side, {line.name: Num(cut)}) for side in (left, right))
            jump_up = before.direction == after.direction == 1 and certainly_le(from_left, from_right)
            jump_down = before.direction == after.direction == -1 and certainly_le(from_right, from_left)
            if not (jump_up or jump_down or certainly_equal(from_left, from_right)):
                raise Rejected(RULE, cut, "h may jump here against the direction that its pieces go")
        if before.direction * after.direction < 0:
            yield cut, cut, right


def _check_turns(line: Line, turns: Sequence[tuple[Fraction, Fraction, Expr]], bound: Expr) -> None:
    step, top = line.step, constant(bound)
    values = [range_of(line, *turn) for turn in turns]
    for (b_low, b_high, _), up in zip(turns, values, strict=True):
        for (a_low, a_high, _), down in zip(turns, values, strict=True):
            gap = max(a_low - b_high, b_low - a_high, Fraction(0))
            if rational(gap) > step or (up is down and b_low == b_high and top >= 0):
                continue  # the loss from a point to itself is 0
            if not up.upper() - down.lower() <= top:
                raise Rejected(RULE, f"turns at {b_low} and {a_low}", "the loss between them is not certainly below the bound")
