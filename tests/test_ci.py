"""`.ci/run`: two parts at once, what each writes together, a failure that fails the whole, and nothing left of a run that is stopped."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENTS = (".venv/dev", ".venv-flint/done", ".venv-build/done", ".venv-docs/done", ".coq", ".venv-browser/done")
PARTS = (
    "lint", "types", "imports", "test", "second-opinion", "reports-check", "wheel-test", "bundle", "formal", "browser", "test-wide", "docs",
)  # fmt: skip
TAKES = "\t@echo $@ $$(date +%s%N) >>began; echo first $@; sleep 0.1; echo last $@; echo $@ $$(date +%s%N) >>ended\n"


@pytest.fixture
def run(tmp_path):
    """The script beside a Makefile of targets that write, wait and write again, or do as is said."""

    def begin(**others):
        (tmp_path / ".ci").mkdir()
        shutil.copy(ROOT / ".ci" / "run", tmp_path / ".ci" / "run")
        recipes = "".join(f".PHONY: {name}\n{name}:\n{others.get(name, TAKES)}" for name in (*ENVIRONMENTS, *PARTS))
        (tmp_path / "Makefile").write_text(recipes)
        environment = {**os.environ, "TMPDIR": str(tmp_path)}
        return subprocess.Popen(
            [tmp_path / ".ci" / "run"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment, preexec_fn=heard,
        )  # fmt: skip

    return begin


def heard():
    """A shell cannot trap what was ignored when it began, as interrupts are in the background."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def times(tmp_path):
    """When each target began and ended."""
    began, ended = (dict(line.split() for line in (tmp_path / name).read_text().splitlines()) for name in ("began", "ended"))
    return {name: (int(began[name]), int(ended[name])) for name in began}


def runs(pid):
    """Whether there is a process of that number that has not ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_all_parts_run_once_two_at_once_and_what_each_writes_is_together(run, tmp_path):
    output, _ = (process := run()).communicate(timeout=60)
    assert process.returncode == 0 and output.endswith("== all passed\n")
    for name in (*ENVIRONMENTS, *PARTS):
        assert output.count(f"first {name}\nlast {name}\n") == 1
    held = times(tmp_path)
    at_once = [sum(began <= moment < ended for began, ended in held.values()) for moment, _ in held.values()]
    assert max(at_once) == 2
    assert max(held[name][1] for name in ENVIRONMENTS) < min(held[name][0] for name in PARTS)
    docs = held["docs"]
    assert all(held[name][1] <= docs[0] or docs[1] <= held[name][0] for name in ("test", "test-wide", "wheel-test", "bundle"))
    assert len(re.findall(r"^ +\d+ +\d+  passed  make ", output, re.MULTILINE)) == 3 + 9
    assert re.search(r"passed  make test-wide PART=[1-4]/4$", output, re.MULTILINE)
    assert not list(tmp_path.glob("tmp.*"))


def test_a_part_that_fails_fails_the_whole_and_is_told_with_what_it_wrote(run):
    output, _ = (process := run(types="\t@echo wrong type; exit 3\n")).communicate(timeout=60)
    assert process.returncode == 1
    assert re.search(r"== FAILED: make lint types imports\nfirst lint\nlast lint\nwrong type\n", output)
    assert re.search(r"FAILED +make lint types imports\n", output) and "last docs" in output
    assert "all passed" not in output


def test_without_an_environment_no_part_is_tried(run):
    output, _ = (process := run(**{".venv/dev": "\t@echo no network; exit 1\n"})).communicate(timeout=60)
    assert process.returncode == 1
    assert "no network" in output and "first lint" not in output


def test_what_cannot_be_had_here_is_said_and_is_no_failure(run):
    output, _ = (process := run(**{".coq": "\t@exit 2\n", ".venv-browser/done": "\t@exit 2\n"})).communicate(timeout=60)
    assert process.returncode == 0
    assert "not run: make formal, for no Coq" in output and "not run: make browser, for no Chromium" in output
    assert "first formal" not in output and "first browser" not in output


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_run_that_is_stopped_leaves_nothing_running(run, tmp_path, number, code):
    process = run(lint="\t@sh -c 'echo $$PPID $$$$ >inner; sleep 300'\n", test="\t@sh -c 'trap \"\" TERM; echo $$$$ >deaf; sleep 300'\n")
    deadline = time.monotonic() + 60
    while not all((tmp_path / name).is_file() and (tmp_path / name).read_text() for name in ("inner", "deaf")):
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.05)
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode == code
    pids = [*(tmp_path / "inner").read_text().split(), (tmp_path / "deaf").read_text().strip()]
    while any(map(runs, pids)):  # what is killed is gone a moment later
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert not list(tmp_path.glob("tmp.*"))
