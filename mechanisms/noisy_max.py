"""Report noisy max on integers: which of n counts is the greatest with discrete Laplace noise, of equal ones the first."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from dpverify.declare import Integer, Mechanism, NoisyMax, Positive, Source, discrete_laplace
from dpverify.samplers import integers

noisy_max = Mechanism(
    name="noisy_max",
    noise=NoisyMax(noise=discrete_laplace("b"), candidates="n"),
    parameters={"b": Positive(), "n": Integer(2)},
    source=Source("Dwork & Roth 2014", "Section 3.3"),
)


def sample(size: int, rng: np.random.Generator, *, answers: Sequence[int], b: Fraction, n: int) -> np.ndarray:
    """The index, by integers alone."""
    noise = integers.discrete_laplace(Fraction(b), size * n, rng).reshape(size, n)
    return np.argmax(np.asarray(answers) + noise, axis=1)
