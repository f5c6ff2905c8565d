"""The supremum rule for additive noise: one dimension is enough, for every norm.

With h = -log(density), the loss between answers at distance at most D is h(b) - h(a), |a - b| <= D.
Let the line (or half line) be cut into pieces on which h rises, falls, or which are small enough to
be bounded as a whole ("turns"). Move b uphill and a downhill: the loss does not fall until |a - b| = D
or until both stand in turns. So the supremum is at most the greatest of

    sup over c of h(c + D) - h(c),   sup over c of h(c) - h(c + D),   and h(turn) - h(turn') for turns within D.

Each is proved on cells (balls, mean-value forms, tangents) and on the ends of the line (germs). For
noise of density g(||y - q||) in any norm, a = ||y - q| and b = ||y - q'|| obey |a - b| <= D by the
triangle inequality, and every such pair occurs: theory#two-argument-modulus.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, Final

from dpverify.trusted.facts.bounds import Bound
from dpverify.trusted.language.errors import CertificateError, ExprError, Rejected, Undecided
from dpverify.trusted.language.expr import Expr, Num, parse, substitute, symbols
from dpverify.trusted.language.model import Claim, Source
from dpverify.trusted.language.rationals import to_fraction
from dpverify.trusted.numbers.asymptotics import End
from dpverify.trusted.numbers.balls import constant, rational
from dpverify.trusted.order.compare import certainly_equal, certainly_le
from dpverify.trusted.rules.additive.axis import Line, direction, range_of
from dpverify.trusted.rules.additive.cells import WAYS, Cell, summit
from dpverify.trusted.rules.additive.sides import Period, Side, check_side, end_direction, read_side, start_holds

NAME: Final = "modulus"
STATEMENT: Final = (
    "Noise of density exp(-h) of a norm of the distance (or of the difference, in one dimension) has tight epsilon at most "
    "sup { h(b) - h(a) : |a - b| <= D }, D the sensitivity over the scale; the supremum is taken along h(c + D) - h(c), "
    "h(c) - h(c + D), and between the turning points of h."
)
CHECKED: Final = (
    "h rises, falls or turns on each piece, is continuous or jumps the same way between them, and they cover the whole line",
    "the loss is at most the bound on each cell, and the cells cover the line between the ends",
    "the loss is at most the bound on each end",
    "the loss between turning pieces within the sensitivity is at most the bound",
    "the density is integrable at each end",
)
ASSUMED: Final = ("the sampler is ideal",)
SOURCE: Final = Source("docs/theory/additive.md#modulus", "Reimherr & Awan 2019, Theorem 3; Hardt & Talwar 2010, Theorem 4.3")

MAX_CELLS: Final = 20_000


def check(claim: Claim, evidence: Mapping[str, Any]) -> Bound:
    """Check the cells, ends, turns and integrability, and return the upper bound that the evidence names."""
    line = Line.of(claim, evidence)
    try:
        bound = parse(str(evidence["bound"]))
        far = read_side(evidence["far"], 1, line)
        near = read_side(evidence["near"], -1, line) if evidence.get("near") is not None else None
        pieces = [(to_fraction(cut, NAME), str(kind)) for cut, kind in evidence["pieces"]]
    except (KeyError, TypeError, ValueError, ExprError) as error:
        raise CertificateError(f"{NAME}: the evidence cannot be read: {error}") from error
    if near is None and not line.half:
        raise Rejected(NAME, "ends", "an infinite side of the line is not accounted for")
    if symbols(bound):
        raise Rejected(NAME, "bound", "it has free symbols")
    if not line.step >= 0:
        raise Rejected(NAME, "sensitivity", "it is not certainly non-negative")
    for side in (near, far):
        if side is not None:
            check_side(line, side, bound)
    rising_only = check_pieces(line, near, far, pieces, bound)
    first = Fraction(0) if near is None else near.boundary()
    for sign, key in ((1, "rise"),) if rising_only else ((1, "rise"), (-1, "fall")):
        if isinstance(near, End) and near.side == "right" and not start_holds(line, near, bound, sign):
            raise Rejected(NAME, "0", "the loss is not certainly below the bound near 0; start the end closer to 0")
        if isinstance(near, Period):
            first = near.start - near.length
        _check_cells(line, evidence.get(key), bound, sign, first, far.boundary())
    return Bound("upper", bound)


@dataclass(frozen=True, slots=True)
class Segment:
    """An interval on which h does not fall (direction 1), does not rise (-1), or is bounded as a whole (0); None is an infinite end."""

    lower: Fraction | None
    upper: Fraction | None
    direction: int


def check_pieces(line: Line, near: Side | None, far: Side, pieces: Sequence[tuple[Fraction, str]], bound: Expr) -> bool:
    """Check directions, joints and turns; True where h never falls, so that only h(c + D) - h(c) matters."""
    first, last = Fraction(0) if near is None else near.boundary(), far.boundary()
    if not pieces or pieces[0][0] != first or not first < last or len(pieces) > MAX_CELLS:
        raise Rejected(NAME, "pieces", f"they must cover [{first}, {last}], with at most {MAX_CELLS} of them")
    cuts = [cut for cut, _ in pieces] + [last]
    segments = [_segment(line, cut, upper, kind) for (cut, kind), upper in zip(pieces, cuts[1:], strict=True)]
    if isinstance(near, End):
        sign = end_direction(line, near)
        if sign == 0 or (near.side == "-inf" and sign > 0):
            raise Rejected(NAME, near.side, "h is not certainly monotone in the right sense on this end")
        segments.insert(0, Segment(Fraction(0) if line.half else None, first, sign))
    if isinstance(far, End):
        if end_direction(line, far) != 1:
            raise Rejected(NAME, "+inf", "h does not certainly rise on this end")
        segments.append(Segment(last, None, 1))
    for side in (near, far):
        if isinstance(side, Period) and any(each.direction != side.outward for each in segments if _past(each, side)):
            raise Rejected(NAME, f"past {side.start}", "h must rise outward on the repeating side")
    turns = [(each.lower, each.upper, line.smooth(each.lower, each.upper)) for each in segments if each.direction == 0]
    turns += _joints(line, segments)
    if line.half:
        turns.append((Fraction(0), Fraction(0), line.smooth(segments[0].lower, segments[0].upper)))
    _check_turns(line, [(low, high, h) for low, high, h in turns if low is not None and high is not None], bound)
    return all(each.direction == 1 for each in segments)


def _segment(line: Line, lower: Fraction, upper: Fraction, kind: str) -> Segment:
    """A piece with the direction that it is said to have, checked."""
    if not lower < upper:
        raise Rejected(NAME, lower, "the pieces do not go forward")
    if kind == "turn":
        return Segment(lower, upper, 0)
    sign = direction(line, lower, upper, 1 if kind == "up" else -1)
    if sign == 0 or (kind == "up") != (sign > 0):
        raise Rejected(NAME, f"[{lower}, {upper}]", f"h is not certainly going {kind} here; split the piece or mark it as a turn")
    return Segment(lower, upper, sign)


def _past(segment: Segment, side: Period) -> bool:
    """Whether a piece reaches beyond the start of a repeating side."""
    if segment.lower is None or segment.upper is None:
        return False
    return segment.upper > side.start if side.outward > 0 else segment.lower < side.start


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
                raise Rejected(NAME, cut, "h may jump here against the direction that its pieces go")
        if before.direction * after.direction < 0:
            yield cut, cut, right


def _check_turns(line: Line, turns: Sequence[tuple[Fraction, Fraction, Expr]], bound: Expr) -> None:
    step, top = line.step, constant(bound)
    if len(turns) == 1 and turns[0][0] == turns[0][1] and top >= 0:
        return  # the loss from a point to itself is 0
    values = [range_of(line, *turn) for turn in turns]
    for (b_low, b_high, _), up in zip(turns, values, strict=True):
        for (a_low, a_high, _), down in zip(turns, values, strict=True):
            gap = max(a_low - b_high, b_low - a_high, Fraction(0))
            if rational(gap) > step or (up is down and b_low == b_high and top >= 0):
                continue
            if not up.upper() - down.lower() <= top:
                raise Rejected(NAME, f"turns at {b_low} and {a_low}", "the loss between them is not certainly below the bound")


def _way(cell: Sequence[Any]) -> tuple[Callable[[Cell], bool], list[Fraction]]:
    """The way that a cell names, and the point for it: a rational, or for "summit" a closed form."""
    if cell[1] == "summit":
        return partial(summit, at=parse(str(cell[2]))), []
    return WAYS[cell[1]], [to_fraction(at, NAME) for at in cell[2:]]


def _check_cells(line: Line, evidence: Any, bound: Expr, sign: int, first: Fraction, last: Fraction) -> None:
    """Check that the loss is at most the bound on each cell, each in the way that it names, and that the cells reach both ends."""
    try:
        read = [(to_fraction(cell[0], NAME), *_way(cell)) for cell in evidence["cells"]]
        stop = to_fraction(evidence["stop"], NAME)
    except (LookupError, TypeError, ValueError, ExprError) as error:
        raise CertificateError(f"{NAME}: the cells cannot be read: {error}") from error
    if not read or len(read) > MAX_CELLS:
        raise Rejected(NAME, "cells", f"between 1 and {MAX_CELLS} are wanted")
    begins = rational(read[0][0])
    covered = begins <= rational(first) if line.half else begins + line.step <= rational(first)
    if not covered or stop < last:
        raise Rejected(NAME, "cells", "they do not reach both ends")
    uppers = [*(lower for lower, _, _ in read[1:]), stop]
    for (lower, holds, points), upper in zip(read, uppers, strict=True):
        point = points[0] if points else (lower + upper) / 2
        if not lower < upper or not lower <= point <= upper:
            raise Rejected(NAME, lower, "the cells do not go forward, or a tangent point lies outside its cell")
        try:
            held = holds(Cell(line, lower, upper, sign, bound, point))
        except (Undecided, ExprError) as error:
            raise Rejected(NAME, f"[{lower}, {upper}]", str(error)) from error
        if not held:
            raise Rejected(NAME, f"[{lower}, {upper}]", "the loss is not certainly below the bound here; split the cell")
