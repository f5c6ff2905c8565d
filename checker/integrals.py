"""Integrals of forms in one symbol: on each cell by Taylor's polynomial about its middle, and the next coefficient on all of the cell."""

from decimal import Decimal

import cells
import series
from algebra import Fraction, add, atom, mul, scale, substitute
from growth import LOG_R, R
from intervals import Interval, point
from terms import Undecided, sure

ORDER, SMALLEST, MOST = 12, Fraction(1, 2**16), 4000


class Integral:
    """Of a form over cells, or of what gives coefficients: each error at most `fine`, or as small as it may be."""

    def __init__(self, p, name, fine, others=None, order=ORDER):
        self.p, self.name, self.fine, self.others, self.count, self.order = p, name, Decimal(fine), others or {}, 0, order

    def coefficients(self, x, n):
        """The series about an interval."""
        if callable(self.p):
            return self.p(x, n)
        known = {(("s", other), 1): [value, *[series.ZERO] * (n - 1)] for other, value in self.others.items()}
        return series.series(self.p, x, n, self.name, known)

    def over(self, a, b):
        """An interval that holds the integral between two rationals."""
        self.count += 1
        sure(self.count < MOST, "an integral of too many cells")
        middle, half = (a + b) / 2, point((b - a) / 2)
        found = cells.tried(lambda: self.once(a, b, middle, half))
        if found is not None and (found.hi - found.lo) <= self.fine:
            return found
        sure(b - a > SMALLEST, "an integral that is not enclosed")
        return self.over(a, middle) + self.over(middle, b)

    def once(self, a, b, middle, half):
        """The integral over one cell."""
        total, power = series.ZERO, half
        inner = self.coefficients(point(middle), self.order)
        rest = self.coefficients(cells.span(a, b), self.order + 1)[self.order]
        for k in range(0, self.order + 1, 2):
            total = total + point(2) * (rest if k == self.order else inner[k]) * power / point(k + 1)
            power = power * half * half
        return total


def beyond(h, start):
    """What the integral of exp(-h) beyond a whole number is at most: h' is at least a number there, or r h' at least one above 1."""
    field = cells.Field({}).over("r")
    slope, here = field.derivative(h, "r"), series.exp(-series.at(h, point(start)))
    for p, way in ((slope, False), (mul(slope, atom(R)), True)):
        found = cells.tried(lambda p=p: cells.far_out(p, start, least=True))
        if found is not None and found.lo > (1 if way else 0):
            least = Interval(found.lo, found.lo)
            most = here * point(start) / (least - point(1)) if way else here / least
            return Interval(Decimal(0), most.hi)
    raise Undecided("what is beyond")


def inverted(h):
    """-log of the density of 1/r, of that of r."""
    return add(substitute(h, cells.Field({}).over("r"), {"r": atom(R, -1)}), scale(LOG_R, 2))
