"""Mixtures with a closed form are the radial noise that they are (Reimherr & Awan, Theorem 1)."""

from fractions import Fraction

import pytest

from dpverify.search import mixture_closed as search
from dpverify.trusted.language.errors import CertificateError, DpverifyError, Rejected
from dpverify.trusted.language.expr import ZERO, num, parse, substitute
from dpverify.trusted.language.model import L2, Claim, Domain, Mixture
from dpverify.trusted.order.compare import certainly_equal
from dpverify.trusted.rules.additive import mixture_closed

POSITIVE = Domain(Fraction(0))
COUNT = Domain(Fraction(1), lower_open=False, integer=True)
GAUSSIAN = "exp(-r**2/(2*v))/v**(1/2)"


def mixture(profile, mixing, dimension="1", sensitivity="1", support=(ZERO, None), **domains):
    noise = Mixture(parse(profile), parse(mixing), support, L2, parse(dimension))
    return Claim(noise, None, sensitivity=parse(sensitivity), domains=tuple(domains.items()))


def values(claim):
    return [mixture_closed.check(claim, step["evidence"]).value for step in search.propose(claim, 20)]


def test_a_gaussian_of_inverse_gamma_variance_is_t_noise_for_all_parameters():
    claim = mixture("exp(-r**2/(2*v))/v**(d/2)", "v**(-nu/2 - 1)*exp(-nu/(2*v))", "d", "Delta", nu=POSITIVE, d=COUNT, Delta=POSITIVE)
    known = parse("(nu + d)*asinh(Delta/(2*sqrt(nu)))")  # theory#mixture-closed-form
    assert values(claim) and all(certainly_equal(value, known, dict(claim.domains)) for value in values(claim))


def test_a_gaussian_of_exponential_variance_is_laplace_noise_in_one_dimension():
    # exp(-v) has Laplace transform 1/(1 + t): the density is exp(-sqrt(2) r) up to a factor
    assert any(certainly_equal(value, parse("sqrt(2)")) for value in values(mixture(GAUSSIAN, "exp(-v)")))


def test_laplace_noise_of_gamma_rate_has_a_power_law():
    found = values(mixture("exp(-r*v)*v", "v**2*exp(-v)"))
    assert any(certainly_equal(value, parse("4*log(2)")) for value in found)


def test_the_parameter_of_a_gaussian_may_be_its_deviation():
    # v = sqrt(w): the same t noise with 3 degrees of freedom
    known = parse("4*asinh(1/(2*sqrt(3)))")
    found = values(mixture("exp(-r**2/(2*v**2))/v", "v**(-4)*exp(-3/(2*v**2))"))
    assert any(certainly_equal(value, known) for value in found)


def test_the_bessel_integral_keeps_its_order_and_argument():
    # the integral of v^(1/2 - 1/2) exp(-(r^2/2 + 1)/v - v) / v is 2 K_0(2 sqrt(r^2/2 + 1)); K_1 at one power more
    zero = mixture_closed.radial(mixture(GAUSSIAN, "v**(-1/2)*exp(-v - 1/v)")).mechanism.profile
    assert zero == parse("besselk(0, 2*sqrt(r**2/2 + 1))")
    one = mixture_closed.radial(mixture("exp(-r**2/(2*v))", "exp(-v - 1/v)")).mechanism.profile
    assert certainly_equal(substitute(one, {"r": num(2)}), parse("sqrt(3)*besselk(1, 2*sqrt(3))"))


@pytest.mark.parametrize(
    "claim",
    [
        mixture("exp(-r/v)/v", "exp(-log(v)**2/2)/v"),  # no closed form
        mixture(GAUSSIAN, "v**(-3)*exp(-1/v)", support=(num(1), None)),  # not on (0, inf)
        mixture(GAUSSIAN, "1/v**(1/4)"),  # s < 0 with B > 0: infinite
        mixture(GAUSSIAN, "v**a*exp(-1/v)", a=Domain()),
        mixture(GAUSSIAN, "exp(v)"),  # C < 0
        mixture("exp(-r**2/v - v**2)", "1/v**3"),  # two scales of powers
        mixture("v**(-r)*exp(-1/v)", "1/v"),  # a power that depends on r
    ],
)
def test_other_forms_and_infinite_integrals_are_refused(claim):
    with pytest.raises(DpverifyError):
        mixture_closed.radial(claim)
    assert search.propose(claim, 20) == []


def test_the_radial_rule_has_the_last_word():
    claim = mixture("exp(-r**2/(2*v))/v", "v**(-3/2)*exp(-1/(2*v))", "2", nu=POSITIVE)
    wide = mixture("exp(-r**2/(2*v))/v**(3/2)", "exp(-1/(2*v))/v", "3")  # v has no law: (1 + r^2)^(-3/2) r^2 is not integrable
    with pytest.raises(Rejected, match="integrable"):
        mixture_closed.check(wide, {"rule": "power-identity", "evidence": {}, "scale": "sqrt(v)"})
    named = {"rule": "power-identity"}
    for evidence in ({}, named, {"rule": "mixture-closed-form", "evidence": {}}, {**named, "evidence": {}}):
        with pytest.raises(CertificateError):
            mixture_closed.check(claim, evidence)
