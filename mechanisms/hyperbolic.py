"""Hyperbolic noise: rounded at the centre, exponential in the tail."""

import numpy as np

from dpverify.declare import L2, Dimension, Mechanism, Positive, Radial, Source

hyperbolic = Mechanism(
    name="hyperbolic",
    noise=Radial(norm=L2(), profile="exp(-alpha*sqrt(delta**2 + r**2))", dimension="d"),
    parameters={"alpha": Positive(), "delta": Positive(), "d": Dimension()},
    source=Source("Barndorff-Nielsen 1977"),
)


def sample(size: int, rng: np.random.Generator, *, alpha: float, delta: float, d: int) -> np.ndarray:
    """Rejection from a Gamma(d) radius: sqrt(delta^2 + r^2) >= r."""
    radius = np.empty(0)
    while len(radius) < size:
        proposed = rng.gamma(d, 1 / alpha, size)
        excess = alpha * (np.hypot(delta, proposed) - proposed)
        radius = np.concatenate((radius, proposed[rng.standard_exponential(size) > excess]))
    direction = rng.standard_normal((size, d))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    return radius[:size, None] * direction
