"""`dpverify curves`: tables and a picture of what a mechanism loses, held against closed forms."""

import csv
import io
import json
import math
from xml.dom import minidom

import pytest
from click.testing import CliRunner
from scipy import stats

from dpverify.cli import main

LAPLACE = '[mechanism]\nkind = "builtin"\nname = "laplace"\nscale = 1\n\n[[claim]]\nname = "it"\nsensitivity = 1\nepsilon = 1\n'
GAUSSIAN = '{"class_name": "GaussianDpEvent", "noise_multiplier": 1}'


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("dpverify.runtime.processes.in_order", lambda asked, tasks, *_: [asked(*task) for task in tasks])
    (tmp_path / "laplace.toml").write_text(LAPLACE)
    (tmp_path / "gaussian.json").write_text(GAUSSIAN)
    (tmp_path / "mixture.json").write_text('{"class_name": "ZCDpEvent", "rho": 1}')

    def run(*arguments):
        return CliRunner().invoke(main, ["curves", *arguments])

    return run


@pytest.mark.wide
def test_every_row_of_a_table_encloses_the_truth(run):
    told = run("laplace.toml")
    assert told.exit_code == 0, told.output
    rows = list(csv.DictReader(io.StringIO(told.stdout)))
    assert {row["quantity"] for row in rows} == {"delta", "type II error", "epsilon"}
    for row in rows:
        x, low, high = float(row["x"]), float(row["lower"] or 0), float(row["upper"] or math.inf)
        if row["quantity"] == "delta":
            truth = max(0.0, 1 - math.exp((x - 1) / 2)) if x < 1 else 0.0
        elif row["quantity"] == "type II error":
            # the trade-off function of Laplace noise: Dong, Roth & Su 2022, section 2
            truth = 1 - math.e * x if x < math.exp(-1) / 2 else math.exp(-1) / (4 * x) if x <= 0.5 else math.exp(-1) * (1 - x)
        else:
            continue
        assert low - 1e-9 <= truth <= high + 1e-9, row


def test_an_event_has_curves_too(run):
    found = json.loads(run("gaussian.json", "--curve", "trade-off", "--format", "json").stdout)["trade_off"]
    for x, low, high in zip(found["x"], found["lower"], found["upper"], strict=True):
        truth = stats.norm.cdf(stats.norm.ppf(1 - float(x)) - 1)
        assert float(low) - 1e-9 <= truth <= float(high) + 1e-9


@pytest.mark.wide
def test_what_is_known_from_above_alone_has_no_lower_side(run):
    found = json.loads(run("mixture.json", "--curve", "delta", "--format", "json").stdout)["delta"]
    assert set(found["lower"]) == {None} and float(found["upper"][1]) < 1


@pytest.mark.wide
def test_a_picture_is_a_file_by_itself(run):
    picture = minidom.parseString(run("laplace.toml", "--format", "svg").stdout).documentElement
    assert picture.tagName == "svg" and picture.getAttribute("xmlns") == "http://www.w3.org/2000/svg"


def test_a_file_without_the_claim_that_is_named_is_refused(run):
    told = run("laplace.toml", "--claim", "other")
    assert told.exit_code == 2 and "no claim is named 'other'" in told.output


def test_renyi_divergences_and_rho_are_tables_as_well(run):
    rows = list(csv.DictReader(io.StringIO(run("gaussian.json", "--curve", "renyi").stdout)))
    for row in rows:
        assert float(row["lower"]) - 1e-9 <= float(row["x"]) / 2 <= float(row["upper"]) + 1e-9
    assert len(rows) > 10
    for row in csv.DictReader(io.StringIO(run("gaussian.json", "--curve", "zcdp").stdout)):
        assert float(row["lower"]) - 1e-9 <= float(row["x"]) / 2 <= float(row["upper"]) + 1e-9
    found = json.loads(run("laplace.toml", "--curve", "renyi", "--format", "json").stdout)["renyi"]
    for x, low, high in zip(map(float, found["x"]), found["lower"], found["upper"], strict=True):
        # Mironov 2017, Proposition 6
        truth = math.log(x / (2 * x - 1) * math.exp(x - 1) + (x - 1) / (2 * x - 1) * math.exp(-x)) / (x - 1)
        assert float(low) - 1e-9 <= truth <= float(high) + 1e-9
    assert minidom.parseString(run("laplace.toml", "--curve", "renyi", "--format", "svg").stdout).documentElement.tagName == "svg"


def test_a_guarantee_from_above_has_measures_from_above(run):
    found = json.loads(run("mixture.json", "--curve", "zcdp", "--format", "json").stdout)["zcdp"]
    assert set(found["lower"]) == {None}
    assert [float(one) for one in found["upper"]] == [float(x) for x in found["x"]]
