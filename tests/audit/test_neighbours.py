"""Neighbouring inputs keep the distance that they are made for."""

import numpy as np
import pytest
from hypothesis import strategies as st

from dpverify.audits.neighbours import strategy_pairs, usual_patterns
from dpverify.errors import AuditError


@pytest.mark.parametrize("step", [1.0, 0.25, 3.0])
@pytest.mark.parametrize("length", [2, 3, 5, 10])
def test_no_answer_of_a_pattern_moves_by_more_than_the_step(length, step):
    for pair in usual_patterns(length, step):
        assert len(pair.left) == len(pair.right) == length
        assert np.max(np.abs(np.subtract(pair.left, pair.right))) == pytest.approx(step)


def test_the_eight_patterns_on_five_answers_are_those_of_the_paper():
    found = {pair.name: (pair.left, pair.right) for pair in usual_patterns(5)}
    ones = [1.0] * 5
    assert found == {
        "one above": (ones, [2, 1, 1, 1, 1]),
        "one below": (ones, [0, 1, 1, 1, 1]),
        "one above, rest below": (ones, [2, 0, 0, 0, 0]),
        "one below, rest above": (ones, [0, 2, 2, 2, 2]),
        "half half": (ones, [2, 2, 2, 0, 0]),
        "all above": (ones, [2] * 5),
        "all below": (ones, [0] * 5),
        "x shape": ([1, 1, 1, 0, 0], [0, 0, 0, 1, 1]),
    }


def test_short_patterns_that_coincide_come_once():
    pairs = [(tuple(pair.left), tuple(pair.right)) for pair in usual_patterns(1)]
    assert len(pairs) == len(set(pairs))
    assert ((1.0,), (2.0,)) in pairs


def test_a_pattern_without_answers_is_an_error():
    with pytest.raises(AuditError, match="at least one answer"):
        usual_patterns(0)


@pytest.mark.wide
def test_the_same_seed_draws_the_same_distinct_pairs():
    strategy = st.lists(st.floats(0, 1), min_size=1, max_size=4)
    first, again = (strategy_pairs(strategy, "add-remove", 1.0, 7, 20) for _ in range(2))
    assert first == again
    assert len({repr((pair.left, pair.right)) for pair in first}) == len(first) == 20


def test_a_record_is_removed_or_replaced():
    strategy = st.lists(st.floats(0, 1), min_size=2, max_size=4)
    for pair in strategy_pairs(strategy, "add-remove", 1.0, 0, 10):
        assert len(pair.right) == len(pair.left) - 1
    for pair in strategy_pairs(strategy, "replace", 1.0, 0, 10):
        assert sum(a != b for a, b in zip(pair.left, pair.right, strict=True)) == 1


def test_records_that_are_no_numbers_are_removed_or_replaced_without_being_told():
    for pair in strategy_pairs(st.lists(st.text(), min_size=1), None, 1.0, 0, 10):
        assert 0 <= len(pair.left) - len(pair.right) <= 1
        assert pair.left != pair.right


@pytest.mark.wide
def test_vectors_move_by_the_sensitivity_in_one_coordinate_or_in_all():
    strategy = st.lists(st.floats(-5, 5), min_size=3, max_size=3)
    moved = [np.abs(np.subtract(p.left, p.right)) for p in strategy_pairs(strategy, None, 0.5, 0, 12)]
    assert all(np.isclose(move.max(), 0.5) for move in moved)
    assert {int(np.count_nonzero(move)) for move in moved} == {1, 3}
    one = [np.count_nonzero(np.subtract(p.left, p.right)) for p in strategy_pairs(strategy, "l1", 0.5, 0, 12)]
    assert set(one) == {1}


def test_a_strategy_of_pairs_is_taken_at_its_word():
    pairs = strategy_pairs(lambda: st.integers(0, 9).map(lambda v: (v, v + 1)), None, 5.0, 0, 4)
    assert all(pair.right == pair.left + 1 for pair in pairs)
    assert len(pairs) == 4


def test_arrays_stay_arrays_and_numbers_numbers():
    (pair,) = strategy_pairs(st.just(np.array([1.0, 2.0])), None, 1.0, 0, 5)
    assert isinstance(pair.right, np.ndarray)
    (pair,) = strategy_pairs(st.just(1.0), None, 2.0, 0, 5)
    assert (pair.left, pair.right) == (1.0, 3.0)


def test_what_is_no_strategy_or_has_no_neighbours_is_an_error():
    with pytest.raises(AuditError, match="no Hypothesis strategy"):
        strategy_pairs(3, None, 1.0, 0, 5)
    with pytest.raises(AuditError, match="has a neighbour"):
        strategy_pairs(st.just("text"), None, 1.0, 0, 5)


@pytest.mark.parametrize("large", [2**60 + 1, 2**80 + 1])
def test_neighbours_of_integers_past_floats_are_exact(large):
    pairs = strategy_pairs(st.just([large, 5]), "l1", 1.0, 0, 2)
    assert all(sum(abs(int(a) - int(b)) for a, b in zip(pair.left, pair.right, strict=True)) == 1 for pair in pairs)
