"""A mechanism of which only its pure epsilon is used: randomized response dominates it.

Theorem: Every mechanism that is eps-DP is a post-processing, for each two neighbours, of binary randomized response with parameter eps, in
adaptive compositions too: its pair dominates. If P(S) <= e^eps0 Q(S) for every S, in one order of two neighbours alone, then P(S) - e^eps
Q(S) <= 1 - e^(eps - eps0) for every eps <= eps0 in this order, and at most 0 above; no less holds of all such pairs.

Checked:
- the pure epsilon, by a rule about the mechanism, in both orders or in the one that its neighbours have

Source: docs/theory/composition.md#pure-guarantee, Kairouz, Oh & Viswanath 2015, Theorem 2.1
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from flint import arb

from dpverify.trusted.combinators.runs import Run, leaf
from dpverify.trusted.facts import settled
from dpverify.trusted.facts.evaluate import falling, known
from dpverify.trusted.facts.pairs import Curve, symmetric
from dpverify.trusted.facts.premises import bound_of, pure_of, through_of
from dpverify.trusted.kernel.bounds import Infinite
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import ONE_WAY, Claim
from dpverify.trusted.theories.curves.rules import optimal_composition

NAME: Final = "pure-guarantee"
ASSUMED: Final = ()


def infer(run: Run, _: Mapping[str, Any], premises: Sequence[Fact]) -> Curve:
    """The curve of one run of a mechanism whose pure epsilon a premise bounds from above. Raises Rejected, CertificateError."""
    (premise,) = premises
    return settled.single(run, curve(premise, leaf(run)))


def curve(premise: Fact, claim: Claim) -> Curve:
    """The curve of every mechanism with this pure epsilon: an upper bound alone; of a selection of one order in that order."""
    if getattr(claim.mechanism, "neighbours", "") in ONE_WAY:
        found = bound_of(premise, claim, "upper", NAME)
        if isinstance(found.value, Infinite):
            raise Rejected(NAME, "the part", "it has no finite epsilon")
        pure = known(found.value)
        above = symmetric(falling(lambda epsilon: (1 - (epsilon - pure()).exp()).max(arb(0))))
        return Curve(above, None, (NAME, *through_of(premise)), (*premise.assumed, *found.assumed))
    epsilon, assumed = pure_of(premise, claim, NAME)
    return Curve(optimal_composition.pair(epsilon), None, (NAME, *through_of(premise)), assumed)
