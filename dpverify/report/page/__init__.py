"""The report of a run: one HTML file that needs nothing else, and the same in Markdown; of many claim files a page for each family.

Sections (one a file, `sections/`) turn subjects (`subject.py`) into blocks (`blocks.py`); `html.py` and `markdown.py` render blocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from dpverify.report.families import family
from dpverify.report.page import by_family, html, markdown
from dpverify.report.page.blocks import Badge, Block, Fold, Inline, Row, Section
from dpverify.report.page.sections import AT_THE_END, AUDITS, OF_CLAIM, OF_FILE, OF_RUN, PICTURES, shown
from dpverify.report.page.sections.claims import counted
from dpverify.report.page.subject import Claimed, File, Run

if TYPE_CHECKING:
    from dpverify.catalogue import Spec

_FEW = 3
"""Claim files that are all open from the start."""


def pages(run: Run, *, whole: bool = False) -> Mapping[str, str]:
    """The files of a report for people, by their names. whole: all on one page, however much that is."""
    title = title_of(run)
    families = {} if whole or len(run.files) <= by_family.MOST else by_family.by_family(run)
    content = by_family.overview(run) if families else blocks(run)
    made = {"index.html": html.document(title, content), "index.md": markdown.document(title, content)}
    for one, members in families.items():
        own = by_family.alone(run, members)
        files = [_file(file, opened=len(members) <= _FEW) for file in members]
        made[by_family.page_of(one)] = html.document(f"{title}: {one.title}", by_family.of_family(own, files))
    return made


def family_pages(specs: Iterable[Spec], *, whole: bool = False) -> list[str]:
    """The names of the pages of families that a report of claim files has."""
    specs = list(specs)
    if whole or len(specs) <= by_family.MOST:
        return []
    return list(dict.fromkeys(by_family.page_of(family([stated.claim for stated in spec.claims])) for spec in specs))


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
