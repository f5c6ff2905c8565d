"""Proposes lower bounds on the error of any mechanism with a claim's guarantee: of each kind the best that is found in floats.

Floats only choose: a weight, a radius, a projection. What they choose is rounded to rationals, and the rules do with these what they can.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from dpverify.search.proposal import Steps
from dpverify.search.utility import lattice_lower_bound as necessary_lattice
from dpverify.search.utility import lines_lower_bound as necessary_lines
from dpverify.search.utility import one_line
from dpverify.search.utility import radial_lower_bound as necessary_radial
from dpverify.search.utility import volume_lower_bound as necessary_volume
from dpverify.search.utility.offers import Asked, Line, Offer, rational_text
from dpverify.trusted.combinators.released import answered
from dpverify.trusted.facts.errors import EUCLIDEAN
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.compare import certainly_lt
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.expr import ZERO, Expr, symbols
from dpverify.trusted.kernel.fact import Fact, as_bounds, as_errors
from dpverify.trusted.kernel.proof import Proof


def propose(proof: Proof, known: Sequence[Fact], digits: int) -> Steps:
    """For each Euclidean error the use of a rule that gives the greatest lower bound for any mechanism."""
    if proof.claim.measure is not None or proof.claim.delta != ZERO:
        offer = _best(proof, [*_other_measures(proof)], 1)
        return [] if offer is None else [_step(offer)]
    asked = _asked(proof, known)
    if asked is None:
        return []
    offers = [*necessary_lines.offers(asked), *necessary_lattice.offers(asked), *necessary_radial.offers(asked)]
    known_best = [max((offer.worth[number] for offer in offers), default=0.0) for number in range(len(EUCLIDEAN))]
    offers += necessary_volume.offers(asked, (known_best[0], known_best[1]))
    best = (_best(proof, offers, number) for number in range(len(EUCLIDEAN)))
    steps = [_step(offer) for offer in best if offer is not None]
    return steps[:1] if len(steps) == 2 and steps[0] == steps[1] else steps


def _step(offer: Offer) -> dict[str, Any]:
    return {"rule": offer.rule, "evidence": offer.parameters, "premises": list(offer.premises)}


def _other_measures(proof: Proof) -> Iterator[Offer]:
    """Lines, where a delta above 0 or another measure than epsilon is claimed."""
    query, numbers = answered(proof.claim), one_line.numbers_of(proof.claim)
    if query is None or proof.claim.domains or proof.claim.order:
        return
    if numbers is None:
        square, told = one_line.by_divergence(proof.claim)
        if square > 0:
            yield from necessary_lines.offers(Asked(proof, query, 0.0, (), Line(square, told)))
        return
    reach, least, square = one_line.with_delta(*numbers)
    if square > 0:
        dual = {"reach": str(Fraction(reach)), "least": rational_text(least * (1 - 1e-9))}
        yield from necessary_lines.offers(Asked(proof, query, numbers[0], (), Line(square, dual)))


def _asked(proof: Proof, known: Sequence[Fact]) -> Asked | None:
    claim = proof.claim
    query = answered(claim)
    if query is None or claim.delta != ZERO:
        return None
    granted = () if claim.epsilon is not None else tuple(_granted(known)[:1])
    value = claim.epsilon if claim.epsilon is not None else _pure(granted[0]) if granted else None
    if value is None or not certainly_lt(ZERO, value):
        return None
    return Asked(proof, query, float(constant(value)), granted)


def _granted(known: Sequence[Fact]) -> list[Fact]:
    """The facts that bound the pure epsilon of a claim, the least bound first."""
    found = [(float(constant(value)), number) for number, fact in enumerate(known) if not fact.place and (value := _pure(fact)) is not None]
    return [known[number] for _, number in sorted(found)]


def _pure(fact: Fact) -> Expr | None:
    for bound in as_bounds(fact.says):
        if (bound.side, bound.quantity, bool(bound.at)) == ("upper", "pure", False) and isinstance(bound.value, Expr):
            return None if symbols(bound.value) else bound.value
    return None


def _best(proof: Proof, offers: Sequence[Offer], number: int) -> Offer | None:
    """The first that its rule accepts, by what it is worth for one of the errors."""
    for offer in sorted((offer for offer in offers if offer.worth[number] >= 0), key=lambda offer: -offer.worth[number]):
        try:
            fact = proof.infer(offer.rule, (), offer.parameters, offer.premises)
        except DpverifyError:
            continue
        if any(bound.measure == EUCLIDEAN[number] for bound in as_errors(fact.says)):
            return offer
    return None
