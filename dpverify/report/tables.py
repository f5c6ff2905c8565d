"""A band of numbers as CSV, and as a picture by itself. Computes nothing."""

from __future__ import annotations

import csv
import io
import math
from fractions import Fraction

from dpverify.pictures.bands import Band
from dpverify.report import svg
from dpverify.report.axes import Axis

COLUMNS = ("quantity", "variable", "x", "lower", "upper")


def as_csv(bands: dict[str, Band]) -> str:
    """All bands, a row for each x: bounds that are rounded outward, empty where a side is not known."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(COLUMNS)
    for band in bands.values():
        for x, lower, upper in zip(band.x, band.lower, band.upper, strict=True):
            rows.writerow((band.quantity, band.variable, x, lower or "", upper or ""))
    return text.getvalue()


def picture(title: str, band: Band) -> str:
    """The two sides of a band, as an SVG file. Small deltas are on a logarithmic axis."""
    log = band.quantity == "delta"
    known = [
        (float(Fraction(x)), *(math.nan if end in (None, "inf") else float(Fraction(end)) for end in (lower, upper)))
        for x, lower, upper in zip(band.x, band.lower, band.upper, strict=True)
    ]
    sides = (("proved from below", 1), ("proved from above", 2))
    series = [svg.Series(label, [[(row[0], row[side]) for row in known if _shown(row[side], log)]]) for label, side in sides]
    drawn = [one for one in series if one.lines[0]]
    words = f"{band.quantity} against {band.variable}, bounded from both sides by what is proved."
    chart = svg.Chart(title, words, Axis(band.variable), Axis(band.quantity, log=log), drawn)
    return chart.svg("curve").replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1) + "\n"


def _shown(value: float, log: bool) -> bool:
    return math.isfinite(value) and (value > 0 or not log)
