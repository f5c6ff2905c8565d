"""The exponential mechanism's general bound, beside the exact value that the search for tables finds."""

from __future__ import annotations

from typing import Any

from dpverify.trusted.kernel.model import Claim, Exponential
from dpverify.trusted.theories.finite.rules import exponential_general as rule


def propose(claim: Claim, digits: int) -> list[dict[str, Any]]:
    """The step of the general bound, which needs no evidence and no digits."""
    return [{"rule": rule.NAME, "evidence": {}}] if isinstance(claim.mechanism, Exponential) else []
