"""The answer for people: the verdict first, then why, then what was assumed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from shlex import quote
from typing import TYPE_CHECKING, Any

from dpverify.report import Entry, ceiling, delta_enclosure, enclosure, exact, findings, short
from dpverify.report.derived import also
from dpverify.trusted.language.outside import printable

if TYPE_CHECKING:
    from dpverify.report.results import Results

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
    if entry.reason:
        yield f"         reason: {entry.reason}"
    if entry.verdict == "REFUTED" or not entry.as_expected:
        yield f"         {replay(entry)}"


def surprise_text(entry: Entry) -> str:
    """A claim that is not as expected, in a sentence or two."""
    witness = entry.judgement.witness if entry.judgement else None
    said = [f"{entry.claim.name}: {entry.verdict} at eps {short(entry.claim.epsilon)}, expected {entry.expected}."]
    said += [tight_text(entry), f"witness: {witness_text(witness)}" if witness else "", entry.reason or ""]
    return " ".join(part for part in said if part)


def replay(entry: Entry) -> str:
    """The line that judges a claim once more."""
    file = f"./{entry.file}" if entry.file.startswith("-") else entry.file
    return f"replay: dpverify verify {quote(file)} --claim {quote(entry.claim.name)} --digits {entry.digits}"


def tight_text(entry: Entry) -> str:
    """The tight epsilon as far as it is known."""
    lower, upper = enclosure(entry.judgement, entry.digits)
    formula = exact(entry.judgement)
    if formula is not None and not formula.replace("/", "").isdigit():
        return f"tight: {formula}" + (f" = {lower}..." if lower and lower != upper else "")
    if lower is not None and upper is not None:
        return f"tight: {lower}" if lower == upper else f"tight: {common(lower, upper)}"
    if lower is not None:
        return f"tight: at least {lower}"
    bound = upper or ceiling(entry.judgement)
    return f"tight: at most {bound}" if bound else ""


def delta_text(entry: Entry) -> str:
    """The tight delta as far as it is known, where it is not plainly 0."""
    lower, upper = delta_enclosure(entry.judgement, entry.digits)
    if upper in (None, "0") and lower in (None, "0"):
        return ""
    if lower is None or upper is None:
        return f"tight delta: at most {upper}" if upper is not None else f"tight delta: at least {lower}"
    return f"tight delta: {lower if lower == upper else common(lower, upper)}"


def common(lower: str, upper: str) -> str:
    """Two decimals as the digits that they share, or as an interval where that would say too little."""
    shared = next((i for i, (a, b) in enumerate(zip(lower, upper, strict=False)) if a != b), min(len(lower), len(upper)))
    same_shape = len(lower) == len(upper) and "e" not in lower and "." in lower[:shared]
    return f"{lower[:shared]}..." if same_shape and shared > 8 else f"in [{lower}, {upper}]"


def witness_text(witness: Mapping[str, Any]) -> str:
    """A witness on one line."""
    return ", ".join(f"{key} = {plain(value)}" for key, value in witness.items())


def plain(value: Any) -> str:
    """A value of a witness on one line."""
    if isinstance(value, Mapping):
        return "(" + witness_text(value) + ")"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(plain(item) for item in value) + "]"
    return str(value)


def _footer(group: Sequence[Entry]) -> Iterator[str]:
    judgements = [entry.judgement for entry in group if entry.judgement is not None]
    assumed = dict.fromkeys(line for judgement in judgements for line in judgement.assumptions)
    # what the verdict of one claim rests on is not said again for a bound of another
    assumed = dict.fromkeys(line for line in assumed if line.partition(" bound: ")[2] not in assumed)
    rules = dict.fromkeys(name for judgement in judgements for name in judgement.rules)
    if rules:
        yield f"assumed: {'; '.join(assumed) or 'nothing'}      rules: {', '.join(rules)}"
