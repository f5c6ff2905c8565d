"""The K-norm mechanism of the cube: exponential noise in the maximum norm."""

import numpy as np

from dpverify.declare import Dimension, LInf, Mechanism, Positive, Radial, Source

knorm_linf = Mechanism(
    name="knorm_linf",
    noise=Radial(norm=LInf(), profile="exp(-eps*r)", dimension="d"),
    parameters={"eps": Positive(), "d": Dimension()},
    source=Source("Hardt & Talwar 2010", "Theorem 4.3"),
)


def sample(size: int, rng: np.random.Generator, *, eps: float, d: int) -> np.ndarray:
    """Hardt & Talwar 2010, Remark 4.2: a Gamma(d + 1) radius times a point uniform in the body."""
    return rng.gamma(d + 1, 1 / eps, (size, 1)) * rng.uniform(-1, 1, (size, d))
