"""Multivariate slash noise: a Gaussian over an independent uniform."""

import numpy as np

from dpverify.declare import L2, Dimension, Mechanism, Mixture, Source

slash = Mechanism(
    name="slash",
    noise=Mixture(profile="v**d*exp(-v**2*r**2/2)", mixing="1", support=(0, 1), norm=L2(), dimension="d"),
    parameters={"d": Dimension()},
    source=Source("Rogers & Tukey 1972"),
)


def sample(size: int, rng: np.random.Generator, *, d: int) -> np.ndarray:
    return rng.standard_normal((size, d)) / (1 - rng.random((size, 1)))
