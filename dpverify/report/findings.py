"""Findings of audits: as lines of text, and as entries of the JSON contract."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from dpverify.runtime.finding import NO_VIOLATION_SEEN, NONCONFORMING, VIOLATION, Finding, Path
from dpverify.runtime.outside import printable

_VERDICTS = {VIOLATION: "REFUTED", NONCONFORMING: "REFUTED", NO_VIOLATION_SEEN: "UNKNOWN"}
"""Findings are painted as the verdicts that they resemble; never as PROVED."""


def lines(findings: Sequence[Finding], paint: Callable[[str, str], str], width: int | None = None) -> Iterator[str]:
    """The findings for people, under the claim that each is about. paint: colours a text by a verdict. width: of a line."""
    for finding in findings:
        yield printable(f"{finding.file}, {finding.name}" + ("" if finding.expected != "REFUTED" else " (expected to be refuted)"))
        head, *rest = finding.text().split("\n")
        word = head.partition(":")[0].partition(" (")[0].partition(" of ")[0]
        first, *more = _broken(printable(f"  {head}"), width)
        yield "  " + paint(word, _VERDICTS[finding.finding]) + first[len(word) + 2 :]
        yield from more
        yield from (part for line in rest for part in _broken(printable(f"  {line}"), width))


def _broken(line: str, width: int | None) -> list[str]:
    """A line in lines of so many columns; one that is to be copied stays whole."""
    if width is None or line.lstrip().startswith("replay: "):
        return [line]
    margin = line[: len(line) - len(line.lstrip())]
    return textwrap.wrap(
        line.lstrip(), width, initial_indent=margin, subsequent_indent=f"{margin}    ", break_long_words=False, break_on_hyphens=False
    )


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
        "replay": finding.replay or None,
        "path": None if finding.path is None else _path(finding.path),
        "refuted": None if finding.refuted is None else asdict(finding.refuted),
    }


def _path(path: Path) -> dict[str, Any]:
    """What an audit knew over samples, a list for each quantity; rounded down, which moves no evidence across its threshold."""
    return {
        "threshold": _down(path.threshold, 4),
        "samples": [known.samples for known in path.known],
        "log10_evidence": [_down(known.log10_evidence, 4) for known in path.known],
        "epsilon_lower": [_down(known.epsilon_lower, 6) for known in path.known],
    }


def _down(value: float | None, decimals: int) -> float | str | None:
    """A number rounded down."""
    return _number(value) if value is None or not math.isfinite(value) else math.floor(value * 10**decimals) / 10**decimals


def _number(value: float | None) -> float | str | None:
    """JSON has no infinity."""
    return None if value is None or math.isnan(value) else "inf" if math.isinf(value) else value
