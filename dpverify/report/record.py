"""The JSON of the contract: one object for all claims."""

from __future__ import annotations

import json
from typing import Any

from dpverify.project.formal.ledger import standing
from dpverify.project.made import Made
from dpverify.report import (
    Entry,
    ceiling,
    claimed,
    decimal,
    delta_enclosure,
    enclosure,
    exact,
    exact_delta,
    findings,
    quantity,
    record_sums,
    utility,
)
from dpverify.report.derived import also
from dpverify.report.dyadic import readable
from dpverify.report.results import Results
from dpverify.trusted.kernel.model import Selection


def render(results: Results) -> str:
    """The answer as one JSON object; under "errors" what could not be audited or read, where there is some."""
    answer: dict[str, Any] = {
        "schema": "dpverify/1",
        "claims": [record(entry) for entry in results.entries],
        "audits": [findings.record(finding) for finding in results.findings],
    }
    if results.faults or results.findings:
        answer["errors"] = [{"file": fault.file, "name": fault.name, "error": fault.error} for fault in results.faults]
    if results.made is not None:
        answer["made"] = _made(results.made)
    return json.dumps(answer, indent=1)


def _made(made: Made) -> dict[str, Any]:
    """How a report came to be: date, commit and command are there where it is to be signed."""
    told: dict[str, Any] = {"project": made.project, "versions": dict(made.versions)}
    return told | ({"date": made.date, "commit": made.commit, "command": made.command} if made.signed else {})


def record(entry: Entry) -> dict[str, Any]:
    """One claim as the contract states it."""
    judgement = entry.judgement
    lower, upper = enclosure(judgement, entry.digits)
    delta_lower, delta_upper = delta_enclosure(judgement, entry.digits)
    beside = also(entry)
    asked = "epsilon" if entry.claim.measure is None else quantity(entry.claim)
    formulas = ((f"exact {asked}", exact(judgement)), (f"{asked} at most", ceiling(judgement)), ("exact delta", exact_delta(judgement)))
    for name, formula in formulas:
        if formula is not None:
            beside[name] = formula
    data: dict[str, Any] = {
        "file": entry.file,
        "name": entry.claim.name,
        "mechanism": entry.mechanism,
        "verdict": entry.verdict,
        "expected": entry.expected,
        "as_expected": entry.as_expected,
        "epsilon": {"claimed": claimed(entry.claim.epsilon), "lower": lower, "upper": upper},
        "delta": {"claimed": claimed(entry.claim.delta), "lower": delta_lower, "upper": delta_upper},
        "witness": readable(judgement.witness) if judgement else None,
        "rules": list(judgement.rules) if judgement else [],
        **({} if entry.confirmed is None else {"confirmed": list(entry.confirmed)}),
        "machine_checked": {rule: standing(rule) for rule in judgement.rules} if judgement else {},
        "assumptions": list(entry.assumptions),
        "warnings": [note.said for note in entry.notes],
        "certificate": entry.certificate,
        "seconds": round(entry.seconds, 4),
        "reason": entry.reason,
        "also": beside,
    }
    if entry.claim.measure is not None:
        measure, nothing = entry.claim.measure, {"claimed": None, "lower": None, "upper": None}
        order = {} if measure.at is None else {"order": str(measure.at)}
        if entry.claim.within is not None:
            order = {"within": claimed(entry.claim.within), **({"distance": entry.claim.distance} if entry.claim.distance else {})}
        data["measure"] = {"name": measure.name, **order, "claimed": claimed(measure.value), "lower": lower, "upper": upper}
        data["epsilon"] = data["delta"] = nothing
    if entry.claim.query is not None:
        data["query"] = {"rows": [list(map(str, row)) for row in entry.claim.query.rows], "adjacency": entry.claim.query.adjacency}
    if entry.claim.sums is not None:
        over = entry.claim.sums
        data["query"] = {"sums": list(record_sums.lines(over)), "rows": over.rows, "adjacency": over.adjacency}
    if entry.claim.order:
        data["order"] = entry.claim.order
    if isinstance(entry.claim.mechanism, Selection):
        from dpverify.report import selections

        data |= selections.record(entry)
    if entry.claim.utility:
        data["utility"] = utility.record(entry.claim, judgement, lambda bound, side: decimal(bound, entry.digits, side))
    return data
