"""Noise in the plane: the ball of its norm as large as the sensitivity, and draws of the noise."""

from __future__ import annotations

from collections.abc import Sequence

from dpverify.report.axes import Axis
from dpverify.report.page.blocks import Block, Figure, Row
from dpverify.report.page.subject import File, Plane
from dpverify.report.svg import Chart, Series

TITLE = "The noise in the plane"


def blocks(file: File) -> Sequence[Block]:
    """One picture: the noise does not depend on what is claimed of it, only the ball of the sensitivity does."""
    planes = [(one.names[0], one.plane) for one in file.pictures if one.plane is not None]
    return [Row([_figure(file, *planes[0])])] if planes else []


def _figure(file: File, name: str, plane: Plane) -> Figure:
    series = [Series("sensitivity", [plane.ball.points], "outline")]
    series += [Series(f"{level.probability:.0%}", [level.outline.points], "outline") for level in plane.levels]
    series += [Series("", [plane.draws], "points")] if plane.draws else []
    inside = " and ".join(f"{level.probability:.0%} of it within {level.radius:.4g}" for level in plane.levels)
    caption = f"{len(plane.draws)} draws of the noise; neighbouring answers of {name} differ within the ball named sensitivity"
    caption += f"; {inside}." if inside else "."
    chart = Chart(f"The noise in the plane, {file.stem}", caption, Axis("first coordinate"), Axis("second coordinate"), series, equal=True)
    return Figure(chart.svg(f"{file.stem_id}-plane"), caption)
