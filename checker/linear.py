"""Noise on a part of the line with a linear exponent, uniform or exponential (docs/theory/curves.md, closed profile): finite pairs.

Where one of two answers may lead to an output and the other may not, the output tells them apart; where both may, its loss is the same
wherever it is. So there are three outcomes.
"""

from algebra import add, mul, scale, sub
from noise import R, split
from pairs import FIELD, ONE, Fraction, finite
from terms import must, sure


def pair(drawn, shift):
    """The law about 0, and that about the shift, to the right of it."""
    field, (low, high) = drawn.q.field, drawn.support
    sure(not drawn.whole and not field.domains and drawn.dimension == drawn.copies == ONE, "noise on integers, or with parameters")
    sure("scale" not in drawn.q.mechanism, "noise at a scale")
    rate, back = slope(drawn.sides[0]), slope(drawn.sides[-1])
    level = [{m: c for m, c in h.items() if not split(m)[0]} for h in drawn.sides]
    sure(field.zero(add(rate, back)) and field.zero(sub(level[0], level[-1])), "an exponent that is not linear")
    falls = field.positive(rate) if high is None else field.positive(scale(rate, -1)) if low is None else True
    sure((low, high) != (None, None) and falls, "whether the density has finite mass")
    must(field.at_most({}, shift), "a shift below 0")
    if not shift:
        return finite([(ONE, ONE)])
    if None not in (low, high):
        sure(field.positive(sub(high, low)), "a support without length")
        if field.at_most(sub(high, low), shift):
            return finite([(ONE, {}), ({}, ONE)])
        sure(field.positive(sub(sub(high, low), shift)), "whether the two laws meet")
    total = mass(rate, low, high)

    def part(start, end):
        return mul(mass(rate, start, end), FIELD.power(total, Fraction(-1)))

    first = [(part(low, add(low, shift)), {})] if low is not None else []
    last = [({}, part(sub(high, shift), high))] if high is not None else []
    met = part(None if low is None else add(low, shift), high), part(low, None if high is None else sub(high, shift))
    return finite([*first, met, *last])


def slope(h):
    """What h rises by with r."""
    moving = {m: c for m, c in h.items() if split(m)[0]}
    sure(all(split(m)[0] == [(R, Fraction(1))] for m in moving), "an exponent that is not linear")
    return {split(m)[1]: c for m, c in moving.items()}


def mass(rate, start, end):
    """The integral of exp(-rate z) from start to end, None where that goes on and on."""
    if not rate:
        return sub(end, start)
    ends = [{} if z is None else FIELD.exp(scale(mul(rate, z), -1)) for z in (start, end)]
    return mul(sub(*ends), FIELD.power(rate, Fraction(-1)))
