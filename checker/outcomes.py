"""Compositions of finite pairs: how often which outcome comes (docs/theory/composition.md, finite and optimal composition)."""

from functools import lru_cache, reduce
from itertools import product
from math import comb, prod

import intervals as iv
from algebra import ONE, Fraction, add, constant, mul, scale, sub, whole_power
from finite import Table
from intervals import Interval, exp, point
from pairs import FIELD, ZERO, Pair, above, finite, near
from terms import sure

FEW, ATOMS = 400, 30


def counts(total, kinds):
    """The ways to divide so many runs among so many outcomes."""
    if kinds == 1:
        return [(total,)]
    return [(n, *rest) for n in range(total + 1) for rest in counts(total - n, kinds - 1)]


def ways(numbers):
    """How many orders such counts have."""
    left, found = sum(numbers), 1
    for n in numbers:
        found, left = found * comb(left, n), left - n
    return found


def both(a, b):
    """The product of two intervals, or forms."""
    return a * b if isinstance(a, Interval) else mul(a, b)


def shuffled(q, part, pair):
    """docs/theory/composition.md#shuffled-histograms: the laws of the histograms of what people tell, for all that the others may have."""
    sure(part.kind == "table" and part.part["times"] == "1" and q.factor == ONE and pair is not None, "a shuffle of other than tables")
    rows, n = Table(part).rows, q.count(q.mechanism["people"])
    sure(n.keys() == {()} and all(p.keys() <= {()} for row in rows for p in row), "numbers that are parameters, or not rational")
    others = int(n[()]) - 1
    told = [[p.get((), Fraction(0)) for p in row] for row in rows]
    size = comb(others + len(rows) - 1, others) * comb(others + len(told[0]), others + 1)
    sure(size <= FEW**2 // 8, "too many people")
    found, blank = [], tuple([0] * len(told[0]))
    for had in counts(others, len(rows)):
        law = {blank: Fraction(1)}
        for row, times in zip(told, had, strict=True):
            for _ in range(times):
                law = added(law, row)
        laws = [added(law, told[x]) for x in pair]
        seen = sorted(laws[0].keys() | laws[1].keys())
        found.append(finite([tuple(constant(law.get(h, 0)) for law in laws) for h in seen]))
    return found


def added(law, row):
    """The law of a histogram to which one more tells an output."""
    total = {}
    for (histogram, chance), (y, p) in product(law.items(), enumerate(row)):
        at = tuple(x + (i == y) for i, x in enumerate(histogram))
        total[at] = total.get(at, Fraction(0)) + chance * p
    return {at: p for at, p in total.items() if p}


def composed(listed):
    """The pair of a composition of finite pairs, each so often."""
    kinds = [counts(n, len(pair.atoms)) for pair, n in listed]

    def law(side, one, times, power):
        """The probabilities of all counts."""
        each = []
        for (pair, n), numbers in zip(listed, kinds, strict=True):
            powers = [[power(atom[side], k) for k in range(n + 1)] for atom in pair.atoms]
            each.append([times(reduce(both, map(list.__getitem__, powers, c), one), ways(c)) for c in numbers])
        return [reduce(both, chosen) for chosen in product(*each)]

    @lru_cache
    def near_laws(_):
        return [law(side, point(1), lambda x, n: x * point(n), lambda p, k: near(p) ** k) for side in (0, 1)]

    @lru_cache
    def laws():
        return [law(side, ONE, scale, whole_power) for side in (0, 1)]

    def profile(eps):
        odds = exp(eps)
        return sum((above(p - odds * q) for p, q in zip(*near_laws(iv.DOWN.prec), strict=True)), ZERO)

    def closed(eps):
        odds = FIELD.exp(eps)
        terms = [sub(p, mul(odds, q)) for p, q in zip(*laws(), strict=True)]
        return add(*(t for t in terms if not FIELD.at_most(t, {})))

    few = prod(map(len, kinds)) <= FEW
    if prod(map(len, kinds)) <= ATOMS:
        return finite(list(zip(*laws(), strict=True)))
    return Pair(profile, all(pair.alike for pair, _ in listed), closed=closed if few else None, parts=listed)
