"""delta as a function of epsilon, enclosed from both sides, with the points that are claimed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dpverify.pictures.bands import Band, Bands
from dpverify.report.axes import Axis
from dpverify.report.page.blocks import Block, Figure, Paragraph
from dpverify.report.page.sections.bands import picture, shown, value
from dpverify.report.page.sections.drawing import entries_of, number, size
from dpverify.report.page.subject import File
from dpverify.report.svg import Mark

TITLE = "Privacy curve"
_ONE_ORDER = "No curve is drawn of claims about one order of neighbours: privacy and trade-off curves are of the worse of both orders."


def blocks(file: File) -> Sequence[Block]:
    """A picture for each sensitivity."""
    named = [(curves, curves.bands["delta"]) for curves in file.curves if "delta" in curves.bands]
    figures = [_figure(file, i, curves, band) for i, (curves, band) in enumerate(named)]
    told = shown(file, figures, [(curves.names[0], band) for curves, band in named], "delta", "epsilon")
    return [*told, *([Paragraph(_ONE_ORDER, note=True)] if any(entry.claim.order for entry in file.entries) else [])]


def _figure(file: File, index: int, curves: Bands, band: Band) -> Figure:
    marks = list(_marks(file, curves, band))
    said = f" {', '.join(mark.label for mark in marks).capitalize()}." if marks else ""
    caption = f"The least delta at each epsilon, for {curves.names[0]}{' and others' if len(curves.names) > 1 else ''}.{said}"
    positive = [v for side in (band.lower, band.upper) for text in side if text is not None and (v := value(text, 0.0)) > 0]
    log = bool(positive) and max(positive) > 1e3 * min(positive)
    least = max(min(positive), 1e-12 * max(positive)) if log else None
    axes = Axis("epsilon (nats)"), Axis("delta", log=log, low=least if log else 0.0)
    return picture(f"Privacy curve, {file.stem}", band, *axes, caption, marks, f"{file.stem_id}-delta-{index}", most=1.0)


def _marks(file: File, curves: Bands, band: Band) -> Iterator[Mark]:
    """The first claim with both numbers, by its two lines."""
    last = value(band.x[-1], 0.0)
    for entry in entries_of(file, curves.names):
        epsilon, delta = size(entry.claim.epsilon), size(entry.claim.delta)
        if epsilon is not None and delta is not None and delta > 0 and epsilon <= last:
            yield Mark(f"claimed epsilon {number(epsilon)}", epsilon, axis="x")
            yield Mark(f"claimed delta {number(delta)}", delta)
            return
