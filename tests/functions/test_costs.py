"""What a program pays for its noises, at the lines where they are drawn, where its claim is not proved."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from dpverify import cli
from dpverify.catalogue import read_spec
from dpverify.cli.costs import costs

PROGRAM = """import dpverify as dp


@dp.program(sensitivity=1, parameters={"epsilon": "positive"}, claims=[{"epsilon": "epsilon"}])
def sparse(answers, threshold, epsilon, noise):
    t = threshold + noise.laplace(2 / epsilon)
    for answer in answers:
        if answer + noise.laplace(4 / epsilon) >= t:
            yield True
            return
        yield False
"""


def paid(tmp_path, text, name="sparse"):
    file = tmp_path / "changed.py"
    file.write_text(text)
    spec = read_spec(f"{file}:{name}")
    return [(cost.line, cost.said) for cost in costs(spec.source, spec.claims[0].claim)]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("laplace(4 / epsilon)", "laplace(2 / epsilon)", {6: "costs epsilon/2.", 8: "2 times as much as an answer, which costs epsilon "}),
        ("laplace(2 / epsilon)", "laplace(1 / epsilon)", {6: "as much as an answer, which costs epsilon.", 8: "costs epsilon/2 "}),
        ("            return\n", "", {8: "nothing limits how many such steps there are"}),
        ("yield True", "yield answer", {9: "an answer is told as it is, without noise."}),
        ("answer + noise.laplace(4 / epsilon) >= t", "answer >= 3", {8: "an answer is compared as it is, without noise."}),
    ],
)  # fmt: skip
def test_a_change_that_breaks_a_proof_is_shown_at_its_lines(tmp_path, before, after, expected):
    assert before in PROGRAM
    found = dict(paid(tmp_path, PROGRAM.replace(before, after)))
    assert set(found) == set(expected)
    assert all(said in found[line] for line, said in expected.items())


def test_sums_over_rows_are_paid_one_by_one(tmp_path):
    text = """import dpverify as dp


@dp.program(adjacency="add-remove", claims=[{"epsilon": 1}])
def both(rows, noise):
    number = len(rows) + noise.laplace(1)
    return number, sum(min(max(row["pay"], 0), 100) for row in rows) + noise.laplace(50)
"""
    assert paid(tmp_path, text, "both") == [
        (6, "noise.laplace(1) costs 1."),
        (7, "noise.laplace(50) costs 2 in the sum of min(max(pay, 0), 100)."),
    ]


def told(*options):
    return CliRunner().invoke(cli.main, ["verify", "sparse.py", "--no-cache", *options]).stdout


def test_findings_say_so_at_the_lines(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sparse.py").write_text(PROGRAM.replace("4 / epsilon", "2 / epsilon"))
    assert "line 8: noise.laplace(2/epsilon) is moved by 2 times as much as an answer" in told()
    assert "::notice file=sparse.py,line=8," in told("--format", "github")
    (result,) = json.loads(told("--format", "sarif"))["runs"][0]["results"]
    assert [each["physicalLocation"]["region"]["startLine"] for each in result["relatedLocations"]] == [6, 8]


def test_nothing_is_said_of_claims_that_hold(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sparse.py").write_text(PROGRAM)
    assert "line " not in told()
