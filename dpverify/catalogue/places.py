"""Where in a claim file a fault lies: the line and column of the key that it names, else of the head of its table."""

from __future__ import annotations

import re
from typing import Final

_SUFFIX: Final = re.compile(r" \(line (\d+), column (\d+)\)$")
_KNOWN: Final = re.compile(r"\b(?:at|on) line \d+")
_KEY: Final = re.compile(r"""(?:unknown key ["']?([\w-]+)|([\w-]+) (?:= |is |has |gives |and )|([\w-]+): )""")
_HEAD: Final = re.compile(r"^[ \t]*(\[+)[ \t]*([^\]\n]*?)[ \t]*\]+[ \t]*(?:#.*)?$", re.MULTILINE)

Place = tuple[int, int]
"""A line and a column, from 1 on."""


def with_place(fault: str, file: str, text: str) -> str:
    """A fault, with where it is; as it is where it says that itself."""
    if _KNOWN.search(fault) or _SUFFIX.search(fault):
        return fault
    line, column = find(fault, file, text)
    return f"{fault} (line {line}, column {column})"


def split(fault: str) -> tuple[str, Place | None]:
    """A fault without its place, and the place, where it says one."""
    found = _SUFFIX.search(fault)
    if found:
        return fault[: found.start()], (int(found[1]), int(found[2]))
    at = re.search(r"\bline (\d+), column (\d+)", fault)
    return fault, (int(at[1]), int(at[2])) if at else None


def find(fault: str, file: str, text: str) -> Place:
    """The place of a fault as the reader words it: FILE, TABLE: KEY ..."""
    said = fault.removeprefix(file)
    where, mark, rest = said.removeprefix(", ").partition(": ") if said.startswith(", ") else ("", ": ", said.removeprefix(": "))
    start, end = _table(where.split(",")[0], text) if mark else (0, len(text))
    named = _KEY.match(rest if mark else said)
    for key in named.groups() if named else ():
        at = None if key is None else re.compile(rf"""(?:^|[{{,\n])[ \t]*["']?({re.escape(key)})["']?[ \t]*[=.]""").search(text, start, end)
        if at is not None:
            return _place(text, at.start(1))
    return _place(text, start)


def _table(name: str, text: str) -> tuple[int, int]:
    """From where to where a table goes, with those below it: "mechanism", "claim 2"."""
    name, _, number = name.strip().partition(" ")
    heads = [(found.start(1), found[2].replace(" ", "").strip("\"'")) for found in _HEAD.finditer(text)]
    starts = [index for index, (_, head) in enumerate(heads) if head in (name, f"{name}s")]
    chosen = int(number) - 1 if number.isdigit() else 0
    if not 0 <= chosen < len(starts):
        return 0, len(text) if not name else (heads[0][0] if heads else len(text))
    first = starts[chosen]
    after = next((place for place, head in heads[first + 1 :] if not head.startswith(f"{name}.")), len(text))
    return heads[first][0], after


def _place(text: str, at: int) -> Place:
    return text.count("\n", 0, at) + 1, at - (text.rfind("\n", 0, at) + 1) + 1
