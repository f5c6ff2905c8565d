"""Laws of the table about the geometry of noise."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

BENCH = Path(__file__).resolve().parents[1] / "bench"


@pytest.fixture(scope="module")
def table() -> Iterator[Any]:
    sys.path.insert(0, str(BENCH))
    try:
        yield importlib.import_module("geometry")
    finally:
        sys.path.remove(str(BENCH))


def test_the_bound_between_two_heights_is_sharp_for_simplices_in_3_dimensions_and_holds_in_more(table: Any) -> None:
    assert table.prism(2) == Fraction(1, 3)  # a parallelogram between two of its sides
    for d in (3, 4, 8, 16):
        cross = Fraction(2 * d, (d + 1) * (d + 2))  # of the hull of d independent columns, whose coordinates add up to u_1/h
        assert table.prism(d) <= cross and (d > 3 or table.prism(d) == cross)
    for d, n in ((3, 6), (4, 7), (5, 9)):
        body, _ = table.moments(d, n, False)
        assert body.second[0][0].value >= table.prism(d)


@pytest.mark.parametrize(("value", "above", "kept"), [(1.0, False, "yes"), (2.1, False, "no"), (2.1, True, "yes"), (1.0, True, "no")])
def test_a_row_says_whether_its_limit_is_kept(table: Any, value: float, above: bool, kept: str) -> None:
    assert table.row("what", value, 2.0, "s", above=above)[3] == kept
    assert table.row("what", value, None, "s")[2:4] == ("", "")
