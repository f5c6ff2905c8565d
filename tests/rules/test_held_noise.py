"""Streams that keep noise and compare it later: shifts that hang on the whole run, brute force, and evidence that must be refused."""

from __future__ import annotations

import copy
import dataclasses
import itertools
import math
from collections import defaultdict

import pytest

from dpverify.catalogue.reader import read_tables
from dpverify.search.verify import verify
from dpverify.trusted.kernel.errors import CertificateError, DpverifyError, Rejected
from dpverify.trusted.kernel.expr import num, parse
from dpverify.trusted.order.enclosed import enclose
from dpverify.trusted.theories.selection.rules import alignment
from tests import proofs, selections


def laplace(scale):
    return {"kind": "builtin", "name": "laplace", "scale": scale}


FIRST, LATER = laplace(8), laplace(4)


def least_and_greatest(k, first=FIRST, later=LATER, **others):
    """Of the first k answers the least and the greatest with noise are kept; then it is told on which side of them an answer outside is."""
    reading = f"seen <= {k - 1}"
    return {
        "kind": "stream",
        "fresh": {"nu": first, "xi": later},
        "state": {"low": 0, "high": 0, "seen": 0},
        "limits": {"outside": 1},
        "step": [
            {"when": "seen <= 0", "emit": "read", "set": {"low": "q + nu", "high": "q + nu", "seen": 1}},
            {"when": [reading, "q + nu < low"], "emit": "read", "set": {"low": "q + nu", "seen": "seen + 1"}},
            {"when": [reading, "q + nu >= high"], "emit": "read", "set": {"high": "q + nu", "seen": "seen + 1"}},
            {"when": reading, "emit": "read", "set": {"seen": "seen + 1"}},
            {"when": "q + xi < low", "emit": "left", "count": {"outside": 1}},
            {"when": "q + xi >= high", "emit": "right", "count": {"outside": 1}},
            {"emit": "inside"},
        ],
        **others,
    }


SORTED = {
    # two noises drawn once; which of them is the least is not told, and each has a shift of its own in both cases
    "kind": "stream",
    "once": {"a": laplace(8), "b": laplace(8)},
    "fresh": {"xi": laplace(4)},
    "state": {"low": 0, "high": 0, "seen": 0},
    "limits": {"outside": 1},
    "step": [
        {"when": ["seen <= 0", "a < b"], "emit": "ready", "set": {"low": "a", "high": "b", "seen": 1}},
        {"when": "seen <= 0", "emit": "ready", "set": {"low": "b", "high": "a", "seen": 1}},
        {"when": "q + xi < low", "emit": "left", "count": {"outside": 1}},
        {"when": "q + xi >= high", "emit": "right", "count": {"outside": 1}},
        {"emit": "inside"},
    ],
}


def claimed(mechanism, epsilon="tight", **others):
    table = {"mechanism": mechanism, "claim": [{"sensitivity": 1, "epsilon": epsilon} | others]}
    return read_tables("stream.toml", table).claims[0].claim


def upper(mechanism, **others):
    return selections.upper(claimed(mechanism, **others))


@pytest.mark.wide
@pytest.mark.sampled(1)
@pytest.mark.parametrize("k", [2, 5])
def test_the_least_and_the_greatest_cost_two_each_and_all_others_one(k):
    assert upper(least_and_greatest(k)) == parse(f"2*2/8 + {k - 2}/8 + 2/4")


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "neighbours, value",
    [
        # up by d in [0, 1]: the least is held, at a cost of d, the greatest goes up with it for 1 - d, and one that is below has d, above 1
        ("increasing", "1/8 + 1/8 + 1/4"),
        ("monotone", "1/8 + 1/8 + 1/4"),
    ],
)
def test_answers_that_move_one_way_cost_half(neighbours, value):
    assert upper(least_and_greatest(2, neighbours=neighbours)) == parse(value)


def test_noise_drawn_once_may_have_another_shift_on_another_run():
    assert upper(SORTED) == parse("1/8 + 1/8 + 2/4")


def test_integers_are_shifted_by_integers_on_each_run():
    whole = {"kind": "translation", "density": "exp(-abs(z)/8)", "integers": True}
    later = {"kind": "translation", "density": "exp(-abs(z)/4)", "integers": True}
    assert upper(least_and_greatest(2, whole, later)) == num(1)


# -- brute force -------------------------------------------------------------------------------------------------------


def geometric(slope, reach):
    """P[Z = z] proportional to exp(-slope |z|) on the integers, up to a reach beyond which nothing counts."""
    ratio = math.exp(-slope)
    return {z: (1 - ratio) / (1 + ratio) * ratio ** abs(z) for z in range(-reach, reach + 1)}


def chances(answers, first, later):
    """The probabilities of what two answers read and all later ones tell, by enumeration of all noises."""
    held = defaultdict(float)
    for (x, p), (y, r) in itertools.product(first.items(), repeat=2):
        held[min(answers[0] + x, answers[1] + y), max(answers[0] + x, answers[1] + y)] += p * r
    told = defaultdict(float)
    for (low, high), chance in held.items():
        rest = chance
        for place, answer in enumerate(answers[2:]):
            left = sum(p for z, p in later.items() if answer + z < low)
            right = sum(p for z, p in later.items() if answer + z >= max(high, low))
            told[place, "left"] += rest * left
            told[place, "right"] += rest * (right if high > low else 1 - left)
            rest *= 1 - left - right if high > low else 0
        told["inside"] += rest
    return told


@pytest.mark.wide
def test_no_small_run_on_the_integers_loses_more_than_is_proved_and_one_comes_near():
    slopes = 0.4, 0.5
    noises = [{"kind": "translation", "density": f"exp(-{s})", "integers": True} for s in ("2*abs(z)/5", "abs(z)/2")]
    proved = float(enclose(upper(least_and_greatest(2, *noises))).mid())
    assert proved == pytest.approx(2 * 2 * 0.4 + 2 * 0.5)
    first, later = (geometric(slope, 30) for slope in slopes)
    most = 0.0
    for answers, moves in (
        ((-4, 4, -4, 4, -9), (1, -1, -1, 1, -1)),
        ((-6, 6, -6, 6, -6, 6, -12), (1, -1, -1, 1, -1, 1, -1)),
        ((4, -4, -4, 4, -9), (-1, 1, -1, 1, -1)),
    ):
        near, far = chances(answers, first, later), chances([a + d for a, d in zip(answers, moves, strict=True)], first, later)
        most = max(most, *(math.log(near[told] / far[told]) for told in near if min(near[told], far[told]) > 1e-7))
    assert 0.6 * proved < most <= proved


# -- evidence ----------------------------------------------------------------------------------------------------------


def evidence_of(mechanism):
    claim = claimed(mechanism)
    found = verify(claim).certificate
    return claim, next(line["parameters"] for line in found["lines"] if line["rule"] == alignment.NAME)


@pytest.fixture(scope="module")
def three():
    return evidence_of(least_and_greatest(3))


@pytest.fixture(scope="module")
def drawn_once():
    return evidence_of(SORTED)


@pytest.mark.wide
def test_without_one_of_the_leads_some_run_has_no_shifts(three, drawn_once):
    for claim, evidence in (three, drawn_once):
        steps = evidence["ways"][0]["steps"]
        for left_out in range(len(steps)):
            forged = copy.deepcopy(evidence)
            del forged["ways"][0]["steps"][left_out]
            with pytest.raises(Rejected, match="a run may take it, and no mode goes along"):
                alignment.infer(claim, forged, ())


def numbers(value, path=()):
    if isinstance(value, str):
        yield path
    elif isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from numbers(item, (*path, key))


@pytest.mark.wide
@pytest.mark.sampled(1)
@pytest.mark.parametrize("to", ["0", "({}) - 1/7", "-({})"])
def test_with_another_number_the_bound_is_no_less_or_refused(three, drawn_once, to):
    for claim, evidence in (three, drawn_once):
        bound = alignment.infer(claim, evidence, ()).value
        for path in numbers(evidence):
            if "follow" in path:
                continue
            forged = copy.deepcopy(evidence)
            *inner, last = path
            place = forged
            for key in inner:
                place = place[key]
            place[last] = str(parse(to.format(place[last])).value)
            try:
                value = alignment.infer(claim, forged, ()).value
            except DpverifyError:
                continue
            assert enclose(value) >= enclose(bound)


def changed(claim_of, **others):
    claim, evidence = claim_of
    return claim, {"ways": [copy.deepcopy(evidence["ways"][0]) | others]}


@pytest.mark.parametrize(
    "others, said",
    [
        ({"follow": []}, "worth|follows|no mode goes along"),
        ({"follow": [], "worth": {}}, "no mode goes along|costs more"),
        ({"follow": ["seen"]}, "no mode goes along"),
        ({"follow": ["high"], "worth": {}}, "no mode goes along|costs more"),
        ({"follow": ["seen", "high", "depth"]}, "follows what is neither state nor counter"),
        ({"follow": ["seen", "high", "q"]}, "follows what is neither state nor counter"),
        ({"follow": ["seen", "high", "nu"]}, "follows what is neither state nor counter"),
        ({"worth": {"low": "1"}}, "follows what is neither state nor counter"),
        ({"worth": {"high": "1"}}, "do not tell its value"),
        ({"worth": {"seen": "1"}}, "not certainly at least 0"),
        ({"worth": {"seen": "1/100"}}, "costs more|not certainly at least 0"),
        ({"worth": {"seen": "eps"}}, "no parameter"),
        ({"starts": []}, "does not begin"),
        ({"starts": [1]}, "not as far apart as a mode says"),
        ({"starts": [77]}, "does not begin"),
        ({"starts": ["0"]}, "cannot be used"),
        ({"starts": 0}, "cannot be used"),
        ({"follow": 3}, "cannot be used"),
        ({"ahead": None}, "cannot be used"),
    ],
)
def test_what_an_alignment_of_several_modes_may_not_say(three, others, said):
    claim, forged = changed(three, **others)
    with pytest.raises((Rejected, CertificateError), match=said):
        proofs.bound(claim, proofs.Step("alignment", forged))


@pytest.mark.wide
def test_more_leads_bound_no_less_and_wrong_ones_are_refused(three):
    claim, evidence = three
    way = evidence["ways"][0]
    bound = alignment.infer(claim, evidence, ()).value
    refused = 0
    for mode, branch, to in itertools.product(range(len(way["modes"])), (1, 5), range(len(way["modes"]))):
        forged = copy.deepcopy(evidence)
        forged["ways"][0]["steps"].append([mode, branch, True, to, {"nu": ["0", "-1"]} if branch < 4 else {}])
        try:
            assert alignment.infer(claim, forged, ()).value == bound
        except Rejected:
            refused += 1
    assert refused > 20


def test_a_mode_keeps_the_shifts_of_what_is_drawn_once(drawn_once):
    claim, evidence = drawn_once
    way = evidence["ways"][0]
    assert len(way["starts"]) == 2
    # one start alone goes along with one order of the two noises only; to go over to the shifts of the other is refused
    forged = copy.deepcopy(evidence)
    forged["ways"][0]["starts"] = way["starts"][:1]
    with pytest.raises(Rejected, match="no mode goes along"):
        alignment.infer(claim, forged, ())
    forged = copy.deepcopy(evidence)
    for step in forged["ways"][0]["steps"]:
        step[0] = step[0] if step[0] not in way["starts"] else way["starts"][0]
    with pytest.raises(Rejected, match=r"other shifts of what is drawn once|come out in another way|state after it"):
        alignment.infer(claim, forged, ())


# -- what branches tell ------------------------------------------------------------------------------------------------


def counting(*steps, limits=None, **others):
    return {
        "kind": "stream",
        "state": {"n": 0, "m": 0},
        **({"limits": limits} if limits else {}),
        "step": [*steps, {"emit": "end"}],
        **others,
    }


ONCE = [0, 0, True, 0, {}]
END = [0, 1, True, 0, {}]


@pytest.mark.parametrize(
    "mechanism, follow, steps",
    [
        # a comparison that what is followed decides: n is 0, then 1
        (counting({"when": "n > 0", "emit": "late"}), ["n"], [END]),
        (counting({"when": "n >= 0", "emit": "on"}), ["n"], [ONCE]),
        (counting({"when": "n >= 0", "emit": "on"}, parameters={"b": "positive"}), ["n"], [ONCE]),
        (counting({"when": "n > -b", "emit": "on"}, parameters={"b": "positive"}), ["n"], [ONCE]),
        (counting({"when": "n > b", "emit": "late"}, parameters={"b": "positive"}), ["n"], [END]),
        # a counter is known, and so is the end of a run at its limit
        (counting({"when": "c <= 0", "emit": "on", "count": {"c": 1}}, limits={"c": 1}), ["c"], [ONCE]),
        (counting({"when": "m - n >= 0", "set": {"n": "n + q", "m": "n + q"}}), ["n", "m"], [ONCE]),
        # neither of two comparisons that exclude each other fails with the other
        (counting({"when": "q >= 0", "emit": "up"}, {"when": "q > 0", "emit": "never"}), [], [ONCE, [0, 2, True, 0, {}]]),
        (counting({"when": "q > 0", "emit": "up"}, {"when": "-q >= 0", "emit": "down"}), [], [ONCE, [0, 1, True, 0, {}]]),
        (counting({"when": ["q > 0", "q < 0"], "emit": "never"}), [], [END]),
        (counting({"when": ["q > 0", "q <= 0"], "emit": "never"}), [], [END]),
    ],
)
def test_branches_that_no_run_takes_need_no_shifts(mechanism, follow, steps, monkeypatch):
    monkeypatch.setattr("dpverify.catalogue.kinds.branches.in_order", lambda stream: stream)  # the rule sees what is written
    still = {**mechanism, "neighbours": "hull", "hull": [[0]]}
    ways = alignment_ways(still, follow, steps)
    assert alignment.infer(claimed(still), ways, ()).value == num(0)
    for left_out in range(len(steps)):
        with pytest.raises(Rejected, match="no mode goes along"):
            alignment.infer(claimed(still), alignment_ways(still, follow, steps[:left_out] + steps[left_out + 1 :]), ())


def alignment_ways(mechanism, follow, steps):
    way = {"once": {}, "modes": [[{}, False]], "steps": steps, "prices": {}, "each": "0", "ahead": ["0"], "follow": follow}
    return {"ways": [way, way] if mechanism["neighbours"] in ("hull", "monotone") else [way]}


def test_what_is_drawn_once_is_not_shifted_after_the_start():
    # the noise is told with an answer at the second step, and shifted for it on the way there, for nothing
    told = {
        "kind": "stream",
        "once": {"rho": laplace(1)},
        "state": {"n": 0},
        "step": [{"when": "n <= 0", "set": {"n": 1}}, {"tell": "q + rho"}],
        "neighbours": "hull",
        "hull": [[1]],
    }
    way = {"prices": {}, "each": "0", "follow": ["n"], "steps": [[0, 0, True, 1, {}], [1, 1, True, 1, {}]]}
    ways = [way | {"once": {}, "modes": [[{}, False], [{"rho": [shift, "0"]}, False]], "ahead": ["0", "0"]} for shift in ("-1", "1")]
    with pytest.raises(Rejected, match="other shifts of what is drawn once"):
        alignment.infer(claimed(told), {"ways": ways}, ())
    paid = [one | {"modes": [[{"rho": [shift, "0"]}, False]] * 2} for one, shift in zip(ways, ("-1", "1"), strict=True)]
    assert alignment.infer(claimed(told), {"ways": paid}, ()).value == num(1)


def at_one_value(noise):
    """What is not above the value that is kept and not below it either is that value."""
    held = {"when": "n <= 0", "set": {"low": "q + nu", "high": "q + nu", "n": 1}}
    both = [{"when": "q + nu > high", "emit": "above"}, {"when": "q + nu < low", "emit": "below"}]
    return {
        "kind": "stream",
        "fresh": {"nu": noise},
        "state": {"n": 0, "low": 0, "high": 0},
        "step": [held, *both, {"emit": "between"}],
        "neighbours": "hull",
        "hull": [[0]],
    }


def test_noise_with_a_density_has_no_one_value_and_noise_on_the_integers_has():
    whole = {"kind": "translation", "density": "exp(-abs(z))", "integers": True}
    steps, follow = [[0, branch, True, 0, {}] for branch in range(3)], ["n", "high"]
    dense, counted = at_one_value(laplace(1)), at_one_value(whole)
    assert alignment.infer(claimed(dense), alignment_ways(dense, follow, steps), ()).value == num(0)
    with pytest.raises(Rejected, match="branch 4: a run may take it"):
        alignment.infer(claimed(counted), alignment_ways(counted, follow, steps), ())
    with pytest.raises(Rejected, match="branch 4: a run may take it"):
        alignment.infer(claimed(dense), alignment_ways(dense, ["n"], steps), ())
    # two that leave one value of an answer, which is what it is
    exact = counting(
        {"when": "q > 0", "emit": "up"}, {"when": "q < 0", "emit": "down"}, fresh={"nu": laplace(1)}, neighbours="hull", hull=[[0]]
    )
    with pytest.raises(Rejected, match="branch 3: a run may take it"):
        alignment.infer(claimed(exact), alignment_ways(exact, [], steps[:2]), ())


def test_counters_are_followed_where_they_are_compared():
    mechanism = least_and_greatest(2, limits={"outside": 1, "n": 9})
    mechanism["state"] = {"low": 0, "high": 0}
    for step in mechanism["step"]:
        if "seen" in str(step):
            step["when"] = [w.replace("seen", "n") for w in ([step["when"]] if isinstance(step["when"], str) else step["when"])]
            step["set"].pop("seen")
            step["count"] = {"n": 1}
    assert upper(mechanism) == num(1)


@pytest.mark.parametrize(
    "mechanism, follow, steps",
    [
        # n is not known from the branches, or not as much as is asked
        (counting({"when": "n > 0", "emit": "late"}, state={"n": "0", "m": "q"} | {"m": 0}), [], [END]),
        (counting({"when": "n > 0", "emit": "late", "set": {"n": "n + q"}}, state={"n": 1, "m": 0}), ["n"], [ONCE]),
        (counting({"when": "n > b", "emit": "late"}, parameters={"b": "real"}), ["n"], [END]),
        (counting({"when": "n > -b", "emit": "on"}, parameters={"b": "nonnegative"}), ["n"], [ONCE]),
        (counting({"when": "n >= m", "emit": "on", "set": {"n": "n + q", "m": "m + 2*q"}}, state={"n": 0, "m": 0}), ["n", "m"], [ONCE]),
        # both may hold, or both fail
        (counting({"when": "q > 0", "emit": "up"}, {"when": "q >= 0", "emit": "flat"}), [], [ONCE, [0, 2, True, 0, {}]]),
        (counting({"when": ["q >= 0", "q <= 0"], "emit": "flat"}), [], [END]),
        (counting({"when": ["q > 0", "n > 0"], "emit": "up"}, {"when": "q > 0", "emit": "also"}), [], [ONCE, [0, 2, True, 0, {}]]),
        (counting({"when": "c <= 0", "emit": "on", "count": {"c": 1}}, limits={"c": 2}), ["c"], [ONCE]),
        (counting({"when": "c <= 1", "emit": "on", "count": {"c": 1}}, limits={"c": 9}), ["c"], [ONCE]),
    ],
)
def test_branches_that_some_run_takes_need_shifts(mechanism, follow, steps):
    still = {**mechanism, "neighbours": "hull", "hull": [[0]]}
    with pytest.raises(Rejected, match="no mode goes along"):
        alignment.infer(claimed(still), alignment_ways(still, follow, steps), ())


def test_what_is_followed_has_not_too_many_values(monkeypatch):
    monkeypatch.setattr(alignment, "MOST_PLACES", 20)
    endless = counting({"when": "n >= 0", "emit": "on", "set": {"n": "n + 1"}}, neighbours="hull", hull=[[0]])
    with pytest.raises(Rejected, match="more than 20 different values"):
        alignment.infer(claimed(endless), alignment_ways(endless, ["n"], [ONCE]), ())
    ends = counting({"when": "n <= 18", "emit": "on", "set": {"n": "n + 1"}}, neighbours="hull", hull=[[0]])
    assert alignment.infer(claimed(ends), alignment_ways(ends, ["n"], [ONCE, END]), ()).value == num(0)


def test_a_name_of_the_state_that_a_parameter_has_too_is_the_state():
    # forged: n is a number of the state and, in the claim, a parameter that is positive, so that "n > 0" would always hold
    own = claimed(counting({"when": "n > 0", "emit": "late"}, parameters={"b": "positive"}, neighbours="hull", hull=[[0]]), "b")
    renamed = dataclasses.replace(own, domains=(("n", dict(own.domains)["b"]),), epsilon=num(1))
    with pytest.raises(Rejected, match="no mode goes along"):
        alignment.infer(renamed, alignment_ways({"neighbours": "hull"}, [], [ONCE]), ())
