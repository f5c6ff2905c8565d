"""The divergences of a density and its copies moved by a shift, at single shifts and over cells of them.

Lengths are in units of the sensitivity, so that shifts t lie in [-1, 1]. G(t) is the integral of (p(y) - a p(y - t))_+, a = e^epsilon.
Boxes of y are cut, the one that matters most first, until each lies inside S = {p > a p(. - t)} for every t of a cell, outside it, or adds
little.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial, reduce
from itertools import count, pairwise
from typing import Any, Final

from flint import arb, ctx

from dpverify.trusted.facts.evaluate import divergence
from dpverify.trusted.facts.pairs import Pair, Profile
from dpverify.trusted.kernel.balls import precision, rational
from dpverify.trusted.kernel.loading import remembered
from dpverify.trusted.numbers.each_precision import per_precision
from dpverify.trusted.theories.curves.moved_density import MovedDensity
from dpverify.trusted.theories.curves.unimodal import INFINITY, Reading, most_of

_MOST_SPLITS: Final = 300
_STEPS: Final = 3
"""Of Newton, towards a root."""
_FALLS: Final = arb(-1)
_SPREAD: Final = 2
_WHOLE: Final = 32
"""Precisions are multiples of this many bits."""


@dataclass(frozen=True, slots=True)
class Effort:
    """far: what is beyond 2^far counts as a tail. Boxes of y are cut while they add more than 2^-point of the mass, and more than 2^-cell
    of the mass times the square of the width of a cell of shifts.
    """

    far: int
    point: int
    cell: int


@dataclass(frozen=True, slots=True, eq=False)
class End:
    """A point y, exact; or one that moves with the shift t, where p(y - t) has a cut; or where p = a p(. - t), in a ball.

    middle, drift: of the last, where it is at the middle shift, and how steeply y - t rises in t.
    """

    at: arb
    moves: bool = False
    middle: arb | None = None
    drift: arb = _FALLS

    def seen(self, shifts: arb) -> tuple[arb, arb]:
        """y and y - t, over a ball of shifts."""
        return (self.at + shifts, self.at) if self.moves else (self.at, self.at - shifts)

    def near(self, middle: arb) -> tuple[arb, arb]:
        """y and y - t at the middle shift."""
        return self.seen(middle) if self.middle is None else (self.middle, self.middle - middle)


_Box = tuple[End, End]


class Cell:
    """S for the shifts t of a ball, cut until no box that is not decided adds more than `fine` to G.

    ends: of intervals that make up S, 1 where one ends and -1 where one begins.
    """

    def __init__(self, density: MovedDensity, epsilon: arb, shifts: arb, fine: arb) -> None:
        self._density, self._factor, self._shifts, self._fine = density, epsilon.exp(), shifts, fine
        self._inside, self._turns, self._heap, self._number = list[_Box](), list[_Box](), list[tuple[arb, int, _Box]](), count()
        self._doubt = arb(0)
        for low, high in pairwise(self._first_ends()):
            self._look(low, high)
        for _ in range(_MOST_SPLITS):  # this is adaptive quadrature: what is decided at any time is proved
            if not self._heap or -self._heap[0][0] <= fine:
                break
            low, high = heapq.heappop(self._heap)[2]
            middle = End(self._middle(low, high))
            self._look(low, middle)
            self._look(middle, high)
        self._doubt -= sum((found[0] for found in self._heap), arb(0))
        for tail in (density.before, density.after):
            self._doubt += most_of(tail.mass, abs(shifts) * tail.steepest - epsilon)
        self._turn()
        self.ends = Counter(end for box in self._inside for end in box[1:])
        self.ends.subtract(box[0] for box in self._inside)

    def divergence(self) -> arb:
        """A ball that holds G at the middle shift, and reaches over all that it is at the others: by its slope and how that bends."""
        middle, value, slope, bend = self._shifts.mid(), arb(0), arb(0), arb(0)
        for end, sign in self.ends.items():
            if not sign:  # a box ends there, and the next begins
                continue
            (y, z), (near, beside) = end.near(middle), end.seen(self._shifts)
            value += sign * (self._density.below(y) - self._factor * self._density.below(z))
            slope += sign * (self._density.value(y, y) if end.moves else self._factor * self._density.value(z, z))
            drift, at = (arb(1), near) if end.moves else (self._factor * end.drift, beside)
            bend += INFINITY if self._density.leaps(at, at) else sign * drift * self._density.slope(at, at)
        rise = most_within((self._shifts - middle).abs_upper(), slope.abs_upper(), bend.upper())
        return value.union(value + (rise + self._doubt).upper())

    def _leaps(self, low: End, high: End) -> bool:
        """Whether one of the densities may leap inside a box."""
        return any(self._density.leaps(*ends) for ends in zip(low.seen(self._shifts), high.seen(self._shifts), strict=True))

    def _gap(self, y: arb, z: arb) -> arb:
        """p - a p(. - t)."""
        return self._density.value(y, y) - self._factor * self._density.value(z, z)

    def _steep(self, low: arb, high: arb, start: arb, end: arb) -> arb:
        """How p - a p(. - t) rises from one point to another, and from one that is moved to another."""
        return self._density.slope(low, high) - self._factor * self._density.slope(start, end)

    def _first_ends(self) -> list[End]:
        """From one tail to the other, with the cuts of both densities between, where they keep apart at all these shifts."""
        low, high = (-self._density.before.edge).lower(), self._density.after.edge.upper()  # a negative is rounded too
        cuts = [rational(cut).mid() for cut in self._density.cuts]
        ends = [End(low)]
        for end in sorted([*map(End, cuts), *(End(cut, True) for cut in cuts)], key=lambda one: one.seen(self._shifts.mid())[0].mid()):
            y = end.seen(self._shifts)[0]
            if y > ends[-1].seen(self._shifts)[0] and y < high:
                ends.append(end)
        return [*ends, End(high)]

    def _middle(self, low: End, high: End) -> arb:
        """A point between two ends at every shift, where these keep so far apart."""
        return ((low.seen(self._shifts)[0].upper() + high.seen(self._shifts)[0].lower()) / 2).mid()

    def _look(self, low: End, high: End) -> None:
        """Sorts a box. Where p - a p(. - t) certainly rises or falls, it turns near a middle by one step of Newton."""
        (first, start), (last, end), middle = low.seen(self._shifts), high.seen(self._shifts), self._middle(low, high)
        here, apart = self._density.value(first, last), bool(first < middle and middle < last)
        gap, most = here - self._factor * self._density.value(start, end), here.upper()
        if apart and not (gap <= 0 or gap >= 0 or self._leaps(low, high)):
            at, slope = self._gap(middle, middle - self._shifts), self._steep(first, last, start, end)
            near, root = at + slope * (first.union(last) - middle), middle - at / slope
            gap = near if near.is_finite() else gap
            apart = bool(at <= 0 or at >= 0 or gap.upper() > _SPREAD * at.upper())  # else it is as much at a point, for the shifts alone
            if root.is_finite() and not (gap <= 0 or gap >= 0):
                left = End(root.lower()) if first < root.lower() and root.lower() < last else low
                right = End(root.upper()) if first < root.upper() and root.upper() < last else high
                self._inside += [(right, high)] * (slope > 0 and right is not high) + [(low, left)] * (slope < 0 and left is not low)
                length = right.seen(self._shifts)[0] - left.seen(self._shifts)[0]
                if 2 * length < last - first and not length * most <= self._fine:
                    self._look(left, right)
                else:
                    self._turns.append((left, right))
                return
        if gap <= 0 or gap >= 0:
            self._inside += [] if gap <= 0 else [(low, high)]
            return
        adds = ((last - first) * (most.min(gap.upper()) if gap.is_finite() else most)).upper()
        if apart:
            heapq.heappush(self._heap, (-adds if adds.is_finite() else -INFINITY, next(self._number), (low, high)))
        else:
            self._doubt += adds

    def _turn(self) -> None:
        """Where p - a p(. - t) rises or falls through 0, boxes that meet as one, S begins or ends."""
        joined = list[_Box]()
        for low, high in sorted(self._turns, key=lambda box: box[0].seen(self._shifts.mid())[0].mid()):
            joined.append((joined.pop()[0], high) if joined and joined[-1][1] is low else (low, high))
        for low, high in joined:
            (first, start), (last, end), middle = low.seen(self._shifts), high.seen(self._shifts), self._shifts.mid()
            before, after, slope = self._gap(first, start), self._gap(last, end), self._steep(first, last, start, end)
            if self._leaps(low, high) or not ((before <= 0 and after >= 0 and slope > 0) or (before >= 0 and after <= 0 and slope < 0)):
                here, there = self._density.value(first, last), self._density.value(start, end)
                self._doubt += (last - first) * here.upper().min((here - self._factor * there).upper()).max(arb(0))
                continue
            near = root = first.union(last)
            for _ in range(_STEPS):
                moved = root - middle
                found = root.mid() - self._gap(root.mid(), root.mid() - middle) / self._steep(root, root, moved, moved)
                root = found.max(root.lower()).min(root.upper()) if found.is_finite() else root
            turn = End(near, middle=root, drift=-self._density.slope(near, near) / slope)
            self._inside.append((turn, high) if slope > 0 else (low, turn))


def most_within(reach: arb, steep: arb, bent: arb) -> arb:
    """The most of steep t + bent t^2/2 for t from 0 to `reach`, steep at least 0."""
    reach = reach.min(steep / -bent) if bent < 0 else reach
    return steep * reach + bent * reach**2 / 2


class Shifts:
    """G over cells of shifts, at the precision of its making. Lengths are in units of the sensitivity."""

    def __init__(self, density: MovedDensity, effort: Effort, epsilon: arb) -> None:
        self.density, self._effort, self._epsilon = density, effort, epsilon
        self._known: dict[tuple[Fraction, Fraction], arb] = {}

    def cell(self, low: Fraction, high: Fraction) -> Cell:
        """S at the shifts from one to another."""
        fine = arb(2) ** -self._effort.point + rational(high - low) ** 2 * arb(2) ** -self._effort.cell
        return Cell(self.density, self._epsilon, rational(low).union(rational(high)), self.density.total * fine)

    def over(self, low: Fraction, high: Fraction) -> arb:
        """A ball that holds G, over the total mass, at one shift of a cell, and reaches over all that it is at the others."""
        if (low, high) not in self._known:
            found = self.cell(low, high).divergence() / self.density.total
            self._known[low, high] = found.max(arb(0)).min(arb(1)) if found.is_finite() else arb(0).union(arb(1))
        return self._known[low, high]


class Divergences:
    """The divergences of a density and its copies, set up once for each precision and each epsilon."""

    def __init__(self, reading: Reading, effort: Effort) -> None:
        self._effort = effort
        self.density = per_precision(lambda: MovedDensity(reading, effort.far))
        self._shifts: dict[Any, Shifts] = {}

    def at(self, epsilon: arb) -> Shifts:
        """At an exact epsilon of at least 0, for the working precision, which must be `whole`."""
        key = epsilon.man_exp(), ctx.prec
        if key not in self._shifts:
            self._shifts[key] = Shifts(self.density(), self._effort, epsilon)
        return self._shifts[key]

    def pair(self, shift: Fraction, even: bool) -> Pair:
        """The pair (p, p(. - shift))."""
        forward, backward = (self.greatest((), (side * shift,)) for side in (1, -1))
        rests = partial(self._alone, shift), partial(self._alone, shift if even else -shift)
        return Pair(forward, forward if even else backward, rests=rests)

    def greatest(self, cuts: Sequence[Fraction], shown: Sequence[Fraction]) -> Profile:
        """The greatest of the profiles at all shifts between the first cut and the last, of which some are shown by themselves."""
        cells = [*pairwise(cuts), *((at, at) for at in shown)]

        def at(epsilon: arb) -> arb:
            with whole():
                return reduce(arb.max, (self.at(epsilon).over(low, high) for low, high in cells))

        return divergence(at)

    def _alone(self, shift: Fraction) -> arb:
        """The mass of p where p(. - shift) has none, as its support ends before."""
        with whole():
            return self.density().alone(rational(shift))


@remembered(16)
def divergences(reading: Reading, effort: Effort) -> Divergences:
    """The divergences of a density; equal ones remember what they have computed."""
    return Divergences(reading, effort)


def whole() -> precision:
    """The working precision with guard bits, rounded up: so that what is prepared for one of them serves again."""
    return precision(-(-(ctx.prec + _WHOLE) // _WHOLE) * _WHOLE)
