"""The laws of histograms: how many of n people tell each output, in integers (theory#shuffled-histograms)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, combinations, pairwise
from math import comb, lcm
from typing import Final

from flint import arb, ctx, fmpq, fmpz_poly

from dpverify.trusted.kernel.balls import precision
from dpverify.trusted.kernel.model import Matrix

_GUARD: Final = 64
Split = tuple[int, ...]
"""How many of the others have each record."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """Two laws on finitely many outputs, in units: outputs in the order in which the first has less and less of the second's weight.

    terms: the two weights of each output. before: the sums of those before it, and of all.
    """

    terms: tuple[tuple[int, int], ...]
    before: tuple[tuple[int, int], ...]

    def gained(self, factor: arb, back: bool) -> arb:
        """The sum of (p - factor q)_+, in units: of all outputs before one, and of those after it until none is left that may count.

        back: p and q in each other's place, and so the outputs from the last on.
        """

        def differ(weights: tuple[int, int]) -> arb:
            p, q = reversed(weights) if back else weights
            return p - factor * q

        low, high = 0, len(self.terms)
        at = range(high)[::-1] if back else range(high)
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if differ(self.terms[at[middle]]) > 0 else (low, middle)
        (p, q), (first, second) = self.before[len(at) - low if back else low], self.before[-1]
        total = differ((first - p, second - q) if back else (p, q))
        for place in at[low:]:
            more = differ(self.terms[place])
            if more <= 0:
                break
            total += more.max(arb(0))
        return total

    def alone(self, back: bool) -> int:
        """The weight of the outputs that the first law alone has, or the second."""
        return sum(int(weights[back]) for weights in self.terms if not weights[not back])


@dataclass(frozen=True, slots=True)
class Histograms:
    """Every two laws of what is told, all of the same weight. orders: which of the two may be the first, and which is."""

    laws: tuple[Ranked, ...]
    weight: int
    orders: tuple[bool, ...] = (False, True)

    @property
    def alone(self) -> arb:
        """The greatest probability of what the first of two laws alone has."""
        return arb(max((law.alone(back) for law in self.laws for back in self.orders), default=0)) / self.weight

    def divergence(self, epsilon: arb) -> arb:
        """The greatest H at an exact epsilon."""
        with precision(ctx.prec + _GUARD):
            factor, greatest = epsilon.exp(), arb(0)
            for law in self.laws:
                for back in self.orders:
                    greatest = greatest.max(law.gained(factor, back))
            return greatest / self.weight


def splits(others: int, records: int) -> Iterator[Split]:
    """All numbers of others with each record."""
    for cut in combinations(range(others + records - 1), records - 1):
        yield tuple(high - low - 1 for low, high in pairwise((-1, *cut, others + records - 1)))


def size(rows: Matrix, people: int) -> int:
    """A bound of how many coefficients all laws have together."""
    return comb(people - 1 + len(rows) - 1, len(rows) - 1) * (people + 1) ** (len(rows[0]) - 1) * len(rows)


@lru_cache(maxsize=2)
def histograms(rows: Matrix, people: int) -> dict[Split, list[fmpz_poly]]:
    """For every split of the others, the law of what is told with each record of the one, in units of weight(rows)^people.

    The exponent of a coefficient has how many tell each output but the first as its digits to the base of people + 1.
    """
    unit, base = weight(rows), people + 1
    told = list[fmpz_poly]()
    for row in rows:
        law = fmpz_poly([0])
        for y, entry in enumerate(row):
            law += int(entry * unit) * fmpz_poly([0] * (base ** (y - 1) if y else 0) + [1])
        told.append(law)
    powers = [[fmpz_poly([1])] for _ in told]
    for law, known in zip(told, powers, strict=True):
        for _ in range(people - 1):
            known.append(known[-1] * law)
    found = dict[Split, list[fmpz_poly]]()
    for split in splits(people - 1, len(rows)):
        rest = fmpz_poly([1])
        for count, known in zip(split, powers, strict=True):
            rest *= known[count]
        found[split] = [rest * law for law in told]
    return found


def weight(rows: Matrix) -> int:
    """The least common denominator of the probabilities."""
    return lcm(*(entry.denominator for row in rows for entry in row))


def ranked(first: fmpz_poly, second: fmpz_poly) -> Ranked:
    """Two laws by their coefficients, ranked exactly."""
    terms = [(int(first[i]), int(second[i])) for i in range(max(first.length(), second.length()))]
    terms = sorted((term for term in terms if any(term)), key=lambda term: fmpq(term[1], term[0] + term[1]))
    return Ranked(tuple(terms), ((0, 0), *accumulate(terms, lambda sums, term: (sums[0] + term[0], sums[1] + term[1]))))
