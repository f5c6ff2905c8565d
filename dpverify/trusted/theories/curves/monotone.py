"""Monotone functions of one variable: the pieces of a function between given cuts, and where it passes a level.

A function gives its value and its slope, and the bend where one is known, over a ball of its variable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from flint import arb, ctx

from dpverify.trusted.numbers.jets import Jet

Sloped = Callable[[arb], tuple[arb, arb]]
"""Value and slope."""

_BEYOND: Final = 4
"""How often the width of a value fits between the level and the values beside the root: once for either value, and to spare."""


@dataclass(frozen=True, slots=True)
class Rise:
    """An interval on which a function does not fall (direction 1) or does not rise (-1), or where that is not known (0).

    low, high: the same ball where two meet at a turn.
    """

    low: arb
    high: arb
    direction: int


def rises(f: Callable[[arb], Jet], cuts: Sequence[arb]) -> list[Rise]:
    """The monotone pieces between cuts: a cell between two of them shows one direction, or one turn, or nothing."""
    merged: list[Rise] = []
    for piece in (piece for low, high in pairwise(cuts) for piece in _of_cell(f, low, high)):
        joined = bool(merged) and merged[-1].direction == piece.direction != 0
        merged.append(Rise(merged.pop().low, piece.high, piece.direction) if joined else piece)
    return merged


def _of_cell(f: Callable[[arb], Jet], low: arb, high: arb) -> Iterator[Rise]:
    over, middle = f(low.union(high)), ((low + high) / 2).mid()
    slope = over.d1
    if not (slope >= 0 or slope <= 0):
        slope = f(middle).d1 + over.d2 * (low.union(high) - middle)
    first, last = f(low).d1, f(high).d1
    if slope >= 0 or slope <= 0:
        yield Rise(low, high, 1 if slope >= 0 else -1)
    elif (over.d2 > 0 and first < 0 < last) or (over.d2 < 0 and last < 0 < first):
        left, right = around(lambda x: ((jet := f(x)).d1, jet.d2), arb(0), low, high, bool(last > 0), 2 * ctx.prec)
        turn = left.union(right)
        yield Rise(low, turn, 1 if first > 0 else -1)
        yield Rise(turn, high, 1 if last > 0 else -1)
    else:
        yield Rise(low, high, 0)


def around(f: Sloped, level: arb, low: arb, high: arb, rising: bool, bits: int, unit: int = 0) -> tuple[arb, arb]:
    """Points on either side of where a monotone f passes a level, f certainly not past it at the first, and at the last past it or there.

    Each is as far from the root as f needs, by its slope there, to leave the level by more than its values are wide; an end of [low, high]
    stands where that is not inside, or not certain. bits: how near each other they may be at most, relative to their size, or to `unit`
    where that is more.
    """
    root = about(f, level, low, high, rising, bits, unit)
    value, slope = f(root)
    width = (arb(2) ** -bits * _size(root, unit)).max(_BEYOND * (value - level).abs_upper() / abs(slope.mid()))
    left, right = (root - width).mid(), (root + width).mid()
    before = left > low and _past(f(left)[0], level, not rising)
    after = right < high and _past(f(right)[0], level, rising)
    return left if before else low, right if after else high


def _past(value: arb, level: arb, above: bool) -> bool:
    return bool(value >= level if above else value <= level)


def about(f: Sloped, level: arb, low: arb, high: arb, rising: bool, bits: int, unit: int = 0) -> arb:
    """A point of [low, high] near the root; proves nothing.

    Newton's method, kept inside a bracket: a step that leaves the bracket, or is more than half of the one before, goes to the middle
    instead. So between two of these the steps end after as many halvings as there are bits wanted, and each of them halves the bracket.
    """
    low, high, least = low.mid(), high.mid(), arb(2) ** -(bits + 4)
    at = _middle(low, high)
    moved = high - low
    while low < at < high and moved > least * _size(at, unit):
        value, slope = f(at)
        gap = (value - level).mid()
        if gap == 0:
            break
        low, high = (low, at) if (gap > 0) == rising else (at, high)
        step = (at - gap / slope.mid()).mid()
        if not (low < step < high and 2 * abs(step - at) < moved):
            step = _middle(low, high)
        moved, at = abs(step - at), step
    return at


def _size(at: arb, unit: int) -> arb:
    """What closeness is relative to; above 0, so that roots at 0 come to an end."""
    return (unit + abs(at)).max(arb(2) ** (-8 * ctx.prec)).mid()


def _middle(low: arb, high: arb) -> arb:
    """Half way, in the exponent where the two ends are of different order."""
    if low < 0 < high:
        return arb(0)
    if high <= 0:
        return -_middle(-high, -low)
    if not high > 4 * low:
        return ((low + high) / 2).mid()
    if low > 0:
        return (low * high).sqrt().mid()
    return (high**2 if 2 * high < 1 else high.sqrt() if high > 2 else high / 2).mid()
