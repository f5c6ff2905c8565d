"""Answers of neighbours that do not differ by an integer, which noise on the integers does not hide (theory#cosets)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpverify.trusted.language.errors import Rejected
from dpverify.trusted.language.model import Mechanism, Query, on_integers
from dpverify.trusted.order.queries import query_faults


@dataclass(frozen=True, slots=True)
class Apart:
    """Two neighbours whose answers differ by `moved`, which is no integer. histograms: the two, in words."""

    moved: Fraction
    histograms: str


def off_the_integers(noise: Mechanism, query: Query | None) -> Apart | None:
    """Neighbours whose answers do not differ by an integer, for noise on the integers; None where there are none.

    Histograms under "l1" and "l2" are real-valued, so that every answer that moves at all moves by half of 1 or less too. Raises Rejected
    for a query that is none.
    """
    if query is None or not on_integers(noise):
        return None
    faults = query_faults(query, 1)
    if faults:
        raise Rejected("sensitivity", "the query", " ".join(faults))
    (row,) = query.rows
    if query.adjacency == "replace":
        broken = next((j for j, x in enumerate(row) if (x - row[0]).denominator != 1), None)
        if broken is None:
            return None
        return Apart(row[broken] - row[0], f"that differ by a record of type {broken + 1} in the place of one of type 1")
    broken = next((i for i, x in enumerate(row) if x.denominator != 1), None)
    if broken is not None:
        return Apart(row[broken], f"with and without a record of type {broken + 1}")
    moving = next((i for i, x in enumerate(row) if x != 0), None)
    if query.adjacency == "add-remove" or moving is None:
        return None
    half = 1 / (2 * abs(row[moving]))
    return Apart(row[moving] * half, f"that differ by {half} at type {moving + 1}")
