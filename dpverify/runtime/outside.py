"""What comes from outside: text that is printed, and files that are read. Names of files, and all that files say, are foreign."""

from __future__ import annotations

import errno
import io
import json
import os
import re
import stat
from pathlib import Path
from typing import Final, TextIO
from unicodedata import category


def visible(text: str) -> str:
    r"""Foreign text on one line: what cannot be seen, breaks the line or turns its direction as Python writes it, such as \n or \u202e."""
    return "".join(c if c.isprintable() or category(c) == "Zs" else ascii(c)[1:-1] for c in text)


def printable(text: str) -> str:
    """Foreign text on one line of a terminal or a log, without what a build server takes for commands: "##[" anywhere, "::" in front."""
    shown = visible(text).replace("##[", r"#\x23[")
    return re.sub(r"^(\s*):(?=:)", r"\1\\x3a", shown)


def printable_lines(text: str) -> str:
    """Foreign text whose line breaks are meant."""
    return "\n".join(map(printable, text.split("\n")))


def quoted(name: str) -> str:
    """A name in quotes, so that what stands in it is not read as what stands beside it."""
    return json.dumps(name, ensure_ascii=False)


def named(name: str, apart: str = "") -> str:
    """A name as it stands; in quotes where it holds some, or what sets it apart: two spaces, or one of the marks that are given."""
    return quoted(name) if any(mark in name for mark in ('"', "  ", *apart)) else name


def show_all(*streams: TextIO | None) -> None:
    """Have streams write letters that their encoding lacks as escapes, where they would fail."""
    for stream in streams:
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def plainly(error: Exception) -> str:
    """What an exception says. Of an integer too long for Python to read or write that is advice for programs, which is left out."""
    found = re.match(r"Exceeds the limit \((\d+) digits\) for integer string conversion", str(error))
    return f"an integer of more than {found[1]} digits" if found else str(error)


GONE: Final = "the working directory is gone: it was removed or moved. Change to one that is there, and run this again."


def gone() -> bool:
    """Whether the working directory is no longer there, where files are looked for by their names."""
    try:
        return not Path.cwd().is_dir()
    except FileNotFoundError:
        return True
    except OSError:  # it may be there, and not be ours to look at
        return False


def read_regular(path: Path, most: int) -> bytes:
    """The first `most` bytes of a regular file, links followed. Raises OSError, also for a pipe or a device, which might be waited for."""
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | getattr(os, "O_NONBLOCK", 0))) as stream:
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            raise OSError(errno.EINVAL, "not a regular file: pipes, devices and folders are not read", str(path))
        return stream.read(most)
