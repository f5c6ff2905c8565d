"""Several guarantees of one mechanism at once, as one pair.

In g = e^epsilon a profile is convex, is 1 at g = 0 and does not rise; of the two orders of a pair, H'(1/g) = 1 - (1 - H(g))/g. So a
mechanism with delta_i at epsilon_i, in both orders, lies below the lower convex hull of (0, 1), of all (g_i, delta_i) and of the points
(1/g_i, 1 - (1 - delta_i)/g_i), constant after the last. This hull is itself convex, falls, and lies above 1 - g: it is the profile of a
pair, the same in both orders. For one guarantee it is that of Kairouz, Oh & Viswanath.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from flint import arb, ctx

from dpverify.compare import certainly_le
from dpverify.curves.base import Pair, symmetric
from dpverify.curves.evaluate import Known, accurately, falling
from dpverify.errors import Undecided
from dpverify.expr import ONE, ZERO, Expr, format_expr, symbols
from dpverify.model import Source

NAME: Final = "several-guarantees"
STATEMENT: Final = (
    "A mechanism that is (eps_i, delta_i)-DP for several i is dominated by one pair: its profile is, as a function of e^eps, the lower "
    "convex hull of the guarantees, of their mirror images and of (0, 1)."
)
CHECKED: Final = ("every eps_i is at least 0", "every delta_i is in [0, 1]")
ASSUMED: Final = ()
SOURCE: Final = Source("Dong, Roth & Su 2022, Proposition 2.12; Zhu, Dong & Wang 2022, Lemma 9; Kairouz, Oh & Viswanath 2015, Theorem 3.4")

MAX_POINTS: Final = 64
"""The most guarantees of one mechanism: the work grows with their square."""

Point = tuple[Expr, Expr]
"""epsilon in nats and delta, constants both."""


def pair(points: Sequence[Point]) -> Pair:
    """The pair that dominates every mechanism with all of these guarantees; the same in both orders.

    Raises Undecided where there is none, too many, or one is not certainly a guarantee.
    """
    if not 1 <= len(points) <= MAX_POINTS:
        raise Undecided(f"{NAME}: {len(points)} guarantees; from 1 to {MAX_POINTS} are joined.")
    for epsilon, delta in points:
        if symbols(epsilon) or not certainly_le(ZERO, epsilon):
            raise Undecided(f"{NAME}: eps = {format_expr(epsilon)} is not certainly a number of at least 0.")
        if symbols(delta) or not (certainly_le(ZERO, delta) and certainly_le(delta, ONE)):
            raise Undecided(f"{NAME}: delta = {format_expr(delta)} is not certainly a number in [0, 1].")
    known = [(Known(epsilon), Known(delta)) for epsilon, delta in points]
    return symmetric(falling(_hull(known)))


def _hull(known: Sequence[tuple[Known, Known]]) -> Callable[[arb], arb]:
    def corners() -> list[tuple[arb, arb]]:
        """epsilon and H of all points but (0, 1) in e^epsilon."""
        right = [(epsilon(), delta()) for epsilon, delta in known]
        return right + [(-epsilon, 1 - (1 - delta) * (-epsilon).exp()) for epsilon, delta in right]

    def at(epsilon: arb) -> arb:
        return accurately(lambda: _on_both_sides(corners(), epsilon))

    return at


def _on_both_sides(corners: Sequence[tuple[arb, arb]], epsilon: arb) -> arb:
    """The hull at an exact epsilon. Beside a corner of the same epsilon it lies between its values on the two sides, since it falls."""
    beside = [x for x, _ in corners if x.overlaps(epsilon)]
    if not beside:
        return _between(corners, epsilon)
    step = arb(2) ** (8 - ctx.prec)
    values: list[arb] = []
    for sign in (-1, 1):
        point = epsilon
        for x in beside:
            point = (x.lower() - step).lower().min(point) if sign < 0 else (x.upper() + step).upper().max(point)
        if any(x.overlaps(point) for x, _ in corners):
            raise Undecided(f"{NAME}: two guarantees at epsilons too near to tell apart; leave one of them out.")
        values.append(_between(corners, point))
    return values[0].union(values[1])


def _between(corners: Sequence[tuple[arb, arb]], epsilon: arb) -> arb:
    """The hull where epsilon is certainly between corners: the least of all chords above it."""
    level = epsilon.exp()
    left = [(x.exp(), h) for x, h in corners if x < epsilon]
    right = [(x.exp(), h) for x, h in corners if x > epsilon]
    best = arb(1)
    for _, h in left:
        best = best.min(h)
    for x, h in [*left, (arb(0), arb(1))]:
        for y, k in right:
            best = best.min((h * (y - level) + k * (level - x)) / (y - x))
    return best
