"""Noise that people make of numpy's generators, as samplers: floats as they come, and integers."""

import math
from collections.abc import Sequence

import numpy as np


def laplace(data: Sequence[float], size: int, rng: np.random.Generator) -> np.ndarray:
    return data[0] + rng.laplace(0.0, 1.0, size)


def gaussian(data: Sequence[float], size: int, rng: np.random.Generator) -> np.ndarray:
    return data[0] + rng.normal(0.0, 1.0, size)


def geometric(data: Sequence[float], size: int, rng: np.random.Generator) -> np.ndarray:
    """The difference of two geometric numbers has the two-sided geometric law."""
    p = -math.expm1(-1.0)
    return int(data[0]) + rng.geometric(p, size) - rng.geometric(p, size)
