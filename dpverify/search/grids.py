"""Simple values of a domain, and points of products of lists, the simplest first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from dpverify.trusted.kernel.model import Domain


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


def simple_values(domain: Domain) -> list[Fraction]:
    """A few simple values of a domain."""
    simple = [Fraction(x) for x in ("1", "2", "3", "1/2", "5", "10", "1/10", "100")]
    low, high = domain.lower, domain.upper
    if low is not None and high is not None:
        simple = [low + (high - low) * t for t in (Fraction(1, 2), Fraction(1, 10), Fraction(9, 10), Fraction(1, 4))]
    elif low is not None:
        simple = [low + x for x in ([Fraction(0)] if not domain.lower_open else []) + simple]
    elif high is not None:
        simple = [high - x for x in simple]
    return [x for x in simple if not domain.integer or x.denominator == 1]
