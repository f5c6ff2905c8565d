"""Probabilities on the integers, unimodal, and the same moved by a whole shift: sums of enclosed terms."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from flint import arb, ctx

from dpverify.trusted.kernel.errors import ExprError, Undecided
from dpverify.trusted.kernel.expr import Expr, neg, substitute
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.numbers.asymptotics import End, end_jet
from dpverify.trusted.numbers.lattice_sums import lattice_sum, term
from dpverify.trusted.theories.curves.shapes import Z
from dpverify.trusted.theories.curves.steps import steps_of
from dpverify.trusted.theories.curves.unimodal import INFINITY, Hints, limit_of, most_of

_TABLE: Final = 256


_LONGEST: Final = 1 << 15
"""Sums are kept on each side of 0: at first of so many integers, and at most of so many; beyond, each is found anew."""


_FARTHEST: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Shape:
    """Probabilities p(n) in proportion to a density, from `low` to `high` where these are given.

    even: about 0. concave: log p is. past: an integer that the mode is not above, None where their shape is not known, far: where the
    behaviour towards infinity is certain.
    """

    density: Expr
    low: int | None
    high: int | None
    even: bool
    concave: bool
    past: int | None
    hints: Hints

    def mirrored(self, past: int | None) -> Shape:
        """Of -n."""
        low, high = None if self.high is None else -self.high, None if self.low is None else -self.low
        return replace(self, density=substitute(self.density, {"z": neg(Z)}), low=low, high=high, past=past)


class Tail:
    """Sums of p(n) over n >= j, for every j >= 0, at one precision."""

    def __init__(self, shape: Shape) -> None:
        self._density, self._lower, self._upper = shape.density, shape.low, shape.high
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
        self._shape, self._shift, self._most = shape, shift, dict[int | None, arb]()
        self._right = Tail(shape)
        self._left = self._right if shape.even else Tail(shape.mirrored(0))
        self.total = self._left.beyond(1) + self._right.beyond(0)
        self.alone = arb(0)
        if shape.past is not None:
            peak = shape.past if shape.high is None else min(shape.past, shape.high)
            if shape.concave and not (self.weight(peak + 1) <= self.weight(peak) and self.weight(peak) > 0):
                raise Undecided(f"whether the mode of the probabilities is at most {peak} is not certain.")
            self._past = peak + shift  # p <= q from here on
            if shape.low is not None:
                first = shape.low + self.weight(shape.low).is_zero()
                self.alone = self.below(first + shift - 1) / self.total
        if not shape.concave:
            self._sort(shape.past is None)

    def _sort(self, anywhere: bool) -> None:
        """The terms between two integers, in the order of their ratios, so that a sum is a few of them. anywhere: also far on the right."""
        tails, far = [self._left, self._right][: 1 + anywhere], _TABLE
        while far < _LONGEST and not sum((tail.beyond(far) for tail in tails), arb(0)) <= self.total * arb(2) ** -ctx.prec:
            far *= 2
        self._first, past = 1 - far, far if anywhere else self._past
        met = [(self.weight(n), self.weight(n - self._shift)) for n in range(self._first, past)]
        apart = sum((p for p, q in met if q.is_zero()), arb(0))
        self._steps, self._rest = steps_of(apart, (pair for pair in met if not pair[1].is_zero())), arb(0)
        if anywhere:
            self.alone, self._rest = apart / self.total, self._right.beyond(far)

    def weight(self, n: int) -> arb:
        """p(n), not normalised."""
        return self._right.weight(n) if n >= 0 else self._left.weight(-n)

    def below(self, n: int) -> arb:
        """The sum of p, not normalised, over all integers up to n."""
        return self.total - self._right.beyond(n + 1) if n >= 0 else self._left.beyond(-n)

    def divergence(self, epsilon: arb) -> arb:
        """H at an epsilon of at least 0."""
        total = self._half_line(epsilon) if self._shape.concave else self._term_by_term(epsilon)
        return (total / self.total).max(arb(0)).min(arb(1))

    def _half_line(self, epsilon: arb) -> arb:
        """For log-concave p, where p/q does not rise: S is all below the first integer that it certainly does not reach.

        That is found by steps that double until one lands in S, and halves between: of a place n integers from the mode, at most 2 log2(n)
        ratios, each of which is proved.
        """
        factor, outside, step = epsilon.exp(), self._past, 1
        inside = outside - 1
        while not self._gap(inside, factor) >= 0:
            if self._gap(inside, factor) < 0:
                outside = inside
            if self._most_below(None) <= epsilon or step > _FARTHEST:
                return arb(0).union(self._doubt(outside, epsilon))
            inside, step = inside - step, 2 * step
        while outside - inside > 1 and not self._gap(middle := (inside + outside) // 2, factor).contains(0):
            inside, outside = (middle, outside) if self._gap(middle, factor) > 0 else (inside, middle)
        total = self.below(inside) - factor * self.below(inside - self._shift)
        for n in range(inside + 1, outside):
            total += self._gap(n, factor).max(arb(0))
        return total

    def _gap(self, n: int, factor: arb) -> arb:
        return self.weight(n) - factor * self.weight(n - self._shift)

    def _most_below(self, n: int | None) -> arb:
        """An upper bound on log(p/q) up to n (None: anywhere, for log-concave p): the shift times the steepest rise of log p there."""
        if n not in self._most:
            self._most[n] = INFINITY if self._shape.low is not None else self._steepest(n)
        return self._most[n]

    def _steepest(self, n: int | None) -> arb:
        try:
            end = self._shape.hints.end(None) if n is None else End("-inf", Fraction(-n))
            slope = end_jet(neg_log(self._shape.density), "z", end).d1
            return self._shift * (limit_of(slope)[1] if n is None else -slope.bounds().lo)
        except (Undecided, ExprError):
            return INFINITY

    def _doubt(self, n: int, epsilon: arb) -> arb:
        """What all integers below n can add to the sum: that of p (1 - e^(epsilon - log(p/q)))_+."""
        return most_of(self.below(n - 1), self._most_below(None if self._shape.concave else n - 1) - epsilon)

    def _term_by_term(self, epsilon: arb) -> arb:
        beyond = self._doubt(self._first, epsilon) + self._rest
        return self._steps.excess(epsilon) + arb(0).union(beyond.upper())
