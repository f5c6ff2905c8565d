"""Selections with Gaussian or Laplace noise: the probabilities of an output at given answers, and at the worst between bounds."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final

from flint import arb

from dpverify.trusted.facts.bounds import Bound
from dpverify.trusted.language.errors import CertificateError, Rejected
from dpverify.trusted.language.expr import Num
from dpverify.trusted.language.model import AboveThreshold, Claim, NoisyMax, Source
from dpverify.trusted.language.rationals import read_fraction, to_fraction
from dpverify.trusted.numbers.balls import rational
from dpverify.trusted.rules.selection.chances import MOST, MOVES, Compared, Output, loss, outputs, pair
from dpverify.trusted.rules.selection.compared import Asked, asked
from dpverify.trusted.rules.selection.noise_laws import law

NAME: Final = "worst-output"
STATEMENT: Final = (
    "With Gaussian or Laplace noise an output of k negatives and y positives has the probability integral of f_1(t) F(t - q)^k S(t - q')^y "
    "dt where the answers are q at negatives and q' at positives. Answers between bounds [a, b] that move by at most D <= b - a lose the "
    "most at q = b - D and q' = a + D, against b and a; more negatives or positives lose no less."
)
CHECKED: Final = (
    "the noises are Gaussian or Laplace, all numbers have values",
    "both probabilities, by enclosed quadrature between the cuts and the tails of one noise outside",
    "their log-ratio against the bound, for an upper one of every output of as many queries as there may be",
)
ASSUMED: Final = ("the sampler is ideal", "the noises of the threshold and of different answers are independent")
SOURCE: Final = Source("docs/theory/selection.md#worst-output")


def check(claim: Claim, evidence: Mapping[str, Any]) -> Bound:
    """The bound "value", a fraction, on the side asked for. Raises Rejected, Undecided, CertificateError.

    evidence: "cuts", fractions that rise. Of a lower bound "positives", all others of the queries being negatives; "move", the number of
    the way to move; "answers", [low, high], of answers without bounds.
    """
    question, noises = read(claim, evidence)
    value, cuts = read_fraction(evidence, "value", NAME), _cuts(evidence)
    mechanism, counts = question.selection, outputs(question)
    moves = MOVES[mechanism.neighbours]
    if question.side == "upper":
        for way in range(len(moves)):
            for count in counts:
                if not loss(noises, *pair(question, way, count, None), cuts) <= rational(value):
                    raise Rejected(NAME, "value", f"an output of {count} positives does not certainly lose at most so much")
        return Bound("upper", Num(value))
    if mechanism.neighbours == "one" and isinstance(mechanism, AboveThreshold):
        raise Rejected(NAME, "the neighbours", "these move more than one answer")
    positives, move = evidence.get("positives"), evidence.get("move")
    if type(positives) is not int or type(move) is not int or positives not in counts or move not in range(len(moves)):
        raise CertificateError(f"{NAME}: a lower bound wants 'positives' from 0 to {counts[-1]}, and 'move' below {len(moves)}.")
    here, there = pair(question, move, positives, _answers(question, evidence))
    probabilities = [noises.probability(output, cuts) for output in (here, there)]
    if not (probabilities[0] / probabilities[1]).log() >= rational(value):
        raise Rejected(NAME, "value", "the output does not certainly lose as much")
    return Bound("lower", Num(value), witness=_witness(question, here, there, probabilities), at=question.at)


def read(claim: Claim, evidence: Mapping[str, Any]) -> tuple[Asked, Compared]:
    """The question, and the noises. Raises Rejected, CertificateError."""
    question = asked(claim, evidence, NAME, near=True)
    mechanism = question.selection
    if isinstance(mechanism, NoisyMax):
        if mechanism.report != "index":
            raise Rejected(NAME, "report", "more than the index is told")
        noise = law(mechanism.noise)
        return question, Compared(noise, noise)
    if mechanism.report != "answers" or mechanism.resample or mechanism.query_noise is None:
        raise Rejected(NAME, "the mechanism", "it tells more than answers, draws a threshold again, or answers exactly")
    return question, Compared(None if mechanism.threshold_noise is None else law(mechanism.threshold_noise), law(mechanism.query_noise))


def _cuts(evidence: Mapping[str, Any]) -> list[Fraction]:
    told = evidence.get("cuts")
    if not isinstance(told, list) or not 2 <= len(told) <= MOST:
        raise CertificateError(f"{NAME}: 'cuts' is no list of 2 to {MOST} numbers.")
    cuts = [to_fraction(text, NAME) for text in told]
    if any(left >= right for left, right in pairwise(cuts)):
        raise CertificateError(f"{NAME}: 'cuts' do not rise.")
    return cuts


def _answers(question: Asked, evidence: Mapping[str, Any]) -> tuple[Fraction, Fraction] | None:
    told = evidence.get("answers")
    if told is None:
        return None
    if question.selection.bounds is not None or not isinstance(told, list) or len(told) != 2:
        raise CertificateError(f"{NAME}: 'answers' are two numbers, of a selection without bounds.")
    return to_fraction(told[0], NAME), to_fraction(told[1], NAME)


def _witness(question: Asked, here: Output, there: Output, probabilities: list[arb]) -> dict[str, Any]:
    """The pair, the output and its probabilities, for readers."""
    if isinstance(question.claim.mechanism, NoisyMax):
        told = [f"{output.centre}, all others {output.low}" for output in (here, there)]
        event = "the first of the answers is told to be the greatest"
        said = [f"first {text}" for text in told]
    else:
        said = [f"{output.low} at negatives, {output.high} at positives" for output in (here, there)]
        event = f"{here.negatives} negatives, then {here.positives} positives" if here.negatives else f"{here.positives} positives"
    chances = {key: probability.str(20) for key, probability in zip(("P", "Q"), probabilities, strict=True)}
    return {"pair": f"answers {said[0]}; and {said[1]}", "event": event, **chances}
