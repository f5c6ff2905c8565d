"""Tumult Core's measurements as samplers (tmlt.core 0.20.0).

It draws from the operating system and takes no generator: these runs cannot be repeated bit by bit.
"""

from collections.abc import Sequence

import numpy as np
from tmlt.core.domains.numpy_domains import NumpyFloatDomain
from tmlt.core.measurements.noise_mechanisms import AddDiscreteGaussianNoise, AddGaussianNoise, AddGeometricNoise, AddLaplaceNoise

LAPLACE = AddLaplaceNoise(NumpyFloatDomain(), 1)
GAUSSIAN = AddGaussianNoise(NumpyFloatDomain(), 1)
GEOMETRIC = AddGeometricNoise(1)
DISCRETE_GAUSSIAN = AddDiscreteGaussianNoise(1)


def laplace(data: Sequence[float]) -> float:
    return float(LAPLACE(np.float64(data[0])))


def gaussian(data: Sequence[float]) -> float:
    return float(GAUSSIAN(np.float64(data[0])))


def geometric(data: Sequence[float]) -> int:
    return int(GEOMETRIC(np.int64(data[0])))


def discrete_gaussian(data: Sequence[float]) -> int:
    return int(DISCRETE_GAUSSIAN(np.int64(data[0])))
