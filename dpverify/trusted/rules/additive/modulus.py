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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from flint import arb

from dpverify.trusted.facts.bounds import Bound
from dpverify.trusted.language.errors import CertificateError, ExprError, Rejected, Undecided
from dpverify.trusted.language.expr import (
    ONE,
    ZERO,
    Call,
    Expr,
    Num,
    Sym,
    add,
    children,
    div,
    linear_part,
    mul,
    neg,
    parse,
    sub,
    substitute,
    symbols,
)
from dpverify.trusted.language.logarithms import neg_log_profile
from dpverify.trusted.language.model import Claim, Radial, Source, Translation
from dpverify.trusted.language.rationals import to_fraction
from dpverify.trusted.numbers.asymptotics import End, Germ, end_jet
from dpverify.trusted.numbers.balls import constant, exact, hull, rational
from dpverify.trusted.numbers.jets import BallProgram, Jet
from dpverify.trusted.numbers.kinks import resolve
from dpverify.trusted.numbers.periods import quasi_period
from dpverify.trusted.numbers.quotients import divided
from dpverify.trusted.numbers.series import without_removable
from dpverify.trusted.order.compare import certainly_equal, certainly_le
from dpverify.trusted.order.convexity import Shapes
from dpverify.trusted.order.sensitivity import sensitivity_bounds
from dpverify.trusted.rules.additive.additive import is_natural

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


class Loss:
    """sign * (h(c + D) - h(c)) where the kinks of both terms are decided, linear parts cancelled exactly."""

    __slots__ = ("_far", "_near", "_offset", "_shift", "_sign", "_slope", "expr", "name")

    def __init__(self, line: Line, near: Expr, far: Expr, sign: int) -> None:
        name = self.name = line.name
        near_slope, near_rest = linear_part(near, name)
        far_slope, far_rest = linear_part(far, name)
        slope, offset = sub(far_slope, near_slope), mul(far_slope, line.shift)
        moved = substitute(far_rest, {name: add(Sym(name), line.shift)})
        difference = add(mul(slope, Sym(name)), offset, moved, neg(near_rest))
        self.expr = difference if sign > 0 else neg(difference)
        self._near, self._far = BallProgram(near_rest, name), BallProgram(far_rest, name)
        self._shift, self._slope, self._offset, self._sign = constant(line.shift), constant(slope), constant(offset), sign

    def jet(self, at: arb) -> Jet:
        """The loss and two derivatives over a ball of c."""
        far, near, sign = self._far(at + self._shift), self._near(at), self._sign
        v, d1, d2 = far.v - near.v + self._slope * at + self._offset, far.d1 - near.d1 + self._slope, far.d2 - near.d2
        return Jet(v, d1, d2) if sign > 0 else Jet(-v, -d1, -d2)

    def is_constant(self) -> bool:
        """Whether c has cancelled."""
        return self.name not in symbols(self.expr)

    def at_most(self, point: Fraction, bound: Expr, top: arb) -> bool:
        """Whether the loss at a point is certainly at most the bound: by balls, or exactly."""
        if self.jet(rational(point)).v <= top:
            return True
        return certainly_le(substitute(self.expr, {self.name: Num(point)}), bound)


class Line:
    """Additive noise on a line: h in `name`, on [0, inf) when `half`, with shift D and the dimension for integrability."""

    __slots__ = ("_losses", "_programs", "_slopes", "_smooth", "dimension", "h", "half", "name", "shift", "step")

    def __init__(self, h: Expr, name: str, half: bool, shift: Expr, dimension: Expr) -> None:
        self.h, self.name, self.half, self.shift, self.dimension = h, name, half, shift, dimension
        self.step = constant(shift)
        self._smooth = not _has_kinks(h)
        self._losses: dict[tuple[Expr, Expr, int] | int, Loss] = {}
        self._programs: dict[Expr | None, tuple[Expr, Expr, BallProgram]] = {}
        self._slopes: dict[End, tuple[Expr, Germ]] = {}

    @staticmethod
    def of(claim: Claim, evidence: Mapping[str, Any]) -> Line:
        """The line of a claim. Raises Rejected for another kind, for parameters, or for bounded supports."""
        noise = claim.mechanism
        if claim.domains:
            raise Rejected(NAME, "the claim", "its parameters range over domains; this rule wants their values")
        if isinstance(noise, Radial):
            delta = sensitivity_bounds(claim, evidence.get("sensitivity")).upper
            if not is_natural(noise.dimension, claim):
                raise Rejected(NAME, "the dimension", "it is not certainly an integer of at least 1")
            if not constant(noise.scale) > 0:
                raise Rejected(NAME, "scale", "it is not certainly positive")
            h = without_removable(divided(resolve(neg_log_profile(noise), "r", Fraction(0), None), "r"), "r")
            return Line(h, "r", True, div(delta, noise.scale), noise.dimension)
        if isinstance(noise, Translation) and not noise.integers and noise.support == (None, None):
            return Line(divided(neg_log_profile(noise), "z"), "z", False, sensitivity_bounds(claim, None).upper, ONE)
        raise Rejected(NAME, "the claim", "it wants radial noise, or noise on the whole line")

    def smooth(self, lower: Fraction | None, upper: Fraction | None) -> Expr:
        """h on an open interval with its kinks decided."""
        return self.h if self._smooth else resolve(self.h, self.name, lower, upper)

    def far(self, upper: Fraction) -> Fraction:
        """A rational at or just above upper + D."""
        return upper + (self.shift.value if isinstance(self.shift, Num) else exact(self.step.upper()))

    def near(self, lower: Fraction) -> Fraction:
        """A rational at or just below lower + D."""
        return lower + (self.shift.value if isinstance(self.shift, Num) else exact(self.step.lower()))

    def loss(self, lower: Fraction, upper: Fraction, sign: int) -> Loss:
        """sign * (h(c + D) - h(c)) for c in the open interval."""
        if self._smooth:  # one loss for the whole line
            if sign not in self._losses:
                self._losses[sign] = Loss(self, self.h, self.h, sign)
            return self._losses[sign]
        key = (self.smooth(lower, upper), self.smooth(self.near(lower), self.far(upper)), sign)
        if key not in self._losses:
            self._losses[key] = Loss(self, *key)
        return self._losses[key]

    def program(self, smooth: Expr) -> tuple[Expr, Expr, BallProgram]:
        """The linear slope of a smooth piece of h, the rest, and the rest compiled."""
        key = None if self._smooth else smooth
        if key not in self._programs:
            slope, rest = linear_part(smooth, self.name)
            self._programs[key] = (slope, rest, BallProgram(rest, self.name))
        return self._programs[key]

    def slope_at(self, end: End) -> tuple[Expr, Germ]:
        """The linear slope of h on an end, and the germ of the slope of the rest."""
        if end not in self._slopes:
            near = end.boundary()
            sides = {"+inf": (near, None), "-inf": (None, near), "right": (end.point, near), "left": (near, end.point)}
            slope, rest = linear_part(self.smooth(*sides[end.side]), self.name)
            self._slopes[end] = slope, end_jet(rest, self.name, end).d1
        return self._slopes[end]

    def whole_slope_at(self, end: End) -> Germ:
        """The germ of the slope of h on an end."""
        slope, rest = self.slope_at(end)
        return rest.constant(constant(slope)) + rest

    def jet(self, smooth: Expr, at: arb) -> Jet:
        """A smooth piece of h and two derivatives over a ball."""
        slope, _, rest = self.program(smooth)
        found, rate = rest(at), constant(slope)
        return Jet(found.v + rate * at, found.d1 + rate, found.d2)


def _has_kinks(expr: Expr) -> bool:
    return (isinstance(expr, Call) and expr.name in ("abs", "min", "max", "floor")) or any(map(_has_kinks, children(expr)))


def direction(line: Line, lower: Fraction, upper: Fraction, flat: int = 1) -> int:
    """1 where h certainly never falls on [lower, upper], -1 where it never rises, `flat` where it is constant, 0 where none is certain."""
    smooth = line.smooth(lower, upper)
    over = line.jet(smooth, hull(lower, upper))
    if not over.v.is_finite():
        return 0
    if over.d1 == 0:
        return flat
    if over.d1 >= 0:
        return 1
    if over.d1 <= 0:
        return -1
    # a derivative that is monotone has its sign from one end
    if over.d2 >= 0:
        if line.jet(smooth, rational(lower)).d1 >= 0:
            return 1
        if line.jet(smooth, rational(upper)).d1 <= 0:
            return -1
    if over.d2 <= 0:
        if line.jet(smooth, rational(upper)).d1 >= 0:
            return 1
        if line.jet(smooth, rational(lower)).d1 <= 0:
            return -1
    return 0


def cell_holds(line: Line, lower: Fraction, upper: Fraction, bound: Expr, middle: Fraction, sign: int) -> bool:
    """Whether the loss is certainly at most the bound on [lower, upper].

    By its range, by the mean value or a tangent at `middle`, by rising, falling or being convex towards an end where it is known
    exactly, or by D times the slope of h. `middle` lies in the cell.
    """
    loss, top = line.loss(lower, upper, sign), constant(bound)
    if loss.is_constant():
        return certainly_le(loss.expr, bound)
    over = loss.jet(hull(lower, upper))
    if over.v <= top:
        return True
    at = rational(middle)
    left, right = rational(lower) - at, rational(upper) - at
    if over.d2.is_finite():
        point = loss.jet(at)
        if point.v + over.d1 * hull(left, right) <= top:
            return True
        if over.d2 <= 0 and point.v + (point.d1 * left).max(point.d1 * right) <= top:
            return True
        # second-order Taylor form, the square taken whole
        bend = over.d2.upper() / 2 * left.abs_upper().max(right.abs_upper()) ** 2
        if point.v + (point.d1 * left).max(point.d1 * right) + bend.max(arb(0)) <= top:
            return True
    elif over.d1.is_finite() and loss.jet(at).v + over.d1 * hull(left, right) <= top:
        return True
    if (over.d1 >= 0 or (over.d2 <= 0 and loss.jet(rational(upper)).d1 >= 0)) and loss.at_most(upper, bound, top):
        return True
    if (over.d1 <= 0 or (over.d2 <= 0 and loss.jet(rational(lower)).d1 <= 0)) and loss.at_most(lower, bound, top):
        return True
    if over.d2 >= 0 and loss.at_most(upper, bound, top) and loss.at_most(lower, bound, top):
        return True
    return slope_holds(line, lower, upper, bound, sign)


def slope_holds(line: Line, lower: Fraction, upper: Fraction, bound: Expr, sign: int) -> bool:
    """Whether D * sup(sign * h') over [lower, upper + D] is at most the bound; a slope that rises or falls is known at one end."""
    far = line.far(upper)
    slope, rest, program = line.program(line.smooth(lower, far))
    lead = slope if sign > 0 else neg(slope)
    if line.name not in symbols(rest):
        return certainly_le(mul(line.shift, lead), bound)
    over = program(hull(lower, far))
    extreme = over.d1 * sign
    if over.d2 >= 0 or over.d2 <= 0:
        at = far if (over.d2 >= 0) == (sign > 0) else lower
        extreme = program(rational(at)).d1 * sign
    if not extreme.is_finite():
        return False
    highest = extreme.upper()
    if highest > 0:
        return bool(line.step * (constant(lead) + highest) <= constant(bound))
    return certainly_le(mul(line.shift, lead), bound)


def end_direction(line: Line, end: End) -> int:
    """1 or -1 where h certainly never falls or never rises on the end, else 0."""
    slope = line.whole_slope_at(end).k
    return 1 if slope.lo >= 0 else -1 if slope.hi <= 0 else 0


def end_integrable(line: Line, end: End) -> bool:
    """Whether the density certainly has finite mass on the end: x h'(x) stays above the dimension far out, below it near 0."""
    dimension = constant(line.dimension)
    slope = line.whole_slope_at(end)
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
    found = end_jet(loss.expr, line.name, end)
    if found.v.bounds().hi <= top:
        return True
    start = Shapes(line.name, True, {}).at_zero(loss.expr)  # the limit: c*besselk(1, c) tends to 1, not to 0
    return bool(found.d1.k.hi <= 0) and start is not None and certainly_le(start, bound)


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
            _check_side(line, side, bound)
    rising_only = check_pieces(line, near, far, pieces, bound)
    first = Fraction(0) if near is None else near.boundary()
    for sign, key in ((1, "rise"),) if rising_only else ((1, "rise"), (-1, "fall")):
        if isinstance(near, End) and near.side == "right" and not start_holds(line, near, bound, sign):
            raise Rejected(NAME, "0", "the loss is not certainly below the bound near 0; start the end closer to 0")
        if isinstance(near, Period):
            first = near.start - near.length
        _check_cells(line, evidence.get(key), bound, sign, first, far.boundary())
    return Bound("upper", bound)


def read_side(data: Any, outward: int, line: Line) -> Side:
    """An end by its start, or a repeating side {"start": ..., "period": ...}."""
    if isinstance(data, Mapping):
        start, length = to_fraction(data["start"], NAME), to_fraction(data["period"], NAME)
        if not length > 0 or (line.half and (outward < 0 or start < 0)):
            raise Rejected(NAME, "period", "it must be positive, and outward of the line")
        return Period(start, length, outward)
    start = to_fraction(data, NAME)
    return End("+inf" if outward > 0 else "right" if line.half else "-inf", start)


def _check_side(line: Line, side: Side, bound: Expr) -> None:
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


def check_pieces(line: Line, near: Side | None, far: Side, pieces: Sequence[tuple[Fraction, str]], bound: Expr) -> bool:
    """Check directions, joints and turns; True where h never falls, so that only h(c + D) - h(c) matters."""
    first = Fraction(0) if near is None else near.boundary()
    last = far.boundary()
    if not pieces or pieces[0][0] != first or not first < last or len(pieces) > MAX_CELLS:
        raise Rejected(NAME, "pieces", f"they must cover [{first}, {last}], with at most {MAX_CELLS} of them")
    cuts = [cut for cut, _ in pieces] + [last]
    segments: list[tuple[Fraction | None, Fraction | None, int]] = []
    turns: list[tuple[Fraction, Fraction, Expr]] = []
    if isinstance(near, End):
        sign = end_direction(line, near)
        if sign == 0 or (near.side == "-inf" and sign > 0):
            raise Rejected(NAME, near.side, "h is not certainly monotone in the right sense on this end")
        segments.append((Fraction(0) if line.half else None, first, sign))
    for (cut, kind), upper in zip(pieces, cuts[1:], strict=True):
        if not cut < upper:
            raise Rejected(NAME, cut, "the pieces do not go forward")
        sign = 0 if kind == "turn" else direction(line, cut, upper, 1 if kind == "up" else -1)
        if kind == "turn":
            turns.append((cut, upper, line.smooth(cut, upper)))
        elif sign == 0 or (kind == "up") != (sign > 0):
            raise Rejected(NAME, f"[{cut}, {upper}]", f"h is not certainly going {kind} here; split the piece or mark it as a turn")
        segments.append((cut, upper, sign))
    if isinstance(far, End):
        if end_direction(line, far) != 1:
            raise Rejected(NAME, "+inf", "h does not certainly rise on this end")
        segments.append((last, None, 1))
    for side in (near, far):
        if isinstance(side, Period) and any(
            sign != side.outward
            for low, high, sign in segments
            if low is not None and high is not None and (high > side.start if side.outward > 0 else low < side.start)
        ):
            raise Rejected(NAME, f"past {side.start}", "h must rise outward on the repeating side")
    turns += _joints(line, segments)
    if line.half:
        low, high, _ = segments[0]
        turns.append((Fraction(0), Fraction(0), line.smooth(low, high)))
    _check_turns(line, turns, bound)
    return all(sign == 1 for _, _, sign in segments)


def _joints(line: Line, segments: Sequence[tuple[Fraction | None, Fraction | None, int]]) -> Iterator[tuple[Fraction, Fraction, Expr]]:
    """Check that h is continuous where segments meet, or jumps the way both go; yield the points where it turns."""
    for (low, cut, before), (_, high, after) in itertools.pairwise(segments):
        assert cut is not None
        left, right = line.smooth(low, cut), line.smooth(cut, high)
        if left != right:
            from_left, from_right = (substitute(side, {line.name: Num(cut)}) for side in (left, right))
            jump_up = before == after == 1 and certainly_le(from_left, from_right)
            jump_down = before == after == -1 and certainly_le(from_right, from_left)
            if not (jump_up or jump_down or certainly_equal(from_left, from_right)):
                raise Rejected(NAME, cut, "h may jump here against the direction that its pieces go")
        if before * after < 0:
            yield cut, cut, right


def _check_turns(line: Line, turns: Sequence[tuple[Fraction, Fraction, Expr]], bound: Expr) -> None:
    step, top = line.step, constant(bound)
    if len(turns) == 1 and turns[0][0] == turns[0][1] and top >= 0:
        return  # the loss from a point to itself is 0
    values = [_range(line, *turn) for turn in turns]
    for (b_low, b_high, _), up in zip(turns, values, strict=True):
        for (a_low, a_high, _), down in zip(turns, values, strict=True):
            gap = max(a_low - b_high, b_low - a_high, Fraction(0))
            if rational(gap) > step or (up is down and b_low == b_high and top >= 0):
                continue
            if not up.upper() - down.lower() <= top:
                raise Rejected(NAME, f"turns at {b_low} and {a_low}", "the loss between them is not certainly below the bound")


def _range(line: Line, lower: Fraction, upper: Fraction, smooth: Expr) -> arb:
    """An enclosure of a piece of h over a small interval, by the mean value where that is better."""
    if lower == upper:
        exact: arb = line.jet(smooth, rational(lower)).v
        return exact
    middle, cell = rational((lower + upper) / 2), hull(lower, upper)
    over = line.jet(smooth, cell)
    centred: arb = line.jet(smooth, middle).v + over.d1 * (cell - middle)
    if centred.is_finite() and centred.rad() < over.v.rad():
        return centred
    plain: arb = over.v
    return plain


def _check_cells(line: Line, cells: Any, bound: Expr, sign: int, first: Fraction, last: Fraction) -> None:
    try:
        read = [(to_fraction(cut, NAME), None if at is None else to_fraction(at, NAME)) for cut, at in cells["cells"]]
        stop = to_fraction(cells["stop"], NAME)
    except (KeyError, TypeError, ValueError) as error:
        raise CertificateError(f"{NAME}: the cells cannot be read: {error}") from error
    if not read or len(read) > MAX_CELLS:
        raise Rejected(NAME, "cells", f"between 1 and {MAX_CELLS} are wanted")
    begins = rational(read[0][0])
    covered = begins <= rational(first) if line.half else begins + line.step <= rational(first)
    if not covered or stop < last:
        raise Rejected(NAME, "cells", "they do not reach both ends")
    for i, (lower, at) in enumerate(read):
        upper = read[i + 1][0] if i + 1 < len(read) else stop
        middle = (lower + upper) / 2 if at is None else at
        if not lower < upper or not lower <= middle <= upper:
            raise Rejected(NAME, lower, "the cells do not go forward, or a tangent point lies outside its cell")
        try:
            held = cell_holds(line, lower, upper, bound, middle, sign)
        except Undecided as error:
            raise Rejected(NAME, f"[{lower}, {upper}]", str(error)) from error
        if not held:
            raise Rejected(NAME, f"[{lower}, {upper}]", "the loss is not certainly below the bound here; split the cell")
