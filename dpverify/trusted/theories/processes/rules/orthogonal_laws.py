"""Noise on functions under answers that differ by no function of its space: the outputs on two neighbours have nothing in common.

Theorem: Noise s sqrt(V) N, V > 0, under a difference h outside the reproducing kernel space of the covariance of N, or of finitely many
values outside the range of theirs: an event has probability 1 on the one neighbour and 0 on the other, so that no epsilon is met at any
delta below 1, at any scale and for any law of V.

Checked:
- the sum of h_k^2/lambda_k is infinite: from a point on its terms are above those of a divergent one; all eigenvalues are positive
- or the integral of the squared derivative is infinite, a derivative jumps, or the difference is not 0 where the noise is
- or at a point where the noise is a combination of its other released values, the difference is certainly not the same one of its own
- the law of V is one, and positive; the scale is positive

Source: docs/theory/processes.md#orthogonal-laws, Reimherr & Awan 2019, Theorem 2, corrected
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dpverify.trusted.kernel.bounds import INFINITE, Bound
from dpverify.trusted.kernel.compare import certainly_lt
from dpverify.trusted.kernel.errors import CertificateError, Rejected, require
from dpverify.trusted.kernel.expr import ONE, format_expr
from dpverify.trusted.kernel.model import Claim, EllipticalProcess
from dpverify.trusted.language.rationals import read_whole
from dpverify.trusted.theories.processes import norms as processes
from dpverify.trusted.theories.processes.evaluations import is_apart
from dpverify.trusted.theories.processes.observed_variance import check as check_law
from dpverify.trusted.theories.processes.observed_variance import law_of
from dpverify.trusted.theories.processes.rules.elliptical_process import WHOLE

NAME: Final = "orthogonal-laws"
ASSUMED: Final = ("the sampler is ideal",)


def check(claim: Claim, evidence: Mapping[str, Any]) -> tuple[Bound, ...]:
    """The tight epsilon is infinite and the tight delta 1: from below, and the delta from above as well, which is at most 1 in any case.

    Raises Rejected, Undecided, CertificateError.

    evidence: "quantity", that of the bound, "pure" without it; "difference", the number of one that is outside, from 0; "outside", what
    `processes.is_infinite` is told; nothing where values at points are released.
    """
    quantity = evidence.get("quantity", "pure")
    require(quantity in ("pure", "epsilon", "delta"), CertificateError(f"{NAME}: 'quantity' is {quantity!r}, not pure, epsilon or delta."))
    if quantity == "epsilon" and (claim.delta is None or not certainly_lt(claim.delta, ONE)):
        raise Rejected(NAME, "delta", "it is not certainly below 1")
    require(not claim.domains, Rejected(NAME, "the claim", "it wants a value for every parameter"))
    noise = claim.mechanism
    if not isinstance(noise, EllipticalProcess) or not noise.differences:
        raise Rejected(NAME, "the mechanism", "it is no process under declared differences")
    h = noise.differences[read_whole(evidence, "difference", NAME, 0, len(noise.differences) - 1)]
    check_law(law_of(noise))
    finite = processes.is_finite(noise)
    if not (is_apart(noise, h) if finite else processes.is_infinite(noise, h, evidence.get("outside"))):
        raise Rejected(NAME, "the difference", "it is not certainly outside the space of the noise")
    pair, event = {"says": "answers-that-differ", "by": format_expr(h)}, {"says": "outputs-beside-one-answer"}
    witness = {"pair": pair, "event": event, "P": "1", "Q": "0"}
    value = ONE if quantity == "delta" else INFINITE
    released = () if finite else (WHOLE,)
    found = Bound("lower", value, witness=witness, quantity=quantity, assumed=(*released, *processes.assumed(noise)))
    return (found, Bound("upper", ONE, quantity="delta")) if quantity == "delta" else (found,)
