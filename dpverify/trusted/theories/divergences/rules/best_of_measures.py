"""The best output of a random number of runs: Renyi divergences, from above.

Theorem: Of the best of a random number of runs the Renyi divergence of order a is at most what best-of-renyi says.

Checked:
- the measure is a Renyi divergence
- what best-of-renyi checks

Source: docs/theory/measures.md#best-of-measures
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from dpverify.trusted.combinators.runs import neighbours_assumed
from dpverify.trusted.kernel.bounds import Bound
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import BestOf, Claim
from dpverify.trusted.theories.composition.rules import best_of_renyi
from dpverify.trusted.theories.divergences.asked import bound, measure_of

NAME: Final = "best-of-measures"
ASSUMED: Final = best_of_renyi.ASSUMED


def infer(claim: Claim, parameters: Mapping[str, Any], _: Sequence[Fact]) -> Bound:
    """An upper bound. parameters: as of `best_of_renyi.divergence`. Raises Rejected, Undecided, CertificateError."""
    measure, best = measure_of(claim, NAME), claim.mechanism
    if measure.at is None or not isinstance(best, BestOf):
        raise Rejected(NAME, "the claim", "it is no Renyi divergence of the best of several runs")
    value, assumed = best_of_renyi.divergence(best, measure.at, parameters)
    return bound(claim, "upper", value, (*assumed, *neighbours_assumed(claim)), (best_of_renyi.NAME,))
