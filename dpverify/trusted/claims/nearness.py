"""What must hold of claims about how near the answers of one mechanism are to the truth."""

from __future__ import annotations

from typing import Final

from dpverify.trusted.kernel.errors import CertificateError, certify
from dpverify.trusted.kernel.model import NEARNESS, Answering, Claim, Exponential, Staircase, Table

DISTANCES: Final = ("l1", "l2", "linf")
"""The distances that such a claim about additive noise may name."""


def require_alone(claim: Claim) -> None:
    """Raises CertificateError unless it is a claim of how near the answers of one mechanism are, and of nothing else."""
    certify(claim.measure is not None and claim.measure.name == NEARNESS, "the claim states a distance, and not how near answers are.")
    if claim.within is None or not isinstance(claim.mechanism, Answering | Staircase | Table | Exponential):
        raise CertificateError("how near answers are is claimed of additive noise, tables and exponential mechanisms, with `within`.")
    beside = claim.sensitivity, claim.query, claim.beta
    if any(stated is not None for stated in beside) or claim.adjacency or claim.order or claim.prior:
        raise CertificateError("how near answers are does not depend on neighbours, nor on a prior: the claim states something of them.")
    if claim.distance and (claim.distance not in DISTANCES or isinstance(claim.mechanism, Table | Exponential)):
        raise CertificateError(f"the distance is none of {', '.join(DISTANCES)}, or the mechanism adds no noise.")
