"""Noise that is Gaussian given a hidden variance: s sqrt(V) N, seen together with V.

Telling the reader V as well can only help the reader, so the pair (V, Y) dominates the pair Y in every dimension, and its profile is
a mean of Gaussian profiles,

    H(epsilon) = E[ H_Gauss(epsilon; D / (s sqrt(V))) ],
    H_Gauss(epsilon; mu) = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu).

In infinite dimension V is a function of Y, and the pair is what the mechanism has. H_Gauss rises in mu, which bounds the ends of the
integral: between its values at the cut and in the limit, times the mass of the mixing law beyond the cut.

Theorem: Noise s sqrt(V) N, N a standard Gaussian vector and V independent of it, at l2 distance D has at most the profile of the pair that
shows V too, E[Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu)] with mu = D/(s sqrt(V)).

Checked:
- the noise is a mixture of Gaussians: its profile is read as one, exactly
- the normaliser of a mixture's profile does not depend on the mixing variable
- the mixing density is at least 0 and integrable, with a positive integral
- the scale is positive and the sensitivity at least 0

Source: docs/theory/curves.md#gaussian-scale-mixture, Reimherr & Awan 2019, Theorems 1 and 5
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from flint import ctx

from dpverify.trusted.combinators.runs import Run, reach
from dpverify.trusted.facts import settled
from dpverify.trusted.facts.evaluate import divergence
from dpverify.trusted.facts.pairs import ALIKE, Curve, Pair, symmetric
from dpverify.trusted.geometry.sensitivity import Sensitivity
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.errors import Rejected, Undecided, require
from dpverify.trusted.kernel.expr import ZERO, Expr, call, div, symbols
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import Domain, Mechanism, Mixture, Radial
from dpverify.trusted.shapes.convexity import Shapes
from dpverify.trusted.theories.curves.mixing import Law, mixing_of
from dpverify.trusted.theories.curves.variances import mass, mean_over

NAME: Final = "gaussian-scale-mixture"
ASSUMED: Final = ("the sampler is ideal",)


def infer(run: Run, parameters: Mapping[str, Any], _: Sequence[Fact]) -> Curve:
    """The curve of one run. parameters: "sensitivity", if given, the certificate of a gauge; "prec". Raises Rejected, Undecided."""
    return settled.noise(run, curve(settled.additive(run, NAME), reach(run, parameters.get("sensitivity"))), parameters)


def curve(noise: Mechanism, reach: Sensitivity) -> Curve:
    """The pair that shows the variance, as an upper bound for Gaussian scale mixtures in l2 or a Mahalanobis norm.

    Raises Undecided where the noise is not recognised as one, Rejected for a scale or a sensitivity that makes no sense.
    """
    return Curve(observed(*law_and_shift(noise, reach)), None, (NAME,), ASSUMED)


def law_and_shift(noise: Mechanism, reach: Sensitivity) -> tuple[Law, Expr]:
    """The law of V, and D over the scale. Raises Rejected, Undecided as `curve` does."""
    if not isinstance(noise, Radial | Mixture):
        raise Rejected(NAME, "the mechanism", "it is neither radial noise nor a mixture")
    law = mixing_of(noise)
    if law is None:
        raise Undecided(f"{NAME}: the profile is not recognised as a mixture of Gaussians in r, up to a factor.")
    return law, div(reach.upper, noise.scale)


def observed(law: Law, shift: Expr) -> Pair:
    """The pair (V, sqrt(V) N + shift e) and (V, sqrt(V) N), e any unit vector; its two orders have one profile.

    Raises Rejected for a law that is none, Undecided where its integral is not enclosed.
    """
    check(law)
    mean = mean_over(law, div(shift, call("sqrt", law.factor)))
    require(certainly_le(ZERO, shift), Rejected(NAME, "the shift", "it is not certainly at least 0"))
    if shift == ZERO:
        return ALIKE

    return symmetric(divergence(mean))


def check(law: Law) -> None:
    """Raises Rejected unless the law of the variance is certainly one, Undecided where its integral is not enclosed."""
    if not symbols(law.density) <= {"v"} or symbols(law.factor):
        raise Rejected(NAME, "the mixing law", "it has parameters without a value")
    require(constant(law.factor) > 0, Rejected(NAME, "the mixing law", "its factor is not certainly positive"))
    shapes = Shapes("r", True, {"v": Domain(law.lower, law.upper)})
    require(shapes.positive(law.density), Rejected(NAME, "the mixing law", "its density is not certainly positive on its support"))
    require(mass(law, law.lower, law.upper, ctx.prec) > 0, Rejected(NAME, "the mixing law", "its integral is not certainly positive"))
