"""Evidence for errors: that of the claim's own noise, and the least that any mechanism with the same guarantee can have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from dpverify.search.proposal import Proposal, Steps
from dpverify.trusted.combinators.released import answered, released
from dpverify.trusted.facts.errors import EUCLIDEAN
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import ZERO, Num
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import (
    Claim,
    Combinator,
    Compose,
    CorrelatedNoise,
    EllipticalProcess,
    KaryResponse,
    Noise,
    PostProcess,
    Sum,
    Table,
)
from dpverify.trusted.kernel.proof import Proof

Search = Callable[[Proof, Sequence[Fact], int], Steps]
"""From the proof so far, what it has shown of the claim, and the digits that are asked for."""


def _searches() -> tuple[Search, ...]:
    """All of them; most claims ask for no errors, and what says why one is not known needs none of these."""
    from dpverify.search.utility import least_loss, linear_map, necessary, noise_error, prefix_errors

    return (
        necessary.propose,
        least_loss.own,
        least_loss.of_any,
        least_loss.expected,
        least_loss.squared,
        noise_error.propose,
        linear_map.propose,
        prefix_errors.propose,
    )


def propose(proof: Proof, known: Sequence[Fact], digits: int, prec: int) -> Proposal:
    """Steps about the errors that a claim asks for, each proved by a rule about errors."""
    found = Proposal(prec=prec)
    for search in _searches():
        found.extend(partial(_asked, search, proof, known), proof.claim, digits)
    return found


def _asked(search: Search, proof: Proof, known: Sequence[Fact], _: Claim, digits: int) -> Steps:
    return search(proof, known, digits)


def lacking(claim: Claim, measure: str) -> str:
    """Why an error is not given, and what would help. measure: as the JSON calls it."""
    if measure in ("expected_loss", "necessary_loss"):
        return _no_loss(claim, measure)
    if measure in ("necessary_l2", "necessary_rms_l2"):
        return _not_necessary(claim)
    if isinstance(claim.mechanism, Compose | PostProcess | Sum) and not claim.domains:
        return _not_linear(claim.mechanism)
    if isinstance(claim.mechanism, Combinator):
        return "it is made of several mechanisms, each with an error of its own: ask for them in claims about the parts."
    if isinstance(claim.mechanism, EllipticalProcess):
        return "noise of infinite rank on functions has no length; its values at finitely many places have, as multivariate noise."
    if isinstance(claim.mechanism, Table | KaryResponse) and measure in EUCLIDEAN:
        return "its output is no answer with noise added; randomized response of one bit has an estimate with an error that no data change."
    if isinstance(claim.mechanism, CorrelatedNoise):
        return "it is known of prefix sums, by what undoes a strategy that is square and lower triangular, as root mean squares."
    if not isinstance(claim.mechanism, Noise):
        return "only additive noise has an error of its own; this mechanism's output is no answer with noise added."
    if claim.domains:
        return "the claim ranges over parameters; give them values."
    if measure == "exceeded_union":
        return "no rule encloses the probabilities of the coordinates for this noise."
    return "no rule encloses this error for this noise."


def _not_linear(mechanism: Compose | PostProcess | Sum) -> str:
    try:
        released(mechanism)
    except Rejected as error:
        return f"it is known of noises that are added to answers and mapped by a matrix; here, of {error.where}: {error.why}."
    return "no rule gives this error of a linear map, or of a list, of noisy answers."


def _no_loss(claim: Claim, measure: str) -> str:
    if claim.domains:
        return "the claim ranges over parameters; give them values."
    if measure == "expected_loss":
        return "the rows of the mechanism are not certainly distributions."
    if not isinstance(claim.delta, Num):
        return "the linear program wants a rational delta; claim one."
    return "the linear program was not solved: it may be too large, or epsilon is not bounded from above."


def _not_necessary(claim: Claim) -> str:
    if answered(claim) is None:
        return "the least error is a matter of the query: state query and adjacency in place of the sensitivity."
    if claim.measure is not None:
        return "in this measure bounds are known of the root mean square alone."
    if claim.delta != ZERO:
        return "with a delta above 0 the bound is by a linear program, which was not solved for this query; it wants a rational delta."
    if claim.domains:
        return "the claim ranges over parameters; give them values."
    if claim.epsilon is None:
        return "no lower bound was found: it wants a finite upper bound on the tight epsilon, above 0, and answers that differ."
    return "no lower bound was found: it wants an epsilon above 0, and answers that differ."
