"""Many files at a glance: what each claim states, as (epsilon, delta) is written in the field, and the tight value beside it."""

from __future__ import annotations

import os.path
from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Final

from dpverify.report import Entry, asked, delta_enclosure, enclosure, exact, quantity, short
from dpverify.report.enclosures import plain_decimal
from dpverify.report.phrases import delta_text, tight_text
from dpverify.trusted.kernel.expr import format_expr

DIGITS: Final = 8
"""Of a tight value."""
_OPEN_DIGITS: Final = 4
"""Of two bounds that differ before these."""
AS_ABOVE: Final = "as above"


def head(files: Sequence[str]) -> tuple[str, list[str]]:
    """The line that tells how the others are read, and the names by which it lets files be called: within the folder that holds all."""
    folder = os.path.commonpath(list(map(os.path.dirname, files))) if len(set(map(os.path.isabs, files))) == 1 else ""
    said = f'of each claim: verdict, name, epsilon or (epsilon, delta), tight value or "{AS_ABOVE}"'
    return (f"In {folder}, {said}." if folder else f"O{said[1:]}."), [os.path.relpath(file, folder) if folder else file for file in files]


def tail(entries: Sequence[Entry]) -> list[str]:
    """What is left out, and where it is told."""
    silent = sum(entry.claim.utility and entry.as_expected for entry in entries)
    asks = "1 claim asks" if silent == 1 else f"{silent} claims ask"
    return [f"{asks} for errors, which -v tells, and a run of that file alone"] if silent else []


def stated(entry: Entry, before: Entry | None) -> list[str]:
    """What a claim states and what is tight. before: the claim above it in its file."""
    claim, known = entry.claim, tight(entry)
    value, delta, pure = asked(claim), claim.delta, short(claim.delta) == "0"
    number = "" if value is None else short(value)
    if claim.measure is not None and number:
        number = f"{quantity(claim)} {number}"
    if not pure and delta is not None:
        number = f"({number}, {short(delta)})" if number else f"delta {short(delta)}"
    said = [", ".join(filter(None, (number, claim.order)))] if number or claim.order else []
    if value is not None and delta is not None:
        if exact(entry.judgement) == format_expr(value):
            return [f"{said[0]} (tight)"]
        if before is not None and entry.as_expected and known and known == tight(before) and quantity(claim) == quantity(before.claim):
            return [*said, AS_ABOVE]
    return [*said, *([f"tight {known}"] if known else [])]


def tight(entry: Entry) -> str:
    """The tight epsilon, and the tight delta where that tells more; empty where nothing is known."""
    epsilon = tight_text(entry, DIGITS)
    epsilon = _plain(epsilon.partition(" = ")[2] or epsilon, enclosure(entry.judgement, DIGITS))
    delta = _plain(delta_text(entry, DIGITS), delta_enclosure(entry.judgement, DIGITS))
    settled = bool(epsilon) and not epsilon.startswith(("infinite", "at least", "at most"))
    return ", ".join(filter(None, (epsilon, f"delta {delta}" if delta and not settled else "")))


def _plain(text: str, ends: tuple[str | None, str | None]) -> str:
    """An interval by no more digits than tell what it is; any other text as it is."""
    if not text.startswith("in [") or None in ends:
        return text
    lower, upper = (Decimal(end or 0) for end in ends)
    if upper - lower <= abs(upper) * Decimal(10) ** (1 - _OPEN_DIGITS):
        return text
    low, high = (Context(_OPEN_DIGITS, way).plus(end) for way, end in ((ROUND_FLOOR, lower), (ROUND_CEILING, upper)))
    return f"in [{plain_decimal(f'{low}'.lower())}, {plain_decimal(f'{high}'.lower())}]"
