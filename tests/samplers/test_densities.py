"""Logarithms of densities where floats cancel."""

import numpy as np
import pytest

from dpverify.samplers.densities import log_density
from dpverify.search.numeric import log_of
from dpverify.trusted.language.expr import parse

SLASH = parse("(2 - (2 + r**2)*exp(-r**2/2))/r**4")  # 1/4 - r^2/12 + r^4/64 near 0


@pytest.mark.parametrize("r", [1e-20, 1e-6, 1e-3, 1e-2])
def test_a_density_that_floats_lose_near_0_is_evaluated_in_balls(r):
    points = np.array([r, 3.0, r])
    right = np.log(1 / 4 - r**2 / 12 + r**4 / 64)
    found = log_density(SLASH, "r")(points)
    assert np.allclose(found[[0, 2]], right, rtol=1e-13, atol=0)
    assert found[1] == log_of(SLASH, "r")(points)[1], "elsewhere floats do"
    assert not np.allclose(log_of(SLASH, "r")(points)[:1], right, rtol=1e-13, atol=0)


def test_points_of_any_shape_on_either_side_are_evaluated():
    density = parse("(exp(z) - 1 - z)/z**2")  # 1/2 + z/6 + z^2/24
    points = np.array([[1e-9, -1e-9], [1e-5, -1e-5]])
    assert np.allclose(log_density(density, "z", -1.0, 2.0)(points), np.log(0.5 + points / 6 + points**2 / 24), rtol=1e-12, atol=0)


def test_a_density_that_floats_know_is_left_to_them():
    density = parse("exp(-abs(z))*(1 + z**2)")
    points = np.linspace(-5, 5, 11)
    assert np.array_equal(log_density(density, "z")(points), log_of(density, "z")(points))
