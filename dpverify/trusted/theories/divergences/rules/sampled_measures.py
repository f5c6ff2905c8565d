"""Gaussian noise on a Poisson sample: Renyi divergences of whole orders, exactly. Correlated noise on samples: what these have together.

Theorem: Gaussian noise with answers mu deviations apart, on a Poisson sample at rate p, has of whole order a exactly the Renyi divergence
with (a - 1) D_a = log of the sum over k of binomial(a, k) (1 - p)^(a - k) p^k e^(k (k - 1) mu^2/2), the input with the record first; the
reverse order has no more. Correlated noise of b bands, each step of which takes a sample of one of b groups, has in every measure at most
what the Gaussian noises of samples have that it comes to, and as much where one group sees just these.

Checked:
- the part adds Gaussian noise in a Euclidean norm
- 0 <= p <= 1
- the order is whole
- or: what the samples have together, by the fact that the rule is given of them

Source: docs/theory/measures.md#sampled-measures, Mironov, Talwar & Zhang 2019, Theorem 5 and Section 3.3
"""

from __future__ import annotations

from fractions import Fraction
from math import comb
from typing import Final

from dpverify.trusted.combinators.runs import Run, neighbours_assumed, reach, whole
from dpverify.trusted.kernel.bounds import Bound
from dpverify.trusted.kernel.errors import CertificateError, Rejected, require
from dpverify.trusted.kernel.expr import ONE, Expr, add, call, mul, num, power
from dpverify.trusted.kernel.fact import Parameters, Premises
from dpverify.trusted.kernel.model import ONE_SIDED, Claim, CorrelatedNoise, Noise, Subsample
from dpverify.trusted.theories.composition.rules import poisson_subsampling
from dpverify.trusted.theories.composition.rules.privacy_measures import check_at_least_zero
from dpverify.trusted.theories.curves.rules import gaussian
from dpverify.trusted.theories.divergences.asked import bound, measure_of
from dpverify.trusted.theories.divergences.rules.gaussian_measures import SAYS

NAME: Final = "sampled-measures"
ASSUMED: Final = (*gaussian.ASSUMED, *poisson_subsampling.ASSUMED)

MOST: Final = 512
"""The greatest order."""


def infer(claim: Claim, parameters: Parameters, premises: Premises) -> tuple[Bound, ...]:
    """Both bounds; that from above alone for the reverse order. Raises Rejected, Undecided, CertificateError.

    Of correlated noise, the bound on the "side" that the parameters name, by a premise about its samples.
    """
    measure, sample = measure_of(claim, NAME), claim.mechanism
    if isinstance(sample, CorrelatedNoise):
        return (_of_samples(claim, parameters.get("side"), premises),)
    order = measure.at
    if order is None or order.denominator != 1 or order > MOST:
        raise Rejected(NAME, "the measure", f"it is not a Renyi divergence of a whole order up to {MOST}")
    if not isinstance(sample, Subsample) or sample.scheme != "poisson":
        raise Rejected(NAME, "the mechanism", "it is not one mechanism on a Poisson sample")
    part, moved = sample.part, Run(sample.part)
    upper = gaussian.mu(part.mechanism, reach(moved).upper) if isinstance(part.mechanism, Noise) else None
    if upper is None:
        raise Rejected(NAME, "the part", "it does not add Gaussian noise in a Euclidean norm")
    bounds = [bound(claim, "upper", divergence(upper, sample.rate, int(order)), neighbours_assumed(claim))]
    curve = gaussian.curve(part.mechanism, reach(moved), stated=part.query is None)
    if curve.exact and claim.order in ("", ONE_SIDED):
        below = (poisson_subsampling.LOWER, *neighbours_assumed(claim, "lower"))
        bounds.append(bound(claim, "lower", bounds[0].value, below, witness=SAYS, ordered=True))
    return tuple(bounds)


def _of_samples(claim: Claim, side: str | None, premises: Premises) -> Bound:
    from dpverify.trusted.combinators.samples import samples
    from dpverify.trusted.theories.divergences.rules.added_measures import lower, uppers

    part, seen = samples(whole(claim).part)
    if len(premises) != 1 or side not in ("upper", "lower"):
        raise CertificateError(f"{NAME}: it wants a 'side', and one premise about the samples.")
    if side == "lower":
        require(seen, Rejected(NAME, "the samples", "no group sees just these"))
        return lower(claim, Run(part), premises[0], ())
    (value,), listed, through = uppers(claim, [Run(part)], premises)
    return bound(claim, "upper", value, listed, through)


def divergence(mu: Expr, rate: Expr, order: int) -> Expr:
    """The divergence of a whole order above 1."""
    check_at_least_zero("mu", mu)
    half = mul(num(Fraction(1, 2)), power(mu, num(2)))
    left = add(ONE, mul(num(-1), rate))
    terms = [
        mul(num(comb(order, k)), power(left, num(order - k)), power(rate, num(k)), call("exp", mul(num(k * (k - 1)), half)))
        for k in range(order + 1)
    ]
    return mul(num(Fraction(1, order - 1)), call("log", add(*terms)))
