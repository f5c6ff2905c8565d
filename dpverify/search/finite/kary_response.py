"""Bounds for k-ary randomized response, and values of its parameters that break a false claim."""

from __future__ import annotations

from typing import Any

from dpverify.search import counterexample
from dpverify.search.finite.finite_table import reached_ends
from dpverify.trusted.kernel.bounds import Infinite
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.expr import Expr, Num, format_expr
from dpverify.trusted.kernel.model import Claim, KaryResponse
from dpverify.trusted.theories.finite.rules import kary_response as rule


def propose(claim: Claim, digits: int) -> list[dict[str, Any]]:
    """Both bounds, by the closed form that the claim states where that is the one; needs no digits."""
    if not isinstance(claim.mechanism, KaryResponse):
        return []
    forms: list[dict[str, Any]] = [{}]
    if claim.epsilon is not None:
        forms.insert(0, {"value": format_expr(claim.epsilon)})
    steps = _infinite_at_an_end(claim)
    for side in ("lower", "upper"):
        for form in forms:
            try:
                bound = rule.check(claim, {"side": side, **form})
            except DpverifyError:
                continue
            steps.append({"rule": rule.NAME, "evidence": {"side": side, **form}})
            if side == "lower" and claim.epsilon is not None and not isinstance(bound.value, Infinite):
                steps += _counterexample(claim, bound.value, claim.epsilon)
            break
    return steps


def _infinite_at_an_end(claim: Claim) -> list[dict[str, Any]]:
    for at in reached_ends(claim):
        evidence = {"side": "lower", "at": at}
        try:
            if isinstance(rule.check(claim, evidence).value, Infinite):
                return [{"rule": rule.NAME, "evidence": evidence}]
        except DpverifyError:
            continue
    return []


def _counterexample(claim: Claim, tight: Expr, claimed: Expr) -> list[dict[str, Any]]:
    values = counterexample.find(tight, claimed, dict(claim.domains)) if claim.domains else None
    if values is None:
        return []
    at = {name: str(value.value) for name, value in values.items() if isinstance(value, Num)}
    return [{"rule": rule.NAME, "evidence": {"side": "lower", "at": at}}]
