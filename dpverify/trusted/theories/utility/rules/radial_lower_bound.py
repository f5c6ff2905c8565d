"""The error of any private mechanism for histograms that are close in l2 is at least that of the best noise that is alike all round.

Theorem: Where the differences of neighbours, seen in k dimensions, hold a ball of radius R, every eps-DP mechanism has on some data a mean
error of at least R t, if the integral over [0, 1] of c min(X, qX) is at least 0: X(r) is the sum over j >= 0 of q^j (r + j)^(k-1) (r + j -
t), q = e^-eps, and c is 1 below the r at which r + j first meets t, else q. With (r + j)^2 in place of the last r + j, a mean square error
of at least R^2 t.

Checked:
- the adjacency is l2, and the ellipsoid of differences holds the ball
- the integral, cell by cell
- epsilon above 0, delta = 0

Source: docs/theory/necessary.md#radial-lower-bound
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import ceil, comb, isqrt
from typing import Any, Final

from flint import arb, arb_poly, fmpq_mat

from dpverify.trusted.facts.errors import ErrorBound
from dpverify.trusted.geometry.linear import matrix, to_fmpq
from dpverify.trusted.kernel.balls import rational
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import Claim, Query
from dpverify.trusted.language.rationals import read_fraction, read_rows, read_whole
from dpverify.trusted.theories.utility.any_mechanism import granted, least, over_shells, query_of

NAME: Final = "radial-lower-bound"
ASSUMED: Final = ()

MOST_CELLS: Final = 20_000
"""The most cells that an integral is cut into."""


def infer(claim: Claim, parameters: Mapping[str, Any], premises: Sequence[Fact]) -> tuple[ErrorBound, ...]:
    """Lower bounds on the two Euclidean errors of any mechanism.

    parameters: "axes", independent rows of rationals; "radius", R; "mean" and "square", the two t; "cells", how many. premises: where
    epsilon is "tight", an upper bound on it. Raises Rejected, CertificateError.
    """
    query = query_of(claim, ("l2",), NAME)
    epsilon, assumed = granted(claim, premises, NAME)
    radius, cells = read_fraction(parameters, "radius", NAME), read_whole(parameters, "cells", NAME, 1, MOST_CELLS)
    k = _seen(query, parameters.get("axes"), radius)
    factors = [read_fraction(parameters, key, NAME) for key in ("mean", "square")]
    for power, factor in enumerate(factors, 1):
        if factor <= 0 or not integral(epsilon, k, power, factor, cells) >= 0:
            raise Rejected(NAME, "the integral", f"it is not seen to be at least 0 for t = {factor}, or t is not above 0")
    return least(rational(radius * factors[0]), rational(radius**2 * factors[1]), assumed, NAME)


def _seen(query: Query, told: object, radius: Fraction) -> int:
    """The number of axes, along which the ellipsoid of differences holds a ball of this radius. Raises Rejected, CertificateError."""
    axes = matrix(read_rows(told, "axes", NAME, len(query.rows)))
    moved, gram = axes * matrix(query.rows), axes * axes.transpose()
    room: fmpq_mat = gram * to_fmpq(radius**2) - moved * moved.transpose()
    # of real roots none is above 0 where no coefficient is below
    if radius <= 0 or gram.det() == 0 or not all(coefficient >= 0 for coefficient in room.charpoly().coeffs()):
        raise Rejected(NAME, "the ball", "the axes are not independent, or the differences of neighbours do not hold it")
    return int(axes.nrows())


def integral(epsilon: arb, k: int, power: int, factor: Fraction, cells: int) -> arb:
    """At most the integral over [0, 1] of c min(X, qX), X the sum of q^j (r + j)^(k-1) ((r + j)^power - factor)."""
    shells = sums(epsilon, k - 1 + power) - rational(factor) * sums(epsilon, k - 1)
    slope, q, total = shells.derivative(), (-epsilon).exp(), arb(0)
    before = (ceil(factor) if power == 1 else isqrt(max(ceil(factor) - 1, 0)) + 1) - 1  # the most j below the root of the factor
    for cell in range(cells):
        left, half = Fraction(cell, cells), rational(Fraction(1, 2 * cells))
        middle, off = rational(left + Fraction(1, 2 * cells)), arb(0, half)
        least = (shells(middle) + slope(middle + off) * off).lower()
        least = least * q if least > 0 else least
        within = (before + left) ** power >= factor, (before + left + Fraction(1, cells)) ** power > factor
        total += least * q if within == (True, True) else least if within == (False, False) else least.min(least * q)
    return total / cells


def sums(epsilon: arb, n: int) -> arb_poly:
    """The sum of q^j (r + j)^n over j >= 0, as a polynomial in r."""
    rest = -(-epsilon).expm1()
    return arb_poly([comb(n, i) * (over_shells(epsilon, i) if i else arb(1)) / rest for i in range(n, -1, -1)])
