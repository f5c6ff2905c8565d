"""Volumes of caps of balls, and moments of densities with Bessel functions."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from flint import acb, arb, arb_poly, ctx

from dpverify.trusted.kernel.balls import MAX_PRECISION, constant, precision, rational
from dpverify.trusted.kernel.expr import ONE, ZERO, Call, Expr, Mul, Num, Pow, Sym, mul, symbols
from dpverify.trusted.language.linear import linear_part
from dpverify.trusted.numbers.complex import square_root

_HALF_REACHES: Final = (arb(1) / 16, arb(1) / 4, arb(3) / 8, arb(9) / 16)
"""Where a series of positive terms is cut for arguments up to about a half."""
_WIDE: Final = arb(2) ** -6
UNIT: Final = arb(0).union(arb(1))
_NAN: Final = acb("nan")


class Cap:
    """C(x) = x^m F(m, 1 - m; m + 1; x), m the integral of (t (1 - t))^(m - 1) from 0 to x, for 2 m a positive integer."""

    def __init__(self, twice: int) -> None:
        self.twice, self._m = twice, arb(twice) / 2
        self.full = self._m * (2 * self._m.lgamma() - (2 * self._m).lgamma()).exp()
        self._series = _Positive(self._m)

    def factor(self, x: acb, a: bool) -> acb:
        """C(x) / x^m, by a series in x, or in 1 - x: C(x) + C(1 - x) is C(1)."""
        if x.rad() > _WIDE / self._m:
            return self._wide(x, a)
        rest = 1 - x
        if x.real < rest.real:
            return self.power(rest, a) * self._series(x)
        return self.full / self.power(x, a) - self.power(rest, a) * self._series(rest)

    def _wide(self, x: acb, a: bool) -> acb:
        """The mean of (1 - x t)^(m - 1) for t of density m t^(m - 1)."""
        return (1 - x * UNIT).pow(self._m - 1, analytic=a)

    def power(self, x: acb, a: bool) -> acb:
        """x^m."""
        return square_root(x, a) ** self.twice if self.twice % 2 else x ** (self.twice // 2)


class _Positive:
    """F(1, 2 m; m + 1; x) = C(x) / (x (1 - x))^m, by Euler: a series of positive terms."""

    def __init__(self, m: arb) -> None:
        self._terms, self._series = [arb(1)], list[tuple[arb, arb_poly, arb, arb]]()
        for reach in _HALF_REACHES:
            size = reach ** (len(self._terms) - 1) * self._terms[-1]
            while True:
                k = len(self._terms) - 1
                ratio = reach * (2 * m + k) / (m + 1 + k)  # of this term and the next: it falls with k where it is above `reach`
                if ratio < 1 and size * ratio / (1 - ratio) <= arb(2) ** -ctx.prec:
                    break
                self._terms.append(self._terms[-1] * (2 * m + k) / (m + 1 + k))
                size = size * ratio
            last = self._terms[-1]
            self._series.append((reach, arb_poly(self._terms), last, (2 * m + k) / (m + 1 + k)))

    def __call__(self, x: acb) -> acb:
        size = x.abs_upper()
        for reach, series, last, ratio in self._series:
            if size <= reach:
                quotient = size * ratio
                rest = (last * size ** (series.length() - 1) * quotient / (1 - quotient)).upper()
                return _sum(series, x) + acb((-rest).union(rest), (-rest).union(rest))
        return _NAN


def _sum(series: arb_poly, x: acb) -> acb:
    return acb(series(x.real)) if x.imag == 0 else series(x)


@dataclass(frozen=True, slots=True)
class BesselMoment:
    """Integrals of factor * r^p K_v(scale r), p > v - 1, v >= 0 (NIST DLMF 10.43.19 and 10.43.1). The trees are constants."""

    factor: Expr
    scale: Expr
    p: Fraction
    v: Fraction

    def whole(self) -> arb:
        """From 0 to infinity."""
        gammas = rational((self.p + 1 - self.v) / 2).gamma() * rational((self.p + 1 + self.v) / 2).gamma()
        return constant(self.factor) * (2 / constant(self.scale)) ** rational(self.p + 1) / 4 * gammas

    def up_to(self, radius: arb) -> arb | None:
        """From 0 to an exact radius > 0; None for other than p = v + 1, where x^p K_p(x) falls by x^p K_v(x)."""
        if self.p != self.v + 1:
            return None
        _, size = radius.mid().man_exp()
        lost = -2 * (int(size) + int(radius.bits()))
        if lost > MAX_PRECISION // 2:
            return None
        with precision(ctx.prec + max(lost, 0) + int(4 * self.p)):
            scale, p = constant(self.scale), rational(self.p)
            x = scale * radius
            taken = x**p * x.bessel_k(p)
            return constant(self.factor) / scale ** (p + 1) * (2 ** (p - 1) * p.gamma() - taken)


def bessel_moment(density: Expr) -> BesselMoment | None:
    """A density as a power times a Bessel function; None where it is no such product by its form."""
    factors = density.args if isinstance(density, Mul) else (density,)
    bessels = [part for part in factors if isinstance(part, Call) and part.name == "besselk"]
    if len(bessels) != 1:
        return None
    order, x = bessels[0].args
    scale, rest = linear_part(x, "r")
    p, others = Fraction(0), list[Expr]()
    for part in factors:
        base, exponent = (part.base, part.exponent) if isinstance(part, Pow) else (part, ONE)
        if base == Sym("r") and isinstance(exponent, Num):
            p += exponent.value
        elif part is not bessels[0]:
            others.append(part)
    if any(symbols(part) for part in (*others, scale)) or rest != ZERO or not isinstance(order, Num):
        return None
    v = abs(order.value)
    return BesselMoment(mul(*others), scale, p, v) if p > v - 1 and constant(scale) > 0 else None
