"""erfc and Phi between decimal numbers, each by a series whose rest is bounded (docs/theory/curves.md, Gaussian)."""

from contextlib import contextmanager
from decimal import Decimal
from functools import lru_cache

import intervals as iv
from intervals import DOWN, UP, Interval, point
from terms import sure

FAR = 4  # from here on by a continued fraction


@contextmanager
def digits(more):
    """So many more digits inside."""
    kept = DOWN.prec
    DOWN.prec = UP.prec = kept + more
    try:
        yield
    finally:
        DOWN.prec = UP.prec = kept


def erfc(x):
    """erfc, which falls, between its values at the ends."""
    return Interval(_erfc(x.hi).lo, _erfc(x.lo).hi)


def phi(x):
    """Phi(x), the distribution function of N(0, 1)."""
    root = point(2) ** iv.HALF
    return erfc(-x / root) / point(2)


def _erfc(x):
    """At one decimal number."""
    if x < 0:
        return point(2) - _erfc(x.copy_negate())
    sure(x < 100_000, "erfc of a number that is too large")
    if x > FAR:
        return _far(x)
    with digits(int(x * x / 2) + 6):  # 1 - erf loses so many
        near = point(1) - _erf(x)
    return Interval(max(near.lo, Decimal(0)), near.hi)


def _erf(x):
    """2/sqrt(pi) exp(-x**2) times the sum of 2**n x**(2 n + 1)/(1 3 ... (2 n + 1)): no term is below 0, and each is the one before times
    2 x**2/(2 n + 1). Where that is at most 1/2, what follows is at most the last term.
    """
    square = Interval(DOWN.multiply(x, x), UP.multiply(x, x))
    low, high, total, most, n = x, x, x, x, 0
    while True:
        n += 1
        low = DOWN.divide(DOWN.multiply(low, DOWN.multiply(2, square.lo)), 2 * n + 1)
        high = UP.divide(UP.multiply(high, UP.multiply(2, square.hi)), 2 * n + 1)
        total, most = DOWN.add(total, low), UP.add(most, high)
        if 4 * square.hi <= 2 * n + 3 and high <= UP.multiply(most, Decimal(10) ** -UP.prec):
            break
    factor = point(2) / _root(DOWN.prec) * iv.exp(-square)
    return Interval(total, UP.add(most, high)) * factor


def _far(x):
    """exp(-x**2)/(sqrt(pi) T), T = x + (1/2)/(x + (2/2)/(x + (3/2)/(x + ...))), whose parts are all at least x: what is left out after n of
    them lies between x and x + (n/2)/x.
    """
    n = (DOWN.prec * 6 // (5 * int(x))) ** 2 + 20
    low, high = x, UP.add(x, UP.divide(Decimal(n) / 2, x))
    for k in range(n - 1, 0, -1):
        part = Decimal(k) / 2
        low, high = DOWN.add(x, DOWN.divide(part, high)), UP.add(x, UP.divide(part, low))
    square = Interval(DOWN.multiply(x, x), UP.multiply(x, x))
    return iv.exp(-square) / (_root(DOWN.prec) * Interval(low, high))


@lru_cache
def _root(_):
    """sqrt(pi)."""
    return iv.pi() ** iv.HALF
