"""Noise under a query whose answers never move, and kernels whose inputs never differ: the outputs on two neighbours have one law.

Theorem: Noise added to equal answers gives equal outputs. Where the answers (the inputs of a kernel) of no two neighbours differ, the tight
epsilon is 0, whatever the noise is.

Checked:
- the sensitivity is 0, or for noise on the integers below 1
- the density is integrable (summable on the integers), certainly positive somewhere, and non-negative where no assumption says otherwise,
  or the noise's parameters are in order

Source: docs/theory/additive.md#equal-answers
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dpverify.trusted.combinators.runs import Run, reach
from dpverify.trusted.geometry.sensitivity import Sensitivity
from dpverify.trusted.kernel.balls import rational
from dpverify.trusted.kernel.bounds import Bound
from dpverify.trusted.kernel.canonical_form import exact_fraction
from dpverify.trusted.kernel.compare import certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import CertificateError, Rejected, require
from dpverify.trusted.kernel.expr import ONE, ZERO, sub
from dpverify.trusted.kernel.model import Claim, EllipticalProcess, Kernel, Part, Radial, Staircase, on_integers
from dpverify.trusted.language.noise import Additive
from dpverify.trusted.sensitivity.sensitivity import sensitivity_bounds
from dpverify.trusted.theories.additive.additive import additive
from dpverify.trusted.theories.additive.integrable import require_everywhere
from dpverify.trusted.theories.additive.points import density_on, noise_of, sign_of

NAME: Final = "equal-answers"
ASSUMED: Final = ("the sampler is ideal",)


def check(claim: Claim, evidence: Mapping[str, Any]) -> Bound:
    """The bound 0, upper or lower as "side" asks for. Raises Rejected, Undecided.

    evidence: "sensitivity" as in `geometry`; "normaliser" of a kernel, as in `normaliser`, and of noise, as in `integrable`, with
    "positive", the ends of an interval (on the integers twice one) on which its density is positive.
    """
    side = evidence["side"]
    require(side in ("upper", "lower"), CertificateError(f"{NAME}: 'side' is {side!r}, not upper or lower."))
    noise = claim.mechanism
    still(claim, evidence.get("sensitivity"))
    if isinstance(noise, Kernel):
        from dpverify.trusted.theories.finite.normaliser import check_normaliser

        return Bound(side, ZERO, assumed=check_normaliser(claim, evidence.get("normaliser")))
    if isinstance(noise, EllipticalProcess):
        from dpverify.trusted.theories.processes import observed_variance as variance

        variance.check(variance.law_of(noise))
    elif claim.domains and not isinstance(noise, Staircase):
        require_everywhere(additive(claim, {"sensitivity": evidence.get("sensitivity")}, NAME))
    elif not isinstance(noise, Staircase):
        density = noise_of(claim, evidence, NAME)
        if evidence.get("normaliser") is not None:  # else its logarithm has a value everywhere
            _require_mass(density, evidence.get("positive"))
        return Bound(side, ZERO, assumed=sign_of(density))
    return Bound(side, ZERO)


def _require_mass(noise: Additive, told: Any) -> None:
    """Raises Rejected unless the density is certainly positive on an interval, or at an integer; CertificateError where none is told."""
    if not isinstance(told, list) or len(told) != 2:
        raise CertificateError(f"{NAME}: 'positive' wants the two ends of an interval on which the density is positive.")
    low, high = map(exact_fraction, told)
    wide = low == high and low.denominator == 1 if on_integers(noise) else low < high
    if not wide or (isinstance(noise, Radial) and low < 0) or not density_on(noise, rational(low).union(rational(high))) > 0:
        raise Rejected(NAME, "the density", "it is not certainly positive somewhere, so that it may have no mass")


def still(claim: Claim, evidence: Mapping[str, Any] | None) -> Sensitivity:
    """Bounds on what answers move by, all of which are certainly 0 (for noise on the integers below 1). Raises Rejected for others."""
    reach, domains = _reach(claim, evidence), dict(claim.domains)
    equal = certainly_le(reach.upper, ZERO, domains) or (on_integers(claim.mechanism) and certainly_lt(reach.upper, ONE, domains))
    if not (equal and certainly_le(ZERO, reach.upper, domains)):
        raise Rejected(NAME, "the sensitivity", "it is not certain that the answers of neighbours are equal")
    return reach


def _reach(claim: Claim, evidence: Mapping[str, Any] | None) -> Sensitivity:
    """Bounds on what answers move by. Raises Rejected for a mechanism that adds no noise to an answer."""
    if isinstance(claim.mechanism, Kernel):
        low, high = claim.mechanism.input
        moved = sub(high, low) if claim.sensitivity is None else claim.sensitivity
        return Sensitivity(moved, moved)
    if not isinstance(claim.mechanism, Staircase | EllipticalProcess):
        return sensitivity_bounds(claim, evidence)
    return reach(Run(Part(claim.mechanism, claim.sensitivity)))
