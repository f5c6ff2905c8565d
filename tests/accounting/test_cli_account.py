"""`dpverify account`: what events in files cost."""

import json
import math
from decimal import Decimal

import pytest
from click.testing import CliRunner
from scipy import optimize, stats

import dpverify
from dpverify.cli import main

GAUSSIAN = '{"class_name": "GaussianDpEvent", "noise_multiplier": 2}'
BARE = '{"class_name": "PoissonSampledDpEvent", "sampling_probability": 0.5, "event": {"class_name": "NonPrivateDpEvent"}}'


@pytest.fixture
def run(tmp_path, monkeypatch, request):
    monkeypatch.chdir(tmp_path)
    if "by_itself" not in request.node.name:
        monkeypatch.setattr("dpverify.runtime.processes.in_order", lambda asked, tasks, *_: [asked(*task) for task in tasks])

    def run(*arguments, **files):
        for name, text in files.items():
            (tmp_path / f"{name}.json").write_text(text)
        return CliRunner().invoke(main, ["account", *arguments])

    return run


def test_the_least_epsilon_and_the_least_delta_are_enclosed_in_a_process_by_itself(run):
    told = run("a.json", "--delta", "1e-5", "--format", "json", a=GAUSSIAN)
    assert told.exit_code == 0, told.output
    answer = json.loads(told.stdout)
    assert answer["schema"] == "dpverify-account/1"
    low, high = (Decimal(answer["epsilon"][end]) for end in ("lower", "upper"))
    truth = optimize.brentq(lambda e: stats.norm.cdf(1 / 4 - 2 * e) - math.exp(e) * stats.norm.cdf(-1 / 4 - 2 * e) - 1e-5, 1, 3, xtol=1e-12)
    assert float(low) == pytest.approx(truth, abs=1e-9) and float(high) == pytest.approx(truth, abs=1e-9) and low < high
    back = json.loads(run("a.json", "--epsilon", str(high), "--format", "json").stdout)
    assert float(back["delta"]["upper"]) == pytest.approx(1e-5, rel=1e-6)


def test_files_are_composed_and_a_width_that_is_not_reached_is_undecided(run):
    told = run("a.json", "a.json", "--delta", "1e-5", a=GAUSSIAN)
    assert told.exit_code == 0 and told.stdout.startswith("epsilon in [2.9")
    assert run("a.json", "--delta", "1e-5", "--width", "1/1000").exit_code == 0
    wide = run("b.json", "--delta", "1/1000", "--width", "1e-9", b='{"class_name": "ZCDpEvent", "rho": 0.1}')
    assert wide.exit_code == 4 and "further apart than the width" in wide.stdout


def test_what_hides_nothing_at_times_is_undecided(run):
    told = run("a.json", "--delta", "1/1000", a=BARE)
    assert told.exit_code == 4 and "part of it hides nothing" in told.stdout
    whole = run("b.json", "--delta", "1/1000", b='{"class_name": "NonPrivateDpEvent"}')
    assert whole.exit_code == 4 and "epsilon = Infinity" in whole.stdout


def test_a_bad_file_and_bad_usage_have_the_exit_code_2(run):
    bad = run("a.json", "b.json", "--delta", "1e-5", a='{"class_name": "GaussDpEvent"}', b="{")
    assert bad.exit_code == 2 and "a.json: " in bad.stderr and "b.json: " in bad.stderr
    assert run("a.json").exit_code == 2
    assert run("a.json", "--delta", "1e-5", "--epsilon", "1").exit_code == 2
    assert "is not a number of at least 0" in run("a.json", "--delta", "-1").stderr
    tree = run("c.json", "--delta", "1e-5", c='{"class_name": "RandomizedResponseDpEvent", "noise_parameter": 0.5, "num_buckets": 3}')
    assert tree.exit_code == 2 and "must be `REPLACE_ONE` or `REPLACE_SPECIAL`" in tree.stderr


def test_relations_that_disagree_are_told(run):
    ledger = '{"schema": "dpverify-ledger/1", "neighboring_relation": "REPLACE_ONE", "events": []}'
    assert "REPLACE_ONE" not in run("a.json", "--delta", "1e-5", "--neighbours", "replace-one", a=ledger).stderr
    other = run("a.json", "--delta", "1e-5", "--neighbours", "replace-special")
    assert other.exit_code == 2 and "several neighbouring relations" in other.stderr


def test_a_claim_file_an_event_and_a_certificate_say_the_same(run, tmp_path):
    claim = run("a.json", "--delta", "1e-5", "--claim", a=GAUSSIAN)
    (tmp_path / "it.toml").write_text(claim.stdout)
    assert dpverify.verify("it.toml").is_proved
    event = run("it.toml", "--event")
    assert json.loads(event.stdout)["events"][0]["event"] == {"class_name": "GaussianDpEvent", "noise_multiplier": 2}
    told = run("a.json", "--delta", "1e-5", "--certificate", "it.cert.json")
    assert told.exit_code == 0
    assert dpverify.check("it.cert.json").is_proved
