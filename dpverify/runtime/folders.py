"""Which files of a folder are claim files: those with a table of a mechanism or of claims, outside of hidden folders."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from dpverify.runtime.outside import read_regular

MAX_BYTES: Final = 1 << 20
"""Of a file that is looked into; no claim file is longer."""
HIDDEN: Final = "hidden"
OTHER: Final = "no [mechanism] table"
_MARKS: Final = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
"""What editors put in front of a text: of UTF-8, and of UTF-16, which the reader refuses with words on it."""
_HEAD: Final = re.compile(rb"""^[ \t]*\[\[?[ \t]*["']?(mechanism|claim)["']?[ \t]*[\].]""", re.MULTILINE | re.IGNORECASE)
_KEY: Final = re.compile(rb"""^[ \t]*["']?mechanism["']?[ \t]*[=.]""", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Folder:
    """The claim files of a folder in order, and why each other TOML file is none."""

    files: list[Path] = field(default_factory=list)
    skipped: dict[Path, str] = field(default_factory=dict)


def claim_files(folder: Path) -> Folder:
    """What lies in a folder and all below it. A file that cannot be read counts as one, so that reading it again says what is wrong."""
    found = Folder()
    for file in sorted(folder.rglob("*.toml")):
        if any(part.startswith(".") for part in file.relative_to(folder).parts):
            found.skipped[file] = HIDDEN
        elif has_claims(file):
            found.files.append(file)
        else:
            found.skipped[file] = OTHER
    return found


def has_claims(file: Path) -> bool:
    """Whether a TOML file has a table of a mechanism or of claims; also where its text is not right, as far as the heads of tables show."""
    try:
        text = read_regular(file, MAX_BYTES)
    except OSError:
        return True
    if text.startswith(_MARKS[1:]):
        return True
    text = text.removeprefix(_MARKS[0])
    if _HEAD.search(text):
        return True
    if not _KEY.search(text):
        return False
    try:
        return isinstance(tomllib.loads(text.decode("utf-8")).get("mechanism"), Mapping)
    except (ValueError, RecursionError):
        return True
