"""Several selections of noisy answers, and budgets that are spent as a program goes."""

from __future__ import annotations

import math
from collections import defaultdict
from decimal import Decimal
from itertools import permutations, product

import pytest

import dpverify as dp
from dpverify.api.programs import Program
from tests.functions import selecting

PROGRAMS = {name: found for name, found in vars(selecting).items() if isinstance(found, Program)}
SELECTIONS = {
    "first_two": 2, "last_two_as_a_set": 2, "second_of_all": 2, "first_two_measured": 3, "difference_of_the_first_two": 3, "three_anew": 3,
    "three_without_those_before": 3, "the_last_of_three": 3, "least_two_values_of_one": "0.5", "third_of_all": 3,
    "second_value_of_one": "0.5", "place_and_lead": 1, "lead_and_measured": 2,
}  # fmt: skip
"""Each selection has the epsilon 2/scale, and a number that moves by d and has Laplace noise d/scale."""
REFUSED = {
    "three_of_the_same_laplace": "Use Gumbel noise",
    "values_of_gumbel": "Tell places alone of Gumbel noise",
    "lead_and_value": "Use Gumbel noise",
    "lead_over_the_third": "is computed with",
    "two_lists_of_one_noise": "the same noise",
    "the_second_is_left_out": "each once",
    "left_out_by_noise_of_its_own": "how many of the answers are left is not known",
    "left_out_by_answers": "how many of the answers are left is not known",
    "looked_at_with_and_without_a_place_of_another": "different places left out",
}


@pytest.mark.parametrize("name", SELECTIONS)
def test_each_selection_is_paid_for(name):
    answer = dp.verify(PROGRAMS[name], epsilon=SELECTIONS[name])
    assert answer.verdict == "PROVED"
    assert answer.epsilon.upper == Decimal(SELECTIONS[name])


def test_a_place_with_its_lead_is_the_mechanism_itself():
    assert dp.verify(PROGRAMS["place_and_lead"], epsilon="0.99").verdict == "REFUTED"


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_such_selection_is_refused(name):
    with pytest.raises(dp.errors.SpecError, match=REFUSED[name]):
        dp.verify(PROGRAMS[name], epsilon=100)


def test_places_in_order_of_gumbel_noise_lose_no_more_and_nearly_as_much():
    """The places come in an order with the probabilities of Plackett and Luce."""

    def chance(order, answers):
        left, found = set(range(len(answers))), 1.0
        for place in order:
            found *= math.exp(answers[place] / 2) / sum(math.exp(answers[each] / 2) for each in left)
            left.remove(place)
        return found

    upper = float(dp.verify(PROGRAMS["first_two"], epsilon="tight").epsilon.upper)
    losses = [
        math.log(chance(order, a) / chance(order, [x + move for x, move in zip(a, moves, strict=True)]))
        for a in ((0, 0, 0, 0), (0, 0, 30, 30), (0, 9, 30, 40))
        for moves in product((-1, 1), repeat=4)
        for order in permutations(range(4), 2)
    ]
    assert upper - 0.01 < max(losses) <= upper + 1e-9


def outputs_of_spends(answers):
    """How likely each output is, noise of more than 7 left out."""
    law = {sigma: {k: math.exp(-(k**2) / (2 * sigma**2)) for k in range(-7, 8)} for sigma in (1, 2)}
    law = {sigma: {k: each / sum(found.values()) for k, each in found.items()} for sigma, found in law.items()}
    found = defaultdict(float)

    def go(at, left, rough, told, weight):
        cost, sigma = (1, 2) if rough else (4, 1)
        if at == len(answers) or left < cost:
            found[told] += weight
            return
        for noise, chance in law[sigma].items():
            x = answers[at] + noise
            go(at + 1, left - cost, x < 1, (*told, x), weight * chance)

    go(0, 4, True, (), 1.0)
    return found


@pytest.mark.parametrize("order", [2, 3])
def test_a_budget_is_what_all_steps_have_in_renyi_divergence(order):
    """Three of the four steps that the budget is for, each of rho 1/8, of answers after which no other step is chosen."""
    budget = dp.verify(PROGRAMS["spends"], zcdp="tight").measure.upper
    assert budget == Decimal("0.5")
    p, q = outputs_of_spends([-9, -9, -9]), outputs_of_spends([-8, -8, -8])
    moment = sum(chance**order * q[output] ** (1 - order) for output, chance in p.items() if output in q)
    divergence = math.log(moment) / (order - 1)
    assert order * 3 / 8 - 0.02 < divergence < order * float(budget)


def test_budgets_of_gaussian_noise_are_sums_of_squares():
    spends = PROGRAMS["spends_gaussian"]
    assert dp.verify(spends, gdp=1).verdict == "PROVED"
    assert dp.verify(spends, zcdp="1/2").verdict == "PROVED"
    assert dp.verify(spends, gdp="0.99").verdict == "UNKNOWN"


@pytest.mark.wide
@pytest.mark.parametrize("name", ["gets_more_at_times", "measures_for_nothing"])
def test_what_is_not_charged_is_no_budget(name):
    program = PROGRAMS[name]
    assert dp.verify(program, zcdp=100).verdict != "PROVED"


def test_noise_on_the_integers_charges_nothing_for_answers_that_move_by_less_than_1():
    """They are equal, or no integers, which such noise tells apart for certain."""
    assert dp.verify(PROGRAMS["integers_for_answers_that_move_by_halves"], epsilon=3).verdict != "PROVED"
