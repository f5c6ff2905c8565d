"""Chords, lines and tangents of h, by which other measures are bounded (theory#measures-of-a-curve)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Final

from flint import arb

from dpverify.trusted.facts.pairs import Pair, Profile
from dpverify.trusted.kernel.balls import rational
from dpverify.trusted.kernel.errors import Rejected, require

RULE: Final = "measures-of-a-curve"


class Chords:
    """The chords of h between e^epsilon for epsilon among points, and their reciprocals: 0 beyond all of them.

    alone: only the first of the two has losses up to the last point at most; below all points h is x times a profile, which does not rise.
    """

    def __init__(self, pair: Pair, points: Sequence[Fraction], alone: bool = False) -> None:
        at = [rational(point) for point in points]
        self._last = (-at[-1]).exp()
        self._tail = pair.backward(at[-1]) if alone else arb(0)
        self._heights = [(x.exp(), pair.forward(x)) for x in at[:-1]] + [(at[-1].exp(), arb(0))]
        self._lows = [((-x).exp(), (-x).exp() * pair.backward(x)) for x in at[:-1]] + [(self._last, self._last * self._tail)]

    def cumulant(self, order: arb) -> arb:
        """At least log of the sum of p^a q^(1 - a), a above 1."""
        total = sum((_integral(order, left, right) for left, right in pairwise(self._heights)), arb(0))
        total += sum((_integral(order, left, right) for right, left in pairwise(self._lows)), arb(0))
        total += self._tail * self._last**order / order
        return (order * (order - 1) * total).log1p()


Point = tuple[arb, arb]


def _integral(order: arb, left: Point, right: Point) -> arb:
    """The integral of x^(a - 2) times the line through two points, from the first to the second."""
    return _of_line(order, left[0], right[0], left, right)


def _of_line(order: arb, low: arb, high: arb, first: Point, second: Point) -> arb:
    """The integral of x^(a - 2) times the line through two points, between bounds."""
    slope = (second[1] - first[1]) / (second[0] - first[0])
    base = first[1] - slope * first[0]
    return base * _powers(order - 1, low, high) + slope * _powers(order, low, high)


def _powers(k: arb, low: arb, high: arb) -> arb:
    """(high^k - low^k)/k, without the cancellation."""
    return low**k * (k * (high / low).log()).expm1() / k


def within_gaussian(profile: Profile, mu: arb, points: Sequence[Fraction]) -> None:
    """Raises Rejected unless a profile is certainly at most that of N(0, 1) and N(mu, 1), at every epsilon of at least 0.

    In x = e^epsilon the profile is at most its chord, and the other at least its tangent at the middle.
    """
    require(mu > 0, Rejected(RULE, "value", "it is not positive"))
    heights = [(rational(x).exp(), profile(rational(x))) for x in points[:-1]] + [(rational(points[-1]).exp(), arb(0))]
    root = arb(2).sqrt()
    for (u, low), (v, high) in pairwise(heights):
        middle = (u + v) / 2
        near = middle.log() / mu
        slope = ((near + mu / 2) / root).erfc() / 2
        value = ((near - mu / 2) / root).erfc() / 2 - middle * slope
        if not (low <= value + slope * (middle - u) and high <= value + slope * (middle - v)):
            raise Rejected(RULE, "value", "the profile is not certainly within that of Gaussian noise between two points")


def least(order: arb, pair: Pair, points: Sequence[Fraction]) -> arb:
    """At most log of the sum of p^a q^(1 - a): h between two points is at least 0, and the line through the next two."""
    at = [rational(point) for point in points]
    heights = [(x.exp(), pair.forward(x)) for x in at]
    lows = [((-x).exp(), (-x).exp() * pair.backward(x)) for x in at]
    total = arb(0)
    for (left, right), following in zip(pairwise(heights), heights[2:], strict=False):
        total += _of_line(order, left[0], right[0], right, following)
    for (right, left), following in zip(pairwise(lows), lows[2:], strict=False):
        total += _of_line(order, left[0], right[0], left, following)
    return (order * (order - 1) * total.lower().max(arb(0))).log1p()
