"""The probability that comparisons of noises on the integers hold, by sums over the integers of a few of them (theory#every-word)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import lcm, prod

from flint import arb

from dpverify.trusted.language.errors import Rejected
from dpverify.trusted.language.loading import remembered
from dpverify.trusted.language.model import OnLine, Translation
from dpverify.trusted.rules.selection.noise_laws import Whole
from dpverify.trusted.rules.selection.word_chances import Noise, Row

Given = Mapping[Noise, int]
"""What is known beside the noises: answers, and numbers that are told."""
Ends = tuple[int | None, int | None]
"""Between which a noise is, None for infinity."""
Mixed = tuple[Sequence[tuple[int, int]], Noise | None, int, int]
"""A row: the places of pivots with their multiples, the other noise with its, and what is beside."""


class Masses:
    """Noise on the integers, known between two cuts. likely: the integers between them that occur, with their probabilities."""

    def __init__(self, rule: str, noise: OnLine, low: int, high: int) -> None:
        if not isinstance(noise, Translation) or not noise.integers:
            raise Rejected(rule, "the noises", "not all of them live on the integers")
        law, self._low, self._high = Whole(noise, [Fraction(low), Fraction(high)]), low, high
        self._chances = {n: law.chance(n) for n in range(low, high + 1)}
        self._at = {n: law.at(Fraction(n)) for n in range(low, high + 2)}
        self.likely = [(n, mass) for n, mass in self._chances.items() if not mass.is_zero()]

    def at(self, n: int) -> tuple[arb, arb]:
        """The probabilities of less than an integer, and of no less."""
        if n in self._at:
            return self._at[n]
        if n < self._low:
            below = arb(0).union(self._at[self._low][0])
            return below, 1 - below
        above = arb(0).union(self._at[self._high + 1][1])
        return 1 - above, above

    def between(self, low: int | None, high: int | None) -> arb:
        """Of what is no less than the one and no more than the other, None for infinity."""
        if low is None:
            return arb(1) if high is None else self.at(high + 1)[0]
        if high is None:
            return self.at(low)[1]
        if low == high and low in self._chances:
            return self._chances[low]
        (below, above), (below_end, above_end) = self.at(low), self.at(high + 1)
        # what is less is known to more of its digits
        return arb(0) if low > high else (above - above_end if low > 0 else below_end - below).max(arb(0))

    def beyond(self, low: int | None = None, high: int | None = None) -> arb:
        """Of what is outside of the cuts, but not of these ends."""
        left = arb(0) if low is not None and low >= self._low else self.at(self._low)[0]
        return left if high is not None and high <= self._high else left + self.at(self._high + 1)[1]


@remembered(8)
def masses(rule: str, noise: OnLine, low: int, high: int, _: int) -> Masses:
    """Those of a noise, made once for each working precision."""
    return Masses(rule, noise, low, high)


def in_integers(row: Row) -> tuple[Given, int]:
    """Multiples that are integers, and a number, of which the sum is at least 0 where the row holds with integers."""
    scale = lcm(*(x.denominator for x in row.of.values()))
    rest = row.rest * scale
    return {key: int(x * scale) for key, x in row.of.items()}, rest.__ceil__() - 1 if row.strict else rest.__floor__()


class Together:
    """Rows that share noises. Given the pivots each row has one other noise at most."""

    def __init__(self, rows: Sequence[tuple[Given, int]], noises: Mapping[Noise, Masses], spend: Callable[[int], None]) -> None:
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
        beyond = sum((self._laws[key].beyond(*alone[key]) for key in self._pivots), arb(0))
        return found + arb(0).union(beyond.upper()) if self._pivots else found


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
