"""Logarithms of densities in floats; where floats cancel, from balls.

(2 - (2 + r^2) exp(-r^2/2))/r^4 is 1/4 near 0, and in floats anything. Densities are looked at on a grid of points, in floats and in balls;
where the two differ, what is near is evaluated in balls, and rounded to a float at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

import numpy as np
from flint import arb
from numpy.typing import NDArray

from dpverify.samplers import inversion
from dpverify.search.numeric import kinks_of, log_of
from dpverify.trusted.kernel.balls import precision, value
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.expr import Expr, Sym, add, num, substitute
from dpverify.trusted.language.logarithms import neg_log

Array = NDArray[np.float64]

_AGREED: Final = 1e-12
_BITS: Final = (96, 192, 384, 768, 1536)
_DEEP: Final = 200.0
_EXPONENTS: Final = np.array([*range(-1000, -100, 25), *range(-100, 101), *range(125, 1001, 25)])


def log_density(density: Expr, name: str, low: float = -np.inf, high: float = np.inf, dimension: int = 1) -> Callable[[Array], Array]:
    """The logarithm of a density in one variable, vectorised.

    low, high: between which it is wanted. dimension: of the space in which the variable is a length.
    """
    floats, exponent = log_of(density, name), neg_log(density)
    ends = _edges(_rough(floats, exponent, name, low, high, dimension))
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


def line(density: Expr, name: str, low: float, high: float) -> inversion.Line:
    """The law of a density in one variable. The density is written anew from its mode, so that what is near to that is not rounded."""
    logs, kinks = log_density(density, name, low, high), kinks_of(density, name)
    centre = inversion.mode(logs, low, high, kinks)
    if centre == 0:
        return inversion.line(logs, low, high, kinks, centre)
    moved = substitute(density, {name: add(Sym(name), num(Fraction(centre)))})
    low_from, high_from = low - centre, high - centre
    law = inversion.line(log_density(moved, name, low_from, high_from), low_from, high_from, kinks_of(moved, name), 0.0)
    return replace(law, centre=centre, ends=(low, high))


def _rough(floats: Callable[..., Array], exponent: Expr, name: str, low: float, high: float, dimension: int) -> list[tuple[float, float]]:
    """Intervals in which floats are not to be relied on: about each point of a grid at which they differ from balls, and it matters."""
    grid = np.exp2(_EXPONENTS.astype(float)) * np.pi / 3  # points that are nothing special
    found: list[tuple[float, float]] = []
    for points in (grid[(grid > low) & (grid < high)], -grid[::-1][(-grid[::-1] > low) & (-grid[::-1] < high)]):
        with np.errstate(all="ignore"):
            logs, room = floats(points), dimension * np.log(np.abs(points))
        finite = np.isfinite(logs)
        if not finite.any():
            continue
        little = (logs + room)[finite].max() - _DEEP
        for i in np.flatnonzero(~finite | (logs + room > little)).tolist():
            right = _by_balls(exponent, name, float(points[i]))
            if np.isfinite(right) and right + room[i] > little and not abs(logs[i] - right) <= _AGREED * (1 + abs(right)):
                side = np.sort([0.0, np.copysign(np.inf, points[i])])
                around = np.concatenate((side[:1], points, side[1:]))
                found.append((float(around[max(i - 1, 0)]), float(around[min(i + 3, len(points) + 1)])))
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
