"""Several guarantees of one mechanism at once, as one pair.

In g = e^epsilon a profile is convex, is 1 at g = 0 and does not rise; of the two orders of a pair, H'(1/g) = 1 - (1 - H(g))/g. So a
mechanism with delta_i at epsilon_i, in both orders, lies below the lower convex hull of (0, 1), of all (g_i, delta_i) and of the points
(1/g_i, 1 - (1 - delta_i)/g_i), constant after the last. This hull is itself convex, falls, and lies above 1 - g: it is the profile of a
pair, the same in both orders. For one guarantee it is that of Kairouz, Oh & Viswanath.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final

from flint import arb, ctx

from dpverify.trusted.facts.evaluate import Known, accurately, falling
from dpverify.trusted.facts.pairs import Pair, symmetric
from dpverify.trusted.language.errors import Undecided
from dpverify.trusted.language.expr import ONE, ZERO, Expr, format_expr, symbols
from dpverify.trusted.language.model import Source
from dpverify.trusted.numbers.balls import exact, precision
from dpverify.trusted.order.compare import certainly_le

NAME: Final = "several-guarantees"
STATEMENT: Final = (
    "A mechanism that is (eps_i, delta_i)-DP for several i is dominated by one pair: its profile is, as a function of e^eps, the lower "
    "convex hull of the guarantees, of their mirror images and of (0, 1)."
)
CHECKED: Final = ("every eps_i is at least 0", "every delta_i is in [0, 1]")
ASSUMED: Final = ()
SOURCE: Final = Source(
    "docs/theory/composition.md#several-guarantees",
    "Dong, Roth & Su 2022, Proposition 2.12; Zhu, Dong & Wang 2022, Lemma 9; Kairouz, Oh & Viswanath 2015, Theorem 3.4",
)

MAX_POINTS: Final = 64
"""The most guarantees of one mechanism: the work grows with their square."""

CHOSEN_AT: Final = 256
"""Bits at which the corners of the hull are chosen."""

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


Corner = tuple[arb, arb]
"""epsilon and H of a point of the hull."""


def _hull(known: Sequence[tuple[Known, Known]]) -> Callable[[arb], arb]:
    with precision(CHOSEN_AT):
        chosen = _vertices(_corners(known))
    remembered: dict[int, list[Corner]] = {}

    def corners() -> list[Corner]:
        if ctx.prec not in remembered:
            every = _corners(known)
            remembered[ctx.prec] = every if chosen is None else [every[i] for i in chosen]
        return remembered[ctx.prec]

    between = _between if chosen is None else _beside

    def at(epsilon: arb) -> arb:
        return accurately(lambda: _on_both_sides(corners(), epsilon, between))

    return at


def _corners(known: Sequence[tuple[Known, Known]]) -> list[Corner]:
    """All points but (0, 1) in e^epsilon, and behind them their mirror images in the same order."""
    right = [(epsilon(), delta()) for epsilon, delta in known]
    return right + [(-epsilon, 1 - (1 - delta) * (-epsilon).exp()) for epsilon, delta in right]


def _vertices(corners: Sequence[Corner]) -> list[int] | None:
    """Corners, by rising epsilon, that certainly make a convex falling chain after (0, 1), each with its mirror image.

    The hull of fewer points lies above, and with every mirror image it is the profile of a pair too. None where no chain is certain.
    """
    half = len(corners) // 2
    points = [(x.exp(), h) for x, h in corners]
    start = (arb(0), arb(1))
    chain: list[int] = []
    for i in sorted(range(len(corners)), key=lambda i: exact(corners[i][0].mid())):
        if i >= half and corners[i][0].is_zero():
            continue  # its own mirror image
        while chain and not _turns(points[chain[-2]] if len(chain) > 1 else start, points[chain[-1]], points[i]):
            chain.pop()
        chain.append(i)
    while chain and not points[chain[-1]][1] < (points[chain[-2]] if len(chain) > 1 else start)[1]:
        chain.pop()
    kept = [i for i in chain if corners[i][0].is_zero() or (i + half) % len(corners) in chain]
    line = [start, *(points[i] for i in kept)]
    rising = all(a[0] < b[0] and b[1] < a[1] for a, b in pairwise(line))
    convex = all(_turns(*three) for three in zip(line, line[1:], line[2:], strict=False))
    return kept if kept and rising and convex else None


def _turns(a: Corner, b: Corner, c: Corner) -> bool:
    """Whether the line from a over b to c, in e^epsilon, certainly turns upward at b."""
    return bool((b[1] - a[1]) * (c[0] - b[0]) < (c[1] - b[1]) * (b[0] - a[0]))


def _beside(corners: Sequence[Corner], epsilon: arb) -> arb:
    """A convex chain at an epsilon that is certainly between its corners."""
    left = [corner for corner in corners if corner[0] < epsilon]
    right = [corner for corner in corners if corner[0] > epsilon]
    x, h = (left[-1][0].exp(), left[-1][1]) if left else (arb(0), arb(1))
    if not right:
        return h
    level, y, k = epsilon.exp(), right[0][0].exp(), right[0][1]
    return (h * (y - level) + k * (level - x)) / (y - x)


def _on_both_sides(corners: Sequence[Corner], epsilon: arb, between: Callable[[Sequence[Corner], arb], arb]) -> arb:
    """The hull at an exact epsilon. Beside a corner of the same epsilon it lies between its values on the two sides, since it falls."""
    beside = [x for x, _ in corners if x.overlaps(epsilon)]
    if not beside:
        return between(corners, epsilon)
    step = arb(2) ** (8 - ctx.prec)
    values: list[arb] = []
    for sign in (-1, 1):
        point = epsilon
        for x in beside:
            point = (x.lower() - step).lower().min(point) if sign < 0 else (x.upper() + step).upper().max(point)
        if any(x.overlaps(point) for x, _ in corners):
            raise Undecided(f"{NAME}: two guarantees at epsilons too near to tell apart; leave one of them out.")
        values.append(between(corners, point))
    return values[0].union(values[1])


def _between(corners: Sequence[Corner], epsilon: arb) -> arb:
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
