"""How well what n people tell hides the record of one of them, by what others tell alike (theory#privacy-blanket).

That is (1/n) E max(0, X_1 + ... + X_n) for independent X of one law: an integral of (E e^(u X))^n / u^2 over complex u of one real part.
Noise of variance tau^2 makes the integral end: it adds at least 0, and at most tau^2 times the density of the sum with it at 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from flint import acb, arb, ctx

from dpverify.trusted.kernel.balls import finite, precision
from dpverify.trusted.kernel.errors import Undecided, require

Sort = tuple[arb, arb, arb, int]
"""Outputs of one sort: with which probability others tell each of them alike, the one on the first data and on the second; how many."""

_GUARD: Final = 64
_STEPS: Final = 12
_ROUGH: Final = 8
"""Bits of what is small anyway."""
_EVALUATIONS: Final = 10**6


def divergence(people: int, sorts: Sequence[Sort], smoothing: int, epsilon: arb) -> arb:
    """H at an exact epsilon of at least 0, to about 2 smoothing bits. Raises Undecided where the quadrature finds no finite ball."""
    with precision(ctx.prec + _GUARD):
        factor = epsilon.exp()
        law = [(times * alike, (first - factor * second) / alike) for alike, first, second, times in sorts]
        if all(value <= 0 for _, value in law):
            return arb(0)
        return finite(Line(people, law, smoothing).mean() / people)


@dataclass(frozen=True)
class Line:
    """X takes each value of the law with its probability, and 0 with all that is left. The noise has the deviation 2^-smoothing / tilt."""

    people: int
    law: Sequence[tuple[arb, arb]]
    smoothing: int

    def mean(self) -> arb:
        """E max(0, X_1 + ... + X_n)."""
        above = self._integral(lambda u: 1 / (u * u), lambda end: 1 / end**2, 2 * self.smoothing + _ROUGH)
        density = self._integral(lambda _: acb(1), lambda _: arb(1), _ROUGH)
        return above - (self._noise * density).max(arb(0)).union(arb(0))

    @cached_property
    def tilt(self) -> arb:
        """About where E e^(u X)^n / u^2 is least, u > 0: exact. Any place is right."""
        variance = sum((p * x * x for p, x in self.law), arb(0))
        at = (-sum((p * x for p, x in self.law), arb(0)) / variance).max(1 / (self.people * variance).sqrt()).mid()
        for _ in range(_STEPS):
            mean, spread = self._tilted(at)
            step = (self.people * mean - 2 / at) / (self.people * spread + 2 / at**2)
            at = (at - step).max(at / 2).mid()
        require(at.is_finite() and at > 0, Undecided("a sum of what people tell has no place to be looked at."))
        return at

    def _tilted(self, at: arb) -> tuple[arb, arb]:
        """The mean and the variance of X where values count e^(at x) times as much."""
        weights = [(p * (at * x).exp(), x) for p, x in self.law]
        total = self._moment(acb(at)).real
        mean = sum((w * x for w, x in weights), arb(0)) / total
        return mean, sum((w * x * x for w, x in weights), arb(0)) / total - mean**2

    def _moment(self, u: acb) -> acb:
        """E e^(u X), as 1 + E(e^(u X) - 1)."""
        return sum((p * ((u * x).exp() - 1) for p, x in self.law), acb(1))

    @property
    def _noise(self) -> arb:
        """The variance of the noise."""
        return arb(2) ** (-2 * self.smoothing) / self.tilt**2

    def _integral(self, weight: Callable[[acb], acb], far: Callable[[arb], arb], bits: int) -> arb:
        """1/(2 pi i) times the integral of E e^(u (X_1 + ... + X_n + noise)) weight(u), over all u with the real part `tilt`.

        The conjugate of u has the conjugate value. far: at least |weight| beyond an imaginary part.
        """
        noise, size = self._noise, self._moment(acb(self.tilt)).real

        def relative(u: acb, _: bool) -> acb:
            return (self._moment(u) / size) ** self.people * (noise * (u * u - self.tilt**2) / 2).exp() * weight(u)

        end = (arb(2 * bits) / noise).sqrt().mid()
        least = weight(acb(self.tilt)).real / (self.people * self._tilted(self.tilt)[1]).sqrt() * arb(2) ** -bits
        near, far_off = arb(2) ** -bits, acb(self.tilt, end)
        found = acb.integral(relative, acb(self.tilt), far_off, rel_tol=near, abs_tol=least.mid(), eval_limit=_EVALUATIONS).imag
        beyond = far(end) * (-noise * end**2 / 2).exp() / (noise * end)
        return size**self.people * (noise * self.tilt**2 / 2).exp() * (found + arb(0, beyond.upper())) / arb.pi()
