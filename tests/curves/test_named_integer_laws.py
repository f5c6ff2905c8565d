"""Poisson, binomial and negative binomial noise on the integers, held against their probabilities in scipy."""

import math

import numpy as np
import pytest
from scipy import stats

import dpverify as dp

LAWS = {
    "poisson": (lambda: dp.poisson(20), stats.poisson(20), 400),
    "binomial": (lambda: dp.binomial(60, "1/3"), stats.binom(60, 1 / 3), 60),
    "negative binomial": (lambda: dp.negative_binomial(3, "1/10"), stats.nbinom(3, 0.1), 3000),
}


@pytest.mark.parametrize("moved", [1, 2])
@pytest.mark.parametrize("name", LAWS)
def test_the_tight_delta_is_the_sum_over_the_integers(name, moved):
    made, law, most = LAWS[name]
    masses = law.pmf(np.arange(most + 1))
    shifted = [np.r_[masses, np.zeros(moved)], np.r_[np.zeros(moved), masses]]
    true = max(np.maximum(p - math.e * q, 0).sum() for p, q in (shifted, shifted[::-1]))
    found = dp.tight_delta(made(), sensitivity=moved, epsilon=1, digits=12)
    assert float(found.lower) == pytest.approx(true, rel=1e-9)
    assert float(found.upper) == pytest.approx(true, rel=1e-9)


@pytest.mark.parametrize("name", LAWS)
def test_no_epsilon_holds_alone(name):
    assert dp.verify(LAWS[name][0](), sensitivity=1, epsilon=50).verdict == "REFUTED"
