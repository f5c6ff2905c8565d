"""Pages for people: one self-contained HTML page and one Markdown page a claim file, and an index of each.

Nothing in them depends on the time or the machine, so that the same claims give the same pages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape

from dpverify.bands import Bands
from dpverify.expr import format_expr
from dpverify.report import Entry, short, summary, understood
from dpverify.report.curves import SHOWN, render, rows
from dpverify.report.text import delta_text, tight_text, witness_text
from dpverify.rules.table import EXPLAINED

Row = tuple[str, ...]
_HEADER: Row = ("verdict", "claim", "epsilon", "delta", "sensitivity", "tight epsilon", "expected", "certificate")
_POINTS: Row = ("claim", "curve", *("",) * SHOWN)
_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:75em;margin:2em auto;padding:0 1em;color:#1b1b1b;background:#fff}"
    "table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.3em .7em;border-bottom:1px solid #ccc;vertical-align:top}"
    "code{font-size:90%;overflow-wrap:anywhere}.PROVED{color:#05652b}.REFUTED{color:#a3170f}.UNKNOWN{color:#6b5200}"
)


def pages(stem: str, entries: Sequence[Entry], curves: Sequence[Bands] = ()) -> dict[str, str]:
    """The two pages of one claim file, by file name, and the data of its curves where there are some."""
    found = {f"{stem}.md": _markdown(stem, entries, curves), f"{stem}.html": _html(stem, entries, curves)}
    return found | {data_name(stem): render(entries[0].file, curves)} if curves else found


def data_name(stem: str) -> str:
    """The file that holds the curves of a claim file."""
    return f"{stem}.curves.json"


def indexes(groups: Mapping[str, Sequence[Entry]]) -> dict[str, str]:
    """The two indexes over all claim files, by file name. groups: the entries of each page, by its stem."""
    everything = [entry for group in groups.values() for entry in group]
    rows = [(stem, _counts(group), summary(group)) for stem, group in groups.items()]
    listed = ["# dpverify: what is proved and what is refuted", "", f"{summary(everything)}.", ""]
    listed += _markdown_table(("mechanism", "verdicts", "claims"), [(f"[{stem}]({stem}.md)", *rest) for stem, *rest in rows])
    links = [(f'<a href="{escape(stem)}.html">{escape(stem)}</a>', *map(escape, rest)) for stem, *rest in rows]
    body = f"<p>{summary(everything)}.</p>{_html_table(('mechanism', 'verdicts', 'claims'), links)}"
    return {
        "index.md": "\n".join(listed) + "\n",
        "index.html": _document("dpverify: what is proved and what is refuted", body),
    }


def _counts(entries: Sequence[Entry]) -> str:
    verdicts = [entry.verdict for entry in entries]
    return ", ".join(f"{verdicts.count(name)} {name}" for name in ("PROVED", "REFUTED", "UNKNOWN") if name in verdicts)


def _row(entry: Entry) -> Row:
    sensitivity = entry.claim.sensitivity
    asked = f"query, {entry.claim.query.adjacency}" if entry.claim.query else "" if sensitivity is None else format_expr(sensitivity)
    certificate = (entry.certificate or "").replace("\\", "/").rpartition("/")[2]
    expected = "as expected" if entry.as_expected else f"expected {entry.expected}"
    tight = "; ".join(filter(None, (tight_text(entry).removeprefix("tight: "), delta_text(entry))))
    return entry.verdict, entry.claim.name, short(entry.claim.epsilon), short(entry.claim.delta), asked, tight, expected, certificate


def _details(entries: Sequence[Entry]) -> Iterator[tuple[str, str]]:
    """Witnesses, reasons and further facts, each under its claim's name."""
    for entry in entries:
        if entry.judgement is not None and entry.judgement.witness is not None:
            yield entry.claim.name, f"refuted by {witness_text(entry.judgement.witness)}"
        for key, value in (entry.judgement.also if entry.judgement else {}).items():
            yield entry.claim.name, f"{key}: {value}"
        if entry.reason:
            yield entry.claim.name, f"undecided: {entry.reason}"


def _basis(entries: Sequence[Entry]) -> tuple[list[str], list[str]]:
    """Rules with their statements and sources, and assumptions."""
    judgements = [entry.judgement for entry in entries if entry.judgement is not None]
    names = dict.fromkeys(name for judgement in judgements for name in judgement.rules)
    assumed = dict.fromkeys(line for judgement in judgements for line in judgement.assumptions)
    return [f"{name}: {EXPLAINED[name].STATEMENT} ({EXPLAINED[name].SOURCE})" for name in names], list(assumed)


def _markdown(stem: str, entries: Sequence[Entry], curves: Sequence[Bands]) -> str:
    rules, assumed = _basis(entries)
    lines = [f"# {stem}", "", f"{summary(entries)}. Claims: `{entries[0].file}`.", "", "## What was understood", ""]
    lines += [f"- {key}: `{value}`" for key, value in understood(entries[0].claim)]
    lines += ["", "## Claims", "", *_markdown_table(_HEADER, [_linked(_row(entry)) for entry in entries])]
    if curves:
        table = _markdown_table(_POINTS, [tuple(map(_literal, row)) for row in rows(curves)])
        lines += ["", "## Curves", "", f"A few points; [all of them]({data_name(stem)}).", "", *table]
    for title, items in (("Details", [f"{name}: {text}" for name, text in _details(entries)]), ("Rules", rules), ("Assumed", assumed)):
        if items:
            lines += ["", f"## {title}", "", *(f"- {_literal(item)}" for item in items)]
    return "\n".join(lines) + "\n"


def _linked(row: Row) -> Row:
    return (*map(_literal, row[:-1]), f"[certificate]({row[-1]})" if row[-1] else "")


def _literal(text: str) -> str:
    """Text whose marks Markdown leaves alone."""
    return "".join(f"\\{c}" if c in "\\`*_[]<>|" else c for c in text)


def _markdown_table(header: Row, rows: Sequence[Row]) -> list[str]:
    return [f"| {' | '.join(row)} |" for row in (header, tuple("---" for _ in header), *rows)]


def _html(stem: str, entries: Sequence[Entry], curves: Sequence[Bands]) -> str:
    rules, assumed = _basis(entries)
    fields = "".join(f"<li>{escape(key)}: <code>{escape(value)}</code></li>" for key, value in understood(entries[0].claim))
    listed = []
    for entry in entries:
        verdict, *middle, certificate = _row(entry)
        link = f'<a href="{escape(certificate)}">certificate</a>' if certificate else ""
        listed.append((f'<b class="{verdict}">{verdict}</b>', *map(escape, middle), link))
    body = f"<p>{summary(entries)}. Claims: <code>{escape(entries[0].file)}</code>.</p><h2>What was understood</h2><ul>{fields}</ul>"
    body += f"<h2>Claims</h2>{_html_table(_HEADER, listed)}"
    if curves:
        points = _html_table(_POINTS, [tuple(map(escape, row)) for row in rows(curves)])
        body += f'<h2>Curves</h2><p>A few points; <a href="{escape(data_name(stem))}">all of them</a>.</p>{points}'
    for title, items in (("Details", [f"{name}: {text}" for name, text in _details(entries)]), ("Rules", rules), ("Assumed", assumed)):
        if items:
            body += f"<h2>{title}</h2><ul>{''.join(f'<li>{escape(item)}</li>' for item in items)}</ul>"
    return _document(stem, body)


def _html_table(header: Row, rows: Sequence[Row]) -> str:
    head = "".join(f"<th>{name}</th>" for name in header)
    return f"<table><tr>{head}</tr>{''.join('<tr>' + ''.join(f'<td>{cell}</td>' for cell in row) + '</tr>' for row in rows)}</table>"


def _document(title: str, body: str) -> str:
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>\n<body><h1>{escape(title)}</h1>{body}</body></html>\n"
    )
