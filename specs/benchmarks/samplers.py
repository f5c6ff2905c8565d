"""The mechanisms on which black-box auditors are compared, as vectorised samplers f(data, size, rng) -> array of `size` outputs.

The first twenty are those of the DP-Sniper evaluation (Bichsel, Steffen, Bogunovic & Vechev, S&P 2021) with its parameters: every one
is claimed to be 0.1-DP, but RAPPOR (0.4) and one-time RAPPOR (0.8). Some are right, some wrong; which is which stands in the claim files.
The others are controls, right and wrong. `data` is the vector of true answers; neighbours differ by at most 1 in every entry, or in one
entry only where the claim file lists its pairs.

Laplace noise is drawn as an exponential with a random sign, three times as fast as by numpy's own logarithm; `laplace` alone is numpy's.
Matrices are laid out column by column, so that `out[:, i]` is contiguous.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

Array = np.ndarray[Any, Any]

EPSILON: Final = 0.1
# What the sparse vector technique says of a query below the threshold, and of one that it no longer answers: of numerical outputs far
# outside what the noise can reach (Laplace noise of scale 60 passes 5000 once in 10^36 draws).
BELOW, ABORTED = -10_000.0, -20_000.0


def _laplace(rng: np.random.Generator, scale: float, *shape: int) -> Array:
    """Laplace noise of this scale: a random sign bit on an exponential."""
    noise = rng.standard_exponential(shape)
    bits = np.unpackbits(np.frombuffer(rng.bytes((noise.size + 7) // 8), np.uint8), count=noise.size)
    noise.view(np.uint64)[...] ^= (bits.astype(np.uint64) << np.uint64(63)).reshape(shape)
    noise *= scale
    return noise


def _column(data: Sequence[float]) -> Array:
    return np.asarray(data, dtype=float)[:, np.newaxis]


# -- one number ------------------------------------------------------------------------------------


def laplace(data: Sequence[float], size: int, rng: np.random.Generator) -> Array:
    """x + Laplace(1/eps)."""
    return rng.laplace(data[0], 1 / EPSILON, size)


def geosample(data: Sequence[float], size: int, rng: np.random.Generator) -> Array:
    """GeoSample of Balcer and Vadhan (2018, Algorithm 4.8) for counts 0 to 5 with k = ceil(ln(2/eps)), where it should be log2."""
    return _geosample(int(data[0]), 5, math.ceil(math.log(2 / EPSILON)), size, rng)


def _geosample(count: int, n: int, k: int, size: int, rng: np.random.Generator) -> Array:
    """The smallest z with F(z) >= U, U uniform on 1 to d; all in integers."""
    ratio, step = 2**k, 2**k + 1
    d = (2 * ratio + 1) * step ** (n - 1)
    below = [ratio ** (count - z) * step ** (n - (count - z)) for z in range(count)]
    above = [d - ratio ** (z - count + 1) * step ** (n - 1 - (z - count)) for z in range(count, n)]
    return np.searchsorted(np.array([*below, *above, d]), rng.integers(1, d, size, endpoint=True))


# -- histograms and noisy maxima -------------------------------------------------------------------


def noisy_hist1(data: Sequence[float], size: int, rng: np.random.Generator) -> Array:
    """(size, k): every count plus Laplace(1/eps) (Ding et al. 2018, Algorithm 9)."""
    return (_column(data) + _laplace(rng, 1 / EPSILON, len(data), size)).T


def noisy_hist2(data: Sequence[float], size: int, rng: np.random.Generator) -> Array:
    """(size, k): the same with the scale upside down, Laplace(eps) (Ding et al. 2018, Algorithm 10)."""
    return (_column(data) + _laplace(rng, EPSILON, len(data), size)).T


def _argmax(values: Array) -> Array:
    """Of each column the row of its largest entry, the first of equals."""
    best, index = values[0].copy(), np.zeros(values.shape[1], np.int64)
    for row in range(1, len(values)):
        np.copyto(index, row, where=values[row] > best)
        np.maximum(best, values[row], out=best)
    return index


def report_noisy_max1(data: Sequence[float], size: int, rng: np.random.Generator) -> Array:
    """The index of the largest q_i + Laplace(2/eps) (Ding et al. 2018, Algorithm 5)."""
    return _argmax(_column(data) + _laplace(rng, 2 / EPSILON, len(data), size))


def report_noisy_max2(data: Sequence[float], size: int, rng: np.random.Generator) -> Array:
    """The index of the largest q_i + exponential noise of mean 2/eps (Ding et al. 2018, Algorithm 6)."""
    return _argmax(_column(data) + rng.exponential(2 / EPSILON, (len(data), size)))


def report_noisy_max3(data: Sequence[float], size: int, rng: np.random.Generator) -> Array:
    """The largest q_i + Laplace(2/eps) itself, not its index (Ding et al. 2018, Algorithm 7)."""
    largest: Array = np.max(_column(data) + _laplace(rng, 2 / EPSILON, len(data), size), axis=0)
    return largest


def report_noisy_max4(data: Sequence[float], size: int, rng: np.random.Generator) -> Array:
    """The largest q_i + exponential noise of mean 2/eps itself (Ding et al. 2018, Algorithm 8)."""
    largest: Array = np.max(_column(data) + rng.exponential(2 / EPSILON, (len(data), size)), axis=0)
    return largest


# -- the sparse vector technique (Lyu, Su & Li 2017, Algorithms 1 to 6) ---------------------------------


def _scan(
    data: Sequence[float],
    size: int,
    rng: np.random.Generator,
    *,
    rho: float,
    nu: float,
    stop: int,
    threshold: float,
    redraw: bool = False,
) -> Iterator[tuple[Any, Array, Array]]:
    """Query by query: which runs still answer, whether q_i + Laplace(nu) >= threshold + Laplace(rho) for each of them, and its left side.

    A run stops after `stop` answers above; redraw: the noise of the threshold is drawn again after each.
    """
    alive: Any = slice(None)
    limits = threshold + _laplace(rng, rho, size)
    left = np.full(size, stop, np.int8)
    for query in data:
        noisy = _laplace(rng, nu, len(limits))
        noisy += query
        hit = noisy >= limits
        yield alive, hit, noisy
        left -= hit
        if redraw:
            np.copyto(limits, threshold + _laplace(rng, rho, len(limits)), where=hit)
        running = np.flatnonzero(left)
        limits, left = limits[running], left[running]
        alive = running if isinstance(alive, slice) else alive[running]


def _answers(data: Sequence[float], size: int, scan: Iterator[tuple[Any, Array, Array]]) -> Array:
    """(size, k) of int8: 1 above the threshold, 0 below, -1 not answered any more."""
    out = np.full((len(data), size), -1, np.int8)
    for row, (alive, hit, _) in zip(out, scan, strict=True):
        row[alive] = hit
    return out.T


def svt1(data: Sequence[float], size: int, rng: np.random.Generator) -> Array:
    """Sparse vector technique 1, c = 1, T = 0.5: (size, k) of 1 above, 0 below, -1 aborted."""
    return _answers(data, size, _scan(data, size, rng, rho=2 / EPSILON, nu=4 / EPSILON, stop=1, threshold=0.5))


def svt2(data: Sequence[float], size: int, rng: np.random.Generator) -> Array:
    """Sparse vector technique 2 (threshold drawn again), c = 1, T = 1: (size, k) of 1 above, 0 below, -1 aborted."""
    return _answers(data, size, _scan(data, size, rng, rho=2 / EPSILON, nu=4 / EPSILON, stop=1, threshold=1, redraw=True))


def _svt3(data: Sequence[float], size: int, rng: np.random.Generator, stop: int) -> Array:
    out = np.full((len(data), size), ABORTED)
    scan = _scan(data, size, rng, rho=2 / EPSILON, nu=2 * stop / EPSILON, stop=stop, threshold=1)
    for row, (alive, hit, noisy) in zip(out, scan, strict=True):
        row[alive] = np.where(hit, noisy, BELOW)
    return out


def svt3(data: Sequence[float], size: int, rng: np.random.Generator) -> Array:
    """Sparse vector technique 3 (the noisy answer itself), c = 1, T = 1: (size, k) of answers, BELOW or ABORTED."""
    return _svt3(data, size, rng, 1).T


def _svt4(data: Sequence[float], size: int, rng: np.random.Generator, stop: int) -> Array:
    return _answers(data, size, _scan(data, size, rng, rho=4 / EPSILON, nu=4 / (3 * EPSILON), stop=stop, threshold=1))


def svt4(data: Sequence[float], size: int, rng: np.random.Generator) -> Array:
    """Sparse vector technique 4 (too little noise), c = 1, T = 1: (size, k) of 1 above, 0 below, -1 aborted."""
    return _svt4(data, size, rng, 1)


def svt5(data: Sequence[float], size: int, rng: np.random.Generator) -> Array:
    """Sparse vector technique 5 (no noise on the answers, no stop), T = 1: (size, k) of bool."""
    return (_column(data) >= 1 + _laplace(rng, 2 / EPSILON, size)).T


def svt6(data: Sequence[float], size: int, rng: np.random.Generator) -> Array:
    """Sparse vector technique 6 (no stop), T = 1: (size, k) of bool."""
    limits = 1 + _laplace(rng, 2 / EPSILON, size)
    return (_column(data) + _laplace(rng, 2 / EPSILON, len(data), size) >= limits).T


def svt34_parallel(data: Sequence[float], size: int, rng: np.random.Generator) -> Array:
    """Sparse vector techniques 3 and 4 on the same queries, c = 2, T = 1: (size, 2 k), first the one's output, then the other's."""
    return np.concatenate([_svt3(data, size, rng, 2), _svt4(data, size, rng, 2).T]).T


def numerical_svt(data: Sequence[float], size: int, rng: np.random.Generator) -> Array:
    """Numerical sparse vector technique (Wang, Ding, Wang, Kifer & Zhang 2019), c = 2, T = 1.

    Threshold noise Laplace(3/eps), query noise Laplace(6c/eps), and for a query above the threshold q_i plus fresh Laplace(3c/eps).
    (size, k): that answer, 0 for a query below, ABORTED after the second above.
    """
    out = np.full((len(data), size), ABORTED)
    scan = _scan(data, size, rng, rho=3 / EPSILON, nu=12 / EPSILON, stop=2, threshold=1)
    for query, row, (alive, hit, _) in zip(data, out, scan, strict=True):
        row[alive] = np.where(hit, query + _laplace(rng, 6 / EPSILON, len(hit)), 0.0)
    return out.T


# -- RAPPOR (Erlingsson, Pihur & Korolova 2014) ---------------------------------------------------------

# The bits that MurmurHash3 (32 bits, seeds 0 to 3) of "2" and "6" sets in a filter of 20: eight different ones.
FILTERS: Final = {2: (7, 10, 11, 19), 6: (0, 6, 14, 17)}


def _filter(data: Sequence[float], size: int) -> Array:
    """(20, size): the Bloom filter of the value, for every run."""
    bits = np.zeros((20, size), np.uint8)
    bits[list(FILTERS[int(data[0])])] = 1
    return bits


def one_time_rappor(data: Sequence[float], size: int, rng: np.random.Generator) -> Array:
    """The permanent response alone, f = 0.95: a set bit stays with probability 21/40, another rises with 19/40; (size, 20) of bool."""
    return (rng.integers(0, 40, (20, size), np.uint8) < 19 + 2 * _filter(data, size)).T


def rappor(data: Sequence[float], size: int, rng: np.random.Generator) -> Array:
    """Permanent response with f = 3/4, then the instantaneous one: 1 with probability 11/20 for a 1, 9/20 for a 0; (size, 20) of bool."""
    permanent = rng.integers(0, 8, (20, size), np.uint8) < 3 + 2 * _filter(data, size)
    return (rng.integers(0, 20, (20, size), np.uint8) < 9 + 2 * permanent.view(np.uint8)).T


# -- many releases ---------------------------------------------------------------------------------------


def laplace_parallel(data: Sequence[float], size: int, rng: np.random.Generator) -> Array:
    """(size, 20): twenty times x + Laplace(1/0.005)."""
    return (data[0] + _laplace(rng, 20 / EPSILON, 20, size)).T


def prefix_sum(data: Sequence[float], size: int, rng: np.random.Generator) -> Array:
    """(size, k): the running sums of q_i + Laplace(1/eps)."""
    noisy = _column(data) + _laplace(rng, 1 / EPSILON, len(data), size)
    return np.cumsum(noisy, axis=0, out=noisy).T


# -- controls ------------------------------------------------------------------------------------------------


def laplace_half_noise(data: Sequence[float], size: int, rng: np.random.Generator) -> Array:
    """x + Laplace(1/(2 eps)): half the noise."""
    return rng.laplace(data[0], 1 / (2 * EPSILON), size)


def laplace_short_noise(data: Sequence[float], size: int, rng: np.random.Generator) -> Array:
    """x + Laplace(1/(1.1 eps)): a tenth too little noise."""
    return rng.laplace(data[0], 1 / (1.1 * EPSILON), size)


def discrete_laplace(data: Sequence[float], size: int, rng: np.random.Generator) -> Array:
    """x plus the difference of two geometric numbers of parameter 1 - exp(-eps): integers."""
    noise: Array = np.subtract(*rng.geometric(-math.expm1(-EPSILON), (2, size)))
    return int(data[0]) + noise


def geosample_right(data: Sequence[float], size: int, rng: np.random.Generator) -> Array:
    """GeoSample for counts 0 to 5 with k = ceil(log2(2/eps)), as published: the truncated geometric mechanism in integers."""
    return _geosample(int(data[0]), 5, math.ceil(math.log2(2 / EPSILON)), size, rng)


def randomized_response(data: Sequence[float], size: int, rng: np.random.Generator) -> Array:
    """The truth, 0 or 1, with probability e^eps/(1 + e^eps), else the other."""
    truth = np.int64(data[0])
    return np.where(rng.random(size) < 1 / (1 + math.exp(-EPSILON)), truth, 1 - truth)


def gaussian_pure(data: Sequence[float], size: int, rng: np.random.Generator) -> Array:
    """x + N(0, 10^2): no pure privacy at any epsilon."""
    return rng.normal(data[0], 1 / EPSILON, size)


def gaussian(data: Sequence[float], size: int, rng: np.random.Generator) -> Array:
    """x + N(0, sigma^2) with the smallest sigma for (1, 1e-5) (Balle & Wang 2018), rounded up: 3.730632."""
    return rng.normal(data[0], 3.730632, size)


def gaussian_short_noise(data: Sequence[float], size: int, rng: np.random.Generator) -> Array:
    """x + N(0, sigma^2) with a sigma 10 % too small for (1, 1e-5): 3.730632/1.1."""
    return rng.normal(data[0], 3.730632 / 1.1, size)


def snapping(data: Sequence[float], size: int, rng: np.random.Generator) -> Array:
    """Snapping mechanism (Mironov 2012) on [-100, 100]: Laplace noise, rounded to multiples of 16, clipped."""
    bound, grid = 100.0, 16.0
    scale = (1 + bound * 2**-49) / EPSILON
    noise = scale * np.log1p(-rng.random(size)) * rng.choice((-1.0, 1.0), size)
    snapped: Array = np.clip(grid * np.round((np.clip(data[0], -bound, bound) + noise) / grid), -bound, bound)
    return snapped
