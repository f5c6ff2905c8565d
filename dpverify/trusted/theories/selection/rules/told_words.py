"""Streams: words whose probabilities differ on two neighbours, both enclosed, for noises of any law and answers anywhere.

Theorem: Words that a stream tells are told where linear comparisons of its noises hold. Given a few of the noises each of the others is
compared by itself, so that sums over cells of these few enclose the probability; the log-ratio of the probabilities of the same words at
two neighbours bounds epsilon from below, for noises of any law and answers between any bounds.

Checked:
- the answers of both neighbours lie between the bounds, and move as neighbours may
- both probabilities, by sums over cells of what is least and most probable in them

Source: docs/theory/selection.md#told-words
"""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any, Final

from flint import arb, ctx

from dpverify.trusted.kernel.balls import rational
from dpverify.trusted.kernel.bounds import INFINITE, Bound
from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import Num, num
from dpverify.trusted.kernel.fact import Parameters, unasked
from dpverify.trusted.kernel.loading import remembered
from dpverify.trusted.kernel.model import Claim, Stream
from dpverify.trusted.language.rationals import read_fraction, read_rising, to_fraction
from dpverify.trusted.theories.selection.compared import Asked, asked
from dpverify.trusted.theories.selection.noise_laws import law
from dpverify.trusted.theories.selection.runs import together
from dpverify.trusted.theories.selection.word_chances import MOST, Cell, Known, Noise, cells, chance, known, ways

NAME: Final = "told-words"
ASSUMED: Final = ("the sampler is ideal", "the noises of different names, and of different steps, are independent")

Answers = list[list[Fraction]]


def check(claim: Claim, evidence: Parameters) -> Bound:
    """The lower bound "value", a fraction, or infinite. Raises Rejected, Undecided, CertificateError.

    evidence: "side" lower; "at"; "words", a list of what is told step by step, of several the event that any of them is told; "answers",
    those of both neighbours; "pivots", lists of a noise's name, the step in which it is drawn (-1 at the start) and its cuts; "grids",
    cuts by name for noises without a closed form; "value", a fraction or "infinite", where the neighbour never tells the words.
    """
    question = asked(claim, {**evidence, "side": "lower"}, NAME, near=True, wanted=Stream)
    here, there = probabilities(question, evidence)
    pair = {"says": "answers-of-both", "sides": evidence["answers"]}
    witness = {"pair": pair, "event": {"says": "any-of-words", "words": evidence["words"]}, "P": here.str(20), "Q": there.str(20)}
    if evidence.get("value") == "infinite":
        if not (there.is_zero() and here > 0):
            raise Rejected(NAME, "value", "the words are not certainly told on one neighbour, and never on the other")
        return Bound("lower", INFINITE, witness=witness, at=question.at)
    value = read_fraction(evidence, "value", NAME)
    require((here.lower() / there.upper()).log() >= rational(value), Rejected(NAME, "value", "the words do not certainly lose as much"))
    return Bound("lower", Num(value), witness=witness, at=question.at)


def probabilities(question: Asked, evidence: Parameters) -> tuple[arb, arb]:
    """Those of the words on both neighbours, enclosed. Raises Rejected, Undecided, CertificateError."""
    told = json.dumps({key: evidence[key] for key in ("words", "answers", "pivots", "grids") if key in evidence})
    return _enclosed(unasked(question.claim), told, ctx.prec)


@remembered(64)
def _enclosed(claim: Claim, told: str, _: int) -> tuple[arb, arb]:
    question, evidence = asked(claim, {"side": "lower"}, NAME, near=True, wanted=Stream), json.loads(told)
    stream = question.stream
    words, (here, there) = read_words(question, stream, evidence.get("words")), _answers(question, stream, evidence)
    grids, pivots = evidence.get("grids", {}), evidence.get("pivots", [])
    noises: dict[str, Known] = {}
    for drawn in (*stream.once, *stream.fresh):
        cuts = read_rising(grids[drawn.name], "grids", NAME, 2, MOST) if drawn.name in grids else []
        noises[drawn.name] = known(law(drawn.noise, cuts), cuts)
    parted: dict[Noise, list[Cell]] = {}
    for name, step, cuts in pivots:
        parted[name, step] = cells(noises[name], read_rising(cuts, "cuts", NAME, 2, MOST))

    def of(answers: Answers) -> arb:
        found = arb(0)
        for told in words:
            for count, rows in enumerate(ways(question, stream, told, answers)):
                require(count <= MOST, Rejected(NAME, "words", "they are told in too many ways"))
                found += chance(NAME, rows, noises, parted)
        return found

    return of(here), of(there)


def read_words(question: Asked, stream: Stream, told: Any) -> list[list[str]]:
    """What is told, step by step, in each of the outputs of the event, no two of which may be the same."""
    words = [list(map(str, one)) for one in told]
    if not all(branch.emit or branch.tell for branch in stream.steps):
        raise Rejected(question.rule, "the branches", "one of them tells nothing, so that its steps may not be seen")
    for place, one in enumerate(words):
        if any(other[: len(one)] == one[: len(other)] for other in words[:place]):
            raise Rejected(question.rule, "words", "one of the outputs goes on from another")
    longest = num(max(map(len, words), default=1))
    if stream.queries is not None and not certainly_le(longest, stream.queries, question.domains):
        raise Rejected(question.rule, "queries", "it is not certain that so many steps are run")
    return words


def _answers(question: Asked, stream: Stream, evidence: Parameters) -> tuple[Answers, Answers]:
    """Those of both neighbours, in each step. Raises Rejected, CertificateError."""
    here, there = ([[to_fraction(text, NAME) for text in row] for row in side] for side in evidence["answers"])
    every, moved = [x for row in (*here, *there) for x in row], question.value(question.moved, "the sensitivity")
    if question.whole and any(x.denominator != 1 for x in every):
        raise Rejected(NAME, "answers", "noise on the integers is added to integers")
    if stream.bounds is not None:
        low, high = (question.value(end, "bounds") for end in stream.bounds)
        require(all(low <= x <= high for x in every), Rejected(NAME, "answers", "they are not between the bounds"))
    require(moved > 0, Rejected(NAME, "the sensitivity", "it is not certainly positive"))
    moves = [[(y - x) / moved for x, y in zip(*rows, strict=True)] for rows in zip(here, there, strict=True)]
    require(together(stream, moves), Rejected(NAME, "answers", "neighbours do not move so"))
    return here, there
