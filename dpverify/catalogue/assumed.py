"""What verdicts take for granted, in plain words: one label for each assumption, wherever people read it."""

from __future__ import annotations

from typing import Final

from dpverify.trusted.facts.assumed_of_moves import WHOLE_ATTAINED
from dpverify.trusted.kernel import assumptions as known

TIGHTNESS: Final = "(tightness only) "
UPPER: Final = "(upper bound only) "
EQUALITY: Final = "(equality only) "
ASIDE: Final = (TIGHTNESS, UPPER, EQUALITY)
"""What marks an assumption on which something else than the verdict rests."""
_SIDES: Final = {"for the lower bound: ": TIGHTNESS, "for the upper bound: ": UPPER, "for the equalities shown: ": EQUALITY}
_LABELS: Final = {
    known.IDEAL: "the implementation samples exactly from the declared distribution",
    known.ATTAINED: "some neighbouring inputs differ by exactly the sensitivity",
    known.TURNED: "some neighbouring inputs differ by exactly the sensitivity, in the worst direction",
    WHOLE_ATTAINED: "some neighbouring counts differ by floor(sensitivity)",
    known.EVERY: "neighbouring inputs differ by every distance up to the sensitivity, in every direction",
    known.ONWARD: "neighbours of neighbours move the answer on in the same direction",
    "answers at the stated distance occur": "the stated distance is attained",
}


def plain(assumption: str) -> str:
    """The label of an assumption; what has none stays as it is."""
    for side, mark in _SIDES.items():
        if assumption.startswith(side):
            return mark + plain(assumption.removeprefix(side))
    return _LABELS.get(assumption, assumption)


def bare(assumption: str) -> str:
    """A label without the mark that tells what rests on it."""
    for mark in ASIDE:
        assumption = assumption.removeprefix(mark)
    return assumption
