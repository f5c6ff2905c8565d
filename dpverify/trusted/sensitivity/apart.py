"""Answers of neighbours that do not differ by an integer, which noise on the integers does not hide (theory#cosets)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from dpverify.trusted.kernel.model import Mechanism, Query, on_integers


@dataclass(frozen=True, slots=True)
class Apart:
    """Two neighbours whose answers differ by `moved`, which is no integer. histograms: the name of what the two are, with its numbers."""

    moved: Fraction
    histograms: Mapping[str, str]


def off_the_integers(noise: Mechanism, query: Query | None) -> Apart | None:
    """Neighbours whose answers do not differ by an integer, for noise on the integers; None where there are none.

    Histograms under "l1" and "l2" are real-valued, so that every answer that moves at all moves by half of 1 or less too.
    """
    if query is None or not on_integers(noise):
        return None
    (row,) = query.rows
    if query.adjacency == "replace":
        broken = next((j for j, x in enumerate(row) if (x - row[0]).denominator != 1), None)
        if broken is None:
            return None
        return Apart(row[broken] - row[0], {"says": "one-record-replaced", "type": str(broken + 1)})
    broken = next((i for i, x in enumerate(row) if x.denominator != 1), None)
    if broken is not None:
        return Apart(row[broken], {"says": "one-record-more", "type": str(broken + 1)})
    moving = next((i for i, x in enumerate(row) if x != 0), None)
    if query.adjacency == "add-remove" or moving is None:
        return None
    half = 1 / (2 * abs(row[moving]))
    return Apart(row[moving] * half, {"says": "part-of-a-record", "by": str(half), "type": str(moving + 1)})
