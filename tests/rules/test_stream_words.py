"""Words of streams: their probabilities against quadrature and enumeration, answers between bounds, and words that several runs tell."""

from __future__ import annotations

import copy
import itertools
import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from flint import arb
from scipy.integrate import quad
from scipy.stats import cauchy, laplace, norm

from dpverify.catalogue.reader import read_tables
from dpverify.errors import SpecError
from dpverify.search.verify import verify
from dpverify.trusted.kernel.bounds import Infinite
from dpverify.trusted.kernel.errors import CertificateError, Rejected
from dpverify.trusted.kernel.expr import num
from dpverify.trusted.kernel.model import Stream
from dpverify.trusted.order.enclosed import enclose
from dpverify.trusted.theories.selection.compared import asked
from dpverify.trusted.theories.selection.rules import selection_event as delta_event
from dpverify.trusted.theories.selection.rules import told_words, worst_words
from tests.proofs import Step, bound

TWO_SIDED = {"kind": "translation", "density": "exp(-abs(z)/2)", "integers": True}


def named(name, **scale):
    return {"kind": "builtin", "name": name, **scale}


def above(once, fresh, **others):
    return {
        "kind": "stream",
        "once": {"rho": once},
        "fresh": {"nu": fresh},
        "limits": {"found": 1},
        "step": [{"when": "q + nu >= rho", "emit": "above", "count": {"found": 1}}, {"emit": "below"}],
        **others,
    }


SPARSE = above(named("laplace", scale=2), named("laplace", scale=4))
RANGE = {
    "kind": "stream",
    "once": {"low": named("gaussian", sigma=2), "high": named("gaussian", sigma=2)},
    "fresh": {"nu": named("gaussian", sigma=1)},
    "limits": {"outside": 1},
    "step": [
        {"when": "q + nu < low", "emit": "left", "count": {"outside": 1}},
        {"when": "q + nu >= 1 + high", "emit": "right", "count": {"outside": 1}},
        {"emit": "inside"},
    ],
}


def min_max(first=8, later=4, **others):
    """The least and the greatest of two noisy answers, and which side of them the first answer outside is on; not which is which."""
    read = {"emit": "read"}
    return {
        "kind": "stream",
        "fresh": {"nu": named("laplace", scale=first), "xi": named("laplace", scale=later)},
        "state": {"low": 0, "high": 0, "seen": 0},
        "limits": {"outside": 1},
        "step": [
            {"when": "seen <= 0", **read, "set": {"low": "q + nu", "high": "q + nu", "seen": 1}},
            {"when": ["seen <= 1", "q + nu < low"], **read, "set": {"low": "q + nu", "seen": 2}},
            {"when": "seen <= 1", **read, "set": {"high": "q + nu", "seen": 2}},
            {"when": "q + xi < low", "emit": "left", "count": {"outside": 1}},
            {"when": "q + xi >= high", "emit": "right", "count": {"outside": 1}},
            {"emit": "inside"},
        ],
        **others,
    }


def claimed(mechanism, epsilon="tight", **others):
    table = {"mechanism": mechanism, "claim": [{"sensitivity": 1, "epsilon": epsilon} | others]}
    return read_tables("stream.toml", table).claims[0].claim


def judged(mechanism, **others):
    return verify(claimed(mechanism, **others)).judgement


def cells(low, high, count):
    return [str(low + Fraction(high - low) * i / count) for i in range(count + 1)]


def chances(mechanism, words, here, there, pivots=(), grids=None):
    question = asked(claimed(mechanism), {"side": "lower"}, told_words.NAME, near=True, wanted=Stream)
    told = {
        "words": words,
        "answers": [[[x] for x in here], [[x] for x in there]],
        "pivots": [list(one) for one in pivots],
        "grids": grids or {},
    }
    return told_words.probabilities(question, told)


def within(found, truth, width):
    assert found.lower() <= truth + 1e-9 and truth - 1e-9 <= found.upper()
    assert found.upper() - found.lower() < width


# -- probabilities ------------------------------------------------------------------------------------------------


def test_a_pattern_of_sparse_vectors_has_the_probability_of_its_integral():
    def truth(q):
        def height(t):
            below = laplace.cdf(t - q[0], scale=4) * laplace.cdf(t - q[1], scale=4)
            return laplace.pdf(t, scale=2) * below * laplace.sf(t - q[2], scale=4)

        return quad(height, -90, 90, points=[0, 1], limit=400)[0]

    found = chances(SPARSE, [["below", "below", "above"]], (0, 0, 1), (1, 1, 0), [("rho", -1, cells(-24, 24, 144))])
    within(found[0], truth((0, 0, 1)), 2e-3)
    within(found[1], truth((1, 1, 0)), 2e-3)


def test_the_error_is_of_second_order_in_the_cells():
    widths = []
    for count in (48, 96):
        found, _ = chances(SPARSE, [["below", "below", "above"]], (0, 0, 1), (1, 1, 0), [("rho", -1, cells(-24, 24, count))])
        widths.append(float(found.upper() - found.lower()))
    assert widths[1] < widths[0] / 3


def test_two_ends_of_an_interval_are_summed_over_together():
    def truth(q):
        ends = np.linspace(-12, 12, 961)
        low, high = ends[:, None], ends[None, :]
        inside = np.maximum(norm.cdf(1 + high - q[0]) - norm.cdf(low - q[0]), 0)
        height = norm.pdf(low, scale=2) * norm.pdf(high, scale=2) * inside * norm.cdf(low - q[1])
        return float(height.sum() * (ends[1] - ends[0]) ** 2)

    ends = cells(-8, 8, 40)
    found = chances(RANGE, [["inside", "left"]], (0, 0), (1, 1), [("low", -1, ends), ("high", -1, ends)])
    within(found[0], truth((0, 0)), 2e-2)
    within(found[1], truth((1, 1)), 2e-2)


def test_on_the_integers_all_is_summed_and_ties_count_as_they_are_written():
    places = np.arange(-60, 61)
    law = np.exp(-np.abs(places) / 2) / np.exp(-np.abs(places) / 2).sum()

    def truth(q):
        """The threshold is above the first noisy answer, and at most the second."""
        first = np.array([law[places + q[0] < t].sum() for t in places])
        return float((law * first * np.array([law[places + q[1] >= t].sum() for t in places])).sum())

    ends = [-60, 60]
    found = chances(above(TWO_SIDED, TWO_SIDED), [["below", "above"]], (0, 1), (1, 0), [("rho", -1, ends)], {"rho": ends, "nu": ends})
    within(found[0], truth((0, 1)), 1e-5)
    within(found[1], truth((1, 0)), 1e-5)


def test_all_words_of_so_many_steps_have_the_probability_1_together():
    ends = cells(-40, 40, 60)
    every = [["above"], ["below", "above"], ["below", "below"]]
    both = chances(SPARSE, every, (0, 1), (1, 0), [("rho", -1, ends)])
    for found in both:
        within(found, 1.0, 0.1)


def test_runs_that_tell_the_same_are_added_up():
    """Which of two answers is the lesser is not told: the next one is below both with probability 1/3 if all are alike."""
    ends = cells(-32, 32, 64)
    found, _ = chances(min_max(4, 4), [["read", "read", "left"]], (0, 0, 0), (0, 0, 1), [("nu", 0, ends), ("nu", 1, ends)])
    within(found, 1 / 3, 0.07)


# -- what is refused ----------------------------------------------------------------------------------------------

TOLD = {
    "side": "lower",
    "words": [["below", "above"]],
    "answers": [[["0"], ["1"]], [["1"], ["0"]]],
    "pivots": [["rho", -1, cells(-24, 24, 96)]],
    "value": "1/5",
}


@pytest.mark.parametrize("bounds", [{}, {"bounds": [0, 1]}])
def test_words_by_hand_bound_epsilon_from_below(bounds):
    found = told_words.check(claimed({**SPARSE, **bounds}), TOLD)
    assert found.side == "lower" and found.value == num("1/5")


@pytest.mark.parametrize(
    ("changed", "bounds", "said"),
    [
        ({"value": "1/2"}, None, "do not certainly lose as much"),
        ({"value": "infinite"}, None, "never on the other"),
        ({"answers": [[["0"], ["1"]], [["1"], ["-1"]]]}, None, "neighbours do not move so"),
        ({}, [0, "9/10"], "not between the bounds"),
        ({"answers": [[["0"]], [["1"]]]}, None, "cannot be used"),
        ({"answers": [[["0"], ["1"]]]}, None, "cannot be used"),
        ({"answers": 7}, None, "cannot be used"),
        ({"pivots": []}, None, "two noises that are none of them"),
        ({"words": [["below", "above"], ["below"]]}, None, "goes on from another"),
        ({"words": [["below", "above"], ["below", "above"]]}, None, "goes on from another"),
        ({"words": []}, None, "do not certainly lose as much"),
        ({"words": [["below", 1]]}, None, "do not certainly lose as much"),
        ({"pivots": [["sigma", -1, ["0", "1"]]]}, None, "cannot be used"),
    ],
)
def test_words_that_do_not_hold_are_refused(changed, bounds, said):
    claim = claimed({**SPARSE, **({"bounds": bounds} if bounds else {})})
    with pytest.raises((Rejected, CertificateError), match=said):
        bound(claim, Step("told-words", copy.deepcopy(TOLD) | changed))


def test_a_step_that_tells_nothing_may_not_be_seen():
    quiet = {**SPARSE, "step": [SPARSE["step"][0], {}]}
    with pytest.raises(Rejected, match="tells nothing"):
        told_words.check(claimed(quiet), TOLD)


def test_words_after_the_last_step_are_not_told():
    with pytest.raises(Rejected, match="not certain that so many steps"):
        told_words.check(claimed({**SPARSE, "queries": 1}), TOLD)
    after = {**TOLD, "words": [["above", "above"]], "value": "infinite"}
    with pytest.raises(Rejected, match="never on the other"):  # the run has ended: on both neighbours it has the probability 0
        told_words.check(claimed(SPARSE), after)


# -- answers between bounds ---------------------------------------------------------------------------------------


@pytest.mark.wide
def test_what_holds_over_all_answers_holds_between_bounds_and_less_is_refuted_there():
    assert judged({**SPARSE, "bounds": [0, 1]}, epsilon=1).verdict == "PROVED"
    found = judged({**SPARSE, "bounds": [0, 1], "queries": 2}, epsilon="1/5")
    assert found.verdict == "REFUTED"
    p, q = (eval_pattern(answers, "NY") for answers in ((0, 1), (1, 0)))
    assert 0.2 < float(enclose(found.lower)) <= math.log(p / q) + 1e-6


@cache
def eval_pattern(answers, pattern):
    def height(t):
        found = laplace.pdf(t, scale=2)
        for q, letter in zip(answers, pattern, strict=True):
            found *= laplace.sf(t - q, scale=4) if letter == "Y" else laplace.cdf(t - q, scale=4)
        return found

    return quad(height, -90, 90, points=[0, 1], limit=400)[0]


@pytest.mark.wide
def test_no_output_between_bounds_loses_more_than_is_proved():
    """All pairs of corners of two queries, by quadrature: none is above the upper bound, nor below the lower one where it is the worst."""
    found = judged({**SPARSE, "bounds": [0, 1], "queries": 2})
    outputs = ("Y", "NY", "NN")
    worst = max(
        math.log(eval_pattern(q[: len(o)], o) / eval_pattern(r[: len(o)], o))
        for q, r in itertools.product(itertools.product((0, 1), repeat=2), repeat=2)
        for o in outputs
    )
    assert float(enclose(found.lower)) <= worst <= float(enclose(found.upper))
    assert worst - float(enclose(found.lower)) < 0.01


@pytest.mark.wide
def test_bounds_are_narrower_than_the_sensitivity():
    found = judged({**SPARSE, "bounds": [0, "1/2"]}, epsilon="1/2")
    assert found.verdict == "PROVED"


@pytest.mark.wide
def test_points_of_a_hull_are_in_units_of_the_sensitivity_whatever_the_bounds_are():
    """Answers differ by 10 times a tenth: bounds of length 1 do not make the sensitivity 1, at which they would differ by a tenth."""
    moved = {**SPARSE, "bounds": [0, 1], "neighbours": "hull", "hull": [["1/10"], ["-1/10"]]}
    found = judged(moved, sensitivity=10, epsilon="1/2")
    assert found.verdict == "REFUTED"
    assert judged(moved, sensitivity=10, epsilon=1).verdict == "PROVED"


def test_bounds_are_on_integers():
    with pytest.raises(SpecError, match="is not an integer"):
        claimed(above(TWO_SIDED, TWO_SIDED, bounds=[0, "3/2"]))


def test_exact_answers_between_bounds_have_no_epsilon():
    exact = above(named("laplace", scale=2), named("laplace", scale=2), bounds=[0, 1])
    exact["step"][0]["when"] = "q >= rho"
    found = judged({**exact, "limits": {"found": 9}})
    assert isinstance(found.lower, Infinite)


@pytest.mark.wide
def test_noises_of_heavy_tails_are_refuted_by_words():
    heavy = above(named("laplace", scale=2), named("student_t", nu=1, dimension=1), bounds=[0, 1], queries=1)
    truth = max(
        math.log(a / b)
        for a, b in itertools.permutations(
            [quad(lambda t, q=q: laplace.pdf(t, scale=2) * cauchy.cdf(t - q), -80, 80, points=[0, 1])[0] for q in (0, 1)]
        )
    )
    found = judged(heavy)
    assert truth - 0.01 < float(enclose(found.lower)) <= truth


# -- at a delta ---------------------------------------------------------------------------------------------------


def test_words_bound_delta_from_below_in_both_orders():
    claim = claimed({**SPARSE, "bounds": [0, 1], "queries": 2}, epsilon="1/10", delta="tight")
    found = verify(claim).judgement
    outputs = ("Y", "NY", "NN")
    laws = {q: [eval_pattern(q[: len(o)], o) for o in outputs] for q in itertools.product((0, 1), repeat=2)}
    truth = max(
        sum(max(0.0, a - math.exp(0.1) * b) for a, b in zip(laws[q], laws[r], strict=True)) for q, r in itertools.permutations(laws, 2)
    )
    assert 0 < float(enclose(found.delta_lower)) <= truth + 1e-9
    assert delta_event.NAME in found.rules


def of_words(here, there, one_way):
    """The pair of words with probabilities that are enclosed."""
    ends = delta_event._ends((here, there))
    return delta_event.pair_of(lambda: ends, one_way)


def test_the_profile_of_words_is_that_of_what_is_certain_alone():
    pair = of_words(arb("0.5 +/- 0.1"), arb("0.2 +/- 0.1"), False)
    epsilon = arb(1) / 10
    assert abs(float(pair.forward(epsilon)) - (0.4 - math.exp(0.1) * 0.3)) < 1e-9
    # of the other order: at least 0.1 - e^eps 0.6 of the words, and 1 - 0.3 - e^eps (1 - 0.4) of all else
    assert abs(float(pair.backward(epsilon)) - (0.7 - math.exp(0.1) * 0.6)) < 1e-9
    one_way = of_words(arb("0.5 +/- 0.1"), arb("0.2 +/- 0.1"), True)
    assert float(one_way.forward(epsilon)) == float(pair.forward(epsilon)) and float(one_way.backward(epsilon)) == 0


@pytest.mark.parametrize("one_way", [False, True])
def test_what_only_one_neighbour_tells_is_what_no_epsilon_hides(one_way):
    """Of words of a probability of 0.4 to 0.6 that the other never tells 0.4 is left at every epsilon; of others nothing need be."""
    apart = of_words(arb("0.5 +/- 0.1"), arb(0), one_way)
    assert abs(float(apart.rests[0]()) - 0.4) < 1e-9 and float(apart.rests[1]()) == 0
    assert abs(float(apart.forward(arb(50))) - 0.4) < 1e-9
    both = of_words(arb("0.5 +/- 0.1"), arb("0.2 +/- 0.1"), one_way)
    assert [float(rest()) for rest in both.rests] == [0, 0]
    if not one_way:
        turned = of_words(arb(0), arb("0.5 +/- 0.1"), one_way)
        assert float(turned.rests[0]()) == 0 and abs(float(turned.rests[1]()) - 0.4) < 1e-9


# -- words that several runs tell -----------------------------------------------------------------------------------


def test_the_least_and_the_greatest_are_as_dear_where_it_is_not_told_which_is_which():
    found = judged(min_max())
    assert found.verdict == "PROVED" and found.lower == found.upper == num(1)
    assert worst_words.NAME in found.rules


@pytest.mark.wide
@pytest.mark.sampled(1)
@pytest.mark.parametrize(("first", "later"), [(8, 2), (3, 4), (5, 7)])
def test_other_noises_of_the_least_and_the_greatest_are_tight_too(first, later):
    found = judged(min_max(first, later))
    assert found.lower == found.upper == num(Fraction(4, first) + Fraction(2, later))


def test_far_out_the_words_lose_nearly_as_much_as_is_proved():
    """By quadrature of both runs in logarithms, at answers 20 times as far apart as they move."""
    far = 20.0

    def log_probability(shift):
        low, high, inner = -4 * far - shift, 4 * far + shift, 2 * far - shift
        x = np.linspace(-8 * far, 8 * far, 641)

        def log_pdf(z, b):
            return -np.abs(z) / b - math.log(2 * b)

        def log_cdf(z, b):
            return np.where(z < 0, z / b - math.log(2), np.log1p(-np.exp(-np.maximum(z, 0) / b) / 2))

        a, b = x[:, None], x[None, :]
        lesser, greater = np.minimum(a, b), np.maximum(a, b)
        height = log_pdf(a + inner, 8) + log_pdf(b - inner, 8)
        for q in (low, low, low, high, high, high):
            inside = np.exp(log_cdf(greater - q, 4)) - np.exp(log_cdf(lesser - q, 4))
            height = height + np.log(np.maximum(inside, 1e-300))
        height = height + log_cdf(lesser - (low + 8 * far + 2 * shift), 4)
        top = height.max()
        return top + math.log(np.exp(height - top).sum() * (x[1] - x[0]) ** 2)

    # the first answers move inwards, the others outwards, and the last one up
    loss = log_probability(0.0) - log_probability(1.0)
    assert 0.9 < loss <= 1.001


def evidence_of(claim):
    return next(dict(line.parameters) for line, _ in verify(claim).proved if line.rule == worst_words.NAME)


@pytest.fixture(scope="module")
def ran():
    claim = claimed(min_max())
    return claim, evidence_of(claim)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda told: told["weights"][0].__setitem__(0, "-1"), "not certainly at least 0"),
        (lambda told: told["weights"][0].__setitem__(0, "1000"), "between its slopes"),
        (lambda told: told["weights"][0].__setitem__(0, "w"), "a weight has a name that is no parameter"),
        (lambda told: told["weights"].pop(), "cannot be used"),
        (lambda told: told["weights"][1].pop(), "cannot be used"),
        (lambda told: told["answers"][0].__setitem__(2, ["2"]), "neighbours do not move so"),
        (lambda told: told["answers"][0].__setitem__(0, ["1000"]), "does not hold there with room"),
        (lambda told: told["answers"][0].__setitem__(1, ["1000"]), "not in the direction"),
        (lambda told: told.__setitem__("run", 2), "not a whole number"),
        (lambda told: told.__setitem__("run", 1 - told["run"]), "does not hold there with room"),
        (lambda told: told.__setitem__("words", ["read", "read", "elsewhere"]), "not a whole number"),
        (lambda told: told.__delitem__("answers"), "cannot be used"),
    ],
)
def test_words_of_several_runs_that_do_not_hold_are_refused(ran, change, said):
    claim, told = ran[0], copy.deepcopy(ran[1])
    change(told)
    with pytest.raises((Rejected, CertificateError), match=said):
        bound(claim, Step("worst-words", told))


def test_words_that_very_many_runs_tell_are_refused(ran, monkeypatch):
    monkeypatch.setattr(worst_words, "MOST_RUNS", 1)
    with pytest.raises(Rejected, match="more than 1 runs tell them"):
        worst_words.check(*ran)
    monkeypatch.setattr(told_words, "ways", lambda *_: itertools.repeat(()))
    monkeypatch.setattr(told_words, "chance", lambda *_: arb(0))
    ends = cells(-8, 8, 4)
    with pytest.raises(Rejected, match="they are told in too many ways"):
        chances(min_max(4, 4), [["read", "read", "left"]], (0, 0, 0), (0, 0, 1), [("nu", 0, ends), ("nu", 1, ends)])


def test_a_run_that_goes_elsewhere_at_the_start_costs_what_it_does(ran):
    """The same words without a direction: both runs are as near, and the cheaper one bounds what is lost."""
    claim, told = ran[0], copy.deepcopy(ran[1])
    for row in told["answers"]:
        row[1] = ["0"]
    told["noises"] = [[name, step, value, "0"] for name, step, value, _ in told["noises"]]
    assert float(enclose(worst_words.check(claim, told).value)) <= 1


def test_between_bounds_answers_are_never_far_apart(ran):
    with pytest.raises(Rejected, match="never far apart"):
        worst_words.check(claimed(min_max(bounds=[0, 1])), ran[1])


# -- what is told must be known ------------------------------------------------------------------------------------


def one_comparison(noise, **others):
    return {
        "kind": "stream",
        "fresh": {"nu": noise},
        "queries": 1,
        "step": [{"when": "q + nu >= 0", "emit": "yes"}, {"emit": "no"}],
        **others,
    }


@pytest.mark.parametrize("noise", [named("logistic", scale=1), named("laplace", scale=1)])
def test_a_comparison_beyond_all_cuts_is_no_event_that_is_certain(noise):
    """Both noises exceed 5 with a probability of less than a hundredth, and their cuts begin beyond 5."""
    found, _ = chances(one_comparison(noise), [["yes"]], [-5], [-6], grids={"nu": ["11/2", "47/8", "25/4", "13/2", "7"]})
    assert found.lower() <= 0.0067


def test_the_mean_over_a_cell_is_divided_by_all_of_its_mass():
    """Cuts of a noise in closed form, which it does not want, take nothing from the masses of the cells that are summed over."""
    told = [["below", "above"]], (0, 0), (0, 0), [("rho", -1, cells(-16, 16, 64))]
    truth, (found, _) = eval_pattern((0, 0), "NY"), chances(SPARSE, *told, grids={"rho": ["5", "6", "7"]})
    within(found, truth, 0.01)


def test_words_are_not_told_where_a_counter_may_have_reached_its_limit():
    """One of two counters is at its limit after the first step, whatever n is: a second step is never run."""
    either = {"limits": {"a": "n", "b": "3 - n"}, "parameters": {"n": "integer >= 1"}}
    counted = {"emit": "yes", "count": {"a": 1, "b": 1}}
    two = {
        "kind": "stream",
        "fresh": {"nu": named("laplace", scale=1)},
        **either,
        "step": [{"when": "q + nu >= 0", **counted}, {**counted, "emit": "no"}],
    }
    told = {"side": "lower", "words": [["yes", "yes"]], "answers": [[["-5"], ["-5"]], [["-6"], ["-6"]]], "value": "19/10"}
    with pytest.raises(Rejected, match="not certain whether the run goes on"):
        told_words.check(claimed(two), told)
    assert told_words.check(claimed(two), told | {"at": {"n": "2"}, "words": [["yes"]], "answers": [[["-5"]], [["-6"]]], "value": "9/10"})


@pytest.mark.parametrize("far", ["-9/10", "-1/2", "-1"])
def test_a_noise_without_a_slope_goes_nowhere_not_even_by_a_part_of_a_unit(far):
    """Laplace noise alone makes the comparison 1-private; Gaussian noise on the other side of it cannot make it lose more."""
    both = {
        "kind": "stream",
        "once": {"g": named("gaussian", sigma=1)},
        "fresh": {"xi": named("laplace", scale=1)},
        "queries": 1,
        "step": [{"when": "q + xi >= g", "emit": "yes"}, {"emit": "no"}],
    }
    told = {
        "side": "lower",
        "words": ["yes"],
        "answers": [[["1"], [far], ["-1"]]],
        "noises": [["g", -1, "0", far]],
        "run": 0,
        "weights": [["1"]],
    }
    with pytest.raises(Rejected, match="falls faster than any exponential"):
        worst_words.check(claimed(both), told)
    stays = told | {"answers": [[["1"], ["0"], ["-1"]]], "noises": [["g", -1, "0", "0"]]}
    assert worst_words.check(claimed(both), stays).value == num(1) and judged(both, epsilon=1).verdict == "PROVED"


def test_a_noise_that_goes_costs_the_slope_on_its_side():
    """Of noise from 0 on, exp(-z), the slope is 1 to the right; to the left it goes nowhere."""
    late = {"kind": "translation", "density": "exp(-z)", "support": [0, "inf"]}
    both = {
        "kind": "stream",
        "once": {"g": late},
        "fresh": {"xi": named("laplace", scale=1)},
        "queries": 1,
        "step": [{"when": "q + xi >= g", "emit": "yes"}, {"emit": "no"}],
    }

    def at(far):
        noises = [["g", -1, "1", far]]
        return {"side": "lower", "words": ["yes"], "answers": [[["2"], [far], ["-1"]]], "noises": noises, "run": 0, "weights": [["1"]]}

    # the weight 1 at the end is worth 1 - far, and the start costs far
    assert worst_words.check(claimed(both), at("1/4")).value == num(Fraction(1, 2))
    with pytest.raises(Rejected, match="falls faster than any exponential"):
        worst_words.check(claimed(both), at("-1/4"))


def test_a_noise_that_is_not_named_is_where_it_lives():
    """z is at least 5, so that "a" is never told, and the words tell nothing."""
    late = {"kind": "translation", "density": "exp(-z)", "support": [5, "inf"]}
    never = {
        "fresh": {"z": late, "nu": named("laplace", scale=1)},
        "step": [{"when": ["z < 4", "q + nu >= 0"], "emit": "a"}, {"emit": "b"}],
    }
    told = {
        "side": "lower",
        "words": ["a"],
        "answers": [[["1"], ["0"], ["-1"]]],
        "noises": [["nu", 0, "0", "0"]],
        "run": 0,
        "weights": [["0", "1"]],
    }
    with pytest.raises(Rejected, match="not certainly where it lives"):
        worst_words.check(claimed(one_comparison(late, **never)), told)
