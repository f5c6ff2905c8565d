"""The error of any private mechanism on counts is at least what the volume makes it, less what rounding to counts costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from flint import arb

from dpverify.trusted.facts.errors import ErrorBound
from dpverify.trusted.facts.fact import Fact
from dpverify.trusted.facts.premises import body_of
from dpverify.trusted.language.errors import CertificateError
from dpverify.trusted.language.model import Claim, Source
from dpverify.trusted.numbers.balls import constant, rational
from dpverify.trusted.order.linear import form, matrix, to_fraction
from dpverify.trusted.order.queries import differences
from dpverify.trusted.rules.utility.any_mechanism import COUNTS, granted, least, query_of, unit_ball

NAME: Final = "rounding-lower-bound"
STATEMENT: Final = (
    "On counts, with V the volume of the body K of differences projected to k dimensions, r = (k! V/v_k)^(1/k) e^(-eps)/eps and s half of "
    "sqrt(k) times the longest projected difference, every eps-DP mechanism has on some data a mean error of at least k r/(k + 1) - s and, "
    "where r >= s, a mean square error of at least (r - s)^2 - 2 r^2/(k + 2)."
)
CHECKED: Final = (
    "a premise: the volume of the projected body, or a lower bound on it",
    "the longest difference",
    "epsilon above 0, delta = 0",
)
ASSUMED: Final = ()
SOURCE: Final = Source("docs/theory/necessary.md#rounding-lower-bound")


def infer(claim: Claim, parameters: Mapping[str, Any], premises: Sequence[Fact]) -> tuple[ErrorBound, ...]:
    """Lower bounds on the two Euclidean errors of any mechanism.

    premises: the body of the query's differences along some axes; where epsilon is "tight", an upper bound on it. No parameters.
    Raises Rejected, CertificateError.
    """
    query = query_of(claim, COUNTS, NAME)
    if not premises or parameters:
        raise CertificateError(
            f"{NAME}: it has no premise about the body of the query's differences, or parameters, which it takes none of."
        )
    body = body_of(premises[0], claim, "query", NAME)
    epsilon, assumed = granted(claim, premises[1:], NAME)
    k, axes = len(body.axes), matrix(body.axes)
    gram = axes * axes.transpose()
    size = constant(body.volume) / rational(to_fraction(gram.det())).sqrt()
    seen = axes.transpose() * gram.inv() * axes
    moved = (rational(k * max(form(seen, step) for step in differences(query))) / 4).sqrt()
    r = (size / unit_ball(k) * arb(k + 1).gamma()).root(k) * (-epsilon).exp() / epsilon
    below = r - moved
    return least(r * k / (k + 1) - moved, (below**2 if below > 0 else arb(0)) - 2 * r**2 / (k + 2), (*premises[0].assumed, *assumed), NAME)
