"""Exponential noise in a Mahalanobis norm: elliptical noise with its dispersion matrix."""

import numpy as np

from dpverify.declare import Ellipsoid, Mechanism, Positive, Radial, Source

SIGMA = ((2, 1), (1, 3))
knorm_ellipsoid = Mechanism(
    name="knorm_ellipsoid",
    noise=Radial(norm=Ellipsoid(SIGMA), profile="exp(-eps*r)", dimension=2),
    parameters={"eps": Positive()},
    source=Source("Reimherr & Awan 2019", "Theorem 3"),
)


def sample(size: int, rng: np.random.Generator, *, eps: float) -> np.ndarray:
    direction = rng.standard_normal((size, 2))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    return rng.gamma(2, 1 / eps, (size, 1)) * direction @ np.linalg.cholesky(np.array(SIGMA)).T
