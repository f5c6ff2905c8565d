"""Noisy max with log-concave noise on the integers: the mean over the greatest of the noises, as a sum (theory#greatest-noise)."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any

from flint import arb

from dpverify.trusted.facts.evaluate import falling
from dpverify.trusted.facts.pairs import Profile
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.model import NoisyMax
from dpverify.trusted.numbers.each_precision import per_precision
from dpverify.trusted.theories.selection.chances import MOST
from dpverify.trusted.theories.selection.compared import Asked, most_lead, slopes
from dpverify.trusted.theories.selection.delta_masses import read_cuts
from dpverify.trusted.theories.selection.noise_laws import Whole, law


def profile(question: Asked, parameters: Mapping[str, Any]) -> Profile:
    """The bound at every epsilon of at least 0. parameters: "cuts", integers between which probabilities are added.

    Raises Rejected, Undecided, CertificateError.
    """
    mechanism, cuts, rule = question.selection, read_cuts(parameters, question.rule), question.rule
    if not isinstance(mechanism, NoisyMax) or mechanism.report != "index":
        raise Rejected(rule, "the mechanism", "on the integers it is about the index of the greatest alone")
    slopes(question, mechanism.noise)  # so that what is lost rises
    moved, count = question.value(question.moved, "the sensitivity"), question.count(mechanism.candidates, "candidates", MOST)
    reach = int(question.value(most_lead(mechanism), "hull") * moved)
    places = range(int(cuts[0]), int(cuts[-1]) - reach + 1)
    require(bool(places), Rejected(rule, "cuts", "they are no further apart than answers move"))

    def ratios() -> tuple[list[arb], list[arb]]:
        """How probable the greatest is at least at each place and beyond the last, and by what the density there falls."""
        noise = law(mechanism.noise, cuts)
        assert isinstance(noise, Whole)
        tails = [_of_any(*noise.at(Fraction(z + 1)), count) for z in places]
        return tails, [noise.chance(z + reach) / noise.chance(z) for z in places]

    known = per_precision(ratios)

    def at(epsilon: arb) -> arb:
        tails, falls = known()
        excess = [(1 - epsilon.exp() * fall).max(arb(0)) for fall in falls]
        mean = excess[0]
        for tail, (before, after) in zip(tails, pairwise([*excess, arb(1)]), strict=True):
            mean += tail * (after - before)
        return mean

    return falling(at)


def _of_any(below: arb, beyond: arb, count: int) -> arb:
    """The probability that one at least of so many is beyond a point, without cancellation where that is small."""
    return -(count * (-beyond).log1p()).expm1() if beyond < below else 1 - below**count
