"""The truncated geometric mechanism on the counts 0..3: two-sided geometric noise, clamped."""

import numpy as np

from dpverify.declare import Interval, Mechanism, Source, Table

truncated_geometric = Mechanism(
    name="truncated_geometric",
    noise=Table(
        rows=[
            ["1/(1 + a)", "a*(1 - a)/(1 + a)", "a**2*(1 - a)/(1 + a)", "a**3/(1 + a)"],
            ["a/(1 + a)", "(1 - a)/(1 + a)", "a*(1 - a)/(1 + a)", "a**2/(1 + a)"],
            ["a**2/(1 + a)", "a*(1 - a)/(1 + a)", "(1 - a)/(1 + a)", "a/(1 + a)"],
            ["a**3/(1 + a)", "a**2*(1 - a)/(1 + a)", "a*(1 - a)/(1 + a)", "1/(1 + a)"],
        ],
        adjacent=[(0, 1), (1, 2), (2, 3)],
    ),
    parameters={"a": Interval(0, 1)},
    source=Source("Ghosh, Roughgarden & Sundararajan 2009", "Section 2.2"),
)


def sample(size: int, rng: np.random.Generator, *, x: int, a: float) -> np.ndarray:
    return np.clip(x + rng.geometric(1 - a, size) - rng.geometric(1 - a, size), 0, 3)
