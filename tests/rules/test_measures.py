"""Other measures of privacy as facts beside the answer."""

from fractions import Fraction

import mpmath
import pytest

from dpverify.search.divergences import measure_words
from dpverify.search.verify import verify
from dpverify.trusted.kernel.errors import DpverifyError, Rejected
from dpverify.trusted.kernel.expr import ONE, ZERO, num, parse
from dpverify.trusted.kernel.model import (
    L2,
    Claim,
    Compose,
    Domain,
    Exponential,
    Guarantee,
    Part,
    PostProcess,
    Product,
    Query,
    Radial,
    Table,
    repeated,
)

mpmath.mp.dps = 40
THIRD = parse("1/3")


def gaussian(sigma):
    return Radial(parse("exp(-r**2/2)"), L2, ONE, parse(sigma))


LAPLACE = Radial(parse("exp(-r)"), L2, ONE, parse("2"))
RESPONSE = Table(((parse("3/4"), parse("1/4")), (parse("1/4"), parse("3/4"))))


def claim(noise, epsilon="1", delta=None, **more):
    return Claim(noise, None if epsilon is None else parse(epsilon), None if delta is None else parse(delta), **more)


def shown(found):
    return measure_words.shown(found)[0]


def value(found):
    exact = found.value.value
    return mpmath.mpf(exact.numerator) / exact.denominator


def test_gaussian_noise_is_gdp_and_zcdp_exactly():
    assert shown(claim(gaussian("2"), sensitivity=num(1))) == {
        "GDP": "mu = 1/2",
        "zCDP": "rho = 1/8",
        "Renyi of order 2": "divergence = 1/4",
        "Renyi of order 8": "divergence = 1",
        "Renyi of order 32": "divergence = 4",
    }


def test_compositions_add_in_squares_and_post_processing_leaves_a_bound():
    parts = Compose((repeated(Part(gaussian("2"), num(1)), num(3)), Part(gaussian("2"), num(1))))
    assert shown(claim(parts))["GDP"] == "mu = 1"
    assert shown(claim(PostProcess(Part(parts))))["GDP"] == "mu <= 1"
    stated = Compose((Part(Guarantee("gdp", ((parse("3/5"),),))), Part(gaussian("5"), num(4))))
    assert shown(claim(stated))["GDP"] == "mu <= 1"


def test_equalities_rest_on_answers_at_the_stated_distance_and_inequalities_do_not():
    noise = claim(gaussian("2"), sensitivity=num(1))
    assert measure_words.shown(noise)[1] == (measure_words.OCCUR,)
    assert measure_words.shown(claim(PostProcess(Part(gaussian("2"), num(1)))))[1] == ()
    found = verify(claim(gaussian("2"), "1", "1/100", sensitivity=num(1))).judgement
    assert found.also["GDP"] == "mu = 1/2" and measure_words.OCCUR in found.assumptions


def test_decimals_are_rounded_outward():
    text = shown(claim(gaussian("1"), sensitivity=parse("sqrt(2)")))["GDP"]
    low, high = text.removeprefix("mu in [").rstrip("]").split(", ")
    assert mpmath.mpf(low) < mpmath.sqrt(2) < mpmath.mpf(high) and mpmath.mpf(high) - mpmath.mpf(low) < 1e-10


def test_laplace_noise_by_the_integral_of_its_powers():
    found, order = shown(claim(LAPLACE, sensitivity=num(1))), 8
    p, q = (lambda x: mpmath.exp(-abs(x) / 2) / 4), (lambda x: mpmath.exp(-abs(x - 1) / 2) / 4)
    moment = mpmath.quad(lambda x: p(x) ** order * q(x) ** (1 - order), [-400, -40, 0, 1, 40, 400])
    low, high = found["Renyi of order 8"].removeprefix("divergence in [").rstrip("]").split(", ")
    assert mpmath.mpf(low) <= mpmath.log(moment) / 7 <= mpmath.mpf(high)
    assert found["zCDP"].startswith("rho <= ") and mpmath.mpf(found["zCDP"][7:]) >= mpmath.tanh(0.25) / 2


def test_independent_laplace_coordinates_in_l1_are_one():
    many = Product(parse("exp(-abs(z)/2)"), num(3))
    assert shown(claim(many, sensitivity=num(1))) == shown(claim(LAPLACE, sensitivity=num(1)))


def test_randomized_response_by_its_two_outcomes():
    moment = mpmath.mpf("0.75") ** 2 / mpmath.mpf("0.25") + mpmath.mpf("0.25") ** 2 / mpmath.mpf("0.75")
    low, high = shown(claim(RESPONSE))["Renyi of order 2"].removeprefix("divergence in [").rstrip("]").split(", ")
    assert mpmath.mpf(low) <= mpmath.log(moment) <= mpmath.mpf(high)


def test_an_exponential_mechanism_has_the_range_of_its_scores():
    scores = ((num(0), num(1), num(3)), (num(2), num(1), num(2)), (num(0), num(0), num(0)))
    # differences of rows: (-2, 0, 1), (0, 1, 3), (2, 1, 2)
    assert shown(claim(Exponential(scores, parse("1/2"))))["bounded range"] == "eta = 3/2"
    assert shown(claim(Exponential(scores, parse("1/2"), ((1, 2),))))["bounded range"] == "eta = 1/2"
    assert shown(claim(Exponential(scores, ONE, ((1, 2),))))["zCDP"] == "rho <= 1/8"


@pytest.mark.parametrize(
    "found",
    [
        claim(gaussian("s"), sensitivity=num(1), domains=(("s", Domain(Fraction(0))),)),
        claim(Radial(parse("1/(1 + r**2)"), L2, ONE), sensitivity=num(1)),
        claim(Table(((THIRD, parse("2/3")), (parse("1/2"), parse("1/2"))))),
        claim(Compose((Part(LAPLACE, num(1)), Part(LAPLACE, num(2))))),
        claim(Exponential(((ZERO, parse("log(2)")), (ONE, ZERO)), ONE)),
    ],
)
def test_nothing_is_said_of_what_is_in_no_closed_form(found):
    with pytest.raises(DpverifyError):
        shown(found)


def test_a_product_in_another_norm_than_l1_is_no_laplace_noise():
    many = Product(parse("exp(-abs(z)/2)"), num(3), L2)
    with pytest.raises(Rejected):
        measure_words.measured(claim(many, sensitivity=num(1)))


def test_a_query_is_not_taken_for_a_stated_sensitivity():
    with pytest.raises(Rejected):
        measure_words.measured(claim(LAPLACE, query=Query(((Fraction(1), Fraction(2)),), "replace")))
