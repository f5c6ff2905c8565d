"""The claim files of a run, a row each; and all of their claims."""

from __future__ import annotations

from collections.abc import Sequence

from dpverify.report import mathml, words
from dpverify.report.page.blocks import Block, Fold, Inline, Link, Table
from dpverify.report.page.sections.claims import counted, tight, verdict
from dpverify.report.page.subject import Claimed, File, Run

TITLE = "Index"
ALL = "All claims"
_LONGEST = 60


def blocks(run: Run) -> Sequence[Block]:
    """The index by files, and by claims, where there is more than one file."""
    if len(run.files) < 2:
        return []
    claims = [one for file in run.files for one in file.claims]
    return [_files(run), Fold(f"All {len(claims)} claims in one table", [_claims(claims)], anchor=":all-claims", aside=True)]


def _files(run: Run) -> Table:
    audited = any(file.findings or file.faults for file in run.files)
    wrong = [one for one in run.results.surprises if not one.known]
    new, seen = ("unexpected results",) if wrong else (), ("audits",) if audited else ()
    header = ("mechanism", *new, "verdicts", *seen, "claims", "distribution")
    rows: list[Sequence[Inline]] = []
    for file in run.files:
        count = sum(one.file == file.path for one in wrong)
        verdicts = counted([(entry.verdict, entry.as_expected) for entry in file.entries])
        outcomes = [(finding.finding, finding.as_expected) for finding in file.findings] + [("not audited", False) for _ in file.faults]
        audits = (counted(outcomes),) if audited else ()
        surprises = (f"{count} not as expected" if count else "",) if wrong else ()
        claims = words.count(len(file.entries), "claim")
        rows.append((Link(file.stem, f"#{file.anchor}"), *surprises, verdicts, *audits, claims, law(file)))
    return Table("Claim files", header, rows, interactive=True, cards=True)


def _claims(claims: Sequence[Claimed]) -> Table:
    return Table(ALL, ("verdict", "claim", "mechanism", "claimed", "tight epsilon"), list(map(row, claims)), interactive=True, cards=True)


def row(one: Claimed) -> tuple[Inline, ...]:
    """A claim's cells in the table of all claims."""
    entry = one.entry
    known = tight(entry)
    name = Link(entry.claim.name, f"#{one.anchor}")
    return verdict(entry), name, one.file.stem, words.guarantee(entry.claim), f"tight {known}" if known else ""


def law(file: File) -> str:
    """A mechanism's law in one short line."""
    text = mathml.density_text(file.entries[0].claim.mechanism)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "\N{HORIZONTAL ELLIPSIS}"
