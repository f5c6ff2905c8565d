"""What is stated of a mechanism of which only a guarantee is known, as it stands.

Theorem: What is stated to be eps-DP is so, for every greater eps too; what has bounded range eta is purely eta-DP.

Checked:
- epsilon is at least 0

Source: docs/theory/composition.md#stated-epsilon, Dong, Durfee & Rogers 2020
"""

from __future__ import annotations

from typing import Final

from dpverify.trusted.combinators import stated
from dpverify.trusted.kernel.bounds import Bound, Parameters
from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import ZERO
from dpverify.trusted.kernel.model import Claim, Guarantee
from dpverify.trusted.theories.composition.rules import stated_guarantee

NAME: Final = "stated-epsilon"
ASSUMED: Final = stated_guarantee.ASSUMED


def check(claim: Claim, evidence: Parameters) -> Bound:
    """An upper bound: the least pure epsilon that the guarantee implies. No evidence. Raises Rejected where it implies none."""
    known = claim.mechanism
    if not isinstance(known, Guarantee):
        raise Rejected(NAME, "mechanism", "it is not a guarantee")
    domains = dict(claim.domains)
    epsilon = stated.pure_epsilon(known, domains)
    if epsilon is None or not certainly_le(ZERO, epsilon, domains):
        raise Rejected(NAME, "the guarantee", "it implies no pure epsilon of at least 0")
    return Bound("upper", epsilon)
