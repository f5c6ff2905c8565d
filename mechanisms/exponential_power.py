"""Noise of density exp(-r^a): stretched for a < 1, the K-norm mechanism at a = 1, too light a tail above."""

import numpy as np

from dpverify.declare import L2, Dimension, Mechanism, Positive, Radial, Source

exponential_power = Mechanism(
    name="exponential_power",
    noise=Radial(norm=L2(), profile="exp(-r**a)", dimension="d"),
    parameters={"a": Positive(), "d": Dimension()},
    source=Source("Gomez, Gomez-Villegas & Marin 1998"),
)


def sample(size: int, rng: np.random.Generator, *, a: float, d: int) -> np.ndarray:
    direction = rng.standard_normal((size, d))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    return rng.gamma(d / a, 1.0, (size, 1)) ** (1 / a) * direction  # r^a is Gamma(d/a)
