"""Staircase noise and its copy moved by a shift: lengths that pairs of steps share."""

from __future__ import annotations

from math import lcm
from typing import Final

from flint import arb

from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.errors import Undecided, require
from dpverify.trusted.kernel.expr import Expr, Num, mul, num
from dpverify.trusted.kernel.model import Staircase
from dpverify.trusted.order.enclosed import integer

RULE: Final = "lattice"
_MOST_STEPS: Final = 20_000


class Stairs:
    """Staircase noise and its copy moved by `shift`: height a e^(-k rate) where |z| is in (gamma + k - 1, gamma + k).

    Lengths are in units of 1/step, in which rational ones are whole numbers, so that steps that only touch share exactly nothing.
    """

    alone: arb = arb(0)

    def __init__(self, noise: Staircase, shift: Expr) -> None:
        step = lcm(*(x.value.denominator for x in (noise.gamma, shift) if isinstance(x, Num)))
        self._rate, self._step = constant(noise.epsilon), arb(step)
        self._gamma, self._shift = (constant(mul(num(step), x)) for x in (noise.gamma, shift))
        decay, gamma = (-self._rate).exp(), constant(noise.gamma)
        self._top = -(-self._rate).expm1() / (2 * (gamma + decay * (1 - gamma))) / step
        require(self._shift < _MOST_STEPS * step, Undecided(f"a shift over more than {_MOST_STEPS} steps."))
        # a step on the right gains where the copy is on a higher one: its start is nearer to 0 than its end is to the shift
        steps = integer(((self._shift - 2 * self._gamma + step) / (2 * step)).upper().ceil())
        starts = [(k, self._gamma + (k - 1) * step) for k in range(1, steps)]
        self._right = [(k, self._overlaps(start, start + step)) for k, start in starts]

    def _overlaps(self, low: arb, high: arb) -> list[tuple[int, arb]]:
        """The steps j on the left of the moved copy that meet an interval, with the lengths that they share."""
        origin, step = self._shift - self._gamma, self._step
        first = max(1, integer(((origin - high) / step).lower().floor()))
        last = integer(((origin - low) / step + 1).upper().ceil())
        shared = []
        for j in range(first, last + 1):
            length = high.min(origin - (j - 1) * step) - low.max(origin - j * step)
            if not length <= 0:
                shared.append((j, length.max(arb(0))))
        return shared

    def divergence(self, epsilon: arb) -> arb:
        """H at an epsilon of at least 0. Right of the middle step of the copy p <= q; on the left all steps are alike but for a factor."""
        left = self._part(1, self._overlaps(-self._gamma - self._step, -self._gamma), epsilon) / -(-self._rate).expm1()
        middle = self._part(0, self._overlaps(-self._gamma, self._gamma), epsilon)
        total = left + middle
        for k, shared in self._right:
            total += self._part(k, shared, epsilon)
        return total.max(arb(0)).min(arb(1))

    def _part(self, k: int, overlaps: list[tuple[int, arb]], epsilon: arb) -> arb:
        total = arb(0)
        for j, length in overlaps:
            total += length * (-(epsilon - (j - k) * self._rate).expm1()).max(arb(0))
        return self._top * (-k * self._rate).exp() * total
