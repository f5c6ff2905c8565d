"""Errors against epsilon and against the number of queries: proved points, of this noise and of any mechanism."""

import math
from dataclasses import replace
from fractions import Fraction as F

import pytest
from scipy.stats import norm

from dpverify import verify
from dpverify.pictures.error_curves import error_curves
from dpverify.trusted.kernel.expr import num, parse
from dpverify.trusted.kernel.model import L1, Claim, Product, Query, Translation

COUNTS = tuple(tuple(F(int(i == j)) for j in range(2)) for i in range(2))
LAPLACE = Claim(Product(parse("exp(-abs(z)/2)"), num(2), L1), parse("1/2"), query=Query(COUNTS, "add-remove"), utility=True, name="counts")


def curves(claim):
    return error_curves(claim, verify(claim).judgement)


def test_both_errors_against_epsilon_are_those_of_the_theorems():
    """Of d counts: independent Laplace noise has the variance 2/eps^2 each, and independent geometric noise the least there is."""
    found = curves(LAPLACE)
    assert found.epsilon == 0.5 and found.scaled
    assert [at for at, _ in found.least] == sorted(at for at, _ in found.least) and max(at for at, _ in found.least) <= 8
    for at, own in found.own:
        assert own == pytest.approx(2 / at)
    for at, least in found.least:
        exact = math.sqrt(4 * math.exp(-at)) / -math.expm1(-at)
        assert exact * (1 - 1e-5) <= least <= exact
    assert 0.5 in [at for at, _ in found.least]


def test_the_first_queries_alone_have_less_error_and_less_is_necessary():
    found = curves(LAPLACE)
    assert [own for _, own in found.own_by_queries] == pytest.approx([8**0.5, 4])
    exact = math.sqrt(2 * math.exp(-0.5)) / -math.expm1(-0.5)
    assert [at for at, _ in found.least_by_queries] == [1, 2]
    assert [least for _, least in found.least_by_queries] == pytest.approx([exact, exact * 2**0.5], rel=1e-5)


def test_noise_whose_epsilon_is_not_proportional_to_its_width_is_one_point():
    integers = Claim(Translation(parse("exp(-abs(z)/2)"), integers=True), parse("1/2"), query=Query(((F(1),),), "add-remove"), utility=True)
    found = curves(integers)
    assert not found.scaled and [at for at, _ in found.own] == [0.5]
    assert found.own[0][1] == pytest.approx(math.sqrt(2 * math.exp(-0.5)) / -math.expm1(-0.5))
    assert found.least_by_queries == ()
    logistic = replace(LAPLACE, mechanism=Product(parse("1/cosh(z/2)**2"), num(2), L1))
    assert not error_curves(logistic, verify(LAPLACE).judgement).scaled


def test_tight_epsilon_is_the_one_that_is_shown():
    assert curves(replace(LAPLACE, epsilon=None)).epsilon == 0.5


@pytest.mark.parametrize("changed", [{"utility": False}, {"query": None, "sensitivity": parse("1")}, {"delta": None}])
def test_a_claim_that_asks_for_no_errors_or_is_not_about_a_query_and_numbers_has_no_picture(changed):
    assert error_curves(replace(LAPLACE, **changed), verify(LAPLACE).judgement) is None


@pytest.mark.parametrize("changed", [{"epsilon": parse("1/4")}, {"mechanism": Product(parse("1/(81 + z**2)"), num(2), L1)}])
def test_a_claim_that_is_refuted_or_whose_error_is_infinite_has_no_picture(changed):
    assert curves(replace(LAPLACE, **changed)) is None


def test_with_a_delta_gaussian_noise_stands_between_the_bound_and_its_multiple():
    found = curves(replace(LAPLACE, epsilon=parse("1"), delta=parse("1/1000000")))
    assert not found.scaled and [at for at, _ in found.own] == [1]
    least, gaussian = dict(found.least)[1], dict(found.gaussian)[1]
    assert least == pytest.approx(math.sqrt(2 * 1.84110), rel=1e-5)  # theory#one-line
    sigma = gaussian / math.sqrt(2)
    assert norm.cdf(1 / (2 * sigma) - sigma) - math.e * norm.cdf(-1 / (2 * sigma) - sigma) == pytest.approx(1e-6, rel=1e-6)
    assert all(low < high for (_, low), (_, high) in zip(found.least, found.gaussian, strict=True))
    assert found.own[0][1] == pytest.approx(4)
