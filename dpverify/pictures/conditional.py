"""The loss of a conditional density along the output, for the two inputs that lose the most."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np

from dpverify.pictures.polyline import sampled
from dpverify.pictures.supremum import SAME, Supremum, grown
from dpverify.search.numeric import Array, number, vectorised
from dpverify.trusted.kernel.expr import Num, substitute
from dpverify.trusted.kernel.expr import symbols as free_symbols
from dpverify.trusted.kernel.model import Kernel
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.numbers.pieces import breaks

INPUTS: Final = 33
OUTPUTS: Final = 65
FAR: Final = (1e6, 1e4)
"""How many widths of the input range out a limit is looked for."""
_CLOSER: Final = 9
_ROUNDS: Final = 8
_RARE: Final = 7.0
"""Minus the logarithm of a density, against its greatest, that is not drawn any more where outputs have no end."""
_WIDE: Final = 1e-4
_TIE: Final = 1e-9


@dataclass(frozen=True, slots=True)
class _Search:
    """h = -log(density) in the output and the input, the ends of the inputs, how far two may be apart, and those of the outputs drawn."""

    h: Callable[..., Array]
    inputs: tuple[float, float]
    moved: float
    outputs: tuple[float, float]


def conditional_curve(mechanism: Kernel, moved: float | None) -> tuple[str, Array, Supremum, Supremum] | None:
    """The pair of inputs at most `moved` apart (None: any two), points (y, loss), and the suprema of both orders; None with parameters."""
    limits = [end for end in (*mechanism.output, *mechanism.input) if end is not None]
    if free_symbols(mechanism.density) - {"y", "theta"} or any(free_symbols(end) for end in limits):
        return None
    h = vectorised(neg_log(mechanism.density), "y", "theta")
    first, last = (number(end) for end in mechanism.input)
    width = last - first
    search = _Search(h, (first, last), width if moved is None else min(moved, width), _outputs(mechanism, h, first, last))
    theta, other, y = _worst(search)

    def loss(points: Array) -> Array:
        with np.errstate(invalid="ignore"):
            return np.asarray(h(points, np.array(other)) - h(points, np.array(theta)))

    ends = [Fraction(end) for end in search.outputs]
    kinks = {float(at) for x in (theta, other) for at in breaks(substitute(mechanism.density, {"theta": Num(Fraction(x))}), "y", *ends)}
    grid = sampled(loss, *search.outputs, sorted({theta, other, y} | kinks))
    limits_far = list(_far(mechanism, loss, width))
    return f"inputs {theta:.4g} and {other:.4g}", grid, _supremum(grid, limits_far, 1), _supremum(grid, limits_far, -1)


def _outputs(mechanism: Kernel, h: Callable[..., Array], first: float, last: float) -> tuple[float, float]:
    """The outputs that are drawn: all, or where there is no end those whose density for some input is not very small."""
    low, high = (None if end is None else number(end) for end in mechanism.output)
    if low is not None and high is not None:
        return low, high
    steps = (last - first) * np.logspace(-3, 5, 161)
    y = np.concatenate([first - steps[::-1], np.linspace(first, last, OUTPUTS), last + steps])
    y = y[(y >= (-np.inf if low is None else low)) & (y <= (np.inf if high is None else high))]
    least = h(y[:, None], np.linspace(first, last, INPUTS)[None, :]).min(axis=1)
    common = y[least < np.nanmin(least) + _RARE]
    return float(common[0]) if low is None else low, float(common[-1]) if high is None else high


def _worst(search: _Search) -> tuple[float, float, float]:
    """Two inputs and the output of the greatest loss, by looking at grids closer and closer."""
    ends = (search.inputs, (-search.moved, search.moved), search.outputs)
    grids = [np.linspace(*end, count) for end, count in zip(ends, (INPUTS, INPUTS, OUTPUTS), strict=True)]
    grids[0] = np.union1d(grids[0], np.clip([search.inputs[0] + search.moved, search.inputs[1] - search.moved], *search.inputs))
    best, place = -np.inf, (0.0, 0.0, 0.0)
    for _ in range(_ROUNDS):
        value, at = _greatest(search, *grids)
        if value > best + SAME * (1 + abs(best)) or np.isinf(best):
            best, place = value, at
        steps = [np.ptp(grid) / (grid.size - 1) for grid in grids]
        grids = [np.clip(np.linspace(x - s, x + s, _CLOSER), *end) for x, s, end in zip(place, steps, ends, strict=True)]
    theta, apart, y = place
    return theta, float(np.clip(theta + apart, *search.inputs)), y


def _greatest(search: _Search, theta: Array, apart: Array, y: Array) -> tuple[float, tuple[float, float, float]]:
    """The greatest loss on a grid, with its first input, the step to the second and its output; of equal ones the widest step."""
    others = np.clip(theta[:, None] + apart[None, :], *search.inputs)
    with np.errstate(invalid="ignore"):
        losses = search.h(y[None, None, :], others[:, :, None]) - search.h(y[None, None, :], theta[:, None, None])
    losses = np.where(np.isnan(losses), -np.inf, losses)
    top = float(losses.max())
    ties = np.argwhere(losses >= top - SAME * (1 + abs(top)) if np.isfinite(top) else losses == top)
    i, j, k = ties[np.argmax(np.abs(others[ties[:, 0], ties[:, 1]] - theta[ties[:, 0]]))]
    return top, (float(theta[i]), float(apart[j]), float(y[k]))


def _far(mechanism: Kernel, loss: Callable[[Array], Array], width: float) -> Iterator[tuple[float, int]]:
    """The limits of the loss, with their directions, where the outputs have no end."""
    for sign, end in zip((-1, 1), mechanism.output, strict=True):
        last, before = (float(value) for value in loss(sign * width * np.array(FAR)))
        if end is None and np.isfinite([last, before]).all():
            yield grown(last, before), sign


def _supremum(grid: Array, limits: list[tuple[float, int]], sign: int) -> Supremum:
    y, losses = grid[0], sign * grid[1]
    losses = np.where(np.isnan(losses), -np.inf, losses)
    top = float(losses.max())
    if top == np.inf:
        return Supremum(np.inf, "infinite where the output is impossible from the other input", float(y[np.argmax(losses)]))
    far, towards = max(((sign * limit, side) for limit, side in limits), default=(-np.inf, 0))
    if far > top + _TIE * (1 + abs(top)):
        way = "infinite: grows without bound" if far == np.inf else "approached"
        return Supremum(far, f"{way} as y → {'−' if towards < 0 else ''}∞", None, towards, attained=False)
    places = np.flatnonzero(losses >= top - SAME * (1 + abs(top)))
    run = max(np.split(places, np.flatnonzero(np.diff(places) > 1) + 1), key=lambda part: y[part[-1]] - y[part[0]])
    low, high = float(y[run[0]]), float(y[run[-1]])
    if high - low <= _WIDE * (y[-1] - y[0]):
        return Supremum(top, f"at y = {_text(low)}", low)
    if towards and far >= top - _TIE * (1 + abs(top)):
        return Supremum(top, f"reached for all y {'≤' if towards < 0 else '≥'} {_text(high if towards < 0 else low)}", low, towards)
    return Supremum(top, f"reached for y from {_text(low)} to {_text(high)}", (low + high) / 2)


def _text(value: float) -> str:
    return f"{value + 0.0:.4g}".replace("-", "−")
