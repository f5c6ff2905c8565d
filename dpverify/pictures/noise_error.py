"""What additive noise does to an answer: the distribution of the size of the error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from scipy import special

from dpverify.pictures.exponent import Exponent, dimension_of, exponent
from dpverify.pictures.law import Law, size_law
from dpverify.pictures.polyline import Point
from dpverify.pictures.sums import norm_law
from dpverify.search.numeric import Array
from dpverify.trusted.kernel.errors import DpverifyError
from dpverify.trusted.kernel.model import Claim, Mechanism, Mixture, Norm, Product, Radial

PROBABILITIES: Final = (0.5, 0.9, 0.95, 0.99)
GRID: Final = 121
MOST_MASSES: Final = 60
_BEYOND: Final = 1.3
_ROUNDS: Final = 14
_LIGHT: Final = 1e-8


@dataclass(frozen=True, slots=True)
class Sizes:
    """Quantiles and moments of the size of an error, in the unit of the answers: `median` and `q99` of probability 1/2 and 0.99, ...

    mean, rms (root mean square): inf where the noise has none.
    """

    median: float
    q90: float
    q95: float
    q99: float
    mean: float
    rms: float


@dataclass(frozen=True, slots=True)
class NoiseError:
    """The error that noise makes.

    of: what the size is of, for people. kind: "density" or "masses" (noise on the integers). density: points (x, density or probability)
    of the noise itself in one dimension, of its norm in more. survival: points (x, probability that the size is above x), falling from 1.
    sizes: of the error in the noise's own norm. coordinate: of one coordinate, where more than one and all are alike; None where not known.
    """

    of: str
    unit: str
    dimension: int
    kind: str
    density: tuple[Point, ...]
    survival: tuple[Point, ...]
    sizes: Sizes
    coordinate: Sizes | None = None


def noise_error(claim: Claim) -> NoiseError | None:
    """The error of a claim's additive noise; None for another kind, with parameters left open, or where the norm's law is not computed."""
    try:
        return None if claim.domains else _error(claim.mechanism)
    except (DpverifyError, ArithmeticError, ValueError):
        return None


@lru_cache(maxsize=256)
def _error(mechanism: Mechanism) -> NoiseError | None:
    h, dimension = exponent(mechanism), dimension_of(mechanism)
    if h is None or dimension is None:
        return None
    law = size_law_of(mechanism)
    if law is None:
        return None
    sizes, drawn = _sizes(law), _drawn(h, law, dimension)
    texts = ("the noise", "in the unit of the answer") if dimension == 1 else ("the norm of the noise", "in the norm of the noise")
    kind = "masses" if h.integers else "density"
    return NoiseError(*texts, dimension, kind, drawn, _survival(law, sizes), sizes, _coordinate(mechanism, law, dimension))


def size_law_of(mechanism: Mechanism) -> Law | None:
    """The law of the norm of additive noise, None where it is not computed."""
    h, dimension = exponent(mechanism), dimension_of(mechanism)
    if h is None or dimension is None:
        return None
    if isinstance(mechanism, Product) and dimension > 1:
        return norm_law(h, mechanism.norm, dimension)
    return size_law(h, dimension if h.half else 1)


def _sizes(law: Law) -> Sizes:
    median, q90, q95, q99 = (law.quantile(p) for p in PROBABILITIES)
    return Sizes(median, q90, q95, q99, law.moment(1), float(np.sqrt(law.moment(2))))


def _survival(law: Law, sizes: Sizes) -> tuple[Point, ...]:
    x = np.linspace(0, _BEYOND * sizes.q99, GRID)
    if law.integers:
        x = np.arange(0, min(np.ceil(_BEYOND * sizes.q99), 4 * MOST_MASSES) + 1)
    return tuple(zip(map(float, x), map(float, law.survival(x)), strict=True))


def _drawn(h: Exponent, law: Law, dimension: int) -> tuple[Point, ...]:
    """The density of the noise on the line, or of its norm."""
    end = _BEYOND * law.quantile(0.99)
    if dimension > 1:
        x = _grid(0.0, end, h.kinks(0.0, end) if h.half else [])
        return _points(x, law.density(x))
    low, high = (-end, end) if h.half else (max(-end, h.low), min(end, h.high))
    if h.integers:
        most = min(np.ceil(end), MOST_MASSES)
        x = np.arange(max(-most, np.ceil(h.low)), min(most, np.floor(h.high)) + 1)
    else:
        x = _grid(low, high, h.kinks(low, high))
    half = np.log(2) if h.half and not h.integers else 0.0
    return _points(x, np.exp(-h(x) - law.log_total - half))


def _grid(low: float, high: float, kinks: list[float]) -> Array:
    """Equal steps, with both sides of every kink."""
    at, around = np.array(kinks), 1e-9 * (high - low)
    return np.unique(np.clip(np.concatenate([np.linspace(low, high, GRID), at - around, at, at + around]), low, high))


def _points(x: Array, y: Array) -> tuple[Point, ...]:
    return tuple((float(a), float(b)) for a, b in zip(x, y, strict=True) if np.isfinite(b))


# -- one coordinate --------------------------------------------------------------------------------------


def _coordinate(mechanism: Mechanism, law: Law, dimension: int) -> Sizes | None:
    """One coordinate where all are alike: by itself for independent noise, else the norm times a coordinate on the unit sphere."""
    if dimension == 1:
        return None
    if isinstance(mechanism, Product):
        h = exponent(mechanism)
        own = None if h is None else size_law(h, 1)
        return None if own is None else _sizes(own)
    if isinstance(mechanism, Radial | Mixture) and mechanism.norm.kind == "lp":
        return _on_sphere(mechanism.norm, law, dimension)
    return None


def _on_sphere(norm: Norm, law: Law, dimension: int) -> Sizes:
    """|x_1| = R B with R the norm and B a coordinate of the cone measure on the unit sphere of lp, which is independent of R.

    B^p has the law Beta(1/p, (d - 1)/p); for the maximum norm B is 1 with probability 1/d, else uniform (Barthe et al. 2005).
    """
    kept = law.masses > _LIGHT
    nodes, masses = law.nodes[kept], law.masses[kept] / law.masses[kept].sum()
    share = 1 / dimension
    if norm.p is None:
        first, second = share + (1 - share) / 2, share + (1 - share) / 3
    else:
        p = float(norm.p)
        a, b = 1 / p, (dimension - 1) / p
        first, second = (float(np.exp(special.betaln(a + m / p, b) - special.betaln(a, b))) for m in (1, 2))

    def survival(x: Array) -> Array:
        ratio = np.minimum(x[:, None] / nodes[None, :], 1.0)
        if norm.p is None:
            return share * law.survival(x) + (1 - share) * np.asarray((1 - ratio) @ masses)
        return np.asarray(special.betaincc(a, b, ratio**p) @ masses)

    rms, wanted = float(np.sqrt(law.moment(2) * second)), 1 - np.array(PROBABILITIES)
    norms = np.array([law.quantile(p) for p in PROBABILITIES])
    tops = np.minimum(norms, rms / np.sqrt(wanted))  # a coordinate is at most the norm, and by Chebyshev's inequality
    median, q90, q95, q99 = map(float, _falling_to(survival, wanted, tops))
    return Sizes(median, q90, q95, q99, law.moment(1) * first, rms)


def _falling_to(survival: Callable[[Array], Array], wanted: Array, high: Array) -> Array:
    """Where a survival function falls to the wanted values, all below `high`, by the method of Illinois on its logarithm."""
    low, at_low, at_high = np.zeros_like(high), -np.log(wanted), np.log(np.maximum(survival(high), 1e-300) / wanted)
    side = np.zeros_like(high)
    for _ in range(_ROUNDS):
        middle = np.clip(low + (high - low) * at_low / np.maximum(at_low - at_high, 1e-300), low, high)
        excess = np.log(np.maximum(survival(middle), 1e-300) / wanted)
        above = excess > 0
        at_high = np.where(above, np.where(side > 0, at_high / 2, at_high), excess)
        at_low = np.where(above, excess, np.where(side < 0, at_low / 2, at_low))
        low, high, side = np.where(above, middle, low), np.where(above, high, middle), np.where(above, 1, -1)
    return np.asarray(np.where(np.abs(at_low) < np.abs(at_high), low, high))
