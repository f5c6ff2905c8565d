"""Noise on the integers: sums of (p(n) - e**eps p(n - s))_+ with bounded tails (docs/theory/curves.md#lattice)."""

from decimal import Decimal
from functools import lru_cache

import intervals as iv
import noise as additive
from algebra import Fraction, constant, scale
from intervals import Interval, exp
from pairs import UNIT, ZERO, Pair, above, near
from terms import sure

MOST = 200_000


def law(drawn):
    """What gives, at a precision, p(n) up to a factor for |n| at most some number, the total, and the most that both tails have."""
    sure(drawn.whole and drawn.dimension == drawn.copies == additive.ONE and drawn.support == [None, None], "no noise on all integers")
    sure(drawn.even and additive.convex(drawn), "whether the probabilities are log-concave")
    drawn.check_integrable()

    @lru_cache
    def weights(_):
        right, rest = arm(drawn, drawn.h)
        listed = {**dict(enumerate(right)), **{-n: x for n, x in enumerate(right)}}
        tails, mass = rest + rest, sum(listed.values(), ZERO)
        return listed, Interval(mass.lo, (mass + tails).hi), tails.hi

    return weights


def above_threshold(drawn, least):
    """P[Z >= least]."""
    listed, mass, tail = law(drawn)(iv.DOWN.prec)
    found = sum((p for n, p in listed.items() if n >= least), ZERO)
    return Interval(found.lo, (found + Interval(Decimal(0), tail)).hi) / mass


def pair(drawn):
    """The pair at the greatest shift of log-concave noise, in both orders."""
    weights, shift = law(drawn), drawn.shift
    sure(shift.keys() <= {()} and shift.get((), Fraction(0)).denominator == 1, "a shift that is no integer")
    s = int(shift.get((), 0))
    if not s:
        return Pair(lambda eps: above(UNIT - exp(eps)), True)

    def profile(eps):
        listed, mass, tail = weights(iv.DOWN.prec)
        odds, gain, left = exp(eps), ZERO, Interval(Decimal(0), tail)
        for n, p in listed.items():
            gain += above(p - odds * listed.get(n - s, left))
        return Interval(gain.lo, (gain + left).hi) / mass

    squares = [(m, c) for m, c in drawn.h.items() if "r" in additive.names({m: c})]
    ((m, c),) = squares if len(squares) == 1 else [((), 0)]
    inside, rest = additive.split(m)
    return Pair(profile, True, lattice=(s, {rest: c}) if inside == [(additive.R, Fraction(2))] else None)


def arm(drawn, h):
    """The weights exp(-h(n)), n = 0, 1, ..., to one side, and a bound of what is left out: their quotients do not rise."""
    start, listed = additive.substitute(h, drawn.q.field, {"r": {}}), []
    least = Decimal(10) ** (-iv.DOWN.prec - 2)
    while True:
        at = additive.substitute(h, drawn.q.field, {"r": constant(len(listed))})
        listed.append(exp(near(scale(additive.sub(at, start), -1))))
        if len(listed) > 2 and listed[-1].hi < least:
            ratio = (listed[-1] / listed[-2]).hi
            if ratio < 1:
                return listed, Interval(Decimal(0), (listed[-1] / (UNIT - Interval(ratio, ratio))).hi)
        sure(len(listed) < MOST, "noise that is too wide to be added up")
