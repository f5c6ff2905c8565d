"""The covariances of Gaussian processes in floats."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from dpverify.search.numeric import vectorised
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.model import EllipticalProcess
from dpverify.trusted.theories.processes.norms import interval_of

Array = NDArray[np.float64]
Kernel = Callable[[Array, Array], Array]


def kernel_of(noise: EllipticalProcess) -> Kernel | None:
    """The declared covariance; None for a sequence, which has none, or none at all."""
    if noise.covariance == "kernel":
        written = vectorised(noise.shape[0], "s", "t")
        return lambda s, t: np.asarray(written(np.maximum(s, t), np.minimum(s, t)), dtype=float) + np.zeros(np.broadcast(s, t).shape)
    if noise.covariance not in _LAGS and noise.covariance not in ("brownian", "bridge"):
        return None
    variance, length = (float(constant(number)) for number in noise.shape)
    if noise.covariance in _LAGS:
        lags = _LAGS[noise.covariance]
        return lambda s, t: variance * lags(np.abs(s - t) / length)
    high = float(interval_of(noise)[1])
    tied = 1 / high if noise.covariance == "bridge" else 0.0
    return lambda s, t: variance * (np.minimum(s, t) - tied * s * t)


def _matern(order: float, r: Array) -> Array:
    x = np.sqrt(2 * order) * r
    return np.asarray((1 + (x if order > 1 else 0) + (x * x / 3 if order > 2 else 0)) * np.exp(-x))


_LAGS: Final[dict[str, Callable[[Array], Array]]] = {
    "matern-1/2": lambda r: _matern(0.5, r),
    "matern-3/2": lambda r: _matern(1.5, r),
    "matern-5/2": lambda r: _matern(2.5, r),
    "rbf": lambda r: np.asarray(np.exp(-r * r / 2)),
}
