"""Kotz noise r^2 exp(-r): a zero at the centre."""

import numpy as np

from dpverify.declare import L2, Dimension, Mechanism, Radial, Source

kotz = Mechanism(
    name="kotz",
    noise=Radial(norm=L2(), profile="r**2*exp(-r)", dimension="d"),
    parameters={"d": Dimension()},
    source=Source("Kotz 1975"),
)


def sample(size: int, rng: np.random.Generator, *, d: int) -> np.ndarray:
    direction = rng.standard_normal((size, d))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    return rng.gamma(d + 2, 1.0, (size, 1)) * direction
