"""Logarithms of densities where floats cancel."""

import numpy as np
import pytest
from scipy import stats

import dpverify
from dpverify import declare
from dpverify.errors import NoSampler
from dpverify.samplers.densities import line, log_density
from dpverify.search.numeric import log_of
from dpverify.trusted.kernel.expr import parse

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


def test_powers_that_overflow_in_floats_are_evaluated_in_balls_where_there_is_mass():
    density = parse("(1 + 100*r**2)**(-101/200)")  # 100**(-101/200) r**(-101/100) far out
    points = np.array([1e100, 1e200, 1e300])
    assert np.allclose(log_density(density, "r", 0.0)(points), -1.01 * np.log(10 * points), rtol=1e-13, atol=0)
    with pytest.raises(NoSampler, match="beyond the range of floats"):
        dpverify.sampler(declare.student_t("1/100", 1, 1))


def test_a_law_is_drawn_from_the_density_written_anew_at_its_mode():
    law = line(parse("abs(z - 1)**(-1/2)*exp(-abs(z - 1)) + 0*z"), "z", -np.inf, np.inf)  # a pole at 1, where floats near 1 are coarse
    assert law.centre == 1 and law.error < 1e-10 and abs(law.share - 1 / 2) < 1e-9
    two = line(parse("exp(-(z - 1000)**2) + exp(-(z + 1000)**2)"), "z", -np.inf, np.inf)
    drawn = two.draw(2_000, np.random.default_rng(1))
    assert stats.binomtest(int((drawn < 0).sum()), 2_000).pvalue > 1e-4
    assert stats.kstest(np.abs(drawn) - 1000, stats.norm(0, 0.5**0.5).cdf).pvalue > 1e-4
