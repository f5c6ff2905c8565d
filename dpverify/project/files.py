"""Files that are about to be written: planned, checked, then written all together or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from dpverify.errors import ProjectError
from dpverify.runtime.outside import read_regular

MAX_BYTES: Final = 16 << 20
"""Of a file that lines are added to."""


class Action(StrEnum):
    """What happens to a file."""

    MAKE = "make"
    REPLACE = "replace"
    EXTEND = "add to"
    LEAVE = "leave"


@dataclass(frozen=True, slots=True)
class Planned:
    """One file. path: where it goes. content: all of it, as it will be. why: for people, of a file that is left or added to."""

    path: Path
    content: str | bytes
    action: Action
    why: str = ""

    @property
    def data(self) -> bytes:
        """The content as it is written."""
        return self.content if isinstance(self.content, bytes) else self.content.encode("utf-8")


def planned(path: Path, content: str | bytes, force: bool) -> Planned:
    """A whole file: made, left where one is there already, or replaced where that is forced."""
    if not os.path.lexists(path):
        return Planned(path, content, Action.MAKE)
    if force:
        return Planned(path, content, Action.REPLACE)
    return Planned(path, content, Action.LEAVE, "it is there already; --force replaces it")


def extended(path: Path, addition: str, why: str) -> Planned:
    """A file with lines after its last one, in its own line ends; made where there is none. Raises ProjectError where it cannot be read."""
    if not os.path.lexists(path):
        return Planned(path, addition, Action.MAKE)
    before = read(path)
    line_end = "\r\n" if "\r\n" in before else "\n"
    gap = "" if not before or before.endswith("\n") else line_end
    return Planned(path, before + gap + addition.replace("\n", line_end), Action.EXTEND, why)


def read(path: Path) -> str:
    """The text of a file with its line ends as they are. Raises ProjectError where it cannot be read."""
    try:
        text = read_regular(path, MAX_BYTES + 1)
        if len(text) > MAX_BYTES:
            raise ProjectError(f"{path}: more than {MAX_BYTES} bytes, to which nothing is added. Shorten it.")
        return text.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ProjectError(f"{path}: not UTF-8 at byte {error.start}. Save it as UTF-8.") from error
    except OSError as error:
        raise ProjectError(f"{path}: cannot be read: {error.strerror or error}.") from error


def carry_out(files: Sequence[Planned], root: Path | None = None) -> None:
    """Write all planned files, or none. root: the folder that links in it may not lead out of.

    Raises ProjectError, listing everything that is in the way, before anything is written; OSError where writing fails, after what was
    written has been taken back.
    """
    work = [file for file in files if file.action is not Action.LEAVE]
    faults = [fault for file in work for fault in _in_the_way(file.path, root)]
    if faults:
        raise ProjectError(faults)
    folders: list[Path] = []
    scratches: dict[Path, Path] = {}
    before: dict[Path, bytes | None] = {}
    try:
        for file in work:
            target = file.path.resolve()  # a link stays a link
            scratch = target.with_name(f".{target.name}.{os.getpid()}.tmp")
            with _named(file.path):
                _make_folders(target.parent, folders)
                scratches[target] = scratch
                scratch.write_bytes(file.data)
                if target.exists():
                    shutil.copymode(target, scratch)
        for target, scratch in scratches.items():
            with _named(target):
                before[target] = target.read_bytes() if target.exists() else None
                scratch.replace(target)
    except BaseException:
        _take_back(before, scratches, folders)
        raise


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Have what fails name this file: a full disk names none, and the file beside it that is written first means nothing to people."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def _in_the_way(path: Path, root: Path | None) -> Iterator[str]:
    """What keeps a file from being written."""
    if root is not None and not path.resolve().is_relative_to(root.resolve()):
        yield f"{path}: a link leads it out of {root}, to {path.resolve()}. Remove the link, or choose another folder."
        return
    if path.is_dir():
        yield f"{path}: a folder is where this file would go. Move it, or choose another folder."
        return
    if path.exists() and not path.is_file():
        yield f"{path}: a pipe or a device is where this file would go. Move it, or choose another folder."
        return
    nearest = next(folder for folder in path.absolute().parents if os.path.lexists(folder))
    if not nearest.is_dir():
        yield f"{path}: {nearest} is not a folder, so that no file can go there. Move it, or choose another folder."
    elif not os.access(nearest, os.W_OK):
        yield f"{path}: {nearest} cannot be written to. Change its permissions, or choose another folder."


def _make_folders(folder: Path, made: list[Path]) -> None:
    missing = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    for parent in reversed(missing):
        parent.mkdir()
        made.append(parent)


def _take_back(before: dict[Path, bytes | None], scratches: dict[Path, Path], folders: list[Path]) -> None:
    """Bring everything back to what it was, as far as the file system lets us."""
    for target, content in before.items():
        with suppress(OSError):
            if content is None:
                target.unlink(missing_ok=True)
            else:
                target.write_bytes(content)
    for scratch in scratches.values():
        with suppress(OSError):
            scratch.unlink(missing_ok=True)
    for folder in reversed(folders):
        with suppress(OSError):
            folder.rmdir()
