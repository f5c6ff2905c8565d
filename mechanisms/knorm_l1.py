"""The K-norm mechanism of the cross-polytope: exponential noise in the l1 norm."""

import numpy as np

from dpverify.declare import L1, Dimension, Mechanism, Positive, Radial, Source

knorm_l1 = Mechanism(
    name="knorm_l1",
    noise=Radial(norm=L1(), profile="exp(-eps*r)", dimension="d"),
    parameters={"eps": Positive(), "d": Dimension()},
    source=Source("Hardt & Talwar 2010", "Theorem 4.3"),
)


def sample(size: int, rng: np.random.Generator, *, eps: float, d: int) -> np.ndarray:
    return rng.laplace(scale=1 / eps, size=(size, d))  # the l1 norm separates
