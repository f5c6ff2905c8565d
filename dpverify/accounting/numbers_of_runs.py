"""Two numbers that events leave to be computed, each rounded to the side that is asked for: all arithmetic is of balls."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from flint import arb, ctx

_BITS: Final = 160
_STEPS: Final = 80
_LONGEST: Final = 20_000
"""Terms of a sum."""


def fewest_stops(shape: Fraction, mean: Fraction) -> Fraction:
    """A gamma whose truncated negative binomial law has a mean of at least `mean` > 1, the greatest but for 2^-80 of it.

    The mean is shape (1 - gamma)/(gamma (1 - gamma^shape)) and falls in gamma; so does all that is lost by the best of so many runs.
    """
    before, ctx.prec = ctx.prec, _BITS
    try:
        low, high = Fraction(1, 2), Fraction(1)
        while not _at_least(shape, low, mean):
            low, high = low / 2, low
        for _ in range(_STEPS):
            middle = (low + high) / 2
            low, high = (middle, high) if _at_least(shape, middle, mean) else (low, middle)
        return low
    finally:
        ctx.prec = before


def _at_least(shape: Fraction, gamma: Fraction, mean: Fraction) -> bool:
    """Whether the mean at a gamma is certainly so great."""
    g, c, m = map(_ball, (gamma, shape, mean))
    return bool(-(g.log() * c).expm1() * g * m <= c * (1 - g))


def kept(records: int, rate: Fraction, batch: int) -> Fraction:
    """At most the probability that a record is in a Poisson sample of so many records and in a batch of at most `batch` drawn from it."""
    before, ctx.prec = ctx.prec, _BITS
    try:
        p = _ball(rate)
        if rate == 1:
            return Fraction(batch, records + 1)
        chance = (1 - p) ** records  # that so many of the others are in the sample
        total = arb(0)
        for others in range(min(records, batch + _LONGEST) + 1):
            total += chance * batch / (others + 1) if others >= batch else chance
            chance *= p * (records - others) / ((1 - p) * (others + 1))
        mantissa, exponent = (p * total).lower().man_exp()
        found = Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
        return max(Fraction(0), min(rate, found))
    finally:
        ctx.prec = before


def _ball(value: Fraction) -> arb:
    return arb(value.numerator) / arb(value.denominator)
