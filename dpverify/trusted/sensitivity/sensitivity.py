"""The sensitivity that a claim speaks of: stated, or derived from its query and adjacency (theory#sensitivity-of-a-linear-query).

Noise on the integers hides integers alone (theory#cosets). Where the answers of two neighbours differ by a number that is none, their
outputs have none in common. Where all differ by integers, a step is at most the integer part of the sensitivity, and so many steps are
at most so many times that.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpverify.trusted.geometry.sensitivity import Sensitivity
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import Expr, Num, call
from dpverify.trusted.kernel.integers import is_whole
from dpverify.trusted.kernel.model import L1, Claim, Domain, Mixture, Norm, Product, Radial, Sum, Translation


def noise_norm(claim: Claim) -> tuple[Norm, int | None]:
    """The norm in which the claim's sensitivity is measured, and the dimension where it is a number."""
    noise = claim.mechanism
    if isinstance(noise, Radial | Product | Mixture):
        d = noise.dimension
        return noise.norm, int(d.value) if isinstance(d, Num) and d.value.denominator == 1 else None
    if isinstance(noise, Translation | Sum):
        return L1, 1
    raise Rejected("sensitivity", "the mechanism", "this kind has no norm to measure a sensitivity in")


def require_answers(claim: Claim) -> tuple[Norm, int | None]:
    """What `noise_norm` tells. Raises Rejected where that must be known and is not."""
    norm, dimension = noise_norm(claim)
    known = dimension is not None or (norm.kind == "lp" and claim.query is None)
    require(known, Rejected("sensitivity", "the norm", "a norm by a matrix, or a query, needs its dimension as a number"))
    return norm, dimension


def sensitivity_bounds(claim: Claim, evidence: Mapping[str, Any] | None) -> Sensitivity:
    """Bounds on the claim's sensitivity, before scale; both the stated expression where one is stated.

    evidence: the gauge certificate that a query in a norm by columns needs. Raises Rejected
    where neither a sensitivity nor a query is given, and for noise on the integers under answers that do not differ by integers.
    """
    norm, dimension = require_answers(claim)
    if claim.query is not None:
        from dpverify.trusted.sensitivity.queried import derived

        return derived(claim.mechanism, claim.query, norm, dimension or 0, evidence)
    if claim.sensitivity is None:
        raise Rejected("sensitivity", "the claim", "neither a sensitivity nor a query is given")
    return Sensitivity(claim.sensitivity, claim.sensitivity)


def whole_part(expr: Expr, domains: Mapping[str, Domain]) -> Expr:
    """The floor of an expression, itself where it is certainly an integer."""
    return expr if is_whole(expr, domains) else call("floor", expr)
