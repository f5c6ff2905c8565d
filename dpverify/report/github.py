"""GitHub workflow commands: an annotation at each claim whose verdict is not the expected one."""

from __future__ import annotations

from collections.abc import Sequence

from dpverify.report import Entry, short, summary
from dpverify.report.text import tight_text, witness_text


def render(entries: Sequence[Entry]) -> str:
    """The answer as annotations and a closing line."""
    return "\n".join([*(_annotation(entry) for entry in entries if not entry.as_expected), summary(entries)])


def message(entry: Entry) -> str:
    """One surprising claim in a sentence or two."""
    witness = entry.judgement.witness if entry.judgement else None
    said = [f"{entry.claim.name}: {entry.verdict} at eps {short(entry.claim.epsilon)}, expected {entry.expected}."]
    said += [tight_text(entry), f"witness: {witness_text(witness)}" if witness else "", entry.reason or ""]
    return " ".join(part for part in said if part)


def _annotation(entry: Entry) -> str:
    level = "warning" if entry.verdict == "UNKNOWN" and not entry.fault else "error"
    return annotation(level, entry.file, entry.line, f"{entry.mechanism}: {entry.verdict}", message(entry))


def annotation(level: str, file: str, line: int, title: str, message: str) -> str:
    """A workflow command. level: "error", "warning" or "notice"."""
    return f"::{level} file={_property(file)},line={line},title={_property(title)}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
