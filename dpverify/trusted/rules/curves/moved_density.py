"""A density on the line over balls: its values, its slopes, where it leaps, and what lies far out on either side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from flint import arb

from dpverify.trusted.language.errors import Undecided
from dpverify.trusted.language.expr import ZERO, Num, substitute
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.numbers.asymptotics import End, Germ, end_jet
from dpverify.trusted.numbers.balls import constant, rational
from dpverify.trusted.numbers.jets import BallProgram, Jet
from dpverify.trusted.numbers.pieces import Piece
from dpverify.trusted.order.compare import certainly_equal
from dpverify.trusted.rules.curves.outward import BothSides, Outward
from dpverify.trusted.rules.curves.unimodal import INFINITY, Reading

_NONE: Final[Mapping[int, arb]] = {}


@dataclass(frozen=True, slots=True)
class Near:
    """The density over a ball: its values, its slopes, and the cuts there at which it leaps, with how far."""

    v: arb
    d1: arb
    leaps: Mapping[int, arb]


@dataclass(frozen=True, slots=True)
class Tail:
    """What lies beyond `edge`: its mass; bounds on |h'| there and one unit before, h = -log p; the variation of p there."""

    edge: arb
    mass: arb
    steepest: arb
    variation: arb


class Density:
    """A density with its mass on both sides, at the precision of its making."""

    def __init__(self, reading: Reading, far: int) -> None:
        first, *_, last = (*reading.parts, reading.parts[-1])
        self._first, self._last = _end(first.lower, -INFINITY), _end(last.upper, INFINITY)
        self._pieces = [(_end(p.lower, -INFINITY), _end(p.upper, INFINITY), BallProgram(p.density, "z")) for p in reading.parts]
        self._sides = BothSides(reading, falling=False)
        self.total = self._sides.total
        self.cuts = sorted({x for p in reading.parts for x in (p.lower, p.upper) if x is not None})
        self._leaps = list(_leaps(reading.parts))
        self.after = _tail(reading, self._sides.right, far)
        self.before = self.after if reading.even else _tail(reading.mirrored(), self._sides.left, far)

    def below(self, x: arb) -> arb:
        """The mass below x."""
        return self._sides.below(x, lambda ball: self.over(ball).v.abs_upper())

    def over(self, x: arb) -> Near:
        """The density over a ball. Not finite where it, or its slope, may have no bound."""
        low, high = x.lower(), x.upper()
        found: list[Jet] = []
        for start, end, program in self._pieces:
            if high < start or low > end:
                continue
            found.append(program(x if low >= start and high <= end else low.max(start).union(high.min(end))))
        leaps = {i: size for i, (at, size) in enumerate(self._leaps) if not (x < at or x > at)} if self._leaps else _NONE
        if len(found) == 1 and low >= self._first and high <= self._last:
            return Near(found[0].v, found[0].d1, leaps)
        if not (low >= self._first and high <= self._last):
            found.append(Jet(arb(0), arb(0), arb(0)))
        return Near(_union([jet.v for jet in found]), _union([jet.d1 for jet in found]), leaps)


def _leaps(parts: Sequence[Piece]) -> Iterator[tuple[arb, arb]]:
    """The cuts at which a density may leap, with a bound on how far, between balls that hold them."""
    cuts = {x for p in parts for x in (p.lower, p.upper) if x is not None}
    for cut in sorted(cuts):
        at = {"z": Num(cut)}
        before = next((substitute(p.density, at) for p in parts if p.upper == cut), ZERO)
        after = next((substitute(p.density, at) for p in parts if p.lower == cut), ZERO)
        if not certainly_equal(before, after):
            yield rational(cut), abs(constant(after) - constant(before)).upper()


def _end(at: Fraction | None, infinite: arb) -> arb:
    return infinite if at is None else rational(at)


def _union(balls: Sequence[arb]) -> arb:
    found = balls[0]
    for ball in balls[1:]:
        found = found.union(ball)
    return found


def _tail(reading: Reading, right: Outward, far: int) -> Tail:
    """What is far to the right. Raises Undecided where the density is not certainly falling there."""
    last = reading.parts[-1]
    if last.upper is not None:  # a shift of 1 later both densities are 0
        return Tail(rational(last.upper.__ceil__() + 1), arb(0), arb(0), arb(0))
    end = End("+inf", Fraction(2) ** far)
    if last.lower is not None and end.start <= last.lower:
        raise Undecided("the tail starts before the last piece of the density.")
    slope: Germ = end_jet(neg_log(last.density), "z", end).d1
    if not slope.k.lo >= 0:
        raise Undecided("the density is not certainly falling towards infinity; start the tail further out.")
    steepest = INFINITY
    if slope.direction() <= 0:
        steepest = slope.bounds().hi
    start, edge = rational(end.start), rational(end.start + 1)  # exact at every precision
    return Tail(edge, right.beyond(edge), steepest, BallProgram(last.density, "z")(start).v.abs_upper())
