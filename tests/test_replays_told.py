"""What a replay sees besides results: what is printed, logged, warned of, written and kept; seeds; values and sizes that code names."""

import datetime
import functools
import logging
import secrets
import sys
import time
import uuid
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import strategies as st

import dpverify as dp
from dpverify.errors import SpecError
from dpverify.replays.calls import same
from dpverify.replays.code import constants_of, functions_of, near

PEOPLE = {"pay": "real", "group": "integer in [0, 4]"}
MADE_BEFORE, MADE_WITH_A_SEED = np.random.default_rng(), np.random.default_rng(42)
KEPT = []


def count(rows, noise):
    return noise.laplace(len(rows), scale=1, sensitivity=1)


# -- wrong pipelines, each with what differs and how many rows show it ----------------------------------------------------------


def printed(rows, noise):
    sys.stdout.write(f"rows: {len(rows)}\n")
    return count(rows, noise)


def printed_to_stderr(rows, noise):
    sys.stderr.write(f"{len(rows)}\n")
    return count(rows, noise)


def logged(rows, noise):
    logging.getLogger("release").info("%d rows", len(rows))
    return count(rows, noise)


def warned(rows, noise):
    if not rows:
        warnings.warn("no rows", stacklevel=1)
    return count(rows, noise)


def seeded_by_a_constant(rows):
    return len(rows) + np.random.default_rng(42).laplace(0, 1)


def seeded_globally(rows):
    np.random.seed(0)
    return len(rows) + np.random.laplace(0, 1)


def seeded_legacy(rows):
    return len(rows) + np.random.RandomState(3).laplace(0, 1)


def seeded_bits(rows):
    return len(rows) + np.random.Generator(np.random.PCG64(7)).laplace(0, 1)


def seeded_before(rows):
    return len(rows) + MADE_WITH_A_SEED.laplace(0, 1)


def of_a_rare_value(rows, noise):
    return noise.laplace(sum(2 if row["pay"] == 50000 else 1 for row in rows), scale=1, sensitivity=1)


def of_many_rows(rows, noise):
    return noise.laplace(len(rows), scale=0.5 if len(rows) > 30 else 1, sensitivity=1)


def of_a_hundred_rows(rows, noise):
    return count(rows, noise) if len(rows) < 100 else "many"


def of_a_sign_of_zero(rows, noise):
    return count(rows, noise), 0.0 if len(rows) % 2 else -0.0


def of_nan(rows, noise):
    return noise.laplace(sum(min(max(row["pay"], 0), 5) for row in rows), scale=5, sensitivity=5)


WRONG = [
    (printed, "told", 1, {}), (printed_to_stderr, "told", 1, {}), (logged, "told", 1, {}), (warned, "told", 1, {}),
    (seeded_by_a_constant, "seed", 1, {"patch": "numpy"}), (seeded_globally, "seed", 1, {"patch": "numpy"}),
    (seeded_legacy, "seed", 1, {"patch": "numpy"}), (seeded_bits, "seed", 1, {"patch": "numpy"}),
    (seeded_before, "seed", 1, {"patch": "numpy"}), (of_a_rare_value, "distance", 1, {}), (of_many_rows, "parameters", 31, {}),
    (of_a_hundred_rows, "calls", 100, {}), (of_a_sign_of_zero, "output", 1, {}), (of_nan, "value", 1, {"allow_nan": True}),
]  # fmt: skip


@pytest.mark.parametrize(("pipeline", "kind", "most", "more"), WRONG, ids=lambda one: getattr(one, "__name__", None))
def test_what_differs_is_found(pipeline, kind, most, more):
    found = dp.replay(pipeline, rows=PEOPLE, tries=200, **more)
    assert found.finding == "CONTRACT_BROKEN" and found.breach.kind == kind, str(found)
    assert max(map(len, found.pair)) == most and abs(len(found.pair[0]) - len(found.pair[1])) == 1


@pytest.mark.wide
def test_files_are_read_again(tmp_path):
    def written(rows, noise):
        with Path(tmp_path / "out").open("a") as file:
            file.write(f"{len(rows)}\n")
        return count(rows, noise)

    def written_twice(rows, noise):
        with Path(tmp_path / "out").open("a") as file:
            file.write("done\n")
        return count(rows, noise)

    assert dp.replay(written, rows=PEOPLE, tries=40).breach.kind == "told"
    assert dp.replay(written, rows=PEOPLE, tries=40, ignore="written").is_clean
    assert dp.replay(written_twice, rows=PEOPLE, tries=40).is_clean


def test_what_is_kept_is_compared_where_that_is_asked():
    @functools.lru_cache
    def known(size):
        return size

    def keeps(rows, noise):
        KEPT.append(len(rows))
        return count(rows, noise)

    def keeps_the_first(rows, noise):
        keeps_the_first.size = known(len(rows)) if not hasattr(keeps_the_first, "size") else keeps_the_first.size
        return noise.laplace(9 * keeps_the_first.size, scale=1, sensitivity=1)

    assert dp.replay(keeps, rows=PEOPLE, tries=40).is_clean
    KEPT.clear()
    found = dp.replay(keeps, rows=PEOPLE, tries=40, kept=True)
    assert found.breach.kind == "told" and "KEPT" in found.breach.said and KEPT == []
    assert dp.replay(keeps_the_first, rows=PEOPLE, tries=40, kept=True).breach.kind == "distance"  # as each run begins anew
    assert not hasattr(keeps_the_first, "size")


# -- right pipelines ---------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Answer:
    value: object


class Slotted:
    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value


class Release:
    def __init__(self):
        self.rng = np.random.default_rng()

    def count(self, rows):
        return len(rows) + self.rng.laplace(0, 1)


RIGHT = [
    (lambda rows, noise: len(rows) + float(noise.laplace(1)), {}),
    (lambda rows, noise: len(rows) + round(noise.laplace(1)), {}),
    (lambda rows, noise: len(rows) + int(noise.discrete_laplace(1)), {}),
    (lambda rows, noise: Slotted(count(rows, noise)), {}),
    (lambda rows, noise: Answer(count(rows, noise)), {}),
    (lambda rows, noise: (sys.stdout.write(str(z := count(rows, noise))), logging.warning("done"), z)[2], {}),
    (lambda rows: len(rows) + np.random.laplace(loc=0.0, scale=1), {"patch": "numpy"}),
    (lambda rows: np.random.laplace(len(rows), 1) + 5, {"patch": "numpy"}),
    (lambda rows: len(rows) + np.random.default_rng(secrets.randbits(128)).laplace(0, 1), {"patch": "numpy"}),
    (lambda rows: len(rows) + np.random.RandomState().laplace(0, 1), {"patch": "numpy"}),
    (lambda rows: len(rows) + MADE_BEFORE.laplace(0, 1), {"patch": "numpy"}),
    (Release().count, {"patch": "numpy"}),
    (lambda rows, noise: (datetime.datetime.now().isoformat(), str(uuid.uuid4()), secrets.token_hex(4), count(rows, noise)), {}),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(RIGHT)))
def test_a_right_pipeline_raises_no_alarm(number):
    pipeline, more = RIGHT[number]
    found = dp.replay(pipeline, rows=PEOPLE, epsilon=1, tries=60, **more)
    assert found.is_clean and found.epsilon == 1, str(found)


def test_rounding_noise_alone_is_another_thing_than_rounding_the_sum():
    assert dp.replay(lambda rows, noise: len(rows) / 3 + round(noise.laplace(1)), rows=PEOPLE, tries=60).breach.kind == "output"


def test_noise_that_is_a_float_is_noise_still():
    for pipeline in (
        lambda rows, noise: (float(z := noise.laplace(1)), len(rows) + z),
        lambda rows, noise: (len(rows) + float(z := noise.laplace(1)), float(z)),
    ):
        assert dp.replay(pipeline, rows=PEOPLE, tries=40).finding == "CONTRACT_BROKEN"


def test_what_tells_the_time_it_took_is_not_compared():
    def timed(rows, noise):
        sys.stdout.write(f"{object()} took {time.perf_counter()}")
        return count(rows, noise)

    found = dp.replay(timed, rows=PEOPLE, tries=20)
    assert found.is_clean and "printed" in " ".join(found.assumed)


def test_lines_that_never_ran_are_told():
    def branched(rows, noise):
        if sum(row["pay"] for row in rows) == 0.123:
            return count(rows, noise) + 1
        return count(rows, noise)

    found = dp.replay(branched, rows={"pay": "integer in [0, 3]"}, tries=20)
    assert found.is_clean and any("1 lines of" in one for one in found.assumed)


def test_code_names_its_constants():
    def pipeline(rows, noise):
        return helper(rows) + LIMITS["most"] * noise.laplace(1)

    found = near(constants_of(functions_of(pipeline)))
    assert {77, 78, 76, 38.5, 4321, "admin"} <= set(found)


LIMITS = {"most": 4321}


def helper(rows):
    return sum(row["pay"] == 77 and row["name"] != "admin" for row in rows)


def test_tables_have_no_more_rows_than_is_said():
    seen = set()

    def pipeline(rows, noise):
        seen.add(len(rows))
        return count(rows, noise)

    dp.replay(pipeline, rows=PEOPLE, tries=60, most_rows=12)
    assert 6 < max(seen) <= 12
    for wrong in ({"most_rows": 0}, {"most_rows": 2, "rows_per_person": 3}, {"ignore": "whispered"}):
        with pytest.raises(SpecError, match=r"most_rows|ignore"):
            dp.replay(count, rows=PEOPLE, **wrong)


@pytest.mark.wide
def test_duckdb_is_given_a_table():
    pytest.importorskip("duckdb")

    def total(con, noise, most):
        (found,) = con.execute(f"SELECT coalesce(sum(least(greatest(pay, 0), {most})), 0) FROM rows").fetchone()
        return noise.laplace(found, scale=10, sensitivity=10)

    rows = {"pay": st.integers(-5, 40), "name": "text"}
    for most, clean in ((10, True), (20, False)):
        found = dp.replay(total, rows=rows, form="duckdb", config={"most": st.just(most)}, tries=40)
        assert found.is_clean == clean
    assert found.audit(epsilon=1, samples=4_000, seed=0).finding == "VIOLATION"


def test_values_are_the_same_by_what_can_be_seen():
    assert same(Slotted([1.0]), Slotted([1.0])) and not same(Slotted(1), Slotted(2)) and not same(0.0, -0.0)
    assert same(object(), object()) and same(Answer(float("nan")), Answer(float("nan")))
