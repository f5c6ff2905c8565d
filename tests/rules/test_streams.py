"""Streams of noisy comparisons: published truths, brute force over small runs, and evidence that must be refused."""

from __future__ import annotations

import copy
import itertools
import math

import numpy as np
import pytest

from dpverify.catalogue.reader import read_tables
from dpverify.errors import SpecError
from dpverify.search.verify import verify
from dpverify.trusted.facts.bounds import Infinite
from dpverify.trusted.language.errors import CertificateError, DpverifyError, Rejected
from dpverify.trusted.language.expr import Num, num, parse
from dpverify.trusted.order.enclosed import enclose
from dpverify.trusted.rules.selection import alignment, worst_run


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
    "a hull that is one way": (above(2, 4, neighbours="hull", hull=[[0], [1]]), "3/4"),
}
NO_EPSILON = {
    "exact answers": above(2, 0, limit=0, when="q >= t"),
    "no limit of those above": above(2, 2, limit=0),
    "the noisy answer told": above(2, 4, tell="q + nu"),
    "the exact answer told": above(2, 4, tell="q"),
    "sums that all answers move": RUNNING,
}


def claimed(mechanism, epsilon="tight", **others):
    table = {"mechanism": mechanism, "claim": [{"sensitivity": 1, "epsilon": epsilon} | others]}
    return read_tables("stream.toml", table).claims[0].claim


def judged(mechanism, **others):
    return verify(claimed(mechanism, **others)).judgement


@pytest.mark.parametrize("mechanism, truth", EXACT.values(), ids=EXACT)
def test_runs_of_the_literature_have_their_exact_epsilon_on_both_sides(mechanism, truth):
    found = judged(mechanism)
    assert (found.lower, found.upper) == (parse(truth), parse(truth))


@pytest.mark.parametrize("mechanism", NO_EPSILON.values(), ids=NO_EPSILON)
def test_what_is_private_at_no_epsilon_is_refuted_at_every(mechanism):
    found = judged(mechanism, epsilon=1000)
    assert found.verdict == "REFUTED"
    assert isinstance(found.lower, Infinite)


def test_a_proof_for_every_number_of_positives_and_every_scale():
    noises = above("2/e", "4*c/e", limit="c", tell="q + nu - t", parameters={"c": "integer >= 1", "e": "positive"})
    assert judged(noises, epsilon="e").verdict == "PROVED"
    assert judged(noises, epsilon="99*e/100").verdict == "REFUTED"


def test_what_a_query_more_costs_is_proved_for_every_number_of_them():
    told = above(2, 4, tell="q + nu", queries="n", parameters={"n": "integer >= 1"})
    assert judged(told, epsilon="n/4").verdict == "PROVED"
    assert judged(told, epsilon="n/4 - 1/1000").verdict == "REFUTED"
    assert judged(told, epsilon=1).verdict == "REFUTED"


def test_gaussian_noise_has_no_pure_epsilon_over_all_answers():
    gauss = {"kind": "builtin", "name": "gaussian", "sigma": 2}
    found = judged({**above(2, 4), "once": {"rho": gauss}}, epsilon=50)
    assert found.verdict != "PROVED"


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
    tight = alignment.check(claim, evidence).value
    for path in every_number(evidence):
        try:
            forged = changed(evidence, path, to if "prices" in path else rational(to))
            value = alignment.check(claim, forged).value
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
        ({"leaving": []}, "each with a price"),
        ({"modes": []}, "each with a price"),
        ({"modes": [[{}, True]]}, "nothing has moved"),
        ({"steps": []}, "exactly one entry"),
        ({"once": {"rho": ["0", "0"]}}, "not as far apart"),
        ({"once": {"rho": ["1"]}}, "not 2 numbers"),
        ({"once": {"tau": ["1", "0"]}}, "no known name"),
    ],
)
def test_what_an_alignment_may_not_say(aligned, others, said):
    claim, forged = way(aligned, **others)
    with pytest.raises((Rejected, CertificateError), match=said):
        alignment.check(claim, forged)


def test_a_branch_that_leads_back_is_refused(aligned):
    claim, evidence = aligned
    forged = copy.deepcopy(evidence)
    for step in forged["ways"][0]["steps"]:
        step[3] = 7
    with pytest.raises(CertificateError, match="leads back"):
        alignment.check(claim, forged)


def test_a_price_of_a_passage_is_paid_once_and_so_modes_are_never_left_twice():
    claim, evidence = steps_of(SMART, "alignment")
    assert alignment.check(claim, evidence).value == Num(2)
    forged = copy.deepcopy(evidence)
    forged["ways"][0]["leaving"] = ["1", "0", "0"]
    with pytest.raises(Rejected, match="costs more"):
        alignment.check(claim, forged)


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
        alignment.check(claim, forged)


def test_two_branches_that_tell_the_same_hide_the_run():
    same = above(2, 4, queries=3)
    same["step"] = [{**same["step"][0], "emit": "told"}, {"emit": "told"}]
    found = judged(same)
    assert found.lower in (None, num(0))


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
        ({"hull": [[1]]}, "without neighbours"),
        ({"neighbours": "hull", "hull": [[1, 2]]}, "as many numbers"),
        ({"parameters": {"t": 3}}, "names a parameter"),
        ({"answers": ["q", "q"]}, "names two things"),
        ({"once": {"rho": {"kind": "table", "rows": [["1/2", "1/2"]]}}}, "no noise on one number"),
    ],
)
def test_what_a_declaration_gets_wrong_is_said(change, said):
    with pytest.raises(SpecError, match=said):
        claimed({**above(2, 4), **change})
