"""Enclosed sums of a density over the integers."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor
from typing import Any, Final

from flint import arb, ctx

from dpverify.trusted.kernel.balls import constant, finite, hull, precision, rational, value
from dpverify.trusted.kernel.errors import CertificateError, ExprError, Undecided
from dpverify.trusted.kernel.expr import ZERO, Expr, Sym, neg, num, substitute
from dpverify.trusted.language.calls import calls
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.numbers.asymptotics import End, Germ, end_jet
from dpverify.trusted.numbers.integrability import end_mass
from dpverify.trusted.numbers.kinks import resolve
from dpverify.trusted.numbers.periods import quasi_period, step_period

_MOST_TERMS: Final = 20_000
MAY_START: Final = range(4, 15)
_WORKING: Final = 80
_LAST: Final = 2 ** MAY_START[-1]
_SPARE: Final = 4
"""Bits beyond those wanted to which a tail is known."""


def term(density: Expr, name: str, n: int) -> arb:
    """A density at an integer: floors of rational numbers are known there, where a ball about a third of it may hold two."""
    return constant(substitute(density, {name: num(n)})) if calls(density, "floor") else value(density, {name: arb(n)})


def lattice_sum(density: Expr, name: str, lower: int | None, upper: int | None, bits: int = 24) -> arb:
    """A ball that contains the sum of a density over the integers from `lower` to `upper`. Raises Undecided."""
    with precision(max(ctx.prec, _WORKING)):
        total = arb(0)
        start = lower if lower is not None else 0 if upper is None or upper >= 0 else upper
        if upper is None:
            total += _half_sum(density, name, start, bits)
        else:
            if upper - start > _MOST_TERMS:
                raise Undecided(f"a sum of {upper - start} terms; at most {_MOST_TERMS}.")
            for n in range(start, upper + 1):
                total = finite(total + term(density, name, n))
        if lower is None:
            total += _half_sum(substitute(density, {name: neg(Sym(name))}), name, 1 - start, bits)
        return finite(total)


def summable(density: Expr, name: str, lower: Fraction | None, upper: Fraction | None, told: Any) -> bool:
    """Whether the sum over the integers between two ends is proved to be finite.

    told: for either end, the left one first, k where its tail starts at 2^k; null for an end that is finite. Raises CertificateError.
    """
    left, right = told
    first, last = (None if end is None else round_to(end) for end, round_to in ((lower, ceil), (upper, floor)))
    for limit, start, mirrored in ((first, left, True), (last, right, False)):
        if (limit is None) != (type(start) is int and start in MAY_START):
            raise CertificateError(f"a tail starts at 2^k, k from {MAY_START[0]} to {MAY_START[-1]}, where the noise has no end.")
        if limit is None and not _has_tail(density, name, mirrored, start):
            return False
    low = -(2**left) if first is None else first
    high = 2**right if last is None else last
    return high - low <= 2 * _MOST_TERMS and all(term(density, name, n).is_finite() for n in range(low, high + 1))


def _has_tail(density: Expr, name: str, mirrored: bool, start: int) -> bool:
    turned = substitute(density, {name: neg(Sym(name))}) if mirrored else density
    tail = _tail_sum(turned, name, End("+inf", Fraction(2) ** start))
    return tail is not None and bool(tail.is_finite())


def _half_sum(density: Expr, name: str, start: int, bits: int) -> arb:
    """The sum from `start` on: terms, then a tail."""
    first, total = max(start, _tail_start(density, name, bits) if start < _LAST else start), arb(0)
    for n in range(start, first):
        total = finite(total + term(density, name, n))
    try:
        tail = _tail_sum(density, name, End("+inf", Fraction(first)))
    except ExprError:
        tail = None
    if tail is None:
        raise Undecided("whether the density is summable over the integers is not certain.")
    return total + tail


def _tail_start(density: Expr, name: str, bits: int) -> int:
    """About where a tail starts whose sum is known to so many bits of the greatest term, a power of 2: a guess.

    With terms at three powers of 2 in a row, and slopes a of their logarithms between, the sum is the first term over 1 - e^-a: how far
    are the two apart?
    """
    terms = [value(density, {name: arb(2) ** k}) for k in range(MAY_START[-1] + 2)]
    greatest = arb(0)
    for term in terms:
        greatest = greatest.max(term.mid())
    least, found = greatest * arb(2) ** -(bits + _SPARE), MAY_START[0]
    for k in MAY_START[:-1]:
        slopes = ((terms[i] / terms[i + 1]).log() / 2**i for i in (k, k + 1))
        here, there = (1 / -(-slope).expm1() for slope in slopes)
        if terms[k] > least and not terms[k] * abs(here - there) <= least:
            found = k + 1
    return int(2**found)


def _tail_sum(density: Expr, name: str, end: End) -> arb | None:
    """The sum over n >= start: from h(n+1) - h(n) = h'(xi), a geometric series; or between two integrals where h rises."""
    there = resolve(density, name, end.start, None)
    if there == ZERO:
        return arb(0)
    h = neg_log(there)
    period = step_period(h, name)
    if period is not None:
        return _repeated(there, h, name, ceil(end.start), period)
    slope: Germ = end_jet(h, name, end).d1
    first = value(there, {name: rational(end.start)})
    if not first >= 0:
        return None
    geometric = None
    if slope.direction() <= 0:
        found = slope.bounds()
        if found.lo > 0:
            geometric = first * hull(1 / (1 - (-found.hi).exp()), 1 / (1 - (-found.lo).exp()))
    elif slope.k.lo > 0:
        least = (1 / slope.power(Fraction(-1)).bounds().hi).lower()
        geometric = first * hull(arb(1), 1 / (1 - (-least).exp()))
    if geometric is not None and geometric.is_finite():
        return geometric
    if slope.k.lo >= 0:
        mass = end_mass(there, name, end)
        return None if mass is None else mass + first * hull(Fraction(0), Fraction(1))
    return None


def _repeated(density: Expr, h: Expr, name: str, start: int, length: Fraction) -> arb | None:
    """The sum over n >= start where h gains as much over every whole number of periods: those of one, over 1 - e^-gain."""
    period = length.numerator
    gain = quasi_period(h, name, Fraction(period))
    terms = [term(density, name, n) for n in range(start, start + min(period, _MOST_TERMS))]
    if gain is None or period > _MOST_TERMS or not constant(gain) > 0 or not all(term >= 0 for term in terms):
        return None
    return sum(terms, arb(0)) / -(-constant(gain)).expm1()
