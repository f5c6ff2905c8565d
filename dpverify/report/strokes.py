"""Lines on paper: cut to the frame, thinned out, and written as short SVG path data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

Point = tuple[float, float]


class Frame(NamedTuple):
    """A rectangle in pixels; y grows downwards."""

    left: float
    top: float
    right: float
    bottom: float

    def holds(self, point: Point) -> bool:
        """Whether a point lies in it."""
        return self.left <= point[0] <= self.right and self.top <= point[1] <= self.bottom

    def meets(self, other: Frame) -> bool:
        """Whether two rectangles share more than an edge."""
        return self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom

    def within(self, other: Frame) -> bool:
        """Whether it lies inside another."""
        return self.left >= other.left and self.right <= other.right and self.top >= other.top and self.bottom <= other.bottom

    def grown(self, by: float) -> Frame:
        """The rectangle with room on every side."""
        return Frame(self.left - by, self.top - by, self.right + by, self.bottom + by)


def cut(line: Sequence[Point], frame: Frame) -> list[list[Point]]:
    """The pieces of a line inside a frame."""
    pieces: list[list[Point]] = []
    for start, stop in pairwise(line):
        inside = segment(start, stop, frame)
        if inside is None:
            continue
        if pieces and pieces[-1][-1] == inside[0]:
            pieces[-1].append(inside[1])
        else:
            pieces.append(list(inside))
    return pieces


def segment(start: Point, stop: Point, frame: Frame) -> tuple[Point, Point] | None:
    """The part of a segment inside a frame, None where there is none (Liang and Barsky)."""
    (x, y), dx, dy = start, stop[0] - start[0], stop[1] - start[1]
    enter, leave = 0.0, 1.0
    for step, room in ((-dx, x - frame.left), (dx, frame.right - x), (-dy, y - frame.top), (dy, frame.bottom - y)):
        if step == 0:
            if room < 0:
                return None
        elif step < 0:
            enter = max(enter, room / step)
        else:
            leave = min(leave, room / step)
    if enter > leave:
        return None
    # the ends themselves, where they are inside, so that pieces join exactly
    first = start if enter == 0 else (x + enter * dx, y + enter * dy)
    return first, (stop if leave == 1 else (x + leave * dx, y + leave * dy))


def cut_area(corners: Sequence[Point], frame: Frame) -> list[Point]:
    """The part of an area inside a frame (Sutherland and Hodgman)."""
    area = list(corners)
    for axis, bound, sign in ((0, frame.left, 1), (0, frame.right, -1), (1, frame.top, 1), (1, frame.bottom, -1)):
        kept: list[Point] = []
        for before, at in zip([*area[-1:], *area[:-1]], area, strict=True):
            was, now = sign * (before[axis] - bound) >= 0, sign * (at[axis] - bound) >= 0
            if was != now:
                share = (bound - before[axis]) / (at[axis] - before[axis])
                kept.append((before[0] + share * (at[0] - before[0]), before[1] + share * (at[1] - before[1])))
            if now:
                kept.append(at)
        area = kept
    return area


def inside(area: Sequence[Point], total: float) -> list[list[Point]]:
    """The parts of the slanted line x + y = total that are in an area with these corners."""
    met = []
    for (x, y), (u, v) in zip([*area[-1:], *area[:-1]], area, strict=True):
        before, after = x + y - total, u + v - total
        if (before < 0) != (after < 0):
            share = before / (before - after)
            met.append((x + share * (u - x), y + share * (v - y)))
    met.sort()
    return [[a, b] for a, b in zip(met[::2], met[1::2], strict=False)]


def thin(line: Sequence[Point], tolerance: float) -> list[Point]:
    """Fewer points of which the line is nowhere further than `tolerance` from one that is left out (Douglas and Peucker)."""
    keep = {0, len(line) - 1}
    ranges = [(0, len(line) - 1)]
    while ranges:
        first, last = ranges.pop()
        far, at = max(((_distance(line[i], line[first], line[last]), -i) for i in range(first + 1, last)), default=(0.0, 0))
        if far > tolerance:
            keep.add(-at)
            ranges += [(first, -at), (-at, last)]
    return [line[i] for i in sorted(keep)]


def _distance(point: Point, start: Point, stop: Point) -> float:
    """From a point to a segment."""
    dx, dy = stop[0] - start[0], stop[1] - start[1]
    length = dx * dx + dy * dy
    share = 0.0 if length == 0 else max(0.0, min(1.0, ((point[0] - start[0]) * dx + (point[1] - start[1]) * dy) / length))
    return math.hypot(point[0] - start[0] - share * dx, point[1] - start[1] - share * dy)


def path(lines: Sequence[Sequence[Point]], *, closed: bool = False) -> str:
    """Path data of lines, in tenths of pixels and relative steps, so that no rounding adds up."""
    said = ""
    here = (0, 0)
    for line in lines:
        places = [(round(10 * x), round(10 * y)) for x, y in line]
        said += "M" + _pair(*places[0]) if not said else "m" + _pair(places[0][0] - here[0], places[0][1] - here[1])
        steps = [(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(places) if a != b]
        said += _steps(steps) + ("z" if closed else "")
        here = places[0] if closed else places[-1]
    return said


def dots(places: Sequence[Point], mark: str) -> str:
    """Path data of the same mark at many places; a mark is drawn in relative steps and ends where it begins."""
    said, here = "", (0, 0)
    for x, y in places:
        at = (round(10 * x), round(10 * y))
        said += ("m" if said else "M") + _pair(at[0] - here[0], at[1] - here[1]) + mark
        here = at
    return said


def _steps(steps: Sequence[tuple[int, int]]) -> str:
    said, last = "", ""
    for dx, dy in steps:
        command, numbers = ("h", tenths(dx)) if dy == 0 else ("v", tenths(dy)) if dx == 0 else ("l", _pair(dx, dy))
        joint = "" if numbers.startswith("-") else " "
        said += f"{joint}{numbers}" if command == last else f"{command}{numbers}"
        last = command
    return said


def _pair(x: int, y: int) -> str:
    first, second = tenths(x), tenths(y)
    return f"{first}{second}" if second.startswith("-") else f"{first} {second}"


def tenths(value: int) -> str:
    """A number of tenths as a short decimal."""
    whole, rest = divmod(abs(value), 10)
    text = (f"{whole}.{rest}" if whole else f".{rest}") if rest else str(whole)
    return f"-{text}" if value < 0 else text
