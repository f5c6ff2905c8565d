"""Laws of the table that compares accountants."""

from __future__ import annotations

import importlib
import math
import sys
import tomllib
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

BENCH = Path(__file__).resolve().parents[1] / "bench"


@pytest.fixture(scope="module")
def table() -> Iterator[Any]:
    sys.path.insert(0, str(BENCH))
    try:
        yield importlib.import_module("accountants")
    finally:
        sys.path.remove(str(BENCH))


ENDS = st.fractions(0, 10, max_denominator=1000)


@given(st.floats(-1, 11), ENDS, ENDS)
def test_a_bound_is_safe_or_unsafe_exactly_when_it_is_proved(table: Any, value: float, first: Fraction, second: Fraction) -> None:
    lower, upper = sorted((first, second))
    direction, off, relative = table.judge("upper", value, lower, upper)
    exact = Fraction(value)
    assert (direction in ("UNSAFE", "unsafe by rounding")) == (exact < lower)
    assert (direction == "UNSAFE") == (exact < lower and relative > table.ROUNDING)
    assert (direction == "SAFE") == (exact >= upper)
    if direction == "inside":
        assert off is None
    # a lower bound is judged as the upper bound of what is mirrored
    mirrored = table.judge("lower", -value, -upper, -lower)
    assert mirrored == table.judge("upper", value, lower, upper)


def test_a_double_beside_its_decimal_is_told_from_it(table: Any) -> None:
    tenth = Fraction(1, 10)  # the nearest double lies above
    assert table.judge("upper", 0.1, tenth, tenth)[0] == "SAFE"
    assert table.judge("lower", 0.1, tenth, tenth)[0] == "unsafe by rounding"
    assert table.judge("upper", math.nextafter(0.1, 0), tenth, tenth)[0] == "unsafe by rounding"
    assert table.judge("upper", 0.1, tenth + Fraction(1, 10**9), tenth + 1)[0] == "UNSAFE"


def test_without_a_proof_nothing_is_said(table: Any) -> None:
    assert table.judge("upper", 1.0, None, None)[0] == "?"
    assert table.judge("upper", math.nan, Fraction(1), Fraction(2))[0] == "?"
    assert table.judge("upper", 1.0, Fraction(2), None)[0] == "UNSAFE"
    assert table.judge("upper", 3.0, Fraction(2), None)[0] == "?"
    assert table.judge("upper", math.inf, None, None)[0] == "SAFE"


def test_a_nest_is_read_as_its_mechanisms(table: Any) -> None:
    noise = {"kind": "builtin", "name": "gaussian", "parameters": {"sigma": 2}, "sensitivity": 3}
    sampled = {"kind": "subsample", "rate": Fraction(1, 100), "part": noise}
    nest = {"kind": "compose", "times": 5, "part": {"kind": "compose", "parts": [sampled, {"kind": "compose", "times": 7, "part": noise}]}}
    first, second = table.parts(nest, Fraction(1))
    assert (first.rate, first.times, first.sensitivity) == (Fraction(1, 100), 5, 3)
    assert (second.rate, second.times, second.parameters) == (None, 35, {"sigma": 2})
    with pytest.raises(ValueError, match="subsample"):
        list(table.parts({"kind": "subsample", "rate": Fraction(1, 2), "part": sampled}, Fraction(1)))


@pytest.mark.parametrize("path", sorted((BENCH / "accounting").glob("*.toml")), ids=lambda path: path.stem)
def test_every_problem_asks_for_one_number(table: Any, path: Path) -> None:
    stated = list(table.problems(path))
    assert len(stated) == len(tomllib.loads(path.read_text(encoding="utf-8"))["claim"])
    for problem in stated:
        assert (problem.epsilon is None) != (problem.delta is None)
        assert problem.parts


def test_the_coarsest_grid_of_a_certificate_is_found(table: Any) -> None:
    certificate = {"lines": [{"parameters": {"grid": {"spacing": "1/1024", "bits": 64}}}, {"parameters": [{"spacing": "1/512"}]}]}
    assert max(table.spacings(certificate)) == Fraction(1, 512)
    assert not list(table.spacings({"lines": []}))
