"""The claim files of a run, a row each."""

from __future__ import annotations

from collections.abc import Sequence

from dpverify.report import mathml
from dpverify.report.page.blocks import Badge, Block, Inline, Link, Table
from dpverify.report.page.subject import File, Run

TITLE = "Index"
_LONGEST = 60


def blocks(run: Run) -> Sequence[Block]:
    """The index, where there is more than one file."""
    if len(run.files) < 2:
        return []
    audited = any(file.findings or file.faults for file in run.files)
    header = ("mechanism", "verdicts", *(("audits",) if audited else ()), "to look at", "claims", "law")
    wrong = [one for one in run.results.surprises if not one.known]
    rows = []
    for file in run.files:
        count = sum(one.file == file.path for one in wrong)
        look = f"{count} to look at" if count else ""
        audits = (_counted([finding.finding for finding in file.findings]),) if audited else ()
        verdicts = _counted([entry.verdict for entry in file.entries])
        rows.append((Link(file.stem, f"#{file.stem}"), verdicts, *audits, look, str(len(file.entries)), law(file)))
    return [Table("Claim files", header, rows, numeric=frozenset({len(header) - 2}), interactive=True)]


def law(file: File) -> str:
    """A mechanism's law in one short line."""
    text = mathml.density_text(file.entries[0].claim.mechanism)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "\N{HORIZONTAL ELLIPSIS}"


def _counted(words: Sequence[str]) -> Inline:
    found: list[Inline] = []
    for word in dict.fromkeys(words):
        found += [", "] if found else []
        found += [f"{words.count(word)} ", Badge(word.replace("_", " "))]
    return tuple(found)
