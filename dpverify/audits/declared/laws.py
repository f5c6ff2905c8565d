"""Laws on the line and on the integers, in floats: densities from expressions, integrated to about 1e-12."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.polynomial import legendre
from scipy import special

from dpverify.audits.declared.base import Array, Function
from dpverify.errors import AuditError
from dpverify.search.additive.mixtures import scale_of
from dpverify.search.numeric import log_of, number
from dpverify.trusted.kernel.model import Mixture

if TYPE_CHECKING:
    from scipy.interpolate import CubicSpline

_NODES, _WEIGHTS = legendre.leggauss(16)
_TO_SERIES: Final = (legendre.legvander(_NODES, 15) * _WEIGHTS[:, None]) * (np.arange(16) + 0.5)
"""Values at the nodes, times this, are the coefficients of the Legendre series."""


@dataclass(frozen=True, slots=True, eq=False)
class Quadrature:
    """The law of a density on the line by Legendre series on panels; calling it is its distribution function (about 1e-12).

    log_density: unnormalised, vectorised; log_total: the logarithm of its integral; edges: of the panels, increasing;
    below: the mass below each edge; series: of the distribution function on each panel, in [-1, 1], shape (panels, 17).
    """

    log_density: Function
    log_total: float
    edges: Array
    below: Array
    series: Array

    def __call__(self, points: Array) -> Array:
        """The mass below each point."""
        points = np.asarray(points, dtype=float)
        panel = np.clip(np.searchsorted(self.edges, points, side="right") - 1, 0, len(self.series) - 1)
        low, high = self.edges[panel], self.edges[panel + 1]
        inside = np.clip((2 * np.clip(points, low, high) - low - high) / (high - low), -1, 1)
        within = legendre.legval(inside, np.moveaxis(self.series[panel], -1, 0), tensor=False)
        return np.where(points >= self.edges[-1], 1.0, np.clip(self.below[panel] + within, 0, 1))

    def grid(self) -> Array:
        """About 1,500 points where the law has mass to speak of, at most 0.04 of the log-odds apart unless it jumps."""
        steps = np.arange(8) / 8
        fine = np.append((self.edges[:-1, None] + np.diff(self.edges)[:, None] * steps).ravel(), self.edges[-1])
        mass = self(fine)
        low, high = np.searchsorted(mass, [1e-13, 1 - 1e-13])
        fine, mass = fine[max(low - 1, 0) : high + 2], mass[max(low - 1, 0) : high + 2]
        levels = np.floor(special.logit(np.clip(mass, 1e-14, 1 - 1e-14)) / 0.02)
        kept = np.append(True, levels[1:] != levels[:-1])
        kept[-1] = True
        return np.asarray(fine[kept])

    def draw(self, size: int, rng: np.random.Generator) -> Array:
        """Draws by inversion on a grid: to choose thresholds by, not exact."""
        points = self.grid()
        return np.interp(rng.random(size), self(points), points)


def quadrature(
    log_density: Function, low: float = -np.inf, high: float = np.inf, kinks: Sequence[float] = (), precision: float = 1e-13
) -> Quadrature:
    """The law of exp(log_density) on (low, high): panels that shrink towards 0 and the kinks, and are halved until the series converge.

    Poles and kinks belong into `kinks`; others are found by halving.
    precision: relative, not finer than the rounding of the density. Raises AuditError for what has no finite, positive integral.
    """
    powers = np.exp2(np.arange(-1000, 1001))
    edges = [np.concatenate((-powers[::-1], [0.0], powers))]
    for kink in {*kinks, *(end for end in (low, high) if np.isfinite(end))} - {0.0}:
        edges.append(kink + np.concatenate((-powers[900:1064], [0.0], powers[900:1064])))
    grid = np.unique(np.clip(np.concatenate(edges), max(low, -(2.0**1000)), min(high, 2.0**1000)))
    with np.errstate(all="ignore"):
        rough = _known(log_density(grid[:-1] / 2 + grid[1:] / 2)) + np.log(np.diff(grid))
    kept = np.flatnonzero(rough > rough.max() - 90)
    if not len(kept) or (len(grid) - 2 == kept[-1] and np.isinf(high) and rough[-1] >= rough[-2]):
        raise AuditError("the declared density has no finite, positive integral in floats; correct the declaration.")
    left, right = grid[kept[0] : kept[-1] + 1], grid[kept[0] + 1 : kept[-1] + 2]
    peak, total = -np.inf, 0.0
    done: list[tuple[Array, Array, Array]] = []
    for depth in range(64):
        half = (right - left) / 2
        with np.errstate(all="ignore"):
            logs = _known(log_density((left + half)[:, None] + half[:, None] * _NODES)) + np.log(half)[:, None]
        peak, before = max(peak, float(logs.max(initial=-np.inf))), peak
        total *= np.exp(before - peak) if before > -np.inf else 0.0
        series = np.exp(logs - peak) @ _TO_SERIES
        mass = 2 * series[:, 0]
        ready = np.abs(series[:, 13:]).max(axis=1, initial=0.0) <= precision * (mass + 1e-4 * (total + mass.sum()))
        ready |= half <= 4e-16 * np.abs(left + half) if depth < 63 else True
        total += float(mass[ready].sum())
        done.append((left[ready], right[ready], logs[ready]))
        left, middle, right = left[~ready], (left + half)[~ready], right[~ready]
        if not len(left):
            break
        left, right = np.concatenate((left, middle)), np.concatenate((middle, right))
    lefts, rights, values = (np.concatenate(column) for column in zip(*done, strict=True))
    order = np.argsort(lefts)
    series = np.exp(values[order] - peak) @ _TO_SERIES
    masses = 2 * series[:, 0]
    total = float(masses.sum())
    below = np.concatenate(([0.0], np.cumsum(masses))) / total
    return Quadrature(
        log_density,
        peak + float(np.log(total)),
        np.append(lefts[order], rights.max()),
        below,
        legendre.legint(series / total, lbnd=-1, axis=1),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """A law on the integers; calling it is its distribution function, with steps at the integers.

    first: the first integer of `cumulative`, the mass up to each integer; tails: the laws beyond, with their masses, where they count.
    """

    first: int
    cumulative: Array
    tails: tuple[tuple[float, Quadrature | None], tuple[float, Quadrature | None]]

    def __call__(self, points: Array) -> Array:
        """The mass up to each point."""
        index = np.floor(np.asarray(points, dtype=float)) - self.first
        last = len(self.cumulative) - 1
        result = self.cumulative[np.clip(index, 0, last).astype(np.int64)]
        (low, left), (high, right) = self.tails
        under = 0.0 if left is None else low * left(index + self.first + 0.5)
        over = 1.0 if right is None else 1 - high * (1 - right(index + self.first + 0.5))
        return np.where(index < 0, under, np.where(index > last, over, result))


def steps(log_density: Function, low: float, high: float) -> Steps:
    """The law on the integers in [low, high]. Far tails, where steps of 1 no longer matter, are integrals."""
    centre = low if np.isfinite(low) else high if np.isfinite(high) else 0.0
    reach = 32
    while True:
        reach *= 2
        integers = np.arange(max(low, centre - reach), min(high, centre + reach) + 1)
        logs = _known(log_density(integers))
        light = logs.max() - 45 - np.log(reach)
        thin = [integers[0] <= low or logs[0] < light, integers[-1] >= high or logs[-1] < light]
        if all(thin) or reach >= 1 << 20:
            break
    tails: list[tuple[float, Quadrature | None]] = []
    for is_thin, ends_at in zip(thin, ((-np.inf, integers[0] - 0.5), (integers[-1] + 0.5, np.inf)), strict=True):
        law = None if is_thin else quadrature(log_density, *ends_at)
        tails.append((0.0, None) if law is None else (float(np.exp(law.log_total - logs.max())), law))
    pmf = np.exp(logs - logs.max())
    total = pmf.sum() + tails[0][0] + tails[1][0]
    (left, below), (right, above) = ((mass / total, law) for mass, law in tails)
    return Steps(int(integers[0]), np.minimum(left + np.cumsum(pmf / total), 1.0), ((left, below), (right, above)))


def _known(logs: Array) -> Array:
    """A log-density for integrals: no mass where it has no value, or one beyond floats (so near to a pole that nothing is there)."""
    return np.where(np.isfinite(logs), logs, -np.inf)


def within(log_density: Function, low: float, high: float, points: Array) -> Array:
    """The log-density cut off at the ends of its support."""
    return np.where((points >= low) & (points <= high), log_density(points), -np.inf)


def radial_log(log_profile: Function, factor: float, points: Array) -> Array:
    """The log-density of one-dimensional radial noise."""
    return log_profile(np.abs(points) * factor)


def weighted_log(log_profile: Function, dimension: int, scale: float, radii: Array) -> Array:
    """The log-density of the radius (theory#density-of-noise: the sphere of radius r of any norm grows as r^(d - 1))."""
    with np.errstate(all="ignore"):
        return (dimension - 1) * np.log(radii) + log_profile(radii / scale)


def scaled_log(log_density: Function, factor: float, points: Array) -> Array:
    """The log-density of noise that is `factor` times as wide, not normalised."""
    return log_density(points / factor)


def tempered_log(log_density: Callable[..., Array], theta: float, scale: float, points: Array) -> Array:
    """The log-density of a kernel at theta, to the power 1 / scale."""
    return log_density(points, np.asarray(theta)) / scale


def staircase_log(epsilon: float, gamma: float, points: Array) -> Array:
    """The log-density of staircase noise: it falls by epsilon at gamma, 1 + gamma, ..."""
    return -epsilon * np.floor(np.abs(points) + 1 - gamma)


@dataclass(frozen=True, slots=True, eq=False)
class _Averaged:
    """The logarithm of a scale mixture's profile, from a spline in log r; straight lines in log r outside it."""

    spline: CubicSpline
    ends: tuple[float, float]

    def __call__(self, radii: Array) -> Array:
        with np.errstate(all="ignore"):
            u = np.log(radii)
        low, high = self.ends
        inside = np.clip(u, low, high)
        with np.errstate(all="ignore"):
            beyond = np.where(u == inside, 0.0, (u - inside) * self.spline(inside, 1))
        return np.asarray(self.spline(inside)) + beyond


def averaged(noise: Mixture) -> _Averaged:
    """The density of a draw of v and then of noise, up to a factor, at 32 radii an octave: panels in v shrink towards both ends."""
    low, high = number(noise.support[0]), np.inf if noise.support[1] is None else number(noise.support[1])
    powers = np.exp2(np.arange(-60, 60.1, 0.25))
    edges = np.unique(np.concatenate([low + powers, [low], *([high - powers, [high]] if np.isfinite(high) else [])]))
    edges = edges[(edges >= low) & (edges <= high)]
    half = np.diff(edges) / 2
    v = ((edges[:-1] + half)[:, None] + half[:, None] * _NODES).ravel()
    weights = np.log(half[:, None] * _WEIGHTS).ravel() + log_of(noise.mixing, "v")(v)
    v, weights = v[weights > weights.max() - 120], weights[weights > weights.max() - 120]
    profile = log_of(noise.profile, "r", "v")
    u = np.arange(-16, 16, 1 / 32) * np.log(2.0)
    if scale_of(noise, {}) is None:  # each conditional by itself is a density: its normaliser may depend on v
        weights = weights - special.logsumexp(profile(np.exp(u)[:, None], v) + number(noise.dimension) * u[:, None], axis=0)
    logs = np.concatenate([special.logsumexp(profile(np.exp(part)[:, None], v) + weights, axis=1) for part in np.array_split(u, 64)])
    known = np.isfinite(logs)
    from scipy.interpolate import CubicSpline

    return _Averaged(CubicSpline(u[known], logs[known]), (float(u[known][0]), float(u[known][-1])))
