"""Parts on disjoint parts of the data: a neighbour changes the data of one of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from flint import arb

from dpverify.trusted.facts.pairs import Curve, Pair, Profile
from dpverify.trusted.language.errors import Rejected
from dpverify.trusted.language.model import Source

NAME: Final = "parallel-composition"
STATEMENT: Final = (
    "If every record is in the data of at most one part, adding or removing one changes the output of that part alone, so the whole "
    "has the greatest of the parts' profiles. A maximum of profiles is convex in e^eps, hence the profile of a pair."
)
CHECKED: Final = ("no part speaks of replacing records, which can change two parts",)
ASSUMED: Final = ("the parts see disjoint parts of the data, and which part a record belongs to depends on the record alone",)
LOWER: Final = "a record that is worst for a part can be in its data"
SOURCE: Final = Source("THEORY", "T13; McSherry 2009, Theorem 4")


def curve(parts: Sequence[Curve], index: int) -> Curve:
    """The curve of parts in parallel; lower is that of the part at `index`. Raises Rejected for an index of no part."""
    if not 0 <= index < len(parts):
        raise Rejected(NAME, "index", "it names no part")
    rules = tuple(dict.fromkeys((NAME, *(rule for part in parts for rule in part.rules))))
    assumed = tuple(dict.fromkeys((*ASSUMED, *(line for part in parts for line in part.assumed))))
    uppers = [part.upper for part in parts if part.upper is not None]
    upper = greatest(uppers) if len(uppers) == len(parts) else None
    return Curve(upper, parts[index].lower, rules, assumed, (LOWER, *parts[index].below))


def greatest(pairs: Sequence[Pair]) -> Pair:
    """The pair of the greatest profiles in each order."""
    if len(pairs) == 1:
        return pairs[0]
    same = all(pair.forward is pair.backward for pair in pairs)
    forward = _greatest([pair.forward for pair in pairs])
    backward = forward if same else _greatest([pair.backward for pair in pairs])
    return Pair(forward, backward, everywhere=all(pair.everywhere for pair in pairs))


def _greatest(profiles: Sequence[Profile]) -> Profile:
    def profile(epsilon: arb) -> arb:
        best = profiles[0](epsilon)
        for other in profiles[1:]:
            best = best.max(other(epsilon))
        return best

    return profile
