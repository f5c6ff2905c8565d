"""The t identity: 2 B asinh(D/(2 sqrt(A0/A1))) (theory#power-identity), for constants and for all parameters at once."""

from dataclasses import replace
from fractions import Fraction

import pytest

from dpverify.search.additive import power_identity as search
from dpverify.search.decimals import decimal_bounds
from dpverify.trusted.kernel.balls import precision
from dpverify.trusted.kernel.compare import certainly_equal
from dpverify.trusted.kernel.errors import DpverifyError, Rejected
from dpverify.trusted.kernel.expr import num, parse
from dpverify.trusted.kernel.model import L1, L2, LINF, Claim, Domain, Product, Radial, Translation
from dpverify.trusted.theories.additive.rules import power_identity

POSITIVE = Domain(Fraction(0))
COUNT = Domain(Fraction(1), lower_open=False, integer=True)
STUDENT = "(1 + r**2/nu)**(-(nu + d)/2)"


def radial(profile, dimension="1", sensitivity="1", scale="1", **domains):
    noise = Radial(parse(profile), L2, parse(dimension), parse(scale))
    return Claim(noise, None, sensitivity=parse(sensitivity), domains=tuple(domains.items()))


def value(claim, **evidence):
    with precision(128):
        return power_identity.check(claim, evidence).value


def test_the_known_value_of_t_noise():
    # theory#power-identity: d = 3, nu = 5, Delta = 1
    low, high = decimal_bounds(value(radial("(1 + r**2/5)**(-4)", "3")), 16)
    assert low <= "1.774273017540460" <= high or low.startswith("1.774273017540460")


def test_t_noise_for_all_degrees_of_freedom_dimensions_and_sensitivities():
    claim = radial(STUDENT, "d", "Delta", nu=POSITIVE, d=COUNT, Delta=POSITIVE)
    assert certainly_equal(value(claim), parse("(nu + d)*asinh(Delta/(2*sqrt(nu)))"), dict(claim.domains))


@pytest.mark.parametrize(
    ("profile", "dimension", "expected"),
    [
        ("1/(1 + r**2)**3", "5", "6*asinh(1/2)"),
        ("(4 + r**2)**(-1)", "1", "2*asinh(1/4)"),
        ("((nu + r**2)/nu)**(-3)", "2", "6*asinh(1/(2*sqrt(nu)))"),
        ("exp(-3*log(1 + (r/2)**2))", "2", "6*asinh(1/4)"),
        ("sqrt(1 + r**2)**(-7)", "2", "7*asinh(1/2)"),
        ("1/((1 + r**2)*(2 + 2*r**2)**2)", "3", "6*asinh(1/2)"),
    ],
)
def test_every_way_of_writing_it_is_read(profile, dimension, expected):
    claim = radial(profile, dimension, nu=POSITIVE)
    assert certainly_equal(value(claim), parse(expected), dict(claim.domains))


def test_the_scale_divides_the_sensitivity():
    assert certainly_equal(value(radial("1/(1 + r**2)", scale="3", sensitivity="2")), parse("2*asinh(1/3)"))


def test_cauchy_noise_on_the_line_is_t_noise():
    assert certainly_equal(value(Claim(Translation(parse("1/(1 + z**2)")), None, sensitivity=num(1))), parse("2*asinh(1/2)"))


@pytest.mark.parametrize(("norm", "expected"), [(L1, "6*asinh(1/6)"), (L2, "6*asinh(1/(2*sqrt(3)))"), (LINF, "6*asinh(1/2)")])
def test_independent_cauchy_coordinates_share_the_budget_alike(norm, expected):
    claim = Claim(Product(parse("1/(1 + z**2)"), num(3), norm), None, sensitivity=num(1))
    assert certainly_equal(value(claim), parse(expected))


def test_the_identity_is_the_one_of_the_theory():
    assert power_identity.identity_holds()


def test_a_claim_below_the_value_is_refuted_at_values_of_the_parameters():
    claim = radial(STUDENT, "d", "Delta", nu=POSITIVE, d=COUNT, Delta=POSITIVE)
    forgotten = replace(claim, epsilon=parse("(nu + 1)*asinh(Delta/(2*sqrt(nu)))"))
    steps = search.propose(forgotten, 20)
    at = next(step["evidence"]["at"] for step in steps if "at" in step["evidence"])
    bound = power_identity.check(forgotten, {"side": "lower", "at": at})
    assert bound.side == "lower" and bound.at["d"] != num(1)


@pytest.mark.parametrize(
    "profile",
    [
        "(1 + r)**(-3)",
        "(1 + r**2)**(-3)*exp(-r)",
        "(1 + r**4)**(-3)",
        "(1 + r**2)**(-3)*(2 + r**2)**(-3)",
        "exp(-r**2)",
        "(1 + r + r**2)**(-3)",
    ],
)
def test_another_form_is_refused(profile):
    with pytest.raises(DpverifyError):
        value(radial(profile))
    assert search.propose(radial(profile), 20) == []


@pytest.mark.parametrize(("profile", "domains"), [("(r**2 - 1)**(-3)", {}), ("(a + r**2)**(-3)", {"a": Domain()}), ("(r**2)**(-3)", {})])
def test_a_ratio_that_is_not_certainly_positive_is_refused(profile, domains):
    with pytest.raises(DpverifyError):
        value(radial(profile, **domains))


@pytest.mark.parametrize(("profile", "domains"), [("(1 + r**2)**3", {}), ("(1 + r**2)**(-b)", {"b": Domain()})])
def test_a_power_that_is_not_certainly_negative_is_refused(profile, domains):
    with pytest.raises(Rejected, match="B: it is not certainly positive"):
        value(radial(profile, **domains))


@pytest.mark.parametrize(("dimension", "domains"), [("2", {}), ("3", {}), ("d", {"d": COUNT})])
def test_a_density_that_is_not_integrable_is_refused(dimension, domains):
    with pytest.raises(Rejected, match="integrable"):
        value(radial("1/(1 + r**2)", dimension, **domains))


@pytest.mark.parametrize("change", [{"sensitivity": "-1"}, {"scale": "-1"}])
def test_shifts_must_be_in_order(change):
    with pytest.raises(DpverifyError):
        value(radial("1/(1 + r**2)", **change))


def test_on_the_integers_it_is_an_upper_bound_only():
    claim = Claim(Translation(parse("1/(1 + z**2)"), integers=True), None, sensitivity=num(1))
    assert certainly_equal(value(claim), parse("2*asinh(1/2)"))
    with pytest.raises(Rejected, match="integer"):
        value(claim, side="lower")
