"""The sample of a test that has many things to run on: it covers what it must, and is the same wherever it is drawn."""

from pathlib import Path

import pytest

from tests import dear, spread

TESTS = Path(__file__).parent

NAMES = [f"thing-{number}" for number in range(200)]


def wide(parameters):
    return {each.values[0] for each in parameters if any(mark.name == "wide" for mark in each.marks)}


def test_every_feature_is_covered_by_the_sample_though_more_are_needed(monkeypatch):
    monkeypatch.setattr(spread, "collected", True)
    parameters = spread.spread(NAMES, 5, lambda name: [("last", name[-1]), ("length", len(name))])
    left = set(NAMES) - wide(parameters)
    assert {name[-1] for name in left} == set("0123456789") and {len(name) for name in left} == {7, 8, 9}
    assert len(left) < 20
    assert [each.values[0] for each in parameters] == NAMES


def test_without_features_the_sample_has_its_size_and_small_sets_are_whole(monkeypatch):
    monkeypatch.setattr(spread, "collected", True)
    assert len(wide(spread.spread(NAMES, 20))) == 180
    assert not wide(spread.spread(NAMES[:7], 20))


def test_what_is_dear_is_in_the_sample_only_where_it_alone_has_a_feature(monkeypatch):
    monkeypatch.setattr(spread, "collected", True)
    parameters = spread.spread(NAMES, 30, lambda name: [("last", name[-1]), ("length", len(name))], dear=lambda name: len(name) < 9)
    left = set(NAMES) - wide(parameters)
    assert {name[-1] for name in left} == set("0123456789") and len(left) == 30
    assert sorted(map(len, left))[:3] == [7, 8, 9], "one of each length that only dear ones have"


def test_another_thing_moves_none_of_the_others_into_the_sample(monkeypatch):
    monkeypatch.setattr(spread, "collected", True)
    before = set(NAMES) - wide(spread.spread(NAMES, 20))
    after = {*NAMES, "another"} - wide(spread.spread([*NAMES, "another"], 20))
    assert after - {"another"} <= before


@pytest.mark.parametrize(("asked", "some"), [(True, 200), (False, 20)])
def test_what_the_marks_leave_out_is_not_made(monkeypatch, asked, some):
    monkeypatch.setattr(spread, "collected", asked)
    assert len(spread.spread(NAMES, 20)) == some


def test_what_is_dear_is_a_parameter_of_a_test_that_has_others(request):
    """Every test of tests/dear.py is there; where its file is collected, so is each of its parameters, and one that is not dear."""
    for file, test in ((file, test) for file, tests in dear.DEAR.items() for test in tests):
        assert f"def {test}(" in (TESTS / file).read_text(encoding="utf-8"), f"{file} has no {test}: take it out of tests/dear.py"
        found = [item.nodeid for item in request.session.items if item.nodeid.startswith(f"tests/{file}::{test}[")]
        assert not found or not all(map(dear.is_dear, found)), f"{file}: {test} has no other parameters"
