"""log K_v(x) and its slope between decimal numbers (docs/theory/densities.md, Bessel functions): K_v(x) is half of the integral of
exp(-x cosh t) cosh(v t) over the line, and log K_v is convex, as K_v is a mean of exponentials in x.

The sum of h f(k h) over all whole k is off by at most 2 M/(exp(2 pi a/h) - 1), M the most that the integral of |f(t + i b)| is for |b| < a
(Trefethen & Weideman 2014, Theorem 5.1). Here |f(t + i b)| <= exp(-x cos(a) cosh t) cosh(v t), cos(1.23) > 1/3, and cosh t >= 1 + t**2/2.
"""

from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

import intervals as iv
from intervals import Interval, exp, log, point
from terms import sure

A, THIRD = Fraction(123, 100), Fraction(1, 3)


@lru_cache(maxsize=20_000)
def _bessel(v, x, digits):
    """K_v(x) at one decimal number x > 0, v >= 0, in so many digits."""
    sure(Decimal("1e-3") < x < 5000 and v <= 60, "a Bessel function too far out")
    h = 2 * 3 * A / (Fraction(digits) * Fraction(5, 2) + Fraction(x))
    at, step, total, k = Interval(x, x), point(h), exp(-Interval(x, x)) / point(2), 0
    while True:
        k += 1
        t = exp(point(k * h))
        back = point(1) / t
        size = exp(point(v * k * h))
        here = exp(-(at * (t + back) / point(2)))
        total += here * (size + point(1) / size) / point(2)
        falls = (at * (t - back) / point(2) - point(v)).lo
        if falls > 1 and (here * size).hi < total.lo * Decimal(10) ** -(digits + 3):
            break
    rest = here * size / Interval(falls, falls)  # of the sum beyond, by the integral of what falls at least so fast
    root = (point(2) * iv.pi() / (at * point(THIRD))) ** iv.HALF
    most = root * exp(point(v * v) / (at * point(2 * THIRD)) - at * point(THIRD))
    off = most / (exp(point(2 * A / h) * iv.pi()) - point(1))
    total = total * step
    return Interval((total - off).lo, (total + rest + off).hi)


def bessel(v, x):
    """K_v between its values at the ends: it falls."""
    digits = iv.DOWN.prec
    return Interval(_bessel(abs(v), x.hi, digits).lo, _bessel(abs(v), x.lo, digits).hi)


def log_bessel(v, x):
    """log K_v."""
    return log(bessel(v, x))


def log_slope(v, x):
    """The derivative of log K_v, which rises: -(K_(v-1) + K_(v+1))/(2 K_v)."""
    low, high = (-((bessel(v - 1, end) + bessel(v + 1, end)) / (point(2) * bessel(v, end))) for end in (point_of(x.lo), point_of(x.hi)))
    return Interval(low.lo, high.hi)


def point_of(x):
    """One decimal number."""
    return Interval(x, x)
