"""The divergences of a density and its copies moved by a shift, at single shifts and over cells of them.

Lengths are in units of the sensitivity, so that shifts t lie in [-1, 1]. G(t) is the integral of (p(y) - a p(y - t))_+, a = e^epsilon.
Boxes of y are split, the one that matters most first, until each lies inside S = {p > a p(. - t)}, outside it, or adds little.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import count, pairwise
from typing import Any, Final

from flint import arb, ctx

from dpverify.trusted.facts.evaluate import falling
from dpverify.trusted.language.errors import Undecided
from dpverify.trusted.language.loading import remembered
from dpverify.trusted.numbers.balls import precision, rational
from dpverify.trusted.numbers.each_precision import per_precision
from dpverify.trusted.rules.curves.moved_density import Density, Near
from dpverify.trusted.rules.curves.unimodal import INFINITY, Reading

_MOST_SPLITS: Final = 1_000


_WHOLE: Final = 32
"""Precisions are multiples of this many bits."""


Interval = tuple[arb, arb]


@dataclass(frozen=True, slots=True)
class Effort:
    """far: what is beyond 2^far counts as a tail. Boxes of y are split while they weigh more than 2^-point of the mass, for one shift, and
    more than 2^-cell of the mass times the cell's width, for a cell of shifts.
    """

    far: int
    point: int
    cell: int


@dataclass(frozen=True, slots=True)
class _Box:
    """Points y, the densities p(y) and p(y - t) there, and the most of p(y) - a p(y - t)."""

    low: arb
    high: arb
    here: Near
    there: Near
    most: arb


class Shifts:
    """G at shifts, and what it changes by between them, at the precision of its making. Lengths are in units of the sensitivity."""

    def __init__(self, density: Density, effort: Effort, epsilon: arb) -> None:
        self.density, self._effort = density, effort
        self._epsilon, self._factor = epsilon, epsilon.exp()
        self._points: dict[Fraction, arb] = {}

    def point(self, shift: Fraction) -> arb:
        """G, over the total mass, at a shift."""
        if shift not in self._points:
            self._points[shift] = arb(0)
            if shift:  # p <= a p
                inside, doubt = self.decided(shift)
                found = arb(0)
                for p, q in (self.masses(shift, *part) for part in inside):
                    found += p - self._factor * q
                self._points[shift] = ((found + arb(0).union(doubt)) / self.density.total).max(arb(0)).min(arb(1))
        return self._points[shift]

    def decided(self, shift: Fraction) -> tuple[list[Interval], arb]:
        """Intervals of S, and a bound on what the undecided rest adds to G."""

        def adds(box: _Box) -> arb:
            return ((box.high - box.low) * box.most.max(arb(0))).upper()

        inside, undecided = self._sorted(rational(shift), adds, self.density.total * arb(2) ** -self._effort.point)
        doubt = sum(map(adds, undecided), arb(0))
        for tail in (self.density.before, self.density.after):
            over = (abs(rational(shift)) * tail.steepest - self._epsilon).upper()
            if not over <= 0:
                doubt += tail.mass * (-(-over).expm1() if over.is_finite() else arb(1))
        return inside, doubt.upper()

    def masses(self, shift: Fraction, low: arb, high: arb) -> tuple[arb, arb]:
        """The mass of p and of p(. - shift) between two points."""
        below, s = self.density.below, rational(shift)
        return below(high) - below(low), below(high - s) - below(low - s)

    def slopes(self, low: Fraction, high: Fraction) -> arb:
        """What G, over the total mass, may change by between two shifts of a cell, over their distance."""
        shifts, width = rational(low).union(rational(high)), rational(high - low)

        def moves(box: _Box) -> arb:
            return (self._factor * (box.high - box.low) * box.there.d1.abs_upper()).upper()

        def matters(box: _Box) -> arb:
            leaps = sum(self._leaps(box).values(), arb(0)) if box.high - box.low > width else arb(0)
            return (moves(box) + leaps).upper()

        fine = self._factor * self.density.total * width * arb(2) ** -self._effort.cell
        inside, undecided = self._sorted(shifts, matters, fine, keeps_leaps=True)
        doubt, leaps = sum(map(moves, undecided), arb(0)), dict[int, arb]()
        for box in undecided:
            for cut, size in self._leaps(box).items():
                leaps[cut] = leaps.get(cut, arb(0)).max(size)
        for tail in (self.density.before, self.density.after):
            if not shifts.abs_upper() * tail.steepest <= self._epsilon:
                doubt += self._factor * tail.variation
        found = arb(0)
        for start, end in inside:
            found += self.density.over(end - shifts).v - self.density.over(start - shifts).v
        return (self._factor * found + arb(0, 1) * sum(leaps.values(), doubt).upper()) / self.density.total

    def _leaps(self, box: _Box) -> dict[int, arb]:
        """What a p(y - t) leaps by at the cuts of an undecided box, as far as it counts: the integrand lies between 0 and p."""
        return {cut: (self._factor * size).upper().min(box.here.v.upper()) for cut, size in box.there.leaps.items()}

    def most(self, low: Fraction, high: Fraction) -> arb:
        """An upper bound on G, over the total mass, on a cell of shifts."""
        left, right, width = self.point(low).upper(), self.point(high).upper(), rational(high - low)
        slopes = self.slopes(low, high)
        if not slopes.is_finite():
            return arb(1)
        up, down = slopes.upper().max(arb(0)), (-slopes).upper().max(arb(0))
        found = (left + up * width).upper().min((right + down * width).upper())
        if up > 0 and down > 0:
            found = found.min(((down * left + up * right + up * down * width) / (up + down)).upper())
        return found.min(arb(1))

    def _sorted(self, shift: arb, weight: Callable[[_Box], arb], fine: arb, keeps_leaps: bool = False) -> tuple[list[Interval], list[_Box]]:
        """Boxes of y that are certainly in S for every shift of a ball, joined; and those undecided, split while they weigh more than fine.

        This is adaptive quadrature: what is decided at any time is proved, the heaviest box is halved next, at most _MOST_SPLITS times.
        keeps_leaps: boxes that p(. - t) may leap on count as not decided.
        """
        inside: list[Interval] = []
        number = count()
        heap: list[tuple[arb, int, _Box]] = []

        def look(low: arb, high: arb) -> None:
            y = low.union(high)
            here, there = self.density.over(y), self.density.over(y - shift)
            sign, most = self._sign(y, shift, here, there)
            if sign == 0 or (sign > 0 and keeps_leaps and there.leaps):
                box = _Box(low, high, here, there, most)
                heavy = weight(box)
                heapq.heappush(heap, (-heavy if heavy.is_finite() else -INFINITY, next(number), box))
            elif sign > 0:
                inside.append((low, high))

        for low, high in pairwise(self._edges(shift)):
            look(low, high)
        for _ in range(_MOST_SPLITS):
            if not heap or -heap[0][0] <= fine:
                break
            _, _, box = heapq.heappop(heap)
            middle = ((box.low + box.high) / 2).mid()
            if not (box.low < middle and middle < box.high):
                raise Undecided("boxes that are too small for the precision.")
            look(box.low, middle)
            look(middle, box.high)
        return list(_joined(sorted(inside, key=lambda box: box[0]))), [box for _, _, box in heap]

    def _edges(self, shift: arb) -> list[arb]:
        """Exact points that boxes start from, from one tail to the other: the cuts of both densities, where they lie between."""
        low, high = (-self.density.before.edge).lower(), self.density.after.edge.upper()  # a negative is rounded too
        cuts = [rational(cut) for cut in self.density.cuts]
        between = [at for at in (arb(0), *(at.mid() for at in cuts), *((at + shift).mid() for at in cuts)) if low < at and at < high]
        edges: list[arb] = []
        for at in sorted([low, *between, high]):
            if not edges or edges[-1] < at:
                edges.append(at)
        return edges

    def _sign(self, y: arb, shift: arb, here: Near, there: Near) -> tuple[int, arb]:
        """1 where p > a p(. - shift) on the box, at every shift, -1 where nowhere, 0 where not decided; and the most of the difference."""
        most, gap = here.v.upper(), here.v - self._factor * there.v
        if not (gap >= 0 or gap <= 0 or here.leaps or there.leaps):  # by the mean of its slope
            most, middle = _least(most, gap), y.mid()
            slope = here.d1 - self._factor * there.d1
            gap = self.density.over(middle).v - self._factor * self.density.over(middle - shift).v + slope * (y - middle)
        return (1 if gap >= 0 else -1 if gap <= 0 else 0), _least(most, gap)


def _least(most: arb, gap: arb) -> arb:
    return most.min(gap.upper()) if gap.is_finite() else most


def _joined(boxes: Sequence[Interval]) -> Iterator[Interval]:
    """Boxes from left to right, those that meet as one."""
    last: Interval | None = None
    for low, high in boxes:
        if last is not None and last[1] == low:
            last = last[0], high
            continue
        if last is not None:
            yield last
        last = low, high
    if last is not None:
        yield last


class Divergences:
    """The divergences of a density and its copies, set up once for each precision and each epsilon."""

    def __init__(self, reading: Reading, effort: Effort) -> None:
        self._effort = effort
        self._density = per_precision(lambda: Density(reading, effort.far))
        self._shifts: dict[Any, Shifts] = {}

    def at(self, epsilon: arb) -> Shifts:
        """At an exact epsilon of at least 0, for the working precision, which must be `whole`."""
        key = epsilon.man_exp(), ctx.prec
        if key not in self._shifts:
            self._shifts[key] = Shifts(self._density(), self._effort, epsilon)
        return self._shifts[key]

    def profile(self, shift: Fraction) -> Callable[[arb], arb]:
        """The profile of the pair (p, p(. - shift))."""

        def at(epsilon: arb) -> arb:
            with whole():
                return self.at(epsilon).point(shift)

        return falling(at)

    def greatest(self, cuts: Sequence[Fraction]) -> Callable[[arb], arb]:
        """The greatest of the profiles at all shifts between the first cut and the last."""

        def at(epsilon: arb) -> arb:
            with whole():
                found = self.at(epsilon)
                least, most = arb(0), arb(0)
                for cut in cuts:
                    least = least.max(found.point(cut).lower())
                for low, high in pairwise(cuts):
                    most = most.max(found.most(low, high))
                return least.union(most)

        return falling(at)


@remembered(16)
def divergences(reading: Reading, effort: Effort) -> Divergences:
    """The divergences of a density; equal ones remember what they have computed."""
    return Divergences(reading, effort)


def whole() -> precision:
    """The working precision with guard bits, rounded up: so that what is prepared for one of them serves again."""
    return precision(-(-(ctx.prec + _WHOLE) // _WHOLE) * _WHOLE)
