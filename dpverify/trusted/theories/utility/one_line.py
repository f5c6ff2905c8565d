"""The least mean square of an error along one line of neighbours, in every measure of privacy.

Along a line a step of the data moves the answer by 1. What is said here is true of the mean over a long stretch of such a line.

Source: docs/theory/necessary.md#one-line
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from math import ceil
from typing import Any, Final

from flint import arb

from dpverify.trusted.kernel.balls import constant, finite, rational
from dpverify.trusted.kernel.errors import CertificateError, Rejected, Undecided, require
from dpverify.trusted.kernel.expr import Expr, symbols
from dpverify.trusted.kernel.model import Claim, Measure
from dpverify.trusted.language.rationals import read_fraction, read_whole

MOST_STEPS: Final = 100_000
"""Steps to the reach of the dual function."""


def least_square(claim: Claim, parameters: Mapping[str, Any], rule: str) -> arb:
    """A lower bound in the measure that is claimed. Raises Rejected, CertificateError.

    parameters: with epsilon and delta "reach", from where on the dual function is constant, and "least", what it would prove of delta 0; in
    another measure "order", if the bound is to be by both orders of a Renyi divergence of this order, or what `by_entropy` is told.
    """
    if claim.measure is not None:
        if "weight" in parameters:
            return by_entropy(_divergence(claim.measure, Fraction(1), rule), parameters, rule)
        order = read_fraction(parameters, "order", rule) if "order" in parameters else None
        return by_divergence(claim.measure, order, rule)
    epsilon, delta = _number(claim.epsilon, "epsilon", rule), _number(claim.delta, "delta", rule)
    require(epsilon > 0 and delta >= 0, Rejected(rule, "epsilon and delta", "one is not certainly above 0"))
    return capped(epsilon, delta, read_fraction(parameters, "reach", rule), read_fraction(parameters, "least", rule), rule)


def by_divergence(measure: Measure, order: Fraction | None, rule: str) -> arb:
    """From zCDP, GDP or a Renyi divergence. Raises Rejected.

    By chi square, where no order is told: if E (dP/dP')^2 is at most e^t, the square of the difference of two means is at most e^t - 1
    times the variance. Else by the triangular discrimination of the two, which the divergences of one order, in both orders, bound.
    """
    if order is None:
        return 1 / _divergence(measure, Fraction(2), rule).expm1()
    require(order > 1, Rejected(rule, "the order", "it is not above 1"))
    above = rational(order - 1)
    found = above * (above + 1) / (2 * (above * _divergence(measure, order, rule)).expm1())
    require(found > 1 / arb(4), Rejected(rule, "the order", "it proves nothing above 0"))
    return found - 1 / arb(4)


def by_entropy(size: arb, parameters: Mapping[str, Any], rule: str) -> arb:
    """From divergences of order 1 of at most `size`, in both orders, by the function h of the theorem. Raises Rejected, CertificateError.

    parameters: "weight", that of the constraint; "least", what is proved; "parts", an even number of cells of h to a length of 1; "reach",
    the number of cells from 1/2 to where h is constant.
    """
    weight, least = (read_fraction(parameters, key, rule) for key in ("weight", "least"))
    parts, reach = (read_whole(parameters, key, rule, 1, MOST_STEPS) for key in ("parts", "reach"))
    if not (weight > 0 and least > 0 and parts % 2 == 0):
        raise CertificateError(f"{rule}: 'weight' or 'least' is not above 0, or 'parts' is odd.")

    def beside(y: Fraction) -> arb:
        """What is asked of h at y and y + 1 together."""
        return rational((2 * (y**2 - least) - Fraction(1, 2 * parts**2)) / weight) + 2 - 2 * size

    start, width = Fraction(1, 2), Fraction(1, parts)
    top = beside(start + reach * width) / 2
    require(top > 1, Rejected(rule, "reach", "h is not certainly above 0 where it ends"))
    h = [top.acosh().lower()] * (reach + parts + 1)
    for k in reversed(range(reach)):
        after = beside(start + k * width) + h[k + parts] - (-h[k + parts]).exp()
        h[k] = (after - after.exp().lambertw()).lower()  # x + e^x is at most `after`
    for j in range(parts // 2 + 1):
        near, far = h[j], h[parts - j]
        if not beside(start - j * width) + near + far - (-near).exp() - (-far).exp() >= 0:
            raise Rejected(rule, "weight and least", "within half a step of the truth the function is not certainly great enough")
    return rational(least)


def _divergence(measure: Measure, order: Fraction, rule: str) -> arb:
    """At most what the Renyi divergence of an order is. Raises Rejected."""
    value = _number(measure.value, measure.name, rule)
    require(value > 0, Rejected(rule, measure.name, "it is not certainly above 0"))
    if measure.name == "zcdp":
        return rational(order) * value
    if measure.name == "gdp":
        return rational(order) * value**2 / 2
    if measure.name == "renyi" and measure.at is not None and measure.at >= order:
        return value
    raise Rejected(rule, measure.name, "the bound is about a delta, zcdp, gdp, and Renyi divergences of at least the order told, or 2")


def _number(value: Expr | None, name: str, rule: str) -> arb:
    if value is None or symbols(value):
        raise Rejected(rule, name, "the claim states no number, and the least error of any mechanism is a matter of it")
    return finite(constant(value))


def capped(epsilon: arb, delta: arb, reach: Fraction, least: Fraction, rule: str) -> arb:
    """The bound by the function psi of the theorem, which is checked to be one. Raises Rejected, CertificateError."""
    if not 0 < reach < MOST_STEPS:
        raise CertificateError(f"{rule}: 'reach' is not between 0 and {MOST_STEPS}.")
    q = (-epsilon).exp()
    cap = rational(reach**2 - least) / -(-epsilon).expm1()
    pieces = _pieces(q, cap, rational(least), ceil(reach) + 1)
    require(_value(pieces, reach, Fraction(1, 2)) >= 0, Rejected(rule, "reach and least", "psi is not certainly at least 0"))
    breaks = sorted({Fraction(0), Fraction(1, 2), *(x for x in (reach % 1, -reach % 1) if x < Fraction(1, 2))})
    for low, high in pairwise(breaks):
        if not _between(pieces, reach, q, low, high) >= rational(least):
            raise Rejected(rule, "reach and least", "within half a step of the truth the function is not certainly great enough")
    return rational(least) - 2 * q * delta * cap


def _pieces(q: arb, cap: arb, least: arb, most: int) -> list[tuple[arb, arb, arb]]:
    """psi(u) as a polynomial of degree 2, by the number of steps of 1 from u to where it is constant."""
    a, b, c, power = arb(0), arb(0), arb(0), arb(1)
    found = [(a, b, cap)]
    for i in range(most):
        a, b, c, power = a + power, b + 2 * i * power, c + power * (i * i - least), power * q
        found.append((a, b, c + power * cap))
    return found


def _steps(reach: Fraction, u: Fraction) -> int:
    return max(0, ceil(reach - u))


def _value(pieces: Sequence[tuple[arb, arb, arb]], reach: Fraction, u: Fraction) -> arb:
    a, b, c = pieces[_steps(reach, u)]
    at = rational(u)
    return (a * at + b) * at + c


def _between(pieces: Sequence[tuple[arb, arb, arb]], reach: Fraction, q: arb, low: Fraction, high: Fraction) -> arb:
    """A lower bound on u^2 + q (psi(1 + u) + psi(1 - u)) for u between two breaks, where that is one convex polynomial of degree 2."""
    middle = (low + high) / 2
    (a, b, c), (d, e, f) = pieces[_steps(reach, 1 + middle)], pieces[_steps(reach, 1 - middle)]
    square, linear, fixed = 1 + q * (a + d), q * (2 * a + b - 2 * d - e), q * (a + b + c + d + e + f)
    ends = [rational(low), rational(high)]
    if linear + 2 * square * ends[0] >= 0:
        return (square * ends[0] + linear) * ends[0] + fixed
    if linear + 2 * square * ends[1] <= 0:
        return (square * ends[1] + linear) * ends[1] + fixed
    found = fixed - linear * linear / (4 * square)
    require(found.is_finite(), Undecided("the dual function is not enclosed; raise the precision."))
    return found
