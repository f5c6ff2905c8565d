"""Selections and streams of few integers between bounds, with integer noise of any law: every answer, neighbour and output, by sums.

Theorem: Integer answers between bounds are finitely many, and so are the words that a stream of so many steps, noisy max or above threshold
tells of them. With noise on the integers the probability of each is a sum over the places of a few noises, with what is beyond; the most
that neighbours lose on one of them is the tight epsilon. Numbers that are told are looked at between what noises between the cuts come to,
which is all where these have no other values. In a hull what moves no further than its points in directions of -1, 0 and 1 is looked at.

Checked:
- the noises live on the integers, with values for all parameters; the answers lie between bounds
- the probability of each output for all answers, by sums between the cuts with what is beyond
- of noisy max the answer of least index from above, which dominates what is told at random; from below what is told at random

Source: docs/theory/selection.md#every-word
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice, product
from math import lcm, prod
from operator import mul
from typing import Any, Final

from flint import arb, ctx

from dpverify.trusted.kernel.balls import exact
from dpverify.trusted.kernel.bounds import INFINITE, Bound
from dpverify.trusted.kernel.errors import CertificateError, Rejected, require
from dpverify.trusted.kernel.expr import Num
from dpverify.trusted.kernel.loading import remembered
from dpverify.trusted.kernel.model import Claim, Matrix, NoisyMax, OnLine, Selection, Stream, Sum, Translation, all_noises, on_integers
from dpverify.trusted.sensitivity.steps_between import hull_of
from dpverify.trusted.theories.additive.points import sign_of
from dpverify.trusted.theories.selection.as_stream import as_stream
from dpverify.trusted.theories.selection.compared import Asked, asked
from dpverify.trusted.theories.selection.noise_laws import Whole
from dpverify.trusted.theories.selection.runs import together
from dpverify.trusted.theories.selection.whole_chances import Together, greatest_of, in_integers
from dpverify.trusted.theories.selection.word_chances import Noise, Row, Way, runs
from dpverify.trusted.theories.selection.word_chances import together as linked

NAME: Final = "every-word"
ASSUMED: Final = ("the sampler is ideal", "the noises are independent of each other")

MOST: Final = 200_000
"""The most terms of sums, and of pairs times outputs."""
MOST_STEPS: Final = 8

Answers = tuple[tuple[int, ...], ...]
"""In each step those that it reads."""
Pair = tuple[Answers, Answers]
Word = tuple[tuple[str, int], ...]
"""For each step the word that is told, and how many numbers are."""


@dataclass(frozen=True, slots=True)
class Output:
    """A word, and the numbers that are told with it, in units of one over `Words.scale`."""

    word: Word
    told: tuple[int, ...] = ()


@dataclass
class Words:
    """A selection on the integers, at one working precision.

    stream: the one that tells the same. cuts: between which its noises are known; between: all answers. ways: for each word the sets of
    rows that exclude each other, each of which tells it. numbers: for each word and beginning of one what numbers may be told with it.
    scale: the number of which one part these are multiples. beyond: the probability of a noise outside of the cuts at most, where numbers
    are told. winner: the noise of noisy max, of which the index alone is told. left: how many terms may still be looked at.
    """

    question: Asked
    stream: Stream
    between: range
    noises: Mapping[Noise, Whole]
    ways: dict[Word, list[list[Together]]]
    numbers: dict[Word, list[range]]
    scale: int
    winner: Whole | None
    left: int = MOST
    known: dict[tuple[Output, Answers, bool], arb] = field(default_factory=dict)
    near: dict[Answers, list[tuple[tuple[int, ...], tuple[int, ...]]]] = field(default_factory=dict)
    after: dict[Word, list[Word]] = field(default_factory=dict)
    faces: dict[tuple[int, ...], Fraction] = field(default_factory=dict)

    @classmethod
    def of(cls, question: Asked, parameters: Mapping[str, Any]) -> Words:
        """Raises Rejected for another selection, or one of too many answers, CertificateError for no cuts."""
        mechanism, cuts = question.claim.mechanism, parameters.get("cuts")
        if not isinstance(cuts, list) or list(map(type, cuts)) != [int, int]:
            raise CertificateError(f"{NAME}: 'cuts' are not two integers.")
        assert isinstance(mechanism, Selection)
        if not question.whole or mechanism.bounds is None or not cuts[0] < cuts[1]:
            raise Rejected(NAME, "the mechanism", "its answers are no integers between bounds, or the cuts do not rise")
        if not getattr(mechanism, "ties", "said") and not _in_any_order(hull_of(mechanism)):
            raise Rejected(NAME, "ties", "which is told is not said, and in another order of the answers the hull is another one")
        ends = [question.value(end, "bounds") for end in mechanism.bounds]
        low, high = ends[0].__ceil__(), ends[1].__floor__()
        require(0 <= high - low <= MOST, Rejected(NAME, "the bounds", f"there is no integer between them, or more than {MOST}"))
        stream = as_stream(question)
        laws = {one.name: _law(one.noise, cuts[0], cuts[1], ctx.prec) for one in (*stream.once, *stream.fresh)}
        steps = MOST_STEPS + 1 if stream.queries is None else question.count(stream.queries, "queries", MOST_STEPS)
        noises = {(one.name, -1): laws[one.name] for one in stream.once}
        noises |= {(one.name, step): laws[one.name] for one in stream.fresh for step in range(steps)}
        index = isinstance(mechanism, NoisyMax) and mechanism.report == "index"
        found = cls(question, stream, range(low, high + 1), noises, {}, {}, 1, laws["z0"] if index else None)
        found._run(list(runs(question, stream, None, None, steps)), steps, cuts)
        return found

    def _run(self, every: Sequence[Way], steps: int, cuts: Sequence[int]) -> None:
        """Sets out all runs."""
        if any(len(way.word) > MOST_STEPS for way in every):
            raise Rejected(NAME, "queries", f"a run may have more than {MOST_STEPS} steps")
        told = [row for way in every for row in way.told]
        self.scale = lcm(*(x.denominator for row in told for x in (row.rest, *row.of.values())))
        for way in every:
            rows = list(way.rows)
            for place, row in enumerate(way.told):
                same = Row({**row.of, ("", place): Fraction(-1, self.scale)}, row.rest)
                rows += [same, Row({key: -x for key, x in same.of.items()}, -same.rest)]
            free = {key for row in rows for key in row.of} - self.noises.keys()
            groups = [Together(list(map(in_integers, group)), self.noises, self.spend) for group in linked(rows, free)]
            self.ways.setdefault(way.word, []).append(groups)
            for place in range(len(way.word) + 1):
                start, longer = way.word[:place], way.word[: place + 1]
                if longer not in (start, *self.after.setdefault(start, [])):
                    self.after[start].append(longer)
                ends = [self._reach(row, cuts) for row in way.told[: sum(count for _, count in start)]]
                before = self.numbers.get(start, ends)
                self.numbers[start] = [range(min(a.start, b.start), max(a.stop, b.stop)) for a, b in zip(before, ends, strict=True)]

    def _reach(self, row: Row, cuts: Sequence[int]) -> range:
        """All that may be told where all noises are between the cuts, in units."""
        ends = {True: cuts, False: (self.between[0], self.between[-1])}
        least, most = (
            int(sum((side(x * end for end in ends[key in self.noises]) for key, x in row.of.items()), row.rest) * self.scale)
            for side in (min, max)
        )
        return range(least, most + 1)

    def at_random(self, least: bool) -> bool:
        """Whether ties are decided at random, for what is lost at the least, or at most, where that is not said."""
        ties = getattr(self.question.claim.mechanism, "ties", "")
        return ties == "random" or (least and ties == "")

    def is_open(self, output: Output) -> bool:
        """Whether it hangs on how ties are decided, and these are not those of least index: a lead of 0 over the next."""
        return self.at_random(True) and getattr(self.question.claim.mechanism, "report", "") == "index+gap" and output.told == (0,)

    def spend(self, terms: int) -> None:
        """Raises Rejected where that is more than all that may be looked at."""
        self.left -= terms
        if self.left < 0:
            raise Rejected(NAME, "cuts", f"there are more than {MOST} terms")

    @property
    def signs(self) -> tuple[str, ...]:
        """What is assumed of densities that are not seen to be non-negative."""
        noises = all_noises(self.question.claim.mechanism)
        return tuple(dict.fromkeys(line for noise in noises if isinstance(noise, Translation) for line in sign_of(noise)))

    @property
    def all_seen(self) -> bool:
        """Whether every step tells something; where one does not, what is told may be less."""
        return all(branch.emit or branch.tell for branch in self.stream.steps)

    @property
    def beyond(self) -> arb:
        """The probability, at most, of a number that is not looked at."""
        return sum((law.beyond() for law in self.noises.values()), arb(0)) if any(self.numbers.values()) else arb(0)

    def outputs(self, word: Word, told: tuple[int, ...] = ()) -> Iterator[Output]:
        """All with a word, or a beginning of one, that go on from what has been told."""
        return (Output(word, told + more) for more in product(*self.numbers[word][len(told) :]))

    def chance(self, output: Output, answers: Answers, at_random: bool = False) -> arb:
        """The probability of an output. at_random: which of several greatest is told, else the first."""
        key = output, answers, at_random
        if key not in self.known:
            i = int(output.word[0][0]) if self.winner else 0
            found = greatest_of(self.winner, i, answers[0], at_random, self.spend) if self.winner else self._of_runs(output, answers)
            self.known[key] = found
        return self.known[key]

    def _of_runs(self, output: Output, answers: Answers) -> arb:
        given = {(name, step): x for step, row in enumerate(answers) for name, x in zip(self.stream.answers, row, strict=True)}
        given |= {("", place): x for place, x in enumerate(output.told)}
        return sum((prod((group.chance(given) for group in way), start=arb(1)) for way in self.ways[output.word]), arb(0))

    def moves(self, before: Pair) -> list[Pair]:
        """The pairs of answers of neighbours with one step more."""
        moved = tuple(tuple(y - x for x, y in zip(*rows, strict=True)) for rows in zip(*before, strict=True))
        if moved not in self.near:
            self.near[moved] = self._near(moved)
        return [((*before[0], here), (*before[1], there)) for here, there in self.near[moved]]

    def _near(self, before: Answers) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        """The answers of both neighbours to a step after others that moved so."""
        moved, size = self.question.value(self.question.moved, "the sensitivity"), len(self.stream.answers)
        most = int(moved * max((abs(x) for row in self.stream.hull for x in row), default=Fraction(1)))
        self.spend(len(self.between) * (2 * most + 1))
        each = [(x, y) for x in self.between for y in range(x - most, x + most + 1) if y in self.between]
        self.spend(len(each) ** size)
        known: dict[tuple[int, ...], bool] = {}
        found = []
        for step in product(each, repeat=size):
            here, there = zip(*step, strict=True)
            gained = tuple(y - x for x, y in step)
            if gained not in known:
                known[gained] = self._may_move((*before, gained)) if self.stream.hull else self._move((*before, gained))
            if known[gained]:
                found.append((here, there))
        return found

    def _move(self, rows: Answers) -> bool:
        """Whether neighbours certainly move so, in a hull by its points or their opposites alone."""
        moved = self.question.value(self.question.moved, "the sensitivity")
        unit = moved if self.stream.hull else Fraction(int(moved))
        return together(self.stream, [[x / (unit or Fraction(1)) for x in row] for row in rows])

    def _may_move(self, rows: Answers) -> bool:
        """Whether neighbours may move so: no further in any direction of numbers -1, 0 and 1 than the points of a hull."""
        moved = self.question.value(self.question.moved, "the sensitivity")
        if not self.faces:
            self.spend(3 ** len(self.stream.answers) * len(self.stream.hull))
            for a in product((-1, 0, 1), repeat=len(self.stream.answers)):
                self.faces[a] = moved * max(sum(map(mul, a, point), Fraction(0)) for point in self.stream.hull)
        return any(all(sign * sum(map(mul, a, row)) <= end for row in rows for a, end in self.faces.items()) for sign in (1, -1))

    def occurs(self, pair: Pair) -> bool:
        """Whether two answers that are looked at are certainly those of neighbours."""
        moved = tuple(tuple(y - x for x, y in zip(*rows, strict=True)) for rows in zip(*pair, strict=True))
        return not self.stream.hull or self._move(moved)

    def pairs(self, steps: int, before: Pair = ((), ())) -> Iterator[Pair]:
        """All pairs of answers of neighbours in so many steps."""
        for pair in self.moves(before) if steps else ():
            yield from self.pairs(steps - 1, pair)
        if not steps:
            yield before


@remembered(8)
def _law(noise: OnLine, low: int, high: int, _: int) -> Whole:
    if not isinstance(noise, Translation | Sum) or not on_integers(noise):
        raise Rejected(NAME, "the noises", "not all of them live on the integers")
    return Whole(noise, [Fraction(low), Fraction(high)])


def _in_any_order(hull: Matrix) -> bool:
    """Whether with each point the hull, or that of the opposites, has it in all orders of its numbers."""
    both = {tuple(sign * x for x in row) for row in hull for sign in (1, -1)}
    return all((*row[:i], row[i + 1], row[i], *row[i + 2 :]) in both for row in both for i in range(len(row) - 1))


def told_of(words: Words, output: Output) -> list[str]:
    """An output in words."""
    if words.winner:
        return [f"answer {int(output.word[0][0]) + 1} is the greatest"]
    numbers = (str(Fraction(x, words.scale)) for x in output.told)
    return [" ".join(filter(None, (emit, *islice(numbers, count)))) for emit, count in output.word]


def check(claim: Claim, evidence: Mapping[str, Any]) -> tuple[Bound, ...]:
    """What any output loses at most, and what one loses at random as from the first; infinite where one neighbour alone has it.

    evidence: "cuts", two integers between which probabilities of the noises are added. Raises Rejected, Undecided, CertificateError.
    """
    words = Words.of(asked(claim, {}, NAME, near=True, wanted=Selection), evidence)
    signs, lower, upper, witness = words.signs, arb(1), arb(1), None
    ties = words.at_random(True), words.at_random(False)
    for word in words.ways:
        pairs = list(words.pairs(len(word)))
        for output in words.outputs(word):
            words.spend(len(pairs))
            for here, there in pairs:
                (p, q), (first, second) = ([words.chance(output, side, random) for side in (here, there)] for random in ties)
                upper = upper if first.is_zero() else upper.max(first / second)
                alone = bool(p > 0) and q.is_zero()
                if words.all_seen and not words.is_open(output) and (alone or p > q * lower) and words.occurs((here, there)):
                    event = {"says": "any-of-words", "words": [told_of(words, output)]}
                    pair = {"says": "answers-of-both", "sides": [[list(map(str, row)) for row in side] for side in (here, there)]}
                    witness = {"pair": pair, "event": event, "P": p.str(20), "Q": q.str(20)}
                    if alone:
                        return (Bound("lower", INFINITE, witness=witness, assumed=signs),)
                    lower = (p.lower() / q.upper()).lower()
    found = Bound("lower", Num(exact(lower.log().lower())), witness=witness, assumed=signs)
    whole = upper.is_finite() and words.beyond.is_zero()
    return (found, Bound("upper", Num(exact(upper.log().upper())), assumed=signs)) if whole else (found,)
