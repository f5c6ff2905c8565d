"""Bands for plots contain the truth, by other formulas at other precision, and keep the laws that curves have."""

import json
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import mpmath
import pytest

from dpverify.pictures import bands
from dpverify.pictures.bands import composition_band, delta_band, plan, trade_off_band
from dpverify.trusted.kernel.errors import DpverifyError, Undecided
from dpverify.trusted.kernel.expr import Num, parse
from dpverify.trusted.kernel.model import (
    L1,
    L2,
    AboveThreshold,
    Claim,
    Compose,
    Domain,
    Kernel,
    Part,
    PostProcess,
    Radial,
    Sampled,
    Subsample,
    Table,
    Translation,
    repeated,
)

mpmath.mp.dps = 60


def number(value):
    return Num(Fraction(value))


@pytest.fixture(scope="module")
def sampled():
    """A sampled Gaussian, four times, planned once for all tests."""
    return plan(Claim(SAMPLED, number(1), number("1e-5")))


@pytest.fixture(scope="module")
def composed(sampled):
    """The epsilon of its compositions."""
    return composition_band(sampled.claim, planned=sampled)


GAUSS = Radial(parse("exp(-r**2/2)"), L2, number(1))
LAPLACE = Translation(parse("exp(-abs(z))"))
RESPONSE = Table(((number("3/4"), number("1/4")), (number("1/4"), number("3/4"))))
GAUSSIAN = Claim(GAUSS, number(1), number("1e-5"), sensitivity=number(1), name="gauss")
SAMPLED = Compose((repeated(Part(Subsample(Part(GAUSS, number(1), adjacency="add-remove"), number("1/10"))), number(4)),))


def normal_delta(epsilon, mu):
    """theory#gaussian, by mpmath."""
    e, mu = mpmath.mpf(epsilon), mpmath.mpf(mu)
    return mpmath.ncdf(mu / 2 - e / mu) - mpmath.exp(e) * mpmath.ncdf(-mu / 2 - e / mu)


def normal_trade_off(alpha, mu):
    """Phi(Phi^-1(1 - a) - mu) (Dong, Roth & Su 2022)."""
    quantile = mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * mpmath.mpf(alpha))
    return mpmath.ncdf(quantile - mu)


def laplace_trade_off(alpha, eps0=1):
    """The errors of the test that rejects above a threshold, by the two laws' distribution functions."""
    a = mpmath.mpf(alpha)
    threshold = -mpmath.log(2 * a) if a <= 0.5 else mpmath.log(2 * (1 - a))
    shifted = threshold - eps0
    return mpmath.exp(shifted) / 2 if shifted <= 0 else 1 - mpmath.exp(-shifted) / 2


def response_delta(epsilon, k, eps0):
    """Kairouz, Oh & Viswanath 2015: the sum over the outcomes of k randomized responses (theory#optimal-composition)."""
    p = mpmath.exp(eps0) / (1 + mpmath.exp(eps0))
    q = 1 - p
    terms = (mpmath.binomial(k, i) * (p**i * q ** (k - i) - mpmath.exp(epsilon) * q**i * p ** (k - i)) for i in range(k + 1))
    return mpmath.fsum(max(term, mpmath.mpf(0)) for term in terms)


def contains(band, truth, width=None):
    """Whether the band holds truth(x) at every x; width: how wide it may be there."""
    for x, lower, upper in zip(band.x, band.lower, band.upper, strict=True):
        value = truth(mpmath.mpf(x))
        assert mpmath.mpf(lower) <= value <= mpmath.mpf(upper), (x, lower, value, upper)
        assert width is None or mpmath.mpf(upper) - mpmath.mpf(lower) <= width, (x, lower, upper)


# -- delta ------------------------------------------------------------------------------------------


def test_the_delta_of_a_gaussian():
    band = delta_band(GAUSSIAN)
    contains(band, lambda e: normal_delta(e, 1), 1e-9)
    assert len(band.x) > 50 and "1" in band.x and all(band.exact)


def test_the_delta_of_laplace_noise_reaches_0_at_its_pure_epsilon():
    band = delta_band(Claim(LAPLACE, number(1), sensitivity=number(1)), ["0", "1/2", "1", 2])
    contains(band, lambda e: max(mpmath.mpf(0), 1 - mpmath.exp((e - 1) / 2)), 1e-9)
    assert band.x == ("0", "0.5", "1", "2") and band.lower[3] == band.upper[3] == "0"


def test_slow_curves_are_enclosed_between_the_few_points_that_are_evaluated():
    """Logistic noise of scale 1 at sensitivity 1: P is above e^eps Q up to a point that solves a quadratic in e^(x/2)."""
    claim = Claim(Translation(parse("1/cosh(z/2)**2")), number("1/2"), number("1/100"), sensitivity=number(1))

    def density(z):
        return mpmath.sech(z / 2) ** 2 / 4

    def truth(epsilon):
        edge = mpmath.findroot(lambda z: mpmath.log(density(z) / density(z - 1)) - epsilon, -1)
        cdf = [1 / (1 + mpmath.exp(-(edge - shift))) for shift in (0, 1)]
        return cdf[0] - mpmath.exp(epsilon) * cdf[1]

    band = delta_band(claim, [Fraction(i, 37) for i in range(1, 34)])
    contains_fractions = zip(band.x, band.lower, band.upper, strict=True)
    for x, lower, upper in contains_fractions:
        value = truth(mpmath.mpf(Fraction(x).numerator) / Fraction(x).denominator)
        assert mpmath.mpf(lower) <= value <= mpmath.mpf(upper) and mpmath.mpf(upper) - mpmath.mpf(lower) < 1e-3
    usual = delta_band(claim)
    assert True in usual.exact and False in usual.exact


def test_a_claimed_epsilon_that_is_no_decimal_lies_between_two_of_the_epsilons():
    band = delta_band(Claim(RESPONSE, parse("log(3)"), number("1e-3")))
    assert {"1.09861228866", "1.09861228867"} <= set(band.x)  # OEIS A002391


# -- the trade-off curve -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claim", "truth"),
    [
        (GAUSSIAN, lambda a: normal_trade_off(a, 1) if a < 1 else 0),
        (Claim(LAPLACE, number(1), number("1e-5"), sensitivity=number(1)), lambda a: laplace_trade_off(a) if a < 1 else 0),
        (
            Claim(RESPONSE, number(1), number("1e-5")),  # Dong, Roth & Su 2022, Proposition 2.5
            lambda a: max(1 - 3 * a, (1 - a) / 3),
        ),
    ],
)
def test_the_trade_off_curve(claim, truth):
    contains(trade_off_band(claim), truth, 1e-8)


def test_the_trade_off_of_a_composition_by_loss_distributions_holds_the_truth_and_more():
    """Gaussian and Laplace: no test is better against one of them than against both."""
    mixed = Claim(Compose((Part(GAUSS, number(1)), Part(LAPLACE, number(1)))), number(2), number("1e-4"))
    band = trade_off_band(mixed, ["0.01", "0.1", "0.5"])
    for x, lower, upper in zip(band.x, band.lower, band.upper, strict=True):
        assert 0 < mpmath.mpf(lower) <= mpmath.mpf(upper) <= mpmath.mpf(lower) + 1e-3
        assert mpmath.mpf(upper) < min(normal_trade_off(x, 1), laplace_trade_off(x))
    assert not any(band.exact)


def test_no_error_is_at_0_or_beyond_1():
    for alpha in (0, "1.1", -1):
        with pytest.raises(Undecided, match="type I error"):
            trade_off_band(GAUSSIAN, [alpha])


# -- compositions -----------------------------------------------------------------------------------


def test_the_epsilon_of_composed_gaussians_is_where_the_closed_form_passes_delta():
    band = composition_band(GAUSSIAN)
    assert band.x[0] == "1" and band.x[-1] == "1024" and band.at == {"delta": "0.00001"} and all(band.exact)
    for x, lower, upper in zip(band.x, band.lower, band.upper, strict=True):
        mu = mpmath.sqrt(int(x))
        assert normal_delta(upper, mu) <= mpmath.mpf("1e-5") <= normal_delta(lower, mu)
        assert mpmath.mpf(upper) / mpmath.mpf(lower) < 1 + mpmath.mpf("1e-7")


def test_the_epsilon_of_composed_responses_is_where_the_binomial_sum_passes_delta():
    band = composition_band(Claim(RESPONSE, None, number("1e-6")), [1, 2, 7, 20])
    for x, lower, upper in zip(band.x, band.lower, band.upper, strict=True):
        sums = [response_delta(mpmath.mpf(end), int(x), mpmath.log(3)) for end in (lower, upper)]
        assert sums[1] <= mpmath.mpf("1e-6") <= sums[0]


def test_a_run_of_equal_parts_is_counted_run_by_run_to_twice_as_many():
    claim = Claim(Compose((repeated(Part(GAUSS, number(1)), number(100)),)), number(60), number("1e-5"))
    band = composition_band(claim)
    assert {"1", "64", "100", "128", "200"} <= set(band.x) and band.x[-1] == "200"
    for x, lower, upper in zip(band.x, band.lower, band.upper, strict=True):
        mu = mpmath.sqrt(int(x))
        assert normal_delta(upper, mu) <= mpmath.mpf("1e-5") <= normal_delta(lower, mu)


@pytest.mark.wide
def test_one_run_of_a_sampled_gaussian_is_exact_and_several_are_enclosed_narrowly(composed):
    """theory#poisson-subsampling."""
    band = composed
    assert band.x == ("1", "4", "8") and band.exact == (True, False, False)
    epsilon = mpmath.findroot(  # q (H of N(1, 1) at log(1 + (e^eps - 1)/q)) = delta
        lambda e: normal_delta(mpmath.log(1 + (mpmath.exp(e) - 1) * 10), 1) / 10 - mpmath.mpf("1e-5"), 1.5
    )
    assert mpmath.mpf(band.lower[0]) <= epsilon <= mpmath.mpf(band.upper[0])
    assert all(float(upper) - float(lower) < 0.05 for lower, upper in zip(band.lower, band.upper, strict=True))


@pytest.mark.wide
@pytest.mark.sampled(1)
@pytest.mark.parametrize("claim", [GAUSSIAN, None, Claim(RESPONSE, number(1), number("1e-3"))])
def test_more_compositions_cost_more_and_errors_and_deltas_fall(claim, sampled, composed):
    planned = sampled if claim is None else plan(claim)
    claim = planned.claim
    composed = composed if planned is sampled else composition_band(claim, planned=planned)
    for here, after in pairwise(range(len(composed.x))):
        assert float(composed.lower[here]) <= float(composed.upper[after])
        assert float(composed.upper[here]) < float(composed.upper[after])
    for band in (delta_band(claim, planned=planned), trade_off_band(claim, planned=planned)):
        for here, after in pairwise(range(len(band.x))):
            assert Fraction(band.upper[here]) >= Fraction(band.lower[after])
        for lower, upper in zip(band.lower, band.upper, strict=True):
            assert 0 <= Fraction(lower) <= Fraction(upper) <= 1


def test_without_a_delta_the_usual_one_is_taken():
    assert composition_band(replace(GAUSSIAN, delta=None), [1]).at == {"delta": "0.000001"}


def test_a_processed_output_has_an_upper_bound_alone():
    claim = Claim(PostProcess(Part(GAUSS, number(1)), "rounding"), number(1), number("1e-5"))
    for band in (delta_band(claim, [1]), composition_band(claim, [1, 2]), trade_off_band(claim, ["0.1"])):
        sides = (band.upper, band.lower) if band.quantity != "type II error" else (band.lower, band.upper)
        assert None not in sides[0] and set(sides[1]) == {None} and not any(band.exact)


# -- what is written ---------------------------------------------------------------------------------


def test_bands_are_json_of_decimals_and_the_same_every_time():
    claim = replace(GAUSSIAN, name="first")
    first, again = (bands.bands([claim, replace(claim, epsilon=number("1/3"), name="other")]) for _ in range(2))
    texts = [json.dumps({kind: band.to_json() for kind, band in each.bands.items()}) for each in (first, again)]
    assert texts[0] == texts[1] and first.names == ("first", "other")
    data = json.loads(texts[0])
    assert data.keys() == {"delta", "trade_off", "composition"}
    for band in data.values():
        assert len(band["x"]) == len(band["lower"]) == len(band["upper"]) == len(band["exact"])
        assert [Fraction(x) for x in band["x"]] == sorted({Fraction(x) for x in band["x"]})
        assert all(Fraction(lower) <= Fraction(upper) for lower, upper in zip(band["lower"], band["upper"], strict=True))
        assert band["rules"] and band["assumed"]
    assert {"1", "0.333333333333", "0.333333333334"} <= set(data["delta"]["x"])


def test_pure_claims_have_their_delta_where_it_costs_little_and_nothing_else():
    found = bands.bands([Claim(LAPLACE, number(1), sensitivity=number(1), name="laplace")])
    assert found.bands.keys() == {"delta"} and found.missing == {}
    for mechanism in (Sampled(), Kernel(parse("1 + (theta - 1/2)*(y - 1/2)"), (number(0), number(1)), (number(0), number(1)))):
        assert bands.bands([Claim(mechanism, number(1))]) is None


def test_a_claim_without_a_curve_says_why():
    open_claim = Claim(GAUSS, number(1), number("1e-5"), sensitivity=number(1), domains=(("x", Domain()),))
    assert "every parameter" in bands.bands([open_claim]).missing["delta"]
    for claim in (open_claim, Claim(Sampled(), number(1), number("1e-5"))):
        with pytest.raises(DpverifyError):
            plan(claim)


@pytest.mark.parametrize(("ask", "said"), [((delta_band, [-1]), "negative epsilon"), ((composition_band, [0]), "fewer than one")])
def test_what_makes_no_sense_is_refused(ask, said):
    with pytest.raises(Undecided, match=said):
        ask[0](GAUSSIAN, ask[1])


def test_no_curve_of_both_orders_is_drawn_of_a_claim_about_one():
    noise = Translation(parse("exp(-z)"), support=(number(0), None))
    one_way = Claim(noise, number(1), number("0.4"), sensitivity=number(1), adjacency="add-remove", order="one-sided")
    assert bands.bands([one_way]) is None
    for band in (delta_band, trade_off_band, composition_band):
        with pytest.raises(Undecided, match="worse of both orders"):
            band(one_way)


@pytest.mark.wide
@pytest.mark.parametrize("neighbours", ["increasing", "decreasing"])
def test_a_selection_in_one_order_of_the_data_has_a_delta_but_no_trade_off_and_no_composition(neighbours):
    noises = [Radial(parse("exp(-r)"), L1, number(1), number(scale)) for scale in (2, 4)]
    selection = AboveThreshold(number(3), *noises, neighbours=neighbours)
    claim = Claim(selection, number("1/8"), number("1/5"), sensitivity=number(1))
    for band in (trade_off_band, composition_band):
        with pytest.raises(Undecided, match="one order of the data alone; trade-offs and compositions ask for both"):
            band(claim)
    assert delta_band(claim, [0]).upper[0] is not None
