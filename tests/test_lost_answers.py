"""What cannot be told: streams that are closed or full, disks that are full, folders that are gone, numbers that are too long."""

import contextlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from dpverify import cli
from dpverify.evidence import recheck
from dpverify.project.designer import HEADING
from dpverify.runtime import outside

ROOT = Path(__file__).parents[1]
TABLE = '[mechanism]\nkind = "table"\nrows = [["3/4", "1/4"], ["1/4", "3/4"]]\n'
TWO = '[[claim]]\nname = "above"\nepsilon = 2\n[[claim]]\nname = "below"\nepsilon = 1\nexpect = "refuted"\n'
LEAST = '[mechanism]\nkind = "builtin"\nname = "laplace"\nscale = "least"\n[[claim]]\nsensitivity = 1\nepsilon = 2\n'
LAPLACE = '[mechanism]\nkind = "builtin"\nname = "laplace"\nscale = 1\n[[claim]]\nsensitivity = 1\nepsilon = 1\n'
LONG = "9" * 5000
posix = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs forks and /dev/full")


@pytest.fixture
def here(tmp_path, tmp_path_factory, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DPVERIFY_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
    Path("two.toml").write_text(TABLE + TWO)
    Path("least.toml").write_text(LEAST)
    Path("laplace.toml").write_text(LAPLACE)
    return tmp_path


def run(*args, code=0):
    result = CliRunner().invoke(cli.main, args)
    assert result.exit_code == code, result.output
    return result


# -- streams -----------------------------------------------------------------------------------


def full(number):
    os.dup2(os.open("/dev/full", os.O_WRONLY), number)


def unheard(number):
    reader, writer = os.pipe()
    os.close(reader)
    os.dup2(writer, number)


def quiet(number):
    os.dup2(os.open(os.devnull, os.O_WRONLY), number)


def code_of(call, stdout, stderr):
    """The exit code of a program in a process of its own, of which both streams are as they say."""
    pid = os.fork()
    if pid:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    code = 70
    with contextlib.suppress(BaseException):
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        for number, (name, become) in enumerate((("stdout", stdout), ("stderr", stderr)), 1):
            become(number)
            stream = None if become is os.close else io.TextIOWrapper(io.BufferedWriter(io.FileIO(number, "wb", closefd=False)))
            setattr(sys, name, stream)
            setattr(sys, f"__{name}__", stream)
        try:
            code = call()
        except SystemExit as left:
            code = left.code
        try:
            if sys.stdout is not None:
                sys.stdout.flush()  # as every program does at its end
        except (OSError, ValueError):
            code = 120
    os._exit(code)


ANSWERS = (
    ["--help"], ["--version"], ["verify", "--help"], ["verify", "two.toml"], ["verify", "two.toml", "--format", "json"],
    ["check", "two.above.cert.json"], ["calibrate", "least.toml", "--digits", "1"], ["sample", "laplace.toml", "--size", "3"],
    ["baseline", "two.toml", "-o", "known.json"], ["list"], ["explain", "finite-table"], ["cache"], ["cache", "dir"],
    ["completion", "bash"], ["new", "noise", "--kind", "builtin", "--dry-run"], ["init", "--dry-run"], ["schema", "answer"],
)  # fmt: skip
BAD = (
    ["verify", "missing.toml"], ["verify", "missing.toml", "--format", "json"], ["check", "missing.json"], ["audit", "missing.toml"],
    ["report", "missing.toml"], ["calibrate", "missing.toml"], ["design", "missing.toml"], ["tradeoff", "missing.toml"], ["frobnicate"],
    ["sample", "two.toml", "--size", "0"], ["explain", "no-such-rule"],
)  # fmt: skip


@pytest.mark.wide
@posix
def test_an_answer_that_cannot_be_told_is_code_2_from_every_verb(here):
    run("verify", "two.toml", "--certificates", ".")
    for args in ANSWERS:
        run(*args)  # told, they are 0
    ways = ((full, quiet), (os.close, quiet), (unheard, quiet), (full, full), (os.close, os.close))
    codes = {(" ".join(args), out.__name__, err.__name__): code_of(lambda args=args: cli.main(args), out, err)
             for number, args in enumerate(ANSWERS) for out, err in (ways if number in (0, 3) else ways[number % 5 :: 5])}  # fmt: skip
    assert {case: code for case, code in codes.items() if code != 2} == {}


@pytest.mark.wide
@posix
def test_what_is_told_to_nobody_on_stderr_changes_no_code(here):
    bad = {" ".join(args): code_of(lambda args=args: cli.main(args), quiet, (full, os.close)[i % 2]) for i, args in enumerate(BAD)}
    assert set(bad.values()) == {2}, bad
    assert code_of(lambda: cli.main(["verify", "two.toml"]), quiet, full) == 0
    assert code_of(lambda: cli.main(["verify", "two.toml", "--claim", "below", "--certificates", "/dev/null/x"]), quiet, full) == 2


@posix
def test_the_kernel_by_itself_says_the_same(here):
    run("verify", "two.toml", "--certificates", ".")
    for out, err in ((full, full), (os.close, os.close), (unheard, quiet)):
        assert code_of(lambda: recheck.main(["two.above.cert.json"]), out, err) == 2
    assert code_of(lambda: recheck.main(["missing.json"]), quiet, full) == 2
    assert code_of(lambda: recheck.main(["two.above.cert.json"]), quiet, os.close) == 0


@posix
def test_the_package_is_run_as_the_program_is(here):
    command = f"exec {sys.executable} -m dpverify verify two.toml 2>/dev/full"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(["sh", "-c", command], stdout=subprocess.PIPE, text=True, env=environment)
    assert done.returncode == 0 and "2 claims, 2 as expected" in done.stdout


def test_an_interrupt_that_code_in_c_makes_a_fault_of_is_an_interrupt(here, monkeypatch):
    def integral(*_, **__):
        raise SystemError("returned a result with an exception set") from KeyboardInterrupt()

    monkeypatch.setattr("dpverify.cli.claims.specs_of", integral)
    assert "interrupted" in run("verify", "two.toml", code=130).stderr


# -- disks -------------------------------------------------------------------------------------


@pytest.fixture
def no_space(monkeypatch):
    """Makes a disk full for whatever is written in a folder, after the first bytes of it."""
    real = Path.write_bytes

    def fill(folder):
        def write(self, content):
            if folder not in (self.parent.name, self.parent.parent.name):
                return real(self, content)
            real(self, content[:10])
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(Path, "write_bytes", write)

    return fill


def test_answers_are_told_where_their_certificates_cannot_be_written(here, no_space):
    no_space("out")
    result = run("verify", "two.toml", "--certificates", "out", "--format", "json", code=2)
    told = json.loads(result.stdout)["claims"]
    assert [(claim["verdict"], claim["certificate"]) for claim in told] == [("PROVED", None), ("REFUTED", None)]
    files = Path("out/two.above.cert.json"), Path("out/two.below.cert.json")
    lines = [f"cannot write or read {file}: No space left on device." for file in files]
    assert result.stderr.splitlines() == lines
    assert list(Path("out").iterdir()) == []


def test_a_report_that_cannot_be_written_is_told(here, no_space):
    no_space("out")
    result = run("report", "two.toml", "-o", "out", code=2)
    assert "2 claims, 2 as expected" in result.stdout and "written to" not in result.stdout
    assert f"cannot write or read {Path('out/index.html')}: No space left" in result.stderr
    assert not [path for path in Path("out").rglob("*") if path.is_file()]


@pytest.mark.wide
def test_what_a_file_was_to_hold_is_told_where_it_cannot_be_written(here, no_space):
    shutil.copy("least.toml", "kept.toml")
    Path("full").mkdir()
    shutil.move("least.toml", "full/least.toml")
    no_space("full")
    told = run("calibrate", "full/least.toml", "--digits", "1", "--write", code=2)
    assert "scale = 0.5\n" in told.stdout and Path("full/least.toml").read_text() == Path("kept.toml").read_text()
    told = run("calibrate", "kept.toml", "--digits", "1", "--certificates", "full", "--format", "json", code=2)
    assert [claim["certificate"] for claim in json.loads(told.stdout)["claims"]] == [None]
    told = run("baseline", "two.toml", "-o", "full/known.json", code=2)
    assert told.stdout == "2 claims, 2 as expected; nothing is accepted anew\n"
    assert [path.name for path in Path("full").iterdir()] == ["least.toml"]


def test_designs_of_before_stay_where_no_new_one_can_be_written(here, no_space):
    Path("design.toml").write_text('[design]\nquery = [[1]]\nadjacency = "add-remove"\nepsilon = 1\n')
    Path("full").mkdir()
    Path("full/99-before.toml").write_text(HEADING)
    no_space("full")
    told = run("design", "design.toml", "-o", "full", code=2)
    assert "laplace" in told.stdout and "full" in told.stderr and "No space left" in told.stderr
    assert [path.name for path in Path("full").iterdir()] == ["99-before.toml"]


# -- folders and numbers -----------------------------------------------------------------------


@pytest.mark.skipif(sys.platform != "linux", reason="a folder in use cannot be removed elsewhere")
def test_a_working_directory_that_is_gone_is_said_to_be(here, monkeypatch, capsys):
    Path("gone").mkdir()
    monkeypatch.chdir("gone")
    (here / "gone").rmdir()
    for args in (["verify", "two.toml"], ["check", "a.cert.json"], ["list"]):
        assert "the working directory is gone" in run(*args, code=2).stderr
    assert recheck.main(["a.cert.json"]) == 2 and "the working directory is gone" in capsys.readouterr().err
    run("--version")


def test_integers_of_too_many_digits_are_told_of_in_words_for_people(here):
    for number, text in enumerate((LAPLACE.replace("scale = 1", f"\nscale = {LONG}"), LAPLACE.replace("epsilon = 1", f"epsilon = {LONG}"))):
        Path("long.toml").write_text(text)
        line = 5 if number == 0 else 7
        assert run("verify", "long.toml", code=2).stderr == f"SpecError: long.toml: an integer of more than 4200 digits at line {line}.\n"
    Path("design.toml").write_text(f"[design]\nquery = [[{LONG}]]\n")
    assert "digits at line 2" in run("design", "design.toml", code=2).stderr
    Path("a.cert.json").write_text(f'{{"schema": {LONG}}}')
    Path("known.json").write_text(f'{{"schema": {LONG}}}')
    Path("pyproject.toml").write_text("")
    asked = (
        ["check", "a.cert.json"], ["verify", "two.toml", "--baseline", "known.json"], ["verify", "two.toml", "--digits", LONG],
        ["sample", "laplace.toml", "--data", LONG], ["sample", "laplace.toml", "--size", f"{LONG}e3"],
        ["audit", "two.toml", "--seed", LONG],
    )  # fmt: skip
    for args in asked:
        said = run(*args, code=2).output
        assert "max_str_digits" not in said and "9" * 200 not in said, args
    Path("pyproject.toml").write_text(f"[tool.dpverify]\ndigits = {LONG}\n")
    for args in (["verify", "two.toml"], ["init", "--dry-run"]):
        assert "an integer of more than 4300 digits" in run(*args, code=2).output


def test_other_words_of_python_are_left_as_they_are():
    assert outside.plainly(ValueError("math domain error")) == "math domain error"
