"""`dpverify audit` and `dpverify report` on claim files as people write them: the findings, the exit codes, the formats, the errors."""

import hashlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner
from jsonschema import Draft7Validator

from dpverify import cli
from dpverify.cli import claims
from dpverify.cli.numbers import Count
from dpverify.runtime.finding import NO_VIOLATION_SEEN, NONCONFORMING, VIOLATION

KEYS = {"file", "name", "finding", "level", "epsilon_lower", "confidence", "samples", "event", "detectable_epsilon", "seed", "seconds"}
SAMPLERS = '''
import os, sys, time
import click
import numpy as np

def grid(y):
    return np.round(y * 2.0**20) / 2.0**20

def laplace(data, size, rng):
    return grid(data[0] + rng.laplace(0, 1, size))

def scalar(data, rng):
    return float(laplace(data, 1, rng)[0])

def floats(data, size, rng):
    return data[0] + rng.laplace(0, 1, size)

def half(data, size, rng):
    return grid(data[0] + rng.laplace(0, 0.5, size))

def wide(data, size, rng):
    return grid(data[0] + rng.laplace(0, 1.5, size))

def slow(data, size, rng):
    time.sleep(0.002)
    return laplace(data, size, rng)

def sphere(size, rng):
    normal = rng.standard_normal((size, 3))
    return normal / np.linalg.norm(normal, axis=1, keepdims=True)

def cube(data, size, rng):
    return grid(data + rng.gamma(3, 1, (size, 1)) * sphere(size, rng))

def cube_mixed_up(data, size, rng):
    return grid(data + rng.gamma(3, 1, (size, 1)) * rng.random((size, 1)) ** (1 / 3) * sphere(size, rng))

COLUMNS = np.array([[1.0, 0, 0], [0, 1, 0], [1, 1, 1]])

def skewed(data, size, rng):
    weights = rng.exponential(1, (size, 3))
    directions = weights / weights.sum(axis=1, keepdims=True) * rng.choice([-1.0, 1.0], (size, 3))
    return grid(data + rng.gamma(3, 1, (size, 1)) * directions @ COLUMNS)

def product(data, size, rng):
    return grid(data + rng.laplace(0, 1, (size, 2)))

def product_half(data, size, rng):
    return grid(data + rng.laplace(0, 0.5, (size, 2)))

def respond(data, p, size, rng):
    truth = int(np.ravel(data)[0])
    return np.where(rng.random(size) < p, truth, 1 - truth)

def response(data, size, rng):
    return respond(data, 0.75, size, rng)

def frank_response(data, size, rng):
    return respond(data, 0.8, size, rng)

SCORES = np.array([[0.0, 1, 2], [1, 2, 1], [1, 1, 3]])

def select(data, beta, size, rng):
    weights = np.exp(beta * SCORES[int(np.ravel(data)[0])])
    return rng.choice(3, size, p=weights / weights.sum())

def exponential(data, size, rng):
    return select(data, 0.5, size, rng)

def exponential_doubled(data, size, rng):
    return select(data, 1.0, size, rng)

def bounded(data, size, rng):
    """exp(-|y - t|) on [0, 1], by inversion of either side."""
    t = float(np.ravel(data)[0])
    below, above = 1 - np.exp(-t), 1 - np.exp(t - 1)
    u = rng.random(size) * (below + above)
    left = t + np.log(np.exp(-t) + np.minimum(u, below))
    right = t - np.log1p(-np.clip(u - below, 0, above))
    return grid(np.clip(np.where(u < below, left, right), 0, 1))

def bounded_half(data, size, rng):
    t = float(np.ravel(data)[0])
    y = t + rng.laplace(0, 0.5, (size, 40))
    return grid(y[np.arange(size), np.argmax((y >= 0) & (y <= 1), axis=1)])

def gauss(data, size, rng):
    return grid(data[0] + rng.normal(0, 1, size))

def gauss_half(data, size, rng):
    return grid(data[0] + rng.normal(0, 0.5, size))

def sparse(data, size, rng, rho, nu, stop=True):
    """The sparse vector technique at epsilon 1 and threshold 1; -1 after it has stopped."""
    threshold = 1 + rng.laplace(0, rho, (size, 1))
    above = (data + nu * rng.laplace(0, 1, (size, len(data))) >= threshold).astype(int)
    return np.where(np.cumsum(above, axis=1) - above > 0, -1, above) if stop else above

def svt1(data, size, rng):
    return sparse(data, size, rng, 2, 4)

def svt4(data, size, rng):
    return sparse(data, size, rng, 4, 4 / 3)

def svt5(data, size, rng):
    return sparse(data, size, rng, 2, 0, stop=False)

def svt6(data, size, rng):
    return sparse(data, size, rng, 2, 2, stop=False)

def svt1_scalar(data, rng):
    threshold, answers = 1 + rng.laplace(0, 2), []
    for answer in data:
        answers.append(bool(answer + rng.laplace(0, 4) >= threshold))
        if answers[-1]:
            break
    return answers

def mean(data):
    return sum(min(max(x, 0.0), 1.0) for x in data) / len(data)

def mean_unclipped(data):
    return sum(data) / len(data)

def noisy_mean(data, size, rng):
    return grid(mean(data) + rng.laplace(0, 0.2, size))

def datasets():
    from hypothesis.strategies import floats, lists
    return lists(floats(0, 3, width=16), min_size=5, max_size=5)

def vectors():
    from hypothesis.strategies import floats, lists
    return lists(floats(-4, 4, width=16), min_size=1, max_size=1)

def crashing(data, size, rng):
    raise RuntimeError("no more ink")

def nan(data, size, rng):
    return np.full(size, np.nan)

def hanging(data, size, rng):
    time.sleep(600)

def leaving(data, size, rng):
    sys.exit(0)

def dying(data, size, rng):
    os._exit(0)

def words(data, size, rng):
    return ["one"] * size

def few(data, size, rng):
    return np.zeros(size - 1)

def lonely(data):
    return float(np.random.laplace(data[0]))

not_callable = 3
'''
LAPLACE = 'kind = "builtin"\nname = "laplace"\nparameters = { scale = 1 }'
BALL = 'kind = "radial"\nprofile = "exp(-r)"\nnorm = "l2"\ndimension = 3'
POLYTOPE = BALL.replace('"l2"', "{ columns = [[1, 0, 0], [0, 1, 0], [1, 1, 1]] }")
PRODUCT = 'kind = "product"\ndensity = "exp(-abs(z))"\ndimension = 2'
RESPONSE = 'kind = "builtin"\nname = "randomized_response"\nparameters = { p = "3/4" }'
TABLE = 'kind = "table"\nrows = [["3/4", "1/4"], ["1/4", "3/4"]]'
SELECTION = 'kind = "exponential"\nscores = [[0, 1, 2], [1, 2, 1], [1, 1, 3]]\nbeta = "1/2"'
KERNEL = 'kind = "kernel"\ndensity = "exp(-abs(y - theta))/(2 - exp(-theta) - exp(theta - 1))"\noutput = [0, 1]\ninput = [0, 1]'
GAUSS = 'kind = "builtin"\nname = "gaussian"\nparameters = { sigma = 1 }'
SAMPLED = 'kind = "sampled"'
ONE = "sensitivity = 1\nepsilon = 1"
USUAL = 'patterns = "usual"\nlength = 10'


@pytest.fixture
def spec(tmp_path, monkeypatch):
    """A claim file beside the samplers, in a folder that is not the working directory."""
    folder, elsewhere = tmp_path / "files", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    (folder / "noise.py").write_text(SAMPLERS)

    def write(mechanism: str, claim: str, sampler: str, audit: str = "", name: str = "spec.toml") -> str:
        text = f'[mechanism]\n{mechanism}\n\n[[claim]]\n{claim}\n\n[audit]\nsampler = "noise:{sampler}"\n{audit}\n'
        (folder / name).write_text(text)
        return str(folder / name)

    return write


def run(*args, code=None):
    result = CliRunner().invoke(cli.main, [str(arg) for arg in args])
    if code is not None:
        assert result.exit_code == code, result.output
    return result


def audits(file, *args, code=None, samples=20_000):
    result = run("audit", file, "--format", "json", "--workers", 0, "--seed", 1, "--samples", samples, *args, code=code)
    return json.loads(result.stdout)["audits"]


def run_once(monkeypatch):
    """From now on audits are run once, in however many formats they are told."""
    run = claims.audited
    kept = []

    def audited(*args, **options):
        if not kept:
            kept.append(run(*args, **options))
        return kept[0]

    monkeypatch.setattr(claims, "audited", audited)


def found(entries):
    return [(entry["finding"], entry["level"]) for entry in entries]


# -- every kind of claim file, with right and wrong samplers --------------------------------------------------------

CASES = {
    "laplace": (LAPLACE, ONE, "laplace", "half", ""),
    "one at a time": (LAPLACE, ONE, "scalar", "half", "pairs = [[[0.0], [1.0]]]"),
    "pairs given": (LAPLACE, ONE, "laplace", "half", "pairs = [[[0.5], [1.5]], [[1], [0]]]"),
    "usual patterns": (PRODUCT, ONE, "product", "product_half", 'patterns = "usual"\nlength = 2'),
    "a strategy": (LAPLACE, ONE, "laplace", "half", 'patterns = "strategy:noise:vectors"'),
    "radial, l2": (BALL, ONE, "cube", "cube_mixed_up", ""),
    "radial, polytope": (POLYTOPE, ONE, "skewed", "cube_mixed_up", ""),
    "product": (PRODUCT, ONE, "product", "product_half", ""),
    "randomized response": (RESPONSE, 'epsilon = "log(3)"', "response", "frank_response", ""),
    "table, tight": (TABLE, 'epsilon = "tight"', "response", "frank_response", ""),
    "table, delta tight": (TABLE, 'epsilon = "1/2"\ndelta = "tight"', "response", "frank_response", ""),
    "exponential": (SELECTION, 'epsilon = "tight"', "exponential", "exponential_doubled", ""),
    "kernel": (KERNEL, 'epsilon = "tight"', "bounded", "bounded_half", ""),
    "gaussian at a point": (GAUSS, "sensitivity = 1\nepsilon = 1\ndelta = 0.127", "gauss", "gauss_half", ""),
    "gaussian, tight": (GAUSS, 'sensitivity = 1\nepsilon = "tight"\ndelta = "1e-5"', "gauss", "gauss_half", ""),
    "query of counts": (LAPLACE, 'query = [[1]]\nadjacency = "l1"\nepsilon = 1', "laplace", "half", ""),
    "sampled": (SAMPLED, "epsilon = 1", "laplace", "half", "pairs = [[[0.0], [1.0]]]"),
    "sampled with delta": (SAMPLED, "epsilon = 0.5\ndelta = 0.2213", "laplace", "half", "pairs = [[[0.0], [1.0]]]"),
    "sampled, sparse vectors": (SAMPLED, "epsilon = 1", "svt1", "svt5", USUAL),
    "sampled, lists": (SAMPLED, "epsilon = 1", "svt1_scalar", "svt6", "pairs = [[[1, 1, 1, 1, 1], [2, 2, 2, 2, 0]]]"),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("case", CASES)
def test_a_right_sampler_passes_and_a_wrong_one_is_a_violation_of_the_model(case, spec):
    mechanism, claim, right, wrong, rest = CASES[case]
    passed = audits(spec(mechanism, claim, right, rest), code=0, samples=3000 if "one at a time" in case else 5000)
    assert found(passed) == [(NO_VIOLATION_SEEN, "model")]
    assert passed[0]["detectable_epsilon"] >= passed[0]["epsilon_lower"] >= 0
    refuted = audits(spec(mechanism, claim, wrong, rest), code=1, samples=30_000)
    assert (VIOLATION, "model") in found(refuted), refuted


@pytest.mark.wide
def test_a_sparse_vector_technique_with_too_little_noise_is_found(spec):
    """SVT4 of Lyu, Su & Li 2017 has epsilon 1.742 on this pair, where 1 is claimed."""
    pair = "pairs = [[[1, 1, 1, 1, 1, 1, 1, 1, 1, 1], [2, 2, 2, 2, 2, 0, 0, 0, 0, 0]]]"
    entries = audits(spec(SAMPLED, "epsilon = 1", "svt4", pair), code=1, samples=60_000)
    assert found(entries) == [(VIOLATION, "model")] and 1 <= entries[0]["epsilon_lower"] < 1.742


@pytest.mark.wide
def test_numpys_laplace_leaks_by_its_floats_and_not_by_its_model(spec):
    entries = audits(spec(LAPLACE, ONE, "floats"), code=1)
    assert found(entries) == [(VIOLATION, "float"), (NO_VIOLATION_SEEN, "model")]
    assert entries[0]["samples"] < 2000 and entries[1]["samples"] > 19_000


def test_more_noise_than_declared_is_nonconforming(spec):
    entries = audits(spec(LAPLACE, ONE, "wide"), code=1)
    assert found(entries) == [(NONCONFORMING, "model")]


@pytest.mark.wide
def test_a_mean_that_is_not_clipped_is_a_finding_of_the_query(spec):
    rest = 'query = "noise:{}"\npatterns = "strategy:noise:datasets"'
    mechanism, claim = LAPLACE.replace("scale = 1", 'scale = "1/5"'), 'sensitivity = "1/5"\nepsilon = 1\nadjacency = "replace"'
    assert found(audits(spec(mechanism, claim, "noisy_mean", rest.format("mean")), code=0)) == [(NO_VIOLATION_SEEN, "model")]
    entries = audits(spec(mechanism, claim, "noisy_mean", rest.format("mean_unclipped")), code=1)
    assert (entries[0]["finding"], entries[0]["samples"]) == (VIOLATION, 0)
    assert "a move of" in entries[0]["event"] and entries[0]["sampler"] == "noise:mean_unclipped"


@pytest.mark.wide
def test_the_sensitivity_of_a_query_in_the_claim_is_searched_too(spec):
    """Three counts, of which the declared query adds two; the one that is run adds them twice."""
    (Path(spec(LAPLACE, ONE, "laplace")).parent / "sums.py").write_text(
        "def right(data):\n    return [data[0] + data[1]]\n\ndef twice(data):\n    return [2 * (data[0] + data[1])]\n\n"
        "def noisy(data, size, rng):\n    return right(data)[0] + (rng.laplace(size=(size, 1)) * 2**20).round() / 2**20\n"
    )
    claim = 'query = [[1, 1, 0]]\nadjacency = "add-remove"\nepsilon = 1'
    rest = 'query = "sums:{}"\npairs = [[[3, 1, 4], [3, 2, 4]]]'
    for query, expected in (("right", NO_VIOLATION_SEEN), ("twice", VIOLATION)):
        file = Path(spec(LAPLACE, claim, "laplace", rest.format(query)))
        file.write_text(file.read_text().replace("noise:laplace", "sums:noisy"))
        assert audits(file)[0]["finding"] == expected


def test_a_refutation_that_the_author_expects_is_a_pass(spec):
    entries = audits(spec(LAPLACE, ONE.replace("epsilon = 1", 'epsilon = "1/2"\nexpect = "refuted"'), "laplace"), code=0)
    assert found(entries) == [(VIOLATION, "model")] and entries[0]["as_expected"] is True


# -- what is answered, and how ---------------------------------------------------------------------------------------


def test_an_audit_entry_has_all_that_the_contract_names(spec):
    result = run("audit", spec(LAPLACE, f'name = "at one"\n{ONE}', "floats"), "--format", "json", "--seed", 7, "--samples", 3000, code=1)
    answer = json.loads(result.stdout)
    assert answer["schema"] == "dpverify/1" and answer["claims"] == [] and answer["errors"] == []
    violation, seen = answer["audits"]
    for entry in (violation, seen):
        assert entry.keys() >= KEYS
        assert entry["file"].endswith("spec.toml") and entry["name"] == "at one" and entry["seed"] == 7
        assert entry["confidence"] == 1 - 1e-6 and 0 < entry["samples"] <= 3000 and entry["seconds"] >= 0
        assert isinstance(entry["event"], str) and isinstance(entry["epsilon_lower"], float)
    assert violation["detectable_epsilon"] is None and seen["detectable_epsilon"] > 1


def test_infinity_is_a_string_in_the_json(spec):
    entries = audits(spec(LAPLACE, "sensitivity = 1\nepsilon = 100", "laplace"), samples=1000, code=0)
    assert entries[0]["detectable_epsilon"] == "inf"


def test_a_sampler_without_a_generator_is_said_not_to_be_reproducible(spec):
    entries = audits(spec(LAPLACE, ONE, "lonely"), samples=500)
    assert entries[0]["seed"] is None and "cannot be repeated" in entries[0]["notes"][0]


@pytest.mark.wide
def test_without_a_seed_one_is_drawn_and_told(spec):
    file = spec(LAPLACE, ONE, "half")
    first = json.loads(run("audit", file, "--format", "json", "--samples", 5000, "--workers", 0, code=1).stdout)["audits"][0]
    again = json.loads(run("audit", file, "--format", "json", "--samples", 5000, "--workers", 0, "--seed", first["seed"]).stdout)["audits"][
        0
    ]
    assert {**first, "seconds": 0} == {**again, "seconds": 0}


@pytest.mark.wide
def test_the_other_formats_say_the_same(spec, monkeypatch):
    run_once(monkeypatch)
    file = spec(LAPLACE, f'name = "a | b"\n{ONE}', "floats")

    def told(style):
        return run("audit", file, "--seed", 1, "--samples", 2000, "--workers", 0, "--format", style, code=1).stdout

    text = told("text")
    assert "VIOLATION (float level) of epsilon 1" in text and "NO VIOLATION SEEN" in text and "seed 1" in text
    assert text.rstrip().endswith("1 claim audited: 1 VIOLATION, 1 NO_VIOLATION_SEEN")
    annotation, last = told("github").splitlines()
    assert annotation.startswith("::error file=") and "%0A" in annotation and last.startswith("1 claim")
    suite = ET.fromstring(told("junit"))
    assert suite.attrib["tests"] == suite.attrib["failures"] == "1" and suite.attrib["errors"] == "0"
    assert len(suite.findall(".//testcase")) == len(suite.findall(".//failure")) == 1
    log = json.loads(told("sarif"))
    assert log["version"] == "2.1.0" and [result["ruleId"] for result in log["runs"][0]["results"]] == ["VIOLATION"]
    assert log["runs"][0]["invocations"][0]["executionSuccessful"] is True
    page = told("markdown")
    assert r"a \| b" in page and "VIOLATION" in page


@pytest.mark.wide
def test_a_pass_is_a_pass_in_every_format(spec):
    file = spec(LAPLACE, ONE, "laplace")

    def told(style):
        return run("audit", file, "--seed", 1, "--samples", 1000, "--workers", 0, "--format", style, code=0).stdout

    assert "::" not in told("github")
    assert ET.fromstring(told("junit")).attrib["failures"] == "0"
    assert json.loads(told("sarif"))["runs"][0]["results"] == []
    assert "proved" not in (told("text") + told("markdown") + told("json").replace("PROVED", "")).lower()


@pytest.mark.wide
def test_a_report_holds_what_was_audited(spec, tmp_path):
    file = spec(LAPLACE, ONE, "half")
    run("report", file, "-o", tmp_path / "out", "--samples", 3000, "--seed", 1, "--workers", 0, "--format", "json", code=1)
    for page in ("index.html", "index.md"):
        assert "VIOLATION" in (tmp_path / "out" / page).read_text()
    assert found(json.loads((tmp_path / "out" / "results.json").read_text())["audits"])[0] == (VIOLATION, "model")
    run("report", file, "-o", tmp_path / "proofs", "--no-audit", code=0)
    assert "VIOLATION" not in (tmp_path / "proofs" / "index.md").read_text()


@pytest.mark.wide
def test_a_report_whose_audit_cannot_be_made_is_code_2_and_says_so(spec, tmp_path):
    file = spec(LAPLACE, ONE, "crashing")
    result = run("report", file, "-o", tmp_path, "--samples", 500, "--workers", 0, "--format", "json", code=2)
    assert "no more ink" in result.stderr and "no more ink" in (tmp_path / "index.md").read_text()
    assert "no more ink" in json.loads((tmp_path / "results.json").read_text())["errors"][0]["error"]


# -- errors: never a pass --------------------------------------------------------------------------------------------

ERRORS = {
    "module": (LAPLACE, ONE, "laplace", "", "noise:laplace", "nowhere:laplace", "no module 'nowhere'"),
    "name": (LAPLACE, ONE, "laplce", "", "", "", "Did you mean 'laplace'"),
    "callable": (LAPLACE, ONE, "not_callable", "", "", "", "not callable"),
    "query": (LAPLACE, ONE, "laplace", 'query = "noise:not_callable"', "", "", "not callable"),
    "crash": (LAPLACE, ONE, "crashing", "", "", "", "no more ink"),
    "nan": (LAPLACE, ONE, "nan", "", "", "", "nan in output 0"),
    "length": (LAPLACE, ONE, "few", "", "", "", "outputs instead of"),
    "exit": (LAPLACE, ONE, "leaving", "", "", "", "SystemExit"),
    "words": (LAPLACE, ONE, "words", "", "", "", "the mechanism that is declared gives one number"),
    "domain": (
        LAPLACE.replace("scale = 1", 'scale = "positive"'),
        'sensitivity = 1\nepsilon = "1/scale"',
        "laplace",
        "",
        "",
        "",
        "Give scale a value",
    ),
    "no pairs": (SAMPLED, "epsilon = 1", "laplace", "", "", "", "say on which inputs"),
    "too far apart": (LAPLACE, ONE, "laplace", "pairs = [[[0.0], [1.5]]]", "", "", "further apart than the sensitivity"),
    "dimension": (LAPLACE, ONE, "laplace", "pairs = [[[0.0, 0.0], [1.0, 0.0]]]", "", "", "answers with 1 number. If they are rows, name"),
    "identical": (SAMPLED, "epsilon = 1", "laplace", "pairs = [[[0], [0]]]", "", "", "both inputs are [0]"),
    "no length": (SAMPLED, "epsilon = 1", "laplace", 'patterns = "usual"', "", "", "needs length"),
    "wrong length": (LAPLACE, ONE, "laplace", 'patterns = "usual"\nlength = 3', "", "", "none of the patterns"),
    "no strategy": (LAPLACE, ONE, "laplace", 'patterns = "strategy:noise:not_callable"', "", "", "no Hypothesis strategy"),
    "flat pairs": (SAMPLED, "epsilon = 1", "laplace", "pairs = [0, 1]", "", "", "not a list of pairs"),
    "texts as answers": (LAPLACE, ONE, "laplace", 'pairs = [["a", "b"]]', "", "", "not vectors of numbers"),
    "tight of what": (SAMPLED, 'epsilon = "tight"', "laplace", "pairs = [[[0], [1]]]", "", "", "no finite epsilon"),
    "nothing claimed": (LAPLACE, "sensitivity = 1\nepsilon = 800", "laplace", "", "", "", "no sampler breaks a claim"),
    "nothing moves": (LAPLACE, "sensitivity = 0\nepsilon = 1", "laplace", "", "", "", "moves no answer"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_what_cannot_be_audited_is_an_error_with_a_reason_and_never_a_pass(case, spec):
    mechanism, claim, sampler, rest, old, new, said = ERRORS[case]
    file = Path(spec(mechanism, claim, sampler, rest))
    if old:
        file.write_text(file.read_text().replace(old, new))
    result = run("audit", file, "--samples", 500, "--seed", 1, "--workers", 0, code=2)
    assert said in result.stderr, result.stderr
    assert str(file) in result.stderr and "Traceback" not in result.output


def test_a_sampler_that_hangs_is_an_error_within_its_time(spec):
    result = run("audit", spec(LAPLACE, ONE, "hanging"), "--samples", 500, "--seed", 1, "--workers", 0, "--timeout", 0.5, code=2)
    assert "did not return within 0.5 s" in result.stderr and "seed 1, block 0" in result.stderr


def test_a_sampler_that_ends_its_process_is_an_error(spec):
    result = run("audit", spec(LAPLACE, ONE, "dying"), "--samples", 500, "--seed", 1, "--workers", 1, code=2)
    assert "the process died: exit code 0" in result.stderr and "noise:dying" in result.stderr


def test_a_file_without_an_audit_table_is_bad_usage(spec):
    file = Path(spec(LAPLACE, ONE, "laplace"))
    file.write_text(file.read_text().partition("[audit]")[0])
    assert 'no file has an [audit] table. Add one that names the sampler: sampler = "module:function".' in run("audit", file, code=2).stderr


@pytest.mark.parametrize("option", [["--confidence", "1"], ["--confidence", "0"], ["--samples", "0"], ["--timeout", "0"], ["--seed", "-1"]])
def test_options_that_make_no_sense_are_code_2(option, spec):
    run("audit", spec(LAPLACE, ONE, "laplace"), *option, code=2)


@pytest.mark.wide
def test_the_fault_of_one_file_leaves_the_findings_of_the_others_in_every_format(spec, monkeypatch):
    run_once(monkeypatch)
    files = [spec(LAPLACE, ONE, "crashing", name="a.toml"), spec(LAPLACE, ONE, "laplace", name="b.toml")]

    def told(style):
        return run("audit", *files, "--samples", 500, "--seed", 1, "--workers", 0, "--format", style, code=2)

    first = told("json")
    assert "no more ink" in first.stderr
    answer = json.loads(first.stdout)
    assert found(answer["audits"]) == [(NO_VIOLATION_SEEN, "model")]
    assert [Path(error["file"]).name for error in answer["errors"]] == ["a.toml"]
    suite = ET.fromstring(told("junit").stdout)
    assert (suite.attrib["tests"], suite.attrib["failures"], suite.attrib["errors"]) == ("2", "0", "1")
    assert json.loads(told("sarif").stdout)["runs"][0]["invocations"][0]["executionSuccessful"] is False
    assert told("github").stdout.startswith("::error file=")
    assert "1 not audited" in told("text").stdout and "not audited" in told("markdown").stdout


# -- stopped and taken up again --------------------------------------------------------------------------------------


def entry(text):
    return [{**audit, "seconds": 0} for audit in json.loads(text)["audits"]]


@pytest.mark.wide
def test_a_command_that_is_killed_goes_on_from_its_checkpoint_to_the_same_finding(spec, tmp_path):
    """Killed with -9 in the middle; what it says after is what an undisturbed run says, though it is not told the seed again."""
    file, kept = spec(LAPLACE, ONE, "slow"), tmp_path / "kept"
    options = ["--samples", "200000", "--format", "json"]
    program = "import dpverify.audits.journal as j; j.SECONDS_BETWEEN_SAVES = 0.0; from dpverify.cli import main; main()"  # saves at once
    environment = {**os.environ, "PYTHONPATH": str(Path(cli.__file__).parents[2])}
    command = [sys.executable, "-c", program, "audit", file, *options, "--workers", "2", "--seed", "3", "--checkpoint", str(kept)]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while not (kept.is_file() and len(json.loads(kept.read_bytes())["state"]["blocks"]) > 3):
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    before = sum(block["size"] for block in json.loads(kept.read_bytes())["state"]["blocks"])
    assert 0 < before < 190_000
    went_on = run("audit", file, *options, "--workers", 0, "--checkpoint", kept, code=0)
    assert entry(went_on.stdout) == entry(run("audit", file, *options, "--workers", 1, "--seed", 3, code=0).stdout)


@pytest.mark.wide
def test_each_claim_of_a_file_has_a_checkpoint_of_its_own(spec, tmp_path):
    file = spec(LAPLACE, f"{ONE}\n[[claim]]\nsensitivity = 1\nepsilon = 2", "laplace")
    first = audits(file, "--checkpoint", tmp_path / "kept", samples=1000)
    assert {path.name for path in tmp_path.glob("kept*")} == {"kept", "kept.2"}
    again = audits(file, "--checkpoint", tmp_path / "kept", samples=1000)
    assert [{**one, "seconds": 0} for one in first] == [{**one, "seconds": 0} for one in again]


def test_a_checkpoint_of_another_audit_is_refused(spec, tmp_path):
    file = spec(LAPLACE, ONE, "laplace")
    audits(file, "--checkpoint", tmp_path / "kept", samples=500)
    options = ["--checkpoint", tmp_path / "kept", "--samples", 500, "--seed", 1]
    result = run("audit", file, *options, "--confidence", 0.9, code=2)
    assert "checkpoint of another audit" in result.stderr


@pytest.mark.wide
def test_a_checkpoint_is_extended_to_more_samples_whenever_it_was_stopped_and_never_to_fewer(spec, tmp_path):
    """Straight from 500 to 2,000, or with a stop in the middle of the extension: the same finding, of all samples."""
    file, one, other = spec(LAPLACE, ONE, "laplace"), tmp_path / "one", tmp_path / "other"
    for kept in (one, other):
        audits(file, "--checkpoint", kept, samples=600)
    [first] = audits(file, "--checkpoint", one, samples=2400)
    assert first["finding"] == NO_VIOLATION_SEEN and 2300 <= first["samples"] <= 2400
    assert "extended from 600 samples" in run("audit", file, "--checkpoint", one, "--samples", 2400, "--seed", 1, code=0).stdout
    run("audit", file, "--checkpoint", other, "--samples", 2400, "--seed", 1, code=0)
    saved = json.loads(other.read_bytes())
    more = saved["state"]["more"][0][1]
    assert len(more) > 2 and saved["state"]["samples"] == 600
    del more[2:]  # as if it had been killed
    saved["sha256"] = hashlib.sha256(json.dumps([saved["key"], saved["state"]], sort_keys=True).encode()).hexdigest()
    other.write_text(json.dumps(saved))
    assert [{**one, "seconds": 0} for one in audits(file, "--checkpoint", other, samples=2400)] == [{**first, "seconds": 0}]
    fewer = run("audit", file, "--checkpoint", one, "--samples", 600, "--seed", 1, code=2)
    assert "it is of 2400 samples, and 600 are asked for" in fewer.stderr


# -- a ledger --------------------------------------------------------------------------------------------------------


@pytest.mark.wide
def test_a_ledger_tells_what_is_known_of_each_claim_over_time(spec, tmp_path):
    file, kept = spec(LAPLACE, f"{ONE}\n[[claim]]\nname = \"two\"\nsensitivity = 1\nepsilon = 2", "laplace"), tmp_path / "audits.db"
    said = [audits(file, "--ledger", kept, samples=600) for _ in range(2)]
    assert all(one["finding"] == NO_VIOLATION_SEEN for night in said for one in night)
    assert len({one["seed"] for night in said for one in night}) == 4
    text = run("ledger", kept, code=0).stdout
    assert "2 claims, 4 nights" in text and "night 2" in text and "of any of 2 such claims here, with at most 2e-06" in text
    data = json.loads(run("ledger", kept, "--format", "json", code=0).stdout)
    Draft7Validator(json.loads(run("schema", "ledger", code=0).stdout)).validate(data)
    assert data["schema"] == "dpverify-ledger/1" and [claim["name"] for claim in data["claims"]][-1] == "two"
    for claim in data["claims"]:
        [history] = claim["histories"]
        assert [night["number"] for night in history["nights"]] == [1, 2]
        assert history["samples"] == sum(night["samples"] for night in history["nights"])
        assert [night["finding"] for night in history["nights"]] == [NO_VIOLATION_SEEN] * 2
    drawn = ET.fromstring(run("ledger", kept, "--claim", "two", "--format", "svg", code=0).stdout)
    assert drawn.tag.endswith("svg") and "two" in "".join(drawn.itertext())
    assert "Did you mean 'two'" in run("ledger", kept, "--claim", "twoo", code=2).stderr
    assert "schema" not in run("ledger", tmp_path / "none.db", code=2).stderr


def test_options_of_a_ledger_that_contradict_each_other(spec, tmp_path):
    file = spec(LAPLACE, ONE, "laplace")
    assert "two places" in run("audit", file, "--ledger", tmp_path / "a.db", "--checkpoint", tmp_path / "b", code=2).stderr
    assert "Add --ledger FILE" in run("audit", file, "--inherit", "all", code=2).stderr
    (tmp_path / "text.db").write_text("no ledger" * 100)
    result = run("audit", file, "--ledger", tmp_path / "text.db", "--samples", 300, code=2)
    assert "no ledger of audits" in result.stderr and "Traceback" not in result.output


def test_one_checkpoint_is_not_for_several_files(spec, tmp_path):
    files = [spec(LAPLACE, ONE, "laplace", name=name) for name in ("a.toml", "b.toml")]
    assert "one by one" in run("audit", *files, "--checkpoint", tmp_path / "kept", code=2).stderr


@pytest.mark.wide
def test_a_full_disk_is_one_clear_error_and_leaves_the_earlier_checkpoint(spec, tmp_path, monkeypatch):
    file, kept = spec(LAPLACE, ONE, "laplace"), tmp_path / "kept"
    options = ["--samples", 500, "--seed", 1, "--workers", 0, "--checkpoint", kept]
    run("audit", file, *options, code=0)
    before = kept.read_bytes()
    monkeypatch.setattr(os, "fsync", lambda descriptor: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    result = run("audit", file, *options, code=2)
    assert "No space left on device" in result.stderr and str(kept) in result.stderr and "Traceback" not in result.output
    assert kept.read_bytes() == before and list(tmp_path.glob(".kept*")) == []


@pytest.mark.parametrize("place", ["/proc/kept", "nowhere/kept"])
def test_a_checkpoint_where_nothing_can_be_written_is_one_clear_error(place, spec):
    result = run("audit", spec(LAPLACE, ONE, "laplace"), "--samples", 500, "--seed", 1, "--workers", 0, "--checkpoint", place, code=2)
    assert place in result.stderr and "Traceback" not in result.output, result.stderr


@pytest.mark.parametrize("place", ["/dev/zero", "pipe", "."])
def test_a_checkpoint_that_is_no_regular_file_is_refused_at_once(place, spec, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    for seed in ([], ["--seed", 1]):
        result = run("audit", spec(LAPLACE, ONE, "laplace"), "--samples", 500, "--workers", 0, *seed, "--checkpoint", place, code=2)
        assert "regular file" in result.stderr or "is a directory" in result.stderr, result.stderr
        assert "Traceback" not in result.output


# -- found again from the printed line ---------------------------------------------------------------------------------

REPLAYS = {
    "model": (LAPLACE, f'name = "half a \\"unit\\" $HOME"\n{ONE}', "half", "", ["--workers", 2], [(VIOLATION, "model")]),
    "all samples": (LAPLACE, ONE, "half", "", ["--no-stop", "--confidence", "0.9"], [(VIOLATION, "model")]),
    "float": (LAPLACE, ONE, "floats", "", ["--workers", 1], [(VIOLATION, "float"), (NO_VIOLATION_SEEN, "model")]),
    "nonconforming": (LAPLACE, ONE, "wide", "", ["--workers", 0], [(NONCONFORMING, "model")]),
    "nothing": (SAMPLED, "epsilon = 1", "laplace", "pairs = [[[0.0], [1.0]]]", ["--workers", 0], [(NO_VIOLATION_SEEN, "model")]),
    "several pairs": (SAMPLED, "epsilon = 1", "svt5", USUAL, ["--workers", 0], [(VIOLATION, "model")]),
}


@pytest.mark.wide
@pytest.mark.sampled(2)
@pytest.mark.parametrize("case", REPLAYS)
def test_the_printed_command_finds_each_finding_again(case, spec):
    mechanism, claim, sampler, rest, options, expected = REPLAYS[case]
    other = "epsilon = 20" if mechanism is SAMPLED else "sensitivity = 1\nepsilon = 20"
    file = spec(mechanism, f"{other}\n[[claim]]\n{claim}", sampler, rest)
    first = run("audit", file, *options, "--samples", 5000, "--seed", 4, "--format", "json", code=case != "nothing")
    wanted = [entry for entry in json.loads(first.stdout)["audits"] if entry["epsilon"] != 20]
    assert set(expected) <= set(found(wanted))
    for one in wanted:
        words = shlex.split(one["replay"])
        assert words[:3] == ["dpverify", "audit", file] and int(words[words.index("--samples") + 1]) <= 5000
        again = json.loads(run(*words[1:], "--format", "json", "--workers", 0).stdout)["audits"]
        assert {entry["name"] for entry in again} == {one["name"]}
        assert {**one, "seconds": 0, "replay": ""} in [{**entry, "seconds": 0, "replay": ""} for entry in again]


@pytest.mark.parametrize("seed", [[], ["--seed", 9]])
def test_the_finding_of_a_query_is_found_again_by_its_command(seed, spec):
    file = Path(spec(LAPLACE, ONE, "laplace", 'query = "sums:twice"\npairs = [[[0.5], [1.5]]]'))
    file.with_name("sums.py").write_text("def twice(data):\n    return [2 * data[0]]\n")
    result = run("audit", file, "--samples", 500, "--workers", 0, *seed, "--format", "json", code=1)
    one = json.loads(result.stdout)["audits"][0]
    again = json.loads(run(*shlex.split(one["replay"])[1:], "--format", "json", code=1).stdout)["audits"][0]
    assert one["samples"] == 0 and "a move of 2" in one["event"] and {**one, "seconds": 0} == {**again, "seconds": 0}


@pytest.mark.wide
def test_the_text_shows_the_command_as_it_is_to_be_typed_where_the_file_is(spec, monkeypatch):
    folder = Path(spec(LAPLACE, ONE, "half")).parent
    monkeypatch.chdir(folder.parent)
    told = run("audit", "files/spec.toml", "--samples", 5000, "--seed", 1, "--workers", 0, code=1).stdout
    line = next(line for line in told.splitlines() if "replay: " in line).partition("replay: ")[2]
    assert line.startswith("dpverify audit files/spec.toml --claim 'claim 1' --seed 1 --samples ")
    assert line.endswith("--confidence 0.999999")
    again = run(*shlex.split(line)[1:], "--workers", 0, code=1).stdout
    assert [re.sub(r"\d+\.\d+ s;", "", text) for text in again.splitlines()] == [
        re.sub(r"\d+\.\d+ s;", "", text) for text in told.splitlines()
    ]


def test_a_command_on_a_directory_prints_the_file_of_each_finding(spec):
    folder = Path(spec(LAPLACE, ONE, "half", name="b.toml")).parent
    entry = json.loads(run("audit", folder, "--samples", 5000, "--seed", 1, "--workers", 0, "--format", "json", code=1).stdout)["audits"][0]
    assert shlex.split(entry["replay"])[2] == entry["file"] == str(folder / "b.toml")


@pytest.mark.wide
def test_only_the_claims_that_are_named_are_audited_and_a_name_that_no_claim_has_is_an_error(spec):
    file = spec(LAPLACE, f'name = "one"\n{ONE}\n[[claim]]\nname = "two"\n{ONE}\n[[claim]]\nname = "three"\n{ONE}', "laplace")
    assert [entry["name"] for entry in audits(file, "--claim", "three", "--claim", "one", samples=500, code=0)] == ["one", "three"]
    result = run("audit", file, "--claim", "tow", "--claim", "four", "--samples", 500, code=2)
    assert "'tow'" in result.stderr and "'four'" in result.stderr and "'two'" in result.stderr


@pytest.mark.wide
def test_findings_are_the_same_for_any_number_of_workers(spec):
    file = spec(LAPLACE, ONE, "floats")
    answers = [audits(file, "--workers", workers, samples=5000) for workers in (0, 1, 2)]
    assert len({json.dumps([{**one, "seconds": 0} for one in answer]) for answer in answers}) == 1


def test_the_samplers_of_these_tests_are_what_they_say():
    """The bounded Laplace sampler against its distribution function, as it is the only one that takes an idea."""
    scope = {}
    exec(SAMPLERS, scope)
    rng = np.random.default_rng(0)
    y = scope["bounded"]([0.3], 100_000, rng)
    mass = 2 - np.exp(-0.3) - np.exp(-0.7)
    for at in (0.1, 0.3, 0.8):
        below = np.exp(at - 0.3) - np.exp(-0.3) if at <= 0.3 else 2 - np.exp(-0.3) - np.exp(0.3 - at)
        assert abs(np.mean(y <= at) - below / mass) < 0.008


@pytest.mark.parametrize(
    ("written", "said"),
    [("2e3", ""), ("2_000", ""), ("many", "not a whole number"), ("-5", "not a whole number"), ("0", "a whole number"), ("1.5", "or 1e5")],
)
def test_numbers_of_samples_are_written_as_those_who_sample_write_them(written, said):
    command = click.Command("audit", params=[click.Option(["--samples"], type=Count())], callback=lambda samples: click.echo(samples))
    found = CliRunner().invoke(command, ["--samples", written])
    assert (found.exit_code, found.output) == (0, "2000\n") if not said else found.exit_code == 2 and said in found.output
