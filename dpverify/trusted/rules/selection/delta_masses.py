"""Probabilities of comparisons of answers with Gaussian or Laplace noise, as one integral over the noise that they are compared with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final

from flint import acb, arb, ctx

from dpverify.trusted.language.errors import Rejected
from dpverify.trusted.language.expr import Expr, Num
from dpverify.trusted.language.model import Claim, OnLine
from dpverify.trusted.language.rationals import read_rising
from dpverify.trusted.numbers.balls import rational
from dpverify.trusted.parts.runs import Run, leaf
from dpverify.trusted.rules.selection.chances import MOST
from dpverify.trusted.rules.selection.compared import Asked, asked
from dpverify.trusted.rules.selection.noise_laws import Closed, in_closed_form

RULE: Final = "masses"


@dataclass(frozen=True, slots=True)
class Side:
    """So many answers at a point, with noise of their own: all of them below what they are compared with, or all above."""

    count: int
    point: Fraction
    below: bool = True


@dataclass(frozen=True, slots=True)
class Comparisons:
    """Answers with noise of a law each, compared with noise about a centre, or with a number where that has none.

    answers: None for exact answers.
    """

    first: Closed | None
    answers: Closed | None
    centre: Fraction
    cuts: Sequence[Fraction]

    def probability(self, *sides: Side) -> arb:
        """Of all sides at once. Raises Rejected where a cut is missing at a kink of the density of Laplace noise."""
        counted = [side for side in sides if side.count]
        if not counted:
            return arb(1)
        if self.answers is None:
            found = self._of_exact(counted)
        elif self.first is None:
            found = self._at_centre(self.answers, counted)
        else:
            found = arb(0).union(self.first.outside(self._beyond(0)) + self.first.outside(-self._beyond(-1)))
            for left, right in pairwise(self.cuts):
                found += self._between(self.first, self.answers, counted, left, right)
        if not found.is_finite():
            raise Rejected(RULE, "cuts", "an integral between them has no finite enclosure")
        return found.max(arb(0)).min(arb(1))

    def _beyond(self, end: int) -> arb:
        return rational(self.centre - self.cuts[end])

    def _of_exact(self, sides: Sequence[Side]) -> arb:
        """That the noisy threshold is above what is below it, and at most what is not."""
        assert self.first is not None
        low = [side.point for side in sides if side.below]
        high = [side.point for side in sides if not side.below]
        if low and high and min(high) <= max(low):
            return arb(0)
        found = arb(1)
        for room in ([max(low) - self.centre] if low else []) + ([self.centre - min(high)] if high else []):
            found -= self.first.below(acb(rational(room)), room > 0).real  # even noise: what is beyond is as probable on both sides
        return found

    def _at_centre(self, answers: Closed, sides: Sequence[Side]) -> arb:
        found = arb(1)
        for side in sides:
            room = self.centre - side.point if side.below else side.point - self.centre
            found *= answers.below(acb(rational(room)), room > 0).real ** side.count
        return found

    def _between(self, first: Closed, answers: Closed, sides: Sequence[Side], left: Fraction, right: Fraction) -> arb:
        after = [_after(left, right, point) for point in (self.centre, *(side.point for side in sides))]
        middle, points = rational(self.centre), [rational(side.point) for side in sides]

        def integrand(t: acb, _: bool) -> acb:
            height = first.density(t - middle, after[0])
            for side, point, above in zip(sides, points, after[1:], strict=True):
                height *= (answers.below(t - point, above) if side.below else answers.below(point - t, not above)) ** side.count
            return height

        tolerance = arb(2) ** -ctx.prec
        found: arb = acb.integral(integrand, acb(rational(left)), acb(rational(right)), rel_tol=tolerance, abs_tol=tolerance).real
        return found


def _after(left: Fraction, right: Fraction, point: Fraction) -> bool:
    """Whether an interval is above a point. Raises Rejected where the point is inside."""
    if left < point < right:
        raise Rejected(RULE, "cuts", f"{point}, where a density may have a kink, is between two of them")
    return left >= point


def of_run(run: Run, rule: str) -> Asked:
    """The selection that a run is of, on neighbours as far apart as it says. Raises Rejected, Undecided."""
    mechanism, sensitivity, _ = leaf(run)
    return asked(Claim(mechanism, None, sensitivity=sensitivity), {}, rule)


def read_cuts(parameters: Mapping[str, Any], rule: str) -> list[Fraction]:
    """Fractions that rise. Raises CertificateError."""
    return read_rising(parameters.get("cuts"), "cuts", rule, 2, MOST)


def count_of(count: Expr, rule: str, what: str) -> int:
    """A count, as a number of at least 1. Raises Rejected."""
    if not isinstance(count, Num) or count.value.denominator != 1 or not 1 <= count.value <= MOST:
        raise Rejected(rule, what, f"it wants a number from 1 to {MOST}")
    return int(count.value)


def value_of(expr: Expr, rule: str, what: str) -> Fraction:
    """A rational number. Raises Rejected."""
    if not isinstance(expr, Num):
        raise Rejected(rule, what, "it wants a rational number")
    return expr.value


def law_of(noise: OnLine | None, rule: str, what: str) -> Closed:
    """Gaussian or Laplace noise. Raises Rejected."""
    if noise is None:
        raise Rejected(rule, what, "there is none")
    return in_closed_form(noise)
