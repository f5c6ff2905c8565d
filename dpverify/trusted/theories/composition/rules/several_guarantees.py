"""Several guarantees of one mechanism at once, as one pair.

In g = e^epsilon a profile is convex, is 1 at g = 0 and does not rise; of the two orders of a pair, H'(1/g) = 1 - (1 - H(g))/g. So a
mechanism with delta_i at epsilon_i, in both orders, lies below the lower convex hull of (0, 1), of all (g_i, delta_i) and of the points
(1/g_i, 1 - (1 - delta_i)/g_i), constant after the last. This hull is itself convex, falls, and lies above 1 - g: it is the profile of a
pair, the same in both orders. For one guarantee it is that of Kairouz, Oh & Viswanath. Which guarantees are its corners is told; the chords
between any of them bound the profile from above.

Theorem: A mechanism that is (eps_i, delta_i)-DP for several i is dominated by one pair: its profile is, as a function of e^eps, the lower
convex hull of the guarantees, of their mirror images and of (0, 1).

Checked:
- every eps_i is at least 0
- every delta_i is in [0, 1]

Source: docs/theory/composition.md#several-guarantees, Dong, Roth & Su 2022, Proposition 2.12; Zhu, Dong & Wang 2022, Lemma 9; Kairouz, Oh &
Viswanath 2015, Theorem 3.4
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from itertools import pairwise
from typing import Final

from flint import arb

from dpverify.trusted.facts.evaluate import accurately, falling, known
from dpverify.trusted.facts.pairs import Pair, symmetric
from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.errors import Undecided
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, format_expr, symbols
from dpverify.trusted.numbers.each_precision import per_precision

NAME: Final = "several-guarantees"
ASSUMED: Final = ()

MAX_POINTS: Final = 64
"""The most guarantees of one mechanism."""

Point = tuple[Expr, Expr]
"""epsilon in nats and delta, constants both."""

Corner = tuple[arb, arb]
"""e^epsilon and H of a corner of the bound."""


def pair(points: Sequence[Point]) -> Pair:
    """The pair that dominates every mechanism with these guarantees, by chords between them and their mirror images, in both orders.

    points: by rising epsilon, delta falling, and so with the mirror images before them; of any that are not corners of the hull of all the
    bound is the looser. Raises Undecided where there are too many, one is not certainly a guarantee, or they are not certainly in order.
    """
    if len(points) > MAX_POINTS:
        raise Undecided(f"{NAME}: {len(points)} guarantees; at most {MAX_POINTS} are joined.")
    for epsilon, delta in points:
        if symbols(epsilon) or not certainly_le(ZERO, epsilon):
            raise Undecided(f"{NAME}: eps = {format_expr(epsilon)} is not certainly a number of at least 0.")
        if symbols(delta) or not (certainly_le(ZERO, delta) and certainly_le(delta, ONE)):
            raise Undecided(f"{NAME}: delta = {format_expr(delta)} is not certainly a number in [0, 1].")
    every = [(known(epsilon), known(delta)) for epsilon, delta in points]
    corners = _corners(every)
    if not all(b[1] < a[1] and a[0] < b[0] for a, b in pairwise(corners)):
        raise Undecided(f"{NAME}: the guarantees, and their mirror images before them, are not by rising eps with delta falling from 1.")
    lines = per_precision(lambda: _lines(_corners(every)))

    def greatest(level: arb) -> arb:
        return reduce(arb.max, (h + slope * (level - g) for g, h, slope in lines()))

    return symmetric(falling(lambda epsilon: accurately(lambda: greatest(epsilon.exp()))))


def _corners(points: Sequence[tuple[Callable[[], arb], Callable[[], arb]]]) -> list[Corner]:
    """(0, 1), the mirror images, then the points, by rising e^epsilon; at epsilon = 0 a point and its image are one."""
    right = [(epsilon().exp(), delta()) for epsilon, delta in points]
    return [(arb(0), arb(1)), *((1 / g, 1 - (1 - h) / g) for g, h in reversed(right) if not (g - 1).is_zero()), *right]


def _lines(corners: Sequence[Corner]) -> list[tuple[arb, arb, arb]]:
    """Points and slopes of the lines through each two corners that follow each other, and of the constant after the last.

    Of corners of a convex function the greatest of these is the chord; of others it is above that, and of the same kind.
    """
    return [*((x, h, (k - h) / (y - x)) for (x, h), (y, k) in pairwise(corners)), (*corners[-1], arb(0))]
