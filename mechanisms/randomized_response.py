"""Warner's randomized response: the truth with probability p."""

import numpy as np

from dpverify.declare import Interval, Mechanism, Source, Table

randomized_response = Mechanism(
    name="randomized_response",
    noise=Table(rows=[["p", "1 - p"], ["1 - p", "p"]]),
    parameters={"p": Interval(0, 1)},
    source=Source("Warner 1965"),
)


def sample(size: int, rng: np.random.Generator, *, x: int, p: float) -> np.ndarray:
    return np.where(rng.random(size) < p, x, 1 - x)
