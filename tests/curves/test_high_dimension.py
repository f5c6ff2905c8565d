"""t noise in hundreds of dimensions: its curve against the mean, over the hidden variance, of noncentral chi-square laws."""

import numpy as np
import pytest
from scipy import integrate, stats

from dpverify.search.verify import verify
from dpverify.trusted.language.expr import num, parse
from dpverify.trusted.language.model import L2, Claim, Radial


def delta_of_t(nu, d, shift, epsilon):
    """P(S) - e^eps Q(S): S is a ball (Apollonius), and t noise is sqrt(W) N with nu/W chi-square of nu degrees of freedom."""
    grown = np.expm1(epsilon / ((nu + d) / 2))
    radius = shift**2 / grown**2 + shift**2 / grown - nu

    def inside(distance):
        given = lambda u: stats.ncx2.cdf(radius * u / nu, d, distance**2 * u / nu) * stats.chi2.pdf(u, nu)  # noqa: E731
        return integrate.quad(given, 0, stats.chi2.isf(1e-14, nu), epsabs=1e-10, limit=400)[0]

    return inside(shift / grown) - np.exp(epsilon) * inside(shift / grown + shift)


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
