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
from dpverify.trusted.language.expr import ONE, ZERO, Expr, format_expr, symbols
from dpverify.trusted.language.model import Source
from dpverify.trusted.numbers.balls import constant, exact, precision, rational
from dpverify.trusted.order.compare import certainly_le
from dpverify.trusted.rules.guarantees.conversions import Renyi

NAME: Final = "trade-off"
STATEMENT: Final = (
    "The trade-off function f of a pair and its profile H determine each other: f(a) = sup over g >= 0 of 1 - H(log g) - g a and "
    "H(eps) = sup over a of 1 - f(a) - e^eps a. Gaussian: Phi(Phi^-1(1 - a) - mu)."
)
CHECKED: Final = ("the type I error is in [0, 1]", "parameters are at least 0")
ASSUMED: Final = ()
SOURCE: Final = Source("docs/theory/curves.md#trade-off", "Dong, Roth & Su 2022, Propositions 2.5 and 2.12; Balle et al. 2020")

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

        found = concave_supremum(inside, Fraction(0), 1 / alpha)  # negative beyond g = 1/alpha
    return _within_errors(found, 1 - alpha)


def profile_at(trade: Concave, epsilon: arb) -> arb:
    """H at an epsilon, from a trade-off function: convex, non-increasing on [0, 1], enclosed at exact type I errors in (0, 1).

    The caller answers for the convexity of `trade`. Enclosed to about the working precision (absolutely).
    """
    with precision(ctx.prec + GUARD):
        level = epsilon.exp()

        def inside(error: arb) -> arb:
            return 1 - trade(error) - level * error

        end = Fraction(1, 2 ** (ctx.prec - 2))
        found = concave_supremum(inside, Fraction(0), Fraction(1), (end, 1 - end))
    return _within_errors(found, Fraction(1))


def gaussian(mu: Expr, alpha: Fraction) -> arb:
    """Phi(Phi^-1(1 - alpha) - mu), the trade-off function of mu-GDP. Raises Undecided unless mu >= 0. Source: Dong, Roth & Su 2022."""
    _check_parameter("mu", mu)
    _check_error(alpha)
    if alpha in (0, 1):
        return arb(1 - alpha.numerator)
    with precision(ctx.prec + GUARD):
        root = arb(2).sqrt()
        quantile = root * (2 * rational(alpha)).erfcinv()  # Phi^-1(1 - alpha)
        found = ((constant(mu) - quantile) / root).erfc() / 2
    return +found


def laplace(eps0: Expr, alpha: Fraction) -> arb:
    """Of Laplace noise with eps0 = sensitivity/scale: 1 - e^eps0 a up to e^-eps0/2, e^-eps0/(4 a) up to 1/2, then e^-eps0 (1 - a).

    The likelihood ratio rises with the answer, so that the best tests reject above a threshold. Raises Undecided unless eps0 >= 0.
    """
    _check_parameter("eps0", eps0)
    _check_error(alpha)
    decay, error = (-constant(eps0)).exp(), rational(alpha)
    if alpha > Fraction(1, 2):
        return decay * (1 - error)
    steep = 1 - error / decay
    if 2 * error < decay or alpha == 0:
        return steep
    return decay / (4 * error) if 2 * error >= decay else steep.union(decay / (4 * error))


def randomized_response(eps0: Expr, alpha: Fraction) -> arb:
    """max(1 - e^eps0 a, e^-eps0 (1 - a)): of randomized response, and below every eps0-DP mechanism's. Raises Undecided unless eps0 >= 0.

    Source: Dong, Roth & Su 2022, Proposition 2.5.
    """
    return guarantee_lower(eps0, ZERO, alpha)


def guarantee_lower(eps0: Expr, delta0: Expr, alpha: Fraction) -> arb:
    """max(0, 1 - delta0 - e^eps0 a, e^-eps0 (1 - delta0 - a)), below every (eps0, delta0)-DP mechanism's and attained by the worst.

    Raises Undecided unless eps0 >= 0 and delta0 is in [0, 1]. Source: Dong, Roth & Su 2022, Proposition 2.5 (Wasserman & Zhou).
    """
    _check_parameter("eps0", eps0)
    _check_parameter("delta0", delta0)
    if not certainly_le(delta0, ONE):
        raise Undecided(f"{NAME}: delta0 = {format_expr(delta0)} is not certainly at most 1.")
    _check_error(alpha)
    rise, kept = constant(eps0).exp(), 1 - constant(delta0)
    error = rational(alpha)
    return arb(0).max(kept - rise * error).max((kept - error) / rise)


def renyi_lower(renyi: Renyi, alpha: Fraction) -> Fraction:
    """A type II error that no test of level alpha beats, if the mechanism has this Renyi divergence; about as sharp as the precision.

    The outcomes of a test have a Renyi divergence no greater than the outputs', in both orders: b is excluded where
    (1 - b)^a alpha^(1-a) + b^a (1 - alpha)^(1-a) > exp((a - 1) tau), or the same with the two hypotheses exchanged. On b <= 1 - alpha both
    sides fall as b grows, so that all errors below an excluded one are excluded too. Raises Undecided for an alpha outside (0, 1).
    """
    if not 0 < alpha < 1:
        raise Undecided(f"{NAME}: a type I error of {alpha}; a Renyi bound wants it strictly between 0 and 1.")
    low, high = Fraction(0), 1 - alpha
    with precision(ctx.prec + GUARD):
        for _ in range(ctx.prec - GUARD):
            middle = (low + high) / 2
            if _excluded(renyi, alpha, middle):
                low = middle
            else:
                high = middle
    return low


def _excluded(renyi: Renyi, alpha: Fraction, beta: Fraction) -> bool:
    order = rational(renyi.order)
    error, other = rational(alpha).log(), rational(1 - alpha).log()
    missed, seen = rational(beta).log(), rational(1 - beta).log()
    most = (rational(renyi.order - 1) * constant(renyi.divergence)).exp()
    forward = (order * seen + (1 - order) * error).exp() + (order * missed + (1 - order) * other).exp()
    backward = (order * error + (1 - order) * seen).exp() + (order * other + (1 - order) * missed).exp()
    return bool(forward > most) or bool(backward > most)


# -- suprema of concave functions ------------------------------------------------------------------


def concave_supremum(function: Concave, low: Fraction, high: Fraction, within: tuple[Fraction, Fraction] | None = None) -> arb:
    """The supremum over the open interval (low, high) of a concave function that is enclosed at exact dyadic points.

    within: the ends of where the function can be asked; by default low and high, which are rounded outward to dyadics. The caller answers
    for concavity, and only for that: the place of the top is narrowed by halves, then all chords together bound the function from above.
    """
    left, right = (rational(end) for end in within) if within else (rational(low).lower(), rational(high).upper())
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
    gaps = range(len(ordered) + 1) if within else range(1, len(ordered))
    upper = max(_top_between(ordered, i, low, high) for i in gaps)
    return rational(lower).lower().union(rational(upper).upper())


def _top_between(ordered: Sequence[tuple[Fraction, arb]], i: int, low: Fraction, high: Fraction) -> Fraction:
    """A bound on a concave function before the i-th point, by the chords through the two points on either side, prolonged."""
    before, after = ordered[max(0, i - 2) : i], ordered[i : i + 2]
    x, y = before[-1][0] if before else low, after[0][0] if after else high
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


def _within_errors(found: arb, most: Fraction) -> arb:
    """The ball cut to [0, most], where the truth lies."""
    possible = arb(0).union(rational(most).upper())
    return +found.intersection(possible) if found.overlaps(possible) else +found


def _check_error(alpha: Fraction) -> None:
    if not 0 <= alpha <= 1:
        raise Undecided(f"{NAME}: a type I error of {alpha}; it is a probability.")


def _check_parameter(name: str, value: Expr) -> None:
    if symbols(value) or not certainly_le(ZERO, value):
        raise Undecided(f"{NAME}: {name} = {format_expr(value)} is not certainly a number of at least 0.")
