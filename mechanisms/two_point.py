"""The two-point mechanism of local privacy on the inputs -1, 0, 1: one of two values, unbiased."""

import numpy as np

from dpverify.declare import Interval, Mechanism, Source, Table

two_point = Mechanism(
    name="two_point",
    noise=Table(rows=[["1/2 + t", "1/2 - t"], ["1/2", "1/2"], ["1/2 - t", "1/2 + t"]]),
    parameters={"t": Interval(0, "1/2")},
    source=Source("Duchi, Jordan & Wainwright 2018", "Section 4.2.2"),
)


def sample(size: int, rng: np.random.Generator, *, x: int, t: float) -> np.ndarray:
    return (rng.random(size) >= 0.5 + t * (1 - x)).astype(np.int64)
