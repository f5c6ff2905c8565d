"""Selections with Gaussian or Laplace noise: the probabilities of an output at given answers, and at the worst between bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final

from flint import acb, arb, ctx

from dpverify.trusted.facts.bounds import Bound
from dpverify.trusted.language.errors import CertificateError, Rejected
from dpverify.trusted.language.expr import ONE, Expr, Num, Sym, substitute, symbols
from dpverify.trusted.language.logarithms import neg_log_profile
from dpverify.trusted.language.model import L1, AboveThreshold, Claim, NoisyMax, OnLine, Radial, Source, Translation
from dpverify.trusted.language.rationals import read_fraction, to_fraction
from dpverify.trusted.numbers.balls import constant, rational
from dpverify.trusted.order.convexity import Shapes
from dpverify.trusted.parts.forms import gaussian_form, laplace_form
from dpverify.trusted.rules.selection.compared import Asked, asked

NAME: Final = "worst-output"
STATEMENT: Final = (
    "With Gaussian or Laplace noise an output of k negatives and y positives has the probability integral of f_1(t) F(t - q)^k S(t - q')^y "
    "dt where the answers are q at negatives and q' at positives. Answers between bounds [a, b] that move by at most D <= b - a lose the "
    "most at q = b - D and q' = a + D, against b and a; more negatives or positives lose no less."
)
CHECKED: Final = (
    "the noises are Gaussian or Laplace, all numbers have values",
    "both probabilities, by enclosed quadrature between the cuts and the tails of one noise outside",
    "their log-ratio against the bound, for an upper one of every output of as many queries as there may be",
)
ASSUMED: Final = ("the sampler is ideal", "the noises of the threshold and of different answers are independent")
SOURCE: Final = Source("docs/theory/selection.md#worst-output")

MOVES: Final[Mapping[str, tuple[tuple[int, int], ...]]] = {
    "all": ((1, 1),),
    "monotone": ((1, 0), (0, 1)),
    "one": ((1, 0), (0, 1)),
    "increasing": ((1, 0),),
    "decreasing": ((0, 1),),
}
MOST: Final = 1000
"""Outputs, and cuts, that are looked at."""


@dataclass(frozen=True, slots=True)
class Law:
    """Gaussian or Laplace noise about 0. rate: one over its deviation, or its scale."""

    gaussian: bool
    rate: arb

    def density(self, z: acb, above: bool) -> acb:
        """At z, which is above 0 or not."""
        if self.gaussian:
            return (-((self.rate * z) ** 2) / 2).exp() * self.rate / (2 * arb.pi()).sqrt()
        return (-self.rate * z if above else self.rate * z).exp() * self.rate / 2

    def below(self, z: acb, above: bool) -> acb:
        """The probability of less than z, which is above 0 or not."""
        if self.gaussian:
            return (-self.rate * z / arb(2).sqrt()).erfc() / 2
        return 1 - (-self.rate * z).exp() / 2 if above else (self.rate * z).exp() / 2

    def outside(self, distance: arb) -> arb:
        """The probability of more than a distance from 0 on one side."""
        return self.below(acb(-distance), False).real


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
        mass = arb(0).union(total.upper()) if total >= 0 else arb("nan")
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
        return found.real if found.is_finite() and 0 in found.imag else arb("nan")


def _above(left: Fraction, right: Fraction, point: Fraction) -> bool:
    """Whether an interval is above a point. Raises Rejected where the point is inside."""
    if left < point < right:
        raise Rejected(NAME, "cuts", f"{point}, where a density has a kink, is between two of them")
    return left >= point


def check(claim: Claim, evidence: Mapping[str, Any]) -> Bound:
    """The bound "value", a fraction, on the side asked for. Raises Rejected, Undecided, CertificateError.

    evidence: "cuts", fractions that rise. Of a lower bound "positives", and "negatives" where they are not all that may be; "move", the
    number of the way to move; "answers", [low, high], of answers without bounds.
    """
    question, noises = read(claim, evidence)
    value, cuts = read_fraction(evidence, "value", NAME), _cuts(evidence)
    mechanism, limit = question.selection, outputs(question)
    moves = MOVES[mechanism.neighbours]
    if question.side == "upper":
        for way in range(len(moves)):
            for count in range(limit[0], limit[1] + 1):
                if not loss(noises, *pair(question, way, count, None), cuts) <= rational(value):
                    raise Rejected(NAME, "value", f"an output of {count} positives does not certainly lose at most so much")
        return Bound("upper", Num(value))
    if mechanism.neighbours == "one" and isinstance(mechanism, AboveThreshold):
        raise Rejected(NAME, "the neighbours", "these move more than one answer")
    positives, move = evidence.get("positives"), evidence.get("move")
    if type(positives) is not int or type(move) is not int or not limit[0] <= positives <= limit[1] or not 0 <= move < len(moves):
        raise CertificateError(f"{NAME}: a lower bound wants 'positives' from {limit[0]} to {limit[1]}, and 'move' below {len(moves)}.")
    here, there = pair(question, move, positives, _answers(question, evidence))
    probabilities = [noises.probability(output, cuts) for output in (here, there)]
    if not (probabilities[1] > 0 and (probabilities[0] / probabilities[1]).log() >= rational(value)):
        raise Rejected(NAME, "value", "the output does not certainly lose as much")
    return Bound("lower", Num(value), witness=_witness(question, here, there, probabilities), at=question.at)


def read(claim: Claim, evidence: Mapping[str, Any]) -> tuple[Asked, Compared]:
    """The question, and the noises. Raises Rejected, CertificateError."""
    question = asked(claim, evidence, NAME, near=True)
    mechanism = question.selection
    if isinstance(mechanism, NoisyMax):
        if mechanism.report != "index":
            raise Rejected(NAME, "report", "more than the index is told")
        noise = law(mechanism.noise)
        return question, Compared(noise, noise)
    if mechanism.report != "answers" or mechanism.resample or mechanism.query_noise is None:
        raise Rejected(NAME, "the mechanism", "it tells more than answers, draws a threshold again, or answers exactly")
    return question, Compared(None if mechanism.threshold_noise is None else law(mechanism.threshold_noise), law(mechanism.query_noise))


def law(noise: OnLine) -> Law:
    """Gaussian or Laplace noise about 0. Raises Rejected for all other."""
    if isinstance(noise, Translation) and not noise.integers and noise.support == (None, None):
        half, h = Shapes("z", True, {}), neg_log_profile(noise)
        if half.tidy(h) == half.tidy(half.mirrored(h)):
            noise = Radial(_in_distance(noise.density), L1, ONE)
    if isinstance(noise, Radial) and noise.dimension == ONE and noise.norm.kind == "lp" and not symbols(noise.scale):
        for gaussian, form in ((True, gaussian_form), (False, laplace_form)):
            found = form(noise)
            if found is not None:
                return Law(gaussian, constant(found[1]))
    raise Rejected(NAME, "the noise", "it is not certainly Gaussian or Laplace noise about 0, with a value for every parameter")


def _in_distance(density: Expr) -> Expr:
    return substitute(density, {"z": Sym("r")})


def outputs(question: Asked) -> tuple[int, int]:
    """The least and the most positives of outputs that none loses more than: all queries asked. Raises Rejected."""
    mechanism = question.selection
    if isinstance(mechanism, NoisyMax):
        _count(question, mechanism.candidates, "candidates")
        return 0, 0
    queries = _count(question, mechanism.queries, "queries")
    most = queries if mechanism.positives is None else min(queries, _count(question, mechanism.positives, "positives"))
    if most > MOST:
        raise Rejected(NAME, "positives", f"more than {MOST} of them")
    return 0, most


def _count(question: Asked, count: Expr, what: str) -> int:
    if not isinstance(question.natural(count, what), Num):
        raise Rejected(NAME, what, "it wants a number")
    assert isinstance(count, Num)
    return int(count.value)


def pair(question: Asked, move: int, positives: int, answers: tuple[Fraction, Fraction] | None) -> tuple[Output, Output]:
    """An output at two neighbours: those that are worst between the bounds, or from the answers at negatives and at positives."""
    mechanism, step = question.selection, _value(question.moved, "the sensitivity")
    u, v = MOVES[mechanism.neighbours][move]
    if answers is None:
        if mechanism.bounds is None:
            raise Rejected(NAME, "the bounds", "answers without bounds have no worst pair")
        a, b = (_value(end, "bounds") for end in mechanism.bounds)
        if not a < b:
            raise Rejected(NAME, "the bounds", "they do not rise")
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
        raise Rejected(NAME, what, "it wants a rational number")
    return expr.value


def _cuts(evidence: Mapping[str, Any]) -> list[Fraction]:
    told = evidence.get("cuts")
    if not isinstance(told, list) or not 2 <= len(told) <= MOST:
        raise CertificateError(f"{NAME}: 'cuts' is no list of 2 to {MOST} numbers.")
    cuts = [to_fraction(text, NAME) for text in told]
    if any(left >= right for left, right in pairwise(cuts)):
        raise CertificateError(f"{NAME}: 'cuts' do not rise.")
    return cuts


def _answers(question: Asked, evidence: Mapping[str, Any]) -> tuple[Fraction, Fraction] | None:
    told = evidence.get("answers")
    if told is None:
        return None
    if question.selection.bounds is not None or not isinstance(told, list) or len(told) != 2:
        raise CertificateError(f"{NAME}: 'answers' are two numbers, of a selection without bounds.")
    return to_fraction(told[0], NAME), to_fraction(told[1], NAME)


def _witness(question: Asked, here: Output, there: Output, probabilities: list[arb]) -> dict[str, Any]:
    """The pair, the output and its probabilities, for readers."""
    if isinstance(question.claim.mechanism, NoisyMax):
        told = [f"{output.centre}, all others {output.low}" for output in (here, there)]
        event = "the first of the answers is told to be the greatest"
        said = [f"first {text}" for text in told]
    else:
        said = [f"{output.low} at negatives, {output.high} at positives" for output in (here, there)]
        event = f"{here.negatives} negatives, then {here.positives} positives" if here.negatives else f"{here.positives} positives"
    chances = {key: probability.str(20) for key, probability in zip(("P", "Q"), probabilities, strict=True)}
    return {"pair": f"answers {said[0]}; and {said[1]}", "event": event, **chances}
