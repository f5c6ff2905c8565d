"""Proposes the error of a linear map of noisy answers: the unit balls of the parts' norms, and integrals where no closed form is known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from dpverify.search.proposal import Steps
from dpverify.search.utility import bodies
from dpverify.trusted.combinators.released import released
from dpverify.trusted.combinators.runs import merged
from dpverify.trusted.kernel.balls import precision
from dpverify.trusted.kernel.errors import DpverifyError, Rejected
from dpverify.trusted.kernel.expr import ONE, format_expr
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import Claim, Compose, Mixture, Part, PostProcess, Radial, Sum
from dpverify.trusted.kernel.proof import Proof
from dpverify.trusted.theories.utility import closed_moments, laws
from dpverify.trusted.theories.utility.rules import linear_map as rule

MOST_COORDINATES: Final = 64
"""Of more coordinates the first are told of alone."""


def propose(proof: Proof, _: Sequence[Fact], digits: int) -> Steps:
    """The step for a composition, a linear map, or a sum, of additive noises."""
    claim, prec = proof.claim, int(3.4 * digits) + 80
    if claim.domains or not isinstance(claim.mechanism, Compose | PostProcess | Sum):
        return []
    try:
        found = released(claim.mechanism)
        premises = [ball for noise in found.noises for ball in _ball(proof, noise.part)]
        told = [_told(noise.part, digits) for noise in found.noises]
    except DpverifyError:
        return []
    size = sum(noise.size * noise.times for noise in found.noises) if found.rows is None else len(found.rows)
    evidence = {"coordinates": min(size, MOST_COORDINATES), **({"parts": told} if any(told) else {})}
    return [{"rule": rule.NAME, "evidence": evidence, "premises": premises, "prec": prec}]


def question(part: Part) -> Claim:
    """What rules about single mechanisms are asked of a part."""
    return Claim(part.mechanism, None, sensitivity=part.sensitivity, query=part.query)


def _ball(proof: Proof, part: Part) -> Iterator[Fact]:
    """The fact of the unit ball of a part's norm by columns or facets. Raises Rejected where none is found."""
    noise = part.mechanism
    if not isinstance(noise, Radial | Mixture) or noise.norm.kind not in ("columns", "facets") or noise.dimension == ONE:
        return
    found = bodies.fact(Proof(question(part)), "norm")
    if found is None:
        raise Rejected(rule.NAME, "a part", "the moments of its unit ball are out of reach")
    runs = merged(Part(proof.claim.mechanism))
    place = next(number for number, run in enumerate(runs) if question(run.part) == question(part))
    with precision(found.prec):
        yield proof.infer(found.rule, (place,), found.parameters)


def _told(part: Part, digits: int) -> dict[str, Any]:
    """How the noise of a part is to be read, and how its mean square is found. Raises Rejected where it is not."""
    noise, reading = part.mechanism, dict[str, Any]()
    if isinstance(noise, Mixture):
        from dpverify.search.additive.mixtures import scale_of

        reading = {"scale": format_expr(scale)} if (scale := scale_of(noise, {})) is not None else {}
    for told in (reading, {**reading, "closed": True}) if reading else (reading,):
        try:
            closed_moments.moment(laws.read(question(part), told, rule.NAME), 2, rule.NAME)
        except DpverifyError:
            continue
        return told
    return {**reading, "bits": int(3.4 * digits) + 4}
