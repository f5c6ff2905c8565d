"""The report of a run: one HTML file that needs nothing else, and the same in Markdown.

Sections (one a file, `sections/`) turn subjects (`subject.py`) into blocks (`blocks.py`); `html.py` and `markdown.py` render blocks.
"""

from __future__ import annotations

from collections.abc import Mapping

from dpverify.report.page import html, markdown
from dpverify.report.page.blocks import Badge, Block, Fold, Inline, Row, Section
from dpverify.report.page.sections import AT_THE_END, AUDITS, OF_CLAIM, OF_FILE, OF_RUN, PICTURES, shown
from dpverify.report.page.sections.claims import counted
from dpverify.report.page.subject import Claimed, File, Run

_FEW = 3
"""Claim files that are all open from the start."""


def pages(run: Run) -> Mapping[str, str]:
    """The two files of a report, by their names."""
    title, content = title_of(run), blocks(run)
    return {"index.html": html.document(title, content), "index.md": markdown.document(title, content)}


def title_of(run: Run) -> str:
    """What the report is about."""
    return "Privacy verification report" + (f": {run.files[0].stem}" if len(run.files) == 1 else "")


def blocks(run: Run) -> list[Block]:
    """Everything that there is to say of a run."""
    opened = len(run.files) <= _FEW
    files: list[Block] = [_file(file, opened=opened) for file in run.files]
    return [*shown(OF_RUN, run), Section("Mechanisms", files), *shown(AT_THE_END, run)]


def _file(file: File, *, opened: bool) -> Block:
    pictures = shown(PICTURES, file)
    whole = [*shown(OF_FILE, file), *([Row(pictures)] if pictures else []), *shown(AUDITS, file)]
    whole += [Section("Each claim", [claim(one) for one in file.claims])]
    return Fold((file.stem, ": ", _verdicts(file)), whole, anchor=file.anchor, open=opened)


def claim(claimed: Claimed) -> Fold:
    """One claim, folded."""
    return Fold(summary(claimed), shown(OF_CLAIM, claimed), anchor=claimed.anchor)


def summary(claimed: Claimed) -> Inline:
    """What a claim that is folded shows."""
    return (Badge(claimed.entry.verdict, claimed.entry.as_expected), f" {claimed.entry.claim.name}")


def _verdicts(file: File) -> Inline:
    outcomes = [(entry.verdict, entry.as_expected) for entry in file.entries]
    outcomes += [(finding.finding, finding.as_expected) for finding in file.findings]
    return counted(outcomes + [("not audited", False) for _ in file.faults])
