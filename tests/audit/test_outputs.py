"""Outputs of any kind: what is kept, what is refused, what is equal in every batch."""

from __future__ import annotations

import dataclasses
import enum
import math
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpverify.audits.outputs import NotAnOutput, concatenate, encode, kinds, size, words
from tests.effort import examples


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


@dataclasses.dataclass
class Reply:
    number: float
    texts: list[str]


def name_of(value: object) -> str:
    return encode([value], 1).names[0]


def test_an_array_of_floats_is_a_column_without_a_copy() -> None:
    for dtype in (np.float64, np.float32, np.int64):
        y = np.arange(5).astype(dtype)
        outputs = encode(y, 5)
        assert outputs.numbers.shape == (5, 1)
        assert outputs.numbers.dtype == dtype
        assert np.shares_memory(outputs.numbers, y)
        assert outputs.names == ("number",)


def test_trailing_axes_are_flattened() -> None:
    outputs = encode(np.arange(24.0).reshape(2, 3, 4), 2)
    assert outputs.numbers.tolist() == [list(map(float, range(12))), list(map(float, range(12, 24)))]


@pytest.mark.parametrize(
    ("array", "rows"),
    [
        (np.array([[True, False], [False, False]]), [[True, False], [False, False]]),
        (np.array([[1.5, 2.0], [0.0, -1.0]]), [[1.5, 2.0], [0.0, -1.0]]),
        (np.array([[1, 2, 3], [4, 5, 6]], np.uint8), [(1, 2, 3), (4, 5, 6)]),
        (np.array(["yes", "a longer text"]), ["yes", "a longer text"]),
        (np.array([1 + 2j, 3j]), [1 + 2j, 3j]),
        (np.array([[[1.0, 2.0]], [[3.0, 4.0]]]), [[[1.0, 2.0]], [[3.0, 4.0]]]),
        (np.array([1, None, "x"], object), [1, None, "x"]),
    ],
)
def test_an_array_is_what_the_list_of_its_rows_is(array: np.ndarray[Any, Any], rows: list[Any]) -> None:
    one, other = encode(array, len(array)), encode(rows, len(rows))
    assert one.names == other.names
    assert np.array_equal(one.numbers, other.numbers)


def test_none_is_part_of_the_shape_and_lengths_differ() -> None:
    outputs = encode([[None, None, 3.2], [None, 1.0], None, [None, None, -1.0]], 4)
    assert outputs.names == ("[None x 2, number]", "[None, number]", "None")
    assert outputs.shapes is not None
    assert outputs.shapes.tolist() == [0, 1, 2, 0]
    assert outputs.numbers[:, 0].tolist() == [3.2, 1.0, 0.0, -1.0]


def test_a_bool_is_not_a_number_but_an_integer_is_one() -> None:
    assert name_of(True) != name_of(1)
    assert name_of(1) == name_of(1.0) == name_of(np.float32(1)) == name_of(Fraction(1, 3))
    assert name_of(np.bool_(True)) == name_of(True)


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**53), 2**53), st.floats(allow_nan=False), st.text(max_size=9), st.binary(max_size=9)
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=3), inner, max_size=3)), max_leaves=8
)


@pytest.mark.wide
@settings(max_examples=examples(200), deadline=None)
@given(st.lists(VALUES, min_size=1, max_size=6))
def test_outputs_are_the_same_alone_as_in_a_batch_and_equal_only_if_they_are(values: list[Any]) -> None:
    batch = encode(values, len(values))
    for index, value in enumerate(values):
        alone = encode([value], 1)
        name = batch.names[0 if batch.shapes is None else batch.shapes[index]]
        assert name == alone.names[0]
        width = len(kinds(name))
        assert np.array_equal(batch.numbers[index, :width], alone.numbers[0])
        assert not batch.numbers[index, width:].any()
        other = values[0]
        same = alone.names == encode([other], 1).names and np.array_equal(alone.numbers, encode([other], 1).numbers)
        assert same == (value == other and alone.names == encode([other], 1).names)


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.one_of(st.none(), st.booleans(), st.integers(-100, 100), st.floats(allow_nan=False)), max_size=6))
def test_lists_of_plain_values_are_put_in_words_as_python_does(value: list[Any]) -> None:
    outputs = encode([value], 1)
    said = eval(words(outputs.names[0], outputs.numbers[0]), {"inf": math.inf})
    assert said == [None if v is None else v for v in value]
    assert size(outputs.names[0]) == len(value)


def test_names_of_keys_and_classes_are_never_taken_for_kinds() -> None:
    outputs = encode([{"number": 1, 'it\'s "bool"': None, "b": ["x"]}, Reply(2.5, ["number"])], 2)
    assert [kinds(name) for name in outputs.names] == [("str", "number"), ("number", "str")]
    assert words(outputs.names[1], outputs.numbers[1]) == "'Reply'{'number': 2.5, 'texts': ['number']}"


def test_sets_and_mappings_have_no_order() -> None:
    assert np.array_equal(encode([{3, 1, 2}], 1).numbers, encode([{2, 3, 1}], 1).numbers)
    assert encode([{"a": 1, "b": 2}, {"b": 2, "a": 1}], 2).numbers.tolist() == [[1, 2], [1, 2]]


def test_members_of_an_enumeration_are_shapes() -> None:
    assert encode([Colour.RED, Colour.BLUE, Colour.RED], 3).names == ("'Colour.RED'", "'Colour.BLUE'")


def test_integers_of_any_size_are_outputs() -> None:
    assert encode([1, 2**70, -(10**400), 10**400], 4).numbers[:, 0].tolist() == [1.0, 2.0**70, -math.inf, math.inf]
    assert encode([2**53 + 1, 2**53], 2).numbers[:, 0].tolist() == [2**53 + 1, 2**53]
    assert encode(np.array([2**63, 1], np.uint64), 2).numbers[:, 0].tolist() == [2.0**63, 1.0]


def test_infinite_numbers_are_outputs() -> None:
    assert encode([math.inf, -math.inf], 2).numbers[:, 0].tolist() == [math.inf, -math.inf]


@pytest.mark.wide
def test_texts_have_the_same_number_in_every_process() -> None:
    program = "from dpverify.audits.outputs import encode; print(encode(['a', 'a longer text', 'ü'], 3).numbers[:, 0].tolist())"
    other = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert eval(other) == encode(["a", "a longer text", "ü"], 3).numbers[:, 0].tolist()


class Frame:
    """What looks like a table of another library."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray[Any, Any]:
        return np.ones((2, 3))


def test_whatever_turns_into_an_array_is_one() -> None:
    assert encode(Frame(), 2).names == ("[number x 3]",)
    assert encode([Frame(), None], 2).names == ("[[number x 3], [number x 3]]", "None")


async def later() -> None: ...


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: [1.0, math.nan], "nan in output 1 of 2"),
        (lambda: np.array([[0.0, 1.0], [np.nan, 0.0]]), "nan in output 1 of 2"),
        (lambda: [[1.0], [2.0, math.nan]], "nan in output 1 of 2"),
        (lambda: np.array([1 + 0j, complex(0, math.nan)]), "nan in output 1 of 2"),
        (lambda: [1.0], "1 outputs instead of 2"),
        (lambda: np.zeros((3, 2)), "3 outputs instead of 2"),
        (lambda: (x for x in (1, 2)), "a generator"),
        (lambda: np.ma.array([1.0, 2.0], mask=[False, True]), "a masked value"),
        (lambda: [1.0, np.ma.masked], "a masked value"),
        (lambda: None, "None instead of a sequence"),
        (lambda: "ab", "a str instead of a sequence"),
        (lambda: {1: 2, 3: 4}, "a dict instead of a sequence"),
        (lambda: 3.0, "a float instead of a sequence"),
        (lambda: np.float64(3), "one float64 instead of a sequence"),
        (lambda: [object(), object()], "equal"),
        (lambda: [1, lambda: 2], "a function inside an output"),
        (lambda: [1, (x for x in ())], "a generator inside an output"),
    ],
)
def test_what_is_no_output_is_refused_with_the_reason(make: Callable[[], object], reason: str) -> None:
    with pytest.raises(NotAnOutput, match=reason):
        encode(make(), 2)


def test_a_coroutine_is_refused() -> None:
    coroutine = later()
    with pytest.raises(NotAnOutput, match="a coroutine"):
        encode(coroutine, 1)
    coroutine.close()


def test_batches_are_joined_under_common_shapes() -> None:
    one, other = encode([1.0, None], 2), encode([[2.0, 3.0], 4.0], 2)
    both = concatenate([one, other])
    assert both.names == ("number", "None", "[number x 2]")
    assert both.shapes is not None
    assert both.shapes.tolist() == [0, 1, 2, 0]
    assert both.numbers.tolist() == [[1, 0], [0, 0], [2, 3], [4, 0]]
