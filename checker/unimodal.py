"""Curves of noise on the line that is even and does not rise outward (docs/theory/curves.md, line).

Where one answer loses more than eps is looked for cell by cell: cells where the loss is certainly above it are integrated, those where it
is certainly below count as nothing, and what is left is so small that it is counted as an error.
"""

import json
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import cells
import integrals
import intervals as iv
import series
from algebra import ONE, Field, evaluate, names, scale
from cells import span, tried
from intervals import Interval, exp, point
from kept import kept
from noise import Noise
from pairs import ZERO, Pair, above
from terms import sure

BITS, FINE, SMALL, FIRST = 80, Decimal("1e-13"), Fraction(1, 2**36), Fraction(1, 2**14)
FARS, ORDER = (16, 64, 256, 1024, 8192, 65536), 8


class Line:
    """Noise exp(-h) at a shift D, both over the scale: h does not fall for r > 0. r is the distance from the first answer, on the side of
    the other one up to the middle, and on that away from it.
    """

    def __init__(self, q):
        drawn = Noise(q, line=True)
        d = drawn.dimension
        plain = not drawn.whole and drawn.even and drawn.support == [None, None] and drawn.copies == ONE and not q.field.domains
        sure(plain and d == ONE, "noise that is not even and on the line")
        drawn.check_integrable()
        sure(q.field.positive(drawn.shift) and names(drawn.h) <= {"r"}, "answers that do not move, or a density of its own kind")
        self.h, self.field = drawn.h, Field({}).over("r")
        self.slope = self.field.derivative(self.h, "r")
        sure(self.field.positive(self.slope, strict=False), "whether the density does not rise outward")
        iv.precision(BITS)
        self.shift = evaluate(drawn.shift, BITS)
        self.weight = self.field.exp(scale(self.h, -1))
        for self.far in FARS:
            self.rest = tried(lambda: integrals.beyond(self.h, self.far))
            if self.rest is not None and self.rest.hi < Decimal("1e-13"):
                break
        sure(self.rest is not None, "noise with long tails")
        self.mass = self.whole(lambda x, n: series.series(self.weight, x, n)) + self.rest

    def edges(self):
        """The ends of cells to begin with."""
        found = [Fraction(0), FIRST]
        while found[-1] < self.far:
            found.append(min(found[-1] * 2, found[-1] + Fraction(1, 2)) if found[-1] < 16 else found[-1] * Fraction(5, 4))
        return found

    def whole(self, p):
        """The integral over all cells."""
        integral = integrals.Integral(p, "r", FINE, order=ORDER)
        return sum((integral.over(a, b) for a, b in pairwise(self.edges())), ZERO)

    def at(self, p, x):
        """The series of a form in r where r is a series."""
        return series.series(p, None, len(x), "no symbol", {(("s", "r"), 1): x})

    def sorted(self, a, b, look, p):
        """The integral of p over the part of a cell where `look` says True, or False for nothing; None where it does not know."""
        known = tried(lambda: look(a, b))
        if known is False:
            return ZERO
        if known is True:
            return integrals.Integral(p, "r", FINE, order=ORDER).over(a, b)
        if b - a > SMALL * max(1, a) and (a > 0 or b > FIRST):
            middle = (a + b) / 2
            return self.sorted(a, middle, look, p) + self.sorted(middle, b, look, p)
        most = series.at(self.weight, span(a, b)) * point(b - a)
        return Interval(Decimal(0), most.hi)

    def profile(self, eps):
        odds, total = exp(eps), ZERO
        for way in (1, -1):

            def other(x, n, way=way):
                return [self.shift + point(way) * x, point(way), *[ZERO] * (n - 2)][:n]

            def gain(x, n, other=other):
                p, q = (series.exponential([-z for z in self.at(self.h, y)]) for y in (series.variable(x, n), other(x, n)))
                return [a - odds * b for a, b in zip(p, q, strict=True)]

            def look(a, b, other=other):
                middle, half = point((a + b) / 2), point((b - a) / 2)
                start, wide = ([self.at(self.h, y) for y in (other(x, 2), series.variable(x, 2))] for x in (middle, span(a, b)))
                steep = wide[0][1] - wide[1][1]
                loss = start[0][0] - start[1][0] + steep * Interval(-half.hi, half.hi)
                return True if loss.lo >= eps.hi else False if loss.hi <= eps.lo else None

            ends = self.edges() if way > 0 else [Fraction(k, 8) * Fraction(self.shift.lo) / 2 for k in range(9)]
            total += sum((self.sorted(a, b, look, gain) for a, b in pairwise(ends)), ZERO)
        steep = tried(lambda: cells.far_out(self.slope, self.far))
        none = steep is not None and (steep * self.shift).hi <= eps.lo
        least = Fraction(self.shift.lo)  # of a shift that is no rational
        gap = series.at(self.weight, point(least / 2)) * (self.shift - point(least))
        rest = ZERO if none else Interval(Decimal(0), self.rest.hi)
        found = (above(total) + rest + Interval(Decimal(0), above(gap).hi)) / (point(2) * self.mass)
        return Interval(found.lo, min(found.hi, Decimal(1)))


def pair(q, loose=None):
    """The pair of noise at its greatest shift, for eps > 0; loose: a pair from above that counts where this one is not known."""

    def known(eps):
        if loose is None:
            return profile(eps)
        found = tried(lambda: profile(eps))
        return loose.profile(eps) if found is None else found

    def profile(eps):
        sure(eps.lo > 0 and not q.query and q.moved is not None, "the curve at 0, or below, or of a query")
        digits = iv.DOWN.prec
        iv.precision(BITS)
        try:
            told = json.dumps(q.mechanism, sort_keys=True), cells.key(q.moved), tuple(sorted(q.values.items()))
            made = kept(("radial", *told), lambda: Line(q))
            return kept(("radial curve", *told, eps), lambda: made.profile(eps))
        finally:
            iv.DOWN.prec = iv.UP.prec = digits

    return Pair(known, True)
