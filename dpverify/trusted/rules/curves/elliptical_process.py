"""Elliptical noise on functions, s sqrt(V) N with N a Gaussian process of infinite rank: V is seen, so that the curve is exact.

Theorem: A release q + s sqrt(V) N, N a centred Gaussian process of infinite rank, shows V: the average of the squared standardised
coordinates tends to it. Along a shift of Cameron-Martin norm D it is then Gaussian with mu = D/(s sqrt(V)), so that delta(eps) is exactly
E[Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu)].

Checked:
- the mixing density is at least 0 and integrable, with a positive integral
- the scale is positive and the sensitivity at least 0

Source: docs/theory/curves.md#elliptical-process, Reimherr & Awan 2019, Theorems 2, 4 and 5
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
from dpverify.trusted.order import evaluations
from dpverify.trusted.order.geometry import Sensitivity
from dpverify.trusted.parts.runs import Run, reach
from dpverify.trusted.rules.curves import observed_variance
from dpverify.trusted.rules.curves.mixing import Law
from dpverify.trusted.rules.curves.observed_variance import Atoms

NAME: Final = "elliptical-process"
ASSUMED: Final = (
    "answers differ by functions of the noise's Cameron-Martin space",
    "the covariance of the noise has infinite rank, and the whole function is released",
    "the sampler is ideal",
)


def infer(run: Run, parameters: Mapping[str, Any], _: Sequence[Fact]) -> Curve:
    """The curve of one run. parameters: "sensitivity", if given, the certificate of a gauge; "prec". Raises Rejected, Undecided."""
    return settled.noise(run, curve(settled.additive(run, NAME), reach(run, parameters.get("sensitivity"))), parameters)


def curve(noise: Mechanism, reach: Sensitivity) -> Curve:
    """The exact curve of an elliptical process. Raises Rejected, Undecided."""
    law, most = law_and_shift(noise, reach)
    assert isinstance(noise, EllipticalProcess)
    pair = observed_variance.observed(law, most)
    lower = pair if reach.exact and not evaluations.has_finite_rank(noise) else None
    return Curve(pair, lower, (NAME,), ASSUMED)


def law_and_shift(noise: Mechanism, reach: Sensitivity) -> tuple[Law | Atoms, Expr]:
    """The law of V, and D over the scale. Raises Rejected for another mechanism."""
    if not isinstance(noise, EllipticalProcess):
        raise Rejected(NAME, "the mechanism", "it is no elliptical process")
    if noise.differences or noise.places or noise.count is not None:
        raise Rejected(NAME, "the mechanism", "its differences are declared, or it releases finitely many numbers")
    return observed_variance.law_of(noise), div(reach.upper, noise.scale)
