"""The answer for people: the verdict first, then why, then what was assumed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Final

from dpverify.ground.outside import printable
from dpverify.report import Entry, decimal, findings, short, utility
from dpverify.report.derived import also
from dpverify.report.phrases import advice, delta_text, replay, tight_text, witness_text
from dpverify.report.results import Results
from dpverify.trusted.kernel import Judgement
from dpverify.trusted.language.model import Claim

ERROR_DIGITS: Final = 10
"""Of errors, for people."""

Paint = Callable[[str, str], str]
"""Colours a text by a verdict; the identity where there is no terminal."""


def render(results: Results, paint: Paint = lambda text, verdict: text, whole: str = "") -> str:
    """The whole answer; files are headed by their names where there are several. whole: the last line, if another."""
    groups = [(file, list(group)) for file, group in groupby(results.entries, key=lambda entry: entry.file)]
    known = {(one.file, one.name) for one in results.surprises if one.known and one.source == "claim"}
    said: list[str] = []
    for file, group in groups:
        if len(groups) > 1:
            said.append(printable(file))
        width = max(len(entry.claim.name) for entry in group)
        for entry in group:
            said.extend(claim_lines(entry, width, paint, known=(entry.file, entry.claim.name) in known))
        said.extend(map(printable, _footer(group)))
    said.extend(findings.lines(results.findings, paint))
    return "\n".join([*said, whole or results.summary])


def claim_lines(entry: Entry, width: int, paint: Paint, *, known: bool = False) -> Iterator[str]:
    """One claim: its line, and the witness or the reason below it. known: whether a baseline accepts that it is not as expected."""
    delta = "" if short(entry.claim.delta) == "0" else f"  delta {short(entry.claim.delta)}"
    parts = [f"eps {short(entry.claim.epsilon)}{delta}"]
    parts += [told for told in (tight_text(entry), delta_text(entry)) if told]
    parts.append(f"{entry.seconds * 1000:.0f} ms")
    if not entry.as_expected:
        parts.append(f"expected {entry.expected}" + (", known from the baseline" if known else ""))
    yield paint(f"{entry.verdict:8}", entry.verdict) + printable(f" {entry.claim.name:{width}}   {'   '.join(parts)}")
    yield from map(printable, _below(entry))


def _below(entry: Entry) -> Iterator[str]:
    """What is said below a claim's line."""
    if entry.judgement is not None and entry.judgement.witness is not None:
        yield f"         witness: {witness_text(entry.judgement.witness)}"
    for key, value in also(entry).items():
        yield f"         {key}: {value}"
    yield from (f"         {line}" for line in errors(entry.claim, entry.judgement, entry.digits))
    if entry.verdict == "REFUTED" and not entry.as_expected and (said := advice(entry)):
        yield f"         {said}"
    if entry.reason:
        yield f"         reason: {entry.reason}"
    if entry.file and (entry.verdict == "REFUTED" or not entry.as_expected):
        yield f"         {replay(entry)}"


def errors(claim: Claim, judgement: Judgement | None, digits: int) -> Iterator[str]:
    """The errors that a claim asks for, one a line."""
    shown = min(digits, ERROR_DIGITS)
    for one in utility.told(claim, judgement, lambda bound, side: decimal(bound, shown, side)):
        yield one.text(utility.neighbours(claim))


def _footer(group: Sequence[Entry]) -> Iterator[str]:
    judgements = [entry.judgement for entry in group if entry.judgement is not None]
    assumed = dict.fromkeys(line for judgement in judgements for line in judgement.assumptions)
    # what the verdict of one claim rests on is not said again for a bound of another
    assumed = dict.fromkeys(line for line in assumed if line.partition(" bound: ")[2] not in assumed)
    rules = dict.fromkeys(name for judgement in judgements for name in judgement.rules)
    if rules:
        yield f"assumed: {'; '.join(assumed) or 'nothing'}      rules: {', '.join(rules)}"
