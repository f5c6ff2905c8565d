"""Lines of files for reports: those of a claim, of the declaration that its file uses, and of the sampler that is audited.

Nothing is run; a file that cannot be read has no lines.
"""

from __future__ import annotations

import ast
import os
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any, Final

from dpverify.catalogue import shelf
from dpverify.runtime.folders import MAX_BYTES
from dpverify.runtime.outside import read_regular

MOST_LINES: Final = 30
"""Of a claim, as far as it is shown."""


@dataclass(frozen=True, slots=True)
class Related:
    """Something that a claim speaks of. what: in a word or two; line: counted from 1."""

    what: str
    path: Path
    line: int


@dataclass(slots=True)
class Sources:
    """The files of one report, each read once."""

    _lines: dict[str, Sequence[str]] = field(default_factory=dict)
    _related: dict[str, Sequence[Related]] = field(default_factory=dict)

    def lines(self, file: str) -> Sequence[str]:
        """The lines of a file without their ends; none where it cannot be read as text."""
        if file not in self._lines:
            try:
                self._lines[file] = read_regular(Path(file), MAX_BYTES).decode("utf-8").split("\n")
            except (OSError, ValueError):
                self._lines[file] = ()
        return self._lines[file]

    def claim(self, file: str, line: int) -> Sequence[str]:
        """The lines of a claim whose header is at `line`: up to the next table, a blank end left out, at most MOST_LINES."""
        lines = self.lines(file)[line - 1 : line - 1 + MOST_LINES]
        end = next((number for number, text in enumerate(lines) if number and text.lstrip().startswith("[")), len(lines))
        while end and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#")):
            end -= 1
        return lines[:end]

    def related(self, file: str) -> Sequence[Related]:
        """The declarations and the sampler that a claim file names, where their files are beside it, here or on the shelf."""
        if file not in self._related:
            try:
                data = tomllib.loads("\n".join(self.lines(file)))
            except (tomllib.TOMLDecodeError, ValueError, RecursionError):
                data = {}
            self._related[file] = tuple(dict.fromkeys(self._named(data, Path(file).parent)))
        return self._related[file]

    def _named(self, data: dict[str, Any], folder: Path) -> Iterator[Related]:
        for use in _uses(data.get("mechanism")):
            file, mark, name = use.rpartition(":")
            wanted = (file, name) if mark else (f"mechanisms/{use}.py", use)
            yield from self._found("declaration", *wanted, (folder, Path(), shelf()))
        audit = data.get("audit")
        sampler = audit.get("sampler", audit.get("train")) if isinstance(audit, dict) else None
        if isinstance(sampler, str):
            module, _, name = sampler.rpartition(":")
            module = module if module.endswith(".py") else f"{module.replace('.', '/')}.py"
            yield from self._found("sampler", module, name, (folder, Path()))

    def _found(self, what: str, file: str, name: str, folders: Sequence[Path]) -> Iterator[Related]:
        path = next((folder / file for folder in folders if os.path.isfile(folder / file)), None)  # noqa: PTH113  # False for names that no file can have
        if path is not None:
            yield Related(what, path, _line_of(name.partition(".")[0], "\n".join(self.lines(str(path)))))


def _uses(mechanism: object) -> Iterator[str]:
    """Every `use` of a mechanism and of its parts."""
    if isinstance(mechanism, dict):
        if isinstance(mechanism.get("use"), str):
            yield mechanism["use"]
        parts = mechanism.get("parts")
        for part in [mechanism.get("part"), *(parts if isinstance(parts, list) else ())]:
            yield from _uses(part)


def _line_of(name: str, text: str) -> int:
    """Where a module defines a name; 1 where it does not, or is not Python."""
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return 1
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and statement.name == name:
            return statement.lineno
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            return statement.lineno
    return 1


def root_of_repository() -> Path:
    """The folder that names of files are read from by who looks at the repository: the one with .git around here, else this one."""
    here = Path.cwd().resolve()
    return next((folder for folder in (here, *here.parents) if (folder / ".git").exists()), here)


def resolved(file: str | Path) -> PurePath:
    """A file's absolute name, links followed; as it stands where no file can have it."""
    try:
        return PurePath(os.path.realpath(file))
    except ValueError:
        return PurePath(Path.cwd(), file)
