"""log K_v and K_v on complex balls in the right half-plane."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from flint import acb, arb

from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.expr import ONE, Expr, neg, sub
from dpverify.trusted.numbers.bessel import besselk_scaled

Complex = Callable[[acb, bool], acb]
"""As in `complex`."""

_NARROW: Final = arb(2) ** -20

_NAN: Final = acb("nan")


class LogBesselK:
    """log K_v(u), v a real constant, and two derivatives, on balls in the right half-plane; non-finite off it.

    Let v >= 0 (K_-v = K_v) and y = K_(v-1)/K_v, so that the slope of log K_v is -y - v/u and its own slope 1 - y^2 +
    ((1 - 2 v) y + v/u)/u. K_v has no zero where |arg u| <= pi/2, and at u = i t the Wronskian gives Re y = 2/(pi t (J_v^2 + Y_v^2)(t)),
    which rises to 1 if v > 1/2 and falls to 1 if v < 1/2 (Watson 1944, sections 15.7 and 13.74). At infinity y tends to 1; at 0 it
    tends to 0 for v > 1/2, and Re y to infinity for v < 1/2. By the minimum principle f = 1 - y for v > 1/2, y - 1 for v < 1/2, maps
    the right half-plane into itself, so it does not expand hyperbolic distances (Schwarz and Pick): the disc that has w/k and w k > 0
    on opposite sides goes into that of f(w)/k and f(w) k. A wide disc costs one real value.
    """

    def __init__(self, order: Expr) -> None:
        self._v = constant(order)
        self._order, self._v = (order, self._v) if self._v >= 0 else (neg(order), -self._v)
        self._lower = sub(self._order, ONE) if self._v >= 1 else self._order

    def value(self, u: acb) -> acb:
        """From a real point, by the mean of the slope of log(u^v K_v(u)), which is -y."""
        middle = u.real.mid()
        if not (middle > 0 and self._v >= 0):
            return _NAN
        start = acb(self._scaled(middle)[0].log() - middle)
        if u.is_exact() and u.imag == 0:
            return start
        return start - self._v * (u / middle).log() - (u - middle) * (1 + self._excess(u.union(acb(middle))))

    def about(self, u: arb) -> tuple[arb, arb]:
        """The value and the slope at an exact u > 0."""
        at, y = self._scaled(u)
        return at.log() - u, -y - self._v / u

    def slope(self, u: acb) -> acb:
        return -1 - self._excess(u) - self._v / u

    def bend(self, u: acb) -> acb:
        """The second derivative."""
        excess = self._excess(u)
        return ((1 - 2 * self._v) * (1 + excess) + self._v / u) / u - excess * (2 + excess)

    def bound(self, u: acb) -> arb:
        """An upper bound of |K_v(u)|: K_v(Re u), from its integral of exp(-u cosh t) cosh(v t)."""
        least = u.real.lower()
        return ((-least).exp() * self._scaled(least)[0]).upper() if least > 0 else arb("inf")

    def _excess(self, u: acb) -> acb:
        """y - 1."""
        middle = u.real.mid()
        radius = (u - middle).abs_upper()
        low, high = (middle - radius).lower(), (middle + radius).upper()
        if not (low > 0 and self._v >= 0):
            return _NAN
        if radius == 0:
            return acb(self._scaled(middle)[1] - 1)
        w = middle if radius < middle * _NARROW else (low * high).sqrt().mid()
        k = (w / low).upper().max((high / w).upper())
        across = ((k - 1 / k) / 2).upper()
        return (self._scaled(w)[1] - 1) * acb((1 / k).union(k), (-across).union(across))

    def _scaled(self, u: arb) -> tuple[arb, arb]:
        """exp(u) K_v(u) and y at an exact u > 0."""
        lower, upper = besselk_scaled(self._lower, u)
        return (upper, lower / upper) if self._v >= 1 else (lower, upper / lower - 2 * self._v / u)


def besselk(order: Expr, x: Complex) -> Complex:
    """K_v of a function."""
    logarithm = LogBesselK(order)

    def f(z: acb, a: bool) -> acb:
        u = x(z, a)
        found = logarithm.value(u).exp()
        if 16 * found.rad() < abs(found):
            return found
        size = logarithm.bound(u)
        return found if found.is_finite() and found.rad() < size else acb((-size).union(size), (-size).union(size))

    return f


def logbesselk(order: Expr, x: Complex) -> Complex:
    """log K_v of a function."""
    logarithm = LogBesselK(order)
    return lambda z, a: logarithm.value(x(z, a))
