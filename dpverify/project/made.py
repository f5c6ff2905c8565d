"""How a report came to be: its project and the versions; for somebody who signs it also the date, the commit and the command."""

from __future__ import annotations

import os
import platform
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

from dpverify.project.config import MAX_BYTES
from dpverify.runtime.outside import read_regular
from dpverify.runtime.version import __version__

EPOCH: Final = "SOURCE_DATE_EPOCH"
"""The variable that says which date builds that are to be repeated give."""
_PATIENCE: Final = 30
"""Seconds until git is given up."""


class Made(NamedTuple):
    """How a report came to be. versions: of what a verdict rests on, by name; the others only of a report that is to be signed.

    commit: its digest, with a word on changes that are not committed; empty where there is none.
    """

    project: str = ""
    versions: tuple[tuple[str, str], ...] = ()
    date: str = ""
    commit: str = ""
    command: str = ""

    @property
    def signed(self) -> bool:
        """Whether it says when."""
        return bool(self.date)


def made(project: Path | None, arguments: Sequence[str] | None = None) -> Made:
    """What is the same wherever the same claims are judged; with the arguments of the command all that somebody who signs must know.

    project: its pyproject.toml.
    """
    import flint

    name = _name(project)
    if arguments is None:
        return Made(name, (("dpverify", __version__), ("python-flint", flint.__version__)))
    versions = (("dpverify", __version__), ("python-flint", flint.__version__), ("Python", platform.python_version()))
    folder = Path.cwd() if project is None else project.parent
    return Made(name, versions, _date(), _commit(folder), shlex.join(["dpverify", *arguments]))


def _name(project: Path | None) -> str:
    """The name that a pyproject.toml gives; that of its folder where it gives none."""
    if project is None:
        return ""
    try:
        table = tomllib.loads(read_regular(project, MAX_BYTES).decode("utf-8")).get("project")
    except (OSError, ValueError, RecursionError):
        return project.resolve().parent.name
    name = table.get("name") if isinstance(table, dict) else None
    return name if isinstance(name, str) and name else project.resolve().parent.name


def _date() -> str:
    """The day and the minute, in UTC."""
    said = os.environ.get(EPOCH, "")
    moment = datetime.fromtimestamp(int(said), UTC) if said.isdigit() else datetime.now(UTC)
    return f"{moment:%Y-%m-%d %H:%M} UTC"


def _commit(folder: Path) -> str:
    """The commit that is checked out, and whether tracked files differ from it; empty outside of git."""
    head = _git(folder, "rev-parse", "--verify", "HEAD")
    if not head:
        return ""
    changed = _git(folder, "status", "--porcelain", "--untracked-files=no")
    return head + ("" if changed == "" else ", with changes that are not committed")


def _git(folder: Path, *arguments: str) -> str | None:
    """What git says; None where it fails. It runs no program that a repository names."""
    command = ["git", "-C", str(folder), "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", *arguments]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_PATIENCE, check=False, env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"}
        )
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def arguments() -> list[str]:
    """What this process was given on its command line."""
    return sys.argv[1:]
