"""Curves of streams with Gaussian noise: closed forms, the divergence of a run that is integrated, and shifts that do not hold."""

from __future__ import annotations

import math

import pytest
from flint import arb
from scipy import integrate
from scipy.special import ndtr as phi
from scipy.stats import norm

from dpverify.catalogue.reader import read_tables
from dpverify.search.verify import verify
from dpverify.trusted.combinators.runs import Run
from dpverify.trusted.kernel.balls import precision
from dpverify.trusted.kernel.errors import CertificateError, Rejected
from dpverify.trusted.kernel.expr import parse
from dpverify.trusted.kernel.model import Part
from dpverify.trusted.order.enclosed import enclose
from dpverify.trusted.theories.divergences.rules import selection_measures as selections
from dpverify.trusted.theories.selection.compared import NORMALISED
from dpverify.trusted.theories.selection.rules import unseen_shifts
from tests import proofs


def gaussian(sigma):
    return {"kind": "builtin", "name": "gaussian", "sigma": sigma}


def laplace(scale):
    return {"kind": "builtin", "name": "laplace", "scale": scale}


def inside(queries, **others):
    """Which side of a noisy interval the first answer outside of it is on."""
    step = [
        {"when": "q + nu < low", "emit": "left", "count": {"outside": 1}},
        {"when": "q + nu >= 1 + high", "emit": "right", "count": {"outside": 1}},
        {"emit": "inside"},
    ]
    once = {"low": laplace(4), "high": laplace(4)}
    table = {"kind": "stream", "once": once, "fresh": {"nu": gaussian(4)}, "limits": {"outside": 1}, "step": step}
    return table | ({"queries": queries} if queries else {}) | others


def least_and_greatest(queries, **others):
    """Of the first two answers the least and the greatest are kept, with noise of deviation 2; later ones have noise of deviation 1."""
    return {
        "kind": "stream",
        "fresh": {"nu": gaussian(2), "xi": gaussian(1)},
        "state": {"low": 0, "high": 0, "seen": 0},
        "limits": {"outside": 1},
        "queries": queries,
        "step": [
            {"when": "seen <= 0", "emit": "read", "set": {"low": "q + nu", "high": "q + nu", "seen": 1}},
            {"when": ["seen <= 1", "q + nu < low"], "emit": "read", "set": {"low": "q + nu", "seen": 2}},
            {"when": "seen <= 1", "emit": "read", "set": {"high": "q + nu", "seen": 2}},
            {"when": "q + xi < low", "emit": "left", "count": {"outside": 1}},
            {"when": "q + xi >= high", "emit": "right", "count": {"outside": 1}},
            {"emit": "inside"},
        ],
    } | others


def claimed(mechanism, **others):
    table = {"mechanism": mechanism, "claim": [{"sensitivity": 1, "epsilon": 1, "delta": "tight"} | others]}
    return read_tables("stream.toml", table).claims[0].claim


def delta(mechanism, **others):
    found = verify(claimed(mechanism, **others)).judgement.delta_upper
    assert found is not None
    return float(enclose(found).mid())


def of_pair(mu, epsilon=1.0):
    return phi(mu / 2 - epsilon / mu) - math.exp(epsilon + norm.logcdf(-mu / 2 - epsilon / mu))


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "mechanism, square",
    [
        (inside(1), 1 / 16),
        (inside(7), 7 / 16),
        (inside(7, neighbours="monotone"), 7 / 16),
        (inside(None, neighbours="one"), 1 / 16),
        (inside(7, neighbours="hull", hull=[["-1/2"], [2]]), 7 * 4 / 16),
        # two steps with a deviation of 2, then with 1: of one step, the dearest first ones; where one moves, the dearest
        (least_and_greatest(2), 2 / 4),
        (least_and_greatest(5), 2 / 4 + 3),
        (least_and_greatest(5, neighbours="one"), 1),
    ],
)
def test_the_squares_of_what_is_hidden_add_up(mechanism, square):
    assert delta(mechanism) == pytest.approx(of_pair(math.sqrt(square)), rel=1e-9)


def test_several_answers_of_a_step_move_together_or_against_each_other():
    two = {"answers": ["q", "r"], "fresh": {"nu": gaussian(1)}, "once": {}, "limits": {}}
    step = [{"when": "q - r + nu > 0", "emit": "first"}, {"emit": "second"}]
    for neighbours, move in (
        ({"neighbours": "all"}, 2),
        ({"neighbours": "monotone"}, 1),
        ({"neighbours": "hull", "hull": [[1, 1], [0, 1]]}, 1),
    ):
        mechanism = {"kind": "stream", "queries": 1, **two, "step": step, **neighbours}
        assert delta(mechanism) == pytest.approx(of_pair(move), rel=1e-9)


@pytest.mark.wide
def test_no_answers_of_a_noisy_interval_lose_more_and_some_lose_much():
    # one query, an interval of which the ends have deviations of 1/100, so that nearly all of the noise of the answer is seen
    narrow = inside(1, once={"low": gaussian("1/100"), "high": gaussian("1/100")}, fresh={"nu": gaussian(1)})
    bound, worst = delta(narrow), 0.0
    for place in range(-4, 5):
        near = place / 2

        def told(answer):
            left = integrate.quad(lambda x: norm.pdf(x, scale=0.01) * phi(x - answer), -0.1, 0.1)[0]
            right = integrate.quad(lambda x: norm.pdf(x, scale=0.01) * phi(answer - 1 - x), -0.1, 0.1)[0]
            return left, right

        for move in (-1, 1):
            sides = zip(told(near), told(near + move), strict=True)
            worst = max(worst, *(p - math.e * r for p, r in sides))
    assert 0.9 * bound < worst <= bound


def test_what_hides_nothing_has_no_curve_and_what_is_told_without_noise_neither():
    for step in ([{"when": "q >= 0", "emit": "up"}, {"emit": "down"}], [{"tell": "q"}], [{"tell": ["q + nu", "2*q + nu"]}]):
        found = verify(claimed({"kind": "stream", "queries": 3, "fresh": {"nu": gaussian(1)}, "step": step})).judgement
        assert found.delta_upper is None


@pytest.mark.wide
def test_groups_move_so_many_times_as_far():
    part = inside(3) | {"sensitivity": 1}
    table = {"mechanism": {"kind": "group", "part": part, "size": 2}, "claim": [{"epsilon": 1, "delta": "tight"}]}
    found = verify(read_tables("group.toml", table).claims[0].claim, 8).judgement.delta_upper
    assert float(enclose(found).mid()) == pytest.approx(of_pair(2 * math.sqrt(3 / 16)), rel=1e-6)


@pytest.mark.wide
@pytest.mark.sampled(1)
@pytest.mark.parametrize("measure, value", [("gdp", "sqrt(7)/4"), ("zcdp", "7/32"), ("renyi", "3*7/32")])
def test_other_measures_are_those_of_the_pair(measure, value):
    told = {"gdp": "tight", "zcdp": "tight", "renyi": {"order": 3, "epsilon": "tight"}}[measure]
    table = {"mechanism": inside(7), "claim": [{"sensitivity": 1, measure: told}]}
    claim = read_tables("stream.toml", table).claims[0].claim
    assert float(enclose(verify(claim).judgement.upper).mid()) == pytest.approx(float(enclose(parse(value)).mid()), rel=1e-12)
    shown = selections.infer(claim, {"shifts": HIDDEN}, ())
    assert [(found.side, found.quantity) for found in shown] == [("upper", measure)]
    with pytest.raises(Rejected, match="none of them leaves"):
        selections.infer(claim, {"shifts": []}, ())


# -- evidence ----------------------------------------------------------------------------------------------------------

HIDDEN = [{"nu": ["-1"]}]
BOTH = [{"nu": ["-1"]}, {"xi": ["-1"]}]


def bound(mechanism, epsilon=1, **parameters):
    part = Part(claimed(mechanism).mechanism, parse("1"))
    with precision(64):
        found = unseen_shifts.infer(Run(part), parameters, ())
        assert found.lower is None
        return float(found.upper.forward(arb(epsilon)).mid()), found.assumed


def test_by_hand_as_by_the_search():
    assert bound(inside(7), shifts=HIDDEN)[0] == pytest.approx(of_pair(math.sqrt(7 / 16)))
    five = least_and_greatest(5)
    assert bound(five, shifts=BOTH, follow=["seen"])[0] == pytest.approx(of_pair(math.sqrt(3.5)))
    # without what is followed both noises are shifted in each step, and the first that holds is taken
    assert bound(five, shifts=[{"nu": ["-1"], "xi": ["-1"]}])[0] == pytest.approx(of_pair(math.sqrt(5 * 5 / 4)))
    assert bound(five, shifts=[{"nu": ["-1"], "xi": ["-1"]}, *BOTH], follow=["seen"])[0] == pytest.approx(of_pair(math.sqrt(5 * 5 / 4)))
    # steps beyond an end that is known are not run
    ends = inside(7, step=[{"when": "q + nu > 0", "emit": "on", "count": {"outside": 1}}, {"emit": "off", "count": {"outside": 1}}])
    twice = least_and_greatest(9, limits={"outside": 1, "read": 3})
    for step in twice["step"]:
        step["count"] = step.get("count", {}) | {"read": 1}
    assert bound(twice, shifts=BOTH, follow=["seen", "read"])[0] == pytest.approx(of_pair(math.sqrt(2 / 4 + 1)))
    # of more steps than are followed all are as dear as the dearest
    assert bound(least_and_greatest(1001), 500, shifts=BOTH, follow=["seen"])[0] == pytest.approx(of_pair(math.sqrt(1001), 500))
    assert bound(least_and_greatest(1000), 500, shifts=BOTH, follow=["seen"])[0] == pytest.approx(of_pair(math.sqrt(998.5), 500))
    assert bound(ends, shifts=HIDDEN)[0] == pytest.approx(of_pair(math.sqrt(7 / 16)))


def test_the_steps_before_an_early_end_count_too():
    # the noise of the first step is slight; the run may end after it, or go on with much noise
    early = {
        "kind": "stream",
        "fresh": {"nu": gaussian(1), "xi": gaussian(100)},
        "state": {"n": 0},
        "queries": 2,
        "limits": {"done": 1},
        "step": [
            {"when": ["n <= 0", "q + nu > 0"], "emit": "up", "set": {"n": 1}, "count": {"done": 1}},
            {"when": "n <= 0", "emit": "on", "set": {"n": 1}},
            {"when": "q + xi > 0", "emit": "late"},
            {"emit": "never"},
        ],
    }
    assert bound(early, shifts=BOTH, follow=["n"])[0] == pytest.approx(of_pair(math.sqrt(1 + 1e-4)))
    early["step"][1]["count"] = {"done": 1}
    assert bound(early, shifts=BOTH, follow=["n", "done"])[0] == pytest.approx(of_pair(1))


INTEGER = {"kind": "translation", "density": "exp(-z**2/2)", "integers": True}


@pytest.mark.parametrize(
    "mechanism, parameters, said",
    [
        (inside(7), {}, "cannot be used"),
        (inside(7), {"shifts": {}}, "none of them leaves"),
        (inside(7), {"shifts": HIDDEN, "follow": "low"}, "neither state nor counter"),
        (inside(7), {"shifts": HIDDEN, "follow": ["seen"]}, "names what is neither state nor counter"),
        (inside(7), {"shifts": HIDDEN, "follow": ["q"]}, "names what is neither state nor counter"),
        (inside(7), {"shifts": [None]}, "cannot be used"),
        (inside(7), {"shifts": [{"nu": 1}]}, "cannot be used"),
        (inside(7), {"shifts": [{"nu": ["-1", "0"]}]}, "has not 1 numbers"),
        (inside(7), {"shifts": [{"low": ["-1"]}]}, "of no noise of a step"),
        (inside(7), {"shifts": []}, "none of them leaves"),
        (inside(7), {"shifts": [{}]}, "none of them leaves"),
        (inside(7), {"shifts": [{"nu": ["1"]}]}, "none of them leaves"),
        (inside(7), {"shifts": [{"nu": ["-999/1000"]}]}, "none of them leaves"),
        (inside(7, fresh={"nu": laplace(4)}), {"shifts": HIDDEN}, "not certainly Gaussian"),
        (inside(None), {"shifts": HIDDEN}, "number of the most steps"),
        (inside("n", parameters={"n": "integer >= 1"}), {"shifts": HIDDEN}, "number of the most steps"),
        (inside(7, fresh={"nu": INTEGER}, once={"low": INTEGER, "high": INTEGER}), {"shifts": HIDDEN}, "lives on the integers"),
        (least_and_greatest(5), {"shifts": BOTH}, "none of them leaves"),
        (least_and_greatest(5), {"shifts": BOTH[:1], "follow": ["seen"]}, "none of them leaves"),
        (least_and_greatest(5), {"shifts": BOTH[1:], "follow": ["seen"]}, "none of them leaves"),
        # what is told, the state after a step, and the comparisons of branches before, each by itself
        (inside(7, step=[{"tell": "q"}]), {"shifts": HIDDEN}, "none of them leaves"),
        (inside(7, state={"s": 0}, step=[{"when": "q + nu > 0", "set": {"s": "q"}}, {}]), {"shifts": HIDDEN}, "none of them leaves"),
        (inside(7, step=[{"when": ["q > 0", "q + nu > 0"], "emit": "on"}, {}]), {"shifts": HIDDEN}, "none of them leaves"),
        (inside(7, step=[{"when": "q + nu > 0"}, {"tell": "2*q + nu"}]), {"shifts": HIDDEN}, "none of them leaves"),
    ],
)
def test_shifts_that_do_not_hold_are_refused(mechanism, parameters, said):
    with pytest.raises((Rejected, CertificateError), match=said):
        proofs.fact(claimed(mechanism), proofs.Step("unseen-shifts", parameters))


def test_what_is_followed_has_not_too_many_values(monkeypatch):
    monkeypatch.setattr(unseen_shifts, "MOST_STEPS", 20)
    counted = {"state": {"n": 0}, "step": [{"when": ["n >= 0", "q + nu > 0"], "set": {"n": "n + 1"}}, {"set": {"n": "n + 1"}}]}
    with pytest.raises(Rejected, match="more than 20 different values"):
        bound(inside(5, **counted), shifts=HIDDEN, follow=["n"])


def test_noise_that_is_not_shifted_is_any_law():
    odd = {"kind": "translation", "density": "exp(-sqrt(abs(z)))*(2 + tanh(z))"}
    assert NORMALISED in bound(inside(3, once={"low": odd, "high": laplace(4)}), shifts=HIDDEN)[1]
    assert NORMALISED not in bound(inside(3), shifts=HIDDEN)[1]


def test_the_curve_of_a_stream_rests_on_an_ideal_sampler_and_on_independent_noises():
    judgement = verify(claimed(inside(3))).judgement
    independent = "the noises of different names, and of different steps, are independent"
    assert {"the sampler is ideal", independent} <= set(judgement.assumptions)
