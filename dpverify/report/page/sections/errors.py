"""The error that a claim asks for: this noise's own, and the least that any mechanism with the same guarantee has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dpverify.report import decimal, utility
from dpverify.report.page.blocks import Block, Code, Inline, Paragraph, Table
from dpverify.report.page.subject import Claimed

TITLE = "Error"
_DIGITS: Final = 10


def blocks(subject: Claimed) -> Sequence[Block]:
    """A table of errors, with the neighbours that a least one is true for; nothing where no errors are asked for."""
    entry = subject.entry
    found = list(utility.told(entry.claim, entry.judgement, lambda bound, side: decimal(bound, min(entry.digits, _DIGITS), side)))
    if not found:
        return []
    neighbours = utility.neighbours(entry.claim)
    header = ("error", "this noise", "any mechanism, at least", "this noise, at most times that", "by", "for")
    rows: list[tuple[Inline, ...]] = [
        (one.what, one.own, one.least, one.ratio, Code(one.rule) if one.rule else "", neighbours if one.rule else "") for one in found
    ]
    table = Table(f"Error of {subject.file.stem}, {entry.claim.name}", header, rows)
    said = "For the worst data. What any mechanism has at least is true of all that have the claimed epsilon, for the neighbours beside it."
    return [Paragraph(said, note=True), table]
