"""Logistic regression with a normal prior of each weight, fitted by Newton's method (McCullagh & Nelder 1989, section 2.5)."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from scipy.special import expit

Array = np.ndarray[Any, Any]
Floats = np.ndarray[Any, np.dtype[np.float64]]

STEPS: Final = 30  # from where no prior is new; it takes about five
ENOUGH: Final = 1e-5  # of the loss: what one more step would win is less
SHORTEST: Final = 1e-3  # of a step


def fitted(data: Array, label: Floats, odds: float, precisions: Floats, start: Floats) -> Floats:
    """The weights with the greatest likelihood times prior, sought from `start`.

    data: (n, width), float32; label: (n,), 1.0 or 0.0; odds: a known part of every logit, in nats; precisions: (width,) of the prior.
    The sum over outputs and priors is strictly convex, so steps that are halved until they win a quarter of what they promise lead to it.
    """
    sign = np.where(label == 1, 1.0, -1.0).astype(np.float32)

    # einsum, not @, for sums that are quick: threads of a linear algebra library that wait for each other cost ten times what they save.
    def seen(weights: Floats) -> tuple[float, Array]:
        margin = sign * (np.einsum("ij,j->i", data, weights.astype(np.float32)) + np.float32(odds))
        likely = float(np.logaddexp(np.float32(0), -margin).sum(dtype=np.float64))
        return likely + 0.5 * float(precisions @ (weights * weights)), margin

    weights = start
    loss, margin = seen(weights)
    for _ in range(STEPS):
        wrong = expit(-margin)
        slope = np.einsum("ij,i->j", data, -sign * wrong) + precisions * weights
        step = _solved(data * np.sqrt(wrong * (1 - wrong))[:, None], precisions, slope)
        promised, share = float(slope @ step), 1.0
        if not promised > ENOUGH * loss:
            break
        further = seen(weights - step)
        while further[0] > loss - share / 4 * promised and share > SHORTEST:
            share /= 2
            further = seen(weights - share * step)
        if further[0] >= loss:
            break
        weights, (loss, margin) = weights - share * step, further
    return weights


def _solved(root: Array, diagonal: Floats, right: Floats) -> Floats:
    """The solution x of (root' root + diagonal) x = right, by the smaller of the two Gram matrices (Woodbury's identity)."""
    rows, width = root.shape
    if rows >= width:
        return np.asarray(np.linalg.solve((root.T @ root).astype(np.float64) + np.diag(diagonal), right))
    scaled = root / diagonal
    return np.asarray(right / diagonal - scaled.T @ np.linalg.solve(scaled @ root.T + np.eye(rows), scaled @ right))
