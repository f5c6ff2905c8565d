"""Proposals for rules that need no evidence: their value is a closed form of the claim itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from dpverify.search import counterexample
from dpverify.search.additive import sensitivity
from dpverify.trusted.kernel.balls import precision
from dpverify.trusted.kernel.bounds import Bound, Infinite
from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.expr import Add, Expr, Num, children
from dpverify.trusted.kernel.model import Claim, Norm, Product, Translation
from dpverify.trusted.language.linear import linear_part

BITS = 128
Check = Callable[[Claim, Mapping[str, Any]], Bound]


def steps(name: str, check: Check, claim: Claim) -> list[dict[str, Any]]:
    """Both sides of an exact rule where it applies, and for a claim over domains the values of a counterexample."""
    shared = sensitivity_evidence(claim)
    upper = _try(check, claim, shared)
    for centre in _centres(claim) if upper is None else ():
        upper = _try(check, claim, {**shared, "centre": str(centre)})
        if upper is not None:
            shared["centre"] = str(centre)
            break
    lower = _try(check, claim, {"side": "lower", **shared})
    proposed = []
    if upper is not None:
        proposed.append({"rule": name, "evidence": shared})
    if lower is not None:
        proposed.append({"rule": name, "evidence": {"side": "lower", **shared}})
    at = _counterexample(claim, lower or upper)
    if at is not None and _try(check, claim, {"side": "lower", "at": at, **shared}) is not None:
        proposed.append({"rule": name, "evidence": {"side": "lower", "at": at, **shared}})
    return proposed


def _centres(claim: Claim) -> list[Fraction]:
    """Points other than 0 that noise on the line may be symmetric about: the zeros of its linear parts."""
    noise = claim.mechanism
    return sorted(_zeros(noise.density) - {Fraction(0)}) if isinstance(noise, Translation) and not noise.integers else []


def _zeros(expr: Expr) -> set[Fraction]:
    zeros = {zero for part in children(expr) for zero in _zeros(part)}
    if isinstance(expr, Add):
        slope, rest = linear_part(expr, "z")
        if isinstance(slope, Num) and isinstance(rest, Num) and slope.value != 0:
            zeros.add(-rest.value / slope.value)
    return zeros


def sensitivity_evidence(claim: Claim) -> dict[str, Any]:
    """The evidence that the sensitivity of the claim's query, and the l1-radius of its norm, rest on."""
    result: dict[str, Any] = {}
    gauges = sensitivity.propose(claim)
    if gauges:
        result["sensitivity"] = gauges
    noise = claim.mechanism
    if isinstance(noise, Product) and isinstance(noise.dimension, Num) and _by_matrix(noise.norm):
        radius = sensitivity.propose_radius(noise.norm, int(noise.dimension.value))
        if radius:
            result["radius"] = radius
    return result


def _by_matrix(norm: Norm) -> bool:
    return norm.kind != "lp"


def _try(check: Check, claim: Claim, evidence: dict[str, Any]) -> Bound | None:
    try:
        with precision(BITS):
            return check(claim, evidence)
    except DpverifyError:
        return None


def _counterexample(claim: Claim, bound: Bound | None) -> dict[str, str] | None:
    """Values of the parameters where the claimed epsilon is below the exact one."""
    domains = dict(claim.domains)
    if not domains or bound is None or claim.epsilon is None or isinstance(bound.value, Infinite):
        return None
    if certainly_le(bound.value, claim.epsilon, domains):
        return None
    point = counterexample.find(bound.value, claim.epsilon, domains)
    if point is None:
        return None
    return {key: str(value.value) for key, value in point.items() if isinstance(value, Num)}
