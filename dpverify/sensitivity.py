"""The sensitivity that a claim speaks of: stated, or derived from its query and adjacency (THEORY T2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpverify.errors import Rejected
from dpverify.expr import Num
from dpverify.geometry import Sensitivity, norm_faults, sensitivity
from dpverify.model import L1, Claim, Mixture, Norm, Product, Radial, Translation


def noise_norm(claim: Claim) -> tuple[Norm, int | None]:
    """The norm in which the claim's sensitivity is measured, and the dimension where it is a number."""
    noise = claim.mechanism
    if isinstance(noise, Radial | Product | Mixture):
        d = noise.dimension
        return noise.norm, int(d.value) if isinstance(d, Num) and d.value.denominator == 1 else None
    if isinstance(noise, Translation):
        return L1, 1
    raise Rejected("sensitivity", "the mechanism", "this kind has no norm to measure a sensitivity in")


def sensitivity_bounds(claim: Claim, evidence: Mapping[str, Any] | None) -> Sensitivity:
    """Bounds on the claim's sensitivity, before scale; both the stated expression where one is stated.

    evidence: the gauge certificate that a query in a norm by columns needs. Raises Rejected for a norm that is none, and
    where neither a sensitivity nor a query is given.
    """
    norm, dimension = noise_norm(claim)
    if dimension is None and norm.kind != "lp":
        raise Rejected("sensitivity", "the norm", "a norm by a matrix needs its dimension as a number")
    faults = norm_faults(norm, 1 if dimension is None else dimension)  # an lp norm is one in every dimension, or in none
    if faults:
        raise Rejected("sensitivity", "the norm", "; ".join(faults))
    if claim.query is not None:
        if dimension is None:
            raise Rejected("sensitivity", "the query", "it needs the dimension as a number")
        return sensitivity(claim.query, norm, dimension, evidence)
    if claim.sensitivity is None:
        raise Rejected("sensitivity", "the claim", "neither a sensitivity nor a query is given")
    return Sensitivity(claim.sensitivity, claim.sensitivity)
