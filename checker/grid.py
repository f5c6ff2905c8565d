"""Compositions by masses at equally spaced losses (docs/theory/composition.md, loss distributions).

From above a profile is replaced by its chords between the points of a grid, which are nowhere below it, for it is convex in e**eps. From
below they are moved to the left, by a distance at which they are certainly nowhere above what convexity leaves: between two points the
profile is at least each chord beside it, prolonged. Masses are whole multiples of 1/UNITS, rounded up or down, and products of many are
exact products of long decimal numbers.
"""

from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, Inexact
from functools import lru_cache
from itertools import pairwise
from math import ceil, floor

import intervals as iv
from intervals import Interval, exp, log, point
from pairs import UNIT, ZERO, Pair, above
from terms import sure

DIGITS = 26
UNITS = 10**DIGITS
SMALL = 10 ** (DIGITS - 20)  # of so few units what lies at an end is moved
LONGEST = 600_000
TAIL = Decimal("1e-16")
FEW = 4
CELLS = ((40, 400), (70, 1600), (1000, 5200))
BITS = 120  # more than the digits of masses, as second differences take some


class Masses:
    """Masses at start + i * spacing + moved, each a multiple of 1/UNITS; `far`, what lies at infinity. start counts whole steps."""

    def __init__(self, listed, first, far, moved, upper):
        self.listed, self.first, self.far, self.moved, self.upper = listed, first, far, moved, upper
        self.trim()

    def trim(self):
        """Move what is small at both ends: up for a bound from above, down for one from below."""
        listed, total, n = self.listed, 0, len(self.listed)
        low = 0
        while low < n - 1 and total + listed[low] <= SMALL:
            total, low = total + listed[low], low + 1
        if low:
            listed = listed[low:]
            listed[0] += total if self.upper else 0
        total, n = 0, len(listed)
        while n > 1 and total + listed[n - 1] <= SMALL:
            n, total = n - 1, total + listed[n - 1]
        self.listed, self.first = listed[:n], self.first + low
        if self.upper:
            self.far += total
        else:
            self.listed[-1] += total

    def times(self, other):
        """The masses of both together."""
        raw, up = product(self.listed, other.listed), self.upper
        listed = [-(-x // UNITS) if up else x // UNITS for x in raw]
        sums = [sum(m.listed) for m in (self, other)]
        far = self.far * (sums[1] + other.far) + other.far * sums[0]
        far = -(-far // UNITS) if up else far // UNITS
        return Masses(listed, self.first + other.first, far, self.moved + other.moved, up)

    def power(self, n):
        """So many of these together."""
        half = self if n == 1 else self.power(n // 2)
        double = half if n == 1 else half.times(half)
        return double.times(self) if n % 2 and n > 1 else double

    def at(self, spacing, eps):
        """The sum of (1 - e**(eps - loss))_+ over all masses."""
        eps = eps - self.moved
        total, start = Interval(Decimal(self.far), Decimal(self.far)), floor((eps / spacing).lo) - 1 - self.first
        start = max(start, 0)
        first = self.first + start
        edge = range(start, min(start + 4, len(self.listed)))  # the few masses at losses that may be below eps are added apart
        sure((spacing * point(first + len(edge)) - eps).lo >= 0 or start + len(edge) >= len(self.listed), "a grid that is too fine")
        found = ZERO
        for i in edge:
            gain = above(UNIT - exp(eps - spacing * point(self.first + i)))
            found += gain * Interval(Decimal(self.listed[i]), Decimal(self.listed[i]))
        rest = self.listed[start + len(edge) :]
        if rest:
            held, ratio = ZERO, exp(-spacing)  # by Horner's rule, from the greatest loss on
            for mass in reversed(rest):
                held = held * ratio + Interval(Decimal(mass), Decimal(mass))
            all_of = sum(rest)
            found += Interval(Decimal(all_of), Decimal(all_of)) - held * exp(eps - spacing * point(first + len(edge)))
        return (total + above(found)) / point(UNITS)


def product(first, second):
    """The convolution of two lists of whole numbers, none below 0, by one product of two decimal numbers."""
    width = len(str(max(first))) + len(str(max(second))) + len(str(min(len(first), len(second)))) + 1
    size = (len(first) + len(second)) * width
    sure(len(first) + len(second) <= LONGEST, "a grid that is too long")
    context = Context(prec=size + 10, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[Inexact])
    numbers = [Decimal("".join(str(x).zfill(width) for x in listed)) for listed in (first, second)]
    count = len(first) + len(second) - 1
    text = str(context.multiply(*numbers)).zfill(count * width)
    return [int(text[i : i + width]) for i in range(len(text) - count * width, len(text), width)]


def rounded(x, upper):
    """An interval in whole units."""
    return max(0, ceil(iv.UP.multiply(x.hi, UNITS)) if upper else floor(iv.DOWN.multiply(x.lo, UNITS)))


def masses(pair, spacing, offset, low, high, upper):
    """The masses of one pair at offset + i * spacing, i from low to high."""
    points = [offset + spacing * point(i) for i in range(low, high + 1)]
    values = [pair.profile(x) for x in points]
    step, back = exp(spacing) - UNIT, UNIT - exp(-spacing)
    rises = [b - a for a, b in pairwise(values)]
    inner = [b / step - a / back for a, b in pairwise(rises)]
    last = -(rises[-1] / back)
    if upper:
        first = rises[0] / step - (values[0] - UNIT)
        listed = [rounded(x, True) for x in (first, *inner, last)]
        return Masses(listed, low, rounded(values[-1], True), offset, True)
    moved = nudge(points, values, step)
    return Masses([rounded(x, False) for x in (*inner[1:], last)], low + 2, 0, offset - moved, False)


def nudge(points, values, step):
    """How far chords are moved to be nowhere above the profile; the first is not used. Between the points i and i + 1 the profile is
    at least two lines, and what they have above the chord, moved, is convex. It is least where they cross: at the points it is not
    below 0.
    """
    odds, most = [exp(x) for x in points], Decimal(0)
    slopes = [(b - a) / (step * x) for a, b, x in zip(values, values[1:], odds, strict=False)]
    for i, slope in list(enumerate(slopes))[1:]:
        wide, after = odds[i + 1] - odds[i], slopes[i + 1] if i + 1 < len(slopes) else ZERO
        bend, other = slope - slopes[i - 1], after - slope  # what slopes rise by at the two points
        sure(bend.hi >= 0 and other.hi >= 0, "a profile that is not convex")
        # the lines cross at the part other/(bend + other) of the way, where the chord is above both by this
        gap = (bend * wide).hi if bend.lo <= 0 or other.lo <= 0 else (wide / (UNIT / bend + UNIT / other)).hi
        if gap > 0:
            sure(slope.hi < 0, "a profile that is flat")
            most = max(most, (Interval(gap, gap) / (-slope * odds[i])).hi)
    return log(UNIT + Interval(most, most))


def ends(pair):
    """Numbers between which losses lie but for a small part: the least and the greatest of bounded ones."""
    if pair.ends is not None:
        return pair.ends()
    found = []
    for way in (pair.turned(), pair):
        far = Decimal(1) / 16
        while way.profile(Interval(far, far)).hi > TAIL:
            far *= Decimal("1.25")
            sure(far < 10**4, "losses without end")
        found.append(Interval(far, far))
    return -found[0], found[1]


def composition(listed, upper, cells):
    """The masses of a composition of pairs, each so often, and the spacing. The first with an end takes so many cells."""
    reach = [ends(pair) for pair, _ in listed]
    bounded = [r for (pair, _), r in zip(listed, reach, strict=True) if pair.ends is not None]
    low, high = (bounded or reach)[0]
    spacing, whole = (high - low) / point(cells), None
    for (pair, n), (bottom, top) in zip(listed, reach, strict=True):
        fixed = pair.ends is not None
        count = ceil(((top - bottom) / spacing).hi - Decimal("1e-9"))
        sure(count <= 20_000, "a grid of too many points")
        made = masses(pair, spacing, top if fixed else ZERO, *((-count - 2, 0) if fixed else around(bottom, top, spacing)), upper).power(n)
        whole = made if whole is None else whole.times(made)
    return whole, spacing


def around(bottom, top, spacing):
    """Whole steps that reach from one number to another."""
    return floor((bottom / spacing).lo), ceil((top / spacing).hi)


def composed(listed, upper):
    """The pair of a composition of pairs, each so often: the more digits are asked for, the finer the grid."""

    few = sum(n for _, n in listed) <= FEW and all(pair.shift is not None for pair, _ in listed)

    @lru_cache
    def made(cells):
        iv.precision(BITS)
        return composition(listed, upper, cells)

    def profile(eps):
        kept = iv.DOWN.prec
        cells = next((n for prec, n in CELLS if kept <= prec), CELLS[-1][1] * (4 if few else 1))
        whole, spacing = made(cells)
        iv.precision(BITS)
        found = above(whole.at(spacing, eps))
        iv.DOWN.prec = iv.UP.prec = kept
        return Interval(Decimal(0), found.hi) if upper else Interval(found.lo, Decimal(1))

    return Pair(profile, all(pair.alike for pair, _ in listed), parts=listed)
