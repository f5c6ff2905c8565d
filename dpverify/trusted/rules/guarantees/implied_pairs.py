"""Pairs of distributions that dominate what has some Renyi divergences, or is mu-GDP: they may be composed again."""

from __future__ import annotations

from collections.abc import Sequence

from dpverify.trusted.facts.pairs import Pair, symmetric
from dpverify.trusted.language.expr import Expr, Num
from dpverify.trusted.rules.curves import gaussian
from dpverify.trusted.rules.guarantees import guarantees
from dpverify.trusted.rules.guarantees.conversions import Renyi, check_at_least_zero, renyi_delta_bound, rounded_up


def implied(renyi: Renyi, epsilon: Expr) -> guarantees.Point:
    """The guarantee that a divergence implies at an epsilon, its delta rounded up to a short rational."""
    return epsilon, Num(rounded_up(renyi_delta_bound(renyi, epsilon)))


def renyi_pair(points: Sequence[tuple[Renyi, Expr]]) -> Pair:
    """The pair that dominates every mechanism with these Renyi divergences, as far as their bounds at the epsilons beside them tell.

    Raises Undecided where these bounds do not fall with rising epsilons.
    """
    return guarantees.pair([implied(renyi, epsilon) for renyi, epsilon in points])


def gdp_pair(mu: Expr) -> Pair:
    """N(0, 1) and N(mu, 1): mu-GDP says that they dominate the mechanism, and nothing else. Raises Undecided unless mu >= 0.

    Source: Dong, Roth & Su 2022, Definition 2.6 and Corollary 2.13.
    """
    check_at_least_zero("mu", mu)
    return symmetric(gaussian.profile(mu))
