"""Proposes that noise under answers that never move is private at epsilon 0."""

from __future__ import annotations

from typing import Any

from dpverify.errors import DpverifyError
from dpverify.model import Claim, Kernel
from dpverify.rules import equal_answers as rule
from dpverify.search import normaliser


def propose(claim: Claim, digits: int) -> list[dict[str, Any]]:
    """Both bounds, where answers are certainly equal."""
    try:
        rule.still(claim, None)
        shown = normaliser.propose(claim.mechanism) if isinstance(claim.mechanism, Kernel) else None
        evidence = {} if shown is None else {"normaliser": shown}
        steps: list[dict[str, Any]] = [{"rule": rule.NAME, "evidence": {"side": side, **evidence}} for side in ("upper", "lower")]
        rule.check(claim, steps[0]["evidence"])
    except DpverifyError:
        return []
    return steps
