"""The sum of the parts: what adding epsilons and deltas by hand gives, beside the tight bound.

Theorem: If the parts are (eps_i, delta_i)-DP, their adaptive composition is (sum of eps_i, sum of delta_i)-DP.

Checked:
- the delta of every part at its epsilon, by its curve
- the sums are within what is claimed

Source: docs/theory/composition.md#basic-composition, Dwork & Roth 2014, Theorem 3.16
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final, NamedTuple

from dpverify.trusted.facts.bounds import Bound
from dpverify.trusted.facts.fact import Fact
from dpverify.trusted.facts.premises import curve_of, pure_of, through_of
from dpverify.trusted.language.errors import CertificateError, Rejected
from dpverify.trusted.language.expr import Expr, Num, add, mul, num
from dpverify.trusted.language.model import Claim, Combinator, Part
from dpverify.trusted.language.rationals import read_fraction
from dpverify.trusted.numbers.balls import rational
from dpverify.trusted.order.compare import certainly_le
from dpverify.trusted.parts import neighbours
from dpverify.trusted.parts.runs import Run, leaf, merged, neighbours_assumed
from dpverify.trusted.rules.composition import post_processing

NAME: Final = "basic-composition"
ASSUMED: Final = ()


class Share(NamedTuple):
    """An epsilon, a delta, and what proves them."""

    epsilon: Expr
    delta: Fraction
    rules: tuple[str, ...]
    assumed: tuple[str, ...]


def infer(claim: Claim, parameters: Mapping[str, Any], premises: Sequence[Fact]) -> tuple[Bound, ...]:
    """Upper bounds on the tight epsilon, the tight delta or both. Raises Rejected, CertificateError.

    premises: for every run of the composition its pure epsilon, or its curve. parameters: "spent", for every run whose curve is given
    the "epsilon" and the "delta" that it spends each time, else null.
    """
    if claim.domains or not isinstance(claim.mechanism, Combinator):
        raise Rejected(NAME, "the claim", "it wants a combinator, and a value for every parameter")
    neighbours.require_one_adjacency(Part(claim.mechanism))
    spent = shares(claim, parameters, premises)
    epsilon, delta = total(spent)
    through = tuple(dict.fromkeys(name for _, share in spent for name in share.rules))
    assumed = tuple(dict.fromkeys(line for _, share in spent for line in share.assumed))
    if any(run.processed for run, _ in spent):
        through, assumed = (*through, post_processing.NAME), (*assumed, *post_processing.ASSUMED)
    bounds = [
        replace(bound, through=through, assumed=(*assumed, *neighbours_assumed(claim))) for bound in _bounds(claim, epsilon, Num(delta))
    ]
    if not bounds:
        raise Rejected(NAME, "the sums", "neither is within what is claimed")
    return tuple(bounds)


def shares(claim: Claim, parameters: Mapping[str, Any], premises: Sequence[Fact]) -> list[tuple[Run, Share]]:
    """The runs of a composition with what each time costs, checked. Raises Rejected, CertificateError."""
    runs, listed = merged(Part(claim.mechanism)), parameters.get("spent")
    if not isinstance(listed, list) or not len(listed) == len(premises) == len(runs):
        raise CertificateError(f"{NAME}: it wants 'spent', a list of {len(runs)}, and as many premises.")
    return [(run, _spent(run, part, premise)) for run, part, premise in zip(runs, listed, premises, strict=True)]


def total(spent: Sequence[tuple[Run, Share]]) -> tuple[Expr, Fraction]:
    """The sums of the epsilons and of the deltas."""
    epsilon = add(*(mul(num(run.times), share.epsilon) for run, share in spent))
    return epsilon, sum((run.times * share.delta for run, share in spent), Fraction(0))


def _spent(run: Run, evidence: Any, premise: Fact) -> Share:
    """The epsilon and the delta of one run, checked, and what they rest on."""
    if evidence is None:
        pure, assumed = pure_of(premise, leaf(run), NAME)
        return Share(pure, Fraction(0), through_of(premise), assumed)
    if not isinstance(evidence, Mapping):
        raise CertificateError(f"{NAME}: what a part spends is not an object.")
    epsilon, delta = read_fraction(evidence, "epsilon", NAME), read_fraction(evidence, "delta", NAME)
    curve = curve_of(premise, replace(run, times=1), NAME)
    if epsilon < 0 or delta < 0 or curve.upper is None or not curve.upper.worst(rational(epsilon)) <= rational(delta):
        raise Rejected(NAME, "a part", "its divergence at its epsilon is not certainly at most its delta")
    return Share(Num(epsilon), delta, curve.rules, curve.assumed)


def _bounds(claim: Claim, epsilon: Expr, delta: Num) -> Iterator[Bound]:
    if claim.delta is not None and certainly_le(delta, claim.delta):
        yield Bound("upper", epsilon, quantity="epsilon")
    if claim.epsilon is not None and certainly_le(epsilon, claim.epsilon):
        yield Bound("upper", delta, quantity="delta")
