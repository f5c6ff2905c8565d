"""JUnit XML: a suite for each claim file, a case for each claim; a suite for audits, and one for each file that is not read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from dpverify.report.results import UNREAD, Results, Surprise
from dpverify.runtime.outside import printable_lines

_AUDITS: Final = "audits"
_COUNTS: Final = ("tests", "failures", "errors", "skipped")


@dataclass(frozen=True, slots=True)
class _Case:
    suite: str
    classname: str
    name: str
    file: str
    seconds: float
    surprises: Sequence[Surprise]
    warnings: Sequence[Surprise] = ()


def render(results: Results) -> str:
    """The answer as JUnit XML: what is not as expected is a failure, what could not be answered an error, what a baseline knows skipped."""
    root = Element("testsuites", name="dpverify")
    for name, members in groupby(_cases(results), key=lambda case: case.suite):
        cases = list(members)
        suite = SubElement(root, "testsuite", name=clean(name))
        for case in cases:
            _add(suite, case)
        _count(suite)
        suite.set("time", f"{sum(case.seconds for case in cases):.3f}")
    _count(root)
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode")


def _cases(results: Results) -> Iterator[_Case]:
    surprises = results.surprises

    def of(source: str, file: str, name: str) -> list[Surprise]:
        return [one for one in surprises if (one.source, one.file, one.name) == (source, file, name)]

    warnings = results.warnings
    for entry in results.entries:
        file, name = entry.file, entry.claim.name
        noted = [one for one in warnings if (one.file, one.name) == (file, name)]
        yield _Case(file, entry.mechanism, name, file, entry.seconds, of("claim", file, name), noted)
    for (file, name), group in groupby(results.findings, key=lambda one: (one.file, one.name)):
        seconds = max(one.seconds for one in group)  # findings of one run come one after the other
        yield _Case(_AUDITS, file, name, file, seconds, [one for one in of("audit", file, name) if one.rule != "FAULT"])
    for one in surprises:
        if one.source == "audit" and one.rule == "FAULT":
            yield _Case(one.file if one.title == UNREAD else _AUDITS, one.file, one.name, one.file, 0.0, [one])


def _add(suite: Element, case: _Case) -> None:
    place = {"classname": clean(case.classname), "name": clean(case.name), "file": clean(case.file), "time": f"{case.seconds:.3f}"}
    element = SubElement(suite, "testcase", place)
    faults = [one for one in case.surprises if one.rule == "FAULT"]
    wrong = [one for one in case.surprises if one.rule != "FAULT" and not one.known]
    told = [("error", faults), ("failure", wrong), ("skipped", [one for one in case.surprises if one.known])]
    for tag, which in told:
        if which:
            message = "in the baseline" if tag == "skipped" else ", ".join(one.rule if tag == "failure" else one.message for one in which)
            SubElement(element, tag, message=clean(message)).text = clean("\n".join(one.message for one in which))
            break
    if case.warnings:
        SubElement(element, "system-out").text = clean("\n".join(f"warning: {one.message}" for one in case.warnings))


def _count(element: Element) -> None:
    tags = {"tests": "testcase", "failures": "failure", "errors": "error", "skipped": "skipped"}
    for name in _COUNTS:
        element.set(name, str(sum(1 for _ in element.iter(tags[name]))))


def clean(text: str) -> str:
    """Foreign text without what XML cannot hold and a log should not; line breaks are meant."""
    return printable_lines(text)
