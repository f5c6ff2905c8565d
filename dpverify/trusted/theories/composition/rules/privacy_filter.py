"""Budgets that are spent adaptively: in which measures the sum of what parts have is what all of them have, whatever they are chosen by.

Parts are chosen one after the other, each with its parameters by all that was told before, and none is begun with which the sum of what the
parts have would exceed the budget. The sum on every path is then at most the budget, which is all that the proofs for fixed parameters use
where a part is charged by itself. Optimal composition charges by all parameters together, and is no such sum.

Theorem: What spends adaptively chosen parts up to a budget has the budget as its guarantee: (eps, delta) by the sums of eps_i and delta_i,
rho of zCDP by the sum of rho_i, a Renyi divergence of one order by the sum of those of this order, mu of GDP by the root of the sum of
mu_i^2. Some parts have no less: one that reveals the input with probability delta and else responds at random with eps, and Gaussian noise.

Checked:
- the budget is in one of these measures, and one number or pair

Source: docs/theory/composition.md#privacy-filter, Rogers, Roth, Ullman & Vadhan 2016; Feldman & Zrnic 2021; Lecuyer 2021; Smith & Thakurta
2022
"""

from __future__ import annotations

from typing import Final

from dpverify.trusted.facts.pairs import Pair, symmetric
from dpverify.trusted.kernel.bounds import INFINITE, Infinite
from dpverify.trusted.kernel.compare import certainly_equal, certainly_lt
from dpverify.trusted.kernel.expr import ZERO, Expr, div, mul, num, sqrt
from dpverify.trusted.kernel.model import Domain, Filter, Measure
from dpverify.trusted.theories.composition.rules import privacy_measures as conversions

NAME: Final = "privacy-filter"
ASSUMED: Final = ()

SAYS: Final = {"says": "one-part-with-the-whole-budget"}


def spent(known: Filter, upper: Pair) -> Pair:
    """The pair of one part that spends the whole budget. upper: the pair that dominates all that have it. Raises Undecided."""
    if known.measure in ("approximate", "gdp"):
        return upper  # that of a part with all of it
    from dpverify.trusted.theories.curves.rules import gaussian

    mu = sqrt(mul(num(2), _rho(known)))
    conversions.check_at_least_zero("mu", mu)
    return symmetric(gaussian.profile(mu))


def _rho(known: Filter) -> Expr:
    """rho of Gaussian noise with all of a budget of zCDP, or of a Renyi divergence."""
    return known.rows[0][0] if known.measure == "zcdp" else div(known.rows[0][1], known.rows[0][0])


def spent_in(known: Filter, measure: Measure) -> Expr | Infinite | None:
    """What one part that spends the whole budget has in a measure, at least; None where that is not known."""
    if known.measure == "gdp":
        return conversions.of_mu(known.rows[0][0], measure)
    if known.measure != "approximate":
        rho = _rho(known)
        conversions.check_at_least_zero("rho", rho)
        return sqrt(mul(num(2), rho)) if measure.name == "gdp" else mul(num(1 if measure.at is None else measure.at), rho)
    epsilon, delta = known.rows[0]
    if certainly_lt(ZERO, delta):
        return INFINITE  # it reveals the input at times
    return None if measure.name == "gdp" else conversions.of_pure(epsilon, measure)


def spent_purely(known: Filter, domains: dict[str, Domain]) -> Expr | Infinite | None:
    """The pure epsilon of one part that spends the whole budget; None where that is not known."""
    if known.measure == "approximate":
        epsilon, delta = known.rows[0]
        if certainly_equal(delta, ZERO, domains):
            return epsilon
        return INFINITE if certainly_lt(ZERO, delta, domains) else None
    some = known.rows[0][-1]
    return INFINITE if certainly_lt(ZERO, some, domains) else None
