"""Exact draws of integers: the law, by tests with a fixed seed against probabilities computed from the densities."""

from fractions import Fraction as F

import numpy as np
import pytest
from scipy import stats

from dpverify.samplers import integers

SIZE = 20_000


class Bits:
    """What a sampler without floats may ask of a generator: integers and bytes."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.integers, self.bytes = rng.integers, rng.bytes


def size_of(number):
    """How many are drawn: fewer where each is an integer of Python."""
    return SIZE if number.denominator < 2**60 else SIZE // 20


def fits(outcomes, weight, reach):
    """A chi-squared test of integers against weights on [-reach, reach], all beyond in two cells of their own."""
    places = np.arange(-reach - 40 * reach, reach + 40 * reach + 1)
    mass = weight(places)
    mass = mass / mass.sum()
    inner = np.abs(places) <= reach
    expected = [mass[places < -reach].sum(), *mass[inner], mass[places > reach].sum()]
    outcomes = np.clip(outcomes.astype(float), -reach - 1, reach + 1).astype(int)
    seen = np.bincount(outcomes + reach + 1, minlength=2 * reach + 3)
    return stats.chisquare(seen, np.array(expected) * len(outcomes)).pvalue > 1e-4


@pytest.mark.parametrize("bound", [1, 3, 2**63 - 1, 2**63, 3 * 2**70])
def test_integers_below_a_bound_are_uniform(bound):
    drawn = integers.below(bound, 2_000, Bits(1))
    assert all(0 <= number < bound for number in drawn)
    shares = np.array([float(F(int(number), bound)) for number in drawn])
    assert abs(shares.mean() - (1 - 1 / bound) / 2) < 5 * 0.289 / 2_000**0.5


@pytest.mark.parametrize("exponent", [F(0), F(1, 3), F(1), F(5, 2), F(10**30 + 1, 2 * 10**30)])
def test_an_event_of_an_exponential_probability_happens_as_often(exponent):
    kind = np.int64 if exponent.denominator < 2**60 else object
    numerators = np.full(size_of(exponent), exponent.numerator, dtype=kind)
    seen = int(integers.happens(numerators, exponent.denominator, Bits(2)).sum())
    assert stats.binomtest(seen, len(numerators), float(np.exp(-float(exponent)))).pvalue > 1e-4


@pytest.mark.parametrize("scale", [F(1, 3), F(1), F(7, 2), F(10**25 + 1, 10**25)], ids=str)
def test_discrete_laplace_noise_has_its_law_and_no_float_occurs(scale):
    drawn = integers.discrete_laplace(scale, size_of(scale), Bits(3))
    assert drawn.dtype == np.int64
    assert fits(drawn, lambda z: np.exp(-np.abs(z) / float(scale)), max(2, int(3 * scale)))


@pytest.mark.parametrize("variance", [F(1, 5), F(2), F(81, 4), F(2 * 10**25 + 1, 10**25)], ids=str)
def test_discrete_gaussian_noise_has_its_law_and_no_float_occurs(variance):
    drawn = integers.discrete_gaussian(variance, size_of(variance), Bits(4))
    assert drawn.dtype == np.int64
    assert fits(drawn, lambda z: np.exp(-(z**2) / (2 * float(variance))), max(2, int(3 * float(variance) ** 0.5)))


def test_noise_beyond_64_bits_is_drawn_in_full():
    scale = 10**40
    drawn = integers.discrete_laplace(F(scale), 400, Bits(5))
    assert drawn.dtype == object and max(map(abs, drawn)) > 2**64
    lengths = np.array([abs(number) / scale for number in drawn])
    assert stats.kstest(lengths, stats.expon.cdf).pvalue > 1e-4
    wide = integers.discrete_gaussian(F(scale**2), 100, Bits(6))
    assert stats.kstest(np.array([number / scale for number in wide]), stats.norm.cdf).pvalue > 1e-4
    assert len({number % 10 for number in drawn}) == 10, "the last digits are not those of floats"
