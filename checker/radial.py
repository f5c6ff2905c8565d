"""Curves of noise that does not rise outward: on the line, and in odd dimensions (docs/theory/curves.md, line and radial caps).

Where one answer loses more than eps is looked for cell by cell: cells where the loss is certainly above it are integrated, those where it
is certainly below count as nothing, and what is left is so small that it is counted as an error.
"""

import json
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from math import comb

import cells
import integrals
import intervals as iv
import series
from algebra import ONE, Field, evaluate, names, scale, sub
from cells import span, tried
from growth import LOG_R
from intervals import Interval, exp, point
from kept import kept
from noise import Noise
from pairs import ZERO, Pair, above
from terms import sure

BITS, FINE, SMALL, FIRST = 100, Decimal("1e-17"), Fraction(1, 2**44), Fraction(1, 2**14)
FARS, ORDER = (16, 64, 256, 1024, 8192, 65536), 8


class Shifted:
    """Noise exp(-h) at a shift D, both over the scale: h does not fall for r > 0."""

    def __init__(self, q):
        drawn = Noise(q, line=True)
        d = drawn.dimension
        norm = drawn.norm["kind"], drawn.norm["p"]
        euclid = norm[0] == "ellipsoid" or norm == ("lp", "2") or d == ONE
        plain = not drawn.whole and drawn.even and drawn.support == [None, None] and drawn.copies == ONE and not q.field.domains
        known = d.keys() == {()} and d[()] <= 99 and (q.kind == "radial" or d == ONE)
        sure(plain and euclid and known, "noise in another norm or dimension")
        drawn.check_integrable()
        sure(q.field.positive(drawn.shift) and names(drawn.h) <= {"r"}, "answers that do not move, or a density of its own kind")
        self.d, self.h, self.field = int(d[()]), drawn.h, Field({}).over("r")
        self.slope = self.field.derivative(self.h, "r")
        sure(self.field.positive(self.slope, strict=False), "whether the density does not rise outward")
        iv.precision(BITS)
        self.shift = evaluate(drawn.shift, BITS)
        self.density = sub(self.h, scale(LOG_R, self.d - 1))  # -log of g(r) r**(d - 1)
        self.weight = self.field.exp(scale(self.density, -1))
        self.far, self.rest = next((x, rest) for x in FARS for rest in [tried(lambda x=x: integrals.beyond(self.density, x))]
                                   if rest is not None and (rest.hi < Decimal("1e-13") or x == FARS[-1]))  # fmt: skip
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


class Line(Shifted):
    """On the line: r is the distance from the first answer, on the side of the other one up to the middle, and on that away from it."""

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


class Caps(Shifted):
    """In an odd dimension d >= 3: on a sphere about either answer the event is a cap, whose share is a polynomial in its height."""

    def __init__(self, q):
        super().__init__(q)
        sure(self.d % 2 == 1, "caps of spheres of this dimension")
        m = (self.d - 1) // 2
        terms = [Fraction((-1) ** j * comb(m - 1, j), m + j) for j in range(m)]
        self.terms, self.m = [x / sum(terms) for x in terms], m
        self.known, self.start = {}, tried(lambda: series.at(self.h, point(0)))  # h(0), None where it has no value

    def moved(self, x, n, gap):
        """The series of s with h(s) = h(r) + gap, which rises with r: s' = h'(r)/h'(s)."""
        ends = [self.level_of(Interval(end, end), gap) for end in (x.lo, x.hi)]
        found = [Interval(ends[0].lo, ends[1].hi)]
        here = self.at(self.slope, series.variable(x, n))
        for k in range(n - 1):
            there = series.power(self.at(self.slope, found), Fraction(-1))
            found.append(series.times(here[: k + 1], there)[k] / point(k + 1))
        return found

    def level_of(self, x, gap):
        """The same again for what was asked."""
        if (x, gap) not in self.known:
            self.known[x, gap] = self._level_of(x, gap)
        return self.known[x, gap]

    def _level_of(self, x, gap):
        """s at one r: guessed by steps of Newton, and shown by the values of h at two numbers about it."""
        value = series.at(self.h, x) + gap
        middle, guess = series.point(Fraction((value.lo + value.hi) / 2)), x.lo
        for _ in range(40):  # Newton's steps, at most halving or doubling
            here = Interval(guess, guess)
            step = (series.at(self.h, here) - middle) / series.at(self.slope, here)
            after = min(max(iv.DOWN.subtract(guess, step.lo), guess / 2), guess * 2)
            if abs(after - guess) <= guess * Decimal("1e-30"):
                break
            guess = after
        low = high = guess
        wide = Decimal(1)
        for _ in range(12):
            step = iv.UP.multiply(high, Decimal("1e-32") * wide)
            below, over = iv.DOWN.subtract(low, step), iv.UP.add(high, step)
            if series.at(self.h, Interval(below, below)).hi <= value.lo and series.at(self.h, Interval(over, over)).lo >= value.hi:
                return Interval(below, over)
            wide *= 100
        return sure(False, "where h has a value")

    def height(self, x, n, eps, first):
        """The series of the height of the cap, in [0, 1] where it is one: about the first answer, or the other."""
        s, r = self.moved(x, n, eps if first else -eps), series.variable(x, n)
        squares = [a - b for a, b in zip(series.times(r, r), series.times(s, s), strict=True)]
        top = squares if first else [-z for z in squares]
        top[0] = top[0] + (self.shift * self.shift if first else -(self.shift * self.shift))
        found = series.times(top, series.power([point(4) * self.shift * z for z in r], Fraction(-1)))
        found[0] = found[0] + point(Fraction(1, 2))
        return found

    def share(self, x):
        """The polynomial of a series."""
        total = [ZERO] * len(x)
        for j, c in enumerate(self.terms):
            total = series.plus(total, [point(c) * z for z in series.power(x, Fraction(self.m + j))])
        return total

    def part(self, eps, first):
        """The integral of the shares about one answer."""

        def kind(a, b):
            if not first and self.start is not None:
                here = series.at(self.h, span(a, b)) - self.start - eps
                if here.hi <= 0:
                    return "none"
                sure(here.lo > 0, "whether some r is as likely")
            x = self.height(span(a, b), 1, eps, first)[0]
            return "none" if x.hi <= 0 else "all" if x.lo >= 1 else "cap" if x.lo >= 0 and x.hi <= 1 else None

        def gain(x, n):
            return series.times(series.series(self.weight, x, n), self.share(self.height(x, n, eps, first)))

        def go(a, b):
            found = tried(lambda: kind(a, b)) if a > 0 else None
            if found == "none":
                return ZERO
            if found is not None:
                p = (lambda x, n: series.series(self.weight, x, n)) if found == "all" else gain
                return integrals.Integral(p, "r", FINE, order=ORDER).over(a, b)
            if b - a > SMALL * max(1, a) and a > 0:
                return go(a, (a + b) / 2) + go((a + b) / 2, b)
            most = series.at(self.weight, span(a, b)) * point(b - a)
            return Interval(Decimal(0), most.hi)

        return sum((go(a, b) for a, b in pairwise(self.edges())), ZERO) + Interval(Decimal(0), self.rest.hi)

    def profile(self, eps):
        found = (self.part(eps, True) - exp(eps) * self.part(eps, False)) / self.mass
        return Interval(max(found.lo, Decimal(0)), min(found.hi, Decimal(1)))


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
            line = q.kind != "radial" or q.form(q.mechanism["dimension"]) == ONE
            told = json.dumps(q.mechanism, sort_keys=True), cells.key(q.moved), tuple(sorted(q.values.items()))
            made = kept(("radial", *told), lambda: (Line if line else Caps)(q))
            return kept(("radial curve", *told, eps), lambda: made.profile(eps))
        finally:
            iv.DOWN.prec = iv.UP.prec = digits

    return Pair(known, True)
