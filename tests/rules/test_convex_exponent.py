"""Convex exponents: the value is D times the limit of the slope (theory#convex-exponent), for constants and for all parameters at once."""

from dataclasses import replace
from fractions import Fraction

import pytest

from dpverify.search.additive import convex_exponent as search
from dpverify.trusted.kernel.balls import precision
from dpverify.trusted.kernel.bounds import INFINITE
from dpverify.trusted.kernel.compare import certainly_equal
from dpverify.trusted.kernel.errors import DpverifyError, Rejected
from dpverify.trusted.kernel.expr import num, parse
from dpverify.trusted.kernel.model import L1, L2, LINF, Claim, Domain, Norm, Product, Query, Radial, Translation
from dpverify.trusted.theories.additive.rules import convex_exponent

POSITIVE = Domain(Fraction(0))
COUNT = Domain(Fraction(1), lower_open=False, integer=True)


def radial(profile, dimension="1", sensitivity="1", **domains):
    return Claim(Radial(parse(profile), L2, parse(dimension)), None, sensitivity=parse(sensitivity), domains=tuple(domains.items()))


def line(density, sensitivity="1", integers=False, **domains):
    return Claim(Translation(parse(density), integers=integers), None, sensitivity=parse(sensitivity), domains=tuple(domains.items()))


def value(claim, **evidence):
    with precision(128):
        return convex_exponent.check(claim, evidence).value


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        (radial("exp(-2*r)", "3", "1/2"), "1"),
        (radial("exp(-sqrt(1 + r**2))", "5"), "1"),
        (radial("(1 + r)*exp(-r)", "2"), "1"),
        (radial("cosh(r)**(-2)"), "2"),
        (radial("exp(-(1 + r**3)**(1/3))"), "1"),
        (radial("exp(-max(r, 2*r - 1))"), "2"),
        (radial("sqrt(r)*besselk(1/2, sqrt(2)*r)"), "sqrt(2)"),  # RA Example 3 in one dimension
        (line("exp(-abs(z)/2)"), "1/2"),
        (line("exp(-z)/(1 + exp(-z))**2"), "1"),  # logistic
        (line("1/(exp(z) + exp(-z))"), "1"),  # hyperbolic secant
        (line("exp(-abs(z) - z/2)"), "3/2"),
        (line("exp(-sqrt(1 + z**2) + z/3)"), "4/3"),
        (line("exp(-abs(z))", "7/2", integers=True), "3"),
    ],
)
def test_the_value_is_the_sensitivity_times_the_steepest_limit_of_the_slope(claim, expected):
    assert certainly_equal(value(claim), parse(expected))


def test_hyperbolic_noise_costs_alpha_for_all_parameters():
    claim = radial("exp(-alpha*sqrt(delta**2 + r**2))", "d", "D", alpha=POSITIVE, delta=POSITIVE, d=COUNT, D=POSITIVE)
    assert value(claim) == parse("alpha*D")


def test_asymmetric_laplace_noise_costs_the_steeper_side_for_all_parameters():
    claim = line("exp(-max(a*z, -b*z))", "D", a=POSITIVE, b=POSITIVE, D=POSITIVE)
    assert certainly_equal(value(claim), parse("max(a, b)*D"), dict(claim.domains))


@pytest.mark.parametrize(("norm", "expected"), [(L1, "1"), (L2, "sqrt(3)"), (LINF, "3"), (Norm("lp", Fraction(3, 2)), "3**(1/3)")])
def test_independent_coordinates_pay_for_the_l1_length(norm, expected):
    claim = Claim(Product(parse("exp(-z)/(1 + exp(-z))**2"), num(3), norm), None, sensitivity=num(1))
    assert certainly_equal(value(claim), parse(expected))


def test_the_l1_length_is_taken_over_the_ball_of_any_norm():
    # the unit ball of the ellipsoid with Sigma = diag(9, 16): the greatest |x| + |y| is 5
    norm = Norm("ellipsoid", None, ((Fraction(9), Fraction(0)), (Fraction(0), Fraction(16))))
    claim = Claim(Product(parse("exp(-abs(z))"), num(2), norm), None, sensitivity=num(1))
    assert certainly_equal(value(claim), num(5))


def test_a_query_refutes_along_the_shifts_that_it_has_only():
    query = Query(((Fraction(1), Fraction(1)), (Fraction(0), Fraction(1))), "add-remove")
    laplace = Claim(Product(parse("exp(-abs(z))"), num(2)), None, query=query)
    assert value(laplace, side="lower") == value(laplace) == num(2)
    euclidean = replace(laplace, mechanism=Product(parse("exp(-abs(z))"), num(2), L2))
    assert certainly_equal(value(euclidean), num(2))
    lopsided = replace(laplace, mechanism=Product(parse("exp(-max(z, -2*z))"), num(2)))
    assert value(lopsided) == num(4)
    for claim in (euclidean, lopsided):
        with pytest.raises(Rejected, match="need not occur"):
            value(claim, side="lower")


def test_a_slope_without_bound_makes_epsilon_infinite_for_all_parameters():
    claim = radial("exp(-r**2/(2*sigma**2))", "d", "D", sigma=POSITIVE, d=COUNT, D=POSITIVE)
    assert value(claim, side="lower") is INFINITE
    with pytest.raises(Rejected, match="infinite"):
        value(claim)
    with pytest.raises(Rejected, match="infinite"):
        value(replace(claim, sensitivity=num(0)), side="lower")


@pytest.mark.parametrize("profile", ["exp(-sqrt(r))", "exp(-r)/(1 + r)", "(1 + r**2)**(-3)", "(1 + r**2)**4*exp(-r)", "exp(-r - sqrt(r))"])
def test_an_exponent_that_is_not_certainly_convex_is_refused(profile):
    with pytest.raises(DpverifyError):
        value(radial(profile))
    assert search.propose(radial(profile), 20) == []


@pytest.mark.parametrize("profile", ["(1 + 2*r)*exp(-r)", "exp(r - r**2)", "exp(-abs(r - 1))", "exp(-(r - 1)**2)"])
def test_an_exponent_that_falls_near_the_answer_is_refused(profile):
    # the true loss of (1 + 2 r) exp(-r) at D = 1/10 comes from the rise before r = 1/2
    with pytest.raises(DpverifyError):
        value(radial(profile))


@pytest.mark.parametrize("claim", [line("exp(-max(z, 0))"), line("exp(-z)"), line("exp(-abs(z) - 2*z)"), radial("1")])
def test_a_slope_whose_limit_is_not_positive_at_each_end_is_refused(claim):
    # none of these densities is integrable
    with pytest.raises(Rejected, match="not certainly positive"):
        value(claim)


@pytest.mark.parametrize(
    "claim",
    [
        radial("exp(-r)", sensitivity="-1"),
        radial("exp(-a*r)", a=Domain()),
        radial("exp(-floor(r))"),
        line("z*exp(-z)"),
    ],
)
def test_sensitivities_rates_and_densities_must_be_in_order(claim):
    with pytest.raises(DpverifyError):
        value(claim)
