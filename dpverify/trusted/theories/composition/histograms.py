"""The laws of histograms: how many of n people tell each output, in integers (theory#shuffled-histograms)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cmp_to_key, lru_cache
from itertools import accumulate, combinations, pairwise
from math import comb, lcm

from flint import arb, fmpz_poly

from dpverify.trusted.kernel.model import Matrix

_Point = tuple[int, int]
Split = tuple[int, ...]
"""How many of the others have each record."""


@dataclass(frozen=True, slots=True)
class Gains:
    """The greatest of the curves of several two laws: the greatest P(S) for each Q(S), a polygon that is concave, in units of 1/weight.

    terms: by how much P and Q grow along its edges, ever less of P for Q. corners: where these begin, and the end.
    """

    terms: tuple[_Point, ...]
    corners: tuple[_Point, ...]
    weight: int

    @property
    def alone(self) -> arb:
        """The greatest probability of what the first of two laws alone has."""
        return arb(self.terms[0][0] if self.terms and not self.terms[0][1] else 0) / self.weight

    def divergence(self, epsilon: arb) -> arb:
        """The greatest H at an exact epsilon: along all edges that certainly gain, and at most along those that may."""
        factor, low, high = epsilon.exp(), 0, len(self.terms)
        while low < high:
            middle = (low + high) // 2
            p, q = self.terms[middle]
            low, high = (middle + 1, high) if p - factor * q > 0 else (low, middle)
        p, q = self.corners[low]
        total = p - factor * q
        for p, q in self.terms[low:]:
            if p - factor * q <= 0:
                break
            total += (p - factor * q).max(arb(0))
        return total / self.weight


def gains(laws: Iterable[tuple[fmpz_poly, fmpz_poly]], weight: int) -> Gains:
    """Of every two laws, by their coefficients in units of 1/weight."""
    corners: list[_Point] = [(0, 0)]
    for first, second in laws:
        both = ((int(first[i]), int(second[i])) for i in range(max(first.length(), second.length())))
        terms = [term for term in both if any(term)]
        terms.sort(key=cmp_to_key(_later))
        corners = _hull({*corners, *zip(accumulate(p for p, _ in terms), accumulate(q for _, q in terms), strict=True)})
    terms = [(after[0] - before[0], after[1] - before[1]) for before, after in pairwise(corners)]
    return Gains(tuple(terms), tuple(corners), weight)


def _later(one: _Point, other: _Point) -> int:
    """Above 0 where the first has less of P for its Q."""
    return one[1] * other[0] - other[1] * one[0]


def _hull(points: Iterable[_Point]) -> list[_Point]:
    """Those points (P, Q) of which no mean of others has more P for the same Q, by Q; the first is the origin."""
    kept = list[_Point]()
    for p, q in sorted(points, key=lambda point: (point[1], point[0])):
        while len(kept) > 1:
            (p0, q0), (p1, q1) = kept[-2:]
            if (p - p0) * (q1 - q0) < (p1 - p0) * (q - q0):
                break
            kept.pop()
        kept.append((p, q))
    return kept


def splits(others: int, records: int) -> Iterator[Split]:
    """All numbers of others with each record."""
    for cut in combinations(range(others + records - 1), records - 1):
        yield tuple(high - low - 1 for low, high in pairwise((-1, *cut, others + records - 1)))


def size(rows: Matrix, people: int) -> int:
    """A bound of how many coefficients all laws have together."""
    told: int = (people + 1) ** (len(rows[0]) - 1)
    return comb(people - 1 + len(rows) - 1, len(rows) - 1) * told * len(rows)


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


@lru_cache(maxsize=2)
def every(rows: Matrix, pairs: tuple[tuple[int, int], ...], people: int) -> Gains:
    """Of all two laws that neighbours may have, in both orders. pairs: of rows."""
    orders = (*pairs, *((j, i) for i, j in pairs))
    return gains(((laws[i], laws[j]) for laws in histograms(rows, people).values() for i, j in orders), weight(rows) ** people)
