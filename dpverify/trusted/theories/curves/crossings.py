"""Where the loss along an axis, l(r) = h(r + D) - h(r), exceeds an epsilon: intervals whose ends are enclosed roots.

l is cut into monotone pieces once: one where h is convex or concave, else those between cuts that are given, up to an end on which the
sign of h'' is certain. Then every epsilon costs one root a piece.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, ctx

from dpverify.trusted.kernel.balls import constant, rational, value
from dpverify.trusted.kernel.errors import Undecided, require
from dpverify.trusted.kernel.expr import Expr, Sym, add, mul, sub, substitute
from dpverify.trusted.numbers.asymptotics import End, Germ, end_jet
from dpverify.trusted.numbers.jets import BallProgram
from dpverify.trusted.shapes.convexity import Shapes
from dpverify.trusted.theories.curves.monotone import Rise, around, rises


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


class Loss:
    """The loss of a positive, increasing h at a shift D > 0, at the working precision of its making. Raises Undecided.

    cuts: rising radii from 0 on, between which the loss is monotone or turns once; beyond the last the sign of h'' is certain. They are
    needed where h is neither convex nor concave.
    """

    def __init__(self, h: Expr, shift: Expr, shapes: Shapes, cuts: Sequence[Fraction]) -> None:
        moved = substitute(h, {"r": add(Sym("r"), shift)})
        self._loss = BallProgram(shapes.tidy(sub(moved, h)), "r")
        self._mirror = BallProgram(sub(substitute(h, {"r": sub(shift, Sym("r"))}), h), "r")
        self._shift, shape = constant(shift), shapes.shape(h)
        at_zero = value(h, {"r": arb(0)})
        self._centre = constant(substitute(h, {"r": shift})) - at_zero if at_zero.is_finite() else None
        limit = None
        if shape.convex or shape.concave:
            from dpverify.trusted.shapes.limits import slope_limit

            limit = slope_limit(shapes, h)
        self._limit = None if limit is None else constant(mul(limit, shift))
        self._pieces, self._last, self._rises = list[Rise](), arb(0), shape.convex
        if not (shape.convex or shape.concave):
            self._monotone(h, cuts)

    def _monotone(self, h: Expr, cuts: Sequence[Fraction]) -> None:
        if len(cuts) < 2 or cuts[0] != 0 or sorted(set(cuts)) != list(cuts):  # exact
            raise Undecided("where the loss along the axis rises and falls is not told: the rule wants rising cuts from 0 on.")
        bend: Germ = end_jet(h, "r", End("+inf", cuts[-1])).d2
        require(bend.k.lo > 0 or bend.k.hi < 0, Undecided("whether -log(profile) is convex or concave beyond the last cut is not certain."))
        self._pieces, self._rises = rises(self._loss, [rational(cut) for cut in cuts]), bool(bend.k.lo > 0)
        if any(piece.direction == 0 for piece in self._pieces):
            raise Undecided("the loss along the axis neither rises, falls nor turns once between two cuts; cut it more finely.")
        if (self._pieces[-1].direction > 0) == self._rises:  # it goes on as it ends
            self._last = self._pieces.pop().low
        else:
            self._last = self._pieces[-1].high

    def spans(self, epsilon: arb) -> list[Span]:
        """The intervals of radii where the loss exceeds an exact epsilon. Raises Undecided where its enclosure touches epsilon."""
        low, spans = self._whole_end(epsilon), list[Span]()
        inside, whole = low is not None, low is not None
        start = low if low is not None else arb(0)
        for piece in self._pieces:
            if _exceeds(self._loss(piece.high).v, epsilon) == inside:
                continue
            root = self._root(self._loss, epsilon, piece.low.upper(), piece.high.lower(), piece.direction > 0)
            if inside:
                spans.append(Span(start, whole, root))
            start, whole, inside = root, False, not inside
        return spans + self._outer(epsilon, Span(start, whole, None) if inside else None)

    def _whole_end(self, epsilon: arb) -> arb | None:
        """The root of r + s = D, below which the lune is a whole ball; None where there is none."""
        if self._centre is not None and not _exceeds(self._centre, epsilon):
            return None
        half = self._shift / 2
        return half if epsilon == 0 else self._root(self._mirror, epsilon, arb(0), half.upper(), False)

    def _outer(self, epsilon: arb, open_span: Span | None) -> list[Span]:
        """What the radii from the last turn on add: the span that is open there, or one that begins beyond."""
        unchanged = [] if open_span is None else [open_span]
        inside = open_span is not None
        if self._rises == inside:
            return unchanged
        if self._limit is not None and ((self._limit >= epsilon) if inside else (self._limit <= epsilon)):
            return unchanged
        low = self._last.upper()
        high = low + self._shift.mid() * arb(2) ** (ctx.prec // 2)
        root = self._root(self._loss, epsilon, low, high.mid(), self._rises)
        if open_span is not None:
            certain = self._loss(root.upper()).v < epsilon
            return [Span(open_span.low, open_span.whole, root) if certain else Span(open_span.low, open_span.whole, None, root.lower())]
        require(self._loss(root.upper()).v > epsilon, Undecided("where the loss along the axis first exceeds epsilon is not certain."))
        return [Span(root, False, None)]

    @staticmethod
    def _root(f: BallProgram, level: arb, low: arb, high: arb, rising: bool) -> arb:
        """The root of f = level between exact points, f monotone there and past the level at neither or at one of them."""

        def sloped(at: arb) -> tuple[arb, arb]:
            jet = f(at)
            return jet.v, jet.d1

        left, right = around(sloped, level, low, high, rising, ctx.prec - 8)
        return left.union(right)


def _exceeds(loss: arb, epsilon: arb) -> bool:
    """Whether a loss is certainly above epsilon, or certainly not. Raises Undecided between."""
    if loss > epsilon:
        return True
    if loss <= epsilon:
        return False
    raise Undecided("the enclosure of a loss touches epsilon.")
