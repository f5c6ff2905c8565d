"""The probabilities of an output of a selection at two neighbours (theory#worst-output)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Final

from flint import acb, arb, ctx

from dpverify.trusted.language.errors import Rejected
from dpverify.trusted.language.expr import Expr, Num
from dpverify.trusted.language.model import NoisyMax
from dpverify.trusted.numbers.balls import rational
from dpverify.trusted.rules.selection import shifted
from dpverify.trusted.rules.selection.compared import Asked
from dpverify.trusted.rules.selection.noise_laws import Law

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
    """The noises of a selection. first: that of the threshold, or of the winner; None for an exact threshold."""

    first: Law | None
    answers: Law

    def probability(self, output: Output, cuts: list[Fraction]) -> arb:
        """Of an output. Raises Rejected where cuts do not part the pieces of the densities."""
        if not output.negatives and not output.positives:
            return arb(1)
        if self.first is None:
            rooms = (output.centre - output.low, output.high - output.centre)
            below, above = (self.answers.below(acb(rational(room)), room > 0).real for room in rooms)
            found: arb = below**output.negatives * above**output.positives
            return found
        total = self.first.outside(rational(output.centre - cuts[0])) + self.first.outside(rational(cuts[-1] - output.centre))
        mass = arb(0).union(total)
        for left, right in pairwise(cuts):
            mass += self._between(output, left, right)
        return mass

    def _between(self, output: Output, left: Fraction, right: Fraction) -> arb:
        first, answers = self.first, self.answers
        assert first is not None
        sides = [_above(left, right, point) for point in (output.centre, output.low, output.high)]
        centre, low, high = (rational(point) for point in (output.centre, output.low, output.high))

        def integrand(t: acb, _: bool) -> acb:
            height = first.density(t - centre, sides[0])
            if output.negatives:
                height *= answers.below(t - low, sides[1]) ** output.negatives
            if output.positives:
                height *= answers.below(high - t, not sides[2]) ** output.positives
            return height

        found = acb.integral(integrand, acb(rational(left)), acb(rational(right)), rel_tol=arb(2) ** -ctx.prec, abs_tol=arb(2) ** -ctx.prec)
        return found.real  # where that is not finite no comparison of losses is true


def _above(left: Fraction, right: Fraction, point: Fraction) -> bool:
    """Whether an interval is above a point. Raises Rejected where the point is inside."""
    if left < point < right:
        raise Rejected(RULE, "cuts", f"{point}, where a density has a kink, is between two of them")
    return left >= point


def outputs(question: Asked) -> range:
    """The numbers of positives of outputs that none loses more than: all queries asked. Raises Rejected."""
    mechanism = question.selection
    if isinstance(mechanism, NoisyMax):
        return range(1)
    queries = _count(question, mechanism.queries, "queries")
    most = queries if mechanism.positives is None else min(queries, _count(question, mechanism.positives, "positives"))
    if most > MOST:
        raise Rejected(RULE, "positives", f"more than {MOST} of them")
    return range(most + 1)


def _count(question: Asked, count: Expr, what: str) -> int:
    if not isinstance(question.natural(count, what), Num):
        raise Rejected(RULE, what, "it wants a number")
    assert isinstance(count, Num)
    return int(count.value)


def pair(question: Asked, move: int, positives: int, answers: tuple[Fraction, Fraction] | None) -> tuple[Output, Output]:
    """An output at two neighbours: those that are worst between the bounds, or from the answers at negatives and at positives."""
    mechanism, step = question.selection, _value(question.moved, "the sensitivity")
    u, v = MOVES[mechanism.neighbours][move]
    if answers is None:
        if mechanism.bounds is None:
            raise Rejected(RULE, "the bounds", "answers without bounds have no worst pair")
        a, b = (_value(end, "bounds") for end in mechanism.bounds)
        if not a < b:
            raise Rejected(RULE, "the bounds", "they do not rise")
        step = min(step, b - a)
        answers = b - u * step, a + v * step
    low, high = answers
    if isinstance(mechanism, NoisyMax):  # the winner is what the others are compared with
        others = _count(question, mechanism.candidates, "candidates") - 1
        here, there = (Output(others, 0, low + u * s, high, high - v * s) for s in (Fraction(0), step))
        return here, there
    centre, negatives = _value(mechanism.threshold, "threshold"), _count(question, mechanism.queries, "queries") - positives
    here, there = (Output(negatives, positives, low + u * s, high - v * s, centre) for s in (Fraction(0), step))
    return here, there


def loss(noises: Compared, here: Output, there: Output, cuts: list[Fraction]) -> arb:
    """The log-ratio of the probabilities of an output at two neighbours."""
    found: arb = (noises.probability(here, cuts) / noises.probability(there, cuts)).log()
    return found


def _value(expr: Expr, what: str) -> Fraction:
    if not isinstance(expr, Num):
        raise Rejected(RULE, what, "it wants a rational number")
    return expr.value
