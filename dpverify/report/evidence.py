"""The evidence of a run as text files to be kept under version control: a diff of them shows what changed.

A collection of certificates for each family, a line for each claim, and a page for people by families. Nothing in them depends on the day
or the machine; pages with pictures are made from the same run and need not be kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from dpverify.evidence.collected import MANY, SINGLE, collection
from dpverify.report import Entry, brief
from dpverify.report.families import Family
from dpverify.report.overview import tight
from dpverify.report.page import markdown
from dpverify.report.page.by_family import by_family, overview
from dpverify.report.page.subject import File, Run
from dpverify.runtime.outside import printable

CERTIFICATES: Final = "certificates"
VERDICTS: Final = "verdicts.txt"
INDEX: Final = "index.md"
HEAD: Final = "# dpverify verdicts, "
"""What the list of verdicts begins with."""
_COLUMNS: Final = ("verdict", "claim file", "claim", "claimed", "tight", "assumed", "SHA-256 of the certificate", "certificate")
_IN: Final = "# in "
"""What the place of a family's collection follows."""
_DIGITS: Final = 16
"""Of the digest of what a verdict takes for granted."""


def files(run: Run, digits: int) -> dict[str, str]:
    """The text of each file by its name. digits: that the run was made with."""
    families = by_family(run)
    held = {_place(family): _certificates(members) for family, members in families.items()}
    index = markdown.document("What is proved and refuted", overview(run, folded=False))
    made = {name: collection(certificates) for name, certificates in held.items() if certificates}
    return {**made, VERDICTS: _verdicts(families, digits), INDEX: index}


def listed(text: str) -> dict[str, str]:
    """Of a list of verdicts the SHA-256 of each certificate, by its place from the list."""
    found, within = dict[str, str](), ""
    for line in text.split("\n"):
        row = line.split("\t")
        if line.startswith(_IN):
            within = line.removeprefix(_IN).partition(":")[0]
        elif len(row) == len(_COLUMNS) and row[-1] != "-" and not line.startswith("#"):
            found[f"{within}/{row[-1]}{SINGLE}"] = row[-2]
    return found


def digits_of(text: str) -> int | None:
    """The digits that a list of verdicts was made with; None where it is none."""
    said = text.partition("\n")[0].removeprefix(HEAD).partition(" ")[0]
    return int(said) if text.startswith(HEAD) and said.isdecimal() else None


def _certificates(members: Sequence[File]) -> dict[str, Any]:
    written = [Path(entry.certificate) for file in members for entry in file.entries if entry.certificate]
    return {path.name.removesuffix(SINGLE): json.loads(path.read_text(encoding="utf-8")) for path in written}


def _place(family: Family) -> str:
    return f"{CERTIFICATES}/{family.name}{MANY}"


def _verdicts(families: Mapping[Family, Sequence[File]], digits: int) -> str:
    lines = [f"{HEAD}{digits} digits: a line for each claim, its columns apart by tabs.", "# " + "\t".join(_COLUMNS)]
    for family, members in families.items():
        lines += ["", f"{_IN}{_place(family)}: {family.title}", *(line for file in members for line in _lines(file))]
    return "\n".join(lines) + "\n"


def _lines(file: File) -> Iterator[str]:
    for entry in file.entries:
        place, digest = "-", "-"
        if entry.certificate:
            place = Path(entry.certificate).name.removesuffix(SINGLE)
            digest = file.digests[entry.certificate]
        columns = (entry.verdict, entry.file, entry.claim.name, brief(entry.claim), tight(entry) or "-", _assumed(entry), digest, place)
        yield "\t".join(printable(column) for column in columns)


def _assumed(entry: Entry) -> str:
    """A digest of what a verdict takes for granted."""
    return sha256("\n".join(entry.assumptions).encode()).hexdigest()[:_DIGITS] if entry.assumptions else "-"
