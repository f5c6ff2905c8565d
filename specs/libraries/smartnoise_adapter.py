"""SmartNoise SQL's mechanisms as samplers (smartnoise-sql 1.0.10, over OpenDP 0.14), with their default parameters but for epsilon.

It draws from the operating system and takes no generator: these runs cannot be repeated bit by bit. A release of many values adds noise to
each on its own, so one call on `size` copies of an answer is `size` independent runs.
"""

from collections.abc import Sequence

import numpy as np
from snsql.sql._mechanisms import Gaussian, Laplace

LAPLACE = Laplace(1.0, sensitivity=1.0, max_contrib=1)
LAPLACE_INTEGERS = Laplace(1.0, sensitivity=1, max_contrib=1)
GAUSSIAN = Gaussian(1.0, delta=0.01, sensitivity=1, max_contrib=1)


def laplace(data: Sequence[float], size: int) -> np.ndarray:
    return np.array(LAPLACE.release([float(data[0])] * size))


def laplace_integers(data: Sequence[float], size: int) -> np.ndarray:
    return np.array(LAPLACE_INTEGERS.release([int(data[0])] * size))


def gaussian(data: Sequence[float], size: int) -> np.ndarray:
    return np.array(GAUSSIAN.release([int(data[0])] * size))
