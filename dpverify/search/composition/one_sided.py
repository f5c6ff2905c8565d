"""Evidence for what is lost in one order of neighbours alone, or in each by itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from dpverify.search.proposal import Premise, Steps
from dpverify.search.proposal import bound as proved
from dpverify.trusted.combinators.exchanged import either_order, listed_both_ways
from dpverify.trusted.combinators.one_pair import is_told
from dpverify.trusted.combinators.places import ONE_STEP
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import Claim, Exponential, Group, Guarantee, Part, PostProcess, Table, parts_of
from dpverify.trusted.kernel.proof import Place, Proof
from dpverify.trusted.theories.composition.rules import one_sided as rule


def propose(claim: Claim, premise: Premise) -> Steps:
    """Steps for both sides; none where every lower bound is one for this order anyway. Raises Undecided."""
    proof = Proof(claim)
    steps: Steps = []
    sides = ("upper", "lower") if claim.order else ("upper",)
    rows = max((len(part.mechanism.rows) for part in _every(Part(claim.mechanism)) if isinstance(part.mechanism, Guarantee)), default=1)
    for side in sides:
        with suppress(DpverifyError):  # what is missing on a side is said of the whole
            found = list(dict(_premises(proof, (), Part(claim.mechanism, claim.sensitivity, claim.query), side, premise)).values())
            premises = [fact for fact in found if fact is not None]
            unknown = [number for number, fact in enumerate(found) if fact is None]
            for row in range(rows if side == "upper" else 1):
                evidence = {"side": side} | ({"row": row} if row else {}) | ({"unknown": unknown} if unknown else {})
                with suppress(DpverifyError):
                    proof.infer(rule.NAME, (), evidence, premises)
                    steps.append({"rule": rule.NAME, "evidence": evidence, "premises": premises})
    return steps


def _every(part: Part) -> Iterator[Part]:
    yield part
    for inner in parts_of(part.mechanism):
        yield from _every(inner)


def _premises(proof: Proof, place: Place, part: Part, side: str, premise: Premise) -> Iterator[tuple[Part, Fact | None]]:
    """A bound on the pure epsilon of every part that loses as much in either order, in their order; None where none is known."""
    if side == "lower" and isinstance(part.mechanism, Guarantee | Group | PostProcess):
        yield part, None
        return
    inside, step = parts_of(part.mechanism), (ONE_STEP,) if isinstance(part.mechanism, Group) else ()
    for number, inner in enumerate(inside):
        yield from _premises(proof, (*place, {"part": number}, *step), inner, side, premise)
    one_way = bool(proof.claim.order)
    listed = one_way and isinstance(part.mechanism, Table | Exponential) and not listed_both_ways(part.mechanism)
    if inside or listed or isinstance(part.mechanism, Guarantee) or is_told(part):
        return
    claim = Claim(part.mechanism, None, sensitivity=part.sensitivity, query=part.query, domains=proof.claim.domains)
    found = premise(claim, side) if side == "upper" or either_order(claim) else None
    yield part, None if found is None else proved(proof, place, found)
