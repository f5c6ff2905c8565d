"""The loss of a conditional density along the output, for the two inputs that lose the most."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Final

import numpy as np

from dpverify.expr import Num, neg_log, substitute
from dpverify.expr import symbols as free_symbols
from dpverify.figures.polyline import sampled
from dpverify.figures.supremum import SAME, Supremum
from dpverify.integral import breaks
from dpverify.model import Kernel
from dpverify.search.numeric import Array, number, vectorised

INPUTS: Final = 33
OUTPUTS: Final = 129
_ROUNDS: Final = 5
_TAIL: Final = 60.0
_WIDE: Final = 1e-4


def conditional_curve(mechanism: Kernel, moved: float | None) -> tuple[str, Array, Supremum, Supremum] | None:
    """The pair of inputs at most `moved` apart (None: any two), points (y, loss), and the suprema of both orders; None with parameters."""
    limits = [end for end in (*mechanism.output, *mechanism.input) if end is not None]
    if free_symbols(mechanism.density) - {"y", "theta"} or any(free_symbols(end) for end in limits):
        return None
    h = vectorised(neg_log(mechanism.density), "y", "theta")
    first, last = (number(end) for end in mechanism.input)
    outputs = _outputs(mechanism, first, last)
    theta, other, y = _worst(h, np.linspace(first, last, INPUTS), outputs, moved)

    def loss(points: Array) -> Array:
        with np.errstate(invalid="ignore"):
            return np.asarray(h(points, np.array(other)) - h(points, np.array(theta)))

    ends = [Fraction(float(outputs[i])) for i in (0, -1)]
    kinks = {float(at) for x in (theta, other) for at in breaks(substitute(mechanism.density, {"theta": Num(Fraction(x))}), "y", *ends)}
    grid = sampled(loss, float(outputs[0]), float(outputs[-1]), sorted({theta, other, y} | kinks))
    return f"inputs {theta:.4g} and {other:.4g}", grid, _supremum(grid, 1), _supremum(grid, -1)


def _outputs(mechanism: Kernel, first: float, last: float) -> Array:
    low, high = mechanism.output
    width = last - first
    return np.linspace(
        first - _TAIL * width if low is None else number(low), last + _TAIL * width if high is None else number(high), OUTPUTS
    )


def _worst(h: Callable[..., Array], inputs: Array, outputs: Array, moved: float | None) -> tuple[float, float, float]:
    """Two inputs and the output of the greatest loss, by looking at grids closer and closer."""
    first, last, low, high = inputs[0], inputs[-1], outputs[0], outputs[-1]
    left = right = inputs
    y = outputs
    best = -np.inf
    found = (float(first), float(last), float(low))
    for _ in range(_ROUNDS):
        value, closer = _greatest(h, left, right, y, moved)
        if value > best + SAME * (1 + abs(best)) or np.isinf(best):
            best, found = value, closer
        steps = [(grid[-1] - grid[0]) / (grid.size - 1) for grid in (left, right, y)]
        left, right = (np.clip(np.linspace(at - s, at + s, 9), first, last) for at, s in zip(found[:2], steps[:2], strict=True))
        y = np.clip(np.linspace(found[2] - steps[2], found[2] + steps[2], 9), low, high)
        left, right, y = np.unique(left), np.unique(right), np.unique(y)
        if min(left.size, right.size, y.size) < 2:
            break
    return found


def _greatest(
    h: Callable[..., Array], left: Array, right: Array, y: Array, moved: float | None
) -> tuple[float, tuple[float, float, float]]:
    """The greatest loss on a grid, with its two inputs and its output."""
    ours, theirs = (h(y[None, :], grid[:, None]) for grid in (left, right))
    with np.errstate(invalid="ignore"):
        losses = theirs[None, :, :] - ours[:, None, :]
    far = np.abs(left[:, None] - right[None, :]) > (np.inf if moved is None else moved * (1 + 1e-12))
    losses = np.where(np.isnan(losses) | far[:, :, None], -np.inf, losses)
    top = losses.max()
    ties = np.argwhere(losses >= top - SAME * (1 + abs(top)) if np.isfinite(top) else losses == top)
    i, j, k = max(ties, key=lambda cell: abs(left[cell[0]] - right[cell[1]]))  # of equal pairs the widest apart
    return float(top), (float(left[i]), float(right[j]), float(y[k]))


def _supremum(grid: Array, sign: int) -> Supremum:
    y, losses = grid[0], sign * grid[1]
    losses = np.where(np.isnan(losses), -np.inf, losses)
    top = float(losses.max())
    if top == np.inf:
        return Supremum(np.inf, "infinite where the output is impossible from the other input", float(y[np.argmax(losses)]))
    reached = losses >= top - SAME * (1 + abs(top))
    runs = np.split(np.flatnonzero(reached), np.flatnonzero(np.diff(np.flatnonzero(reached)) > 1) + 1)
    run = max(runs, key=lambda places: y[places[-1]] - y[places[0]])
    low, high = float(y[run[0]]), float(y[run[-1]])
    if high - low > _WIDE * (y[-1] - y[0]):
        return Supremum(top, f"reached for y from {_text(low)} to {_text(high)}", (low + high) / 2)
    return Supremum(top, f"at y = {_text(low)}", low)


def _text(value: float) -> str:
    return f"{value + 0.0:.4g}".replace("-", "−")
