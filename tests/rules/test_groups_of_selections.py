"""Groups of selections of which one answer alone moves, or answers between bounds together: by what is lost at one step."""

from __future__ import annotations

import math

import pytest

from dpverify.catalogue.reader import read_tables
from dpverify.search.verify import verify
from dpverify.trusted.combinators.places import ONE_STEP
from dpverify.trusted.kernel.bounds import Infinite
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import parse
from dpverify.trusted.order.enclosed import enclose
from dpverify.trusted.theories.composition.rules import combination
from tests.rules.test_streams import above


def laplace(scale):
    return {"kind": "builtin", "name": "laplace", "scale": scale}


def gaussian(sigma):
    return {"kind": "builtin", "name": "gaussian", "sigma": sigma}


STREAM = above(2, 4, neighbours="one") | {"sensitivity": 1}
THRESHOLD = {
    "kind": "above_threshold", "threshold_noise": laplace(2), "query_noise": laplace(4), "queries": 5, "positives": 1,
    "neighbours": "one", "sensitivity": 1,
}  # fmt: skip
LARGEST = {"kind": "noisy_max", "noise": laplace(2), "candidates": 5, "neighbours": "one", "sensitivity": 1}


def claimed(part, size, **others):
    table = {"mechanism": {"kind": "group", "size": size, "part": part} | others, "claim": [{"epsilon": "tight"}]}
    return read_tables("group.toml", table).claims[0].claim


def upper(part, size, **others):
    return verify(claimed(part, size, **others)).judgement.upper


@pytest.mark.parametrize("part, once", [(STREAM, "1/4"), (THRESHOLD, "1/4"), (LARGEST, "1/2")])
def test_so_many_steps_lose_so_many_times_as_much_at_most(part, once):
    assert upper(part, 3) == parse(f"3*({once})")
    assert upper(part, "k", parameters={"k": "integer >= 1"}) == parse(f"k*({once})")


def test_between_bounds_so_do_answers_that_move_together():
    together = THRESHOLD | {"neighbours": "monotone", "bounds": [0, 1]}
    alone = {key: value for key, value in together.items() if key != "sensitivity"}
    claim = {"sensitivity": "1/3", "epsilon": "tight"}
    once = verify(read_tables("x.toml", {"mechanism": alone, "claim": [claim]}).claims[0].claim).judgement.upper
    found = upper(together | {"sensitivity": "1/3"}, 2)
    assert float(enclose(found).mid()) == pytest.approx(2 * float(enclose(once).mid()), rel=1e-12)


def test_what_has_no_epsilon_at_one_step_has_none_at_several():
    exact = above(2, 0, limit=0, when="q >= t", neighbours="one") | {"sensitivity": 1}
    assert upper(exact, 2) is None or isinstance(upper(exact, 2), Infinite)


def test_one_step_is_looked_at_from_above_and_of_selections():
    claim = claimed(STREAM, 3)
    used = next(line for line in verify(claim).certificate["lines"] if line["rule"] == combination.NAME)
    evidence = {key: value for key, value in used["parameters"].items() if key != "side"}
    assert evidence["part"].keys() == {ONE_STEP}
    with pytest.raises(Rejected, match="bounds several from above"):
        combination.infer(claim, {"side": "lower", **evidence}, ())
    noise = claimed(laplace(1) | {"sensitivity": 1}, 3)
    with pytest.raises(Rejected, match="for selections and shuffles alone"):
        combination.infer(noise, {"side": "upper", **evidence}, ())


@pytest.mark.wide
def test_at_a_delta_they_lose_what_groups_do():
    part = THRESHOLD | {"threshold_noise": gaussian(2), "query_noise": gaussian(4)}
    table = {"mechanism": {"kind": "group", "size": 2, "part": part}, "claim": [{"epsilon": 2, "delta": "tight"}]}
    found = verify(read_tables("group.toml", table).claims[0].claim).judgement.delta_upper
    table = {
        "mechanism": {k: v for k, v in part.items() if k != "sensitivity"},
        "claim": [{"sensitivity": 1, "epsilon": 1, "delta": "tight"}],
    }
    once = verify(read_tables("x.toml", table).claims[0].claim).judgement.delta_upper
    assert float(enclose(found).mid()) == pytest.approx((1 + math.e) * float(enclose(once).mid()), rel=1e-6)
