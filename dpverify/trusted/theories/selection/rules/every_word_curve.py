"""Selections and streams of few integers between bounds at a delta: answers that hang on what has been told, from the end on.

Theorem: With the probabilities of all outputs of a selection or stream of integers between bounds the tight delta(eps) is the greatest sum
of (P - e^eps Q)_+ over the outputs, where each pair of neighbouring answers may hang on what has been told before; numbers that noises
beyond the cuts add to are told with as much as these have.

Checked:
- the noises live on the integers, with values for all parameters; the answers lie between bounds
- the probability of each output for all answers, by sums between the cuts with what is beyond
- of noisy max the answer of least index from above, which dominates what is told at random; from below what is told at random

Source: docs/theory/selection.md#every-word-curve
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from flint import arb

from dpverify.trusted.combinators.runs import Run, leaf
from dpverify.trusted.facts import settled
from dpverify.trusted.facts.evaluate import accurately, divergence
from dpverify.trusted.facts.pairs import Curve, Pair, Profile, symmetric
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import ONE_WAY, Selection
from dpverify.trusted.numbers.each_precision import per_precision
from dpverify.trusted.theories.selection.compared import Asked, asked
from dpverify.trusted.theories.selection.rules import every_word
from dpverify.trusted.theories.selection.rules.every_word import Output, Word, Words
from dpverify.trusted.theories.selection.rules.every_word import Pair as Answered

NAME: Final = "every-word-curve"
ASSUMED: Final = every_word.ASSUMED

START: Final = Output(())
Told = Mapping[Word, Answered]
"""After each beginning of a word the answers of two neighbours up to the next step."""


def question_of(run: Run) -> Asked:
    """The selection or stream that a run is of, on neighbours as far apart as it says. Raises Rejected, Undecided."""
    return asked(leaf(run), {}, NAME, wanted=Selection)


def infer(run: Run, parameters: Mapping[str, Any], _: Sequence[Fact]) -> Curve:
    """The curve of one run. Raises Rejected, Undecided, CertificateError.

    parameters: "cuts", as of the rule about pure epsilon; "pair", for each beginning of a word, in their order, the answers of two
    neighbours to the next step, which bound it from below; "prec".
    """
    question = question_of(run)
    words = Words.of(question, parameters)
    require(words.all_seen, Rejected(NAME, "the branches", "one of them tells nothing, so that its steps may not be seen"))
    mechanism, told = question.claim.mechanism, read(words, parameters.get("pair"))
    assert isinstance(mechanism, Selection)
    there = (lambda _: arb(0)) if mechanism.neighbours in ONE_WAY else _profile(question, parameters, told, 1)
    above, below = symmetric(_profile(question, parameters, None, 0)), Pair(_profile(question, parameters, told, 0), there)
    return settled.noise(run, Curve(above, below, (NAME,), (*ASSUMED, *words.signs)), parameters)


def beginnings(words: Words) -> list[Word]:
    """Of all words, those that go on."""
    return [word for word, longer in words.after.items() if longer]


def read(words: Words, given: Any) -> Told:
    """The answers that are told. Raises CertificateError, Rejected where they are not those of neighbours."""
    told: dict[Word, Answered] = {}
    starts = beginnings(words)
    for start, both in sorted(zip(starts, given, strict=True), key=lambda one: len(one[0])):
        before = told[start[:-1]] if start else ((), ())
        found = [pair for pair in words.moves(before) if [list(side[-1]) for side in pair] == both and words.occurs(pair)]
        require(bool(found), Rejected(NAME, "pair", "these are not answers of neighbours that are looked at"))
        told[start] = found[0]
    ways = {y > x for here, there in told.values() for row in zip(here, there, strict=True) for x, y in zip(*row, strict=True) if x != y}
    require(not (words.stream.neighbours == "monotone" and len(ways) > 1), Rejected(NAME, "pair", "some answers go up, and others down"))
    return told


def _profile(question: Asked, parameters: Mapping[str, Any], told: Told | None, order: int) -> Profile:
    """The greatest, or that of the answers that are told; order: 1 for that of the second against the first."""
    known = per_precision(lambda: Words.of(question, parameters))
    known()  # at this precision, so that what is refused is refused now

    def at(epsilon: arb) -> arb:
        words = known()
        words.left = every_word.MOST
        found = height(words, epsilon.exp(), words.at_random(told is not None), told, order)
        return (found + words.beyond).min(arb(1))

    return divergence(lambda epsilon: accurately(lambda: at(epsilon)))


def height(
    words: Words, factor: arb, ties: bool, told: Told | None = None, order: int = 0, so_far: Output = START, pair: Answered = ((), ())
) -> arb:  # fmt: skip
    """What is lost from here on at most: of what is told so far, if a run may be over, and of each step that may come next.

    ties: whether they are decided at random. told: answers; None for the worst. order: 1 for what the second loses against the first.
    """
    word, found = so_far.word, arb(0)
    if word in words.ways:
        words.spend(1)
        p, q = (words.chance(so_far, pair[side], ties) for side in (order, 1 - order))
        found = (p - factor * q).max(arb(0))
        if told is not None and words.is_open(so_far):
            found = arb(0).union(p.upper())
    if not words.after[word]:
        return found
    best = arb(0)
    for near in words.moves(pair) if told is None else (told[word],):
        nexts = (one for step in words.after[word] for one in words.outputs(step, so_far.told))
        best = best.max(sum((height(words, factor, ties, told, order, one, near) for one in nexts), arb(0)))
    return found + best
