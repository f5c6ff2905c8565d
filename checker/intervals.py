"""Closed intervals whose ends are rational numbers: what every operation gives holds every value that it may have.

Ends are rounded outward to so many significant bits. Series are summed in integers, downward for the lower end and upward for the upper
one, with a bound of what is left of them.
"""

from fractions import Fraction
from functools import lru_cache
from math import isqrt

from terms import Undecided, forbid, require

SPARE = 24
PI = Fraction("3.141592653589793238462643383279502884197169399375105820974944")


def rounded(x, bits, up):
    """x rounded down, or up, to so many significant bits."""
    n, d = x.numerator, x.denominator
    shift = n.bit_length() - d.bit_length() - bits
    if n == 0 or (d == 1 and shift <= 0):
        return x
    top, bottom = (n, d << shift) if shift >= 0 else (n << -shift, d)
    m = -(-top // bottom) if up else top // bottom
    return Fraction(m << shift) if shift >= 0 else Fraction(m, 1 << -shift)


class Interval:
    """All x with lo <= x <= hi."""

    __slots__ = ("hi", "lo")

    def __init__(self, lo, hi, bits=0):
        self.lo, self.hi = (rounded(lo, bits, False), rounded(hi, bits, True)) if bits else (lo, hi)

    def sign(self):
        """1, -1 or 0 where that is certain."""
        return 1 if self.lo > 0 else -1 if self.hi < 0 else 0 if self.lo == self.hi == 0 else None

    def plus(self, other, bits):
        return Interval(self.lo + other.lo, self.hi + other.hi, bits)

    def times(self, other, bits):
        ends = [x * y for x in (self.lo, self.hi) for y in (other.lo, other.hi)]
        return Interval(min(ends), max(ends), bits)

    def inverse(self, bits):
        forbid(self.lo <= 0 <= self.hi, Undecided, "a quotient whose denominator may be 0")
        return Interval(1 / self.hi, 1 / self.lo, bits)

    def minus(self, other, bits):
        return Interval(self.lo - other.hi, self.hi - other.lo, bits)


def point(x):
    """One number."""
    return Interval(Fraction(x), Fraction(x))


def _atanh(t, w):
    """Bounds on 2**w atanh(t), 0 <= t <= 1/3: the series of t**n/n over odd n."""
    low = high = 0
    least = t.numerator * (1 << w) // t.denominator
    power, square, n = least, least * least >> w, 1
    while power:
        low, power, n = low + power // n, power * square >> w, n + 2
    power, square, n = least + 1, -(-(least + 1) * (least + 1) >> w), 1
    while power > 1:
        high, power, n = high - (-power // n), -(-power * square >> w), n + 2
    return low, high + 2 * power  # what is left is at most power/(1 - t**2)


@lru_cache(maxsize=64)
def _log2(w):
    low, high = _atanh(Fraction(1, 3), w)
    return 2 * low, 2 * high


def _log_of(x, bits):
    """Bounds on log(x), x > 0, within about 2**-bits."""
    e = x.numerator.bit_length() - x.denominator.bit_length()
    m = x / Fraction(2) ** e
    while m > Fraction(4, 3):
        m, e = m / 2, e + 1
    while m < Fraction(2, 3):
        m, e = m * 2, e - 1
    w = bits + abs(e).bit_length() + SPARE
    low, high = _atanh(abs(m - 1) / (m + 1), w)
    low, high = (2 * low, 2 * high) if m >= 1 else (-2 * high, -2 * low)
    least, most = _log2(w)
    low, high = (low + e * least, high + e * most) if e >= 0 else (low + e * most, high + e * least)
    return Fraction(low, 1 << w), Fraction(high, 1 << w)


def _exp_of(x, bits):
    """Bounds on exp(x), relatively within about 2**-bits: x = m log 2 + y, exp(y) = exp(y/256)**256."""
    require(abs(x) <= 1 << 20, Undecided, "the exponential of a number that is too large")
    w = bits + 2 * SPARE + abs(int(x)).bit_length()
    least, most = _log2(w)
    scaled, below = (x.numerator << w) // x.denominator, -1
    m = scaled // most
    while below < 0:  # y in [0, 1), but for the width of the bounds
        bounds = (scaled - m * most, scaled + 1 - m * least) if m >= 0 else (scaled - m * least, scaled + 1 - m * most)
        below, m = bounds[0], m - 1
    m += 1
    low, high, term, n = 0, 0, 1 << w, 1
    while term:
        low, term, n = low + term, (term * (bounds[0] >> 8) >> w) // n, n + 1
    term, n = 1 << w, 1
    while term > 1:
        high, term, n = high + term, -((-term * ((bounds[1] >> 8) + 1) >> w) // n), n + 1
    high += 2 * term
    for _ in range(8):
        low, high = low * low >> w, -(-high * high >> w)
    factor = Fraction(2) ** m
    return Fraction(low, 1 << w) * factor, Fraction(high, 1 << w) * factor


def _root(n, k):
    """The greatest integer whose k-th power is at most n."""
    if k == 2 or n == 0:
        return isqrt(n)
    x = 1 << -(-n.bit_length() // k)
    while True:
        y = ((k - 1) * x + n // x ** (k - 1)) // k
        if y >= x:
            return x
        x = y


def _root_of(x, k, bits):
    """Bounds on the k-th root of x >= 0."""
    s = max(0, bits + SPARE + (x.denominator.bit_length() - x.numerator.bit_length()) // k)
    low = _root((x.numerator << (k * s)) // x.denominator, k)
    exact = low**k * x.denominator == x.numerator << (k * s)
    return Fraction(low, 1 << s), Fraction(low if exact else low + 1, 1 << s)


def exp(x, bits):
    """exp(x)."""
    low, high = _exp_of(x.lo, bits), _exp_of(x.hi, bits)
    return Interval(Fraction(1) if x.lo == 0 else low[0], Fraction(1) if x.hi == 0 else high[1], bits)


def log(x, bits):
    """log(x)."""
    require(x.lo > 0, Undecided, "a logarithm of what may be 0 or less")
    low, high = _log_of(x.lo, bits), _log_of(x.hi, bits)
    return Interval(Fraction(0) if x.lo == 1 else low[0], Fraction(0) if x.hi == 1 else high[1], bits)


def root(x, k, bits):
    """The k-th root of x."""
    return Interval(_root_of(x.lo, k, bits)[0], _root_of(x.hi, k, bits)[1], bits)


def whole_power(x, n, bits):
    """x**n."""
    if n < 0:
        return whole_power(x.inverse(bits), -n, bits)
    if n % 2 == 0 and x.lo < 0:
        x = Interval(-x.hi, -x.lo) if x.hi <= 0 else Interval(Fraction(0), max(-x.lo, x.hi))
    low, high = Fraction(1), Fraction(1)
    for digit in bin(n)[2:]:  # where an end is negative n is odd: powers of it alternate, and its size is what is rounded
        low, high = low * low, high * high
        if digit == "1":
            low, high = low * x.lo, high * x.hi
        low, high = rounded(low, bits + SPARE, x.lo < 0 < low), rounded(high, bits + SPARE, not x.hi < 0 < high)
    return Interval(low, high, bits)


def power(x, e, bits):
    """x**e."""
    if e.denominator == 1:
        return whole_power(x, int(e), bits)
    forbid(x.lo < 0 or (x.lo == 0 and e < 0), Undecided, "a power of what may be negative")
    if e.denominator <= 16:
        return whole_power(root(x, e.denominator, bits + SPARE), e.numerator, bits)
    require(x.lo != 0, Undecided, "a power of what may be 0")
    return exp(log(x, bits + SPARE).times(point(e), bits + SPARE), bits)


def asinh(x, bits):
    """log(x + sqrt(x**2 + 1)), odd and rising."""
    low, high = (log(root(point(y * y + 1), 2, bits + SPARE).plus(point(abs(y)), bits + SPARE), bits) for y in (x.lo, x.hi))
    return Interval(low.lo if x.lo >= 0 else -low.hi, high.hi if x.hi >= 0 else -high.lo)


def pi(_):
    """By its first sixty digits."""
    return Interval(PI, PI + Fraction(1, 10**60))
