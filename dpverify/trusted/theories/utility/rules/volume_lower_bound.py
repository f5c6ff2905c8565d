"""The error of any private mechanism on real histograms is at least what the volume of the body of differences makes it.

Theorem: Every eps-DP mechanism for real histograms has on some data a mean error of at least (k/(k+1)) R and a mean square error of at
least (k/(k+2)) R^2, where v R^k is the integral of e^(-eps ceil(||y||)) over a projection to k dimensions of the body of differences.

Checked:
- a premise: the volume of the projected body, or a lower bound on it
- epsilon above 0, delta = 0
- the adjacency

Source: docs/theory/necessary.md#volume-lower-bound
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from flint import arb

from dpverify.trusted.facts.errors import ErrorBound
from dpverify.trusted.facts.premises import body_of
from dpverify.trusted.geometry.linear import matrix, to_fraction
from dpverify.trusted.kernel.balls import constant, rational
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import Claim
from dpverify.trusted.language.rationals import read_fraction
from dpverify.trusted.theories.utility.any_mechanism import REALS, granted, least, over_shells, query_of, unit_ball

NAME: Final = "volume-lower-bound"
ASSUMED: Final = ()


def infer(claim: Claim, parameters: Mapping[str, Any], premises: Sequence[Fact]) -> tuple[ErrorBound, ...]:
    """Lower bounds on the two Euclidean errors of any mechanism.

    premises: the body of the query's differences along some axes; where epsilon is "tight", an upper bound on it.
    parameters: none, or "inner" and "radius" of the form with an atom. Raises Rejected, CertificateError.
    """
    query_of(claim, REALS, NAME)
    body = body_of(premises[0], claim, "query", NAME)
    epsilon, assumed = granted(claim, premises[1:], NAME)
    k, axes = len(body.axes), matrix(body.axes)
    mass = constant(body.volume) / rational(to_fraction((axes * axes.transpose()).det())).sqrt() * over_shells(epsilon, k)
    bound = _with_atom(mass, epsilon, k, parameters) if parameters else _plain(mass, k)
    return least(*bound, (*premises[0].assumed, *assumed), NAME)


def _plain(mass: arb, k: int) -> tuple[arb, arb]:
    radius = (mass / unit_ball(k)).root(k)
    return arb(k) / (k + 1) * radius, arb(k) / (k + 2) * radius**2


def _with_atom(mass: arb, epsilon: arb, k: int, parameters: Mapping[str, Any]) -> tuple[arb, arb]:
    """One answer counts by itself, and of the others those that are farther from it than `inner + radius`."""
    inner, radius = (rational(read_fraction(parameters, key, NAME)) for key in ("inner", "radius"))
    ball = unit_ball(k)
    outside = mass - (-epsilon).exp() * ball * (inner + radius) ** k
    require(inner > 0 and radius > 0 and outside > 0, Rejected(NAME, "the radii", "they are not above 0, or leave nothing outside"))
    linear = inner * (k + 1) * outside / (ball * radius ** (k + 1))
    square = inner**2 * (k + 2) * outside / (2 * ball * radius ** (k + 2))
    return radius * linear / (1 + linear), radius**2 * square / (1 + square)
