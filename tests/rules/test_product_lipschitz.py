"""Products of log-Lipschitz densities: at most L times the l1-length of the shift (theory#product-lipschitz)."""

from dataclasses import replace
from fractions import Fraction

import pytest

from dpverify.search.additive import asymptotics
from dpverify.search.additive import product_lipschitz as search
from dpverify.trusted.kernel.balls import precision
from dpverify.trusted.kernel.compare import certainly_equal, certainly_le
from dpverify.trusted.kernel.errors import STUMBLES, DpverifyError, Rejected
from dpverify.trusted.kernel.expr import num, parse
from dpverify.trusted.kernel.model import L1, L2, LINF, Claim, Domain, Product
from dpverify.trusted.theories.additive.rules import product_lipschitz


def product(density, dimension=3, norm=L1, sensitivity="1"):
    return Claim(Product(parse(density), num(dimension), norm), None, sensitivity=parse(sensitivity))


def value(claim, **change):
    steps = search.propose(claim, 20)
    with precision(128):
        return product_lipschitz.check(claim, {**steps[0]["evidence"], **change}).value


@pytest.mark.parametrize(("norm", "expected"), [(L1, "1/2"), (L2, "sqrt(3)/2"), (LINF, "3/2")])
def test_laplace_coordinates_pay_exactly_the_l1_length(norm, expected):
    assert certainly_equal(value(product("exp(-abs(z)/2)", norm=norm)), parse(expected))


@pytest.mark.parametrize(
    ("density", "slope"),
    [
        ("1/(1 + z**2)", "1"),  # 2 z/(1 + z^2) is greatest at 1
        ("(1 + z**2/3)**(-2)", "2/sqrt(3)"),  # 4 z/(3 + z^2) at sqrt(3)
        ("exp(-abs(z))*(1 + z**2)", "1"),  # 1 - 2 z/(1 + z^2) lies in [0, 1)
    ],
)
def test_other_densities_pay_little_more_than_their_steepest_slope(density, slope):
    found = value(product(density))
    assert certainly_le(parse(slope), found)
    assert certainly_le(found, parse(f"{slope} + 1/10000"))


@pytest.mark.parametrize(("norm", "expected"), [(L1, "1"), (L2, "sqrt(3)"), (LINF, "3")])
def test_a_slope_that_is_reached_in_the_limit_is_exact(norm, expected):
    # h' = (1 - z)^2/(1 + z^2) for z > 0
    assert certainly_equal(value(product("exp(-abs(z))*(1 + z**2)", norm=norm)), parse(expected))


@pytest.mark.parametrize("density", ["exp(-z**2)", "exp(-sqrt(abs(z)))", "1/(1 + abs(z))", "exp(-abs(z))*abs(z)"])
def test_a_density_without_a_lipschitz_constant_or_a_normaliser_is_not_proposed(density):
    with pytest.raises(DpverifyError):
        search.propose(product(density), 20)


def test_a_jump_between_cells_is_refused():
    claim = product("exp(-2*abs(z) + floor(min(max(z, 0), 3)))")
    cuts = ["-16", "0", "1", "2", "3", "16"]
    with pytest.raises(Rejected, match="continuous"):
        product_lipschitz.check(claim, {"slope": "2", "cuts": cuts, **asymptotics.evidence(claim.mechanism)})


@pytest.mark.parametrize(
    "change",
    [{"slope": "99/100"}, {"slope": "x"}, {"cuts": ["-16", "16"]}, {"cuts": ["-16", "1", "0", "16"]}, {"cuts": ["0"]}],
)
def test_slopes_and_cells_are_checked(change):
    with pytest.raises(DpverifyError):
        value(product("1/(1 + z**2)"), **change)


def test_an_end_is_checked():
    claim = product("exp(-abs(z))/(1 + abs(z))")  # the slope 1 + 1/(1 + z) is above 1 everywhere
    with pytest.raises(Rejected, match="on this end"):
        product_lipschitz.check(claim, {"slope": "1", "cuts": ["-32", "0", "32"]})


def test_parameters_and_kinds_must_be_in_order():
    laplace = product("exp(-abs(z))")
    evidence = search.propose(laplace, 20)[0]["evidence"]
    ranging = replace(laplace, domains=(("b", Domain(Fraction(0))),))
    with pytest.raises(DpverifyError):
        product_lipschitz.check(ranging, evidence)
    with pytest.raises(Rejected, match="integrable"):
        product_lipschitz.check(product("1/(1 + z**2)**(1/2)"), {**evidence, "slope": "1"})
    for wrong in ({}, {"slope": "1/"}, {"slope": "1", "cuts": 3}):
        with pytest.raises((DpverifyError, *STUMBLES)):
            product_lipschitz.check(laplace, wrong)
