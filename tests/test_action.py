"""The action for continuous integration does by hand what it does on GitHub: tells everything, and fails at the end."""

import json
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
import yaml

from dpverify import cli
from tests.steps import GH, ROOT, Runner

ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
STEPS = ACTION["runs"]["steps"]

# Laplace noise of scale 1/2 at sensitivity 1: its epsilon is 2, and 1 is claimed. The sampler does what is declared.
WRONG = """\
# Half the noise that the claim needs.
[mechanism]
kind = "builtin"
name = "discrete_laplace"
parameters = { scale = "1/2" }

[[claim]]
name = "half the noise"
sensitivity = 1
epsilon = 1

[audit]
sampler = "half:sample"
"""
SAMPLER = """\
import numpy as np

def sample(data, size, rng):
    stop = -np.expm1(-2.0)
    return int(data[0]) + rng.geometric(stop, size) - rng.geometric(stop, size)
"""


# Stands for dpverify where only the scripts around it are meant: keeps what it was asked, and writes what a report writes.
STAND_IN = """\
#!/usr/bin/env python3
import os, sys
from pathlib import Path
code = int(os.environ.get("FAKE_CODE", "0"))
Path(os.environ["FAKE_LOG"]).write_text("\\0".join(sys.argv[1:]))
folder = Path(sys.argv[sys.argv.index("-o") + 1])
folder.mkdir(exist_ok=True)
for name in ("results.sarif", "results.md"):
    (folder / name).write_text(f"ended with {code}")
sys.exit(code)
"""


@pytest.fixture
def project(tmp_path):
    """A fresh project with one wrong mechanism."""
    folder = tmp_path / "project"
    (folder / "specs").mkdir(parents=True)
    (folder / "pyproject.toml").write_text('[tool.dpverify]\npaths = ["specs"]\ncache = false\n')
    (folder / "specs" / "half.toml").write_text(WRONG)
    (folder / "specs" / "half.py").write_text(SAMPLER)
    return folder


@pytest.fixture
def runner(project, tmp_path, monkeypatch):
    """The action in that project, on a pull request of the repository itself; an input is what is given, else its default.

    code: that a stand-in of dpverify ends with; dpverify itself runs without it.
    """

    def make(pull_request=True, code=None, head="somebody/project", **inputs):
        defaults = {name: str(given.get("default", "")) for name, given in ACTION["inputs"].items()}
        assert inputs.keys() <= {name.replace("-", "_") for name in defaults}
        given = {**defaults, **{name.replace("_", "-"): value for name, value in inputs.items()}}
        event = {"pull_request": {"number": 7, "head": {"repo": {"full_name": head}}}} if pull_request else {}
        github = {"event": event, "repository": "somebody/project", "token": "t"}
        scratch = tmp_path / "scratch"
        scratch.mkdir(exist_ok=True)
        (scratch / "gh").mkdir(exist_ok=True)
        monkeypatch.setenv("FAKE_GH", str(scratch / "gh"))
        log = f'#!/bin/sh\nfor a in "$@"; do printf "%s\\n" "$a"; done >> "{scratch}/python.log"\n'
        monkeypatch.setenv("FAKE_CODE", str(code))
        monkeypatch.setenv("FAKE_LOG", str(scratch / "dpverify.log"))
        commands = {"python": log, "gh": GH, **({} if code is None else {"dpverify": STAND_IN})}
        return Runner(project, scratch, {"inputs": given, "github": github}, commands)

    return make


def outputs(runner) -> dict[str, str]:
    return {name: runner.text(given["value"]) for name, given in ACTION["outputs"].items()}


def test_a_wrong_mechanism_is_told_everywhere_and_fails_the_run_at_the_end(runner, project):
    done = runner()
    assert done.run(STEPS) == 1
    assert done.ran[-1] == "Pass or fail" and {name for name, code in done.codes.items() if code} == {"Pass or fail"}
    assert outputs(done) == {"report": "dpverify-report", "sarif-file": "dpverify-report/results.sarif", "exit-code": "1"}
    [run] = json.loads((project / "dpverify-report" / "results.sarif").read_text())["runs"]
    found = {result["ruleId"]: result["locations"][0]["physicalLocation"] for result in run["results"]}
    assert set(found) == {"REFUTED", "VIOLATION"}
    header = WRONG.splitlines().index("[[claim]]") + 1
    for place in found.values():
        assert place["artifactLocation"]["uri"] == "specs/half.toml" and place["region"]["startLine"] == header
    for text in (done.summary, json.loads((done.scratch / "gh" / "100.json").read_text())["body"]):
        assert "half the noise" in text and "REFUTED" in text and "VIOLATION" in text
    assert "results.sarif" in done.said["Tell code scanning"] and "dpverify-report" in done.said["Keep the report"]
    assert (project / "dpverify-report" / "index.html").is_file()


def test_a_right_mechanism_passes(runner, project):
    (project / "specs" / "half.toml").write_text(WRONG.replace("epsilon = 1\n", "epsilon = 2\n"))
    done = runner(audit="false")
    assert done.run(STEPS) == 0
    assert outputs(done)["exit-code"] == "0" and "all as expected" in done.summary


@pytest.mark.wide
def test_a_second_run_changes_its_own_comment_and_nobody_elses(runner, project):
    store = project.parent / "scratch" / "gh"
    assert runner(code=1).run(STEPS) == 1
    someone = {"type": "User", "body": "<!-- dpverify dpverify-report -->\nnot by the action"}
    (store / "099.json").write_text(json.dumps(someone))
    assert runner(code=4).run(STEPS) == 4
    posts = [line.split()[0] for line in (store / "log").read_text().splitlines() if not line.startswith("GET")]
    assert posts == ["POST", "PATCH"]
    assert json.loads((store / "100.json").read_text())["body"].endswith("ended with 4")
    assert json.loads((store / "099.json").read_text()) == someone


@pytest.mark.wide
def test_jobs_that_keep_a_report_each_have_a_comment_each(runner, project):
    store = project.parent / "scratch" / "gh"
    for artifact in ("one", "two", "one", 'a "quoted" one'):
        assert runner(code=0, artifact=artifact).run(STEPS) == 0
    first = [json.loads(file.read_text())["body"].splitlines()[0] for file in sorted(store.glob("*.json"))]
    assert first == ["<!-- dpverify one -->", "<!-- dpverify two -->", "<!-- dpverify aquotedone -->"]


@pytest.mark.wide
def test_a_report_folder_that_looks_like_an_option_is_a_folder_in_every_step(runner, project):
    done = runner(code=0, report="-report")
    assert done.run(STEPS) == 0
    assert done.summary == "ended with 0"
    assert json.loads((project.parent / "scratch" / "gh" / "100.json").read_text())["body"].endswith("ended with 0")


@pytest.mark.wide
@pytest.mark.sampled(1)
@pytest.mark.parametrize("code", [0, 1, 2, 3, 4])
def test_the_run_ends_with_the_exit_code_of_dpverify_unless_it_is_only_to_tell(code, runner):
    assert runner(code=code).run(STEPS) == code
    done = runner(code=code, fail="false")
    assert done.run(STEPS) == 0
    assert outputs(done)["exit-code"] == str(code)


def test_a_bad_claim_file_fails_with_2_and_says_where_to_look(runner, project):
    (project / "dpverify-report").mkdir()
    (project / "dpverify-report" / "results.sarif").write_text("of an earlier run")
    (project / "specs" / "half.toml").write_text(WRONG.replace("sensitivity", "sensitivty"))
    done = runner()
    assert done.run(STEPS) == 2
    assert outputs(done)["sarif-file"] == "" and "exit code 2" in done.summary
    assert "sensitivty" in done.said["Verify and audit"]
    assert not {"Tell code scanning", "Tell the pull request"} & set(done.ran)


@pytest.mark.parametrize("contexts", [{"sarif": "false", "comment": "false"}, {"sarif": "false", "pull_request": False}])
def test_nothing_is_uploaded_or_posted_that_is_not_wanted(contexts, runner):
    done = runner(code=1, **contexts)
    done.run(STEPS)
    assert not {"Tell code scanning", "Tell the pull request"} & set(done.ran)


def test_a_pull_request_from_a_fork_gets_no_comment(runner):
    done = runner(code=1)
    done.contexts["github"]["event"]["pull_request"]["head"]["repo"]["full_name"] = "stranger/project"
    assert done.run(STEPS) == 1
    assert "Tell the pull request" not in done.ran and "ended with 1" in done.summary


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", [name for name in ACTION["inputs"] if name != "python-version"])
def test_an_input_is_a_value_and_never_a_command(name, runner, project):
    text = '"; touch pwned; echo $(touch pwned) `touch pwned`'
    done = runner(code=0, **{name.replace("-", "_"): text})
    done.run(STEPS)
    assert not [path for path in project.rglob("pwned*") if path.is_file()]


def test_paths_profile_and_baseline_reach_dpverify(runner):
    done = runner(code=0, paths="one file.toml\n--digits\n", profile="nightly", baseline="known.json", audit="false", report="out put")
    assert done.run(STEPS) == 0
    asked = (done.scratch / "dpverify.log").read_text().split("\0")
    assert asked[0] == "report" and asked[asked.index("--") + 1 :] == ["one file.toml", "--digits"]
    options = asked[1 : asked.index("--")]
    assert "--no-audit" in options and "--audit" not in options
    assert {("--profile", "nightly"), ("--baseline", "known.json"), ("-o", "out put")} <= set(pairwise(options))
    assert {("--format", style) for style in ("sarif", "markdown", "json")} <= set(pairwise(options))
    known = {name for parameter in cli.main.commands["report"].params for name in (*parameter.opts, *parameter.secondary_opts)}
    assert {option for option in options if option.startswith("-")} <= known


def test_without_paths_the_project_says_which_are_meant(runner):
    done = runner(code=0)
    assert done.run(STEPS) == 0
    asked = (done.scratch / "dpverify.log").read_text().split("\0")
    assert asked[-1] == "--" and "--audit" in asked and "--profile" not in asked and "--baseline" not in asked


@pytest.mark.parametrize(
    ("version", "installed"), [("source", str(ROOT)), ("latest", "dpverify"), ("1.2.3", "dpverify==1.2.3"), ("1.2rc1", "dpverify==1.2rc1")]
)
def test_the_version_that_is_asked_for_is_installed_with_what_else_is_asked_for(version, installed, runner):
    done = runner(version=version, install=".\n-r\nrequirements of ours.txt\n")
    [install] = [step for step in STEPS if step.get("name") == "Install"]
    assert done.run([install]) == 0
    asked = (done.scratch / "python.log").read_text().splitlines()
    assert asked[:3] == ["-m", "pip", "install"]
    assert asked[-4:] == [installed, ".", "-r", "requirements of ours.txt"]


@pytest.mark.parametrize("version", ["", "1.0 --index-url=x", "--pre", "git+https://example.org/x", "1.0;touch pwned"])
def test_a_version_that_is_no_version_is_refused(version, runner):
    done = runner(version=version)
    assert done.run(STEPS) == 2 and "is no version" in done.said["Install"]
    assert not (done.scratch / "python.log").exists()


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("head", "pull_request", "run_code", "forbidden"),
    [
        ("somebody/project", True, "auto", False), ("anybody/project", True, "auto", True), ("", True, "auto", True),
        ("somebody/project", False, "auto", False), ("anybody/project", True, "true", False), ("somebody/project", True, "false", True),
    ],
)  # fmt: skip
def test_a_pull_request_from_a_fork_runs_no_code_and_installs_none(runner, head, pull_request, run_code, forbidden):
    done = runner(code=0, head=head, pull_request=pull_request, run_code=run_code, install=".")
    assert done.run(STEPS) == 0
    assert ("--no-code" in (done.scratch / "dpverify.log").read_text().split("\0")) is forbidden
    assert ("." not in (done.scratch / "python.log").read_text().splitlines()) is forbidden


@pytest.mark.parametrize(
    ("name", "value"), [("audit", "yes"), ("run_code", "yes"), ("fail", "no"), ("report", ""), ("report", "a\nexit-code=0")]
)
def test_a_wrong_input_is_an_error_with_the_way_out(name, value, runner):
    done = runner(code=0, **{name: value})
    assert done.run(STEPS) == 2
    assert any(f"::error::{name.replace('_', '-')}: " in said for said in done.said.values())


def test_values_reach_scripts_by_the_environment_alone():
    scripts = [step["run"] for step in STEPS if "run" in step]
    assert len(scripts) == 5 and not any("${{" in script for script in scripts)
    for script in Path(ROOT / "tools" / "action").glob("*.sh"):
        assert "eval" not in script.read_text()


def test_the_scripts_have_no_fault_that_shellcheck_knows():
    shellcheck = shutil.which("shellcheck") or shutil.which("shellcheck", path=Path(sys.executable).parent)
    if shellcheck is None:
        pytest.skip("shellcheck is not installed")
    scripts = [*(ROOT / "tools" / "action").glob("*.sh"), ROOT / "dpverify/project/templates/project/comment.sh"]
    done = subprocess.run([shellcheck, "--shell=bash", *scripts], capture_output=True, text=True, check=False)
    assert done.stdout == ""


def test_the_action_is_one_by_the_published_schema():
    check = pytest.importorskip("check_jsonschema")
    assert check.main(["--builtin-schema", "vendor.github-actions", str(ROOT / "action.yml")], standalone_mode=False) == 0


def test_the_hooks_take_the_manifest_and_run_commands_that_exist():
    clientlib = pytest.importorskip("pre_commit.clientlib")
    hooks = clientlib.load_manifest(ROOT / ".pre-commit-hooks.yaml")
    assert [hook["id"] for hook in hooks] == ["dpverify-verify", "dpverify-check"]
    for hook in hooks:
        program, verb = hook["entry"].split()
        assert program == "dpverify" and verb in cli.main.commands
