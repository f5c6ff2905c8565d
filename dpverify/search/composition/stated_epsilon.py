"""Proposes what a guarantee states, as it stands."""

from __future__ import annotations

from typing import Any

from dpverify.trusted.kernel.bounds import Bound, Infinite
from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.errors import DpverifyError, Undecided
from dpverify.trusted.kernel.expr import ZERO
from dpverify.trusted.kernel.model import Claim, Guarantee
from dpverify.trusted.theories.composition.rules import one_sided
from dpverify.trusted.theories.composition.rules import stated_epsilon as rule


def propose(claim: Claim, digits: int) -> list[dict[str, Any]]:
    """The pure epsilon, and the (epsilon, delta) that are within what is claimed. Raises Undecided where a pure one is claimed in vain."""
    assert isinstance(claim.mechanism, Guarantee)
    rows = range(len(claim.mechanism.rows)) if claim.mechanism.measure == "approximate" and claim.delta != ZERO else range(0)
    steps: list[dict[str, Any]] = [{"rule": rule.NAME, "evidence": {}}]
    steps += [{"rule": one_sided.NAME, "evidence": {"side": "upper", "row": row}} for row in rows]
    holding = [step for step in steps if _holds(claim, step)]
    if not holding and claim.delta == ZERO:
        raise Undecided("the guarantee that is stated implies no pure epsilon; claim a delta above 0.")
    return holding


def _holds(claim: Claim, step: dict[str, Any]) -> bool:
    """Whether a step holds and says something about what is claimed."""
    try:
        bounds = rule.check(claim, {}) if step["rule"] == rule.NAME else (one_sided.infer(claim, step["evidence"], ()),)
    except DpverifyError:
        return False
    return any(_tells(claim, bound) for bound in bounds)


def _tells(claim: Claim, bound: Bound) -> bool:
    """Whether a bound says something about what is claimed."""
    if bound.side == "lower":
        return claim.delta == ZERO
    if bound.quantity == "delta" or claim.epsilon is None or claim.delta == ZERO:
        return True
    return not isinstance(bound.value, Infinite) and certainly_le(bound.value, claim.epsilon, dict(claim.domains))
