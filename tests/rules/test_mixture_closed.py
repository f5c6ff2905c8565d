"""Mixtures with a closed form are the radial noise that they are (Reimherr & Awan, Theorem 1)."""

import math
from fractions import Fraction

import pytest
from scipy.integrate import quad

from dpverify.search.additive import mixture_closed_form as search
from dpverify.search.proposal import bound as proved
from dpverify.trusted.combinators import closed_forms
from dpverify.trusted.combinators.places import CLOSED_FORM
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.compare import certainly_equal
from dpverify.trusted.kernel.errors import CertificateError, DpverifyError, Rejected
from dpverify.trusted.kernel.expr import ZERO, num, parse, substitute
from dpverify.trusted.kernel.model import L2, Claim, Domain, Mixture
from dpverify.trusted.kernel.proof import Proof

POSITIVE = Domain(Fraction(0))
COUNT = Domain(Fraction(1), lower_open=False, integer=True)
GAUSSIAN = "exp(-r**2/(2*v))/v**(1/2)"


def mixture(profile, mixing, dimension="1", sensitivity="1", support=(ZERO, None), **domains):
    noise = Mixture(parse(profile), parse(mixing), support, L2, parse(dimension))
    return Claim(noise, None, sensitivity=parse(sensitivity), domains=tuple(domains.items()))


def values(claim):
    return [bound.value for step in search.propose(claim, 20) for bound in proved(Proof(claim), (), step).says]


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
    zero = closed_forms.radial(mixture(GAUSSIAN, "v**(-1/2)*exp(-v - 1/v)")).mechanism.profile
    assert zero == parse("besselk(0, 2*sqrt(r**2/2 + 1))")
    one = closed_forms.radial(mixture("exp(-r**2/(2*v))", "exp(-v - 1/v)")).mechanism.profile
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
        closed_forms.radial(claim)
    assert search.propose(claim, 20) == []


def step(inner, scale="sqrt(v)"):
    return {"rule": "mixture-closed-form", "evidence": {"scale": scale}, "inner": {"rule": inner, "evidence": {"side": "upper"}}}


def test_the_radial_rule_has_the_last_word():
    wide = mixture("exp(-r**2/(2*v))/v**(3/2)", "exp(-1/(2*v))/v", "3")  # v has no law: (1 + r^2)^(-3/2) r^2 is not integrable
    with pytest.raises(Rejected, match="integrable"):
        proved(Proof(wide), (), step("power-identity"))


def test_it_wants_one_premise_about_the_very_radial_noise_and_a_scale():
    claim, other = mixture(GAUSSIAN, "exp(-v)"), mixture(GAUSSIAN, "exp(-2*v)")
    proof = Proof(claim)
    assert proved(proof, (), step("concave-exponent")).says
    own, strange = (of.infer("concave-exponent", (CLOSED_FORM,), {"side": "upper"}) for of in (proof, Proof(other)))
    for premises in ([], [strange], [own, own], [own, strange]):
        with pytest.raises(CertificateError, match=r"radial noise|premises"):
            proof.infer("mixture-closed-form", (), {"scale": "sqrt(v)"}, premises)
    for evidence in ({}, {"scale": 1}, {"scale": "sqrt("}):
        with pytest.raises(CertificateError, match=r"cannot be used|scale"):
            proof.infer("mixture-closed-form", (), evidence, [own])


def test_what_is_no_mixture_is_no_radial_noise_in_another_form():
    with pytest.raises(Rejected, match="only mixtures"):
        Proof(Claim(closed_forms.radial(mixture(GAUSSIAN, "exp(-v)")).mechanism, None)).infer("concave-exponent", (CLOSED_FORM,), {})


@pytest.mark.parametrize(
    ("mixing", "support"),
    [
        ("v**(-1/2)*exp(-v)", (ZERO, num(2))),  # the power of v is no integer of the step
        ("v**8*exp(-v)", (ZERO, num(2))),  # nine terms
        ("exp(-v - 1/v)", (ZERO, num(2))),  # both v and 1/v
        ("exp(-v)", (ZERO, ZERO)),
        ("exp(-v)", (ZERO, num(-1))),
        ("exp(-v)", (ZERO, parse("u"))),
    ],
)
def test_over_an_interval_a_mixture_has_a_closed_form_for_few_whole_powers_and_a_positive_end(mixing, support):
    with pytest.raises(Rejected, match=r"\(0, u\)"):
        closed_forms.radial(mixture("exp(-r*v)", mixing, support=support, u=POSITIVE))


def test_over_an_interval_a_whole_power_is_the_integral():
    claim = closed_forms.radial(mixture("exp(-r*v)", "v*exp(-v)", support=(ZERO, num(2))))
    # the integral of v exp(-(1 + r) v) over (0, 2), up to a constant
    whole = lambda r: (1 - (1 + 2 * (1 + r)) * math.exp(-2 * (1 + r))) / (1 + r) ** 2  # noqa: E731
    at = [float(constant(substitute(claim.mechanism.profile, {"r": num(r)})).mid()) for r in (0, 1, 3)]
    assert at[1] / at[0] == pytest.approx(whole(1) / whole(0)) and at[2] / at[0] == pytest.approx(whole(3) / whole(0))


@pytest.mark.parametrize(
    ("power", "mixing", "drawn"),
    [
        (1, "v**2*exp(-v - 1/v)", lambda v: v**2 * math.exp(-v - 1 / v)),  # an order below 0: K is even
        (1, "v**(-2)*exp(-v - 1/v)", lambda v: v**-2 * math.exp(-v - 1 / v)),
        (2, "v**3*exp(-v**2 - 1/v**2)", lambda v: v**3 * math.exp(-(v**2) - v**-2)),
        (2, "v**(-3)*exp(-v**2 - 1/v**2)", lambda v: v**-3 * math.exp(-(v**2) - v**-2)),
    ],
)
def test_the_bessel_integral_is_that_of_quadrature_for_either_power_and_sign_of_the_order(power, mixing, drawn):
    profile = closed_forms.radial(mixture(f"exp(-r**2/(2*v**{power}))/v**({power}/2)", mixing)).mechanism.profile
    integral = lambda r: quad(lambda v: math.exp(-(r**2) / (2 * v**power)) * v ** (-power / 2) * drawn(v), 0, math.inf)[0]  # noqa: E731
    at = [float(constant(substitute(profile, {"r": num(r)})).mid()) for r in (1, 2, 4)]
    for r, value in zip((2, 4), at[1:], strict=True):
        assert value / at[0] == pytest.approx(integral(r) / integral(1))
