"""Finds evidence. Nothing here is trusted: the kernel re-derives every bound from the claim and the evidence alone."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Any

import dpverify.search.signs  # noqa: F401  # finds signs wherever they are asked for
from dpverify.search.proposal import Premise, Proposal, Steps
from dpverify.search.proposal import bound as proved
from dpverify.trusted.combinators import neighbours
from dpverify.trusted.combinators.runs import whole
from dpverify.trusted.kernel.balls import constant, precision
from dpverify.trusted.kernel.bounds import Bound, Infinite
from dpverify.trusted.kernel.compare import certainly_lt
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.expr import ZERO
from dpverify.trusted.kernel.fact import as_bounds
from dpverify.trusted.kernel.model import (
    NEARNESS,
    ONE_WAY,
    Claim,
    Combinator,
    Compared,
    EllipticalProcess,
    Guarantee,
    Kernel,
    Noise,
    Sampled,
    Selection,
    Space,
    Translation,
    all_parts,
)
from dpverify.trusted.kernel.proof import Proof
from dpverify.trusted.kernel.registry import ANYWHERE


def propose(claim: Claim, digits: int = 20) -> Proposal:
    """Evidence for bounds on the tight epsilon, or the tight delta, from both sides, to `digits` digits where that can be had."""
    proposal = Proposal(prec=precision_for(digits))
    if claim.measure is not None and claim.measure.name == NEARNESS:
        from dpverify.search.utility import nearness

        proposal.extend(nearness.propose, claim, digits)
        return proposal
    if claim.measure is not None:
        extend_in_measure(proposal, claim, digits)
        return proposal
    if claim.delta != ZERO and isinstance(claim.mechanism, Translation):
        from dpverify.search.additive import cosets

        proposal.extend(cosets.propose, claim, digits)
    if claim.delta != ZERO and isinstance(claim.mechanism, EllipticalProcess):
        from dpverify.search.processes import elliptical_process

        if proposal.extend(elliptical_process.apart, claim, digits):
            return proposal
        if claim.mechanism.transform:  # which has no curve
            from dpverify.search.divergences import orders as measures

            proposal.extend(lambda claim, _: measures.propose(claim), claim, digits)
            return proposal
    if claim.delta != ZERO and claim.epsilon is not None and claim.domains and isinstance(claim.mechanism, Compared):
        proposal.extend(lambda *_: [{"rule": "each-noise", "evidence": {}}], claim, digits)
    mixed = claim.delta != ZERO and not isinstance(claim.mechanism, Sampled | Space) and extend_with_curve(proposal, claim, digits)
    one_way = getattr(claim.mechanism, "neighbours", "") in ONE_WAY  # a curve is of both orders, and knows nothing of the pure bound of one
    if not mixed or one_way or isinstance(claim.mechanism, Combinator):  # what is proved at delta = 0 holds at every other
        _pure(proposal, claim, digits)
    if claim.delta != ZERO and not claim.domains:
        from dpverify.search.divergences import orders as measures

        if isinstance(claim.mechanism, Guarantee):
            from dpverify.search.composition import stated_epsilon

            proposal.extend(stated_epsilon.propose, claim, digits)
        if any(step["rule"] == "privacy-profile" and step.get("premises") for step in proposal.steps):
            proposal.extend(lambda claim, _: measures.propose(claim), claim, digits)
    if claim.delta != ZERO and claim.domains and isinstance(claim.mechanism, Compared):
        from dpverify.search.selection import violations as selection_violations

        proposal.extend(lambda claim, _: selection_violations.propose(claim, proposal.steps), claim, digits)
    if claim.order or any(isinstance(part.mechanism, Guarantee) for part in all_parts(claim.mechanism)):
        from dpverify.search.composition import one_sided

        proposal.extend(lambda claim, digits: one_sided.propose(claim, premises(digits)), claim, digits)
    if not proposal.steps and not proposal.reasons:
        proposal.reasons.append("no rule covers this mechanism; `dpverify explain` lists what each rule wants.")
    return proposal


def extend_in_measure(proposal: Proposal, claim: Claim, digits: int) -> None:
    """Add bounds on the tight value in the measure that is claimed."""
    from dpverify.search.divergences import in_measures

    known, found = premises(digits, above=True), dict[Claim, Proposal]()

    def pure(single: Claim) -> Steps:
        if single not in found:
            found[single] = Proposal(prec=precision_for(digits))
            with precision(precision_for(digits)):
                _pure(found[single], single, digits)
        return found[single].steps

    def search(claim: Claim, digits: int) -> Steps:
        with precision(precision_for(digits)):
            return in_measures.propose(claim, digits, pure, lambda single: known(single, "upper"))

    if claim.domains:
        from dpverify.search.composition import least_noise

        closed: Steps = [{"rule": "gaussian-measures", "evidence": {}}]
        with suppress(DpverifyError):
            Proof(claim).infer(closed[0]["rule"])
            proposal.steps += closed
            return
        proposal.steps += least_noise.propose(claim, lambda there: search(there, digits))
    proposal.extend(search, claim, digits)


def extend_with_curve(proposal: Proposal, claim: Claim, digits: int) -> bool:
    """Add bounds read off the mechanism's privacy curve, where it has one."""
    from dpverify.search.composition import privacy_profile

    known = premises(digits, above=True)

    def search(claim: Claim, digits: int) -> Steps:
        return privacy_profile.propose(claim, digits, lambda single: known(single, "upper"))

    if claim.domains and claim.delta != ZERO and not isinstance(claim.mechanism, Selection):  # these have events at any parameters
        from dpverify.search.composition import least_noise

        proposal.steps += least_noise.propose(claim, lambda there: search(there, digits))
    found = proposal.extend(search, claim, digits)
    if claim.order:
        proposal.extend(privacy_profile.listed, claim, digits)
    return found


def premises(digits: int, above: bool = False) -> Premise:
    """The searches for single mechanisms, as a source of premises; equal parts are searched once. above: for upper bounds alone."""
    found: dict[Claim, Proposal] = {}

    def premise(claim: Claim, side: str) -> dict[str, Any] | None:
        if claim not in found:
            found[claim] = Proposal(prec=precision_for(digits), above=above)
            _pure(found[claim], claim, digits)
        best = None
        with precision(precision_for(digits)):
            proof = Proof(claim)
            for step in found[claim].steps:
                if step["rule"] not in ANYWHERE:
                    continue
                try:
                    says = as_bounds(proved(proof, (), step).says)
                except DpverifyError:
                    continue
                for bound in says:
                    fits = (bound.quantity, bound.side) == ("pure", side) and not bound.at
                    if fits and (best is None or _better(bound, best[0], side)):
                        best = bound, step
        return None if best is None else _unshown(best[1])

    return premise


def _unshown(step: dict[str, Any]) -> dict[str, Any]:
    """A step about a part, without the event that only a refutation of the whole shows."""
    if step["rule"] != "divergence":
        return step
    return {**step, "evidence": {key: value for key, value in step["evidence"].items() if key != "witness"}}


def _better(bound: Bound, best: Bound, side: str) -> bool:
    if isinstance(bound.value, Infinite) or isinstance(best.value, Infinite):
        return isinstance(bound.value, Infinite) == (side == "lower")
    low, high = (bound.value, best.value) if side == "upper" else (best.value, bound.value)
    return certainly_lt(low, high)


def _pure(proposal: Proposal, claim: Claim, digits: int) -> None:
    """Evidence for bounds on the tight epsilon at delta = 0."""
    mechanism = claim.mechanism
    if isinstance(mechanism, Kernel):
        from dpverify.search.finite import normaliser

        if wrong := normaliser.faults(claim):
            proposal.reasons.extend(wrong)
            return
    if isinstance(mechanism, Combinator):
        from dpverify.search.composition import combination

        found = premises(digits)
        proposal.extend(lambda claim, _: combination.propose(claim, found), claim, digits)
    else:
        from dpverify.search import kinds
        from dpverify.search.additive import equal_answers

        if isinstance(mechanism, Noise | Kernel) and proposal.extend(equal_answers.propose, claim, digits):
            return  # nothing is less than 0
        kinds.extend(proposal, claim, mechanism, digits, premises(digits, above=True))
        if any(leaf.several for leaf in neighbours.leaves(whole(claim).part)) and _far_apart(claim, proposal.steps):
            from dpverify.search.composition import combination

            found = premises(digits)
            proposal.extend(lambda claim, _: combination.propose(claim, found), claim, digits)
        if isinstance(mechanism, EllipticalProcess) and not proposal.steps and claim.epsilon is not None:
            extend_with_curve(proposal, claim, digits)
    if claim.domains:
        from dpverify.search.composition import positivstellensatz

        proposal.extend(lambda claim, _: positivstellensatz.propose(claim, proposal.steps), claim, digits)


def _far_apart(claim: Claim, steps: Steps) -> bool:
    """Whether steps leave bounds on the pure epsilon that are certainly no rounding apart, or parameters open."""
    ends, proof = {"lower": 0.0, "upper": math.inf}, Proof(claim)
    for step in steps:
        with suppress(DpverifyError):
            for b in as_bounds(proved(proof, (), step).says):
                value = math.inf if isinstance(b.value, Infinite) else float(constant(b.value).mid())
                ends[b.side] = max(ends["lower"], value) if b.side == "lower" else min(ends["upper"], value)
    return ends["upper"] > ends["lower"] + 1e-9 * max(1.0, ends["lower"])


def precision_for(digits: int) -> int:
    """Bits that leave room for an enclosure to `digits` digits."""
    return int(3.4 * digits) + 80
