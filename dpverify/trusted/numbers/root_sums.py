"""The mean of a square root from a Laplace transform: E sqrt(S), S >= 0, from F(t) = E(1 - exp(-t S)).

sqrt(s) is the integral over u of (1 - exp(-s e^u)) e^(-u/2) / (2 sqrt(pi)). Its trapezoidal sums with step h at u = k h are off by the
values of its Fourier transform at 2 pi m / h, m not 0 (Poisson), which are s^(1/2 + i w) times -Gamma(-1/2 - i w) / (2 sqrt(pi)) at
w = 2 pi m / h: each at most sqrt(s) / (2 w sqrt(cosh(pi w))). So the sum is sqrt(s) times a factor within `off` of 1, whatever s, and the
same factor bounds its mean (theory#root-of-squares).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.expr import Expr, Num, num, power

Lost = Callable[[Expr], arb]
"""F at a constant t > 0."""


@dataclass(frozen=True, slots=True)
class Nodes:
    """The points t = 2^(k / parts), k from `first` to `last`: their step in u is log(2) / parts."""

    parts: int
    first: int
    last: int

    def at(self, k: int) -> Expr:
        """The point t."""
        return power(num(2), Num(Fraction(k, self.parts)))

    def weight(self, k: int) -> arb:
        """The weight of F there."""
        return arb(2).log() / self.parts * self._power(-k) / (2 * arb.pi().sqrt())

    def _power(self, halves: int) -> arb:
        """2^(halves / (2 parts))."""
        return constant(power(num(2), Num(Fraction(halves, 2 * self.parts))))

    def off(self) -> arb:
        """How far from 1 the factor may be: twice a sum over m >= 1, whose terms fall by exp(-pi^2 / h)."""
        h = arb(2).log() / self.parts
        fall = (-(arb.pi() ** 2) / h).exp()
        return (arb(2).sqrt() * h / (2 * arb.pi()) * fall / (1 - fall)).upper()

    def values(self, lost: Lost) -> list[arb]:
        """F at the points."""
        return [lost(self.at(k)) for k in range(self.first, self.last + 1)]

    def inner(self, values: list[arb]) -> arb:
        """The sum over the points, and beyond the last, where F lies between its last value and 1."""
        total = arb(0)
        for k, found in enumerate(values, self.first):
            total += self.weight(k) * found
        return total + self.weight(self.last + 1) / (1 - self._power(-1)) * values[-1].union(arb(1))

    def before(self, order: int) -> arb:
        """The sum of weight * t^order over the points before the first, order >= 1."""
        return self.weight(self.first - 1) * self._power(2 * order * (self.first - 1)) / (1 - self._power(1 - 2 * order))

    def mean(self, total: arb) -> arb:
        """E sqrt(S) from the whole sum."""
        return total / (1 + arb(0, 1) * self.off())


def independent(nodes: Nodes, lost: Lost, mean: arb, count: int) -> arb:
    """E sqrt(X_1^2 + ... + X_n^2) of independent X_i alike: lost(t) = E(1 - exp(-t X^2)), mean = E|X|, finite.

    Before the first point, x = lost(t) is at most its value x0 there, and n x - n (n - 1)/2 x^2 <= 1 - (1 - x)^n <= n x; the sum of all x
    is E|X| times a factor near 1, so that of those before the first point is what is left of it.
    """
    single = nodes.values(lost)
    left = (mean * (1 + arb(0, 1) * nodes.off()) - nodes.inner(single)).max(arb(0))
    least = (1 - arb(count - 1) / 2 * single[0]).max(arb(0))
    several = [-((count * (-x).log1p()).expm1()) for x in single]
    return nodes.mean(nodes.inner(several) + count * left * least.union(arb(1)))


def with_moments(nodes: Nodes, lost: Lost, first: arb, second: arb) -> arb:
    """E sqrt(S) from E S and E S^2: t E S - t^2 E S^2 / 2 <= F(t) <= t E S."""
    before = first * nodes.before(1) - arb(0).union(second / 2 * nodes.before(2))
    return nodes.mean(nodes.inner(nodes.values(lost)) + before.max(arb(0)))
