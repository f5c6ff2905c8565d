"""The distribution of the size of noise, by quadrature that is exact to drawing accuracy and better.

The size is |z| in one dimension and the norm in more, whose density is r^(d-1) times the profile. Panels of Gauss-Legendre nodes,
equal in log r and split at kinks, cover all but 1e-16 of the mass and of the moments that exist.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from dpverify.pictures.exponent import Exponent
from dpverify.search.numeric import Array

NEGLIGIBLE: Final = 38.0
"""Minus the logarithm of what is left out, against the largest."""
PANEL: Final = 0.25
"""Width of a panel in log r."""
MOST_PANELS: Final = 500
MOST_INTEGERS: Final = 200_000
_REACH: Final = 300.0
_MIXTURE_REACH: Final = 45.0
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(10)
_BISECTIONS: Final = 60


@dataclass(frozen=True, slots=True)
class Law:
    """The distribution of a size r >= 0.

    edges, below: ends of the panels and the probabilities below them. nodes, masses: the quadrature, masses summing to 1; for noise on
    the integers the sizes and their probabilities. log_density: log of the density of the size before `log_total` is taken off.
    moments: the orders, of 1 and 2, whose moments are finite. dimension: of r^(d-1).
    """

    edges: Array
    below: Array
    nodes: Array
    masses: Array
    log_density: Callable[[Array], Array]
    log_total: float
    moments: frozenset[int]
    dimension: int
    integers: bool = False

    def moment(self, order: int) -> float:
        """The mean of r^order, order 1 or 2; inf where it has none."""
        return float(np.sum(self.masses * self.nodes**order)) if order in self.moments else np.inf

    def density(self, r: Array) -> Array:
        """The density of the size, its probability on the integers."""
        return np.asarray(np.exp(self.log_density(np.asarray(r, dtype=float)) - self.log_total))

    def survival(self, r: Array) -> Array:
        """The probability that the size is above r."""
        r = np.asarray(r, dtype=float)
        if self.integers:
            tail = np.append(np.cumsum(self.masses[::-1])[::-1], 0.0)
            return np.asarray(tail[np.searchsorted(self.nodes, np.floor(r), side="right")])
        i = np.clip(np.searchsorted(self.edges, r, side="right") - 1, 0, self.edges.size - 2)
        ends = np.clip(r, self.edges[i], self.edges[i + 1])
        above = 1 - self.below[i + 1]
        mass = above + self._between(ends, self.edges[i + 1])
        return np.asarray(np.where(r < self.edges[0], 1.0, np.where(r >= self.edges[-1], 0.0, np.clip(mass, 0, 1))))

    def _between(self, low: Array, high: Array) -> Array:
        """The mass from low to high, in one panel."""
        middles, halves = (high + low) / 2, (high - low) / 2
        nodes = middles[..., None] + halves[..., None] * _NODES
        return np.asarray((self.density(nodes) * _WEIGHTS).sum(axis=-1) * halves)

    def quantile(self, probability: float) -> float:
        """The least size with at least this probability at or below it."""
        rough = float(self.inverse(np.array([probability]))[0])
        if self.integers:
            return rough
        for _ in range(3):
            at = np.array([rough])
            slope, excess = float(self.density(at)[0]), 1 - float(self.survival(at)[0]) - probability
            better = rough - excess / slope if slope > 0 else rough
            if not abs(better - rough) <= 0.05 * rough:
                break
            rough = better
        return rough

    def inverse(self, probabilities: Array) -> Array:
        """Sizes at given probabilities, to drawing accuracy: draws of the size from uniform draws."""
        p = np.asarray(probabilities, dtype=float)
        if self.integers:
            cumulated = np.cumsum(self.masses)
            return np.asarray(self.nodes[np.minimum(np.searchsorted(cumulated, p - 1e-14), self.nodes.size - 1)])
        i = np.clip(np.searchsorted(self.below, p, side="right") - 1, 0, self.edges.size - 2)
        low, high = self.edges[i], self.edges[i + 1]
        width = high - low
        inside = 1e-12
        slopes = [self.density(low + inside * width) * width, self.density(high - inside * width) * width]
        rise = self.below[i + 1] - self.below[i]
        share = _hermite_root(p - self.below[i], rise, *slopes)
        return np.asarray(low + share * width)


def _hermite_root(wanted: Array, rise: Array, first: Array, last: Array) -> Array:
    """The share s of a panel at which the cubic with these end values and slopes reaches `wanted`."""
    steep = 3 * rise  # a cubic with slopes up to three times the mean one does not turn back
    first, last = np.minimum(first, steep), np.minimum(last, steep)
    low, high = np.zeros_like(wanted), np.ones_like(wanted)
    for _ in range(_BISECTIONS // 2):
        s = (low + high) / 2
        value = rise * s * s * (3 - 2 * s) + first * s * (1 - s) ** 2 - last * s * s * (1 - s)
        low, high = np.where(value < wanted, s, low), np.where(value < wanted, high, s)
    return np.asarray((low + high) / 2)


@lru_cache(maxsize=256)
def size_law(h: Exponent, dimension: int) -> Law | None:
    """The law of the size of noise with exponent h; None where its density has no finite integral."""
    signs = (1,) if h.is_even else (-1, 1)
    highest = next((order for order in (2, 1, 0) if all(h.has_moment(dimension - 1 + order, sign) for sign in signs)), None)
    if highest is None:
        return None
    log_density = _log_density(h, h, dimension)
    moments = frozenset(range(1, highest + 1))
    return _on_integers(log_density, moments) if h.integers else _by_panels(h, log_density, moments, dimension)


def _log_density(h: Exponent, values: Callable[[Array], Array], dimension: int) -> Callable[[Array], Array]:
    def log_density(r: Array) -> Array:
        with np.errstate(all="ignore"):
            sides = -values(r)
            if not h.half:
                sides = np.where(r > 0, np.logaddexp(sides, -values(-r)), sides + (0 if h.integers else np.log(2)))
            logs = sides if dimension == 1 else sides + (dimension - 1) * np.log(r)
        return np.asarray(np.where(np.isnan(logs), -np.inf, logs))

    return log_density


def _on_integers(log_density: Callable[[Array], Array], moments: frozenset[int]) -> Law:
    most = max(moments, default=0)
    powers = np.asarray(2.0 ** np.arange(0, 18), dtype=float)
    logs = log_density(powers) + most * np.log(powers)
    near = log_density(np.arange(0, 65.0)).max()
    needed = powers[logs > max(near, float(logs.max())) - NEGLIGIBLE - 12]
    nodes = np.arange(0, min(MOST_INTEGERS, 2 * float(needed.max(initial=32.0))) + 1)
    logs = log_density(nodes)
    top = float(logs.max())
    total = float(np.exp(logs - top).sum())
    masses = np.exp(logs - top) / total
    return Law(nodes, np.cumsum(masses), nodes, masses, log_density, top + np.log(total), moments, 1, True)


def _by_panels(h: Exponent, log_density: Callable[[Array], Array], moments: frozenset[int], dimension: int) -> Law | None:
    panels = _range(h, log_density, max(moments, default=0), dimension)
    if panels is None:
        return None
    low, high = panels
    count = int(np.clip((high - low) / PANEL, 60, MOST_PANELS))
    edges = np.exp(np.linspace(low, high, count + 1))
    kinks = np.abs([*h.kinks(edges[0], edges[-1]), *([] if h.half else h.kinks(-edges[-1], -edges[0]))])
    edges = np.unique(np.concatenate([edges, kinks[(kinks > edges[0]) & (kinks < edges[-1])]]))
    halves = np.diff(edges) / 2
    nodes = (edges[:-1] + edges[1:])[:, None] / 2 + halves[:, None] * _NODES
    logs = log_density(nodes.ravel()).reshape(nodes.shape)
    top = float(logs[np.isfinite(logs)].max(initial=-np.inf))
    masses = np.exp(logs - top) * _WEIGHTS * halves[:, None]
    total = float(masses.sum())
    if not (np.isfinite(top) and np.isfinite(total) and total > 0):
        return None
    masses /= total
    below = np.concatenate([[0.0], np.cumsum(masses.sum(axis=1))])
    return Law(edges, below, nodes.ravel(), masses.ravel(), log_density, top + np.log(total), moments, dimension)


def _range(h: Exponent, log_density: Callable[[Array], Array], order: int, dimension: int) -> tuple[float, float] | None:
    """The range of log r that holds all but a negligible part of the mass and of the moment of that order."""
    reach = _REACH if h.tree is not None else _MIXTURE_REACH
    u = np.log(h.unit) + np.linspace(-reach, reach, int(4 * reach) + 1)
    for kink in [abs(k) for k in (h.low, h.high) if np.isfinite(k) and k != 0]:
        u = np.union1d(u, np.log(kink) + np.concatenate([-np.logspace(-12, 0, 25), np.logspace(-12, 0, 25)]))
    rough = _log_density(h, h.rough, dimension)
    for log_values in (rough, log_density, log_density):
        logs = log_values(np.exp(u))
        logs = np.where(np.isposinf(logs), -np.inf, logs)
        weights = np.stack([logs + u, logs + (1 + order) * u])
        if not np.isfinite(weights[0]).any():
            return None
        kept = (weights > weights.max(axis=1, keepdims=True) - NEGLIGIBLE).any(axis=0)
        places = np.flatnonzero(kept)
        if places[0] == 0 and weights[0][0] > weights[0].max() - 1:
            return None
        low, high = float(u[max(places[0] - 1, 0)]), float(u[min(places[-1] + 1, u.size - 1)])
        u = np.linspace(low, high, 241)
    return low, high
