"""The adaptive sparse vector technique on integers: an answer far above a noisy threshold costs less of the budget than one just above."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from dpverify.declare import Integer, Mechanism, Positive, Source, Stream, discrete_laplace
from dpverify.samplers import integers

adaptive_threshold = Mechanism(
    name="adaptive_threshold",
    noise=Stream(
        once={"rho": discrete_laplace("b")},
        fresh={"a": discrete_laplace("8*b"), "c": discrete_laplace("4*b")},
        state={"t": "rho"},
        limits={"cost": 3},
        queries="n",
        step=[
            {"when": "q + a - t >= 5", "emit": "far above", "count": {"cost": 1}},
            {"when": "q + c - t >= 0", "emit": "above", "count": {"cost": 2}},
            {"emit": "below"},
        ],
    ),
    parameters={"b": Positive(), "n": Integer(1)},
    source=Source("Ding, Wang, Zhang & Kifer 2020", "Algorithm 2"),
)


def sample(size: int, rng: np.random.Generator, *, answers: Sequence[int], b: Fraction, n: int) -> np.ndarray:
    """(size, n): 0 for far above, 1 for above, 2 for below, -1 once the budget is spent; by integers alone."""
    threshold = integers.discrete_laplace(Fraction(b), size, rng)[:, None]
    far, near = (integers.discrete_laplace(factor * Fraction(b), size * n, rng).reshape(size, n) for factor in (8, 4))
    above = np.asarray(answers) + near >= threshold
    words = np.where(np.asarray(answers) + far >= threshold + 5, 0, np.where(above, 1, 2))
    cost = np.where(words == 2, 0, 1 + words)
    return np.where(np.cumsum(cost, axis=1) - cost >= 3, -1, words)
