"""The supremum over all orders of a Renyi divergence over its order, between cuts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final

from flint import arb

from dpverify.trusted.kernel.balls import finite, rational
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.language.rationals import read_rising

MOST_CUTS: Final = 4000


def read_cuts(given: Any, rule: str) -> list[Fraction]:
    """Rising orders from 1 on, two at least. Raises CertificateError."""
    return read_rising(given, "cuts", rule, 2, MOST_CUTS, first=1)


def most_over_orders(cuts: Sequence[Fraction], cumulant: Callable[[arb], arb], greatest: arb) -> arb:
    """At least D_a/a for every order a from the first cut, which is above 1, on.

    cumulant: (a - 1) D_a at an order, or at least that. greatest: at least every loss, so that D_a/a <= greatest/a.
    (a - 1) D_a is convex in a: between two cuts u < v at most its chord, and a (a - 1) is at least its tangent at the middle, which at u
    and v is less by ((v - u)/2)^2. So D_a/a = (a - 1) D_a/(a (a - 1)) is at most a quotient of linear functions, greatest at an end.
    """
    most, ends = greatest / rational(cuts[-1]), [(rational(cut), cumulant(rational(cut))) for cut in cuts]
    for (u, low), (v, high) in pairwise(ends):
        sag = ((v - u) / 2) ** 2
        bottoms = u * (u - 1) - sag, v * (v - 1) - sag
        if not bottoms[0] > 0:  # the other is greater
            raise Rejected("measures", "cuts", "two cuts are too far apart for the chord between them")
        most = most.max(low / bottoms[0]).max(high / bottoms[1])
    return finite(most)
