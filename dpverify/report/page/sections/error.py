"""What the noise does to an answer: how large its error is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dpverify.pictures.noise_error import NoiseError
from dpverify.report.axes import Axis
from dpverify.report.page.blocks import Block, Figure, Fold, Row, Table
from dpverify.report.page.sections.drawing import number
from dpverify.report.page.subject import File
from dpverify.report.svg import Chart, Mark, Series

TITLE = "Error of the noise"
_NUMBERS: Final = (
    ("median", "median"), ("90 % below", "q90"), ("95 % below", "q95"), ("99 % below", "q99"), ("mean", "mean"),
    ("root mean square", "rms"),
)  # fmt: skip


def blocks(file: File) -> Sequence[Block]:
    """One picture: noise does not depend on the sensitivity that is claimed of it."""
    errors = [one.error for one in file.pictures if one.error is not None]
    if not errors:
        return []
    error = errors[0]
    sizes = [error.sizes, *([error.coordinate] if error.coordinate is not None else [])]
    whole = "size of the noise" if error.dimension == 1 else error.of.removeprefix("the ")
    header = ("share or mean", whole, "one coordinate")[: 1 + len(sizes)]
    rows = [(name, *(number(getattr(one, key)) for one in sizes)) for name, key in _NUMBERS]
    table = Table(f"Error of the noise, {file.stem}", header, rows, numeric=frozenset(range(1, len(header))))
    return [Row([_figure(file, error)]), Fold("In numbers", [table], aside=True)]


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
