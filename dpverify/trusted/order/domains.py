"""Intervals that parameters range over: their ends, and whether anything lies between them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor

from dpverify.trusted.kernel.model import Domain


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


def faults(domains: tuple[tuple[str, Domain], ...]) -> Iterator[str]:
    """The domains that hold nothing."""
    for name, domain in domains:
        if is_empty(closed(domain)):
            yield f"no value lies in the domain of {name}."


def is_empty(domain: Domain) -> bool:
    """Whether nothing lies between the ends, for a domain that `closed` gave."""
    low, high = domain.lower, domain.upper
    return low is not None and high is not None and (low > high or (low == high and not domain.holds(low)))
