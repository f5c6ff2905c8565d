"""Proposes that an elliptical process is never purely private."""

from __future__ import annotations

from typing import Any

from dpverify.trusted.language.model import Claim
from dpverify.trusted.rules.additive import elliptical_process as rule


def propose(claim: Claim, digits: int) -> list[dict[str, Any]]:
    """The one step there is. Raises Rejected, Undecided where it does not hold."""
    rule.check(claim, {})
    return [{"rule": rule.NAME, "evidence": {}}]
