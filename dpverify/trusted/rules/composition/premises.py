"""Bounds on the pure epsilon of a part, by the rules about single mechanisms, as premises of rules about combinations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dpverify.trusted.facts.bounds import Bound, Infinite
from dpverify.trusted.facts.pairs import Pure
from dpverify.trusted.language.errors import CertificateError, Rejected
from dpverify.trusted.language.model import Claim
from dpverify.trusted.rules.additive import (
    concave_exponent,
    convex_exponent,
    cosets,
    divergence,
    elliptical_process,
    equal_answers,
    mixture_closed,
    mixture_concave,
    modulus,
    point_witness,
    power_identity,
    product_lipschitz,
    staircase,
)
from dpverify.trusted.rules.finite import exponential_general, finite, kernel_box, kernel_point, selection
from dpverify.trusted.rules.guarantees import stated_epsilon

WHAT: Final = "premise"

RULES: Final[Mapping[str, Any]] = {
    rule.NAME: rule
    for rule in (
        concave_exponent,
        convex_exponent,
        cosets,
        divergence,
        elliptical_process,
        equal_answers,
        exponential_general,
        finite,
        kernel_box,
        kernel_point,
        mixture_closed,
        mixture_concave,
        modulus,
        point_witness,
        power_identity,
        product_lipschitz,
        selection,
        staircase,
        stated_epsilon,
    )
}
"""The rules about single mechanisms."""


def premise(claim: Claim, evidence: Any, side: str) -> Bound:
    """The bound on one side that a named rule proves. evidence: "rule" and its "evidence". Raises Rejected, CertificateError."""
    rule = RULES.get(str(evidence.get("rule"))) if isinstance(evidence, Mapping) else None
    if rule is None or not isinstance(evidence.get("evidence"), Mapping):
        raise CertificateError(f"{WHAT}: it names no rule about single mechanisms with its evidence.")
    found: Bound = rule.check(claim, evidence["evidence"])
    if found.side != side or found.at:
        raise Rejected(WHAT, rule.NAME, f"it does not prove {side} bound for all parameters".replace("prove upper", "prove an upper"))
    return found


def pure_epsilon(claim: Claim, evidence: Any) -> Pure:
    """A finite upper bound on the pure epsilon of a single mechanism, with what it rests on. Raises Rejected, CertificateError."""
    found = premise(claim, evidence, "upper")
    if isinstance(found.value, Infinite):
        raise Rejected(WHAT, "the part", "it has no finite epsilon")
    name = str(evidence["rule"])
    return Pure(found.value, (name, *found.through), (*RULES[name].ASSUMED, *found.assumed))
