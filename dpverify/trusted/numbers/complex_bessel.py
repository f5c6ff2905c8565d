"""log K_v and K_v on complex balls in the right half-plane."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from flint import acb, arb, arb_poly, ctx, fmpz

from dpverify.trusted.kernel.balls import constant, precision
from dpverify.trusted.kernel.expr import ONE, Expr, neg, sub
from dpverify.trusted.numbers.bessel import besselk_scaled

Complex = Callable[[acb, bool], acb]
"""As in `complex`."""

_KEPT: Final = 4_096

_MOST_TAYLOR: Final = 256

_MOST_TAYLOR_ORDER: Final = 40
"""Beyond, Bessel functions are not expanded about a point: their asymptotic series is short, or the Taylor series long."""

_TERMS: Final = Fraction(10, 29)
"""For every bit: at most 8/63 of the radius of the bound is reached."""

_BITS_AN_ORDER: Final = 3
"""So many bits the bound on the interval's disc, down to an eighth of its centre, is above the values: eightfold for each order."""

_BESSEL_GUARD: Final = 40

_BOUND_BITS: Final = 64

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
        self._pair = _BesselPair(sub(self._order, ONE) if self._v >= 1 else self._order)

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
        lower, upper = self._pair(u)
        return (upper, lower / upper) if self._v >= 1 else (lower, upper / lower - 2 * self._v / u)


class _BesselPair:
    """exp(u) K_v(u) and exp(u) K_(v+1)(u) at exact u > 0, as `besselk_scaled`, by Taylor series where many u are near each other.

    a(u) = exp(u) K_v(u) is the integral of exp(-u (cosh t - 1)) cosh(v t): its derivatives alternate in sign. So round a centre c its
    Taylor coefficients obey |a_n| rho^n <= a(c - rho) for 0 < rho < c, which bounds what is left out. They follow from
    u a' = (u + v) a - u b and u b' = (u - v - 1) b - u a, b that of the order v + 1.
    """

    def __init__(self, order: Expr) -> None:
        self._order, self._v = order, constant(order)
        self._prec, self._size = ctx.prec, int(abs(self._v).ceil().upper().unique_fmpz() or 0)
        self._known: dict[tuple[fmpz, fmpz, int], tuple[arb, arb]] = {}
        self._visits: dict[tuple[int, int], int] = {}
        self._cells: dict[tuple[int, int], _BesselCell] = {}

    def __call__(self, u: arb) -> tuple[arb, arb]:
        mantissa, exponent = u.man_exp()
        key = mantissa, exponent, ctx.prec
        found = self._known.get(key)
        if found is None:
            known = self._size <= _MOST_TAYLOR_ORDER and u < _MOST_TAYLOR and ctx.prec <= self._prec
            cell = self._cell(int(mantissa), int(exponent)) if known else None
            found = besselk_scaled(self._order, u) if cell is None else cell.at(u)
            if len(self._known) >= _KEPT:
                self._known.clear()
            self._known[key] = found
        return found

    def _cell(self, mantissa: int, exponent: int) -> _BesselCell | None:
        """The series for a quarter of an octave, made when a third value is asked for."""
        bits = mantissa.bit_length()
        key = bits + exponent, mantissa << 3 >> bits
        cell = self._cells.get(key)
        if cell is None:
            self._visits[key] = self._visits.get(key, 0) + 1
            if self._visits[key] > 2:
                cell = self._cells[key] = self._made(*key)
        return cell

    def _made(self, exponent: int, eighth: int) -> _BesselCell:
        """Round the middle of the interval from `eighth` to `eighth + 1` eighths of 2^exponent, 4 <= eighth < 8."""
        width = arb(2) ** (exponent - 3)
        centre = (eighth + arb(1) / 2) * width
        reach = centre * 7 / 8
        with precision(_BOUND_BITS):
            most = [bound.upper() for bound in besselk_scaled(self._order, centre - reach)]
        lost = int((3 * width).ceil().unique_fmpz() or 0)
        with precision(self._prec + _BESSEL_GUARD + lost):
            a, b = ([value] for value in besselk_scaled(self._order, centre))
            count = int((self._prec + _BITS_AN_ORDER * (self._size + 2)) * _TERMS)
            v, last = self._v, (arb(0), arb(0))
            for n in range(count - 1):
                x, y = a[-1], b[-1]
                scale = centre * (n + 1)
                a.append(((centre + v - n) * x + last[0] - centre * y - last[1]) / scale)
                b.append(((centre - v - 1 - n) * y + last[1] - centre * x - last[0]) / scale)
                last = x, y
            ratio = width / 2 / reach
            rest = [(bound * ratio**count / (1 - ratio)).upper() for bound in most]
        return _BesselCell(centre, (arb_poly(a), arb_poly(b)), (arb(0, rest[0]), arb(0, rest[1])))


@dataclass(frozen=True, slots=True)
class _BesselCell:
    """Taylor polynomials round a centre, and what they leave out on their interval."""

    centre: arb
    series: tuple[arb_poly, arb_poly]
    rest: tuple[arb, arb]

    def at(self, u: arb) -> tuple[arb, arb]:
        step = u - self.centre
        return self.series[0](step) + self.rest[0], self.series[1](step) + self.rest[1]


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
