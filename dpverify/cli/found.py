"""Which search found the certificates of an output folder: what today's search would find again need not be searched.

The list is the folder's file certificates.json. Like the certificates it is only a hint, whose worst is a weaker answer: what is found
through it is judged by the kernel.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import groupby
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Final

from dpverify.cli.output import write
from dpverify.errors import SpecError
from dpverify.ground.outside import read_regular
from dpverify.report.listed import PAGE, is_page

if TYPE_CHECKING:
    from dpverify.search.verify import Verified
    from dpverify.trusted.language.model import Claim

NAME: Final = "certificates.json"
SCHEMA: Final = "dpverify-certificates/1"
SUFFIX: Final = ".cert.json"
KEPT: Final = "kept"
"""In the place of the digest of sources, of certificates that no search of today found."""
MAX_PAGE: Final = 1 << 30
MAX_BYTES: Final = 32 << 20
"""Of a file that is looked into, as of a certificate."""

Search = tuple[str, int]
"""The digest of the sources that searched, and the digits that were asked for."""


@dataclass(slots=True)
class Found:
    """Of each certificate in a folder, by its file's name, the search that found it.

    pages: of the files of a report that people read, by their places from here, the SHA-256.
    """

    folder: Path
    searches: dict[str, Search] = field(default_factory=dict)
    pages: dict[str, str] = field(default_factory=dict)

    def has(self, name: str, digits: int) -> bool:
        """Whether today's search found the certificate of this name."""
        from dpverify.project.cache import sources

        return self.searches.get(name) == (sources(), digits)

    def outcome(self, name: str, claim: Claim, digits: int) -> Verified | None:
        """What the kernel says today of the claim's certificate in the folder; None where a search could say more."""
        from dpverify.search.verify import rejudged
        from dpverify.trusted.language.certificate import decode

        if not self.has(name, digits) or not (self.folder / name).is_file():
            return None
        try:
            verified = rejudged(claim, decode(read_regular(self.folder / name, MAX_BYTES + 1)))
        except Exception:  # of a damaged or forged file anything may fail: what it is about is then found anew
            return None
        return None if verified.judgement.verdict == "UNKNOWN" else verified

    def add(self, names: Iterable[str], digits: int, kept: Iterable[str] = ()) -> None:
        """Note that today's search found these, and write the list, without the certificates that are gone.

        kept: those that were found under version control, by whichever search.
        """
        from dpverify.project.cache import sources

        self.searches.update((name, (sources(), digits)) for name in names)
        self.searches.update((name, (KEPT, digits)) for name in kept)
        there = sorted((search, name) for name, search in self.searches.items() if (self.folder / name).is_file())
        groups = [
            {"sources": search[0], "digits": search[1], "certificates": [name for _, name in group]}
            for search, group in groupby(there, key=lambda one: one[0])
        ]
        if not groups:
            if _says_so(self.folder / NAME):
                (self.folder / NAME).unlink()
        else:
            pages = {"pages": dict(sorted(self.pages.items()))} if self.pages else {}
            write(self.folder / NAME, json.dumps({"schema": SCHEMA, "found_by": groups, **pages}, indent=1) + "\n")

    def changed(self) -> list[Path]:
        """The files for people that are there, and are other than when this was written."""
        return [
            file for name, digest in self.pages.items()
            if (file := Path(os.path.normpath(self.folder / name))).is_file() and sha256(read_regular(file, MAX_PAGE)).hexdigest() != digest
        ]  # fmt: skip


def found_in(folder: Path) -> Found:
    """What a folder's list says; nothing, where it has none that can be read."""
    earlier = Found(folder)
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
        listed: Any = json.loads(read_regular(folder / NAME, MAX_BYTES))
        if listed["schema"] == SCHEMA:
            earlier.searches = {
                str(name): (str(group["sources"]), int(group["digits"])) for group in listed["found_by"] for name in group["certificates"]
                if PurePath(name).name == name and name.endswith(SUFFIX)
            }  # fmt: skip
            said, near = listed.get("pages", {}), ((), ("..",))
            earlier.pages = {str(name): str(digest) for name, digest in said.items() if PurePath(name).parts[:-1] in near}
    return earlier


def foreign(folder: Path, names: Iterable[str]) -> list[Path]:
    """The files of these names in an output folder that dpverify did not write, and that must not be replaced or removed.

    A page says itself what made it, and so do certificates, their list, the data of curves, and pictures; what has no place to say it is of
    the page beside it.
    """
    listed = found_in(folder).searches
    paged = is_page(folder / PAGE)

    def ours(name: str) -> bool:
        if name == PAGE:
            return paged
        return _says_so(folder / name) if name.endswith((SUFFIX, ".curves.json", ".svg")) or name == NAME else paged

    there = (name for name in dict.fromkeys(names) if (folder / name).is_file() or (folder / name).is_dir())  # a pipe holds nothing
    return [folder / name for name in there if not (name in listed and (folder / name).is_file()) and not ours(name)]


def refuse(folder: Path, names: Iterable[str]) -> None:
    """Raise SpecError that names every file in the way, before long work is done."""
    wrong = foreign(folder, names)
    if wrong:
        way_out = "Move it, or choose another folder"
        raise SpecError([f"{file}: dpverify did not write it, so that it is not replaced. {way_out}." for file in wrong])


def _says_so(file: Path) -> bool:
    """Whether a file holds one of the formats that dpverify writes, or nothing that could be lost."""
    try:
        held = read_regular(file, MAX_BYTES)
        return b'"dpverify-' in held or held.strip() in (b"", b"{}", b"[]")
    except OSError:
        return False
