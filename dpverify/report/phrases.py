"""What became of one claim, in a phrase: its bounds, its witness, how it is judged once more."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from dpverify.report import Entry, asked, ceiling, delta_enclosure, enclosure, exact, quantity, short
from dpverify.report.enclosures import common, plain_decimal, witness_text
from dpverify.runtime.outside import named
from dpverify.trusted.kernel.expr import ZERO

_SHORT: Final = 20
"""The longest fraction that is told as one."""


def surprise_text(entry: Entry) -> str:
    """A claim that is not as expected, in a sentence or two."""
    witness = entry.judgement.witness if entry.judgement else None
    what = quantity(entry.claim)
    said = [f"{named(entry.claim.name, ':')}: {entry.verdict} at {what} {short(asked(entry.claim))}, expected {entry.expected}."]
    known = tight_text(entry)
    said += [f"Tight {what}: {known}" if known else "", f"Witness: {witness_text(witness)}" if witness else ""]
    said += [entry.reason or "", advice(entry)]
    return " ".join(part if part.endswith(".") else f"{part}." for part in said if part)


def advice(entry: Entry) -> str:
    """What would make a refuted claim hold, where that is another claim: a delta, where no epsilon is enough without one; else empty."""
    infinite = enclosure(entry.judgement, 1) == ("inf", "inf")
    if entry.verdict != "REFUTED" or entry.claim.delta != ZERO or not infinite:
        return ""
    upper = delta_enclosure(entry.judgement, 6)[1]
    if upper is None or Decimal(upper) in (0, 1):
        return "No epsilon is enough at delta 0: the claim needs a delta above 0."
    enough = upper.rstrip("0") if "e" not in upper else upper
    return f"No epsilon is enough at delta 0: the claim needs a delta, and {enough} will do at epsilon {short(entry.claim.epsilon)}."


def replay(entry: Entry) -> str:
    """The line that judges a claim once more."""
    from shlex import quote

    file = f"./{entry.file}" if entry.file.startswith("-") else entry.file
    return f"replay: dpverify verify {quote(file)} --claim {quote(entry.claim.name)} --digits {entry.digits}"


def tight_text(entry: Entry, digits: int | None = None) -> str:
    """The tight epsilon, or the tight value in the measure that is claimed, as far as it is known; empty where nothing is.

    digits: at most so many.
    """
    lower, upper = enclosure(entry.judgement, digits or entry.digits)
    formula = exact(entry.judgement)
    if formula is not None and (len(formula) <= _SHORT or not formula.replace("/", "").isdigit()):
        return formula if formula.replace("/", "").isdigit() or not lower or lower == upper else f"{formula} = {lower}..."
    if lower == "inf":
        return "infinite"
    if lower is not None and upper is not None:
        return plain_decimal(lower) if lower == upper else common(lower, upper)
    if lower is not None:
        return f"at least {plain_decimal(lower)}"
    bound = plain_decimal(upper) if upper else ceiling(entry.judgement)
    return f"at most {bound}" if bound else ""


def delta_text(entry: Entry, digits: int | None = None) -> str:
    """The tight delta as far as it is known, in at most so many digits; empty where it is plainly 0 or not known."""
    lower, upper = delta_enclosure(entry.judgement, digits or entry.digits)
    if upper in (None, "0") and lower in (None, "0"):
        return ""
    if lower is None or upper is None:
        return f"at most {plain_decimal(upper)}" if upper is not None else f"at least {plain_decimal(lower or '')}"
    return plain_decimal(lower) if lower == upper else common(lower, upper)
