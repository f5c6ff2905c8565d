"""Reads bounds off a privacy curve: the tight delta at the claimed epsilon, the tight epsilon at the claimed delta.

Theorem: A mechanism is (eps, delta)-DP exactly where its hockey-stick divergence at e^eps is at most delta for all neighbours, in both
orders, or in the one that is claimed. A pair that dominates all neighbours bounds it from above, the pair of some from below.

Checked:
- the curve, by the rule of every node
- the divergence at the point in question

Source: docs/theory/curves.md#privacy-profile, Zhu, Dong & Wang 2022
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from flint import arb

from dpverify.trusted.combinators.runs import neighbours_assumed, whole
from dpverify.trusted.facts.pairs import Curve
from dpverify.trusted.facts.premises import curves_of
from dpverify.trusted.kernel.balls import constant, exact, finite, rational
from dpverify.trusted.kernel.bounds import INFINITE, Bound, Infinite, Quantity, Side
from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.errors import Rejected, certify, require
from dpverify.trusted.kernel.expr import ZERO, Expr, Num, format_expr
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import Claim
from dpverify.trusted.language.rationals import read_fraction

NAME: Final = "privacy-profile"
ASSUMED: Final = ()


def infer(claim: Claim, parameters: Mapping[str, Any], premises: Sequence[Fact]) -> tuple[Bound, ...]:
    """The bounds that are asked for. Raises Rejected, Undecided, CertificateError.

    premises: as of `curve_of_claim`. parameters: "delta", true for both bounds on the tight delta at the claimed epsilon; "upper" and
    "lower", rationals that the tight epsilon at the claimed delta is said to lie between, or "inf" as the lower one.
    """
    curve, others = curve_of_claim(claim, parameters, premises)
    certify(not others, f"{NAME}: it wants one premise, the curve of the whole, or none for listed pairs.")
    curve = in_the_order(claim, curve)
    bounds = [*_deltas(claim, curve, parameters), *_epsilons(claim, curve, parameters)]
    certify(bool(bounds), f"{NAME}: no bound is asked for, or one that the curve has not.")
    return tuple(bounds)


def curve_of_claim(claim: Claim, parameters: Mapping[str, Any], premises: Sequence[Fact]) -> tuple[Curve, Sequence[Fact]]:
    """The curve of a claim's mechanism at its sensitivity, and further premises. Raises Rejected, CertificateError.

    It is the first premise; or that over the pairs of tables as they are listed, where parameters have "pair", the number of one. Its lower
    side is left out where the order of neighbours that is claimed is not known of it, and its two orders differ.
    """
    require(not claim.domains, Rejected(NAME, "the parameters", "it wants a value for each; claim one value at a time"))
    if "pair" in parameters:
        from dpverify.trusted.theories.composition import one_sided_tables

        return one_sided_tables.curve(claim, parameters["pair"]), premises
    (curve,) = curves_of(premises[:1], [whole(claim)], NAME)
    known = True
    if claim.order:
        from dpverify.trusted.combinators.exchanged import by_records, in_order

        alike = curve.lower is not None and curve.lower.forward is curve.lower.backward
        known = in_order(claim) or (alike and by_records(claim))
    return (curve if known else replace(curve, lower=None)), premises[1:]


def in_the_order(claim: Claim, curve: Curve) -> Curve:
    """The curve of the order of neighbours that is claimed, where that is one: its profile in both orders' place.

    From below it is what some two neighbours have at each epsilon.
    """
    if curve.lower is not None and curve.lower.reached is not None:
        curve = replace(curve, lower=curve.lower.reached)
    if not claim.order:
        return curve
    from dpverify.trusted.facts.orientation import facing

    upper = None if curve.upper is None else facing(claim, curve.upper).one_way
    lower = None if curve.lower is None else upper if curve.exact else facing(claim, curve.lower).one_way
    from dpverify.trusted.combinators.exchanged import worst_way

    return replace(curve, upper=upper, lower=lower, below=(*curve.below, *worst_way(claim)))


def _bound(claim: Claim, curve: Curve, side: Side, value: Expr | Infinite, quantity: Quantity, at: Expr | Infinite | None = None) -> Bound:
    """A bound that rests on a side of a curve. at: the epsilon that its witness is for."""
    witness = None if at is None else {"epsilon": "inf" if isinstance(at, Infinite) else format_expr(at)}
    assumed = dict.fromkeys((*curve.assumed, *(curve.below if side == "lower" else ()), *neighbours_assumed(claim, side)))
    return Bound(side, value, witness=witness, quantity=quantity, through=curve.rules, assumed=tuple(assumed), ordered=True)


def _deltas(claim: Claim, curve: Curve, evidence: Mapping[str, Any]) -> Iterator[Bound]:
    if evidence.get("delta") is not True:
        return
    if claim.epsilon is None:
        raise Rejected(NAME, "delta", "no epsilon is claimed")
    if not certainly_le(ZERO, claim.epsilon):  # below it no profile is made to end
        raise Rejected(NAME, "epsilon", "a tight delta is spoken of at epsilons that are certainly at least 0 alone")
    epsilon = constant(claim.epsilon)
    above = None if curve.upper is None else finite(curve.upper.worst(epsilon))
    if above is not None:
        value = min(exact(above.upper()), Fraction(1))
        yield _bound(claim, curve, "upper", Num(max(value, Fraction(0))), "delta")
    if curve.lower is not None:
        below = above if curve.exact and above is not None else finite(_certain(curve, epsilon))
        value = max(exact(below.lower()), Fraction(0))
        yield _bound(claim, curve, "lower", Num(value), "delta", claim.epsilon)


def _epsilons(claim: Claim, curve: Curve, evidence: Mapping[str, Any]) -> Iterator[Bound]:
    if "upper" not in evidence and "lower" not in evidence:
        return
    if claim.delta is None:
        raise Rejected(NAME, "upper", "no delta is claimed")
    delta = constant(claim.delta)
    if "upper" in evidence:
        value = read_fraction(evidence, "upper", NAME)
        at = _not_negative(value)
        trivial = delta >= 1  # no divergence is greater
        if not trivial and (curve.upper is None or not curve.upper.worst(at) <= delta):
            raise Rejected(NAME, "upper", "the divergence there is not certainly at most delta")
        yield _bound(claim, curve, "upper", Num(value), "epsilon")
    if evidence.get("lower") == "inf":
        lower = curve.lower
        if lower is None or lower.rest is None or not lower.rest() > delta:
            raise Rejected(NAME, "lower", "the mass that only one of the two distributions has is not certainly above delta")
        yield _bound(claim, curve, "lower", INFINITE, "epsilon", INFINITE)
    elif "lower" in evidence:
        value = read_fraction(evidence, "lower", NAME)
        if value == 0:
            yield Bound("lower", ZERO, quantity="epsilon")  # no epsilon is below
            return
        if curve.lower is None or not _certain(curve, _not_negative(value)) > delta:
            raise Rejected(NAME, "lower", "the divergence there is not certainly above delta")
        yield _bound(claim, curve, "lower", Num(value), "epsilon", Num(value))


def _certain(curve: Curve, epsilon: arb) -> arb:
    """What is certainly reached at an epsilon of at least 0: by either order, the other not looked at where it is certainly no greater.

    No epsilon leaves less than what only one of the two distributions has.
    """
    lower, upper = curve.lower, curve.upper
    assert lower is not None
    least = arb(0) if lower.rest is None else lower.rest().lower().max(arb(0))
    if lower.forward is lower.backward or upper is None:
        return lower.worst(epsilon).max(least)
    forward, backward = upper.forward(epsilon), upper.backward(epsilon)
    first, other, most = (lower.backward, lower.forward, forward) if backward > forward else (lower.forward, lower.backward, backward)
    reached = first(epsilon).max(least)
    return reached if most <= reached else reached.max(other(epsilon))


def _not_negative(epsilon: Fraction) -> arb:
    require(epsilon >= 0, Rejected(NAME, "epsilon", "it is negative"))
    return rational(epsilon)
