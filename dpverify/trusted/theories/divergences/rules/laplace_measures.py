"""Laplace noise in other measures: exactly.

Theorem: Laplace noise of scale b and answers D apart, with t = D/b, have the Renyi divergence log(a/(2a - 1) e^((a - 1) t) + (a - 1)/(2a -
1) e^(-a t))/(a - 1) of order a, exactly t - 1 + e^-t in zCDP, which is the limit at order 1, and exactly -2 Phi^-1(e^(-t/2)/2) in GDP.
Independent copies under an l1 sensitivity have no more.

Checked:
- -log(density) is c |z - m| + a, with c certainly positive
- the noise lives on a line, or its coordinates are independent and the sensitivity is in an lp norm

Source: docs/theory/measures.md#laplace-measures, Mironov 2017, Proposition 6; Dong, Roth & Su 2022
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from flint import arb

from dpverify.trusted.combinators.runs import reach, whole
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.bounds import Bound
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import ONE, Expr, add, call, neg
from dpverify.trusted.kernel.fact import Parameters, Premises
from dpverify.trusted.kernel.model import Claim, Combinator, Measure
from dpverify.trusted.theories.composition.rules import privacy_measures as conversions
from dpverify.trusted.theories.curves.rules import laplace
from dpverify.trusted.theories.divergences.asked import above, below, bound, measure_of

NAME: Final = "laplace-measures"
ASSUMED: Final = laplace.ASSUMED

SAYS: Final = {"pair": {"says": "whole-sensitivity-apart"}}
_ORDERS: Final = {"zcdp": {"order": {"says": "order-1-in-the-limit"}}}


def infer(claim: Claim, parameters: Parameters, _: Premises) -> tuple[Bound, ...]:
    """Both bounds. parameters: "sensitivity", if given, the certificate of a gauge. Raises Rejected, Undecided."""
    measure = measure_of(claim, NAME)
    require(not isinstance(claim.mechanism, Combinator), Rejected(NAME, "the mechanism", "it is about additive noise by itself"))
    most, attained = laplace.ratios(claim.mechanism, reach(whole(claim), parameters.get("sensitivity")), stated=claim.query is None)
    upper, lower = of_ratio(most, measure), of_ratio(attained, measure)
    # Laplace noise is even: the same pair in the other order is a reflection of this one
    return bound(claim, "upper", upper[1]), bound(claim, "lower", lower[0], witness=SAYS | _ORDERS.get(measure.name, {}), ordered=True)


def of_ratio(t: Expr, measure: Measure) -> tuple[Expr, Expr]:
    """Numbers that the value in a measure lies between, one and the same where it is an expression."""
    value = _value(t, measure)
    if value is not None:
        return value, value
    variation = -(-constant(t) / 2).expm1()
    ball = 2 * arb(2).sqrt() * variation.erfinv()  # 2 Phi^-1((1 + v)/2), v the total variation 1 - e^(-t/2)
    return below(ball), above(ball)


def _value(t: Expr, measure: Measure) -> Expr | None:
    if measure.name == "gdp":
        return None
    if measure.name == "zcdp":
        conversions.check_at_least_zero("t", t)
        return add(t, neg(ONE), call("exp", neg(t)))
    return conversions.renyi_of_laplace(t, measure.at or Fraction(2)).divergence
