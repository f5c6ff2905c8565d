"""Noise under a query whose answers never move: the outputs on two neighbours have one law."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dpverify.trusted.facts.bounds import Bound
from dpverify.trusted.language.errors import CertificateError, Rejected
from dpverify.trusted.language.expr import ONE, ZERO
from dpverify.trusted.language.model import Claim, EllipticalProcess, Part, Source, Staircase, on_integers
from dpverify.trusted.order.compare import certainly_le, certainly_lt
from dpverify.trusted.order.geometry import Sensitivity
from dpverify.trusted.order.sensitivity import sensitivity_bounds
from dpverify.trusted.parts.runs import Run, reach
from dpverify.trusted.rules.additive.additive import additive
from dpverify.trusted.rules.additive.point_witness import noise_of
from dpverify.trusted.rules.curves import elliptical_process

NAME: Final = "equal-answers"
STATEMENT: Final = (
    "Noise added to equal answers gives equal outputs. Where the answers of no two neighbours differ, the tight epsilon is 0, whatever the "
    "noise is."
)
CHECKED: Final = (
    "the sensitivity is 0, or for noise on the integers below 1",
    "the density is integrable (summable on the integers), or the noise's parameters are in order",
)
ASSUMED: Final = ("the sampler is ideal",)
SOURCE: Final = Source("THEORY", "T1, T2")


def check(claim: Claim, evidence: Mapping[str, Any]) -> Bound:
    """The bound 0, upper or lower as "side" asks for. evidence: "sensitivity" as in `geometry`. Raises Rejected, Undecided."""
    side = evidence.get("side")
    if side not in ("upper", "lower"):
        raise CertificateError(f"{NAME}: 'side' is {side!r}, not upper or lower.")
    noise, domains = claim.mechanism, dict(claim.domains)
    found = _reach(claim, evidence.get("sensitivity"))
    moved = found.upper
    still = certainly_le(moved, ZERO, domains) or (on_integers(noise) and certainly_lt(moved, ONE, domains))
    if not (still and certainly_le(ZERO, moved, domains)):
        raise Rejected(NAME, "the sensitivity", "it is not certain that the answers of neighbours are equal")
    if isinstance(noise, EllipticalProcess):
        elliptical_process.curve(noise, found)
    elif isinstance(noise, Staircase):
        epsilon, gamma = noise.epsilon, noise.gamma
        if not (certainly_lt(ZERO, epsilon, domains) and certainly_le(ZERO, gamma, domains) and certainly_le(gamma, ONE, domains)):
            raise Rejected(NAME, "the noise", "its epsilon is not certainly positive, or its gamma not certainly in [0, 1]")
    elif claim.domains:
        whole = additive(claim, {"sensitivity": evidence.get("sensitivity")}, NAME)
        whole.integrable(whole.h)
    else:
        noise_of(claim, NAME)
    return Bound(side, ZERO)


def _reach(claim: Claim, evidence: Mapping[str, Any] | None) -> Sensitivity:
    """Bounds on what answers move by. Raises Rejected for a mechanism that adds no noise to an answer."""
    if not isinstance(claim.mechanism, Staircase | EllipticalProcess):
        return sensitivity_bounds(claim, evidence)
    if claim.query is not None:
        raise Rejected(NAME, "the query", "this noise takes its sensitivity as a number; state it")
    return reach(Run(Part(claim.mechanism, claim.sensitivity)))
