"""Integrals of functions that are known at real points alone, by the rule of Gauss, with bounds of them round the interval.

Let f be analytic and at most M on the ellipse of the foci -1, 1 whose half axes add up to rho. Its coefficients as a series of Chebyshev
polynomials T_k are at most 2 M rho^-k (Bernstein). The rule of N points is exact up to the degree 2N - 1 and for all odd T_k; the others
have integrals of at most 2/(k^2 - 1), and the rule gives them at most 2, the sum of its weights. So it is off by at most the sum over
k = 2N, 2N + 2, ... of 2 M rho^-k (2 + 2/15), which is 64/15 M rho^(-2N)/(1 - rho^-2), where N is at least 2.

Intervals are halved where that is too much. The algorithm is fixed: it is told how often an interval is halved at most, n times, so that
it asks for at most 2^(n + 2) bounds and 2^n N values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from flint import acb, arb, ctx

from dpverify.trusted.kernel.loading import remembered

_POINTS: Final = 8
_RHOS: Final = (4, 16)
"""Of the ellipses on which functions are bounded; half axes are (rho + 1/rho)/2 and (rho - 1/rho)/2."""


def gauss(function: Callable[[acb], arb], bound: Callable[[acb], arb], low: arb, high: arb, off: arb, halvings: int) -> arb:
    """The integral from low to high, of which each half is taken by itself where that is not known to be off by less than so much.

    function: at real points. bound: more than its absolute value on a box in which it is analytic, not finite where that is not certain.
    halvings: how often an interval is halved at most; then the error is what it is.
    """
    middle, half = (low + high) / 2, (high - low) / 2
    error = arb("inf")
    for rho in map(arb, _RHOS):
        most = bound(acb(middle + half * arb(0, (rho + 1 / rho) / 2), half * arb(0, (rho - 1 / rho) / 2))).upper()
        here = half * most * 64 / (15 * (1 - rho**-2) * rho ** (2 * _POINTS))
        error = here if here < error else error
        if error < off:
            break
    if halvings and not error < off:
        return gauss(function, bound, low, middle, off, halvings - 1) + gauss(function, bound, middle, high, off, halvings - 1)
    found: arb = half * sum((weight * function(acb(middle + half * point)) for point, weight in _rule(ctx.prec)), arb(0))
    return found + arb(0, error)


@remembered(8)
def _rule(_: int) -> list[tuple[arb, arb]]:
    """The points on [-1, 1] and their weights, to the working precision."""
    return [arb.legendre_p_root(_POINTS, k, weight=True) for k in range(_POINTS)]
