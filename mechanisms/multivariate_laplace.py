"""Symmetric multivariate Laplace noise: a Gaussian of exponential variance; a pole at the centre from d = 2 on."""

import numpy as np

from dpverify.declare import L2, Dimension, Mechanism, Radial, Source

multivariate_laplace = Mechanism(
    name="multivariate_laplace",
    noise=Radial(norm=L2(), profile="r**((2 - d)/2)*besselk((2 - d)/2, sqrt(2)*r)", dimension="d"),
    parameters={"d": Dimension()},
    source=Source("Reimherr & Awan 2019", "Example 3"),
)


def sample(size: int, rng: np.random.Generator, *, d: int) -> np.ndarray:
    return np.sqrt(rng.standard_exponential((size, 1))) * rng.standard_normal((size, d))
