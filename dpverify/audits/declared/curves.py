"""Declared privacy curves: the hockey-stick divergence (theory#notation) of the worst move, at up to 12 epsilons, rounded up.

In floats where the declared law is known, and else, as for mechanisms made of parts, the upper bound that is proved.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import inf, nextafter
from typing import Final, Protocol

import numpy as np
from scipy import special

from dpverify.audits.declared.base import Array, Cdf, Function
from dpverify.audits.declared.laws import Quadrature, quadrature
from dpverify.audits.partition import CurvePoint
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.model import Claim

CURVE_POINTS: Final = 12
SMALLEST_DELTA: Final = 1e-6


def proved_curve(claim: Claim) -> tuple[CurvePoint, ...] | None:
    """Points of the upper bound that is proved of the declared mechanism's curve, deltas rounded up; None where there is none."""
    from dpverify.pictures.bands import delta_band

    try:
        band = delta_band(claim)
    except DpverifyError:
        return None
    points = [CurvePoint(float(x), float_up(upper)) for x, upper in zip(band.x, band.upper, strict=True) if upper and _is_float(x)]
    telling = [point for point in points if SMALLEST_DELTA <= point.delta < 1]
    return tuple(telling[:: -(-len(telling) // CURVE_POINTS)]) if telling else None


def _is_float(text: str) -> bool:
    return Fraction(float(text)) == Fraction(text)


def float_up(text: str) -> float:
    """The least float that is not below a decimal."""
    value = float(text)
    return value if Fraction(value) >= Fraction(text) else nextafter(value, inf)


class OnTheLine(Protocol):
    """What the curve of laws on the line is computed from; x and x_prime are the true answers."""

    def cells(self, x: float, x_prime: float) -> tuple[Array, Array, Array]:
        """A grid, the loss halfway between its points, and the mass there under both answers, shape (2, cells)."""

    def edge(self, x: float, x_prime: float, thresholds: Array, above: Array, left: Array, right: Array) -> Array:
        """Where the loss crosses each threshold, between left and right. above: whether it is reached at the left point."""

    def cdf(self, x: float, scale: float) -> Cdf:
        """The distribution function of the output at the answer x with noise of this scale."""


def gaussian_curve(ratio: float) -> tuple[CurvePoint, ...]:
    """The curve of Gaussian noise, sensitivity over sigma given (theory#gaussian)."""

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
    """The larger of the two directions' hockey-stick divergences between the answers 0 and `move` (theory#notation)."""
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


def radial_curve(log_profile: Function, radius: Quadrature, dimension: float, reach: float) -> tuple[CurvePoint, ...] | None:
    """The curve of noise whose density falls with its Euclidean length (theory#radial-caps).

    None where the density rises, or falls by no more than its rounding over the move.
    log_profile: of the length; radius: the law of the length; dimension: above 1. The longest move is the worst: 1 - delta is the integral
    over t > 0 of the volume that {p > t} and {e^epsilon q > t} share, two balls, which share less the further they are apart.
    """
    edges = radius.grid()
    points, masses = edges[:-1] / 2 + edges[1:] / 2, np.diff(radius(edges))
    logs = log_profile(points)
    known = np.isfinite(logs)
    points, masses, logs = points[known], masses[known], logs[known]
    if (np.diff(logs) > 1e-9 * (1 + np.abs(logs[1:]))).any():
        return None
    losses = logs - log_profile(points + reach)
    top = float(losses[np.isfinite(losses)].max(initial=0.0))
    rounding = 4e-16 * float(np.abs(logs).max()) / top if top > 0 else 0.0  # of logarithms, as a part of what tells x from x'
    if rounding > 1e-9:
        return None

    def rough(epsilon: Array) -> Array:
        p, q = (masses @ share(points) for share in _shares(log_profile, dimension, reach, float(epsilon[0])))
        return np.asarray(p - np.exp(epsilon) * q)

    epsilons = np.unique(np.linspace(0, _last_above(rough, min(top, 30.0)), CURVE_POINTS))
    deltas = []
    for epsilon in epsilons.tolist():
        kinks = _touching(log_profile, reach, epsilon, points)
        p, q = (_mean(radius, share, points, kinks, max(rounding, 1e-12)) for share in _shares(log_profile, dimension, reach, epsilon))
        deltas.append(p - np.exp(epsilon) * q)
    return rounded_up(epsilons, np.array(deltas) + rounding)


def _shares(log_profile: Function, dimension: float, move: float, epsilon: float) -> tuple[Function, Function]:
    """The parts, of the sphere of each radius about x and of that about x', where the loss reaches epsilon.

    In truth just above epsilon, so that both agree on where the loss is epsilon: there p = e^epsilon q, which counts for nothing.
    """
    half = (dimension - 1) / 2  # (1 - cos) / 2 of a uniform direction is Beta(half, half)
    loss = epsilon + 1e-11

    def here(radii: Array) -> Array:
        return np.asarray(special.betainc(half, half, 1 - _turning(log_profile, move, loss, radii)))

    def there(radii: Array) -> Array:
        return np.asarray(special.betainc(half, half, _turning(log_profile, move, -loss, radii)))

    return here, there


def _lead(log_profile: Function, move: float, radii: Array, turns: Array) -> Array:
    """How much log-density a point at these radii from one answer loses when measured from the other.

    turns: (1 - cos) / 2 of the angle at the first answer between the point and the other answer; the lead rises with it.
    """
    with np.errstate(all="ignore"):
        return np.asarray(log_profile(radii) - log_profile(np.sqrt((radii - move) ** 2 + 4 * radii * move * turns)))


def _turning(log_profile: Function, move: float, lead: float, radii: Array) -> Array:
    """The least turn, in [0, 1], at which the lead is reached; 1 where none does."""

    def reached(turns: Array) -> Array:
        return np.asarray(_lead(log_profile, move, radii, turns) >= lead)

    low, high = np.zeros(radii.shape), np.ones(radii.shape)
    return np.where(reached(low), 0.0, _first(reached, low, high))


def _touching(log_profile: Function, move: float, epsilon: float, points: Array) -> list[float]:
    """The radii between the points at which {loss >= epsilon} begins or ceases to meet, or to fill, a sphere about one of the answers."""
    turns, leads = np.array([[1.0], [0.0], [0.0]]), np.array([[epsilon], [epsilon], [-epsilon]])
    holds = _lead(log_profile, move, points, turns) >= leads
    row, cell = np.nonzero(holds[:, 1:] != holds[:, :-1])

    def changed(radii: Array) -> Array:
        return np.asarray((_lead(log_profile, move, radii, turns[row, 0]) >= leads[row, 0]) == holds[row, cell + 1])

    return [float(radius) for radius in _first(changed, points[cell], points[cell + 1])]


def _first(reached: Callable[[Array], Array], low: Array, high: Array) -> Array:
    """Where what does not hold at `low` begins to hold on the way to `high`, by halving."""
    for _ in range(54):
        middle = low / 2 + high / 2
        holds = reached(middle)
        low, high = np.where(holds, low, middle), np.where(holds, middle, high)
    return high


def _mean(radius: Quadrature, share: Function, points: Array, kinks: Sequence[float], precision: float) -> float:
    """The mean of a share, in [0, 1], under the law of the radius; 0 where there is none at the points, those of its grid."""
    if not share(points).any():
        return 0.0

    def log_density(radii: Array) -> Array:
        with np.errstate(divide="ignore"):
            return np.asarray(radius.log_density(radii) + np.log(share(radii)))

    return float(np.exp(quadrature(log_density, 0.0, float(radius.edges[-1]), kinks, precision).log_total - radius.log_total))
