"""Wrong answers that enumeration found, each a database of few records that anybody can write down."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpverify.errors import SpecError
from tests.laws import truth
from tests.laws.test_truths import CLAIMS, told

CHAIN = [[0, 1], [1, 2]]
FIRST = {"kind": "table", "rows": [["3/4", "1/4"], ["1/4", "3/4"], ["1/4", "3/4"]], "adjacent": CHAIN}
SECOND = {"kind": "table", "rows": [["3/4", "1/4"], ["3/4", "1/4"], ["1/4", "3/4"]], "adjacent": CHAIN}
LONG = {"kind": "table", "rows": [["8/9", "1/9"], ["2/3", "1/3"], ["1/3", "2/3"], ["1/9", "8/9"]], "adjacent": [[0, 1], [1, 2], [2, 3]]}


def table(part: Any) -> truth.Leaf:
    return truth.table(part["rows"], part["adjacent"])


def sampled_beside() -> tuple[list[Fraction], list[Fraction]]:
    """Outputs of FIRST on a sample at rate 1/100 and of SECOND on all records, with a record and without it.

    Both databases have two other records. The input of a set of records is 1; but 0 where it is the record alone, and 2 where it is the
    record and both others. Two sets that differ by a record are then inputs that are the same or neighbours.
    """
    p, rows = Fraction(1, 100), [[Fraction(entry) for entry in row] for row in FIRST["rows"]]

    def place(record: bool, others: int) -> int:
        return {(True, 0): 0, (True, 2): 2}.get((record, others), 1)

    def sample(there: bool) -> list[Fraction]:
        drawn = [(p if record else 1 - p, record) for record in (True, False)] if there else [(Fraction(1), False)]
        ways = [(w * math.comb(2, k) * p**k * (1 - p) ** (2 - k), place(record, k)) for w, record in drawn for k in range(3)]
        return [sum(w * rows[at][y] for w, at in ways) for y in range(2)]

    def law(there: bool) -> list[Fraction]:
        return [a * Fraction(b) for a in sample(there) for b in SECOND["rows"][place(there, 2)]]

    return law(True), law(False)


def claimed_in_vain(wrong: str, reason: str) -> None:
    """An answer that is known to be wrong is told of, and not a failure, until it is mended."""
    if wrong:
        pytest.xfail(f"{reason}: {wrong}")


def test_tables_in_a_sample_and_beside_it_are_at_inputs_of_their_own():
    p, q = sampled_beside()
    least = max(math.log(a / b) for a, b in zip(p, q, strict=True))
    assert 1.118 < least < 1.119
    _, upper = told({"kind": "compose", "parts": [{"kind": "subsample", "rate": "1/100", "part": FIRST}, SECOND]}, CLAIMS["pure"], "pure")
    assert upper is not None
    claimed_in_vain("" if upper >= least - 1e-9 else f"at most {upper}, and it is at least {least}", "joint neighbours")


@pytest.mark.deep
@pytest.mark.parametrize("measure", ["zcdp", "renyi 3/2", "renyi 2", "renyi 5"])
@pytest.mark.parametrize("rate", ["1/100", "1/2"])
def test_tables_in_a_sample_and_beside_it_by_all_worlds(measure, rate):
    mechanism = {"kind": "compose", "parts": [{"kind": "subsample", "rate": rate, "part": FIRST}, SECOND]}
    least = truth.truths(truth.laws(mechanism, table, others=2))[measure]
    _, upper = told(mechanism, CLAIMS[measure], measure)
    claimed_in_vain("" if upper is None or upper >= least - 1e-9 else f"at most {upper}, and it is at least {least}", "joint neighbours")


@pytest.mark.parametrize(
    ("mechanism", "steps"),
    [
        # one step becomes at most 3/2, so at most one; and then at most 4/3, so at most one
        ({"kind": "lipschitz", "constant": "3/2", "part": {"kind": "lipschitz", "constant": "4/3", "part": LONG}}, 1),
        # each of two steps becomes at most one
        ({"kind": "group", "size": 2, "part": {"kind": "lipschitz", "constant": "3/2", "part": LONG}}, 2),
        # each of two steps becomes none
        ({"kind": "group", "size": 2, "part": {"kind": "lipschitz", "constant": "1/2", "part": LONG}}, 0),
    ],
    ids=["a map of a map", "a group of a map", "a group of a map that brings together"],
)
def test_inputs_of_a_table_are_whole_steps_apart(mechanism, steps):
    leaf = table(LONG)
    most = max((truth.pure(leaf.law(a), leaf.law(b)) for a in range(4) for b in leaf.near(a, steps)), default=0.0)
    lower, upper = told(mechanism, CLAIMS["pure"], "pure")
    assert upper is None or upper >= most - 1e-9
    claimed_in_vain("" if lower is None or lower <= most + 1e-9 else f"at least {lower}, and it is {most}", json.dumps(mechanism)[:60])


@pytest.mark.parametrize("measure", ["gdp", "renyi 2"])
@pytest.mark.parametrize("depth", ["alone", "composed"])
def test_a_map_of_the_outputs_of_two_tables_has_an_answer(measure, depth):
    mapped = {"kind": "post_process", "part": {"kind": "compose", "parts": [FIRST, SECOND]}}
    mechanism = mapped if depth == "alone" else {"kind": "compose", "parts": [mapped, SECOND]}
    least = truth.truths(truth.laws(mechanism, table))[measure]
    try:
        _, upper = told(mechanism, CLAIMS[measure], measure)
    except (AssertionError, RuntimeError) as error:
        pytest.xfail(f"a crash: {error!r}")
    assert upper is None or upper >= least - 1e-9


STEPS = {"kind": "builtin", "name": "discrete_laplace", "scale": 1, "sensitivity": "3/2"}
MAP = {"kind": "lipschitz", "constant": "3/2", "part": STEPS}


@pytest.mark.parametrize(
    "mechanism",
    [
        {"kind": "group", "size": 2, "part": MAP},
        {"kind": "lipschitz", "constant": 2, "part": MAP},
        {"kind": "compose", "parts": [{"kind": "group", "size": 2, "part": {"kind": "parallel", "parts": [MAP]}}]},
    ],
    ids=["group", "map", "parallel"],
)
@pytest.mark.parametrize("measure", ["pure", "delta", "zcdp", "gdp", "renyi 2"])
def test_integers_behind_maps_move_in_proportion_to_the_distance_of_inputs(mechanism, measure):
    """Integers n as data, neighbours 1 apart, T(n) = 3 n/2, and 2 n as the answer: 3/2 a step of T and 3/2 times as much, 2 of at most 9/4.

    Two steps move the answer by 4, though three steps of T at 1 each would come to 3.
    """
    span = range(-60, 61)
    p, q = (np.array([math.exp(-abs(y - at)) * math.tanh(1 / 2) for y in span]) for at in (0, 4))
    least = truth.truths(iter([(p, q), (q, p)]))[measure]
    try:
        _, upper = told(mechanism, CLAIMS[measure], measure)
    except SpecError:
        return
    assert upper is None or upper >= least - 1e-9


MANY = {"positives": 2, "neighbours": "increasing", "bounds": [0, 2]}


def test_bounds_without_a_value_leave_no_claim_open():
    """Above threshold between bounds, where answers may only rise, and a delta is claimed."""
    noise = {"kind": "builtin", "name": "discrete_laplace", "scale": "1/2"}
    selection = {"kind": "above_threshold", "queries": 1, "query_noise": noise, **MANY}
    lower, upper = told(selection, {"sensitivity": 1, "epsilon": "1/2", "delta": "tight"}, "delta")
    # the answer 0 or 1, or 1 or 2, on noise of scale 1/2 that is compared with 0
    most = max(
        p - math.exp(1 / 2) * q
        for a in (0, 1)
        for at in [[sum(math.exp(-2 * abs(z)) for z in range(-80, 81) if x + z >= 0) * math.tanh(1) for x in (a, a + 1)]]
        for up, down in (at, at[::-1])
        for p, q in ((up, down), (1 - up, 1 - down))
    )
    assert upper is not None and lower is not None and lower - 1e-9 <= most <= upper + 1e-9
