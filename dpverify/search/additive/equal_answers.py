"""Proposes that noise under answers that never move is private at epsilon 0."""

from __future__ import annotations

from typing import Any

from dpverify.search.additive import asymptotics
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.model import Claim, Kernel, Product, Radial, Translation
from dpverify.trusted.theories.additive.rules import equal_answers as rule


def propose(claim: Claim, digits: int) -> list[dict[str, Any]]:
    """Both bounds, where answers are certainly equal."""
    try:
        rule.still(claim, None)
        evidence = _of_kernel(claim.mechanism) if isinstance(claim.mechanism, Kernel) else {}
        if isinstance(claim.mechanism, Radial | Translation | Product) and not claim.domains:
            evidence = asymptotics.evidence(claim.mechanism)
        steps: list[dict[str, Any]] = [{"rule": rule.NAME, "evidence": {"side": side, **evidence}} for side in ("upper", "lower")]
        rule.check(claim, steps[0]["evidence"])
    except DpverifyError:
        return []
    return steps


def _of_kernel(kernel: Kernel) -> dict[str, Any]:
    """What shows that the densities of a kernel have mass 1."""
    from dpverify.search.finite import normaliser

    shown = normaliser.propose(kernel)
    return {"normaliser": shown} if shown else {}
