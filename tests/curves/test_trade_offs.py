"""Trade-off functions: conjugates of profiles against closed forms and against tests that attain them."""

from fractions import Fraction

import mpmath
import pytest
from flint import arb
from mpmath import mp, mpf

from dpverify.trusted.facts.pairs import Pair
from dpverify.trusted.language.errors import Undecided
from dpverify.trusted.language.expr import ZERO, parse
from dpverify.trusted.numbers.balls import constant, exact, precision, rational
from dpverify.trusted.rules.composition import laplace_sums
from dpverify.trusted.rules.curves import optimal_composition
from dpverify.trusted.rules.guarantees import conversions, trade_offs

ERRORS = [Fraction(1, 10), Fraction(1, 2), Fraction(1, 1_000_000), Fraction(99, 100)]


def agree(ball, other, bits):
    assert ball.overlaps(other)
    assert (ball - other).abs_upper() < arb(2) ** -bits


@pytest.mark.parametrize("alpha", ERRORS)
@pytest.mark.parametrize("bits", [64, 110])
def test_the_conjugate_is_the_closed_form(alpha, bits):
    with precision(bits):
        one = parse("1")
        agree(trade_offs.trade_off(conversions.gdp_pair(one), alpha), trade_offs.gaussian(one, alpha), bits - 8)
        agree(trade_offs.trade_off(laplace_sums.pair(one, 1), alpha), trade_offs.laplace(one, alpha), bits - 8)
        agree(trade_offs.trade_off(optimal_composition.pair(one), alpha), trade_offs.randomized_response(one, alpha), bits - 8)
        found = trade_offs.trade_off(optimal_composition.guarantee(one, parse("1/100")), alpha)
        agree(found, trade_offs.guarantee_lower(one, parse("1/100"), alpha), bits - 8)


@pytest.mark.parametrize("alpha", ERRORS)
def test_the_gaussian_form_is_that_of_the_threshold_test(alpha):
    with mp.workdps(60), precision(96):
        level = mpf(alpha.numerator) / alpha.denominator
        cut = mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * level)
        expected = mpmath.ncdf(cut - mpf(3) / 2)
        ball = trade_offs.gaussian(parse("3/2"), alpha)
        assert abs(mpf(ball.mid().str(40, radius=False)) - expected) < mpf(10) ** -26
        assert ball.rad() < arb(2) ** -80


@pytest.mark.parametrize(("eps0", "alpha"), [("1", "1/10"), ("1", "1/4"), ("1", "3/4"), ("log(2)", "1/4"), ("0", "1/3")])
def test_the_laplace_form_is_that_of_the_threshold_test(eps0, alpha):
    # reject the null hypothesis Laplace(0, 1) above a cut, against Laplace(eps0, 1)
    with mp.workdps(60), precision(96):
        level = mpf(Fraction(alpha).numerator) / Fraction(alpha).denominator
        shift = {"log(2)": mpmath.log(2)}.get(eps0) or mpf(eps0)
        cut = -mpmath.log(2 * level) if level <= 0.5 else mpmath.log(2 * (1 - level))
        expected = mpmath.exp(cut - shift) / 2 if cut <= shift else 1 - mpmath.exp(shift - cut) / 2
        ball = trade_offs.laplace(parse(eps0), Fraction(alpha))
        assert abs(mpf(ball.mid().str(40, radius=False)) - expected) < mpf(10) ** -26


def test_the_null_hypothesis_is_the_second_of_the_pair():
    # P = (1/2, 1/2), Q = (1/4, 3/4): rejecting on the first outcome has errors 1/4 and 1/2
    def forward(epsilon):
        return (arb(1) / 2 - epsilon.exp() / 4).max(arb(0))

    def backward(epsilon):
        return (arb(3) / 4 - epsilon.exp() / 2).max(arb(0))

    with precision(64):
        agree(trade_offs.trade_off(Pair(forward, backward), Fraction(1, 4)), rational(Fraction(1, 2)), 50)
        agree(trade_offs.trade_off(Pair(backward, forward), Fraction(1, 2)), rational(Fraction(1, 4)), 50)


@pytest.mark.parametrize("epsilon", ["0", "1", "3"])
def test_the_profile_comes_back_from_the_trade_off_function(epsilon):
    one = parse("1")
    with precision(80):
        at = rational(Fraction(epsilon))
        agree(trade_offs.profile_at(lambda a: trade_offs.gaussian(one, exact(a)), at), conversions.gdp_pair(one).forward(at), 66)
        agree(trade_offs.profile_at(lambda a: trade_offs.laplace(one, exact(a)), at), laplace_sums.pair(one, 1).forward(at), 66)
        response = trade_offs.profile_at(lambda a: trade_offs.guarantee_lower(one, parse("1/100"), exact(a)), at)
        agree(response, optimal_composition.guarantee(one, parse("1/100")).forward(at), 66)


def test_a_supremum_is_enclosed_for_tops_of_every_shape():
    with precision(64):
        third = rational(Fraction(1, 3))
        cases = [
            (lambda x: -(x - third) * (x - third), 0),
            (lambda x: -abs(x - third), 0),
            (lambda x: x, 1),
            (lambda x: -x, 0),
            (lambda x: arb(5), 5),
            (lambda x: (x / 2).min(third).min(1 - x), Fraction(1, 3)),
            (lambda x: -(64 * (x - third)).cosh(), -1),
        ]
        for function, top in cases:
            agree(trade_offs.concave_supremum(function, Fraction(0), Fraction(1)), rational(Fraction(top)), 50)


def test_a_function_that_is_not_enclosed_is_undecided():
    with pytest.raises(Undecided, match="not enclosed"):
        trade_offs.concave_supremum(lambda x: arb("nan"), Fraction(0), Fraction(1))


@pytest.mark.parametrize("alpha", [Fraction(1, 20), Fraction(1, 2), Fraction(9, 10)])
def test_a_renyi_bound_is_below_the_mechanism_and_near_its_own_edge(alpha):
    with precision(96):
        renyi = conversions.renyi_of_gaussian(parse("1"), Fraction(3))
        found = trade_offs.renyi_lower(renyi, alpha)
        assert 0 < found < 1 - alpha
        assert rational(found) < trade_offs.gaussian(parse("1"), alpha)
    with mp.workdps(40):
        a, b = mpf(alpha.numerator) / alpha.denominator, mpf(found.numerator) / found.denominator

        def greater(x):
            forward = (1 - x) ** 3 * a**-2 + x**3 * (1 - a) ** -2
            backward = a**3 * (1 - x) ** -2 + (1 - a) ** 3 * x**-2
            return max(forward, backward) - mpmath.exp(3)  # (a - 1) tau = 2 * 3/2

        assert greater(b * (1 - mpf(10) ** -15)) > 0 > greater(b * (1 + mpf(10) ** -15))


def test_a_renyi_bound_is_below_randomized_response_of_the_same_divergence():
    with precision(64):
        renyi = conversions.renyi_of_pure(parse("1"), Fraction(50))
        for alpha in ERRORS:
            response = trade_offs.randomized_response(parse("1"), alpha)
            assert rational(trade_offs.renyi_lower(renyi, alpha)) < response.upper()


def test_at_the_ends_there_is_nothing_to_test():
    with precision(64):
        assert trade_offs.gaussian(parse("1"), Fraction(0)) == 1
        assert trade_offs.gaussian(parse("1"), Fraction(1)) == 0
        assert trade_offs.laplace(parse("1"), Fraction(0)) == 1
        assert trade_offs.laplace(parse("1"), Fraction(1)).is_zero()
        assert trade_offs.trade_off(conversions.gdp_pair(parse("1")), Fraction(1)).is_zero()
        agree(trade_offs.gaussian(ZERO, Fraction(1, 3)), constant(parse("2/3")), 50)


def test_what_is_no_error_or_no_parameter_is_undecided():
    one = parse("1")
    for alpha in (Fraction(-1, 2), Fraction(3, 2)):
        for ask in (trade_offs.gaussian, trade_offs.laplace, trade_offs.randomized_response):
            with pytest.raises(Undecided, match="probability"):
                ask(one, alpha)
        with pytest.raises(Undecided, match="probability"):
            trade_offs.trade_off(optimal_composition.pair(one), alpha)
    for ask in (trade_offs.gaussian, trade_offs.laplace, trade_offs.randomized_response):
        with pytest.raises(Undecided, match="at least 0"):
            ask(parse("-1"), Fraction(1, 2))
    with pytest.raises(Undecided, match="unbounded"):
        trade_offs.trade_off(optimal_composition.pair(one), Fraction(0))
    with pytest.raises(Undecided, match="strictly"):
        trade_offs.renyi_lower(conversions.renyi_of_pure(one, Fraction(2)), Fraction(1))
    with pytest.raises(Undecided, match="at most 1"):
        trade_offs.guarantee_lower(one, parse("2"), Fraction(1, 2))
