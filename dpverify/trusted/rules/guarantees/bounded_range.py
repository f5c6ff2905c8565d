"""Bounded range: losses that stay within an interval of length eta, as those of exponential mechanisms do.

A mechanism has range eta if on every two neighbours log p - log q stays within [t - eta, t] for some t. It is then eta-DP (0 lies between
the ends), but better than eta-DP says: among all pairs with these ends the one with outcomes at both ends alone is the worst,
    P = ((e^eta - e^t)/(e^eta - 1), rest),   Q = P e^-loss,   loss t or t - eta,
and no t is the worst at every epsilon at once.
"""

from __future__ import annotations

from math import comb
from typing import Final

from flint import arb

from dpverify.trusted.facts.evaluate import Known, accurately, falling
from dpverify.trusted.facts.pairs import Pair, symmetric
from dpverify.trusted.language.errors import Undecided
from dpverify.trusted.language.expr import ZERO, Expr, format_expr, mul, num, symbols
from dpverify.trusted.language.model import Source
from dpverify.trusted.order.compare import certainly_le, certainly_lt

NAME: Final = "bounded-range"
STATEMENT: Final = (
    "A mechanism of bounded range eta has delta(eps) <= (e^(eta/2) - e^(eps/2))^2/(e^eta - 1) for |eps| <= eta, which is the profile of a "
    "pair, so that it also dominates in adaptive compositions. The exponential mechanism with density proportional to exp(beta u) has "
    "range 2 beta Du, Du the sensitivity of the score u; beta Du where all scores move in the same direction."
)
CHECKED: Final = ("eta is positive",)
ASSUMED: Final = ("the scores move by at most their sensitivity",)
SOURCE: Final = Source("docs/theory/composition.md#bounded-range", "Dong, Durfee & Rogers 2020, Sections 4 and 5")

MAX_COPIES: Final = 400
"""The most copies of a non-adaptive composition: the work grows with their square."""


def exponential_range(beta: Expr, sensitivity: Expr, same_direction: bool = False) -> Expr:
    """eta of the exponential mechanism with weights exp(beta u), also an epsilon at which it is pure DP.

    same_direction: on two neighbours all scores rise, or all fall: the caller's hypothesis. Raises Undecided unless both are certainly
    at least 0.
    """
    for name, value in (("beta", beta), ("the sensitivity", sensitivity)):
        if symbols(value) or not certainly_le(ZERO, value):
            raise Undecided(f"{NAME}: {name} = {format_expr(value)} is not certainly a number of at least 0.")
    return mul(num(1 if same_direction else 2), beta, sensitivity)


def pair(eta: Expr) -> Pair:
    """The pair that dominates every mechanism of range eta, also in adaptive compositions; the same in both orders.

    At each epsilon some mechanism of this range attains its delta, none does at all of them. Raises Undecided where eta is not
    certainly positive.
    """
    _check(eta)
    reach = Known(eta)

    def at(epsilon: arb) -> arb:
        # an e^eps taken out of the square keeps every bit as epsilon nears eta
        left = ((reach() - epsilon).max(arb(0)) / 2).expm1()
        return epsilon.exp() * left * left / reach().expm1()

    return symmetric(falling(lambda epsilon: accurately(lambda: at(epsilon if epsilon >= 0 else arb(0)))))


def fixed_copies(eta: Expr, k: int) -> Pair:
    """The pair that dominates k mechanisms of range eta that are all chosen BEFORE any answer is seen; the same in both orders.

    delta(eps) = sup over t of the sum over i of C(k, i) p^(k-i) (1-p)^i (1 - e^(eps - k t + i eta))_+, p = (e^eta - e^t)/(e^eta - 1).
    The sum's first l + 1 terms rise in t up to t_l = (eps + (l + 1) eta)/(k + 1), clipped to [0, eta], and fall from there on, so that
    the supremum is the greatest of finitely many values. For mechanisms chosen adaptively it is NOT a bound (they can lose more): compose
    `pair` with itself. Raises Undecided where eta is not certainly positive or k is out of reach.
    Source: Dong, Durfee & Rogers 2020, Section 5.
    """
    _check(eta)
    if not 1 <= k <= MAX_COPIES:
        raise Undecided(f"{NAME}: {k} copies; from 1 to {MAX_COPIES} are within reach.")
    reach = Known(eta)
    binomials = [comb(k, i) for i in range(k)]

    def at(epsilon: arb) -> arb:
        best = arb(0)
        for last in range(k):
            t = ((epsilon + (last + 1) * reach()) / (k + 1)).min(reach()).max(arb(0))
            best = best.max(_first_terms(epsilon, reach(), t, binomials, last))
        return best

    return symmetric(falling(lambda epsilon: accurately(lambda: at(epsilon if epsilon >= 0 else arb(0)))))


def _first_terms(epsilon: arb, eta: arb, t: arb, binomials: list[int], last: int) -> arb:
    """Terms 0..last of P(S) - e^epsilon Q(S) for the two-point pair with ends t and t - eta."""
    k = len(binomials)
    above, below = (t - eta).expm1() / (-eta).expm1(), t.expm1() / eta.expm1()
    up, down = _powers(above, k), _powers(below, last)
    total = arb(0)
    for i in range(last + 1):
        total -= binomials[i] * up[k - i] * down[i] * (epsilon - k * t + i * eta).expm1()
    return total


def _powers(base: arb, most: int) -> list[arb]:
    """base^0..base^most by products, which stay finite where the ball contains 0."""
    powers = [arb(1)]
    for _ in range(most):
        powers.append(powers[-1] * base)
    return powers


def _check(eta: Expr) -> None:
    if symbols(eta) or not certainly_lt(ZERO, eta):
        raise Undecided(f"{NAME}: eta = {format_expr(eta)} is not certainly a positive number.")
