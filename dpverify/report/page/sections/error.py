"""What the noise does to an answer: how large its error is."""

from __future__ import annotations

from collections.abc import Sequence

from dpverify.figures.noise_error import NoiseError, Sizes
from dpverify.report.axes import Axis
from dpverify.report.page.blocks import Block, Figure, Row, Table
from dpverify.report.page.sections.drawing import number
from dpverify.report.page.subject import File
from dpverify.report.svg import Chart, Mark, Series

TITLE = "Error of the noise"


def blocks(file: File) -> Sequence[Block]:
    """One picture: noise does not depend on the sensitivity that is claimed of it."""
    errors = [one.error for one in file.pictures if one.error is not None]
    if not errors:
        return []
    error = errors[0]
    header = ("", "median", "90 % below", "95 % below", "99 % below", "mean", "root mean square")
    rows = [_row("size of the noise" if error.dimension == 1 else error.of, error.sizes)]
    rows += [_row("one coordinate", error.coordinate)] if error.coordinate is not None else []
    table = Table(f"Error of the noise, {file.stem}", header, rows, numeric=frozenset(range(1, len(header))))
    return [Row([_figure(file, error)]), table]


def _row(of: str, sizes: Sizes) -> tuple[str, ...]:
    return (of, *map(number, (sizes.median, sizes.q90, sizes.q95, sizes.q99, sizes.mean, sizes.rms)))


def _figure(file: File, error: NoiseError) -> Figure:
    what = f"size of {error.of}" if error.dimension == 1 else error.of.removeprefix("the ")
    caption = f"How likely the {what} is above a value: {number(error.sizes.median)} half of the time"
    caption += f", {number(error.sizes.q95)} one time in twenty. Computed in floating point, for orientation."
    marks = [Mark("median", error.sizes.median, axis="x", kind="threshold"), Mark("95 %", error.sizes.q95, axis="x", kind="threshold")]
    kind = "step" if error.kind == "masses" else "line"
    chart = Chart(
        f"Error of the noise, {file.stem}", caption, Axis(what, low=0.0), Axis("probability above", low=0.0, high=1.0),
        [Series("", [error.survival], kind)], marks,
    )  # fmt: skip
    return Figure(chart.svg(f"{file.stem_id}-error"), caption)
