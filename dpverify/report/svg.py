"""Small charts as inline SVG: lines, steps, points, bars, bands and outlines, each named where it is drawn.

A chart is as wide as its place: its view box is 360 wide, with letters of 12. Colours are CSS custom properties with fallbacks
(--ink, --grid, --accent, --warn, --fill, --paper), so that a page decides on light, dark and print; nothing is told by
colour alone. The same chart gives the same text, byte for byte.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import chain, pairwise
from typing import Final

from dpverify.report.axes import Axis, Scale, power_of_ten, short, span, ticks
from dpverify.report.labels import LINE, SIZE, Label, place, text_width, wrap
from dpverify.report.strokes import Frame, Point, cut, cut_area, dots, inside, path, tenths, thin

WIDTH: Final = 360.0
HEIGHT: Final = 230.0
KINDS: Final[tuple[str, ...]] = ("line", "step", "points", "bars", "outline")
COLOURS: Final = {
    "ink": "var(--ink,#1b1b1b)",
    "grid": "var(--grid,#d0d0d0)",
    "accent": "var(--accent,#0b57a4)",
    "warn": "var(--warn,#a3170f)",
    "fill": "var(--fill,#cfe0f3)",
    "paper": "var(--paper,#fff)",
}

_TOLERANCE: Final = 0.25
_STROKES: Final = (("accent", ""), ("ink", "5 3"), ("warn", "2 2"), ("accent", "9 3 2 3"), ("ink", "1 3"), ("warn", "12 4"))
"""Colour and dashes of the first series, the second, and so on."""
_MARKS: Final = (("h0", "round"), ("h0", "square"), ("m-2-2l4 4m0-4l-4 4m2-2", "butt"), ("m-2.5 0h5m-2.5-2.5v5m0-2.5", "butt"))
"""Marks of points, drawn from their middle and back to it: a dot, a square, a cross, a plus; and how their strokes end."""
_MARK_COLOURS: Final = ("accent", "ink", "warn", "ink")
_DASHES: Final = {"claim": ("accent", "7 3"), "supremum": ("warn", ""), "threshold": ("ink", "2 3")}
MARKS: Final[tuple[str, ...]] = tuple(_DASHES)
AREAS: Final[tuple[str, ...]] = ("enclosure", "fails")
HATCH: Final = 7
"""From one line of a hatched area to the next, along an axis."""


@dataclass(frozen=True, slots=True)
class Series:
    """What is drawn. lines: polylines of (x, y), apart where the line breaks; for points and bars all of them count.

    kind: line, step (each value holds up to the next x), points, bars (from 0) or outline (closed).
    """

    label: str
    lines: Sequence[Sequence[Point]]
    kind: str = "line"


@dataclass(frozen=True, slots=True)
class Band:
    """The area between two lines: (x, lower, upper), x rising; what is infinite ends at the frame. kind: enclosure, or fails, hatched."""

    label: str
    edges: Sequence[tuple[float, float, float]]
    kind: str = "enclosure"


@dataclass(frozen=True, slots=True)
class Mark:
    """A line across the chart at one value of an axis, with its name. kind: claim, supremum or threshold."""

    label: str
    value: float
    axis: str = "y"
    kind: str = "claim"


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart. title: its name; description: what it shows, in words for those who do not see it.

    equal: one unit is as long on both axes, as a shape in the plane needs. Raises ValueError, with all that is wrong.
    """

    title: str
    description: str
    x: Axis
    y: Axis
    series: Sequence[Series] = ()
    marks: Sequence[Mark] = ()
    bands: Sequence[Band] = ()
    equal: bool = False

    def __post_init__(self) -> None:
        faults = [f"{name} is empty" for name in ("title", "description") if not getattr(self, name).strip()]
        drawn = [(f"series {one.label!r}", one.kind, KINDS) for one in self.series]
        drawn += [(f"mark {one.label!r}", one.kind, MARKS) for one in self.marks]
        drawn += [(f"band {one.label!r}", one.kind, AREAS) for one in self.bands]
        faults += [f"{name}: kind {kind!r} is none of {', '.join(known)}" for name, kind, known in drawn if kind not in known]
        faults += [f"mark {one.label!r}: axis {one.axis!r} is neither x nor y" for one in self.marks if one.axis not in ("x", "y")]
        if self.equal and (self.x.log or self.y.log):
            faults.append("equal units need two linear axes")
        if faults:
            raise ValueError(f"chart {self.title!r}: {'; '.join(faults)}.")

    def svg(self, prefix: str) -> str:
        """The `svg` element. prefix: makes its ids unique in a page, letters, digits and hyphens.

        Raises ValueError for another prefix, or an axis without room.
        """
        if not prefix or not all(c.isascii() and (c.isalnum() or c == "-") for c in prefix):
            raise ValueError(f"chart {self.title!r}: prefix {prefix!r} cannot start an id. Use letters, digits and hyphens.")
        return _Drawing(self).svg(prefix)


class _Drawing:
    """One chart being drawn: its scales, and the places of text and ink that labels keep away from."""

    def __init__(self, chart: Chart) -> None:
        self.chart = chart
        self.head = wrap(chart.y.label, WIDTH - 4)
        self.foot = wrap(chart.x.label, WIDTH - 4)
        x_span, y_span = self._spans()
        y_ticks = _ticks(chart.y, *y_span, 6)
        left = 8 + max((text_width(text) for _, text in y_ticks), default=0)
        top = LINE * len(self.head) + 8
        self.frame = Frame(round(left), top, WIDTH - 8, HEIGHT if not chart.equal else top + WIDTH - 8 - round(left))
        if chart.equal:
            x_span, y_span = _equal(x_span, y_span, self.frame)
            y_ticks = _ticks(chart.y, *y_span, 6)
        self.x = Scale(*x_span, self.frame.left, self.frame.right, chart.x.log)
        self.y = Scale(*y_span, self.frame.bottom, self.frame.top, chart.y.log)
        self.y_ticks = y_ticks
        self.taken: list[Frame] = []
        self.ink: dict[int, list[Point]] = {}
        self.listed: list[tuple[str, str]] = []

    def svg(self, prefix: str) -> str:
        """The whole element."""
        shapes = [*map(self._band, self.chart.bands), *(self._series(i, one) for i, one in enumerate(self.chart.series))]
        lines = [self._mark(mark) for mark in self.chart.marks if self._in_view(mark)]
        axes, words = "".join(self._axes()), "".join(chain(self._mark_labels(), self._series_labels()))
        listed, height = self._list()
        size = f"{tenths(round(10 * WIDTH))} {tenths(round(10 * height))}"
        title, description = (escape(text, quote=False) for text in (self.chart.title, self.chart.description))
        halo = f"paint-order:stroke;stroke:{COLOURS['paper']};stroke-width:3px;stroke-linejoin:round"
        haloed = f'<g style="{halo}">{words}</g>' if words else ""
        return (
            f'<svg role="img" aria-labelledby="{prefix}-t {prefix}-d" viewBox="0 0 {size}" '
            f'style="font:{tenths(round(10 * SIZE))}px system-ui,sans-serif;fill:{COLOURS["ink"]}">'
            f'<title id="{prefix}-t">{title}</title><desc id="{prefix}-d">{description}</desc>'
            f"{axes}{''.join(shapes)}{''.join(lines)}"
            f"{haloed}{listed}</svg>"
        )

    # -- axes --------------------------------------------------------------------------------------

    def _spans(self) -> tuple[tuple[float, float], tuple[float, float]]:
        chart = self.chart
        points = [point for one in chart.series for line in one.lines for point in line]
        edges = [edge for band in chart.bands for edge in band.edges]
        xs = [*(x for x, _ in points), *(x for x, _, _ in edges), *(mark.value for mark in chart.marks if mark.axis == "x")]
        ys = [*(y for _, y in points), *(y for edge in edges for y in edge[1:]), *(mark.value for mark in chart.marks if mark.axis == "y")]
        bars = any(one.kind == "bars" for one in chart.series)
        return span(chart.x, xs), span(chart.y, ys, margin=0.1, from_zero=bars)

    def _axes(self) -> Iterator[str]:
        """The grid, the two axes, and their words."""
        frame = self.frame
        rules, words = "", []
        for value, text in self.y_ticks:
            at = self.y(value)
            rules += f"M{_at(frame.left)} {_at(at)}H{_at(frame.right)}"
            words.append(Label(text, (frame.left - 5, at + 0.36 * SIZE), "end"))
        below = frame.bottom + SIZE + 6
        for value, text in self._x_ticks():
            at = self.x(value)
            rules += f"M{_at(at)} {_at(frame.bottom)}v{'4' if self.chart.x.names else '-' + _at(frame.bottom - frame.top)}"
            half = text_width(text) / 2
            words.append(Label(text, (min(max(at, half + 1), WIDTH - half - 1), below), "middle"))
        words += [Label(text, (1, SIZE + LINE * i)) for i, text in enumerate(self.head)]
        words += [Label(text, (WIDTH / 2, below + LINE * (i + 1)), "middle") for i, text in enumerate(self.foot)]
        self.taken += [label.frame for label in words]
        self.bottom = below + LINE * len(self.foot) + 4
        yield f'<path d="{rules}" style="fill:none;stroke:{COLOURS["grid"]}"/>'
        corner = f"M{_at(frame.left)} {_at(frame.top)}V{_at(frame.bottom)}H{_at(frame.right)}"
        yield f'<path d="{corner}" style="fill:none;stroke:{COLOURS["ink"]}"/>'
        yield "".join(label.markup() for label in words)

    def _x_ticks(self) -> list[tuple[float, str]]:
        """As many values as stand beside each other."""
        low, high = self.x.low, self.x.high
        for most in (7, 6, 5, 4, 3, 2):
            marks = _ticks(self.chart.x, low, high, most)
            frames = [Label(text, (self.x(value), 0), "middle").frame for value, text in marks]
            if all(a.right + 6 <= b.left for a, b in pairwise(frames)):
                return marks
        return marks[:1]

    # -- shapes ------------------------------------------------------------------------------------

    def _placed(self, line: Sequence[Point]) -> list[list[Point]]:
        """A line in pixels, broken where a value has no place."""
        runs: list[list[Point]] = [[]]
        for x, y in line:
            if self.x.shows(x) and self.y.shows(y):
                runs[-1].append((self.x(x), self.y(y)))
            elif runs[-1]:
                runs.append([])
        return [run for run in runs if run]

    def _series(self, index: int, series: Series) -> str:
        if series.kind == "bars":
            return self._bars(index, series)
        runs = [run for line in series.lines for run in self._placed(line)]
        if series.kind == "points":
            return self._points(index, series, [point for run in runs for point in run])
        if series.kind == "step":
            runs = [_stepped(run) for run in runs]
        if series.kind == "outline":
            runs = [[*run, run[0]] for run in runs]
        pieces = [thin(piece, _TOLERANCE) for run in runs for piece in cut(run, self.frame)]
        self._inked(series, (point for piece in pieces for point in _dense(piece)))
        return _stroke(path(pieces), *_STROKES[index % len(_STROKES)]) if pieces else ""

    def _points(self, index: int, series: Series, points: Sequence[Point]) -> str:
        shown = [point for point in points if self.frame.holds(point)]
        self._inked(series, shown)
        mark, ends = _MARKS[index % len(_MARKS)]
        width = 4 if mark == "h0" else 1.5
        style = f"fill:none;stroke:{COLOURS[_MARK_COLOURS[index % len(_MARKS)]]};stroke-width:{width}px;stroke-linecap:{ends}"
        return f'<path d="{dots(shown, mark)}" style="{style}"/>' if shown else ""

    def _bars(self, index: int, series: Series) -> str:
        groups = [i for i, one in enumerate(self.chart.series) if one.kind == "bars"]
        places = [point for one in self.chart.series if one.kind == "bars" for line in one.lines for point in line]
        xs = sorted({self.x(x) for x, _ in places if self.x.shows(x)})
        room = min((b - a for a, b in pairwise(xs)), default=60.0) * 0.8 / len(groups)
        ground = self.y(self.y.low if self.chart.y.log else min(max(0.0, self.y.low), self.y.high))
        corners = []
        for x, y in (point for line in series.lines for run in self._placed(line) for point in run):
            start = x + room * (groups.index(index) - len(groups) / 2)
            area = cut_area([(start, ground), (start, y), (start + room * 0.9, y), (start + room * 0.9, ground)], self.frame)
            corners += [area] if area else []
            self._inked(series, (point for side in pairwise(area) for point in _dense(side)))
        fill = COLOURS["fill"] if groups.index(index) % 2 == 0 else "none"
        colour, dashes = _STROKES[index % len(_STROKES)]
        style = f"fill:{fill};stroke:{COLOURS[colour]}" + (f";stroke-dasharray:{dashes}" if dashes else "")
        return f'<path d="{path(corners, closed=True)}" style="{style}"/>' if corners else ""

    def _band(self, band: Band) -> str:
        edges = [edge for edge in band.edges if self.x.shows(edge[0]) and not any(map(math.isnan, edge))]
        above = [(self.x(x), self._edge(upper)) for x, _, upper in edges]
        below = [(self.x(x), self._edge(lower)) for x, lower, _ in edges]
        area = cut_area([*above, *reversed(below)], self.frame)
        area = thin(area, _TOLERANCE) if area else []
        self._inked(band, (point for line in (above, below) for piece in cut(line, self.frame) for point in _dense(piece)))
        if band.kind == "fails":
            return self._hatched(area) if area else ""
        style = f"fill:{COLOURS['fill']};stroke:{COLOURS['accent']};stroke-width:.7px"
        return f'<path d="{path([area], closed=True)}" style="{style}"/>' if area else ""

    def _hatched(self, area: Sequence[Point]) -> str:
        """An area in slanted lines: the parts in it of lines across the frame."""
        lines = []
        left, right = min(x for x, _ in area), max(x for x, _ in area)
        top, bottom = min(y for _, y in area), max(y for _, y in area)
        for number in range(math.ceil((left + top) / HATCH), math.floor((right + bottom) / HATCH) + 1):
            lines += inside(area, HATCH * number)
        return f'<path d="{path(lines)}" style="fill:none;stroke:{COLOURS["warn"]};stroke-width:.8px"/>' if lines else ""

    def _inked(self, owner: Series | Band | Mark, points: Iterable[Point]) -> None:
        """Remember where something is drawn, so that no words stand on it."""
        self.ink.setdefault(id(owner), []).extend(points)

    def _free(self, owner: Series | Band | Mark, candidates: Iterable[Label]) -> Label | None:
        """The first place for the name of something where it is seen and not mistaken."""
        others = [point for key, points in self.ink.items() if key != id(owner) for point in points]
        return place(candidates, self.frame, self.taken, self.ink.get(id(owner), []), others)

    def _edge(self, value: float) -> float:
        """Where a band ends: just beyond the frame for what is infinite, or not positive on a logarithmic scale."""
        if self.y.shows(value):
            return min(max(self.y(value), self.frame.top - 1e4), self.frame.bottom + 1e4)
        return self.frame.top - 1 if value > 0 else self.frame.bottom + 1

    def _in_view(self, mark: Mark) -> bool:
        scale = self.x if mark.axis == "x" else self.y
        return scale.shows(mark.value) and scale.low <= mark.value <= scale.high

    def _mark(self, mark: Mark) -> str:
        frame = self.frame
        if mark.axis == "x":
            at = self.x(mark.value)
            ends: list[Point] = [(at, frame.top), (at, frame.bottom)]
        else:
            at = self.y(mark.value)
            ends = [(frame.left, at), (frame.right, at)]
        self._inked(mark, _dense(ends))
        return _stroke(path([ends]), *_DASHES[mark.kind])

    # -- words -------------------------------------------------------------------------------------

    def _mark_labels(self) -> Iterator[str]:
        """The marks' names beside their lines; those that find no place, or lie outside the chart, are listed below it."""
        for mark in self.chart.marks:
            seen = self._in_view(mark)
            label = self._free(mark, self._beside(mark)) if seen else None
            yield from self._set(label, mark.label if seen else f"{mark.label} (outside)", _sample(*_DASHES[mark.kind]))

    def _beside(self, mark: Mark) -> Iterator[Label]:
        frame = self.frame
        if mark.axis == "x":
            at = self.x(mark.value)
            for share in (0.0, 0.25, 0.5, 0.75, 0.95):
                height = frame.top + SIZE + share * (frame.bottom - frame.top - 2 * SIZE)
                yield Label(mark.label, (at + 5, height))
                yield Label(mark.label, (at - 5, height), "end")
        else:
            at = self.y(mark.value)
            for height in (at - 5, at + SIZE + 2):
                yield Label(mark.label, (frame.right - 3, height), "end")
                yield Label(mark.label, (frame.left + 5, height))
                yield Label(mark.label, ((frame.left + frame.right) / 2, height), "middle")

    def _series_labels(self) -> Iterator[str]:
        for band in self.chart.bands:
            middle = [(x, _middle(a, b, self.chart.y.log)) for x, a, b in band.edges]
            runs = self._placed(middle)
            style = f"fill:{COLOURS['fill']};stroke:{COLOURS['accent']};stroke-width:.7px"
            sample = f'<path d="h18v-7h-18z" style="{style}"/>'
            if band.kind == "fails":
                sample = f'<path d="m0-1l6-6m-1 6l6-6m-1 6l6-6" style="fill:none;stroke:{COLOURS["warn"]};stroke-width:.8px"/>'
            yield from self._named(band, [point for run in runs for point in run], sample)
        for index, one in enumerate(self.chart.series):
            points = [point for line in one.lines for run in self._placed(line) for point in run]
            yield from self._named(one, points, _key(index, one.kind, [s.kind for s in self.chart.series]))

    def _named(self, named: Series | Band, points: Sequence[Point], sample: str) -> Iterator[str]:
        """A name near one of the points, or below the chart where no place is free."""
        if named.label:
            near = [point for point in points if self.frame.holds(point)]
            yield from self._set(self._free(named, _near(named.label, near)), named.label, sample)

    def _set(self, label: Label | None, name: str, sample: str) -> Iterator[str]:
        if label is None:
            self.listed.append((name, sample))
        else:
            self.taken.append(label.frame)
            yield label.markup()

    def _list(self) -> tuple[str, float]:
        """The names that found no place in the chart, each after a sample of its line; and the height of it all."""
        said, at = "", self.bottom + SIZE
        for name, sample in self.listed:
            said += sample.replace('d="', f'd="M2 {_at(at - 4)}', 1)
            for text in wrap(name, WIDTH - 30):
                said += Label(text, (26, at)).markup()
                at += LINE
        return said, (at - SIZE + 2 if self.listed else self.bottom)


def _middle(lower: float, upper: float, log: bool) -> float:
    """Halfway between the edges of a band, as it looks."""
    return math.sqrt(lower) * math.sqrt(upper) if log and min(lower, upper) > 0 else (lower + upper) / 2


def _ticks(axis: Axis, low: float, high: float, most: int) -> list[tuple[float, str]]:
    """Values and how they are written; names where the axis has them."""
    if axis.names:
        step = math.ceil(len(axis.names) / max(most, 1)) if most < 7 else 1
        return [(float(i), name) for i, name in enumerate(axis.names) if i % step == 0]
    return [(value, power_of_ten(value) if axis.log else short(value)) for value in ticks(low, high, most, log=axis.log)]


def _equal(x: tuple[float, float], y: tuple[float, float], frame: Frame) -> tuple[tuple[float, float], tuple[float, float]]:
    """The two spans widened about their middles, so that one unit is as long on both axes."""
    unit = max((x[1] - x[0]) / (frame.right - frame.left), (y[1] - y[0]) / (frame.bottom - frame.top))
    spans = []
    for (low, high), length in ((x, frame.right - frame.left), (y, frame.bottom - frame.top)):
        middle = (low + high) / 2
        spans.append((middle - unit * length / 2, middle + unit * length / 2))
    return spans[0], spans[1]


def _stepped(run: Sequence[Point]) -> list[Point]:
    points = list(run[:1])
    for (_, y), after in pairwise(run):
        points += [(after[0], y), after]
    return points


def _dense(line: Sequence[Point]) -> list[Point]:
    """Points no further than a few pixels from each other along a line."""
    points: list[Point] = []
    for (x, y), (u, v) in pairwise(line):
        count = max(1, math.ceil(math.hypot(u - x, v - y) / 3))
        points += [(x + (u - x) * k / count, y + (v - y) * k / count) for k in range(count + 1)]
    return points


def _near(name: str, points: Sequence[Point]) -> Iterator[Label]:
    """Places for a name beside points of what it names, from the end on."""
    for share in (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0):
        if points:
            x, y = points[round(share * (len(points) - 1))]
            for anchor, dx in (("end", -6.0), ("start", 6.0), ("middle", 0.0)):
                yield from (Label(name, (x + dx, y + dy), anchor) for dy in (-7.0, SIZE + 5, -16.0, SIZE + 14))


def _stroke(data: str, colour: str, dashes: str) -> str:
    dashed = f";stroke-dasharray:{dashes}" if dashes else ""
    return f'<path d="{data}" style="fill:none;stroke:{COLOURS[colour]};stroke-width:1.6px{dashed}"/>'


def _sample(colour: str, dashes: str) -> str:
    return _stroke("h18", colour, dashes)


def _key(index: int, kind: str, kinds: Sequence[str]) -> str:
    """A sample of a series, drawn from the left."""
    if kind == "points":
        mark, ends = _MARKS[index % len(_MARKS)]
        style = f"stroke:{COLOURS[_MARK_COLOURS[index % len(_MARKS)]]};stroke-width:{4 if mark == 'h0' else 1.5}px;stroke-linecap:{ends}"
        return f'<path d="m9 0{mark}" style="fill:none;{style}"/>'
    if kind == "bars":
        place_of = [i for i, one in enumerate(kinds) if one == "bars"].index(index)
        colour, dashes = _STROKES[index % len(_STROKES)]
        dashed = f";stroke-dasharray:{dashes}" if dashes else ""
        return f'<path d="h18v-7h-18z" style="fill:{COLOURS["fill"] if place_of % 2 == 0 else "none"};stroke:{COLOURS[colour]}{dashed}"/>'
    return _sample(*_STROKES[index % len(_STROKES)])


def _at(value: float) -> str:
    return tenths(round(10 * value))
