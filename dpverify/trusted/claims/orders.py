"""What must hold of claims in another measure than epsilon and delta, and of those about one order of neighbours alone."""

from __future__ import annotations

from dpverify.trusted.kernel.errors import CertificateError
from dpverify.trusted.kernel.expr import ZERO
from dpverify.trusted.kernel.model import CLAIMED_MEASURES, NEARNESS, ONE_WAY, ORDERS, Claim, Guarantee, Measure, Selection, all_parts


def require_words(claim: Claim) -> None:
    """Raises CertificateError for a measure or an order that is none, or that stands beside what does not go with it."""
    if claim.measure is not None:
        _require_measure(claim.measure)
    held = (claim.mechanism, *(part.mechanism for part in all_parts(claim.mechanism)))
    for order in (claim.order, *(mechanism.order for mechanism in held if isinstance(mechanism, Guarantee))):
        if order not in ("", *ORDERS):
            raise CertificateError(f"the claim states the order {order[:40]!r}, which is none of {', '.join(ORDERS)}.")
    if claim.order and isinstance(claim.mechanism, Selection) and claim.mechanism.neighbours in ONE_WAY:
        raise CertificateError("the claim states an order beside neighbours that are of one order already.")
    if claim.measure is not None and (claim.epsilon is not None or claim.delta != ZERO):
        raise CertificateError("the claim states an epsilon or a delta beside a measure that stands in place of them.")
    if claim.utility and (claim.order or (claim.measure is not None and claim.measure.name == NEARNESS)):
        raise CertificateError("the claim asks for errors beside an order or nearness, which the rules about errors do not know.")


def _require_measure(measure: Measure) -> None:
    if measure.name not in (*CLAIMED_MEASURES, NEARNESS):
        raise CertificateError(f"the claim states the measure {measure.name[:40]!r}, which is none of {', '.join(CLAIMED_MEASURES)}.")
    if (measure.at is not None) != (measure.name == "renyi") or (measure.at is not None and measure.at <= 1):
        raise CertificateError("the claim states no order above 1 of the divergence that it speaks of, or one of no divergence.")
