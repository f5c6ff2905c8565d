"""Proposes the error of prefix sums of what correlated noise tells: of which steps by themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dpverify.search.proposal import Steps
from dpverify.search.utility.linear_map import MOST_COORDINATES
from dpverify.trusted.kernel.expr import Num
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import CorrelatedNoise
from dpverify.trusted.kernel.proof import Proof
from dpverify.trusted.theories.utility.rules import prefix_errors as rule

_SPREAD: Final = 16
"""How many steps are told of, about evenly, where there are too many to tell of all."""


def propose(proof: Proof, _: Sequence[Fact], digits: int) -> Steps:
    """The step for correlated noise; of many steps some are told of, and the last."""
    noise = proof.claim.mechanism
    if proof.claim.domains or not isinstance(noise, CorrelatedNoise) or not isinstance(noise.steps, Num):
        return []
    steps = int(noise.steps.value)
    every = range(steps) if steps <= MOST_COORDINATES else [steps * (i + 1) // _SPREAD - 1 for i in range(_SPREAD)]
    return [{"rule": rule.NAME, "evidence": {"steps": list(every)}, "prec": int(3.4 * digits) + 80}]
