"""Noisy max with even noise of any density on the line: a bound for every number of candidates, by the survival function of one noise.

Theorem: The index of the greatest of any number of answers with independent noises of one law has at most the supremum over m of log
S(m)/S(m + r), S(m) = P[Z >= m]: r = 2D where each answer moves by at most D, r = D where all move the same way or one moves alone, and in a
hull D times the greatest difference of two numbers of one of its points.

Checked:
- the noise is even and on the reals, its tails by enclosed integrals at the cuts
- the ratio is within the bound to the left of the cuts, between them, and to the right of them by the slope of -log f

Source: docs/theory/selection.md#survival
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final

from flint import acb, arb, ctx

from dpverify.trusted.kernel.balls import constant, hull, rational, value
from dpverify.trusted.kernel.bounds import Bound
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import ONE, Expr, Num, Sym, div, mul, substitute, symbols
from dpverify.trusted.kernel.model import Claim, NoisyMax, OnLine, Radial
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.language.rationals import read_fraction, read_rising
from dpverify.trusted.numbers.asymptotics import End
from dpverify.trusted.numbers.complex import compiled
from dpverify.trusted.numbers.kinks import resolve
from dpverify.trusted.numbers.quadrature import integral
from dpverify.trusted.theories.additive.slopes import end_within
from dpverify.trusted.theories.selection.compared import Asked, asked, most_lead
from dpverify.trusted.theories.selection.noise_laws import radial

NAME: Final = "survival"
ASSUMED: Final = ("the sampler is ideal", "the noises are independent of each other")

MOST: Final = 20_000
"""Cuts."""


class Tails:
    """S of even noise at points, from one integral beyond the furthest and one between each two."""

    def __init__(self, noise: OnLine, points: set[Fraction]) -> None:
        self.density = density_of(noise)
        places = sorted({abs(point) for point in points} | {Fraction(0)})
        above = integral(self.density, "r", places[-1], None, bits=ctx.prec // 2)
        self._beyond = {places[-1]: above}
        for low, high in reversed(list(pairwise(places))):
            above = above + self._between(low, high)
            self._beyond[low] = above

    def _between(self, low: Fraction, high: Fraction) -> arb:
        if not value(self.density, {"r": hull(low, high)}) >= 0:
            raise Rejected(NAME, "the density", "it is not certainly at least 0 between two cuts")
        function = compiled(resolve(self.density, "r", low, high), "r")
        found = acb.integral(function, acb(rational(low)), acb(rational(high)), rel_tol=arb(2) ** -ctx.prec)
        return found.real  # where that is not finite no comparison below is true

    def at(self, point: Fraction) -> arb:
        """S at one of the points."""
        share = self._beyond[abs(point)] / (2 * self._beyond[Fraction(0)])
        return 1 - share if point < 0 else share

    def height(self, low: Fraction, high: Fraction) -> arb:
        """The density, normalised, over an interval."""
        found = value(self.density, {"r": hull(max(low, -high, Fraction(0)), max(-low, high))})
        return found / (2 * self._beyond[Fraction(0)])


def check(claim: Claim, evidence: Mapping[str, Any]) -> Bound:
    """The upper bound "value", a fraction. Raises Rejected, Undecided, CertificateError.

    evidence: "cuts", fractions that rise.
    """
    _, noise, shift = read(claim)
    bound, cuts = read_fraction(evidence, "value", NAME), read_rising(evidence.get("cuts"), "cuts", NAME, 2, MOST)
    if not right_of(noise, cuts[-1], shift, bound):
        raise Rejected(NAME, "the last cut", "the slope of -log f is not certainly within the bound to the right of it")
    tails = Tails(noise, {point + move for point in cuts for move in (0, shift)})
    return within(NAME, bound, cuts, tails.at(cuts[0] + shift), lambda i: most(tails, cuts[i], cuts[i + 1], shift))


def within(rule: str, bound: Fraction, cuts: Sequence[Fraction], first: arb, most: Callable[[int], arb]) -> Bound:
    """The bound on log S(m)/S(m + r), with S one r beyond the first cut, and more than that between each cut and the next."""
    require(-first.log() <= rational(bound), Rejected(rule, "the first cut", "what is to the left of it is not certainly within the bound"))
    for i, (low, high) in enumerate(pairwise(cuts)):
        if not most(i) <= rational(bound):
            raise Rejected(rule, f"[{low}, {high}]", "the ratio is not certainly within the bound there; split the cell")
    return Bound("upper", Num(bound))


def read(claim: Claim) -> tuple[Asked, OnLine, Fraction]:
    """The question, the noise, and how far the winner's threshold moves. Raises Rejected."""
    question = asked(claim, {}, NAME)
    mechanism = question.selection
    if not isinstance(mechanism, NoisyMax) or mechanism.report != "index":
        raise Rejected(NAME, "the mechanism", "it is no noisy max that tells the index alone")
    moved = mul(question.moved, most_lead(mechanism))
    if not isinstance(moved, Num) or not moved.value > 0:
        raise Rejected(NAME, "the sensitivity", "it is not a positive number")
    return question, mechanism.noise, moved.value


def density_of(noise: OnLine) -> Expr:
    """The density of even noise in the distance r from 0, up to a factor. Raises Rejected for all other."""
    even, why = radial(noise), "it is not certainly even, on the reals, with a value for every parameter"
    if not isinstance(even, Radial) or (even.dimension, even.norm.kind) != (ONE, "lp") or symbols(even.profile) - {"r"}:
        raise Rejected(NAME, "the noise", why)
    require(not symbols(even.scale) and constant(even.scale) > 0, Rejected(NAME, "the noise", why))
    return substitute(even.profile, {"r": div(Sym("r"), even.scale)})


def right_of(noise: OnLine, cut: Fraction, shift: Fraction, bound: Fraction) -> bool:
    """Whether log f(z)/f(z + shift), and so log S(m)/S(m + shift), is certainly within the bound to the right of a cut."""
    return end_within(neg_log(density_of(noise)), "r", Num(bound / shift), End("+inf", cut))


def most(tails: Tails, low: Fraction, high: Fraction, shift: Fraction) -> arb:
    """More than log S(m)/S(m + shift) between two cuts: from the left end on, by the greatest slope."""
    here, there = (tails.at(low), tails.at(high)), (tails.at(low + shift), tails.at(high + shift))
    slope = tails.height(low + shift, high + shift).upper() / there[1] - tails.height(low, high).lower().max(arb(0)) / here[0]
    return (here[0] / there[0]).log() + rational(high - low) * slope.max(arb(0))
