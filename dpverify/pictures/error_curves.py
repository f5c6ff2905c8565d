"""Root mean square errors against epsilon and against the number of queries: of a claim's noise, and the least of any mechanism.

Every point of these curves is a bound that rules prove, as they prove those of a claim with `utility = true`.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

import numpy as np

from dpverify.pictures.exponent import exponent
from dpverify.pictures.polyline import Point
from dpverify.search.utility import necessary, one_line
from dpverify.trusted.combinators.released import answered
from dpverify.trusted.facts.errors import ErrorBound
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.expr import ZERO, Expr, Num, num, parse, symbols
from dpverify.trusted.kernel.fact import as_errors
from dpverify.trusted.kernel.judgement import Judgement
from dpverify.trusted.kernel.model import L1, Claim, Product, Query
from dpverify.trusted.kernel.proof import Proof

MOST_QUERIES: Final = 6
LARGE: Final = 8
"""No greater epsilon is shown but the claimed one: there bounds tell nothing any more."""
TIMES: Final = tuple(Fraction(2) ** step for step in range(-4, 5))
"""What the claimed epsilon is multiplied by."""
DIGITS: Final = 12
_LINEAR: Final = 1e-9
_LAPLACE: Final = parse("exp(-abs(z))")
"""Of some mechanism: what any mechanism has at least does not depend on it."""


@dataclass(frozen=True, slots=True)
class ErrorCurves:
    """Points (epsilon, error) and (number of queries, error).

    epsilon: that is claimed. least: that no mechanism with this epsilon is below. own: of the claim's noise, at most; made as wide as each
    epsilon wants where `scaled`, else at the claimed epsilon alone. by_queries, own_by_queries: the same for the first queries alone.
    gaussian: with a delta, about what Gaussian noise of the best shape has.
    """

    epsilon: float
    least: tuple[Point, ...]
    own: tuple[Point, ...]
    scaled: bool
    least_by_queries: tuple[Point, ...]
    own_by_queries: tuple[Point, ...]
    gaussian: tuple[Point, ...] = ()


def error_curves(claim: Claim, judgement: Judgement | None) -> ErrorCurves | None:
    """Of a claim that is proved, asks for errors and states a query and a number for delta; None for another, or where none is bounded."""
    try:
        with warnings.catch_warnings(action="ignore", category=RuntimeWarning):  # floats that overflow only mislead the search
            return _curves(claim, judgement)
    except (DpverifyError, ArithmeticError, ValueError):  # numbers beyond the range of the search
        return None


def _curves(claim: Claim, judgement: Judgement | None) -> ErrorCurves | None:
    query = answered(claim)
    if judgement is None or query is None or not claim.utility or claim.domains or judgement.verdict != "PROVED":
        return None
    if not isinstance(claim.delta, Num) or claim.measure is not None:
        return None
    epsilon, own = _epsilon(claim, judgement), _own(judgement)
    if epsilon is None or own is None or len(query.rows) > MOST_QUERIES:
        return None
    exact = Fraction(epsilon).limit_denominator(10**6)
    most = max(Fraction(LARGE), exact)
    shown = (exact * times for times in TIMES if 0 < exact * times <= most)
    least = tuple((float(at), error) for at in shown if (error := _least(query, at, claim.delta)) is not None)
    if not least:
        return None
    scaled = claim.delta == ZERO and _scaled(claim)
    points = tuple((at, own * epsilon / at) for at, _ in least) if scaled else ((epsilon, own),)
    firsts = tuple(_firsts(query, exact, claim.delta)) if len(query.rows) > 1 else ()
    own_firsts = tuple(_own_firsts(judgement, len(query.rows))) if firsts else ()
    return ErrorCurves(epsilon, least, points, scaled, firsts, own_firsts, tuple(_gaussian(least, float(claim.delta.value))))


def _epsilon(claim: Claim, judgement: Judgement) -> float | None:
    stated = claim.epsilon if claim.epsilon is not None else judgement.upper
    if not isinstance(stated, Expr) or symbols(stated):
        return None
    return float(constant(stated).mid())


def _gaussian(least: Iterable[Point], delta: float) -> Iterator[Point]:
    """With a delta the bound is sqrt(w S) and this noise has sigma sqrt(S), with one number S of the query (theory#one-line)."""
    for epsilon, error in least:
        if delta > 0 and (square := one_line.with_delta(epsilon, delta)[2]) > 0:
            yield epsilon, error * _sigma(epsilon, delta) / math.sqrt(square)


def _sigma(epsilon: float, delta: float) -> float:
    """About the least sigma at which Gaussian noise is (epsilon, delta)-DP for answers 1 apart."""
    low, high = -20.0, 20.0
    for _ in range(60):
        middle = (low + high) / 2
        sigma = math.exp(middle)
        first, second = (math.erfc((epsilon * sigma + side / (2 * sigma)) / math.sqrt(2)) / 2 for side in (-1, 1))
        low, high = (low, middle) if first - math.exp(epsilon) * second <= delta else (middle, high)
    return math.exp(high)


def _least(query: Query, epsilon: Fraction, delta: Expr) -> float | None:
    """The greatest lower bound on the root mean square error of any mechanism that rules prove, rounded down."""
    asked = Claim(Product(_LAPLACE, num(len(query.rows)), L1), Num(epsilon), delta, query=query, utility=True)
    found: list[float] = []
    for step in _steps(asked):
        for bound in step:
            if bound.whose == "any" and bound.measure == "rms_l2" and isinstance(bound.value, Expr):
                found.append(float(constant(bound.value).lower()))
    return max(found, default=None)


def _steps(asked: Claim) -> Iterator[tuple[ErrorBound, ...]]:
    proof = Proof(asked)
    for step in necessary.propose(proof, (), DIGITS):
        try:
            fact = proof.infer(step["rule"], (), step["evidence"], step["premises"])
        except DpverifyError:
            continue
        yield tuple(as_errors(fact.says))


def _firsts(query: Query, epsilon: Fraction, delta: Expr) -> Iterator[Point]:
    for k in range(1, len(query.rows) + 1):
        error = _least(replace(query, rows=query.rows[:k]), epsilon, delta)
        if error is not None:
            yield float(k), error


def _own(judgement: Judgement, coordinate: int | None = None) -> float | None:
    """What is proved that the root mean square error of the noise is at most, rounded up."""
    measure = "rms_l2" if coordinate is None else "rms"
    for _, bound in judgement.errors:
        if (bound.measure, bound.whose, bound.side, bound.coordinate) == (measure, "this", "upper", coordinate) and isinstance(
            bound.value, Expr
        ):
            return float(constant(bound.value).upper())
    return None


def _own_firsts(judgement: Judgement, count: int) -> Iterator[Point]:
    total = 0.0
    for k in range(count):
        error = _own(judgement, k)
        if error is None:
            return
        total = float(np.hypot(total, error))
        yield float(k + 1), total


def _scaled(claim: Claim) -> bool:
    """Whether noise that is twice as wide has half the epsilon: its exponent is linear in the distance from 0, and it is on the reals."""
    h = exponent(claim.mechanism)
    if h is None or h.integers:
        return False
    unit = float(constant(h.scale).mid())
    near = h(unit * np.array([0.0, 0.5, 1.0, 2.0, 4.0]))
    slopes = np.diff(near) / np.diff([0.0, 0.5, 1.0, 2.0, 4.0])
    both = h.half or bool(np.allclose(h(-unit * np.array([0.5, 2.0])), h(unit * np.array([0.5, 2.0])), rtol=_LINEAR))
    return both and bool(np.isfinite(slopes).all()) and float(np.ptp(slopes)) < _LINEAR * max(1.0, float(np.abs(slopes).max()))
