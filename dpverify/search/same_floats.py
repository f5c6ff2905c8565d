"""Functions in floats whose last digits are the same on every machine.

Sums and products of two numbers are rounded in one way everywhere; what libraries make of an exponential, a normal distribution or a sum
of many numbers is not, and a search that compares such values may end at another point. Here all are made of sums and products of two.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, Final

from flint import arb

from dpverify.trusted.kernel.balls import precision

_BITS: Final = 128
_LOG_2: Final = (float.fromhex("0x1.62e42fee00000p-1"), float.fromhex("0x1.a39ef35793c76p-33"))
"""log 2 in two parts, of which the first has so few digits that its multiples are exact."""
_TERMS: Final = 15
"""Of the series of exp up to (log 2)/2: the next is below 1e-19."""
_FARTHEST: Final = 700.0
_STEP: Final = 1 / 32
_ENDS: Final = 38.0
"""Where a normal distribution is 0 or 1 in floats."""
_HERMITE: Final = 14


def exp(x: Any) -> Any:
    """e to the power of each number of an array, 0 below -700. Within a few units of the last digit."""
    import numpy as np

    x = np.asarray(x, dtype=float)
    held = np.clip(x, -_FARTHEST, _FARTHEST)
    power = np.rint(held / _LOG_2[0])
    rest = held - power * _LOG_2[0] - power * _LOG_2[1]
    found = np.ones_like(rest)
    for n in range(_TERMS, 0, -1):
        found = 1 + found * rest / n
    return np.where(x < -_FARTHEST, 0.0, np.ldexp(found, power.astype(int)))


def normal(x: Any) -> Any:
    """The probability that a standard normal number is below each of an array: Taylor's series about the nearest point of a table."""
    import numpy as np

    values, densities = _table()
    held = np.clip(np.asarray(x, dtype=float), -_ENDS, _ENDS)
    place = np.rint(held / _STEP)
    h, at, number = held - place * _STEP, place * _STEP, (place + _ENDS / _STEP).astype(int)
    before, hermite, power, found = np.zeros_like(h), np.ones_like(h), h.copy(), h.copy()
    for n in range(1, _HERMITE):  # the next derivative is -(x He_(n-1) - (n-1) He_(n-2)) times the density, in turns
        before, hermite = hermite, at * hermite - (n - 1) * before
        power = -power * h / (n + 1)
        found = found + hermite * power
    return np.clip(values[number] + densities[number] * found, 0.0, 1.0)


@lru_cache(maxsize=1)
def _table() -> tuple[Any, Any]:
    """The distribution and the density at multiples of a step, each the float nearest to it."""
    import numpy as np

    with precision(_BITS):
        points = [arb(k) * _STEP for k in range(-int(_ENDS / _STEP), int(_ENDS / _STEP) + 1)]
        values = [float((-x / arb(2).sqrt()).erfc().mid()) / 2 for x in points]
        densities = [float(((-x * x / 2).exp() / (2 * arb.pi()).sqrt()).mid()) for x in points]
    return np.array(values), np.array(densities)


def whole_power(x: Any, n: int) -> Any:
    """Each number of an array to a power n >= 0, by squares."""
    import numpy as np

    found = np.ones_like(x)
    while n:
        found = found * x if n & 1 else found
        n >>= 1
        x = x * x if n else x
    return found


def total(x: Any) -> float:
    """The sum of an array, rounded once."""
    return math.fsum(x.tolist())


def log(x: float) -> float:
    """The logarithm of a positive number."""
    with precision(_BITS):
        return float(arb(x).log().mid())


def exp_of(x: float) -> float:
    """e to the power of one number."""
    with precision(_BITS):
        return float(arb(x).exp().mid())
