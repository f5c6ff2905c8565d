"""Logarithms of densities in floats; where floats cancel, from balls.

(2 - (2 + r^2) exp(-r^2/2))/r^4 is 1/4 near 0, and in floats anything. Densities are looked at on a grid of points, in floats and in balls;
where the two differ, what is near is evaluated in balls, and rounded to a float at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from flint import arb
from numpy.typing import NDArray

from dpverify.search.numeric import log_of
from dpverify.trusted.language.errors import DpverifyError
from dpverify.trusted.language.expr import Expr
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.numbers.balls import precision, value

Array = NDArray[np.float64]

_AGREED: Final = 1e-12
_BITS: Final = (96, 192, 384, 768, 1536)
_DEEP: Final = 200.0
_EXPONENTS: Final = np.arange(-100, 101)


def log_density(density: Expr, name: str, low: float = -np.inf, high: float = np.inf) -> Callable[[Array], Array]:
    """The logarithm of a density in one variable, vectorised; low, high: between which it is wanted."""
    floats, exponent = log_of(density, name), neg_log(density)
    ends = _edges(_rough(floats, exponent, name, low, high))
    if not len(ends):
        return floats

    def logs(points: Array) -> Array:
        found = np.asarray(floats(points))
        near = np.searchsorted(ends, points.ravel(), side="right") % 2 == 1
        if near.any():
            flat = found.ravel().copy()
            flat[near] = [_by_balls(exponent, name, float(point)) for point in points.ravel()[near]]
            found = flat.reshape(found.shape)
        return found

    return logs


def _rough(floats: Callable[..., Array], exponent: Expr, name: str, low: float, high: float) -> list[tuple[float, float]]:
    """Intervals in which floats are not to be relied on: about each point of a grid at which they differ from balls."""
    grid = np.exp2(_EXPONENTS.astype(float))
    found: list[tuple[float, float]] = []
    for side in (grid, -grid[::-1]):
        points = side * np.pi / 3  # nothing special
        points = points[(points > low) & (points < high)]
        with np.errstate(all="ignore"):
            logs = floats(points)
        finite = np.isfinite(logs)
        if not finite.any():
            continue
        heavy = ~finite | (logs > logs[finite].max() - _DEEP)
        wrong = [bool(heavy[i]) and _differ(float(logs[i]), _by_balls(exponent, name, float(points[i]))) for i in range(len(points))]
        for i in np.flatnonzero(wrong):
            below, above = points[max(i - 2, 0)], points[min(i + 2, len(points) - 1)]
            found.append((0.0 if 0 < below == points[0] else float(below), 0.0 if 0 > above == points[-1] else float(above)))
    return found


def _edges(rough: list[tuple[float, float]]) -> Array:
    """The ends of the union of intervals, in order."""
    ends: list[float] = []
    for low, high in sorted(rough):
        if ends and low <= ends[-1]:
            ends[-1] = max(ends[-1], high)
        else:
            ends += [low, high]
    return np.array(ends)


def _differ(one: float, other: float) -> bool:
    return bool(np.isfinite(other)) and not abs(one - other) <= _AGREED * (1 + abs(other))


def _by_balls(exponent: Expr, name: str, point: float) -> float:
    """The logarithm of the density at a point: nan where it has none, or is known too coarsely."""
    for bits in _BITS:
        try:
            with precision(bits):
                ball: Any = value(exponent, {name: arb(point)})
                if ball.is_finite() and bool(ball.rad() <= (1 + abs(ball)) * arb(2) ** -50):
                    return -float(ball.mid())
        except (DpverifyError, ArithmeticError, ValueError):
            return float("nan")
    return float("nan")
