"""Reimherr and Awan's Theorem 5 beside the sharper bound: elliptical noise calibrated as Gaussian noise would be.

The theorem: delta' = 2 E[(delta/2)^V] where s^2 >= 2 log(2/delta) D^2/epsilon^2. Given V = v, with
u = epsilon s sqrt(v)/D, H_Gauss(epsilon; epsilon/u) <= Phi(epsilon/(2u) - u). If u^2 >= epsilon/2 that is at most
exp(epsilon/2 - u^2/2)/2 <= 2 exp(-u^2/2) for epsilon <= 4 log 2; if u^2 < epsilon/2 <= 2 log 2 then 2 exp(-u^2/2) > 1. Without a
condition on epsilon the theorem fails: V = 1, epsilon = 20 and delta = 2 exp(-2) = 0.27 leave a true delta of 0.998.

Theorem: Noise s sqrt(V) N, N Gaussian, at distance D in its Cameron-Martin norm is (eps, 2 E[(delta/2)^V])-DP where 0 < eps <= 4 log 2 and
s^2 >= 2 log(2/delta) D^2/eps^2; the least delta that this allows is used. Beyond 4 log 2 the theorem does not hold in general.

Checked:
- 0 < eps <= 4 log 2
- the condition on the scale
- the law of V is one, and positive

Source: docs/theory/additive.md#cameron-martin, Reimherr & Awan 2019, Theorem 5
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from flint import arb, ctx

from dpverify.trusted.combinators.runs import Run, reach
from dpverify.trusted.kernel.balls import constant, exact, finite, precision, value
from dpverify.trusted.kernel.bounds import Bound
from dpverify.trusted.kernel.compare import certainly_equal, certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, Num, call, div, format_expr, mul, neg, num, power, substitute
from dpverify.trusted.kernel.model import Claim, EllipticalProcess, Part
from dpverify.trusted.numbers.quadrature import integral
from dpverify.trusted.theories.composition.rules import privacy_measures as conversions
from dpverify.trusted.theories.curves.mixing import Law
from dpverify.trusted.theories.curves.rules import gaussian_scale_mixture as scale_mixture
from dpverify.trusted.theories.curves.variances import mass
from dpverify.trusted.theories.processes import norms as processes
from dpverify.trusted.theories.processes import observed_variance
from dpverify.trusted.theories.processes.observed_variance import Atoms
from dpverify.trusted.theories.processes.rules import elliptical_process

NAME: Final = "cameron-martin"
ASSUMED: Final = ("the sampler is ideal",)

GENERATES: Final = "the function given is the moment generating function of a positive random number"

MOST_EPSILON: Final = mul(num(4), call("log", num(2)))
"""The greatest epsilon for which Theorem 5 is proved here."""
BITS: Final = 64
"""The bound is loose: more would only take time."""


def check(claim: Claim, evidence: Mapping[str, Any]) -> Bound:
    """An upper bound on the tight delta at the claimed epsilon. Raises Rejected, Undecided.

    evidence: "sensitivity", how the norm of each declared difference is derived.
    """
    if claim.domains or claim.epsilon is None:
        raise Rejected(NAME, "the claim", "it wants a value for every parameter, and an epsilon")
    law, shift, assumed = law_and_shift(claim, evidence.get("sensitivity"))
    if not (certainly_lt(ZERO, shift) and certainly_lt(ZERO, claim.epsilon)):
        raise Rejected(NAME, "the claim", "the sensitivity and epsilon are not certainly positive")
    with precision(BITS):
        theorem = exact(theorem5(law, shift, claim.epsilon, base_delta(shift, claim.epsilon)).upper())
        require(theorem < 1, Rejected(NAME, "the bound", "it is no better than delta = 1; take a larger scale"))
    return Bound("upper", Num(theorem), quantity="delta", assumed=assumed)


@dataclass(frozen=True, slots=True)
class Transform:
    """A variance of which the moment generating function is known, an expression in u."""

    function: Expr


def law_and_shift(claim: Claim, evidence: Any = None) -> tuple[Law | Atoms | Transform, Expr, tuple[str, ...]]:
    """The law of V, D/s, and what these take for granted. Raises Rejected, Undecided for what is no such noise."""
    noise, moved = claim.mechanism, reach(Run(Part(claim.mechanism, claim.sensitivity, claim.query)), evidence)
    if not isinstance(noise, EllipticalProcess):
        return *scale_mixture.law_and_shift(noise, moved), ()
    if not noise.differences and processes.is_finite(noise):
        raise Rejected(NAME, "the mechanism", "it releases finitely many numbers of a function of which no covariance is declared")
    stated = elliptical_process.assumed(noise)
    shift = div(moved.upper, noise.scale)
    if noise.transform:
        return Transform(noise.transform[0]), shift, (*stated, GENERATES)
    return observed_variance.law_of(noise), shift, stated


def base_delta(shift: Expr, epsilon: Expr) -> Expr:
    """The least delta that the condition on the scale allows, rounded up."""
    ratio = div(power(epsilon, num(2)), mul(num(2), power(shift, num(2))))
    return Num(conversions.rounded_up(mul(num(2), call("exp", neg(ratio)))))


def theorem5(law: Law | Atoms | Transform, shift: Expr, epsilon: Expr, delta: Expr) -> arb:
    """delta' = 2 E[(delta/2)^V] such that noise sqrt(V) N, moved by `shift` = D/s, is (epsilon, delta')-DP.

    Raises Rejected unless 0 < delta < 2, 0 < epsilon <= 4 log 2 and 2 log(2/delta) shift^2 <= epsilon^2, each proved exactly.
    """
    if isinstance(law, Transform):
        if not certainly_equal(substitute(law.function, {"u": ZERO}), ONE):
            raise Rejected(NAME, "the transform", "a moment generating function is 1 at 0, which it is not certainly")
    else:
        observed_variance.check(law)
    if not (certainly_lt(ZERO, delta) and certainly_lt(delta, num(2))):
        raise Rejected(NAME, "delta", f"{format_expr(delta)} is not certainly between 0 and 2")
    if not (certainly_lt(ZERO, epsilon) and certainly_le(epsilon, MOST_EPSILON)):
        raise Rejected(NAME, "epsilon", f"{format_expr(epsilon)} is not certainly in (0, 4 log 2], where it is proved")
    least = mul(num(2), call("log", div(num(2), delta)), power(shift, num(2)))
    if not (certainly_le(ZERO, shift) and certainly_le(least, power(epsilon, num(2)))):
        raise Rejected(NAME, "the scale", "s^2 >= 2 log(2/delta) D^2/epsilon^2 does not certainly hold; take a larger scale")
    bits = ctx.prec
    with precision(bits + 40):
        if isinstance(law, Transform):
            mean = finite(value(law.function, {"u": constant(call("log", div(delta, num(2))))}))
            if not (mean > 0 and mean <= 1):
                raise Rejected(NAME, "the transform", "below 0 a moment generating function is between 0 and 1, which it is not certainly")
            return 2 * mean
        if isinstance(law, Atoms):
            known = constant(call("log", div(delta, num(2))))
            return finite(2 * sum((constant(p) * (constant(v) * known).exp() for v, p in law.values), arb(0)))
        damped = mul(law.density, call("exp", mul(law.variance, call("log", div(delta, num(2))))))
        total = integral(damped, "v", law.lower, law.upper, bits)
        return finite(2 * total / mass(law, law.lower, law.upper, bits))
