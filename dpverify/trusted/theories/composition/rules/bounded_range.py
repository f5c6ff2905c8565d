"""Bounded range: losses that stay within an interval of length eta, as those of exponential mechanisms do.

A mechanism has range eta if on every two neighbours log p - log q stays within [t - eta, t] for some t. It is then eta-DP (0 lies between
the ends), but better than eta-DP says: among all pairs with these ends the one with outcomes at both ends alone is the worst,
    P = ((e^eta - e^t)/(e^eta - 1), rest),   Q = P e^-loss,   loss t or t - eta,
and no t is the worst at every epsilon at once.

Theorem: A mechanism of bounded range eta has delta(eps) <= (e^(eta/2) - e^(eps/2))^2/(e^eta - 1) for |eps| <= eta, which is the profile of
a pair, so that it also dominates in adaptive compositions. The exponential mechanism with density proportional to exp(beta u) has range 2
beta Du, Du the sensitivity of the score u; beta Du where all scores move in the same direction, or one alone.

Checked:
- eta is positive

Source: docs/theory/composition.md#bounded-range, Dong, Durfee & Rogers 2020, Sections 4 and 5
"""

from __future__ import annotations

from typing import Final

from flint import arb

from dpverify.trusted.combinators.runs import Run, leaf
from dpverify.trusted.facts import settled
from dpverify.trusted.facts.evaluate import accurately, falling, known
from dpverify.trusted.facts.pairs import Curve, Pair, symmetric
from dpverify.trusted.kernel.compare import certainly_lt
from dpverify.trusted.kernel.errors import Rejected, Undecided
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, format_expr, symbols
from dpverify.trusted.kernel.fact import Parameters, Premises
from dpverify.trusted.kernel.model import Exponential

NAME: Final = "bounded-range"
ASSUMED: Final = ("the sampler is ideal", "the noises are independent of each other")


def infer(run: Run, _: Parameters, __: Premises) -> Curve:
    """The curve of one run of an exponential mechanism, from above. Raises Rejected, Undecided."""
    return settled.single(run, Curve(pair(range_of(run)), None, (NAME,), ASSUMED))


def range_of(run: Run) -> Expr:
    """The range of the loss of an exponential mechanism. Raises Rejected for another."""
    asked, eta = leaf(run), None
    if isinstance(asked.mechanism, Exponential):
        from dpverify.trusted.theories.composition.score_range import exponential_range

        eta = exponential_range(asked.mechanism, asked.sensitivity or ONE)
    else:
        from dpverify.trusted.theories.selection.delta_masses import of_run
        from dpverify.trusted.theories.selection.loss_range import of_selection

        eta = of_selection(of_run(run, NAME))
    if eta is None:
        raise Rejected(NAME, "the mechanism", "it is no exponential mechanism")
    found: Expr = eta
    return found


def pair(eta: Expr) -> Pair:
    """The pair that dominates every mechanism of range eta, also in adaptive compositions; the same in both orders.

    At each epsilon some mechanism of this range attains its delta, none does at all of them. Raises Undecided where eta is not
    certainly positive.
    """
    _check(eta)
    reach = known(eta)

    def at(epsilon: arb) -> arb:
        # an e^eps taken out of the square keeps every bit as epsilon nears eta
        left = ((reach() - epsilon).max(arb(0)) / 2).expm1()
        return epsilon.exp() * left * left / reach().expm1()

    return symmetric(falling(lambda epsilon: accurately(lambda: at(epsilon if epsilon >= 0 else arb(0)))))


def _check(eta: Expr) -> None:
    if symbols(eta) or not certainly_lt(ZERO, eta):
        raise Undecided(f"{NAME}: eta = {format_expr(eta)} is not certainly a positive number.")
