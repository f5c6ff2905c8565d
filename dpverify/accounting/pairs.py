"""Two laws as a table of two rows and few outputs: one that dominates the two, and one that they dominate.

What Gaussian noise makes of a sum that moves at random has no closed form, so that no kind of mechanism is it. A table is one, and lies on
the safe side: from above through points of the profile, from below through tests. All arithmetic is of balls, rounded to that side. Why
each line is so is told in docs/explanation/events.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Final, NamedTuple

from flint import arb, ctx

Rows = list[list[Fraction]]
"""The probabilities of the outputs with the record, and those without it."""
Point = tuple[Fraction, Fraction]
_SIGNIFICANT: Final = 64
"""Bits of a likelihood ratio at which a profile is looked at."""
_NEAR: Final = 7.0
"""Standard deviations from a centre within which cuts are dense."""
ZERO, ONE = Fraction(0), Fraction(1)


class Fineness(NamedTuple):
    """How fine a table is. outputs: about how many; bits: of its probabilities, below whose unit they are rounded away."""

    outputs: int = 256
    bits: int = 192


class Law(NamedTuple):
    """A mixture of Gaussians on the line: the weight of each, and its centre in standard deviations. The weights have the sum 1."""

    weights: tuple[arb, ...]
    centres: tuple[arb, ...]

    def above(self, t: arb) -> arb:
        """The probability of what is at least t."""
        return _sum(w * normal(c - t) for w, c in zip(self.weights, self.centres, strict=True))

    def density(self, t: arb) -> arb:
        """The density over that of the normal law."""
        return _sum(w * (c * t - c * c / 2).exp() for w, c in zip(self.weights, self.centres, strict=True))


class precise:
    """All arithmetic in it has so many bits."""

    def __init__(self, fine: Fineness) -> None:
        self.bits = 2 * fine.bits + 128

    def __enter__(self) -> None:
        self.before, ctx.prec = ctx.prec, self.bits

    def __exit__(self, *_: object) -> None:
        ctx.prec = self.before


def ball(value: Fraction | int) -> arb:
    """An enclosure of a rational."""
    return arb(value.numerator) / arb(value.denominator)


def normal(t: arb) -> arb:
    """The probability that a normal number is at most t."""
    return (-t / arb(2).sqrt()).erfc() / 2


def of_rising_ratio(first: Callable[[], Law], second: Callable[[], Law], fine: Fineness, *, least: bool) -> Rows:
    """The table of two laws, the ratio of whose densities rises. The best tests of such are `y >= t`."""
    with precise(fine):
        p, q = first(), second()
        cuts = cuts_of((p, q), fine)
        if least:
            return dominated((up(q.above(t), fine.bits), down(p.above(t), fine.bits)) for t in cuts)
        return dominating(at_cut(p, q, t, fine.bits) for t in cuts)


def at_cut(p: Law, q: Law, t: arb, bits: int) -> Point:
    """A likelihood ratio of at least that at t, and the profile there at most: profiles do not rise."""
    ratio = p.density(t) / q.density(t)
    return ratio_up(ratio), up(p.above(t) - ratio * q.above(t), bits)


def cuts_of(laws: Iterable[Law], fine: Fineness) -> list[arb]:
    """Where tests cut, from one far end to the other; denser in the middle, where most of the probability is."""
    centres = [float(centre) for law in laws for centre in law.centres]
    low, high = min(centres) - _NEAR, max(centres) + _NEAR
    further, far = fine.outputs // 6 + 1, max(1.0, _far(fine.bits) - _NEAR)
    inside = fine.outputs - 2 * further
    near = [low + (high - low) * k / inside for k in range(inside + 1)]
    beyond = [far * k / further for k in range(1, further + 1)]
    return [arb(t) for t in (*(low - one for one in reversed(beyond)), *near, *(high + one for one in beyond))]


def _far(bits: int) -> float:
    """A normal number is beyond this with a probability of less than the unit."""
    return math.sqrt(2 * math.log(2) * (bits + 2)) + 1


# -- profiles of Gaussian noise --------------------------------------------------------------------------------------


def gaussian(moved: arb, ratio: arb) -> arb:
    """The profile of N(moved, 1) and N(0, 1) at a likelihood ratio above 0."""
    return normal(moved / 2 - ratio.log() / moved) - ratio * normal(-moved / 2 - ratio.log() / moved)


def sampled(rate: arb, moved: arb, ratio: Fraction) -> arb:
    """The profile of what moves with a probability, and what does not."""
    inside = 1 + (ball(ratio) - 1) / rate
    if inside > 0:
        return rate * gaussian(moved, inside)
    return 1 - ball(ratio) if inside <= 0 else arb(1)


def both_ways(points: Iterable[Point], bits: int) -> list[Point]:
    """Bounds at ratios of at least 1 of a profile that is the same in both orders, and those at ratios below."""
    each = list(points)
    return each + [(ratio_up(1 / ball(ratio)), up(1 - (1 - ball(bound)) / ball(ratio), bits)) for ratio, bound in each]


# -- tables ----------------------------------------------------------------------------------------------------------


def dominating(points: Iterable[Point]) -> Rows:
    """The pair whose profile is the least convex one through bounds of a profile from above: (ratio, bound), ratios above 0.

    It is above the profile everywhere: between two ratios a convex function is below its chord, beyond the last it does not rise.
    """
    hull = _lower_hull([(ZERO, ONE), *_falling(points)])
    slopes = [(y - v) / (x - u) for (u, v), (x, y) in pairwise(hull)] + [ZERO]
    without = [ONE + slopes[0], *(after - before for before, after in pairwise(slopes)), ZERO]
    record = [ratio * mass for (ratio, _), mass in zip(hull, without, strict=False)] + [hull[-1][1]]
    return _two_rows(record, without)


def dominated(points: Iterable[Point]) -> Rows:
    """The pair whose best tests are the mixtures of given ones: (probability without the record at most, with it at least)."""
    inside = sorted({(ZERO, ZERO), (ONE, ONE), *((min(q, ONE), p) for q, p in points if p >= min(q, ONE))})
    hull = [(q, -p) for q, p in _lower_hull([(q, -p) for q, p in _last_of_each(inside)])]
    steps = [(p - v, q - u) for (u, v), (q, p) in pairwise(hull)]
    first = [(hull[0][1], hull[0][0])]  # what only happens with the record
    return _two_rows(*([one[side] for one in (*first, *steps)] for side in (0, 1)))


def _falling(points: Iterable[Point]) -> list[Point]:
    """Bounds in the order of their ratios, each at least that by triviality, none above one before it."""
    found: list[Point] = []
    least = ONE
    for ratio, bound in sorted(points):
        least = min(least, max(bound, ONE - ratio))
        if ratio > 0 and (not found or ratio > found[-1][0]):
            found.append((ratio, least))
    return found


def _last_of_each(points: Sequence[Point]) -> list[Point]:
    """The greatest second number of each first."""
    return list({first: (first, second) for first, second in points}.values())


def _lower_hull(points: Sequence[Point]) -> list[Point]:
    hull: list[Point] = []
    for x, y in points:
        while len(hull) > 1 and (hull[-1][1] - hull[-2][1]) * (x - hull[-1][0]) >= (y - hull[-1][1]) * (hull[-1][0] - hull[-2][0]):
            hull.pop()
        hull.append((x, y))
    return hull


def _two_rows(record: Sequence[Fraction], without: Sequence[Fraction]) -> Rows:
    kept = [both for both in zip(record, without, strict=True) if any(both)]
    rows = [[both[side] for both in kept] for side in (0, 1)]
    assert all(sum(row) == 1 and min(row) >= 0 for row in rows), "a table is made of probabilities"
    return rows


# -- rounding --------------------------------------------------------------------------------------------------------


def up(value: arb, bits: int) -> Fraction:
    """The least multiple of 2^-bits that is certainly no less, and at least 0; at most 1."""
    return min(ONE, max(ZERO, -_floored(-value, bits)))


def down(value: arb, bits: int) -> Fraction:
    """The greatest multiple of 2^-bits that is certainly no more, between 0 and 1."""
    return min(ONE, max(ZERO, _floored(value, bits)))


def _floored(value: arb, bits: int) -> Fraction:
    if not value.is_finite():
        return -ONE
    mantissa, exponent = value.lower().man_exp()
    return Fraction((Fraction(int(mantissa)) * Fraction(2) ** int(exponent) * 2**bits).__floor__(), 2**bits)


def ratio_up(value: arb) -> Fraction:
    """A rational of few bits that is certainly no less."""
    mantissa, exponent = value.upper().man_exp()
    spare = max(0, int(mantissa).bit_length() - _SIGNIFICANT)
    return Fraction(-(-int(mantissa) >> spare)) * Fraction(2) ** (int(exponent) + spare)


def ratio_down(value: arb) -> Fraction:
    """A rational of few bits that is certainly no more than a number above 0."""
    return 1 / ratio_up(1 / value)


def _sum(values: Iterable[arb]) -> arb:
    total = arb(0)
    for value in values:
        total += value
    return total
