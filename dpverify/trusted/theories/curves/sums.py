"""Sums of independent noises: which noises are added, and what the law of their sum on the integers is.

Noise that is added to a sum is a map of the output, so that a sum of fewer noises loses as much or more. A sum with dropouts is decided by
the sums of as few noises as may be left. A sum of log-concave noises on the integers is log-concave.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from math import prod
from typing import Final

from flint import arb

from dpverify.trusted.kernel.errors import ExprError, Rejected, Undecided, require
from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, Num, add, format_expr, mul, num, symbols
from dpverify.trusted.kernel.loading import remembered
from dpverify.trusted.kernel.model import OnLine, Sum, Summand, Translation
from dpverify.trusted.language.whole_laws import EVEN, LAWS, Known, known, turned
from dpverify.trusted.numbers.circle import Circle
from dpverify.trusted.numbers.convolution import Convolution
from dpverify.trusted.numbers.each_precision import per_precision
from dpverify.trusted.numbers.lattice_sums import term
from dpverify.trusted.numbers.noise import domain
from dpverify.trusted.theories.curves.integers import Masses, Shape, steepest
from dpverify.trusted.theories.curves.unimodal import INFINITY, Hints, read

WHAT: Final = "the sum"
_MOST_TIMES: Final = 10**6
_MOST_WAYS: Final = 64
"""The most ways to leave noises out that are looked at."""


# -- which noises are added ----------------------------------------------------------------------------


def number(expr: Expr, least: int) -> int:
    """A count that is a number. Raises Rejected."""
    if not isinstance(expr, Num) or expr.value.denominator != 1 or not least <= expr.value <= _MOST_TIMES:
        raise Rejected(WHAT, "times", f"{format_expr(expr)} is no integer from {least} to {_MOST_TIMES}, as a sum wants its counts")
    return int(expr.value)


def added(noise: OnLine, times: int = 1) -> Iterator[tuple[OnLine, int]]:
    """The noises that a sum without dropouts is of, with how many there are of each."""
    if not isinstance(noise, Sum):
        yield noise, times
        return
    if noise.dropouts != ZERO:
        raise Rejected(WHAT, "dropouts", "it stands where one law is wanted, and has several")
    for part in noise.parts:
        yield from added(part.noise, times * number(part.times, 1))


def least(noise: Sum) -> tuple[Sum, ...]:
    """The sums of as few noises as may be left, each without dropouts. Raises Rejected where these are not known, or too many."""
    counts = Counter[OnLine]()
    for part in noise.parts:
        counts[part.noise] += number(part.times, 1)
    missing = number(noise.dropouts, 0)
    ways = [range(min(missing, times) + 1) for times in counts.values()]
    require(prod(map(len, ways)) <= _MOST_WAYS or missing == 0, Rejected(WHAT, "dropouts", "noises of too many laws may be left out"))
    found = []
    for out in product(*ways):
        if sum(out) == missing:
            kept = [(law, times - less) for (law, times), less in zip(counts.items(), out, strict=True) if times > less]
            found.append(Sum(tuple(Summand(law, num(times)) for law, times in kept)))
    require(bool(found) and all(one.parts for one in found), Rejected(WHAT, "dropouts", "no noise may be left"))
    return tuple(found)


# -- laws on the integers ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Addend:
    """A law on the integers and how many of the noises have it. law: its name and numbers, where these are known."""

    noise: Translation
    times: int
    law: Known | None

    @property
    def ends(self) -> tuple[int | None, int | None]:
        """The least and the greatest integer that have mass, None where there is none."""
        low, high = domain(self.noise)
        first, last = None if low is None else low.__ceil__(), None if high is None else high.__floor__()
        density = self.noise.density
        if first is not None and term(density, "z", first).is_zero():
            first += 1
        return first, last if last is None or not term(density, "z", last).is_zero() else last - 1

    def concave(self) -> bool:
        """Whether the logarithm of its probabilities certainly is."""
        if self.law is not None and self.law.name != "negative_binomial":
            return True
        if self.law is not None:
            return certainly_le(ONE, self.law.numbers[0])
        try:
            return read(self.noise, Hints()).concave
        except Undecided:
            return False

    def slope(self, onward: bool) -> arb:
        """At least the rise of log p from one integer to the next, for log-concave p; of p(-n) where it is onward."""
        if self.ends[1 if onward else 0] is not None or not self.concave():
            return INFINITY
        return steepest(turned(self.noise).density if onward else self.noise.density, Hints())


def addends(noise: Sum) -> tuple[Addend, ...]:
    """The laws on the integers that a sum is of, those of one family as one. Raises Rejected."""
    counts, shapes = Counter[Translation](), dict[tuple[Expr, bool], list[Expr]]()
    for one, times in added(noise):
        if not isinstance(one, Translation) or not one.integers:
            raise Rejected(WHAT, "the noises", "not all live on the integers; of sums on the line those of Gaussian noises are known alone")
        if symbols(one.density) - {"z"}:
            raise Rejected(WHAT, "the noises", "a parameter of one has no value")
        law = known(one)
        if law is not None and law.name == "negative_binomial":  # those of one chance add up their shapes
            shapes.setdefault((law.numbers[1], law.turned), []).append(mul(num(times), law.numbers[0]))
        else:
            counts[one] += times
    for (gamma, way), etas in shapes.items():
        whole = LAWS["negative_binomial"](add(*etas), gamma)
        counts[turned(whole) if way else whole] += 1
    return tuple(Addend(one, times, known(one)) for one, times in counts.items())


@remembered(64)
def summed(noise: Sum) -> Shape:
    """The law of a sum on the integers, its mode not known. Raises Rejected, Undecided."""
    terms = addends(noise)
    ends = [[one.ends[side] for one in terms] for side in (0, 1)]
    low, high = (None if None in side else sum(end * one.times for end, one in zip(side, terms, strict=True)) for side in ends)
    concave = all(one.concave() for one in terms)
    make = partial(_Summed, terms, low, high, concave)
    return Shape(per_precision(make), low, high, _is_even(terms), concave, None)


def _is_even(terms: Sequence[Addend]) -> bool:
    """Whether the terms certainly are those of the sum with its sign changed."""
    ways = Counter[Translation]()
    for one in terms:
        if one.law is None or one.law.name not in EVEN:
            ways[one.noise] += one.times
            ways[turned(one.noise)] -= one.times
    return not any(ways.values())


class _Summed:
    """The probabilities of a sum, at one precision: no others than between its ends."""

    def __init__(self, terms: Sequence[Addend], low: int | None, high: int | None, concave: bool) -> None:
        self._terms, self._low, self._high = terms, low, high
        laws = [(one.law, one.times) for one in terms if one.law is not None]
        if concave and len(laws) == len(terms):
            self._inside: Circle | Convolution = Circle(laws)
        else:
            self._inside = Convolution([(one.noise.density, one.ends, one.times) for one in terms])
        self.total = arb(1)

    def weight(self, n: int) -> arb:
        """Of an integer."""
        return arb(0) if self._under(n) or self._over(n) else self._inside.weight(n)

    def below(self, n: int) -> arb:
        """Of all integers up to n."""
        return arb(0) if self._under(n) else arb(1) if self._over(n + 1) else self._inside.below(n)

    def above(self, n: int) -> arb:
        """Of all integers from n on."""
        return arb(0) if self._over(n) else arb(1) if self._under(n - 1) else self._inside.above(n)

    def steepest(self, _: int | None, onward: bool) -> arb:
        """As of `Masses`: what any one of the noises shows, to which the others are added."""
        found = INFINITY
        for one in self._terms:
            found = found.min(one.slope(onward))
        return found

    def _under(self, n: int) -> bool:
        return self._low is not None and n < self._low

    def _over(self, n: int) -> bool:
        return self._high is not None and n > self._high
