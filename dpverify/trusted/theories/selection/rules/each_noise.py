"""Selections of any number of answers: each answer's noise has its share in delta, so that what there is of it rises with their number.

Theorem: The bound by the greatest of n independent noises, E[g(M)] with g rising and at most 1, is at most n E[g(Z)] for one of them, and
at most 1. So delta(eps) <= min(1, n d) for every n, d the bound by the greatest noise for one answer, and as many positives.

Checked:
- the noises are Gaussian or Laplace, with values for all their parameters
- the bound by the greatest of one noise, by enclosed quadrature with the tail outside
- the number of answers is an integer of at least 1

Source: docs/theory/selection.md#each-noise
"""

from __future__ import annotations

from typing import Final

from flint import arb

from dpverify.trusted.kernel.balls import exact, finite
from dpverify.trusted.kernel.bounds import Bound, Parameters
from dpverify.trusted.kernel.compare import certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import ONE, ZERO, Num, call, mul, symbols
from dpverify.trusted.kernel.model import Claim, Compared, NoisyMax
from dpverify.trusted.order.enclosed import enclose
from dpverify.trusted.theories.selection.compared import asked
from dpverify.trusted.theories.selection.rules.greatest_noise import of_each

NAME: Final = "each-noise"
ASSUMED: Final = ("the sampler is ideal", "the noises are independent of each other")


def check(claim: Claim, evidence: Parameters) -> Bound:
    """An upper bound on the tight delta at the claimed epsilon, in the number of answers. Raises Rejected, Undecided, CertificateError."""
    epsilon = claim.epsilon
    if epsilon is None or symbols(epsilon) or not certainly_le(ZERO, epsilon):
        raise Rejected(NAME, "epsilon", "it is not certainly a number of at least 0")
    question = asked(claim, {}, NAME, wanted=Compared)
    mechanism = question.selection
    count = mechanism.candidates if isinstance(mechanism, NoisyMax) else mechanism.queries
    if symbols(question.moved) or not certainly_lt(ZERO, question.moved):
        raise Rejected(NAME, "the sensitivity", "it is not certainly a positive number")
    require(not question.whole, Rejected(NAME, "the noise", "it is on the integers"))
    each = finite(of_each(question)(enclose(epsilon).max(arb(0)))).upper().max(arb(0))
    return Bound("upper", call("min", ONE, mul(count, Num(exact(each)))), quantity="delta")
