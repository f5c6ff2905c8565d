"""What must hold of claims about metric spaces of answers."""

from __future__ import annotations

from dpverify.trusted.language.errors import CertificateError
from dpverify.trusted.language.model import Claim, Space, all_parts, kind_of


def require_alone(claim: Claim) -> None:
    """Raises CertificateError for a space that is a part, or is claimed what spaces have not; and for nearness to no point of a space."""
    if any(isinstance(part.mechanism, Space) for part in all_parts(claim.mechanism)):
        raise CertificateError("a space is no mechanism by itself, so it is no part of one.")
    if isinstance(claim.mechanism, Space) and (claim.measure is not None or claim.order):
        raise CertificateError("of a space pure privacy is claimed, in both orders.")
    if claim.within is not None and not isinstance(claim.mechanism, Space):
        raise CertificateError(f"the claim states how near answers are of the kind {kind_of(claim.mechanism)}, which is no space.")
