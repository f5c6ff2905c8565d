"""Elliptical noise on functions is never purely private.

Theorem: Elliptical noise of infinite rank shows its variance V; given V the loss along a shift is Gaussian, so that no finite epsilon
bounds it, at any scale and for any law of V.

Checked:
- the law of V is one, and positive
- the sensitivity is positive

Source: docs/theory/additive.md#elliptical-process-unbounded, Reimherr & Awan 2019, Theorem 4
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dpverify.trusted.facts.bounds import INFINITE, Bound
from dpverify.trusted.language.errors import Rejected
from dpverify.trusted.language.expr import ONE, ZERO, format_expr
from dpverify.trusted.language.model import Claim, EllipticalProcess, Part
from dpverify.trusted.order import evaluations
from dpverify.trusted.order.compare import certainly_lt
from dpverify.trusted.parts.runs import Run, reach
from dpverify.trusted.rules.curves import elliptical_process, observed_variance

NAME: Final = "elliptical-process-unbounded"
ASSUMED: Final = elliptical_process.ASSUMED


def check(claim: Claim, evidence: Mapping[str, Any]) -> Bound:
    """The infinite lower bound at delta = 0, with the event at the claimed epsilon. No evidence. Raises Rejected, Undecided."""
    if claim.domains:
        raise Rejected(NAME, "the claim", "it wants a value for every parameter")
    moved = reach(Run(Part(claim.mechanism, claim.sensitivity)))
    law, shift = elliptical_process.law_and_shift(claim.mechanism, moved)
    if isinstance(claim.mechanism, EllipticalProcess) and evaluations.has_finite_rank(claim.mechanism):
        raise Rejected(NAME, "the covariance", "it is a finite sum of products f(s) g(t), so that its rank is finite")
    if not certainly_lt(ZERO, shift):
        raise Rejected(NAME, "the sensitivity", "it is not certainly positive")
    observed_variance.observed(law, shift)
    witness = {"epsilon": format_expr(ONE if claim.epsilon is None else claim.epsilon), "curve": elliptical_process.NAME}
    return Bound("lower", INFINITE, witness=witness)
