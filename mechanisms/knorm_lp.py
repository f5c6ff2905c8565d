"""The K-norm mechanism of the ball of l_{3/2}."""

import numpy as np

from dpverify.declare import Dimension, Lp, Mechanism, Positive, Radial, Source

knorm_lp = Mechanism(
    name="knorm_lp",
    noise=Radial(norm=Lp("3/2"), profile="exp(-eps*r)", dimension="d"),
    parameters={"eps": Positive(), "d": Dimension()},
    source=Source("Hardt & Talwar 2010", "Theorem 4.3"),
)


def sample(size: int, rng: np.random.Generator, *, eps: float, d: int) -> np.ndarray:
    """A direction of the cone measure of the l_p sphere by Barthe, Guedon, Mendelson & Naor 2005, times a Gamma(d) radius."""
    p = 3 / 2
    direction = rng.gamma(1 / p, 1.0, (size, d)) ** (1 / p) * rng.choice((-1.0, 1.0), (size, d))
    direction /= np.sum(np.abs(direction) ** p, axis=1, keepdims=True) ** (1 / p)
    return rng.gamma(d, 1 / eps, (size, 1)) * direction
