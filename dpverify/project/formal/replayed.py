"""The record of the replays that Coq has accepted: specs/formal/replayed.txt, which `python tools/formal.py --replays` writes.

A line is the hash of a file that was made for a certificate, together with all that it requires of the theory. Another certificate, another
theorem, or a changed theory has another hash. That a line is in the record does not make a verdict: it says that somebody has run Coq, and
`dpverify check --replay coq` runs it again.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from typing import Final

from dpverify.project.formal import coq, foundations

RECORD: Final = "replayed.txt"
HEAD: Final = "# The files for certificates that Coq has accepted, each with its theory: written by `python tools/formal.py --replays`.\n"
_LINE: Final = 32


def digest(file: str) -> str:
    """The hash of a file for Coq and of the theory that it is checked against; comments, names of files among them, do not count."""
    whole = sha256(_theory().encode())
    whole.update(" ".join(foundations.uncommented(file).split()).encode())
    return whole.hexdigest()[:_LINE]


def is_recorded(file: str) -> bool:
    """Whether Coq is recorded to have accepted this file, with the theory as it is."""
    return is_held(digest(file))


def is_held(made: str) -> bool:
    """Whether this hash is in the record."""
    return made in _recorded()


def text(hashes: Iterable[str]) -> str:
    """The record of these hashes, as it is written."""
    return HEAD + "".join(f"{made}\n" for made in sorted(hashes))


@cache
def _recorded() -> frozenset[str]:
    file = coq.theory() / RECORD
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    return frozenset(line for line in lines if len(line) == _LINE)


@cache
def _theory() -> str:
    """The hash of the theory that replays call."""
    whole, folder = sha256(), coq.theory()
    for file in coq.needed(folder):
        whole.update(file.relative_to(folder).as_posix().encode() + b"\n" + file.read_bytes() + b"\n")
    return whole.hexdigest()
