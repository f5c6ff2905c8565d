"""What a ledger of audits knows of each claim over time: as text, as JSON, and as a picture."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import accumulate
from typing import Any, Final

from dpverify.report.axes import Axis
from dpverify.report.svg import Chart, Mark, Series
from dpverify.runtime.finding import VIOLATION, confidence_text
from dpverify.runtime.outside import printable

SCHEMA: Final = "dpverify-ledger/1"
MOST_LINES: Final = 8
"""Claims in one picture: more lines nobody tells apart."""

Claims = Sequence[Mapping[str, Any]]


def data(path: str, claims: Claims) -> str:
    """The answer as one JSON object."""
    told: dict[str, Any] = {"schema": SCHEMA, "ledger": path, "statement": statement(claims), "risk": _risk(claims)}
    return json.dumps({**told, "claims": [_claim(one) for one in claims]}, indent=1)


def statement(claims: Claims) -> str:
    """What all confidences of the ledger say of false alarms."""
    each = sorted({one["confidence"] for one in claims})
    risks = " or ".join(f"{1 - one:.3g}" for one in each)
    return (
        "However many nights and versions there are and whenever one stops: of a claim that its samplers keep, a finding is ever made with "
        f"probability at most {risks or 'what its confidence leaves'}; of any of {_some(len(claims), 'such claim')} here, with at most "
        f"{_risk(claims):.3g}."
    )


def text(path: str, claims: Claims) -> str:
    """The answer for people."""
    nights = [night for claim in claims for history in claim["histories"] for night in history["nights"]]
    samples = sum(one["samples"] for one in nights)
    lines = [f"{path}: {_some(len(claims), 'claim')}, {_some(len(nights), 'night')}, {samples} samples per input"]
    for claim in claims:
        where = f"{claim['file']}, " if claim["file"] else ""
        sure = confidence_text(claim["confidence"])
        lines += ["", f"{where}{claim['name']}: {claim['stated']}, confidence {sure}; sampler {claim['sampler']}"]
        for history in claim["histories"]:
            lines += _history(history)
    return "\n".join(map(printable, [*lines, "", statement(claims)]))


def _history(history: Mapping[str, Any]) -> Iterator[str]:
    versions = ", ".join(f"{one['code'][:8]} since {_day(one['since'])}" for one in history["versions"])
    begun = "" if history["inherited"] == "nothing" else f", with the {history['inherited']} of the one before"
    samples = sum(night["samples"] for night in history["nights"])
    yield f"  history {history['number']}{begun}: {samples} samples per input; sampler {versions}"
    for night in history["nights"]:
        found, said = night["finding"], night["state"]
        if found is not None:
            seen = found["detectable_epsilon"]
            said = found["finding"].replace("_", " ") + ("" if seen is None else f", would have found epsilon >= {seen:.4g}")
            said += f", epsilon > {found['epsilon_lower']:.4g}" if found["epsilon_lower"] > 0 else ""
        known = "" if night["evidence"] is None else f"evidence 10^{night['evidence']:.1f} of 10^{night['threshold']:.1f}, "
        yield f"    night {night['number']}, {_moment(night['began'])}: {night['samples']} samples, {known}{said}"


def picture(claims: Claims) -> str:
    """The evidence against each claim over its samples, in the history that began last, as a part of what it takes. Raises ValueError."""
    lines = []
    for claim in claims:
        history = claim["histories"][-1] if claim["histories"] else {"nights": []}
        nights = [night for night in history["nights"] if night["evidence"] is not None]
        ends = accumulate(night["samples"] for night in nights)
        points = [(float(end), night["evidence"] / night["threshold"]) for end, night in zip(ends, nights, strict=True)]
        if points:
            lines.append(Series(claim["name"], [[(0.0, 0.0), *points]]))
    if not lines:
        raise ValueError("no night has ended yet")
    if len(lines) > MOST_LINES:
        raise ValueError(f"{len(lines)} claims are too many lines for one picture, which holds {MOST_LINES}")
    title = "Evidence against the claims, night by night" if len(lines) > 1 else f"Evidence against {lines[0].label}, night by night"
    ends_at = "; ".join(f"{line.label}: {line.lines[0][-1][1]:.2f} after {line.lines[0][-1][0]:.0f} samples" for line in lines)
    return Chart(
        title, f"The logarithm of the evidence as a part of what it takes to say {VIOLATION}, at the end of each night. {ends_at}.",
        Axis("samples on each input, of all nights", low=0.0), Axis("log evidence / log of what it takes"), lines,
        [Mark(VIOLATION, 1.0, kind="threshold")],
    ).svg("ledger")  # fmt: skip


def _claim(claim: Mapping[str, Any]) -> dict[str, Any]:
    histories = [
        {
            "number": history["number"],
            "inherited": history["inherited"],
            "samples": sum(night["samples"] for night in history["nights"]),
            "versions": [{"code": one["code"], "since": _moment(one["since"]), "of": one["parts"]} for one in history["versions"]],
            "nights": [_night(night, history["versions"]) for night in history["nights"]],
        }
        for history in claim["histories"]
    ]
    return {**{key: claim[key] for key in ("file", "name", "sampler", "stated", "confidence")}, "histories": histories}


def _night(night: Mapping[str, Any], versions: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    found = night["finding"] or {}
    found = {key: None if value == math.inf else value for key, value in found.items()}  # which JSON has no number for
    codes = {one["id"]: one["code"] for one in versions}
    return {
        "number": night["number"], "code": codes[night["version"]], "began": _moment(night["began"]),
        "ended": None if night["ended"] is None else _moment(night["ended"]), "state": night["state"], "planned": night["planned"],
        "samples": night["samples"], "seed": night["root"], "log10_evidence": night["evidence"], "log10_threshold": night["threshold"],
        **{key: found.get(key) for key in ("finding", "level", "epsilon_lower", "detectable_epsilon", "event", "pair")},
        "made_with": night["made_with"],
    }  # fmt: skip


def _risk(claims: Claims) -> float:
    return float(sum(1 - one["confidence"] for one in claims))


def _some(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _day(seconds: float) -> str:
    return _moment(seconds)[:10]
