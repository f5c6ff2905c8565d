"""What the README shows is what happens."""

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    """The fenced blocks of one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def timeless(text: str) -> str:
    """An answer without its times."""
    return re.sub(r"\b\d+ ms\b|\b\d+\.\d\d s\b", "_", text).strip()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty directory with the README's claim files and sampler in it."""
    (tmp_path / "my_noise.toml").write_text(blocks("toml")[0])
    (tmp_path / "my_audit.toml").write_text(blocks("toml")[1])
    (tmp_path / "my_noise.py").write_text(blocks("python")[0])
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_example_is_fifteen_lines_at_most():
    assert len((blocks("toml")[0] + blocks("console")[0]).strip().splitlines()) <= 15


def test_the_commands_print_what_is_shown(folder):
    sessions = [session for block in blocks("console") for session in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
    assert sessions
    for session in sessions:
        command, _, shown = session.partition("\n")
        program, *arguments = command.split()
        assert program == "dpverify" and shown.strip()
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}
        run = subprocess.run(
            [sys.executable, "-m", "dpverify.cli", *arguments], capture_output=True, text=True, cwd=folder, env=environment, check=False
        )
        assert timeless(run.stdout) == timeless(shown), run.stderr


def test_the_python_session_does_what_is_shown(folder):
    runner = doctest.DocTestRunner()
    for block in blocks("pycon"):
        runner.run(doctest.DocTestParser().get_doctest(block, {}, "README.md", "README.md", 0))
    assert runner.tries > 0 and runner.failures == 0


def test_both_commands_of_a_fresh_machine_stand_on_the_first_screen():
    first_screen = "\n".join(README.splitlines()[:12])
    assert "make verify" in first_screen and "make test" in first_screen
