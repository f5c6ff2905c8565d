"""What is stated of a mechanism of which only a guarantee is known, as it stands.

Theorem: What is stated to be (eps, delta)-DP is so, for every greater eps and delta too; what has bounded range eta is purely eta-DP.

Checked:
- epsilon is at least 0
- the epsilon or the delta that is stated is within what is claimed

Source: docs/theory/composition.md#stated-epsilon, Dong, Durfee & Rogers 2020
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dpverify.trusted.facts.bounds import Bound
from dpverify.trusted.language.errors import CertificateError, Rejected
from dpverify.trusted.language.expr import ZERO
from dpverify.trusted.language.model import Claim, Guarantee
from dpverify.trusted.order.compare import certainly_le
from dpverify.trusted.parts import stated
from dpverify.trusted.rules.guarantees import stated_guarantee

NAME: Final = "stated-epsilon"
ASSUMED: Final = stated_guarantee.ASSUMED


def check(claim: Claim, evidence: Mapping[str, Any]) -> Bound:
    """An upper bound: the least pure epsilon that the guarantee implies; with a "row" in the evidence what that row, from 0, states.

    Raises Rejected where it implies none, CertificateError for a row that is not there.
    """
    known = claim.mechanism
    if not isinstance(known, Guarantee):
        raise Rejected(NAME, "mechanism", "it is not a guarantee")
    if claim.sensitivity is not None or claim.query is not None:
        raise Rejected(NAME, "sensitivity", "a guarantee speaks of neighbours; it has none")
    if "row" in evidence:
        return _stated(claim, known, evidence["row"])
    domains = dict(claim.domains)
    epsilon = stated.pure_epsilon(known, domains)
    if epsilon is None or not certainly_le(ZERO, epsilon, domains):
        raise Rejected(NAME, "the guarantee", "it implies no pure epsilon of at least 0")
    return Bound("upper", epsilon)


def _stated(claim: Claim, known: Guarantee, row: Any) -> Bound:
    stated.check(known)
    if known.measure != "approximate" or type(row) is not int or not 0 <= row < len(known.rows):
        raise CertificateError(f"{NAME}: the guarantee has no such (epsilon, delta).")
    (epsilon, delta), domains = known.rows[row], dict(claim.domains)
    if claim.epsilon is not None and certainly_le(epsilon, claim.epsilon, domains):
        return Bound("upper", delta, quantity="delta")
    if claim.delta is not None and certainly_le(delta, claim.delta, domains):
        return Bound("upper", epsilon, quantity="epsilon")
    raise Rejected(NAME, "the guarantee", "neither its epsilon nor its delta is within what is claimed")
