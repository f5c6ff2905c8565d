"""Sums rounded to a grid: the exact sum, rounded once."""

from fractions import Fraction as F

import numpy as np
import pytest

from dpverify.errors import DataError
from dpverify.samplers.grids import grid


def nearest(exact, step):
    """The multiple of a step nearest to a rational, halves to even."""
    return round(exact / step) * step


def test_the_exact_sum_is_rounded_not_the_float_sum():
    rng = np.random.default_rng(1)
    answers = rng.choice([1 / 3, 1e6 / 7, -0.1, 3.0, 2.0**-40], 500)
    noise = rng.standard_normal(500) * rng.choice([1e-20, 1e-3, 1.0, 1e5], 500)
    steps = F(1, 1024)
    ties = np.array([2.0**-11, -(2.0**-11), 3 * 2.0**-11])  # halfway between two multiples, and just off, too little for a float sum
    answers = np.concatenate([answers, ties, ties, ties])
    noise = np.concatenate([noise, np.zeros(3), np.full(3, 1e-30), np.full(3, -1e-30)])
    found = grid(steps).rounded(answers, noise)
    assert [F(x) for x in found] == [nearest(F(a) + F(n), steps) for a, n in zip(answers, noise, strict=True)]


def test_outputs_stay_within_2_to_the_52_steps():
    found = grid("1/4").rounded(np.array([1e30, -1e30, 5.0]), np.array([0.0, 0.0, 1e300]))
    assert found.tolist() == [2.0**50, -(2.0**50), 2.0**50]


@pytest.mark.parametrize(
    ("step", "why"),
    [(3, "is not a power of two"), ("0", "is not a power of two"), (F(-1, 2), "is not a power of two"), ("much", "is not a number"),
     (F(1, 2**1100), "out of the range of floats")],
)  # fmt: skip
def test_a_step_that_is_no_power_of_two_is_refused(step, why):
    with pytest.raises(DataError, match=why):
        grid(step)
