"""Compositions of finite pairs: how often which outcome comes (docs/theory/composition.md, finite and optimal composition)."""

from functools import lru_cache, reduce
from itertools import product
from math import comb, prod

import intervals as iv
from algebra import ONE, add, mul, scale, sub, whole_power
from intervals import Interval, exp, point
from pairs import FIELD, ZERO, Pair, above, finite, near

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
