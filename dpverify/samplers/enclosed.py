"""Draws from a law on integers whose probabilities are known as balls, to any precision: exact inversion.

A uniform number is known by its first bits, an interval, and a distribution function by a ball. Where the interval lies clear of the balls
the outcome is decided; else both are made narrower: more bits are drawn, and the balls are made again, and nothing is ever rounded
(theory#undecided-draws). Where no narrower ball is to be had, as for the sums of heavy tails, its middle decides, and how wide it was is
stated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import floor
from typing import Any, Final

import numpy as np
from flint import arb, ctx

from dpverify.errors import NoSampler
from dpverify.trusted.kernel.balls import exact, precision, value
from dpverify.trusted.kernel.errors import ExprError, Undecided
from dpverify.trusted.kernel.expr import Expr, neg, substitute
from dpverify.trusted.kernel.expr import Sym as Symbol
from dpverify.trusted.numbers.lattice_sums import lattice_sum

WORD: Final = 64
_MOST_BITS: Final = 4096
_MOST_LISTED: Final = 1 << 13
_GUARD: Final = 64
_SHARP: Final = Fraction(1, 2**80)
_COARSE: Final = Fraction(1, 10**6)

Integers = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Enclosed:
    """A law on the integers.

    listed: at the working precision, the probabilities of at most each of the integers from `first` on, a ball each; the integers beyond,
    on either side, have little mass. up_to: the same of any integer. ends: the support, None where it has no end.
    blurred: how much of the mass may be counted to a neighbouring integer.
    """

    first: int
    listed: Callable[[], list[arb]]
    up_to: Callable[[int], arb]
    ends: tuple[int | None, int | None]
    blurred: float = 0.0

    def draw(self, size: int, rng: np.random.Generator, bits: int = WORD) -> Integers:
        """Independent draws. bits: of the uniform numbers, before more are needed; at most 64."""
        lower, upper = self._words
        words = rng.integers(0, 2**bits - 1, size=size, dtype=np.uint64, endpoint=True)
        if bits < WORD:
            lower, upper = lower >> np.uint64(WORD - bits), (upper >> np.uint64(WORD - bits)) + np.uint64(1)
        places = np.searchsorted(upper, words, side="right")
        decided = (places < len(lower)) & (words < lower[np.minimum(places, len(lower) - 1)]) & (words < 2**bits - 1)
        if self.ends[0] != self.first:
            decided &= places > 0
        outcomes = places.astype(np.int64) + self.first
        open_ones = [self._settled(int(words[i]), bits, int(outcomes[i]), rng) for i in np.flatnonzero(~decided)]
        if any(abs(outcome) >= 2**63 for outcome in open_ones):
            outcomes = outcomes.astype(object)
        outcomes[~decided] = open_ones
        return outcomes

    @cached_property
    def _words(self) -> tuple[np.ndarray[Any, np.dtype[np.uint64]], np.ndarray[Any, np.dtype[np.uint64]]]:
        """For each listed integer the greatest words that are certainly below, and the least that are certainly not."""
        with precision(WORD + _GUARD):
            sides = [(_word(ball.lower()), _word(ball.upper()) + 1) for ball in self.listed()]
        lower, upper = (np.array([min(max(side[i], 0), 2**WORD - 1) for side in sides], dtype=np.uint64) for i in (0, 1))
        return lower, np.maximum.accumulate(upper)

    def _settled(self, word: int, bits: int, near: int, rng: np.random.Generator) -> int:
        """The outcome of the uniform number that begins with these bits; more are drawn until it is decided. near: where it may be."""
        while bits < _MOST_BITS:
            word, bits = word << WORD | int(rng.integers(0, 2**WORD - 1, dtype=np.uint64, endpoint=True)), bits + WORD
            with precision(bits + _GUARD):
                outcome = self._found(arb(word) / arb(2) ** bits, arb(word + 1) / arb(2) ** bits, near)
            if outcome is not None:
                return outcome
        raise NoSampler(f"{_MOST_BITS} bits do not tell two integers apart; this is next to impossible: report it.")

    def _found(self, low: arb, high: arb, near: int) -> int | None:
        """The integer that every number between low and high is mapped to; None where that is not decided."""
        first, last = self.ends
        below, reached, step = near - 1, near, max(1, abs(near) // 2)
        while (last is None or reached < last) and not self._side(reached, low, high):
            below, reached, step = reached, reached + step, 2 * step
        reached, step = reached if last is None else min(reached, last), max(1, abs(near) // 2)
        while (first is None or below >= first) and self._side(below, low, high) is not False:
            below, step = below - step, 2 * step
        below = below if first is None else max(below, first - 1)
        while reached - below > 1:
            middle = (below + reached) // 2
            side = self._side(middle, low, high)
            if side is None:
                return None
            below, reached = (below, middle) if side else (middle, reached)
        return reached

    def _side(self, outcome: int, low: arb, high: arb) -> bool | None:
        """Whether the number is mapped to at most this integer; None where that is not decided."""
        ball = self.up_to(outcome)
        if self.blurred:
            ball = ball.mid()
        return True if high <= ball else False if ball <= low else None


def _word(number: arb) -> int:
    """The integer part of 2^64 times an exact number."""
    return floor(exact(number * arb(2) ** WORD))


# -- finitely many ---------------------------------------------------------------------------------------------


def finite(weights: tuple[Expr, ...]) -> Enclosed:
    """The law of 0, 1, ... with these weights, constants of at least 0."""

    def listed() -> list[arb]:
        sums = [arb(0)]
        for weight in weights:
            sums.append(sums[-1] + value(weight, {}))
        return [total / sums[-1] for total in sums[1:-1]] + [arb(1)]

    def up_to(outcome: int) -> arb:
        return arb(0) if outcome < 0 else listed()[min(outcome, len(weights) - 1)]

    return Enclosed(0, listed, up_to, (0, len(weights) - 1))


# -- all integers ----------------------------------------------------------------------------------------------


def lattice(density: Expr, name: str, lower: int | None, upper: int | None) -> Enclosed:
    """The law on the integers from `lower` to `upper` of this density. Raises NoSampler where its sums cannot be enclosed."""
    law = _Lattice(density, name, lower, upper)
    try:
        with precision(WORD + _GUARD):
            total = law.total()
            width = _relative(total)
            if width > _COARSE:
                raise Undecided("the sum of the density over the integers is known too coarsely.")
            first, last = law.reach(total, width)
    except (Undecided, ExprError) as error:
        raise NoSampler(f"the probabilities of this noise on the integers cannot be enclosed: {error}") from error

    def listed() -> list[arb]:
        total, sums = law.total(), [law.up_to_part(first)]
        for z in range(first + 1, last + 1):
            sums.append(sums[-1] + law.at(z))
        return [part / total for part in sums]

    def up_to(outcome: int) -> arb:
        if lower is not None and outcome < lower:
            return arb(0)
        return arb(1) if upper is not None and outcome >= upper else law.up_to_part(outcome) / law.total()

    return Enclosed(first, listed, up_to, (lower, upper), 0.0 if width < _SHARP else 4 * float(width))


def _relative(ball: arb) -> Fraction:
    """The radius of a ball over its middle, rounded up."""
    return Fraction(1) if not ball > 0 else Fraction(float((ball.rad() / abs(ball).lower()).upper()) * (1 + 1e-9))


@dataclass(frozen=True, slots=True)
class _Lattice:
    """Sums of a density over the integers, at the working precision."""

    density: Expr
    name: str
    lower: int | None
    upper: int | None

    def at(self, z: int) -> arb:
        return value(self.density, {self.name: arb(z)})

    def total(self) -> arb:
        return self._sum(self.lower, self.upper)

    def _sum(self, lower: int | None, upper: int | None) -> arb:
        return _summed(self, lower, upper, ctx.prec)

    def up_to_part(self, z: int) -> arb:
        """The sum up to z: of a tail, or what a tail leaves, or of all its terms."""
        if self.lower is None and (z < 0 or self.upper is not None):
            return self._sum(None, z)
        return self.total() - self._sum(z + 1, None) if self.upper is None else self._sum(self.lower, z)

    def reach(self, total: arb, width: Fraction) -> tuple[int, int]:
        """The integers that are listed: all but a mass of 2^-64 on either side, where these are not too many."""
        little, step = total * arb(2) ** -WORD, 16 if width < _SHARP else _MOST_LISTED
        first, last = self.lower, self.upper
        if last is None:
            last, anchor = max(self.lower or 0, 0), max(self.lower or 0, 0)
            while last - anchor < _MOST_LISTED and not self._sum(last + 1, None) < little:
                last = anchor + max(step, 2 * (last - anchor))
        if first is None:
            anchor = min(self.upper if self.upper is not None else 0, 0)
            first = anchor
            while anchor - first < _MOST_LISTED and not self.up_to_part(first - 1) < little:
                first = anchor - max(step, 2 * (anchor - first))
        if last - first > 4 * _MOST_LISTED:
            raise Undecided(f"there are {last - first + 1} of them.")
        return first, last


@lru_cache(maxsize=1 << 14)
def _summed(law: _Lattice, lower: int | None, upper: int | None, bits: int) -> arb:
    """A sum at the working precision, which is `bits`."""
    if lower is None and upper is not None:  # from the other side, where a tail begins that has no end
        density = substitute(law.density, {law.name: neg(Symbol(law.name))})
        return lattice_sum(density, law.name, -upper, None, bits=bits - _GUARD // 2)
    return lattice_sum(law.density, law.name, lower, upper, bits=bits - _GUARD // 2)
