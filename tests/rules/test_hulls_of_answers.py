"""Noisy max of answers whose differences are in a hull: duality, one relation in two writings, Gaussian curves, enumeration, refusals."""

import math
from fractions import Fraction
from itertools import product
from random import Random

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.optimize import linprog

import dpverify as dp
from dpverify.trusted.combinators.runs import Run
from dpverify.trusted.kernel.errors import CertificateError, Rejected
from dpverify.trusted.kernel.expr import num, parse
from dpverify.trusted.kernel.model import Part
from dpverify.trusted.kernel.well_formed import require_well_formed
from dpverify.trusted.theories.composition.rules import bounded_range
from dpverify.trusted.theories.selection.rules import compared_gaussians, every_word, log_concave_noisy_max, selection_event, worst_output
from tests.rules.test_selection_ties import NOISES, row
from tests.selections import EXPONENTIAL, GEOMETRIC, GUMBEL, gaussian, laplace, largest, of

DECLARED = {
    "geometric": dp.discrete_laplace(2),
    "one-sided": dp.translation("exp(-z/2)", support=[0, "inf"], integers=True),
    "two humps": dp.translation("exp(-abs(abs(z) - 1))", integers=True),
}


def votes(n):
    """Of n candidates one loses a vote, and another gains it."""
    return [[(k == i) - (k == j) for k in range(n)] for i in range(n) for j in range(i)]


def in_hull(noise, hull, **others):
    points = tuple(tuple(map(Fraction, point)) for point in hull)
    return largest(noise, len(points[0]), neighbours="hull", hull=points, **others)


def by_duality(hull, left, right):
    """The greatest sum of weights times what others gain, each weight at most `left`, and all together at most `right`."""
    most = 0.0
    for point, sign in product(hull, (1, -1)):
        for own in point:
            lost = [float(sign * (own - x)) for x in point]
            found = linprog(lost, A_ub=[[1.0] * len(lost)], b_ub=[right], bounds=[(0, left)] * len(lost))
            most = max(most, -found.fun)
    return most


@pytest.mark.parametrize("seed", range(5))
def test_the_least_of_all_shifts_is_the_greatest_of_all_weights(seed):
    random = Random(seed)
    n, left, right = random.randint(2, 5), random.randint(1, 3), random.randint(1, 5)
    hull = [[Fraction(random.randint(-4, 4), random.randint(1, 3)) for _ in range(n)] for _ in range(random.randint(1, 3))]
    noise = dp.translation(f"exp({left}*min(z, 0) - {right}*max(z, 0))")
    found = dp.tight_epsilon(dp.noisy_max(noise, n, neighbours="hull", hull=hull), sensitivity=1)
    expected = by_duality(hull, left, right)
    assert (float(found.lower), float(found.upper)) == pytest.approx((expected, expected), abs=1e-9)


@pytest.mark.parametrize(
    ("neighbours", "hull"),
    [
        ("all", list(product((-1, 1), repeat=3))),
        ("monotone", list(product((0, 1), repeat=3))),
        ("one", np.eye(3, dtype=int).tolist()),
    ],
)
@pytest.mark.parametrize("noise", [dp.laplace(2), dp.gumbel(2), dp.discrete_laplace(2), dp.translation("exp(min(z, 0)/4 - max(z, 0))")])
def test_what_has_a_name_is_a_hull_too(neighbours, hull, noise):
    named, listed = dp.noisy_max(noise, 3, neighbours=neighbours), dp.noisy_max(noise, 3, neighbours="hull", hull=[list(p) for p in hull])
    assert dp.tight_epsilon(named, sensitivity=2) == dp.tight_epsilon(listed, sensitivity=2)


@pytest.mark.parametrize("n", [2, 4])
def test_votes_with_gaussian_noise_have_the_curve_of_one_answer_that_moves_by_the_root_of_two(n):
    sigma, epsilon = 3, 0.5
    mu = math.sqrt(2) / sigma
    delta = stats.norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * stats.norm.cdf(-mu / 2 - epsilon / mu)
    found = dp.tight_delta(dp.noisy_max(dp.gaussian(sigma), n, neighbours="hull", hull=votes(n)), sensitivity=1, epsilon="1/2")
    assert (float(found.lower), float(found.upper)) == pytest.approx((delta, delta), abs=1e-9)


def test_scores_in_a_hull_have_the_range_of_the_most_that_a_lead_moves():
    assert bounded_range.range_of(Run(Part(in_hull(GUMBEL, [[2, -1, 0], [1, 1, 0]]), num(1)))) == parse("3/2")


def _chance(law, answers, winners):
    """That the greatest is among the winners, by quadrature."""

    def density(t, i):
        return law.pdf(t) * np.prod([law.cdf(t + answers[i] - x) for j, x in enumerate(answers) if j != i])

    return sum(integrate.quad(density, -40, 60, args=(i,), points=[0, *(x - answers[i] for x in answers)], limit=400)[0] for i in winners)


@pytest.mark.parametrize(
    ("noise", "law", "more"),
    [
        (laplace(2), stats.laplace(scale=2), {}),
        (gaussian(2), stats.norm(scale=2), {}),
        (EXPONENTIAL, stats.expon(scale=2), {"grid": [str(x) for x in (-20, 0, 10, 20, 40, 80, 120, 200)], "prec": 64}),
    ],
)
def test_the_event_has_the_probabilities_of_quadrature(noise, law, more):
    mechanism = in_hull(noise, [[1, -1, "1/2"], [0, 1, -2]])
    cuts = [str(x) for x in ((0, *range(1, 9), 20, 40, 80, 160) if more else (-200, *range(-9, 10), 200))]
    told = {"winners": [2, 0], "point": 1, "answers": ["1", "0", "2"], "cuts": cuts, **more}
    question = selection_event.of_run(Run(Part(mechanism, num(3))), selection_event.NAME)
    here, there = (float(p.mid()) for p in selection_event.probabilities(question, told)())
    expected = [_chance(law, answers, [0, 2]) for answers in ((1, 0, 2), (1, 3, -4))]
    assert (here, there) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("noise", "ties"), [("geometric", "first"), ("one-sided", "random"), ("two humps", "random"), ("two humps", "")]
)
def test_integers_between_bounds_are_enumerated(noise, ties):
    hull, mass = votes(3), NOISES[noise][1]
    moves = {tuple(sign * x for x in point) for point in hull for sign in (1, -1)}
    worst = []
    for first in {"first": (True,), "random": (False,)}.get(ties, (True, False)):
        rows = {answers: row(mass / mass.sum(), answers, first) for answers in product(range(3), repeat=3)}
        pairs = [(x, y) for x, y in product(rows, repeat=2) if tuple(np.subtract(y, x)) in moves]
        worst.append(max(float(np.log(rows[x] / rows[y]).max()) for x, y in pairs))
    said = {"ties": ties} if ties else {}
    found = dp.tight_epsilon(dp.noisy_max(DECLARED[noise], 3, neighbours="hull", hull=hull, bounds=[0, 2], **said), sensitivity=1)
    assert (float(found.lower), float(found.upper)) == pytest.approx((min(worst), max(worst)), abs=1e-7)


def test_points_of_no_integers_are_met_in_between():
    """Half of a vote: no integers differ by it, and yet two steps of it are one."""
    half = [[Fraction(x, 2) for x in point] for point in votes(3)]
    mechanism = dp.noisy_max(dp.discrete_laplace(2), 3, neighbours="hull", hull=half, ties="first")
    whole = dp.noisy_max(dp.discrete_laplace(2), 3, neighbours="hull", hull=votes(3), ties="first")
    assert dp.tight_epsilon(mechanism, sensitivity=2) == dp.tight_epsilon(whole, sensitivity=1)
    assert dp.tight_epsilon(mechanism, sensitivity=1).lower is None


# -- what is refused -------------------------------------------------------------------------------------------------


def _word(mechanism):
    every_word.check(of(mechanism), {"cuts": [-30, 30]})


def _event(mechanism, **told):
    question = selection_event.of_run(Run(Part(mechanism, num(1))), selection_event.NAME)
    selection_event.probabilities(question, {"winners": [0], "point": 0, "answers": ["0", "0"], "cuts": ["-9", "0", "9"], **told})()


VOTE = [[1, -1]]
BOXED = {"bounds": (num(0), num(1))}


@pytest.mark.parametrize(
    ("told", "error", "why"),
    [
        (lambda: log_concave_noisy_max.check(of(in_hull(laplace(2), VOTE, report="value")), {}), Rejected, "about the index"),
        (lambda: log_concave_noisy_max.check(of(in_hull(GEOMETRIC, [[1, "-1/2"]])), {"side": "lower"}), Rejected, "do not certainly move"),
        (lambda: worst_output.read(of(in_hull(laplace(2), VOTE, **BOXED)), {"side": "upper"}), Rejected, "move in other ways"),
        (lambda: compared_gaussians.infer(Run(Part(in_hull(gaussian(2), VOTE, report="value"), num(1))), {}, ()), Rejected, "comparisons"),
        (lambda: _word(in_hull(GEOMETRIC, [[1, -2]], **BOXED)), Rejected, "another order"),
        (lambda: _event(in_hull(laplace(2), VOTE, report="value")), Rejected, "is not told"),
        (lambda: _event(in_hull(laplace(2), VOTE), winners=[2]), CertificateError, "winners"),
        (lambda: _event(in_hull(laplace(2), VOTE), point=1), CertificateError, "point"),
        (lambda: _event(in_hull(laplace(2), VOTE), answers=["0"]), CertificateError, "are not 2 numbers"),
        (lambda: _event(in_hull(laplace(2), VOTE, **BOXED)), Rejected, "not between the bounds"),
        (lambda: _event(in_hull(GEOMETRIC, VOTE), answers=["1/2", "0"]), Rejected, "no integers"),
    ],
)
def test_a_broken_hypothesis_is_refused(told, error, why):
    with pytest.raises(error, match=why):
        told()


@pytest.mark.parametrize(
    ("mechanism", "why"),
    [
        (largest(laplace(2), 2, neighbours="hull"), "wants hull"),
        (largest(laplace(2), 2, hull=((Fraction(1), Fraction(-1)),)), "wants hull"),
        (largest(laplace(2), 3, neighbours="hull", hull=((Fraction(1), Fraction(-1)),)), "wants hull"),
        (largest(GUMBEL, 2, added=(num(1),)), "numbers are added"),
        (largest(GUMBEL, 2, added=(num(1), num(2)), **BOXED), "numbers are added"),
        (largest(GEOMETRIC, 2, added=(num(1), num(2))), "numbers are added"),
        (largest(GUMBEL, 2, added=(parse("log(0 - 1)"), num(2))), "not certainly a number"),
    ],
)
def test_what_means_nothing_is_refused(mechanism, why):
    with pytest.raises(CertificateError, match=why):
        require_well_formed(of(mechanism))
