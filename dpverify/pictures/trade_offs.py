"""Trade-off functions: the least type II error of a test with a given type I error, enclosed from any profile.

Of a pair (P, Q) the null hypothesis is Q, so that a test that rejects on S has the errors Q(S) and 1 - P(S). The trade-off function and
the profile are conjugate in g = e^epsilon:
    f(a) = sup over g >= 0 of 1 - H(log g) - g a,      H(epsilon) = sup over a in [0, 1] of 1 - f(a) - e^epsilon a.
Every g is a lower bound of f. The function under the supremum is concave in g, so that the chords through its values on either side of
the top, prolonged, enclose it from above: no search has to be trusted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Final

from flint import arb, ctx

from dpverify.trusted.facts.pairs import Pair
from dpverify.trusted.language.errors import Undecided
from dpverify.trusted.numbers.balls import exact, precision, rational

NAME: Final = "trade-off"

Concave = Callable[[arb], arb]

GUARD: Final = 32
"""Extra bits while a supremum is enclosed."""
MAX_EVALUATIONS: Final = 400
"""The most evaluations that a supremum takes."""


def trade_off(pair: Pair, alpha: Fraction) -> arb:
    """f(alpha) of a pair, enclosed to about the working precision (absolutely).

    Of a pair that dominates a mechanism only the ball's lower end says something: no test of level alpha has a smaller type II error. Of
    one that two neighbours have only the upper end: some test has no greater one. Raises Undecided for an alpha outside (0, 1].
    """
    _check_error(alpha)
    if alpha == 0:
        raise Undecided(f"{NAME}: at type I error 0 the supremum is over unbounded g; take a positive one.")
    if alpha == 1:
        return arb(0)
    with precision(ctx.prec + GUARD):
        error = rational(alpha)

        def inside(level: arb) -> arb:
            return arb(0) if level.is_zero() else 1 - pair.delta(level.log()) - level * error

        least = concave_supremum(inside, Fraction(0), 1 / alpha)  # negative beyond g = 1/alpha
    return _within_errors(least, 1 - alpha)


# -- suprema of concave functions ------------------------------------------------------------------


def concave_supremum(function: Concave, low: Fraction, high: Fraction) -> arb:
    """The supremum over the open interval (low, high) of a concave function that is enclosed at exact dyadic points.

    The ends are rounded outward to dyadics. The caller answers for concavity, and only for that: the place of the top is narrowed by
    halves, then all chords together bound the function from above.
    """
    left, right = rational(low).lower(), rational(high).upper()
    values: dict[Fraction, arb] = {}

    def value(at: arb) -> arb:
        key = exact(at)
        if key not in values:
            values[key] = function(at)
            if not values[key].is_finite():
                raise Undecided(f"{NAME}: a value that is not enclosed; raise the precision.")
        return values[key]

    value(left), value(right)
    middle = ((left + right) / 2).mid()
    value(middle)
    while len(values) < MAX_EVALUATIONS:
        first, second = ((left + middle) / 2).mid(), ((middle + right) / 2).mid()
        if not left < first < middle < second < right:
            break
        top = value(middle)
        if value(first).mid() > top.mid():
            middle, right = first, middle
        elif value(second).mid() > top.mid():
            left, middle = middle, second
        else:
            left, right = first, second
            if value(first).overlaps(top) and value(second).overlaps(top):
                break
    ordered = sorted(values.items())
    lower = max(exact(ball.lower()) for _, ball in ordered)
    upper = max(_top_between(ordered, i) for i in range(1, len(ordered)))
    return rational(lower).lower().union(rational(upper).upper())


def _top_between(ordered: Sequence[tuple[Fraction, arb]], i: int) -> Fraction:
    """A bound on a concave function before the i-th point, by the chords through the two points on either side, prolonged."""
    before, after = ordered[max(0, i - 2) : i], ordered[i : i + 2]
    x, y = before[-1][0], after[0][0]
    lines = [_line(points[0], points[1], x, y) for points in (before, after) if len(points) == 2]
    bounds = [exact(at_x.max(at_y).upper()) for at_x, at_y in lines]
    if len(lines) == 2:
        share = _share(*lines)
        mixed = [share * a + (1 - share) * b for a, b in zip(*lines, strict=True)]
        bounds.append(exact(mixed[0].max(mixed[1]).upper()))
    return min(bounds)


def _line(first: tuple[Fraction, arb], second: tuple[Fraction, arb], x: Fraction, y: Fraction) -> tuple[arb, arb]:
    """The values at x and y of the line through two points."""
    slope = (second[1] - first[1]) / rational(second[0] - first[0])
    return first[1] + slope * rational(x - first[0]), first[1] + slope * rational(y - first[0])


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
