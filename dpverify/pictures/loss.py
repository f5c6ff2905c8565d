"""The privacy loss between the worst two answers, as a function of where the output lies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

import numpy as np

from dpverify.pictures.bars import Bar, finite_bars, kary_bars
from dpverify.pictures.conditional import conditional_curve
from dpverify.pictures.exponent import Exponent, dimension_of, exponent
from dpverify.pictures.law import size_law
from dpverify.pictures.polyline import Point, infinite_spans, polylines, sampled
from dpverify.pictures.rays import Ray, directions
from dpverify.pictures.supremum import Scan, Supremum, scan
from dpverify.search.additive import sensitivity
from dpverify.search.numeric import Array, number
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.errors import DpverifyError, Undecided
from dpverify.trusted.kernel.expr import ZERO
from dpverify.trusted.kernel.model import Claim, Exponential, KaryResponse, Kernel, Product, Staircase, Table
from dpverify.trusted.sensitivity.record_sums import UPPER, read_as
from dpverify.trusted.sensitivity.sensitivity import sensitivity_bounds

SPREADS: Final = 6
"""How far the picture reaches beyond both answers, in spreads of the noise."""
FLAT: Final = 0.04
"""A loss that approaches its supremum is drawn until it is this close, as a share of the picture's height."""
_WIDEST: Final = 16
_MOST_POINTS: Final = 60
_SHIFTS: Final = 16
_GAIN: Final = 1e-6
_TIE: Final = 1e-9


@dataclass(frozen=True, slots=True)
class LossCurve:
    """log p(y)/p'(y) in nats, p and p' the output densities (or probabilities) of the worst two neighbours.

    kind: "line" (lines are polylines that jumps and infinities break), "points" (lines hold one list of points, for noise on the
    integers) or "bars" (bars, one for each output). x_label, x_unit: of the position. pair: which two neighbours, and along which line.
    supremum: the greatest loss of this order of the two, which is the greater of both orders; reverse: of the other order.
    infinite, impossible: the intervals of the picture where the loss is plus and minus infinity.
    answers: where the two answers stand. window: from where to where the picture goes.
    """

    kind: str
    x_label: str
    x_unit: str
    pair: str
    supremum: Supremum
    reverse: Supremum
    lines: tuple[tuple[Point, ...], ...] = ()
    bars: tuple[Bar, ...] = ()
    infinite: tuple[Point, ...] = ()
    impossible: tuple[Point, ...] = ()
    answers: Point | None = None
    window: Point | None = None


def loss(claim: Claim) -> LossCurve | None:
    """The loss curve of a claim; None for a kind without one (combinators, guarantees, processes) or with parameters left open.

    Nor has a claim about one order of neighbours: both are drawn.
    """
    if claim.domains or claim.order:
        return None
    try:  # what is claimed of the mechanism does not change the picture
        read = claim if claim.sums is None else read_as(claim, UPPER[0])  # at the sensitivity of its sums
        return _curve(Claim(read.mechanism, None, ZERO, read.sensitivity, read.query))
    except (DpverifyError, ArithmeticError, ValueError):
        return None


@lru_cache(maxsize=256)
def _curve(claim: Claim) -> LossCurve | None:
    mechanism = claim.mechanism
    if isinstance(mechanism, Table | Exponential):
        return _from_bars(*finite_bars(claim))
    if isinstance(mechanism, KaryResponse):
        return _from_bars(*kary_bars(mechanism))
    if isinstance(mechanism, Kernel):
        return _of_kernel(mechanism, claim)
    h, dimension = exponent(mechanism), dimension_of(mechanism)
    if h is None or dimension is None:
        return None
    moved = _moved(claim)
    return None if moved <= 0 else _along(*_worst(claim, h, dimension, moved))


def _moved(claim: Claim) -> float:
    """The sensitivity, in the noise's norm before its scale."""
    if isinstance(claim.mechanism, Staircase):
        return 1.0 if claim.sensitivity is None else number(claim.sensitivity)
    return float(constant(sensitivity_bounds(claim, sensitivity.propose(claim)).upper))


# -- additive noise ------------------------------------------------------------------------------------


def _worst(claim: Claim, h: Exponent, dimension: int, moved: float) -> tuple[Scan, Supremum, Supremum]:
    """The line with the greatest loss, and the suprema of both orders."""
    mechanism = claim.mechanism
    if isinstance(mechanism, Product):
        rays = [Ray(h, terms, moved, text) for terms, text in directions(mechanism, dimension)]
    else:
        along = "any direction" if dimension > 1 else "the line"
        rays = [Ray(h, ((1, 1.0),), moved, along)]
    law = size_law(h, dimension if h.half else 1)
    if law is None:
        raise Undecided("the density has no finite integral.")
    on_line = size_law(h, 1) if h.half and h.is_integrable_on_a_line else law
    unit = max((on_line or law).quantile(0.5) * 2, moved / 2)
    scans = [scan(_widened(ray, unit), unit) for ray in rays]
    suprema = [(seen, *seen.suprema()) for seen in scans]
    return max(suprema, key=lambda each: max(each[1].value, each[2].value))


def _widened(ray: Ray, unit: float) -> Ray:
    """The line for the pair of answers at the worst distance, which for uneven noise may be less than the sensitivity."""
    integers = ray.exponent.integers
    moved = float(np.floor(ray.shift)) if integers else ray.shift
    shifts = np.arange(1.0, min(moved, _SHIFTS) + 1) if integers else moved * np.arange(1, _SHIFTS + 1) / _SHIFTS
    if not shifts.size:
        return ray
    points = np.concatenate([s * np.concatenate([np.linspace(0, 4, 33), np.logspace(-4, 3, 29)]) * unit for s in (-1, 1)])
    points = np.unique(np.round(points)) if integers else points
    full = replace(ray, shift=moved)
    best, top = full, _most(full, points)
    if np.isinf(full(points)).any():
        return full
    for _ in range(1 if integers else 4):
        heights = [_most(replace(ray, shift=float(c)), points) for c in shifts]
        i = int(np.argmax(heights))
        if not heights[i] > top + _GAIN * (1 + abs(top)):
            break
        best, top = replace(ray, shift=float(shifts[i])), heights[i]
        step = (shifts[-1] - shifts[0]) / (len(shifts) - 1) if len(shifts) > 1 else 0.0
        shifts = np.clip(np.linspace(best.shift - step, best.shift + step, _SHIFTS), step / _SHIFTS, moved)
    return best


def _most(ray: Ray, points: Array) -> float:
    """The greatest loss of both orders at some points, infinities left out."""
    losses = ray(points)
    losses = np.abs(losses[np.isfinite(losses)])
    return float(losses.max()) if losses.size else -np.inf


def _along(seen: Scan, forward: Supremum, backward: Supremum) -> LossCurve:
    """The curve on a line that has been scanned, in the order of the pair that has the greater supremum."""
    ray = seen.ray
    sign = 1 if forward.value >= backward.value or forward.value > backward.value - _TIE * (1 + abs(backward.value)) else -1
    supremum, reverse = (forward, backward) if sign > 0 else (backward, forward)
    low, high = _window(seen, (supremum,))
    first, second = (0.0, ray.shift) if sign > 0 else (ray.shift, 0.0)
    pair = f"answers at t = {first:.4g} and t = {second:.4g}, along {ray.text}"
    texts = ("position t of the output on the line through both answers", "in the norm of the noise", pair, supremum, reverse)
    if not ray.exponent.integers:
        grid = sampled(lambda t: sign * ray(t), low, high, ray.kinks(low, high))
        return replace(_drawn("line", *texts, grid, polylines(grid)), answers=(first, second))
    t = np.arange(np.floor(low), np.ceil(high) + 1)
    grid = np.stack([t, sign * ray(t)])
    points = tuple((float(x), float(y)) for x, y in grid.T if np.isfinite(y))
    return replace(_drawn("points", *texts, grid, (points,)), answers=(first, second))


def _drawn(
    kind: str,
    x_label: str,
    x_unit: str,
    pair: str,
    supremum: Supremum,
    reverse: Supremum,
    grid: Array,
    lines: tuple[tuple[Point, ...], ...],
) -> LossCurve:
    """A curve of lines or points, with the parts of its grid where the loss is infinite."""
    window = (float(grid[0, 0]), float(grid[0, -1]))
    infinite, impossible = infinite_spans(grid, 1), infinite_spans(grid, -1)
    return LossCurve(kind, x_label, x_unit, pair, supremum, reverse, lines, (), infinite, impossible, None, window)


def _window(seen: Scan, shown: Sequence[Supremum]) -> Point:
    """From where to where the line is drawn: the answers, some spreads beyond, and where the suprema show."""
    shift, unit = seen.ray.shift, seen.unit
    if seen.ray.exponent.integers:
        unit = min(max(unit, 1.0), _MOST_POINTS / SPREADS)
    low, high = min(0.0, shift) - SPREADS * unit / 2, max(0.0, shift) + SPREADS * unit / 2
    for supremum in shown:
        if supremum.at is not None:
            room = (high - low) / 10
            low, high = min(low, supremum.at - room), max(high, supremum.at + room)
        elif np.isfinite(supremum.value) and supremum.towards:
            low, high = _until_flat(seen, supremum, low, high)
    return low, high


def _until_flat(seen: Scan, supremum: Supremum, low: float, high: float) -> Point:
    """The window made wider, up to a point, until a loss that only approaches its supremum is close to it."""
    for _ in range(_WIDEST):
        inside = seen.losses[(seen.points >= low) & (seen.points <= high) & np.isfinite(seen.losses)]
        edge = float(seen.ray(np.array([low if supremum.towards < 0 else high]))[0])
        if not inside.size or abs(supremum.value - abs(edge)) <= FLAT * max(float(np.ptp(inside)), abs(supremum.value)):
            break
        width = (high - low) / 4
        low, high = (low - width, high) if supremum.towards < 0 else (low, high + width)
    return low, high


# -- other kinds ---------------------------------------------------------------------------------------


def _from_bars(pair: str, bars: tuple[Bar, ...]) -> LossCurve:
    best, least = max(bars, key=lambda bar: bar.loss), min(bars, key=lambda bar: bar.loss)
    supremum = Supremum(best.loss, f"at {best.label}", float(bars.index(best)))
    reverse = Supremum(-least.loss, f"at {least.label}", float(bars.index(least)))
    return LossCurve("bars", "output", "", pair, supremum, reverse, bars=bars)


def _of_kernel(mechanism: Kernel, claim: Claim) -> LossCurve | None:
    curve = conditional_curve(mechanism, None if claim.sensitivity is None else number(claim.sensitivity))
    if curve is None:
        return None
    pair, grid, supremum, reverse = curve
    return _drawn("line", "output y", "", pair, supremum, reverse, grid, polylines(grid))
