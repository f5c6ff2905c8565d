"""Bounds for staircase noise, and values of its parameters that break a false claim."""

from __future__ import annotations

from typing import Any

from dpverify.search import counterexample
from dpverify.trusted.kernel.bounds import Infinite
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.expr import Num
from dpverify.trusted.kernel.model import Claim, Staircase
from dpverify.trusted.theories.additive.rules import staircase as rule


def propose(claim: Claim, digits: int) -> list[dict[str, Any]]:
    """Both bounds, which follow from the claim alone, and a counterexample to a false claim; needs no digits."""
    if not isinstance(claim.mechanism, Staircase):
        return []
    try:
        tight = rule.check(claim, {"side": "lower"}).value
    except DpverifyError:
        return []
    steps: list[dict[str, Any]] = [{"rule": rule.NAME, "evidence": {"side": side}} for side in ("lower", "upper")]
    if claim.epsilon is None or isinstance(tight, Infinite) or not claim.domains:
        return steps
    values = counterexample.find(tight, claim.epsilon, dict(claim.domains))
    if values is not None:
        at = {name: str(value.value) for name, value in values.items() if isinstance(value, Num)}
        steps.append({"rule": rule.NAME, "evidence": {"side": "lower", "at": at}})
    return steps
