"""What a bound takes for granted of answers that are integers, or functions that differ by stated ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dpverify.trusted.kernel.bounds import Side
from dpverify.trusted.kernel.compare import certainly_lt
from dpverify.trusted.kernel.expr import ONE, call, format_expr, symbols
from dpverify.trusted.kernel.integers import is_whole
from dpverify.trusted.kernel.model import Part, on_integers

WHOLE: Final = "answers are integers"
WHOLE_ATTAINED: Final = "some pair of inputs is apart by the greatest integer within the sensitivity"
DIFFER: Final = "answers of neighbours differ by a stated function, by its negative, or by a weighted mean of such"
DIFFERED: Final = "answers of some pair of inputs differ by each of the stated functions"


def of_moves(part: Part, side: Side, usual: str) -> Iterator[str]:
    """Of noise on the integers, or under stated differences. usual: what is assumed of an upper bound for other noise."""
    if not on_integers(part.mechanism):
        yield DIFFER if side == "upper" else DIFFERED
    elif side == "upper":
        yield usual
        yield from of_integers(part)
    else:
        yield WHOLE_ATTAINED


def of_integers(part: Part) -> Iterator[str]:
    """That answers are integers, of noise on these; and what that makes of a sensitivity that is none."""
    moved = part.sensitivity
    if not on_integers(part.mechanism):
        return
    if moved is None or symbols(moved) or is_whole(moved, {}):
        yield WHOLE
        return
    from dpverify.trusted.sensitivity.steps_between import each_by_integers

    if not each_by_integers(part.mechanism):
        yield WHOLE
    elif certainly_lt(moved, ONE):
        yield f"{WHOLE}, so that they do not move by {format_expr(moved)} at all"
    else:
        yield f"{WHOLE}, so that they move by at most {format_expr(call('floor', moved))}"
