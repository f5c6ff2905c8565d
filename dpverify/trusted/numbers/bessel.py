"""Modified Bessel functions of the second kind on balls: the scaled pair of two orders, the logarithm and its two derivatives."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from flint import arb, ctx

from dpverify.trusted.language.expr import Expr, Num
from dpverify.trusted.numbers.balls import MAX_PRECISION, NAN, constant, on_ends, precision

MAX_ORDER: Final = 1_000
"""The greatest order of a Bessel function that is evaluated: the recurrence that gets there is as long."""


def besselk_scaled(order: Expr, x: arb) -> tuple[arb, arb]:
    """exp(x) K_v(x) and exp(x) K_(v+1)(x) at an exact point x > 0, to nearly the working precision."""
    if not x.is_finite():
        return NAN, NAN
    mantissa, exponent = x.man_exp()
    return _besselk_pair(order, int(mantissa), int(exponent), ctx.prec)


@lru_cache(maxsize=4096)
def _besselk_pair(order: Expr, mantissa: int, exponent: int, bits: int) -> tuple[arb, arb]:
    x = arb((mantissa, exponent))
    found = (NAN, NAN)
    if not abs(constant(order)) <= MAX_ORDER:
        return found
    # near its turning point the power series loses about 3 x bits before the asymptotic series takes over
    for extra in (32, 32 + 3 * min(int(mantissa).bit_length() + exponent, 12) ** 2, 400, 1600):
        with precision(min(bits + extra, MAX_PRECISION)):
            found = _besselk_at(order, x)
        if min(k.rel_accuracy_bits() for k in found) >= bits:
            break
    return found


def _besselk_at(order: Expr, x: arb) -> tuple[arb, arb]:
    if not isinstance(order, Num) or order.value.denominator != 1:
        return _besselk_between(order, x, 0), _besselk_between(order, x, 1)
    # integer orders from K_0 by the Wronskian I_0 K_1 + I_1 K_0 = 1/x and the recurrence, which is stable upward
    k0 = x.bessel_k(0, scaled=True)
    i0, i1 = x.bessel_i(0, scaled=True), x.bessel_i(1, scaled=True)
    k1 = (1 / x - i1 * k0) / i0
    n = abs(int(order.value))
    low, high = k0, k1
    for m in range(1, n + 1):
        low, high = high, low + 2 * m / x * high
    if order.value >= 0:
        return low, high
    return low, (high - 2 * n / x * low)  # K_(v+1) with v = -n is K_(n-1)


def _besselk_between(order: Expr, x: arb, above: int) -> arb:
    """exp(x) K_v(x), v = order + above no integer, by its asymptotic series or as pi/2 (I_(-v) - I_v) / sin(pi v), which loses 3 x bits."""
    if x > ctx.prec:
        return x.bessel_k(constant(order) + above, scaled=True)
    with precision(min(ctx.prec + 3 * int(x.ceil().unique_fmpz() or 0), MAX_PRECISION)):
        v = constant(order) + above
        return arb.pi() / 2 * (x.bessel_i(-v) - x.bessel_i(v)) / (arb.pi() * v).sin() * x.exp()


def logbesselk(order: Expr, x: arb) -> arb:
    """log K_v."""
    if not x.lower() > 0:
        return NAN
    return on_ends(x, lambda t: besselk_scaled(order, t)[0].log() - t)


def logbesselk_jet(order: Expr, x: arb) -> tuple[arb, arb, arb]:
    """log K_v and two derivatives; y = -K'/K falls in x (K is a mixture of exponentials) and obeys a Riccati equation."""
    if not x.lower() > 0:
        return NAN, NAN, NAN
    v = constant(order)

    def ratio(t: arb) -> arb:  # -K'_v = K_(v+1) - (v/t) K_v
        at, above = besselk_scaled(order, t)
        return above / at - v / t

    y = on_ends(x, ratio)
    return logbesselk(order, x), -y, 1 + v * v / (x * x) + y / x - y * y
