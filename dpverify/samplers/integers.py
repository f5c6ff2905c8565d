"""Discrete Laplace and discrete Gaussian noise without a rounding: integers are drawn and compared, and no float occurs.

Source: Canonne, Kamath & Steinke 2020, Algorithms 1-3. Every function draws many at once: arrays of 64 bits where the numbers fit in, else
arrays of Python's integers.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from typing import Any, Final

import numpy as np

Integers = np.ndarray[Any, Any]
"""Of 64 bits, or Python's own (dtype object)."""

_WORD: Final = 2**63


def below(bound: int, size: int, rng: np.random.Generator) -> Integers:
    """Uniform integers from 0 to bound - 1."""
    if bound < _WORD:
        return rng.integers(bound, size=size)
    found = np.empty(size, dtype=object)
    for i in range(size):
        drawn = bound
        while drawn >= bound:
            drawn = int.from_bytes(rng.bytes((bound.bit_length() + 7) // 8), "big") >> -bound.bit_length() % 8
        found[i] = drawn
    return found


def happens(numerators: Integers, denominator: int, rng: np.random.Generator) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """True with probability exp(-numerator / denominator), for each numerator of at least 0."""
    answer = _happens_within(numerators % denominator, denominator, rng)
    ones = numerators // denominator
    going = np.flatnonzero(answer & (ones > 0))
    turn = 0
    while going.size:
        answer[going] = _happens_within(np.ones(going.size, dtype=np.int64), 1, rng)
        turn += 1
        going = going[answer[going] & (ones[going] > turn)]
    return answer


def _happens_within(numerators: Integers, denominator: int, rng: np.random.Generator) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """The same where no numerator exceeds the denominator: the number of wins in a row, of probabilities x, x/2, x/3, ..., is even."""
    answer = np.ones(len(numerators), dtype=bool)
    going = np.arange(len(numerators))
    turn = 1
    while going.size:
        going = going[(below(turn * denominator, going.size, rng) < numerators[going]).astype(bool)]
        answer[going] ^= True
        turn += 1
    return answer


def discrete_laplace(scale: Fraction, size: int, rng: np.random.Generator) -> Integers:
    """Integers z with probability proportional to exp(-|z| / scale)."""
    above, under = scale.numerator, scale.denominator
    noise = np.zeros(size, dtype=np.int64)
    left = np.arange(size)
    while left.size:
        part = below(above, left.size, rng)
        kept = happens(part, above, rng)
        whole = np.zeros(left.size, dtype=np.int64)
        going = np.arange(left.size)
        while going.size:
            going = going[_happens_within(np.ones(going.size, dtype=np.int64), 1, rng)]
            whole[going] += 1
        if above * (int(whole.max()) + 1) >= _WORD:
            whole = whole.astype(object)
        magnitude = (part + above * whole) // under
        negative = rng.integers(2, size=left.size) == 1
        kept &= ~(negative & (magnitude == 0)).astype(bool)  # or 0 would come twice as often
        if magnitude.dtype == object:
            noise = noise.astype(object)
        noise[left[kept]] = np.where(negative, -magnitude, magnitude)[kept]
        left = left[~kept]
    return narrow(noise)


def discrete_gaussian(variance: Fraction, size: int, rng: np.random.Generator) -> Integers:
    """Integers z with probability proportional to exp(-z^2 / (2 variance)); the variance of the noise itself is a little less."""
    above, under = variance.numerator, variance.denominator
    scale = isqrt(above // under) + 1
    denominator = 2 * above * under * scale**2
    noise = np.zeros(size, dtype=np.int64)
    left = np.arange(size)
    while left.size:
        drawn = discrete_laplace(Fraction(scale), left.size, rng)
        lengths = abs(drawn)
        if (int(lengths.max()) * under * scale + above) ** 2 >= _WORD:
            lengths = lengths.astype(object)
        kept = happens((lengths * (under * scale) - above) ** 2, denominator, rng)
        if drawn.dtype == object:
            noise = noise.astype(object)
        noise[left[kept]] = drawn[kept]
        left = left[~kept]
    return narrow(noise)


def narrow(numbers: Integers) -> Integers:
    """The same numbers in 64 bits, where they fit in."""
    if numbers.dtype == object and all(abs(number) < _WORD for number in numbers):
        return numbers.astype(np.int64)
    return numbers
