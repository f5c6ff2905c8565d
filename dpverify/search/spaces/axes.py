"""Axes of sequence ellipsoids: where they may be cut off, what falls to 0 above them, and which of them never get short."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Any, Final

import numpy as np
from flint import arb

from dpverify.search.numeric import vectorised
from dpverify.trusted.kernel.balls import constant, value
from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.expr import Expr, Num, call, mul, power, symbols
from dpverify.trusted.theories.spaces.nets import FALLING, MOST, require_above
from dpverify.trusted.theories.spaces.shapes import LEVELS, along

Told = dict[str, Any]

_PARTS: Final = (0.3, 0.5, 0.7, 0.85, 0.95, 0.99, 0.999, 0.9995)
"""The share of the radius that is left to the axes that are cut off."""
_POWERS: Final = tuple(Fraction(n, 12) for n in (60, 48, 36, 30, 24, 21, 20, 18, 16, 15, 14, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1))
_MOST_POWERS: Final = 3
_FLAT: Final = 1e-4
"""What may still rise from one of the last numbers to the next, and be bounded."""
_WAYS: Final[tuple[Told, ...]] = (
    {}, {"start": 1}, {"start": 20}, {"start": 1, "times": "1"}, {"start": 400}, {"start": 20, "times": "1"}, {"start": 20, "times": "2"},
)  # fmt: skip
"""How it may be shown that the axes are below a function, the quickest first."""
_STEPS: Final = 6
_STILL: Final = 0.01
_FAR: Final = np.unique(np.concatenate([np.arange(1, 65), np.round(np.geomspace(64, 1e12, 200))]))


def _lengths(axis: Expr, at: Any) -> Any:
    with np.errstate(all="ignore"):
        return np.abs(np.broadcast_to(vectorised(axis, "k")(at), np.shape(at)).astype(float))


def cut(axis: Expr, radii: Iterable[Expr]) -> Iterator[tuple[int, Told, float]]:
    """For radii that are numbers: which of them, where the axes are cut off and what those after are at most, and the size of the net."""
    if symbols(axis) - {"k"}:
        return
    lengths = _lengths(axis, np.arange(1.0, MOST + 2))
    if not np.all(np.isfinite(lengths)):
        return
    falling = np.maximum.accumulate(lengths[::-1])[::-1]
    for number, radius in enumerate(radii):
        limit = float(constant(radius).mid())
        for part in (*_PARTS, 1.0):
            tail = Fraction(math.floor(limit * part * 10**9), 10**9)
            after = int(np.searchsorted(-falling, -float(tail) * (1 + 1e-12)))
            if after < MOST and falling[after] <= tail and (part < 1 or not after):
                inner = math.sqrt(limit**2 - float(tail) ** 2) if after else 1.0
                yield number, {"axes": after, "tail": str(tail)}, float(np.log(np.maximum(4 * lengths[:after] / inner, 2)).sum())


@lru_cache(maxsize=64)
def _majorant(axis: Expr) -> Told | None:
    """The fastest of the functions that is found above the axes."""
    with np.errstate(all="ignore"):
        lengths = np.log(_lengths(axis, _FAR))
    for depth, (slow, _) in sorted(FALLING.items()):
        most = _rate(axis, slow)
        rises, tried = _FAR if depth < 0 else np.log(vectorised(slow, "k")(_FAR)), 0
        for exponent in _POWERS:
            sizes = lengths + float(exponent) * rises
            sizes = sizes[np.isfinite(sizes)]
            rising = not sizes.size or sizes[-1] > sizes[-2] + _FLAT or float(exponent) > most * (1 + 1e-6)
            if rising or tried == _MOST_POWERS:
                continue
            tried += 1
            factors = list(_simple(math.exp(min(float(sizes.max()), 30.0))))
            below = {size: mul(Num(size), power(slow, Num(-exponent))) for size in factors}
            logs = math.log(max(factors, default=Fraction(1))) - float(exponent) * rises - lengths
            plain = [way for way in _WAYS if factors and _plausible(logs, lengths, way)]
            ways = [way for way in plain if _above(axis, below[max(factors)], way)]  # what fails there fails below it
            for size, way in product(factors, ways):
                if _above(axis, below[size], way):
                    return {"factor": str(size), "depth": depth, "power": str(exponent), **way}
    return None


def _plausible(logs: Any, lengths: Any, way: Told) -> bool:
    """Whether floats do not speak against a way. logs: of the quotient of a function and the axes; lengths: the logarithms of these."""
    if "start" not in way:
        return not np.any(logs < -_FLAT)
    seen = (way["start"] <= _FAR) & np.isfinite(logs) & np.isfinite(lengths)
    gap = logs[seen]
    if "times" in way:
        with np.errstate(all="ignore"):
            gap = float(way["times"]) * np.log(_FAR[seen]) + lengths[seen] + np.log(np.expm1(gap))
        gap = gap[np.isfinite(gap)]
    return not np.any(np.diff(gap) < -_FLAT)


def _rate(axis: Expr, slow: Expr) -> float:
    """The power of a function that axes fall with very far out."""
    sizes = []
    for far in (10**9, 10**15):
        k = {"k": arb(far).exp()}
        sizes.append((abs(value(axis, k)).log(), value(slow, k).log()))
    rate = float(((sizes[0][0] - sizes[1][0]) / (sizes[1][1] - sizes[0][1])).mid())
    return rate if math.isfinite(rate) else math.inf


def _above(axis: Expr, above: Expr, way: Told) -> bool:
    try:
        require_above(call("abs", axis), above, way, {})
    except (DpverifyError, ArithmeticError):
        return False
    return True


def _simple(size: float) -> Iterator[Fraction]:
    """Rationals at a number and above, the nearest first."""
    if not 0 < size < 1e9:
        return
    near = Fraction(size).limit_denominator(1000)
    if abs(near - Fraction(size)) < 1e-12 * size:
        yield near
    yield from (Fraction(math.ceil(size * scale), scale) for scale in (1000, 1))


def majorant(axis: Expr) -> Iterator[Told]:
    """What falls to 0 and is above the axes: a factor, and a power of k, of its logarithm, or of that of its logarithm."""
    if symbols(axis) - {"k"}:
        return
    found = _majorant(axis)
    if found is not None:
        yield found


def repeated(axis: Expr, near: Expr) -> Iterator[Told]:
    """Axes that are all longer than gamma: infinitely many, or the first."""
    if symbols(axis) - {"k"}:
        return
    limit = float(constant(near).mid())
    for step, start, least in _lasting(axis):
        if least > limit:
            for size in dict.fromkeys((*_below(least, limit), *_below((least + limit) / 2, limit))):
                if _holds(axis, size, step, start):
                    yield {"least": str(size), "step": step, "start": start}
                    break
    lengths = _lengths(axis, np.arange(1.0, 4097))
    for share in (1.05, 1.25, 1.5, 2, 3):
        short = np.nonzero(~(lengths >= limit * share))[0]
        first = int(short[0]) if short.size else len(lengths)
        above = next(_below(limit * share, limit), None)
        if first and above is not None:  # near 0 there are none of few digits
            yield {"least": str(above), "first": first}


@lru_cache(maxsize=64)
def _lasting(axis: Expr) -> tuple[tuple[int, int, float], ...]:
    """Arithmetic progressions of axes that do not get short in floats, the longest first: step, start and the least length."""
    found = []
    for step in range(1, _STEPS + 1):
        for start in range(1, step + 1):
            lengths = _lengths(axis, start + step * (_FAR[_FAR < 1e6] - 1))
            least = float(np.nanmin(lengths)) if np.any(np.isfinite(lengths)) else 0.0
            if least > 0 and not _falls(axis, step, start):
                found.append((step, start, least))
    best = max((least for _, _, least in found), default=0.0)
    return tuple(sorted((one for one in found if one[2] > best / 2), key=lambda one: (-round(one[2], 9), one[0])))[:3]


def _falls(axis: Expr, step: int, start: int) -> bool:
    """Whether the axes go on falling very far out."""
    return _rate(along(axis, step, start), FALLING[2][0]) > _STILL


def _below(size: float, limit: float) -> Iterator[Fraction]:
    """Rationals at a number and below, above the limit."""
    near = Fraction(size).limit_denominator(1000)
    for found in (near, Fraction(math.floor(size * 1000), 1000), Fraction(math.floor(size * 10**9), 10**9)):
        if limit < found <= size * (1 + 1e-12):
            yield found


@lru_cache(maxsize=256)
def _holds(axis: Expr, size: Fraction, step: int, start: int) -> bool:
    try:
        return certainly_le(Num(size), call("abs", along(axis, step, start)), {"k": LEVELS})
    except DpverifyError:
        return False
