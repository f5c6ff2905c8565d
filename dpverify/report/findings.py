"""Findings of audits, in each output format of the command line."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
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


@dataclass(frozen=True, slots=True)
class Fault:
    """An audit that could not be made, which is never a pass: of which claim, why, and the exit code (3 for a fault of dpverify itself)."""

    file: str
    name: str
    error: str
    code: int = 2


Faults = Sequence[Fault]


def exit_code(findings: Sequence[Finding], faults: Faults = ()) -> int:
    """That of the worst fault where there are faults, 1 where something was found that its author does not expect, else 0."""
    return max((fault.code for fault in faults), default=int(not all(finding.as_expected for finding in findings)))


def summary(findings: Sequence[Finding], faults: Faults = ()) -> str:
    """The last line of an answer: how many claims were audited, and what was found."""
    found = [finding.finding for finding in findings]
    counts = [f"{found.count(name)} {name}" for name in (VIOLATION, NONCONFORMING, NO_VIOLATION_SEEN) if name in found]
    counts += [f"{len(faults)} not audited"] if faults else []
    claims = len({(finding.file, finding.name) for finding in findings} | {(fault.file, fault.name) for fault in faults})
    return f"{claims} claim{'' if claims == 1 else 's'}: {', '.join(counts)}"


def text(findings: Sequence[Finding], faults: Faults = (), paint: Paint = lambda text, verdict: text) -> str:
    """The findings for people, under the claim that each is about; faults are told as they come."""
    lines = []
    for finding in findings:
        lines.append(f"{finding.file}, {finding.name}" + ("" if finding.expected != "REFUTED" else " (expected to be refuted)"))
        head, *rest = finding.text().split("\n")
        word = head.partition(":")[0].partition(" (")[0].partition(" of ")[0]
        lines += ["  " + paint(word, _VERDICTS[finding.finding]) + head[len(word) :], *(f"  {line}" for line in rest)]
    return "\n".join([*lines, summary(findings, faults)])


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


def as_json(findings: Sequence[Finding], faults: Faults = ()) -> str:
    """The findings as the contract's one object; under "errors" the audits that could not be made."""
    errors = [{"file": fault.file, "name": fault.name, "error": fault.error} for fault in faults]
    return json.dumps(
        {"schema": "dpverify/1", "claims": [], "audits": [record(finding) for finding in findings], "errors": errors}, indent=1
    )


def as_github(findings: Sequence[Finding], faults: Faults = ()) -> str:
    """An annotation at each file with an unexpected finding or a fault, and a closing line."""
    lines = [github.annotation("error", one.file, 1, one.finding, one.text()) for one in findings if not one.as_expected]
    lines += [github.annotation("error", fault.file, 1, "not audited", f"{fault.name}: {fault.error}") for fault in faults]
    return "\n".join([*lines, summary(findings, faults)])


def as_junit(findings: Sequence[Finding], faults: Faults = ()) -> str:
    """A case for each claim: a failure where any of its findings is unexpected, an error where it could not be audited."""
    cases = [(key, list(group)) for key, group in groupby(findings, key=lambda finding: (finding.file, finding.name))]
    failures = sum(not all(finding.as_expected for finding in group) for _, group in cases)
    counts = {"tests": str(len(cases) + len(faults)), "failures": str(failures), "errors": str(len(faults))}
    root = Element("testsuites", {"name": "dpverify audit", **counts})
    suite = SubElement(root, "testsuite", {"name": "audits", **counts})
    for (file, name), group in cases:
        seconds = max(finding.seconds for finding in group)  # findings of one run come one after the other
        case = SubElement(suite, "testcase", classname=junit.clean(file), name=junit.clean(name), time=f"{seconds:.3f}")
        unexpected = [finding for finding in group if not finding.as_expected]
        if unexpected:
            problem = SubElement(case, "failure", message=", ".join(finding.finding for finding in unexpected))
            problem.text = junit.clean("\n".join(finding.text() for finding in unexpected))
    for fault in faults:
        case = SubElement(suite, "testcase", classname=junit.clean(fault.file), name=junit.clean(fault.name))
        SubElement(case, "error", message=junit.clean(fault.error))
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode")


def as_sarif(findings: Sequence[Finding], faults: Faults = ()) -> str:
    """Every unexpected finding as a SARIF result; an audit that could not be made, as an invocation that failed."""
    rules = [{"id": name, "shortDescription": {"text": said}} for name, said in _RULES.items()]
    results = [
        {"ruleId": one.finding, "level": "error", "message": {"text": one.text()}, "locations": [_place(one.file)]}
        for one in findings
        if not one.as_expected
    ]
    told = [{"level": "error", "message": {"text": f"{fault.name}: {fault.error}"}, "locations": [_place(fault.file)]} for fault in faults]
    run = {
        "tool": {"driver": {"name": "dpverify", "version": __version__, "rules": rules}},
        "invocations": [{"executionSuccessful": not faults, "toolExecutionNotifications": told}],
        "results": results,
    }
    return json.dumps({"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}, indent=1)


def _place(file: str) -> dict[str, Any]:
    return {"physicalLocation": {"artifactLocation": {"uri": PurePath(file).as_posix()}, "region": {"startLine": 1}}}


def as_markdown(findings: Sequence[Finding], faults: Faults = ()) -> str:
    """A page for people: a row for each finding, then what was seen, and what could not be audited."""
    header = ("finding", "level", "file", "claim", "eps claimed", "eps above", "detectable", "samples a side")
    lines = ["# Audits", "", summary(findings, faults), "", _row(header), f"|{'---|' * len(header)}"]
    for finding in findings:
        numbers = (_short(finding.epsilon), _short(finding.epsilon_lower), _short(finding.detectable_epsilon), str(finding.samples))
        lines.append(_row((finding.finding, finding.level, finding.file, finding.name, *numbers)))
    for finding in findings:
        lines += ["", f"## {finding.file}, {finding.name}", "", "```", finding.text(), "```"]
    for fault in faults:
        lines += ["", f"## {fault.file}, {fault.name}: not audited", "", "```", fault.error, "```"]
    return "\n".join(lines) + "\n"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(' '.join(cell.replace('|', chr(92) + '|').split()) for cell in cells)} |"


FORMATS = {"json": as_json, "sarif": as_sarif, "junit": as_junit, "github": as_github, "markdown": as_markdown}


def _number(value: float | None) -> float | str | None:
    """JSON has no infinity."""
    return None if value is None or math.isnan(value) else "inf" if math.isinf(value) else value


def _short(value: float | None) -> str:
    return "" if value is None else f"{value:.5g}"
