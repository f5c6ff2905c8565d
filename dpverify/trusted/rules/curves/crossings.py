"""Where the loss along an axis, l(r) = h(r + D) - h(r), exceeds an epsilon: intervals whose ends are enclosed roots.

l is cut into monotone pieces once, at the roots of its slope: none where h is convex or concave, else isolated on balls up to an end
on which the sign of h'' is certain. Then every epsilon costs one root a piece, by bisection and Newton's operator.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from flint import arb, ctx

from dpverify.trusted.language.errors import ExprError, Undecided
from dpverify.trusted.language.expr import Expr, Sym, add, mul, sub, substitute
from dpverify.trusted.numbers.asymptotics import End, Germ, end_jet
from dpverify.trusted.numbers.balls import constant, rational, value
from dpverify.trusted.numbers.jets import BallProgram
from dpverify.trusted.order.convexity import Shapes

_R: Final = Sym("r")
_ENDS: Final = (4, 6, 8, 10, 14, 20, 30)
_DEPTH: Final = 60


@dataclass(frozen=True, slots=True)
class Span:
    """An interval of radii r on which lunes have a volume.

    low: where it begins. whole: below `low` the lune is a whole ball, r + s = D at it; else it is empty there, s = r + D at it.
    high: the root where s = r + D again, or None where the interval is not known to end before `known` (None: it never ends).
    """

    low: arb
    whole: bool
    high: arb | None
    known: arb | None = None


@dataclass(frozen=True, slots=True)
class _Piece:
    """An interval on which the loss rises (or is constant), or falls; the last one has no upper end."""

    low: arb
    high: arb | None
    rises: bool


class Loss:
    """The loss of a positive, increasing h at a shift D > 0, at the working precision of its making. Raises Undecided."""

    def __init__(self, h: Expr, shift: Expr, shapes: Shapes) -> None:
        expr = shapes.tidy(sub(substitute(h, {"r": add(_R, shift)}), h))
        self._loss, self._mirror = BallProgram(expr, "r"), BallProgram(sub(substitute(h, {"r": sub(shift, _R)}), h), "r")
        self._shift, shape = constant(shift), shapes.shape(h)
        at_zero = value(h, {"r": arb(0)})
        self._centre = constant(substitute(h, {"r": shift})) - at_zero if at_zero.is_finite() else None
        limit = shapes.slope_limit(h) if shape.convex or shape.concave else None
        self._limit = None if limit is None else constant(mul(limit, shift))
        if shape.concave:
            self._pieces = [_Piece(arb(0), None, False)]
        elif shape.convex:
            self._pieces = [_Piece(arb(0), None, True)]
        else:
            self._pieces = list(self._monotone(h))

    # -- monotone pieces -------------------------------------------------------------------------------

    def _monotone(self, h: Expr) -> Iterator[_Piece]:
        last, rises = _outermost(h)
        low = arb(0)
        previous: bool | None = None
        for point, after in self._turns(arb(0), rational(last), 0):
            if previous is not None and after != previous:
                yield _Piece(low, point, previous)
                low = point
            previous = after
        if previous is not None and previous != rises:
            raise Undecided("the loss along the axis turns at the end; its shape is not certain.")
        yield _Piece(low, None, rises)

    def _turns(self, low: arb, high: arb, depth: int) -> Iterator[tuple[arb, bool]]:
        """Points from which on, up to the next one, the loss certainly rises (True) or falls."""
        found = self._loss(low.union(high))
        if found.d1 > 0 or found.d1 < 0:
            yield low, bool(found.d1 > 0)
            return
        if found.d2 > 0 or found.d2 < 0:
            left, right = self._slope_sign(low), self._slope_sign(high)
            if left is not None and right is not None:
                yield low, left
                if left != right:
                    yield self._turn(low, high, left), right
                return
        if depth > _DEPTH:
            raise Undecided("where the loss along the axis rises and falls is not certain.")
        # off the middle, where a turn of round parameters may stand
        middle = ((37 * low + 36 * high) / 73).mid() if not low > 0 or not high > 4 * low else (low * high).sqrt().mid()
        yield from self._turns(low, middle, depth + 1)
        yield from self._turns(middle, high, depth + 1)

    def _slope_sign(self, at: arb) -> bool | None:
        slope = self._loss(at).d1
        return True if slope > 0 else False if slope < 0 else None

    def _turn(self, low: arb, high: arb, rises: bool) -> arb:
        for _ in range(2 * ctx.prec):
            middle = ((low + high) / 2).mid()
            found = self._slope_sign(middle)
            if found is None or not low < middle < high:
                break
            low, high = (middle, high) if found == rises else (low, middle)
        return low.union(high)

    # -- one epsilon -----------------------------------------------------------------------------------

    def spans(self, epsilon: arb) -> list[Span]:
        """The intervals of radii where the loss exceeds an exact epsilon. Raises Undecided where its enclosure touches epsilon."""
        low = self._whole_end(epsilon)
        inside, whole, found = low is not None, low is not None, list[Span]()
        start = low if low is not None else arb(0)
        for piece in self._pieces:
            if piece.high is None:
                found += self._outer(piece, epsilon, Span(start, whole, None) if inside else None)
                break
            after = _exceeds(self._loss(piece.high).v, epsilon)
            if after == inside:
                continue
            root = _root(self._loss, epsilon, piece.low.upper(), piece.high.lower(), piece.rises)
            if after:
                start, whole = root, False
            else:
                found.append(Span(start, whole, root))
            inside = after
        return found

    def _whole_end(self, epsilon: arb) -> arb | None:
        """The root of r + s = D, below which the lune is a whole ball; None where there is none."""
        if self._centre is not None and not _exceeds(self._centre, epsilon):
            return None
        half = self._shift / 2
        if epsilon == 0:
            return half
        power, last = 1, 4 * ctx.prec
        while power <= last:
            low = (half.mid() * arb(2) ** -power).mid()
            if self._mirror(low).v > epsilon:
                return _root(self._mirror, epsilon, low, half.upper(), False)
            power = min(2 * power, last) if power < last else last + 1
        if self._mirror(low).v <= epsilon:
            return low.union(arb(0))
        raise Undecided("the radius below which lunes are whole balls is too small to enclose.")

    def _outer(self, piece: _Piece, epsilon: arb, open_span: Span | None) -> list[Span]:
        """What the last piece adds: the span that is open at its start, or one that begins in it."""
        inside = open_span is not None
        if piece.rises == inside:
            return [open_span] if open_span is not None else []
        if self._limit is not None and ((self._limit >= epsilon) if inside else (self._limit <= epsilon)):
            return [open_span] if open_span is not None else []
        low, step = piece.low.upper(), self._shift.mid()
        for _ in range(ctx.prec // 2):
            high = (low + step).mid()
            loss = self._loss(high).v
            if (loss < epsilon) if inside else (loss > epsilon):
                root = _root(self._loss, epsilon, low, high, piece.rises)
                return [Span(open_span.low, open_span.whole, root)] if open_span is not None else [Span(root, False, None)]
            if not ((loss > epsilon) if inside else (loss < epsilon)):
                break
            low, step = high, 2 * step
        if open_span is None:
            raise Undecided("where the loss along the axis first exceeds epsilon is not certain.")
        return [Span(open_span.low, open_span.whole, None, low)]


def _outermost(h: Expr) -> tuple[Fraction, bool]:
    """A radius beyond which h'' has one sign, and whether it is positive."""
    for k in _ENDS:
        try:
            bend: Germ = end_jet(h, "r", End("+inf", Fraction(2) ** k)).d2
        except (Undecided, ExprError):
            continue
        if bend.k.lo > 0 or bend.k.hi < 0:
            return Fraction(2) ** k, bool(bend.k.lo > 0)
    raise Undecided("whether -log(profile) is convex or concave far out is not certain.")


def _exceeds(loss: arb, epsilon: arb) -> bool:
    """Whether a loss is certainly above epsilon, or certainly not. Raises Undecided between."""
    if loss > epsilon:
        return True
    if loss <= epsilon:
        return False
    raise Undecided("the enclosure of a loss touches epsilon.")


def _root(f: BallProgram, level: arb, low: arb, high: arb, rises: bool) -> arb:
    """The root of f = level between exact points, f monotone there and on either side of the level at them."""
    power = 1
    for _ in range(2 * ctx.prec):
        box = low.union(high)
        # halving in the exponent: a root may be at a radius of any order, below every one that is tried from 0
        if low > 0:
            middle = ((low * high).sqrt() if high > 4 * low else (low + high) / 2).mid()
        else:
            middle, power = (high * arb(2) ** -power).mid(), 2 * power
            if power > 8 * ctx.prec:
                return low.union(high)
        at = f(middle).v - level
        found = middle - at / f(box).d1
        if found.is_finite() and box.contains(found):
            return _refined(f, level, found)
        above = at > 0
        if not (above or at < 0):
            break
        low, high = (low, middle) if bool(above) == rises else (middle, high)
    else:
        return low.union(high)
    raise Undecided("where the loss along the axis crosses epsilon is not certain.")


def _refined(f: BallProgram, level: arb, box: arb) -> arb:
    """Newton's operator while it gains."""
    while True:
        middle = box.mid()
        found = middle - (f(middle).v - level) / f(box).d1
        if not (found.is_finite() and 2 * found.rad() < box.rad()):
            return box
        box = found
