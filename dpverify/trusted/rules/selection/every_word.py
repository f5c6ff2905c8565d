"""Selections of few integers between bounds, with integer noise of any law: every answer, every neighbour, every output, by sums."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import pairwise, product
from math import prod
from typing import Any, Final

from flint import arb, arb_poly, ctx

from dpverify.trusted.facts.bounds import INFINITE, Bound
from dpverify.trusted.language.errors import CertificateError, Rejected
from dpverify.trusted.language.expr import Num
from dpverify.trusted.language.loading import remembered
from dpverify.trusted.language.model import Claim, NoisyMax, OnLine, Source, Translation, noises_of
from dpverify.trusted.numbers.balls import exact
from dpverify.trusted.rules.additive.points import sign_of
from dpverify.trusted.rules.selection.compared import Asked, asked
from dpverify.trusted.rules.selection.noise_laws import Whole

NAME: Final = "every-word"
STATEMENT: Final = (
    "Integer answers between bounds are finitely many, and so are the outputs of noisy max and above threshold. With noise on the integers "
    "the probability of each is a sum over the places of the greatest, or of the thresholds; the most that neighbours lose is the tight "
    "epsilon, attained where each answer moves as far as it may."
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
MOST_ANSWERS: Final = 8
_WAYS: Final = {"all": ((-1, 1),), "one": ((-1, 1),), "monotone": ((0, 1), (-1, 0)), "increasing": ((0, 1),), "decreasing": ((-1, 0),)}

Answers = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Words:
    """A selection on the integers. cuts: between which its noises are known; between: all answers; count: how many there are in all.

    asked: which of them is asked for after each beginning of a word: after each another, where they hang on what has been told. centre:
    where a threshold is without its noise. outputs: indices, or words of what is above. places: of a threshold or the greatest, all with
    which noises are compared between the cuts.
    """

    question: Asked
    cuts: tuple[int, int]
    between: range
    count: int
    asked: Mapping[Sequence[bool], int]
    centre: int
    outputs: Sequence[Any]
    places: range

    @classmethod
    def of(cls, question: Asked, parameters: Mapping[str, Any], adaptive: bool) -> Words:
        """adaptive: whether answers hang on what has been told, which what one word loses does not see. Raises Rejected for another
        selection, or one of too many answers, CertificateError for no cuts.
        """
        mechanism, cuts = question.selection, parameters.get("cuts")
        if not isinstance(cuts, list) or list(map(type, cuts)) != [int, int]:
            raise CertificateError(f"{NAME}: 'cuts' are not two integers.")
        if not question.whole or mechanism.report not in ("index", "answers") or mechanism.bounds is None:
            raise Rejected(NAME, "the mechanism", "more than an index or answers is told, or answers are no integers between bounds")
        low, high = (question.value(end, "bounds") for end in mechanism.bounds)
        least, greatest = low.__ceil__(), high.__floor__()
        asked: dict[Sequence[bool], int] = {}
        if isinstance(mechanism, NoisyMax):
            count, centre = question.count(mechanism.candidates, "candidates", MOST_ANSWERS), least
            outputs: Sequence[Any] = range(count)
        else:  # an integer is at least the threshold where it is at least the next integer
            (count, most), centre = question.counts(MOST_ANSWERS), question.value(mechanism.threshold, "threshold").__ceil__()
            outputs = list(_words(count, most))
            first = dict.fromkeys(word[:i] for word in outputs for i in range(len(word)))
            asked = {start: number if adaptive else len(start) for number, start in enumerate(first)}
            if len(set(asked.values())) > count and mechanism.neighbours in ("one", "monotone"):
                raise Rejected(NAME, "the neighbours", "how answers that hang on what is told move together is not followed")
            count = len(set(asked.values()))
        places = range(cuts[0] + max(greatest, centre), cuts[1] + min(least, centre) + 1)
        terms = (greatest - least + 1) ** count * len(outputs) * (cuts[1] - cuts[0])
        if greatest < least or not places or terms > MOST:
            raise Rejected(NAME, "cuts", f"they are no further apart than answers, or there are {terms} terms, more than {MOST}")
        return cls(question, (cuts[0], cuts[1]), range(least, greatest + 1), count, asked, centre, outputs, places)

    def told(self, output: Any) -> list[str]:
        """An output in words."""
        return [f"answer {output + 1} is the greatest"] if isinstance(output, int) else ["yes" if yes else "no" for yes in output]

    @property
    def signs(self) -> tuple[str, ...]:
        """What is assumed of densities that are not seen to be non-negative."""
        noises = noises_of(self.question.selection)
        return tuple(dict.fromkeys(line for noise in noises if isinstance(noise, Translation) for line in sign_of(noise)))

    def rows(self, answers: Iterable[Answers], at_random: bool) -> dict[Answers, list[arb]]:
        """The probabilities of all outputs, for each of some answers. at_random: which of several greatest is told, else the first."""
        mechanism = self.question.selection
        winner = isinstance(mechanism, NoisyMax)
        names = ("noise", "noise") if winner else ("threshold_noise", "query_noise")
        (chance, beside), (tie, at) = (_masses(getattr(mechanism, name), *self.cuts, ctx.prec) for name in names)

        def mean(centre: int, of: Callable[[int], arb]) -> arb:
            beyond = beside[self.places[0] - centre][0] + beside[self.places[-1] + 1 - centre][1]
            return sum((chance[t - centre] * of(t) for t in self.places), arb(0)) + arb(0).union(beyond.upper())

        def greatest(q: Answers, i: int, t: int) -> arb:
            if not at_random:
                return prod((at[t - x + (j > i)][0] for j, x in enumerate(q) if j != i), start=arb(1))
            # in a random order what stands at u in [0, 1] wins those of the same place that stand after it
            return prod((arb_poly([at[t - x][0], tie[t - x]]) for j, x in enumerate(q) if j != i), start=arb_poly([1])).integral()(arb(1))

        def joint(run: Sequence[tuple[int, bool]], t: int) -> arb:
            return prod((at[t - x][yes] for x, yes in run), start=arb(1))

        def word(q: Answers, told: Sequence[bool]) -> arb:
            again = getattr(mechanism, "resample", False)
            ends = [0, *(i for i in range(1, len(told)) if again and told[i - 1]), len(told)]
            both = [(q[self.asked[told[:i]]], yes) for i, yes in enumerate(told)]
            runs = [both[a:b] for a, b in pairwise(ends)]
            return prod((mean(self.centre, partial(joint, run)) for run in runs), start=arb(1))

        if winner:
            return {q: [mean(q[i], partial(greatest, q, i)) for i in self.outputs] for q in answers}
        return {q: [word(q, told) for told in self.outputs] for q in answers}

    def pairs(self, furthest: bool) -> list[tuple[Answers, Answers]]:
        """Of neighbours, in the order of the claim. furthest: where each answer moves as far as it may, or stays. Raises Rejected."""
        n, neighbours, low, high = self.count, self.question.selection.neighbours, self.between[0], self.between[-1]
        most = min(int(self.question.value(self.question.moved, "the sensitivity")), high - low)
        steps = [sorted({a * most, b * most}) if furthest else range(a * most, b * most + 1) for a, b in _WAYS[neighbours]]
        ways = sum(n * len(some) if neighbours == "one" else len(some) ** n for some in steps)
        if ways * len(self.between) ** n * len(self.outputs) > MOST:
            raise Rejected(NAME, "the neighbours", f"more than {MOST} of them and their outputs")
        moves = [d for some in steps for d in product(some, repeat=n)]
        if neighbours == "one":
            moves = [tuple(step * (i == j) for j in range(n)) for i in range(n) for step in steps[0]]
        every = product(self.between, repeat=n)
        found = ((q, tuple(min(max(x + s, low), high) for x, s in zip(q, d, strict=True))) for q in every for d in moves)
        return [pair for pair in found if pair[0] != pair[1]]


def _words(queries: int, positives: int) -> Iterator[tuple[bool, ...]]:
    if 0 in (queries, positives):
        yield ()
    else:
        yield from ((told, *rest) for told in (False, True) for rest in _words(queries - 1, positives - told))


@remembered(8)
def _masses(noise: OnLine | None, low: int, high: int, _: int) -> tuple[Mapping[int, arb], Mapping[int, tuple[arb, arb]]]:
    """The probability of each integer, and of less than it and of no less, between two cuts; of 0 alone where there is no noise."""
    places = range(low, high + 2)
    if noise is None:
        return {n: arb(int(n == 0)) for n in places}, {n: (arb(int(n > 0)), arb(int(n <= 0))) for n in places}
    if not isinstance(noise, Translation) or not noise.integers:
        raise Rejected(NAME, "the noises", "not all of them live on the integers")
    whole = Whole(noise, [Fraction(low), Fraction(high)])
    return {n: whole.chance(n) for n in places}, {n: whole.at(Fraction(n)) for n in places}


def check(claim: Claim, evidence: Mapping[str, Any]) -> tuple[Bound, ...]:
    """What any output loses at most, and what one loses at random as from the first; infinite where one neighbour alone has it.

    evidence: "cuts", two integers between which probabilities of the noises are added. Raises Rejected, Undecided, CertificateError.
    """
    words = Words.of(asked(claim, {}, NAME, near=True), evidence, adaptive=False)
    every, signs = list(product(words.between, repeat=words.count)), words.signs
    least = words.rows(every, at_random=True)
    most = least if words.asked else words.rows(every, at_random=False)
    lower, upper, witness = arb(1), arb(1), None
    for here, there in words.pairs(furthest=True):
        for output, p, q, first, second in zip(words.outputs, least[here], least[there], most[here], most[there], strict=True):
            alone = bool(p > 0) and q.is_zero()
            if alone or p > q * lower:
                event = {"says": "any-of-words", "words": [words.told(output)]}
                pair = {"says": "answers-of-both", "sides": [[[str(x)] for x in side] for side in (here, there)]}
                witness = {"pair": pair, "event": event, "P": p.str(20), "Q": q.str(20)}
                if alone:
                    return (Bound("lower", INFINITE, witness=witness, assumed=signs),)
                lower = (p.lower() / q.upper()).lower()
            upper = upper if first.is_zero() else upper.max(first / second)
    found = Bound("lower", Num(exact(lower.log().lower())), witness=witness, assumed=signs)
    return (found, Bound("upper", Num(exact(upper.log().upper())), assumed=signs)) if upper.is_finite() else (found,)
