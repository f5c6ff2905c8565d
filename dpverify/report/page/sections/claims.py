"""The claims of a file, a row each, and each of them whole below."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dpverify.report import Entry, brief, enclosure, short, words
from dpverify.report.enclosures import common, plain_decimal
from dpverify.report.page.blocks import Badge, Block, Inline, Link, Table
from dpverify.report.page.subject import Claimed, File
from dpverify.report.phrases import delta_text, tight_text
from dpverify.trusted.kernel.expr import format_expr
from dpverify.trusted.kernel.model import Claim

TITLE = "Claims"
HEADER: Final = ("verdict", "claim", "epsilon", "delta", "sensitivity", "tight epsilon", "tight delta", "slack")
"""Of the table of a file's claims; columns that say nothing of any of them are left out."""
MANY: Final = 12
"""From so many claims on, a table of them can be sorted and filtered."""
_DIGITS: Final = 12


def blocks(file: File) -> Sequence[Block]:
    """The table of a file's claims."""
    rows = [row(claimed) for claimed in file.claims]
    kept = [i for i in range(len(HEADER)) if i < 2 or any(one[i] not in ("", "0") for one in rows)]
    table = [[one[i] for i in kept] for one in rows]
    return [Table(f"Claims of {file.stem}", [HEADER[i] for i in kept], table, interactive=len(rows) >= MANY)]


def verdict(entry: Entry) -> Inline:
    """A verdict, and what was expected where that is another."""
    badge = Badge(entry.verdict, entry.as_expected)
    return badge if entry.as_expected else (badge, f" (expected {entry.expected})")


def counted(outcomes: Sequence[tuple[str, bool]]) -> Inline:
    """How often each outcome is there; those that are as expected apart from those that are not."""
    phrases: list[Inline] = []
    for word, fine in dict.fromkeys(outcomes):
        phrases += [", "] if phrases else []
        phrases += [f"{outcomes.count((word, fine))}\N{NO-BREAK SPACE}", Badge(word.replace("_", " "), fine)]
    return tuple(phrases)


def row(claimed: Claimed) -> tuple[Inline, ...]:
    """A claim's cells, in the columns of `HEADER`."""
    entry = claimed.entry
    claim = entry.claim
    sensitivity = "by its query" if claim.query else "" if claim.sensitivity is None else format_expr(claim.sensitivity)
    return (
        verdict(entry), Link(claim.name, f"#{claimed.anchor}"), *_claimed(claim), sensitivity, tight(entry),
        tight_delta(entry), words.slack(entry),
    )  # fmt: skip


def _claimed(claim: Claim) -> tuple[str, str]:
    """What is claimed, in the columns of epsilon and delta."""
    if claim.measure is not None:
        return brief(claim), ""
    return short(claim.epsilon) + (f", {claim.order}" if claim.order else ""), short(claim.delta)


def tight(entry: Entry) -> str:
    """The tight epsilon in a few decimals; as a formula where it has none; empty where nothing is known."""
    lower, upper = enclosure(entry.judgement, _DIGITS)
    if lower is None and upper is None:
        return tight_text(entry)
    if lower is None or upper is None:
        return f"at most {upper}" if upper is not None else f"at least {lower}"
    return "infinite" if lower == "inf" else plain_decimal(lower) if lower == upper else common(lower, upper)


def tight_delta(entry: Entry) -> str:
    """The tight delta in decimals, empty where it is 0 or nothing is known."""
    return delta_text(entry)
