"""Sech-squared noise on the line: the logistic of scale 1/2."""

import numpy as np

from dpverify.declare import Mechanism, Source, Translation

sech_squared = Mechanism(
    name="sech_squared",
    noise=Translation(density="1/cosh(z)**2"),
    source=Source("Johnson, Kotz & Balakrishnan 1995", "Chapter 23"),
)


def sample(size: int, rng: np.random.Generator) -> np.ndarray:
    return rng.logistic(scale=0.5, size=size)
