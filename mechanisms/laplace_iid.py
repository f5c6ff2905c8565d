"""Independent Laplace noise on every coordinate; not elliptical."""

import numpy as np

from dpverify.declare import Dimension, Mechanism, Positive, Product, Source

laplace_iid = Mechanism(
    name="laplace_iid",
    noise=Product(density="exp(-abs(z)/b)", dimension="d"),
    parameters={"b": Positive(), "d": Dimension()},
    source=Source("Kamath, Lecture 4", "Theorem 4"),
)


def sample(size: int, rng: np.random.Generator, *, b: float, d: int) -> np.ndarray:
    return rng.laplace(scale=b, size=(size, d))
