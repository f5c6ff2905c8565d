"""Pictures of what decides how private some kinds are: their points against closed forms, and a page that shows them."""

import math
from fractions import Fraction

import numpy as np
import pytest

import dpverify as dp
from dpverify.declare import Mechanism
from dpverify.pictures.by_kind import by_kind
from dpverify.report.page.sections import by_kind as section
from dpverify.report.page.subject import File, Pictures
from dpverify.trusted.kernel.expr import parse
from dpverify.trusted.kernel.model import Claim, Domain


def drawn(mechanism, delta="1/1000", sensitivity=None, **more):
    moved = None if sensitivity is None else parse(sensitivity)
    return by_kind(Claim(Mechanism("it", mechanism).model(), parse("1"), parse(delta), sensitivity=moved, **more))


def laplace_tail(x, scale=2):
    return math.exp(-x / scale) / 2 if x >= 0 else 1 - math.exp(x / scale) / 2


def test_a_key_is_told_as_often_as_its_noise_is_at_least_what_is_lacking_and_new_keys_lose_the_same_at_every_epsilon():
    told, lost = drawn(dp.noisy_keys(dp.laplace(2), 9, keys=3))
    [line] = told.lines
    assert len(line.points) > 50
    for count, chance in line.points:
        assert chance == pytest.approx(laplace_tail(9 - count), rel=1e-9)
    new, shared = lost.lines
    assert [y for _, y in new.points] == pytest.approx([1 - (1 - laplace_tail(8)) ** 3] * 2)
    three = dp.compose(part=dp.laplace(2, sensitivity=1), times=3)
    for epsilon, delta in shared.points[:: len(shared.points) // 3]:
        assert delta == pytest.approx(float(dp.tight_delta(three, epsilon=Fraction(epsilon)).upper), rel=1e-6)


def test_on_the_integers_counts_are_integers_and_chances_are_sums():
    told, _ = drawn(dp.noisy_keys(dp.discrete_laplace(2), 5, report="keys"))
    z = np.arange(-300, 301)
    mass = np.exp(-np.abs(z) / 2) / np.exp(-np.abs(z) / 2).sum()
    assert told.lines[0].kind == "points"
    for count, chance in told.lines[0].points:
        assert count == int(count) and chance == pytest.approx(mass[z >= 5 - count].sum(), rel=1e-9)


def test_noise_without_a_closed_form_is_drawn_too():
    told, _ = drawn(dp.noisy_keys(dp.logistic(1), 6))
    for count, chance in told.lines[0].points:
        assert chance == pytest.approx(1 / (1 + math.exp(6 - count)), rel=0.05, abs=1e-4)


def test_a_shuffle_of_more_people_has_less_epsilon_and_both_bounds_are_drawn_where_they_differ():
    [exact] = drawn(dp.shuffle(part=dp.randomized_response("3/4"), people=16))
    [line] = exact.lines
    people, epsilons = zip(*line.points, strict=True)
    assert people == (1, 2, 4, 8, 16) and sorted(epsilons, reverse=True) == list(epsilons)
    for n, epsilon in line.points:
        bound = dp.tight_epsilon(dp.shuffle(part=dp.randomized_response("3/4"), people=int(n)), delta="1/1000")
        assert epsilon == pytest.approx(float(bound.upper), rel=1e-5)
    assert drawn(dp.shuffle(part=dp.randomized_response("3/4"), people=16), delta="0") == ()


def test_more_noise_on_the_votes_of_one_database_has_less_epsilon():
    votes = dp.noisy_votes(votes=[[40, 25, 20]], sigma=10)
    [picture] = drawn(votes)
    [line] = picture.lines
    sigmas, epsilons = zip(*line.points, strict=True)
    assert sigmas == (2.5, 5, 10, 20, 40)
    assert epsilons[2] == pytest.approx(float(dp.tight_epsilon(votes, delta="1/1000").upper), rel=1e-5)
    assert epsilons[2] > epsilons[3] > epsilons[4]


def test_the_best_of_runs_costs_what_its_theorem_says():
    [picture] = drawn(dp.best_of(part=dp.guarantee(epsilon="1/2"), runs={"law": "geometric", "mean": 8}), delta="0")
    for mean, epsilon in picture.lines[0].points:
        gamma = 1 / mean
        assert epsilon == pytest.approx(0.5 + 2 * math.log((gamma + math.exp(0.5)) / (1 + gamma * math.exp(0.5))), rel=1e-5)


@pytest.mark.parametrize(
    "strategy", [{"strategy": [[1, 0, 0], ["1/2", 1, 0], [0, "1/3", 2]]}, {"strategy": "toeplitz", "coefficients": [1, "1/2"], "steps": 9}]
)
def test_the_error_of_prefix_sums_is_that_of_the_inverse(strategy):
    [picture] = drawn(dp.correlated_noise(sigma=2, participation={"times": 1, "separation": 1}, **strategy))
    if isinstance(strategy["strategy"], list):
        matrix = np.array([[float(Fraction(x)) for x in row] for row in strategy["strategy"]])
    else:
        matrix = np.eye(9) + np.eye(9, k=-1) / 2
    steps = len(matrix)
    expected = 2 * np.linalg.norm(np.tril(np.ones((steps, steps))) @ np.linalg.inv(matrix), axis=1)
    assert [y for _, y in picture.lines[0].points] == pytest.approx(list(expected), rel=1e-12)
    column = np.linalg.norm(matrix, axis=0).max()
    assert [y for _, y in picture.lines[1].points] == pytest.approx([2 / column * math.sqrt(k + 1) for k in range(steps)], rel=1e-9)


@pytest.mark.parametrize(("budget", "each"), [({"zcdp": "1/2"}, 0.1), ({"gdp": "1"}, 1 / math.sqrt(5)), ({"epsilon": 1}, 0.2)])
def test_parts_that_are_alike_fill_a_budget(budget, each):
    [picture] = drawn(dp.filter(budget=budget))
    assert f"{each:.3g} each" in picture.lines[0].label
    assert [line.points[-1] for line in picture.lines] == [(k, 1.0) for k in (5, 10, 20, 50)]


def test_other_kinds_and_parameters_without_values_have_no_such_picture():
    assert drawn(dp.laplace(2)) == ()
    assert drawn(dp.filter(budget={"epsilon": 1}), domains=(("p", Domain()),)) == ()


def test_a_page_shows_each_picture_once():
    own = drawn(dp.filter(budget={"epsilon": 1}))
    [row] = section.blocks(File("budget", [], pictures=[Pictures(("a",), own=own), Pictures(("b",), own=own)]))
    [figure] = row.blocks
    assert figure.svg.startswith("<svg") and "share that is spent" in figure.svg
    assert section.blocks(File("none", [], pictures=[Pictures(("a",))])) == []
