"""The answer for people: a line a claim, what is not as expected in full, and at the end what all of it takes for granted."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from dpverify.catalogue.assumed import bare
from dpverify.report import Entry, asked, decimal, exact, findings, overview, quantity, short
from dpverify.report.enclosures import witness_text
from dpverify.report.phrases import advice, delta_text, replay, tight_text
from dpverify.report.results import UNCONFIRMED, Results
from dpverify.runtime.outside import named, printable
from dpverify.trusted.kernel.expr import format_expr
from dpverify.trusted.kernel.judgement import Judgement
from dpverify.trusted.kernel.model import Claim

ERROR_DIGITS: Final = 10
"""Of errors, for people."""
WIDTH: Final = 100
"""Columns of a line, where nothing narrower is known."""
_INDENT: Final = " " * 9
_LONGEST_NAME: Final = 28
"""Names that are longer push what follows to the right, or to the next line."""

Paint = Callable[[str, str], str]
"""Colours a text by a verdict; the identity where there is no terminal."""


class Detail(NamedTuple):
    """How much is told. quiet: the last line alone. full: all that is known of every claim.

    digits: of numbers; None for all asked for. overview: whether of many files, in few words. width: columns of a line.
    on_terminal: whether findings are broken into lines of this width too, which elsewhere keep one line each.
    """

    quiet: bool = False
    full: bool = False
    digits: int | None = 10
    overview: bool = False
    width: int = WIDTH
    on_terminal: bool = False


PLAIN: Final = Detail()
"""What is told where nobody asks for more or less."""


def render(
    results: Results,
    paint: Paint = lambda text, verdict: text,
    whole: str = "",
    detail: Detail = PLAIN,
) -> str:
    """The whole answer; of several files at a glance, each headed by its name. whole: the last line, if another."""
    last = whole or results.summary
    if detail.quiet:
        return last
    groups = [(file, list(group)) for file, group in groupby(results.entries, key=lambda entry: entry.file)]
    known = {(one.file, one.name) for one in results.surprises if one.known and one.source == "claim"}
    said: list[str] = []
    reasons: set[str] = set()
    heads = [file for file, _ in groups] if len(groups) > 1 else []
    if heads and detail.digits is not None and not detail.full:
        detail = detail._replace(overview=True)
        first, heads = overview.head(heads)
        said.extend(textwrap.wrap(printable(first), detail.width, break_long_words=False, break_on_hyphens=False))
    for number, (_, group) in enumerate(groups):
        said.extend(map(printable, heads[number : number + 1]))
        width = min(_LONGEST_NAME, max(len(printable(named(entry.claim.name))) for entry in group))
        for before, entry in zip([None, *group], group, strict=False):
            lines = claim_lines(entry, width, paint, detail, known=(entry.file, entry.claim.name) in known, before=before, reasons=reasons)
            said.extend(lines)
        if detail.full:
            said.extend(_listed("rules", [", ".join(_rules(group))], detail.width))
            said.extend(_listed("assumed", _assumed(group), detail.width))
    if not detail.full:
        said.extend(_listed("assumed", _assumed(results.entries), detail.width))
    if detail.overview:
        said.extend(overview.tail(results.entries))
    for one in results.surprises:
        if one.rule == UNCONFIRMED:
            said.extend(wrapped(printable(f"{'known from the baseline: ' if one.known else ''}{one.message}"), detail.width))
    said.extend(findings.lines(results.findings, paint, detail.width if detail.on_terminal else None))
    return "\n".join([*said, last])


def claim_lines(
    entry: Entry, width: int, paint: Paint, detail: Detail, *, known: bool = False, before: Entry | None = None,
    reasons: set[str] | None = None,
) -> Iterator[str]:  # fmt: skip
    """One claim: its line, and what shows a surprise below it.

    known: whether a baseline accepts that it is not as expected. before: the claim of the same file that is told just above.
    reasons: why errors are not known, as far as that has been said.
    """
    name, after = f"{printable(named(entry.claim.name)):{width}}", []
    if not entry.as_expected:
        after.append(f"expected {entry.expected}" + (", known from the baseline" if known else ""))
    after += [note.beside for note in entry.notes if note.beside]
    for known_of in _claimed(entry, detail, before):  # the fullest that a line holds
        first, *rest = _packed([name, *map(printable, known_of[:1]), *after, *map(printable, known_of[1:])], detail.width - len(_INDENT))
        if not rest or detail.full:
            break
    yield (paint(f"{entry.verdict:8}", entry.verdict) + f" {first}").rstrip()
    yield from (f"{_INDENT}{line}" for line in rest)
    for note in entry.notes:
        if not note.assumed and (before is None or note not in before.notes):
            yield from wrapped(printable(f"warning: {note.said}"))
    for line in _below(entry, detail, reasons):
        yield from wrapped(printable(line), detail.width)


def wrapped(text: str, width: int = WIDTH) -> list[str]:
    """A line below a claim's own, in as many lines as it takes."""
    if text.startswith("replay: "):
        return [f"{_INDENT}{text}"]  # to be copied
    broken = textwrap.wrap(
        text, width, initial_indent=_INDENT, subsequent_indent=f"{_INDENT}  ", break_long_words=False, break_on_hyphens=False
    )
    return broken or [_INDENT.rstrip()]


def _claimed(entry: Entry, detail: Detail, before: Entry | None = None) -> Iterator[list[str]]:
    """What is claimed and what is known of it: all, then without closed forms, then what is asked for alone."""
    if detail.overview:
        yield overview.stated(entry, before)
        return
    claim, digits = entry.claim, _digits(entry, detail)
    value, what = asked(claim), quantity(claim)
    numbers = [] if value is None else [f"{what} {short(value)}"]
    numbers += [] if claim.delta is None or short(claim.delta) == "0" else [f"delta {short(claim.delta)}"]
    numbers += [claim.order] if claim.order else []
    stated, told = [", ".join(numbers)] if numbers else [], delta_text(entry, digits)
    delta = [f"tight delta {told}"] if told else []
    if value is not None and claim.delta is not None and exact(entry.judgement) == format_expr(value):
        yield [f"{stated[0]} (tight)", *delta]
        return
    if before is not None and entry.as_expected and not detail.full and _same(entry, before, detail):
        yield [*stated, f"same tight {quantity(claim)}"]
        return
    epsilon = tight_text(entry, digits)
    for known in (epsilon, epsilon.partition(" = ")[2] or epsilon):
        yield [*stated, *([f"tight {what} {known}"] if known else []), *delta]
    if delta and value is not None:
        yield [*stated, *delta]


def _digits(entry: Entry, detail: Detail) -> int | None:
    return detail.digits and min(detail.digits, entry.digits)


def _same(entry: Entry, before: Entry, detail: Detail) -> bool:
    """Whether a claim that asks for nothing has the tight values that the claim above it has, of the same quantity at the same numbers."""

    def known(one: Entry) -> tuple[str, str, str]:
        return quantity(one.claim), tight_text(one, _digits(one, detail)), delta_text(one, _digits(one, detail))

    asks = asked(entry.claim) is None or entry.claim.delta is None
    return not asks and any(known(entry)[1:]) and known(entry) == known(before)


def _below(entry: Entry, detail: Detail, reasons: set[str] | None) -> Iterator[str]:
    """What is said below a claim's line."""
    telling = detail.full or not entry.as_expected
    if telling and entry.judgement is not None and entry.judgement.witness is not None:
        yield f"witness: {witness_text(entry.judgement.witness)}"
    if detail.full:
        from dpverify.report.derived import also

        yield from (f"{key}: {value}" for key, value in also(entry).items())
    if entry.claim.utility and not (detail.overview and entry.as_expected):
        yield from errors(entry.claim, entry.judgement, entry.digits, alone=detail.full, reasons=None if detail.full else reasons)
    if detail.full and entry.confirmed:
        yield f"confirmed by: {', '.join(entry.confirmed)}"
    if detail.full:
        yield f"time: {entry.seconds * 1000:.0f} ms"
    if telling and (said := advice(entry)):
        yield said
    if telling and entry.reason:
        yield f"reason: {entry.reason}"
    yield from (f"line {line}: {said}" for line, said in entry.paid)
    if entry.file and (not entry.as_expected or (detail.full and entry.verdict == "REFUTED")):
        yield replay(entry)


def errors(
    claim: Claim, judgement: Judgement | None, digits: int, *, alone: bool = True, reasons: set[str] | None = None
) -> Iterator[str]:
    """The errors that a claim asks for, one a line.

    alone: those of single coordinates too. reasons: why errors are not known, as far as that has been said; this claim's are added.
    """
    from dpverify.report import utility  # of few claims

    shown = min(digits, ERROR_DIGITS)
    said: set[str] = set() if reasons is None else reasons
    neighbours = utility.neighbours(claim)
    for one in utility.told(claim, judgement, lambda bound, side: decimal(bound, shown, side)):
        if alone or not one.alone:
            yield one.text(neighbours, said)
            neighbours = "" if one.rule else neighbours


def _packed(parts: Sequence[str], width: int) -> list[str]:
    """Parts in as few lines as hold them, two spaces apart."""
    lines = [""]
    for part in parts:
        if not lines[-1]:
            lines[-1] = part
        elif len(lines[-1]) + 2 + len(part) <= width:
            lines[-1] += f"  {part}"
        else:
            lines.append(part)
    return lines


def _assumed(entries: Sequence[Entry]) -> list[str]:
    """What the judgements take for granted, each thing once."""
    assumed = dict.fromkeys(line for entry in entries for line in entry.assumptions)
    # what the verdict of one claim rests on is not said again for a bound of another
    return [line for line in assumed if bare(line) == line or bare(line) not in assumed]


def _rules(entries: Sequence[Entry]) -> list[str]:
    return list(dict.fromkeys(name for entry in entries if entry.judgement is not None for name in entry.judgement.rules))


def _listed(title: str, lines: Sequence[str], width: int) -> Iterator[str]:
    """Lines beside a title in the column of verdicts."""
    for line in lines:
        broken = textwrap.wrap(
            printable(line), width - len(_INDENT), subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
        )
        for one in broken:
            yield f"{title:8} {one}"
            title = ""
