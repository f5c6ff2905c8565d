"""Bands of privacy curves to JSON, for plots of any kind. Computes nothing.

The JSON of one claim file, schema "dpverify-curves/1": its file, and for each mechanism and sensitivity in it the names of its
claims (the first of them as "name" too), and the bands "delta" (of epsilon), "trade_off" (type II error of type I error) and
"composition" (epsilon of the number of compositions), each an object of columns as `dpverify.pictures.bands.Band` describes them; "missing"
says why a band is not there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from dpverify.pictures.bands import Band, Bands
from dpverify.report.enclosures import common

SCHEMA: Final = "dpverify-curves/1"
SHOWN: Final = 5
"""As many points of a band as pages show."""


def data_name(stem: str) -> str:
    """The file that holds the curves of a claim file."""
    return f"{stem}.curves.json"


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


def points(band: Band) -> list[tuple[str, str]]:
    """A few points of a band, evenly over those where something is said and the quantity is not yet 0: where, and what is known there."""
    telling = [i for i in range(len(band.x)) if _tells(band.lower[i], band.upper[i])]
    if len(telling) > SHOWN:
        telling = [telling[round(i * (len(telling) - 1) / (SHOWN - 1))] for i in range(SHOWN)]
    return [(band.x[i], _between(band.lower[i], band.upper[i])) for i in telling]


def _tells(lower: str | None, upper: str | None) -> bool:
    return (lower is not None and Fraction(lower) > 0) or (lower is None and upper is not None)


def _between(lower: str | None, upper: str | None) -> str:
    if lower is None or upper is None:
        return f"at most {upper}" if upper is not None else f"at least {lower}"
    return lower if lower == upper else common(lower, upper)
