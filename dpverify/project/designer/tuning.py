"""How precisely each row of a strategy is measured: weights that make the error small under the privacy that there is.

With weights w on the rows of A, and noise of one size on each, an estimate whose error is c_i/w_i^2 for each row has in all the error
sum c_i / w_i^2, and the weights are bounded by what neighbours move: sum_i w_i |a_ij| for Laplace noise, sum_i w_i^2 a_ij^2 for Gaussian
noise, at most 1 for each move j. Both programs are convex, in w or in w^2, and their duals are solved by multiplying each price by how much
its bound is met. What comes out is rounded and scaled to what the exact sensitivity allows; floats decide nothing.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from dpverify.project.designer.exact import Floats

ROUNDS: Final = 3000
STEPS: Final = 10_000
"""Into so many steps epsilon is divided where privacy losses are added up."""
_FINER, _WIDEST, _ALIKE = 1.001, 1024, 0.98


def weights(costs: Floats, moves: Floats, power: int) -> Floats:
    """Weights w > 0 with sum_i w_i^power moves_ij^power <= 1 for each column j that make sum costs_i / w_i^2 about least.

    moves: absolute values, a row for each row of the strategy. power: 1 for Laplace noise, 2 for Gaussian noise.
    """
    sizes, q = moves**power, 2 / power
    costs = np.maximum(costs, costs.max() * 1e-9)
    prices = np.full(sizes.shape[1], 1 / sizes.shape[1])
    best, least = np.ones(len(costs)), np.inf
    for turn in range(ROUNDS):
        spent = np.maximum(sizes @ prices, 1e-300)
        u = (costs / spent) ** (1 / (q + 1))
        used = u @ sizes
        u = u / used.max()
        error = float((costs / u**q).sum())
        if error < least:
            best, least = u, error
        met = used / used.max()
        if turn > 50 and prices @ met > 1 - 1e-6:
            break
        prices = prices * met
        prices = prices / prices.sum()
    return np.asarray(best ** (1 / power))


def spread(moved: Floats) -> Floats:
    """S = sqrt(sum_j p_j f_j f_j') with p such that tr S is about greatest, for moves f_j as rows.

    tr(S) S is then the ellipsoid that holds all moves and has the least trace: the noise of its shape has the least mean square error.
    """
    p = np.linalg.norm(moved, axis=1)
    p = p / p.sum()
    for _ in range(ROUNDS):
        values, axes = np.linalg.eigh((moved.T * p) @ moved)
        roots = np.sqrt(np.maximum(values, values.max() * 1e-14))
        slopes = ((moved @ axes) ** 2 / roots).sum(axis=1)
        mean = float(p @ slopes)
        if slopes.max() < mean * (1 + 1e-6):
            break
        p = p * slopes / mean
    return np.asarray((axes * roots) @ axes.T)


def discrete_sigma(moves: Floats, shares: Floats, epsilon: float, delta: float, least: float) -> float:
    """About the least s from `least` on at which discrete Gaussian noise of the parameters s * shares is (epsilon, delta)-DP.

    moves: what neighbours move the answers by, integers, as rows. least: what is enough for continuous noise.
    """
    sizes = ((moves / shares) ** 2).sum(axis=1)
    worst = np.unique(np.abs(moves[sizes > _ALIKE * sizes.max()]), axis=0)[:16]

    def enough(power: int) -> bool:
        sigmas = least * _FINER**power * shares
        return all(discrete_delta(move, sigmas, epsilon) <= delta for move in worst)

    low, high = -1, 1
    while not enough(high) and high < _WIDEST:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return float(least * _FINER ** (high + 0.1))


def discrete_delta(move: Floats, sigmas: Floats, epsilon: float) -> float:
    """The delta of independent discrete Gaussian noises where each answer moves by so much; losses are rounded up."""
    step = epsilon / STEPS
    first, masses = 0, np.ones(1)
    for a, s in zip(move, sigmas, strict=True):
        if a:
            z = np.arange(-np.ceil(12 * s) - a, np.ceil(12 * s) + 1)
            p = np.exp(-0.5 * (z / s) ** 2)
            at = np.ceil(a * (2 * z + a) / (2 * s * s * step)).astype(int)
            masses, first = _convolved(masses, np.bincount(at - at[0], p / p.sum()).astype(np.float64)), first + int(at[0])
    losses = step * (first + np.arange(len(masses)))
    return float(masses @ -np.expm1(np.minimum(epsilon - losses, 0)))


def _convolved(left: Floats, right: Floats) -> Floats:
    """The law of a sum. By numpy: scipy.signal takes longer to load than most designs take."""
    size = len(left) + len(right) - 1
    wide = 1 << (size - 1).bit_length()
    return np.asarray(np.fft.irfft(np.fft.rfft(left, wide) * np.fft.rfft(right, wide), wide)[:size])
