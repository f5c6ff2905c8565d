"""Bands of privacy curves to JSON for plots, and to a few rows for pages. Computes nothing.

The JSON of one claim file, schema "dpverify-curves/1": its file, and for each mechanism and sensitivity in it the names of its
claims (the first of them as "name" too) and the bands "delta" (of epsilon), "trade_off" (type II error of type I error) and
"composition" (epsilon of the number of compositions), each an object of columns as `dpverify.bands.Band` describes them; "missing"
says why a band is not there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from dpverify.bands import Band, Bands
from dpverify.report.text import common

SCHEMA: Final = "dpverify-curves/1"
KINDS: Final[Mapping[str, str]] = {
    "delta": "delta at epsilon",
    "trade_off": "least type II error at type I error",
    "composition": "epsilon after compositions",
}
"""Each band and what it says, for pages."""
SHOWN: Final = 5

Row = tuple[str, ...]


def render(file: str, curves: Sequence[Bands]) -> str:
    """The JSON of one claim file's curves, one line a column."""
    claims = ",\n".join(_claim(each) for each in curves)
    return f'{{"schema": {json.dumps(SCHEMA)}, "file": {json.dumps(file)}, "claims": [\n{claims}\n]}}\n'


def _claim(curves: Bands) -> str:
    lines = [f'"name": {json.dumps(curves.names[0])}, "names": {json.dumps(list(curves.names))}']
    lines += [f"{json.dumps(kind)}: {_band(band.to_json())}" for kind, band in curves.bands.items()]
    lines += [f'"missing": {json.dumps(dict(curves.missing))}'] if curves.missing else []
    return " {" + ",\n  ".join(lines) + "}"


def _band(data: Mapping[str, Any]) -> str:
    return "{" + ",\n   ".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in data.items()) + "}"


def rows(curves: Sequence[Bands]) -> list[Row]:
    """A few points of every band: the claim, what is bounded, and its value at some places, the same number for all."""
    found = []
    for each in curves:
        for kind, band in each.bands.items():
            at = "".join(f" ({key} {value})" for key, value in band.at.items())
            cells = [f"{band.x[i]}: {_between(band.lower[i], band.upper[i])}" for i in _spread(band)]
            found.append((each.names[0], KINDS[kind] + at, *cells, *[""] * (SHOWN - len(cells))))
    return found


def _spread(band: Band) -> list[int]:
    """Places evenly over those where something is said and the quantity is not yet 0."""
    telling = [i for i in range(len(band.x)) if _tells(band.lower[i], band.upper[i])]
    if len(telling) <= SHOWN:
        return telling
    return [telling[round(i * (len(telling) - 1) / (SHOWN - 1))] for i in range(SHOWN)]


def _tells(lower: str | None, upper: str | None) -> bool:
    return (lower is not None and Fraction(lower) > 0) or (lower is None and upper is not None)


def _between(lower: str | None, upper: str | None) -> str:
    if lower is None or upper is None:
        return f"at most {upper}" if upper is not None else f"at least {lower}"
    return lower if lower == upper else common(lower, upper)
