"""Streams with Gaussian noise in other measures: no more than what shifts that no comparison sees hide.

Theorem: A stream of which shifts of Gaussian noises that no comparison sees hide what its answers move by has at most mu in GDP, mu^2/2 in
zCDP and the divergence a mu^2/2 of every Renyi order a, mu being that of the pair N(0, 1), N(mu, 1) which dominates it.

Checked:
- shifts leave all comparisons that may be made, what is told and the state as they are, wherever runs may be
- the noises that are shifted are Gaussian, on the line
- the most steps of a run are a number, or one answer alone moves

Source: docs/theory/measures.md#stream-measures
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from dpverify.trusted.facts.bounds import Bound
from dpverify.trusted.facts.fact import Fact
from dpverify.trusted.language.model import Claim
from dpverify.trusted.parts.runs import whole
from dpverify.trusted.rules.guarantees.conversions import of_mu
from dpverify.trusted.rules.measures.asked import bound, measure_of
from dpverify.trusted.rules.selection import unseen_shifts

NAME: Final = "stream-measures"
ASSUMED: Final = unseen_shifts.ASSUMED


def infer(claim: Claim, evidence: Mapping[str, Any], _: Sequence[Fact]) -> tuple[Bound, ...]:
    """The upper bound. evidence: "shifts" and "follow", as of the curve. Raises Rejected, Undecided, CertificateError."""
    measure = measure_of(claim, NAME)
    mu, laws = unseen_shifts.distance(whole(claim), evidence)
    return (bound(claim, "upper", of_mu(mu, measure), laws),)
