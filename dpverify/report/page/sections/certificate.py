"""Where the certificate is, what it is known by, and how anyone checks it again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from shlex import quote
from typing import TYPE_CHECKING

from dpverify.report.page.blocks import Block, Code, Facts, Inline, Link, beside
from dpverify.report.page.subject import Claimed
from dpverify.report.trust import rests_on

if TYPE_CHECKING:
    from dpverify.report import Entry

TITLE = ""


def blocks(subject: Claimed) -> Sequence[Block]:
    """The certificate of a decided claim."""
    path = subject.entry.certificate
    if path is None:
        return []
    name, folder = PurePath(path).name, subject.file.folders.certificates
    argument = quote(f"{folder}/{name}" if folder else f"./{name}" if name.startswith("-") else name)  # a line that people give to a shell
    rows: list[tuple[str, Inline]] = [("check it again", (Code("python -P -m dpverify.kernel"), " ", Link(argument, beside(name, folder))))]
    if path in subject.file.digests:
        rows.append(("its SHA-256", (Code(subject.file.digests[path]), " (of the file, as ", Code("sha256sum"), " gives it)")))
    rows.append(("rests on", rests_on(_rules(subject.entry), _places(subject)).text()))
    if subject.entry.confirmed:
        rows.append(("confirmed by", ", ".join(subject.entry.confirmed)))
    return [Facts(rows)]


def _rules(entry: Entry) -> list[str]:
    """The rules that the lines of its certificate name."""
    return list(dict.fromkeys(line.rule for line, _ in entry.proved))


def _places(subject: Claimed) -> set[str]:
    """What was loaded for the claim, and for others of its file by the same rules: what they share was computed for the first of them."""
    rules = _rules(subject.entry)
    return {place for other in subject.file.entries if _rules(other) == rules for place in other.places}
