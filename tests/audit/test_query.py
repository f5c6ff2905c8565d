"""A query that moves by more than was declared, or misbehaves, is found with a minimal pair; right ones are left alone."""

import math

import numpy as np
import pytest
from hypothesis import strategies as st

from dpverify.audits.query import search_sensitivity
from dpverify.errors import AuditError
from tests.effort import examples


def largest(v):
    return float(np.abs(v).max(initial=0.0))


def search(query, **options):
    settings = {"sensitivity": 1.0, "norm": largest, "adjacency": "add-remove", "length": 5, "seed": 0, "examples": examples(200)}
    return search_sensitivity(query, **{**settings, **options}).finding


def clipped_sum(data):
    return float(np.sum(np.clip(data, 0.0, 1.0)))


def clipped_mean(data):
    return float(np.mean(np.clip(data, 0.0, 1.0)))


def plain_sum(data):
    return float(sum(data))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
@pytest.mark.parametrize("query", [clipped_sum, len, lambda data: sum(0 < v < 1 for v in data)])
def test_right_sums_and_counts_are_left_alone(query, adjacency):
    assert search(query, adjacency=adjacency) is None


def test_a_sum_without_clipping_moves_too_far_and_the_pair_is_minimal():
    found = search(plain_sum)
    assert found.kind == "moved"
    assert len(found.x) == 2
    assert len(found.x_prime) == 1
    assert 1.0 < found.moved <= 3.0
    assert found.moved == abs(sum(found.x) - sum(found.x_prime))
    assert "declared 1" in found.message
    assert repr(found.x) in found.message
    assert repr(found.x_prime) in found.message


def test_a_clipped_mean_of_public_size_moves_by_one_over_n():
    assert search(clipped_mean, adjacency="replace", sensitivity=0.2) is None
    found = search(clipped_mean, adjacency="replace", sensitivity=0.19)
    assert found.kind == "moved"
    assert sum(a != b for a, b in zip(found.x, found.x_prime, strict=True)) == 1


def test_a_clipped_mean_of_unknown_size_moves_by_a_half():
    assert search(clipped_mean, sensitivity=0.5) is None
    assert search(clipped_mean, sensitivity=0.2).moved > 0.2


def test_clipping_at_twice_the_declared_bound_is_found():
    found = search(lambda data: float(np.sum(np.clip(data, -2.0, 1.0))))
    assert found.moved == pytest.approx(2.0)


def test_a_fault_that_only_negative_records_show_is_found():
    assert search(lambda data: sum(min(v, 1.0) for v in data)).kind == "moved"


def test_the_size_for_replacement_is_that_of_the_given_data():
    pairs = [([0.0] * 8, [0.0] * 7 + [1.0])]
    assert search(clipped_mean, adjacency="replace", pairs=pairs, sensitivity=0.125) is None


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("pairs", "query"),
    [
        ([([3, 5], [3])], lambda data: int(np.clip(data, 0, 1).sum())),
        ([([0, 1, 1], [0, 1])], sum),
        ([(["red", "blue"], ["red"])], lambda data: data.count("red")),
        ([([[1.0, 2.0], [3.0, 4.0]], [[1.0, 2.0]])], lambda rows: sum(min(1.0, math.hypot(*row)) for row in rows)),
        ([(np.ones((3, 2)), np.ones((2, 2)))], lambda rows: np.clip(rows, 0, 1).sum(axis=0)),
        ([((0.5, 0.25), (0.5,))], clipped_sum),
        ([([True, False], [True])], sum),
        ([([{"age": 3}, {"age": 40}], [{"age": 3}])], lambda people: sum(person["age"] > 18 for person in people)),
    ],
)
def test_data_are_of_the_type_that_the_pairs_show(pairs, query):
    assert search(query, pairs=pairs) is None


@pytest.mark.wide
def test_rows_are_clipped_in_the_norm_that_is_declared():
    pairs = [(np.zeros((2, 3)), np.zeros((1, 3)))]
    query = lambda rows: np.clip(rows, -1.0, 1.0).sum(axis=0)  # noqa: E731
    assert search(query, pairs=pairs) is None
    found = search(query, pairs=pairs, norm=lambda v: float(np.linalg.norm(v)))
    assert found.kind == "moved"
    assert isinstance(found.x, np.ndarray)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("adjacency", "right"), [("l1", 2.0), ("l2", math.sqrt(5.0)), ("linf", 3.0)])
def test_linear_queries_on_vectors_move_by_their_operator_norm(adjacency, right):
    pairs = [([3.0, 4.0], [3.0, 5.0])]
    query = lambda h: h[0] + 2.0 * h[1]  # noqa: E731
    assert search(query, adjacency=adjacency, pairs=pairs, sensitivity=right) is None
    assert search(query, adjacency=adjacency, pairs=pairs, sensitivity=0.98 * right).kind == "moved"


def test_histograms_are_told_from_records_by_their_pairs():
    assert search(lambda h: [h[0], h[1]], pairs=[([3, 4], [3, 5])]) is None
    assert search(lambda h: [h[0], h[1]], pairs=[([3, 4], [4, 3])], adjacency="replace") is None
    assert search(lambda h: 2 * h[0], pairs=[([3, 4], [4, 3])], adjacency="replace").moved == 2


def test_without_adjacency_only_given_pairs_are_neighbours():
    assert search(plain_sum, adjacency=None, pairs=[([0.0], [1.0])]) is None
    found = search(plain_sum, adjacency=None, pairs=[([0.0], [1.0]), ([0.0], [1.5])])
    assert (found.x, found.x_prime, found.moved) == ([0.0], [1.5], 1.5)
    assert search(plain_sum, adjacency=None) is None


def test_a_given_pair_is_judged_even_where_the_search_cannot_make_it():
    pairs = [({"a": 1}, {"a": 5})]
    assert search(lambda data: data["a"], pairs=pairs).moved == 4


def test_a_strategy_of_data_gets_its_neighbours_from_the_adjacency():
    assert search(plain_sum, strategy=st.lists(st.floats(0, 1), min_size=1)) is None
    assert search(plain_sum, strategy=lambda: st.lists(st.floats(0, 2), min_size=1)).kind == "moved"


def test_a_strategy_of_pairs_says_itself_who_neighbours_are():
    near = st.floats(0, 1).map(lambda v: ([v], [v + 1.0]))
    assert search(plain_sum, strategy=near, adjacency=None) is None
    found = search(plain_sum, strategy=near, adjacency=None, sensitivity=0.5)
    assert found.x == [0.0]


@pytest.mark.parametrize(
    ("kind", "query", "words"),
    [
        ("exception", lambda data: 1 / (len(data) - 3), "raises ZeroDivisionError"),
        ("not finite", lambda data: math.nan if len(data) > 2 else 0.0, "not a finite number"),
        ("not finite", lambda data: math.inf, "not a finite number"),
        ("length", lambda data: [0.0] * len(data), "numbers"),
        ("mutation", lambda data: data.sort() or 0.0, "Let it work on a copy"),
        ("nondeterministic", lambda data: float(np.random.default_rng().random()), "noise"),
        ("no numbers", lambda data: "many", "no vector of numbers"),
    ],
)
def test_misconduct_is_a_finding_of_its_own(kind, query, words):
    found = search(query, pairs=[([0.0, 1.0], [0.0])])
    assert found.kind == kind
    assert found.moved is None
    assert words in found.message


def test_mutated_data_are_reported_as_they_were():
    found = search(lambda data: data.append(7.0) or 0.0)
    assert 7.0 not in found.x


def test_rounding_is_no_move():
    assert search(lambda data: 1e9 + 0.1 * len(data) * 10, sensitivity=1.0) is None


def test_the_same_seed_finds_the_same_pair():
    assert search(plain_sum, seed=3) == search(plain_sum, seed=3)


def test_an_unknown_adjacency_and_a_query_for_other_data_are_errors():
    with pytest.raises(AuditError, match='not one of "add-remove"'):
        search(plain_sum, adjacency="near")
    with pytest.raises(AuditError, match="Show what its data are"):
        search(lambda data: data["age"])


def test_without_hypothesis_given_pairs_are_judged_and_a_search_says_what_is_missing(monkeypatch):
    monkeypatch.setattr("dpverify.audits.neighbours.find_spec", lambda name: None)
    assert search(plain_sum, adjacency=None, pairs=[([0.0], [1.5])]).moved == 1.5
    with pytest.raises(AuditError, match="pip install hypothesis"):
        search(plain_sum)


# -- rounding, and what is said of a search ----------------------------------------------------------------------


def added_up_in_floats(start, bound):
    def query(data):
        total = start
        for value in data:
            total += min(max(value, 0.0), bound)
        return total

    return query


@pytest.mark.sampled(1)
@pytest.mark.parametrize("start", [2.0**53, 1e16, -(2.0**54)])
def test_a_sum_whose_rounding_moves_it_too_far_is_a_violation_of_level_float(start):
    found = search(added_up_in_floats(start, 1.5), sensitivity=1.5)
    assert (found.kind, found.level) == ("moved", "float")
    assert found.moved == 2.0


def test_a_difference_of_large_sums_is_told_by_exact_arithmetic():
    found = search(lambda data: (sum(data) + 1e16) - 1e16, strategy=st.lists(st.floats(0, 1), min_size=1))
    assert (found.kind, found.level) == ("moved", "float") and "In exact arithmetic the same data move it by" in found.message


@pytest.mark.parametrize(
    "query", [lambda data: float(2.0**60 + sum(data)), lambda data: 2**60 + len(data), lambda data: 1e300 * 0 + len(data)]
)
def test_one_rounding_of_the_exact_answer_and_exact_integers_are_left_alone(query):
    assert search(query, strategy=st.lists(st.floats(0, 1), min_size=1), adjacency="add-remove") is None


def test_large_integers_that_move_too_far_are_found_by_their_exact_difference():
    found = search(lambda data: 2**60 + 3 * len(data))
    assert (found.kind, found.level, found.moved) == ("moved", "model", 3.0)


@pytest.mark.wide
def test_a_strategy_without_an_adjacency_is_searched_and_says_which_was_taken():
    settings = {"sensitivity": 1.0, "norm": largest, "adjacency": None, "length": 5, "seed": 0, "examples": 100}
    differ = search_sensitivity(plain_sum, strategy=st.lists(st.floats(0, 2), min_size=1), **settings)
    alike = search_sensitivity(plain_sum, strategy=st.lists(st.floats(0, 2), min_size=3, max_size=3), **settings)
    for found, adjacency in ((differ, "add-remove"), (alike, "replace")):
        assert found.finding.kind == "moved" and found.adjacency == adjacency
        assert f"adjacency {adjacency}" in found.finding.message and "none is stated" in found.finding.message
        assert f"adjacency {adjacency} (taken because none is stated" in found.text() and found.largest > 1


def test_what_was_searched_is_told_with_its_number_and_the_greatest_move():
    settings = {"sensitivity": 1.0, "norm": largest, "length": 5, "seed": 0, "examples": 100}
    found = search_sensitivity(clipped_sum, adjacency="replace", **settings)
    assert found.finding is None and found.pairs > 20 and 0 < found.largest <= 1
    assert f"{found.pairs} pairs of neighbours of adjacency replace tried" in found.text()
    given = search_sensitivity(clipped_sum, adjacency=None, pairs=[([0.0], [1.0])], **settings)
    assert given.pairs == 1 and "as given (no others, for no adjacency is stated)" in given.text()
    none = search_sensitivity(lambda value: value, strategy=st.floats(0, 1), adjacency=None, **settings)
    assert none.pairs == 0 and "no neighbours could be made" in none.text()


def test_arrays_of_short_integers_are_searched_within_their_type():
    assert search(lambda data: int(np.clip(data, 0, 1).sum()), pairs=[(np.array([3, 5], np.int8), np.array([3], np.int8))]) is None


@pytest.mark.wide
def test_a_strategy_that_gives_nothing_is_told_as_no_pairs_tried():
    never = st.lists(st.floats(0, 1), min_size=1).filter(lambda _: False)
    settings = {"sensitivity": 1.0, "norm": largest, "adjacency": "add-remove", "length": 5, "seed": 0}
    found = search_sensitivity(clipped_sum, strategy=never, **settings)
    assert found.finding is None and found.pairs == 0
