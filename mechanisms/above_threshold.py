"""Above threshold on integers: which of n counts are at least a noisy threshold, up to the first one, with discrete Laplace noise."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from dpverify.declare import AboveThreshold, Integer, Mechanism, Positive, Source, discrete_laplace
from dpverify.samplers import integers

above_threshold = Mechanism(
    name="above_threshold",
    noise=AboveThreshold(threshold_noise=discrete_laplace("b"), query_noise=discrete_laplace("2*b"), queries="n"),
    parameters={"b": Positive(), "n": Integer(1)},
    source=Source("Dwork & Roth 2014", "Algorithm 1"),
)


def sample(size: int, rng: np.random.Generator, *, answers: Sequence[int], b: Fraction, n: int) -> np.ndarray:
    """(size, n): 1 for yes, 0 for no, -1 after the first yes; by integers alone."""
    threshold = integers.discrete_laplace(Fraction(b), size, rng)
    noise = integers.discrete_laplace(2 * Fraction(b), size * n, rng).reshape(size, n)
    above = np.asarray(answers) + noise >= threshold[:, None]
    return np.where(np.cumsum(above, axis=1) - above > 0, -1, above.astype(np.int64))
