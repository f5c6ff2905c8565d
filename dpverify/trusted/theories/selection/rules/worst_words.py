"""Streams: a lower bound from words that several runs tell, by weights for each of them that no shift of the noises escapes.

Theorem: Where several runs of a stream with log-concave noises tell the same words, answers that are far apart in one direction and move in
another lose at least, in the limit, the least that any of these runs costs at the end, by weights of its comparisons that at no noise sum
to more than its slope, less what one of them costs at the start.

Checked:
- the one run at the point that is named and in the direction of its noises and answers: each comparison holds, and goes on to hold
- all runs that tell the words: weights of comparisons are at least 0, and at each noise their sum is between its slopes
- the noises are on the line and log-concave, with limits of the slope of -log f that are positive, or infinite

Source: docs/theory/selection.md#worst-words
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import islice
from typing import Any, Final

from dpverify.trusted.kernel.bounds import Bound, Infinite
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import ZERO, Expr, add, mul, neg, num, parse, sub
from dpverify.trusted.kernel.integers import is_whole
from dpverify.trusted.kernel.model import Claim, Stream, on_integers
from dpverify.trusted.language.rationals import read_whole, to_fraction
from dpverify.trusted.theories.selection.compared import Asked, Value, asked, least, slopes
from dpverify.trusted.theories.selection.rules.told_words import read_words
from dpverify.trusted.theories.selection.runs import inside, require_between, sums, together
from dpverify.trusted.theories.selection.word_chances import Noise, Row, Rows, ways

NAME: Final = "worst-words"
ASSUMED: Final = ("the sampler is ideal", "the noises of different names, and of different steps, are independent")

MOST_RUNS: Final = 1000
"""The most runs that tell the words."""

Point = dict[Noise, Fraction]
Slopes = Mapping[str, tuple[Value, Value]]


def check(claim: Claim, evidence: Mapping[str, Any]) -> Bound:
    """The lower bound. Raises Rejected, Undecided, CertificateError.

    evidence: "side" lower; "at"; "words", what is told step by step; "answers", for each step the answers at the point, the direction in
    which they are far apart and how they move, in units of the sensitivity; "noises", by name and step the values at the point and the
    direction; "run", the number of the run that is at the point, among those that tell the words; "weights", for each of these runs an
    expression for each of its comparisons.
    """
    question = asked(claim, {**evidence, "side": "lower"}, NAME, wanted=Stream)
    stream = question.stream
    (words,) = read_words(question, stream, [evidence.get("words")])
    runs, weights = list(islice(ways(question, stream, words, None), MOST_RUNS + 1)), evidence["weights"]
    require(len(runs) <= MOST_RUNS, Rejected(NAME, "words", f"more than {MOST_RUNS:,} runs tell them"))
    chosen = read_whole(evidence, "run", NAME, 0, len(runs) - 1)
    point, far, moves = _read(question, stream, words, evidence)
    ends = {drawn.name: slopes(question, drawn.noise) for drawn in (*stream.once, *stream.fresh)}
    _goes_on(question, stream, runs[chosen], point, far)
    start = add(*(_cost(far[key], ends[key[0]]) for key in far if key[0] in ends))
    after = {key: far.get(key, Fraction(0)) + moves.get(key, Fraction(0)) for key in far.keys() | moves.keys()}
    values = [_value(question, rows, given, ends, after) for rows, given in zip(runs, weights, strict=True)]
    end = least(question, *values)
    assert not isinstance(end, Infinite)
    return question.bound(sub(end, start), {"says": "told", "words": words, "again": None}, {"says": "far-apart-in-one-direction"})


def _cost(far: Fraction, steep: tuple[Value, Value]) -> Expr:
    """What a noise costs that goes so far, to the left or to the right."""
    slope = steep[far > 0]
    if far == 0:
        return ZERO
    if isinstance(slope, Infinite):
        raise Rejected(NAME, "noises", "one goes where its density falls faster than any exponential")
    return mul(num(abs(far)), slope)


def _read(question: Asked, stream: Stream, words: Sequence[str], evidence: Mapping[str, Any]) -> tuple[Point, Point, Point]:
    """The point, the direction of answers and noises, and how answers move, by name and step."""
    point, far, moves = Point(), Point(), Point()
    laws = {drawn.name: drawn.noise for drawn in (*stream.once, *stream.fresh)}
    for step, rows in enumerate(evidence["answers"]):
        for into, row in zip((point, far, moves), rows, strict=True):
            into |= {(name, step): to_fraction(text, NAME) for name, text in zip(stream.answers, row, strict=True)}
    moved = [[moves[name, step] for name in stream.answers] for step in range(len(words))]
    for name, step, value, direction in evidence["noises"]:
        point[name, step], far[name, step] = to_fraction(value, NAME), to_fraction(direction, NAME)
        inside(question, laws[name], num(point[name, step]))
    at_zero = {(drawn.name, -1) for drawn in stream.once} | {(drawn.name, step) for drawn in stream.fresh for step in range(len(words))}
    for name, _ in at_zero - point.keys():
        inside(question, laws[name], ZERO)
    require(together(stream, moved), Rejected(NAME, "the moves", "neighbours do not move so"))
    if question.whole:
        if any(x.denominator != 1 for key, x in point.items() if key[0] in stream.answers):
            raise Rejected(NAME, "answers", "noise on the integers is added to integers")
        if not all(is_whole(mul(num(x), question.moved), question.domains) for x in moves.values()):
            raise Rejected(NAME, "the moves", "integers move by integers")
    return point, far, moves


def _goes_on(question: Asked, stream: Stream, rows: Rows, point: Point, far: Point) -> None:
    """Raises Rejected where a comparison does not hold at the point with room, on the integers as it is written, or not all along."""
    whole = {drawn.name for drawn in (*stream.once, *stream.fresh) if on_integers(drawn.noise)}
    whole |= set(stream.answers) if question.whole else set()
    for row in rows:
        value, exactly = row.rest + _at(row, point), {name for name, _ in row.of} <= whole and not row.strict
        if not (value >= 0 if exactly else value > 0) or _at(row, far) < 0:
            raise Rejected(NAME, "the point", "a comparison does not hold there with room, or not in the direction")


def _at(row: Row, values: Mapping[Noise, Fraction]) -> Fraction:
    return sum((factor * values.get(key, Fraction(0)) for key, factor in row.of.items()), Fraction(0))


def _value(question: Asked, rows: Rows, given: Any, ends: Slopes, after: Point) -> Expr:
    """The dual value of a run, where the answers are after they have moved."""
    weights = [parse(text) for text in given]
    found = sums(question, ((row.of, False) for row in rows), weights)
    for (name, _), total in found.items():
        if name in ends:
            require_between(question, name, total, ends[name])
    return neg(add(*(mul(num(x), found[key]) for key, x in after.items() if key in found and key[0] not in ends)))
