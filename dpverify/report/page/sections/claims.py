"""The claims of a file, a row each, and each of them whole below."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dpverify.expr import format_expr
from dpverify.report import Entry, enclosure, short, words
from dpverify.report.page.blocks import Badge, Block, Inline, Link, Table
from dpverify.report.page.sections.statement import plain_decimal
from dpverify.report.page.subject import Claimed, File
from dpverify.report.text import common, delta_text, tight_text

TITLE = "Claims"
_DIGITS: Final = 12


def blocks(file: File) -> Sequence[Block]:
    """The table of a file's claims."""
    header = ("verdict", "claim", "epsilon", "delta", "sensitivity", "tight epsilon", "tight delta", "slack", "certificate")
    rows = [_row(Claimed(file, entry)) for entry in file.entries]
    kept = [i for i in range(len(header)) if i < 2 or any(row[i] not in ("", "0") for row in rows)]
    caption = f"Claims of {file.stem}"
    return [Table(caption, [header[i] for i in kept], [[row[i] for i in kept] for row in rows])]


def _row(claimed: Claimed) -> tuple[Inline, ...]:
    entry = claimed.entry
    claim = entry.claim
    sensitivity = "by its query" if claim.query else "" if claim.sensitivity is None else format_expr(claim.sensitivity)
    name = (entry.certificate or "").replace("\\", "/").rpartition("/")[2]
    return (
        (Badge(entry.verdict, entry.as_expected), *(() if entry.as_expected else (f" (expected {entry.expected})",))),
        Link(claim.name, f"#{claimed.anchor}"), short(claim.epsilon), short(claim.delta), sensitivity, _tight(entry),
        delta_text(entry).removeprefix("tight delta: "), words.slack(entry), Link("certificate", name) if name else "",
    )  # fmt: skip


def _tight(entry: Entry) -> str:
    """The tight epsilon in decimals; as a formula where it has none."""
    lower, upper = enclosure(entry.judgement, _DIGITS)
    if lower is None and upper is None:
        return tight_text(entry).removeprefix("tight: ")
    if lower is None or upper is None:
        return f"at most {upper}" if upper is not None else f"at least {lower}"
    return "infinite" if lower == "inf" else plain_decimal(lower) if lower == upper else common(lower, upper)
