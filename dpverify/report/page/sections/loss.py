"""The privacy loss along the worst ray, with its supremum and what is claimed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from dpverify.figures.loss import LossCurve
from dpverify.report.axes import Axis
from dpverify.report.page.blocks import Block, Figure, Row
from dpverify.report.page.sections.drawing import claimed, few, number
from dpverify.report.page.subject import File
from dpverify.report.svg import Chart, Mark, Series

TITLE = "Privacy loss between the worst neighbours"


def blocks(file: File) -> Sequence[Block]:
    """A picture for each sensitivity."""
    curves: list[LossCurve] = []
    for one in file.pictures:
        if one.loss is not None and one.loss not in curves:
            curves.append(one.loss)
    drawn = [_figure(file, i, curve) for i, curve in enumerate(curves)]
    return [Row(drawn)] if drawn else []


def _figure(file: File, index: int, curve: LossCurve) -> Figure:
    top = curve.supremum
    reached = "infinite" if math.isinf(top.value) else f"{number(top.value)} nats, {top.where}"
    caption = f"Loss of each output for {curve.pair}. Supremum: {reached}."
    if curve.infinite and math.isinf(top.value):
        places = ", ".join(f"{number(a)} to {number(b)}" if a < b else number(a) for a, b in curve.infinite)
        caption += f" Infinite at {curve.x_label} {places}."
    unit = f" ({curve.x_unit})" if curve.x_unit else ""
    if curve.kind == "bars":
        finite = [(i, bar.loss) for i, bar in enumerate(curve.bars) if math.isfinite(bar.loss)]
        axis, series = Axis("output", names=tuple(bar.label.removeprefix("output ") for bar in curve.bars)), [Series("", [finite], "bars")]
    else:
        axis = Axis(f"{curve.x_label}{unit}", False, *(curve.window or ()))
        series = [Series("", curve.lines, "points" if curve.kind == "points" else "line")]
    names = [name for one in file.pictures if one.loss == curve for name in one.names]
    marks = list(_marks(claimed(file, names), curve))
    chart = Chart(f"Privacy loss, {file.stem}", caption, axis, Axis("loss (nats)"), series, marks)
    return Figure(chart.svg(f"{file.stem_id}-loss-{index}"), caption)


def _marks(claims: Sequence[float], curve: LossCurve) -> Iterator[Mark]:
    """The supremum, and what is claimed; claims that cannot be told apart from it, or from each other, are one mark."""
    top = curve.supremum.value
    losses = [y for line in curve.lines for _, y in line] + [bar.loss for bar in curve.bars if math.isfinite(bar.loss)]
    height = max(map(abs, losses), default=1.0) or 1.0
    epsilons = [value for value in claims if value <= 3 * height]
    if math.isfinite(top):
        near = [value for value in epsilons if abs(value - top) <= height / 15]
        yield Mark("supremum, and claimed" if near else "supremum", top, kind="supremum")
        epsilons = [value for value in epsilons if value not in near]
    for value in few(epsilons, 2 * height)[:3]:
        yield Mark(f"claimed {number(value)}", value)
