"""Leaks in the last digits of numbers: the class is an output that ends at another place for x than for x', under noise of any width."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpverify.audits import audit
from dpverify.audits.digits import LastDigits, _ends, learn_digits
from dpverify.audits.outputs import encode
from dpverify.runtime.finding import MODEL, NO_VIOLATION_SEEN, VIOLATION

Rng = np.random.Generator

LEAKS: dict[str, Callable[[Any, Rng], Any]] = {
    "the parity of an integer": lambda data, rng: 2 * int(rng.integers(-(10**6), 10**6)) + int(data[0]),
    "the parity of an integer past floats": lambda data, rng: 2 * (2**70 + int(rng.integers(10**9))) + int(data[0]),
    "a digit of a decimal far below its noise": lambda data, rng: Decimal(repr(rng.laplace())) + Decimal(int(data[0])) * Decimal("1e-25"),
    "the denominator of a fraction": lambda data, rng: Fraction(int(rng.integers(10**12)), 1) + Fraction(int(data[0]), 3),
    "a text of more digits": lambda data, rng: f"{rng.laplace(scale=1e6):.{5 + 2 * data[0]}f}",
    "rounding to more digits": lambda data, rng: round(rng.laplace(scale=1e4), 2 + data[0]),
    "the parity of one number of a vector": lambda data, rng: [rng.normal(), float(2 * rng.integers(10**9) + data[0])],
}


@pytest.mark.parametrize("name", LEAKS)
def test_a_leak_in_the_last_digits_is_a_violation_of_the_model_under_noise_of_any_width(name: str) -> None:
    found = audit(LEAKS[name], epsilon=1, pairs=[([0], [1])], samples=4000, seed=1)
    assert (found.finding, found.level) == (VIOLATION, MODEL), found.text()


PRIVATE: dict[str, Callable[[Any, Rng], Any]] = {
    "rounded Laplace": lambda data, rng: round(data[0] + rng.laplace(), 2),
    "floats whose grid changes between the two answers": lambda data, rng: 2.0**33 - 0.5 + data[0] + rng.laplace(),
    "single precision": lambda data, rng: np.float32(1000 + data[0] + rng.laplace()),
    "geometric noise": lambda data, rng: int(data[0]) + int(rng.geometric(1 - np.exp(-1))) - int(rng.geometric(1 - np.exp(-1))),
}


@pytest.mark.parametrize("name", PRIVATE)
def test_the_last_digits_of_a_private_sampler_suggest_nothing(name: str) -> None:
    for seed in range(10):
        rng = np.random.default_rng(seed)
        left, right = (encode([PRIVATE[name]([side], rng) for _ in range(2000)], 2000) for side in (0, 1))
        assert learn_digits(left, right, 1.0) is None


def test_an_event_of_last_digits_says_which_outputs_are_in_it() -> None:
    even, odd = (encode([2 * i + side for i in range(3000)], 3000) for side in (0, 1))
    learned = learn_digits(even, odd, 0.5)
    assert isinstance(learned, LastDigits)
    (cell,) = set(learned.codes(odd).tolist())
    assert learned.describe(cell, cell + 1) == "y is odd"
    assert learned.describe(cell + 1, learned.size) == "y is not of these: it is odd"


def test_numbers_of_all_types_end_at_the_same_places() -> None:
    numbers = ["3", "-8", "0", "1024", "0.5", "-2.25", "1.001", "7.123456789"]
    places = [0, 3, 7, 7, 8, 9, 10, 16]
    assert _ends(np.array([Fraction(number) for number in numbers], object)).tolist() == places
    assert _ends(np.array(list(map(float, numbers)))).tolist() == places
    assert _ends(np.array([3, -8, 0, 1024, -(2**62)])).tolist() == [0, 3, 7, 7, 7]
    assert _ends(np.array([np.inf, -np.inf, 1e300, 1 / 3, 2.0**52 + 1])).tolist() == [48] * 5


def test_a_private_sampler_of_rounded_noise_stays_without_finding() -> None:
    found = audit(PRIVATE["rounded Laplace"], epsilon=1, pairs=[([0.0], [1.0])], samples=4000, seed=2)
    assert found.finding == NO_VIOLATION_SEEN, found.text()
