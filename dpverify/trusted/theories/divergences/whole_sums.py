"""Renyi divergences of log-concave noise on all integers, moved by a whole shift: sums of p^a q^(1 - a), with what is left of them far out.

Let X be a sum of noises of known laws, p its probabilities, q = p(. + s), towards plus infinity. There (p/q)^(a - 1) rises. Of any one of
the noises, Y, let W be the sum of the others: p is the mean of copies of that of Y, moved by W, and p^a q^(1 - a) is convex in both, so
that the sum of it times exp(u n) is at most E[exp(u W)] times the same sum of Y. Towards minus infinity p <= q, and a mass is left.
"""

from __future__ import annotations

from typing import Final

from flint import arb, ctx

from dpverify.trusted.kernel.balls import constant, precision
from dpverify.trusted.kernel.errors import Undecided, require
from dpverify.trusted.numbers.circle import TILTS, Terms, farthest, laws_of, least_of, moment_of
from dpverify.trusted.order.enclosed import integer
from dpverify.trusted.theories.curves.integers import Masses

_MOST: Final = 1 << 14
"""The most integers that are summed over."""
_GUARD: Final = 32


class Moved:
    """p, that of X or of -X where it is turned, against p(. + shift), at one precision."""

    def __init__(self, terms: Terms, masses: Masses, turned: bool, shift: int) -> None:
        self._masses, self._turned, self._shift, self._bits = masses, turned, shift, ctx.prec + _GUARD
        with precision(self._bits):
            self._laws = list(laws_of(terms, turned))
            self._first = -farthest(self._laws, -1, self._bits)
            self._alike = _gaussians(terms)
        self._known = list[tuple[arb, arb]]()
        self._look(1)
        require(self._known[0][1] <= 0, Undecided("whether p <= q far out is not certain."))  # and before, as the loss rises

    def cumulant(self, order: arb) -> arb:
        """(a - 1) D_a at an order a above 1."""
        with precision(self._bits):
            k, least = order - 1, arb(2) ** -self._bits
            size = self._end(k) - self._first + 1
            require(size <= _MOST, Undecided(f"a sum over more than {_MOST} integers."))
            self._look(size)
            total = arb(0)
            for mass, loss in self._known[:size]:
                total += mass * (k * loss).exp()
            return (total + arb(0).union(2 * least)).log()

    def _end(self, k: arb) -> int:
        """An integer beyond which the sum is at most 2^-bits."""
        onward = [law for law, way, _ in self._laws if not way]
        tilts = [arb(2) ** j * part / 4 for j, part in TILTS[::2]]
        logs = [(u, law.onward(k, self._shift, u) - law.moment(u) + moment_of(self._laws, u)) for u in tilts for law in onward]
        ends = [(log + self._bits * arb.const_log2()) / u for u, log in logs]
        found = least_of([end for end in ends if end.is_finite()])
        require(found.is_finite(), Undecided("far out nothing bounds what is lost."))
        return integer(found.upper().ceil())

    def _look(self, size: int) -> None:
        """Know the probability and the loss of so many integers."""
        for n in range(self._first + len(self._known), self._first + size):
            here, there = self._log(n), self._log(n + self._shift)
            self._known.append((here.exp(), here - there))

    def _log(self, n: int) -> arb:
        mass = self._masses.weight(-n if self._turned else n)
        require(mass > 0, Undecided("a probability is not told from 0."))
        return mass.log()

    def beyond(self, order: arb) -> arb:
        """At least D_a/a for all orders a from this one on: what any one of the noises has, to which the others are added.

        Of k discrete Gaussians of one deviation p(n) is exp(-n^2/(2 k sigma^2)) times what repeats after k integers. Where that is between
        r and r e^t, D_a <= a shift^2/(2 k sigma^2) + t (2 a - 1)/(a - 1), and (2 a - 1)/(a (a - 1)) <= 2/(a - 1).
        """
        with precision(self._bits):
            found = least_of(one for law, way, _ in self._laws if not way and (one := law.beyond(order - 1, self._shift)).is_finite())
            if self._alike is None:
                return found
            variance, repeats = self._alike
            uneven = 2 * self._unevenness(variance, repeats) / (order - 1)
            return least_of((found, arb(self._shift) ** 2 / (2 * variance) + uneven))

    def _unevenness(self, variance: arb, repeats: int) -> arb:
        """How much the logarithm of what repeats varies."""
        around = range(-(repeats // 2), repeats - repeats // 2)
        logs = [self._log(n) + arb(n) ** 2 / (2 * variance) for n in around]
        most, least = logs[0], logs[0]
        for log in logs:
            most, least = most.max(log), least.min(log)
        return most - least


def _gaussians(terms: Terms) -> tuple[arb, int] | None:
    """The sum of the sigma^2 of discrete Gaussians that are all alike, and how many they are; None for other sums."""
    if len(terms) != 1 or terms[0][0].name != "discrete_gaussian":
        return None
    law, times = terms[0]
    return times * constant(law.numbers[0]) ** 2, times
