"""Arsinh-normal noise: the hyperbolic sine of a Gaussian."""

import numpy as np

from dpverify.declare import Mechanism, Positive, Source, Translation

arsinh_normal = Mechanism(
    name="arsinh_normal",
    noise=Translation(density="exp(-asinh(z)**2/(2*s**2))/sqrt(1 + z**2)"),
    parameters={"s": Positive()},
    source=Source("Bun & Steinke 2019", "Section 3"),
)


def sample(size: int, rng: np.random.Generator, *, s: float) -> np.ndarray:
    return np.sinh(s * rng.standard_normal(size))
