"""Logistic noise on the line."""

import numpy as np

from dpverify.declare import Mechanism, Positive, Source, Translation

logistic = Mechanism(
    name="logistic",
    noise=Translation(density="exp(-z/b)/(1 + exp(-z/b))**2"),
    parameters={"b": Positive()},
    source=Source("Johnson, Kotz & Balakrishnan 1995", "Chapter 23"),
)


def sample(size: int, rng: np.random.Generator, *, b: float) -> np.ndarray:
    return rng.logistic(scale=b, size=size)
