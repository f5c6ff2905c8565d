"""Markdown for a pull request: what is wrong first, the rest folded; never longer than a comment may be."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from dpverify.report.results import Results, Surprise
from dpverify.runtime.outside import printable, printable_lines

LIMIT: Final = 60_000
"""Characters; a comment holds 65,536."""
_SHOWN: Final = 50
"""As many surprises as are told in full."""


def render(results: Results) -> str:
    """The answer as Markdown: the headline, everything that is not as expected, then a table of files."""
    surprises = [one for one in results.surprises if not one.known]
    lines = [f"## dpverify: {'all as expected' if not surprises else f'{len(surprises)} to look at'}", "", f"{results.summary}.", ""]
    for one in surprises[:_SHOWN]:
        lines += [f"### {literal(one.title)}, {literal(one.name)}", "", f"{code_span(one.file)}, line {one.line}", ""]
        lines += [*fenced(one.message), ""]
    if len(surprises) > _SHOWN:
        lines += [f"{len(surprises) - _SHOWN} more are in the report.", ""]
    if warnings := results.warnings:
        lines += ["### Warnings", "", *(f"- {literal(one.file)}, line {one.line}: {literal(one.message)}" for one in warnings[:_SHOWN]), ""]
    lines += _files(results)
    lines += _audits(results)
    said = "\n".join(lines)
    return said if len(said) <= LIMIT else said[: LIMIT - 100].rpartition("\n")[0] + "\n\n... cut here: the rest is in the report.\n"


def fenced(message: str) -> Sequence[str]:
    """Foreign text as a block that nothing in it ends, line by line."""
    fence = "`" * max(3, 1 + _longest_run(message))
    return [f"{fence}text", printable_lines(message), fence]


def _files(results: Results) -> Iterator[str]:
    wrong: dict[str, list[Surprise]] = {}
    for one in results.surprises:
        wrong.setdefault(one.file, []).append(one)
    files = dict.fromkeys([*(e.file for e in results.entries), *(f.file for f in results.findings), *(f.file for f in results.faults)])
    if not files:
        return
    yield f"<details><summary>{len(files)} file{'' if len(files) == 1 else 's'}</summary>"
    yield from ("", "| file | claims | audits | to look at |", "| --- | --- | --- | --- |")
    for file in files:
        verdicts = [entry.verdict for entry in results.entries if entry.file == file]
        kinds = [finding.finding for finding in results.findings if finding.file == file]
        new = sum(not one.known for one in wrong.get(file, []))
        yield f"| {literal(file)} | {_counts(verdicts)} | {_counts(kinds)} | {new or ''} |"
    yield from ("", "</details>")


def _audits(results: Results) -> Iterator[str]:
    if not results.findings:
        return
    count = len(results.findings)
    yield from ("", f"<details><summary>{count} finding{'' if count == 1 else 's'} of audits</summary>", "")
    yield from ("| finding | level | file | claim | claimed epsilon | epsilon above | detectable | samples per input |", f"|{' --- |' * 8}")
    for one in results.findings:
        numbers = (_number(one.epsilon), _number(one.epsilon_lower), _number(one.detectable_epsilon), str(one.samples))
        yield f"| {' | '.join((one.finding, one.level, literal(one.file), literal(one.name), *numbers))} |"
    yield from ("", "</details>")


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.5g}"


def _counts(words: Sequence[str]) -> str:
    return ", ".join(f"{words.count(word)} {word}" for word in sorted(set(words)))


def _longest_run(text: str) -> int:
    return max((len(list(run)) for mark, run in groupby(text) if mark == "`"), default=0)


def code_span(text: str) -> str:
    """Foreign text in a code span that nothing in it ends, on one line."""
    shown = printable(" ".join(text.split())) or " "
    ticks = "`" * (1 + _longest_run(shown))
    pad = " " if "`" in shown else ""
    return f"{ticks}{pad}{shown}{pad}{ticks}"


def literal(text: str) -> str:
    """Foreign text whose marks Markdown leaves alone, on one line; nobody is mentioned in it, and no address becomes a link."""
    shown = "".join(f"\\{c}" if c in "\\`*_[]<>|" else c for c in printable(" ".join(text.split())))
    return re.sub(r"(?<![\w.])@(?=\w)|(?i:(?<=\bwww))(?=\.)|(?<=:)(?=//)", lambda found: f"{found[0]}<!-- -->", shown)
