"""Points of products of lists, the simplest first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any


def diagonally(grids: Sequence[Sequence[Fraction]]) -> Iterator[tuple[Fraction, ...]]:
    """The points of a product of lists, those near all the lists' beginnings first; no more of them are made than are asked for."""
    if not all(grids):
        return
    reach = [sum(len(grid) - 1 for grid in grids[place:]) for place in range(len(grids) + 1)]
    for total in range(reach[0] + 1):
        begun: list[tuple[int, int, Any]] = [(0, total, None)]  # how many are chosen, what is left of the distance, and the choice
        while begun:
            place, left, chosen = begun.pop()
            if place == len(grids):
                yield _unlinked(chosen)
                continue
            steps = range(max(0, left - reach[place + 1]), min(left, len(grids[place]) - 1) + 1)
            begun += [(place + 1, left - step, (chosen, grids[place][step])) for step in reversed(steps)]


def _unlinked(chosen: Any) -> tuple[Fraction, ...]:
    """The values of a chain of pairs, the first chosen first."""
    values = []
    while chosen is not None:
        chosen, value = chosen
        values.append(value)
    return tuple(reversed(values))
