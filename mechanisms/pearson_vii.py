"""Pearson VII noise in four dimensions; integrable for N > 2."""

import numpy as np

from dpverify.declare import L2, Interval, Mechanism, Positive, Radial, Source

pearson_vii = Mechanism(
    name="pearson_vii",
    noise=Radial(norm=L2(), profile="(1 + r**2/s)**(-N)", dimension=4),
    parameters={"N": Interval(2, 1000), "s": Positive()},
    source=Source("Fang, Kotz & Ng 1990", "Section 3.3"),
)


def sample(size: int, rng: np.random.Generator, *, N: float, s: float) -> np.ndarray:
    return np.sqrt(s) * rng.standard_normal((size, 4)) / np.sqrt(rng.chisquare(2 * N - 4, (size, 1)))
