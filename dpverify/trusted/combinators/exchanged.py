"""Whether the two outputs of neighbours may be exchanged, so that what is lost in one order is lost in the other (theory#one-sided)."""

from __future__ import annotations

from typing import Final, assert_never

from dpverify.trusted.combinators.adjacencies import stated_adjacencies
from dpverify.trusted.combinators.neighbours import leaves
from dpverify.trusted.kernel import model
from dpverify.trusted.kernel.model import Claim, Part, Repeat, all_parts, parts_of

TOWARDS: Final = "a record may move the answer in the direction that is worst"
"""What a lower bound for one order takes for granted of noise that is not even, where no query tells how a record moves the answer."""


def either_order(claim: Claim) -> bool:
    """Whether for any two neighbours some two have the same outputs in the other order, up to a map of the outputs that can be undone.

    Noise that is even about 0 is reflected between the two answers; where no query tells how a record moves the answer it may move either
    way, which is shown as an assumption; tables name their pairs. Samples of records are of one order: the record is in one of two inputs.
    """
    return by_records(claim) and _exchanged(Part(claim.mechanism, query=claim.query))


def by_records(claim: Claim) -> bool:
    """Whether a neighbour may have a record that the other has not: under another adjacency than add-remove no order is one of a record."""
    named = {claim.query.adjacency} if claim.query is not None else set(stated_adjacencies(claim.mechanism, claim.adjacency))
    return named <= {"add-remove"}


def _exchanged(part: Part) -> bool:
    from dpverify.trusted.combinators.densities import even

    mechanism = part.mechanism
    even_ones = model.Radial | model.Mixture | model.Staircase | model.EllipticalProcess
    if isinstance(mechanism, even_ones | model.Kernel | model.KaryResponse | model.Shuffle | model.SmoothSensitivity | model.Guarantee):
        return True
    if isinstance(mechanism, model.CorrelatedNoise):
        return mechanism.rate is None
    if isinstance(mechanism, model.Translation | model.Product | model.Sum):
        return part.query is None or even(mechanism)
    if isinstance(mechanism, model.Table | model.Exponential):
        return listed_both_ways(mechanism)
    lost = model.Subsample | model.BestOf | model.Sampled | model.Selection | model.NoisyKeys | model.NoisyVotes | model.Space
    if isinstance(mechanism, lost):
        return False
    if isinstance(mechanism, model.Group) and _counts(part):
        return False
    if isinstance(mechanism, model.Compose | Repeat | model.Group | model.PostProcess | model.Parallel | model.Lipschitz):
        return all(map(_exchanged, parts_of(mechanism)))
    assert_never(mechanism)


def listed_both_ways(mechanism: model.Table | model.Exponential) -> bool:
    """Whether every pair of inputs that is adjacent stands in the list in both orders, or all are."""
    return mechanism.adjacent is None or {(b, a) for a, b in mechanism.adjacent} <= set(mechanism.adjacent)


def in_order(claim: Claim) -> bool:
    """Whether the lower pair of a curve is of neighbours of which the first has the record: not where a table lists pairs one way.

    Nor in a group of records that queries count: some may have gone and others have come.
    """
    return by_records(claim) and all(map(_in_order, (Part(claim.mechanism), *all_parts(claim.mechanism))))


def _in_order(part: Part) -> bool:
    if isinstance(part.mechanism, model.Table | model.Exponential):
        return listed_both_ways(part.mechanism)
    if isinstance(part.mechanism, model.Selection):
        return False  # which way a record moves the answers that are compared is not told
    return not isinstance(part.mechanism, model.Group) or not _counts(part)


def _counts(part: Part) -> bool:
    """Whether something in a group answers a query."""
    return any(inner.query is not None for inner in all_parts(part.mechanism))


def worst_way(claim: Claim) -> tuple[str, ...]:
    """What a lower bound of one order takes for granted: nothing where noise is even, or queries tell how a record moves the answer."""
    from dpverify.trusted.combinators.densities import even

    noises = (leaf.part for leaf in leaves(Part(claim.mechanism, query=claim.query)))
    told = (
        part.query is not None or not isinstance(part.mechanism, model.Translation | model.Product | model.Sum) or even(part.mechanism)
        for part in noises
    )
    return () if all(told) else (TOWARDS,)
