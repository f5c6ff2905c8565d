"""Pieces of the line on which an exponent rises, falls or turns, and the loss between those where it turns."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from dpverify.trusted.kernel.balls import constant, rational
from dpverify.trusted.kernel.compare import certainly_equal, certainly_le
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import Expr, Num, substitute
from dpverify.trusted.numbers.asymptotics import End
from dpverify.trusted.theories.additive.axis import Line, direction, range_of
from dpverify.trusted.theories.additive.sides import end_direction

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
