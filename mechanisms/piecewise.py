"""The piecewise mechanism of local privacy for epsilon = log(4): high density within 1 of 2 theta, low elsewhere on [-3, 3]."""

import numpy as np

from dpverify.declare import Kernel, Mechanism, Source

piecewise = Mechanism(
    name="piecewise",
    noise=Kernel(density="1/3 - 1/4*min(1, floor(abs(y - 2*theta)))", output=(-3, 3), input=(-1, 1)),
    source=Source("Wang et al. 2019", "Algorithm 2"),
)


def sample(size: int, rng: np.random.Generator, *, theta: float) -> np.ndarray:
    """Mass 2/3 on the plateau; the rest uniform on the two sides, whose lengths add up to 4."""
    near = 2 * theta + rng.uniform(-1, 1, size)
    far = rng.uniform(-3, 1, size)
    far = np.where(far > 2 * theta - 1, far + 2, far)
    return np.where(rng.random(size) < 2 / 3, near, far)
