"""Symmetric generalized hyperbolic noise: a Gaussian of generalized inverse Gaussian variance."""

import numpy as np
from scipy.stats import geninvgauss

from dpverify.declare import L2, Dimension, Mechanism, Positive, Radial, Real, Source

generalized_hyperbolic = Mechanism(
    name="generalized_hyperbolic",
    noise=Radial(norm=L2(), profile="(1 + r**2)**((lam - d/2)/2)*besselk(lam - d/2, alpha*sqrt(1 + r**2))", dimension="d"),
    parameters={"lam": Real(), "alpha": Positive(), "d": Dimension()},
    source=Source("Barndorff-Nielsen 1978"),
)


def sample(size: int, rng: np.random.Generator, *, lam: float, alpha: float, d: int) -> np.ndarray:
    variance = geninvgauss.rvs(lam, alpha, scale=1 / alpha, size=(size, 1), random_state=rng)
    return np.sqrt(variance) * rng.standard_normal((size, d))
