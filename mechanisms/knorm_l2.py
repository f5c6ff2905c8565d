"""The K-norm mechanism of the Euclidean ball."""

import numpy as np

from dpverify.declare import L2, Dimension, Mechanism, Positive, Radial, Source

knorm_l2 = Mechanism(
    name="knorm_l2",
    noise=Radial(norm=L2(), profile="exp(-eps*r)", dimension="d"),
    parameters={"eps": Positive(), "d": Dimension()},
    source=Source("Hardt & Talwar 2010", "Theorem 4.3"),
)


def sample(size: int, rng: np.random.Generator, *, eps: float, d: int) -> np.ndarray:
    direction = rng.standard_normal((size, d))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    return rng.gamma(d, 1 / eps, (size, 1)) * direction
