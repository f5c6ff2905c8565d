"""Modified Kotz noise (1 + r^2)^(N - 1) exp(-s r): falling for N <= 1, it may rise before it falls above."""

import numpy as np

from dpverify.declare import L2, Dimension, Mechanism, Positive, Radial, Real, Source

kotz_modified = Mechanism(
    name="kotz_modified",
    noise=Radial(norm=L2(), profile="(1 + r**2)**(N - 1)*exp(-s*r)", dimension="d"),
    parameters={"N": Real(), "s": Positive(), "d": Dimension()},
    source=Source("Kotz 1975", "with 1 + r^2 in place of r^2"),
)


def sample(size: int, rng: np.random.Generator, *, N: float, s: float, d: int) -> np.ndarray:
    """Rejection from a Gamma(d) radius of half the rate; the excess has its peak at the centre or where its slope is 0."""

    def excess(r: np.ndarray) -> np.ndarray:
        return (N - 1) * np.log1p(r**2) - s * r / 2

    turn = (2 * (N - 1) + np.sqrt(max(4 * (N - 1) ** 2 - s**2, 0.0))) / s
    peak = max(0.0, excess(np.array(max(turn, 0.0))))
    radius = np.empty(0)
    while len(radius) < size:
        proposed = rng.gamma(d, 2 / s, size)
        radius = np.concatenate((radius, proposed[np.log(rng.random(size)) < excess(proposed) - peak]))
    direction = rng.standard_normal((size, d))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    return radius[:size, None] * direction
