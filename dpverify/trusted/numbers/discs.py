"""Removable singularities N(z) / (z - p)^m of densities, and bounds on what the density is on a disc round one."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from flint import acb, arb

from dpverify.trusted.kernel.balls import rational
from dpverify.trusted.kernel.errors import ExprError
from dpverify.trusted.kernel.expr import ZERO, Expr, Mul, Num, Pow, Sym, mul, sub, substitute
from dpverify.trusted.kernel.loading import remembered
from dpverify.trusted.language.derivatives import derivative
from dpverify.trusted.numbers.complex import compiled

_ARCS: Final = 64

_MOST_ORDER: Final = 1_000


@remembered(256)
def bound_on_disc(density: Expr, name: str, point: Fraction, radius: Fraction) -> arb | None:
    """What |density| is at most on a closed disc round a point where it is N(z) / (z - point)^m with N zero of order m, or None.

    N is analytic on the disc, and so is the quotient: its maximum on the circle bounds it inside.
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
    function, most, reach = compiled(numerator, name), arb(0), rational(radius)
    across = (-reach).union(reach)
    if not function(acb(rational(point) + across, across), True).is_finite():
        return None
    for i in range(_ARCS):
        most = most.max(abs(function(rational(point) + _arc(i) * reach, True)).upper())
    return (most / reach ** int(order)).upper() if most.is_finite() else None


def _arc(i: int) -> acb:
    """The i-th of _ARCS arcs of the unit circle, in a box."""
    angle = arb.pi() * 2 * arb(i).union(arb(i + 1)) / _ARCS
    return acb(angle.cos(), angle.sin())
