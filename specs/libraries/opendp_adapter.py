"""OpenDP's measurements as samplers (opendp 0.16), with their default parameters but for the scale.

OpenDP draws from the operating system and takes no generator: these runs cannot be repeated bit by bit.
A measurement over vectors adds noise to every entry on its own, so one call on `size` copies of an answer is `size` independent runs.
"""

from collections.abc import Sequence

import numpy as np
import opendp.prelude as dp

dp.enable_features("contrib")

SCORES = ((3.0, 1.0, 0.0), (2.0, 2.0, 1.0))
CATEGORIES = ("a", "b", "c")
REALS = dp.vector_domain(dp.atom_domain(T=float, nan=False))
INTEGERS = dp.vector_domain(dp.atom_domain(T=int))
LAPLACE = dp.m.make_laplace(REALS, dp.l1_distance(T=float), scale=1.0)
GAUSSIAN = dp.m.make_gaussian(REALS, dp.l2_distance(T=float), scale=1.0)
DISCRETE_LAPLACE = dp.m.make_laplace(INTEGERS, dp.l1_distance(T=int), scale=1.0)
DISCRETE_GAUSSIAN = dp.m.make_gaussian(INTEGERS, dp.l2_distance(T=float), scale=1.0)
CANONICAL_NOISE = dp.m.make_canonical_noise(dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float), d_in=1.0, d_out=(1.0, 0.01))
RANDOMIZED_RESPONSE = dp.m.make_randomized_response_bool(prob=0.75)
K_RANDOMIZED_RESPONSE = dp.m.make_randomized_response(list(CATEGORIES), prob=0.5)
NOISY_MAX = dp.m.make_noisy_max(REALS, dp.linf_distance(T=float), dp.max_divergence(), scale=2.0)
NOISY_MAX_GUMBEL = dp.m.make_noisy_max(REALS, dp.linf_distance(T=float), dp.zero_concentrated_divergence(), scale=2.0)


def laplace(data: Sequence[float], size: int) -> np.ndarray:
    return np.array(LAPLACE([float(data[0])] * size))


def gaussian(data: Sequence[float], size: int) -> np.ndarray:
    return np.array(GAUSSIAN([float(data[0])] * size))


def discrete_laplace(data: Sequence[float], size: int) -> np.ndarray:
    return np.array(DISCRETE_LAPLACE([int(data[0])] * size))


def discrete_gaussian(data: Sequence[float], size: int) -> np.ndarray:
    return np.array(DISCRETE_GAUSSIAN([int(data[0])] * size))


def canonical_noise(data: Sequence[float]) -> float:
    return float(CANONICAL_NOISE(float(data[0])))


def randomized_response(data: Sequence[float]) -> int:
    return int(RANDOMIZED_RESPONSE(bool(data[0])))


def k_randomized_response(data: Sequence[float]) -> int:
    return CATEGORIES.index(K_RANDOMIZED_RESPONSE(CATEGORIES[int(data[0])]))


def noisy_max(data: Sequence[float]) -> int:
    """The index of the largest noisy score; data[0] is the row of SCORES."""
    return int(NOISY_MAX(list(SCORES[int(data[0])])))


def noisy_max_gumbel(data: Sequence[float]) -> int:
    return int(NOISY_MAX_GUMBEL(list(SCORES[int(data[0])])))
