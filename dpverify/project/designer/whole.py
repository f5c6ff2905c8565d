"""What is proved of a question as a whole: the least error of any mechanism, and that of Gaussian noise of the best shape."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import prod, sqrt
from typing import Final

from flint import arb

from dpverify.project.designer.candidates import Candidate, least_sigma
from dpverify.project.designer.question import Question
from dpverify.project.designer.structure import Structure
from dpverify.search.utility import one_line as searched
from dpverify.search.utility.offers import rational_text
from dpverify.trusted.facts.errors import ErrorBound
from dpverify.trusted.kernel.assumptions import REAL
from dpverify.trusted.kernel.balls import constant, exact, precision, rational
from dpverify.trusted.kernel.errors import DpverifyError, Rejected
from dpverify.trusted.kernel.expr import Expr, Num
from dpverify.trusted.numbers.gaussian import gaussian_delta
from dpverify.trusted.theories.utility import noise_shapes, one_line
from dpverify.trusted.theories.utility.any_mechanism import REALS, UNBOUNDED

PRECISION: Final = 192
NAME: Final = "gaussian, best shape"
Stated = tuple[str, ErrorBound]


def necessary(question: Question, structure: Structure) -> Stated | None:
    """The greatest lower bound on the root mean square error of any mechanism that is known from the shape; None where there is none."""
    with precision(PRECISION):
        try:
            value = (line(question) * structure.ends[0]).sqrt().lower()
        except DpverifyError:
            return None
        if not value > 0:
            return None
        assumed = (REAL, UNBOUNDED) if question.adjacency in REALS else (UNBOUNDED,)
        return noise_shapes.NAME, ErrorBound("rms_l2", "any", "lower", Num(exact(value)), assumed=assumed)


def necessary_greatest(question: Question, structure: Structure) -> Expr | None:
    """The root of the greatest variance of one answer that any mechanism has at least, where that is asked for and known."""
    if structure.most is None:
        return None
    with precision(PRECISION):
        try:
            value = (line(question) * structure.most[0]).sqrt().lower()
        except DpverifyError:
            return None
        return Num(exact(value)) if value > 0 else None


def greatest(found: Shaped) -> Expr | None:
    """The root of the greatest variance of one answer of noise of the best shape, at most."""
    if found.structure.most is None:
        return None
    with precision(PRECISION):
        return Num(exact((rational(found.variance + Fraction(1, 2**40)) * found.structure.most[1]).sqrt().upper()))


def line(question: Question) -> arb:
    """The least mean square along one line of neighbours. Raises Rejected."""
    claim = question.claimed
    if question.pure:
        assert question.epsilon is not None
        return 1 / (2 * (constant(question.epsilon) / 2).sinh() ** 2)
    numbers, told = searched.numbers_of(claim), searched.by_divergence(claim)[1]
    if claim.measure is None:
        if numbers is None:
            raise Rejected(noise_shapes.NAME, "delta", "no dual function is known for it")
        reach, least, square = searched.with_delta(*numbers)
        if square <= 0:
            raise Rejected(noise_shapes.NAME, "delta", "no bound above 0 is known for it")
        told = {"reach": str(Fraction(reach)), "least": rational_text(least * (1 - 1e-9))}
    return one_line.least_square(claim, told, noise_shapes.NAME)


@dataclass(frozen=True)
class Shaped:
    """Gaussian noise of the best shape. variance: sigma^2, of what neighbours move by 1; whole: whether the noise is on the integers."""

    structure: Structure
    variance: Fraction
    whole: bool


def shaped(question: Question, structure: Structure) -> Shaped | str:
    """The mechanism for a question about a measure that Gaussian noise has; why there is none otherwise."""
    if question.pure:
        return "no Gaussian noise has a pure epsilon."
    whole = question.adjacency not in REALS and (question.measure is None or question.measure.name != "gdp")
    with precision(PRECISION):
        measure = question.measure
        if measure is not None:
            assert measure.value is not None
            value = constant(measure.value)
            if measure.name == "renyi":
                assert measure.at is not None
            square = {"zcdp": 1 / (2 * value), "gdp": 1 / value**2}.get(measure.name, rational(measure.at or 0) / (2 * value))
            return Shaped(structure, exact(square.upper()), whole)
        assert question.epsilon is not None
        epsilon, delta = constant(question.epsilon), constant(question.delta)
        about = Fraction(least_sigma(question.rate, float(delta)))
        least, count = _integers(question, structure, about) if whole else (arb(1), 1)
        for slack in (0, 40, 30, 20, 10):
            sigma = about * (1 + Fraction(1, 2 ** (slack or 60)))
            ball = rational(sigma)
            found = noise_shapes.integer_delta(epsilon, ball, least, count) if whole else gaussian_delta(1 / ball, epsilon)
            if found <= delta:
                return Shaped(structure, sigma**2, whole)
    return "floats find no deviation that is enough."


def _integers(question: Question, structure: Structure, sigma: Fraction) -> tuple[arb, int]:
    """The least parameter of the noise on the integers, and how many numbers have it."""
    if structure.tables is None or question.workload is None:
        square = prod(factor.reach for factor in structure.factors if factor is not None)
        return rational(sigma) * arb(square).sqrt(), question.size[1]
    measured = noise_shapes.measured(question.workload.sizes, structure.tables, question.adjacency)
    least = min(one.variance for one in measured)
    return rational(sigma**2 * least).sqrt(), sum(one.cells for one in measured)


def candidate(question: Question, found: Shaped) -> Candidate:
    """Its name, what is said of it, and the error that is expected."""
    kind = "discrete Gaussian noise on integer multiples of" if found.whole else "Gaussian noise on"
    how = f"{kind} the rows of the best shape, and the map back"
    if found.structure.tables is not None:
        how = f"{kind} contrasts of each table and of its margins, each as precise as is worth it, and the tables that they make"
    return Candidate(NAME, how, "", sqrt(float(found.variance) * float(found.structure.ends[1])))


def errors(question: Question, found: Shaped, least: Stated | None) -> tuple[Stated, ...]:
    """What is proved of the mechanism: its root mean square error is at most sigma times the root of S, and its mean error at most that."""
    with precision(PRECISION):
        rounded = 1 + Fraction(1, 2**40) / found.variance  # parameters on the integers are rounded up
        return stated((rational(found.variance * rounded) * found.structure.ends[1]).sqrt(), least)


def stated(rms: arb, least: Stated | None) -> tuple[Stated, ...]:
    """Bounds on the error of a private mechanism from what its root mean square error is at most, and what any has at least."""
    top = Num(exact(rms.upper()))
    bounds = [ErrorBound("rms_l2", "this", "upper", top), ErrorBound("expected_l2", "this", "upper", top)]
    if least is not None:
        bounds += [ErrorBound("rms_l2", "this", "lower", least[1].value), least[1]]
    return tuple((noise_shapes.NAME, one) for one in bounds)
