"""The trade-off of the two errors of an adversary who tells two neighbours apart."""

from __future__ import annotations

from collections.abc import Sequence

from dpverify.report.axes import Axis
from dpverify.report.page.blocks import Block
from dpverify.report.page.sections.bands import picture, shown
from dpverify.report.page.subject import File

TITLE = "Trade-off curve"


def blocks(file: File) -> Sequence[Block]:
    """A picture for each sensitivity."""
    named = [(curves.names[0], curves.bands["trade_off"]) for curves in file.curves if "trade_off" in curves.bands]
    axes = Axis("type I error", low=0.0, high=1.0), Axis("type II error", low=0.0, high=1.0)
    figures = [
        picture(
            f"Trade-off curve, {file.stem}", band, *axes, f"The least type II error of any test at each type I error, for {name}.", (),
            f"{file.stem_id}-trade-off-{index}", most=1.0,
        )
        for index, (name, band) in enumerate(named)
    ]  # fmt: skip
    return shown(file, figures, named, "type II error", "type I error")
