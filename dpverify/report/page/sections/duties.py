"""What a reader has to make sure of: everything that the run's verdicts take for granted, under those who can know it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dpverify.report import words
from dpverify.report.owners import by_owner
from dpverify.report.page.blocks import Block, Inline, Paragraph, Table
from dpverify.report.page.subject import Run

TITLE = "What you have to make sure of"


def blocks(run: Run) -> Sequence[Block]:
    """Each assumption with its owner, and of how many claims it is one."""
    times = Counter(assumption for entry in run.results.entries for assumption in dict.fromkeys(entry.assumptions))
    if not times:
        return []
    rows: list[Sequence[Inline]] = [
        (assumption, owner.who, owner.how, words.count(times[assumption], "claim"))
        for owner, assumptions in by_owner(times).items()
        for assumption in assumptions
    ]
    said = "Nothing here is checked. A verdict is worth as much as what it takes for granted; each claim lists what it needs."
    return [Paragraph(said), Table("Assumptions and who makes sure of them", ("assumed", "who makes sure", "how", "of"), rows, cards=True)]
