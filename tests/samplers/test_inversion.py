"""Inversion on the line: quantiles against those of closed forms, far out in the tails too."""

import numpy as np
import pytest
from scipy import special, stats

from dpverify.errors import NoSampler
from dpverify.samplers import inversion

INF = np.inf


class Given:
    """A generator that goes right of the centre and outwards, to the given depths of the exponential law."""

    def __init__(self, depths, right=True, far=True):
        self.depths, self.answers = np.asarray(depths, dtype=float), [0.0 if right else 1.0, 1.0 if far else 0.0]

    def standard_exponential(self, size):
        return self.depths

    def random(self, size):
        return np.full(size, self.answers.pop(0))


DEPTHS = np.array([1e-6, 0.1, 1.0, 5.0, 20.0, 40.0, 60.0])
LAWS = {
    "normal": (lambda z: -z * z / 2, {}, lambda s: -special.ndtri_exp(s)),
    "Laplace": (lambda z: -np.abs(z), {"kinks": [0.0]}, lambda s: -s - np.log(2)),
    "Cauchy": (lambda z: -np.log1p(z * z), {}, lambda s: 1 / np.tan(np.pi * np.exp(s))),
    "exponential": (lambda z: -z, {"low": 0.0}, lambda s: -s),
    "Pareto": (lambda z: -1.25 * np.log(z), {"low": 1.0}, lambda s: np.exp(-4 * s)),
    "Gumbel": (lambda z: -z - np.exp(-z), {}, lambda s: -np.log(-np.log1p(-np.exp(s)))),
    "far from 0": (lambda z: -((z - 1e4) ** 2) / 2, {}, lambda s: 1e4 - special.ndtri_exp(s)),
    "with a pole": (lambda z: -z - np.log(z) / 2, {"low": 0.0}, lambda s: special.erfcinv(np.exp(s)) ** 2),
}


@pytest.mark.parametrize(("density", "options", "quantile"), LAWS.values(), ids=LAWS)
def test_quantiles_are_right_down_to_probabilities_of_e_to_the_minus_60(density, options, quantile):
    law = inversion.line(density, **options)
    assert law.error < 1e-10
    outward = 1 - law.right.inner
    found = law.draw(len(DEPTHS), Given(DEPTHS))
    wanted = quantile(np.log(outward * law.share) - DEPTHS)
    assert np.allclose(found, wanted, rtol=1e-9, atol=1e-12)


def test_both_sides_of_an_asymmetric_law_have_their_shares():
    law = inversion.line(lambda z: np.where(z < 0, 3 * z, -z), kinks=[0.0])
    assert law.centre == 0 and abs(law.share - 3 / 4) < 1e-12
    left = law.draw(3, Given([1.0, 10.0, 50.0], right=False))
    assert np.allclose(left, (np.log(1 - law.left.inner) - [1.0, 10.0, 50.0]) / 3, rtol=1e-9)


@pytest.mark.parametrize(
    ("density", "ends", "cdf"),
    [
        (lambda z: 0 * z, (2.0, 5.0), stats.uniform(2, 3).cdf),
        (lambda z: np.log(z) + 3 * np.log1p(-z), (0.0, 1.0), stats.beta(2, 4).cdf),
        (lambda z: np.logaddexp(-((z - 6) ** 2), -((z + 6) ** 2)), (-INF, INF), lambda x: special.ndtr(2**0.5 * (x - 6)) / 2
         + special.ndtr(2**0.5 * (x + 6)) / 2),
        (lambda z: np.where(np.abs(z - 0.3) < 0.1, 0.0, np.log(0.1)), (0.0, 1.0),
         lambda x: (0.1 * x + 0.9 * np.clip(x - 0.2, 0, 0.2)) / 0.28),
    ],
    ids=["uniform", "beta", "of two modes", "with unknown jumps"],
)  # fmt: skip
def test_draws_have_the_distribution_function_of_their_density(density, ends, cdf):
    drawn = inversion.line(density, *ends).draw(20_000, np.random.default_rng(1))
    assert drawn.min() >= ends[0] and drawn.max() <= ends[1]
    assert stats.kstest(drawn, cdf).pvalue > 1e-4


def test_lengths_near_0_are_as_right_as_far_ones():
    law = inversion.radius(lambda r: 7 * np.log(r) - r)  # Gamma(8): F(r) = r^8/8! near 0
    depths = np.array([30.0, 60.0])
    near = law.draw(2, Given(depths, far=False))
    assert np.allclose(near, np.exp((np.log(law.right.inner) - depths + special.gammaln(9)) / 8), rtol=0.01)
    assert np.allclose(special.gammainc(8, near), law.right.inner * np.exp(-depths), rtol=1e-9)
    far = law.draw(2, Given(depths))
    assert np.allclose(special.gammaincc(8, far), (1 - law.right.inner) * np.exp(-depths), rtol=1e-8)


@pytest.mark.parametrize(
    ("density", "why"),
    [
        (lambda z: 0 * z - INF, "no finite, positive integral"),
        (lambda z: -np.log1p(np.abs(z)), "beyond the range of floats"),
        (lambda z: np.sin(1e9 * z) - z * z, "too rough"),
    ],
)
def test_what_cannot_be_inverted_is_told_so(density, why, monkeypatch):
    monkeypatch.setattr(inversion, "_MOST_PANELS", 4_000)
    with pytest.raises(NoSampler, match=why):
        inversion.line(density)


def test_a_length_without_mass_is_told_so():
    with pytest.raises(NoSampler, match="no finite, positive integral"):
        inversion.radius(lambda r: 0 * r - INF)


def test_a_narrow_peak_far_from_the_highest_one_is_not_missed():
    def density(z):
        return np.logaddexp(-((z - 1000) ** 2), np.log(0.5) - (z + 1000) ** 2)

    law = inversion.line(density)
    assert abs(law.centre - 1000) < 1e-3
    left = law.draw(4_000, np.random.default_rng(2))
    assert stats.binomtest(int((left < 0).sum()), 4_000, 1 / 3).pvalue > 1e-4
    assert stats.kstest(left[left < 0] + 1000, stats.norm(0, 0.5**0.5).cdf).pvalue > 1e-4
