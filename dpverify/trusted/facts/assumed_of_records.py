"""What a bound takes for granted of mechanisms that speak of records themselves: what neighbours, or users, do to their data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dpverify.trusted.kernel.bounds import Bound
from dpverify.trusted.kernel.model import CorrelatedNoise, NoisyVotes, SmoothSensitivity

CONTRIBUTED: Final = "a user contributes at the stated steps alone, to each a vector no longer than the sensitivity in l2"
TOGETHER: Final = "some user contributes at any stated steps vectors on one line, as long as the sensitivity"
SAMPLED: Final = "each record is in one group, and each step of the group takes it by itself with the stated probability"
WITHIN: Final = "neighbours' answers differ by at most the sensitivity times the smaller scale, the logarithms of their scales by the bound"
REACHED: Final = "neighbours occur with all answers and scales that the sensitivity and the bound of the scale allow, in either order"
ONE_DATABASE: Final = (
    "the votes are those of one database, and what is said is of it alone: it is private itself, for other votes have other numbers"
)
ANY_VOTER: Final = "whichever vote is changed in one list, a vote of the same voter may be any in the others"


def of_records(mechanism: CorrelatedNoise | SmoothSensitivity | NoisyVotes, bound: Bound) -> Iterator[str]:
    """The lines, by the side that needs them."""
    if isinstance(mechanism, CorrelatedNoise):
        yield CONTRIBUTED if bound.side == "upper" else TOGETHER
        yield from (SAMPLED,) * (mechanism.rate is not None)
    elif isinstance(mechanism, SmoothSensitivity):
        yield WITHIN if bound.side == "upper" else REACHED
    else:
        yield ONE_DATABASE
        yield from (ANY_VOTER,) * (bound.side == "lower" and len(mechanism.votes) > 1)
