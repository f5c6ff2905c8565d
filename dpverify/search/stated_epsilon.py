"""Proposes the pure epsilon that a guarantee states."""

from __future__ import annotations

from typing import Any

from dpverify.errors import Rejected, Undecided
from dpverify.model import Claim
from dpverify.rules import stated_epsilon as rule


def propose(claim: Claim, digits: int) -> list[dict[str, Any]]:
    """The one step there is. Raises Undecided where the guarantee implies no pure epsilon."""
    try:
        rule.check(claim, {})
    except Rejected as error:
        raise Undecided("the guarantee that is stated implies no pure epsilon; claim a delta above 0.") from error
    return [{"rule": rule.NAME, "evidence": {}}]
