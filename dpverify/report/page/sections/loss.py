"""The privacy loss along the worst ray, with its supremum and what is claimed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from dpverify.pictures.loss import LossCurve
from dpverify.report import short
from dpverify.report.axes import Axis
from dpverify.report.page.blocks import Block, Figure, Row
from dpverify.report.page.sections.drawing import claimed, entries_of, few, number, size
from dpverify.report.page.subject import File
from dpverify.report.strokes import Point
from dpverify.report.svg import Band, Chart, Mark, Series
from dpverify.trusted.kernel.expr import ZERO

TITLE = "Privacy loss between the worst neighbours"
_SEEN: Final = 0.01
"""How far below the supremum a claim lies, as a share of the picture's height, where the difference can be seen."""
_HALF: Final = 0.4
"""Half the width of a bar."""


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
    names = [name for one in file.pictures if one.loss == curve for name in one.names]
    broken = _refuted(file, names, top.value - _SEEN * _height(curve))
    areas = [] if broken is None else _areas(curve, broken[0])
    if areas and broken is not None:
        caption += f" Hatched: outputs with more loss than the {broken[1]} that is claimed, which is refuted."
    if curve.kind == "bars":
        finite = [(i, bar.loss) for i, bar in enumerate(curve.bars) if math.isfinite(bar.loss)]
        axis, series = Axis("output", names=tuple(bar.label.removeprefix("output ") for bar in curve.bars)), [Series("", [finite], "bars")]
    else:
        axis = Axis(f"{curve.x_label}{unit}", False, *(curve.window or ()))
        series = [Series("", curve.lines, "points" if curve.kind == "points" else "line")]
    marks = list(_marks(claimed(file, names), curve))
    chart = Chart(f"Privacy loss, {file.stem}", caption, axis, Axis("loss (nats)"), series, marks, areas)
    return Figure(chart.svg(f"{file.stem_id}-loss-{index}"), caption)


def _refuted(file: File, names: Sequence[str], below: float) -> tuple[float, str] | None:
    """The least epsilon without delta that a claim of these names states and that is refuted, with its text; None without one so low."""
    refuted = [entry.claim for entry in entries_of(file, names) if entry.verdict == "REFUTED" and entry.claim.delta == ZERO]
    stated = [(value, short(claim.epsilon)) for claim in refuted if (value := size(claim.epsilon)) is not None and value < below]
    return min(stated, default=None)


def _height(curve: LossCurve) -> float:
    """The greatest finite loss of the picture, in size."""
    losses = [y for line in curve.lines for _, y in line] + [bar.loss for bar in curve.bars if math.isfinite(bar.loss)]
    return max(map(abs, losses), default=1.0) or 1.0


def _areas(curve: LossCurve, epsilon: float) -> list[Band]:
    """Where the loss is above epsilon: below each stretch of the line, and in each bar."""
    areas: list[list[tuple[float, float, float]]] = []
    for line in curve.lines if curve.kind == "line" else ():
        open_end = None
        for a, b in pairwise(line):
            if max(a[1], b[1]) > epsilon:
                start, stop = _above(a, b, epsilon)
                if open_end != start:
                    areas.append([(start[0], epsilon, start[1])])
                areas[-1].append((stop[0], epsilon, stop[1]))
                open_end = stop
    if curve.kind == "bars":
        at = [(i, bar.loss) for i, bar in enumerate(curve.bars) if bar.loss > epsilon]
        areas += [[(i - _HALF, epsilon, loss), (i + _HALF, epsilon, loss)] for i, loss in at]
    return [Band("" if number else "the claim fails", edges, "fails") for number, edges in enumerate(areas)]


def _above(a: Point, b: Point, epsilon: float) -> tuple[Point, Point]:
    """The part of a segment that is above epsilon; one of its ends is."""
    if min(a[1], b[1]) >= epsilon:
        return a, b
    share = (epsilon - a[1]) / (b[1] - a[1])
    at = (a[0] + share * (b[0] - a[0]), epsilon)
    return (a, at) if a[1] > b[1] else (at, b)


def _marks(claims: Sequence[float], curve: LossCurve) -> Iterator[Mark]:
    """The supremum, and what is claimed; claims that cannot be told apart from it, or from each other, are one mark."""
    top = curve.supremum.value
    height = _height(curve)
    epsilons = [value for value in claims if value <= 3 * height]
    if math.isfinite(top):
        near = [value for value in epsilons if abs(value - top) <= height / 15]
        yield Mark("supremum, and claimed" if near else "supremum", top, kind="supremum")
        epsilons = [value for value in epsilons if value not in near]
    for value in few(epsilons, 2 * height)[:3]:
        yield Mark(f"claimed {number(value)}", value)
