"""Selections of few integers between bounds at a delta: the greatest of the profiles of all pairs of neighbouring answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from flint import arb

from dpverify.trusted.facts import settled
from dpverify.trusted.facts.evaluate import accurately, divergence
from dpverify.trusted.facts.fact import Fact
from dpverify.trusted.facts.pairs import Curve, Pair, Profile, symmetric
from dpverify.trusted.language.errors import Rejected
from dpverify.trusted.language.model import ONE_WAY, NoisyMax, Source
from dpverify.trusted.numbers.each_precision import per_precision
from dpverify.trusted.parts.runs import Run
from dpverify.trusted.rules.selection import every_word
from dpverify.trusted.rules.selection.delta_masses import of_run
from dpverify.trusted.rules.selection.every_word import Answers, Words

NAME: Final = "every-word-curve"
STATEMENT: Final = (
    "With the probabilities of all outputs of a selection of integers between bounds the tight delta(eps) is the greatest sum of "
    "(P - e^eps Q)_+ over pairs of neighbouring answers, which may hang on what has been told; of noisy max over those where each answer "
    "moves as far as it may."
)
CHECKED: Final = every_word.CHECKED
ASSUMED: Final = every_word.ASSUMED
SOURCE: Final = Source("docs/theory/selection.md#every-word-curve")


def infer(run: Run, parameters: Mapping[str, Any], _: Sequence[Fact]) -> Curve:
    """The curve of one run of a selection. Raises Rejected, Undecided, CertificateError.

    parameters: "cuts", as of the rule about pure epsilon; "pair", answers of two neighbours that bound it from below, after each beginning
    of a word; "prec".
    """
    words = Words.of(of_run(run, NAME), parameters, adaptive=True)
    mechanism = words.question.selection
    pairs = words.pairs(furthest=isinstance(mechanism, NoisyMax))
    told = [pair for pair in pairs if [list(q) for q in pair] == parameters.get("pair")][:1]
    if not told:
        raise Rejected(NAME, "pair", "these are not answers of neighbours that are looked at")
    there = (lambda _: arb(0)) if mechanism.neighbours in ONE_WAY else _profile(words, [told[0][::-1]], at_random=True)
    above, below = symmetric(_profile(words, pairs, at_random=False)), Pair(_profile(words, told, at_random=True), there)
    return settled.noise(run, Curve(above, below, (NAME,), (*ASSUMED, *words.signs)), parameters)


def _profile(words: Words, pairs: Sequence[tuple[Answers, Answers]], at_random: bool) -> Profile:
    """The greatest of those of pairs of answers."""
    known = per_precision(lambda: words.rows(dict.fromkeys(q for pair in pairs for q in pair), at_random))
    known()  # at this precision, so that what is refused is refused now

    def at(epsilon: arb) -> arb:
        rows, factor, found = known(), epsilon.exp(), arb(0)
        for here, there in pairs:
            found = found.max(sum(((p - factor * q).max(arb(0)) for p, q in zip(rows[here], rows[there], strict=True)), arb(0)))
        return found.min(arb(1))

    return divergence(lambda epsilon: accurately(lambda: at(epsilon)))
