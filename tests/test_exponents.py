"""What additive noise is read as: h = -log(density), on the whole line or in all directions, and how far shifts of coordinates reach."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from dpverify.trusted.combinators.exponents import Exponent, exponent, stretch
from dpverify.trusted.kernel.balls import constant, precision
from dpverify.trusted.kernel.compare import certainly_equal
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import ONE, ZERO, num, parse
from dpverify.trusted.kernel.model import L1, L2, LINF, KaryResponse, Norm, Product, Radial, Translation

F = Fraction
LAPLACE = parse("exp(-abs(z))")


def test_noise_of_every_kind_is_read_with_its_exponent_norm_and_scale():
    found = exponent(Radial(parse("exp(-r**2)"), L2, num(3), parse("2/5")))
    assert (found.h, found.name, found.scale, found.norm, found.dimension) == (parse("r**2"), "r", parse("2/5"), L2, 3)
    assert not found.independent and found.at(num(3)) == num(9)
    found = exponent(Product(LAPLACE, num(4), LINF))
    assert (found.h, found.name, found.scale, found.norm, found.dimension) == (parse("abs(z)"), "z", ONE, LINF, 4)
    assert found.independent
    found = exponent(Translation(LAPLACE))
    assert (found.h, found.name, found.scale, found.norm, found.dimension) == (parse("abs(z)"), "z", ONE, L1, 1)
    assert not found.independent


@pytest.mark.parametrize(
    "noise",
    [
        KaryResponse(num(3), parse("1/2")),
        Translation(LAPLACE, integers=True),
        Translation(LAPLACE, support=(ZERO, None)),
        Translation(LAPLACE, support=(None, ZERO)),
        Translation(parse("exp(-b*abs(z))")),
        Translation(parse("max(0, 1 - abs(z))")),
        Translation(parse("exp(-abs(z)) - exp(-2*abs(z))")),
        Translation(parse("exp(-abs(z)) + z/10")),
        Product(parse("exp(-b*abs(z))"), num(2), L1),
        Product(LAPLACE, parse("d"), L1),
        Product(parse("2"), num(2), L1),
        Radial(parse("exp(-b*r)"), L2, num(2)),
        Radial(parse("exp(-r)"), L2, parse("d")),
        Radial(parse("exp(-r)"), L2, num(2), parse("s")),
        Radial(parse("1 - r"), L2, num(2)),
    ],
)  # fmt: skip
def test_noise_that_is_not_certainly_positive_everywhere_or_has_parameters_is_not_read(noise):
    with precision(64):
        assert exponent(noise) is None


def test_a_density_is_looked_at_where_its_noise_lives():
    """1 + z is positive for all distances and not for all differences; roots want what is at least 0."""
    with precision(64):
        assert exponent(Radial(parse("exp(-sqrt(r))"), L2, num(2))).h == parse("sqrt(r)")
        assert exponent(Radial(parse("exp(-r)*max(0, r - 1/2)"), L2, num(2))) is None
        assert exponent(Radial(parse("1/(1 + r)**3"), L2, num(2))) is not None
        assert exponent(Translation(parse("(1 + z)/(1 + z**2)**3"))) is None


@pytest.mark.parametrize(("h", "form", "same"), [
    ("abs(z)", "max(z, -z)", True), ("abs(z)", "z", False), ("abs(z)", "abs(z) + 1", False), ("z**2", "z**4/z**2", True),
    ("log(1 + exp(z))", "z + log(1 + exp(-z))", True), ("abs(z)", "log(-z)", False), ("z**2", "z**2 + (z - 7)*(z - 1/3)", False),
])  # fmt: skip
def test_an_exponent_is_a_form_where_they_are_equal_everywhere(h, form, same):
    with precision(64):
        shape = Exponent(parse(h), "z", exponent(Translation(LAPLACE)).domain, ONE, L1, 1, False)
        assert shape.equals(parse(form)) is same


@pytest.mark.parametrize(("p", "q"), list(itertools.product([F(1), F(3, 2), F(2), F(5), None], repeat=2)))
@pytest.mark.parametrize("d", [1, 2, 5])
def test_the_lengths_of_shifts_of_norm_1_lie_between_two_that_are_met(p, q, d):
    shape = exponent(Product(LAPLACE, num(d), Norm("lp", p)))
    with precision(64):
        least, most = (float(constant(bound).mid()) for bound in stretch(shape, q))

    def length(x, order):
        return np.linalg.norm(x, math.inf if order is None else float(order), axis=-1)

    vectors = np.concatenate([np.random.default_rng(d).normal(size=(400, d)), np.eye(d), np.ones((1, d))])
    lengths = length(vectors / length(vectors, p)[:, None], q)
    assert lengths.min() == pytest.approx(least, abs=1e-9) and lengths.max() == pytest.approx(most, abs=1e-9)


def test_a_single_coordinate_and_a_shift_in_the_noises_own_norm_are_as_long_as_they_are():
    for noise in (Translation(LAPLACE), Radial(parse("exp(-r)"), LINF, num(3))):
        assert stretch(exponent(noise), F(1)) == stretch(exponent(noise), None) == (ONE, ONE)


def test_independent_coordinates_want_their_sensitivity_in_an_lp_norm():
    square = Norm("facets", None, ((F(1), F(0)), (F(0), F(1))))
    with pytest.raises(Rejected, match="lp norm"):
        stretch(exponent(Product(LAPLACE, num(2), square)), F(1))
    assert certainly_equal(stretch(exponent(Product(LAPLACE, num(2), L2)), F(1))[1], parse("sqrt(2)"))
