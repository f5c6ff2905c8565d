"""Correlated noise, C x + sigma N(0, I): one number gives the whole curve, how far a user moves C x over all steps together.

Theorem: What a user contributes at the steps of a pattern moves C x by C u, so that the pair is N(0, 1) and N(mu, 1) with mu = |C u|/sigma,
and |C u|^2 is the sum of G_ij <u_i, u_j> over the steps, G = C'C: at most that of |G_ij| D^2. It is this where G is at least 0 there. Of
Toeplitz strategies with coefficients that are at least 0 and do not rise the first steps that may be are the worst. Where each step takes a
sample of one group of the records, and C is lower triangular with b bands, b the number of groups, what is told comes to Gaussian
noises of samples, one for each step of the group, moved by the length of that step's column.

Checked:
- the steps, participations and their separation are numbers; the greatest square over patterns, in exact rationals, from both sides
- with sampling: the strategy is lower triangular; the curve of the samples

Source: docs/theory/curves.md#correlated-gaussians, Denisov et al. 2022; Choquette-Choo et al. 2023; Kalinin & Lampert 2024
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from dpverify.trusted.combinators.runs import Run, reach
from dpverify.trusted.combinators.samples import samples
from dpverify.trusted.facts import settled
from dpverify.trusted.facts.pairs import Curve
from dpverify.trusted.facts.premises import curves_of
from dpverify.trusted.geometry.sensitivity import Sensitivity
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import ONE, Expr, div, mul, num, sqrt
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import CorrelatedNoise
from dpverify.trusted.sensitivity.participation import squares
from dpverify.trusted.theories.curves.rules import gaussian

NAME: Final = "correlated-gaussians"
ASSUMED: Final = gaussian.ASSUMED


def mu(noise: CorrelatedNoise, moved: Sensitivity, attained: bool = False) -> Expr | None:
    """mu at most, or with `attained` at least; None with sampling. Raises Rejected for numbers of steps that are none, or too large."""
    if noise.rate is not None:
        return None
    most, least = squares(noise)
    return div(mul(moved.lower if attained else moved.upper, sqrt(num(least if attained else most))), noise.sigma)


def infer(run: Run, parameters: Mapping[str, Any], premises: Sequence[Fact]) -> Curve:
    """The curve of one run. parameters: "prec". premises: with sampling the curve of the samples. Raises Rejected, CertificateError."""
    noise = run.part.mechanism
    if not isinstance(noise, CorrelatedNoise):
        raise Rejected(NAME, "the mechanism", "it is no correlated noise")
    upper, lower = (mu(noise, reach(run), attained) for attained in (False, True))
    if upper is not None and lower is not None:
        return settled.noise(run, settled.between(upper, lower, gaussian.pair, NAME, ASSUMED), parameters)
    if run.factor != ONE or run.mapped:
        raise Rejected(NAME, "the neighbours", "with sampling they are to differ by one record")
    part, seen = samples(run.part)
    (found,) = curves_of(premises, [Run(part)], NAME)
    return settled.single(run, replace(found, lower=found.lower if seen else None, rules=(NAME, *found.rules)))
