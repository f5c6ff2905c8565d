"""The distance that the greatest coordinate of additive noise exceeds with a given probability.

Theorem: The least t such that the greatest coordinate of the noise is above t in absolute value with probability at most beta is at most
any t at which that probability is at most beta, and above any at which it is more. For independent coordinates the probability is 1 - (1 -
q)^d, q that of one of them; for noise in the maximum norm it is that of the length; for a mixture of Gaussians the mean over the mixing
law; in an lp norm it is at least the mean of 1 - (1 - q)^d given the length, and at most d q.

Checked:
- the density is at least 0 and integrable, the scale positive, the norm a norm
- the probability at the distance, from a closed form or enclosed integrals, against beta
- on the integers, that the next integer is no longer exceeded

Source: docs/theory/utility.md#noise-quantile
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

from flint import arb

from dpverify.trusted.facts.errors import SIDES, ErrorBound, known
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.bounds import Side
from dpverify.trusted.kernel.canonical_form import exact_fraction
from dpverify.trusted.kernel.compare import certainly_lt
from dpverify.trusted.kernel.errors import CertificateError, Rejected, require
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, Num, call, div, mul, neg, num, power, sub
from dpverify.trusted.kernel.model import Claim
from dpverify.trusted.theories.utility.closed_moments import Exponential, form
from dpverify.trusted.theories.utility.directions import length_on_the_line
from dpverify.trusted.theories.utility.laws import Law, read
from dpverify.trusted.theories.utility.tails import greatest, matched

NAME: Final = "noise-quantile"
ASSUMED: Final = ("the sampler is ideal",)


def check(claim: Claim, evidence: Mapping[str, Any]) -> tuple[ErrorBound, ...]:
    """One side of the distance, or both where it has a closed form.

    evidence: "at", a rational distance above 0, and "side", the one on which it bounds; without them the closed form. Those of
    `tails.greatest` and `laws.read`. Raises Rejected, Undecided, CertificateError.
    """
    beta, law = beta_of(claim, NAME), read(claim, evidence, NAME)
    if "at" not in evidence:
        return known("exceeded", _closed(law, beta), beta=beta)
    at, side = told(evidence, NAME)
    compared(greatest(law, at, evidence, NAME), beta, side, NAME)
    return (ErrorBound("exceeded", "this", side, Num(whole(law, at, side)), beta=beta),)


def beta_of(claim: Claim, rule: str) -> Expr:
    """The claim's beta, certainly between 0 and 1. Raises Rejected."""
    if claim.beta is None or not (certainly_lt(ZERO, claim.beta) and certainly_lt(claim.beta, ONE)):
        raise Rejected(rule, "beta", "the claim states no probability between 0 and 1 with which the error may be exceeded")
    return claim.beta


def told(evidence: Mapping[str, Any], rule: str) -> tuple[Fraction, Side]:
    """The distance and the side. Raises CertificateError."""
    at, side = exact_fraction(evidence["at"]), evidence["side"]
    require(at > 0 and side in SIDES, CertificateError(f"{rule}: at is a rational above 0, and side is lower or upper."))
    return at, side


def compared(probability: arb, beta: Expr, side: Side, rule: str) -> None:
    """Raises Rejected unless a probability is certainly at most beta, for an upper bound on the distance, or above it, for a lower one."""
    holds = probability <= constant(beta) if side == "upper" else probability > constant(beta)
    if not holds:
        raise Rejected(rule, "the distance", f"the probability there is not certainly {'at most' if side == 'upper' else 'above'} beta")


def whole(law: Law, at: Fraction, side: Side) -> Fraction:
    """The bound that a distance gives: on the integers the next integer is the least that may not be exceeded."""
    if not (law.sizes and law.sizes[0].whole):
        return at
    return Fraction(at.__floor__() + (side == "lower"))


def laplace(law: Law, rule: str) -> tuple[Expr, Expr]:
    """The scale and the number of independent coordinates of Laplace noise. Raises Rejected for other noise."""
    found = form(law) if law.norm is None or law.dimension == 1 else matched(law)
    if not isinstance(found, Exponential) or found.a != 1 or found.w != ZERO or law.sizes[0].whole:
        raise Rejected(rule, "the noise", "it is not Laplace noise, for which there is a closed form")
    unit = mul(law.unit, length_on_the_line(law.norm)) if law.norm is not None and law.dimension == 1 else law.unit
    return div(unit, found.c), num(law.dimension)


def _closed(law: Law, beta: Expr) -> Expr:
    """Of Laplace noise: 1 - (1 - exp(-t/b))^d = beta."""
    scale, count = laplace(law, NAME)
    return neg(mul(scale, call("log", sub(ONE, power(sub(ONE, beta), div(ONE, count))))))
