"""Leaks in how an output is written: the class is two outputs of equal numbers that whoever gets them can tell apart."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpverify.audits import audit
from dpverify.audits.forms import Forms, Zeros, learn_forms, learn_zeros
from dpverify.audits.journal import _packed_outputs, _unpacked_outputs
from dpverify.audits.outputs import concatenate, encode
from dpverify.runtime.finding import FLOAT, MODEL, NO_VIOLATION_SEEN, VIOLATION

Rng = np.random.Generator

LEAKS: dict[str, tuple[str, Callable[[Any, Rng], Any]]] = {
    "the sign of zero": (FLOAT, lambda data, rng: -0.0 if data[0] else 0.0),
    "the sign of a rare zero": (FLOAT, lambda data, rng: max(rng.laplace(), -0.0 if data[0] else 0.0)),
    "the sign of one zero of a vector": (FLOAT, lambda data, rng: [rng.laplace(), -0.0 if data[0] else 0.0]),
    "the sign of a zero in an array": (FLOAT, lambda data, rng: np.array([0.0, -0.0 if data[0] else 0.0])),
    "the sign of a zero beside fractions": (FLOAT, lambda data, rng: (-0.0 if data[0] else 0.0) if rng.random() < 0.5 else Fraction(1, 3)),
    "an integer or a float": (MODEL, lambda data, rng: 1 if data[0] else 1.0),
    "an integer or a float of the same noise": (MODEL, lambda data, rng: (int if data[0] else float)(rng.integers(-50, 50))),
    "the type of one number of a list": (MODEL, lambda data, rng: [rng.laplace(), (int if data[0] else float)(2)]),
    "the type of a number in a mapping": (MODEL, lambda data, rng: {"a": 1 if data[0] else 1.0}),
    "an array of integers": (MODEL, lambda data, rng: np.array([1, 2], np.int64 if data[0] else np.float64)),
    "a fraction for an integer": (MODEL, lambda data, rng: Fraction(3) if data[0] else 3),
    "the order of keys": (MODEL, lambda data, rng: dict([("a", 1), ("b", 2)][:: -1 if data[0] else 1])),
    "the order of keys inside": (MODEL, lambda data, rng: [rng.normal(), dict([("a", 1), ("b", 2)][:: -1 if data[0] else 1])]),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", LEAKS)
def test_a_leak_in_how_an_output_is_written_is_a_violation(name: str) -> None:
    level, sampler = LEAKS[name]
    found = audit(sampler, epsilon=1, pairs=[([0], [1])], samples=4000, seed=1)
    assert (found.finding, found.level) == (VIOLATION, level), found.text()


PRIVATE: dict[str, Callable[[Any, Rng], Any]] = {
    "an integer where it is clipped": lambda data, rng: max(0, float(data[0] + rng.geometric(0.6) - rng.geometric(0.6))),
    "a zero of either sign": lambda data, rng: round(rng.laplace(), 0) * 0.0,
    "keys in a random order": lambda data, rng: dict([("a", 1), ("b", 2)][:: rng.choice([-1, 1])]),
}


@pytest.mark.parametrize("name", PRIVATE)
def test_forms_that_are_as_private_as_claimed_are_no_violation(name: str) -> None:
    found = audit(PRIVATE[name], epsilon=1, pairs=[([0.0], [1.0])], samples=4000, seed=3)
    assert found.finding == NO_VIOLATION_SEEN, found.text()


def test_events_of_forms_and_of_zeros_say_which_outputs_are_in_them() -> None:
    whole, float_ = encode([1] * 300, 300), encode([1.0] * 300, 300)
    forms = learn_forms(whole, float_, 1.0)
    assert isinstance(forms, Forms)
    (cell,) = set(forms.codes(whole).tolist())
    assert forms.describe(cell, forms.size) == "the types of numbers and the keys of the output, in their order, are <int>"
    assert forms.describe(0, cell) == "the types of numbers and the keys of the output, in their order, are none of these: <int>"
    assert set(forms.codes(encode([Fraction(1, 3)], 1)).tolist()) == {3}  # never seen
    zeros = learn_zeros(encode([-0.0] * 300, 300), encode([0.0] * 300, 300), 1.0)
    assert isinstance(zeros, Zeros)
    assert zeros.describe(6, 7) == "the signs of zeros speak for x by more than 2, most of all: y[0] is -0.0"
    assert zeros.codes(encode([-0.0, 1.0, 0.0], 3)).tolist() == [6, 3, 0]
    assert zeros.codes(encode([[0.0, 0.0]], 1)).tolist() == [3]


def test_outputs_keep_their_forms_when_they_are_cut_joined_and_stored() -> None:
    mixed = encode([1, 1.0, {"b": 2, "a": [1, 2.5]}, "text", [1, 2, 2.0]], 5)
    told = ["int", "float", "key 'b', int, key 'a', int, float", "", "int x 2, float"]
    again = concatenate([mixed[:2], mixed[2:]])
    stored = _unpacked_outputs(json.loads(json.dumps(_packed_outputs(mixed))))
    for outputs in (mixed, again, stored):
        assert outputs.forms is not None and [outputs.written[form] for form in outputs.forms] == told
    assert encode(np.array([[1.0, 2.0]]), 1).written == encode([[1.0, 2.0]], 1).written == ("float x 2",)
    assert encode(np.array([1, 2]), 2).written == encode([np.int64(1), 2], 2).written == ("int",)


def test_forms_that_go_on_for_long_are_kept_apart_by_a_hash() -> None:
    one, other = ([1 if (i * i + late * (i == 199)) % 3 else 1.0 for i in range(200)] for late in (0, 2))
    written = encode([one, other], 2).written
    assert len(written) == 2 and all(len(form) < 200 for form in written)
