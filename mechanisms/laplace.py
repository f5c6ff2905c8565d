"""Laplace noise on the line."""

import numpy as np

from dpverify.declare import Mechanism, Positive, Source, Translation

laplace = Mechanism(
    name="laplace",
    noise=Translation(density="exp(-abs(z)/b)"),
    parameters={"b": Positive()},
    source=Source("Dwork, McSherry, Nissim & Smith 2006"),
)


def sample(size: int, rng: np.random.Generator, *, b: float) -> np.ndarray:
    return rng.laplace(scale=b, size=size)
