"""Discrete Gaussian noise on the integers."""

import numpy as np

from dpverify.declare import Mechanism, Positive, Source, Translation

discrete_gaussian = Mechanism(
    name="discrete_gaussian",
    noise=Translation(density="exp(-z**2/(2*sigma**2))", integers=True),
    parameters={"sigma": Positive()},
    source=Source("Canonne, Kamath & Steinke 2020", "Algorithm 3"),
)


def sample(size: int, rng: np.random.Generator, *, sigma: float) -> np.ndarray:
    """Rejection from discrete Laplace noise of scale t."""
    t = np.floor(sigma) + 1
    stop = -np.expm1(-1 / t)
    kept = np.empty(0, dtype=np.int64)
    while len(kept) < size:
        proposed = rng.geometric(stop, size) - rng.geometric(stop, size)
        excess = (np.abs(proposed) - sigma**2 / t) ** 2 / (2 * sigma**2)
        kept = np.concatenate((kept, proposed[rng.standard_exponential(size) > excess]))
    return kept[:size]
