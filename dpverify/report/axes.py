"""Axes of charts: where a value stands, and which values are marked."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

_RAISED: Final = str.maketrans("0123456789-", "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079\u207b")


LEAST: Final = 1e-250
"""Logarithmic axes reach from here to one over it at most, far from where floats end."""


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis of a chart.

    label: what it shows, with its unit. log: decades are evenly spaced; values that are not positive are not drawn.
    low, high: its ends, None to take them from the data. names: of the places 0, 1, 2, ... instead of numbers.
    """

    label: str
    log: bool = False
    low: float | None = None
    high: float | None = None
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Scale:
    """From values to places: low stands at `start`, high at `stop` (pixels; stop may be less than start)."""

    low: float
    high: float
    start: float
    stop: float
    log: bool = False

    def __call__(self, value: float) -> float:
        low, high, at = (math.log10(v) for v in (self.low, self.high, value)) if self.log else (self.low, self.high, value)
        return self.start + (at - low) / (high - low) * (self.stop - self.start)

    def shows(self, value: float) -> bool:
        """Whether the value can be placed at all, if perhaps outside."""
        return math.isfinite(value) and (value > 0 or not self.log)


def span(axis: Axis, values: Iterable[float], *, margin: float = 0.04, from_zero: bool = False) -> tuple[float, float]:
    """The ends of an axis: as stated, else round the data, with a share `margin` of it free on both sides. from_zero: bars stand on it."""
    seen = [v for v in values if math.isfinite(v) and (v > 0 or not axis.log)]
    if axis.names:
        return -0.6, len(axis.names) - 0.4
    low, high = (min(seen), max(seen)) if seen else (1.0, 10.0) if axis.log else (0.0, 1.0)
    if from_zero and not axis.log:
        low, high = min(low, 0.0), max(high, 0.0)
    if axis.log:
        low, high = max(low, LEAST), min(max(high, LEAST), 1 / LEAST)
        room = 10 ** (margin * math.log10(high) - margin * math.log10(low)) if high > low else 3.0
        ends = low / room, high * room
    else:
        width = high - low or abs(high) or 1.0
        ends = low - (0.0 if from_zero and low == 0 else margin * width), high + margin * width
    low, high = ends[0] if axis.low is None else axis.low, ends[1] if axis.high is None else axis.high
    if not low < high or (axis.log and low <= 0):
        raise ValueError(f"axis {axis.label!r}: no room from {low} to {high}{' on a logarithmic scale' if axis.log else ''}.")
    return low, high


def ticks(low: float, high: float, most: int, *, log: bool = False) -> list[float]:
    """Round values in [low, high], about `most` of them: 1, 2 or 5 times powers of ten."""
    if log and high / low >= 10:
        return _decades(low, high, most)
    return _even(low, high, most)


def _even(low: float, high: float, most: int) -> list[float]:
    rough = (high - low) / most
    exponent = math.floor(math.log10(rough))
    step = next(m for m in (1, 2, 5, 10, 20) if m * 10.0**exponent >= rough * (1 - 1e-9))
    unit = 10.0**-exponent
    first, last = math.ceil(low * unit / step - 1e-9), math.floor(high * unit / step + 1e-9)
    # powers of ten below 1 are divided by, so that 0.3 is 0.3
    return [k * step / unit if exponent < 0 else k * step * 10.0**exponent for k in range(first, last + 1)]


def _decades(low: float, high: float, most: int) -> list[float]:
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    count = last - first + 1
    if count >= 3 or count > most:
        step = next(m * 10**k for k in range(6) for m in (1, 2, 5) if count <= m * 10**k * most)
        return [10.0**k for k in range(first, last + 1) if k % step == 0]
    fine = [m * 10.0**k for k in range(first - 1, last + 1) for m in (1, 2, 5)]
    shown = [v for v in fine if low * (1 - 1e-9) <= v <= high * (1 + 1e-9)]
    return shown if len(shown) <= most else [10.0**k for k in range(first, last + 1)]


def power_of_ten(value: float) -> str:
    """A value on a logarithmic axis: a power of ten from 10000 on, and below 0.001."""
    exponent = round(math.log10(value))
    whole = math.isclose(value, 10.0**exponent) and not -4 < exponent < 4
    return "10" + str(exponent).translate(_RAISED) if whole else short(value)


def short(value: float) -> str:
    """A number in few signs, to four digits."""
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value == 0:
        return "0"
    size = abs(value)
    if 1e-3 <= size < 1e5:
        text = f"{size:.4g}" if size < 1e4 else f"{size:.0f}"
    else:
        digits, _, exponent = f"{size:.3e}".partition("e")
        digits = digits.rstrip("0").rstrip(".")
        text = ("" if digits == "1" else f"{digits}·") + "10" + str(int(exponent)).translate(_RAISED)
    return f"−{text}" if value < 0 else text
