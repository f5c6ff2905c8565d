"""What came out, in a sentence and a few numbers; then everything that is not as its author expects."""

from __future__ import annotations

from collections.abc import Sequence

from dpverify.report.page.blocks import Badge, Block, Code, Fold, Inline, Items, Link, Paragraph, Section
from dpverify.report.page.subject import Run
from dpverify.report.results import Surprise

TITLE = ""
VERDICTS = ("PROVED", "REFUTED", "UNKNOWN", "VIOLATION", "NONCONFORMING", "NO_VIOLATION_SEEN")
_MEANS = {
    "PROVED": "a proof was found, and the kernel accepts it",
    "REFUTED": "the claim is false: two inputs and an event show it",
    "UNKNOWN": "neither was found; the reason says what stopped it",
    "VIOLATION": "samples of the implementation contradict the claim, at the stated confidence",
    "NONCONFORMING": "the implementation does not sample what is declared",
    "NO_VIOLATION_SEEN": "an audit that found nothing, with what it would have seen; never a proof",
}


def blocks(run: Run) -> Sequence[Block]:
    """The headline of a run."""
    results = run.results
    new = [one for one in results.surprises if not one.known]
    known = [one for one in results.surprises if one.known]
    said = "Everything is as expected." if not new else f"{len(new)} {'thing is' if len(new) == 1 else 'things are'} not as expected."
    outcomes = [(entry.verdict, entry.as_expected) for entry in results.entries]
    outcomes += [(finding.finding, finding.as_expected) for finding in results.findings]
    counts: list[Inline] = []
    for word in VERDICTS:
        expected = [fine for outcome, fine in outcomes if outcome == word]
        if expected:
            fine = "as expected" if all(expected) else f"{sum(expected)} as expected"
            counts.append((f"{len(expected)} ", Badge(word.replace("_", " "), all(expected)), f", {fine}: {_MEANS[word]}"))
    found: list[Block] = [Paragraph(f"{said} {results.summary[:1].upper()}{results.summary[1:]}."), Items(counts)]
    anchors = {(file.path, entry.claim.name): f"#{file.stem}-{i}" for file in run.files for i, entry in enumerate(file.entries, 1)}
    found += [Section("To look at", [_listed(new, anchors)])] if new else []
    found += [Fold(f"{len(known)} known from the baseline", [_listed(known, anchors)])] if known else []
    return found


def _listed(surprises: Sequence[Surprise], anchors: dict[tuple[str, str], str]) -> Items:
    items = []
    for one in surprises:
        word = "not answered" if one.rule == "FAULT" else one.rule.replace("_", " ")
        place = Link(f"{one.file}, line {one.line}", anchors[one.file, one.name]) if (one.file, one.name) in anchors else one.file
        head, *rest = (line.strip() for line in one.message.split("\n"))
        replay = [line.removeprefix("replay: ") for line in rest if line.startswith("replay: ")]
        said = "; ".join([head, *(line for line in rest if not line.startswith("replay: "))])
        items.append((Badge(word, fine=False), " ", place, f": {said}", *((". To see it again: ", Code(replay[0])) if replay else ())))
    return Items(items)
