"""Sums of independent noises on the integers whose densities are known: tables of probabilities, convolved, and what lies beyond them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from flint import arb, arb_poly, ctx

from dpverify.trusted.kernel.balls import precision
from dpverify.trusted.kernel.errors import Undecided, require
from dpverify.trusted.kernel.expr import Expr
from dpverify.trusted.numbers.lattice_sums import lattice_sum, term

_MORE: Final = 64
"""Bits beyond the working precision to which probabilities are known."""
_MOST: Final = 1 << 16
"""The most integers that a table has."""
_FIRST: Final = 16

_WIDEST: Final = 1 << 14
"""The farthest from 0 that the table of one noise reaches."""

Ends = tuple[int | None, int | None]
Terms = Sequence[tuple[Expr, Ends, int]]
"""Densities in z, not normalised, each with the integers that it ends at, and with how many noises have it."""


@dataclass(frozen=True, slots=True)
class _Table:
    """At least the probabilities of the integers from `first` on, and at most `outside` more, of which some may be anywhere."""

    first: int
    masses: list[arb]
    outside: arb

    def plus(self, other: _Table, least: arb) -> _Table:
        """Of the sum of the two, in which each is independent of the other."""
        require(len(self.masses) + len(other.masses) < 2 * _MOST, Undecided(f"a table of more than {_MOST} integers."))
        product = arb_poly(self.masses) * arb_poly(other.masses)
        masses = [product[i] for i in range(len(self.masses) + len(other.masses) - 1)]  # the coefficients beyond the degree are 0
        return _Table(self.first + other.first, masses, self.outside + other.outside).trimmed(least)

    def trimmed(self, least: arb) -> _Table:
        """Without ends that hold at most a mass of `least` each."""
        left, right = (next((i for i, s in enumerate(accumulate(way)) if not s <= least), 0) for way in (self.masses, self.masses[::-1]))
        stop = len(self.masses) - right
        cut = sum((*self.masses[:left], *self.masses[stop:]), self.outside).upper()
        return _Table(self.first + left, self.masses[left:stop], cut)


class Convolution:
    """The probabilities of a sum of noises, at one precision. Raises Undecided where tables are too long, or a density is not summed."""

    def __init__(self, terms: Terms) -> None:
        self.total = arb(1)
        self._bits = ctx.prec + _MORE
        with precision(self._bits):
            least = arb(2) ** -self._bits
            whole = _Table(0, [arb(1)], arb(0))
            for density, ends, times in terms:
                power = _of_density(density, ends, self._bits)
                while times:
                    whole = whole.plus(power, least) if times & 1 else whole
                    times >>= 1
                    power = power.plus(power, least) if times else power
            self._low, self._masses, self._beyond = whole.first, whole.masses, arb(0).union(whole.outside)
            self._upto = [*accumulate(whole.masses)]
            self._from = [*accumulate(whole.masses[::-1])][::-1]

    def weight(self, n: int) -> arb:
        """Of an integer."""
        return self._at(self._masses, n)

    def above(self, n: int) -> arb:
        """Of all integers from n on."""
        return self._at(self._from, n) if n >= self._low else 1 - self._beyond

    def below(self, n: int) -> arb:
        """Of all integers up to n."""
        return self._at(self._upto, n) if n < self._low + len(self._masses) else 1 - self._beyond

    def _at(self, held: Sequence[arb], n: int) -> arb:
        place = n - self._low
        return held[place] + self._beyond if 0 <= place < len(held) else self._beyond


def _of_density(density: Expr, ends: Ends, bits: int) -> _Table:
    """A table that leaves out next to nothing, as far as a guess goes."""
    low, high = ends

    def beyond(n: int, onward: bool) -> arb:
        """The sum of all terms beyond n."""
        if (high is not None and n >= high) if onward else (low is not None and n <= low):
            return arb(0)
        if onward:
            return lattice_sum(density, "z", n + 1 if low is None else max(n + 1, low), high, bits)
        return lattice_sum(density, "z", low, n - 1 if high is None else min(n - 1, high), bits)

    total = lattice_sum(density, "z", low, high, bits)
    require(total > 0, Undecided("whether the noise has any mass is not certain."))
    least = arb(2) ** -bits
    size = _FIRST
    while not beyond(-size, False) + beyond(size, True) <= least * total:
        size *= 2
        require(size < _WIDEST, Undecided("the probabilities of the noise fall too slowly."))
    first, last = -size if low is None else max(low, -size), size if high is None else min(high, size)
    require(first <= last, Undecided("the noise ends too far from 0."))
    masses = [term(density, "z", n) / total for n in range(first, last + 1)]
    return _Table(first, masses, ((beyond(first, False) + beyond(last, True)) / total).upper()).trimmed(least)
