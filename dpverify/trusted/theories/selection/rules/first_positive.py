"""Above threshold that stops at the first positive, between bounds: what each output loses at most, weighed where they come latest.

Theorem: Above threshold with Gaussian or Laplace noise, answers between bounds [a, b] and one positive: the output of j negatives loses at
most l_j, at the worst pair of that output. With w_j(eps) the greatest (1 - exp(eps - l_i))_+ over i <= j, delta(eps) is at most the mean of
w_J, J the number of negatives where all answers are a: negatives are never more probable.

Checked:
- the noises are Gaussian or Laplace
- all probabilities, by enclosed quadrature between the cuts and the tails outside

Source: docs/theory/selection.md#first-positive
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, Final

from flint import arb

from dpverify.trusted.combinators.runs import Run
from dpverify.trusted.facts import settled
from dpverify.trusted.facts.evaluate import falling
from dpverify.trusted.facts.pairs import Curve, Profile, greatest, symmetric
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import ONE
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import AboveThreshold
from dpverify.trusted.numbers.each_precision import per_precision
from dpverify.trusted.theories.selection.chances import MOST, MOVES, Output, Side, loss
from dpverify.trusted.theories.selection.compared import Asked
from dpverify.trusted.theories.selection.delta_masses import in_closed_forms, of_run, read_cuts

NAME: Final = "first-positive"
ASSUMED: Final = ("the sampler is ideal", "the noises are independent of each other")


def infer(run: Run, parameters: Mapping[str, Any], _: Sequence[Fact]) -> Curve:
    """The curve of one run, from above. parameters: "cuts", fractions that rise; "prec". Raises Rejected, Undecided, CertificateError."""
    question = of_run(run, NAME)
    weighed = _Weighed(question, read_cuts(parameters, NAME))
    tails = per_precision(weighed.tails)
    profiles = [_profile(per_precision(partial(weighed.losses, way)), tails) for way in MOVES[weighed.mechanism.neighbours]]
    return settled.noise(run, Curve(greatest([symmetric(one) for one in profiles]), None, (NAME,), ASSUMED), parameters)


class _Weighed:
    """What a rule is asked, read once: probabilities are for the precision of the moment."""

    def __init__(self, question: Asked, cuts: list[Fraction]) -> None:
        mechanism = question.selection
        if not isinstance(mechanism, AboveThreshold) or mechanism.positives != ONE or mechanism.report != "answers":
            raise Rejected(NAME, "the mechanism", "it does not stop at the first positive, or tells more than answers")
        if mechanism.bounds is None:
            raise Rejected(NAME, "the bounds", "there are none")
        if mechanism.query_noise is None:
            raise Rejected(NAME, "query_noise", "there is none")
        self.question, self.mechanism, self.cuts = question, mechanism, cuts
        self.low, self.high = (question.value(end, "bounds") for end in mechanism.bounds)
        self.step = question.value(question.moved, "the sensitivity")
        self.queries, _ = question.counts(MOST)
        self.centre = question.value(mechanism.threshold, "threshold")
        in_closed_forms(question)  # so that noise that is refused is refused now

    def tails(self) -> list[arb]:
        """How probable at least so many negatives are where all answers are the least."""
        noises = in_closed_forms(self.question)
        return [noises.of_all([Side(count, self.low)], self.centre, self.cuts) for count in range(self.queries + 1)]

    def losses(self, moves: tuple[int, int]) -> list[arb]:
        """What the outputs lose at most where answers move so, by the number of their negatives."""
        noises, (up, down) = in_closed_forms(self.question), moves

        def lost(negatives: int, positives: int) -> arb:
            here = Output(negatives, positives, self.high - up * self.step, self.low + down * self.step, self.centre)
            return loss(noises, here, Output(negatives, positives, self.high, self.low, self.centre), self.cuts)

        return [*(lost(count, 1) for count in range(self.queries)), lost(self.queries, 0)]


def _profile(losses: Callable[[], list[arb]], tails: Callable[[], list[arb]]) -> Profile:
    """The mean of what outputs lose, with as many negatives as may be."""

    def at(epsilon: arb) -> arb:
        mean, before = arb(0), arb(0)
        for tail, most in zip(tails(), losses(), strict=True):
            excess = before.max(-(epsilon - most).expm1())
            mean, before = mean + tail * (excess - before), excess
        return mean

    return falling(at)
