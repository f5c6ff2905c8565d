"""Concave exponents: the value is h(D) - h(0) (theory#concave-exponent), for constants and for all parameters at once."""

from dataclasses import replace
from fractions import Fraction

import pytest

from dpverify.search.additive import concave_exponent as search
from dpverify.trusted.kernel.balls import precision
from dpverify.trusted.kernel.compare import certainly_equal, certainly_le
from dpverify.trusted.kernel.errors import CertificateError, DpverifyError, Rejected
from dpverify.trusted.kernel.expr import num, parse
from dpverify.trusted.kernel.model import L1, L2, LINF, Claim, Domain, Norm, Product, Query, Radial, Translation
from dpverify.trusted.theories.additive.rules import concave_exponent

POSITIVE = Domain(Fraction(0))
UNIT = Domain(Fraction(0), Fraction(1))
COUNT = Domain(Fraction(1), lower_open=False, integer=True)


def radial(profile, norm=L2, dimension="1", scale="1", sensitivity="1", **domains):
    noise = Radial(parse(profile), norm, parse(dimension), parse(scale))
    return Claim(noise, None, sensitivity=parse(sensitivity), domains=tuple(domains.items()))


def value(claim, **evidence):
    with precision(128):
        return concave_exponent.check(claim, evidence).value


@pytest.mark.parametrize("norm", [L1, L2, LINF, Norm("lp", Fraction(3, 2))])
def test_the_exponential_of_a_norm_costs_the_sensitivity_for_all_parameters(norm):
    claim = radial("exp(-eps*r)", norm, "d", sensitivity="Delta", eps=POSITIVE, d=COUNT, Delta=POSITIVE)
    assert value(claim) == parse("eps*Delta")


@pytest.mark.parametrize("scale", ["2", "sqrt(2)", "1/3"])
def test_the_sensitivity_is_measured_in_units_of_the_scale(scale):
    assert certainly_equal(value(radial("exp(-3*r)", scale=scale)), parse(f"3/({scale})"))


def test_a_stretched_exponential_costs_a_power_of_the_sensitivity():
    # theory#concave-exponent: exp(-r^a) with 0 < a < 1 gives Delta^a
    assert value(radial("exp(-sqrt(r))", sensitivity="4")) == num(2)
    claim = radial("exp(-r**a)", sensitivity="Delta", a=UNIT, Delta=POSITIVE, dimension="7")
    assert value(claim) == parse("Delta**a")


def test_a_power_law_costs_a_logarithm():
    claim = radial("(1 + r/c)**(-d - k)", dimension="d", sensitivity="D", c=POSITIVE, k=POSITIVE, d=COUNT, D=POSITIVE)
    assert certainly_equal(value(claim), parse("(d + k)*log(1 + D/c)"), dict(claim.domains))


def test_a_mixture_of_exponentials_is_worst_at_the_answer():
    # h(1) - h(0) with h = -log(exp(-r)/2 + exp(-2 r))
    assert certainly_equal(value(radial("exp(-r)/2 + exp(-2*r)")), parse("log(3/2) - log(exp(-1)/2 + exp(-2))"))


def test_one_dimensional_noise_written_with_abs_is_noise_of_a_norm():
    claim = Claim(Translation(parse("exp(-sqrt(abs(z)))")), None, sensitivity=num(9))
    assert value(claim) == num(3)


def test_on_the_integers_only_whole_shifts_count():
    whole = Translation(parse("exp(-abs(z)/scale)"), integers=True)
    domains = (("scale", POSITIVE), ("Delta", COUNT))
    assert value(Claim(whole, None, sensitivity=parse("Delta"), domains=domains)) == parse("Delta/scale")
    assert value(Claim(replace(whole, density=parse("exp(-abs(z))")), None, sensitivity=parse("5/2"))) == num(2)


@pytest.mark.parametrize(("norm", "expected"), [(L1, "3*sqrt(1/3)"), (L2, "3*3**(-1/4)"), (LINF, "3")])
def test_independent_coordinates_share_the_budget_alike(norm, expected):
    # max of sum sqrt(s_i) under the budget 1, by Cauchy-Schwarz and Hoelder
    claim = Claim(Product(parse("exp(-sqrt(abs(z)))"), num(3), norm), None, sensitivity=num(1))
    assert certainly_equal(value(claim), parse(expected))


@pytest.mark.parametrize(("norm", "expected"), [(L1, "Delta/b"), (L2, "Delta*sqrt(d)/b"), (LINF, "Delta*d/b")])
def test_independent_laplace_noise_costs_the_l1_length(norm, expected):
    domains = (("b", POSITIVE), ("d", COUNT), ("Delta", POSITIVE))
    claim = Claim(Product(parse("exp(-abs(z)/b)"), parse("d"), norm), None, sensitivity=parse("Delta"), domains=domains)
    assert certainly_equal(value(claim), parse(expected), dict(domains))


def test_a_query_gives_its_sensitivity():
    query = Query(((Fraction(1), Fraction(1)), (Fraction(0), Fraction(1))), "add-remove")
    claim = Claim(Radial(parse("exp(-r)"), L1, num(2)), None, query=query)
    assert value(claim) == num(2)


def test_a_claim_below_the_value_is_refuted_at_values_of_the_parameters():
    claim = radial("exp(-eps*r)", dimension="d", sensitivity="Delta", eps=POSITIVE, d=COUNT, Delta=POSITIVE)
    claim = replace(claim, epsilon=parse("eps*Delta/2"))
    step = next(step for step in search.propose(claim, 20) if "at" in step["evidence"])
    bound = concave_exponent.check(claim, step["evidence"])
    eps, delta = (bound.at[name].value for name in ("eps", "Delta"))
    assert bound.side == "lower"
    assert bound.value == num(eps * delta) and eps * delta > eps * delta / 2


@pytest.mark.parametrize(
    "claim",
    [
        radial("exp(-r**2)"),
        radial("exp(-r**a)", a=POSITIVE),
        radial("(1 + r**2)**(-3)"),
        radial("(1 + r**2)**4*exp(-r)"),
        Claim(Translation(parse("exp(-abs(z) - z/2)")), None, sensitivity=num(1)),
    ],
)
def test_an_exponent_that_is_not_concave_in_the_distance_is_refused(claim):
    with pytest.raises(DpverifyError):
        value(claim)
    assert search.propose(claim, 20) == []


def test_noise_may_be_symmetric_about_another_point():
    claim = Claim(Translation(parse("exp(-abs(z - 7/2))")), None, sensitivity=num(3))
    upper, lower = (concave_exponent.check(claim, step["evidence"]) for step in search.propose(claim, 20))
    assert (upper.side, upper.value) == ("upper", num(3)) and (lower.side, lower.value) == ("lower", num(3))
    with pytest.raises(DpverifyError):
        concave_exponent.check(claim, {"centre": "3"})


@pytest.mark.parametrize("profile", ["exp(-r)/sqrt(r)", "exp(-r)*r**(-a)"])
def test_an_exponent_without_a_finite_value_at_0_is_refused(profile):
    with pytest.raises(Rejected, match="finite at 0"):
        value(radial(profile, a=POSITIVE))


@pytest.mark.parametrize(
    ("profile", "dimension", "domains"),
    [("1/(1 + r)", "1", {}), ("(1 + r)**(-3)", "3", {}), ("(1 + r)**(-d)", "d", {"d": COUNT}), ("1", "1", {}), ("exp(r)", "1", {})],
)
def test_a_density_that_is_not_certainly_integrable_is_refused(profile, dimension, domains):
    with pytest.raises(Rejected, match="integrable"):
        value(radial(profile, dimension=dimension, **domains))


def test_integrability_depends_on_the_dimension():
    assert certainly_equal(value(radial("(1 + r)**(-4)", dimension="3")), parse("4*log(2)"))


@pytest.mark.parametrize(
    "claim",
    [
        radial("exp(-r)", sensitivity="-1"),
        radial("exp(-r)", sensitivity="D", D=Domain()),
        Claim(Translation(parse("exp(-z)"), (num(0), None)), None, sensitivity=num(1)),
        radial("-exp(-r)"),
        radial("(r - 2)**2*exp(-r)"),
    ],
)
def test_sensitivities_and_densities_must_be_in_order(claim):
    with pytest.raises(DpverifyError):
        value(claim)


def test_fixed_parameters_belong_to_lower_bounds_and_to_their_domains():
    claim = radial("exp(-eps*r)", eps=POSITIVE)
    with pytest.raises(CertificateError, match="upper"):
        value(claim, at={"eps": "1"})
    with pytest.raises(Rejected, match="outside"):
        value(claim, side="lower", at={"eps": "-1"})
    with pytest.raises(CertificateError, match="side"):
        value(claim, side="both")


def test_both_sides_agree():
    claim = radial("exp(-r)/(1 + r)", dimension="4")
    bounds = [concave_exponent.check(claim, step["evidence"]) for step in search.propose(claim, 20)]
    assert [b.side for b in bounds] == ["upper", "lower"]
    assert bounds[0].value == bounds[1].value
    assert certainly_equal(bounds[0].value, parse("1 + log(2)"))
    assert certainly_le(bounds[0].value, parse("1.6931471805599454"))


def test_a_line_under_the_norm_of_an_ellipsoid_has_the_unit_of_that():
    """||x|| = |x|/2, so that a shift of norm 1 is one by 2."""
    noise = Product(parse("exp(-abs(z))"), num(1), Norm("ellipsoid", matrix=((Fraction(4),),)))
    assert value(Claim(noise, None, sensitivity=num(1))) == num(2)
