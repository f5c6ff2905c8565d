"""The probability that comparisons of noises on the integers hold, by sums over the integers of a few of them (theory#every-word)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from math import lcm, prod

from flint import arb, arb_poly

from dpverify.trusted.theories.selection.noise_laws import Whole
from dpverify.trusted.theories.selection.word_chances import Noise, Row

Given = Mapping[Noise, int]
"""What is known beside the noises: answers, and numbers that are told."""
Ends = tuple[int | None, int | None]
"""Between which a noise is, None for infinity."""
Mixed = tuple[Sequence[tuple[int, int]], Noise | None, int, int]
"""A row: the places of pivots with their multiples, the other noise with its, and what is beside."""


def in_integers(row: Row) -> tuple[Given, int]:
    """Multiples that are integers, and a number, of which the sum is at least 0 where the row holds with integers."""
    scale = lcm(*(x.denominator for x in row.of.values()))
    rest = row.rest * scale
    return {key: int(x * scale) for key, x in row.of.items()}, rest.__ceil__() - 1 if row.strict else rest.__floor__()


def greatest_of(law: Whole, i: int, q: Sequence[int], at_random: bool, spend: Callable[[int], None] = lambda _: None) -> arb:
    """That one answer is the greatest with noise, by the sum over its places. at_random: which of several is told, else the first."""
    found = law.beyond()
    spend(len(law.likely) * len(q))
    for n, mass in law.likely:
        gaps = [n + q[i] - x + (j > i and not at_random) for j, x in enumerate(q) if j != i]
        if at_random:  # in a random order what stands at u in [0, 1] wins those of the same place that stand after it
            over = prod((arb_poly([law.at(gap)[0], law.between(gap, gap)]) for gap in gaps), start=arb_poly([1])).integral()
            found += mass * over(arb(1))
        else:
            found += mass * prod((law.at(gap)[0] for gap in gaps), start=arb(1))
    return found


class Together:
    """Rows that share noises. Given the pivots each row has one other noise at most."""

    def __init__(self, rows: Sequence[tuple[Given, int]], noises: Mapping[Noise, Whole], spend: Callable[[int], None]) -> None:
        self._rows, self._laws, self._spend = rows, noises, spend
        pivots: list[Noise] = []
        while crowded := [keys for of, _ in rows if len(keys := (of.keys() & noises.keys()) - set(pivots)) > 1]:
            every = sorted(key for keys in crowded for key in keys)
            pivots.append(max(dict.fromkeys(every), key=every.count))
        self._pivots = pivots
        self._others = [next((key for key in of if key in noises and key not in pivots), None) for of, _ in rows]
        self._needed = sorted({key for of, _ in rows for key in of} - noises.keys())
        self._found: dict[tuple[int, ...], arb] = {}

    def chance(self, given: Given) -> arb:
        """That all of them hold."""
        place = tuple(given[key] for key in self._needed)
        if place not in self._found:
            self._found[place] = self._summed(given)
        return self._found[place]

    def _summed(self, given: Given) -> arb:
        rests = [rest + sum(of[key] * given[key] for key in self._needed if key in of) for of, rest in self._rows]
        alone: dict[Noise, Ends] = dict.fromkeys(self._pivots, (None, None))
        mixed: list[Mixed] = []
        for (of, _), other, rest in zip(self._rows, self._others, rests, strict=True):
            weights = [(place, of[key]) for place, key in enumerate(self._pivots) if key in of]
            if other is None and not weights and rest < 0:
                return arb(0)
            if other is None and len(weights) == 1:
                place, factor = weights[0]
                alone[self._pivots[place]] = _narrowed(alone[self._pivots[place]], factor, rest)
            elif other is not None or weights:
                mixed.append((weights, other, 0 if other is None else of[other], rest))
        places = [[one for one in self._laws[key].likely if _inside(one[0], alone[key])] for key in self._pivots]
        self._spend(prod(map(len, places)))
        found = arb(0)
        for values in product(*places):
            if (ends := _ends(mixed, [n for n, _ in values])) is not None:
                inside = prod((self._laws[key].between(*end) for key, end in ends.items()), start=arb(1))
                found += prod((p for _, p in values), start=inside)
        return found + sum((self._laws[key].beyond(*alone[key]) for key in self._pivots), arb(0))


def _ends(mixed: Sequence[Mixed], values: Sequence[int]) -> dict[Noise, Ends] | None:
    """Between which the other noises are, at values of the pivots; None where a row without one does not hold."""
    ends: dict[Noise, Ends] = {}
    for inside, other, factor, rest in mixed:
        total = rest
        for place, weight in inside:
            total += weight * values[place]
        if other is not None:
            ends[other] = _narrowed(ends.get(other, (None, None)), factor, total)
        elif total < 0:
            return None
    return ends


def _narrowed(ends: Ends, factor: int, rest: int) -> Ends:
    """Where beside these the multiple of an integer with the rest is at least 0."""
    low, high = ends
    if factor > 0:
        return max(-(rest // factor), -(rest // factor) if low is None else low), high
    return low, min(rest // -factor, rest // -factor if high is None else high)


def _inside(n: int, ends: Ends) -> bool:
    return (ends[0] is None or n >= ends[0]) and (ends[1] is None or n <= ends[1])
