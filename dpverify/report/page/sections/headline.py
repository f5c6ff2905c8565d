"""What came out, in a sentence and a few numbers; then everything that is not as its author expects."""

from __future__ import annotations

from collections.abc import Sequence

from dpverify.report import Entry, quantity, words
from dpverify.report.enclosures import witness_text
from dpverify.report.page.blocks import Badge, Block, Callout, Code, Facts, Fold, Inline, Items, Link, Listing, Section
from dpverify.report.page.sections.claims import tight, tight_delta
from dpverify.report.page.subject import Run
from dpverify.report.results import UNCONFIRMED, Surprise, confirmed_summary

TITLE = ""
VERDICTS = ("PROVED", "REFUTED", "UNKNOWN", "VIOLATION", "NONCONFORMING", "NO_VIOLATION_SEEN")
_MEANS = {
    "PROVED": "a proof was found, and the kernel accepts it",
    "REFUTED": "the claim is false, and a proof of that was found",
    "UNKNOWN": "neither was found; the reason says what stopped it",
    "VIOLATION": "a statistical finding: samples of the implementation contradict the claim, at the stated confidence",
    "NONCONFORMING": "a statistical finding: the implementation does not sample what is declared, at the stated confidence",
    "NO_VIOLATION_SEEN": "an audit that found nothing, with what it would have seen; never a proof",
}
_REPLAY = "replay: "


def blocks(run: Run) -> Sequence[Block]:
    """The headline of a run."""
    surprises = run.results.surprises
    new, known = [one for one in surprises if not one.known], [one for one in surprises if one.known]
    said = "Everything is as expected."
    if new:
        said = f"{len(new)} {'thing is' if len(new) == 1 else 'things are'} not as expected."
    elif known:
        said = "Nothing new: all that is not as expected is known from the baseline."
    summary = run.results.summary.replace("_", " ")
    head: list[Block] = [Callout(f"{said} {summary[:1].upper()}{summary[1:]}.", not new), *_made(run), Items(_counts(run))]
    head += [Section("Needs attention", _listed(new, run), anchor=":to-look-at")] if new else []
    if warnings := run.results.warnings:
        noted: list[Inline] = [f"{one.file}, line {one.line}: {one.message}" for one in warnings]
        head += [Fold(f"{words.count(len(warnings), 'warning')}: what authors of claims may not mean", [Items(noted)])]
    head += [Fold(f"{len(known)} known from the baseline", _listed(known, run))] if known else []
    return head


def _made(run: Run) -> list[Block]:
    """Of what the report is, and by what; of one that is to be signed also when, of which commit, and by which command."""
    made = run.results.made
    if made is None:
        return []
    rows: list[tuple[str, Inline]] = [("project", made.project)] if made.project else []
    rows += [("date", made.date)] if made.signed else []
    rows += [("commit", Code(made.commit))] if made.commit else []
    rows += [("command", Code(made.command))] if made.command else []
    return [Facts([*rows, ("versions", ", ".join(f"{name} {version}" for name, version in made.versions))])]


def _counts(run: Run) -> list[Inline]:
    """How often each outcome came out, how many of them nobody expects, and what it means."""
    outcomes = [(entry.verdict, entry.as_expected) for entry in run.results.entries]
    outcomes += [(finding.finding, finding.as_expected) for finding in run.results.findings]
    counts: list[Inline] = []
    for word in VERDICTS:
        expected = [fine for outcome, fine in outcomes if outcome == word]
        if expected:
            wrong = len(expected) - sum(expected)
            surprise: tuple[Inline, ...] = (". ", Badge(f"{wrong} not as expected", fine=False)) if wrong else ()
            counts.append((f"{len(expected)} ", Badge(word.replace("_", " ")), f": {_MEANS[word]}", *surprise))
    if run.results.faults:
        counts.append((f"{len(run.results.faults)} ", Badge("not audited", fine=False), ": the sampler could not be run to the end"))
    if ways := confirmed_summary(run.results.entries):
        counts.append(f"{ways[:1].upper()}{ways[1:]}")
    return counts


def _listed(surprises: Sequence[Surprise], run: Run) -> list[Block]:
    """A line for each, leading to its claim, and what finds all of them again."""
    claims = {(file.path, one.entry.claim.name): one for file in run.files for one in file.claims}
    items: list[Inline] = []
    replays: list[str] = []
    for one in surprises:
        word = "not answered" if one.source == "claim" else "not audited"
        badge = Badge(word if one.rule == "FAULT" else one.rule.replace("_", " "), fine=False)
        lines = [line.strip() for line in one.message.split("\n")]
        claimed = claims.get((one.file, one.name))
        if claimed is None:
            items.append((badge, f" {one.file}, {one.name}: {lines[0]}"))
        else:
            said = _audit(lines, one) if one.source == "audit" else lines[0] if one.rule == UNCONFIRMED else _claim(claimed.entry)
            items.append((badge, " ", Link(f"{claimed.file.stem}: {one.name}", claimed.address), f" (line {one.line}). {said}"))
        replays += [line.removeprefix(_REPLAY) for line in lines if line.startswith(_REPLAY)]
    again = Fold("Commands to reproduce", [Listing("\n".join(dict.fromkeys(replays)))])
    return [Items(items), *([again] if replays else [])]


def _claim(entry: Entry) -> str:
    """A claim that is not as expected: what is claimed, what was expected, what is known instead."""
    said = f"Claimed: {words.guarantee(entry.claim)}; expected {entry.expected}."
    known = [
        f"{what} {enclosed}"
        for what, enclosed in ((f"tight {quantity(entry.claim)}", tight(entry)), ("tight delta", tight_delta(entry)))
        if enclosed
    ]
    said += f" Known: {', '.join(known)}." if known else ""
    witness = entry.judgement.witness if entry.judgement is not None else None
    if witness and "at" in witness:
        said += f" It fails at {witness_text(witness['at'])}."
    return said + (f" {entry.reason[:1].upper()}{entry.reason[1:]}" if entry.reason else "")


def _audit(lines: Sequence[str], one: Surprise) -> str:
    """What an audit says: its first line, and what was seen."""
    return "; ".join([lines[0].removeprefix(f"{one.name}: "), *(line for line in lines[1:] if line.startswith(("event:", "inputs:")))])
