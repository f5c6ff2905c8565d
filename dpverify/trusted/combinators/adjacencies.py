"""The relations of neighbours that a mechanism made of parts speaks of."""

from __future__ import annotations

from typing import Final

from dpverify.trusted.combinators.one_pair import OnePair
from dpverify.trusted.kernel.model import CorrelatedNoise, Mechanism, NoisyKeys, Part, Shuffle, Subsample, all_parts, kind_of

_NEIGHBOURS: Final = {"poisson": "add-remove", "without_replacement": "replace"}
_SCHEMES: Final = {"poisson": "Poisson", "without_replacement": "without-replacement"}


def stated_adjacencies(mechanism: Mechanism, stated: str = "") -> dict[str, str]:
    """Every adjacency that a combinator, its parts and its sampling speak of, with who does."""
    holders: dict[str, str] = {stated: "the claim"} if stated else {}
    for part in (Part(mechanism), *all_parts(mechanism)):
        if part.adjacency:
            holders.setdefault(part.adjacency, "a part")
        if part.query is not None:
            holders.setdefault(part.space[2] if isinstance(part, OnePair) else part.query.adjacency, "a part's query")
        if isinstance(part.mechanism, NoisyKeys | CorrelatedNoise):
            holders.setdefault("add-remove", kind_of(part.mechanism))
        if isinstance(part.mechanism, Shuffle):
            holders.setdefault("replace", "shuffling")
        if isinstance(part.mechanism, Subsample):
            holders.setdefault(_NEIGHBOURS[part.mechanism.scheme], f"{_SCHEMES[part.mechanism.scheme]} sampling")
    return holders
