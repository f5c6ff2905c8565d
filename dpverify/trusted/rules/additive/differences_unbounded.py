"""Elliptical noise on functions of which the covariance is declared is never purely private under differences that are.

Theorem: Elliptical noise of infinite rank shows its variance V; given V the loss along a difference of norm D > 0, D derived from the
covariance, is Gaussian, so that no finite epsilon bounds it, at any scale and for any law of V.

Checked:
- the norm of a difference is finite, and certainly positive
- the law of V is one, and positive; the scale is positive

Source: docs/theory/processes.md#differences-unbounded, Reimherr & Awan 2019, Theorem 4, corrected
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dpverify.trusted.facts.bounds import INFINITE, Bound
from dpverify.trusted.language.errors import Rejected
from dpverify.trusted.language.expr import ONE, ZERO, div, format_expr
from dpverify.trusted.language.model import Claim, Part
from dpverify.trusted.order import processes
from dpverify.trusted.order.compare import certainly_lt
from dpverify.trusted.order.evaluations import has_finite_rank
from dpverify.trusted.parts.runs import Run, reach
from dpverify.trusted.rules.curves import process_differences
from dpverify.trusted.rules.curves.observed_variance import observed

NAME: Final = "differences-unbounded"
ASSUMED: Final = (process_differences.WHOLE, "the sampler is ideal")


def check(claim: Claim, evidence: Mapping[str, Any]) -> Bound:
    """The infinite lower bound at delta = 0, with the event at the claimed epsilon. Raises Rejected, Undecided.

    evidence: "sensitivity", how the norm of each difference is derived.
    """
    if claim.domains:
        raise Rejected(NAME, "the claim", "it wants a value for every parameter")
    noise = process_differences.whole(claim.mechanism, NAME)
    if has_finite_rank(noise):
        raise Rejected(NAME, "the covariance", "it is a finite sum of products f(s) g(t), so that its rank is finite")
    moved = reach(Run(Part(noise, claim.sensitivity)), evidence.get("sensitivity"))
    if not certainly_lt(ZERO, moved.lower):
        raise Rejected(NAME, "the differences", "the norm of none is certainly positive")
    observed(process_differences.law_and_shift(noise, ZERO)[0], div(moved.lower, noise.scale))
    witness = {"epsilon": format_expr(ONE if claim.epsilon is None else claim.epsilon), "curve": process_differences.NAME}
    return Bound("lower", INFINITE, witness=witness, assumed=(*processes.assumed(noise), *process_differences.rank_assumed(noise)))
