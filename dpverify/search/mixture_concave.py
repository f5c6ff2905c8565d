"""Proposes the rule `mixture-concave`: the scale sigma(v) of the conditional, among the usual ones, and the bits of the integrals."""

from __future__ import annotations

from typing import Any, Final

from dpverify.errors import DpverifyError
from dpverify.model import Claim, Mixture
from dpverify.rules import mixture_concave
from dpverify.search import sensitivity

SCALES: Final = ("v", "1/v", "v**2", "1/v**2", "sqrt(v)", "1/sqrt(v)")
BITS_PER_DIGIT: Final = 4


def propose(claim: Claim, digits: int) -> list[dict[str, Any]]:
    """Steps of both sides, where the rule applies, narrow enough for the digits."""
    if not isinstance(claim.mechanism, Mixture):
        return []
    gauges = sensitivity.propose(claim)
    shared = {"bits": BITS_PER_DIGIT * digits + 8, **({"sensitivity": gauges} if gauges else {})}
    for scale in SCALES:
        evidence = {"side": "upper", "scale": scale, **shared}
        try:
            mixture_concave.check(claim, evidence)
        except DpverifyError:
            continue
        sides = (evidence, {**evidence, "side": "lower"})
        return [{"rule": mixture_concave.NAME, "evidence": side} for side in sides]
    return []
