"""What leaves the command line: whole files or none, colours only on a terminal, faults as one sentence."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from dpverify.runtime.outside import plainly, printable
from dpverify.runtime.processes import Failed
from dpverify.runtime.whole import scratch_of as scratch_of
from dpverify.runtime.whole import write as write
from dpverify.runtime.whole import write_bytes as write_bytes

if TYPE_CHECKING:
    from dpverify.report.results import Results
    from dpverify.report.text import Detail
    from dpverify.runtime.processes import Bounds, Ended

FORMATS: Final = {"text": "text", "json": "record", "sarif": "sarif", "junit": "junit", "github": "github", "markdown": "markdown"}
"""Each output format and the module of dpverify.report that renders it."""
_NARROWEST: Final = 40
_COLOURS: Final = {"PROVED": "green", "REFUTED": "red", "UNKNOWN": "yellow"}


def rendered(results: Results, style: str, detail: Detail | None = None) -> str:
    """An answer in one of the FORMATS. detail: how much the text for people tells."""
    if style == "text":
        from dpverify.report import text

        return text.render(results, paint, detail=(detail or text.PLAIN)._replace(width=columns(), on_terminal=is_terminal()))
    from importlib import import_module

    answer: str = import_module(f"dpverify.report.{FORMATS[style]}").render(results)
    if style in ("json", "sarif"):  # in a text of JSON, where names stay as they are, the log of a build server sees no command
        answer = answer.replace("##[", r"#\u0023[")
    return answer.rstrip("\n")


def is_terminal() -> bool:
    """Whether the answer is read on a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


def columns() -> int:
    """Of a line of the answer: the terminal's, where it is narrower than what is read well."""
    from dpverify.report.text import WIDTH

    if not is_terminal():
        return WIDTH
    return max(_NARROWEST, min(WIDTH, shutil.get_terminal_size((WIDTH, 24)).columns))


def say(*lines: str, err: bool = False) -> None:
    """Tell people lines that may hold foreign names: on stdout the answer, with `err` on stderr everything else."""
    click.echo("\n".join(map(printable, lines)), err=err)


def paint(text: str, verdict: str) -> str:
    """The text in the colour of a verdict, on a terminal that wants colours."""
    if not is_terminal() or os.environ.get("NO_COLOR"):
        return text
    return click.style(text, fg=_COLOURS[verdict], bold=True)


def watched() -> bool:
    """Whether somebody sees what is told on the way."""
    return sys.stderr is not None and sys.stderr.isatty()


def writable(folder: Path) -> None:
    """Make a folder, and see that files can be written to it before long work is done for them. Raises OSError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise NotADirectoryError(20, "Not a directory", str(folder)) from error
    if not os.access(folder, os.W_OK):
        raise PermissionError(13, "Permission denied", str(folder))


class Writing:
    """The files that go with an answer. One that cannot be written is told of at once, and takes neither the answer nor other files away.

    failed: whether there is one, which the exit code says at the end.
    """

    def __init__(self) -> None:
        self.failed = False

    @contextlib.contextmanager
    def tried(self) -> Iterator[None]:
        """Go on after what is written here, whatever becomes of it. Nothing is told on stdout here, whose own failure is another."""
        try:
            yield
        except OSError as error:
            self._tell(error)

    def write(self, path: Path, content: str) -> bool:
        """Write a whole file or nothing, and say which."""
        try:
            write(path, content)
        except OSError as error:
            self._tell(error)
            return False
        return True

    def _tell(self, error: OSError) -> None:
        self.failed = True
        say(unwritten(error), err=True)

    def code(self, code: int) -> int:
        """The exit code of an answer that has this one where all is written; a fault of dpverify says more."""
        return 2 if self.failed and code != 3 else code


def unwritten(error: OSError) -> str:
    """A file that could not be written or read, in a sentence."""
    return f"cannot write or read {error.filename or 'the output'}: {error.strerror or error}."


def fault(error: Exception) -> str:
    """A fault of dpverify itself, in a sentence with the way out."""
    said = str(error) if isinstance(error, Failed) else f"{type(error).__name__}: {plainly(error)}"
    return (
        f"dpverify itself failed: {said}. This is a bug: please report it with the claim file "
        "and the traceback that DPVERIFY_DEBUG=1 shows."
    )


def ended(what: str, end: Ended, bounds: Bounds) -> str:
    """A process that ended before its task was done, in a sentence with the way out. what: it was to do, such as "judging the claim"."""
    if end.overdue:
        return f"{what} took more than {bounds.timeout:g} s. Allow more with --timeout SECONDS, or any time with --timeout 0."
    if end.full:
        return f"{what} took more than {bounds.memory} MiB of memory. Allow more with memory = MIB in [tool.dpverify] of pyproject.toml."
    memory = " Where the machine's memory ran out, ask for fewer --jobs." if "signal 9" in end.how else ""
    return f"the process that was {what} was {end.how}.{memory}"
