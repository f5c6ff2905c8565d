"""Finite mechanisms in other measures: Renyi divergences by exact sums, zCDP over all orders, GDP by the likeliest events.

Theorem: Two rows p, q of a finite mechanism have the Renyi divergence log(sum of p^a q^(1 - a))/(a - 1). rho in zCDP is the supremum of
that over a, for all a > 1: at order 1 it is the mean loss K; up to order b it is at most K or (K + (b - 1) V/2)/b, V the greatest variance
of the loss under the laws p^a q^(1 - a) between; between two further orders the chord of its convex (a - 1) D_a bounds it, and from order A
on the greatest loss over A. mu in GDP is the greatest Phi^-1(P(S)) - Phi^-1(Q(S)) over the events S of the outputs of the greatest losses.

Checked:
- every row is a distribution, exactly
- every pair of rows
- the order of the losses, for GDP
- the cuts between orders

Source: docs/theory/measures.md#finite-measures, van Erven & Harremoes 2014; Dong, Roth & Su 2022, Definition 2.1
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final

from flint import arb

from dpverify.trusted.kernel import compare
from dpverify.trusted.kernel.balls import constant, rational
from dpverify.trusted.kernel.bounds import INFINITE, Bound
from dpverify.trusted.kernel.canonical_form import exact_fraction
from dpverify.trusted.kernel.errors import CertificateError, Rejected, certify
from dpverify.trusted.kernel.expr import Expr, mul
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import Claim
from dpverify.trusted.order.greatest import greatest
from dpverify.trusted.theories.divergences.asked import above, below, bound, measure_of
from dpverify.trusted.theories.divergences.orders import most_over_orders, read_cuts
from dpverify.trusted.theories.divergences.rows import Rows, divergence, rows_of

NAME: Final = "finite-measures"
ASSUMED: Final = ("the sampler is ideal",)


def infer(claim: Claim, parameters: Mapping[str, Any], _: Sequence[Fact]) -> tuple[Bound, ...]:
    """Both bounds. parameters, for zCDP: "cuts", orders from 1 on; "lower", the two inputs and the order of the lower bound.

    Raises Rejected, Undecided, CertificateError.
    """
    measure = measure_of(claim, NAME)
    every = rows_of(claim)
    alone = next((rows for rows in every if rows.first_alone or (measure.name == "gdp" and rows.second_alone)), None)
    if alone is not None:
        says = {"pair": list(alone.inputs), "event": {"says": "outputs-of-one-alone"}}
        return (bound(claim, "lower", INFINITE, witness=says, ordered=True),)
    if measure.name == "gdp":
        return _gdp(claim, every)
    if measure.name == "renyi":
        assert measure.at is not None
        return _exactly(claim, every, {rows.inputs: divergence(rows, measure.at) for rows in every}, str(measure.at))
    return _zcdp(claim, every, parameters)


def _exactly(claim: Claim, every: Sequence[Rows], values: Mapping[tuple[int, int], Expr], order: str) -> tuple[Bound, ...]:
    """The greatest of values of all pairs, which some pair has. order: in words."""
    value, pair = _greatest([(values[rows.inputs], rows) for rows in every])
    says = {"pair": list(pair.inputs), "order": order}
    return bound(claim, "upper", value), bound(claim, "lower", value, witness=says, ordered=True)


def _greatest(values: Sequence[tuple[Expr, Rows]]) -> tuple[Expr, Rows]:
    """The greatest of some values, and a pair that has it, or about it."""
    balls = [constant(value) for value, _ in values]
    least = balls[0]
    for ball in balls:
        least = least.max(ball)
    near = [value for value, ball in zip(values, balls, strict=True) if not ball < least]
    best = greatest(list(dict.fromkeys(value for value, _ in near)), {})
    return best, next((rows for value, rows in near if value == best), near[0][1])


def _zcdp(claim: Claim, every: Sequence[Rows], parameters: Mapping[str, Any]) -> tuple[Bound, ...]:
    bounds, means = list[Bound](), [(divergence(rows, Fraction(1)), rows) for rows in every]
    if "cuts" in parameters:
        cuts = read_cuts(parameters["cuts"], NAME)
        beyond = arb(0)
        for rows in every:
            beyond = beyond.max(_beyond(rows, cuts))
        mean, _ = _greatest(means)
        bounds.append(bound(claim, "upper", mean if beyond <= constant(mean) else above(beyond.max(constant(mean)))))
    if "lower" in parameters:
        first, second, order = _lower(parameters["lower"])
        named = [rows for rows in every if rows.inputs == (first, second)]
        if not named or order < 1:
            raise Rejected(NAME, "lower", "it is not of a pair of inputs that the rule looks at, at an order of at least 1")
        value = divergence(named[0], order)
        says = {"pair": [first, second], "order": {"says": "order-1-in-the-limit"} if order == 1 else str(order)}
        least = value if order == 1 else below(constant(value) / rational(order))
        bounds.append(bound(claim, "lower", least, witness=says, ordered=True))
    certify(bool(bounds), f"{NAME}: no bound is asked for; give 'cuts', 'lower' or both.")
    return tuple(bounds)


def _lower(given: Any) -> tuple[int, int, Fraction]:
    if not isinstance(given, list) or len(given) != 3 or not all(type(x) is int for x in given[:2]):
        raise CertificateError(f"{NAME}: 'lower' is not two inputs and an order.")
    return given[0], given[1], exact_fraction(given[2])


def _beyond(rows: Rows, cuts: Sequence[Fraction]) -> arb:
    """At least the divergence over the order for all orders above 1, but for the mean loss itself, which is that of order 1."""
    first = rational(cuts[1])
    near = (rows.mean + (first - 1) * rows.spread(arb(1).union(first)) / 2) / first
    return near.max(most_over_orders(cuts[1:], rows.cumulant, rows.greatest))


def _gdp(claim: Claim, every: Sequence[Rows]) -> tuple[Bound, ...]:
    most, least, worst, sorted_ = arb(0), arb(0), every[0], True
    for rows in every:
        places = sorted(range(len(rows.met)), key=lambda i: -rows.balls[i][2].mid())
        sorted_ = sorted_ and all(_falls(rows, i, j) for i, j in pairwise(places))
        first, second = arb(0), arb(0)
        for i in places[:-1]:
            first, second = first + rows.balls[i][0], second + rows.balls[i][1]
            mu = arb(2).sqrt() * ((2 * first - 1).erfinv() - (2 * second - 1).erfinv())
            worst = rows if mu > least else worst
            most, least = most.max(mu), least.max(mu)
    says = {"pair": list(worst.inputs), "event": {"says": "outputs-of-greatest-losses"}}
    lower = bound(claim, "lower", below(least), witness=says, ordered=True)
    return (bound(claim, "upper", above(most)), lower) if sorted_ else (lower,)


def _falls(rows: Rows, i: int, j: int) -> bool:
    """Whether the loss of one kind of output is certainly at least that of another."""
    loss, other = rows.balls[i][2], rows.balls[j][2]
    if other <= loss:
        return True
    (p, q, _), (r, s, _) = rows.met[i], rows.met[j]
    return compare.certainly_le(mul(r.expr, q.expr), mul(p.expr, s.expr))
