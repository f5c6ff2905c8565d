"""Intervals that parameters range over: their ends, and what lies inside."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import ceil, floor

from dpverify.trusted.language.model import Domain


def closed(domain: Domain) -> Domain:
    """The domain itself; one of integers with its least and greatest integer as closed ends."""
    if not domain.integer:
        return domain
    lower, upper = domain.lower, domain.upper
    if lower is not None:
        lower = Fraction(floor(lower) + 1 if domain.lower_open else ceil(lower))
    if upper is not None:
        upper = Fraction(ceil(upper) - 1 if domain.upper_open else floor(upper))
    return replace(domain, lower=lower, upper=upper, lower_open=False, upper_open=False)


def contains(domain: Domain, x: Fraction) -> bool:
    """Whether a rational lies in the domain: the one place that says so."""
    if domain.integer and x.denominator != 1:
        return False
    above = domain.lower is None or x > domain.lower or (x == domain.lower and not domain.lower_open)
    below = domain.upper is None or x < domain.upper or (x == domain.upper and not domain.upper_open)
    return above and below


def is_empty(domain: Domain) -> bool:
    """Whether nothing lies between the ends, for a domain that `closed` gave."""
    low, high = domain.lower, domain.upper
    return low is not None and high is not None and (low > high or (low == high and not contains(domain, low)))
