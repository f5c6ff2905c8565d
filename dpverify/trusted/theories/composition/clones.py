"""The curve of clones: outputs of others that look like those of the one whose record is replaced (theory#shuffling).

C of the others are clones, C ~ Bin(n - 1, 1/rho), each of the first sort or the second by a fair coin; the one is of the first sort with
probability p = rho/(1 + rho) on the first data, and of the second on the other. What is told is how many there are of each sort.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from flint import arb, ctx, fmpz_poly

from dpverify.trusted.kernel.balls import precision
from dpverify.trusted.kernel.errors import Undecided
from dpverify.trusted.numbers.each_precision import per_precision

_GUARD: Final = 64
_HALF: Final = arb(1) / 2
_FEW: Final = 2_000
"""Coins whose numbers of ways are whole numbers that are quickly added up."""


def at_least(count: int, least: int, chance: arb) -> arb:
    """The probability that of so many trials, each with a chance above 0, at least so many succeed."""
    if least <= 0 or least > count:
        return arb(least <= 0)
    if chance is _HALF and count <= _FEW:
        return arb((fmpz_poly([1, 1]) ** count).right_shift(least)(1)) / arb(2) ** count
    found: arb = chance.beta_lower(least, count - least + 1, 1)
    return found


def exactly(count: int, number: int, chance: arb) -> arb:
    """The probability that just so many succeed, for a chance between 0 and 1."""
    if not 0 <= number <= count:
        return arb(0)
    ways = arb(count + 1).lgamma() - arb(number + 1).lgamma() - arb(count - number + 1).lgamma()
    return (ways + number * chance.log() + (count - number) * (-chance).log1p()).exp()


def floor(ball: arb) -> tuple[int, bool]:
    """The greatest integer that is certainly no more than something in a ball, and whether it is the one of all of it."""
    low, high = (end.floor().unique_fmpz() for end in (ball.lower(), ball.upper()))
    if low is None or high is None or high > low + 1:
        raise Undecided("a number of outputs is not known to less than one.")
    return int(high), bool(low == high)


class Clones:
    """n - 1 others. rho, above 1: of the losses of the one. least, most: how many clones are looked at."""

    __slots__ = ("least", "most", "others", "rest", "rho")

    def __init__(self, others: int, rho: Callable[[], arb], least: int, most: int) -> None:
        self.others, self.rho, self.least, self.most = others, rho, least, most
        self.rest = per_precision(lambda: 1 - at_least(others, least, 1 / rho()) + at_least(others, most + 1, 1 / rho()))

    def profile(self, epsilon: arb) -> arb:
        """H at an exact epsilon: of the numbers of clones between `least` and `most`, and at most all that is left."""
        with precision(ctx.prec + _GUARD):
            rho, factor = self.rho(), epsilon.exp()
            if factor >= rho:
                return arb(0)
            return self._inside(rho, 1 / rho, factor) + arb(0).union(self.rest().upper())

    def _inside(self, rho: arb, share: arb, factor: arb) -> arb:
        """The sum over C of P[C = c] times what c clones leave, where more than a share of all outputs is of the first sort."""
        of_first, of_other = (rho - factor) / (1 + rho), (1 - factor * rho) / (1 + rho)
        least = (factor * rho - 1) / ((1 + factor) * (rho - 1))
        odds, total, state = share / (1 - share), arb(0), None
        weight = exactly(self.others, self.least, share)
        for clones in range(self.least, self.most + 1):
            number, sure = floor(least * (clones + 1))
            number = min(number, clones) + 1
            # the probabilities of at least `number` heads of `clones` coins, and of just one less
            state = _moved(state, clones, number)
            above, before = state[2:]
            gained = of_first * (above + before) + of_other * above
            if not sure:  # one less is as good, or better by what is enclosed here
                less = before * (number - 1) / (clones - number + 2)
                gained += (of_first * less + of_other * before).max(arb(0)).union(arb(0))
            total += weight * gained
            weight *= odds * (self.others - clones) / (clones + 1)
        return total


_State = tuple[int, int, arb, arb]


def _moved(state: _State | None, clones: int, number: int) -> _State:
    """The probabilities of at least `number` heads of `clones` coins, and of just one less, from those of one coin less, if told."""
    if state is None or not 1 < state[1] <= state[0] - 1 or not state[1] <= number <= state[1] + 1:
        return clones, number, at_least(clones, number, _HALF), exactly(clones, number - 1, _HALF)
    _, heads, above, before = state
    above, before = above + before / 2, before * clones / (2 * (clones - heads + 1))
    if number > heads:
        above, before = above - before * (clones - heads + 1) / heads, before * (clones - heads + 1) / heads
    return clones, number, above, before
