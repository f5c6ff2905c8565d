"""The law of the norm of independent coordinates, by convolution on a grid."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import numpy as np
from scipy import interpolate

from dpverify.pictures.exponent import Exponent
from dpverify.pictures.law import Law, size_law
from dpverify.search.numeric import Array
from dpverify.trusted.kernel.model import Norm

CELLS: Final = 1 << 13
MOST_COORDINATES: Final = 64
_LEFT_OUT: Final = 1e-7


@lru_cache(maxsize=32)
def norm_law(h: Exponent, norm: Norm, dimension: int) -> Law | None:
    """The law of the l1, l2 or maximum norm of independent coordinates with exponent h, good to about 1e-3; None for other norms.

    Also None where the coordinate's tail is too heavy for the grid: without a second moment.
    """
    own = size_law(h, 1)
    if own is None or norm.kind != "lp" or h.integers or dimension > MOST_COORDINATES:
        return None
    if norm.p is None:
        return _largest(own, dimension)
    if norm.p not in (1, 2) or own.moments != {1, 2}:
        return None
    return _summed(own, int(norm.p), dimension)


def _summed(own: Law, p: int, dimension: int) -> Law:
    """||z||_p^p is a sum of independent terms: their masses on a grid, convolved by Fourier transforms."""
    coordinate_end = own.quantile(1 - _LEFT_OUT)
    mean, spread = own.moment(p), np.sqrt(own.moment(2)) ** p
    end = coordinate_end**p + dimension * mean + 6 * np.sqrt(dimension) * spread
    width = end / CELLS
    edges = (np.arange(CELLS + 1) * width) ** (1 / p)
    masses = -np.diff(own.survival(edges))
    spectrum = np.fft.rfft(masses, 4 * CELLS) ** dimension
    # sums of midpoints: d half cells further out
    total = np.maximum(np.fft.irfft(spectrum, 4 * CELLS)[:CELLS], 0)
    below = np.concatenate([[0.0], np.cumsum(total) / total.sum()])
    sums = (np.arange(CELLS + 1) + (dimension - 1) / 2) * width
    shape = np.maximum(sums, 0.0) ** (1 / p)
    moments = frozenset({1, 2})
    return _tabulated(shape, below, moments, dimension)


def _largest(own: Law, dimension: int) -> Law:
    """The largest of independent coordinates: P(max <= r) = F(r)^d, its density d F^(d-1) f."""

    def log_density(r: Array) -> Array:
        with np.errstate(divide="ignore"):
            return np.asarray(own.log_density(r) - own.log_total + np.log(dimension) + (dimension - 1) * np.log(1 - own.survival(r)))

    masses = own.masses * dimension * (1 - own.survival(own.nodes)) ** (dimension - 1)
    return Law(own.edges, own.below**dimension, own.nodes, masses / masses.sum(), log_density, 0.0, own.moments, dimension)


def _tabulated(edges: Array, below: Array, moments: frozenset[int], dimension: int) -> Law:
    """A law by its distribution function on a grid, its density by monotone interpolation."""
    kept = np.concatenate([[True], np.diff(below) > 0])
    edges, below = edges[kept], below[kept]
    curve = interpolate.PchipInterpolator(edges, below)
    slope = curve.derivative()

    def log_density(r: Array) -> Array:
        with np.errstate(all="ignore"):
            inside = (r >= edges[0]) & (r <= edges[-1])
            return np.asarray(np.where(inside, np.log(slope(np.clip(r, edges[0], edges[-1]))), -np.inf))

    return Law(edges, below, (edges[1:] + edges[:-1]) / 2, np.diff(below), log_density, 0.0, moments, dimension)
