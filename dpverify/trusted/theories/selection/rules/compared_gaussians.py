"""Selections with Gaussian noise: what they tell is told by the noisy answers too, of which the curve is known.

Theorem: What is told of comparisons of answers with Gaussian noise sigma is a function of the differences of the noisy answers, for however
answers are chosen: the pair N(0, 1), N(mu, 1) dominates. Noisy max of n answers that each move by at most D has mu = sqrt(n) D/sigma for
even n, sqrt(n - 1/n) D/sigma for odd n, and half of that where all move the same way; where they differ by D times a point v of a hull, mu
= D |v - its mean|/sigma at the most; above threshold with n queries has at most sqrt(n) D/sigma, less where the threshold has Gaussian
noise, too. For two candidates the bound is met.

Checked:
- the noise of the answers is Gaussian, on the line
- the counts are integers of at least 1

Source: docs/theory/selection.md#compared-gaussians
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from dpverify.trusted.combinators.gaussian_form import rate_on_line
from dpverify.trusted.combinators.runs import Run
from dpverify.trusted.facts import settled
from dpverify.trusted.facts.pairs import Curve
from dpverify.trusted.geometry.linear import square
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import ONE, ZERO, Expr, add, call, div, mul, num, power, sqrt, sub
from dpverify.trusted.kernel.fact import Parameters, Premises
from dpverify.trusted.kernel.model import AboveThreshold, NoisyMax, OnLine, on_integers
from dpverify.trusted.theories.curves.rules import gaussian
from dpverify.trusted.theories.selection.compared import Asked, a_law
from dpverify.trusted.theories.selection.delta_masses import of_run

NAME: Final = "compared-gaussians"
ASSUMED: Final = ("the sampler is ideal", "the noises are independent of each other")

_TWO: Final = num(2)


def infer(run: Run, parameters: Parameters, _: Premises) -> Curve:
    """The curve of one run of a selection, from above. parameters: "prec". Raises Rejected, Undecided, CertificateError."""
    question = of_run(run, NAME)
    curve = Curve(gaussian.pair(distance(question)), None, (NAME,), (*ASSUMED, *assumed_of(question)))
    return settled.noise(run, curve, parameters)


def assumed_of(question: Asked) -> tuple[str, ...]:
    """What is assumed of the noise of a threshold that is not Gaussian: the bound does not ask for its law."""
    return a_law(question, getattr(question.selection, "threshold_noise", None))


def distance(question: Asked) -> Expr:
    """mu, the most by which the differences of noisy answers move, in their own deviations. Raises Rejected."""
    mechanism = question.selection
    require(not on_integers(mechanism), Rejected(NAME, "the noise", "it lives on the integers"))
    squares = _of_max(question, mechanism) if isinstance(mechanism, NoisyMax) else _of_threshold(question, mechanism)
    return mul(question.moved, sqrt(squares))


def _of_max(question: Asked, mechanism: NoisyMax) -> Expr:
    """The greatest sum of squares about the mean of moves of at most 1; about 0 where the greatest noisy answer is told."""
    n, alone = question.count(mechanism.candidates, "candidates"), mechanism.neighbours == "one"
    require(not (mechanism.hull and mechanism.report == "value"), Rejected(NAME, "hull", "it is about comparisons alone"))
    if mechanism.report == "value":
        most: Expr = ONE if alone else num(n)
    elif alone:
        most = div(num(n - 1), num(n))
    elif mechanism.hull:
        most = num(max(square(tuple(x - sum(row, Fraction(0)) / n for x in row)) for row in mechanism.hull))
    else:
        most = div(num(n * n - n % 2), num(n if mechanism.neighbours == "all" else 4 * n))
    return mul(_squared_rate(mechanism.noise, "noise"), most)


def _of_threshold(question: Asked, mechanism: AboveThreshold) -> Expr:
    (n, positives), alone = question.counts(), mechanism.neighbours == "one"
    answers = _squared_rate(mechanism.query_noise, "query_noise")
    shared = _shared(mechanism, n, answers)
    if alone or n == 1:
        most = sub(ONE, shared)
    elif mechanism.neighbours == "all":
        most = sub(num(n), mul(num(n % 2), shared))
    elif shared == ZERO:
        most = num(n)
    else:  # k answers move, of which all that is known is that they are at most n: k - a k^2 at its greatest
        moved = call("min", num(n), div(ONE, mul(_TWO, shared)))
        most = sub(moved, mul(shared, power(moved, _TWO)))
    told = mul(answers, most)
    if mechanism.fresh is None:
        return told
    released = 1 if alone else positives
    return add(told, mul(num(released), _squared_rate(mechanism.fresh, "fresh")))


def _shared(mechanism: AboveThreshold, n: int, answers: Expr) -> Expr:
    """How much of the square of the sum of all moves one Gaussian noise hides that all comparisons share; 0 where there is none."""
    apart = mechanism.resample or mechanism.report == "answers+value" or mechanism.threshold_noise is None
    rate = None if apart or mechanism.threshold_noise is None else rate_on_line(mechanism.threshold_noise)
    return ZERO if rate is None else div(answers, add(rate, mul(num(n), answers)))


def _squared_rate(noise: OnLine | None, what: str) -> Expr:
    """One over the variance of Gaussian noise on the line. Raises Rejected."""
    rate = None if noise is None else rate_on_line(noise)
    if rate is None:
        raise Rejected(NAME, what, "it is not certainly Gaussian noise on the line")
    return rate
