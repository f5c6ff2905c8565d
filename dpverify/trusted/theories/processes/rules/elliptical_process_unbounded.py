"""Elliptical noise on functions is never purely private.

Theorem: Elliptical noise of infinite rank shows its variance V; given V the loss along a shift of norm D > 0 is Gaussian, so that no finite
epsilon bounds it, at any scale and for any law of V. D is stated, or derived from the covariance.

Checked:
- the law of V is one, and positive; the scale is positive
- the norm is certainly positive, and finite
- a covariance that is written out is no finite sum of products f(s) g(t)

Source: docs/theory/additive.md#elliptical-process-unbounded, Reimherr & Awan 2019, Theorem 4, corrected
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dpverify.trusted.combinators.runs import Run, reach
from dpverify.trusted.kernel.bounds import INFINITE, Bound
from dpverify.trusted.kernel.compare import certainly_lt
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import ONE, ZERO, div, format_expr
from dpverify.trusted.kernel.model import Claim, Part
from dpverify.trusted.theories.processes.evaluations import has_finite_rank
from dpverify.trusted.theories.processes.observed_variance import law_of, observed
from dpverify.trusted.theories.processes.rules import elliptical_process

NAME: Final = "elliptical-process-unbounded"
ASSUMED: Final = ("the sampler is ideal",)


def check(claim: Claim, evidence: Mapping[str, Any]) -> Bound:
    """The infinite lower bound at delta = 0, with the event at the claimed epsilon. Raises Rejected, Undecided.

    evidence: "sensitivity", how the norm of each difference is derived, where they are declared.
    """
    require(not claim.domains, Rejected(NAME, "the claim", "it wants a value for every parameter"))
    noise = elliptical_process.whole(claim.mechanism, NAME)
    if has_finite_rank(noise):
        raise Rejected(NAME, "the covariance", "it is a finite sum of products f(s) g(t), so that its rank is finite")
    moved = reach(Run(Part(noise, claim.sensitivity)), evidence.get("sensitivity"))
    require(certainly_lt(ZERO, moved.lower), Rejected(NAME, "the sensitivity", "the norm of no difference is certainly positive"))
    observed(law_of(noise), div(moved.lower, noise.scale))
    witness = {"epsilon": format_expr(ONE if claim.epsilon is None else claim.epsilon), "curve": elliptical_process.NAME}
    assumed = (*elliptical_process.assumed(noise), *elliptical_process.below(noise))
    return Bound("lower", INFINITE, witness=witness, assumed=assumed)
