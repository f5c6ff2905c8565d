"""Optimal composition of guarantees, against sums over every outcome."""

from fractions import Fraction
from itertools import product

import mpmath
import pytest
from flint import arb
from mpmath import mp, mpf

from dpverify.trusted.kernel.balls import constant, precision, rational
from dpverify.trusted.kernel.errors import Undecided
from dpverify.trusted.kernel.expr import ONE, ZERO, num, parse
from dpverify.trusted.theories.curves import optimal_delta
from dpverify.trusted.theories.curves.rules import optimal_composition
from dpverify.trusted.theories.curves.rules.optimal_composition import Part

DIGITS = 60


def mp_value(text):
    return {"log(2)": mpmath.log(2), "log(3)": mpmath.log(3)}.get(text) or mpf(Fraction(text).numerator) / Fraction(text).denominator


def worst(epsilon, delta):
    """P and Q of the four outcomes of Kairouz, Oh and Viswanath."""
    yes, no = mpmath.exp(epsilon) / (1 + mpmath.exp(epsilon)), 1 / (1 + mpmath.exp(epsilon))
    kept = [((1 - delta) * yes, (1 - delta) * no), ((1 - delta) * no, (1 - delta) * yes)]
    return [*kept, (delta, mpf(0)), (mpf(0), delta)] if delta else kept


def by_outcomes(parts, epsilon):
    """H of the product of the parts, outcome by outcome."""
    single = [worst(mp_value(e), mp_value(d)) for e, d, times in parts for _ in range(times)]
    total = mpf(0)
    for outcomes in product(*single):
        p = mpmath.fprod(outcome[0] for outcome in outcomes)
        q = mpmath.fprod(outcome[1] for outcome in outcomes)
        total += max(mpf(0), p - mpmath.exp(epsilon) * q)
    return total


def built(parts):
    return optimal_composition.composed([Part(parse(e), parse(d), times) for e, d, times in parts])


def close(ball, expected, digits):
    if expected == 0:
        assert abs(ball) < arb(2) ** -60
        return
    assert ball.rel_accuracy_bits() > 3.33 * digits
    assert abs(mpf(ball.mid().str(50, radius=False)) - expected) <= abs(expected) * mpf(10) ** -digits


@pytest.mark.parametrize("epsilon", ["0", "1/5", "1", "7/3"])
@pytest.mark.parametrize(
    "parts",
    [
        [("1", "0", 1)],
        [("1", "1/1000", 1)],
        [("1/3", "0", 9)],
        [("log(3)", "1e-9", 4)],
        [("1/2", "1/100", 2), ("log(2)", "0", 2), ("1/7", "1/50", 1)],
        [("0", "1/10", 2), ("1", "0", 3)],
    ],
)
def test_it_is_the_sum_over_all_outcomes(parts, epsilon):
    with mp.workdps(DIGITS):
        expected = by_outcomes(parts, mp_value(epsilon))
        with precision(96):
            close(built(parts).forward(rational(Fraction(epsilon))), expected, 20)


def test_ten_thousand_copies_agree_with_the_binomial_sum_at_sixty_digits():
    k, size, epsilon = 10_000, mpf("0.01"), mpf(2)
    with mp.workdps(DIGITS):
        size = mpf(1) / 100
        decay, weight, total = mpmath.exp(-size), (1 + mpmath.exp(-size)) ** -k, mpf(0)
        for i in range((k - 200) // 2):
            total += weight * (1 - mpmath.exp(epsilon - (k - 2 * i) * size))
            weight *= decay * (k - i) / (i + 1)
        with precision(96):
            close(optimal_composition.composed([Part(parse("1/100"), ZERO, k)]).forward(arb(2)), total, 20)


def test_a_loss_that_ties_with_epsilon_is_no_trouble():
    with precision(64):
        for i in range(6):  # 10 losses of 1/10: the sums are the multiples of 1/5
            ball = optimal_composition.composed([Part(parse("1/10"), ZERO, 10)]).forward(rational(Fraction(i, 5)))
            assert ball.rel_accuracy_bits() > 40 or i == 5
        assert optimal_composition.pair(parse("log(3)")).forward(arb(3).log()).abs_upper() < arb(2) ** -60


def test_a_wide_epsilon_is_enclosed():
    pair = built([("1/3", "1/1000", 7)])
    with precision(64):
        wide = pair.forward(arb(0).union(arb(1)))
        assert all(wide.contains(pair.forward(arb(i) / 4).mid()) for i in range(5))


def test_more_bits_stay_inside():
    pair = built([("1/10", "1e-12", 200), ("log(2)", "0", 3)])
    for epsilon in ("0", "3/2", "6", "20"):
        with precision(64):
            coarse = pair.forward(rational(Fraction(epsilon)))
        with precision(300):
            assert coarse.contains(pair.forward(rational(Fraction(epsilon))).mid())


def test_what_reveals_the_input_stays_at_every_epsilon():
    with precision(96):
        assert built([("1", "1/10", 1)]).forward(arb(50)).overlaps(rational(Fraction(1, 10)))
        assert built([("1", "1", 1)]).forward(arb(50)).overlaps(arb(1))
        assert built([("1", "0", 5)]).forward(arb(6)).is_zero()


def test_no_privacy_parameter_at_all_reveals_nothing():
    with precision(96):
        assert optimal_composition.pair(ZERO).forward(arb(0)).is_zero()


def test_the_closed_form_is_the_profile():
    with precision(110):
        for eps0, k, epsilon in (("1/2", 8, "2"), ("log(2)", 7, "log(2)"), ("1/3", 1, "1/4"), ("1/10", 40, "1")):
            expr = optimal_delta.delta_expr(parse(eps0), k, parse(epsilon))
            assert expr is not None
            profile = optimal_composition.composed([Part(parse(eps0), ZERO, k)]).forward
            exact_ends = constant(parse(epsilon))
            assert constant(expr).overlaps(profile(exact_ends))
            with mp.workdps(DIGITS):
                if k < 10:
                    close(constant(expr), by_outcomes([(eps0, "0", k)], mp_value(epsilon)), 20)


def test_the_closed_form_of_one_is_randomized_response():
    expr = optimal_delta.delta_expr(parse("log(3)"), 1, ZERO)
    with precision(96):
        assert constant(expr).overlaps(rational(Fraction(1, 2)))
    assert optimal_delta.delta_expr(parse("1"), 3, parse("3")) == ZERO


def test_no_closed_form_where_a_sign_is_uncertain_or_terms_are_many():
    assert optimal_delta.delta_expr(parse("1"), 10_000, parse("1")) is None
    assert optimal_delta.delta_expr(parse("1"), 3, parse("x")) is None
    assert optimal_delta.delta_expr(parse("1"), 3, num(-1)) is None


def test_the_basic_bound_is_never_better():
    parts = [Part(parse("1/2"), parse("1/1000"), 3), Part(parse("log(2)"), ZERO, 2)]
    epsilon, delta = parse("3/2 + 2*log(2)"), parse("3/1000")
    with precision(96):
        assert optimal_composition.composed(parts).forward(constant(epsilon)) < constant(delta)


def test_it_is_convex_in_the_exponential_and_falls():
    profile = built([("1/3", "1/1000", 5), ("1/2", "0", 2)]).forward
    with precision(120):
        points = [(rational(Fraction(i, 7)).exp(), profile(rational(Fraction(i, 7)))) for i in range(16)]
        for (x, a), (y, b), (z, c) in zip(points, points[1:], points[2:], strict=False):
            assert a > b > c
            assert not b * (z - x) > a * (z - y) + c * (y - x)


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        ([Part(num(-1))], "at least 0"),
        ([Part(parse("x"))], "at least 0"),
        ([Part(parse("log(x)"))], "at least 0"),
        ([Part(ONE, num(-1))], r"in \[0, 1\]"),
        ([Part(ONE, parse("1.0000001"))], r"in \[0, 1\]"),
        ([Part(ONE, parse("d"))], r"in \[0, 1\]"),
        ([Part(ONE, ZERO, 10**6)], "distinct sums"),
        ([Part(parse(f"1/{i}"), ZERO, 20) for i in range(1, 6)], "distinct sums"),
    ],
)
def test_what_is_no_guarantee_or_out_of_reach_is_undecided(parts, why):
    with pytest.raises(Undecided, match=why):
        optimal_composition.composed(parts)
