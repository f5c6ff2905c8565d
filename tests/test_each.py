"""A test about many things names every one that is at fault, and does not pass where there is none to look at."""

import pytest

from tests.each import holds_of_each


def even(number):
    assert number % 2 == 0, "it is odd"


def test_every_fault_is_named():
    with pytest.raises(AssertionError, match=r"2 of 4 do not hold:\n3: it is odd\n.*\n5: it is odd"):
        holds_of_each([2, 3, 4, 5], even)


def test_of_many_faults_the_first_are_told_and_the_others_counted():
    with pytest.raises(AssertionError, match=r"7: it is odd[^9]*and 2 more"):
        holds_of_each([3, 7, 9, 11], even, most=2)


def test_what_raises_another_error_is_a_fault_too():
    with pytest.raises(AssertionError, match="1 of 1 do not hold:\nx: not all arguments"):
        holds_of_each(["x"], even)


def test_nothing_to_look_at_is_a_fault():
    with pytest.raises(AssertionError, match="nothing to look at"):
        holds_of_each([], even)


def test_what_holds_of_each_passes():
    holds_of_each([2, 4], even)
