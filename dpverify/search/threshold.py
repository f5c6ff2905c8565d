"""Where a property of one number begins or ends to hold: a root finder on a grid of decimals, or of integers.

What is asked of a number may be slow, and says more than yes or no: by how much the number misses, as a logarithm of a ratio, which is
close to linear in the logarithm of the number where noise is scaled. So the next place to look is where a line through two answers is 0,
with halving where that helps little. Nothing here is trusted: who asks certifies the two neighbours on the grid that come out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise
from typing import Final

LEAST, GREATEST = "least", "greatest"
_MOST: Final = 60
"""As many numbers as are looked at before both answers have been seen."""
_FAR: Final = 64
"""The factor by which one guess may leave what has been seen."""
_BEYOND: Final = 256
"""The factor by which it is looked beyond the end that was not meant, for the one that was."""
_ENDS: Final = (Fraction(1, 10**12), Fraction(10**12))
_SLOW: Final = 3
"""So many guesses in a row on one side are followed by halving."""


@dataclass(frozen=True, slots=True)
class Seen:
    """An answer. excess: above 0 where the property does not hold, nan where that is all that is known."""

    at: Fraction
    holds: bool
    excess: float = math.nan


@dataclass(frozen=True, slots=True)
class Grid:
    """The numbers that may come out: positive decimals of so many significant digits, or integers where digits is 0."""

    digits: int
    lowest: Fraction | None = None
    highest: Fraction | None = None

    def up(self, value: float | Fraction) -> Fraction:
        """The least number of the grid that is not below a value."""
        return self.inside(self._rounded_up(Fraction(value)))

    def after(self, value: Fraction) -> Fraction:
        """The next greater number of the grid."""
        return value + self._step(value)

    def before(self, value: Fraction) -> Fraction:
        """The next smaller number of the grid."""
        step = self._step(value)
        return value - (step / 10 if self.digits and value - step < _power(value) else step)

    def inside(self, value: Fraction) -> Fraction:
        """The value, or the end of the grid that it is beyond."""
        low, high = self.ends
        return min(max(value, low), high)

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        """The least and the greatest number that are looked at, both of the grid."""
        low = Fraction(1) if not self.digits and self.lowest is None else self.lowest
        high = self.highest
        step = Fraction(1) if high is None else self._step(high)
        return _ENDS[0] if low is None else self._rounded_up(low), _ENDS[1] if high is None else high // step * step

    def _rounded_up(self, value: Fraction) -> Fraction:
        step = self._step(value)
        return -(-value // step) * step

    def _step(self, value: Fraction) -> Fraction:
        return _power(value) / 10 ** (self.digits - 1) if self.digits else Fraction(1)


def _power(value: Fraction) -> Fraction:
    """The power of ten of the leading digit."""
    exponent = len(str(value.numerator)) - len(str(value.denominator))
    return Fraction(10) ** (exponent if Fraction(10) ** exponent <= value else exponent - 1)


@dataclass
class Threshold:
    """A search.

    look: the answer for a number of the grid; word: which end is meant, LEAST or GREATEST; start: where to look first; rising: whether the
    excess is expected to grow with the number, as a first guess.
    """

    look: Callable[[Fraction], Seen]
    grid: Grid
    word: str
    start: Fraction
    rising: bool = False
    seen: dict[Fraction, Seen] = field(default_factory=dict)

    def at(self, value: Fraction) -> Seen:
        """The answer at a number, asked once."""
        if value not in self.seen:
            self.seen[value] = self.look(value)
        return self.seen[value]

    def bracket(self) -> tuple[Seen, Seen] | None:
        """Two numbers, the smaller one first, between which the property begins to hold (LEAST) or ends to (GREATEST).

        None where none are found. Where it is asked for the least and the property holds of all that is smaller, the greatest is meant,
        and `word` says so.
        """
        self.at(self.grid.inside(self.grid.up(self.start)))
        for guess in self._guesses():
            self.at(guess)
            if self._crossing(LEAST) or self._crossing(GREATEST):
                break
        other = LEAST if self.word == GREATEST else GREATEST
        if self._crossing(self.word) is None and self._crossing(other) is not None:
            self._beyond()
            if self._crossing(self.word) is None and self.word == LEAST:
                self.word = GREATEST
        return self._crossing(self.word)

    def neighbours(self) -> tuple[Seen, Seen] | None:
        """The same, next to each other on the grid."""
        found, sides = self.bracket(), ""
        while found is not None and self.grid.after(found[0].at) < found[1].at:
            low, high = found
            slow = len(sides) >= _SLOW and len(set(sides[-_SLOW:])) == 1
            guess = None if slow else self._secant(low, high)
            middle = self.grid.up(_between(low.at, high.at) if guess is None else guess)
            middle = min(max(middle, self.grid.after(low.at)), self.grid.before(high.at))
            sides = "" if slow else sides + ("b" if self.at(middle).holds == high.holds else "a")
            found = self._crossing(self.word)
        return found

    def within(self, grid: Grid, word: str) -> Threshold:
        """The same search on a part of the grid, with the answers that are known there."""
        low, high = grid.ends
        known = {value: seen for value, seen in self.seen.items() if low <= value <= high}
        return replace(self, grid=grid, word=word, start=min(known), seen=known)

    def correct(self, seen: Seen, units: int) -> None:
        """Take another answer for a number than `look` gave, and look so many units further on the side where this leads to."""
        self.seen[seen.at] = seen
        outward = self.grid.after if seen.holds != (self.word == LEAST) else self.grid.before
        value = seen.at
        for _ in range(units):
            value = outward(value)
        self.at(self.grid.inside(value))

    def _crossing(self, word: str) -> tuple[Seen, Seen] | None:
        ordered = [self.seen[value] for value in sorted(self.seen)]
        pairs = list(pairwise(ordered))
        pairs = pairs if word == LEAST else pairs[::-1]
        return next(((low, high) for low, high in pairs if low.holds != high.holds and high.holds == (word == LEAST)), None)

    def _guesses(self) -> Iterator[Fraction]:
        """Where to look until both answers have been seen: where a line says, else further out on both sides."""
        up, factor = True, 1
        for _ in range(_MOST):
            ordered, line = sorted(self.seen), self._line()
            if line is not None and (guess := self.grid.up(min(max(line, ordered[0] / _FAR), ordered[-1] * _FAR))) not in self.seen:
                yield guess
                continue
            factor *= 4 if up else 1
            low, high = (self.grid.up(ordered[0] / factor), self.grid.up(ordered[-1] * factor))
            near = [value for value in ((high, low) if up else (low, high)) if value not in self.seen]
            if not near:
                return
            up = not up
            yield near[0]

    def _beyond(self) -> None:
        """Look further out on the side where the meant end would be."""
        self.at(self.grid.up(min(self.seen) / _BEYOND if self.word == LEAST else max(self.seen) * _BEYOND))

    def _line(self) -> Fraction | None:
        """A little beyond where a line through the two nearest answers is 0; through one, the line of the slope that is expected."""
        finite = sorted((seen for seen in self.seen.values() if math.isfinite(seen.excess)), key=lambda seen: abs(seen.excess))
        root = _root(finite[0], finite[1]) if len(finite) > 1 else None
        if len(finite) == 1:
            root = float(finite[0].at) * math.exp(min(max(finite[0].excess * (-1 if self.rising else 1), -40), 40))
        if root is None:
            return None
        near = finite[0].at
        return Fraction(root) * (Fraction(101, 100) if root > near else Fraction(99, 100))

    def _secant(self, low: Seen, high: Seen) -> Fraction | None:
        """Where a line through the two nearest answers is 0, if that is between the two."""
        finite = sorted((seen for seen in self.seen.values() if math.isfinite(seen.excess)), key=lambda seen: abs(seen.excess))
        guesses = [_root(finite[0], finite[1])] if len(finite) > 1 else []
        guesses += [_root(low, high)] if math.isfinite(low.excess) and math.isfinite(high.excess) else []
        return next((Fraction(guess) for guess in guesses if guess is not None and low.at <= guess <= high.at), None)


def _root(one: Seen, other: Seen) -> float | None:
    """Where a line through two answers, in the logarithm of the number, is 0."""
    if one.excess == other.excess:
        return None
    x, y = math.log(one.at), math.log(other.at)
    root = x - one.excess * (y - x) / (other.excess - one.excess)
    return math.exp(root) if abs(root) < 600 else None


def _between(low: Fraction, high: Fraction) -> Fraction:
    """The middle: of the logarithms where the two are far apart."""
    return Fraction(math.exp((math.log(low) + math.log(high)) / 2)) if high > 2 * low else (low + high) / 2
