"""Gaussian noise of independent coordinates."""

import numpy as np

from dpverify.declare import L2, Dimension, Mechanism, Positive, Radial, Source

gaussian = Mechanism(
    name="gaussian",
    noise=Radial(norm=L2(), profile="exp(-r**2/(2*sigma**2))", dimension="d"),
    parameters={"sigma": Positive(), "d": Dimension()},
    source=Source("Reimherr & Awan 2019", "Example 5"),
)


def sample(size: int, rng: np.random.Generator, *, sigma: float, d: int) -> np.ndarray:
    return sigma * rng.standard_normal((size, d))
