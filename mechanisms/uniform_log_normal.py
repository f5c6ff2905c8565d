"""Uniform-log-normal noise: a uniform of log-normal width."""

import numpy as np

from dpverify.declare import L2, Mechanism, Positive, Radial, Source

uniform_log_normal = Mechanism(
    name="uniform_log_normal",
    noise=Radial(norm=L2(), profile="erfc((log(r) + s**2)/(s*sqrt(2)))", dimension=1),
    parameters={"s": Positive()},
    source=Source("Bun & Steinke 2019", "Section 3"),
)


def sample(size: int, rng: np.random.Generator, *, s: float) -> np.ndarray:
    return rng.uniform(-1, 1, (size, 1)) * rng.lognormal(sigma=s, size=(size, 1))
