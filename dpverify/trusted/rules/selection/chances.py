"""The probabilities of an output of a selection at two neighbours (theory#worst-output)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Final

from flint import acb, arb, ctx

from dpverify.trusted.language.errors import Rejected
from dpverify.trusted.language.expr import Expr, Num, num
from dpverify.trusted.language.model import NoisyMax
from dpverify.trusted.numbers.balls import rational
from dpverify.trusted.order.compare import certainly_le
from dpverify.trusted.rules.selection import shifted
from dpverify.trusted.rules.selection.compared import Asked
from dpverify.trusted.rules.selection.noise_laws import Law, Whole

RULE: Final = "worst-output"

MOVES: Final[Mapping[str, tuple[tuple[int, int], ...]]] = {**shifted.MOVES, "one": ((1, 0), (0, 1))}
MOST: Final = 1000
"""Outputs, and cuts, that are looked at."""


@dataclass(frozen=True, slots=True)
class Output:
    """So many negatives and positives, the answers of all negatives and of all positives, and where the noise of the threshold is about."""

    negatives: int
    positives: int
    low: Fraction
    high: Fraction
    centre: Fraction


@dataclass(frozen=True, slots=True)
class Compared:
    """The noises of a selection. first: that of the threshold, or of the winner; None for an exact threshold.

    bits: to which integrals are known, where that is not nearly as well as numbers are.
    """

    first: Law | Whole | None
    answers: Law | Whole
    bits: int | None = None

    def probability(self, output: Output, cuts: Sequence[Fraction]) -> arb:
        """Of an output. Raises Rejected where cuts do not part the pieces of the densities."""
        if not output.negatives and not output.positives:
            return arb(1)
        if self.first is None:
            return self._at(output, output.centre)[0]
        left, right = cuts[0], cuts[-1]
        total = self._outside(output, left, right)
        if isinstance(self.first, Whole):
            for n in range((left - output.centre).__ceil__(), (right - output.centre).__ceil__()):
                total += self.first.chance(n) * self._at(output, n + output.centre)[0]
            return total
        for low, high in pairwise(cuts):
            total += self._between(output, low, high)
        return total

    def _at(self, output: Output, point: Fraction) -> tuple[arb, arb, arb]:
        """Of an output where the noisy threshold is at a point; by its negatives, and by its positives alone."""
        negatives = _power(self.answers.at(point - output.low)[0], output.negatives)
        positives = _power(self.answers.at(point - output.high)[1], output.positives)
        return negatives * positives, negatives, positives

    def _outside(self, output: Output, left: Fraction, right: Fraction) -> arb:
        """Of an output where the noisy threshold is below the one point, or not below the other: negatives rise with it, positives fall."""
        assert self.first is not None
        _, negatives, positives = self._at(output, left)
        below = (arb(0) if output.negatives else positives).union(negatives)
        total = self.first.at(left - output.centre)[0] * below
        _, negatives, positives = self._at(output, right)
        above = (arb(0) if output.positives else negatives).union(positives)
        found: arb = total + self.first.at(right - output.centre)[1] * above
        return found

    def _between(self, output: Output, left: Fraction, right: Fraction) -> arb:
        assert self.first is not None and not isinstance(self.first, Whole) and not isinstance(self.answers, Whole)
        first = self.first.next_to(left - output.centre, right - output.centre)
        low = self.answers.next_to(left - output.low, right - output.low)
        high = self.answers.next_to(left - output.high, right - output.high)
        if first is None or (low is None and output.negatives) or (high is None and output.positives):
            raise Rejected(RULE, "cuts", f"a density has a kink between {left} and {right}, two of them, or is not known there")
        centre, at_low, at_high = (rational(point) for point in (output.centre, output.low, output.high))

        def integrand(t: acb, a: bool) -> acb:
            height = first.density(t - centre, a)
            if low is not None and output.negatives:
                height *= low.below(t - at_low, a) ** output.negatives
            if high is not None and output.positives:
                height *= high.above(t - at_high, a) ** output.positives
            return height

        bits = 3 * ctx.prec // 4 if self.bits is None else self.bits
        near, far = (acb(rational(point)) for point in (left, right))
        found = acb.integral(integrand, near, far, rel_tol=arb(2) ** -bits, abs_tol=arb(2) ** -min(ctx.prec, 2 * bits))
        return found.real  # where that is not finite no comparison of losses is true


def _power(chance: arb, count: int) -> arb:
    """Of so many independent events of one probability."""
    found: arb = (acb(chance) ** count).real if count else arb(1)
    return found


def outputs(question: Asked, known: bool) -> list[tuple[int, int]]:
    """The negatives and positives of outputs that none loses more than: all queries asked, or all outputs where that is not known.

    Raises Rejected.
    """
    mechanism = question.selection
    if isinstance(mechanism, NoisyMax):
        return [(_count(question, mechanism.candidates, "candidates") - 1, 0)]
    queries = _count(question, mechanism.queries, "queries")
    most = queries if mechanism.positives is None else min(queries, _count(question, mechanism.positives, "positives"))
    if most > MOST or (not known and queries > MOST):
        raise Rejected(RULE, "positives", f"more than {MOST} of them")
    found = [(queries - positives, positives) for positives in range(most + 1)]
    return found if known else [*found, *((negatives, most) for negatives in range(queries - most))]


def _count(question: Asked, count: Expr, what: str) -> int:
    if not isinstance(question.natural(count, what), Num):
        raise Rejected(RULE, what, "it wants a number")
    assert isinstance(count, Num)
    return int(count.value)


def may_occur(question: Asked, negatives: int, positives: int) -> bool:
    """Whether answers may certainly lead to so many of each: all others are far below, or not asked for."""
    mechanism, domains = question.selection, question.domains
    if isinstance(mechanism, NoisyMax):
        candidates, count = question.natural(mechanism.candidates, "candidates"), num(negatives + 1)
        all_count = mechanism.bounds is None or certainly_le(candidates, count, domains)
        return positives == 0 and all_count and certainly_le(count, candidates, domains)
    queries, count = question.natural(mechanism.queries, "queries"), num(negatives + positives)
    most = queries if mechanism.positives is None else question.natural(mechanism.positives, "positives")
    last = mechanism.bounds is None or certainly_le(queries, count, domains) or certainly_le(most, num(positives), domains)
    return last and certainly_le(num(positives), most, domains) and certainly_le(count, queries, domains)


def moves_alone(question: Asked, move: int, counts: tuple[int, int]) -> bool:
    """Whether no more than one answer moves, at an output of so many negatives and positives."""
    up, down = MOVES[question.selection.neighbours][move]
    return up * counts[0] + down * (1 if isinstance(question.selection, NoisyMax) else counts[1]) <= 1


def pair(
    question: Asked, move: int, counts: tuple[int, int], answers: tuple[Fraction, Fraction] | None
) -> tuple[Output, Output]:  # fmt: skip
    """An output at two neighbours: those that are worst between the bounds, or from the answers at negatives and at positives."""
    mechanism, step = question.selection, _value(question.moved, "the sensitivity")
    u, v = MOVES[mechanism.neighbours][move]
    bounds = None if mechanism.bounds is None else [_value(end, "bounds") for end in mechanism.bounds]
    if bounds is not None and not bounds[0] < bounds[1]:
        raise Rejected(RULE, "the bounds", "they do not rise")
    if answers is None:
        if bounds is None:
            raise Rejected(RULE, "the bounds", "answers without bounds have no worst pair")
        step = min(step, bounds[1] - bounds[0])
        answers = bounds[1] - u * step, bounds[0] + v * step
    low, high = answers
    if bounds is not None and not (bounds[0] <= low <= low + u * step <= bounds[1] and bounds[0] <= high - v * step <= high <= bounds[1]):
        raise Rejected(RULE, "answers", "they are not between the bounds")
    negatives, positives = counts
    if isinstance(mechanism, NoisyMax):  # the winner is what the others are compared with
        here, there = (Output(negatives, 0, low + u * s, high, high - v * s) for s in (Fraction(0), step))
        return here, there
    centre = _value(mechanism.threshold, "threshold")
    here, there = (Output(negatives, positives, low + u * s, high - v * s, centre) for s in (Fraction(0), step))
    return here, there


def loss(noises: Compared, here: Output, there: Output, cuts: Sequence[Fraction]) -> arb:
    """The log-ratio of the probabilities of an output at two neighbours."""
    found: arb = (noises.probability(here, cuts) / noises.probability(there, cuts)).log()
    return found


def _value(expr: Expr, what: str) -> Fraction:
    if not isinstance(expr, Num):
        raise Rejected(RULE, what, "it wants a rational number")
    return expr.value
