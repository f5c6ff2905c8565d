"""k-ary randomized response: the truth with probability p, else one of the others."""

import numpy as np

from dpverify.declare import Integer, Interval, KaryResponse, Mechanism, Source

k_randomized_response = Mechanism(
    name="k_randomized_response",
    noise=KaryResponse(k="k", p="p"),
    parameters={"k": Integer(2), "p": Interval(0, 1)},
    source=Source("Kairouz, Oh & Viswanath 2014"),
)


def sample(size: int, rng: np.random.Generator, *, x: int, k: int, p: float) -> np.ndarray:
    other = (x + rng.integers(1, k, size)) % k
    return np.where(rng.random(size) < p, x, other)
