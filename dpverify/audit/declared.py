"""What a declaration gives the audit: worst pairs, the declared loss as a partition, the declared curve and distribution functions.

Everything here is floating point and mostly decides *where to look*: an event is an event wherever its edges are, so an error in a
partition costs power, never a false alarm. What hypotheses are stated by, `curve` and the distribution functions, is computed to
about 1e-10, and the curve is rounded up.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from itertools import pairwise
from typing import Any, ClassVar, Final

import numpy as np
from numpy.polynomial import legendre
from scipy import special
from scipy.interpolate import CubicSpline
from scipy.spatial import ConvexHull, QhullError

from dpverify.audit.outputs import Outputs
from dpverify.audit.partition import MAX_CELLS, Codes, CurvePoint, Partition
from dpverify.errors import AuditError, DpverifyError
from dpverify.expr import Expr, Num, neg_log, substitute
from dpverify.geometry import differences
from dpverify.integral import breaks
from dpverify.model import (
    Claim,
    Exponential,
    Kernel,
    Mixture,
    Norm,
    Product,
    Radial,
    Selection,
    Staircase,
    Table,
    Translation,
)
from dpverify.search.numeric import number, vectorised

Array = np.ndarray[Any, Any]
Function = Callable[[Array], Array]
Cdf = Callable[[Array], Array]
"""A distribution function, on float arrays of any shape; 0 and 1 at -inf and inf."""

SCALES: Final = (0.9, 0.5, 0.8, 1.0)
"""The noise scales that a partition is to tell from the claim, the most important first; 1 for claims that the declaration breaks."""
MOST_THRESHOLDS: Final = 7
CURVE_POINTS: Final = 12
SMALLEST_DELTA: Final = 1e-6
DRAWS: Final = 1 << 15
"""Draws from the declared law that the thresholds for d > 1 are chosen by."""
MOST_ROWS: Final = 2048
_NODES, _WEIGHTS = legendre.leggauss(16)
_TO_SERIES: Final = (legendre.legvander(_NODES, 15) * _WEIGHTS[:, None]) * (np.arange(16) + 0.5)
"""Values at the nodes, times this, are the coefficients of the Legendre series."""


# -- laws on the line ------------------------------------------------------------------------------------


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


def quadrature(log_density: Function, low: float = -np.inf, high: float = np.inf, kinks: Sequence[float] = ()) -> Quadrature:
    """The law of exp(log_density) on (low, high): panels that shrink towards 0 and the kinks, and are halved until the series converge.

    Poles and kinks belong into `kinks`; others are found by halving. Raises AuditError for what has no finite, positive integral.
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
        ready = np.abs(series[:, 13:]).max(axis=1, initial=0.0) <= 1e-13 * mass + 1e-17 * (total + mass.sum())
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


def _within(log_density: Function, low: float, high: float, points: Array) -> Array:
    """The log-density cut off at the ends of its support."""
    return np.where((points >= low) & (points <= high), log_density(points), -np.inf)


def _log_density(density: Expr, *names: str) -> Callable[..., Array]:
    """log(density), by its own logarithm where that has a value, which survives underflow."""
    return partial(_log_of, vectorised(neg_log(density), *names), vectorised(density, *names))


def _log_of(minus_log: Callable[..., Array], density: Callable[..., Array], *points: Array) -> Array:
    logs = -minus_log(*points)
    if np.isnan(logs).any():
        with np.errstate(all="ignore"):
            logs = np.where(np.isnan(logs), np.log(density(*points)), logs)
    return np.where(np.isnan(logs), -np.inf, logs)


def _radial_log(log_profile: Function, factor: float, points: Array) -> Array:
    """The log-density of one-dimensional radial noise."""
    return log_profile(np.abs(points) * factor)


def _weighted_log(log_profile: Function, dimension: int, scale: float, radii: Array) -> Array:
    """The log-density of the radius (THEORY T7: the sphere of radius r of any norm grows as r^(d - 1))."""
    with np.errstate(all="ignore"):
        return (dimension - 1) * np.log(radii) + log_profile(radii / scale)


def _scaled_log(log_density: Function, factor: float, points: Array) -> Array:
    return log_density(points / factor)


def _tempered_log(log_density: Callable[..., Array], theta: float, scale: float, points: Array) -> Array:
    return log_density(points, np.asarray(theta)) / scale


def _staircase_log(epsilon: float, gamma: float, points: Array) -> Array:
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


def _averaged(noise: Mixture) -> _Averaged:
    """The profile, averaged over v, at 32 radii an octave: panels in v that shrink towards both ends of its support."""
    low, high = number(noise.support[0]), np.inf if noise.support[1] is None else number(noise.support[1])
    powers = np.exp2(np.arange(-60, 60.1, 0.25))
    edges = np.unique(np.concatenate([low + powers, [low], *([high - powers, [high]] if np.isfinite(high) else [])]))
    edges = edges[(edges >= low) & (edges <= high)]
    half = np.diff(edges) / 2
    v = ((edges[:-1] + half)[:, None] + half[:, None] * _NODES[::1]).ravel()
    weights = np.log(half[:, None] * _WEIGHTS).ravel() + _log_density(noise.mixing, "v")(v)
    v, weights = v[weights > weights.max() - 120], weights[weights > weights.max() - 120]
    profile = _log_density(noise.profile, "r", "v")
    u = np.arange(-16, 16, 1 / 32) * np.log(2.0)
    logs = np.concatenate([special.logsumexp(profile(np.exp(part)[:, None], v) + weights, axis=1) for part in np.array_split(u, 64)])
    known = np.isfinite(logs)
    return _Averaged(CubicSpline(u[known], logs[known]), (float(u[known][0]), float(u[known][-1])))


# -- norms -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Gauge:
    """A norm in floats, on arrays of points (..., d).

    p: of an l_p norm, inf for the maximum; else rows: the norm is the largest |<row, point>| (polytope) or, where `round`, the
    Euclidean length of all <row, point> (ellipsoid). corners: for a polytope, those of its unit ball, one of each pair v, -v.
    """

    p: float = 2.0
    rows: Array | None = None
    round: bool = False
    corners: Array | None = None

    def __call__(self, points: Array) -> Array:
        """The norm of each point."""
        if self.rows is None:
            if self.p == 2:
                return np.asarray(np.sqrt(np.einsum("...i,...i->...", points, points)))
            sizes = np.abs(points)
            if self.p == 1:
                return np.asarray(sizes.sum(axis=-1))
            top = np.asarray(sizes.max(axis=-1))
            if self.p == np.inf:
                return top
            with np.errstate(all="ignore"):  # scaled, so that powers do not overflow
                shape = np.where(top[..., None] > 0, sizes / top[..., None], 0.0)
            return np.asarray(top * (shape**self.p).sum(axis=-1) ** (1 / self.p))
        heights = points @ self.rows.T
        return np.sqrt((heights**2).sum(axis=-1)) if self.round else np.asarray(np.abs(heights).max(axis=-1))

    def extreme(self, dimension: int) -> Array:
        """At most two points of the unit sphere in whose direction much noise has the greatest loss: corners, or the longest axis."""
        axis, diagonal = np.eye(dimension)[0], np.ones(dimension)
        if self.corners is not None:
            lengths = np.linalg.norm(self.corners, axis=1)
            return self.corners[np.argsort(-lengths, kind="stable")[:2]]
        if self.rows is not None:
            _, _, axes = np.linalg.svd(self.rows)
            chosen = axes[-1:]
        elif self.p in (1.0, 2.0) or dimension == 1:
            chosen = axis[None]
        elif self.p == np.inf:
            chosen = diagonal[None]
        else:
            chosen = np.stack([axis, diagonal])
        return np.asarray(chosen / self(chosen)[:, None])

    def sphere(self, size: int, dimension: int, rng: np.random.Generator) -> Array:
        """Points of the unit sphere by the cone measure: the direction of a uniform point of the unit ball."""
        if self.corners is not None:  # a facet by the volume of the cone over it, then a uniform point of the facet
            both = np.concatenate((self.corners, -self.corners))
            facets = both[ConvexHull(both).simplices]
            volumes = np.abs(np.linalg.det(facets))
            weights = rng.standard_exponential((size, dimension))
            chosen = facets[rng.choice(len(facets), size, p=volumes / volumes.sum())]
            return np.asarray(np.einsum("ij,ijk->ik", weights / weights.sum(axis=1, keepdims=True), chosen))
        if self.rows is not None:
            return Gauge(2.0).sphere(size, dimension, rng) @ np.linalg.inv(self.rows).T
        if self.p == np.inf:
            points = rng.uniform(-1, 1, (size, dimension))
        else:  # independent coordinates of density exp(-|t|^p)
            points = rng.standard_gamma(1 / self.p, (size, dimension)) ** (1 / self.p) * rng.choice([-1.0, 1.0], (size, dimension))
        return np.asarray(points / self(points)[:, None])


def gauge(norm: Norm, dimension: int) -> Gauge:
    """A norm in floats. Raises AuditError for a polytope whose facets are out of reach."""
    if norm.kind == "lp":
        return Gauge(p=np.inf if norm.p is None else float(norm.p))
    matrix = np.array([[float(entry) for entry in row] for row in norm.matrix])
    if norm.kind == "ellipsoid":  # x' Sigma^-1 x = |L^-1 x|^2
        return Gauge(rows=np.linalg.inv(np.linalg.cholesky(matrix)), round=True)
    if dimension == 1:
        size = np.abs(matrix).max()
        return Gauge(
            rows=np.array([[size if norm.kind == "facets" else 1 / size]]),
            corners=np.array([[1 / size if norm.kind == "facets" else size]]),
        )
    if norm.kind == "columns":
        return Gauge(rows=_one_of_each(_polar(matrix)), corners=_one_of_each(matrix))
    return Gauge(rows=_one_of_each(matrix), corners=_one_of_each(_polar(matrix)))


def _polar(points: Array) -> Array:
    """The corners of the polar of the hull of + and - the points: one row a for each facet <a, x> = 1."""
    try:
        equations = ConvexHull(np.concatenate((points, -points))).equations
    except QhullError as error:
        raise AuditError(f"the facets of the norm's unit ball cannot be found in floats: {str(error).splitlines()[0]}") from error
    return np.asarray(-equations[:, :-1] / equations[:, -1:])


def _one_of_each(rows: Array) -> Array:
    """One of each pair v, -v, without repetition."""
    lead = rows[np.arange(len(rows)), np.argmax(np.abs(rows) > 1e-12 * np.abs(rows).max(), axis=1)]
    signed = rows * np.sign(lead)[:, None]
    _, first = np.unique(np.round(signed, 9), axis=0, return_index=True)
    return np.asarray(signed[np.sort(first)])


# -- partitions ---------------------------------------------------------------------------------------------


def _vectors(outputs: Outputs, dimension: int, what: str) -> np.ndarray[Any, Any]:
    """The numbers of outputs that are all vectors of the dimension."""
    if outputs.shapes is not None:
        raise AuditError(
            f"the sampler's outputs have several shapes ({', '.join(outputs.names)}); the declaration wants {what}. Audit it black box."
        )
    if outputs.numbers.shape[1] != dimension or any(word in outputs.names[0] for word in ("str", "None", "bytes")):
        raise AuditError(
            f"the sampler gives {outputs.names[0]} ({outputs.numbers.shape[1]} numbers an output); the declaration wants {what}. "
            "Make them agree, or audit it black box."
        )
    return outputs.numbers


@dataclass(frozen=True, slots=True)
class Intervals:
    """Cells on the line: `cells[i]` is the cell of outputs y with edges[i - 1] < y <= edges[i]."""

    edges: tuple[float, ...]
    cells: tuple[int, ...]
    size: int

    def codes(self, outputs: Outputs) -> Codes:
        """The first cell plus the jump at every edge below the output, modulo 256: comparisons are faster than a search."""
        points = _vectors(outputs, 1, "one number").reshape(-1)
        codes = np.full(len(points), self.cells[0], dtype=np.uint8)
        above = np.empty(len(points), dtype=bool)
        for edge, (left, right) in zip(self.edges, pairwise(self.cells), strict=True):
            passed = np.greater(points, edge, out=above).view(np.uint8)
            jump = (right - left) % 256
            if jump == 1:
                codes += passed
            elif jump == 255:
                codes -= passed
            else:
                codes += passed * np.uint8(jump)
        return codes

    def describe(self, low: int, high: int) -> str:
        """The event as a union of intervals."""
        inside = [low <= cell < high for cell in self.cells]
        bounds = [-np.inf, *self.edges, np.inf]
        parts: list[tuple[float, float]] = []
        for i in np.flatnonzero(inside):
            if parts and parts[-1][1] == bounds[i]:
                parts[-1] = (parts[-1][0], bounds[i + 1])
            else:
                parts.append((bounds[i], bounds[i + 1]))
        return " or ".join(_interval(*part) for part in parts) or "no output"


def _interval(low: float, high: float) -> str:
    if low == -np.inf:
        return "any output" if high == np.inf else f"y <= {high:.10g}"
    return f"y > {low:.10g}" if high == np.inf else f"{low:.10g} < y <= {high:.10g}"


@dataclass(frozen=True, slots=True)
class Columns:
    """Cells of a finite set of outputs: `cells[y]` is the cell of column y."""

    cells: Codes
    size: int

    def codes(self, outputs: Outputs) -> Codes:
        """The cell of each output. Raises AuditError for what is no column's index."""
        numbers = _vectors(outputs, 1, f"a column's index, 0 to {len(self.cells) - 1}").reshape(-1)
        indices = numbers.astype(np.int64)
        wrong = (indices != numbers) | (indices < 0) | (indices >= len(self.cells))
        if wrong.any():
            raise AuditError(
                f"the sampler gave {numbers[wrong.argmax()]}; the declaration wants a column's index, 0 to {len(self.cells) - 1}."
            )
        return self.cells[indices]

    def describe(self, low: int, high: int) -> str:
        """The columns in the event."""
        columns = np.flatnonzero((self.cells >= low) & (self.cells < high))
        return f"y in {{{', '.join(map(str, columns))}}}" if len(columns) else "no output"


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """Cells by the declared loss of a vector: thresholds increase, cell k holds thresholds[k - 1] <= loss < thresholds[k].

    loss: of points (n, dimension), vectorised and picklable; words: the loss in words.
    """

    loss: Function
    thresholds: tuple[float, ...]
    dimension: int
    words: str

    @property
    def size(self) -> int:
        """The number of cells."""
        return len(self.thresholds) + 1

    def codes(self, outputs: Outputs) -> Codes:
        """The number of thresholds that each output's loss reaches."""
        return _cells_of(self.loss(_vectors(outputs, self.dimension, f"a vector of {self.dimension} numbers")), self.thresholds)

    def describe(self, low: int, high: int) -> str:
        """The event as bounds of the loss."""
        ends = [-np.inf, *self.thresholds, np.inf]
        lower, upper = ends[low], ends[high]
        if lower == -np.inf:
            return "any output" if upper == np.inf else f"loss < {upper:.10g} ({self.words})"
        return f"loss >= {lower:.10g} ({self.words})" if upper == np.inf else f"{lower:.10g} <= loss < {upper:.10g} ({self.words})"


def _cells_of(losses: Array, thresholds: Sequence[float]) -> Codes:
    codes = np.zeros(len(losses), dtype=np.uint8)
    for threshold in thresholds:
        codes += losses >= threshold
    return codes


# -- which thresholds ------------------------------------------------------------------------------------------


def information(p: Array, q: Array, epsilon: Array, delta: Array) -> Array:
    """The least KL(p || p0) + KL(q || q0), in nats a pair, over p0 <= e^epsilon q0 + delta (THEORY T31); 0 where p, q keep the claim."""
    p, q, epsilon, delta = np.broadcast_arrays(p, q, epsilon, delta)
    factor = np.exp(np.minimum(epsilon, 700))
    low, high = q.copy(), np.maximum(q, (p - delta) / factor)  # q0, on the boundary of the claim: convex between these
    ratio = (np.sqrt(5) - 1) / 2
    for _ in range(28):
        a, b = high - ratio * (high - low), low + ratio * (high - low)
        left = _divergence(p, factor * a + delta) + _divergence(q, a) <= _divergence(p, factor * b + delta) + _divergence(q, b)
        low, high = np.where(left, low, a), np.where(left, b, high)
    best = (low + high) / 2
    found = _divergence(p, factor * best + delta) + _divergence(q, best)
    return np.where(p > factor * q + delta, np.nan_to_num(found, nan=0.0, posinf=700.0), 0.0)


def _divergence(p: Array, p0: Array) -> Array:
    """KL of Bernoulli(p) from Bernoulli(p0)."""
    p0 = np.clip(p0, 1e-300, 1 - 1e-16)
    return np.asarray(special.rel_entr(p, p0) + special.rel_entr(np.maximum(1 - p, 0.0), 1 - p0))


def _choose(above: Array, above_prime: Array, claims: Sequence[CurvePoint], floor: float = 1e-9) -> list[int]:
    """Which of K thresholds to keep, at most MOST_THRESHOLDS, increasing indices.

    above, above_prime: (scales, K), the probability that the loss reaches each threshold under x and under x', at each of SCALES;
    the last row is the declaration itself. Greedy: for each scale and direction the best threshold for its information per pair, unless
    one that is kept already comes near it; then quantiles, for faults that are not a matter of scale. floor: information that is noise.
    """
    epsilon = np.array([point.epsilon for point in claims])[:, None, None]
    delta = np.array([point.delta for point in claims])[:, None, None]
    p, q = np.clip(above, 0, 1), np.clip(above_prime, 0, 1)
    gains = np.stack([information(p, q, epsilon, delta).max(axis=0), information(1 - q, 1 - p, epsilon, delta).max(axis=0)])
    kept: list[int] = []
    for scale in range(len(SCALES)):
        for gain in gains[:, scale]:
            best = int(gain.argmax())
            if gain[best] > floor and not any(gain[k] > 0.97 * gain[best] for k in kept):
                kept.append(best)
    pooled = (p[-1] + q[-1]) / 2
    for share in (0.5, 0.1, 0.9, 0.02, 0.98):
        nearest = int(np.abs(pooled - share).argmin())
        if 0 < pooled[nearest] < 1 and not any(abs(pooled[nearest] - pooled[k]) < 0.1 for k in kept):
            kept.append(nearest)
    return sorted(kept[:MOST_THRESHOLDS] or [int(np.abs(pooled - 0.5).argmin())])


def _levels(losses: Array, weights: Array) -> Array:
    """Thresholds that are clear of every plateau of the loss, increasing: about 200 at most, dense where the mass is.

    Of few values, halfway between each two. Of a continuum, halfway between values that occur, and a thousandth of the range away from
    every value that has mass of its own: the rounding of a loss moves nothing over such a threshold.
    """
    order = np.argsort(losses, kind="stable")
    values, weights = losses[order], weights[order] / weights.sum()
    finite = values[np.isfinite(values)]
    least, most = (finite[0], finite[-1]) if len(finite) else (0.0, 0.0)
    values = np.clip(values, 2 * least - most - 1, 2 * most - least + 1)  # an infinite loss is a value of its own
    starts = np.concatenate(([0], np.flatnonzero(np.diff(values) > 1e-9 * (1 + np.abs(values[:-1]))) + 1))
    low, high = values[starts], values[np.append(starts[1:], len(values)) - 1]
    halfway = high[:-1] / 2 + low[1:] / 2
    if len(halfway) == 0:
        return np.asarray(high + 1)
    if len(halfway) <= 40:
        return np.asarray(halfway)
    mass = np.add.reduceat(weights, starts)
    shares = np.concatenate((np.geomspace(1e-7, 0.02, 40), np.linspace(0.025, 0.975, 96), 1 - np.geomspace(0.02, 1e-7, 40)))
    chosen = halfway[np.unique(np.clip(np.searchsorted(np.cumsum(mass), shares), 0, len(halfway) - 1))]
    heavy, margin = mass > 0.01, 1e-3 * (most - least)
    thresholds = np.unique(np.concatenate((chosen, low[heavy] - margin, high[heavy] + margin)))
    thresholds = thresholds[(thresholds > low[0]) & (thresholds <= low[-1])]
    apart = np.abs(thresholds[:, None] - np.concatenate((low[heavy], high[heavy]))).min(axis=1, initial=np.inf)
    return np.asarray(thresholds[apart > 0.999 * margin])


# -- the declaration -------------------------------------------------------------------------------------------


class Declared(ABC):
    """The law that a claim declares, in floats. Made by `declared`; `kind` says which of the distribution functions exist.

    kind          outputs                         true answer             has
    "line"        one real                        one real                noise_cdf
    "integers"    one integer                     one integer             noise_cdf, steps at the integers
    "radial"      `dimension` >= 2 reals          as many reals           radius_cdf, norm, directions
    "product"     `dimension` >= 2 reals          as many reals           noise_cdf, of each coordinate
    "finite"      a column index 0, 1, ...        a row index             probabilities
    "kernel"      one real                        one real (theta)        output_cdf
    """

    kind: ClassVar[str]
    dimension: int

    @abstractmethod
    def worst_pairs(self) -> list[tuple[Array, Array]]:
        """One or two pairs of true answers (q(x), q(x')), each of shape (width,), that matter most: at the claim's sensitivity."""

    @abstractmethod
    def partition(self, x: Array, x_prime: Array) -> Partition:
        """Cells by the declared loss between the answers x and x', at most 8 (16 for finite outputs), picklable.

        Its `codes` takes `Outputs` of one shape, a number or a vector of `dimension`; raises AuditError for any other.
        """

    @abstractmethod
    def law(self, x: Array, x_prime: Array, scale: float = 1.0) -> tuple[Array, Array] | None:
        """The probabilities of the cells of `partition(x, x_prime)` under x and under x' when the noise is `scale` times the declared.

        For finite and kernel mechanisms "scale" is the temperature: probabilities proportional to p ** (1 / scale).
        Of vectors by seeded simulation (standard errors below 0.003), else by quadrature.
        """

    @abstractmethod
    def neighbours(self, x: Array, x_prime: Array) -> bool:
        """Whether two true answers are within the sensitivity, up to rounding (1e-9 relative)."""

    def distance(self, change: Array) -> float:
        """The size of a change of answers in the norm that the sensitivity is measured in; of rows and of theta, of one number."""
        return float(np.abs(change).max(initial=0.0))

    @abstractmethod
    def curve(self) -> tuple[CurvePoint, ...] | None:
        """The declared density's own privacy curve at up to 12 epsilons, deltas rounded up; None where it is not known."""

    def noise_cdf(self) -> Cdf | None:
        """The distribution function of output minus answer: "line", "integers" (right-continuous steps), "product" (a coordinate)."""
        return None

    def radius_cdf(self) -> Cdf | None:
        """For "radial": the distribution function of norm(output - answer). In any norm its density is r^(d - 1) profile(r / scale)."""
        return None

    def norm(self, points: Array) -> Array | None:
        """For "radial": the norm of each row of points (n, dimension): the unscaled norm of the declaration."""
        return None

    def directions(self, size: int, rng: np.random.Generator) -> Array | None:
        """For "radial": noise divided by its norm, a point of the unit sphere by the cone measure: shape (size, dimension)."""
        return None

    def probabilities(self, x: Array) -> Array | None:
        """For "finite": the row of probabilities of the input of index x[0]."""
        return None

    def output_cdf(self, x: Array) -> Cdf | None:
        """For "kernel": the distribution function of the output at theta = x[0]."""
        return None


def declared(claim: Claim) -> Declared | None:
    """The declared law of a claim; None where there is no density to evaluate (sampled, parameters that range over a domain).

    Raises AuditError for a density without a finite integral, or a norm, that floats cannot cope with.
    """
    mechanism = claim.mechanism
    if claim.domains:
        return None
    if isinstance(mechanism, Table | Exponential | Selection):
        return _finite(claim)
    if isinstance(mechanism, Kernel):
        return _Kernel(claim)
    if isinstance(mechanism, Staircase):
        epsilon, gamma = number(mechanism.epsilon), number(mechanism.gamma)
        jumps = np.arange(1 + min(200, int(40 / epsilon))) + gamma
        law = quadrature(partial(_staircase_log, epsilon, gamma), kinks=[*jumps, *-jumps])
        return _Line(claim, law, [1.0 if claim.sensitivity is None else number(claim.sensitivity)])
    if not isinstance(mechanism, Radial | Mixture | Product | Translation) or (claim.sensitivity is None and claim.query is None):
        return None
    if isinstance(mechanism, Translation):
        shifts, _ = _shifts(claim, Norm("lp", Fraction(1)), 1)
        low, high = (inf if end is None else number(end) for end, inf in zip(mechanism.support, (-np.inf, np.inf), strict=True))
        log_density = partial(_within, _log_density(mechanism.density, "z"), low, high)
        if mechanism.integers:
            return _Integers(claim, log_density, (low, high), shifts[:, 0].tolist())
        return _Line(claim, quadrature(log_density, low, high, _kinks(mechanism.density, "z")), shifts[:, 0].tolist())
    dimension = int(number(mechanism.dimension))
    shifts, size = _shifts(claim, mechanism.norm, dimension)
    if isinstance(mechanism, Product):
        law = quadrature(_log_density(mechanism.density, "z"), kinks=_kinks(mechanism.density, "z"))
        return _Line(claim, law, shifts[:, 0].tolist()) if dimension == 1 else _Product(claim, dimension, law, shifts, size)
    profile: Function
    if isinstance(mechanism, Mixture):
        profile, kinks = _averaged(mechanism), []
    else:
        profile, kinks = _log_density(mechanism.profile, "r"), _kinks(mechanism.profile, "r")
    norm, scale = gauge(mechanism.norm, dimension), number(mechanism.scale)
    if dimension == 1:
        factor = float(norm(np.ones(1))) / scale
        law = quadrature(partial(_radial_log, profile, factor), kinks=[sign * kink / factor for kink in kinks for sign in (1, -1)])
        return _Line(claim, law, shifts[:, 0].tolist())
    radius = quadrature(partial(_weighted_log, profile, dimension, scale), 0.0, kinks=[kink * scale for kink in kinks])
    return _Radial(claim, dimension, norm, partial(_scaled_log, profile, scale), radius, shifts, size)


def _kinks(expr: Expr, name: str) -> list[float]:
    try:
        return sorted(map(float, breaks(expr, name)))
    except (DpverifyError, ArithmeticError):
        return []  # found by halving


def _shifts(claim: Claim, norm: Norm, dimension: int) -> tuple[Array, float]:
    """At most two differences of answers of neighbours, at exactly the sensitivity, as rows; and the sensitivity."""
    size = gauge(norm, dimension)
    if claim.query is None:
        assert claim.sensitivity is not None
        reach = number(claim.sensitivity)
        return reach * size.extreme(dimension), reach
    if claim.query.adjacency == "l2":  # F x for the unit x that a dual vector points at
        matrix = np.array([[float(entry) for entry in row] for row in claim.query.rows])
        duals = np.concatenate([np.eye(dimension), np.linalg.svd(matrix)[0].T, *([] if size.rows is None else [size.rows])])
        images = duals @ matrix
        lengths = np.linalg.norm(images, axis=1, keepdims=True)
        vectors = (images / np.where(lengths > 0, lengths, 1.0)) @ matrix.T
    else:
        vectors = np.array([[float(entry) for entry in vector] for vector in differences(claim.query)])
    if not len(vectors):
        raise AuditError("the claim's query has the same answers on all neighbours: there is nothing to audit.")
    norms = size(vectors)
    return vectors[np.flatnonzero(norms >= norms.max() * (1 - 1e-12))[:2]], float(norms.max())


def _claims(claim: Claim, curve: Sequence[CurvePoint] | None, losses: Array) -> list[CurvePoint]:
    """What the thresholds are to refute: the claimed point; for a claim of "tight" the declared curve, or the largest loss."""
    if claim.epsilon is not None and claim.delta is not None:
        return [CurvePoint(number(claim.epsilon), number(claim.delta))]
    return [*(curve or ())[::3], CurvePoint(float(losses[np.isfinite(losses)].max(initial=0.0)))]


# -- one number ---------------------------------------------------------------------------------------------------


class _OneNumber(Declared):
    """What line, integers and kernel share: outputs are numbers, laws are distribution functions, cells are intervals."""

    dimension = 1
    claim: Claim

    @abstractmethod
    def _cdf(self, x: float, scale: float) -> Cdf:
        """The distribution function of the output at the answer x with noise of this scale."""

    @abstractmethod
    def _loss(self, x: float, x_prime: float, points: Array) -> Array:
        """log p_x - log p_x' at points; nan where both are zero."""

    @abstractmethod
    def _grid(self, x: float, x_prime: float) -> Array:
        """Increasing points between which the laws at both answers have their mass."""

    def _edge(self, x: float, x_prime: float, thresholds: Array, above: Array, left: Array, right: Array) -> Array:
        """Where the loss crosses each threshold, by halving, also at a jump. above: whether it is reached at the left point."""
        for _ in range(60):
            middle = left / 2 + right / 2
            same = (self._loss(x, x_prime, middle) >= thresholds) == above
            left, right = np.where(same, middle, left), np.where(same, right, middle)
        return right

    def _cells(self, x: float, x_prime: float) -> tuple[Array, Array, Array]:
        """The grid, the loss halfway between its points, and the mass there under both answers, shape (2, cells)."""
        grid = self._grid(x, x_prime)
        masses = np.stack([np.diff(self._cdf(answer, 1.0)(grid)) for answer in (x, x_prime)])
        losses = self._loss(x, x_prime, grid[:-1] / 2 + grid[1:] / 2)
        known = ~np.isnan(losses)
        known &= masses.max(axis=0) > 1e-15  # where nothing comes, rounding decides on which side of a jump a point is
        if not known.all():  # as what lies to the left
            nearest = np.maximum.accumulate(np.where(known, np.arange(len(losses)), known.argmax()))
            losses = losses[nearest]
        return grid, losses, masses

    def partition(self, x: Array, x_prime: Array) -> Intervals:
        """Intervals of outputs, cut where the loss crosses the thresholds."""
        return _intervals(self, float(x[0]), float(x_prime[0]))

    def _partition(self, a: float, b: float) -> Intervals:
        grid, losses, masses = self._cells(a, b)
        thresholds = _levels(losses, masses.sum(axis=0))
        rank = np.searchsorted(thresholds, losses, side="right")
        ends = np.concatenate(([-np.inf], grid[1:-1], [np.inf]))

        def reached(answer: float, scale: float) -> Array:
            by_rank = np.bincount(rank, weights=np.diff(self._cdf(answer, scale)(ends)), minlength=len(thresholds) + 1)
            return np.cumsum(by_rank[::-1])[-2::-1]

        tables = [np.stack([reached(answer, scale) for scale in SCALES]) for answer in (a, b)]
        kept = thresholds[_choose(tables[0], tables[1], _claims(self.claim, self.curve(), losses))]
        cells = np.searchsorted(kept, losses, side="right")
        change = np.flatnonzero(np.diff(cells))
        crossed = [(k, i) for i in change for k in range(min(cells[i], cells[i + 1]), max(cells[i], cells[i + 1]))]
        bounds, at = np.array(crossed, dtype=np.int64).reshape(-1, 2).T
        middles = grid[:-1] / 2 + grid[1:] / 2
        edges = np.unique(self._edge(a, b, kept[bounds], losses[at] >= kept[bounds], middles[at], middles[at + 1]))
        between = np.concatenate((middles[:1], edges[:-1] / 2 + edges[1:] / 2, middles[-1:]))
        codes = np.searchsorted(kept, self._loss(a, b, between), side="right")
        codes[0], codes[-1] = cells[0], cells[-1]
        ends_of = np.concatenate(([-np.inf], edges, [np.inf]))
        heavy = np.diff(self._cdf(a, 1.0)(ends_of) + self._cdf(b, 1.0)(ends_of)) > 1e-6  # others are not worth their edges
        codes = codes[np.maximum.accumulate(np.where(heavy, np.arange(len(codes)), heavy.argmax()))]
        real = np.flatnonzero(np.diff(codes))  # an edge with one cell on both sides is none
        return Intervals(tuple(edges[real].tolist()), tuple(codes[np.append(real, len(edges))].tolist()), len(kept) + 1)

    def law(self, x: Array, x_prime: Array, scale: float = 1.0) -> tuple[Array, Array]:
        """Differences of distribution functions, summed by cell."""
        partition = self.partition(x, x_prime)
        edges = np.array([-np.inf, *partition.edges, np.inf])
        masses = (np.diff(self._cdf(float(answer[0]), scale)(edges)) for answer in (x, x_prime))
        p, q = (np.bincount(partition.cells, weights=mass, minlength=partition.size) for mass in masses)
        return p, q

    def _largest_loss(self, x: float, x_prime: float) -> float:
        grid = self._grid(x, x_prime)
        losses = np.abs(self._loss(x, x_prime, grid[:-1] / 2 + grid[1:] / 2))
        return float(losses[~np.isnan(losses)].max())


@lru_cache(maxsize=64)
def _intervals(law: _OneNumber, x: float, x_prime: float) -> Intervals:
    return law._partition(x, x_prime)


class _Additive(_OneNumber):
    """Noise on the line or on the integers: neighbours and curves by shifts."""

    reach: float

    def _pairs(self, moves: Sequence[float], shifts: Sequence[float]) -> list[tuple[Array, Array]]:
        """The pairs at the sensitivity; and one at a smaller move where that has a greater loss (the density bumpy or periodic)."""
        at_reach = self._largest_loss(0.0, self.reach)
        sizes = [self._largest_loss(0.0, move) for move in moves]
        chosen = list(dict.fromkeys(shifts))[:1]
        if sizes and max(sizes) > at_reach * (1 + 1e-6) + 1e-9:
            chosen.append(moves[int(np.argmax(sizes))])
        return [(self._answer(0.0), self._answer(move)) for move in chosen]

    def _answer(self, value: float) -> Array:
        return np.array([value])

    def neighbours(self, x: Array, x_prime: Array) -> bool:
        """Whether the answers are within the sensitivity."""
        return bool(np.shape(x) == np.shape(x_prime) == (1,) and abs(float(x_prime[0]) - float(x[0])) <= self.reach * (1 + 1e-9))


class _Line(_Additive):
    """One-dimensional noise of a density."""

    kind = "line"

    def __init__(self, claim: Claim, noise: Quadrature, shifts: Sequence[float]) -> None:
        self.claim, self.noise, self.shifts = claim, noise, [float(shift) for shift in shifts]
        self.reach = abs(self.shifts[0])
        self.points = noise.grid()

    def _cdf(self, x: float, scale: float) -> Cdf:
        return lambda points: self.noise((np.asarray(points) - x) / scale)

    def _loss(self, x: float, x_prime: float, points: Array) -> Array:
        with np.errstate(invalid="ignore"):
            return self.noise.log_density(points - x) - self.noise.log_density(points - x_prime)

    def _grid(self, x: float, x_prime: float) -> Array:
        return np.unique(np.concatenate((self.points + x, self.points + x_prime)))

    def worst_pairs(self) -> list[tuple[Array, Array]]:
        """0 and the sensitivity; and a smaller move where that is worse."""
        return self._pairs([self.reach * k / 8 for k in range(1, 8)], self.shifts)

    def curve(self) -> tuple[CurvePoint, ...] | None:
        """Gaussian noise in closed form (THEORY T17), other by quadrature, where the greatest of four moves is the worst."""
        return self._curve

    @cached_property
    def _curve(self) -> tuple[CurvePoint, ...] | None:
        sigma = _gaussian_sigma(self.noise.log_density)
        if sigma is not None:
            return gaussian_curve(self.reach / sigma)
        return _quadrature_curve(self, [self.reach * k / 4 for k in range(1, 5)])

    def noise_cdf(self) -> Cdf:
        """The noise's distribution function."""
        return self.noise


class _Integers(_Additive):
    """Noise on the integers."""

    kind = "integers"

    def __init__(self, claim: Claim, log_density: Function, support: tuple[float, float], shifts: Sequence[float]) -> None:
        self.claim, self.log_density, self.support = claim, log_density, support
        self.noise = noise = steps(log_density, *support)
        self.shifts = [float(np.floor(abs(shift) * (1 + 1e-12))) for shift in shifts]
        self.reach = self.shifts[0]
        heavy = np.flatnonzero(np.diff(noise.cumulative, prepend=0.0) > 1e-15)
        self.points = np.arange(noise.first + heavy[0], noise.first + heavy[-1] + 2) - 0.5

    def _answer(self, value: float) -> Array:
        return np.array([int(value)])

    def _cdf(self, x: float, scale: float) -> Cdf:
        low, high = self.support
        law = (
            self.noise if scale == 1 else steps(partial(_scaled_log, self.log_density, scale), np.ceil(low * scale), np.floor(high * scale))
        )
        return lambda points: law(np.asarray(points) - x)

    def _loss(self, x: float, x_prime: float, points: Array) -> Array:
        with np.errstate(invalid="ignore"):
            return self.log_density(points - x) - self.log_density(points - x_prime)

    def _grid(self, x: float, x_prime: float) -> Array:
        return np.arange(self.points[0] + min(x, x_prime), self.points[-1] + max(x, x_prime) + 1)

    def _edge(self, x: float, x_prime: float, thresholds: Array, above: Array, left: Array, right: Array) -> Array:
        return left / 2 + right / 2

    def worst_pairs(self) -> list[tuple[Array, Array]]:
        """0 and the sensitivity; and a smaller move where that is worse. None for a sensitivity below 1, which moves no integer."""
        if self.reach < 1:
            return []
        return self._pairs([float(move) for move in range(1, min(int(self.reach), 16))], self.shifts)

    def curve(self) -> tuple[CurvePoint, ...] | None:
        """By sums, where the greatest move is the worst; None for moves too many to try."""
        return self._curve

    @cached_property
    def _curve(self) -> tuple[CurvePoint, ...] | None:
        return _quadrature_curve(self, [float(move) for move in range(1, int(self.reach) + 1)]) if 1 <= self.reach <= 16 else None

    def noise_cdf(self) -> Cdf:
        """The noise's distribution function."""
        return self.noise


class _Kernel(_OneNumber):
    """A density in y and theta."""

    kind = "kernel"

    def __init__(self, claim: Claim) -> None:
        kernel = claim.mechanism
        assert isinstance(kernel, Kernel)
        self.claim, self.density = claim, kernel.density
        self.log_density = _log_density(kernel.density, "y", "theta")
        self.output = tuple(inf if end is None else number(end) for end, inf in zip(kernel.output, (-np.inf, np.inf), strict=True))
        self.input = (number(kernel.input[0]), number(kernel.input[1]))
        self.reach = self.input[1] - self.input[0] if claim.sensitivity is None else number(claim.sensitivity)

    @lru_cache(maxsize=64)  # noqa: B019 (one law lives as long as its audit)
    def _law(self, theta: float, scale: float) -> Quadrature:
        kinks = _kinks(substitute(self.density, {"theta": Num(Fraction(theta))}), "y")
        return quadrature(partial(_tempered_log, self.log_density, theta, scale), self.output[0], self.output[1], kinks)

    def _cdf(self, x: float, scale: float) -> Cdf:
        return self._law(x, scale)

    def _loss(self, x: float, x_prime: float, points: Array) -> Array:
        with np.errstate(invalid="ignore"):
            return self.log_density(points, np.asarray(x)) - self.log_density(points, np.asarray(x_prime))

    def _grid(self, x: float, x_prime: float) -> Array:
        return np.unique(np.concatenate((self._law(x, 1.0).grid(), self._law(x_prime, 1.0).grid())))

    def worst_pairs(self) -> list[tuple[Array, Array]]:
        """The pair of inputs with the largest loss on a grid of inputs, apart by the sensitivity."""
        low, high = self.input
        if self.claim.sensitivity is None:
            thetas = np.linspace(low, high, 17)
            pairs = [(a, b) for i, a in enumerate(thetas) for b in thetas[:i]]
        else:
            thetas = np.linspace(low, max(low, high - self.reach), 33)
            pairs = [(a, min(a + self.reach, high)) for a in thetas]
        points = np.unique(np.concatenate([self._law(theta, 1.0).grid() for theta in (low, (low + high) / 2, high)]))
        points = points[:-1] / 2 + points[1:] / 2
        first, second = (self.log_density(points, np.array(side)[:, None]) for side in zip(*pairs, strict=True))
        with np.errstate(invalid="ignore"):
            worst = np.nanmax(np.abs(first - second), axis=1)
        alike = np.flatnonzero(worst >= worst.max() * (1 - 1e-9))  # of these the ones furthest apart, which are alike on the least mass
        a, b = max((pairs[k] for k in alike), key=lambda pair: abs(pair[0] - pair[1]))
        return [(np.array([a]), np.array([b]))]

    def neighbours(self, x: Array, x_prime: Array) -> bool:
        """Whether both are inputs and within the sensitivity, where there is one."""
        low, high = self.input
        a, b = float(x[0]), float(x_prime[0])
        slack = 1e-9 * (high - low)
        return low - slack <= min(a, b) and max(a, b) <= high + slack and abs(a - b) <= self.reach * (1 + 1e-9)

    def curve(self) -> None:
        """Not known: the worst pair may differ from epsilon to epsilon."""
        return

    def output_cdf(self, x: Array) -> Cdf:
        """The output's distribution function."""
        return self._law(float(x[0]), 1.0)


# -- curves --------------------------------------------------------------------------------------------------------


def gaussian_curve(ratio: float) -> tuple[CurvePoint, ...]:
    """The curve of Gaussian noise, sensitivity over sigma given (THEORY T17)."""

    def delta(epsilon: Array) -> Array:
        loss = epsilon / ratio
        return np.asarray(special.ndtr(ratio / 2 - loss) - np.exp(epsilon + special.log_ndtr(-ratio / 2 - loss)))

    top = ratio * ratio / 2 + 8 * ratio  # delta is below 1e-15 there
    epsilons = np.linspace(0, _last_above(delta, top), CURVE_POINTS)
    return _rounded_up(epsilons, delta(epsilons))


def _last_above(delta: Function, top: float) -> float:
    """About the epsilon at which a decreasing delta falls to SMALLEST_DELTA."""
    low, high = 0.0, top
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if float(delta(np.array([middle]))[0]) > SMALLEST_DELTA else (low, middle)
    return high


def _rounded_up(epsilons: Array, deltas: Array) -> tuple[CurvePoint, ...]:
    """The last term is the rounding of probabilities that e^epsilon multiplies."""
    up = np.minimum(np.maximum(deltas, 0) * (1 + 1e-9) + 1e-12 + 1e-15 * np.exp(np.minimum(epsilons, 700)), 1.0)
    return tuple(CurvePoint(float(e), float(d)) for e, d in dict(zip(epsilons.tolist(), up.tolist(), strict=True)).items())


def _gaussian_sigma(log_density: Function) -> float | None:
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


def _quadrature_curve(law: _Additive, moves: Sequence[float]) -> tuple[CurvePoint, ...] | None:
    """The hockey-stick divergences at the last of the moves, both directions; None where a smaller move has a larger one."""
    _, losses, masses = law._cells(0.0, moves[-1])

    def rough(epsilon: Array) -> Array:
        factor = np.exp(epsilon)[:, None]
        sides = [np.maximum(p - factor * q, 0).sum(axis=1) for p, q in (masses, masses[::-1])]
        return np.asarray(np.maximum(*sides))

    finite = np.abs(losses[np.isfinite(losses) & (masses.max(axis=0) > 1e-13)])
    epsilons = np.linspace(0, _last_above(rough, min(float(finite.max(initial=0.0)), 30.0)), CURVE_POINTS)
    deltas = np.stack([_hockey_sticks(law, move, epsilons) for move in moves])
    if (deltas.max(axis=0) > deltas[-1] * (1 + 1e-9) + 1e-12).any():
        return None
    return _rounded_up(epsilons, deltas[-1])


def _hockey_sticks(law: _Additive, move: float, epsilons: Array) -> Array:
    """The larger of the two directions' hockey-stick divergences between the answers 0 and `move` (THEORY T1)."""
    grid, losses, _ = law._cells(0.0, move)
    thresholds = np.concatenate((epsilons, -epsilons))
    above = losses >= thresholds[:, None]
    row, cell = np.nonzero(above[:, 1:] != above[:, :-1])
    middles = grid[:-1] / 2 + grid[1:] / 2
    edges = law._edge(0.0, move, thresholds[row], above[row, cell], middles[cell], middles[cell + 1])
    # P(loss >= t) = 1[at -inf] + the sum over edges of what is left behind or entered there
    turn = np.where(above[row, cell], 1.0, -1.0)
    p, q = (
        np.where(above[:, -1], 1.0, 0.0) + np.bincount(row, weights=turn * law._cdf(answer, 1.0)(edges), minlength=len(thresholds))
        for answer in (0.0, move)
    )
    split = len(epsilons)
    factor = np.exp(epsilons)
    return np.maximum(p[:split] - factor * q[:split], (1 - q[split:]) - factor * (1 - p[split:]))


# -- vectors ---------------------------------------------------------------------------------------------------------


class _Vector(Declared):
    """What radial and product noise share: cells by the score of the loss, laws by seeded draws."""

    claim: Claim
    reach: float
    size_of: Gauge

    @abstractmethod
    def _draw(self, rng: np.random.Generator) -> Array:
        """DRAWS draws of the noise."""

    @abstractmethod
    def _score(self, x: Array, x_prime: Array) -> tuple[Function, str]:
        """The loss as a function of points (n, dimension), and in words."""

    @cached_property
    def _noise(self) -> Array:
        return self._draw(np.random.default_rng(0))

    def _losses(self, loss: Function, x: Array, scale: float) -> Array:
        return loss(x + scale * self._noise)

    def partition(self, x: Array, x_prime: Array) -> Scores:
        """Cells of the loss, its thresholds clear of plateaus."""
        return _scores(self, tuple(map(float, x)), tuple(map(float, x_prime)))

    def _partition(self, x: Array, x_prime: Array) -> Scores:
        loss, words = self._score(x, x_prime)
        losses = [[self._losses(loss, answer, scale) for scale in SCALES] for answer in (x, x_prime)]
        pooled = np.concatenate((losses[0][-1], losses[1][-1]))
        thresholds = _levels(pooled, np.ones(len(pooled)))
        tables = [np.stack([1 - np.searchsorted(np.sort(each), thresholds) / DRAWS for each in side]) for side in losses]
        kept = _choose(tables[0], tables[1], _claims(self.claim, self.curve(), pooled), 2 / DRAWS)
        return Scores(loss, tuple(thresholds[kept].tolist()), self.dimension, words)

    def law(self, x: Array, x_prime: Array, scale: float = 1.0) -> tuple[Array, Array]:
        """Frequencies among the draws; half a draw is added to every cell, so that none is impossible."""
        cells = self.partition(x, x_prime)
        counts = (
            np.bincount(_cells_of(self._losses(cells.loss, at, scale), cells.thresholds), minlength=cells.size) for at in (x, x_prime)
        )
        p, q = ((count + 0.5) / (DRAWS + cells.size / 2) for count in counts)
        return p, q

    def neighbours(self, x: Array, x_prime: Array) -> bool:
        """Whether the answers are within the sensitivity in the declared norm."""
        if not np.shape(x) == np.shape(x_prime) == (self.dimension,):
            return False
        return self.distance(np.subtract(x_prime, x)) <= self.reach * (1 + 1e-9)

    def distance(self, change: Array) -> float:
        """The declared norm."""
        return float(self.size_of(np.asarray(change, dtype=float)))


@lru_cache(maxsize=64)
def _scores(law: _Vector, x: tuple[float, ...], x_prime: tuple[float, ...]) -> Scores:
    return law._partition(np.array(x), np.array(x_prime))


def _radial_loss(log_profile: Function, norm: Gauge, x: Array, x_prime: Array, points: Array) -> Array:
    return _difference(log_profile(norm(points - x)), log_profile(norm(points - x_prime)))


def _product_loss(log_density: Function, x: Array, x_prime: Array, points: Array) -> Array:
    moved = np.flatnonzero(x != x_prime)
    here, there = (log_density(points[:, moved] - answer[moved]).sum(axis=1) for answer in (x, x_prime))
    return _difference(here, there)


def _difference(log_p: Array, log_q: Array) -> Array:
    """The loss; 0 where both laws have no density, or poles."""
    with np.errstate(invalid="ignore"):
        loss = log_p - log_q
    return np.where(np.isnan(loss), 0.0, loss)


class _Radial(_Vector):
    """Noise of a norm and a profile in two or more dimensions."""

    kind = "radial"

    def __init__(
        self, claim: Claim, dimension: int, norm: Gauge, log_profile: Function, radius: Quadrature, shifts: Array, reach: float
    ) -> None:
        self.claim, self.dimension, self.size_of, self.log_profile = claim, dimension, norm, log_profile
        self.radius, self.shifts, self.reach = radius, shifts, reach

    def _draw(self, rng: np.random.Generator) -> Array:
        return self.radius.draw(DRAWS, rng)[:, None] * self.directions(DRAWS, rng)

    def _score(self, x: Array, x_prime: Array) -> tuple[Function, str]:
        return (
            partial(_radial_loss, self.log_profile, self.size_of, x, x_prime),
            f"loss = h(||y - q(x')||) - h(||y - q(x)||), {_name(self.claim)}, q(x) = {_text(x)}, q(x') = {_text(x_prime)}",
        )

    def worst_pairs(self) -> list[tuple[Array, Array]]:
        """0 and the sensitivity in the direction of a corner or an axis, where the noise has much mass at the greatest loss."""
        return [(np.zeros(self.dimension), shift) for shift in self.shifts]

    def curve(self) -> tuple[CurvePoint, ...] | None:
        """Of Gaussian noise in its own norm (THEORY T17): rotated, it is one-dimensional."""
        sigma = _gaussian_sigma(self.log_profile) if self.size_of.round or (self.size_of.rows is None and self.size_of.p == 2) else None
        return None if sigma is None else gaussian_curve(self.reach / sigma)

    def radius_cdf(self) -> Cdf:
        """The distribution function of norm(noise)."""
        return self.radius

    def norm(self, points: Array) -> Array:
        """The norm of each row."""
        return self.size_of(points)

    def directions(self, size: int, rng: np.random.Generator) -> Array:
        """Points of the unit sphere by the cone measure."""
        return self.size_of.sphere(size, self.dimension, rng)


class _Product(_Vector):
    """Independent coordinates of one density."""

    kind = "product"

    def __init__(self, claim: Claim, dimension: int, noise: Quadrature, shifts: Array, reach: float) -> None:
        assert isinstance(claim.mechanism, Product)
        self.claim, self.dimension, self.noise, self.reach = claim, dimension, noise, reach
        self.shifts, self.size_of = shifts, gauge(claim.mechanism.norm, dimension)

    def _draw(self, rng: np.random.Generator) -> Array:
        return self.noise.draw(DRAWS * self.dimension, rng).reshape(DRAWS, self.dimension)

    def _score(self, x: Array, x_prime: Array) -> tuple[Function, str]:
        return (
            partial(_product_loss, self.noise.log_density, x, x_prime),
            f"loss = sum of h(y_i - q(x')_i) - h(y_i - q(x)_i), q(x) = {_text(x)}, q(x') = {_text(x_prime)}",
        )

    def _modulus(self, shift: Array) -> float:
        """The sum over coordinates of the greatest loss of their shifts, over the bulk of the noise (THEORY T6)."""
        points = self.noise.grid()
        points = points[(self.noise(points) > 1e-6) & (self.noise(points) < 1 - 1e-6)]
        points = points[:-1] / 2 + points[1:] / 2
        with np.errstate(invalid="ignore"):
            return sum(
                float(np.nanmax(np.abs(self.noise.log_density(points) - self.noise.log_density(points - s)), initial=0.0))
                for s in shift
                if s
            )

    def worst_pairs(self) -> list[tuple[Array, Array]]:
        """0 and the sensitivity, all on one coordinate unless an even split has a greater loss (THEORY T6)."""
        if self.claim.query is None:
            candidates = np.stack([np.eye(self.dimension)[0], np.ones(self.dimension)])
            candidates *= (self.reach / self.size_of(candidates))[:, None]
        else:
            candidates = self.shifts
        sizes = np.array([self._modulus(shift) for shift in candidates])
        first = int(np.argmax(sizes >= 0.999 * sizes.max()))
        return [(np.zeros(self.dimension), candidates[first])]

    def curve(self) -> tuple[CurvePoint, ...] | None:
        """Of Gaussian noise with an l_p sensitivity: the longest move in l2 is the worst."""
        sigma = _gaussian_sigma(self.noise.log_density)
        if sigma is None or self.size_of.rows is not None:
            return None
        stretch = self.dimension ** max(0.0, 0.5 - 1 / self.size_of.p)
        return gaussian_curve(self.reach * stretch / sigma)

    def noise_cdf(self) -> Cdf:
        """The distribution function of one coordinate's noise."""
        return self.noise


def _text(vector: Array) -> str:
    return "(" + ", ".join(f"{entry:.6g}" for entry in vector) + ")"


def _name(claim: Claim) -> str:
    assert isinstance(claim.mechanism, Radial | Mixture)
    norm = claim.mechanism.norm
    return norm.kind if norm.kind != "lp" else "linf" if norm.p is None else f"l{norm.p}"


# -- finitely many outputs --------------------------------------------------------------------------------------------


class _Rows(Declared):
    """A finite mechanism as a matrix of probabilities."""

    kind = "finite"
    dimension = 1

    def __init__(self, claim: Claim, rows: Array, pairs: frozenset[tuple[int, int]]) -> None:
        self.claim, self.rows, self.pairs = claim, rows, pairs

    def _loss(self, a: int, b: int) -> Array:
        with np.errstate(divide="ignore"):
            return _difference(np.log(self.rows[a]), np.log(self.rows[b]))

    def _tempered(self, row: int, scale: float) -> Array:
        with np.errstate(all="ignore"):
            logs = np.log(self.rows[row]) / scale
        weights = np.exp(logs - logs.max())
        return np.asarray(weights / weights.sum())

    def worst_pairs(self) -> list[tuple[Array, Array]]:
        """The adjacent rows with the largest log-ratio; of those that have it, the one that shows it with the most mass."""
        best, chosen = (-1.0, -1.0), None
        for a, b in sorted(self.pairs):
            loss = self._loss(a, b)
            top = loss.max()
            mass = float(self.rows[a][loss >= top - 1e-9].sum())
            if (top, mass) > (best[0] + 1e-12, -1.0) or (abs(top - best[0]) <= 1e-12 and mass > best[1] + 1e-12):
                best, chosen = (float(top), mass), (a, b)
        return [] if chosen is None else [(np.array([chosen[0]]), np.array([chosen[1]]))]

    def partition(self, x: Array, x_prime: Array) -> Columns:
        """Columns by their loss: every value a cell, where these are at most 16."""
        a, b = int(x[0]), int(x_prime[0])
        losses = self._loss(a, b)
        thresholds = _levels(losses, self.rows[a] + self.rows[b])
        if len(thresholds) >= MAX_CELLS:
            reached = losses[:, None] >= thresholds
            tables = [np.stack([self._tempered(row, scale) for scale in SCALES]) @ reached for row in (a, b)]
            thresholds = thresholds[_choose(tables[0], tables[1], _claims(self.claim, None, losses))]
        return Columns(_cells_of(losses, thresholds.tolist()), len(thresholds) + 1)

    def law(self, x: Array, x_prime: Array, scale: float = 1.0) -> tuple[Array, Array]:
        """Sums of the tempered rows."""
        partition = self.partition(x, x_prime)
        rows = (self._tempered(int(answer[0]), scale) for answer in (x, x_prime))
        p, q = (np.bincount(partition.cells, weights=row, minlength=partition.size) for row in rows)
        return p, q

    def neighbours(self, x: Array, x_prime: Array) -> bool:
        """Whether the rows are adjacent, or the same."""
        a, b = int(x[0]), int(x_prime[0])
        return a == b or (a, b) in self.pairs

    def curve(self) -> tuple[CurvePoint, ...]:
        """Sums over the columns, at the worst of all adjacent pairs."""
        losses = np.concatenate([self._loss(a, b) for a, b in self.pairs] or [np.zeros(1)])
        epsilons = np.linspace(0, min(float(losses[np.isfinite(losses)].max(initial=0.0)), 30.0), CURVE_POINTS)
        sides = [np.maximum(self.rows[a] - np.exp(epsilons)[:, None] * self.rows[b], 0).sum(axis=1) for a, b in self.pairs]
        return _rounded_up(epsilons, np.max(sides, axis=0, initial=0.0))

    def probabilities(self, x: Array) -> Array:
        """The row of an input."""
        return np.asarray(self.rows[int(x[0])])


def _finite(claim: Claim) -> _Rows | None:
    """The matrix of a table, of an exponential mechanism or of a selection; None for one too large."""
    mechanism = claim.mechanism
    if isinstance(mechanism, Selection):
        k, p = int(number(mechanism.k)), number(mechanism.p)
        if k > MOST_ROWS:
            return None
        rows = np.full((k, k), (1 - p) / (k - 1))
        np.fill_diagonal(rows, p)
        return _Rows(claim, rows, frozenset({(0, 1), (1, 0)} if k > 64 else _both_ways(k, None)))
    assert isinstance(mechanism, Table | Exponential)
    if isinstance(mechanism, Table):
        rows = np.array([[number(entry) for entry in row] for row in mechanism.rows])
        return _Rows(claim, rows / rows.sum(axis=1, keepdims=True), frozenset(_both_ways(len(rows), mechanism.adjacent)))
    scores = np.array([[number(entry) for entry in row] for row in mechanism.scores])
    pairs = _both_ways(len(scores), mechanism.adjacent)
    if mechanism.points:  # the metric form speaks of pairs at distance 1, or of those within the sensitivity
        reach = 1.0 if claim.sensitivity is None else number(claim.sensitivity)
        pairs = {(a, b) for a, b in pairs if -scores[a, b] <= reach * (1 + 1e-9)}
    exponents = number(mechanism.beta) * scores
    return _Rows(claim, special.softmax(exponents, axis=1), frozenset(pairs))


def _both_ways(count: int, adjacent: Sequence[tuple[int, int]] | None) -> set[tuple[int, int]]:
    pairs = [(a, b) for a in range(count) for b in range(count)] if adjacent is None else adjacent
    return {pair for a, b in pairs if a != b for pair in ((a, b), (b, a))}
