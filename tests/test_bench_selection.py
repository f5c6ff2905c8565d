"""The rows of the suites of selections: they can be read, and some of them are proved or refuted as their values say."""

import importlib.util
import sys
from pathlib import Path

import pytest

from dpverify.search.verify import verify

ROOT = Path(__file__).resolve().parents[1]


def _load():
    sys.path.insert(0, str(ROOT / "bench"))
    try:
        spec = importlib.util.spec_from_file_location("_bench_selection", ROOT / "bench" / "selection.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module  # where its dataclasses look their names up
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.remove(str(ROOT / "bench"))


BENCH = _load()
ROWS = BENCH.cases()


def test_no_two_rows_have_one_name_and_the_rows_of_all_suites_are_there():
    names = [(row.suite, row.name) for row in ROWS]
    assert len(set(names)) == len(names) > 90
    assert {suite for suite, _ in names} == {"CheckDP, ShadowDP", "DiPApprox", "DiPC"}


@pytest.mark.parametrize("row", [row for row in ROWS if row.known][::5], ids=lambda row: row.name)
def test_a_row_is_judged_as_expected_and_its_tight_epsilon_is_the_known_one(row):
    [claim] = BENCH.claims([row])
    judgement = verify(claim, 15).judgement
    assert judgement.verdict == row.verdict
    assert BENCH.agrees(row.known, BENCH.tight(judgement)) == "yes"


@pytest.mark.parametrize(
    ("known", "ends", "said"),
    [
        ("", ("1", "1"), ""),
        ("1/4", ("1/4", "1/4"), "yes"),
        ("0.1994", ("0.199401977264902", "0.199401977264903"), "yes"),
        ("0.1994", ("0.1996", "0.1997"), "NO"),
        ("inf", ("inf", "inf"), "yes"),
        ("eps", ("", "eps"), "yes"),
        ("eps", ("", "2*eps"), "NO"),
        ("1", ("", ""), "NO"),
        ("1", ("1", "5/4"), "NO"),
    ],
)
def test_a_known_value_agrees_as_far_as_it_is_known_and_with_every_side_that_is_told(known, ends, said):
    assert BENCH.agrees(known, ends) == said
