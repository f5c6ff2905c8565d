"""Discrete Laplace noise on the integers, the two-sided geometric."""

import numpy as np

from dpverify.declare import Mechanism, Positive, Source, Translation

discrete_laplace = Mechanism(
    name="discrete_laplace",
    noise=Translation(density="exp(-abs(z)/b)", integers=True),
    parameters={"b": Positive()},
    source=Source("Ghosh, Roughgarden & Sundararajan 2009"),
)


def sample(size: int, rng: np.random.Generator, *, b: float) -> np.ndarray:
    """The difference of two geometrics."""
    stop = -np.expm1(-1 / b)
    return rng.geometric(stop, size) - rng.geometric(stop, size)
