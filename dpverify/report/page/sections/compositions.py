"""What epsilon is after several uses."""

from __future__ import annotations

from collections.abc import Sequence

from dpverify.report.axes import Axis
from dpverify.report.page.blocks import Block
from dpverify.report.page.sections.bands import picture, shown
from dpverify.report.page.subject import File

TITLE = "Composition"


def blocks(file: File) -> Sequence[Block]:
    """A picture for each sensitivity."""
    named = [(curves.names[0], curves.bands["composition"]) for curves in file.curves if "composition" in curves.bands]
    figures = []
    for index, (name, band) in enumerate(named):
        at = "".join(f" at {key} {value}" for key, value in band.at.items())
        caption = f"Epsilon after so many compositions of {name} with itself{at}."
        axes = Axis("compositions", log=True), Axis("epsilon (nats)", low=0.0)
        figures.append(picture(f"Composition, {file.stem}", band, *axes, caption, (), f"{file.stem_id}-composition-{index}"))
    return shown(file, figures, named, "epsilon", "compositions")
