"""erfc and Phi between decimal numbers, each by a series whose rest is bounded (docs/theory/curves.md, Gaussian)."""

from contextlib import contextmanager
from decimal import Decimal

import intervals as iv
from intervals import DOWN, UP, Interval, point
from terms import sure

FAR = 12  # from here on the terms of the asymptotic series fall below 10**-62 before they rise


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
        return _far(Interval(x, x))
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
    factor = point(2) / iv.pi() ** iv.HALF * iv.exp(-square)
    return Interval(total, UP.add(most, high)) * factor


def _far(x):
    """exp(-x**2)/(x sqrt(pi)) times 1 - 1/(2 x**2) + 3/(2 x**2)**2 - ...: the sums lie on both sides of the value."""
    twice, term, total = point(2) * x * x, point(1), point(1)
    for n in range(1, int(x.lo * x.lo)):
        term = term * point(2 * n - 1) / twice
        after = total + (term if n % 2 == 0 else -term)
        both, total = total.hull(after), after
        if term.hi <= Decimal(10) ** -UP.prec:
            break
    return both * iv.exp(-(x * x)) / (x * iv.pi() ** iv.HALF)
