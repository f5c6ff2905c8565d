"""Parts on disjoint parts of the data: a neighbour changes the data of one of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from flint import arb

from dpverify.curves.base import Curve, Pair, Profile
from dpverify.errors import Rejected
from dpverify.model import Source

NAME: Final = "parallel-composition"
STATEMENT: Final = (
    "If every record is in the data of at most one part, adding or removing one changes the output of that part alone, so the whole "
    "has the greatest of the parts' profiles. A maximum of profiles is convex in e^eps, hence the profile of a pair."
)
CHECKED: Final = ("no part speaks of replacing records, which can change two parts",)
ASSUMED: Final = ("the parts see disjoint parts of the data, and which part a record belongs to depends on the record alone",)
SOURCE: Final = Source("THEORY", "T13; McSherry 2009, Theorem 4")


def curve(parts: Sequence[Curve], index: int) -> Curve:
    """The curve of parts in parallel; lower is that of the part at `index`. Raises Rejected for an index of no part."""
    if not 0 <= index < len(parts):
        raise Rejected(NAME, "index", "it names no part")
    rules = tuple(dict.fromkeys((NAME, *(rule for part in parts for rule in part.rules))))
    assumed = tuple(dict.fromkeys((*ASSUMED, *(line for part in parts for line in part.assumed))))
    uppers = [part.upper for part in parts if part.upper is not None]
    if len(parts) == 1:
        return Curve(parts[0].upper, parts[0].lower, rules, assumed)
    upper = None
    if len(uppers) == len(parts):
        same = all(pair.forward is pair.backward for pair in uppers)
        forward = _greatest([pair.forward for pair in uppers])
        backward = forward if same else _greatest([pair.backward for pair in uppers])
        upper = Pair(forward, backward, everywhere=all(pair.everywhere for pair in uppers))
    return Curve(upper, parts[index].lower, rules, assumed)


def _greatest(profiles: Sequence[Profile]) -> Profile:
    def profile(epsilon: arb) -> arb:
        best = profiles[0](epsilon)
        for other in profiles[1:]:
            best = best.max(other(epsilon))
        return best

    return profile
