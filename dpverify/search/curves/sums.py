"""What the rule `lattice` is told of sums of noises: about where their modes are."""

from __future__ import annotations

import math
from typing import Any, Final

from dpverify.search.later import Later
from dpverify.search.numeric import number, vectorised
from dpverify.trusted.combinators.densities import even
from dpverify.trusted.combinators.laws_of_sums import merged
from dpverify.trusted.combinators.sums import least
from dpverify.trusted.kernel.balls import precision
from dpverify.trusted.kernel.errors import Undecided
from dpverify.trusted.kernel.model import OnLine, Sum, Translation
from dpverify.trusted.language.whole_laws import known
from dpverify.trusted.theories.curves.sums import summed

np = Later("numpy")

_ROUGH_BITS: Final = 64
_LOOKED: Final = 1000
"""How far out the probabilities of a noise without a name are looked at."""


def told(noise: Sum) -> dict[str, Any]:
    """Two integers between which the modes of the sums of as few noises as may be left are, and which of these is the worst.

    The mode of a log-concave law is within a deviation of its mean.
    """
    ends, deviations = list[int](), list[float]()
    for one in least(noise):
        mean, deviation = spread(one)
        deviations.append(deviation)
        ends += [0] if even(one) else [math.floor(mean - deviation) - 1, math.ceil(mean + deviation) + 1]
    found = {} if set(ends) == {0} else {"peak": [min(ends), max(ends)]}
    kept = min(range(len(deviations)), key=deviations.__getitem__)  # the least noise is, as a rule, the worst
    return found | ({"kept": kept} if kept else {})


def spread(noise: OnLine) -> tuple[float, float]:
    """About the mean and the deviation of noise on the integers."""
    listed = merged(noise) if isinstance(noise, Sum) else [(noise, 1)]
    moments = [(times, *_moments(part)) for part, times in listed]
    return sum(times * one for times, one, _ in moments), math.sqrt(sum(times * one for times, _, one in moments))


def table(noise: Sum, deviations: float, most: int) -> tuple[list[int], list[float]]:
    """The integers within so many deviations, and at most so many, and about their probabilities."""
    mean, deviation = spread(noise)
    far = min(round(deviations * deviation) + 2, most // 2)
    with precision(_ROUGH_BITS):
        masses = summed(noise).masses()
        places = list(range(round(mean) - far, round(mean) + far + 1))
        return places, [max(float(masses.weight(n).mid()), 0.0) for n in places]


def _moments(noise: OnLine) -> tuple[float, float]:
    """About the mean and the variance of noise on the integers."""
    if not isinstance(noise, Translation):
        raise Undecided("noise of which no moments are looked for.")
    law = known(noise)
    if law is None:
        (low, high), places = noise.support, np.arange(-_LOOKED, _LOOKED + 1)
        weights = np.nan_to_num(vectorised(noise.density, "z")(places.astype(float)))
        weights[(places < (-math.inf if low is None else number(low))) | (places > (math.inf if high is None else number(high)))] = 0
        weights /= weights.sum()
        mean = float(weights @ places)
        return mean, float(weights @ (places - mean) ** 2)
    first, *rest = map(number, law.numbers)
    match law.name:
        case "poisson":
            mean, variance = first, first
        case "binomial":
            mean, variance = first * rest[0], first * rest[0] * (1 - rest[0])
        case "negative_binomial":
            mean, variance = first * (1 - rest[0]) / rest[0], first * (1 - rest[0]) / rest[0] ** 2
        case "discrete_laplace":
            mean, variance = 0.0, 2 * first**2
        case _:
            mean, variance = 0.0, first**2
    return -mean if law.turned else mean, variance
