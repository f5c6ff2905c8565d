"""Radial noise in hundreds of dimensions: t noise against the mean, over the hidden variance, of noncentral chi-square laws, and others."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import integrate, stats

from dpverify.search.verify import verify
from dpverify.trusted.geometry.sensitivity import Sensitivity
from dpverify.trusted.kernel.balls import precision, rational
from dpverify.trusted.kernel.expr import num, parse
from dpverify.trusted.kernel.model import L2, Claim, Radial
from dpverify.trusted.theories.curves.rules.radial_caps import curve


def delta_of_t(nu, d, shift, epsilon):
    """P(S) - e^eps Q(S): S is a ball (Apollonius), and t noise is sqrt(W) N with nu/W chi-square of nu degrees of freedom."""
    grown = np.expm1(epsilon / ((nu + d) / 2))
    radius = shift**2 / grown**2 + shift**2 / grown - nu

    def inside(distance):
        given = lambda u: stats.ncx2.cdf(radius * u / nu, d, distance**2 * u / nu) * stats.chi2.pdf(u, nu)  # noqa: E731
        return integrate.quad(given, 0, stats.chi2.isf(1e-14, nu), epsabs=1e-10, limit=400)[0]

    return inside(shift / grown) - np.exp(epsilon) * inside(shift / grown + shift)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("nu", "d"), [(5, 100), (5, 600), (5, 1000), (50, 1000)])
def test_the_delta_of_t_noise_is_found_in_high_dimensions(nu, d):
    noise = Radial(parse(f"(1 + r**2/{nu})**(-({nu} + {d})/2)"), L2, num(d))
    found = verify(Claim(noise, num(1), None, num(1)), digits=10).judgement
    low, high = (float(value.value) for value in (found.delta_lower, found.delta_upper))
    assert high - low < 1e-9
    assert low == pytest.approx(delta_of_t(nu, d, 1.0, 1.0), rel=1e-5)


@pytest.mark.parametrize(("nu", "d"), [(500, 1000), (5, 1200)])
def test_beyond_the_closed_form_the_variance_is_shown_too(nu, d):
    noise = Radial(parse(f"(1 + r**2/{nu})**(-({nu} + {d})/2)"), L2, num(d))
    found = verify(Claim(noise, num(1), None, num(1)), digits=10).judgement
    truth = delta_of_t(nu, d, 1.0, 1.0)
    assert truth < float(found.delta_upper.value) < truth * 1.01


@pytest.mark.wide
@pytest.mark.sampled(1)
@pytest.mark.parametrize(("d", "epsilon"), [(1000, "1/100"), (999, "1/10"), (1000, "0")])
def test_the_delta_of_exponential_radial_noise_is_found_in_high_dimensions(d, epsilon):
    """Against a grid of radii and angles: the density is a Gamma law of the radius, and the angle is known."""
    eps = float(Fraction(epsilon))
    radius = np.linspace(d - 12 * np.sqrt(d), d + 14 * np.sqrt(d), 2001)[:, None]
    along = np.linspace(-0.5, 0.5, 4001)[None, :]
    weight = stats.gamma.pdf(radius, d) * (1 - along**2) ** ((d - 3) / 2)
    loss = np.sqrt(radius**2 + 1 - 2 * radius * along) - radius
    truth = (weight * np.maximum(-np.expm1(eps - loss), 0)).sum() / weight.sum()
    noise = Radial(parse("exp(-r)"), L2, num(d))
    with precision(64):
        found = curve(noise, Sensitivity(num(1), num(1))).upper.worst(rational(Fraction(epsilon)))
    assert float(found.mid()) == pytest.approx(truth, rel=1e-4)
    assert found.rel_accuracy_bits() > 40
