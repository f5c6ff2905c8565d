"""Whether a page says of a claim what its certificate says: the claim and its row of the table of claims are made again, and compared.

What no certificate knows (the order of claims, audits, pictures, what is summed up) is not made again; for that a digest is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from dpverify.report import Entry
from dpverify.report.page import html, summary
from dpverify.report.page.blocks import Fold, Table
from dpverify.report.page.sections import claims, index, statement
from dpverify.report.page.subject import Claimed, File
from dpverify.runtime.version import __version__
from dpverify.trusted.kernel.judgement import Judgement

_LEVEL: Final = 5
"""Of the heading of a claim, in the section of its file."""
_MADE: Final = re.compile(r'<meta name="generator" content="dpverify ([^"]*)">')
_CLAIM: Final = re.compile(r'<div id="([^"]*:\d+)">')
_TABLE: Final = re.compile(r'<caption class="unseen">(Claims of [^<]*|All claims)</caption>(.*?)</table>', re.DOTALL)
_ROW: Final = re.compile(r"<tr>(<td.*?)</tr>", re.DOTALL)
_LINK: Final = re.compile(r'<a href="#([^"]*:\d+)">')
_CELL: Final = re.compile(r"<td[^>]*>(.*?)</td>", re.DOTALL)
_EXPECTED: Final = ("PROVED", "REFUTED", "UNKNOWN")


@dataclass(frozen=True, slots=True)
class Page:
    """The text of a page, where each claim is told in it, its row in the table of its file, and in the table of all, if there is one."""

    text: str
    claims: Mapping[str, int] = field(default_factory=dict)
    rows: Mapping[str, list[str]] = field(default_factory=dict)
    all: Mapping[str, list[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, text: str) -> Page:
        """A page that is looked through once."""
        rows: dict[str, list[str]] = {}
        whole: dict[str, list[str]] = {}
        for table in _TABLE.finditer(text):
            for row in _ROW.finditer(table[2]):
                link = _LINK.search(row[1])
                if link is not None:
                    (whole if table[1] == index.ALL else rows)[link[1]] = _CELL.findall(row[1])
        return cls(text, {found[1]: found.start() for found in _CLAIM.finditer(text)}, rows, whole)

    @property
    def version(self) -> str:
        """The version of dpverify that made it."""
        found = _MADE.search(self.text)
        return found[1] if found else ""

    @property
    def comparable(self) -> bool:
        """Whether this version words what it says as the page does."""
        return self.version == __version__

    def agrees(self, anchor: str, judgement: Judgement, digits: int) -> bool:
        """Whether the claim at an anchor and its row say what was judged. digits: that the report was made with."""
        place = self.claims.get(anchor)
        if place is None:
            return False
        row, in_all = self.rows.get(anchor, []), self.all.get(anchor)
        for told, cells, of_all in _made(anchor, judgement, digits):
            if in_all is not None:
                of_all[2] = in_all[2] if len(in_all) > 2 else ""  # the name of its file, which no certificate knows
            here = self.text.startswith(told, place - told.index("<div id="))
            if here and _is_part(row, cells) and in_all in (None, of_all):
                return True
        return False


def _made(anchor: str, judgement: Judgement, digits: int) -> Iterator[tuple[str, list[str], list[str]]]:
    """The beginning of a claim and the cells of its rows, for each verdict that its author may have expected."""
    for expected in sorted(_EXPECTED, key=lambda verdict: verdict != judgement.verdict):
        claim = judgement.claim
        entry = Entry("", claim.mechanism_name, claim, expected, judgement=judgement, digits=digits)
        claimed = Claimed(File("", [entry]), entry)
        told = html.part([Fold(summary(claimed), statement.blocks(claimed), anchor=anchor)], _LEVEL).removesuffix("</div></details>")
        rows = [
            _CELL.findall(html.part([Table("", (), [row])], _LEVEL).replace(f'href="#{claimed.anchor}"', f'href="#{anchor}"'))
            for row in (claims.row(claimed), index.row(claimed))
        ]
        yield told, rows[0], rows[1]


def _is_part(row: list[str], cells: list[str]) -> bool:
    """Whether a row has these cells; a column in which no claim of the file has anything is left out."""
    left = iter(row)
    told = next(left, None)
    for cell in cells:
        if told == cell:
            told = next(left, None)
        elif cell not in ("", "0"):
            return False
    return told is None
