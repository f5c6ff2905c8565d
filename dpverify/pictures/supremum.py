"""The supremum of a loss along a line, and where it is: at a point, on an interval, in a limit, or infinite."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from flint import arb

from dpverify.pictures.exponent import FAR_BITS, FAR_PRECISION, NEAR_PRECISION
from dpverify.pictures.rays import Ray
from dpverify.search.numeric import Array
from dpverify.trusted.kernel.balls import precision

OFFSETS: Final = 2400
"""Points looked at about all kinks together."""
MOST_KINKS: Final = 60
"""Kinks looked at, those about the two answers first."""
MOST_INTEGERS: Final = 4000
"""Integers looked at one by one on each side."""
SAME: Final = 1e-11
"""Relative difference of two losses that are the same as far as floats can tell."""
_ROUNDS: Final = 9
_SECTIONS: Final = 6
_NEAR: Final = (Fraction(1, 2**200), Fraction(1, 2**100))
_GROWTH: Final = 1.05
_ATTAINED: Final = Fraction(1, 2**140)
_WIDE: Final = 1e-3
_FEW: Final = 4
_POLE: Final = 0.05


@dataclass(frozen=True, slots=True)
class Supremum:
    """The least upper bound of a loss, in nats, and where it is.

    value: inf where there is none. where: for people. at: a position that shows it, None where it is a limit at infinity.
    towards: 1 or -1 where it is reached or approached as the position goes to plus or minus infinity, else 0. attained: whether reached.
    """

    value: float
    where: str
    at: float | None
    towards: int = 0
    attained: bool = True


@dataclass(frozen=True, slots=True)
class Scan:
    """A line looked at from near and far: positions, losses, and limits (value, position, direction) where it is not a point.

    unit: the width of the picture's main part.
    """

    ray: Ray
    unit: float
    points: Array
    losses: Array
    limits: tuple[tuple[float, float | None, int], ...]

    def suprema(self, symbol: str = "t") -> tuple[Supremum, Supremum]:
        """Of the loss of the first answer against the second, and of the second against the first."""
        return _supremum(self, 1, symbol), _supremum(self, -1, symbol)


def scan(ray: Ray, unit: float) -> Scan:
    """Look along a line: about every kink at all scales, at both ends of the line, and next to poles."""
    reach = 8 * unit + abs(ray.shift)
    if ray.exponent.integers:
        most = min(int(reach) + 1, MOST_INTEGERS)
        points = np.unique(np.concatenate([np.arange(-most, most + 1.0), most * 2.0 ** np.arange(1, 12), -most * 2.0 ** np.arange(1, 12)]))
        losses = ray(points)
        known = ~np.isnan(losses)
        return Scan(ray, unit, points[known], losses[known], tuple(_far(ray, unit)))
    kinks = sorted(ray.kinks(-reach, reach) or [0.0], key=lambda kink: abs(kink - ray.shift / 2))[:MOST_KINKS]
    count = max(24, OFFSETS // (2 * len(kinks)))
    offsets = unit * np.logspace(-7, 4, count)
    grid = (np.array(kinks)[:, None] + np.concatenate([-offsets, [0.0], offsets])[None, :]).ravel()
    points = np.unique(np.concatenate([grid, np.linspace(-reach, reach, 101)]))
    losses = ray(points)
    known = ~np.isnan(losses)
    return Scan(ray, unit, points[known], losses[known], (*_far(ray, unit), *_poles(ray, kinks, unit)))


def _far(ray: Ray, unit: float) -> Iterator[tuple[float, float | None, int]]:
    """The limits at both ends of the line."""
    for sign in (-1, 1):
        limit = _limit(ray, [(sign * Fraction(2) ** far, sign * Fraction(2) ** nearer) for far, nearer in FAR_BITS])
        if limit is None and ray.exponent.tree is None:
            farther, far = (float(v) for v in ray(sign * unit * np.array([1e6, 1e4])))
            limit = grown(farther, far) if np.isfinite([farther, far]).all() else None
        if limit is not None:
            yield limit, None, sign


def _poles(ray: Ray, kinks: list[float], unit: float) -> Iterator[tuple[float, float | None, int]]:
    """The limits next to the kinks where the loss changes as one comes closer."""
    if ray.exponent.integers:
        return
    at = np.array(kinks)
    for side in (-1, 1):
        near, less_near = ray(at + side * 1e-7 * unit), ray(at + side * 1e-4 * unit)
        with np.errstate(invalid="ignore"):
            changing = np.isfinite(near) & np.isfinite(less_near) & (np.abs(near - less_near) > _POLE)
        for kink in at[changing]:
            limit = _limit(ray, [(Fraction(kink) + side * _NEAR[0], Fraction(kink) + side * _NEAR[1])])
            if limit is not None:
                yield limit, float(kink), 0


def _limit(ray: Ray, pairs: list[tuple[Fraction, Fraction]]) -> float | None:
    with precision(FAR_PRECISION):
        for farther, far in pairs:
            last, before = ray.ball(farther), ray.ball(far)
            if last.is_finite() and before.is_finite() and last.rad() <= 1e-6 * (1 + abs(last)):
                return grown(float(last), float(before))
    return None


def grown(last: float, before: float) -> float:
    """The limit of a loss by two values on the way to it: infinite where it keeps growing."""
    grows = np.isinf(last) or (abs(last) > _GROWTH * abs(before) + _POLE and abs(last) > 1)
    return float(np.copysign(np.inf, last)) if grows else last + 0.0


def _supremum(seen: Scan, sign: int, symbol: str) -> Supremum:
    if not seen.losses.size:
        return Supremum(0.0, "the two answers share no output", None, attained=False)
    losses = sign * seen.losses
    limits = [(sign * value + 0.0, at, towards) for value, at, towards in seen.limits]
    highest = float(losses.max())
    ties = np.flatnonzero(losses >= highest - SAME * (1 + abs(highest)) if np.isfinite(highest) else losses == highest)
    best = int(ties[np.argmin(np.abs(seen.points[ties] - seen.ray.shift / 2))])
    top = max(limits, key=lambda limit: limit[0], default=(-np.inf, None, 0))
    near = abs(seen.points[best]) <= 8 * seen.unit + abs(seen.ray.shift)
    if losses[best] == np.inf and (near or top[0] < np.inf):  # far out a float of infinity may only be a great loss
        return _impossible(seen, losses == np.inf, symbol)
    if top[0] == np.inf:
        return Supremum(np.inf, f"infinite: grows without bound as {_approach(top, symbol)}", top[1], top[2], attained=False)
    at, value = (float(seen.points[best]), float(losses[best])) if seen.ray.exponent.integers else _refined(seen, sign, best)
    same = 1e-9 * (1 + abs(value))
    ends = [limit for limit in limits if limit[2] and limit[0] >= value - same]
    constant = [(end, _edge(seen, sign, end)) for end in ends if _is_constant(seen, end)]
    for end, edge in constant:
        if np.isinf(edge) or abs(edge) <= 8 * seen.unit + abs(seen.ray.shift):
            return _plateau(end[0], edge, end[2], symbol)
    if ends and not constant and ends[0][0] >= value - SAME * (1 + abs(value)):
        return Supremum(ends[0][0], f"approached as {_approach(ends[0], symbol)}", None, ends[0][2], attained=False)
    if top[0] > value + same:
        return Supremum(top[0], f"approached as {_approach(top, symbol)}", top[1], top[2], attained=False)
    return _attained(seen, sign, at, value, symbol)


def _approach(limit: tuple[float, float | None, int], symbol: str) -> str:
    _, at, towards = limit
    return f"{symbol} → {'−' if towards < 0 else ''}∞" if at is None else f"{symbol} → {_short(at)}"


def _impossible(seen: Scan, infinite: Array, symbol: str) -> Supremum:
    """Infinite where an output of one answer is impossible from the other, or where a density is infinite."""
    at = seen.points[infinite]
    nearest = float(at[np.argmin(np.abs(at))])
    return Supremum(
        np.inf,
        f"infinite at {symbol} = {_short(nearest)}" if at.size == 1 else "infinite where the output is impossible from the other answer",
        nearest,
    )


def _refined(seen: Scan, sign: int, best: int) -> tuple[float, float]:
    """The greatest loss between the neighbours of the best point, by looking closer and closer, its value by balls."""
    last = seen.points.size - 1
    low, high = seen.points[max(best - 1, 0)], seen.points[min(best + 1, last)]
    at, value = float(seen.points[best]), float(sign * seen.losses[best])
    for _ in range(_ROUNDS):
        grid = np.linspace(low, high, 17)
        losses = sign * seen.ray(grid)
        losses = np.where(np.isnan(losses), -np.inf, losses)
        i = int(np.argmax(losses))
        if losses[i] > value:
            at, value = float(grid[i]), float(losses[i])
        low, high = max(low, at - (high - low) / 16), min(high, at + (high - low) / 16)
    with precision(NEAR_PRECISION):
        ball = seen.ray.ball(Fraction(at))
        exact = sign * float(ball) if ball.is_finite() else np.inf
        return at, exact if abs(exact - value) <= 1e-6 * (1 + abs(value)) else value  # a ball at a jump is of one side of it


def _is_constant(seen: Scan, end: tuple[float, float | None, int]) -> bool:
    """Whether the loss equals its limit already in the picture."""
    at = end[2] * float(np.ceil(8 * seen.unit + abs(seen.ray.shift)))
    with precision(FAR_PRECISION):
        here, there = seen.ray.ball(Fraction(at)), seen.ray.ball(end[2] * Fraction(2) ** FAR_BITS[0][0])
        return bool(abs(here - there) < arb(_ATTAINED.numerator) / _ATTAINED.denominator)


def _edge(seen: Scan, sign: int, end: tuple[float, float | None, int]) -> float:
    """Where a loss that is constant far out begins to be so."""
    below = sign * seen.losses < end[0] - 1e-9 * (1 + abs(end[0]))
    beyond = seen.points[below]
    if not beyond.size:
        return -np.inf * end[2]
    if seen.ray.exponent.integers:
        return float(beyond.max() + 1 if end[2] > 0 else beyond.min() - 1)
    at = float(beyond.max() if end[2] > 0 else beyond.min())
    later = seen.points[seen.points > at] if end[2] > 0 else seen.points[seen.points < at]
    if not later.size:
        return at
    return _snapped(seen, _edge_between(seen, sign, end[0], at, float(later.min() if end[2] > 0 else later.max())))


def _edge_between(seen: Scan, sign: int, value: float, below: float, reached: float) -> float:
    """Where between two positions the loss comes up to its value, by looking closer and closer."""
    for _ in range(_SECTIONS):
        grid = np.linspace(below, reached, 33)
        low = np.flatnonzero(~(sign * seen.ray(grid) >= value - 1e-9 * (1 + abs(value))))
        last = int(low.max()) if low.size else 0
        below, reached = float(grid[last]), float(grid[min(last + 1, 32)])
    return reached


def _snapped(seen: Scan, at: float) -> float:
    """The kink that a position found by floats means, where one is next to it."""
    kinks = seen.ray.kinks(at - 1e-5 * seen.unit, at + 1e-5 * seen.unit)
    return min(kinks, key=lambda kink: abs(kink - at)) if kinks else at


def _plateau(value: float, edge: float, towards: int, symbol: str) -> Supremum:
    if np.isinf(edge):
        return Supremum(value, f"reached for all {symbol}", 0.0, towards)
    return Supremum(value, f"reached for all {symbol} {'≥' if towards > 0 else '≤'} {_short(edge)}", edge, towards)


def _attained(seen: Scan, sign: int, at: float, value: float, symbol: str) -> Supremum:
    """At a point, or on the interval about it where the loss is the same."""
    if seen.ray.exponent.integers:
        return _on_integers(seen, sign, value, symbol)
    tolerance = SAME * (1 + abs(value))
    lower = sign * seen.losses < value - tolerance
    left, right = seen.points[lower & (seen.points < at)], seen.points[lower & (seen.points > at)]
    low, high = (float(left.max()) if left.size else at), (float(right.min()) if right.size else at)
    if np.count_nonzero((seen.points > low) & (seen.points < high)) > _FEW and high - low > _WIDE * seen.unit:
        low, high = (_snapped(seen, _edge_between(seen, sign, value, end, at)) for end in (low, high))
        if _is_flat(seen, sign, low, high, value - tolerance):
            return Supremum(value, f"reached for {symbol} from {_short(low)} to {_short(high)}", (low + high) / 2)
    return Supremum(value, f"at {symbol} = {_short(_snapped(seen, at))}", at)


def _is_flat(seen: Scan, sign: int, low: float, high: float, least: float) -> bool:
    inner = sign * seen.ray(np.linspace(low, high, 25)[1:-1])
    return bool((inner >= least).all())


def _on_integers(seen: Scan, sign: int, value: float, symbol: str) -> Supremum:
    at = seen.points[sign * seen.losses >= value - SAME * (1 + abs(value))]
    nearest = float(at[np.argmin(np.abs(at))])
    return Supremum(value, f"at {symbol} = {_short(nearest)}", nearest)


def _short(value: float) -> str:
    """A position for people: four digits, a true minus sign."""
    return f"{value + 0.0:.4g}".replace("-", "−") if abs(value) > 1e-12 else "0"
