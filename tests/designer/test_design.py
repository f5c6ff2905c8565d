"""dpverify design: every mechanism is proved, its error is what floats expect, and none is below what any mechanism has at least."""

import json
import re
from decimal import Decimal
from fractions import Fraction
from math import exp, sqrt
from pathlib import Path

import pytest
from click.testing import CliRunner
from jsonschema import Draft7Validator

import dpverify
from dpverify.catalogue import read_spec
from dpverify.cli import main
from dpverify.errors import SpecError
from dpverify.project.designer import design, question_of, read_question, written
from dpverify.project.designer.candidates import NotTried, candidates
from dpverify.search.verify import verify
from dpverify.trusted.kernel.balls import constant

SCHEMAS = Path(dpverify.__file__).parent / "schemas"
ALL = {"adjacency": "replace", "gdp": 1}
SMALL = {"query": [[1, 1, 0], [0, 10, 10]], "adjacency": "l1", "epsilon": 1}


def judge(specs):
    return [verify(spec.claims[0].claim, 9).judgement for spec in specs]


def designed(table):
    return design(question_of("query.toml", {"design": table}), judge)


def size(one, side="upper"):
    return float(constant(one.value("rms_l2", side)))


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "table",
    [
        SMALL,
        {**SMALL, "adjacency": "replace"},
        {**SMALL, "adjacency": "l2", "query": [[3, 0], [1, 2]]},
        {**SMALL, "delta": "1e-6", "query": [[1, 1]]},
        {"workload": {"kind": "prefix", "length": 3}, "adjacency": "add-remove", "epsilon": "log(3)"},
    ],
    ids=["l1", "replace", "l2", "delta", "workload"],
)
def test_all_that_is_ranked_is_proved_with_the_error_that_floats_expect(table):
    found = designed(table)
    assert len(found.ranked) >= 2
    assert [size(one) for one in found.ranked] == sorted(size(one) for one in found.ranked)
    for one in found.ranked:
        assert one.verdict == "PROVED"
        assert one.candidate.predicted is None or size(one) == pytest.approx(one.candidate.predicted, rel=1e-4)
        assert found.least is None or size(one) >= float(constant(found.least[1].value))
    assert not [left for left in found.left if "UNKNOWN" in left.why or "REFUTED" in left.why]


@pytest.mark.wide
def test_the_recursive_mechanism_is_far_better_than_k_norm_where_one_row_is_heavy():
    rows = [[1, -1, 1, 1, -1, 1], [1, 1, -1, 1, 1, -1], [-1, 1, 1, 1, -1, -1]]
    found = designed({"query": [[100 * x for x in rows[0]], *rows[1:]], "adjacency": "l1", "epsilon": 1})
    errors = {one.candidate.name: size(one) for one in found.ranked}
    best = min(error for name, error in errors.items() if name.startswith("recursive"))
    assert best**2 < errors["k-norm"] ** 2 / 2 and best < errors["laplace"]


def test_what_no_neighbours_move_is_known_all_but_exactly_and_files_stay_short():
    found = designed({"workload": {"kind": "marginals", "sizes": [2, 2], "ways": 1}, "adjacency": "replace", "epsilon": 1})
    one = next(one for one in found.ranked if one.candidate.name == "laplace, interactions")
    # the total is public; a replaced record moves two contrasts by 2, whose noise so has scale 4; half of one is in each of 4 answers
    assert size(one) == pytest.approx(sqrt(4 * (2 * 4**2) / 4), rel=1e-3) and len(one.candidate.text) < 1500


def test_one_count_has_the_error_of_geometric_noise_and_one_real_number_that_of_laplace_noise():
    q = exp(-1 / 2)
    for adjacency, error in (("add-remove", sqrt(2 * q) / (1 - q)), ("l1", 2 * sqrt(2))):
        found = designed({"query": [[1, 1]], "adjacency": adjacency, "epsilon": "1/2"})
        assert min(map(size, found.ranked)) == pytest.approx(error)


@pytest.mark.wide
def test_noise_on_the_integers_has_a_part_for_each_row_and_less_error_than_noise_on_the_line():
    found = designed({"query": [[1, 1, 0], [0, "15/2", "15/2"]], "adjacency": "add-remove", "epsilon": 1})
    errors = {one.candidate.name: size(one) for one in found.ranked}
    one = next(one for one in found.ranked if one.candidate.name == "discrete laplace, the query itself")
    # a record counts once in each row; geometric noise has the variance 2 q/(1 - q)^2, and the second row is 15/2 times a count
    scales = [Fraction(scale) for scale in re.findall(r'scale = "?([0-9/]+)"?', one.candidate.text)]
    assert sum(1 / scale for scale in scales) <= 1 and len(scales) == 2
    variances = [2 * exp(-1 / scale) / (1 - exp(-1 / scale)) ** 2 for scale in scales]
    assert size(one) == pytest.approx(sqrt(variances[0] + 56.25 * variances[1]))
    assert size(one) < errors["laplace, the query itself"]


@pytest.mark.wide
@pytest.mark.sampled(1)
@pytest.mark.parametrize("rows", [[[3, 1]], [[1, 0], [1, 1]]], ids=["one", "two"])
def test_discrete_gaussian_noise_is_as_wide_as_delta_asks(rows, tmp_path):
    proposed = candidates(question_of("query.toml", {"design": {"query": rows, "adjacency": "replace", "epsilon": 1, "delta": "1e-6"}}))
    [one] = (one for one in proposed if one.name == "discrete gaussian, the query itself")
    (tmp_path / "one.toml").write_text(one.text)
    [found] = judge([read_spec(tmp_path / "one.toml")])
    assert found.verdict == "PROVED"


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ({"query": [[1, 1]], "adjacency": "l1"}, "answers to real histograms are no integers."),
        ({"query": [[1, 17]], "adjacency": "add-remove"}, "some row counts records by more than 16 different steps."),
        (
            {"workload": {"kind": "histogram", "bins": 65}, "adjacency": "add-remove"},
            "noise on the integers is a part for each row, and there are more than 64.",
        ),
        (
            {"query": [[1, 0], [1, 1]], "adjacency": "add-remove", "epsilon": "1/30", "delta": "1e-6"},
            "with a delta its losses are added up integer by integer, and it is wider than 50 of them.",
        ),
    ],
    ids=["real", "steps", "rows", "wide"],
)
def test_where_noise_on_the_integers_is_left_out_the_design_says_why(table, why):
    proposed = [*candidates(question_of("query.toml", {"design": {"epsilon": 1, **table}}))]
    assert why in {one.why for one in proposed if isinstance(one, NotTried)}


@pytest.mark.wide
def test_files_are_written_by_rank_and_hold_the_claims_that_were_proved(tmp_path):
    folder = tmp_path / "designed"
    file = tmp_path / "query.toml"
    file.write_text('[design]\nquery = [[1, 0], [1, 1]]\nadjacency = "l1"\nepsilon = 1\n')
    found = CliRunner().invoke(main, ["design", str(file), "-o", str(folder), "--no-cache", "--digits", "9", "--format", "json"])
    assert found.exit_code == 0, found.output
    Draft7Validator(json.loads((SCHEMAS / "design.schema.json").read_text())).validate(json.loads(found.stdout))
    answer = json.loads(found.stdout)["design"]
    files = [one["file"] for one in answer["mechanisms"]]
    assert files == [str(path) for path in sorted(folder.glob("*.toml"))]
    again = CliRunner().invoke(main, ["verify", files[0], "--no-cache", "--digits", "9", "--format", "json"])
    claim = json.loads(again.stdout)["claims"][0]
    assert claim["verdict"] == "PROVED" and claim["utility"]["rms_l2"] == answer["mechanisms"][0]["rms_l2"]
    assert claim["utility"]["necessary_rms_l2"]["lower"] == answer["necessary_rms_l2"]["lower"]


def test_what_somebody_else_wrote_is_not_replaced(tmp_path):
    found = designed({"query": [[1, 1]], "adjacency": "l1", "epsilon": 1})
    first = written(found, tmp_path).ranked[0].file
    assert written(found, tmp_path).ranked[0].file == first  # its own it does replace
    Path(first).write_text("mine")
    with pytest.raises(SpecError, match="dpverify did not write it"):
        written(found, tmp_path)


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ({}, "query or workload is missing.*adjacency is missing.*epsilon or zcdp or gdp or renyi is missing"),
        ({**SMALL, "workload": {"kind": "histogram", "bins": 2}}, "not both"),
        ({**SMALL, "epsilon": 0}, "not certainly above 0"),
        ({**SMALL, "epsilon": "x"}, "free symbol 'x'"),
        ({**SMALL, "delta": 2}, "not between 0 and 1|between 0 and 1"),
        ({**SMALL, "query": [[1, 2], [3]]}, "different lengths"),
        ({**SMALL, "query": [[0, 0]]}, "every entry is 0"),
        ({**SMALL, "query": [[1, 1], [2, 2]], "adjacency": "replace"}, "all records count alike, .* and needs no noise"),
        ({**SMALL, "adjacency": "l3", "colour": 1}, "l3.*unknown key"),
        ({**SMALL, "zcdp": 1}, "not both"),
        ({"query": [[1]], "adjacency": "l1", "zcdp": 0}, "zcdp = 0 is not certainly above 0"),
        ({"query": [[1]], "adjacency": "l1", "gdp": 1, "delta": "1e-6"}, "unknown key.*delta"),
        ({"query": [[1]], "adjacency": "l1", "renyi": {"order": 2, "epsilon": "tight"}}, "none is given"),
        ({**SMALL, "weights": [1]}, "1 of them, and 2 queries"),
        ({**SMALL, "weights": [1, 0]}, "not above 0"),
        ({**SMALL, "objective": "least"}, "total"),
        ({**ALL, "workload": {"kind": "marginals", "sizes": [2, 2], "ways": 1}, "weights": [1, 2, 3]}, "2 families .* 4 queries"),
        ({**ALL, "workload": {"kind": "product", "parts": ["total", "total"], "sizes": [900, 900]}}, "needs no noise"),
    ],
)
def test_a_bad_question_lists_all_that_is_wrong(table, why):
    with pytest.raises(SpecError) as caught:
        question_of("query.toml", {"design": table})
    assert re.search(why, " ".join(caught.value.faults), re.DOTALL)


@pytest.mark.parametrize(
    ("text", "why"),
    [("[design", "not TOML"), ("", "design is missing"), ("[design]\nx = 0x" + "f" * 9000, "digits"), ("x = " + "[" * 99, "nested")],
)
def test_a_file_that_cannot_be_read_says_why(tmp_path, text, why):
    file = tmp_path / "query.toml"
    file.write_text(text)
    with pytest.raises(SpecError, match=why):
        read_question(file)


def test_a_bad_file_ends_with_exit_code_2(tmp_path):
    with pytest.raises(SpecError, match="cannot be read"):
        read_question(tmp_path / "none.toml")


def test_from_python_the_same_is_told_and_a_float_is_refused(tmp_path):
    found = dpverify.design([[1, Fraction(1, 2)]], adjacency="l1", epsilon=Decimal("0.5"), output=tmp_path, digits=9)
    assert size(found.ranked[0]) == pytest.approx(2 * sqrt(2))
    assert "rms error" in str(found)
    assert found.ranked[0].file.startswith(str(tmp_path))
    with pytest.raises(SpecError, match="epsilon"):
        dpverify.design([[1]], adjacency="l1", epsilon=0.5)


@pytest.mark.wide
def test_people_are_told_the_bound_the_order_and_what_was_left_out():
    said = str(dpverify.design(workload={"kind": "histogram", "bins": 3}, adjacency="l2", epsilon=1, digits=9)).splitlines()
    assert said[0] == "histogram of 3 bins; neighbours: l2; epsilon 1"
    assert said[1].startswith("any mechanism: root mean square error at least") and "real histograms, l2" in said[1]
    assert said[2].startswith("body of differences: isotropic constant") and "anisotropy 1.0000" in said[2]
    assert said[4].split()[:4] == ["rms", "error", "mean", "error"]
    assert any(line.startswith("left out: strategies with Laplace noise: how far real histograms") for line in said)
