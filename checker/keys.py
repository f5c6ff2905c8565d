"""Noisy counts of keys that nobody knows beforehand, told from a threshold on (docs/theory/selection.md, noisy keys)."""

from math import ceil

import lattice
import noise
import pairs
from algebra import ONE, mul, scale, sub
from intervals import exp, log, point
from noise import Noise, Question
from pairs import UNIT, Pair, near
from terms import must, sure

TOLD = "a record adds to the counts of so many keys at most, nothing below 0, and at most the stated sensitivity to each"


def listed(q, side, added, composed):
    """The pairs at which the record has j new keys, j from 0 to k, the law with the record first."""
    m, field = q.mechanism, q.field
    k = q.count(m["keys"])
    sure(k.keys() == {()} and k[()] <= 1000 and not q.query and q.moved is not None and q.factor == ONE, "how many keys, or how far")
    must(field.positive(q.moved), "the sensitivity is not certainly positive")
    sure(not field.domains and m["noise"]["kind"] in noise.ADDED, "parameters, or noise of another kind")
    sure(side == "upper" or m["report"] == "counts" or k == ONE, "what is told of keys alone")
    must(m["report"] in ("counts", "keys"), "what is told")
    asked, n = Question(m["noise"], q.moved, None, field, q.values), int(k[()])
    chance, one = passed(m["noise"], asked, sub(q.form(m["threshold"]), q.moved)), added(m["noise"], asked, side, None)
    return [new(composed([(one, n - j)], side), chance, j) for j in range(n + 1)]


def new(pair, chance, j):
    """Of j new keys what is told of any shows the record; beside them the pair of the noises on other keys."""
    if not j:
        return pair

    def profile(eps):
        kept = point(1)
        for _ in range(j):
            kept = kept * (UNIT - chance())
        sure(kept.lo > 0, "a threshold that is always passed")
        return UNIT - kept + kept * pair.profile(eps - log(kept))

    return Pair(profile)


def passed(m, q, least):
    """What gives the probability that the noise is at least so much."""
    if m.get("integers"):
        sure(noise.whole(q.field, q.moved), "counts that are no integers")
        drawn, start = Noise(q, line=True), ceil_of(q.field, least)
        return lambda: lattice.above_threshold(drawn, start)
    drawn = Noise(Question(m, ONE, None, q.field, q.values), line=True)
    power = noise.power_of(drawn)
    line = drawn.dimension == drawn.copies == ONE and drawn.norm["kind"] == "lp"
    sure(power is not None and line, "noise that is neither Gaussian nor Laplace noise on the line")
    rate = mul(noise.rate_of(drawn, power), q.field.power(drawn.shift, pairs.Fraction(power)))
    if power == 2:  # exp(-rate z**2)
        p = scale(pairs.FIELD.erfc(mul(least, q.field.power(rate, pairs.HALF))), pairs.HALF)
        return lambda: near(p)
    size = mul(rate, least)
    sure(q.field.at_most({}, size), "a threshold below what a record adds")
    return lambda: exp(-near(size)) / point(2)


def ceil_of(field, p):
    """The least integer that is at least a form."""
    return int(p.get((), 0)) if p.keys() <= {()} and p.get((), 0) == ceil(p.get((), 0)) else field.floor(p) + 1
