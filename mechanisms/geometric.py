"""One-sided geometric noise on the integers from 0: the supports of neighbours differ."""

import numpy as np

from dpverify.declare import Interval, Mechanism, Source, Translation

geometric = Mechanism(
    name="geometric",
    noise=Translation(density="ratio**z", support=(0, None), integers=True),
    parameters={"ratio": Interval(0, 1)},
    source=Source("Ghosh, Roughgarden & Sundararajan 2009", "one side of their mechanism"),
)


def sample(size: int, rng: np.random.Generator, *, ratio: float) -> np.ndarray:
    return rng.geometric(1 - ratio, size) - 1
