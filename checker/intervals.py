"""Closed intervals between decimal numbers: what every operation gives holds every value that it may have.

Python's decimal rounds sums, products, quotients down and up as it is told, and roots, exp and ln to the nearest number of its precision,
so that the numbers next to what it gives enclose the value. What has no value, or is too large for it, raises an ArithmeticError.
"""

from collections import namedtuple
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal, DivisionByZero, InvalidOperation, Overflow
from fractions import Fraction
from functools import lru_cache, reduce

from terms import sure

HALF, LARGE = Fraction(1, 2), Decimal(1 << 20)
DOWN, UP = (Context(50, to, MIN_EMIN, MAX_EMAX, traps=[InvalidOperation, DivisionByZero, Overflow]) for to in (ROUND_FLOOR, ROUND_CEILING))


def precision(bits):
    """Work with so many bits from here on, and some to spare: what is enclosed is so with any number."""
    DOWN.prec = UP.prec = bits * 3 // 10 + 9


class Interval(namedtuple("Interval", "lo hi")):
    """All x with lo <= x <= hi."""

    def sign(self):
        """1, -1 or 0 where that is certain."""
        return 1 if self.lo > 0 else -1 if self.hi < 0 else 0 if self.lo == self.hi == 0 else None

    def __add__(self, other):
        return Interval(DOWN.add(self.lo, other.lo), UP.add(self.hi, other.hi))

    def __neg__(self):
        return Interval(self.hi.copy_negate(), self.lo.copy_negate())

    def __sub__(self, other):
        return self + -other

    def _ends(self, other, operation):
        pairs = [(x, y) for x in (self.lo, self.hi) for y in (other.lo, other.hi)]
        return Interval(min(getattr(DOWN, operation)(*pair) for pair in pairs), max(getattr(UP, operation)(*pair) for pair in pairs))

    def __mul__(self, other):
        return self._ends(other, "multiply")

    def __truediv__(self, other):
        sure(not other.lo <= 0 <= other.hi, "a quotient whose denominator may be 0")
        return self._ends(other, "divide")

    def __pow__(self, e):
        """A rational power."""
        if e == 1:
            return self
        if e < 0:
            return point(1) / self**-e
        if e.denominator != 1:
            sure(self.lo >= 0, "a power of what may be negative")
            if e == HALF:  # rounded to the nearest number
                return Interval(max(DOWN.next_minus(DOWN.sqrt(self.lo)), Decimal(0)), UP.next_plus(UP.sqrt(self.hi)))
            return rising(lambda x: exp(log(x) * point(e)), self, positive=True)
        if e % 2 == 0 and self.lo < 0:
            return (-self if self.hi <= 0 else Interval(Decimal(0), max(self.lo.copy_negate(), self.hi))) ** e
        return rising(lambda x: reduce(Interval.__mul__, [x] * int(e), point(1)), self)

    def hull(self, other):
        """What holds both."""
        return Interval(min(self.lo, other.lo), max(self.hi, other.hi))


def point(x):
    """One number."""
    n, d = map(Decimal, Fraction(x).as_integer_ratio())
    return Interval(DOWN.divide(n, d), UP.divide(n, d))


def rising(function, x, positive=False):
    """A function that rises from the one end to the other; positive: with the value 0 at 0."""
    low, high = (Interval(end, end) if positive and end == 0 else function(Interval(end, end)) for end in (x.lo, x.hi))
    return Interval(low.lo, high.hi)


def exp(x):
    """exp(x); of what is far below 0 from 0 on."""
    sure(x.hi <= LARGE, "the exponential of a number that is too large")
    low = Decimal(0) if x.lo < -LARGE else DOWN.next_minus(DOWN.exp(x.lo))
    return Interval(low, UP.next_plus(UP.exp(max(x.hi, -LARGE))))


def log(x):
    """log(x)."""
    sure(x.lo > 0, "a logarithm of what may be 0 or less")
    return Interval(DOWN.next_minus(DOWN.ln(x.lo)), UP.next_plus(UP.ln(x.hi)))


def pi():
    """pi."""
    return _pi(DOWN.prec)


@lru_cache
def _pi(digits):
    """16 arctan(1/5) - 4 arctan(1/239) (Machin), each by its series, whose terms take turns in sign and fall."""
    total, unit = Fraction(0), 10 ** (digits + 5)
    for times, n in ((16, 5), (-4, 239)):
        k, power = 0, Fraction(1, n)
        while power * unit > 1:
            total, k, power = total + times * (-1) ** k * power / (2 * k + 1), k + 1, power / n**2
    return point(total - Fraction(20, unit)).hull(point(total + Fraction(20, unit)))
