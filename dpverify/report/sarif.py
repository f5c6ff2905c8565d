"""SARIF 2.1.0: everything that is not as expected, at the line of its claim; what could not be answered, as a failed invocation.

Made for GitHub's code scanning and for readers that hold to the standard. There is no automationDetails.id: one in the log would take the
place of the category that a workflow gives its upload, and then the uploads of two jobs would overwrite each other.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from dpverify.report.markdown import literal
from dpverify.report.results import NOTE_RULES, RULES, Results, Surprise
from dpverify.report.sarif_rules import descriptor
from dpverify.report.sources import Related, Sources, resolved, root_of_repository
from dpverify.runtime.version import __version__

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
MOST_RESULTS: Final = 5_000
"""As many as code scanning shows of one run; the gravest are kept, and what is left out is counted in a notification."""
_MOST_CONTEXT: Final = 4_000
"""Characters of a claim that are shown beside its line."""
_ROOT: Final = "%SRCROOT%"
_TOLD: Final = {**RULES, **NOTE_RULES}
_PLACES: Final = list(_TOLD)


def render(results: Results) -> str:
    """The answer as one SARIF log."""
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [_Log(root_of_repository()).run(results)]}, indent=1)


@dataclass(frozen=True, slots=True)
class _Log:
    """One log, whose places are named from `root`."""

    root: Path
    sources: Sources = field(default_factory=Sources)

    def run(self, results: Results) -> dict[str, Any]:
        surprises = results.surprises
        faults = [surprise for surprise in surprises if surprise.rule == "FAULT"]
        answers = [*(surprise for surprise in surprises if surprise.rule != "FAULT"), *results.warnings]
        kept = gravest(answers, MOST_RESULTS)
        told = [{"level": "error", "message": {"text": fault.message}, "locations": [self._at_claim(fault)]} for fault in faults]
        if left_out := len(answers) - len(kept):
            text = f"{left_out} of {len(answers)} results are left out, the least grave: code scanning shows at most {MOST_RESULTS}."
            told.append({"level": "warning", "message": {"text": text}})
        return {
            "tool": {"driver": {"name": "dpverify", "semanticVersion": __version__, "rules": [descriptor(rule) for rule in _TOLD]}},
            "columnKind": "utf16CodeUnits",
            "originalUriBaseIds": {_ROOT: {"description": {"text": "The root of the repository that holds the claim files."}}},
            "invocations": [{"executionSuccessful": not faults, "toolExecutionNotifications": told}],
            "results": [self._result(surprise) for surprise in kept],
        }

    def _result(self, surprise: Surprise) -> dict[str, Any]:
        related = [one for one in self.sources.related(surprise.file) if self._is_inside(one.path)]
        result = {
            "ruleId": surprise.rule,
            "ruleIndex": _PLACES.index(surprise.rule),
            "level": surprise.level,
            "message": {"text": _text(surprise.message, related), "markdown": _markdown(surprise, related)},
            "locations": [self._at_claim(surprise)],
            "partialFingerprints": {"primaryLocationLineHash": surprise.fingerprint, "dpverify/v1": surprise.fingerprint},
        }
        told = [self._related(number, one) for number, one in enumerate(related, 1)]
        told += [self._spoken_of(number, surprise.file, *place) for number, place in enumerate(surprise.places, len(related) + 1)]
        if told:
            result["relatedLocations"] = told
        if surprise.known:
            result["suppressions"] = [{"kind": "external", "status": "accepted", "justification": "Accepted by the baseline."}]
        return result

    def _at_claim(self, surprise: Surprise) -> dict[str, Any]:
        place = {"artifactLocation": self._artifact(surprise.file), "region": self._region(surprise.file, surprise.line)}
        claim = self.sources.claim(surprise.file, surprise.line)
        text = "\n".join(claim)
        if len(claim) > 1 and len(text) <= _MOST_CONTEXT:
            place["contextRegion"] = {
                "startLine": surprise.line,
                "startColumn": 1,
                "endLine": surprise.line + len(claim) - 1,
                "endColumn": _end_column(claim[-1]),
                "snippet": {"text": text},
            }
        return {"physicalLocation": place, "logicalLocations": [{"name": surprise.name, "kind": "member"}]}

    def _related(self, number: int, one: Related) -> dict[str, Any]:
        place = {"artifactLocation": self._artifact(str(one.path)), "region": self._region(str(one.path), one.line)}
        return {"id": number, "message": {"text": f"The {one.what} that the claim file names."}, "physicalLocation": place}

    def _spoken_of(self, number: int, file: str, line: int, said: str) -> dict[str, Any]:
        place = {"artifactLocation": self._artifact(file), "region": self._region(file, line)}
        return {"id": number, "message": {"text": said}, "physicalLocation": place}

    def _region(self, file: str, line: int) -> dict[str, Any]:
        """A whole line, with what it says where it can be read."""
        text = next(iter(self.sources.lines(file)[line - 1 : line]), "")
        if not text or len(text) > _MOST_CONTEXT:
            return {"startLine": line}
        return {"startLine": line, "startColumn": 1, "endLine": line, "endColumn": _end_column(text), "snippet": {"text": text}}

    def _artifact(self, file: str) -> dict[str, str]:
        """A file by its name from the root, links followed; one outside by an absolute address."""
        path = resolved(file)
        if path.is_relative_to(self.root):
            return {"uri": quote(os.fsencode(path.relative_to(self.root).as_posix())), "uriBaseId": _ROOT}
        return {"uri": path.as_uri()}

    def _is_inside(self, path: Path) -> bool:
        return resolved(path).is_relative_to(self.root)


def gravest(surprises: Sequence[Surprise], most: int) -> Sequence[Surprise]:
    """At most so many, in their order: those that no baseline accepts before those that one does, errors before warnings."""
    ranked = sorted(range(len(surprises)), key=lambda place: (surprises[place].known, surprises[place].level != "error"))
    return [surprises[place] for place in sorted(ranked[:most])]


def _text(message: str, related: Iterable[Related]) -> str:
    """A message whose last sentence links to the related locations; what only looks like a link is none."""
    plain = re.sub(r"\[(?=[^\]]*\]\()", r"\\[", message)
    links = " and ".join(f"the [{one.what}]({number})" for number, one in enumerate(related, 1))
    return f"{plain}\nSee {links}." if links else plain


def _markdown(surprise: Surprise, related: Iterable[Related]) -> str:
    links = " and ".join(f"the [{one.what}]({number})" for number, one in enumerate(related, 1))
    code = [f"    {line}" for line in surprise.message.split("\n")]
    lines = [f"**{literal(surprise.name)}**: {literal(_TOLD[surprise.rule])}", "", *code]
    return "\n".join([*lines, "", f"See {links}."] if links else lines)


def _end_column(line: str) -> int:
    """The column after a line, in UTF-16 code units."""
    return len(line.encode("utf-16-le", "surrogatepass")) // 2 + 1
