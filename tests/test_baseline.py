"""A baseline accepts what is known today, wherever it is run from, and nothing else."""

import json
import os
import tomllib
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from click.testing import CliRunner

from dpverify import cli
from dpverify.catalogue import shelf
from dpverify.cli.accepted import read
from dpverify.errors import ProjectError, SpecError
from dpverify.project.baseline import with_baseline
from dpverify.report.results import Results
from dpverify.search import verify as judging

# Randomized response that tells the truth with probability 3/4: epsilon = log(3) = 1.0986... (theory#finite-table)
RESPONSE = '[mechanism]\nkind = "table"\nrows = [["3/4", "1/4"], ["1/4", "3/4"]]\n'
ABOVE = '[[claim]]\nname = "above"\nepsilon = 1.099\n'
BELOW = '[[claim]]\nname = "below"\nepsilon = 1.098\n'
FAR = '[[claim]]\nname = "far below"\nepsilon = 1\n'
UNKNOWN = (
    '[mechanism]\nkind = "sampled"\n[[claim]]\nname = "sampled"\nepsilon = {epsilon}\n'
    '[audit]\nsampler = "{sampler}"\npairs = [[[0], [1]]]\n'
)
SAMPLERS = (
    "def response(data, size, rng):\n    return (rng.random(size) < (0.75 if data[0] else 0.25)).astype(int)\n"
    "def crash(data, size, rng):\n    raise RuntimeError('no')\n"
)
AUDITED = ("--samples", "20000", "--seed", "1")


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("pyproject.toml").write_text("")
    Path("specs").mkdir()
    write("specs/response.toml", RESPONSE, ABOVE, BELOW)
    return tmp_path


def write(name: str, *parts: str) -> None:
    Path(name).write_text("".join(parts))


def run(*args: object, code: int | None = 0):
    result = CliRunner().invoke(cli.main, [str(arg) for arg in args])
    if code is not None:
        assert result.exit_code == code, result.output
    return result


def known(name: str = "dpverify-baseline.json") -> list[dict]:
    return json.loads(Path(name).read_text())["known"]


# -- what it accepts --------------------------------------------------------------------------------------------


@pytest.mark.wide
def test_what_is_in_the_baseline_does_not_fail_a_run_and_what_is_new_does(project):
    run("verify", "specs", code=1)
    run("baseline", "specs")
    run("verify", "specs", "--baseline", "dpverify-baseline.json", code=0)
    write("specs/response.toml", RESPONSE, ABOVE, BELOW, FAR)
    said = run("verify", "specs", "--baseline", "dpverify-baseline.json", code=1).stdout
    assert [line.split()[1] for line in said.splitlines() if "expected PROVED, known from the baseline" in line] == ["below"]
    assert said.splitlines()[-1] == "3 claims, 1 as expected; 1 known from the baseline"


@pytest.mark.wide
def test_the_configured_baseline_is_taken_without_a_flag(project):
    Path("pyproject.toml").write_text('[tool.dpverify]\npaths = ["specs"]\nbaseline = "known.json"\n')
    run("baseline")
    assert [one["name"] for one in known("known.json")] == ["below"]
    run("verify", code=0)
    run("report", "-o", "out", code=0)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "changed",
    [
        RESPONSE + ABOVE + BELOW.replace("1.098", "1.097"),
        RESPONSE.replace("3/4", "4/5").replace("1/4", "1/5") + BELOW,
        RESPONSE + BELOW.replace("below", "under"),
        RESPONSE + ABOVE + 'expect = "refuted"\n' + BELOW,
    ],
    ids=["another epsilon", "another mechanism", "another name", "another claim's expectation"],
)
def test_what_changed_is_new_again(project, changed):
    run("baseline", "specs")
    write("specs/response.toml", changed)
    run("verify", "specs", "--baseline", "dpverify-baseline.json", code=1)


def test_what_is_accepted_stays_accepted_where_only_lines_move(project):
    run("baseline", "specs")
    write("specs/response.toml", "# moved\n\n", RESPONSE, FAR.replace("1\n", "2\n"), BELOW, ABOVE)
    run("verify", "specs", "--baseline", "dpverify-baseline.json", code=0)


@pytest.mark.wide
def test_the_same_run_from_anywhere_matches(project, monkeypatch):
    run("baseline", "specs")
    file = project / "dpverify-baseline.json"
    run("verify", project / "specs" / "response.toml", "--baseline", file)
    monkeypatch.chdir(project / "specs")
    run("verify", "response.toml", "--baseline", file)
    run("verify", "response.toml", "--baseline", "../dpverify-baseline.json")
    monkeypatch.chdir(project.parent)
    run("verify", f"{project.name}/specs", "--baseline", file)


def test_without_a_pyproject_files_are_named_from_the_baselines_folder(project, monkeypatch):
    Path("pyproject.toml").unlink()
    run("baseline", "specs", "-o", "specs/known.json")
    assert [one["file"] for one in known("specs/known.json")] == ["response.toml"]
    monkeypatch.chdir(project / "specs")
    run("verify", "response.toml", "--baseline", "known.json")


def test_fingerprints_of_one_project_are_the_same_in_every_copy_of_it(project, tmp_path_factory, monkeypatch):
    def prints() -> list[str]:
        log = json.loads(run("verify", "specs", "--format", "sarif", code=1).stdout)
        return [result["partialFingerprints"]["dpverify/v1"] for result in log["runs"][0]["results"]]

    here = prints()
    copy = tmp_path_factory.mktemp("copy")
    (copy / "specs").mkdir()
    (copy / "pyproject.toml").write_text("")
    (copy / "specs" / "response.toml").write_text((project / "specs" / "response.toml").read_text())
    monkeypatch.chdir(copy)
    assert prints() == here and len(here) == 1


def test_a_mechanism_of_the_shelf_is_named_as_on_every_machine(tmp_path):
    assert Results(root=tmp_path).place(str(shelf() / "specs" / "laplace.toml")) == "shelf:specs/laplace.toml"
    assert Results(root=shelf()).place(str(shelf() / "specs" / "laplace.toml")) == "specs/laplace.toml"


# -- every format -------------------------------------------------------------------------------------------------


@pytest.mark.wide
def test_every_format_tells_what_is_known(project):
    run("baseline", "specs")

    def answer(style: str) -> str:
        return run("verify", "specs", "--baseline", "dpverify-baseline.json", "--format", style).stdout

    (result,) = json.loads(answer("sarif"))["runs"][0]["results"]
    assert [one["status"] for one in result["suppressions"]] == ["accepted"]
    suite = ET.fromstring(answer("junit").encode())
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("2", "0", "1")
    assert answer("github").startswith("::notice file=specs/response.toml")
    plain, accepted = (json.loads(run("verify", "specs", *flags, "--format", "json", code=None).stdout) for flags in ((), _BASELINE))
    assert plain.keys() == accepted.keys()
    assert [claim["as_expected"] for claim in accepted["claims"]] == [True, False]


_BASELINE = ("--baseline", "dpverify-baseline.json")


# -- the file -----------------------------------------------------------------------------------------------------


def test_the_file_is_sorted_one_entry_a_line_and_the_same_every_time(project):
    write("specs/another.toml", RESPONSE, FAR, BELOW)
    run("baseline", "specs")
    text = Path("dpverify-baseline.json").read_text()
    assert [(one["file"], one["name"], one["rule"]) for one in known()] == [
        ("specs/another.toml", "below", "REFUTED"),
        ("specs/another.toml", "far below", "REFUTED"),
        ("specs/response.toml", "below", "REFUTED"),
    ]
    assert all(one["message"].startswith(f"{one['name']}: REFUTED at epsilon ") and "\n" not in one["message"] for one in known())
    assert sum('"fingerprint"' in line for line in text.splitlines()) == 3
    assert "3 accepted, 0 of them new; 0 gone" in run("baseline", "specs/response.toml", "specs/another.toml", "--digits", "20").stdout
    assert Path("dpverify-baseline.json").read_text() == text


@pytest.mark.wide
def test_what_occurs_no_more_is_named_with_the_way_out(project):
    write("specs/another.toml", RESPONSE, BELOW)
    run("baseline", "specs")
    write("specs/response.toml", RESPONSE, ABOVE)
    Path("specs/another.toml").unlink()
    said = run("verify", "specs", *_BASELINE).stderr.splitlines()
    way_out = "`dpverify baseline` takes it out of the baseline."
    assert said == [f"no longer so: specs/{file}.toml, below: REFUTED. {way_out}" for file in ("another", "response")]
    again = run("baseline", "specs")
    assert "0 accepted, 0 of them new; 2 gone" in again.stdout and "gone: specs/response.toml, below: REFUTED" in again.stderr
    assert run("verify", "specs", *_BASELINE).stderr == ""


@pytest.mark.wide
def test_a_baseline_of_a_part_leaves_the_rest_as_it_was(project):
    write("specs/another.toml", RESPONSE, BELOW)
    write("samplers.py", SAMPLERS)
    write("specs/sampled.toml", UNKNOWN.format(epsilon=1, sampler="samplers:response"))
    run("baseline", "specs", "--audit")
    before = known()
    assert {one["rule"] for one in before} == {"REFUTED", "UNKNOWN", "VIOLATION"}
    assert "4 accepted, 0 of them new; 0 gone" in run("baseline", "specs/another.toml").stdout
    assert "4 accepted, 0 of them new; 0 gone" in run("baseline", "specs").stdout
    assert known() == before
    write("specs/another.toml", RESPONSE, ABOVE)
    assert "3 accepted, 0 of them new; 1 gone" in run("baseline", "specs/another.toml").stdout


@pytest.mark.wide
def test_a_run_over_a_part_says_nothing_of_the_rest(project):
    write("specs/another.toml", RESPONSE, ABOVE, BELOW)
    run("baseline", "specs")
    assert run("verify", "specs/another.toml", *_BASELINE).stderr == ""
    assert run("verify", "specs", *_BASELINE, "--claim", "above").stderr == ""


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "not JSON at line 1, column 2"),
        ("[]", 'not a baseline of this version: it has no "schema": "dpverify-baseline/1"'),
        ('{"schema": "dpverify-baseline/9", "known": []}', "not a baseline of this version"),
        ('{"schema": "dpverify-baseline/1"}', '"known" is not a list.'),
        ('{"schema": "dpverify-baseline/1", "known": [], "also": 1}', 'unknown key "also".'),
        ("[" * 100_000, "not a baseline: "),
        ('{"schema": "dpverify-baseline/1", "known": [\n<<<<<<< HEAD\n', "it holds the marks of a merge conflict."),
    ],
)
def test_a_broken_or_foreign_file_is_code_2_with_what_is_wrong(project, content, said):
    Path("dpverify-baseline.json").write_text(content)
    result = run("verify", "specs", *_BASELINE, code=2)
    assert result.stdout == "" and f"SpecError: dpverify-baseline.json: {said}" in result.stderr
    assert "write it anew with `dpverify baseline`" in result.stderr
    run("baseline", "specs", code=2)
    assert Path("dpverify-baseline.json").read_text() == content  # what is no baseline is never overwritten


def test_all_that_is_wrong_with_entries_is_told_at_once(project):
    good = {"file": "a", "name": "b", "rule": "REFUTED", "message": "c", "fingerprint": "0" * 64}
    bad = [{**good, "fingerprint": "xyz"}, {**good, "rule": "FAULT"}, {"file": 1, "extra": 2}, 7, good]
    Path("dpverify-baseline.json").write_text(json.dumps({"schema": "dpverify-baseline/1", "known": bad}))
    said = run("verify", "specs", *_BASELINE, code=2).stderr
    assert [line.partition(": ")[2].partition(" Remove it")[0] for line in said.splitlines()] == [
        'dpverify-baseline.json, entry 1: "fingerprint" is not 64 hexadecimal digits.',
        'dpverify-baseline.json, entry 2: "rule" is none of REFUTED, PROVED, UNKNOWN, UNCONFIRMED, VIOLATION, NONCONFORMING.',
        'dpverify-baseline.json, entry 3: "name" is missing.',
        'dpverify-baseline.json, entry 3: "rule" is missing.',
        'dpverify-baseline.json, entry 3: "message" is missing.',
        'dpverify-baseline.json, entry 3: "fingerprint" is missing.',
        'dpverify-baseline.json, entry 3: unknown key "extra".',
        'dpverify-baseline.json, entry 3: "file" is not a text.',
        "dpverify-baseline.json, entry 4: not an object.",
    ]


def test_a_baseline_that_is_not_there_says_how_to_make_it(project):
    assert (
        "no.json: no such baseline. `dpverify baseline PATH... -o no.json` writes it."
        in run("verify", "specs", "--baseline", "no.json", code=2).stderr
    )


# -- faults and audits ----------------------------------------------------------------------------------------------


def test_a_fault_is_never_accepted(project, monkeypatch):
    real = judging.verify

    def verify(claim, digits):
        if claim.name == "above":
            raise ZeroDivisionError("oops")
        return real(claim, digits)

    monkeypatch.setattr(judging, "verify", verify)
    run("baseline", "specs", "--no-cache", code=3)
    assert [one["name"] for one in known()] == ["below"]
    run("verify", "specs", *_BASELINE, "--no-cache", code=3)


@pytest.mark.wide
def test_findings_of_audits_are_accepted_where_they_are_asked_for(project):
    write("specs/samplers.py", SAMPLERS)
    write("specs/sampled.toml", UNKNOWN.format(epsilon="0.5", sampler="samplers:response"))  # log(3) is above 0.5
    run("baseline", "specs", "--profile", "ci")
    run("audit", "specs", *AUDITED, *_BASELINE, code=1)
    run("baseline", "specs", "--audit", "--profile", "ci")
    assert [(one["name"], one["rule"]) for one in known()] == [("below", "REFUTED"), ("sampled", "UNKNOWN"), ("sampled", "VIOLATION")]
    assert run("audit", "specs", *AUDITED, *_BASELINE).stderr == ""
    assert run("verify", "specs", *_BASELINE).stderr == ""
    write("specs/sampled.toml", UNKNOWN.format(epsilon="0.4", sampler="samplers:response"))
    assert "specs/sampled.toml, sampled: VIOLATION" in run("audit", "specs", *AUDITED, *_BASELINE, code=1).stderr


@pytest.mark.wide
def test_an_audit_that_cannot_be_made_is_never_accepted(project):
    write("specs/samplers.py", SAMPLERS)
    write("specs/sampled.toml", UNKNOWN.format(epsilon="0.5", sampler="samplers:crash"))
    run("baseline", "specs", "--audit", code=2)
    assert {one["rule"] for one in known()} == {"REFUTED", "UNKNOWN"}
    run("audit", "specs", *AUDITED, *_BASELINE, code=2)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_baseline_that_is_no_file_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(SpecError, match="not a file"):
            read(place, tmp_path)


# -- who reads it ----------------------------------------------------------------------------------


@pytest.mark.wide
def test_in_a_project_that_init_made_the_baseline_is_read_from_then_on(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("pyproject.toml").write_text('[project]\nname = "x"  # ours\n')
    run("init")
    Path("specs/wrong.toml").write_text(RESPONSE + BELOW)
    run("verify", code=1)
    assert 'baseline = "dpverify-baseline.json" is set in [tool.dpverify]' in run("baseline").stdout
    text = Path("pyproject.toml").read_text()
    assert text.startswith('[project]\nname = "x"  # ours\n') and tomllib.loads(text)["tool"]["dpverify"]["paths"] == ["specs"]
    assert "known from the baseline" in run("verify").stdout
    run("baseline")
    assert Path("pyproject.toml").read_text() == text


PROJECTS = {
    "nothing of ours": '[project]\nname = "x"',
    "an empty file": "",
    "a table of ours": '[tool.dpverify]  # how\n\n[tool.other]\nbaseline = "no"\n',
    "a head with spaces and other line ends": "[ tool . dpverify ]\r\ndigits = 7\r\n",
    "tables below ours": "[tool.dpverify.profiles.quick]\nsamples = 1000\n",
}
OTHERS = {"a table in a line": 'tool.dpverify = { paths = ["specs"] }\n', "dotted keys": 'tool.dpverify.paths = ["specs"]\n'}


@pytest.mark.parametrize("project", PROJECTS)
def test_the_key_is_added_and_all_else_left(project, tmp_path):
    file = tmp_path / "pyproject.toml"
    file.write_bytes(PROJECTS[project].encode())
    after = tomllib.loads(with_baseline(file, "known é.json").data.decode())
    assert after["tool"]["dpverify"].pop("baseline") == "known é.json"
    before = tomllib.loads(PROJECTS[project])
    before.setdefault("tool", {}).setdefault("dpverify", {})
    assert after == before


@pytest.mark.parametrize("project", OTHERS)
def test_where_no_line_can_be_added_it_says_so_and_changes_nothing(project, tmp_path):
    file = tmp_path / "pyproject.toml"
    file.write_text(OTHERS[project])
    with pytest.raises(ProjectError, match="no line can be added"):
        with_baseline(file, "known.json")


def test_outside_of_a_project_it_says_how_the_file_is_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("wrong.toml").write_text(RESPONSE + BELOW)
    assert "runs read it where they are told of it: --baseline dpverify-baseline.json" in run("baseline", "wrong.toml").stdout
    assert not Path("pyproject.toml").exists()
