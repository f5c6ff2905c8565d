"""A claimed epsilon that is above a proved bound by an identity: weighted squares times constraints of the domains.

On the domains x - lower and upper - x are at least zero, and so is any sum of products of these with squares and weights that are at
least zero. Writing a polynomial as such a sum (multipliers of Farkas and Handelman, sums of squares) proves that it is at least zero,
and re-checking that needs no more than multiplying out.

Theorem: If another rule proves tight epsilon <= U, and the numerator P of V - U over a positive denominator satisfies S P = T, where T and
S - 1 are sums of weights >= 0 times squares times constraints of the domains, then tight epsilon <= V.

Checked:
- the premise is an upper bound U for all parameters
- the claimed epsilon V has a value at all parameters
- every denominator has one sign on the domains
- all weights are at least zero, and all constraints hold on the domains
- the identity S P = T, multiplied out over the rationals

Source: Krivine 1964; Stengle 1974, Positivstellensatz, the direction that multiplies out
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from dpverify.trusted.facts.bounds import Bound, Infinite
from dpverify.trusted.facts.fact import Fact, unasked
from dpverify.trusted.facts.premises import bound_of, through_of
from dpverify.trusted.language.errors import CertificateError, Rejected
from dpverify.trusted.language.model import Claim
from dpverify.trusted.rules.inequalities.gap import Gap

NAME: Final = "positivstellensatz"
ASSUMED: Final = ()


def infer(claim: Claim, parameters: Mapping[str, Any], premises: Sequence[Fact]) -> Bound:
    """The claimed epsilon as an upper bound. premises: the upper bound U.

    parameters: "terms" and "multiplier", the summands of T and of S - 1, each with "weight" (a rational), "square" (the text of a
    polynomial, to be squared) and "constraints" (pairs as `Gap.constraint` reads them). Raises
    Rejected or Undecided, CertificateError for parameters of another form.
    """
    if claim.epsilon is None:
        raise Rejected(NAME, "the claim", "it claims no epsilon to relax the bound to")
    if len(premises) != 1:
        raise CertificateError(f"{NAME}: it wants one premise.")
    bound = bound_of(premises[0], unasked(claim), "upper", NAME)
    if isinstance(bound.value, Infinite):
        raise Rejected(NAME, premises[0].rule, "it does not prove a finite upper bound")
    gap = Gap(bound.value, claim.epsilon, dict(claim.domains))
    if gap.numerator * (1 + gap.total(parameters.get("multiplier", ()))) != gap.total(parameters.get("terms", ())):
        raise Rejected(NAME, "the identity", "the two sides differ when multiplied out")
    return replace(bound, value=claim.epsilon, assumed=(*premises[0].assumed, *bound.assumed), through=through_of(premises[0]))
