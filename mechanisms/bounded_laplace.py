"""Laplace noise about theta, conditioned to [0, 1]; the normaliser depends on theta."""

import numpy as np

from dpverify.declare import Kernel, Mechanism, Positive, Source

bounded_laplace = Mechanism(
    name="bounded_laplace",
    noise=Kernel(density="exp(-abs(y - theta)/b)/(b*(2 - exp(-theta/b) - exp(-(1 - theta)/b)))", output=(0, 1), input=(0, 1)),
    parameters={"b": Positive()},
    source=Source("Holohan, Antonatos, Braghin & Mac Aonghusa 2020"),
)


def sample(size: int, rng: np.random.Generator, *, theta: float, b: float) -> np.ndarray:
    """A side by its mass, then an exponential cut at the end of the interval, by inversion."""
    left, right = -np.expm1(-theta / b), -np.expm1(-(1 - theta) / b)
    downward = rng.random(size) < left / (left + right)
    distance = -b * np.log1p(-rng.random(size) * np.where(downward, left, right))
    return theta + np.where(downward, -distance, distance)
