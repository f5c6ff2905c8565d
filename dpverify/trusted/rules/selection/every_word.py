"""Selections of few integers between bounds, with integer noise of any law: every answer, every neighbour, every output, by sums."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any, Final

from flint import arb, arb_poly

from dpverify.trusted.facts import settled
from dpverify.trusted.facts.bounds import INFINITE, Bound
from dpverify.trusted.facts.evaluate import accurately, divergence
from dpverify.trusted.facts.fact import Fact
from dpverify.trusted.facts.pairs import Curve, Pair, Profile, symmetric
from dpverify.trusted.language.errors import CertificateError, Rejected
from dpverify.trusted.language.expr import Num
from dpverify.trusted.language.model import ONE_WAY, Claim, NoisyMax, OnLine, Source, Translation
from dpverify.trusted.numbers.balls import exact, finite
from dpverify.trusted.numbers.each_precision import per_precision
from dpverify.trusted.parts.runs import Run
from dpverify.trusted.rules.additive.points import sign_of
from dpverify.trusted.rules.selection.compared import Asked, asked
from dpverify.trusted.rules.selection.delta_masses import of_run
from dpverify.trusted.rules.selection.noise_laws import Whole

NAME: Final = "every-word"
STATEMENT: Final = (
    "Integer answers between bounds are finitely many, and so are the outputs of noisy max and above threshold. With noises on the integers "
    "the probability of each is a sum over the place of the greatest, or of the thresholds; the greatest of what pairs of neighbours lose "
    "is the tight epsilon and the tight delta. Of noisy max, and of each output by itself, the furthest moves of each answer are enough."
)
CHECKED: Final = (
    "the noises live on the integers, with values for all parameters; the answers lie between bounds",
    "the probability of each output for all answers, by sums between the cuts with what is beyond",
    "of noisy max the answer of least index from above, which dominates what is told at random; from below what is told at random",
)
ASSUMED: Final = ("the sampler is ideal", "the noises are independent of each other")
SOURCE: Final = Source("docs/theory/selection.md#every-word")

MOST: Final = 200_000
"""The most terms of sums, and of pairs times outputs."""
_MOST_ANSWERS: Final = 8
_WAYS: Final = {"all": ((-1, 1),), "monotone": ((0, 1), (-1, 0)), "increasing": ((0, 1),), "decreasing": ((-1, 0),)}

Answers = tuple[int, ...]
Row = Sequence[arb]
"""The probability of each output."""


@dataclass(frozen=True, slots=True)
class Masses:
    """A noise between two cuts, 0 where there is none: the probability of each integer, and of less than it and of no less."""

    noise: OnLine | None
    low: int
    high: int
    chance: dict[int, arb] = field(default_factory=dict)
    at: dict[int, tuple[arb, arb]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.noise is not None and not (isinstance(self.noise, Translation) and self.noise.integers):
            raise Rejected(NAME, "the noises", "not all of them live on the integers")
        whole = None if self.noise is None else Whole(self.noise, [Fraction(self.low), Fraction(self.high)])
        for n in range(self.low, self.high + 2):
            self.chance[n] = arb(int(n == 0)) if whole is None else whole.chance(n)
            self.at[n] = (arb(int(n > 0)), arb(int(n <= 0))) if whole is None else whole.at(Fraction(n))

    def mean(self, centre: int, places: range, of: Callable[[int], arb]) -> arb:
        """Of a probability where the noise about a centre is, over all its places: beyond those that are looked at it is 0 to 1."""
        beyond = self.at[places[0] - centre][0] + self.at[places[-1] + 1 - centre][1]
        return sum((self.chance[t - centre] * of(t) for t in places), arb(0)) + arb(0).union(beyond.upper())


@dataclass(frozen=True, slots=True)
class Words:
    """A selection on the integers, and the cuts between which its noises are known."""

    question: Asked
    cuts: tuple[int, int]

    @classmethod
    def of(cls, question: Asked, parameters: Mapping[str, Any]) -> Words:
        """Raises Rejected for another selection, or one of too many answers, CertificateError for no cuts."""
        mechanism, cuts = question.selection, parameters.get("cuts")
        if not (isinstance(cuts, list) and len(cuts) == 2 and all(type(cut) is int for cut in cuts)):
            raise CertificateError(f"{NAME}: 'cuts' are not two integers.")
        if not question.whole or mechanism.report not in ("index", "answers") or mechanism.bounds is None:
            raise Rejected(NAME, "the mechanism", "more than an index or answers is told, or answers are no integers between bounds")
        found = cls(question, (cuts[0], cuts[1]))
        terms = len(found.between) ** found.count * len(found.outputs) * (cuts[1] - cuts[0])
        if not found.places or terms > MOST:
            raise Rejected(NAME, "cuts", f"they are no further apart than the bounds, or there are more than {MOST} terms")
        return found

    @property
    def between(self) -> range:
        """The answers that there may be."""
        assert self.question.selection.bounds is not None
        low, high = (self.question.value(end, "bounds") for end in self.question.selection.bounds)
        if not 0 <= high.__floor__() - low.__ceil__() < MOST:
            raise Rejected(NAME, "the bounds", "there are no integers between them, or too many")
        return range(low.__ceil__(), high.__floor__() + 1)

    @property
    def count(self) -> int:
        mechanism = self.question.selection
        if isinstance(mechanism, NoisyMax):
            return self.question.count(mechanism.candidates, "candidates", _MOST_ANSWERS)
        return self.question.counts(_MOST_ANSWERS)[0]

    @property
    def centre(self) -> int:
        """Where a threshold is, without its noise: an integer is at least it where it is at least the next integer."""
        mechanism = self.question.selection
        return 0 if isinstance(mechanism, NoisyMax) else self.question.value(mechanism.threshold, "threshold").__ceil__()

    @property
    def places(self) -> range:
        """Of the greatest, or of a threshold: where all noises are between the cuts."""
        (low, high), ends = self.cuts, (self.between[0], self.between[-1])
        ends = ends if isinstance(self.question.selection, NoisyMax) else (min(*ends, self.centre), max(*ends, self.centre))
        return range(low + ends[1], high + ends[0] + 1)

    @property
    def outputs(self) -> list[Any]:
        """Indices, or words of what is above."""
        if isinstance(self.question.selection, NoisyMax):
            return list(range(self.count))
        return list(_words(*self.question.counts(_MOST_ANSWERS)))

    def rows(self, at_random: bool, answers: Iterator[Answers] | None = None) -> dict[Answers, Row]:
        """The probabilities of all outputs, for all answers or some. at_random: of several greatest ones, else of least index."""
        mechanism, places, outputs, centre = self.question.selection, self.places, self.outputs, self.centre
        answers = product(self.between, repeat=self.count) if answers is None else answers
        if isinstance(mechanism, NoisyMax):
            noise = Masses(mechanism.noise, *self.cuts)

            def told(q: Answers, i: int) -> arb:
                def won(t: int) -> arb:
                    if at_random:  # the mean over an order: another that is as great is beaten with probability x
                        others = (arb_poly([noise.at[t - x][0], noise.chance[t - x]]) for j, x in enumerate(q) if j != i)
                        return prod(others, start=arb_poly([1])).integral()(arb(1))
                    return prod((noise.at[t - x + (j > i)][0] for j, x in enumerate(q) if j != i), start=arb(1))

                return noise.mean(q[i], places, won)

            return {q: [told(q, i) for i in outputs] for q in answers}
        threshold, asked = Masses(mechanism.threshold_noise, *self.cuts), Masses(mechanism.query_noise, *self.cuts)

        def run(part: Sequence[tuple[int, bool]]) -> arb:
            return threshold.mean(centre, places, lambda t: prod((asked.at[t - x][above] for x, above in part), start=arb(1)))

        def word(q: Answers, told: Sequence[bool]) -> arb:
            ends = [0, *(i for i in range(1, len(told)) if mechanism.resample and told[i - 1]), len(told)]
            both = list(zip(q, told, strict=False))
            return prod((run(both[a:b]) for a, b in zip(ends, ends[1:], strict=False)), start=arb(1))

        return {q: [word(q, told) for told in outputs] for q in answers}

    def pairs(self, furthest: bool) -> list[tuple[Answers, Answers]]:
        """Of neighbours, in the order of the claim. furthest: where each answer stays or moves as far as it may. Raises Rejected."""
        n, ways, low, high = self.count, self.question.selection.neighbours, self.between[0], self.between[-1]
        most = min(int(self.question.value(self.question.moved, "the sensitivity")), high - low)
        steps = sorted({-most, 0, most}) if furthest else range(-most, most + 1)
        if ways == "one":
            moves = [tuple(step if j == i else 0 for j in range(n)) for i in range(n) for step in steps]
        elif len(steps) ** n > MOST:
            raise Rejected(NAME, "the neighbours", f"more than {MOST}")
        else:
            moves = [d for a, b in _WAYS[ways] for d in product([s for s in steps if a * most <= s <= b * most], repeat=n)]
        if len(moves) * len(self.between) ** n * len(self.outputs) > MOST:
            raise Rejected(NAME, "the neighbours", f"more than {MOST} of them and their outputs")
        every = product(self.between, repeat=n)
        return list({(q, tuple(min(max(x + s, low), high) for x, s in zip(q, d, strict=True))): None for q in every for d in moves})


def _words(queries: int, positives: int) -> Iterator[tuple[bool, ...]]:
    if 0 in (queries, positives):
        yield ()
    else:
        yield from ((told, *rest) for told in (False, True) for rest in _words(queries - 1, positives - told))


def infer(about: Claim | Run, parameters: Mapping[str, Any], _: Sequence[Fact]) -> Curve | tuple[Bound, ...]:
    """Both bounds on the tight epsilon, or the curve of a run. Raises Rejected, Undecided, CertificateError.

    parameters: "cuts", two integers between which probabilities of the noises are added. Of a curve "pair", answers of two neighbours that
    bound it from below, and "prec".
    """
    words = Words.of(of_run(about, NAME) if isinstance(about, Run) else asked(about, {}, NAME, near=True), parameters)
    mechanism = words.question.selection
    if isinstance(about, Claim):
        return _epsilon(words, words.pairs(furthest=True))
    pairs = words.pairs(furthest=isinstance(mechanism, NoisyMax))
    above = _profile(words, pairs, at_random=False)
    below = None
    if "pair" in parameters:
        told = [pair for pair in pairs if [list(q) for q in pair] == parameters["pair"]]
        if not told:
            raise Rejected(NAME, "pair", "these are not answers of neighbours, moved as far as they may")
        there = (lambda _: arb(0)) if mechanism.neighbours in ONE_WAY else _profile(words, [told[0][::-1]], at_random=True)
        below = Pair(_profile(words, told, at_random=True), there)
    return settled.noise(about, Curve(symmetric(above), below, (NAME,), (*ASSUMED, *_signs(words))), parameters)


def _signs(words: Words) -> tuple[str, ...]:
    mechanism = words.question.selection
    noises = (mechanism.noise,) if isinstance(mechanism, NoisyMax) else (mechanism.threshold_noise, mechanism.query_noise)
    return tuple(dict.fromkeys(line for noise in noises if isinstance(noise, Translation) for line in sign_of(noise)))


def _profile(words: Words, pairs: Sequence[tuple[Answers, Answers]], at_random: bool) -> Profile:
    """The greatest of those of pairs of answers."""
    met = dict.fromkeys(q for pair in pairs for q in pair)
    known = per_precision(lambda: words.rows(at_random, iter(met)))
    known()  # at this precision, so that what is refused is refused now

    def at(epsilon: arb) -> arb:
        rows, factor, found = known(), epsilon.exp(), arb(0)
        for here, there in pairs:
            found = found.max(sum(((p - factor * q).max(arb(0)) for p, q in zip(rows[here], rows[there], strict=True)), arb(0)))
        return found.min(arb(1))

    return divergence(lambda epsilon: accurately(lambda: at(epsilon)))


def _epsilon(words: Words, pairs: Sequence[tuple[Answers, Answers]]) -> tuple[Bound, ...]:
    """What any output loses at most, and what one loses whichever of several greatest answers is told."""
    least, most = (words.rows(at_random) for at_random in (True, False))
    lower, upper, witness, signs = arb(1), arb(1), None, _signs(words)
    for here, there in pairs:
        for output, p, q in zip(words.outputs, least[here], least[there], strict=True):
            alone = bool(p > 0) and q.is_zero()
            if alone or p > q * lower:
                word = [str(output + 1)] if isinstance(output, int) else ["yes" if above else "no" for above in output]
                pair = {"says": "answers-of-both", "sides": [[[str(x)] for x in side] for side in (here, there)]}
                witness = {"pair": pair, "event": {"says": "any-of-words", "words": [word]}, "P": p.str(20), "Q": q.str(20)}
                if alone:
                    return (Bound("lower", INFINITE, witness=witness, assumed=signs),)
                lower = (p / q).lower()
        for p, q in zip(most[here], most[there], strict=True):
            upper = upper if p.is_zero() else upper.max(p / q)
    values = exact(finite(lower.log()).lower()), exact(finite(upper.log()).upper())
    return Bound("lower", Num(values[0]), witness=witness, assumed=signs), Bound("upper", Num(values[1]), assumed=signs)
