"""How the error depends on epsilon and on the number of queries: this noise, and the least of any mechanism."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context

from dpverify.pictures.error_curves import ErrorCurves
from dpverify.report import utility
from dpverify.report.axes import Axis
from dpverify.report.page.blocks import Block, Figure, Row
from dpverify.report.page.sections.drawing import number
from dpverify.report.page.subject import Claimed
from dpverify.report.strokes import Point
from dpverify.report.svg import Chart, Mark, Series

TITLE = "Error and epsilon"


def blocks(claimed: Claimed) -> Sequence[Block]:
    """Two pictures, under the claim that they were made for."""
    own = claimed.pictures
    if own is None or own.errors is None or own.errors[0] != claimed.entry.claim.name:
        return []
    curves = own.errors[1]
    return [Row([_against_epsilon(claimed, curves), *([_against_queries(claimed, curves)] if curves.least_by_queries else [])])]


def _against_epsilon(claimed: Claimed, curves: ErrorCurves) -> Figure:
    neighbours = utility.neighbours(claimed.entry.claim)
    own = "this noise, as wide as each epsilon wants" if curves.scaled else "this noise as it is"
    caption = f"Root mean square error against epsilon: {own}, at most, and what any mechanism has at least ({neighbours})."
    if curves.gaussian:
        caption += " Beside them about what Gaussian noise of the best shape has, which is no proof."
    each = "Each other point" if curves.gaussian else "Each point"
    caption += f" {each} is proved; at epsilon {number(curves.epsilon)}, the claim's, {_both(curves)}."
    shown = Series("this noise", [curves.own], "line" if curves.scaled else "points")
    gaussian = [Series("Gaussian noise of the best shape, about", [curves.gaussian])] if curves.gaussian else []
    chart = Chart(
        f"Error against epsilon, {claimed.entry.claim.name}", caption, Axis("epsilon", log=True), Axis("root mean square error", log=True),
        [Series("any mechanism, at least", [curves.least]), *gaussian, shown],
        [Mark("claimed", curves.epsilon, axis="x")],
    )  # fmt: skip
    return Figure(chart.svg(f"{claimed.anchor_id}-error-epsilon"), caption)


def _both(curves: ErrorCurves) -> str:
    """The two errors at the claimed epsilon."""
    near = min(curves.least, key=lambda point: abs(point[0] - curves.epsilon))
    own = min(curves.own, key=lambda point: abs(point[0] - curves.epsilon))
    return f"{rounded(own[1], ROUND_CEILING)} and {rounded(near[1], ROUND_FLOOR)}"


def rounded(bound: float, side: str) -> str:
    """Five digits of a bound, so that it stays one."""
    return f"{Context(prec=5, rounding=side).create_decimal_from_float(bound).normalize():f}"


def _against_queries(claimed: Claimed, curves: ErrorCurves) -> Figure:
    count = len(curves.least_by_queries)
    caption = f"The same for the first queries alone, 1 to {count}, at the claimed epsilon: the error that this noise has in their answers,"
    caption += " and what any mechanism has at least that answers nothing else."
    series = [Series("any mechanism, at least", [_bars(curves.least_by_queries)], "bars")]
    series += [Series("this noise", [_bars(curves.own_by_queries)], "bars")] if curves.own_by_queries else []
    chart = Chart(
        f"Error against the number of queries, {claimed.entry.claim.name}", caption,
        Axis("number of queries", names=tuple(str(k + 1) for k in range(count))), Axis("root mean square error"), series,
    )  # fmt: skip
    return Figure(chart.svg(f"{claimed.anchor_id}-error-queries"), caption)


def _bars(points: Sequence[Point]) -> list[Point]:
    """At the places of the names of the axis, from 0 on."""
    return [(x - 1, y) for x, y in points]
