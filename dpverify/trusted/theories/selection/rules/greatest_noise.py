"""Selections with Gaussian or Laplace noise: moving the noise of what is told costs at most what the greatest of the noises loses.

Theorem: Let M be the greatest of n independent noises with log-concave density exp(-h), and L(z) = h(z + r) - h(z). The index of the
greatest of n noisy answers has delta(eps) <= E[(1 - exp(eps - L(M)))_+], r = 2D where each answer moves by at most D, D where all move the
same way or one alone, in a hull D times the greatest difference of two numbers of one of its points. Above threshold with n queries and c
positives has delta(eps) <= E[delta_1(eps - c max(0, L(M)))], delta_1 the profile of the noise of the threshold by itself at D.

Checked:
- the noises are Gaussian or Laplace; of noisy max on the integers log-concave
- the mean over the law of M, by enclosed quadrature, or a sum, with the tail outside

Source: docs/theory/selection.md#greatest-noise
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from flint import acb, arb, ctx

from dpverify.trusted.combinators.runs import Run
from dpverify.trusted.facts import settled
from dpverify.trusted.facts.evaluate import accurately, falling
from dpverify.trusted.facts.pairs import Curve, Profile, symmetric
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.compare import certainly_lt
from dpverify.trusted.kernel.errors import Rejected, require
from dpverify.trusted.kernel.expr import ZERO
from dpverify.trusted.kernel.fact import Parameters, Premises
from dpverify.trusted.kernel.model import AboveThreshold, NoisyMax
from dpverify.trusted.numbers.each_precision import per_precision
from dpverify.trusted.numbers.gaussian import gaussian_delta
from dpverify.trusted.theories.selection.compared import Asked, most_lead
from dpverify.trusted.theories.selection.delta_masses import law_of, of_run
from dpverify.trusted.theories.selection.noise_laws import Closed

NAME: Final = "greatest-noise"
ASSUMED: Final = ("the sampler is ideal", "the noises are independent of each other")

MOST: Final = 10**9
"""Candidates, queries or positives."""


@dataclass(frozen=True, slots=True)
class Greatest:
    """So many noises of one law, how far and how often the greatest is moved, and what is shared."""

    noises: int
    law: Closed
    reach: arb
    times: int
    shared: Shared

    def profile(self, epsilon: arb) -> arb:
        """The bound at an exact epsilon of at least 0."""
        start = (-self.reach / 2).upper()  # about where the greatest begins to lose
        found = self._below(start) * self.shared.real(epsilon - self._loss(acb(start)).real.max(arb(0)))
        if not self.law.gaussian:  # beyond 0 it loses the same
            found += self._between(epsilon, start, arb(0))
            return found + (1 - self._below(arb(0))) * self.shared.real(epsilon - self._loss(acb(0)).real)
        far = (epsilon / self._slope - self.reach / 2).max(arb(0))
        end = (far + (3 * (ctx.prec + self.noises.bit_length()) * arb(2).log()).sqrt() / self.law.rate).upper()
        return found + self._between(epsilon, start, end) + arb(0).union(self.noises * self.law.below(acb(-end), False).real)

    def _below(self, z: arb) -> arb:
        """The probability that all noises are below a point that is at most 0, or of Gaussian noise any."""
        return arb(self.law.below(acb(z), False).real ** self.noises)

    @property
    def _slope(self) -> arb:
        """How fast what is lost rises: on all the line for Gaussian noise, from -reach/2 to 0 for Laplace noise."""
        rate = self.law.rate
        return self.times * rate * (rate * self.reach if self.law.gaussian else 2)

    def _loss(self, z: acb) -> acb:
        return self._slope * (z + self.reach / 2)

    def _between(self, epsilon: arb, low: arb, high: arb) -> arb:
        """The mean over greatest noises between two exact ends. Where pieces meet the profile is at most 1, a density at most the rate."""
        total, left = arb(0), low
        for piece, end in enumerate([*self.shared.ends, None]):
            meet = high if end is None else ((epsilon - end) / self._slope - self.reach / 2).max(low).min(high)
            if left < meet.lower():
                total += self._piece(epsilon, left, meet.lower(), piece)
            total += arb(0).union(self.noises * self.law.rate * (meet.upper() - meet.lower()))
            left = meet.upper()
        return total

    def _piece(self, epsilon: arb, low: arb, high: arb, piece: int) -> arb:
        def integrand(z: acb, _: bool) -> acb:
            others: acb = self.law.below(z, False) ** (self.noises - 1)
            return self.noises * self.law.density(z, False) * others * self.shared.at(epsilon - self._loss(z), piece)

        near = arb(2) ** -ctx.prec
        found: arb = acb.integral(integrand, acb(low), acb(high), rel_tol=near, abs_tol=near**4).real
        return found


def infer(run: Run, parameters: Parameters, _: Premises) -> Curve:
    """The curve of one run of a selection, from above. Raises Rejected, Undecided, CertificateError.

    parameters: "prec"; for noise on the integers "cuts", two of them between which probabilities are added.
    """
    question = of_run(run, NAME)
    require(certainly_lt(ZERO, question.moved, {}), Rejected(NAME, "the sensitivity", "it is not certainly positive"))
    if question.whole:
        from dpverify.trusted.theories.selection import delta_integers

        profile = delta_integers.profile(question, parameters)
    else:
        profile = _on_line(question)
    return settled.noise(run, Curve(symmetric(profile), None, (NAME,), ASSUMED), parameters)


def of_each(question: Asked) -> Profile:
    """The same for one answer, and as many positives; of answers any number of which may be asked. Raises Rejected."""
    return _on_line(question, 1)


def _on_line(question: Asked, noises: int | None = None) -> Profile:
    made = per_precision(lambda: _greatest(question, noises))
    made()  # at this precision, so that what is refused is refused now
    return falling(lambda epsilon: accurately(lambda: made().profile(epsilon.max(arb(0)))))


def _greatest(question: Asked, noises: int | None) -> Greatest:
    """At the working precision of the moment. noises: of how many the greatest is; None for as many as there are. Raises Rejected."""
    mechanism, moved = question.selection, constant(question.moved)
    reach = constant(most_lead(mechanism)) * moved
    require(bool(reach > 0), Rejected(NAME, "hull", "no answer moves against another"))
    if isinstance(mechanism, NoisyMax):
        require(mechanism.report == "index", Rejected(NAME, "report", "more than the index is told"))
        count = question.count(mechanism.candidates, "candidates", MOST) if noises is None else noises
        return Greatest(count, law_of(mechanism.noise, NAME, "noise"), reach, 1, Shared(False, arb(0)))
    require(mechanism.report != "answers+value", Rejected(NAME, "report", "the noisy answers are told"))
    if noises is None:
        noises, positives = question.counts(MOST)
    elif mechanism.positives is None:
        raise Rejected(NAME, "positives", "there is no limit of them")
    else:
        positives = question.count(mechanism.positives, "positives", MOST)
    return Greatest(noises, law_of(mechanism.query_noise, NAME, "query_noise"), reach, positives, _shared(mechanism, moved, positives))


def _shared(mechanism: AboveThreshold, moved: arb, positives: int) -> Shared:
    """The noises of the threshold, and those drawn afresh for positives, each moved as far as an answer."""
    laws = [law_of(mechanism.threshold_noise, NAME, "threshold_noise")] * (positives if mechanism.resample else 1)
    if mechanism.fresh is not None:
        laws += [law_of(mechanism.fresh, NAME, "fresh")] * positives
    if len(laws) > 1 and not all(law.gaussian for law in laws):
        raise Rejected(NAME, "the noises", "of noises that are moved together all are to be Gaussian")
    return Shared(laws[0].gaussian, moved * sum((law.rate**2 for law in laws), arb(0)).sqrt())


@dataclass(frozen=True, slots=True)
class Shared:
    """The profile of the noise that all comparisons share, at every real epsilon, in pieces that are analytic.

    moved: by how many deviations, or scales of Laplace noise, it is moved; not at all where no noise is shared.
    """

    gaussian: bool
    moved: arb

    @property
    def ends(self) -> tuple[arb, ...]:
        """The epsilons where pieces meet, falling."""
        return () if self.gaussian else (self.moved, -self.moved)

    def at(self, epsilon: acb, piece: int) -> acb:
        """On a piece, by its number: 0 is before the first end, from above."""
        if self.gaussian:
            return gaussian_delta(acb(self.moved), epsilon)
        return acb(0) if piece == 0 else -(epsilon if piece == 2 else (epsilon - self.moved) / 2).expm1()

    def real(self, epsilon: arb) -> arb:
        """At a real epsilon: the greatest of the pieces."""
        found = arb(0)
        for piece in range(len(self.ends) + 1):
            found = found.max(self.at(acb(epsilon), piece).real)
        return found
