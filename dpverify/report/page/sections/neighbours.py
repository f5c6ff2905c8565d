"""The neighbours on which an output of a selection loses what the lower bound says: their answers, what is told, and both probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dpverify.report.axes import Axis
from dpverify.report.page.blocks import Block, Figure, Items, Row
from dpverify.report.page.subject import Claimed
from dpverify.report.selections import FAR, Group, Worst, group_text, summary, worst
from dpverify.report.svg import Chart, Mark, Series

TITLE = "Neighbours of the lower bound"
_MOST: Final = 6
"""Groups whose names stand side by side on a narrow screen."""
_LONGEST: Final = 14


def blocks(subject: Claimed) -> Sequence[Block]:
    """A picture, and the same in words."""
    shown = worst(subject.entry)
    return [] if shown is None else [Row([_figure(subject, shown)]), Items([group_text(group, shown) for group in shown.groups])]


def _figure(subject: Claimed, shown: Worst) -> Figure:
    at = "".join(f" at {name} = {value}" for name, value in shown.at.items())
    caption = f"Answers of two neighbours{at}, and what is told: {shown.output}. It is {_said(shown)}."
    sides = [
        [(float(place), float(pair[side])) for place, group in enumerate(shown.groups) for pair in group.answers] for side in (0, 1)
    ]
    series = [Series("on x", [sides[0]], "points"), Series("on x'", [sides[1]], "points")]
    unit = f"answer, at {FAR} times its move" if shown.limit else "answer"
    marks = [] if shown.threshold is None else [Mark("threshold", float(shown.threshold), kind="threshold")]
    values = [value for side in sides for _, value in side] + [mark.value for mark in marks]
    room = 0.12 * (max(values) - min(values) or 1.0)
    y = Axis(unit, low=min(values) - room, high=max(values) + room)
    chart = Chart(f"{TITLE}, {subject.entry.claim.name}", caption, Axis("", names=_names(shown.groups)), y, series, marks)
    return Figure(chart.svg(f"{subject.anchor_id}-neighbours"), caption)


def _said(shown: Worst) -> str:
    said = summary(shown)
    return said if said.startswith("told") else f"told with {said}"


def _names(groups: Sequence[Group]) -> tuple[str, ...]:
    """What the groups are called below the picture: what is told and how often, or their numbers where there are many."""
    names = [f"{group.count} x {group.told}" if group.count > 1 else group.told for group in groups]
    if len(names) <= _MOST and all(len(name) <= _LONGEST for name in names):
        return tuple(names)
    return tuple(str(number) for number in range(1, len(names) + 1))
