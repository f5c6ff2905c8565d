"""What a bound takes for granted of the answers that a selection compares."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from dpverify.trusted.facts.assumed_of_moves import of_integers
from dpverify.trusted.kernel.bounds import Bound
from dpverify.trusted.kernel.model import ONE_WAY, Part, Selection

EACH_MOVES: Final = "each answer that is compared moves by at most the stated sensitivity"
IN_HULL: Final = "answers of neighbours differ by points of the stated hull, or by their opposites, times the stated sensitivity"
MOVED_WHOLLY: Final = "answers of every size occur, and neighbours move each by the whole sensitivity, in the direction that is worst"
MOVED_WITHIN: Final = (
    "answers at the bounds occur, and neighbours move each as far as sensitivity and bounds let them, in the worst direction"
)
ONE_ORDER: Final = "what is claimed is a guarantee for one order of the data alone, that of the answers before they rise, or fall"
BETWEEN: Final = "answers lie between the stated bounds"


def of_selection(mechanism: Selection, part: Part, bound: Bound, further: Iterable[str]) -> Iterator[str]:
    """further: what is assumed of neighbours that are several steps apart."""
    each = EACH_MOVES if mechanism.neighbours != "hull" else IN_HULL
    yield each if bound.side == "upper" else MOVED_WHOLLY if mechanism.bounds is None else MOVED_WITHIN
    yield from of_integers(part)
    yield from (BETWEEN,) if mechanism.bounds is not None else ()
    yield from further
    yield from (ONE_ORDER,) if mechanism.neighbours in ONE_WAY else ()
