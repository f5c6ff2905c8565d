"""diffprivlib's mechanisms as samplers (diffprivlib 0.6.6), with their default parameters but for epsilon, delta and the scores.

Without `random_state`, its default, a mechanism draws from the operating system (secrets.SystemRandom). That default is what is
audited, so these runs cannot be repeated bit by bit.
"""

from collections.abc import Sequence

from diffprivlib import mechanisms as m

SCORES = ((3, 1, 0), (2, 2, 1))
LAPLACE = m.Laplace(epsilon=1, sensitivity=1)
LAPLACE_BOUNDED = m.LaplaceBoundedDomain(epsilon=1, sensitivity=1, lower=0, upper=1)
GAUSSIAN = m.Gaussian(epsilon=0.5, delta=0.1, sensitivity=1)
GAUSSIAN_ANALYTIC = m.GaussianAnalytic(epsilon=1, delta=0.1, sensitivity=1)
GAUSSIAN_DISCRETE = m.GaussianDiscrete(epsilon=1, delta=0.1, sensitivity=1)
GEOMETRIC = m.Geometric(epsilon=1, sensitivity=1)
GEOMETRIC_TRUNCATED = m.GeometricTruncated(epsilon=1, sensitivity=1, lower=0, upper=2)
BINARY = m.Binary(epsilon=1, value0="0", value1="1")
STAIRCASE = m.Staircase(epsilon=1, sensitivity=1, gamma=0.25)
SNAPPING = m.Snapping(epsilon=1, sensitivity=1, lower=-4, upper=4)
EXPONENTIAL = tuple(m.Exponential(epsilon=1, sensitivity=1, utility=list(row)) for row in SCORES)
PERMUTE_AND_FLIP = tuple(m.PermuteAndFlip(epsilon=1, sensitivity=1, utility=list(row)) for row in SCORES)


def laplace(data: Sequence[float]) -> float:
    return LAPLACE.randomise(float(data[0]))


def laplace_bounded(data: Sequence[float]) -> float:
    return LAPLACE_BOUNDED.randomise(float(data[0]))


def gaussian(data: Sequence[float]) -> float:
    return GAUSSIAN.randomise(float(data[0]))


def gaussian_analytic(data: Sequence[float]) -> float:
    return GAUSSIAN_ANALYTIC.randomise(float(data[0]))


def gaussian_discrete(data: Sequence[float]) -> int:
    return GAUSSIAN_DISCRETE.randomise(int(data[0]))


def geometric(data: Sequence[float]) -> int:
    return GEOMETRIC.randomise(int(data[0]))


def geometric_truncated(data: Sequence[float]) -> int:
    return GEOMETRIC_TRUNCATED.randomise(int(data[0]))


def binary(data: Sequence[float]) -> int:
    return int(BINARY.randomise(str(int(data[0]))))


def staircase(data: Sequence[float]) -> float:
    return STAIRCASE.randomise(float(data[0]))


def snapping(data: Sequence[float]) -> float:
    return SNAPPING.randomise(float(data[0]))


def exponential(data: Sequence[float]) -> int:
    """The index of the chosen score; data[0] is the row of SCORES."""
    return int(EXPONENTIAL[int(data[0])].randomise())


def permute_and_flip(data: Sequence[float]) -> int:
    return int(PERMUTE_AND_FLIP[int(data[0])].randomise())
