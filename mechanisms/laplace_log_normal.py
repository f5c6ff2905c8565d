"""Laplace-log-normal noise: a Laplace of log-normal scale, a mixture without closed form."""

import numpy as np

from dpverify.declare import L2, Mechanism, Mixture, Positive, Source

laplace_log_normal = Mechanism(
    name="laplace_log_normal",
    noise=Mixture(profile="exp(-r/v)/v", mixing="exp(-log(v)**2/(2*s**2))/v", norm=L2(), dimension=1),
    parameters={"s": Positive()},
    source=Source("Bun & Steinke 2019", "Section 3"),
)


def sample(size: int, rng: np.random.Generator, *, s: float) -> np.ndarray:
    return rng.laplace(size=(size, 1)) * rng.lognormal(sigma=s, size=(size, 1))
