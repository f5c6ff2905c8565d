"""What a bound takes for granted of mechanisms that speak of inputs: which of them are adjacent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dpverify.trusted.kernel.bounds import Bound
from dpverify.trusted.kernel.model import Finite, KaryResponse, Kernel

PAIRS: Final = "the adjacent pairs are those of the claim"
ANY: Final = "any two inputs are adjacent"
NEAR: Final = "the sensitivity bounds the distance of adjacent inputs"
FAR: Final = "inputs as far apart as the sensitivity are adjacent"


def of_inputs(mechanism: Kernel | Finite, stated: bool, bound: Bound, at_theirs: bool) -> Iterator[str]:
    """stated: whether a sensitivity is. at_theirs: whether it shares the neighbours of a table with as many inputs."""
    if isinstance(mechanism, Kernel):
        adjacent = (NEAR if bound.side == "upper" else FAR) if stated else ""
    else:
        adjacent = PAIRS if not isinstance(mechanism, KaryResponse) and (mechanism.adjacent is not None or stated) else ""
    if adjacent:
        yield adjacent
    elif bound.side == "lower" and not at_theirs:
        yield ANY
