"""A density on the line over balls: its values, its slopes, where it leaps, and what lies far out on either side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any, Final

from flint import acb, arb, ctx

from dpverify.trusted.kernel.balls import exact, rational, value
from dpverify.trusted.kernel.compare import certainly_equal
from dpverify.trusted.kernel.errors import ExprError, Undecided, require
from dpverify.trusted.kernel.expr import ZERO, Expr, Num, substitute
from dpverify.trusted.language.derivatives import derivative
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.numbers.asymptotics import End, Germ, end_jet
from dpverify.trusted.numbers.complex import Complex, compiled
from dpverify.trusted.numbers.jets import BallProgram
from dpverify.trusted.numbers.pieces import Piece
from dpverify.trusted.numbers.quadrature import integral, start_of_end
from dpverify.trusted.theories.curves.unimodal import INFINITY, Reading, ends, merged


@dataclass(frozen=True, slots=True)
class Tail:
    """What lies beyond `edge`: its mass; bounds on |h'| there and one unit before, h = -log p."""

    edge: arb
    mass: arb
    steepest: arb


@dataclass(frozen=True, slots=True)
class _Piece:
    """A smooth piece between its ends."""

    low: arb
    high: arb
    value: Complex
    slope: Callable[[arb], arb]

    def at(self, x: arb) -> arb:
        return self.value(acb(x), False).real

    def steep(self, x: arb) -> arb:
        return self.slope(x)


class Density:
    """A density with its mass, at the precision of its making."""

    def __init__(self, reading: Reading, falling: bool = False) -> None:
        """falling: as of `Outward`."""
        self._pieces = [_Piece(*ends(p), compiled(p.density, "z"), _slope(p.density)) for p in merged(reading.parts)]
        self._known = dict[Any, arb]()
        self._first, self._last = self._pieces[0].low, self._pieces[-1].high
        self._right = Outward(right_half(reading), falling)
        self._left = self._right if reading.even else Outward(right_half(reading.mirrored()), falling)
        self.total = self._left.beyond(arb(0)) + self._right.beyond(arb(0))
        self.extent = max(self._left.extent, self._right.extent)

    def below(self, x: arb) -> arb:
        """The mass below x, which may be infinite."""
        if abs(x) == INFINITY:
            return self.total if x > 0 else arb(0)
        at = x.mid()
        mass = self._left.beyond(-at) if at <= 0 else self.total - self._right.beyond(at)
        return mass if x.is_exact() else mass + arb(0, 1) * x.rad() * self.value(x, x).abs_upper()

    def alone(self, shift: arb) -> arb:
        """The share of the mass where the density moved by a shift has none, as its support ends before."""
        if shift > 0:
            return self.below(self._first + shift) / self.total if self._first.is_finite() else arb(0)
        return 1 - self.below(self._last + shift) / self.total if self._last.is_finite() else arb(0)

    def value(self, first: arb, last: arb) -> arb:
        """The density between two balls, and on them where they are one. Not finite where it may have no bound."""
        return self._remembered(first, last, _Piece.at)

    def slope(self, first: arb, last: arb) -> arb:
        """Its slope there, but where it leaps. Not finite where that may have no bound."""
        return self._remembered(first, last, _Piece.steep)

    def _remembered(self, first: arb, last: arb, program: Callable[[_Piece, arb], arb]) -> arb:
        """What is asked between two points, not balls, is asked for many shifts."""
        if not all(x.is_exact() and x.is_finite() for x in (first, last)):
            return self._over(first, last, program)
        key = program, first.man_exp(), last.man_exp()
        if key not in self._known:
            self._known[key] = self._over(first, last, program)
        return self._known[key]

    def _over(self, first: arb, last: arb, program: Callable[[_Piece, arb], arb]) -> arb:
        low, high, found = first.lower(), last.upper(), list[arb]()
        if not (low >= self._first and high <= self._last):
            found.append(arb(0))
        for piece in self._pieces:
            start, end = piece.low, piece.high
            if low >= start and high <= end:
                found.append(program(piece, first if first is last else low.union(high)))
            elif not (high < start or low > end or (low < high and (high <= start or low >= end))):
                found.append(program(piece, low.max(start).union(high.min(end))))
        return reduce(arb.union, found)


class MovedDensity(Density):
    """A density that is looked at beside its copies: also where it leaps, and what lies far out."""

    def __init__(self, reading: Reading, far: int) -> None:
        super().__init__(reading)
        self.cuts = sorted({x for p in merged(reading.parts) for x in (p.lower, p.upper) if x is not None})
        self._leaps = list(_leaps(reading.parts, self.cuts))
        self.after = _tail(reading, self._right, far)
        self.before = self.after if reading.even else _tail(reading.mirrored(), self._left, far)

    def leaps(self, first: arb, last: arb) -> bool:
        """Whether it may leap between two balls."""
        return any(not (last <= at or first >= at) for at in self._leaps)


def _slope(density: Expr) -> Callable[[arb], arb]:
    """The slope of a density over balls: by its derivative where that is an expression, which is quicker than a jet."""
    try:
        found = compiled(derivative(density, "z"), "z")
    except ExprError:
        jet = BallProgram(density, "z")
        return lambda x: jet(x).d1
    return lambda x: found(acb(x), False).real


def _leaps(parts: Sequence[Piece], cuts: Sequence[Fraction]) -> Iterator[arb]:
    """Balls that hold those of the cuts at which a density may leap."""
    for cut in cuts:
        at = {"z": Num(cut)}
        before = next((substitute(p.density, at) for p in parts if p.upper == cut), ZERO)
        after = next((substitute(p.density, at) for p in parts if p.lower == cut), ZERO)
        if not certainly_equal(before, after):
            yield rational(cut)


def _tail(reading: Reading, right: Outward, far: int) -> Tail:
    """What is far to the right. Raises Undecided where the density is not certainly falling there."""
    last = reading.parts[-1]
    if last.upper is not None:  # a shift of 1 later both densities are 0
        return Tail(rational(last.upper.__ceil__() + 1), arb(0), arb(0))
    end = End("+inf", Fraction(2) ** far)
    if last.lower is not None and end.start <= last.lower:
        raise Undecided("the tail starts before the last piece of the density.")
    slope: Germ = end_jet(neg_log(last.density), "z", end).d1
    require(slope.k.lo >= 0, Undecided("the density is not certainly falling towards infinity; start the tail further out."))
    steepest = INFINITY
    if slope.direction() <= 0:
        steepest = slope.bounds().hi
    edge = rational(end.start + 1)  # exact at every precision
    return Tail(edge, right.beyond(edge), steepest)


_SPARE: Final = 8
"""Bits beyond the working precision to which what is between edges is integrated."""


class Outward:
    """The mass of a density, in pieces with a cut at 0, beyond a distance from 0, to the right, to a high relative accuracy.

    What is beyond its edges is kept; these are powers of two, the points half way between them, and the ends of pieces.
    """

    def __init__(self, parts: Sequence[Piece], falling: bool) -> None:
        """falling: the density is proved not to rise away from 0."""
        self._parts, self._falling = parts, falling
        self._programs = [compiled(p.density, "z") for p in parts]
        self._known = dict[Fraction, arb]()
        self._end = parts[-1].upper if parts else Fraction(0)

    @property
    def extent(self) -> Fraction:
        """About where nothing counts beyond."""
        if self._end is not None:
            return self._end
        return start_of_end(self._parts[-1], End("+inf", self._parts[-1].lower or Fraction(1)), arb(2) ** -ctx.prec)

    def beyond(self, distance: arb) -> arb:
        """The mass beyond an exact distance of at least 0. Raises Undecided where the density is not proved integrable."""
        at = exact(distance)
        if self._end is not None and at >= self._end:
            return arb(0)
        step = Fraction(1, 4)
        while 2 * step <= at:
            step *= 2
        ends = (step, step * Fraction(3, 2), 2 * step, *(p.upper for p in self._parts if p.upper is not None))
        edge = min(end for end in ends if end > at)
        if edge not in self._known:
            left = [(p, max(edge, p.lower or edge)) for p in self._parts if p.upper is None or edge < p.upper]
            self._known[edge] = sum((integral(p.density, "z", low, p.upper, ctx.prec) for p, low in left), arb(0))
        return self._known[edge] + self._cell(rational(at), edge)

    def _cell(self, start: arb, end: Fraction) -> arb:
        """The integral from a point to the next edge."""
        mass = self._integral(start, end)
        if mass is None and self._falling and start < rational(end) * arb(2) ** -ctx.prec:
            # a cusp at 0, where complex balls see no finite value: next to it by the density's fall
            sliver = rational(end) * arb(2) ** -ctx.prec
            mass = self._integral(sliver.mid(), end)
            top = value(next(p.density for p in self._parts if p.lower == 0), {"z": arb(0)})
            mass = None if mass is None or not top.is_finite() else mass + arb(0).union((sliver * top).upper())
        if mass is None:
            raise Undecided(f"the integral of the density up to {end} shifts from its centre has no finite enclosure.")
        return mass.max(arb(0))

    def _integral(self, start: arb, end: Fraction) -> arb | None:
        function = next(f for f, p in zip(self._programs, self._parts, strict=True) if p.upper is None or end <= p.upper)
        ends, tolerance = (acb(start), acb(rational(end))), arb(2) ** -(ctx.prec + _SPARE)
        least = (self._known[end] * tolerance).mid()
        mass = acb.integral(function, *ends, rel_tol=tolerance, abs_tol=least, eval_limit=20_000, depth_limit=4_000)
        return mass.real if mass.real.is_finite() and 0 in mass.imag else None


def right_half(reading: Reading) -> list[Piece]:
    """The pieces of a density beyond 0."""
    return [p for p in reading.parts if p.lower is not None and p.lower >= 0]
