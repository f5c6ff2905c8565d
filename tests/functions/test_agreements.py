"""Programs held against their declarations, refutations in functions, and audits of files with programs."""

import json
import math
import shutil
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner

import dpverify as dp
from dpverify.api.noises import Noises
from dpverify.cli import main
from dpverify.errors import FoundByAudit, NotCertain
from dpverify.project.starter import project_files
from dpverify.replays.agreeing import agreement, query_of, same_told
from dpverify.replays.refuted import rerun
from tests.functions import battery
from tests.functions.over_rows import counts


def clipped_less(rows, noise):
    adults = [row for row in rows if row["age"] >= 18]
    return len(adults) + noise.discrete_laplace(2), sum(max(row["income"], 0) for row in adults) + noise.laplace(50)


def older(rows, noise):
    adults = [row for row in rows if row["age"] > 18]
    return len(adults) + noise.discrete_laplace(2), sum(min(max(row["income"], 0), 100) for row in adults) + noise.laplace(50)


def strictly(answers, threshold, epsilon, noise):
    t = threshold + noise.laplace(2 / epsilon)
    for answer in answers:
        if answer + noise.laplace(4 / epsilon) > t:
            yield True
            return
        yield False


def without_an_end(answers, threshold, epsilon, noise):
    t = threshold + noise.laplace(2 / epsilon)
    for answer in answers:
        yield answer + noise.laplace(4 / epsilon) >= t


def with_one_noise(answers, threshold, epsilon, noise):
    t, z = threshold + noise.laplace(2 / epsilon), noise.laplace(4 / epsilon)
    for answer in answers:
        if answer + z >= t:
            yield True
            return
        yield False


def least(answers, epsilon, noise):
    noisy = [answer + noise.laplace(2 / epsilon) for answer in answers]
    return noisy.index(sorted(noisy)[-2])


@pytest.mark.parametrize("name", ["svt1", "rng", "best1", "bestkey", "adaptive", "at_once", "clipped", "svt10"])
def test_a_program_tells_what_its_declaration_tells(name):
    program = vars(battery)[name]
    given = [key for key in program.function.__code__.co_varnames if key == "epsilon"]
    found = program.agree(parameters=dict.fromkeys(given, "1"), tries=60)
    taken, every = found.branches
    assert found.is_clean and 0 < taken <= every and not found.left and found.tries >= 30, str(found)
    assert taken == every or name in ("best1", "bestkey", "at_once")
    with pytest.raises(NotCertain):
        bool(found)


@pytest.mark.parametrize(
    ("name", "function"),
    [("svt1", strictly), ("svt1", without_an_end), ("svt1", with_one_noise), ("best1", least), ("counts", older), ("counts", clipped_less)],
)
def test_another_function_tells_something_else(name, function):
    program = counts if name == "counts" else vars(battery)[name]
    given = {} if name == "counts" else {"epsilon": "1"}
    found = agreement(function, program.text, given, None, 200, 0)
    assert found.finding == "DIFFERENCE" and found.example.function != found.example.declaration
    assert json.loads(json.dumps(found.as_json()))["finding"] == "DIFFERENCE" and len(found.example.data) <= 3
    with pytest.raises(FoundByAudit, match="DIFFERENCE"):
        found.raise_unless_clean()


def test_sums_over_rows_are_those_of_the_query():
    assert counts.agree(tries=60).is_clean
    query = {"sum": ["min(max(x, 0), 3)"], "where": "(x > -2) and not (x == 1)"}
    assert query_of(query, [{"x": value} for value in (-5, -1, 1, 2, 9)]) == 0 + 2 + 3


def test_numbers_are_compared_up_to_rounding():
    assert same_told("(1/3, a)", "(0.3333333333333333, a)") and not same_told("1/3", "0.3333") and not same_told("1 1", "1")


@pytest.mark.wide
def test_a_refutation_is_seen_in_the_function():
    """How often runs tell the event is what the witness says, by probabilities that the kernel enclosed."""
    for name, given in (("svt1", {"epsilon": "1", "threshold": "1"}), ("best1", {})):
        program = vars(battery)[name]
        shown = program.rerun(dp.verify(program, epsilon="1/100", parameters=given), given)
        assert shown.finding == "SHOWN", str(shown)
        for run, side in ((shown.first, "P"), (shown.second, "Q")):
            chance = float(shown.witness[side].split()[0].lstrip("["))
            assert abs(run.hits / run.runs - chance) <= 6 * math.sqrt(chance / run.runs)
            assert all(one.line.startswith("battery.py:") for one in run.noises)


def test_over_rows_the_noise_that_hides_a_person_is_worked_out():
    shown = counts.rerun(dp.verify(counts, epsilon="1/2"))
    assert shown.finding == "SHOWN" and shown.loss == Fraction(1, 2) + Fraction(100, 50)  # 1 of scale 2, 100 of scale 50
    assert shown.first.told == shown.second.told and {len(run.data) for run in (shown.first, shown.second)} == {0, 1}
    assert json.loads(json.dumps(shown.as_json()))["loss"] == "5/2"


def test_what_is_no_finite_pair_is_not_shown():
    program = battery.rng
    answer = dp.verify(program, epsilon="1/100")
    assert program.rerun(answer).finding == "NOT_SHOWN"
    proved = dp.verify(counts, epsilon=3)
    assert "not refuted" in counts.rerun(proved).reason


@pytest.mark.wide
def test_a_function_that_tells_the_event_at_another_rate_is_told():
    def always(answers, noise):
        noise.laplace(1)
        return 0 if answers[0] > 10**5 or answers[0] > -(10**5) else 1

    answer = dp.verify(battery.best1, epsilon="1/100")
    found = rerun(always, battery.best1.text, answer, Noises)
    assert found.finding == "NOT_SHOWN" and "4000 times" in found.reason


PROGRAM = """import dpverify as dp


@dp.program(adjacency="add-remove", claims=[{"epsilon": "1/2"}])
def counts(rows, noise):
    return len(rows) + noise.laplace(0.25)
"""


@pytest.mark.wide
def test_audit_takes_files_with_programs(tmp_path):
    file = tmp_path / "release.py"
    file.write_text(PROGRAM)
    answer = CliRunner().invoke(main, ["audit", str(file), "--samples", "4000", "--seed", "1"])
    assert answer.exit_code == 1 and "NO_DIFFERENCE_SEEN: counts" in answer.output and "SHOWN" in answer.output
    data = json.loads(CliRunner().invoke(main, ["audit", str(file), "--samples", "4000", "--seed", "1", "--format", "json"]).output)
    assert data["programs"][0]["finding"] == "NO_DIFFERENCE_SEEN" and data["reruns"][0]["loss"] == "4"


def test_init_names_the_folders_of_programs(tmp_path):
    for folder in ("src/inner", "tests", ".hidden"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "release.py").write_text(PROGRAM)
    files = {Path(file.path).name: file.data.decode() for file in project_files(tmp_path, ci="none") if file.path.suffix == ".toml"}
    assert 'paths = ["specs", "src"]' in files["pyproject.toml"]
    shutil.rmtree(tmp_path / "src")
    files = {Path(file.path).name: file.data.decode() for file in project_files(tmp_path, ci="none") if file.path.suffix == ".toml"}
    assert 'paths = ["specs"]' in files["pyproject.toml"]
