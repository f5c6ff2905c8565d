"""What a run found: judged claims, findings of audits, audits that could not be made. Every format renders this one object."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Final, NamedTuple

from dpverify.catalogue import shelf
from dpverify.catalogue.notes import UNSTATED, UNUSED, ZERO, Note
from dpverify.report import Entry
from dpverify.report import summary as claims_summary
from dpverify.report.phrases import replay, surprise_text
from dpverify.runtime.finding import NO_VIOLATION_SEEN, NONCONFORMING, VIOLATION, Finding
from dpverify.trusted.kernel.canonical_form import claim_hash, to_json

if TYPE_CHECKING:
    from dpverify.project.made import Made

UNCONFIRMED: Final = "UNCONFIRMED"
CLAIM_RULES: Final[Mapping[str, str]] = {
    "REFUTED": "A claim that was expected to hold is refuted.",
    "PROVED": "A claim that was expected to fail is proved.",
    "UNKNOWN": "A claim is neither proved nor refuted.",
    UNCONFIRMED: "A verdict is not confirmed in a way that the run requires.",
}
AUDIT_RULES: Final[Mapping[str, str]] = {
    VIOLATION: "A sampled implementation violates the privacy that is claimed of it.",
    NONCONFORMING: "A sampled implementation does not sample the declared density.",
}
RULES: Final[Mapping[str, str]] = {**CLAIM_RULES, **AUDIT_RULES}
"""What can be wrong with a claim, by the verdict or the finding that says so."""
NOTE_RULES: Final[Mapping[str, str]] = {
    UNSTATED: "A sensitivity is not stated, and taken to be 1.",
    UNUSED: "A parameter is used nowhere.",
    ZERO: "A sensitivity is 0.",
}
"""What the author of a claim may not mean, which fails no run."""


UNREAD: Final = "not read"
"""What is said of a claim file that could not be read."""


class Fault(NamedTuple):
    """An audit that could not be made, or a mechanism that could not be run, which is never a pass: of which claim, why, the exit code.

    The code is 3 for a fault of dpverify itself, and 0 for an audit that was not to be made, since no code may be run. place: the line and
    column of what is wrong in a claim file, where that is known.
    """

    file: str
    name: str
    error: str
    code: int = 2
    what: str = "not audited"
    place: tuple[int, int] | None = None


class Surprise(NamedTuple):
    """One thing that a claim's author does not expect. source: "claim", "audit", or "note" for what fails no run.

    rule: of RULES, or "FAULT" where there is no answer; of NOTE_RULES for a note.

    level: "error" or "warning". line: of the claim in its file. message: in a sentence or two. fingerprint: the same for as long as the
    claim and what is said of it are the same, wherever it stands in its file. known: whether a baseline accepts it. places: lines of the
    file that it speaks of, and what there is to say of each.
    """

    source: str
    rule: str
    level: str
    file: str
    line: int
    name: str
    title: str
    message: str
    fingerprint: str
    known: bool = False
    column: int | None = None
    places: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Results:
    """The outcome of a run.

    entries: judged claims; findings, faults: of audits. lines: the line of each audited claim, by file and name.
    audited: the digest of what each audited claim and its [audit] table say, by file and name.
    known: fingerprints that a baseline accepts: they are shown, and do not fail a run.
    made: how the run came to be, where a report tells.
    required: ways in which each verdict has to be confirmed.
    root: the folder that fingerprints name files from, so that they are the same in every working directory; without it they name files
    as the run does.
    """

    entries: Sequence[Entry] = ()
    findings: Sequence[Finding] = ()
    faults: Sequence[Fault] = ()
    lines: Mapping[tuple[str, str], int] = field(default_factory=dict)
    known: frozenset[str] = frozenset()
    audited: Mapping[tuple[str, str], str] = field(default_factory=dict)
    root: Path | None = None
    made: Made | None = None
    required: tuple[str, ...] = ()

    def place(self, file: str) -> str:
        """A claim file's name as fingerprints have it: from the root, or from the shelf that every machine has."""
        if self.root is None:
            return PurePath(file).as_posix()
        path, root, shelved = (Path(os.path.realpath(one)) for one in (file, self.root, shelf()))
        if shelved in path.parents and root not in path.parents:
            return f"shelf:{path.relative_to(shelved).as_posix()}"
        try:
            return PurePath(os.path.relpath(path, root)).as_posix()
        except ValueError:  # another drive
            return path.as_posix()

    @property
    def surprises(self) -> list[Surprise]:
        """Everything that is not as expected, in the order in which it was found; what a baseline accepts is marked."""
        return [*self._of_claims(), *self._unconfirmed(), *self._of_audits()]

    @property
    def warnings(self) -> list[Surprise]:
        """What the authors of claims may not mean, once for each file."""
        found: dict[tuple[str, Note], Surprise] = {}
        for entry in self.entries:
            for note in entry.notes:
                mark = _fingerprint(self.place(entry.file), "", note.rule, note.said)
                title, where = f"{entry.mechanism}: {NOTE_RULES[note.rule].rstrip('.')}", (entry.file, entry.line, entry.claim.name)
                found.setdefault((entry.file, note), Surprise("note", note.rule, "warning", *where, title, note.said, mark))
        return list(found.values())

    @property
    def exit_code(self) -> int:
        """3: dpverify failed; 2: an audit could not be made; 1: a verdict other than expected or a finding; 4: undecided; else 0."""
        codes = {3 for entry in self.entries if entry.fault} | {fault.code for fault in self.faults}
        new = {surprise.rule for surprise in self.surprises if not surprise.known} - {"FAULT"}
        codes |= ({4} if "UNKNOWN" in new else set()) | ({1} if new - {"UNKNOWN"} else set())
        return next((code for code in (3, 2, 1, 4) if code in codes), 0)

    @property
    def summary(self) -> str:
        """The last line of an answer: how many claims, how many as expected, what audits found, what a baseline accepts."""
        faults = [fault for fault in self.faults if fault.what != UNREAD]
        unread = len({fault.file for fault in self.faults if fault.what == UNREAD})
        audited = bool(self.findings or faults)
        said = [claims_summary(self.entries, audited=audited)] if self.entries or not (audited or unread) else []
        said += [audits_summary(self.findings, faults)] if audited else []
        said += [f"{unread} file{'' if unread == 1 else 's'} {UNREAD}"] if unread else []
        known = sum(surprise.known for surprise in self.surprises)
        return "; ".join([*said, f"{known} known from the baseline"] if known else said)

    def _of_claims(self) -> Iterator[Surprise]:
        for entry in self.entries:
            if entry.as_expected:
                continue
            rule = "FAULT" if entry.fault else entry.verdict
            level = "warning" if rule == "UNKNOWN" else "error"
            mark = _fingerprint(self.place(entry.file), entry.claim.name, rule, claim_hash(to_json(entry.claim)))
            title, known = f"{entry.mechanism}: {entry.verdict}", mark in self.known and rule != "FAULT"
            said = "\n".join([surprise_text(entry), *(f"Line {line}: {what}" for line, what in entry.paid), replay(entry)])
            where = (entry.file, entry.line, entry.claim.name)
            yield Surprise("claim", rule, level, *where, title, said, mark, known=known, places=entry.paid)

    def _unconfirmed(self) -> Iterator[Surprise]:
        for entry in self.entries:
            lacking = [way for way in self.required if entry.confirmed and way not in entry.confirmed]
            if not lacking:
                continue
            mark = _fingerprint(self.place(entry.file), entry.claim.name, UNCONFIRMED, claim_hash(to_json(entry.claim)))
            by, title = by_which(entry.confirmed or ()), f"{entry.mechanism}: {entry.verdict}, not confirmed"
            said = f"{entry.claim.name}: {entry.verdict}, confirmed by {by} alone; this run requires {by_which(lacking)}."
            yield Surprise("claim", UNCONFIRMED, "error", entry.file, entry.line, entry.claim.name, title, said, mark, mark in self.known)

    def _of_audits(self) -> Iterator[Surprise]:
        for finding in self.findings:
            if finding.as_expected:
                continue
            what = self.audited.get((finding.file, finding.name), f"{finding.epsilon} {finding.delta}")
            mark = _fingerprint(self.place(finding.file), finding.name, finding.finding, f"{finding.level} {what}")
            line = self.lines.get((finding.file, finding.name), 1)
            title, said = f"{Path(finding.file).stem}: {finding.finding}", f"{finding.name}: {finding.text()}"
            yield Surprise("audit", finding.finding, "error", finding.file, line, finding.name, title, said, mark, known=mark in self.known)
        for fault in self.faults:
            mark = _fingerprint(self.place(fault.file), fault.name, "FAULT", "")
            line, column = fault.place or (self.lines.get((fault.file, fault.name), 1), None)
            level, said = "error" if fault.code else "warning", f"{fault.name}: {fault.error}"
            yield Surprise("audit", "FAULT", level, fault.file, line, fault.name, fault.what, said, mark, column=column)


def by_which(ways: Sequence[str]) -> str:
    """Ways of confirming a verdict, as a sentence goes on after "confirmed by"."""
    return " and ".join(way if way == "Coq" else f"the {way}" for way in ways)


def confirmed_summary(entries: Sequence[Entry]) -> str:
    """How many decided claims are confirmed in which ways; empty where nobody asked."""
    held = [entry.confirmed for entry in entries if entry.confirmed]
    counts = {way: sum(way in ways for ways in held) for way in dict.fromkeys(way for ways in held for way in ways)}
    first, *others = [f"{count} by {by_which([way])}" for way, count in counts.items()] or [""]
    return f"confirmed: {first}" + "".join(f", {one} too" for one in others) if first else ""


def audits_summary(findings: Sequence[Finding], faults: Sequence[Fault] = ()) -> str:
    """How many claims were audited, and what was found."""
    kinds = [finding.finding for finding in findings]
    counts = [f"{kinds.count(name)} {name}" for name in (VIOLATION, NONCONFORMING, NO_VIOLATION_SEEN) if name in kinds]
    said = [fault.what for fault in faults]
    counts += [f"{said.count(what)} {what}" for what in dict.fromkeys(said)]
    claims = len({(finding.file, finding.name) for finding in findings} | {(fault.file, fault.name) for fault in faults})
    return f"{claims} claim{'' if claims == 1 else 's'} audited: {', '.join(counts)}"


def _fingerprint(place: str, name: str, rule: str, what: str) -> str:
    """Of a surprise: nothing in it depends on the line, the machine, the time or the version."""
    return sha256(json.dumps(["dpverify-fingerprint/1", place, name, rule, what]).encode()).hexdigest()
