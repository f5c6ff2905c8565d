"""The probabilities of an output of a selection at two neighbours (theory#worst-output)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final

from flint import acb, arb, ctx

from dpverify.trusted.kernel.balls import rational
from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.errors import Rejected, certify, require
from dpverify.trusted.kernel.expr import num
from dpverify.trusted.kernel.model import NoisyMax
from dpverify.trusted.language.rationals import to_fraction, to_whole
from dpverify.trusted.theories.selection import shifted
from dpverify.trusted.theories.selection.compared import Asked
from dpverify.trusted.theories.selection.noise_laws import Law, Whole

RULE: Final = "worst-output"

MOVES: Final[Mapping[str, tuple[tuple[int, int], ...]]] = {**shifted.MOVES, "one": ((1, 0), (0, 1))}
MOST: Final = 1000
"""Outputs, and cuts, that are looked at."""


@dataclass(frozen=True, slots=True)
class Side:
    """So many answers at a point: all of them below what they are compared with, or all above."""

    count: int
    point: Fraction
    below: bool = True


@dataclass(frozen=True, slots=True)
class Output:
    """So many negatives and positives, the answers of all negatives and of all positives, and where the noise of the threshold is about.

    won: on the integers, of how many negatives one that is equal to the threshold is one too; None where ties are decided at random.
    """

    negatives: int
    positives: int
    low: Fraction
    high: Fraction
    centre: Fraction
    won: int | None = 0


@dataclass(frozen=True, slots=True)
class Compared:
    """The noises of a selection. first: that of the threshold, or of the winner; None for an exact threshold. answers: None for exact ones.

    bits: to which integrals are known, where that is not nearly as well as numbers are.
    """

    first: Law | Whole | None
    answers: Law | Whole | None
    bits: int | None = None

    def probability(self, output: Output, cuts: Sequence[Fraction]) -> arb:
        """Of an output. Raises Rejected where cuts do not part the pieces of the densities."""
        if output.won is None:
            ways = range(output.negatives + 1)
            return sum((self.probability(replace(output, won=won), cuts) for won in ways), arb(0)) / len(ways)
        lost, won = Side(output.negatives - output.won, output.low), Side(output.won, output.low - 1)
        return self.of_all((lost, won, Side(output.positives, output.high, below=False)), output.centre, cuts)

    def of_all(self, sides: Sequence[Side], centre: Fraction, cuts: Sequence[Fraction]) -> arb:
        """That all sides come out so at once, compared with the noise of the threshold about a centre. Raises Rejected as above."""
        sides = [side for side in sides if side.count]
        if not sides:
            return arb(1)
        if self.answers is None:
            return self._of_exact(sides, centre)
        if self.first is None:
            return _product(self._chance(side, centre) for side in sides)
        left, right = cuts[0], cuts[-1]
        total = self.first.at(left - centre)[0] * self._over(sides, left, upward=False)
        total += self.first.at(right - centre)[1] * self._over(sides, right, upward=True)
        if isinstance(self.first, Whole):
            for n in range((left - centre).__ceil__(), (right - centre).__ceil__()):
                total += self.first.chance(n) * _product(self._chance(side, n + centre) for side in sides)
            return total
        for low, high in pairwise(cuts):
            total += self._between(sides, centre, low, high)
        return total

    def _of_exact(self, sides: Sequence[Side], centre: Fraction) -> arb:
        """That the noisy threshold is above what is below it, and at most what is not."""
        assert self.first is not None and not isinstance(self.first, Whole)
        low, high = ([side.point for side in sides if side.below == below] for below in (True, False))
        if low and high and min(high) <= max(low):
            return arb(0)
        found = arb(1)
        if low:
            found -= self.first.at(max(low) - centre)[0]
        if high:
            found -= self.first.at(min(high) - centre)[1]
        return found.max(arb(0))

    def _chance(self, side: Side, point: Fraction) -> arb:
        """Of one side where the noisy threshold is at a point."""
        assert self.answers is not None
        found: arb = (acb(self.answers.at(point - side.point)[not side.below]) ** side.count).real
        return found

    def _over(self, sides: Sequence[Side], point: Fraction, upward: bool) -> arb:
        """Of all sides over all places of the noisy threshold beyond a point: what is below it is more probable the higher it is."""
        rising, falling = ([self._chance(side, point) for side in sides if (side.below == upward) == grows] for grows in (True, False))
        return (arb(0) if falling else _product(rising)).union(_product(falling))

    def _between(self, sides: Sequence[Side], centre: Fraction, left: Fraction, right: Fraction) -> arb:
        first, answers = self.first, self.answers
        assert first is not None and answers is not None and not isinstance(first, Whole) and not isinstance(answers, Whole)
        local = [first.next_to(left - centre, right - centre), *(answers.next_to(left - side.point, right - side.point) for side in sides)]
        known = [law for law in local if law is not None]
        if len(known) < len(local):
            raise Rejected(RULE, "cuts", f"a density has a kink between {left} and {right}, two of them, or is not known there")
        middle, points = rational(centre), [rational(side.point) for side in sides]

        def integrand(t: acb, a: bool) -> acb:
            height = known[0].density(t - middle, a)
            for law, side, point in zip(known[1:], sides, points, strict=True):
                height *= (law.below if side.below else law.above)(t - point, a) ** side.count
            return height

        bits = 3 * ctx.prec // 4 if self.bits is None else self.bits
        near, far = (acb(rational(point)) for point in (left, right))
        found = acb.integral(integrand, near, far, rel_tol=arb(2) ** -bits, abs_tol=arb(2) ** -min(ctx.prec, 2 * bits))
        return found.real  # where that is not finite no comparison of losses is true


def _product(chances: Iterable[arb]) -> arb:
    """Of independent events."""
    found = arb(1)
    for chance in chances:
        found *= chance
    return found


def outputs(question: Asked, known: bool) -> list[tuple[int, int]]:
    """The negatives and positives of outputs that none loses more than: all queries asked, or all outputs where that is not known.

    Raises Rejected.
    """
    mechanism = question.selection
    if isinstance(mechanism, NoisyMax):
        return [(question.count(mechanism.candidates, "candidates") - 1, 0)]
    queries, most = question.counts()
    if most > MOST or (not known and queries > MOST):
        raise Rejected(RULE, "positives", f"more than {MOST} of them")
    found = [(queries - positives, positives) for positives in range(most + 1)]
    return found if known else [*found, *((negatives, most) for negatives in range(queries - most))]


def ties(question: Asked, counts: tuple[int, int], known: bool) -> range:
    """Of how many of the negatives ties may be won, as far as that may lose the most: known to be of none with log-concave noises."""
    several = isinstance(question.selection, NoisyMax) and question.whole and not known
    return range(counts[0] + 1 if several else 1)


def may_occur(question: Asked, negatives: int, positives: int) -> bool:
    """Whether answers may certainly lead to so many of each: all others are far below, or not asked for."""
    mechanism, domains = question.selection, question.domains
    if isinstance(mechanism, NoisyMax):
        candidates, count = mechanism.candidates, num(negatives + 1)
        all_count = mechanism.bounds is None or certainly_le(candidates, count, domains)
        return positives == 0 and all_count and certainly_le(count, candidates, domains)
    queries, count = mechanism.queries, num(negatives + positives)
    most = queries if mechanism.positives is None else mechanism.positives
    last = mechanism.bounds is None or certainly_le(queries, count, domains) or certainly_le(most, num(positives), domains)
    return last and certainly_le(num(positives), most, domains) and certainly_le(count, queries, domains)


def way(question: Asked, move: Any, counts: tuple[int, int]) -> tuple[int, int]:
    """How far answers go up at negatives and down at positives, at an output of so many, in units of what an answer moves by.

    Raises CertificateError for a number of no way to move, Rejected where more answers move than may.
    """
    ways = MOVES[question.selection.neighbours]
    number = to_whole(move, "move", question.rule, 0, len(ways) - 1)
    require(moves_alone(question, number, counts), Rejected(question.rule, "the neighbours", "these move more than one answer"))
    return ways[number]


def moves_alone(question: Asked, move: int, counts: tuple[int, int]) -> bool:
    """Whether no more answers move than may, at an output of so many negatives and positives: for some neighbours one alone."""
    up, down = MOVES[question.selection.neighbours][move]
    moved = up * counts[0] + down * (1 if isinstance(question.selection, NoisyMax) else counts[1])
    return question.selection.neighbours != "one" or moved <= 1


def read_answers(told: Any, rule: str, count: int = 2) -> tuple[Fraction, ...]:
    """So many; two are those at negatives and at positives. Raises CertificateError."""
    answers = tuple(to_fraction(text, rule) for text in told)
    certify(len(answers) == count, f"{rule}: 'answers' are not {count} numbers.")
    return answers


def pair(
    question: Asked, move: int, counts: tuple[int, int], answers: tuple[Fraction, ...] | None
) -> tuple[Output, Output]:  # fmt: skip
    """An output at two neighbours: those that are worst between the bounds, or from the answers at negatives and at positives."""
    mechanism, step = question.selection, question.value(question.moved, "the sensitivity")
    u, v = MOVES[mechanism.neighbours][move]
    bounds = None if mechanism.bounds is None else [question.value(end, "bounds") for end in mechanism.bounds]
    if answers is None:
        if bounds is None:
            raise Rejected(RULE, "the bounds", "answers without bounds have no worst pair")
        step = min(step, bounds[1] - bounds[0])
        answers = bounds[1] - u * step, bounds[0] + v * step
    low, high = answers
    if bounds is not None and not (bounds[0] <= low <= low + u * step <= bounds[1] and bounds[0] <= high - v * step <= high <= bounds[1]):
        raise Rejected(RULE, "answers", "they are not between the bounds")
    if question.whole and not low.denominator == high.denominator == 1:
        raise Rejected(RULE, "answers", "noise on the integers is added to integers")
    negatives, positives = counts
    if isinstance(mechanism, NoisyMax):  # the winner is what the others are compared with
        here, there = (Output(negatives, 0, low + u * s, high, high - v * s) for s in (Fraction(0), step))
        return here, there
    centre = question.value(mechanism.threshold, "threshold")
    here, there = (Output(negatives, positives, low + u * s, high - v * s, centre) for s in (Fraction(0), step))
    return here, there


def loss(noises: Compared, here: Output, there: Output, cuts: Sequence[Fraction]) -> arb:
    """The log-ratio of the probabilities of an output at two neighbours."""
    found: arb = (noises.probability(here, cuts) / noises.probability(there, cuts)).log()
    return found
