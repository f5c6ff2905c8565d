"""SARIF 2.1.0: every claim whose verdict is not the expected one, at its line of the claim file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from dpverify import __version__
from dpverify.report import Entry
from dpverify.report.github import message

_RULES = {
    "REFUTED": "A claim that was expected to hold is refuted.",
    "PROVED": "A claim that was expected to fail is proved.",
    "UNKNOWN": "A claim is neither proved nor refuted.",
}


def render(entries: Sequence[Entry]) -> str:
    """The answer as one SARIF log."""
    rules = [{"id": verdict, "shortDescription": {"text": text}} for verdict, text in _RULES.items()]
    run = {
        "tool": {"driver": {"name": "dpverify", "version": __version__, "rules": rules}},
        "results": [_result(entry) for entry in entries if not entry.as_expected],
    }
    schema = "https://json.schemastore.org/sarif-2.1.0.json"
    return json.dumps({"$schema": schema, "version": "2.1.0", "runs": [run]}, indent=1)


def _result(entry: Entry) -> dict[str, Any]:
    place = {"artifactLocation": {"uri": PurePath(entry.file).as_posix()}, "region": {"startLine": entry.line}}
    return {
        "ruleId": entry.verdict,
        "level": "warning" if entry.verdict == "UNKNOWN" and not entry.fault else "error",
        "message": {"text": message(entry)},
        "locations": [{"physicalLocation": place}],
    }
