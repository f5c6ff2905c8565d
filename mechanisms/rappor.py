"""The permanent randomized response of RAPPOR: a one-hot report of three bits, each kept with probability p.

Outputs are the reports 000, 001, ..., 111 read as binary numbers, the first bit the highest.
"""

from itertools import product

import numpy as np

from dpverify.declare import Interval, Mechanism, Source, Table

rappor = Mechanism(
    name="rappor",
    noise=Table(
        rows=[
            ["*".join("p" if bit == (i == x) else "(1 - p)" for i, bit in enumerate(report)) for report in product((0, 1), repeat=3)]
            for x in range(3)
        ]
    ),
    parameters={"p": Interval(0, 1)},
    source=Source("Erlingsson, Pihur & Korolova 2014", "Section 2"),
)


def sample(size: int, rng: np.random.Generator, *, x: int, p: float) -> np.ndarray:
    bits = (np.arange(3) == x) ^ (rng.random((size, 3)) >= p)
    return bits @ np.array([4, 2, 1])
