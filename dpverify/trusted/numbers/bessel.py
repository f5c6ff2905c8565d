"""Modified Bessel functions of the second kind on balls: the scaled pair of two orders, the logarithm and its two derivatives."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Final

from flint import arb, ctx

from dpverify.trusted.kernel.balls import MAX_PRECISION, NAN, constant, precision, rational
from dpverify.trusted.kernel.expr import Expr, Num
from dpverify.trusted.kernel.loading import on_forgetting
from dpverify.trusted.numbers.monotone import on_ends

MAX_ORDER: Final = 1_000
"""The greatest order of a Bessel function that is evaluated: the recurrence that gets there is as long."""
_GUARD: Final = 32


def besselk_scaled(order: Expr, x: arb) -> tuple[arb, arb]:
    """exp(x) K_v(x) and exp(x) K_(v+1)(x) at an exact point x > 0, to nearly the working precision."""
    if not x.is_finite():
        return NAN, NAN
    mantissa, exponent = x.man_exp()
    return _besselk_pair(order, int(mantissa), int(exponent), ctx.prec)


@lru_cache(maxsize=4096)
def _besselk_pair(order: Expr, mantissa: int, exponent: int, bits: int) -> tuple[arb, arb]:
    if not abs(constant(order)) <= MAX_ORDER:
        return NAN, NAN
    x, v = arb((mantissa, exponent)), order.value if isinstance(order, Num) else None
    with precision(min(bits + _GUARD, MAX_PRECISION)):
        return (_between(order, x, 0), _between(order, x, 1)) if v is None or v.denominator > 2 else _by_recurrence(v, x)


on_forgetting(_besselk_pair.cache_clear)


def _by_recurrence(v: Fraction, x: arb) -> tuple[arb, arb]:
    """For 2 v an integer, from two low orders and the recurrence, which is stable upward: 0 and 1, or -1/2 and 1/2, where K is elementary.

    K_1 is by the Wronskian I_0 K_1 + I_1 K_0 = 1/x. K_-v is K_v.
    """
    root = (arb.pi() / (2 * x)).sqrt()
    low, known = Fraction(-1, 2), [root, root]
    if v.denominator == 1:
        lost = 0 if x > ctx.prec else 3 * _ceiling(x)  # by the power series, which is taken before the asymptotic one is good enough
        with precision(min(ctx.prec + lost, MAX_PRECISION)):
            k0 = x.bessel_k(0, scaled=True)
            i0, i1 = x.bessel_i(0, scaled=True), x.bessel_i(1, scaled=True)
        low, known = Fraction(0), [k0, (1 / x - i1 * k0) / i0]
    while low + len(known) <= max(abs(v), abs(v + 1)):
        known.append(known[-2] + 2 * rational(low + len(known) - 1) / x * known[-1])
    return known[int(abs(v) - low)], known[int(abs(v + 1) - low)]


def _between(order: Expr, x: arb, above: int) -> arb:
    """exp(x) K_v(x), v = order + above no integer, by its asymptotic series or as pi/2 (I_(-v) - I_v) / sin(pi v)."""
    v = constant(order) + above
    if x > ctx.prec and x > abs(v):
        return x.bessel_k(v, scaled=True)
    with precision(min(ctx.prec + 3 * _ceiling(x), MAX_PRECISION)):  # the series lose 3 x bits
        v = constant(order) + above
        return arb.pi() / 2 * (x.bessel_i(-v) - x.bessel_i(v)) / (arb.pi() * v).sin() * x.exp()


def _ceiling(x: arb) -> int:
    return int(x.ceil().unique_fmpz() or 0)


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
