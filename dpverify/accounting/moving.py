"""Sums with Gaussian noise to which a record adds at random: how often it is in them is drawn.

Each is a table (pairs.py) of two laws, the one with the record first. `least` is one that bounds from below. All noise is of standard
deviation 1 / sqrt(precision), where the record moves the sum by its number of moves.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Final, NamedTuple

from flint import arb

from dpverify.accounting.pairs import (
    Fineness,
    Law,
    Point,
    Rows,
    at_cut,
    ball,
    both_ways,
    cuts_of,
    dominated,
    dominating,
    down,
    gaussian,
    of_rising_ratio,
    precise,
    ratio_down,
    ratio_up,
    sampled,
    up,
)

_MOST_COPIES: Final = 5_000
_MOST_TERMS: Final = 300
ZERO, ONE = Fraction(0), Fraction(1)


class Moves(NamedTuple):
    """By how much a sum is moved, with which weight, and the precision of its noise: one over the variance."""

    weights: tuple[tuple[Fraction, Fraction], ...]
    precision: Fraction

    @property
    def only(self) -> tuple[Fraction, Fraction] | None:
        """The one move above 0, and its weight, where there are no two."""
        found = [one for one in self.weights if one[0]]
        return found[0] if len(found) == 1 else None

    def sampled(self, rate: Fraction) -> Moves:
        """What is left where the record is in a sample with this probability."""
        return moves([(0 * ONE, 1 - rate), *((moved, rate * weight) for moved, weight in self.weights)], self.precision, least=False)


def moves(weights: Iterable[tuple[Fraction, Fraction]], precision: Fraction, *, least: bool) -> Moves:
    """Moves whose weights have the sum 1: what is too much or too little is taken from, and given to, the safe side."""
    together: dict[Fraction, Fraction] = {}
    for moved, weight in weights:
        together[moved] = together.get(moved, ZERO) + weight
    left = ONE
    found: list[tuple[Fraction, Fraction]] = []
    for moved in sorted(together, reverse=not least):
        taken = min(left, together[moved])
        left -= taken
        found += [(moved, taken)] if taken else []
    if left:
        rest = ZERO if least else max(together)
        found = [(moved, weight + left * (moved == rest)) for moved, weight in found]
        found += [] if any(moved == rest for moved, _ in found) else [(rest, left)]
    return Moves(tuple(sorted(found)), precision)


def of_moves(known: Moves, fine: Fineness, *, least: bool) -> Rows:
    """A sum that the record moves at random, and one without it."""

    def law() -> Law:
        scale = ball(known.precision).sqrt()
        return Law(tuple(ball(weight) for _, weight in known.weights), tuple(ball(moved) * scale for moved, _ in known.weights))

    return of_rising_ratio(law, _still, fine, least=least)


def of_exchange(rate: Fraction, precision: Fraction, fine: Fineness, *, least: bool) -> Rows:
    """A Poisson sample with a record of 1, and with one of -1 in its place."""
    return of_rising_ratio(lambda: _one_way(rate, precision, 1), lambda: _one_way(rate, precision, -1), fine, least=least)


def _still() -> Law:
    return Law((arb(1),), (arb(0),))


def _one_way(rate: Fraction, precision: Fraction, sign: int) -> Law:
    return Law((1 - ball(rate), ball(rate)), (arb(0), sign * ball(precision).sqrt()))


# -- samples that are cut --------------------------------------------------------------------------------------------


class Cut(NamedTuple):
    """A Poisson sample of `others` records and one more, of which at most `batch` are kept."""

    others: int
    rate: Fraction
    batch: int

    def chances(self) -> tuple[arb, arb]:
        """That at least `batch` of the others are drawn, and that then the one more is in the batch."""
        full, drawn = (1 - _at_most(*them) for them in ((self.others, self.rate, self.batch - 1), (self.others + 1, self.rate, self.batch)))
        if not full > 0:  # so rare that nothing is known of it: it always is
            return _between(full), arb(1)
        return full, _between(drawn * self.batch / (self.others + 1) / full)


def of_cut(known: Cut, precision: Fraction, fine: Fineness, *, both: bool) -> Rows:
    """From above. both: a record in the place of another, not one more."""
    with precise(fine):
        scale = ball(precision).sqrt()
        full, rate = known.chances()
        p, q = _one_way(known.rate, precision, 1), _one_way(known.rate, precision, -1) if both else _still()
        further = Law((1 - rate, rate), (arb(0), 2 * scale))
        half = Fineness(fine.outputs // 2, fine.bits)
        points: list[Point] = []
        if both:
            for t in cuts_of((p, q), fine):
                ratio, bound = at_cut(p, q, t, 2 * fine.bits)
                if ratio >= 1:
                    rest = sampled(rate, 2 * scale, ratio)
                    points.append((ratio, up((1 - full) * ball(bound) + full * rest, fine.bits)))
            return dominating(both_ways(points, fine.bits))
        for law in (p, further):
            for t in cuts_of((law, q), half):
                ratio = ratio_up(law.density(t) / q.density(t))
                bound_ = (1 - full) * sampled(ball(known.rate), scale, ratio) + full * sampled(rate, 2 * scale, ratio)
                points.append((ratio, up(bound_, fine.bits)))
        return dominating(points)


def _at_most(trials: int, rate: Fraction, most: int) -> arb:
    """The probability that so many of some trials succeed, or fewer."""
    if most < 0:
        return arb(0)
    if most >= trials or rate == 1:
        return arb(1) if most >= trials else arb(0)
    odds = ball(rate) / (1 - ball(rate))
    chance = (1 - ball(rate)) ** trials
    total = chance
    for successes in range(most):
        chance = chance * (trials - successes) * odds / (successes + 1)
        total += chance
    return total


def _between(value: arb) -> arb:
    """A probability as an enclosure that is one."""
    return value.intersection(arb(0).union(arb(1))) if value.overlaps(arb(0).union(arb(1))) else arb(0).union(arb(1))


def of_crowd(known: Cut, precision: Fraction, fine: Fineness) -> Rows | None:
    """From below: all others move the sum the other way. None where there are too many of them to add up."""
    with precise(fine):
        scale = ball(precision).sqrt()
        full, rate = known.chances()
        if known.batch > _MOST_TERMS or not full > 0:
            return None
        there: list[tuple[arb, arb]] = []
        gone: list[tuple[arb, arb]] = []
        own = ball(known.rate)
        for others in range(known.batch):
            chance = _exactly(known.others, known.rate, others)
            gone.append((chance, -others * scale))
            there += [(chance * (1 - own), -others * scale), (chance * own, (1 - others) * scale)]
        gone.append((full, -known.batch * scale))
        there += [(full * (1 - rate), -known.batch * scale), (full * rate, (2 - known.batch) * scale)]
        p, q = (Law(tuple(weight for weight, _ in law), tuple(centre for _, centre in law)) for law in (there, gone))
        return dominated((up(q.above(t), fine.bits), down(p.above(t), fine.bits)) for t in cuts_of((p, q), fine))


def _exactly(trials: int, rate: Fraction, successes: int) -> arb:
    """The probability that so many of some trials succeed."""
    if successes > trials:
        return arb(0)
    return arb(math.comb(trials, successes)) * ball(rate) ** successes * (1 - ball(rate)) ** (trials - successes)


# -- samples with replacement ----------------------------------------------------------------------------------------


def of_copies(size: int, sample: int, precision: Fraction, fine: Fineness, *, least: bool) -> Rows:
    """A record in a sample that is drawn with replacement, in which all others, and the one in its place, move the sum the other way."""
    with precise(fine):
        chances = _copies(size, sample, fine.bits)
    if least:

        def law() -> Law:
            scale = ball(precision).sqrt()
            weights = [ball(ONE - sum(chances[1:])), *(ball(chance) for chance in chances[1:])]
            return Law(tuple(weights), tuple(2 * copies * scale for copies in range(len(chances))))

        return of_rising_ratio(law, _still, fine, least=True)
    with precise(fine):
        return dominating(both_ways(_of_copies_from_above(chances, precision, fine), fine.bits))


def _copies(size: int, sample: int, bits: int) -> list[Fraction]:
    """At most the probability of 0, 1, 2, ... copies of a record; those that are left out are below a unit."""
    found: list[Fraction] = []
    chance = (1 - ball(Fraction(1, size))) ** sample if size > 1 else arb(int(not sample))
    left = ONE
    for copies in range(min(sample, _MOST_COPIES) + 1):
        if size == 1:
            chance = arb(int(copies == sample))
        found.append(min(left, down(chance, bits + 16)))
        left -= found[-1]
        chance = chance * (sample - copies) / ((copies + 1) * (size - 1)) if size > 1 else chance
        if copies * size > 2 * sample and found[-1] == 0:
            break
    return found


def _of_copies_from_above(chances: list[Fraction], precision: Fraction, fine: Fineness) -> Iterator[Point]:
    """Bounds of the profile at ratios of at least 1.

    At a ratio a it is at most the sum over j of p_j d_j(b_j), for all b_j >= a with sum over j of p_j (b_j - a) <= (a - 1) p_0, where d_j
    is the profile of a sum that is moved j times. The b_j are those that one test would have.
    """
    scale = ball(precision).sqrt()
    none, some = chances[0], [(2 * copies * scale, chance) for copies, chance in enumerate(chances) if copies and chance]
    missing = ONE - sum(chances)
    laws = (Law((arb(1),), (arb(0),)), Law((arb(1),), (2 * scale,)))
    for t in cuts_of(laws, fine):
        there = ((ratio_down((moved * t - moved * moved / 2).exp()), moved, chance) for moved, chance in some)
        each = sorted(there, key=_first, reverse=True)
        ratio = _meeting(none, [(one, chance) for one, _, chance in each])
        shared = (ratio - 1) * none
        total = ball(missing)
        for one, moved, chance in each:
            spare = min(one - ratio, shared / chance)
            above = ratio_down(ball(spare)) if spare > 0 else ZERO
            shared -= above * chance
            total += ball(chance) * gaussian(moved, ball(ratio + above))
        yield ratio, up(total, fine.bits)


def _first(each: tuple[Fraction, arb, Fraction]) -> Fraction:
    return each[0]


def _meeting(none: Fraction, each: list[tuple[Fraction, Fraction]]) -> Fraction:
    """About the a of at least 1 at which the sum of p_j max(b_j - a, 0) is (a - 1) p_0. Any ratio may be looked at; this one is good."""
    total = weight = none
    found = ONE
    for one, chance in each:
        if one <= found:
            break
        total, weight = total + one * chance, weight + chance
        found = total / weight
    return ratio_up(ball(found))
