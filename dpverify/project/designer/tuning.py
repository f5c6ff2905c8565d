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
