"""Polylines that draw a function of one variable well: more points where it bends, none across a jump."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

import numpy as np

from dpverify.search.numeric import Array

Point = tuple[float, float]

START: Final = 49
MOST: Final = 400
MOST_KINKS: Final = 100
DEVIATION: Final = 0.003
"""How far the middle of a segment may be off the chord, as a share of the height of the picture."""
FINEST: Final = 1e-9
"""The width, as a share of the picture, at which a step that is left is a jump."""
_SIDE: Final = 4e-10
_ROUNDS: Final = 36
_COARSE: Final = 2e-4


def sampled(function: Callable[[Array], Array], low: float, high: float, kinks: Iterable[float] = ()) -> Array:
    """Points (x, y) of the function from low to high, an array of two rows sorted by x: dense where it bends, both sides of a jump.

    kinks: where it may have a kink or a jump. Values may be infinite; nan where the function has none.
    """
    width = high - low
    special = np.array([k for k in kinks if low <= k <= high])
    special = special[:: 1 + special.size // MOST_KINKS]
    around = np.concatenate([special, special - _SIDE * width, special + _SIDE * width])
    x = np.unique(np.clip(np.concatenate([np.linspace(low, high, START), around]), low, high))
    y = function(x)
    for _ in range(_ROUNDS):
        wanted = _coarse(x, y, width)
        middles = (x[:-1] + x[1:])[wanted] / 2
        if not middles.size or x.size > MOST:
            break
        values = function(middles)
        needed = _bent(x, y, wanted, values)
        if not needed.any():
            break
        order = np.argsort(np.concatenate([x, middles]), kind="stable")
        x, y = np.concatenate([x, middles])[order], np.concatenate([y, values])[order]
    return _thinned(x, y, np.clip(special, low, high), np.clip(around, low, high))


def _thinned(x: Array, y: Array, kinks: Array, around: Array) -> Array:
    """Without the points that only served to find a jump: beside a kink where there is none, and between equal neighbours close by."""
    gaps = np.diff(x) / (x[-1] - x[0])
    with np.errstate(all="ignore"):
        steps = np.abs(np.diff(y))
    small = (gaps < _COARSE) & ((steps <= DEVIATION * _height(y)) | (y[:-1] == y[1:]))
    left, right = np.append(False, small), np.append(small, False)
    kept = np.isin(x, kinks)
    beside = np.isin(x, around) & ~kept & ((left & np.append(False, kept[:-1])) | (right & np.append(kept[1:], False)))
    dropped = beside | (left & right & ~kept)
    dropped[[0, -1]] = False
    return np.stack([x[~dropped], y[~dropped]])


def _height(y: Array) -> float:
    finite = y[np.isfinite(y)]
    return float(np.ptp(finite)) if finite.size else 0.0


def _coarse(x: Array, y: Array, width: float) -> Array:
    """The segments worth a middle point: those whose ends differ and that are not too short for their slope."""
    gaps = np.diff(x) / width
    with np.errstate(all="ignore"):
        rises = np.abs(np.diff(y))
    both = np.isfinite(y[:-1]) & np.isfinite(y[1:])
    mixed = np.isfinite(y[:-1]) != np.isfinite(y[1:])
    height = _height(y) or 1.0
    bends = np.zeros(gaps.shape, dtype=bool)
    with np.errstate(all="ignore"):
        slopes = np.where(both, np.diff(np.where(np.isfinite(y), y, 0.0)) / np.diff(x), 0.0)
        change = np.abs(np.diff(slopes))
    bends[:-1] |= change * np.minimum(gaps[:-1], gaps[1:]) * width > 4 * DEVIATION * height
    bends[1:] |= bends[:-1]
    steep = both & (rises > 0.03 * height)
    return np.asarray(((gaps > _COARSE) & bends & both) | ((gaps > FINEST) & (mixed | steep)))


def _bent(x: Array, y: Array, wanted: Array, values: Array) -> Array:
    """Which middle values are off their chords, or beside a value that is not finite."""
    with np.errstate(all="ignore"):
        off = np.abs(values - (y[:-1] + y[1:])[wanted] / 2)
    return np.asarray(~(off <= DEVIATION * (_height(y) or 1.0)))


def polylines(points: Array) -> tuple[tuple[Point, ...], ...]:
    """The lines through the finite points of `sampled`, broken where the function jumps or is not finite."""
    x, y = points
    finite = np.isfinite(y)
    gaps = np.diff(x) <= 2 * FINEST * (x[-1] - x[0])
    with np.errstate(all="ignore"):
        jumps = gaps & (np.abs(np.diff(y)) > 0.01 * (_height(y) or 1.0))
    breaks = np.flatnonzero(jumps | ~finite[1:] | ~finite[:-1]) + 1
    runs = np.split(np.arange(x.size), breaks)
    return tuple(tuple((float(x[i]), float(y[i])) for i in run) for run in runs if run.size > 1 and finite[run].all())


def infinite_spans(points: Array, sign: int) -> tuple[Point, ...]:
    """The intervals (from, to) of the picture on which the function is plus (sign 1) or minus (sign -1) infinity."""
    x, y = points
    flagged = np.isposinf(y) if sign > 0 else np.isneginf(y)
    places = np.flatnonzero(flagged)
    if not places.size:
        return ()
    runs = np.split(places, np.flatnonzero(np.diff(places) > 1) + 1)
    return tuple((float(x[run[0]]), float(x[run[-1]])) for run in runs)
