"""The union bound on the greatest coordinate of additive noise: the probabilities of its coordinates, summed.

Theorem: The greatest coordinate of the noise is above t in absolute value with a probability of at most the sum over the coordinates of
that of each. For d independent Laplace coordinates of scale b the sum is d exp(-t/b), which is beta at t = b log(d/beta).

Checked:
- the density is at least 0 and integrable, the scale positive, the norm a norm
- the sum of the probabilities at the distance, from closed forms or enclosed integrals, against beta

Source: docs/theory/utility.md#union-bound, Kamath, CS 860 lecture 4 (2020), Fact 5
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dpverify.trusted.facts.errors import ErrorBound, known
from dpverify.trusted.kernel.expr import Expr, Num, call, div, mul
from dpverify.trusted.kernel.model import Claim
from dpverify.trusted.theories.utility.laws import read
from dpverify.trusted.theories.utility.rules.noise_quantile import beta_of, compared, laplace, told, whole
from dpverify.trusted.theories.utility.tails import summed

NAME: Final = "union-bound"
ASSUMED: Final = ("the sampler is ideal",)


def check(claim: Claim, evidence: Mapping[str, Any]) -> tuple[ErrorBound, ...]:
    """One side of the distance at which the sum is beta, or both where that has a closed form; it is at least the one that is exceeded.

    evidence: as of the quantile. Raises Rejected, Undecided, CertificateError.
    """
    beta, law = beta_of(claim, NAME), read(claim, evidence, NAME)
    if "at" not in evidence:
        scale, count = laplace(law, NAME)
        value: Expr = mul(scale, call("log", div(count, beta)))
        return (*known("exceeded_union", value, beta=beta), ErrorBound("exceeded", "this", "upper", value, beta=beta))
    at, side = told(evidence, NAME)
    compared(summed(law, at, evidence, NAME), beta, side, NAME)
    value = Num(whole(law, at, side))
    found = ErrorBound("exceeded_union", "this", side, value, beta=beta)
    return (found, ErrorBound("exceeded", "this", side, value, beta=beta)) if side == "upper" else (found,)
