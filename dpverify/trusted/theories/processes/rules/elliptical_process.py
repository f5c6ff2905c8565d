"""Elliptical noise on functions, s sqrt(V) N with N a Gaussian process of infinite rank: V is seen, so that the curve is exact.

Theorem: A release q + s sqrt(V) N, N a centred Gaussian process of infinite rank, shows V: the average of the squared standardised
coordinates tends to it. Along a shift of Cameron-Martin norm D it is then Gaussian with mu = D/(s sqrt(V)), so that delta(eps) is exactly
E[Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu)], which does not fall in D. D is stated, or derived from the covariance and the differences
of answers: as a sum of h_k^2/lambda_k, as a Sobolev norm, or for rbf and covariances that are written out from the form of h.

Checked:
- the mixing density is at least 0 and integrable, with a positive integral, or V has finitely many positive values
- the scale is positive and the sensitivity at least 0
- a norm that is derived is finite and enclosed: the tail of a sum by Euler and Maclaurin, its terms' derivatives of one sign; or the
  difference is smooth on every piece and at the cuts, and is 0 where the noise is; or it is a sum of c t^m exp(-a t^2 + b t), each a
  between 0 and 1/length^2, for rbf; else a combination of kernels, everywhere

Source: docs/theory/curves.md#elliptical-process, Reimherr & Awan 2019, Theorems 2, 4 and 5, corrected
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from dpverify.trusted.combinators.runs import Run, reach
from dpverify.trusted.facts import settled
from dpverify.trusted.facts.pairs import Curve
from dpverify.trusted.geometry.sensitivity import Sensitivity
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import div
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import EllipticalProcess, Mechanism
from dpverify.trusted.theories.processes import norms as processes
from dpverify.trusted.theories.processes.evaluations import has_finite_rank
from dpverify.trusted.theories.processes.observed_variance import law_of, observed

NAME: Final = "elliptical-process"
ASSUMED: Final = ("the sampler is ideal",)
STATED: Final = (
    "answers differ by functions of the noise's Cameron-Martin space",
    "the covariance of the noise has infinite rank, and the whole function is released",
)
"""What a norm that is stated rests on too."""
WHOLE: Final = "the whole function is released"
"""What a bound from below rests on too, where the norm is derived."""
INFINITE_RANK: Final = "the covariance that is written out has infinite rank"


def infer(run: Run, parameters: Mapping[str, Any], _: Sequence[Fact]) -> Curve:
    """The curve of one run. parameters: "sensitivity", how the norm is derived, if it is; "prec". Raises Rejected, Undecided."""
    return settled.noise(run, curve(settled.additive(run, NAME), reach(run, parameters.get("sensitivity"))), parameters)


def curve(noise: Mechanism, moved: Sensitivity) -> Curve:
    """The exact curve between those at the two ends of the norm. Raises Rejected, Undecided."""
    process = whole(noise, NAME)
    law = law_of(process)
    upper = observed(law, div(moved.upper, process.scale))
    lower = upper if moved.exact else observed(law, div(moved.lower, process.scale))
    return Curve(upper, None if has_finite_rank(process) else lower, (NAME,), assumed(process), below=below(process))


def assumed(noise: EllipticalProcess) -> tuple[str, ...]:
    """What the norm takes for granted."""
    return processes.assumed(noise) if noise.differences else STATED


def below(noise: EllipticalProcess) -> tuple[str, ...]:
    """What a bound from below takes for granted too; the named covariances have infinite rank."""
    return (WHOLE, *((INFINITE_RANK,) if noise.covariance == "kernel" else ())) if noise.differences else ()


def whole(noise: Mechanism, rule: str) -> EllipticalProcess:
    """The process. Raises Rejected for another mechanism, or where finitely many numbers are released."""
    if not isinstance(noise, EllipticalProcess) or processes.is_finite(noise):
        raise Rejected(rule, "the mechanism", "it is no elliptical process, or it releases finitely many numbers")
    return noise
