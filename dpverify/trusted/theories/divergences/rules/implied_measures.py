"""What a guarantee in one measure of privacy implies in another: bounds from above.

Theorem: What is stated of a mechanism holds of it: rho-zCDP has divergences a rho, mu-GDP is (mu^2/2)-zCDP and has divergences a mu^2/2, a
divergence of one order bounds those of lesser orders, bounded range eta is (eta^2/8)-zCDP and eta-DP. Every eps-DP mechanism is a
post-processing of randomized response, so it has (eps tanh(eps/2))-zCDP, its divergences, and mu = 2 Phi^-1(e^eps/(1 + e^eps)).

Checked:
- the numbers are in their ranges
- the pure epsilon, by a rule about the mechanism, where a premise states it

Source: docs/theory/measures.md#implied-measures, Bun & Steinke 2016; Mironov 2017; Cesar & Rogers 2021; Kairouz, Oh & Viswanath 2015,
Theorem 2.1
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from dpverify.trusted.combinators import stated
from dpverify.trusted.facts.premises import pure_of, through_of
from dpverify.trusted.kernel.bounds import Bound
from dpverify.trusted.kernel.errors import Rejected, certify, require
from dpverify.trusted.kernel.expr import Expr, num
from dpverify.trusted.kernel.fact import Parameters, Premises, unasked
from dpverify.trusted.kernel.model import Claim, Exponential, Filter, Guarantee, Measure
from dpverify.trusted.theories.composition.rules import privacy_filter
from dpverify.trusted.theories.composition.rules import privacy_measures as conversions
from dpverify.trusted.theories.composition.score_range import exponential_range
from dpverify.trusted.theories.divergences.asked import bound, measure_of

NAME: Final = "implied-measures"
ASSUMED: Final = ()


def infer(claim: Claim, _: Parameters, premises: Premises) -> tuple[Bound, ...]:
    """An upper bound: by the premise about the pure epsilon, where there is one; else by what is stated. Of a filter both.

    Raises Rejected, Undecided.
    """
    measure, mechanism = measure_of(claim, NAME), claim.mechanism
    certify(len(premises) <= 1, f"{NAME}: it wants one premise, the pure epsilon, or none.")
    if premises:
        epsilon, assumed = pure_of(premises[0], unasked(claim), NAME)
        return (bound(claim, "upper", conversions.of_pure(epsilon, measure), assumed, through_of(premises[0])),)
    if isinstance(mechanism, Exponential):
        eta = exponential_range(mechanism, num(1) if claim.sensitivity is None else claim.sensitivity)
        return (bound(claim, "upper", conversions.of_range(eta, measure)),)
    if not isinstance(mechanism, Guarantee):
        raise Rejected(NAME, "the mechanism", "it is no guarantee, and no premise states its pure epsilon")
    grounds, through = stated.grounds(mechanism), stated.theorem_of(mechanism)
    if mechanism.order:
        return (bound(claim, "upper", _of_one_order(mechanism, measure, claim.order), grounds),)
    least = privacy_filter.spent_in(mechanism, measure) if isinstance(mechanism, Filter) else None
    if least is None:
        return (bound(claim, "upper", conversions.of_guarantee(mechanism, measure), grounds, through),)
    below = bound(claim, "lower", least, (stated.ANY_PARTS,), through, {"pair": privacy_filter.SAYS}, ordered=True)
    try:
        return bound(claim, "upper", conversions.of_guarantee(mechanism, measure), grounds, through), below
    except Rejected:
        return (below,)


def _of_one_order(known: Guarantee, measure: Measure, order: str) -> Expr:
    """What a guarantee of one order says of that order; a trade-off function above a Gaussian one has an inverse that is above it too."""
    stated.check(known, known.order if known.measure == "gdp" else order)
    require(known.measure in ("gdp", "zcdp", "renyi"), Rejected(NAME, "the guarantee", "of one order alone, it bounds no divergence here"))
    return conversions.of_guarantee(replace(known, order=""), measure)
