"""A bound on delta or epsilon by the Renyi divergence of one order: looser than the curve, and what other measures of privacy come to.

Theorem: Gaussian mechanisms and their compositions are mu-GDP, (mu^2/2)-zCDP and of Renyi divergence a mu^2/2; eps-DP implies (eps
tanh(eps/2))-zCDP; an exponential mechanism has bounded range. The divergence of one order bounds delta: looser than the curve.

Checked:
- the mechanism's parameters
- the conversion at the order given

Source: docs/theory/composition.md#privacy-measures, Canonne, Kamath & Steinke 2020, Proposition 12; Bun & Steinke 2016; Mironov 2017; Cesar
& Rogers 2021; Dong, Roth & Su 2022
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Final, NamedTuple

from dpverify.trusted.facts.assumptions import IDEAL
from dpverify.trusted.facts.bounds import Bound
from dpverify.trusted.facts.fact import Fact
from dpverify.trusted.facts.premises import pure_of
from dpverify.trusted.language.errors import Rejected
from dpverify.trusted.language.expr import ONE, Expr, Num
from dpverify.trusted.language.model import Claim, Combinator, Exponential, Guarantee, Part
from dpverify.trusted.language.rationals import read_fraction
from dpverify.trusted.parts.runs import Run, leaf, merged, neighbours_assumed, reach
from dpverify.trusted.parts.stated import STATED
from dpverify.trusted.rules.composition import gaussian_composition, post_processing
from dpverify.trusted.rules.curves import gaussian
from dpverify.trusted.rules.guarantees import conversions

NAME: Final = "other-measures"
ASSUMED: Final = ()


class Measured(NamedTuple):
    """What a mechanism is in another measure, and what that takes for granted.

    measure: "gdp", with mu; "bounded_range", with eta; "laplace", with the shift in scales; "response" and "pure", with epsilon.
    """

    measure: str
    size: Expr
    assumed: tuple[str, ...]

    def divergence(self, order: Fraction) -> Expr:
        """The Renyi divergence of an order above 1, or a bound on it."""
        if self.measure == "gdp":
            return conversions.renyi_of_gaussian(self.size, order).divergence
        if self.measure == "bounded_range":
            return conversions.renyi_of_zcdp(conversions.zcdp_of_bounded_range(self.size), order).divergence
        of = conversions.renyi_of_laplace if self.measure == "laplace" else conversions.renyi_of_pure
        return of(self.size, order).divergence


def infer(claim: Claim, parameters: Mapping[str, Any], premises: Sequence[Fact]) -> Bound:
    """An upper bound on the tight delta at the claimed epsilon, else on the tight epsilon at the claimed delta. Raises Rejected, Undecided.

    parameters: "order", a rational above 1. premises: the pure epsilon, where that is what is known.
    """
    known = measured(claim, premises)
    assumed = tuple(dict.fromkeys((*known.assumed, *neighbours_assumed(claim))))
    order = read_fraction(parameters, "order", NAME)
    renyi = conversions.Renyi(order, known.divergence(order))
    if claim.epsilon is not None:
        delta = conversions.rounded_up(conversions.renyi_delta_bound(renyi, claim.epsilon))
        return Bound("upper", Num(min(delta, Fraction(1))), quantity="delta", assumed=assumed)
    if claim.delta is None:
        raise Rejected(NAME, "the claim", "it states neither an epsilon nor a delta")
    epsilon = conversions.rounded_up(conversions.renyi_epsilon_bound(renyi, claim.delta))
    return Bound("upper", Num(epsilon), quantity="epsilon", assumed=assumed)


def measured(claim: Claim, premises: Sequence[Fact] = ()) -> Measured:
    """What a claim's mechanism is in another measure. Raises Rejected where nothing is known."""
    if claim.domains:
        raise Rejected(NAME, "the parameters", "it wants a value for each; claim one value at a time")
    runs = merged(Part(claim.mechanism, claim.sensitivity, claim.query, claim.adjacency))
    try:
        mu = gaussian_composition.total(runs)
        assert mu is not None
        stated = (STATED,) if any(isinstance(run.part.mechanism, Guarantee) for run in runs) else ()
        known = Measured("gdp", mu, (*gaussian.ASSUMED, *stated))
    except Rejected:
        if len(runs) > 1 or runs[0].times > 1 or isinstance(runs[0].part.mechanism, Combinator):
            raise
        known = _single(runs[0], premises)
    processed = post_processing.ASSUMED if any(run.processed for run in runs) else ()
    return known._replace(assumed=(*known.assumed, *processed))


def _single(run: Run, premises: Sequence[Fact]) -> Measured:
    asked = leaf(run)
    mechanism = asked.mechanism
    if isinstance(mechanism, Exponential):
        from dpverify.trusted.rules.guarantees.score_range import exponential_range

        return Measured("bounded_range", exponential_range(mechanism, ONE if asked.sensitivity is None else asked.sensitivity), (IDEAL,))
    if run.part.query is None:
        from dpverify.trusted.rules.curves.laplace import scale_ratio

        ratio = scale_ratio(mechanism, reach(run).upper)
        if ratio is not None:
            return Measured("laplace", ratio, (IDEAL,))
    from dpverify.trusted.parts.responses import randomized_response

    response = randomized_response(mechanism)
    if response is not None:
        return Measured("response", response, (IDEAL,))
    if not premises:
        raise Rejected(NAME, "the mechanism", "no bound on its divergences is known without its pure epsilon")
    return Measured("pure", *pure_of(premises[0], asked, NAME))
