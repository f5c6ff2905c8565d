"""The law of a mechanism as a formula: the distribution of its output y on input x, for every kind.

What a kind's formula is stands in its declaration; here combinators are laid out with their parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from dpverify.catalogue import kinds
from dpverify.catalogue.formulas.boxes import Box, Lines, Number, Op, Sub, Sup, Words, comma, row
from dpverify.catalogue.formulas.pieces import EQUAL, MOST_ENTRIES, M
from dpverify.catalogue.formulas.typeset import raised, typeset
from dpverify.trusted.kernel.expr import ONE
from dpverify.trusted.kernel.model import Mechanism, Part, once, parts_of

MOST_LINES: Final = 20
"""As many lines as a combinator and its parts take, at every depth together."""

Path = tuple[int, ...]
"""Where a part stands: its number, after those of the parts that it is in."""


def law(mechanism: Mechanism) -> Box:
    """The law of a mechanism as a box: the formula, and what it holds under."""
    if parts_of(mechanism):
        lines = list(_structure(mechanism, ()))
        left = len(lines) - MOST_LINES
        return Lines((*lines[:MOST_LINES], *((Words(f"and {left} more parts"),) if left > 0 else ())))
    said = tuple(kinds.of(mechanism).formula(mechanism))
    # below each other where there are several, so that it fits a narrow page
    return comma(*said) if len(said) <= 2 else Lines(said)


def _structure(mechanism: Mechanism, path: Path, said: tuple[Box, ...] = ()) -> Iterator[Box]:
    """What a combinator does on one line, and its parts on those below. said: what is said of it as a part itself."""
    does, *where = kinds.of(mechanism).formula(mechanism, _runs(parts_of(mechanism), path))
    yield comma(row(_name(path), EQUAL, does), *where, *said)
    for index, (part, _) in enumerate(map(once, parts_of(mechanism)), 1):
        place = (*path, index)
        if parts_of(part.mechanism):
            yield from _structure(part.mechanism, place, tuple(_moves(part)))
        else:
            yield row(_name(place), Op(":"), comma(*kinds.of(part.mechanism).formula(part.mechanism), *_moves(part)))


def _moves(part: Part) -> Iterator[Box]:
    """What a part's answer moves by between neighbours."""
    if part.query is not None:
        count = len(part.query.rows)
        yield Words(f"{count} linear {'query' if count == 1 else 'queries'}, {part.query.adjacency} neighbours")
    elif part.sums is not None:
        count = len(part.sums.terms)
        yield Words(f"{count} {'sum' if count == 1 else 'sums'} over records, {part.sums.adjacency} neighbours")
    elif part.sensitivity is not None:
        yield row(Words("sensitivity "), typeset(part.sensitivity))


def _name(path: Path) -> Box:
    return Sub(M, Number(".".join(map(str, path)))) if path else M


def _runs(parts: Sequence[Part], path: Path) -> list[Box]:
    """Each part's name, raised to how many times it is run."""
    names = [(_name((*path, index)), once(part)[1]) for index, part in enumerate(parts[:MOST_ENTRIES], 1)]
    runs = [name if times == ONE else Sup(name, row(Op("∘", prefix=True), raised(times))) for name, times in names]
    return [*runs, *([Words("…")] if len(parts) > MOST_ENTRIES else [])]
