"""The alignment of a stream: the shift of each noise, branch by branch, that makes neighbours tell the same, and what it costs."""

from __future__ import annotations

from collections.abc import Sequence

from dpverify.report.page.blocks import Block, Code, Inline, Paragraph, Table
from dpverify.report.page.subject import Claimed
from dpverify.report.selections import UNITS, alignments

TITLE = "The alignment"


def blocks(subject: Claimed) -> Sequence[Block]:
    """A table for each kind of neighbours."""
    shown: list[Block] = []
    for found in alignments(subject.entry):
        of = f" of {found.family}" if found.family else ""
        names = list(dict.fromkeys(name for _, shifts, _ in found.rows for name in shifts))
        rows: list[list[Inline]] = [
            [where, *(Code(shifts.get(name, "0")) for name in names), Code(cost)] for where, shifts, cost in found.rows
        ]
        header = ("what is told", *(f"shift of {name}" for name in names), "cost")
        shown.append(Table(f"The shift of each noise and its cost{of}, {UNITS}", header, rows))
        if found.prices:
            paid = ", ".join(f"{name} {price}" for name, price in found.prices.items())
            shown.append(Paragraph(f"Paid by: {paid}. What is drawn at the start is paid once.", note=True))
        if found.loose:
            shown.append(Paragraph(f"Not known more closely: {', '.join(found.loose)}.", note=True))
    return [Paragraph(f"Shifts that make two neighbours tell the same, {UNITS}."), *shown] if shown else []
