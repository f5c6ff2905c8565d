"""Draws from a density on the line by inversion, right far out in both tails.

A law is cut at its mode into two halves, and each half is a law of the logarithm v of the distance from there: there a power is a straight
line, at the end of a tail and near a pole alike. The masses of panels in v are integrals whose logarithms are added up from either side, so
that the distribution function F and the tail function S = 1 - F keep their relative accuracy down to e^-75. A uniform number is a fair side
and a number of the exponential law, which is -log F or -log S: no tail is cut off by the 53 bits of a float. In between, v is a
cubic of -log F or -log S, made finer until what it gives back is right; how right it is, is measured and kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import NDArray
from scipy.special import logsumexp

from dpverify.errors import NoSampler

Array = NDArray[np.float64]
Function = Callable[[Array], Array]

_RULES: Final = {nodes: legendre.leggauss(nodes) for nodes in (8, 16)}
_LOWEST, _HIGHEST = -740.0, 709.0  # logarithms of floats
_CLOSE: Final = 60.0
_DEPTH: Final = 120.0  # what has less than e^-120 of the mass is left out
_TABLE: Final = 75.0  # what has less than e^-75 of the mass is never met
_AGREED: Final = 1e-12
_FINE: Final = 4e-11
_LOST: Final = 1e-14
_MOST_PANELS: Final = 200_000
_NEAR: Final = 1e-7


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """v as cubics of x = -log of a function that falls: pieces between `start` and `end`, with v and its slope at either end."""

    start: Array
    end: Array
    first: Array
    last: Array
    rise: Array
    fall: Array

    def __call__(self, x: Array) -> Array:
        i = np.clip(np.searchsorted(self.start, x, side="right") - 1, 0, len(self.start) - 1)
        return _cubic(x, self.start[i], self.end[i], self.first[i], self.last[i], self.rise[i], self.fall[i])


def _cubic(x: Array, start: Array, end: Array, first: Array, last: Array, rise: Array, fall: Array) -> Array:
    width = end - start
    t = np.clip((x - start) / width, 0, 1)
    s = 1 - t
    return np.asarray(first * s * s * (1 + 2 * t) + last * t * t * (3 - 2 * t) + width * s * t * (rise * s - fall * t))


@dataclass(frozen=True, slots=True, eq=False)
class _Half:
    """The distance from a point, on one side of it. log_mass: of the side, of the density as it was given."""

    log_mass: float
    inner: float
    near: _Table | None
    far: _Table | None
    error: float

    def draw(self, size: int, rng: np.random.Generator) -> Array:
        depths = rng.standard_exponential(size)
        inward = rng.random(size) < self.inner
        found = np.empty(size)
        for chosen, table, share in ((inward, self.near, self.inner), (~inward, self.far, 1 - self.inner)):
            if table is not None and chosen.any():
                found[chosen] = table(depths[chosen] - np.log(share))
        return np.exp(found)


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """A law on the line.

    error: F and S of what is drawn are those of the density to within a factor of 1 + error, wherever they are above e^-75, and
    up to the spacing of floats; measured where the table is worst, not proved.
    """

    centre: float
    left: _Half | None
    right: _Half | None
    share: float
    error: float

    def draw(self, size: int, rng: np.random.Generator) -> Array:
        """Independent draws."""
        rightward = rng.random(size) < self.share
        found = np.empty(size)
        for chosen, half, sign in ((rightward, self.right, 1.0), (~rightward, self.left, -1.0)):
            if half is not None and chosen.any():
                found[chosen] = sign * half.draw(int(chosen.sum()), rng)
        return self.centre + found


def line(log_density: Function, low: float = -np.inf, high: float = np.inf, kinks: Sequence[float] = ()) -> Line:
    """The law of exp(log_density) between low and high, up to a constant factor. kinks: where it bends, jumps or has a pole, if known.

    Raises NoSampler for what has no finite, positive integral in floats, or too much of it beyond their range.
    """
    inside = sorted({kink for kink in kinks if low < kink < high})
    centre = _mode(log_density, low, high, inside)
    halves: list[_Half | None] = []
    for sign, end in ((-1.0, low), (1.0, high)):
        reach = sign * (end - centre)
        bends = [sign * (kink - centre) for kink in inside]

        def beside(distance: Array, sign: float = sign) -> Array:
            return _known(log_density(centre + sign * distance))

        halves.append(_half(beside, reach, [bend for bend in bends if 0 < bend < reach], centre) if reach > 0 else None)
    left, right = halves
    masses = np.array([-np.inf if half is None else half.log_mass for half in halves])
    if not np.isfinite(masses.max()):
        raise NoSampler("the density has no finite, positive integral in floats; correct the declaration.")
    share = float(np.exp(masses[1] - np.logaddexp(*masses)))
    return Line(centre, left, right, share, max(half.error for half in halves if half is not None))


def radius(log_density: Function, kinks: Sequence[float] = ()) -> Line:
    """The law of a length: between 0 and infinity, from 0."""
    half = _half(lambda r: _known(log_density(r)), np.inf, [kink for kink in kinks if kink > 0])
    if half is None:
        raise NoSampler("the density has no finite, positive integral in floats; correct the declaration.")
    return Line(0.0, None, half, 1.0, half.error)


def _known(logs: Array) -> Array:
    """A log-density for integrals: no mass where it has no value, or one beyond floats."""
    return np.where(np.isfinite(logs), logs, -np.inf)


def _mode(log_density: Function, low: float, high: float, kinks: Sequence[float]) -> float:
    """The point from which distances are measured: a pole, or else where the density is greatest, 0 and the kinks first."""
    powers = np.exp2(np.arange(-40, 1000))
    ends = [end for end in (low, high) if np.isfinite(end)]
    named = np.array(sorted({*kinks, *ends, *([0.0] if low < 0 < high else [])}, key=abs))
    points = np.concatenate([named, *(anchor + sign * powers for anchor in (*named, 0.0) for sign in (1, -1))])
    points = points[(points >= low) & (points <= high)]
    with np.errstate(all="ignore"):
        heights = log_density(points)
        if len(named) and np.isposinf(poles := log_density(named)).any():
            return float(named[np.isposinf(poles)][0])
    heights = _known(heights)
    if not np.isfinite(heights.max()):
        raise NoSampler("the density has no finite, positive integral in floats; correct the declaration.")
    ordered = np.unique(points)
    best = float(points[heights.argmax()])
    for _ in range(40):
        around = int(np.searchsorted(ordered, best))
        below, above = float(ordered[max(around - 1, 0)]), float(ordered[min(around + 1, len(ordered) - 1)])
        ordered = np.linspace(below, above, 33)
        with np.errstate(all="ignore"):
            logs = _known(log_density(ordered))
        if logs.max() <= heights.max():
            break
        best, heights = float(ordered[logs.argmax()]), logs
    if len(named):
        with np.errstate(all="ignore"):
            logs = _known(log_density(named))
        if logs.max() >= heights.max() - 1e-9:
            return float(named[logs.argmax()])
    return best


# -- one half ----------------------------------------------------------------------------------------------------


def _half(log_density: Function, reach: float, kinks: Sequence[float], centre: float = 0.0) -> _Half | None:
    """The law of a distance between 0 and `reach`, measured from the centre; None where there is no mass."""

    def weight(v: Array) -> Array:
        with np.errstate(all="ignore"):
            return np.asarray(log_density(np.exp(v)) + v)

    top = min(np.log(reach), _HIGHEST)
    marks = [np.log(kink) for kink in kinks]
    near_marks = [mark + sign * 2.0**-power for mark in (*marks, top) for sign in (1, -1) for power in range(1, 45)]
    edges = np.unique([*np.arange(_LOWEST, top, 4.0), *np.arange(-_CLOSE, _CLOSE, 0.5), *marks, top, *near_marks])
    left, right, masses = _panels(weight, edges[(edges >= _LOWEST) & (edges <= top)], abs(centre))
    if not len(left):
        return None
    total = float(logsumexp(masses))
    outer = masses[(right < _LOWEST + 5) | (left > _HIGHEST - 5)]
    if len(outer) and np.exp(logsumexp(outer) - total) > _LOST:
        raise NoSampler("too much of the density's mass is beyond the range of floats.")
    below = np.logaddexp.accumulate(masses) - total
    above = np.logaddexp.accumulate(masses[::-1])[::-1] - total
    cut = int(np.searchsorted(below, np.log(0.5)))
    inner = float(np.exp(below[cut - 1])) if cut else 0.0
    before, after = np.append(-np.inf, below[:-1]), np.append(above[1:], -np.inf)
    near, errors = _table(weight, right[:cut][::-1], left[:cut][::-1], below[:cut][::-1], before[:cut][::-1], total)
    far, more = _table(weight, left[cut:], right[cut:], above[cut:], after[cut:], total)
    return _Half(total, inner, near, far, max(errors, more))


def _log_mass(weight: Function, left: Array, right: Array, centre: float = 0.0, order: int = 16) -> tuple[Array, Array]:
    """The logarithm of the integral over each panel, and what the rounding of points and logarithms makes of it.

    centre: how far from 0 the distances are measured.
    """
    half, (nodes, weights) = (right - left) / 2, _RULES[order]
    points = (left + half)[:, None] + half[:, None] * nodes
    logs = weight(points)
    known = np.isfinite(logs)
    spread = np.where(known, logs, -np.inf).max(axis=1, initial=-np.inf) - np.where(known, logs, np.inf).min(axis=1, initial=np.inf)
    grain = 4e-16 * np.maximum(1.0, np.abs(points[:, -1])) + 2e-16 * centre * np.exp(np.minimum(-left, 600.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        noise = 4e-16 * np.where(known, np.abs(logs), 0.0).max(axis=1, initial=0.0) + grain * np.maximum(spread, 0.0) / (right - left)
        return np.asarray(logsumexp(logs + np.log(weights), axis=1) + np.log(half)), noise


def _panels(weight: Function, edges: Array, centre: float) -> tuple[Array, Array, Array]:
    """Panels that hold all but e^-120 of the mass, in order, with the logarithms of their masses: halved until both halves agree."""
    left, right = edges[:-1], edges[1:]
    whole, _ = _log_mass(weight, left, right)
    if not np.isfinite(whole.max(initial=-np.inf)):
        return left[:0], left[:0], left[:0]
    done: list[tuple[Array, Array, Array]] = []
    greatest = -np.inf
    for _ in range(64):
        middle = left + (right - left) / 2
        (lower, noise), (upper, other) = _log_mass(weight, left, middle, centre), _log_mass(weight, middle, right, centre)
        together = np.logaddexp(lower, upper)
        greatest = max(greatest, float(together.max(initial=-np.inf)))
        with np.errstate(invalid="ignore", over="ignore"):
            apart = np.abs(np.expm1(whole - together))
        ready = (apart <= _AGREED + noise + other) | (np.maximum(whole, together) < greatest - _DEPTH - 20)
        ready |= right - left <= 8e-16 * np.maximum(np.abs(left), 1.0)
        done.append((left[ready], right[ready], together[ready]))
        left, middle, right = left[~ready], middle[~ready], right[~ready]
        whole = np.concatenate((lower[~ready], upper[~ready]))
        left, right = np.concatenate((left, middle)), np.concatenate((middle, right))
        if not len(left):
            break
        if len(left) > _MOST_PANELS:
            raise NoSampler("the density is too rough to be integrated in floats.")
    lefts, rights, masses = (np.concatenate(column) for column in zip(*done, strict=True))
    order = np.argsort(lefts)
    lefts, rights, masses = lefts[order], rights[order], masses[order]
    kept = masses > greatest - _DEPTH
    return lefts[kept], rights[kept], masses[kept]


def _table(weight: Function, inside: Array, outside: Array, log_in: Array, log_out: Array, total: float) -> tuple[_Table | None, float]:
    """v by x = -log of a function that falls from `inside` to `outside` of each panel, and the error at worst.

    log_in, log_out: its logarithms there.
    """
    kept = (log_in > -_TABLE) & (log_in > log_out)
    if not kept.any():
        return None, 0.0
    first, last, start, log_end = inside[kept], outside[kept], -log_in[kept], log_out[kept]
    steep = ~np.isfinite(log_end)  # the end of the law: only floats are between the last points that matter and it
    nearly = last[steep] - (last[steep] - first[steep]) * 2.0**-20
    rest, _ = _log_mass(weight, np.minimum(nearly, last[steep]), np.maximum(nearly, last[steep]))
    last, log_end = last.copy(), log_end.copy()
    last[steep], log_end[steep] = nearly, rest - total
    known = np.isfinite(log_end) & (-log_end > start)
    first, last, start, end = first[known], last[known], start[known], -log_end[known]
    pieces: list[tuple[Array, ...]] = []
    worst = 0.0
    for _ in range(60):
        width = end - start
        chord = (last - first) / width
        rise, fall = _slope(weight, first, last, start, chord, total), _slope(weight, last, first, end, chord, total)
        middle, at = (_cubic(start + part * width, start, end, first, last, rise, fall) for part in (0.5, 0.25))
        found, quarter = (_depth(weight, v, last, end, total) for v in (middle, at))
        off = np.maximum(np.abs(found - start - 0.5 * width), np.abs(quarter - start - 0.25 * width))
        spacing = 8e-16 * np.maximum(np.abs(last), 1.0) / np.abs(chord)
        ready = (off <= _FINE + spacing) | (middle == first) | (middle == last) | ~(found > start) | ~(found < end)
        worst = max(worst, float((off - spacing)[ready & (off <= _FINE + spacing)].max(initial=0.0)))
        pieces.append(tuple(column[ready] for column in (start, end, first, last, rise, fall)))
        if ready.all():
            break
        if len(start) > _MOST_PANELS:
            raise NoSampler("the density is too rough to be inverted in floats.")
        more = ~ready
        start, end = np.concatenate((start[more], found[more])), np.concatenate((found[more], end[more]))
        first, last = np.concatenate((first[more], middle[more])), np.concatenate((middle[more], last[more]))
    columns = [np.concatenate(column) for column in zip(*pieces, strict=True)]
    order = np.argsort(columns[0])
    return _Table(*(column[order] for column in columns)), worst + 10 * _AGREED


def _slope(weight: Function, v: Array, other: Array, x: Array, chord: Array, total: float) -> Array:
    """How fast v moves with x at an end of a piece, seen from just inside, but not so that the cubic turns round. chord: on average."""
    slope = np.exp(np.minimum(total - x - weight(v + _NEAR * (other - v)), 700.0))
    return np.asarray(np.minimum(slope, 3 * np.abs(chord)) * np.sign(chord))


def _depth(weight: Function, v: Array, last: Array, end: Array, total: float) -> Array:
    """-log of the function at v, from what it is at `last`, the outer end of the panel, and the mass between."""
    between, _ = _log_mass(weight, np.minimum(v, last), np.maximum(v, last), order=8)  # the piece is much smaller than its panel
    return -np.logaddexp(between - total, -end)
