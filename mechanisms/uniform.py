"""Uniform noise on an interval."""

import numpy as np

from dpverify.declare import Mechanism, Source, Translation

uniform = Mechanism(
    name="uniform",
    noise=Translation(density="1", support=(-1, 1)),
    source=Source("docs/theory/additive.md#divergence"),
)


def sample(size: int, rng: np.random.Generator) -> np.ndarray:
    return rng.uniform(-1, 1, size)
