"""Selections with Gaussian noise in other measures: no more than the noisy answers tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from dpverify.trusted.facts.bounds import Bound
from dpverify.trusted.facts.fact import Fact
from dpverify.trusted.language.errors import Rejected
from dpverify.trusted.language.model import Claim, Compared, Source
from dpverify.trusted.parts.runs import whole
from dpverify.trusted.rules.measures.asked import bound, measure_of
from dpverify.trusted.rules.measures.gaussian import of_mu
from dpverify.trusted.rules.selection import delta_release
from dpverify.trusted.rules.selection.delta_masses import of_run

NAME: Final = "selection-measures"
STATEMENT: Final = (
    "Noisy max and above threshold with Gaussian noise have at most mu in GDP, mu^2/2 in zCDP and the divergence a mu^2/2 of every Renyi "
    "order a, mu being that of the pair N(0, 1), N(mu, 1) which dominates them at every delta."
)
CHECKED: Final = delta_release.CHECKED
ASSUMED: Final = delta_release.ASSUMED
SOURCE: Final = Source("docs/theory/measures.md#selection-measures")


def infer(claim: Claim, _: Mapping[str, Any], __: Sequence[Fact]) -> tuple[Bound, ...]:
    """The upper bound. Raises Rejected, Undecided."""
    measure = measure_of(claim, NAME)
    if not isinstance(claim.mechanism, Compared):
        raise Rejected(NAME, "the mechanism", "it is neither noisy max nor above threshold")
    return (bound(claim, "upper", of_mu(delta_release.distance(of_run(whole(claim), NAME)), measure)),)
