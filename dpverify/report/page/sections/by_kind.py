"""What decides how private a mechanism of some kinds is: a key's count, how many people or runs there are, the steps, the budget."""

from __future__ import annotations

from collections.abc import Sequence

from dpverify.pictures.by_kind import Drawing
from dpverify.report.axes import Axis
from dpverify.report.page.blocks import Block, Figure, Row
from dpverify.report.page.subject import File
from dpverify.report.svg import Chart, Mark, Series

TITLE = "What decides"


def blocks(file: File) -> Sequence[Block]:
    """The pictures of each mechanism's own kind."""
    drawn = dict.fromkeys(drawing for one in file.pictures for drawing in one.own)
    return [Row([_figure(file, i, drawing) for i, drawing in enumerate(drawn)])] if drawn else []


def _figure(file: File, index: int, drawing: Drawing) -> Figure:
    x, y = (Axis(name, log=log) for name, log in zip(drawing.axes, drawing.log, strict=True))
    series = [Series(line.label, [line.points], line.kind) for line in drawing.lines if line.points]
    marks = [Mark(name, value, axis=axis, kind="threshold") for name, value, axis in drawing.marks]
    chart = Chart(f"{drawing.title}, {file.stem}", drawing.caption, x, y, series, marks)
    return Figure(chart.svg(f"{file.stem_id}-own-{index}"), drawing.caption)
