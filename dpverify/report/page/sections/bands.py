"""Enclosed curves as pictures, with a few of their points as numbers: what the three of them have in common."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from dpverify.pictures.bands import Band
from dpverify.report.axes import Axis
from dpverify.report.curves import data_name, points
from dpverify.report.page.blocks import Block, Figure, Fold, Items, Link, Paragraph, Row, Table, beside
from dpverify.report.page.sections.rules import link
from dpverify.report.page.subject import File
from dpverify.report.svg import Band as Area
from dpverify.report.svg import Chart, Mark, Series


def value(text: str | None, unknown: float) -> float:
    """A bound as a float."""
    return unknown if text is None else math.inf if text == "inf" else float(Fraction(text))


def picture(title: str, band: Band, x: Axis, y: Axis, caption: str, marks: Sequence[Mark], prefix: str, most: float = math.inf) -> Figure:
    """The area between the two bounds, with both as lines. most: what the quantity never exceeds."""
    at = [float(Fraction(place)) for place in band.x]
    below = [value(text, 0.0) for text in band.lower]
    above = [value(text, most) for text in band.upper]
    lines = [
        Series("", [[(x, y) for x, y, text in zip(at, side, texts, strict=True) if text is not None and math.isfinite(y)]])
        for side, texts in ((above, band.upper), (below, band.lower))
        if any(text is not None for text in texts)
    ]
    lines = lines[:1] if len(lines) == 2 and lines[0].lines == lines[1].lines else lines
    chart = Chart(title, caption, x, y, lines, marks, [Area("", list(zip(at, below, above, strict=True)))])
    return Figure(chart.svg(prefix), caption)


def shown(file: File, figures: Sequence[Figure], named: Sequence[tuple[str, Band]], what: str, at: str) -> list[Block]:
    """Pictures, with numbers and the theorems that they rest on folded below."""
    if not figures:
        return []
    rows = [(name, place, known) for name, band in named for place, known in points(band)]
    said = dict.fromkeys(line for _, band in named for line in band.assumed)
    numbers: list[Block] = [
        Paragraph(("A few points; ", Link("all of them", beside(data_name(file.stem), file.folders.curves)), " are data for plots.")),
        Table(f"{what}, {file.stem}", ("claim", at, what), rows, numeric=frozenset({1})),
    ]
    rules = dict.fromkeys(name for _, band in named for name in band.rules)
    numbers += [Paragraph(("By ", *(part for name in rules for part in (link(name), " "))))] if rules else []
    numbers += [Paragraph("Assumed:"), Items(list(said))] if said else []
    return [Row(figures), Fold("In numbers", numbers, aside=True)]
