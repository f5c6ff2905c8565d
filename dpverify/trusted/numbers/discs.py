"""Removable singularities N(z) / (z - p)^m of densities, and a disc round each with a bound on what the density is there."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from flint import acb, arb

from dpverify.trusted.language.derivatives import derivative
from dpverify.trusted.language.errors import ExprError
from dpverify.trusted.language.expr import ZERO, Expr, Mul, Num, Pow, Sym, mul, sub, substitute
from dpverify.trusted.language.loading import remembered
from dpverify.trusted.numbers.balls import rational
from dpverify.trusted.numbers.complex import compiled

_ARCS: Final = 64

_MOST_ORDER: Final = 1_000


@dataclass(frozen=True, slots=True)
class Disc:
    """A disc round a removable singularity on which the density is at most `bound` in absolute value."""

    radius: arb
    bound: arb


@remembered(256)
def disc_round(density: Expr, name: str, point: Fraction) -> Disc | None:
    """The disc round a point where the density is N(z) / (z - point)^m with N analytic and zero of order m, or None.

    The quotient is then analytic in the disc, so its maximum on the circle bounds it inside.
    """
    distance = sub(Sym(name), Num(point))
    factors = density.args if isinstance(density, Mul) else (density,)
    poles = [f for f in factors if isinstance(f, Pow) and f.base == distance and isinstance(f.exponent, Num)]
    order = -sum((f.exponent.value for f in poles if isinstance(f.exponent, Num)), Fraction(0))
    if not 0 < order <= _MOST_ORDER or order.denominator != 1:
        return None
    numerator = mul(*(f for f in factors if f not in poles))
    try:
        taylor = numerator
        for _ in range(int(order)):
            if substitute(taylor, {name: Num(point)}) != ZERO:
                return None
            taylor = derivative(taylor, name)
    except ExprError:
        return None
    function = compiled(numerator, name)
    for k in (2, 1, 0, -1, -2, -4):
        radius = arb(2) ** k
        across = (-radius).union(radius)
        if not function(acb(rational(point) + across, across), True).is_finite():
            continue
        bound = arb(0)
        for i in range(_ARCS):
            bound = bound.max(abs(function(rational(point) + _arc(i) * radius, True)).upper())
        if bound.is_finite():
            return Disc(radius, (bound / radius ** int(order)).upper())
    return None


def _arc(i: int) -> acb:
    """The i-th of _ARCS arcs of the unit circle, in a box."""
    angle = arb.pi() * 2 * arb(i).union(arb(i + 1)) / _ARCS
    return acb(angle.cos(), angle.sin())
