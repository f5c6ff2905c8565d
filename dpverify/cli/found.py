"""Which search found the certificates of an output folder: what today's search would find again need not be searched.

The list is the folder's file certificates.json. Like the certificates it is only a hint, whose worst is a weaker answer: what is found
through it is judged by the kernel.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dpverify.cli.output import write

if TYPE_CHECKING:
    from dpverify.model import Claim
    from dpverify.verify import Verified

NAME: Final = "certificates.json"
SCHEMA: Final = "dpverify-certificates/1"

Search = tuple[str, int]
"""The digest of the sources that searched, and the digits that were asked for."""


@dataclass(slots=True)
class Found:
    """Of each certificate in a folder, by its file's name, the search that found it."""

    folder: Path
    searches: dict[str, Search] = field(default_factory=dict)

    def has(self, name: str, digits: int) -> bool:
        """Whether today's search found the certificate of this name."""
        from dpverify.cache import sources

        return self.searches.get(name) == (sources(), digits)

    def outcome(self, name: str, claim: Claim, digits: int) -> Verified | None:
        """What the kernel says today of the claim's certificate in the folder; None where a search could say more."""
        from dpverify.certificate import MAX_BYTES, decode
        from dpverify.verify import rejudged

        if not self.has(name, digits) or not (self.folder / name).is_file():
            return None
        try:
            with (self.folder / name).open("rb") as stream:
                verified = rejudged(claim, decode(stream.read(MAX_BYTES + 1)))
        except Exception:  # of a damaged or forged file anything may fail: what it is about is then found anew
            return None
        return None if verified.judgement.verdict == "UNKNOWN" else verified

    def add(self, names: Iterable[str], digits: int) -> None:
        """Note that today's search found these, and write the list, without the certificates that are gone."""
        from dpverify.cache import sources

        self.searches.update((name, (sources(), digits)) for name in names)
        there = sorted((search, name) for name, search in self.searches.items() if (self.folder / name).is_file())
        groups = [
            {"sources": search[0], "digits": search[1], "certificates": [name for _, name in group]}
            for search, group in groupby(there, key=lambda one: one[0])
        ]
        if not groups:
            (self.folder / NAME).unlink(missing_ok=True)
        else:
            write(self.folder / NAME, json.dumps({"schema": SCHEMA, "found_by": groups}, indent=1) + "\n")


def found_in(folder: Path) -> Found:
    """What a folder's list says; nothing, where it has none that can be read."""
    found = Found(folder)
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
        listed: Any = json.loads((folder / NAME).read_bytes()) if (folder / NAME).is_file() else None
        if listed and listed["schema"] == SCHEMA:
            found.searches = {
                str(name): (str(group["sources"]), int(group["digits"])) for group in listed["found_by"] for name in group["certificates"]
                if Path(name).name == name
            }  # fmt: skip
    return found
