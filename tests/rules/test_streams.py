"""Streams of noisy comparisons: published truths, brute force over small runs, and evidence that must be refused."""

from __future__ import annotations

import copy
import dataclasses
import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from dpverify.catalogue.reader import read_tables
from dpverify.errors import SpecError
from dpverify.search.selection import streams
from dpverify.search.verify import verify
from dpverify.search.witness_words import in_words
from dpverify.trusted.kernel.bounds import Infinite
from dpverify.trusted.kernel.errors import STUMBLES, CertificateError, DpverifyError, Rejected
from dpverify.trusted.kernel.expr import Num, num, parse, substitute
from dpverify.trusted.kernel.model import Translation
from dpverify.trusted.order.enclosed import enclose
from dpverify.trusted.theories.selection.compared import NORMALISED
from dpverify.trusted.theories.selection.rules import alignment, worst_run
from tests.proofs import Step, bound


def laplace(scale):
    return {"kind": "builtin", "name": "laplace", "scale": scale}


def above(threshold, answers, *, limit=1, when="q + nu >= t", tell=None, fresh=None, **others):
    """Sparse vectors: a noisy threshold, answers with noise, and a limit of those that are above."""
    step = {"when": when, "emit": "above", **({"count": {"found": 1}} if limit else {}), **({"tell": tell} if tell else {})}
    return {
        "kind": "stream",
        "once": {"rho": laplace(threshold)} if threshold else {},
        "fresh": ({"nu": laplace(answers)} if answers else {}) | ({"xi": laplace(fresh)} if fresh else {}),
        "state": {"t": "rho" if threshold else "0"},
        **({"limits": {"found": limit}} if limit else {}),
        "step": [step, {"emit": "below"}],
        **others,
    }


RANGE = {
    "kind": "stream",
    "once": {"low": laplace(4), "high": laplace(4)},
    "fresh": {"nu": laplace(4)},
    "state": {"from": "low", "to": "1 + high"},
    "limits": {"outside": 1},
    "step": [
        {"when": "q + nu < from", "emit": "left", "count": {"outside": 1}},
        {"when": "q + nu >= to", "emit": "right", "count": {"outside": 1}},
        {"emit": "inside"},
    ],
}
SMART = {
    "kind": "stream",
    "fresh": {"nu": laplace(1)},
    "state": {"next": 0, "block": 0, "place": 0},
    "neighbours": "one",
    "step": [
        {"when": "place >= 2", "emit": "block", "tell": "block + q + nu", "set": {"next": "block + q + nu", "block": 0, "place": 0}},
        {"emit": "inside", "tell": "next + q + nu", "set": {"next": "next + q + nu", "block": "block + q", "place": "place + 1"}},
    ],
}
PREFIX = {
    "kind": "stream",
    "fresh": {"nu": laplace(1)},
    "state": {"s": 0},
    "neighbours": "one",
    "step": [{"tell": "s + q + nu", "set": {"s": "s + q + nu"}}],
}
RUNNING = {
    "kind": "stream",
    "fresh": {"nu": laplace(2)},
    "state": {"s": 0},
    "step": [{"when": "s + q + nu > 0", "emit": "yes", "set": {"s": "s + q"}}, {"emit": "no", "set": {"s": "s + q"}}],
}
ADAPTIVE = {
    "kind": "stream",
    "once": {"rho": laplace(2)},
    "fresh": {"a": laplace(16), "b": laplace(8)},
    "state": {"t": "rho"},
    "limits": {"cost": 3},
    "step": [
        {"when": "q + a - t >= 5", "emit": "far above", "tell": "q + a - t", "count": {"cost": 1}},
        {"when": "q + b - t >= 0", "emit": "above", "tell": "q + b - t", "count": {"cost": 2}},
        {"emit": "below"},
    ],
}
SMART_OF_FIVE = {**SMART, "step": [{**SMART["step"][0], "when": "place >= 4"}, SMART["step"][1]]}
FORGOTTEN = {**PREFIX, "step": [{"tell": "s + q + nu", "set": {"s": "s + q"}}]}
RESAMPLED = {
    **above(4, 8, limit=2),
    "fresh": {"nu": laplace(8), "mu": laplace(4)},
    "step": [{"when": "q + nu >= t", "emit": "above", "count": {"found": 1}, "set": {"t": "mu"}}, {"emit": "below"}],
}
TIERS = {
    "kind": "stream",
    "once": {"rho": laplace(2)},
    "fresh": {"a": laplace(8), "b": laplace(4)},
    "state": {"t": "rho"},
    "limits": {"spent": 1},
    "step": [
        {"when": "q + a >= t + 2", "emit": "far", "count": {"spent": "1/4"}},
        {"when": "q + b >= t", "emit": "near", "count": {"spent": "1/2"}},
        {"emit": "below"},
    ],
}
EXACT = {
    # a list of runs and truths of the literature, at epsilon 1; N is the limit, n the number of queries
    "sparse vectors, N = 1": (above(2, 4), "1"),
    "sparse vectors, N = 3": (above(2, 12, limit=3), "1"),
    "three queries: n/(4N)": (above(2, 4, queries=3), "3/4"),
    "answers that move up": (above(2, 2, neighbours="increasing"), "1"),
    "answers that move down": (above(2, 2, neighbours="decreasing"), "1/2"),
    "answers that move together": (above(2, 2, neighbours="monotone"), "1"),
    "one answer moves alone": (above(2, 4, neighbours="one"), "1/4"),
    "the gap is free": (above(2, 4, tell="q + nu - t"), "1"),
    "numeric: three thirds": (above(3, 6, fresh=3, tell="q + xi"), "1"),
    "no limit, four queries: n/2": (above(2, 2, limit=0, queries=4), "2"),
    "no limit, two queries": (above(2, 2, limit=0, queries=2), "1"),
    # fresh noise of slope 1/6 that is told where answers are above, which cost 1/12 for a unit of the threshold's shift
    "numeric, answers that move up": (above(3, 12, fresh=6, tell="q + xi", limit=2, neighbours="increasing"), "1/3 + 2/6"),
    "numeric, answers that move down": (above(3, 12, fresh=6, tell="q + xi", limit=2, neighbours="decreasing"), "2/12 + 2/6"),
    "noise that does not grow: (1 + 6N)/4": (above(4, "4/3"), "7/4"),
    "the same, two queries": (above(4, "4/3", queries=2), "3/2"),
    "the noisy answer told, five queries: n/4": (above(2, 4, tell="q + nu", queries=5), "5/4"),
    "prefix sums": (PREFIX, "1"),
    "smart sums": (SMART, "2"),
    "adaptive": (ADAPTIVE, "1"),
    "range: both ends and the answer": (RANGE, "1"),
    "all answers told": ({**PREFIX, "neighbours": "all", "queries": 3}, "3"),
    "a hull that is the interval of all": (above(2, 4, neighbours="hull", hull=[[-1], [1]]), "1"),
    "a hull of half of it": (above(2, 4, neighbours="hull", hull=[["-1/2"], ["1/2"]]), "1/2"),
    # each answer is told again in every later sum, with noise of its own
    "sums that forget their noise, three steps": ({**FORGOTTEN, "queries": 3}, "3"),
    "differences of answers that follow each other": (
        {**PREFIX, "state": {"p": 0}, "step": [{"tell": "q - p + nu", "set": {"p": "q"}}]},
        "2",
    ),
    "differences two steps apart": (
        {**PREFIX, "state": {"p": 0, "o": 0}, "step": [{"tell": "q - o + nu", "set": {"o": "p", "p": "q"}}]},
        "2",
    ),
    "smart sums of five": (SMART_OF_FIVE, "2"),
    # the threshold is drawn twice: twice a quarter, and twice two eighths
    "a threshold drawn again": (RESAMPLED, "1"),
    # the budget is 3/4 before the last answer and 5/4 after it
    "a budget in parts": (TIERS, "1/2 + 5/4"),
    "noise that is short by a millionth": (above(2, "3999996/1000000"), "1/2 + 2000000/3999996"),
    "the gap told twice as great": (above(2, 4, tell="2*q + 2*nu - 2*t"), "1"),
    "the answer less twice the threshold": (above(2, 4, tell="q + nu - 2*t"), "1/2 + 3/4"),
    "two answers added": ({**above(2, 4, when="q + p + nu >= t"), "answers": ["q", "p"]}, "2"),
    "two answers that move together, one less the other": (
        {**above(2, 4, when="q - p + nu >= t"), "answers": ["q", "p"], "neighbours": "monotone"},
        "1",
    ),
    "a range whose sides are not told": (
        {**RANGE, "step": [{**RANGE["step"][0], "emit": "outside"}, {**RANGE["step"][1], "emit": "outside"}, RANGE["step"][2]]},
        "1",
    ),
    "a hull that is one way": (above(2, 4, neighbours="hull", hull=[[0], [1]]), "3/4"),
}
NO_EPSILON = {
    "exact answers": above(2, 0, limit=0, when="q >= t"),
    "no limit of those above": above(2, 2, limit=0),
    "the noisy answer told": above(2, 4, tell="q + nu"),
    "the exact answer told": above(2, 4, tell="q"),
    "the threshold told": above(2, 4, tell="t"),
    "sums that forget their noise": FORGOTTEN,
    "one noise for both ends": {**RANGE, "step": [RANGE["step"][0], {**RANGE["step"][1], "when": "q + nu >= from + 2"}, RANGE["step"][2]]},
    "sums that all answers move": RUNNING,
}


def claimed(mechanism, epsilon="tight", **others):
    table = {"mechanism": mechanism, "claim": [{"sensitivity": 1, "epsilon": epsilon} | others]}
    return read_tables("stream.toml", table).claims[0].claim


def judged(mechanism, **others):
    return verify(claimed(mechanism, **others)).judgement


@pytest.mark.sampled(11)
@pytest.mark.parametrize("mechanism, truth", EXACT.values(), ids=EXACT)
def test_runs_of_the_literature_have_their_exact_epsilon_on_both_sides(mechanism, truth):
    found = judged(mechanism)
    assert (found.lower, found.upper) == (parse(truth), parse(truth))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("mechanism", NO_EPSILON.values(), ids=NO_EPSILON)
def test_what_is_private_at_no_epsilon_is_refuted_at_every(mechanism):
    found = judged(mechanism, epsilon=1000)
    assert found.verdict == "REFUTED"
    assert isinstance(found.lower, Infinite)


def test_a_budget_in_parts_of_a_parameter_is_spent_as_often_as_there_are_parts():
    parts = above(2, "4*k", parameters={"k": "integer >= 1"})
    parts["step"][0]["count"] = {"found": "1/k"}
    assert judged(parts, epsilon=1).verdict == "PROVED"
    assert judged(parts, epsilon="99/100").verdict == "REFUTED"
    shorter = {**parts, "fresh": {"nu": laplace("4*k - 1/1000000")}}
    assert judged(shorter, epsilon=1).verdict != "PROVED"


def test_a_proof_for_every_number_of_positives_and_every_scale():
    noises = above("2/e", "4*c/e", limit="c", tell="q + nu - t", parameters={"c": "integer >= 1", "e": "positive"})
    assert judged(noises, epsilon="e").verdict == "PROVED"
    assert judged(noises, epsilon="99*e/100").verdict == "REFUTED"


def test_what_a_query_more_costs_is_proved_for_every_number_of_them():
    told = above(2, 4, tell="q + nu", queries="n", parameters={"n": "integer >= 1"})
    assert judged(told, epsilon="n/4").verdict == "PROVED"
    assert judged(told, epsilon="n/4 - 1/1000").verdict == "REFUTED"
    assert judged(told, epsilon=1).verdict == "REFUTED"


@pytest.mark.wide
def test_gaussian_noise_has_no_pure_epsilon_over_all_answers():
    gauss = {"kind": "builtin", "name": "gaussian", "sigma": 2}
    found = judged({**above(2, 4), "once": {"rho": gauss}}, epsilon=50)
    assert found.verdict != "PROVED"


@pytest.mark.sampled(2)
@pytest.mark.parametrize("steps", [1, 2, 4, 8])
def test_the_sum_of_all_answers_loses_as_much_as_all_of_them_move(steps):
    # all "no" at answers far below: the step of number i is shifted by i, at 1/2 each
    found = judged({**RUNNING, "queries": steps})
    assert found.lower == parse(f"{steps * (steps + 1)}/4")


# -- brute force: small runs, by integrals over a grid ---------------------------------------------------------------


T = np.linspace(-60.0, 60.0, 6001)


def probability(pattern, answers, scale_t, scale_q):
    """Of a pattern of above (1) and below (0), Laplace noises, by the trapezoid rule."""
    weight = np.exp(-abs(T) / scale_t) / (2 * scale_t)
    for told, answer in zip(pattern, answers, strict=True):
        z = (T - answer) / scale_q
        below = np.where(z < 0, np.exp(np.minimum(z, 0)) / 2, 1 - np.exp(-np.maximum(z, 0)) / 2)
        weight = weight * (1 - below if told else below)
    return float(np.trapezoid(weight, T))


@pytest.mark.parametrize("scale_t, scale_q, limit, count", [(2, 4, 1, 2), (1, 3, 0, 3), (3, 1, 1, 3)])
def test_no_small_run_loses_more_than_is_proved_and_one_nearly_does(scale_t, scale_q, limit, count):
    found = judged(above(scale_t, scale_q, limit=limit, queries=count))
    bound, most = float(enclose(found.upper).mid()), 0.0
    patterns = [p for p in itertools.product((0, 1), repeat=count) if not limit or sum(p[:-1]) == 0]
    for pattern in patterns:
        for gap in (-12.0, 0.0, 12.0):
            answers = [gap if told else -gap for told in pattern]
            for moves in itertools.product((-1, 1), repeat=count):
                near = [answer + move for answer, move in zip(answers, moves, strict=True)]
                loss = math.log(probability(pattern, answers, scale_t, scale_q) / probability(pattern, near, scale_t, scale_q))
                most = max(most, loss)
    assert most <= bound + 1e-3
    assert most >= 0.8 * bound


# -- evidence that must be refused ------------------------------------------------------------------------------------


def steps_of(mechanism, rule):
    """Evidence of a rule in the certificate that a search makes."""
    answer = verify(claimed(mechanism))
    lines = [line for line in answer.certificate["lines"] if line["rule"] == rule]
    return claimed(mechanism), lines[0]["parameters"]


@pytest.fixture(scope="module")
def aligned():
    return steps_of(above(2, 4, tell="q + nu - t"), "alignment")


@pytest.fixture(scope="module")
def ran():
    return steps_of(above(2, 4, queries=6), "worst-run")


def every_number(value, path=()):
    """The paths of all texts of numbers in a value."""
    if isinstance(value, str):
        yield path
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from every_number(item, (*path, key))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from every_number(item, (*path, number))


def changed(value, path, to):
    found = copy.deepcopy(value)
    inner = found
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = to(inner[path[-1]])
    return found


def rational(to):
    """The same change, worked out."""
    return lambda text: str(parse(to(text)).value)


@pytest.mark.parametrize("to", [lambda x: f"({x}) - 1/7", lambda x: f"-({x})", lambda x: "0"], ids=["less", "turned", "nothing"])
def test_an_alignment_with_another_number_bounds_no_less_or_is_refused(aligned, to):
    claim, evidence = aligned
    tight = alignment.infer(claim, evidence, ()).value
    for path in every_number(evidence):
        try:
            forged = changed(evidence, path, to if "prices" in path else rational(to))
            value = alignment.infer(claim, forged, ()).value
        except DpverifyError:
            continue
        assert enclose(value) >= enclose(tight)


@pytest.mark.parametrize("to", [lambda x: f"({x}) + 1/7", lambda x: f"-({x})", lambda x: "2"], ids=["more", "turned", "two"])
def test_a_run_with_another_weight_loses_no_more_or_is_refused(ran, to):
    claim, evidence = ran
    tight = worst_run.check(claim, evidence).value
    for path in every_number(evidence):
        if path[0] == "side":
            continue
        try:
            forged = changed(evidence, path, to if path[0] == "weights" else rational(to))
            value = worst_run.check(claim, forged).value
        except DpverifyError:
            continue
        assert not isinstance(value, Infinite)
        assert enclose(value) <= enclose(tight)


def way(claim_of, **others):
    claim, evidence = claim_of
    return claim, {"ways": [copy.deepcopy(evidence["ways"][0]) | others]}


@pytest.mark.parametrize(
    "others, said",
    [
        ({"prices": {"found": "-1"}}, "not certainly at least 0"),
        ({"prices": {"lost": "1"}}, "no counter"),
        ({"each": "1/4"}, "no limit of them"),
        ({"ahead": []}, "each with what is kept there"),
        ({"modes": []}, "each with what is kept there"),
        ({"modes": [[{}, True]]}, "nothing has moved"),
        ({"steps": []}, "no mode goes along"),
        ({"once": {"rho": ["0", "0"]}}, "not as far apart"),
        ({"once": {"rho": ["1"]}}, "not 2 numbers"),
        ({"once": {"tau": ["1", "0"]}}, "as far apart"),
    ],
)
def test_what_an_alignment_may_not_say(aligned, others, said):
    claim, forged = way(aligned, **others)
    with pytest.raises((Rejected, CertificateError), match=said):
        alignment.infer(claim, forged, ())


def test_a_branch_that_leads_back_is_refused(aligned):
    claim, evidence = aligned
    forged = copy.deepcopy(evidence)
    for step in forged["ways"][0]["steps"]:
        step[3] = 7
    with pytest.raises(CertificateError, match="a branch leads from a mode, or to one, that there is not"):
        alignment.infer(claim, forged, ())


def test_a_price_of_a_passage_is_paid_once_and_so_modes_are_never_left_twice():
    claim, evidence = steps_of(SMART, "alignment")
    assert alignment.infer(claim, evidence, ()).value == Num(2)
    forged = copy.deepcopy(evidence)
    forged["ways"][0]["ahead"] = ["1", "0", "0"]
    with pytest.raises(Rejected, match="costs more"):
        alignment.infer(claim, forged, ())


def test_a_step_in_which_one_answer_moves_is_not_repeated():
    claim, evidence = steps_of({**PREFIX, "queries": 9}, "worst-run")
    forged = copy.deepcopy(evidence) | {"repeat": [0, 1], "times": 3}
    with pytest.raises(Rejected, match=r"not repeated|repeated"):
        worst_run.check(claim, forged)


def test_a_run_is_not_longer_than_there_are_queries(ran):
    claim, evidence = ran
    with pytest.raises(Rejected, match="so many steps"):
        worst_run.check(claim, {**evidence, "repeat": [0, 1], "times": 1000})
    with pytest.raises(Rejected, match="so many steps"):
        worst_run.check(claim, {**evidence, "repeat": [0, 1], "times": "unlimited"})


def test_integers_are_shifted_by_integers():
    noise = {"kind": "translation", "density": "exp(-abs(z)/2)", "integers": True}
    claim, evidence = steps_of({**above(2, 4), "once": {"rho": noise}, "fresh": {"nu": noise}}, "alignment")
    forged = copy.deepcopy(evidence)
    forged["ways"][0]["once"]["rho"] = ["1/2", "0"]
    with pytest.raises(Rejected, match="no integer"):
        alignment.infer(claim, forged, ())


@pytest.mark.wide
def test_two_branches_that_tell_the_same_hide_the_run():
    same = above(2, 4, queries=3)
    same["step"] = [{**same["step"][0], "emit": "told"}, {"emit": "told"}]
    # what is told is how many steps there were: two and three of them say that the first answer, or the first two, were below
    assert judged(same).lower == num("1/2")
    run = {"once": {"rho": "0"}, "run": [[1, ["0"], {"nu": "-1"}, ["1"]]], "weights": ["0"]}
    with pytest.raises(Rejected, match="another branch tells the same"):
        worst_run.check(claimed(same), {"side": "lower", **run})


def tree_of_eight(neighbours):
    """A binary tree over eight answers: each of its 15 nodes is told with noise of scale 4 once its answers are there."""
    told = [["q + a"], ["x + q + b"], ["y + x + q + c"], ["z + y + x + q + d"]]
    steps = []
    for place in range(8):
        full = [level for level in range(4) if (place + 1) % 2**level == 0]
        kept = {"xyz"[full[-1]]: told[full[-1]][0].rsplit(" + ", 1)[0]} if full[-1] < 3 else {}
        emptied = dict.fromkeys("xyz"[: full[-1]], 0)
        step = {"tell": [told[level][0] for level in full], "set": {**emptied, **kept, "i": "i + 1"}}
        steps.append({"when": f"i >= {place}", **step} if place else step)
    return {
        "kind": "stream",
        "fresh": {name: laplace(4) for name in "abcd"},
        "state": {"x": 0, "y": 0, "z": 0, "i": 0},
        "queries": 8,
        "neighbours": neighbours,
        "step": steps[::-1],
    }


@pytest.mark.wide
@pytest.mark.parametrize("neighbours, truth", [("all", 8), ("one", 1)])
def test_a_tree_of_sums_loses_what_its_nodes_move_by(neighbours, truth):
    """Eight answers that move by 1 are in four nodes each, of scale 4: 4*8/4; one answer alone, 4/4."""
    found = judged(tree_of_eight(neighbours))
    assert (found.lower, found.upper) == (num(truth), num(truth))


def test_a_branch_that_numbers_alone_rule_out_may_tell_the_same():
    """Whether a run is known: which of two branches that tell alike is taken, the number of the step decides, or noise does."""
    counted = [{"when": "i >= 1", "tell": "2*q + nu", "set": {"i": "i + 1"}}, {"tell": "q + nu", "set": {"i": "i + 1"}}]
    by_number = {"kind": "stream", "fresh": {"nu": laplace(1)}, "state": {"i": 0}, "queries": 2, "step": counted}
    noisy = [{"when": "nu >= 0", "tell": "q + nu", "count": {"found": 1}}, {"tell": "q + nu"}]
    by_noise = {"kind": "stream", "fresh": {"nu": laplace(1)}, "limits": {"found": 1}, "step": noisy}
    first, second = [1, ["0"], {"nu": "-1"}, ["1"]], [0, ["0"], {"nu": "1"}, ["1"]]
    evidence = {"side": "lower", "run": [first, second], "weights": ["-1", "-1"]}
    assert worst_run.check(claimed(by_number), evidence).value == num(3)  # what is told moves by 1, and by 2
    for run, weights in (([first], ["0", "-1"]), ([second], ["0", "-1"])):  # a later branch, and an earlier one
        with pytest.raises(Rejected, match="another branch tells the same"):
            worst_run.check(claimed(by_noise), {**evidence, "run": run, "weights": weights})


# -- evidence by hand: a sparse vector with noise of scale 2 once and 4 in each step ---------------------------------------


BELOW, FOUND = [1, ["-9"], {"nu": "0"}, ["1"]], [0, ["9"], {"nu": "0"}, ["-1"]]
"""A step that tells "below" at an answer that moves up, and one that tells "above" at one that moves down."""
WHOLE = {"kind": "translation", "density": "exp(-abs(z)/2)", "integers": True}
INTEGERS = {**above(2, 4), "once": {"rho": WHOLE}, "fresh": {"nu": WHOLE}}
POSITIVE = {"kind": "translation", "density": "exp(-z)", "support": [0, "inf"]}


NO_FORM = "cannot be used|has not the form"


def ran_by_hand(mechanism, **others):
    """A run of "below", then "above", of which the dual program's solution is 1/4 for both: the noise of a step has the slope 1/4."""
    given = {"side": "lower", "once": {"rho": "0"}, "run": [BELOW, FOUND], "weights": ["1/4", "1/4"]}
    return bound(claimed(mechanism), Step("worst-run", {key: value for key, value in (given | others).items() if value is not None}))[0]


def aligned_by_hand(mechanism, **others):
    """The threshold is shifted by 1, and the noise of a step by 1 - d where it is above: 1/2 once, 2/4 for each step that is counted."""
    steps = [[0, 0, True, 0, {"nu": ["1", "-1"]}], [0, 1, True, 0, {}]]
    given = {"once": {"rho": ["1", "0"]}, "modes": [[{"t": ["1", "0"]}, False]], "steps": steps, "prices": {"found": "1/2"}, "each": "0"}
    return bound(claimed(mechanism), Step("alignment", {"ways": [given | {"ahead": ["0"]} | others]}))[0]


def with_limit(limit, **others):
    return above(2, 4, limit=limit, **others)


def test_a_run_by_hand_loses_what_its_two_steps_do():
    # two steps, each of which moves against its noise of slope 1/4, and a threshold that stays
    found = ran_by_hand(above(2, 4))
    assert (found.side, found.value) == ("lower", parse("1/2"))
    assert "below, above, in the limit" in in_words(found.witness["point"])
    assert ran_by_hand(above(2, 4), weights=["0", "0"]).value == num(0)
    # the threshold may be between: its sum is -1/4 and 1/4, of slopes 1/2
    assert ran_by_hand(above(2, 4), weights=["0", "1/4"]).value == ran_by_hand(above(2, 4), weights=["1/4", "0"]).value == parse("1/4")


def test_steps_that_are_repeated_count_as_often_as_they_are():
    again = {"repeat": [0, 2], "weights": ["1/2", "1/2"]}
    four = above(2, 2, limit=0, queries=4)
    found = ran_by_hand(four, times=2, **again)
    assert found.value == num(2)
    assert in_words(found.witness["point"]).startswith("(below, above) 2 times,")
    with pytest.raises(Rejected, match="so many steps"):
        ran_by_hand(four, times=3, **again)
    endless = ran_by_hand(above(2, 2, limit=0), times="unlimited", **again)
    assert isinstance(endless.value, Infinite)
    assert in_words(endless.witness["point"]).startswith("(below, above) without end,")
    one = [BELOW, FOUND, BELOW]
    middle = ran_by_hand(above(2, 2, limit=0), run=one, repeat=[0, 2], times=7, weights=["1/2", "1/2", "0"])
    assert middle.value == num(7)


@pytest.mark.parametrize(
    "mechanism, others, said",
    [
        (above(2, 4), {"run": None}, "no list of steps"),
        (above(2, 4), {"run": []}, "no list of steps"),
        (above(2, 4), {"run": [BELOW] * 10_001}, "no list of steps"),
        (above(2, 4), {"weights": "11"}, "no list of steps"),
        (above(2, 4), {"weights": ["1/4"]}, "cannot be used"),
        (above(2, 4), {"weights": ["1/4", "1/4", "0"]}, "cannot be used"),
        *(
            (above(2, 4), {"repeat": ends, "times": 2}, "not a whole number|cannot be used")
            for ends in ([0, 0], [-1, 1], [0, 3], [False, 1], [0], "01", [2, 1])
        ),
        *((above(2, 4), {"repeat": [0, 1], "times": wrong}, "not a whole|cannot be used") for wrong in (0, -1, True, None, "2", "endless")),
        (above(2, 4), {"once": {}}, "cannot be used"),
        (above(2, 4), {"run": [BELOW, [0, ["9"], {}, ["-1"]]]}, "cannot be used"),
        (above(2, 4), {"run": [BELOW, [0, ["9"], {"nu": "0"}]]}, "cannot be used"),
        (above(2, 4), {"run": [BELOW, [0, [], {"nu": "0"}, ["-1"]]]}, "cannot be used"),
        (above(2, 4), {"run": [BELOW, [0, ["9"], {"nu": "0"}, ["-1", "0"]]]}, "cannot be used"),
        (above(2, 4), {"run": [BELOW, 7]}, "cannot be used"),
        *((above(2, 4), {"run": [BELOW, [branch, *FOUND[1:]]]}, "'branch' is") for branch in (2, -1, False, "0", 0.0)),
        (above(2, 4, queries="n", parameters={"n": "integer >= 1"}), {}, "so many steps"),
        (above(2, 4, queries=1), {}, "so many steps"),
        (above(2, 4, queries=2), {"repeat": [0, 1], "times": "unlimited"}, "so many steps"),
        (above(2, 4), {"run": [FOUND, BELOW]}, "may have reached its limit"),
        (with_limit("c", parameters={"c": "integer >= 1"}), {"run": [FOUND, BELOW]}, "may have reached its limit"),
        (with_limit("c", parameters={"c": "integer >= 0"}), {}, "may have reached its limit"),
        (above(2, 4), {"run": [BELOW, [0, ["0"], {"nu": "0"}, ["-1"]]]}, "with room"),
        (above(2, 4), {"run": [[1, ["0"], {"nu": "0"}, ["1"]], FOUND]}, "with room"),
        (above(2, 4), {"run": [BELOW, [0, ["-9"], {"nu": "0"}, ["-1"]]]}, "with room"),
        (above(2, 4), {"weights": ["-1/4", "1/4"]}, "not certainly at least 0"),
        (above(2, 4), {"weights": ["1/4", "abs(w)"]}, "no parameter"),
        (above(2, 4), {"weights": ["1/4", "26/100"]}, "noise nu their sum"),
        (above(2, 4), {"weights": ["26/100", "1/4"]}, "noise nu their sum"),
        (above("4/5", 1, limit=1), {"run": [BELOW] * 2 + [FOUND], "weights": ["1", "1", "1/2"]}, "noise rho their sum"),
        (above(8, 4), {"weights": ["0", "1/4"]}, "noise rho their sum"),
        (above(2, 4), {"unbounded": True}, "their sum"),
        (above(2, 4), {"unbounded": True, "weights": ["0", "0"]}, "not certainly positive"),
        (above(2, 2, limit=0), {"repeat": [0, 1], "times": 9, "weights": ["1/2", "1/2"]}, "their sum"),
        (above(2, 2, limit=0), {"repeat": [1, 2], "times": 9, "weights": ["0", "1/2"]}, "noise rho their sum"),
        (above(2, 2, limit=0), {"repeat": [0, 2], "times": "unlimited", "weights": ["0", "0"]}, "not certainly positive"),
        (above(2, 4), {"run": [[1, ["-9"], {"nu": "0"}, ["2"]], FOUND]}, "do not move so"),
        (above(2, 4, neighbours="monotone"), {}, "do not move so"),
        (above(2, 4, neighbours="increasing"), {}, "do not move so"),
        (above(2, 4, neighbours="decreasing"), {}, "do not move so"),
        (above(2, 4, neighbours="one"), {}, "do not move so"),
        (above(2, 4, neighbours="one"), {"run": [BELOW, [*FOUND[:3], ["0"]]], "repeat": [0, 1], "times": 1}, "is not repeated"),
        (above(2, 4, neighbours="one"), {"run": [[*BELOW[:3], ["-2"]], [*FOUND[:3], ["0"]]]}, "do not move so"),
        (above(2, 4, neighbours="hull", hull=[[1], [2]]), {}, "do not move so"),
        (above(2, 4, neighbours="hull", hull=[[1], [3]]), {"run": [BELOW, [*FOUND[:3], ["2"]]]}, "do not move so"),
        (above(2, 4), {"repeat": [1, 2], "times": 1}, "not what it was before"),
    ],
)
def test_a_run_by_hand_that_does_not_hold_is_refused(mechanism, others, said):
    with pytest.raises((Rejected, CertificateError, *STUMBLES), match=said):
        ran_by_hand(mechanism, **others)


def test_a_run_that_moves_one_way_all_along_may_be_any_of_the_two():
    # "below" twice, answers that all move up: both noises of slope 1/4, the threshold 1/2 of slope 1/2
    twice = {"run": [BELOW, BELOW]}
    down = {"run": [[1, ["-9"], {"nu": "0"}, ["-1"]]] * 2}
    for neighbours in ("monotone", "increasing", "all"):
        assert ran_by_hand(above(2, 4, neighbours=neighbours), **twice).value == parse("1/2")
    for neighbours in ("monotone", "decreasing", "all"):
        assert ran_by_hand(above(2, 4, neighbours=neighbours), **down).value == parse("-1/2")
    for sign in (1, -1):
        moved = [[1, ["-9"], {"nu": "0"}, [str(2 * sign)]]]
        found = ran_by_hand(above(2, 4, neighbours="hull", hull=[[2]]), run=moved, weights=["1/4"])
        assert found.value == parse(f"{sign}/2")


@pytest.mark.parametrize(
    "once, run, said",
    [
        ("1/2", [BELOW, FOUND], "a value is no integer"),
        ("0", [[1, ["-9"], {"nu": "1/2"}, ["1"]], FOUND], "a value is no integer"),
        ("0", [[1, ["-9/2"], {"nu": "0"}, ["1"]], FOUND], "an answer is no integer"),
        ("0", [[1, ["-9"], {"nu": "0"}, ["1/2"]], FOUND], "integers move by integers"),
    ],
)
def test_a_run_on_the_integers_is_of_integers(once, run, said):
    assert ran_by_hand(INTEGERS).value == parse("1/2")
    with pytest.raises(Rejected, match=said):
        ran_by_hand(INTEGERS, once={"rho": once}, run=run)


def told_on_the_integers(*hull):
    return {"kind": "stream", "fresh": {"nu": WHOLE}, "step": [{"tell": "q + nu"}], "queries": 1, "neighbours": "hull", "hull": list(hull)}


@pytest.mark.parametrize(
    "sensitivity, hull, furthest",
    [("3/2", [[2], [0]], 3), ("1/2", [[2], [-2]], 1), ("1/3", [[3]], 1), ("3/2", [["2/3"]], 1), (2, [["1/2"]], 1), (3, [[0], [1]], 3)],
)
def test_integers_in_a_hull_of_points_differ_by_all_of_the_sensitivity(sensitivity, hull, furthest):
    # noise of scale 2 on the integers that is told: half of the furthest difference that is an integer
    found = judged(told_on_the_integers(*hull), sensitivity=sensitivity)
    assert found.lower == found.upper == parse(f"{furthest}/2")
    two = {"kind": "group", "size": 2, "part": {**told_on_the_integers(*hull), "sensitivity": sensitivity}}
    of_two = verify(read_tables("two.toml", {"mechanism": two, "claim": [{"epsilon": "tight"}]}).claims[0].claim).judgement
    assert of_two.lower == of_two.upper == num(furthest)


@pytest.mark.parametrize(
    "sensitivity, hull, furthest",
    [
        *(("1/4", [[2], [0]], 0), ("3/4", [[2], [0]], 1), ("3/4", [[2], [-2]], 1), ("1/2", [[3], [1]], 1), ("1/2", [[1]], 0)),
        *(("1/2", [[2], [0]], 1), (2, [[1]], 2)),
    ],
)
def test_integers_in_a_hull_move_by_integers_in_each_of_several_steps(sensitivity, hull, furthest):
    # noise of scale 2 on the integers that is told: two steps lose at most what twice the furthest integer in the hull does
    told = {**told_on_the_integers(*hull), "sensitivity": sensitivity}
    for two in ({"kind": "group", "size": 2, "part": told}, {"kind": "lipschitz", "constant": 2, "part": told}):
        found = verify(read_tables("two.toml", {"mechanism": two, "claim": [{"epsilon": "tight"}]}).claims[0].claim).judgement
        attained = all(Fraction(x) * Fraction(sensitivity) % 1 == 0 for row in hull for x in row)
        assert (found.lower == num(furthest)) if attained else found.lower is None
        assert found.upper is None or float(enclose(found.upper).mid()) >= furthest


@pytest.mark.parametrize(
    "law, hull, sensitivity, truth",
    [(WHOLE, [[-1], [1]], "7/4", 1), (laplace(2), [["1/2"]], 1, "1/2"), (laplace(2), [[3], [1]], "1/2", "3/2")],
)
def test_two_steps_lose_twice_as_much_in_a_box_of_integers_and_in_any_hull_of_reals(law, hull, sensitivity, truth):
    # noise of the slope 1/2 that is told, moved twice by the furthest point of the hull, or by the integer part of the sensitivity
    part = {**told_on_the_integers(*hull), "fresh": {"nu": law}, "sensitivity": sensitivity}
    two = {"kind": "group", "size": 2, "part": part}
    found = verify(read_tables("two.toml", {"mechanism": two, "claim": [{"epsilon": "tight"}]}).claims[0].claim).judgement
    assert found.lower == found.upper == parse(str(truth))


@pytest.mark.parametrize("hull, truth", [([[-1], [1]], 1), ([[0], [1]], "3/4"), ([[-1], [0], [1]], 1)])
def test_integers_in_a_box_of_the_sensitivity_move_by_its_integer_part(hull, truth):
    # as on the line with the sensitivity 1, which 7/4 is no more than here: a threshold of scale 2 and answers of scale 4
    whole = {name: {"kind": "translation", "density": f"exp(-abs(z)/{scale})", "integers": True} for name, scale in (("t", 2), ("q", 4))}
    program = {**above(2, 4), "once": {"rho": whole["t"]}, "fresh": {"nu": whole["q"]}, "neighbours": "hull", "hull": hull}
    found = judged(program, sensitivity="7/4")
    assert found.lower == found.upper == parse(str(truth))


@pytest.mark.parametrize("hull", [[[1]], [[-1]], [["1/2"], [0]], [[2], [0]]])
def test_a_hull_that_is_no_such_box_is_not_cut_to_the_integer_part(hull):
    # a difference of exactly 3/2 does not occur between integers, nor do halves of it that are not 0
    found = judged(told_on_the_integers(*hull), sensitivity="3/2")
    assert found.lower in (None, num(0), parse("3/2"))
    assert (found.lower == parse("3/2")) == (hull == [[2], [0]])


def test_a_sum_of_three_integers_in_a_hull_is_not_cut_by_the_integer_part_of_the_sensitivity():
    # (1, 1, 1) is half of the sum of the points, which are pairs: in the hull of 0 and these times 3/2, and not in the hull itself
    pairs = [[0, 0, 0], [1, 1, 0], [1, 0, 1], [0, 1, 1]]
    noises = dict.fromkeys(("x", "y", "z"), WHOLE)
    three = {"kind": "stream", "answers": ["a", "b", "c"], "fresh": noises, "step": [{"tell": ["a + x", "b + y", "c + z"]}]}
    found = judged({**three, "queries": 1, "neighbours": "hull", "hull": pairs}, sensitivity="3/2")
    assert found.upper == parse("3/2")


def test_integers_in_a_hull_are_shifted_and_moved_by_integers():
    hull = {"neighbours": "hull", "hull": [[2], [-2]]}
    way = {
        "once": {"rho": ["2", "0"]},
        "modes": [[{"t": ["2", "0"]}, False]],
        "steps": [[0, 0, True, 0, {"nu": ["2", "-1"]}], [0, 1, True, 0, {}]],
        "prices": {"found": "2"},
        "each": "0",
        "ahead": ["0"],
    }
    # half of the sensitivity times points at 2: answers move by 1, as the threshold does, whose noise has the slope 1/2, and twice that
    claim = claimed({**INTEGERS, **hull}, sensitivity="1/2")
    assert alignment.infer(claim, {"ways": [way, way]}, ()).value == parse("3/2")
    # at 2/3 of it the same shifts are no integers
    with pytest.raises(Rejected, match="rho: noise on the integers is shifted by what is no integer"):
        alignment.infer(claimed({**INTEGERS, **hull}, sensitivity="1/3"), {"ways": [way, way]}, ())
    halves = way | {"steps": [[0, 0, True, 0, {"nu": ["2", "-1/2"]}], [0, 1, True, 0, {}]]}
    with pytest.raises(Rejected, match="nu: noise on the integers is shifted by what is no integer"):
        alignment.infer(claim, {"ways": [halves, halves]}, ())
    twice = {"run": [[1, ["-9"], {"nu": "0"}, ["2"]]], "weights": ["1/2"], "side": "lower", "once": {"rho": "0"}}
    assert worst_run.check(claim, twice).value == parse("1/2")
    with pytest.raises(Rejected, match="integers move by integers"):
        worst_run.check(claimed({**INTEGERS, **hull}, sensitivity="1/3"), twice)


TOLD = {"kind": "stream", "fresh": {"nu": POSITIVE}, "step": [{"tell": "q + nu"}], "queries": 1}


def test_noise_that_ends_on_one_side_is_steep_without_end_there():
    # q + Exp(1): against an answer that moves down a value told loses 1; one that moves up makes small values impossible
    def run(neighbours, move, **others):
        given = {"side": "lower", "run": [[0, ["0"], {"nu": "1"}, [move]]], **others}
        return worst_run.check(claimed({**TOLD, "neighbours": neighbours}), given).value

    def shifts(neighbours):
        way = {"once": {}, "modes": [[{}, False]], "steps": [[0, 0, True, 0, {"nu": ["0", "-1"]}]], "prices": {}}
        return alignment.infer(claimed({**TOLD, "neighbours": neighbours}), {"ways": [way | {"each": "1", "ahead": ["0"]}]}, ()).value

    assert run("decreasing", "-1", weights=["1"]) == shifts("decreasing") == num(1)
    with pytest.raises(Rejected, match="their sum"):
        run("decreasing", "-1", weights=["2"])
    with pytest.raises(Rejected, match="their sum"):
        run("decreasing", "-1", weights=["1"], unbounded=True)
    assert isinstance(run("increasing", "1", weights=["-1"], unbounded=True), Infinite)
    assert run("increasing", "1", weights=["-77"]) == num(77)
    with pytest.raises(Rejected, match="costs more"):
        shifts("increasing")
    for value in ("0", "-1"):
        with pytest.raises(Rejected, match="not certainly where it lives"):
            run("decreasing", "-1", run=[[0, ["0"], {"nu": value}, ["-1"]]], weights=["1"])


def test_a_run_is_inside_of_where_noise_ends_above():
    negative = {"kind": "translation", "density": "exp(z)", "support": ["-inf", 0]}
    claim = claimed({**TOLD, "fresh": {"nu": negative}, "neighbours": "increasing"})
    given = {"side": "lower", "weights": ["-1"]}
    assert worst_run.check(claim, given | {"run": [[0, ["0"], {"nu": "-1"}, ["1"]]]}).value == num(1)
    with pytest.raises(Rejected, match="not certainly where it lives"):
        worst_run.check(claim, given | {"run": [[0, ["0"], {"nu": "1"}, ["1"]]]})


def test_an_exact_answer_that_is_told_shows_at_any_weight():
    told = {"kind": "stream", "step": [{"tell": "q"}]}
    given = {"side": "lower", "run": [[0, ["3"], {}, ["1"]]], "weights": ["-5"]}
    assert worst_run.check(claimed(told), given).value == num(5)
    assert isinstance(worst_run.check(claimed(told), given | {"unbounded": True}).value, Infinite)
    with pytest.raises(Rejected, match="not certainly positive"):
        worst_run.check(claimed(told), given | {"weights": ["5"], "unbounded": True})


def guarded(*when, **others):
    """A sparse vector whose first branch has other comparisons too."""
    return above(2, 4, when=list(when), **others)


def test_a_branch_that_may_fail_by_what_no_noise_changes_holds_nothing_in_place():
    # where c = 1 the first branch is never taken, "below" is told always, and nothing is lost
    some = {"run": [BELOW], "weights": ["1/4"]}
    with pytest.raises(Rejected, match="with room"):
        ran_by_hand(guarded("c >= 2", "q + nu >= t", parameters={"c": "integer >= 1"}), **some)
    assert ran_by_hand(guarded("c >= 2", "q + nu >= t", parameters={"c": "integer >= 2"}), **some).value == parse("1/4")
    never = guarded("c > 2", "q + nu >= t", parameters={"c": "in (1, 2)"})
    with pytest.raises(CertificateError, match="cannot be used"):
        ran_by_hand(never, **some)
    assert ran_by_hand(never, run=[BELOW], weights=[]).value == num(0)
    with pytest.raises(Rejected, match="with room"):
        ran_by_hand(never, run=[FOUND], weights=["1/4"])


def test_comparisons_without_noise_hold_at_their_ends_as_they_are_written(monkeypatch):
    monkeypatch.setattr("dpverify.catalogue.kinds.branches.in_order", lambda stream: stream)  # the rule sees what is written
    rest = {"run": [FOUND], "weights": ["1/4"]}
    assert ran_by_hand(guarded("1 >= 1", "q + nu >= t"), **rest).value == parse("1/4")
    assert ran_by_hand(guarded("t >= rho", "q + nu >= t"), **rest).value == parse("1/4")  # the noise of the threshold falls out
    with pytest.raises(Rejected, match="with room"):
        ran_by_hand(guarded("1 > 1", "q + nu >= t"), **rest)
    with pytest.raises(CertificateError, match="cannot be used"):
        ran_by_hand(guarded("1 > 1", "q + nu >= t"), run=[BELOW], weights=["1/4"])
    with pytest.raises(Rejected, match="with room"):  # the first branch is always taken
        ran_by_hand(guarded("1 >= 1"), run=[BELOW], weights=[])
    with pytest.raises(Rejected, match="several comparisons"):
        ran_by_hand(guarded("1 >= 1", "q + nu >= t", "q + nu >= 2*t"), run=[BELOW], weights=["1/4"])


def test_a_run_of_branches_that_cannot_be_told_apart_or_are_not_seen_is_refused():
    same, silent = above(2, 4), above(2, 4)
    same["step"] = [{**same["step"][0], "emit": "told"}, {"emit": "told"}]
    silent["step"] = [silent["step"][0], {}]
    for mechanism, said in ((same, "tells the same"), (silent, "tells nothing")):
        with pytest.raises(Rejected, match=said):
            ran_by_hand(mechanism)
    counted = above(2, 4)
    counted["step"] = [{**counted["step"][0], "emit": "told", "tell": "q + nu - t"}, {"emit": "told"}]
    # the gap that is told has a weight of its own, of any sign
    assert ran_by_hand(counted, weights=["1/4", "1/2", "-1/4"]).value == parse("1/2")


def test_a_run_is_repeated_only_where_values_forms_and_counters_come_back():
    part = {"repeat": [0, 1], "times": 3, "run": [[0, ["0"], {"nu": "0"}, ["0"]]], "weights": ["0"]}
    with pytest.raises(Rejected, match="not what it was before"):  # the noise of the step is kept
        worst_run.check(claimed(PREFIX), {"side": "lower", **part})
    sums = {"kind": "stream", "state": {"s": 0}, "step": [{"tell": "q", "set": {"s": "s + q"}}]}
    with pytest.raises(Rejected, match="not what it was before"):  # the sum has grown
        worst_run.check(claimed(sums), {"side": "lower", **part, "run": [[0, ["1"], {}, ["0"]]]})
    with pytest.raises(Rejected, match="not what it was before"):  # the sum is apart
        worst_run.check(claimed(sums), {"side": "lower", **part, "run": [[0, ["0"], {}, ["1"]]]})
    assert worst_run.check(claimed(sums), {"side": "lower", **part, "run": [[0, ["0"], {}, ["0"]]]}).value == num(0)


def test_comparisons_of_exact_answers_are_escaped_by_no_noise():
    exact = {"kind": "stream", "step": [{"when": "q >= 0", "emit": "yes"}, {"emit": "no"}]}
    for step in ([0, ["1"], {}, ["-1"]], [1, ["-1"], {}, ["1"]]):
        given = {"side": "lower", "run": [step], "weights": ["1"], "unbounded": True}
        assert isinstance(worst_run.check(claimed(exact), given).value, Infinite)


def test_a_run_at_a_value_of_a_parameter_bounds_epsilon_there():
    later = {"run": [FOUND, BELOW], "at": {"c": "2"}}
    found = ran_by_hand(with_limit("c", parameters={"c": "integer >= 1"}), **later)
    assert (found.value, found.at) == (parse("1/2"), {"c": num(2)})


def test_what_is_repeated_comes_back_to_where_it_began_and_not_to_the_start():
    later = {"run": [FOUND, BELOW], "repeat": [1, 2], "times": 5, "weights": ["0", "0"]}
    assert ran_by_hand(with_limit(3), **later).value == num(0)


def test_multiples_of_what_is_kept_and_of_noise_count_as_often_as_they_stand():
    # 3 Laplace(1) is Laplace(3), and twice the sum of one answer that moves by 1 is 2 further away: 2/3
    sums = {"kind": "stream", "fresh": {"nu": laplace(1)}, "state": {"s": 0}, "step": [{"tell": "2*s + 3*nu", "set": {"s": "s + q"}}]}
    given = {"side": "lower", "run": [[0, ["5"], {"nu": "0"}, ["1"]]] * 2}
    assert worst_run.check(claimed(sums), given | {"weights": ["0", "-1/3"]}).value == parse("2/3")
    with pytest.raises(Rejected, match="their sum"):
        worst_run.check(claimed(sums), given | {"weights": ["0", "-1/2"]})


def test_the_state_after_a_step_is_made_of_what_was_before_it():
    # a and b change places: at the second step the answer of the first is told again with noise
    swap = {"a": "b", "b": "q"}
    twice = {"kind": "stream", "fresh": {"nu": laplace(1)}, "state": {"a": 0, "b": 0}, "step": [{"tell": "a + nu", "set": swap}]}
    run = [[0, ["0"], {"nu": "0"}, [move]] for move in ("1", "1", "1")]
    found = worst_run.check(claimed(twice), {"side": "lower", "run": run, "weights": ["-1", "-1", "-1"]})
    assert found.value == num(1)  # only the third step tells an answer, that of the first
    twice["step"] = [{"when": "a >= 7", "emit": "late", "set": swap}, {"emit": "early", "set": swap}]
    late = [[1, ["7"], {"nu": "0"}, ["0"]], [1, ["8"], {"nu": "0"}, ["0"]], [0, ["9"], {"nu": "0"}, ["0"]]]
    assert worst_run.check(claimed(twice), {"side": "lower", "run": late, "weights": []}).value == num(0)
    with pytest.raises(Rejected, match="with room"):
        worst_run.check(claimed(twice), {"side": "lower", "run": [late[0], late[2]], "weights": []})


def test_an_alignment_by_hand_costs_what_it_is_paid():
    assert aligned_by_hand(above(2, 4)).value == num(1)
    # a limit of 3/2 is passed by the second: 1/2 + 2/2; one that is reached at the start pays nothing
    assert aligned_by_hand(with_limit("3/2")).value == parse("3/2")
    assert aligned_by_hand(with_limit("0")).value == aligned_by_hand(with_limit("-5")).value == parse("1/2")
    assert aligned_by_hand(with_limit("c", parameters={"c": "integer >= 1"})).value == parse("1/2 + c/2")
    half = above(2, 4)
    half["step"][0]["count"] = {"found": "1/2"}
    assert aligned_by_hand(half, prices={"found": "1"}).value == parse("3/2")  # 1/2 once, and two halves at the price 1
    assert aligned_by_hand(above(2, 4, limit=0, queries=5), prices={}, each="1/2").value == num(3)
    many = above(2, 4, limit=0, queries="n", parameters={"n": "integer >= 1"})
    assert aligned_by_hand(many, prices={}, each="1/2").value == parse("1/2 + n/2")
    assert aligned_by_hand(above(2, 4), ahead=["1/3"]).value == parse("4/3")


HALF = {"rho": ["1/2", "0"]}
STEPS = [[0, 0, True, 0, {"nu": ["1", "-1"]}], [0, 1, True, 0, {}]]
MOVED = [[0, 0, True, 1, {"nu": ["1", "-1"]}], [0, 1, True, 1, {}], [1, 0, False, 1, {}], [1, 1, False, 1, {}]]


@pytest.mark.parametrize(
    "mechanism, others, said",
    [
        # shifts that follow the answers of one step do not keep what is kept for all of them
        (above(2, 4, limit=0), {"once": {"rho": ["0", "1"]}, "modes": [[{"t": ["0", "1"]}, False]], "prices": {}}, "answers of one step"),
        (above(2, 4), {"once": {"rho": ["1", "1"]}}, "answers of one step"),
        (above(2, 4), {"modes": [[{"t": ["1", "1"]}, False]]}, "answers of one step"),
        (above(2, 4), {"prices": {"found": "1/2 - 1/1000"}}, "costs more"),
        (above(2, 4), {"prices": {}}, "costs more"),
        (above(2, 4), {"prices": {"found": "1/2 + w - w + abs(v)"}}, "no parameter"),
        (above(2, 4), {"ahead": ["-1"]}, "not certainly at least 0"),
        (above(2, 4, queries=3), {"each": "-1"}, "not certainly at least 0"),
        (above(2, 4), {"each": "1/9"}, "no limit of them"),
        (above(2, 4), {"each": None}, "cannot be used"),
        (above(2, 4), {"steps": [[0, 0, True, 0, {"nu": ["1/2", "-1"]}], STEPS[1]]}, "come out in another way"),
        (above(2, 4), {"once": {"rho": ["1/2", "0"]}, "modes": [[{"t": ["1/2", "0"]}, False]]}, "come out in another way"),
        (guarded("1 >= 0", "q + nu >= t"), {"steps": [[0, 0, True, 0, {"nu": ["1/2", "-1"]}], STEPS[1]]}, "come out in another way"),
        (guarded("1 >= 0", "q + nu >= t"), {"once": HALF, "modes": [[{"t": ["1/2", "0"]}, False]]}, "come out in another way"),
        (above(2, 4, tell="q + nu"), {}, "does not stay"),
        (above(2, 4, tell=["q + nu - t", "q + nu"]), {}, "does not stay"),
        (above(2, 4, tell="t - q - nu"), {"steps": [[0, 0, True, 0, {"nu": ["2", "-1"]}], STEPS[1]]}, "does not stay"),
        (above(2, 4, step=[{"when": "q + nu >= t", "set": {"t": "0"}}, {"emit": "below"}]), {}, "state after it"),
        (above(2, 4), {"once": {}}, "not as far apart as a mode says"),
        (above(2, 4), {"steps": [STEPS[0], [0, 1, True, 1, {}]], "modes": [[{"t": ["1", "0"]}, False]]}, "that there is not"),
        (above(2, 4), {"steps": [*STEPS, [1, 1, True, 1, {}]]}, "that there is not"),
        (above(2, 4), {"steps": [*STEPS, [1, 1, True, 0, {}]]}, "that there is not"),
        (above(2, 4), {"steps": [*STEPS, [0, 2, True, 0, {}]]}, "no such branch"),
        (above(2, 4), {"steps": [*STEPS, [0, 1, False, 0, {}]]}, "in which they do not"),
        (above(2, 4), {"steps": STEPS[:1]}, "no mode goes along"),
        *((above(2, 4), {"steps": [STEPS[0], [mode, 1, True, 0, {}]]}, NO_FORM) for mode in (False, "0", 0.5, -1, float("inf"))),
        (above(2, 4), {"steps": [STEPS[0], [0, True, True, 0, {}]]}, NO_FORM),
        (above(2, 4), {"steps": [STEPS[0], [0, 1, True, False, {}]]}, NO_FORM),
        (above(2, 4), {"steps": [STEPS[0], [0, 1, True]]}, NO_FORM),
        (above(2, 4), {"modes": [[{"t": ["1", "0"]}, True]]}, "nothing has moved"),
        (above(2, 4), {"modes": [[{"t": ["1", "0"]}, over] for over in (False, True)], "steps": MOVED, "ahead": ["0"] * 2}, "nothing"),
        (above(2, 4), {"steps": [STEPS[0], [0, 1, 1, 0, {}]]}, "in which they do not"),
        (above(2, 4), {"steps": [[0, 0, True, 0, {"mu": ["1", "-1"]}], STEPS[1]]}, "may come out in another way"),
        (above(2, 4), {"prices": {"found": "1/2", "lost": "0"}}, "no counter"),
        (INTEGERS, {"once": {"rho": ["1/2", "0"]}}, "no integer"),
        (INTEGERS, {"steps": [[0, 0, True, 0, {"nu": ["1", "-3/2"]}], STEPS[1]]}, "no integer"),
    ],
)
def test_an_alignment_by_hand_that_does_not_hold_is_refused(mechanism, others, said):
    with pytest.raises((Rejected, CertificateError, *STUMBLES), match=said):
        aligned_by_hand(mechanism, **others)


@pytest.mark.parametrize(
    "limit, counts, most",
    [
        ("1", ("1/3",), "1"),  # three times
        ("1", ("2/3",), "4/3"),  # twice
        ("1", ("2/5", "0"), "6/5"),
        ("1", ("1/2", "1/3"), "4/3"),  # 5/6 are below 1, and a half more
        ("1/1000", ("1",), "1"),
        ("c", ("1/3",), "c"),
        ("c", ("2/3",), "c + 2/3"),  # 3 c/2 is no integer for every c
        ("c", ("1", "2"), "c + 1"),
        ("b", ("1",), "b + 1"),
        ("1", ("b",), "b + 1"),
        ("c", ("c", "1"), "2*c - 1"),
    ],
)
def test_what_a_counter_reaches_is_known_from_what_is_added_to_it(limit, counts, most):
    # each branch costs what it counts, so that the run costs what the counter reaches
    names = [f"nu{i}" for i in range(len(counts))]
    mechanism = {
        "kind": "stream",
        "parameters": {"c": "integer >= 1", "b": "positive"},
        "fresh": {name: laplace(1) for name in names},
        "limits": {"done": limit},
        "state": {"s": 0},
        "step": [
            *({"when": f"s >= {i + 1}", "emit": str(i), "count": {"done": count}, "set": {"s": 0}} for i, count in enumerate(counts[1:])),
            {"emit": "last", "count": {"done": counts[0]}, "set": {"s": 1}},
        ],
    }
    steps = [[0, branch, True, 0, {}] for branch in range(len(counts))]
    way = {"once": {}, "modes": [[{}, False]], "steps": steps, "prices": {"done": "1"}, "each": "0", "ahead": ["0"]}
    found = alignment.infer(claimed(mechanism, epsilon="b"), {"ways": [way]}, ()).value
    for c, b in ((1, "1/2"), (1, "3"), (4, "3"), (7, "7/2")):
        here = {"c": num(c), "b": parse(b)}
        reached, truth = substitute(found, here), _reached(substitute(parse(limit), here), [substitute(parse(x), here) for x in counts])
        assert float(enclose(reached).mid()) >= float(truth) - 1e-12
        assert enclose(reached).overlaps(enclose(substitute(parse(most), here)))


def _reached(limit, counts):
    """By going all ways."""
    open_, seen, most = {Fraction(0)}, set(), Fraction(0)
    while open_:
        at = open_.pop()
        for count in counts:
            to = at + count.value
            most = max(most, to)
            if to < limit.value and to not in seen:
                seen.add(to)
                open_.add(to)
    return most


def test_a_passage_between_modes_is_not_gone_twice_so_that_it_pays_for_every_step():
    # endless positives cost 1/2 each; to and fro, each step would leave a mode and be paid by it
    to_and_fro = [[mode, branch, True, 1 - mode, shifts] for mode in (0, 1) for _, branch, _, _, shifts in STEPS]
    way = {"modes": [[{"t": ["1", "0"]}, False]] * 2, "steps": to_and_fro, "prices": {}, "ahead": ["1/2", "0"]}
    with pytest.raises(Rejected, match="costs more"):
        aligned_by_hand(above(2, 4, limit=0), **way)


def test_every_counter_ends_a_run_by_what_is_added_to_it():
    def counting(limits, count):
        mechanism = above(2, 4, limits=limits)
        mechanism["step"][0]["count"] = count
        return mechanism

    for mechanism in (counting({"a": 9, "b": 1}, {"a": 1, "b": 1}), counting({"a": 2, "b": 9}, {"a": 2, "b": 2})):
        assert ran_by_hand(mechanism).value == parse("1/2")
        with pytest.raises(Rejected, match="may have reached its limit"):
            ran_by_hand(mechanism, run=[FOUND, FOUND])
    # a counter may be compared: the first branch is not open before something is counted
    later = guarded("found >= 1", "q + nu >= t", limit=3)
    assert ran_by_hand(later, run=[BELOW, BELOW], weights=[]).value == num(0)


@pytest.mark.parametrize(
    "neighbours, moves, truth",
    [
        ({}, ["1", "1"], 2),  # the distance of the corner (1, 1), where each coordinate costs 1
        ({"neighbours": "hull", "hull": [[1, 0], [0, -1]]}, ["0", "-1"], 1),
        ({"neighbours": "hull", "hull": [[0, 0], [2, -1]]}, ["2", "-1"], 3),
        ({"neighbours": "monotone"}, ["-1", "-1"], 2),
    ],
)
def test_several_answers_in_a_step_cost_what_they_move_by_together(neighbours, moves, truth):
    pair = {"kind": "stream", "answers": ["q", "r"], "fresh": {"nu": laplace(1), "mu": laplace(1)}, "queries": 1, **neighbours}
    claim = claimed({**pair, "step": [{"tell": ["q + nu", "r + mu"]}]})
    shifts = {"nu": ["0", "-1", "0"], "mu": ["0", "0", "-1"]}
    way = {"once": {}, "modes": [[{}, False]], "steps": [[0, 0, True, 0, shifts]], "prices": {}, "each": str(truth), "ahead": ["0"]}
    ways = [way] * (1 if not neighbours else 2)
    assert alignment.infer(claim, {"ways": ways}, ()).value == num(truth)
    with pytest.raises(Rejected, match="costs more"):
        alignment.infer(claim, {"ways": [*ways[1:], way | {"each": f"{truth} - 1/9"}]}, ())
    with pytest.raises(Rejected, match="does not stay"):
        alignment.infer(claim, {"ways": [*ways[1:], way | {"steps": [[0, 0, True, 0, {"nu": shifts["nu"]}]]}]}, ())
    weights = ["-1" if move[0] != "-" else "1" for move in moves]
    run = {"side": "lower", "run": [[0, ["0", "0"], {"nu": "0", "mu": "0"}, moves]], "weights": weights}
    assert worst_run.check(claim, run).value == num(truth)


def test_what_is_drawn_once_costs_what_its_dearest_shift_does():
    # positive noise may go to the right at a cost of 1, and to the left at no finite one
    once = {"kind": "stream", "once": {"rho": POSITIVE}, "state": {"t": "rho"}, "neighbours": "one", "step": [{"emit": "on"}]}
    for shift, cost in ((["0", "1"], None), (["1", "0"], num(1)), (["1", "1"], num(2))):
        modes = [[{"t": shift}, over] for over in (False, True)]
        steps = [[0, 0, False, 0, {}], [0, 0, True, 1, {}], [1, 0, False, 1, {}]]
        way = {"once": {"rho": shift}, "modes": modes, "steps": steps, "prices": {}, "each": "0", "ahead": ["0", "0"]}
        found = alignment.infer(claimed(once), {"ways": [way]}, ()).value
        assert isinstance(found, Infinite) if cost is None else found == cost


def test_a_counter_that_may_fall_pays_for_nothing():
    falls = above(2, 4)
    falls["step"][1]["count"] = {"found": -1}
    with pytest.raises(Rejected, match="never falls"):
        aligned_by_hand({**falls, "queries": 2}, each="1/2")


def test_there_is_an_alignment_for_each_family():
    with pytest.raises(CertificateError, match="cannot be used"):
        aligned_by_hand(above(2, 4, neighbours="monotone"))
    with pytest.raises(CertificateError, match="cannot be used"):
        bound(claimed(above(2, 4)), Step("alignment", {}))


def test_one_answer_alone_moves_once_and_is_paid_once():
    # q + Laplace(1) told at every step, one answer alone moves: 1 for the step that moves, 0 for all others
    told = {"kind": "stream", "fresh": {"nu": laplace(1)}, "neighbours": "one", "step": [{"tell": "q + nu"}]}
    steps = [[0, 0, False, 0, {}], [0, 0, True, 1, {"nu": ["0", "-1"]}], [1, 0, False, 1, {}]]
    way = {"once": {}, "modes": [[{}, False], [{}, True]], "steps": steps, "prices": {}, "each": "0", "ahead": ["1", "0"]}
    assert alignment.infer(claimed(told), {"ways": [way]}, ()).value == num(1)
    stays = [steps[0], [0, 0, True, 0, {"nu": ["0", "-1"]}], steps[2]]
    for forged, said in (
        (way | {"ahead": ["9/10", "0"]}, "costs more"),
        (way | {"ahead": ["1"]}, "each with what is kept there"),
        (way | {"ahead": ["1", "0", "0"]}, "each with what is kept there"),
        (way | {"modes": [[{}, True]], "steps": [[0, 0, False, 0, {}]], "ahead": ["0"]}, "nothing has moved"),
        (way | {"steps": stays}, "is not kept"),
        (way | {"steps": [[0, 0, False, 1, {}], *steps[1:]]}, "is not kept"),
        (way | {"steps": steps[:2]}, "no mode goes along"),
        (way | {"steps": [*steps, [1, 0, True, 1, {}]]}, "in which they do not"),
        (way | {"modes": [[{}, False], [{}, 1]]}, "is not kept"),
    ):
        with pytest.raises((Rejected, CertificateError), match=said):
            alignment.infer(claimed(told), {"ways": [forged]}, ())


# -- declarations -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change, said",
    [
        ({"state": {"t": "rho + q"}}, "q is not known yet"),
        ({"state": {"q": "rho"}}, "names two things"),
        ({"limits": {"found": "t"}}, "the same in every run"),
        ({"step": [{"when": "q >= t"}]}, "Give the last one none"),
        ({"step": [{"when": "q", "emit": "a"}, {}]}, "is no comparison"),
        ({"step": [{"when": "q >= t >= 0"}, {}]}, "is no comparison"),
        ({"step": [{"when": "q*nu >= t"}, {}]}, "no sum of rational multiples"),
        ({"step": [{"set": {"u": "q"}}]}, "u is not declared"),
        ({"step": [{"count": {"t": 1}}]}, "t is not declared"),
        ({"step": [{"count": {"found": "q"}}]}, "the same in every run"),
        ({"step": [{"tells": "q"}]}, "unknown key"),
        ({"neighbours": "hull"}, "wants hull"),
        ({"hull": [[1]]}, "no other neighbours have it"),
        ({"neighbours": "hull", "hull": [[1, 2]]}, "as many numbers"),
        ({"parameters": {"t": 3}}, "names a parameter"),
        ({"answers": ["q", "q"]}, "names two things"),
        ({"once": {"rho": {"kind": "table", "rows": [["1/2", "1/2"]]}}}, "no noise on one number"),
    ],
)
def test_what_a_declaration_gets_wrong_is_said(change, said):
    with pytest.raises(SpecError, match=said):
        claimed({**above(2, 4), **change})


@pytest.mark.parametrize(("density", "told"), [("1/(1 + abs(z))", True), ("1/(1 + z**2)", False), ("exp(-z**2)", False)])
def test_noise_that_is_not_shifted_is_shown_to_be_a_law_or_assumed_to_be_one(density, told):
    # the numbers that are told of the noise xi are those of noise alone, so that it is not shifted
    claim, evidence = steps_of(above(2, 4, fresh=3, tell="xi"), "alignment")
    (nu, xi), other = claim.mechanism.fresh, Translation(parse(density), (None, None), False)
    claim = dataclasses.replace(claim, mechanism=dataclasses.replace(claim.mechanism, fresh=(nu, dataclasses.replace(xi, noise=other))))
    bound = alignment.infer(claim, evidence, ())
    assert (bound.value, NORMALISED in bound.assumed) == (Num(1), told)


# -- differences that are known up to an interval alone ---------------------------------------------------------------


def least_and_greatest(k, first, later):
    """The least and greatest of the first k answers with noise are kept; reading them is told by one word."""
    reading = f"seen <= {k - 1}"
    return {
        "kind": "stream", "fresh": {"nu": laplace(first), "xi": laplace(later)},
        "state": {"low": 0, "high": 0, "seen": 0}, "limits": {"outside": 1},
        "step": [
            {"when": "seen <= 0", "emit": "read", "set": {"low": "q + nu", "high": "q + nu", "seen": 1}},
            {"when": [reading, "q + nu < low"], "emit": "read", "set": {"low": "q + nu", "seen": "seen + 1"}},
            {"when": [reading, "q + nu >= high"], "emit": "read", "set": {"high": "q + nu", "seen": "seen + 1"}},
            {"when": reading, "emit": "read", "set": {"seen": "seen + 1"}},
            {"when": "q + xi < low", "emit": "left", "count": {"outside": 1}},
            {"when": "q + xi >= high", "emit": "right", "count": {"outside": 1}},
            {"emit": "inside"},
        ],
    }  # fmt: skip


@pytest.fixture(scope="module")
def kept_for_a_while():
    claim = claimed(least_and_greatest(3, 12, 4))
    return claim, {"ways": streams._of_slopes(replace(claim, epsilon=None, delta=None), ()).ways}


def test_what_is_kept_for_a_while_is_not_shifted(kept_for_a_while):
    claim, evidence = kept_for_a_while  # two of the first noises by 2 each, a later one by 2
    assert alignment.infer(claim, evidence, ()).value == Num(Fraction(4, 12) + Fraction(2, 4))
    assert any(len(mode) == 3 for mode in evidence["ways"][0]["modes"])


def loosened(evidence, to):
    found = copy.deepcopy(evidence)
    for mode in found["ways"][0]["modes"]:
        if len(mode) == 3:
            mode[2] = to(mode[2])
    return found


@pytest.mark.parametrize(
    ("to", "said"),
    [
        (lambda more: {name: str(Fraction(x) * 9 / 10) for name, x in more.items()}, "not as far apart"),
        (lambda more: {}, "not as far apart"),
        (lambda more: dict.fromkeys(more, "9"), "may come out in another way|not as far apart"),
        (lambda more: dict.fromkeys(more, "-1"), "less than 0"),
        (lambda more: {"nu": "1"}, "of no state"),
    ],
)
def test_an_interval_is_no_narrower_than_what_is_kept_and_no_wider_than_comparisons_allow(kept_for_a_while, to, said):
    claim, evidence = kept_for_a_while
    with pytest.raises((Rejected, CertificateError), match=said):
        alignment.infer(claim, loosened(evidence, to), ())


def test_what_is_told_is_not_loose(kept_for_a_while):
    _, evidence = kept_for_a_while
    mechanism = least_and_greatest(3, 12, 4)
    mechanism["step"][-1] |= {"tell": "low"}
    with pytest.raises(Rejected, match="what is told does not stay"):
        alignment.infer(claimed(mechanism), evidence, ())


def test_no_run_that_compares_answers_with_the_one_before_loses_more_than_its_alignment_costs():
    rises = {"when": "q - last + nu >= t", "emit": "rises", "set": {"last": "q"}, "count": {"found": 1}}
    mechanism = above(2, 4) | {"state": {"last": 0, "t": "rho"}, "step": [rises, {"emit": "no", "set": {"last": "q"}}]}
    claim = claimed(mechanism)
    ways = streams._of_slopes(replace(claim, epsilon=None, delta=None), ()).ways
    most = alignment.infer(claim, {"ways": ways}, ()).value
    t, rng, worst = np.linspace(-40, 40, 1601), np.random.default_rng(1), 0.0

    def chance(q):  # no, no, ..., rises
        steps = np.diff(q, prepend=0)
        below = [stats.laplace.cdf(t - step, scale=4) for step in steps]
        return np.sum(stats.laplace.pdf(t, scale=2) * np.prod(below[:-1], axis=0) * (1 - below[-1]))

    for _ in range(300):
        q, move = rng.normal(0, 8, 4), rng.choice([-1, 1], 4)
        worst = max(worst, abs(math.log(chance(q) / chance(q + move))))
    assert 1 < worst <= float(most.value) == 2
