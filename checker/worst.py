"""What an output of a selection between bounds loses, by integrals of log-concave functions (docs/theory/selection.md, worst output).

Between two points of a grid the logarithm of such a function is at least its chord, and at most the chords beside it, prolonged. So its
integral is enclosed by its values at the points alone.
"""

from itertools import pairwise

import intervals as iv
import noise
import pairs
from algebra import ONE, Fraction, add, constant, mul, sub
from intervals import Interval, exp, log, point
from noise import IDEAL, LINE, Noise, Question, sided
from normal import erfc
from pairs import UNIT, ZERO, near
from terms import must, sure

FINE, COARSE, LOOKS, BITS, WIDTHS = 6000, 2000, 200, 64, 14
TOLD = ["no answer moves further than the stated sensitivity", "the noises are independent", IDEAL]


class Drawn:
    """Gaussian or Laplace noise on the line: -log(density) = rate |z|**power, but for a constant."""

    def __init__(self, m, q):
        sure(m["kind"] in noise.ADDED and not m.get("integers"), "noise of another kind, or on the integers")
        drawn = Noise(Question(m, ONE, None, q.field, q.values), line=True)
        self.power = noise.power_of(drawn)
        line = drawn.dimension == drawn.copies == ONE and m.get("norm", LINE)["kind"] == "lp"
        sure(line and self.power is not None, "noise that is neither Gaussian nor Laplace noise on the line")
        rate = mul(noise.rate_of(drawn, self.power), q.field.power(drawn.shift, Fraction(self.power)))
        self.rate = near(rate)
        self.size = UNIT / (self.rate if self.power == 1 else (point(2) * self.rate) ** pairs.HALF)

    def density(self, x):
        """The logarithm of the density at a point, but for a constant."""
        size = x if x.lo >= 0 else -x if x.hi <= 0 else Interval(ZERO.lo, max(-x.lo, x.hi))
        return -(self.rate * size**self.power)

    def below(self, x):
        """log P[Z < x]."""
        if self.power == 2:
            return log(erfc(-(x * self.rate**pairs.HALF)) / point(2))
        low, high = (log(UNIT - exp(-(self.rate * y)) / point(2)) if y.lo >= 0 else self.rate * y - log(point(2)) for y in ends(x))
        return low.hull(high)


def ends(x):
    """The two ends of an interval, each by itself."""
    return Interval(x.lo, x.lo), Interval(x.hi, x.hi)


def integral(value, low, high, cells):
    """The integral of exp(value) over the line, value concave: of a grid between two numbers, and what lies beyond."""
    step = (high - low) / point(LOOKS)
    seen = [value(low + step * point(i)).lo for i in range(LOOKS + 1)]
    likely = [i for i, x in enumerate(seen) if x > max(seen) - 20]  # beyond these there is little, by the slopes there
    low, high = low + step * point(max(likely[0] - 1, 0)), low + step * point(min(likely[-1] + 1, LOOKS))
    step = (high - low) / point(cells)
    logs = [value(low + step * point(i)) for i in range(cells + 1)]
    slopes = [(b - a) / step for a, b in pairwise(logs)]
    sure(slopes[0].lo > 0 and slopes[-1].hi < 0, "a grid that is too short")
    edges = exp(logs[0]) / slopes[0], exp(logs[-1]) / -slopes[-1]
    under, over = ZERO, edges[0] + edges[1]
    for i, (a, b) in enumerate(pairwise(logs)):
        x = (b - a) / point(2)
        middle = exp((a + b) / point(2)) * step
        under += middle * (UNIT + x * x / point(6))  # sinh(x)/x >= 1 + x**2/6
        rise = (slopes[i - 1] - slopes[i]) if i else None
        fall = (slopes[i] - slopes[i + 1]) if i + 1 < cells else None
        known = [r for r in (rise, fall) if r is not None]
        if len(known) == 2 and rise.lo > 0 and fall.lo > 0:
            gap = step / (UNIT / rise + UNIT / fall)
        else:
            gap = step * Interval(ZERO.lo, max(ZERO.lo, min(r.hi for r in known)))
        over += middle * exp(gap) * (point(2) + (exp(x) + exp(-x)) / point(2)) / point(3)  # sinh(x)/x <= (2 + cosh x)/3
    return Interval(under.lo, over.hi)


class Selection:
    """A noisy maximum that tells the index, or a threshold that tells answers, of answers between bounds with neighbours "all"."""

    def __init__(self, q):
        iv.precision(BITS)
        m, field = q.mechanism, q.field
        sure(q.kind in ("noisy_max", "above_threshold") and not field.domains and not q.query and q.moved is not None, "no selection")
        sure(m["neighbours"] == "all" and m.get("bounds") is not None and q.factor == ONE, "answers without bounds, or other neighbours")
        self.low, self.high = (q.form(x) for x in m["bounds"])
        must(field.at_most({}, q.moved) and field.positive(sub(self.high, self.low)), "a sensitivity below 0, or bounds that do not rise")
        self.move, self.threshold, self.most = field.extreme("min", [q.moved, sub(self.high, self.low)]), {}, 0
        if q.kind == "noisy_max":
            sure(m["report"] == "index", "more than the index is told")
            self.first = self.other = Drawn(m["noise"], q)
            self.n = self.number(q, m["candidates"]) - 1
        else:
            once = not m["resample"] and m["fresh"] is None and m["report"] == "answers" and m["threshold_noise"] is not None
            sure(once and m.get("whole_answers") is not True, "a threshold that is drawn again, or more is told")
            self.first, self.other = Drawn(m["threshold_noise"], q), Drawn(m["query_noise"], q)
            self.n, self.threshold = self.number(q, m["queries"]), q.form(m["threshold"])
            self.most = min(self.number(q, m["positives"]), self.n)
        self.best = q.kind == "noisy_max"

    @staticmethod
    def number(q, text):
        """A count that is a number."""
        p = q.count(text)
        sure(p.keys() == {()} and p[()] <= 10_000, "a number that is a parameter, or large")
        return int(p[()])

    def chance(self, no, yes, q, at):
        """The probability of so many below, which have the answer q, and above, which have `at`; of an index `at` is its own answer."""
        below, above = (near(sub(x, self.threshold)) for x in (q, at))
        start = near(at) if self.best else ZERO

        def value(t):
            found = self.first.density(t - start)
            found = found + point(no) * self.other.below(t - below) if no else found
            return found + point(yes) * self.other.below(above - t) if yes else found

        wide = point(WIDTHS) * (self.first.size + self.other.size)
        return integral(value, start - wide, start + wide, FINE if self.best else COARSE)

    def loss(self, no, yes):
        """An interval that holds what the output loses at the worst pair."""
        near_pair = sub(self.high, self.move), add(self.low, self.move)
        first, second = (self.chance(no, yes, *pair) for pair in (near_pair, (self.high, self.low)))
        return log(first) - log(second)


def worst_output(q, evidence):
    """docs/theory/selection.md#worst-output, for log-concave noise between bounds."""
    side, q, at = sided(q, evidence)
    selection = Selection(q)
    if side == "upper":
        outputs = [(selection.n - yes, yes) for yes in range(selection.most + 1)]
        sure(len(outputs) <= 3, "too many outputs")
        return side, constant(max(Fraction(selection.loss(*output).hi) for output in outputs)), at, TOLD
    no, yes = evidence["negatives"], evidence["positives"]
    sure("answers" not in evidence and "next" not in evidence, "answers of one's own")
    counts = type(no) is int and type(yes) is int and no >= 0 and 0 <= yes <= selection.most and 0 < no + yes <= selection.n
    must(counts and (not selection.best or no == selection.n), "no such output")
    sure(no + yes == selection.n or yes == selection.most, "an output that does not stop there")
    return side, constant(Fraction(selection.loss(no, yes).lo)), at, TOLD
