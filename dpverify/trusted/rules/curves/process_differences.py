"""Noise on functions of which the covariance is declared, under answers whose differences are: the norm is derived, V is seen.

Theorem: A release q + s sqrt(V) N, N a centred Gaussian process of a declared covariance of infinite rank, under answers that differ by h:
with D the norm of h in the reproducing kernel space of the covariance, derived as a sum of h_k^2/lambda_k, as a Sobolev norm, or for rbf
and covariances that are written out from the form of h, delta(eps) is exactly E[Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu)], mu = D/(s
sqrt(V)), and does not fall in D.

Checked:
- the sum is finite and enclosed: its tail by Euler and Maclaurin, its terms' derivatives of one sign; all eigenvalues are positive
- or the difference is smooth on every piece and at the cuts, is 0 where the noise is, and the integral is finite and enclosed
- or it is a sum of c t^m exp(-a t^2 + b t), each a between 0 and 1/length^2, for rbf; else a combination of kernels, everywhere
- the law of V is one, and positive; the scale is positive

Source: docs/theory/processes.md#process-differences, Reimherr & Awan 2019, Theorems 2, 4 and 5, corrected
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from dpverify.trusted.facts import settled
from dpverify.trusted.facts.fact import Fact
from dpverify.trusted.facts.pairs import Curve
from dpverify.trusted.language.errors import Rejected
from dpverify.trusted.language.expr import Expr, div
from dpverify.trusted.language.model import EllipticalProcess, Mechanism
from dpverify.trusted.order import processes
from dpverify.trusted.order.evaluations import has_finite_rank
from dpverify.trusted.order.geometry import Sensitivity
from dpverify.trusted.parts.runs import Run, reach
from dpverify.trusted.rules.curves.mixing import Law
from dpverify.trusted.rules.curves.observed_variance import Atoms, law_of, observed

NAME: Final = "process-differences"
ASSUMED: Final = ("the sampler is ideal",)
WHOLE: Final = "the whole function is released"
"""What a bound from below rests on too."""
INFINITE_RANK: Final = "the covariance that is written out has infinite rank"


def infer(run: Run, parameters: Mapping[str, Any], _: Sequence[Fact]) -> Curve:
    """The curve of one run. parameters: "sensitivity", how the norm of each difference is derived; "prec". Raises Rejected, Undecided."""
    noise = settled.additive(run, NAME)
    return settled.noise(run, curve(noise, reach(run, parameters.get("sensitivity"))), parameters)


def curve(noise: Mechanism, moved: Sensitivity) -> Curve:
    """The exact curve between those at the two ends of the norm."""
    process = whole(noise, NAME)
    law, most = law_and_shift(process, moved.upper)
    upper = observed(law, most)
    lower = upper if moved.exact else observed(law, div(moved.lower, process.scale))
    known = None if has_finite_rank(process) else lower
    return Curve(upper, known, (NAME,), processes.assumed(process), below=(WHOLE, *rank_assumed(process)))


def rank_assumed(noise: EllipticalProcess) -> tuple[str, ...]:
    """What a bound from below takes for granted of a covariance that is written out; the named ones have infinite rank."""
    return (INFINITE_RANK,) if noise.covariance == "kernel" else ()


def whole(noise: Mechanism, rule: str) -> EllipticalProcess:
    """The process. Raises Rejected for another mechanism, without differences, or of which finitely many numbers are released."""
    process = declared(noise, rule)
    if processes.is_finite(process):
        raise Rejected(rule, "the mechanism", "it releases finitely many numbers")
    return process


def declared(noise: Mechanism, rule: str) -> EllipticalProcess:
    """The process. Raises Rejected for another mechanism, or without differences."""
    if not isinstance(noise, EllipticalProcess) or not noise.differences:
        raise Rejected(rule, "the mechanism", "it is no process under declared differences")
    return noise


def law_and_shift(noise: EllipticalProcess, moved: Expr) -> tuple[Law | Atoms, Expr]:
    """The law of V, and D over the scale."""
    return law_of(noise), div(moved, noise.scale)
