"""A mechanism of which only its pure epsilon is used: randomized response dominates it.

Theorem: Every mechanism that is eps-DP is a post-processing, for each two neighbours, of binary randomized response with parameter eps, in
adaptive compositions too: its pair dominates.

Checked:
- the pure epsilon, by a rule about the mechanism

Source: docs/theory/composition.md#pure-guarantee, Kairouz, Oh & Viswanath 2015, Theorem 2.1
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from dpverify.trusted.facts import settled
from dpverify.trusted.facts.fact import Fact
from dpverify.trusted.facts.pairs import Curve
from dpverify.trusted.facts.premises import pure_of, through_of
from dpverify.trusted.language.errors import CertificateError
from dpverify.trusted.language.model import Claim
from dpverify.trusted.parts.runs import Run, leaf
from dpverify.trusted.rules.curves import optimal_composition

NAME: Final = "pure-guarantee"
ASSUMED: Final = ()


def infer(run: Run, _: Mapping[str, Any], premises: Sequence[Fact]) -> Curve:
    """The curve of one run of a mechanism whose pure epsilon a premise bounds from above. Raises Rejected, CertificateError."""
    if len(premises) != 1:
        raise CertificateError(f"{NAME}: it wants one premise.")
    return settled.single(run, curve(premises[0], leaf(run)))


def curve(premise: Fact, claim: Claim) -> Curve:
    """The curve of every mechanism with this pure epsilon: an upper bound alone."""
    epsilon, assumed = pure_of(premise, claim, NAME)
    return Curve(optimal_composition.pair(epsilon), None, (NAME, *through_of(premise)), assumed)
