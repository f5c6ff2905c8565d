"""What nights hand on to each other: money is never made, whatever is carried, dropped, written down or dealt out anew."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpverify.audits import capital as module
from dpverify.audits.bets import mixture
from dpverify.audits.capital import (
    BROKE,
    LEVELS,
    MOST,
    Capital,
    Carried,
    Night,
    NotWritten,
    Sorted,
    carried_on,
    gathered,
    plainly,
    read,
    rebuilt,
    share_of,
    together,
    written,
)
from dpverify.audits.digits import LastDigits
from dpverify.audits.learn import learn
from dpverify.audits.outputs import encode
from dpverify.audits.partition import CurvePoint
from dpverify.runtime.finding import MODEL

LOGS = st.floats(-50, 50)


def carried(level, owned, size=2, chosen=False, pair="p"):
    law = (np.full(size, 1 / size), np.arange(1.0, size + 1) / (size * (size + 1) / 2)) if chosen else None
    return Carried(level, pair, None, size, np.array(owned), -2.0, 0.1, np.ones((size, size), np.int64), law, chosen)


TESTS = st.lists(
    st.builds(carried, st.sampled_from(LEVELS), st.lists(LOGS, min_size=1, max_size=3), chosen=st.booleans(), pair=st.sampled_from("pq")),
    max_size=9,
)
CASH = st.tuples(LOGS, LOGS)


@pytest.mark.wide
@given(tests=TESTS, cash=CASH)
def test_what_is_not_carried_on_is_cash_of_its_level(tests, cash):
    before = Capital(tuple(tests), cash)
    after = gathered(tests, cash, lambda test: test.pair == "p")
    for level in LEVELS:
        assert after.money(level) == pytest.approx(before.money(level), abs=1e-9)
        assert sum(test.level == level for test in after.tests) <= MOST[level]
    assert all(test.pair == "p" for test in after.tests)


@given(tests=TESTS, others=TESTS, cash=CASH)
def test_two_nights_own_together_what_each_owns(tests, others, cash):
    one, other = Capital(tuple(tests), cash), Capital(tuple(others))
    for level in LEVELS:
        assert together([one, other]).money(level) == pytest.approx(np.logaddexp(one.money(level), other.money(level)), abs=1e-9)
    assert together([]).money(MODEL) < -1e299


@given(tests=TESTS, cash=CASH)
def test_what_is_written_down_is_read_again(tests, cash):
    before = Capital(tuple(tests), cash)
    after = read(json.loads(json.dumps(written(before))))
    assert after.cash == before.cash and len(after.tests) == len(before.tests)
    for a, b in zip(before.tests, after.tests, strict=True):
        assert (a.level, a.pair, a.size, a.share, a.chosen) == (b.level, b.pair, b.size, b.share, b.chosen)
        assert (a.owned == b.owned).all() and (a.counts == b.counts).all() and a.log_capital == b.log_capital
        assert (a.law is None) == (b.law is None) and all((x == y).all() for x, y in zip(a.law or (), b.law or (), strict=True))


def test_of_what_one_tester_has_sorted_in_several_nights_the_most_is_handed_on_and_written_down():
    few, many = (Sorted("a", np.array([count, 0]), count, share) for count, share in ((3, 0.5), (5, 0.1)))
    other = Sorted("b", np.array([[1], [2]]), 3, 0.2)
    kept = together([Capital(conforming=(few, other)), Capital(conforming=(many,))])
    after = read(json.loads(json.dumps(written(kept))))
    assert {one.tester: (one.total.tolist(), one.count, one.share) for one in after.conforming} == {
        "a": ([5, 0], 5, 0.1), "b": ([[1], [2]], 3, 0.2),
    }  # fmt: skip
    older = {key: value for key, value in written(kept).items() if key != "conforming"}
    assert read(older).conforming == ()


@pytest.mark.parametrize("wrong", [{"share": 0}, {"count": 0}, {"total": "no"}, {"share": None}])
def test_what_no_tester_has_sorted_is_refused(wrong):
    data = written(Capital(conforming=(Sorted("a", np.array([3]), 3, 0.5),)))
    data["conforming"][0] |= wrong
    with pytest.raises(ValueError):
        read(data)


@settings(max_examples=30)
@given(size=st.integers(2, 5), seed=st.integers(0, 99), share=st.floats(1e-6, 1))
def test_a_test_goes_on_as_if_it_had_never_stopped(size, seed, share):
    """In two nights its wealth is what it is in one: by the counts of both, against the same bets."""
    rng = np.random.default_rng(seed)
    bets = mixture(size, [CurvePoint(0.5)])
    first, second = rng.integers(0, 300, (2, size, size))
    owned = bets.log_prior + bets.gains(first) + np.log(share)
    again = carried_on(mixture(size, [CurvePoint(0.5)]), owned, first, float(np.log(share)))
    assert again.log_wealth(first) == pytest.approx(bets.log_wealth(first), abs=1e-6)
    assert again.log_wealth(first + second) == pytest.approx(bets.log_wealth(first + second), abs=1e-6)
    assert again.log_wealth(first + second) <= bets.log_wealth(first + second) + 1e-9


def test_money_of_other_bets_is_dealt_out_and_none_is_made():
    bets, counts = mixture(3, [CurvePoint(1.0)]), np.full((3, 3), 7)
    again = carried_on(bets, np.array([2.0, 1.0]), counts, float(np.log(0.25)))
    assert again.log_wealth(counts) + np.log(0.25) == pytest.approx(np.logaddexp(2.0, 1.0), abs=1e-6)


def test_all_that_is_ever_given_out_is_one():
    assert sum(share_of(number) for number in range(1, 100_000)) == pytest.approx(1, abs=2e-5)
    assert sum(share_of(number) for number in range(1, 100_000)) < 1


@pytest.mark.parametrize("fresh", [1.0, 0.5, 1 / 6, 0.0])
def test_new_tests_get_what_is_fresh_and_the_cash_of_their_level(fresh):
    night = Night(fresh, Capital((), (-1.0, BROKE)))
    for level, cash in zip(LEVELS, (np.exp(-1.0), 0.0), strict=True):
        assert night.unit * np.exp(night.funds(level)) == pytest.approx(fresh + cash)
    assert Night().alone and not night.alone and Night().funds(MODEL) == 0


# -- partitions in writing -------------------------------------------------------------------------------------


def outputs_of(kind, rng, shift):
    if kind == "numbers":
        return encode(list(rng.normal(shift, 1, 4000)), 4000)
    if kind == "integers":
        return encode(list(rng.integers(0, 5, 4000) + 2**60 + shift), 4000)
    if kind == "words":
        return encode([("yes" if rng.random() < 0.4 + 0.2 * shift else "no", float(rng.normal())) for _ in range(4000)], 4000)
    return encode([list(rng.normal(shift, 1, 1 + rng.integers(3))) for _ in range(4000)], 4000)


@pytest.mark.parametrize("kind", ["numbers", "integers", "words", "lists"])
def test_learned_partitions_sort_the_same_after_they_were_written_down(kind):
    rng = np.random.default_rng(1)
    partition = learn(outputs_of(kind, rng, 0), outputs_of(kind, rng, 1), seed=0)
    again = rebuilt(json.loads(json.dumps(plainly(partition))))
    fresh = outputs_of(kind, rng, 1)
    assert type(again) is type(partition) and (again.codes(fresh) == partition.codes(fresh)).all()
    assert again.describe(0, 1) == partition.describe(0, 1)


FORGED = [
    {"of": "run.Settings", "fields": {"samples": 1, "alpha": 1}},
    {"of": "os.system", "fields": {}},
    {"of": "learn.np", "fields": {}},
    {"of": "learn.learn", "fields": {}},
    {"of": "digits.LastDigits", "fields": {"nothing": 1}},
    {"of": "nowhere.Nothing", "fields": {}},
    {"eval": "1 + 1"},
    {"array": "AAAA"},
    {"tuple": 3},
    [],
    {},
]


@pytest.mark.parametrize("forged", FORGED, ids=str)
def test_nothing_else_is_made_from_what_is_written_down(forged):
    with pytest.raises(NotWritten):
        rebuilt(forged)


@pytest.mark.parametrize("forged", FORGED, ids=str)
def test_the_money_of_a_test_that_cannot_be_read_is_cash(forged):
    data = written(Capital((carried(MODEL, [1.0, 2.0]),), (0.5, BROKE)))
    data["tests"][0]["partition"] = forged
    known = read(data)
    assert known.tests == () and known.money(MODEL) == pytest.approx(np.logaddexp.reduce([0.5, 1.0, 2.0]))


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data.pop("cash"),
        lambda data: data.update(cash=[0.0]),
        lambda data: data.update(cash=[float("inf"), 0.0]),
        lambda data: data.update(cash=[True, 0.0]),
        lambda data: data["tests"][0].update(level="other"),
        lambda data: data["tests"][0].update(share=2),
        lambda data: data["tests"][0].update(log_capital=float("nan")),
        lambda data: data["tests"][0].update(law=[module.packed(np.ones(3))] * 2),
        lambda data: data["tests"][0].update(law=[module.packed(np.array([-1.0, 2.0]))] * 2),
        lambda data: data["tests"][0].update(size=3),
        lambda data: data["tests"][0].update(owned=module.packed(np.array([np.inf]))),
        lambda data: data["tests"][0].update(counts=module.packed(-np.ones((2, 2), np.int64))),
    ],
)
def test_capital_that_is_none_is_refused(damage):
    data = written(Capital((carried(MODEL, [1.0, 2.0]),), (0.5, BROKE)))
    damage(data)
    with pytest.raises(ValueError):
        read(data)


def test_a_partition_that_holds_code_is_not_written_down():
    with pytest.raises(NotWritten):
        plainly((LastDigits, print))
