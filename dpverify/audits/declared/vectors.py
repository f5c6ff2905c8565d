"""Laws of vectors: noise of a norm and a profile, and noise of independent coordinates."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property, lru_cache, partial
from typing import Final

import numpy as np

from dpverify.audits.declared.base import Array, Cdf, Declared, Function, difference
from dpverify.audits.declared.cells import SCALES, Scores, cells_of, choose, levels, to_refute
from dpverify.audits.declared.curves import gaussian_curve, gaussian_sigma, radial_curve
from dpverify.audits.declared.gauges import Gauge, gauge
from dpverify.audits.declared.laws import Quadrature
from dpverify.audits.partition import CurvePoint
from dpverify.trusted.kernel.model import Claim, Mixture, Product, Radial

DRAWS: Final = 1 << 15
"""Draws from the declared law that the thresholds for d > 1 are chosen by."""


class _Vector(Declared):
    """What radial and product noise share: cells by the score of the loss, laws by seeded draws."""

    draws = DRAWS
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
        thresholds = levels(pooled, np.ones(len(pooled)))
        tables = [np.stack([1 - np.searchsorted(np.sort(each), thresholds) / DRAWS for each in side]) for side in losses]
        kept = choose(tables[0], tables[1], to_refute(self.claim, pooled, self.curve), 2 / DRAWS)
        return Scores(loss, tuple(thresholds[kept].tolist()), self.dimension, words)

    def law(self, x: Array, x_prime: Array, scale: float = 1.0) -> tuple[Array, Array]:
        """Frequencies among the draws; half a draw is added to every cell, so that none is impossible."""
        return _frequencies(self, tuple(map(float, x)), tuple(map(float, x_prime)), scale)

    def _law(self, x: Array, x_prime: Array, scale: float) -> tuple[Array, Array]:
        cells = self.partition(x, x_prime)
        counts = (np.bincount(cells_of(self._losses(cells.loss, at, scale), cells.thresholds), minlength=cells.size) for at in (x, x_prime))
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


@lru_cache(maxsize=128)
def _frequencies(law: _Vector, x: tuple[float, ...], x_prime: tuple[float, ...], scale: float) -> tuple[Array, Array]:
    return law._law(np.array(x), np.array(x_prime), scale)


def _radial_loss(log_profile: Function, norm: Gauge, x: Array, x_prime: Array, points: Array) -> Array:
    return difference(log_profile(norm(points - x)), log_profile(norm(points - x_prime)))


def _product_loss(log_density: Function, x: Array, x_prime: Array, points: Array) -> Array:
    moved = np.flatnonzero(x != x_prime)
    here, there = (log_density(points[:, moved] - answer[moved]).sum(axis=1) for answer in (x, x_prime))
    return difference(here, there)


class RadialLaw(_Vector):
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
        """Of a density that falls with a Euclidean length (theory#radial-caps), an ellipsoid's being one in other coordinates."""
        return self._curve

    @cached_property
    def _curve(self) -> tuple[CurvePoint, ...] | None:
        if not self.size_of.round and (self.size_of.rows is not None or self.size_of.p != 2):
            return None
        sigma = gaussian_sigma(self.log_profile)
        if sigma is not None:  # rotated, it is one-dimensional
            return gaussian_curve(self.reach / sigma)
        return radial_curve(self.log_profile, self.radius, self.dimension, self.reach)

    def radius_cdf(self) -> Cdf:
        """The distribution function of norm(noise)."""
        return self.radius

    def norm(self, points: Array) -> Array:
        """The norm of each row."""
        return self.size_of(points)

    def directions(self, size: int, rng: np.random.Generator) -> Array:
        """Points of the unit sphere by the cone measure."""
        return self.size_of.sphere(size, self.dimension, rng)


class ProductLaw(_Vector):
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
        """The sum over coordinates of the greatest loss of their shifts, over the bulk of the noise (theory#product-noise)."""
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
        """0 and the sensitivity, all on one coordinate unless an even split has a greater loss (theory#product-noise)."""
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
        sigma = gaussian_sigma(self.noise.log_density)
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
