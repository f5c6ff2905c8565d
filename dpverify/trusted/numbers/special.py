"""Special functions of one argument on balls, with two derivatives, and logarithms of them that do not underflow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from flint import arb, ctx

from dpverify.trusted.kernel.balls import MAX_PRECISION, NAN, precision
from dpverify.trusted.numbers.monotone import on_ends


def _logerfc(x: arb) -> tuple[arb, arb, arb]:
    """log erfc and two derivatives; the hazard rate 2 exp(-x^2)/(sqrt(pi) erfc(x)) rises in x."""
    hazard = on_ends(x, lambda t: 2 * (-t * t).exp() / (arb.pi().sqrt() * t.erfc()))
    return LOGARITHMS["logerfc"](x), -hazard, -hazard * (hazard - 2 * x)


def _logexprel(x: arb) -> tuple[arb, arb, arb]:
    """log((e^x - 1)/x), its rising derivative 1/(1 - e^-x) - 1/x, and the second, even and falling away from 0."""
    farthest, nearest = x.abs_upper(), x.abs_lower()
    bend = _logexprel_at(farthest)[2].union(_logexprel_at(nearest)[2])
    if x.is_exact():
        return _logexprel_at(x)
    low, high = _logexprel_at(x.lower()), _logexprel_at(x.upper())
    return low[0].union(high[0]), low[1].union(high[1]), bend


def _logexprel_at(x: arb) -> tuple[arb, arb, arb]:
    if x == 0:
        return arb(0), arb(1) / 2, arb(1) / 12
    if not x.is_finite():
        return NAN, NAN, NAN
    mantissa, exponent = x.man_exp()
    lost = max(0, -3 * (int(mantissa).bit_length() + int(exponent)))  # bits that cancel near 0
    if lost + ctx.prec > MAX_PRECISION // 2:
        return NAN, NAN, NAN
    with precision(ctx.prec + lost + 16):
        half = (x / 2).sinh()
        return (x.expm1() / x).log(), -1 / (-x).expm1() - 1 / x, 1 / (x * x) - 1 / (4 * half * half)


def _floor(x: arb) -> tuple[arb, arb, arb]:
    whole = x.floor()
    return (whole, arb(0), arb(0)) if whole.is_exact() else (whole, NAN, NAN)


def _asinh(x: arb) -> tuple[arb, arb, arb]:
    root = (1 + x * x).rsqrt()
    return x.asinh(), root, -x * root**3


def _atanh(x: arb) -> tuple[arb, arb, arb]:
    d1 = 1 / (1 - x * x)
    return x.atanh(), d1, 2 * x * d1 * d1


def _tanh(x: arb) -> tuple[arb, arb, arb]:
    t = x.tanh()
    d1 = x.sech() ** 2
    return t, d1, -2 * t * d1


def _erf(x: arb, sign: int = 1) -> tuple[arb, arb, arb]:
    d1 = sign * 2 * (-x * x).exp() / arb.pi().sqrt()
    return x.erf() if sign > 0 else x.erfc(), d1, -2 * x * d1


def _gamma(x: arb) -> tuple[arb, arb, arb]:
    g, psi = x.gamma(), x.digamma()
    return g, g * psi, NAN


JETS: Final[Mapping[str, Callable[[arb], tuple[arb, arb, arb]]]] = {
    "cosh": lambda x: (x.cosh(), x.sinh(), x.cosh()),
    "sinh": lambda x: (x.sinh(), x.cosh(), x.sinh()),
    "tanh": _tanh, "asinh": _asinh, "atanh": _atanh, "erf": _erf, "erfc": lambda x: _erf(x, -1), "gamma": _gamma, "floor": _floor,
    "logerfc": _logerfc, "logexprel": _logexprel,
}  # fmt: skip

LOGARITHMS: Final[Mapping[str, Callable[[arb], arb]]] = {
    "logerfc": lambda x: on_ends(x, lambda t: t.erfc().log()),
    "logexprel": lambda x: on_ends(x, lambda t: _logexprel_at(t)[0]),
}
"""Logarithms of special functions, without derivatives."""
