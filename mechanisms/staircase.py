"""Staircase noise for sensitivity 1."""

import numpy as np

from dpverify.declare import Interval, Mechanism, Positive, Source, Staircase

staircase = Mechanism(
    name="staircase",
    noise=Staircase(epsilon="eps", gamma="g"),
    parameters={"eps": Positive(), "g": Interval(0, 1)},
    source=Source("Geng & Viswanath 2016", "Algorithm 1"),
)


def sample(size: int, rng: np.random.Generator, *, eps: float, g: float) -> np.ndarray:
    fall = np.exp(-eps)
    step = rng.geometric(1 - fall, size) - 1
    outer = rng.random(size) >= g / (g + (1 - g) * fall)
    within = np.where(outer, g + (1 - g) * rng.random(size), g * rng.random(size))
    return rng.choice((-1.0, 1.0), size) * (step + within)
