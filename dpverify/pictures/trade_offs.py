"""Trade-off functions: the least type II error of a test with a given type I error, enclosed from any profile.

Of a pair (P, Q) the null hypothesis is Q, so that a test that rejects on S has the errors Q(S) and 1 - P(S). The trade-off function and
the profile are conjugate in g = e^epsilon:
    f(a) = sup over g >= 0 of 1 - H(log g) - g a,      H(epsilon) = sup over a in [0, 1] of 1 - f(a) - e^epsilon a.
Every g is a lower bound of f. The function under the supremum is concave in g, so that the chords through its values on either side of
the top, prolonged, enclose it from above: no search has to be trusted. What is known of 1 - H at some g serves every a.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Final

from flint import arb, ctx

from dpverify.trusted.facts.pairs import Pair
from dpverify.trusted.kernel.balls import precision, rational
from dpverify.trusted.kernel.errors import Undecided

NAME: Final = "trade-off"

Point = tuple[arb, arb]
"""Of a graph: both coordinates enclosed."""

FINER: Final = 2
"""Times the working precision while a supremum is enclosed: chords between points that are close lose about half of the bits."""
MAX_ROUNDS: Final = 200
"""The most points that one supremum adds."""
_PATIENCE: Final = 3
"""So many points that add nothing end the search for a better one."""


class TradeOff:
    """The trade-off function of a pair. epsilons: exact ones, at which the profile is looked at first.

    sketched: whether the profile is known at these alone: elsewhere it tells nothing that its chords do not tell.
    """

    def __init__(self, pair: Pair, epsilons: Iterable[Fraction] = (), *, sketched: bool = False) -> None:
        self.pair = pair
        with precision(FINER * ctx.prec):
            points = [(arb(0), arb(0)), *(self._at(rational(epsilon)) for epsilon in epsilons)]
            self.graph = Concave(self._near, points, most=0 if sketched else MAX_ROUNDS)

    def error(self, alpha: Fraction, width: float = 0.0) -> arb:
        """f(alpha), enclosed to a width, or as narrowly as the working precision allows.

        Of a pair that dominates a mechanism only the ball's lower end says something: no test of level alpha has a smaller type II error.
        Of one that two neighbours have only the upper end: some test has no greater one. Raises Undecided for an alpha outside (0, 1].
        """
        _check_error(alpha)
        if alpha == 1:
            return arb(0)
        with precision(FINER * ctx.prec):
            least = self.graph.supremum(rational(alpha), rational(1 / alpha).upper(), width)  # negative beyond g = 1/alpha
        return _within_errors(least, 1 - alpha)

    def _at(self, epsilon: arb) -> Point:
        return epsilon.exp(), 1 - self.pair.delta(epsilon)

    def _near(self, level: arb) -> Point:
        return self._at(level.log().mid())


def trade_off(pair: Pair, alpha: Fraction) -> arb:
    """f(alpha) of a pair, enclosed to about the working precision (absolutely). Raises Undecided for an alpha outside (0, 1]."""
    return TradeOff(pair).error(alpha)


# -- suprema of concave functions ------------------------------------------------------------------


class Concave:
    """A concave function by points of its graph, as many as have been wanted so far.

    near: a point of the graph about a place, which is an exact ball. The caller answers for concavity, and only for that: which points
    are added is a matter of speed alone. most: of the points that one supremum adds between others.
    """

    def __init__(self, near: Callable[[arb], Point], points: Iterable[Point], *, most: int = MAX_ROUNDS) -> None:
        self.near = near
        self.most = most
        self.points: list[Point] = []
        self.places: list[arb] = []
        for point in points:
            self.add(point)

    def add(self, point: Point) -> bool:
        """Add a point, unless it is not told apart from those beside it. Raises Undecided for one that is not enclosed."""
        if not (point[0].is_finite() and point[1].is_finite()):
            raise Undecided(f"{NAME}: a value that is not enclosed; raise the precision.")
        at = bisect_right(self.places, point[0].mid())
        beside = self.points[max(0, at - 1) : at + 1]
        if any(point[0].overlaps(other[0]) for other in beside):
            return False
        self.points.insert(at, point)
        self.places.insert(at, point[0].mid())
        return True

    def supremum(self, slope: arb, last: arb, width: float = 0.0) -> arb:
        """The supremum of the function less slope times the place, where it is no greater beyond `last` than at 0: to a width.

        As narrowly as points can tell where the width is 0.
        """
        if len(self.points) < 2 or not (self.points[-1][0] >= last or self._change(len(self.points) - 1, slope) <= 0):
            self.add(self.near(2 * last))
        bottom, top, idle = arb("-inf"), arb("inf"), 0
        for added in range(self.most + 1):
            low, high = self._about(slope)
            lower = _greatest(self._value(i, slope).lower() for i in range(low, high + 1))
            uppers = [(_above(self.points[max(0, i - 2) : i], self.points[i : i + 2], slope), i) for i in range(low + 1, high + 1)]
            upper = _greatest(bound for bound, _ in uppers)
            idle = idle + 1 if lower <= bottom and upper >= top else 0
            bottom, top = bottom.max(lower), top.min(upper)
            if top - bottom <= width or idle >= _PATIENCE or added == self.most:
                break
            worst = next(i for bound, i in uppers if bound == upper)
            if not self.add(self.near(self._between(worst, None if idle else slope))):
                break
        return bottom.union(top)

    def _value(self, i: int, slope: arb) -> arb:
        place, height = self.points[i]
        return height - slope * place

    def _change(self, i: int, slope: arb) -> arb:
        """From the point before to this one."""
        (x, a), (y, b) = self.points[i - 1], self.points[i]
        return (b - a) - slope * (y - x)

    def _about(self, slope: arb) -> tuple[int, int]:
        """Two points between which the supremum is: the function certainly does not fall up to the first, nor rise from the last."""
        heights = [float(height.mid() - slope.mid() * place) for (_, height), place in zip(self.points, self.places, strict=True)]
        low = high = heights.index(max(heights))
        while low > 0 and not self._change(low, slope) >= 0:
            low -= 1
        while high < len(self.points) - 1 and not self._change(high + 1, slope) <= 0:
            high += 1
        return max(0, low - 1), min(high + 1, len(self.points) - 1)

    def _between(self, i: int, slope: arb | None) -> arb:
        """A place between the point before and this one: where the chords on either side meet, prolonged; without a slope, the middle."""
        x, y = self.places[i - 1], self.places[i]
        lines = [] if slope is None else _chords(self.points[max(0, i - 2) : i], self.points[i : i + 2], slope)
        if len(lines) == 2:
            (a, b), (c, d) = lines
            share = ((c - a) / ((b - a) - (d - c))).mid()
            if 0 < share < 1:
                return (x + share * (y - x)).mid()
        return ((x + y) / 2).mid()


def _greatest(values: Iterable[arb]) -> arb:
    """Of exact balls."""
    first, *rest = values
    for value in rest:
        first = value if value > first else first
    return first


def _chords(before: Sequence[Point], after: Sequence[Point], slope: arb) -> list[tuple[arb, arb]]:
    """The lines through two points on either side of an interval, less the slope, by their values at both of its ends."""
    ends = before[-1][0], after[0][0]
    return [_line(points[0], points[1], ends, slope) for points in (before, after) if len(points) == 2]


def _line(first: Point, second: Point, ends: tuple[arb, arb], slope: arb) -> tuple[arb, arb]:
    rise = (second[1] - first[1]) / (second[0] - first[0])
    left, right = (first[1] + rise * (end - first[0]) - slope * end for end in ends)
    return left, right


def _above(before: Sequence[Point], after: Sequence[Point], slope: arb) -> arb:
    """A bound on a concave function, less the slope, between two points, by the chords on either side of them, prolonged."""
    lines = _chords(before, after, slope)
    bounds = [left.max(right).upper() for left, right in lines]
    if len(lines) == 2:
        share = _share(*lines)
        mixed = [share * a + (1 - share) * b for a, b in zip(*lines, strict=True)]
        bounds.append(mixed[0].max(mixed[1]).upper())
    if not bounds:  # two points alone: nothing is known in between
        return arb("inf")
    return -_greatest(-bound for bound in bounds)


def _share(first: tuple[arb, arb], second: tuple[arb, arb]) -> arb:
    """A weight in [0, 1] with which two lines, by their values at both ends, become level: their least is below every such mean."""
    rise, fall = (first[1] - first[0]).mid(), (second[1] - second[0]).mid()
    if not (rise > 0 and fall < 0):
        return arb(1) / 2
    share = (-fall / (rise - fall)).mid()
    return share if 0 <= share <= 1 else arb(1) / 2


def _within_errors(error: arb, most: Fraction) -> arb:
    """The ball cut to [0, most], where the truth lies."""
    possible = arb(0).union(rational(most).upper())
    return +error.intersection(possible) if error.overlaps(possible) else +error


def _check_error(alpha: Fraction) -> None:
    if not 0 <= alpha <= 1:
        raise Undecided(f"{NAME}: a type I error of {alpha}; it is a probability.")
    if alpha == 0:
        raise Undecided(f"{NAME}: at type I error 0 the supremum is over unbounded g; take a positive one.")
