"""Shuffling hides no pure epsilon: with probability above 0 all people tell the output that tells two records apart best.

Theorem: The tight epsilon of a shuffle at delta = 0, where any record may be replaced by any other, is that of what each person runs, for
any number of people. From above, shuffling is a map of the outputs. From below, let P_i(S) > e^x P_j(S), and all others have the record i:
that all outputs are in S has the probability P_i(S)^n > 0 where the one has i, and P_i(S)^(n - 1) P_j(S) where the one has j.

Checked:
- the bounds of the part, by a premise
- that nothing in the part says that two records are no neighbours of it, unless it is a table

Source: docs/theory/composition.md#shuffled-epsilon
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from dpverify.trusted.combinators.runs import Run, leaf
from dpverify.trusted.facts.premises import through_of
from dpverify.trusted.kernel.bounds import Bound
from dpverify.trusted.kernel.errors import Rejected, certify, require
from dpverify.trusted.kernel.fact import Parameters, Premises, as_bounds
from dpverify.trusted.kernel.model import ONE_WAY, Claim, KaryResponse, Shuffle, Table
from dpverify.trusted.theories.composition.rules import shuffling

NAME: Final = "shuffled-epsilon"
ASSUMED: Final = shuffling.ASSUMED


def infer(claim: Claim, _: Parameters, premises: Premises) -> tuple[Bound, ...]:
    """The bounds that the premise states of the part. Raises Rejected, CertificateError."""
    shuffle = claim.mechanism
    require(isinstance(shuffle, Shuffle), Rejected(NAME, "the mechanism", "it is not shuffled"))
    assert isinstance(shuffle, Shuffle)
    local = shuffle.part.mechanism
    listed = isinstance(local, Table | KaryResponse)  # which says itself which records are neighbours
    if not listed:
        shuffling.require_every_two(shuffle)
    require(getattr(local, "neighbours", "") not in ONE_WAY, Rejected(NAME, "the part", "it is bounded in one order of its data alone"))
    (premise,) = premises
    certify(premise.about == leaf(Run(shuffle.part), claim.domains), f"{NAME}: the premise is not about the part that is shuffled.")
    assumed, through = (*premise.assumed, *(() if listed else (shuffling.ANY,))), through_of(premise)
    found = [_shuffled(bound, assumed, through) for bound in as_bounds(premise.says) if bound.quantity == "pure"]
    require(bool(found), Rejected(NAME, premise.rule, "it bounds no pure epsilon"))
    return tuple(found)


def _shuffled(bound: Bound, assumed: tuple[str, ...], through: tuple[str, ...]) -> Bound:
    told = {f"{key} of one": value for key, value in (bound.witness or {}).items()}
    witness = None if bound.side == "upper" else {"pair": {"says": "shuffled-pair"}, "event": {"says": "shuffled-event"}, **told}
    occurs = (shuffling.LOWER,) if bound.side == "lower" else ()
    return replace(bound, witness=witness, assumed=(*assumed, *bound.assumed, *occurs), through=through, also={})
