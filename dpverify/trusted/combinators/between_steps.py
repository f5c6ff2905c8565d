"""Sensitivities that are asked at distances between whole steps of neighbours."""

from __future__ import annotations

from collections.abc import Sequence

from dpverify.trusted.combinators.adjacencies import stated_adjacencies
from dpverify.trusted.kernel.integers import is_whole
from dpverify.trusted.kernel.model import Claim, Domain, Lipschitz, Mechanism, Noise, parts_of


def between_steps(claim: Claim) -> bool:
    """Whether some stated sensitivity is asked at a distance that is no whole number of steps between neighbours.

    Records are added, removed and replaced in whole steps: there no distance lies between.
    """
    steps = {"add-remove", "replace"} & stated_adjacencies(claim.mechanism, claim.adjacency).keys()
    return not steps and _moves_between(claim.mechanism, claim.domains, False)


def _moves_between(mechanism: Mechanism, domains: Sequence[tuple[str, Domain]], between: bool) -> bool:
    """Whether some stated sensitivity is behind a map whose constant is not certainly whole. between: whether the mechanism is."""
    if isinstance(mechanism, Lipschitz):
        between = between or not is_whole(mechanism.constant, dict(domains))
    return any(
        _moves_between(inner.mechanism, domains, between) or (between and inner.query is None and isinstance(inner.mechanism, Noise))
        for inner in parts_of(mechanism)
    )
