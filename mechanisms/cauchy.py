"""Multivariate Cauchy noise: the t with one degree of freedom."""

import numpy as np

from dpverify.declare import L2, Dimension, Mechanism, Radial, Source

cauchy = Mechanism(
    name="cauchy",
    noise=Radial(norm=L2(), profile="(1 + r**2)**(-(1 + d)/2)", dimension="d"),
    parameters={"d": Dimension()},
    source=Source("Reimherr & Awan 2019", "Example 6"),
)


def sample(size: int, rng: np.random.Generator, *, d: int) -> np.ndarray:
    return rng.standard_normal((size, d)) / np.abs(rng.standard_normal((size, 1)))
