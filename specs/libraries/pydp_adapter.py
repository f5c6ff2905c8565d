"""PyDP's mechanisms as samplers (python-dp 1.1.5, over Google's C++ library).

The library owns its randomness and takes no generator: these runs cannot be repeated bit by bit.
"""

from collections.abc import Sequence

from pydp.algorithms.numerical_mechanisms import GaussianMechanism, LaplaceMechanism
from pydp.algorithms.partition_selection import create_truncated_geometric_partition_strategy

LAPLACE = LaplaceMechanism(epsilon=1.0, sensitivity=1.0)
GAUSSIAN = GaussianMechanism(epsilon=1.0, delta=1e-5, sensitivity=1.0)
SELECTION = create_truncated_geometric_partition_strategy(1.0, 0.01, 1)


def laplace(data: Sequence[float]) -> float:
    return LAPLACE.add_noise(float(data[0]))


def laplace_integers(data: Sequence[float]) -> int:
    return LAPLACE.add_noise(int(data[0]))


def gaussian_integers(data: Sequence[float]) -> int:
    return GAUSSIAN.add_noise(int(data[0]))


def partition_selection(data: Sequence[float]) -> int:
    """Whether a partition that data[0] people are in is kept."""
    return int(SELECTION.should_keep(int(data[0])))
