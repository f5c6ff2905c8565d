"""JUnit XML: a suite per claim file, a case per claim."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from dpverify.report import Entry
from dpverify.report.text import tight_text, witness_text


def render(entries: Sequence[Entry]) -> str:
    """The answer as JUnit XML: a wrong verdict is a failure, an undecided claim too, a fault of dpverify an error."""
    root = Element("testsuites", name="dpverify", tests=str(len(entries)), failures=_failures(entries), errors=_errors(entries))
    for file, members in groupby(entries, key=lambda entry: entry.file):
        group = list(members)
        suite = SubElement(
            root, "testsuite", name=file, tests=str(len(group)), failures=_failures(group), errors=_errors(group),
            time=f"{sum(entry.seconds for entry in group):.3f}",
        )  # fmt: skip
        for entry in group:
            case = SubElement(
                suite, "testcase", classname=clean(entry.mechanism), name=clean(entry.claim.name), file=file, time=f"{entry.seconds:.3f}"
            )
            if entry.fault:
                SubElement(case, "error", message=clean(entry.fault))
            elif not entry.as_expected:
                problem = SubElement(case, "failure", message=f"{entry.verdict}, expected {entry.expected}")
                witness = entry.judgement.witness if entry.judgement else None
                detail = [tight_text(entry), witness_text(witness) if witness else "", entry.reason or ""]
                problem.text = clean("\n".join(line for line in detail if line))
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode")


def _failures(entries: Sequence[Entry]) -> str:
    return str(sum(not entry.as_expected and not entry.fault for entry in entries))


def _errors(entries: Sequence[Entry]) -> str:
    return str(sum(entry.fault is not None for entry in entries))


def clean(text: str) -> str:
    """The text without the control characters that XML cannot hold."""
    return "".join(c if c >= " " or c in "\n\t" else "?" for c in text)
