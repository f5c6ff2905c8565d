"""The number at which an event just costs what may be spent: held against closed forms, and against the value beside it."""

import math

import pytest
from scipy import optimize, stats

pytest.importorskip("dp_accounting", reason="needs the extra `accounting`")

from dp_accounting import dp_event, mechanism_calibration

from dpverify.accounting import CertifiedAccountant, calibrate
from dpverify.errors import CalibrationError


def spent(mu, delta):
    """The epsilon of two unit Gaussians that are mu apart."""
    return optimize.brentq(
        lambda e: stats.norm.cdf(mu / 2 - e / mu) - math.exp(e) * stats.norm.cdf(-mu / 2 - e / mu) - delta, 0, 50, xtol=1e-13
    )


def test_a_noise_multiplier_is_the_least_of_its_digits():
    found = calibrate(dp_event.GaussianDpEvent, 1, 1e-5)
    assert found.settled and found.epsilon[1] <= 1 < found.epsilon_beside[0]
    assert found.beside == pytest.approx(found.value - 1e-4)
    truth = optimize.brentq(lambda sigma: spent(1 / sigma, 1e-5) - 1, 1, 10)
    assert found.beside < truth <= found.value


def test_a_number_of_steps_is_the_greatest():
    found = calibrate(lambda steps: dp_event.SelfComposedDpEvent(dp_event.GaussianDpEvent(20.0), steps), 2, 1e-6, discrete=True)
    assert found.beside == found.value + 1 and found.settled
    assert spent(math.sqrt(found.value) / 20, 1e-6) <= 2 < spent(math.sqrt(found.beside) / 20, 1e-6)


def test_a_rate_is_looked_for_between_two():
    found = calibrate(lambda rate: dp_event.PoissonSampledDpEvent(rate, dp_event.LaplaceDpEvent(1.0)), 0.5, 0, bracket=(0, 1), digits=4)
    truth = (math.exp(0.5) - 1) / (math.e - 1)  # a sample of what is 1-DP, where the law with the record comes first
    assert found.value <= truth < found.beside


def test_targets_that_are_none_and_brackets_without_an_answer_are_refused():
    with pytest.raises(ValueError, match="target_delta must be a number of at least 0, and at most 1"):
        calibrate(dp_event.GaussianDpEvent, 1, 2)
    with pytest.raises(CalibrationError, match="at both 1 and 2 more than the target is spent"):
        calibrate(dp_event.GaussianDpEvent, 0.1, 1e-5, bracket=(1, 2))


def test_the_calibration_of_dp_accounting_takes_ours():
    sigma = mechanism_calibration.calibrate_dp_mechanism(CertifiedAccountant, dp_event.GaussianDpEvent, 1.0, 1e-5, tol=1e-4)
    assert spent(1 / sigma, 1e-5) <= 1 < spent(1 / (sigma - 3e-4), 1e-5)
