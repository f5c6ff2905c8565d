"""Probabilities on the integers, unimodal, and the same moved by a whole shift: sums of enclosed terms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Final, Protocol

from flint import arb, ctx

from dpverify.trusted.kernel.errors import ExprError, Undecided
from dpverify.trusted.kernel.expr import Expr, neg, substitute
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.numbers.asymptotics import End, end_jet
from dpverify.trusted.numbers.lattice_sums import lattice_sum, term
from dpverify.trusted.theories.curves.shapes import Z
from dpverify.trusted.theories.curves.steps import Steps, steps_of
from dpverify.trusted.theories.curves.unimodal import INFINITY, Hints, limit_of, most_of

_TABLE: Final = 256


_LONGEST: Final = 1 << 15
"""Sums are kept on each side of 0: at first of so many integers, and at most of so many; beyond, each is found anew."""


_FARTHEST: Final = 1 << 20


class Masses(Protocol):
    """Probabilities on the integers at one precision, up to a common factor: `total` is that of all of them."""

    total: arb

    def weight(self, n: int) -> arb:
        """Of an integer."""
        ...

    def below(self, n: int) -> arb:
        """Of all integers up to n."""
        ...

    def above(self, n: int) -> arb:
        """Of all integers from n on."""
        ...

    def steepest(self, n: int | None, onward: bool) -> arb:
        """An upper bound on the rise of log p from one integer to the next up to n (None: anywhere, for log-concave p).

        onward: that of p(-n) in place of p(n).
        """
        ...


@dataclass(frozen=True, slots=True)
class Shape:
    """Probabilities p(n), from `low` to `high` where these are given, and what is known of them.

    masses: makes them, at the precision of the moment. even: about 0. concave: log p is. past: an integer that the mode is not above, None
    where their shape is not known. turned: those of -n are meant by all of this but `masses`.
    """

    masses: Callable[[], Masses]
    low: int | None
    high: int | None
    even: bool
    concave: bool
    past: int | None
    turned: bool = False

    def mirrored(self, past: int | None) -> Shape:
        """Of -n."""
        low, high = None if self.high is None else -self.high, None if self.low is None else -self.low
        return replace(self, low=low, high=high, past=past, turned=not self.turned)


class OfDensity:
    """Probabilities in proportion to a density, from `low` to `high` where these are given.

    even: about 0. far: where the behaviour towards infinity is certain.
    """

    def __init__(self, density: Expr, low: int | None, high: int | None, even: bool, hints: Hints) -> None:
        self._density, self._hints, turned = density, hints, _turned(density)
        self._right = Tail(density, low, high)
        ends = None if high is None else -high, None if low is None else -low
        self._left = self._right if even else Tail(turned, *ends)
        self.total = self._left.beyond(1) + self._right.beyond(0)

    def weight(self, n: int) -> arb:
        """Of an integer."""
        return self._right.weight(n) if n >= 0 else self._left.weight(-n)

    def below(self, n: int) -> arb:
        """Of all integers up to n."""
        return self.total - self._right.beyond(n + 1) if n >= 0 else self._left.beyond(-n)

    def above(self, n: int) -> arb:
        """Of all integers from n on."""
        return self.total - self._left.beyond(1 - n) if n <= 0 else self._right.beyond(n)

    def steepest(self, n: int | None, onward: bool) -> arb:
        """As of `Masses`."""
        return steepest(_turned(self._density) if onward else self._density, self._hints, n)


def steepest(density: Expr, hints: Hints, n: int | None = None) -> arb:
    """An upper bound on the slope of the logarithm of a density up to n; None: towards minus infinity."""
    try:
        end = hints.end(None) if n is None else End("-inf", Fraction(-n))
        slope = end_jet(neg_log(density), "z", end).d1
        return limit_of(slope)[1] if n is None else -slope.bounds().lo
    except (Undecided, ExprError):
        return INFINITY


def _turned(density: Expr) -> Expr:
    return substitute(density, {"z": neg(Z)})


class Tail:
    """Sums of p(n) over n >= j, for every j >= 0, at one precision."""

    def __init__(self, density: Expr, lower: int | None, upper: int | None) -> None:
        self._density, self._lower, self._upper = density, lower, upper
        self._weights: dict[int, arb] = {}
        self._sums: dict[int, arb] = {}
        self._size = 0
        self._extend(_TABLE)

    def weight(self, n: int) -> arb:
        """p(n), not normalised."""
        if n not in self._weights:
            outside = (self._lower is not None and n < self._lower) or (self._upper is not None and n > self._upper)
            self._weights[n] = arb(0) if outside else term(self._density, "z", n)
        return self._weights[n]

    def beyond(self, j: int) -> arb:
        """The sum from j on."""
        if j >= self._size and j < _LONGEST:
            self._extend(2 * j)
        return self._sums[j] if j < self._size else self._sum(j)

    def _extend(self, size: int) -> None:
        if self._upper is not None:
            size = min(size, max(self._upper + 1, 0))
        total = self._sum(size)
        for j in reversed(range(self._size, size)):
            total = total + self.weight(j)
            self._sums[j] = total
        self._size = size

    def _sum(self, j: int) -> arb:
        if self._upper is not None and j > self._upper:
            return arb(0)
        if j > _FARTHEST:
            return arb(0).union(self._sum(_FARTHEST).upper())
        return lattice_sum(self._density, "z", j if self._lower is None else max(j, self._lower), self._upper, ctx.prec)


class Law:
    """Probabilities on the integers in one order, at one precision: p, and q = p(. - shift). Raises Undecided."""

    def __init__(self, shape: Shape, shift: int) -> None:
        self._shape, self._shift, self._masses = shape, shift, shape.masses()
        self.total = self._masses.total
        self.alone = arb(0)
        self._past: int | None = None
        if shape.past is not None:
            peak = shape.past if shape.high is None else min(shape.past, shape.high)
            if shape.concave and not (self.weight(peak + 1) <= self.weight(peak) and self.weight(peak) > 0):
                raise Undecided(f"whether the mode of the probabilities is at most {peak} is not certain.")
            self._past = peak + shift  # p <= q from here on
            if shape.low is not None:
                first = shape.low + self.weight(shape.low).is_zero()
                self.alone = self.below(first + shift - 1) / self.total
        if not shape.concave:
            self._steps = self._in_order()
        steepest = partial(self._masses.steepest, onward=shape.turned)
        self._most = INFINITY if shape.low is not None else shift * steepest(None if shape.concave else self._left_over[0] - 1)

    def _in_order(self) -> Steps:
        """The terms where p may be above q, between two integers, in the order of their ratios, so that a sum is a few of them."""
        size, least = _TABLE, self.total * arb(2) ** -ctx.prec
        while size < _LONGEST and not size * self.weight(-size).max(self.weight(size) if self._past is None else arb(0)) <= least:
            size *= 2
        first, last = (1 - size, size) if self._past is None else (min(1 - size, self._past), self._past)
        self._left_over = first, self.below(first - 1), self._above(last) if self._past is None else arb(0)
        met = [(self.weight(n), self.weight(n - self._shift)) for n in range(first, last)]
        apart = sum((p for p, q in met if q.is_zero()), arb(0))
        if self._past is None:
            self.alone = apart / self.total
        return steps_of(apart, (pair for pair in met if not pair[1].is_zero()))

    def weight(self, n: int) -> arb:
        """p(n), not normalised."""
        return self._masses.weight(-n if self._shape.turned else n)

    def below(self, n: int) -> arb:
        """The sum of p, not normalised, over all integers up to n."""
        return self._masses.above(-n) if self._shape.turned else self._masses.below(n)

    def _above(self, n: int) -> arb:
        return self._masses.below(-n) if self._shape.turned else self._masses.above(n)

    def divergence(self, epsilon: arb) -> arb:
        """H at an epsilon of at least 0."""
        total = self._half_line(epsilon) if self._shape.concave else self._term_by_term(epsilon)
        return (total / self.total).max(arb(0)).min(arb(1))

    def _half_line(self, epsilon: arb) -> arb:
        """For log-concave p, where p/q does not rise: S is all below the first integer that it certainly does not reach.

        That is found by steps that double until one lands in S, and halves between: of a place n integers from the mode, at most 2 log2(n)
        ratios, each of which is proved.
        """
        assert self._past is not None
        factor, outside, step = epsilon.exp(), self._past, 1
        inside = outside - 1
        while not self._gap(inside, factor) >= 0:
            if self._gap(inside, factor) < 0:
                outside = inside
            if self._most <= epsilon or step > _FARTHEST:
                # all integers below can add that of p (1 - e^(epsilon - log(p/q)))_+ at most
                return arb(0).union(most_of(self.below(outside - 1), self._most - epsilon))
            inside, step = inside - step, 2 * step
        while outside - inside > 1 and not self._gap(middle := (inside + outside) // 2, factor).contains(0):
            inside, outside = (middle, outside) if self._gap(middle, factor) > 0 else (inside, middle)
        total = self.below(inside) - factor * self.below(inside - self._shift)
        for n in range(inside + 1, outside):
            total += self._gap(n, factor).max(arb(0))
        return total

    def _gap(self, n: int, factor: arb) -> arb:
        return self.weight(n) - factor * self.weight(n - self._shift)

    def _term_by_term(self, epsilon: arb) -> arb:
        _, below, above = self._left_over
        beyond = most_of(below, self._most - epsilon) + above
        return self._steps.excess(epsilon) + arb(0).union(beyond.upper())
