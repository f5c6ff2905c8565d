"""The pure epsilon of a mechanism of which only a guarantee is known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dpverify.compare import certainly_le
from dpverify.curves import stated_guarantee
from dpverify.errors import Rejected
from dpverify.expr import ZERO
from dpverify.model import Claim, Guarantee, Source
from dpverify.rules.base import Bound

NAME: Final = "stated-epsilon"
STATEMENT: Final = "What is stated to be eps-DP is eps-DP, and what has bounded range eta is eta-DP."
CHECKED: Final = ("delta = 0 in what is stated", "epsilon is at least 0")
ASSUMED: Final = stated_guarantee.ASSUMED
SOURCE: Final = Source("Dong, Durfee & Rogers 2020")


def check(claim: Claim, evidence: Mapping[str, Any]) -> Bound:
    """The least pure epsilon that the guarantee implies. No evidence. Raises Rejected where it implies none."""
    if not isinstance(claim.mechanism, Guarantee):
        raise Rejected(NAME, "mechanism", "it is not a guarantee")
    if claim.sensitivity is not None or claim.query is not None:
        raise Rejected(NAME, "sensitivity", "a guarantee speaks of neighbours; it has none")
    domains = dict(claim.domains)
    found = stated_guarantee.pure_epsilon(claim.mechanism, domains)
    if found is None or not certainly_le(ZERO, found, domains):
        raise Rejected(NAME, "the guarantee", "it implies no pure epsilon of at least 0")
    return Bound("upper", found)
