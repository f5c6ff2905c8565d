"""A shell completes commands, claim files, mechanisms, rules, claims and profiles, and is not kept waiting."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner

from dpverify import cli
from dpverify.trusted.kernel.registry import EXPLAINED

ROOT = Path(__file__).parents[2]
SHELF = {path.stem for path in (ROOT / "specs").glob("*.toml")}
CLAIMS = """\
[mechanism]
kind = "table"
rows = [["3/4", "1/4"], ["1/4", "3/4"]]
[[claim]]
name = "just above"
epsilon = 1.1
[[claim]]
epsilon = 2
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("specs").mkdir()
    Path("specs/ours.toml").write_text(CLAIMS)
    return tmp_path


def completed(*line: str, kind: str = "plain") -> set[str]:
    """What the shell is offered for the last word of a line."""
    found = ShellComplete(cli.main, {}, "dpverify", "_DPVERIFY_COMPLETE").get_completions(list(line[:-1]), line[-1])
    return {item.value for item in found if item.type == kind}


def test_every_verb_is_completed():
    assert completed("") == set(cli.main.commands)
    assert completed("ver") == {"verify"}


@pytest.mark.parametrize("verb", ["verify", "audit", "report"])
def test_claims_are_files_and_the_names_of_mechanisms(verb):
    assert completed(verb, "") == SHELF | {"ours"}
    assert completed(verb, "student_t_d") == {name for name in SHELF if name.startswith("student_t_d")}
    assert completed(verb, "ours.to", kind="file") == {"ours.to"}, "the shell looks for files itself"


def test_what_can_be_explained_is_every_rule_every_theorem_and_every_mechanism():
    assert completed("explain", "") == set(EXPLAINED) | SHELF | {"ours"}


@pytest.mark.parametrize("line", [("verify", "ours"), ("audit", "specs"), ("verify", "specs/ours.toml"), ("explain", "ours")])
def test_the_claims_of_the_files_on_the_line_are_completed(line):
    assert completed(*line, "--claim", "") == {"just above", "claim 2"}
    assert completed(*line, "--claim", "just") == {"just above"}


def test_the_claims_of_a_mechanism_on_the_shelf_are_completed():
    assert "d=3 nu=5, too low" in completed("verify", "student_t", "--claim", "")


def test_the_claims_of_the_project_are_completed_where_the_line_names_no_file(folder, monkeypatch):
    assert completed("verify", "--claim", "") == set()
    Path("pyproject.toml").write_text('[tool.dpverify]\npaths = ["specs"]\n')
    monkeypatch.chdir(folder / "specs")
    assert completed("verify", "--claim", "") == {"just above", "claim 2"}


@pytest.mark.parametrize("content", ["not TOML", "claim = 1\n", "claim = [1]\n", None])
def test_a_file_that_cannot_be_read_completes_to_nothing(content):
    if content is None:
        Path("specs/ours.toml").unlink()
    else:
        Path("specs/ours.toml").write_text(content)
    assert completed("verify", "specs/ours.toml", "--claim", "") == set()


def test_profiles_are_the_built_in_ones_and_those_of_the_project(folder, monkeypatch):
    assert completed("verify", "--profile", "") == {"dev", "ci", "nightly"}
    Path("pyproject.toml").write_text("[tool.dpverify.profiles.release]\ndigits = 40\n")
    monkeypatch.chdir(folder / "specs")
    assert completed("audit", "--profile", "") == {"dev", "ci", "nightly", "release"}
    assert completed("report", "--profile", "r") == {"release"}


def test_the_built_in_profiles_are_those_of_the_configuration():
    from dpverify.cli.completion import BUILT_IN_PROFILES
    from dpverify.project.config import PROFILES

    assert set(BUILT_IN_PROFILES) == set(PROFILES)


def test_kinds_of_mechanisms_are_completed():
    assert completed("new", "mine", "--kind", "sub") == {"subsample"}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_is_printed_for_every_shell_and_is_one(shell):
    result = CliRunner().invoke(cli.main, ["completion", shell])
    assert result.exit_code == 0 and "_DPVERIFY_COMPLETE" in result.stdout
    if shutil.which(shell):
        assert subprocess.run([shell, "-n"], input=result.stdout, text=True, capture_output=True, check=False).stderr == ""


@pytest.mark.parametrize("word", ["ju", r"just\ ab", "'just ab"])
def test_bash_puts_in_a_name_with_spaces_as_one_word(word, tmp_path):
    program = tmp_path / "dpverify"
    program.write_text(f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(ROOT)!r})\nfrom dpverify.cli import main\nmain()\n")
    program.chmod(0o755)
    script = CliRunner().invoke(cli.main, ["completion", "bash"]).stdout
    asked = f'COMP_WORDS=(dpverify verify ours --claim {shlex.quote(word)}); COMP_CWORD=4; _dpverify_completion "{program}"'
    shown = 'printf "%s|" "${COMPREPLY[@]}"'
    done = subprocess.run(["bash", "-c", f"{script}\n{asked}\n{shown}"], capture_output=True, text=True, check=True)
    assert done.stdout == r"just\ above|", done.stderr


@pytest.mark.parametrize("line", ["dpverify explain con", "dpverify verify stud", "dpverify verify student_t --claim d"])
def test_bash_is_answered_without_importing_what_is_slow(line):
    heavy = [
        "numpy",
        "scipy",
        "sympy",
        "z3",
        "flint",
        "jinja2",
        "hypothesis",
        "dpverify.catalogue",
        "dpverify.search",
        "dpverify.trusted.kernel.judgement",
    ]
    code = (
        "import atexit, sys\n"
        f"atexit.register(lambda: print('imported', [m for m in {heavy!r} if m in sys.modules], file=sys.stderr))\n"
        "from dpverify.cli import main\nmain(prog_name='dpverify')\n"
    )
    words = line.split()
    asked = {"_DPVERIFY_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    environment = {**os.environ, **asked, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    offered = [answer.partition(",")[2] for answer in done.stdout.splitlines() if answer.startswith("plain,")]
    assert offered and all(word.startswith(words[-1]) for word in offered)
    assert "imported []" in done.stderr
