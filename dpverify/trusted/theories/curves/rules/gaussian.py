"""Gaussian noise in any dimension: one number, the distance over the standard deviation, gives the whole curve (theory#gaussian).

Theorem: Gaussian noise with covariance sigma^2 Sigma, and answers at distance D in the norm of Sigma: along the line through the two
answers the pair is N(0, 1) and N(mu, 1) with mu = D/sigma, and across it both are alike. So delta(eps) = Phi(mu/2 - eps/mu) - e^eps
Phi(-mu/2 - eps/mu) for every real eps; it grows with mu, so that the greatest distance dominates all others.

Checked:
- -log(density) is a quadratic polynomial with a certainly positive leading coefficient and, for a radius, without linear term
- the norm is l2 or an ellipsoid's, or the noise lives on a line
- the density is positive on the whole line or space

Source: docs/theory/curves.md#gaussian, Balle and Wang 2018, Theorem 8
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from flint import arb

from dpverify.trusted.combinators.exponents import Exponent, stretch
from dpverify.trusted.combinators.gaussian_form import gaussian_form
from dpverify.trusted.combinators.runs import Run, reach
from dpverify.trusted.facts import settled
from dpverify.trusted.facts.evaluate import accurately, divergence, known
from dpverify.trusted.facts.pairs import Curve, Pair, Profile
from dpverify.trusted.geometry.sensitivity import Sensitivity
from dpverify.trusted.kernel import compare
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import Expr, Num, add, call, div, format_expr, mul, num, sqrt, sub
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import Mechanism, Norm
from dpverify.trusted.numbers.gaussian import gaussian_delta

NAME: Final = "gaussian"
ASSUMED: Final = ("the sampler is ideal",)

_HALF: Final = Num(Fraction(1, 2))
_TWO: Final = Fraction(2)
_L2: Final = Norm("lp", _TWO)


def mu(noise: Mechanism, reach: Expr) -> Expr | None:
    """D/sigma for the greatest Euclidean distance D of answers within `reach`, in the noise's norm; None where it is not Gaussian.

    Independent Gaussian coordinates may have their reach in any lp norm. Raises Rejected for a norm, scale or dimension that is none.
    """
    form = gaussian_form(noise)
    if form is None:
        return None
    shape, rate = form
    return mul(rate, stretch(shape, _TWO)[1], reach)


def profile(mu: Expr) -> Profile:
    """The hockey-stick divergence of N(0, 1) and N(mu, 1), for every real epsilon. Raises Rejected unless mu is certainly at least 0."""
    if _sign(mu) == 0:
        return divergence(lambda epsilon: (-epsilon.expm1()).max(arb(0)))
    shift = known(mu)
    return divergence(lambda epsilon: accurately(lambda: gaussian_delta(shift(), epsilon)))


def _sign(mu: Expr) -> int:
    sign = compare.sign(mu)
    if sign is None or sign < 0:
        raise Rejected(NAME, "the distance", f"mu = {format_expr(mu)} is not certainly at least 0")
    return sign


def delta_expr(mu: Expr, epsilon: Expr) -> Expr:
    """delta(epsilon) in closed form, for every real epsilon. Raises Rejected unless mu is certainly at least 0."""
    if _sign(mu) == 0:
        return call("max", sub(num(1), call("exp", epsilon)), num(0))
    near, half, root = div(epsilon, mu), mul(_HALF, mu), sqrt(num(2))
    first = call("erfc", div(sub(near, half), root))
    second = mul(call("exp", epsilon), call("erfc", div(add(near, half), root)))
    return mul(_HALF, sub(first, second))


def infer(run: Run, parameters: Mapping[str, Any], _: Sequence[Fact]) -> Curve:
    """The curve of one run. parameters: "sensitivity", if given, the certificate of a gauge; "prec". Raises Rejected, Undecided."""
    bounds = curve(settled.additive(run, NAME), reach(run, parameters.get("sensitivity")), stated=run.part.query is None)
    return settled.noise(run, bounds, parameters)


def curve(noise: Mechanism, reach: Sensitivity, stated: bool = False) -> Curve:
    """The curve of Gaussian noise whose answers move by at most `reach`, in its norm and before its scale.

    stated: shifts of this length occur in every direction, as where a claim states its sensitivity; it matters only for independent
    coordinates whose reach is in another norm than l2. Raises Rejected where the noise is not Gaussian.
    """
    upper = mu(noise, reach.upper)
    form = gaussian_form(noise)
    if upper is None or form is None:
        raise Rejected(NAME, "the noise", "its density is not certainly exp(-c r**2) in l2, in an ellipsoid's norm or on a line")
    lower = mu(noise, reach.lower) if stated else _surely_moved(*form, reach)
    assert lower is not None
    return settled.between(upper, lower, pair, NAME, ASSUMED)


def _surely_moved(shape: Exponent, rate: Expr, reach: Sensitivity) -> Expr:
    """D/sigma for a Euclidean distance D that some two neighbours certainly have, whatever the direction of the longest shift."""
    if shape.independent and reach.at is not None and len(reach.at) == shape.dimension:
        from dpverify.trusted.geometry.lengths import norm_value

        return mul(rate, norm_value(_L2, reach.at))
    return mul(rate, stretch(shape, _TWO)[0], reach.lower)


def pair(shift: Expr) -> Pair:
    """The pair of N(0, 1) and N(shift, 1). Raises Rejected unless shift is certainly at least 0."""
    both = profile(shift)
    return Pair(both, both, everywhere=True)
