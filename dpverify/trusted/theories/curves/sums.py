"""Sums of independent noises on the integers: their probabilities, and whether these are log-concave, as sums of log-concave ones are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from flint import arb

from dpverify.trusted.combinators.laws_of_sums import is_even, is_log_concave_law, merged
from dpverify.trusted.combinators.sums import WHAT
from dpverify.trusted.kernel.errors import Rejected, Undecided
from dpverify.trusted.kernel.expr import symbols
from dpverify.trusted.kernel.loading import remembered
from dpverify.trusted.kernel.model import Sum, Translation
from dpverify.trusted.language.whole_laws import Known, known, turned
from dpverify.trusted.numbers.circle import Circle
from dpverify.trusted.numbers.convolution import Convolution
from dpverify.trusted.numbers.each_precision import per_precision
from dpverify.trusted.numbers.lattice_sums import term
from dpverify.trusted.numbers.noise import domain
from dpverify.trusted.theories.curves.integers import Shape, steepest
from dpverify.trusted.theories.curves.unimodal import INFINITY, Hints, read

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
        if self.law is not None:
            return is_log_concave_law(self.noise)
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
    """The laws on the integers that a sum is of. Raises Rejected."""
    found = []
    for one, times in merged(noise):
        if not isinstance(one, Translation) or not one.integers:
            raise Rejected(WHAT, "the noises", "not all live on the integers; of sums on the line those of Gaussian noises are known alone")
        if symbols(one.density) - {"z"}:
            raise Rejected(WHAT, "the noises", "a parameter of one has no value")
        found.append(Addend(one, times, known(one)))
    return tuple(found)


@remembered(64)
def summed(noise: Sum) -> Shape:
    """The law of a sum on the integers, its mode not known. Raises Rejected, Undecided."""
    terms = addends(noise)
    low, high = (_end(terms, side) for side in (0, 1))
    concave = all(one.concave() for one in terms)
    make = partial(_Summed, terms, low, high)
    return Shape(per_precision(make), low, high, is_even(noise), concave, None)


def _end(terms: Sequence[Addend], side: int) -> int | None:
    """Where a sum ends: where all of its noises do."""
    ends = [(one.ends[side], one.times) for one in terms]
    known = [end * times for end, times in ends if end is not None]
    return sum(known) if len(known) == len(ends) else None


class _Summed:
    """The probabilities of a sum, at one precision: no others than between its ends."""

    def __init__(self, terms: Sequence[Addend], low: int | None, high: int | None) -> None:
        self._terms, self._low, self._high = terms, low, high
        laws = [(one.law, one.times) for one in terms if one.law is not None]
        if len(laws) == len(terms):
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
