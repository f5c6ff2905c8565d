"""Finds gamma of a logarithmic number of runs by its mean, for the best of them; and whether more of a run is known than an epsilon."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from dpverify.trusted.kernel.balls import constant, precision
from dpverify.trusted.kernel.compare import certainly_equal
from dpverify.trusted.kernel.errors import Rejected, Undecided
from dpverify.trusted.kernel.expr import Expr, Num, symbols
from dpverify.trusted.kernel.model import BestOf, Domain
from dpverify.trusted.theories.composition.rules import best_of as rule

_BITS: Final = 256
_FINE: Final = 90
"""Bits of gamma: enough for an epsilon of many digits, and few enough for the kernel to see on which side of the mean it is."""
_SHORT: Final = 10**6


def gamma(mean: Expr, side: str) -> Fraction:
    """A rational just below gamma, for a bound from above, or just above it; gamma itself where that is short.

    Raises Undecided for a mean in parameters.
    """
    if symbols(mean):
        raise Undecided("the mean of a logarithmic number of runs wants a value; negative_binomial with eta = 0 takes gamma in parameters.")
    with precision(_BITS):
        wanted, low = constant(mean), Fraction(1, 2)
        while not constant(rule.logarithmic_mean(Num(low))) > wanted:
            low /= 2
        high = min(Fraction(1), 2 * low)
        for _ in range(_FINE):
            middle = (low + high) / 2
            low, high = (middle, high) if constant(rule.logarithmic_mean(Num(middle))) > wanted else (low, middle)
    short = high.limit_denominator(_SHORT)
    if 0 < short < 1 and certainly_equal(rule.logarithmic_mean(Num(short)), mean):
        return short
    return low if side == "upper" else high


def is_attained(best: BestOf, domains: tuple[tuple[str, Domain], ...]) -> bool:
    """Whether no more is known of the part than a pure epsilon."""
    try:
        rule.attained(best, dict(domains))
    except Rejected:
        return False
    return True
