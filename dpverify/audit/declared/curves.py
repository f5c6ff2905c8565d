"""Declared privacy curves: the hockey-stick divergence (THEORY T1) of the worst move, at up to 12 epsilons, rounded up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

import numpy as np
from scipy import special

from dpverify.audit.declared.base import Array, Cdf, Function
from dpverify.audit.partition import CurvePoint

CURVE_POINTS: Final = 12
SMALLEST_DELTA: Final = 1e-6


class OnTheLine(Protocol):
    """What the curve of laws on the line is computed from; x and x_prime are the true answers."""

    def cells(self, x: float, x_prime: float) -> tuple[Array, Array, Array]:
        """A grid, the loss halfway between its points, and the mass there under both answers, shape (2, cells)."""

    def edge(self, x: float, x_prime: float, thresholds: Array, above: Array, left: Array, right: Array) -> Array:
        """Where the loss crosses each threshold, between left and right. above: whether it is reached at the left point."""

    def cdf(self, x: float, scale: float) -> Cdf:
        """The distribution function of the output at the answer x with noise of this scale."""


def gaussian_curve(ratio: float) -> tuple[CurvePoint, ...]:
    """The curve of Gaussian noise, sensitivity over sigma given (THEORY T17)."""

    def delta(epsilon: Array) -> Array:
        loss = epsilon / ratio
        return np.asarray(special.ndtr(ratio / 2 - loss) - np.exp(epsilon + special.log_ndtr(-ratio / 2 - loss)))

    top = ratio * ratio / 2 + 8 * ratio  # delta is below 1e-15 there
    epsilons = np.linspace(0, _last_above(delta, top), CURVE_POINTS)
    return rounded_up(epsilons, delta(epsilons))


def _last_above(delta: Function, top: float) -> float:
    """About the epsilon at which a decreasing delta falls to SMALLEST_DELTA."""
    low, high = 0.0, top
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if float(delta(np.array([middle]))[0]) > SMALLEST_DELTA else (low, middle)
    return high


def rounded_up(epsilons: Array, deltas: Array) -> tuple[CurvePoint, ...]:
    """The last term is the rounding of probabilities that e^epsilon multiplies."""
    up = np.minimum(np.maximum(deltas, 0) * (1 + 1e-9) + 1e-12 + 1e-15 * np.exp(np.minimum(epsilons, 700)), 1.0)
    return tuple(CurvePoint(float(e), float(d)) for e, d in dict(zip(epsilons.tolist(), up.tolist(), strict=True)).items())


def gaussian_sigma(log_density: Function) -> float | None:
    """The standard deviation where the log-density is a downward parabola about 0, else None."""
    points = np.exp2(np.arange(-3, 4.0))
    peak = float(log_density(np.zeros(1))[0])
    for unit in np.exp2(np.arange(-60.0, 61.0, 4.0)) if np.isfinite(peak) else ():
        falls = peak - log_density(unit * np.concatenate((points, -points)))
        if 0.01 < falls[6] < 1e4:
            curvatures = falls / np.tile(unit * points, 2) ** 2
            close = (
                np.abs(curvatures - curvatures[6]) <= 1e-9 * curvatures[6] + 1e-14 * max(1.0, abs(peak)) / np.tile(unit * points, 2) ** 2
            )
            return float(1 / np.sqrt(2 * curvatures[6])) if close.all() else None
    return None


def quadrature_curve(law: OnTheLine, moves: Sequence[float]) -> tuple[CurvePoint, ...] | None:
    """The hockey-stick divergences at the last of the moves, both directions; None where a smaller move has a larger one."""
    _, losses, masses = law.cells(0.0, moves[-1])

    def rough(epsilon: Array) -> Array:
        factor = np.exp(epsilon)[:, None]
        sides = [np.maximum(p - factor * q, 0).sum(axis=1) for p, q in (masses, masses[::-1])]
        return np.asarray(np.maximum(*sides))

    finite = np.abs(losses[np.isfinite(losses) & (masses.max(axis=0) > 1e-13)])
    epsilons = np.linspace(0, _last_above(rough, min(float(finite.max(initial=0.0)), 30.0)), CURVE_POINTS)
    deltas = np.stack([_hockey_sticks(law, move, epsilons) for move in moves])
    if (deltas.max(axis=0) > deltas[-1] * (1 + 1e-9) + 1e-12).any():
        return None
    return rounded_up(epsilons, deltas[-1])


def _hockey_sticks(law: OnTheLine, move: float, epsilons: Array) -> Array:
    """The larger of the two directions' hockey-stick divergences between the answers 0 and `move` (THEORY T1)."""
    grid, losses, _ = law.cells(0.0, move)
    thresholds = np.concatenate((epsilons, -epsilons))
    above = losses >= thresholds[:, None]
    row, cell = np.nonzero(above[:, 1:] != above[:, :-1])
    middles = grid[:-1] / 2 + grid[1:] / 2
    edges = law.edge(0.0, move, thresholds[row], above[row, cell], middles[cell], middles[cell + 1])
    # P(loss >= t) = 1[at -inf] + the sum over edges of what is left behind or entered there
    turn = np.where(above[row, cell], 1.0, -1.0)
    p, q = (
        np.where(above[:, -1], 1.0, 0.0) + np.bincount(row, weights=turn * law.cdf(answer, 1.0)(edges), minlength=len(thresholds))
        for answer in (0.0, move)
    )
    split = len(epsilons)
    factor = np.exp(epsilons)
    return np.maximum(p[:split] - factor * q[:split], (1 - q[split:]) - factor * (1 - p[split:]))
