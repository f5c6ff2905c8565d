"""SARIF 2.1.0: everything that is not as expected, at the line of its claim; what could not be answered, as a failed invocation."""

from __future__ import annotations

import json
from pathlib import PurePath
from typing import Any, Final
from urllib.parse import quote

from dpverify import __version__
from dpverify.report.results import RULES, Results, Surprise

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_PLACES: Final = list(RULES)


def render(results: Results) -> str:
    """The answer as one SARIF log."""
    surprises = results.surprises
    faults = [surprise for surprise in surprises if surprise.rule == "FAULT"]
    rules = [
        {"id": name, "name": name.title().replace("_", ""), "shortDescription": {"text": text}, "fullDescription": {"text": text}}
        for name, text in RULES.items()
    ]
    told = [{"level": "error", "message": {"text": fault.message}, "locations": [_place(fault)]} for fault in faults]
    run = {
        "tool": {"driver": {"name": "dpverify", "semanticVersion": __version__, "rules": rules}},
        "invocations": [{"executionSuccessful": not faults, "toolExecutionNotifications": told}],
        "results": [_result(surprise) for surprise in surprises if surprise.rule != "FAULT"],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1)


def _result(surprise: Surprise) -> dict[str, Any]:
    result = {
        "ruleId": surprise.rule,
        "ruleIndex": _PLACES.index(surprise.rule),
        "level": surprise.level,
        "message": {"text": surprise.message},
        "locations": [_place(surprise)],
        "partialFingerprints": {"primaryLocationLineHash": surprise.fingerprint, "dpverify/v1": surprise.fingerprint},
    }
    if surprise.known:
        result["suppressions"] = [{"kind": "external", "status": "accepted", "justification": "Accepted by the baseline."}]
    return result


def _place(surprise: Surprise) -> dict[str, Any]:
    path = PurePath(surprise.file)
    uri = path.as_uri() if path.is_absolute() else quote(path.as_posix())
    place = {"artifactLocation": {"uri": uri}, "region": {"startLine": surprise.line}}
    return {"physicalLocation": place, "logicalLocations": [{"name": surprise.name, "kind": "member"}]}
