"""The body that neighbouring answers differ by, in the plane or in space, under the first claim that it is the same for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dpverify.pictures.body import ACROSS, UPWARDS, BodyPicture
from dpverify.report.axes import Axis
from dpverify.report.page.blocks import Block, Figure, Row
from dpverify.report.page.sections.drawing import number
from dpverify.report.page.subject import Claimed
from dpverify.report.svg import Chart, Series

TITLE = "The body of differences"
_WHAT: Final = {
    "query": "K, what answers on neighbouring data differ by",
    "norm": "K, the unit ball of the norm of the noise",
}


def blocks(claimed: Claimed) -> Sequence[Block]:
    """One picture, and it is not repeated under claims of the same file with the same body."""
    own = claimed.pictures
    if own is None or own.body is None:
        return []
    first = next(one for one in claimed.file.pictures if one.body == own.body)
    return [Row([_figure(claimed, own.body)])] if first.names[0] == claimed.entry.claim.name else []


def _figure(claimed: Claimed, body: BodyPicture) -> Figure:
    caption = f"{_WHAT[body.of]}, with {len(body.draws)} uniform points of it"
    if body.ball:
        caption += ", and the smallest ball of the norm of the noise that holds it"
    elif body.ball is not None and body.of == "query":
        caption += "; a ball of the norm of the noise is K itself"
    spread = ", ".join(map(number, body.deviations))
    caption += f". Principal directions: a uniform point of K has the deviations {spread} along them. In floating point, for orientation."
    nothing = Series("", [])  # keeps the place of what is not there: each line looks the same in all pictures
    series = [
        Series("K", body.front) if body.front else Series("K", [body.outline], "outline"),
        Series("ball", [body.ball], "outline") if body.ball else nothing,
        Series("principal directions", body.axes),
        Series("", body.back),
        Series("", [body.draws], "points"),
    ]
    across, upwards = ("first coordinate", "second coordinate") if body.dimension == 2 else (_combination(ACROSS), _combination(UPWARDS))
    chart = Chart(f"The body K, {claimed.entry.claim.name}", caption, Axis(across), Axis(upwards), series, equal=True)
    return Figure(chart.svg(f"{claimed.anchor_id}-body"), caption)


def _combination(direction: Sequence[float]) -> str:
    """What of the coordinates a direction of the picture shows."""
    parts = [(share, f"x{place}") for place, share in enumerate(direction, 1) if share]
    said = [f"{'-' if share < 0 else '+'} {abs(share):.2f} {name}" for share, name in sorted(parts, reverse=True)]
    return " ".join(said).removeprefix("+ ")
