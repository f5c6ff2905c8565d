"""Proposes the rule `mixture-concave`: the scale s(v) of the conditionals, and the bits of the integrals."""

from __future__ import annotations

from typing import Any, Final

from dpverify.search.additive import asymptotics, mixtures, sensitivity
from dpverify.trusted.kernel.errors import DpverifyError, Undecided
from dpverify.trusted.kernel.expr import format_expr
from dpverify.trusted.kernel.model import Claim, Mixture
from dpverify.trusted.theories.additive.rules import mixture_concave
from dpverify.trusted.theories.additive.scale_family import support

BITS_PER_DIGIT: Final = 4


def propose(claim: Claim, digits: int) -> list[dict[str, Any]]:
    """Steps of both sides, where the rule applies, narrow enough for the digits. Raises Undecided where no s(v) is found."""
    if not isinstance(claim.mechanism, Mixture):
        return []
    gauges = sensitivity.propose(claim)
    shared = {"bits": BITS_PER_DIGIT * digits + 8, **({"sensitivity": gauges} if gauges else {})}
    scale = mixtures.scale_of(claim.mechanism, dict(claim.domains))
    if scale is None:
        why = "the normaliser of the profile is not certainly free of v; write the profile as a function of r/s(v) over s(v)**dimension"
        raise Undecided(f"{mixture_concave.NAME}: {why}.")
    evidence = {"side": "upper", "scale": format_expr(scale), **shared}
    try:
        told = asymptotics.of_density(claim.mechanism.mixing, "v", *support(claim.mechanism, mixture_concave.NAME))
        evidence |= {} if told is None else {"normaliser": told}
        mixture_concave.check(claim, evidence)
    except DpverifyError:
        return []
    return [{"rule": mixture_concave.NAME, "evidence": side} for side in (evidence, {**evidence, "side": "lower"})]
