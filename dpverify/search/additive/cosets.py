"""Proposes the rule `cosets`, which needs no evidence but values of the parameters."""

from __future__ import annotations

from itertools import islice, product
from typing import Any

from dpverify.search.additive import asymptotics
from dpverify.search.grids import simple_values
from dpverify.trusted.combinators.parameters import fixed
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.expr import ONE, ZERO
from dpverify.trusted.kernel.model import Claim, Product, Radial, Translation
from dpverify.trusted.sensitivity.apart import off_the_integers
from dpverify.trusted.theories.additive.rules import cosets as rule

_MOST_TRIED = 24


def propose(claim: Claim, digits: int) -> list[dict[str, Any]]:
    """That epsilon is infinite, and the tight delta 1, where noise on the integers meets answers that do not differ by integers."""
    if off_the_integers(claim.mechanism, claim.query) is None:
        return []
    if not claim.domains:
        wanted = ["pure"] if claim.delta == ZERO else [] if claim.delta in (None, ONE) else ["epsilon"]
        shown = _shown(claim)
        return [
            {"rule": rule.NAME, "evidence": {"quantity": one, **shown}}
            for one in [*wanted, *(["delta"] if claim.epsilon is not None else [])]
        ]
    names = [name for name, _ in claim.domains]
    for chosen in islice(product(*(simple_values(domain) for _, domain in claim.domains)), _MOST_TRIED):
        evidence: dict[str, Any] = {"at": {name: str(value) for name, value in zip(names, chosen, strict=True)}}
        try:
            evidence |= _shown(fixed(claim, evidence, rule.NAME)[0])
            rule.check(claim, evidence)
        except DpverifyError:
            continue
        return [{"rule": rule.NAME, "evidence": evidence}]
    return []


def _shown(claim: Claim) -> dict[str, Any]:
    """What shows that the noise is summable."""
    return asymptotics.evidence(claim.mechanism) if isinstance(claim.mechanism, Radial | Translation | Product) else {}
