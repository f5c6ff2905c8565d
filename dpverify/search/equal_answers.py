"""Proposes that noise under answers that never move is private at epsilon 0."""

from __future__ import annotations

from typing import Any

from dpverify.errors import DpverifyError
from dpverify.model import Claim
from dpverify.rules import equal_answers as rule


def propose(claim: Claim, digits: int) -> list[dict[str, Any]]:
    """Both bounds, where answers are certainly equal."""
    steps: list[dict[str, Any]] = [{"rule": rule.NAME, "evidence": {"side": side}} for side in ("upper", "lower")]
    try:
        rule.check(claim, steps[0]["evidence"])
    except DpverifyError:
        return []
    return steps
