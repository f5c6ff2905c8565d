"""Parts at one pair of neighbours of a space (theory#joint-neighbours), and whether a query tells the order of the worst pair."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from dpverify.trusted.kernel.model import Part, Product, Sum, Translation

Vector = tuple[Fraction, ...]
Space = tuple[str, int, str]
"""What neighbours are of: ("records", columns, adjacency), or ("inputs", rows, "")."""
Choice = tuple[tuple[Space, Vector], ...]
"""For each space a pair of neighbours: the difference of the histograms, or the numbers of the two inputs."""


@dataclass(frozen=True, slots=True)
class OnePair(Part):
    """A part at one pair of neighbours of a space: additive noise with a query of one column, or a finite mechanism at two of its inputs.

    pair: the two inputs, that of the first distribution first.
    """

    pair: tuple[int, int] = (0, 0)
    space: Space = ("", 0, "")


def is_told(part: Part) -> bool:
    """Whether the order of a part's worst pair matters and the part's query tells it, or may."""
    noise, query = part.mechanism, part.query
    if not isinstance(noise, Translation | Product | Sum) or query is None or query.adjacency != "add-remove":
        return False
    columns = set(zip(*query.rows, strict=True))
    if all(tuple(-x for x in column) in columns for column in columns):
        return False
    from dpverify.trusted.combinators.densities import even

    return not even(noise)


def joined(pairs: Iterable[tuple[int, int]], steps: int) -> dict[int, set[int]]:
    """For each input that stands in pairs of neighbours those that are at most so many steps away."""
    near: dict[int, set[int]] = {}
    for a, b in pairs:
        near.setdefault(a, {a}).add(b)
        near.setdefault(b, {b}).add(a)
    reached = {a: {a} for a in near}
    for _ in range(min(steps, len(near))):  # more reach nothing new
        reached = {a: set().union(*(near[b] for b in those)) for a, those in reached.items()}
    return reached
