"""Noisy max of two candidates with even unimodal noise of any tails: the tight epsilon, by the difference of the two noises.

Theorem: The index of the greater of two answers with independent noises of one law has the supremum over u of log S(u)/S(u + r) as its
tight epsilon, S(u) = P[Z - Z' >= u] for two of the noises: r = 2D where each answer moves by at most D, r = D where all move the same way
or one moves alone, in a hull D times the greatest difference of the two numbers of one of its points. Where the noise is even and unimodal,
S is concave up to 0 and convex from there on.

Checked:
- there are at most two candidates; the noise is even and unimodal, on the reals
- S at the cuts by enclosed quadrature, between them by its chords and their continuations
- the ratio is within the bound to the left of the cuts, between them, and to the right of them by the slope of -log f

Source: docs/theory/selection.md#two-candidates
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final

from flint import acb, arb, ctx

from dpverify.trusted.kernel.balls import rational
from dpverify.trusted.kernel.bounds import Bound
from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import num
from dpverify.trusted.kernel.loading import remembered
from dpverify.trusted.kernel.model import Claim, NoisyMax, OnLine, Radial, Translation
from dpverify.trusted.language.rationals import read_fraction, read_rising
from dpverify.trusted.numbers.gauss_rule import gauss
from dpverify.trusted.theories.curves.unimodal import Hints
from dpverify.trusted.theories.curves.unimodal import read as unimodal
from dpverify.trusted.theories.selection.noise_laws import Law, Whole, law
from dpverify.trusted.theories.selection.rules import survival

NAME: Final = "two-candidates"
ASSUMED: Final = ("the sampler is ideal", "the noises are independent of each other")

MOST: Final = 2_000
"""Numbers in each list."""
_DEEPEST: Final = 16
"""Halvings of an interval between two places."""


class Difference:
    """P[Z - Z' >= u] at points, S of even noise.

    places: the cuts of integrals over Z; kinks: what is added to them, u further on.
    """

    def __init__(self, noise: Law, places: Sequence[Fraction], kinks: Sequence[Fraction]) -> None:
        self._noise, self._places, self._kinks = noise, places, kinks
        self._known: dict[Fraction, arb] = {}

    def at(self, u: Fraction) -> arb:
        """S at a point: by evenness from its positive side."""
        if u not in self._known:
            low, high = self._places[0], self._places[-1]
            places = sorted({*self._places, *(u + kink for kink in self._kinks if low < u + kink < high)})
            self._known[u] = 1 - self.at(-u) if u < 0 else _beyond(self._noise, u, tuple(places), ctx.prec)
        return self._known[u]


@remembered(1 << 12)
def _beyond(noise: Law, u: Fraction, places: tuple[Fraction, ...], _: int) -> arb:
    """The mean of `P[Z' <= Z - u]`, a probability, over Z: to the left of all places, between them, and to the right."""
    first, last = places[0], places[-1]
    total = noise.at(first)[0] * arb(0).union(noise.at(first - u)[0]) + noise.at(last)[1] * noise.at(last - u)[0].union(arb(1))
    off = noise.at(u)[1] * arb(2) ** -(2 * ctx.prec // 5)
    for low, high in pairwise(places):
        total += _between(noise, u, low, high, off)
    return total


def _between(noise: Law, u: Fraction, low: Fraction, high: Fraction, off: arb) -> arb:
    """The same over Z in an interval, each part of it off by less than so much."""
    here, there, moved = noise.next_to(low, high), noise.next_to(low - u, high - u), rational(u)
    if here is None or there is None:
        raise Rejected(NAME, "places", f"a density has a kink between {low} and {high}, or is not known there")

    def bound(box: acb) -> arb:
        """More than f(z) F(z - u): F is at most 1 in the middle of the box, and grows from there by the integral of f."""
        found: arb = abs(here.density(box, True)) * (1 + abs(box - box.mid()) * abs(there.density(box - moved, True)))
        return found

    def value(z: acb) -> arb:
        found: arb = here.density(z, False).real * there.below(z - moved, False).real
        return found

    return gauss(value, bound, rational(low), rational(high), off, _DEEPEST)


def check(claim: Claim, evidence: Mapping[str, Any]) -> Bound:
    """The upper bound "value", a fraction. Raises Rejected, Undecided, CertificateError.

    evidence: "cuts", where S is looked at; "grid", of the noise where it has no closed form; "places" and "kinks", between which S is
    integrated. All rise.
    """
    noise, shift = read(claim)
    bound, cuts = read_fraction(evidence, "value", NAME), _told(evidence, "cuts", 4)
    if cuts[0] >= 0 or not survival.right_of(noise, cuts[-1] / 2, shift, bound):
        raise Rejected(NAME, "the cuts", "the slope of -log f is not certainly within the bound from half the last one on")
    held = law(noise, _told(evidence, "grid", 0))
    assert not isinstance(held, Whole)
    difference = Difference(held, _told(evidence, "places", 2), _told(evidence, "kinks", 0))
    return survival.within(NAME, bound, cuts, difference.at(cuts[0] + shift), lambda i: most(difference, cuts, i, shift))


def read(claim: Claim) -> tuple[OnLine, Fraction]:
    """The noise, and how far the winner's lead moves. Raises Rejected, Undecided."""
    question, noise, shift = survival.read(claim)
    mechanism = question.selection
    assert isinstance(mechanism, NoisyMax)
    if not certainly_le(mechanism.candidates, num(2), question.domains):
        raise Rejected(NAME, "candidates", "there are more than two, or may be")
    survival.density_of(noise)
    assert isinstance(noise, Radial | Translation)
    unimodal(noise, Hints())
    return noise, shift


def most(difference: Difference, cuts: Sequence[Fraction], i: int, shift: Fraction) -> arb:
    """More than log S(u)/S(u + shift) between a cut and the next: on each half a ratio of lines, which is greatest at an end."""
    here = _lines(difference, cuts, i, Fraction(0), upper=True)
    there = _lines(difference, cuts, i, shift, upper=False)
    worst = arb(0)
    for half in (0, 1):
        for end in (half, half + 1):
            above, below = (line[0] + line[1] * rational(Fraction(end, 2)) for line in (here[half], there[half]))
            if not below > 0:
                return arb("inf")
            worst = worst.max((above / below).log())
    return worst


def _lines(difference: Difference, cuts: Sequence[Fraction], i: int, move: Fraction, upper: bool) -> list[tuple[arb, arb]]:
    """For each half of a cell, moved, a line on one side of S on all of it: its value at the left end, and how much it grows to the right.

    Chords of a convex function are above it, their continuations below; of a concave one the other way round.
    """
    low, high = cuts[i] + move, cuts[i + 1] + move
    left, right = difference.at(low), difference.at(high)
    flat = (left if upper else right, arb(0))
    if low < 0 < high:
        return [flat, flat]
    if (low >= 0) == upper:
        return [(left, right - left)] * 2
    from_left = from_right = None
    if i > 0 and (cuts[i - 1] + move >= 0 or high <= 0):
        slope = (left - difference.at(cuts[i - 1] + move)) / rational(cuts[i] - cuts[i - 1])
        from_left = (left, slope * rational(high - low))
    if i + 2 < len(cuts) and (cuts[i + 2] + move <= 0 or low >= 0):
        slope = (difference.at(cuts[i + 2] + move) - right) / rational(cuts[i + 2] - cuts[i + 1])
        from_right = (right - slope * rational(high - low), slope * rational(high - low))
    return [from_left or from_right or flat, from_right or from_left or flat]


def _told(evidence: Mapping[str, Any], name: str, least: int) -> list[Fraction]:
    return read_rising(evidence.get(name), name, NAME, least, MOST)
