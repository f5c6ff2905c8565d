"""Proposes the pure epsilons of the parts of a combinator, each by the search for its own kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dpverify.compare import certainly_le
from dpverify.curves.runs import Run, leaf
from dpverify.expr import ONE, ZERO, Expr, mul
from dpverify.model import Claim, Combinator, Compose, Domain, Group, Lipschitz, Parallel, Part, PostProcess, Subsample
from dpverify.rules import combination as rule

Plan = dict[str, Any]
Premises = Callable[[Claim, str], Plan | None]
"""Evidence for a bound on one side of the pure epsilon of a single mechanism, where one is found."""


def propose(claim: Claim, premises: Premises) -> list[Plan]:
    """Steps for both sides, as far as every part has a bound there."""
    assert isinstance(claim.mechanism, Combinator)
    steps: list[Plan] = []
    for side in ("upper", "lower"):
        plan = _plan(Part(claim.mechanism), ONE, side, claim.domains, premises)
        if plan is not None:
            steps.append({"rule": rule.NAME, "evidence": {"side": side, "part": plan}})
    return steps


def _plan(part: Part, factor: Expr, side: str, domains: tuple[tuple[str, Domain], ...], premises: Premises) -> Plan | None:
    mechanism = part.mechanism
    if isinstance(mechanism, Compose | Parallel):
        if isinstance(mechanism, Parallel) and not certainly_le(factor, ONE, dict(domains)):
            factor = ONE
        plans = [_plan(inner, factor, side, domains, premises) for inner in mechanism.parts]
        return None if None in plans else {"parts": plans}
    if isinstance(mechanism, PostProcess):
        return None if side == "lower" else _plan(mechanism.part, factor, side, domains, premises)
    if isinstance(mechanism, Group | Lipschitz):
        times = mechanism.size if isinstance(mechanism, Group) else mechanism.constant
        return _plan(mechanism.part, mul(factor, times), side, domains, premises)
    if isinstance(mechanism, Subsample):
        if side == "lower" and factor != ONE:
            return None
        if mechanism.rate == ZERO:
            return {}
        return _plan(mechanism.part, ONE, side, domains, premises)
    noise, sensitivity, query = leaf(Run(part, factor), dict(domains))
    return premises(Claim(noise, None, sensitivity=sensitivity, query=query, domains=domains), side)
