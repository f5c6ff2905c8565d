"""A large report: an overview by families, and a page for each family beside it, which a reader opens for the details."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import Final

from dpverify.report import Entry, asked, enclosure, words
from dpverify.report.enclosures import plain_decimal
from dpverify.report.families import Family, family, order
from dpverify.report.overview import tight
from dpverify.report.page.blocks import Block, Fold, Inline, Link, Paragraph, Section, Table, beside
from dpverify.report.page.sections import AT_THE_END, OVERVIEW, headline, index, shown
from dpverify.report.page.sections.claims import counted
from dpverify.report.page.subject import File, Run
from dpverify.trusted.kernel.expr import Num

MOST: Final = 20
"""Claim files on one page; a report of more has a page for each family."""
OVERALL: Final = "./index.html"
_VALUES: Final = 3
"""Tight values of a mechanism that an overview tells."""
_LONGEST: Final = 48
"""Characters of one of them."""
FAR: Final = 2
"""A claim that is refuted is far off where the truth is more than so many times what it says."""


def by_family(run: Run) -> dict[Family, list[File]]:
    """The claim files of a run by their families, in the order of these."""
    key = {file.path: family([entry.claim for entry in file.entries]) for file in run.files}
    files = sorted(run.files, key=lambda file: order(key[file.path]))
    return {one: list(members) for one, members in groupby(files, key=lambda file: key[file.path])}


def page_of(one: Family) -> str:
    """The name of a family's page."""
    return f"{one.name}.html"


def alone(run: Run, members: Sequence[File]) -> Run:
    """A run as if it were of these files alone."""
    paths = {file.path for file in members}
    results = run.results
    return Run(
        replace(
            results,
            entries=[entry for entry in results.entries if entry.file in paths],
            findings=[finding for finding in results.findings if finding.file in paths],
            faults=[fault for fault in results.faults if fault.file in paths],
        ),
        members,
    )


def of_family(run: Run, files: Sequence[Block]) -> list[Block]:
    """The page of a family. files: what there is to say of its claim files."""
    back = Paragraph(("One family of a report. ", Link("All families", OVERALL), " are on its first page."))
    return [back, *shown([index], run), Section("Mechanisms", files), *shown([one for one in AT_THE_END if one not in OVERVIEW], run)]


def overview(run: Run, *, folded: bool = True) -> list[Block]:
    """All families, each with its mechanisms, what became of their claims, and the tight values.

    folded: whether a family is opened by its reader, and leads to the page beside.
    """
    families = by_family(run)
    if folded:
        paged = {file.path: replace(file, page=page_of(one)) for one, members in families.items() for file in members}
        run = Run(run.results, [paged[file.path] for file in run.files])
        families = {one: [paged[file.path] for file in members] for one, members in families.items()}
    groups = groupby(families.items(), key=lambda item: item[0].group)
    tree: list[Block] = [Section(group, [_family(*item, folded=folded) for item in items]) for group, items in groups]
    far = _far_off(run, links=folded)
    return [*shown([headline], run), *(far if folded else ()), Section("Families", tree), *(shown(OVERVIEW, run) if folded else far)]


def _family(one: Family, members: Sequence[File], *, folded: bool) -> Block:
    outcomes = [(entry.verdict, entry.as_expected) for file in members for entry in file.entries]
    outcomes += [(finding.finding, finding.as_expected) for file in members for finding in file.findings]
    verdicts = counted(outcomes + [("not audited", False) for file in members for _ in file.faults])
    rows = [(_named(file, link=folded), _counts(file), _values(file)) for file in members]
    table = Table(one.title, ("mechanism", "verdicts", "tight values"), rows, cards=True)
    if not folded:
        return Section(one.title, [table])
    count = words.count(len(members), "mechanism")
    open_it = Paragraph(("The proofs, pictures and certificates of this family: ", Link(page_of(one), beside(page_of(one))), "."))
    return Fold((f"{one.title}: {count}, ", verdicts), [open_it, table], anchor=f":family-{one.name}")


def _named(file: File, *, link: bool) -> Inline:
    return Link(file.stem, file.address) if link else file.stem


def _counts(file: File) -> Inline:
    """How many claims have which verdict, in as few signs as may be."""
    outcomes = [(entry.verdict, entry.as_expected) for entry in file.entries]
    outcomes += [(finding.finding, finding.as_expected) for finding in file.findings]
    return counted(outcomes + [("not audited", False) for _ in file.faults])


def _values(file: File) -> str:
    """The tight values of a file's claims, each once, the first few."""
    known = list(dict.fromkeys(filter(None, map(tight, file.entries))))
    told = [value if len(value) <= _LONGEST else f"{value[: _LONGEST - 1]}\N{HORIZONTAL ELLIPSIS}" for value in known[:_VALUES]]
    return "; ".join(told) + (f"; {len(known) - _VALUES} more" if len(known) > _VALUES else "")


# -- what is refuted by far -----------------------------------------------------------------------------------


def _far_off(run: Run, *, links: bool) -> list[Block]:
    """Of each mechanism the refuted claim that the truth exceeds most: without bound, or more than `FAR` times."""
    rows = []
    for file in run.files:
        off = [(times, claimed) for claimed in file.claims if (times := _times(claimed.entry)) is not None and times > FAR]
        if off:
            times, claimed = max(off, key=lambda one: one[0])
            said = f"{file.stem}: {claimed.entry.claim.name}"
            name: Inline = Link(said, claimed.address) if links else said
            rows.append((times, (name, words.guarantee(claimed.entry.claim), _truth(claimed.entry))))
    if not rows:
        return []
    rows.sort(key=lambda row: -row[0])
    said = f"Of each mechanism the claim that is furthest off, where the tight value is more than {FAR} times what is claimed, or infinite."
    table = Table("Refuted by far", ("claim", "claimed", "truth"), [cells for _, cells in rows], cards=True)
    if not links:
        return [Section("Refuted by far", [Paragraph(said), table])]
    return [Fold(f"{words.count(len(rows), 'mechanism')} refuted by far", [Paragraph(said), table], anchor=":far-off")]


def _times(entry: Entry) -> float | None:
    """At least how many times what is claimed the tight value is, None where that is not known or the claim is not refuted."""
    value = asked(entry.claim)
    if entry.verdict != "REFUTED" or not isinstance(value, Num) or value.value <= 0:
        return None
    lower = enclosure(entry.judgement, 6)[0]
    return None if lower is None else float(lower) / float(value.value)


def _truth(entry: Entry) -> str:
    lower = enclosure(entry.judgement, 6)[0]
    return "infinite" if lower == "inf" else tight(entry) or f"at least {plain_decimal(lower or '')}"

