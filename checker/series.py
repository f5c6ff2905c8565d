"""Taylor's series of forms in one symbol, between decimal numbers: each coefficient holds those at all points of an interval.

A series is a list of intervals, the k-th for the k-th derivative over k!. By the equations that functions meet: y = x**e has x y' = e x' y,
and so on; log K_v has the slope L with L' = 1 + v**2/x**2 - L/x - L**2.
"""

from decimal import Decimal
from functools import reduce

import bessel
import intervals as iv
from algebra import Fraction
from intervals import Interval, exp, log, point
from normal import erfc
from terms import sure

ZERO, UNIT, FAR = point(0), point(1), Decimal(1000)


def variable(x, n):
    """The symbol itself about an interval."""
    return [x, UNIT, *[ZERO] * (n - 2)][:n]


def times(a, b):
    """The product."""
    return [sum((a[i] * b[k - i] for i in range(k + 1)), ZERO) for k in range(len(a))]


def plus(a, b):
    """The sum."""
    return [x + y for x, y in zip(a, b, strict=True)]


def slope_of(a):
    """The derivative, with a coefficient fewer."""
    return [point(k) * x for k, x in enumerate(a)][1:]


def integrated(start, a):
    """The series with a value and a derivative."""
    return [start, *(x / point(k + 1) for k, x in enumerate(a))]


def power(x, e):
    """x**e."""
    if e.denominator == 1 and 0 <= e <= 8:
        one = [UNIT, *[ZERO] * (len(x) - 1)]
        found = reduce(times, [x] * int(e), one)
        return [x[0] ** e, *found[1:]] if e else one
    sure(x[0].lo > 0 or (x[0].hi < 0 and e.denominator == 1), "a power of what may be 0")
    y = [x[0] ** e]
    for k in range(1, len(x)):
        total = sum((point(e * i - (k - i)) * x[i] * y[k - i] for i in range(1, k + 1)), ZERO)
        y.append(total / (point(k) * x[0]))
    return y


def exponential(x):
    """exp(x)."""
    y = [exp(x[0])]
    for k in range(1, len(x)):
        y.append(sum((point(i) * x[i] * y[k - i] for i in range(1, k + 1)), ZERO) / point(k))
    return y


def logarithm(x):
    """log(x)."""
    y = [log(x[0])]
    for k in range(1, len(x)):
        y.append((x[k] - sum((point(i) * y[i] * x[k - i] for i in range(1, k)), ZERO) / point(k)) / x[0])
    return y


def complement(x):
    """erfc(x)."""
    bell = exponential([-z for z in times(x, x)])
    factor = point(-2) / iv.pi() ** iv.HALF
    low, high = (max(-FAR, min(FAR, end)) for end in (x[0].hi, x[0].lo))  # it falls from 2 to 0
    least = Decimal(0) if x[0].hi > FAR else erfc(Interval(low, low)).lo
    value = Interval(least, Decimal(2) if x[0].lo < -FAR else erfc(Interval(high, high)).hi)
    return integrated(value, [factor * z for z in times(bell[:-1], slope_of(x))] if len(x) > 1 else [])


def bessel_slopes(v, x, n):
    """The slope L of log K_v at x, n coefficients: L' = 1 + v**2/x**2 - L/x - L**2."""
    sure(x[0].lo > 0, "a Bessel function of what may be 0")
    steps, inverse = slope_of(x), power(x, Fraction(-1))
    slopes, square = [bessel.log_slope(v, x[0])], [point(v * v) * z for z in times(inverse, inverse)]
    square[0] = square[0] + UNIT
    for k in range(n - 1):
        bent = [a - b - c for a, b, c in zip(square, times(slopes, inverse[: k + 1]), times(slopes, slopes), strict=False)]
        slopes.append(times(bent, steps[: k + 1])[k] / point(k + 1))
    return slopes


def log_bessel(v, x):
    """log K_v(x)."""
    steps = slope_of(x)
    return integrated(bessel.log_bessel(v, x[0]), times(bessel_slopes(v, x, len(steps)), steps) if steps else [])


def series(p, x, n, name="r", known=None):
    """The series of a form with n coefficients, of a symbol about an interval; known: series of atoms, those of other symbols too."""
    known = {} if known is None else known
    total = [ZERO] * n
    for m, c in p.items():
        each = [factor(a, e, x, n, name, known) for a, e in m]
        made = reduce(times, each) if each else [UNIT, *[ZERO] * (n - 1)]
        total = plus(total, [point(c) * z for z in made])
    return total


def factor(a, e, x, n, name, known):
    """The series of a power of an atom."""
    if (a, e) not in known:
        known[a, e] = _factor(a, e, x, n, name, known)
    return known[a, e]


def _factor(a, e, x, n, name, known):
    kind = a[0]
    if kind == "s":
        sure(a[1] == name or (a, 1) in known, "another symbol")
        return power(variable(x, n) if a[1] == name else known[a, 1], e)
    if kind in ("p", "pi"):
        return [(point(a[1]) if kind == "p" else iv.pi()) ** e, *[ZERO] * (n - 1)]
    if kind == "e":
        return exponential(series({a[1]: e}, x, n, name, known))
    if kind in ("q", "l"):
        inside = series(dict(a[1]), x, n, name, known)
        return power(logarithm(inside) if kind == "l" else inside, e)
    args = [series(dict(k), x, n, name, known) for k in a[2]]
    if a[1] == "erfc":
        return power(complement(args[0]), e)
    sure(a[1] in ("log_bessel", "slope_bessel"), "a function whose series is not known")
    order = dict(a[2][0]).get((), Fraction(0))
    return power(log_bessel(order, args[1]) if a[1] == "log_bessel" else bessel_slopes(order, args[1], n), e)


def at(p, x, name="r"):
    """An interval that holds the values of a form at the points of an interval."""
    return series(p, x, 1, name)[0]
