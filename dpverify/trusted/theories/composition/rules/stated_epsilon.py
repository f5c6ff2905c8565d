"""What is stated of a mechanism of which only a guarantee is known, as it stands.

Theorem: What is stated to be eps-DP is so, for every greater eps too; what has bounded range eta is purely eta-DP. Of a filter with the
budget eps some parts lose eps, and of one with another budget some lose more than any number.

Checked:
- epsilon is at least 0

Source: docs/theory/composition.md#stated-epsilon, Dong, Durfee & Rogers 2020
"""

from __future__ import annotations

from typing import Final

from dpverify.trusted.combinators import stated
from dpverify.trusted.kernel.bounds import Bound, Infinite, Parameters
from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import ZERO, format_expr
from dpverify.trusted.kernel.model import Claim, Filter, Guarantee
from dpverify.trusted.theories.composition.rules import privacy_filter

NAME: Final = "stated-epsilon"
ASSUMED: Final = ()


def check(claim: Claim, evidence: Parameters) -> tuple[Bound, ...]:
    """The least pure epsilon that the guarantee implies, from above; of a filter what some parts have, from below too. No evidence.

    Raises Rejected where there is neither.
    """
    known = claim.mechanism
    if not isinstance(known, Guarantee):
        raise Rejected(NAME, "mechanism", "it is not a guarantee")
    domains, bounds = dict(claim.domains), list[Bound]()
    epsilon, through = stated.pure_epsilon(known, domains), stated.theorem_of(known)
    if epsilon is not None and certainly_le(ZERO, epsilon, domains):
        bounds.append(Bound("upper", epsilon, assumed=stated.grounds(known), through=through))
    least = privacy_filter.spent_purely(known, domains) if isinstance(known, Filter) else None
    if least is not None:
        loss = "unbounded" if isinstance(least, Infinite) else format_expr(least)
        says = {"pair": privacy_filter.SAYS, "loss": loss}
        bounds.append(Bound("lower", least, witness=says, assumed=(stated.ANY_PARTS,), through=through))
    if not bounds:
        raise Rejected(NAME, "the guarantee", "it implies no pure epsilon of at least 0")
    return tuple(bounds)
