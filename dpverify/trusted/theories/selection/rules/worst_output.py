"""Selections with Gaussian or Laplace noise: the probabilities of an output at given answers, and at the worst between bounds.

Theorem: An output of k negatives and y positives has the probability integral of f_1(t) F(t - q)^k S(t - q')^y dt where the answers are q
at negatives and q' at positives. With log-concave noise answers between bounds [a, b] that move by at most D <= b - a lose the most at q =
b - D and q' = a + D, against b and a; more negatives or positives lose no less. With any noise they do so where D = b - a.

Checked:
- the noises are on the line, with values for all parameters; log-concave, where answers move by less than the bounds are apart
- both probabilities, by enclosed quadrature between the cuts and the tails of the noises outside, on the integers by sums
- their log-ratio against the bound, for an upper one of every output of as many queries as there may be; of integers whichever of several
  greatest ones is told

Source: docs/theory/selection.md#worst-output
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any, Final

from flint import arb

from dpverify.trusted.kernel.balls import rational
from dpverify.trusted.kernel.bounds import Bound, Parameters
from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.errors import Rejected, Undecided, require
from dpverify.trusted.kernel.expr import Num, num, sub
from dpverify.trusted.kernel.model import Claim, NoisyMax
from dpverify.trusted.language.rationals import read_fraction, read_rising, read_whole, to_whole
from dpverify.trusted.theories.selection.chances import (
    MOST,
    MOVES,
    Compared,
    Output,
    loss,
    may_occur,
    outputs,
    pair,
    read_answers,
    ties,
    way,
)
from dpverify.trusted.theories.selection.compared import Asked, asked, slopes
from dpverify.trusted.theories.selection.noise_laws import Law, Whole, law

NAME: Final = "worst-output"
ASSUMED: Final = ("the sampler is ideal", "the noises are independent of each other")


def check(claim: Claim, evidence: Parameters) -> Bound:
    """The bound "value", a fraction, on the side asked for. Raises Rejected, Undecided, CertificateError.

    evidence: "cuts", fractions that rise; "grids", further ones for each noise without a closed form, by its name. Of a lower bound
    "positives" and "negatives", of which all other queries are where they are not told; "move", the number of the way to move;
    "answers", [low, high], where they are not the worst ones between bounds.
    """
    question, noises = read(claim, evidence)
    value, cuts = read_fraction(evidence, "value", NAME), read_cuts(evidence)
    if question.side == "upper":
        known = corners(question)
        for move, counts in product(range(len(MOVES[question.selection.neighbours])), outputs(question, known)):
            for won in ties(question, counts, known):
                here, there = (replace(output, won=won) for output in pair(question, move, counts, None))
                if not loss(noises, here, there, cuts) <= rational(value):
                    told = f"an output of {counts[1]} positives and {counts[0]} negatives"
                    raise Rejected(NAME, "value", f"{told} does not certainly lose at most so much")
        return Bound("upper", Num(value))
    here, there = told_pair(question, evidence)
    probabilities = [noises.probability(output, cuts) for output in (here, there)]
    if not (probabilities[0] / probabilities[1]).log() >= rational(value):
        raise Rejected(NAME, "value", "the output does not certainly lose as much")
    at_random = [replace(output, won=None) for output in (here, there)]
    tied = isinstance(question.selection, NoisyMax) and question.whole
    if tied and not loss(noises, at_random[0], at_random[1], cuts) >= rational(value):
        raise Rejected(NAME, "value", "the output does not certainly lose as much where ties are decided at random")
    return Bound("lower", Num(value), witness=_witness(question, here, there, probabilities), at=question.at)


def told_pair(question: Asked, evidence: Parameters) -> tuple[Output, Output]:
    """The output that is told of, at both neighbours. Raises Rejected where that may not occur, CertificateError."""
    move, counts = _told(question, evidence)
    require(may_occur(question, *counts), Rejected(NAME, "the output", "it is not certain that so many are asked for, or may be positive"))
    way(question, move, counts)
    told = evidence.get("answers")
    return pair(question, move, counts, None if told is None else read_answers(told, NAME))


def _told(question: Asked, evidence: Parameters) -> tuple[int, tuple[int, int]]:
    """The number of the way to move, and the negatives and positives of an output. Raises CertificateError."""
    move, positives = (read_whole(evidence, key, NAME, 0) for key in ("move", "positives"))
    told = evidence["negatives"] if "negatives" in evidence else outputs(question, True)[0][0] - positives
    return move, (to_whole(told, "negatives", NAME, 0), positives)


def read(claim: Claim, evidence: Parameters) -> tuple[Asked, Compared]:
    """The question, and the noises. Raises Rejected, CertificateError."""
    question = asked(claim, evidence, NAME, near=True)
    readable(question, tied=True)
    mechanism, grids = question.selection, evidence.get("grids", {})

    def noise(name: str) -> Law | Whole | None:
        found = getattr(mechanism, name)
        return None if found is None else law(found, read_rising(grids[name], "grids", NAME, 2, MOST) if name in grids else [])

    if isinstance(mechanism, NoisyMax):
        both = noise("noise")
        assert both is not None
        return question, Compared(both, both)
    first, answers = noise("threshold_noise"), noise("query_noise")
    assert answers is not None
    if first is not None and isinstance(first, Whole) != isinstance(answers, Whole):
        raise Rejected(NAME, "the noises", "one is on the integers, the other is not")
    return question, Compared(first, answers)


def readable(question: Asked, tied: bool = False) -> None:
    """Raises Rejected for a selection whose outputs have other probabilities. tied: several answers may be the greatest."""
    mechanism = question.selection
    require(mechanism.neighbours in MOVES, Rejected(NAME, "the neighbours", "answers that differ by a point of a hull move in other ways"))
    if isinstance(mechanism, NoisyMax):
        if mechanism.report != "index" or (question.whole and not tied):
            raise Rejected(NAME, "report", "more than the index is told, or on the integers several may be the greatest")
    elif mechanism.report != "answers" or mechanism.resample or mechanism.query_noise is None:
        raise Rejected(NAME, "the mechanism", "it tells more than answers, draws a threshold again, or answers exactly")


def corners(question: Asked) -> bool:
    """Whether of all outputs those of all queries are known to lose the most, at the corners of the bounds; if not, all are looked at.

    The corners are the worst of each output where the noises are log-concave, or answers move from the one bound to the other. Raises
    Rejected where neither is certain.
    """
    mechanism = question.selection
    noises = [mechanism.noise] if isinstance(mechanism, NoisyMax) else [mechanism.threshold_noise, mechanism.query_noise]
    try:
        for noise in noises:
            slopes(question, noise)
    except (Rejected, Undecided):
        ends = mechanism.bounds
        if mechanism.neighbours == "all" and ends is not None and certainly_le(sub(ends[1], ends[0]), question.moved, question.domains):
            return False
        raise
    return True


def read_cuts(evidence: Parameters) -> list[Fraction]:
    """Fractions that rise. Raises CertificateError."""
    return read_rising(evidence.get("cuts"), "cuts", NAME, 2, MOST)


def _witness(question: Asked, here: Output, there: Output, probabilities: list[arb]) -> dict[str, Any]:
    """The pair, the output and its probabilities."""
    pair: dict[str, Any]
    event: dict[str, Any]
    if isinstance(question.claim.mechanism, NoisyMax):
        few = question.claim.mechanism.candidates != num(here.negatives + 1)
        centres, lows = ([str(getattr(output, name)) for output in (here, there)] for name in ("centre", "low"))
        pair = {"says": "first-and-others", "first": centres, "others": lows, "count": here.negatives if few else None}
        event = {"says": "first-is-greatest", "whole": question.whole}
    else:
        lows, highs = ([str(getattr(output, name)) for output in (here, there)] for name in ("low", "high"))
        pair = {"says": "at-negatives-and-positives", "low": lows, "high": highs}
        event = {"says": "negatives-then-positives", "negatives": here.negatives, "positives": here.positives}
    chances = {key: probability.str(20) for key, probability in zip(("P", "Q"), probabilities, strict=True)}
    return {"pair": pair, "event": event, **chances}
