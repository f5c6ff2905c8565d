"""A mechanism of which only a guarantee is known, in any measure of privacy: the pair that dominates all that have it.

Theorem: A mechanism that has a guarantee is dominated by one pair, in adaptive compositions too: (eps_i, delta_i)-DP by the hull of its
points, mu-GDP by N(0, 1) and N(mu, 1), bounded range eta by its extreme pair, rho-zCDP and Renyi divergences by the hull of the (eps,
delta) that they imply. For neighbours k steps apart pure eps, mu and eta are multiplied by k, rho by k^2.

Checked:
- the numbers are in their ranges
- the orders asked for are those stated

Source: docs/theory/composition.md#stated-guarantee, Dong, Roth & Su 2022, Proposition 2.12, Theorem 2.14; Bun & Steinke 2016, Propositions
1.3 and 1.9
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from dpverify.trusted.combinators.runs import Run, leaf
from dpverify.trusted.combinators.stated import ANY_PARTS, check, grounds, theorem_of
from dpverify.trusted.facts import settled
from dpverify.trusted.facts.pairs import Curve, Evidence, Pair, symmetric
from dpverify.trusted.kernel.canonical_form import exact_fraction
from dpverify.trusted.kernel.compare import certainly_equal
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, Num
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import Claim, Filter, Guarantee, Measure
from dpverify.trusted.language.rationals import to_whole
from dpverify.trusted.theories.composition.rules import bounded_range, privacy_filter
from dpverify.trusted.theories.composition.rules import privacy_measures as conversions
from dpverify.trusted.theories.composition.rules import several_guarantees as guarantees
from dpverify.trusted.theories.curves.rules import gaussian, optimal_composition

NAME: Final = "stated-guarantee"
ASSUMED: Final = ()


def infer(run: Run, parameters: Mapping[str, Any], _: Sequence[Fact]) -> Curve:
    """The curve of one mechanism of which a guarantee is stated. parameters: as of `curve`.

    Raises Rejected, Undecided, CertificateError.
    """
    asked = leaf(run)
    mechanism = asked.mechanism
    if not isinstance(mechanism, Guarantee) or asked != Claim(mechanism, None):
        raise Rejected(NAME, "the mechanism", "it is not a guarantee alone, without sensitivity or query")
    found = curve(mechanism, parameters)
    # what a budget comes to over several steps bounds all parts, and it may be that none attain it
    return settled.noise(run, found if run.factor == ONE else replace(found, lower=None, below=()), parameters)


def curve(known: Guarantee, evidence: Evidence) -> Curve:
    """The curve of every mechanism with a guarantee: an upper bound alone, but for filters, of which some parts spend the whole budget.

    evidence: for "zcdp" and "renyi" the "points", pairs of an order and an epsilon; for several (epsilon, delta) the "corners", by number
    those that the bound is made of. Raises Rejected, Undecided, CertificateError.
    """
    upper = _pair(known, evidence)
    lower = privacy_filter.spent(known, upper) if isinstance(known, Filter) else None
    return Curve(upper, lower, (NAME, *theorem_of(known)), grounds(known), () if lower is None else (ANY_PARTS,))


def _pair(known: Guarantee, evidence: Evidence) -> Pair:
    check(known)
    if known.measure == "approximate":
        if len(known.rows) == 1:
            return optimal_composition.guarantee(*known.rows[0])
        corners = [to_whole(number, "corners", NAME, 0, len(known.rows) - 1) for number in evidence["corners"]]
        return guarantees.pair([(known.rows[i][0], known.rows[i][1]) for i in corners])
    only = known.rows[0][0]
    if known.measure == "gdp":
        return gdp_pair(only)
    if known.measure == "bounded_range":
        return optimal_composition.pair(ZERO) if certainly_equal(only, ZERO) else bounded_range.pair(only)
    points = ((order, Num(epsilon)) for order, epsilon in read_points(evidence))
    return renyi_pair(
        [(conversions.Renyi(order, conversions.of_guarantee(known, Measure("renyi", None, order))), epsilon) for order, epsilon in points]
    )


def read_points(evidence: Evidence) -> list[tuple[Fraction, Fraction]]:
    """Orders above 1 and epsilons, as evidence writes them."""
    return [(exact_fraction(order), exact_fraction(epsilon)) for order, epsilon in evidence["points"]]


def implied(renyi: conversions.Renyi, epsilon: Expr) -> guarantees.Point:
    """The guarantee that a divergence implies at an epsilon, its delta rounded up to a short rational."""
    return epsilon, Num(conversions.rounded_up(conversions.renyi_delta_bound(renyi, epsilon)))


def renyi_pair(points: Sequence[tuple[conversions.Renyi, Expr]]) -> Pair:
    """The pair that dominates every mechanism with these Renyi divergences, as far as their bounds at the epsilons beside them tell.

    Raises Undecided where these bounds do not fall with rising epsilons.
    """
    return guarantees.pair([implied(renyi, epsilon) for renyi, epsilon in points])


def gdp_pair(mu: Expr) -> Pair:
    """N(0, 1) and N(mu, 1): mu-GDP says that they dominate the mechanism, and nothing else. Raises Undecided unless mu >= 0.

    Source: Dong, Roth & Su 2022, Definition 2.6 and Corollary 2.13.
    """
    conversions.check_at_least_zero("mu", mu)
    return symmetric(gaussian.profile(mu))
