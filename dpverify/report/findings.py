"""Findings of audits, in each output format of the command line."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from dpverify import __version__
from dpverify.audit.finding import NO_VIOLATION_SEEN, NONCONFORMING, VIOLATION, Finding
from dpverify.report import github, junit
from dpverify.report.text import Paint

_VERDICTS = {VIOLATION: "REFUTED", NONCONFORMING: "REFUTED", NO_VIOLATION_SEEN: "UNKNOWN"}
"""Findings are painted as the verdicts that they resemble; never as PROVED."""

_RULES = {
    VIOLATION: "A sampled implementation violates the privacy that is claimed of it.",
    NONCONFORMING: "A sampled implementation does not sample the declared density.",
}


def exit_code(findings: Sequence[Finding]) -> int:
    """1 where something was found that its author does not expect, else 0."""
    return int(not all(finding.as_expected for finding in findings))


def summary(findings: Sequence[Finding]) -> str:
    """The last line of an answer."""
    found = [finding.finding for finding in findings]
    counts = ", ".join(f"{found.count(name)} {name}" for name in (VIOLATION, NONCONFORMING, NO_VIOLATION_SEEN) if name in found)
    return f"{len(found)} audit{'' if len(found) == 1 else 's'}: {counts}"


def text(findings: Sequence[Finding], paint: Paint = lambda text, verdict: text) -> str:
    """The findings for people, under the claim that each is about."""
    lines = []
    for finding in findings:
        lines.append(f"{finding.file}, {finding.name}" + ("" if finding.expected != "REFUTED" else " (expected to be refuted)"))
        head, *rest = finding.text().split("\n")
        word = head.partition(":")[0].partition(" (")[0].partition(" of ")[0]
        lines += ["  " + paint(word, _VERDICTS[finding.finding]) + head[len(word) :], *(f"  {line}" for line in rest)]
    return "\n".join([*lines, summary(findings)])


def record(finding: Finding) -> dict[str, Any]:
    """One audit entry of the JSON contract."""
    return {
        "file": finding.file,
        "name": finding.name,
        "finding": finding.finding,
        "level": finding.level,
        "epsilon_lower": _number(finding.epsilon_lower),
        "confidence": finding.confidence,
        "samples": finding.samples,
        "event": finding.event or None,
        "detectable_epsilon": _number(finding.detectable_epsilon),
        "seed": finding.seed,
        "seconds": round(finding.seconds, 4),
        "epsilon": _number(finding.epsilon),
        "delta": finding.delta,
        "expected": finding.expected,
        "as_expected": finding.as_expected,
        "pair": finding.pair or None,
        "sampler": finding.sampler,
        "notes": list(finding.notes),
    }


def as_json(findings: Sequence[Finding]) -> str:
    """The findings as the contract's one object."""
    return json.dumps({"schema": "dpverify/1", "claims": [], "audits": [record(finding) for finding in findings]}, indent=1)


def as_github(findings: Sequence[Finding]) -> str:
    """An annotation at each file with an unexpected finding, and a closing line."""
    lines = [github.annotation("error", finding.file, 1, finding.finding, finding.text()) for finding in findings if not finding.as_expected]
    return "\n".join([*lines, summary(findings)])


def as_junit(findings: Sequence[Finding]) -> str:
    """A case for each audit."""
    failures = str(sum(not finding.as_expected for finding in findings))
    root = Element("testsuites", name="dpverify audit", tests=str(len(findings)), failures=failures, errors="0")
    suite = SubElement(root, "testsuite", name="audits", tests=str(len(findings)), failures=failures, errors="0")
    for finding in findings:
        case = SubElement(
            suite, "testcase", classname=junit.clean(finding.file), name=junit.clean(finding.name), time=f"{finding.seconds:.3f}"
        )
        if not finding.as_expected:
            SubElement(case, "failure", message=finding.finding).text = junit.clean(finding.text())
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode")


def as_sarif(findings: Sequence[Finding]) -> str:
    """Every unexpected finding as a SARIF result."""
    rules = [{"id": name, "shortDescription": {"text": said}} for name, said in _RULES.items()]
    results = [
        {
            "ruleId": finding.finding,
            "level": "error",
            "message": {"text": finding.text()},
            "locations": [{"physicalLocation": {"artifactLocation": {"uri": PurePath(finding.file).as_posix()}, "region": {"startLine": 1}}}],
        }
        for finding in findings
        if not finding.as_expected
    ]
    driver = {"name": "dpverify", "version": __version__, "rules": rules}
    log = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}
    return json.dumps(log, indent=1)


def as_markdown(title: str, findings: Sequence[Finding]) -> str:
    """A page for people: a row for each audit, then what was seen."""
    header = ("finding", "level", "file", "claim", "eps claimed", "eps above", "detectable", "samples a side")
    lines = [f"# {title}", "", summary(findings), "", f"| {' | '.join(header)} |", f"|{'---|' * len(header)}"]
    for finding in findings:
        cells = (
            finding.finding, finding.level, finding.file, finding.name, _short(finding.epsilon), _short(finding.epsilon_lower),
            _short(finding.detectable_epsilon), str(finding.samples),
        )  # fmt: skip
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    for finding in findings:
        lines += ["", f"## {finding.file}, {finding.name}", "", "```", finding.text(), "```"]
    return "\n".join(lines) + "\n"


FORMATS = {"json": as_json, "sarif": as_sarif, "junit": as_junit, "github": as_github}


def _number(value: float | None) -> float | str | None:
    """JSON has no infinity."""
    return None if value is None or math.isnan(value) else "inf" if math.isinf(value) else value


def _short(value: float | None) -> str:
    return "" if value is None else f"{value:.5g}"
