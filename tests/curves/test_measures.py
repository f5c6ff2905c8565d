"""Conversions between privacy measures, against divergences integrated at 60 digits and against optimisation."""

from fractions import Fraction

import mpmath
import pytest
from flint import arb
from mpmath import mp, mpf

from dpverify.search.composition import stated_guarantee as proposed
from dpverify.search.divergences import orders as search
from dpverify.trusted.kernel.balls import constant, precision, rational
from dpverify.trusted.kernel.errors import Rejected, Undecided
from dpverify.trusted.kernel.expr import num, parse
from dpverify.trusted.theories.composition.rules import laplace_sums, stated_guarantee
from dpverify.trusted.theories.composition.rules import privacy_measures as conversions
from dpverify.trusted.theories.composition.rules.privacy_measures import Renyi
from dpverify.trusted.theories.curves.rules import gaussian, optimal_composition

DIGITS = 40
ORDERS = [Fraction(11, 10), Fraction(2), Fraction(13, 2), Fraction(40)]


def number(expr):
    with precision(160):
        ball = constant(expr)
    assert ball.rel_accuracy_bits() > 100
    return mpf(ball.mid().str(45, radius=False))


def near(a, b, digits=25):
    return abs(a - b) <= mpf(10) ** -digits * (1 + abs(b))


def epsilon_of(rho, delta, order):
    """The epsilon at delta of rho-zCDP by the divergence of one order (Canonne, Kamath & Steinke 2020, Proposition 12)."""
    a, left = real(order), mpf(delta)
    return a * real(Fraction(rho)) - (mpmath.log(left) + mpmath.log(a)) / (a - 1) + mpmath.log((a - 1) / a)


def delta_of(rho, epsilon, order):
    """The delta at epsilon of rho-zCDP by the divergence of one order."""
    return conversions.renyi_delta_bound(conversions.renyi_of_zcdp(parse(rho), order), parse(epsilon))


def real(fraction):
    return mpf(fraction.numerator) / fraction.denominator


# -- divergences -----------------------------------------------------------------------------------


@pytest.mark.sampled(2)
@pytest.mark.parametrize("order", ORDERS)
def test_the_gaussian_divergence_is_the_integral(order):
    with mp.workdps(DIGITS):
        a, mu = real(order), mpf("0.75")
        top = a * mu  # where p^a q^(1-a) is greatest, p at mu and q at 0
        whole = mpmath.quad(lambda x: mpmath.exp(-a * (x - mu) ** 2 / 2 - (1 - a) * x**2 / 2), [top - 20, top - 5, top, top + 5, top + 20])
        expected = mpmath.log(whole / mpmath.sqrt(2 * mpmath.pi)) / (a - 1)
        assert near(number(conversions.renyi_of_gaussian(parse("3/4"), order).divergence), expected)


@pytest.mark.parametrize("order", ORDERS)
def test_the_laplace_divergence_is_the_integral(order):
    with mp.workdps(DIGITS):
        a, shift = real(order), mpf("1.5")

        def integrand(x):
            return mpmath.exp(-a * abs(x) - (1 - a) * abs(x - shift)) / 2

        expected = mpmath.log(mpmath.quad(integrand, [-90, -20, -5, 0, shift, 5, 20, 90])) / (a - 1)
        assert near(number(conversions.renyi_of_laplace(parse("3/2"), order).divergence), expected)


@pytest.mark.parametrize("order", ORDERS)
def test_the_pure_divergence_is_that_of_randomized_response_and_the_greatest(order):
    with mp.workdps(DIGITS):
        a, size = real(order), mpmath.log(3)
        p, q = [mpf(3) / 4, mpf(1) / 4], [mpf(1) / 4, mpf(3) / 4]
        expected = mpmath.log(mpmath.fsum(x**a * y ** (1 - a) for x, y in zip(p, q, strict=True))) / (a - 1)
        found = number(conversions.renyi_of_pure(parse("log(3)"), order).divergence)
        assert near(found, expected)
        assert number(conversions.renyi_of_laplace(parse("log(3)"), order).divergence) < found < size


# -- to approximate differential privacy --------------------------------------------------------------


@pytest.mark.parametrize(("order", "epsilon"), [(Fraction(2), "1"), (Fraction(9), "3"), (Fraction(101, 100), "1/2")])
def test_the_constant_is_the_greatest_ratio(order, epsilon):
    # sup over losses l of (1 - e^(eps - l))_+ / e^((a - 1) l), times e^((a - 1) tau)
    with mp.workdps(DIGITS):
        a, level, tau = real(order), real(Fraction(epsilon)), mpf("0.25")
        best = level + mpmath.log(a / (a - 1))
        values = [(1 - mpmath.exp(level - x)) * mpmath.exp((a - 1) * (tau - x)) for x in (best, best - mpf("0.01"), best + mpf("0.01"))]
        assert values[0] > max(values[1:])
        assert near(number(conversions.renyi_delta_bound(Renyi(order, parse("1/4")), parse(epsilon))), values[0])


@pytest.mark.parametrize("epsilon", ["0", "1", "4"])
@pytest.mark.parametrize("order", ORDERS)
def test_the_bound_on_delta_is_never_below_a_mechanism(order, epsilon):
    with precision(96):
        at = rational(Fraction(epsilon))
        level = parse(epsilon)
        normal = conversions.renyi_delta_bound(conversions.renyi_of_gaussian(parse("1"), order), level)
        assert constant(normal) > gaussian.profile(parse("1"))(at)
        laplace = conversions.renyi_delta_bound(conversions.renyi_of_laplace(parse("2"), order), level)
        assert constant(laplace) > laplace_sums.pair([(parse("2"), 1)]).forward(at)
        response = conversions.renyi_delta_bound(conversions.renyi_of_pure(parse("2"), order), level)
        assert constant(response) > optimal_composition.pair(parse("2")).forward(at)


@pytest.mark.parametrize("delta", ["0.1", "1e-6", "1e-30"])
@pytest.mark.parametrize("order", [Fraction(3, 2), Fraction(7)])
def test_the_two_bounds_are_inverse_to_each_other(order, delta):
    with mp.workdps(DIGITS):
        epsilon = Fraction(mp.nstr(epsilon_of("2", delta, order), 38))
        back, wanted = number(conversions.renyi_delta_bound(Renyi(order, num(2 * order)), num(epsilon))), mpf(delta)
        assert abs(back - wanted) < wanted * mpf(10) ** -25


@pytest.mark.parametrize(("rho", "delta"), [("1/2", "1e-6"), ("1/100", "1e-10"), ("20", "1e-5")])
def test_the_search_finds_the_best_order_for_epsilon(rho, delta):
    order = search.zcdp_order_for_epsilon(float(Fraction(rho)), float(delta))
    best = (epsilon_of(rho, delta, order))
    with mp.workdps(DIGITS):
        for i in range(1, 200):
            other = 1 + (order - 1) * Fraction(i, 50)
            assert (epsilon_of(rho, delta, other)) >= best * (1 - mpf(10) ** -9)


@pytest.mark.parametrize(("rho", "epsilon"), [("1/2", "4"), ("1/100", "1"), ("2", "0")])
def test_the_search_finds_the_best_order_for_delta(rho, epsilon):
    order = search.zcdp_order_for_delta(float(Fraction(rho)), float(epsilon))
    best = number(delta_of(rho, epsilon, order))
    for i in range(1, 200):
        other = 1 + (order - 1) * Fraction(i, 50)
        assert number(delta_of(rho, epsilon, other)) >= best * (1 - mpf(10) ** -9)


def test_the_simple_conversion_of_zcdp_is_no_better():
    # Bun & Steinke: eps = rho + 2 sqrt(rho log(1/delta))
    order = search.zcdp_order_for_epsilon(0.5, 1e-6)
    with mp.workdps(DIGITS):
        simple = mpf("0.5") + 2 * mpmath.sqrt(mpf("0.5") * mpmath.log(10**6))
        assert (epsilon_of("1/2", "1e-6", order)) < simple


def test_points_of_many_orders_make_a_pair_above_the_mechanism():
    points = search.zcdp_points(parse("1/2"), [Fraction(i, 2) for i in range(1, 13)])
    implied = [stated_guarantee.implied(renyi, epsilon) for renyi, epsilon in points]
    pair = stated_guarantee.renyi_pair([points[i] for i in proposed.corners(implied)])
    with precision(96):
        for i in range(25):
            assert pair.forward(arb(i) / 4) > gaussian.profile(parse("1"))(arb(i) / 4)
        assert pair.forward(arb(4)) < constant(parse("2e-4"))
        for renyi, epsilon in points:
            bound = constant(conversions.renyi_delta_bound(renyi, epsilon))
            assert not pair.forward(constant(epsilon)) > bound * (1 + arb(2) ** -70)


def test_a_pair_of_no_useful_point_is_undecided():
    with pytest.raises(Undecided, match=r"in \[0, 1\]"):
        stated_guarantee.renyi_pair([(Renyi(Fraction(2), parse("50")), parse("1"))])


# -- concentrated -----------------------------------------------------------------------------------


@pytest.mark.parametrize("eps0", ["1/10", "1", "5"])
def test_pure_privacy_is_concentrated_and_no_less(eps0):
    rho = number(conversions.zcdp_of_pure(parse(eps0)))
    with mp.workdps(DIGITS):
        size = real(Fraction(eps0))
        assert rho <= size**2 / 2
        for order in (Fraction(1_000_001, 1_000_000), Fraction(3, 2), Fraction(2), Fraction(5), Fraction(100)):
            assert number(conversions.renyi_of_pure(parse(eps0), order).divergence) <= real(order) * rho
        nearly = number(conversions.renyi_of_pure(parse(eps0), Fraction(1_000_001, 1_000_000)).divergence)
        assert nearly > rho * (1 - mpf(10) ** -5)


@pytest.mark.parametrize("eta", ["1/10", "1", "5"])
def test_bounded_range_is_concentrated(eta):
    rho = number(conversions.zcdp_of_bounded_range(parse(eta)))
    with mp.workdps(DIGITS):
        size = real(Fraction(eta))
        for i in range(1, 20):
            t = size * i / 20
            p = (mpmath.exp(size) - mpmath.exp(t)) / (mpmath.exp(size) - 1)
            for a in (mpf("1.01"), mpf(2), mpf(8)):
                moment = p * mpmath.exp((a - 1) * t) + (1 - p) * mpmath.exp((a - 1) * (t - size))
                assert mpmath.log(moment) / (a - 1) <= a * rho


def test_gaussian_noise_is_concentrated_by_half_a_square():
    assert conversions.zcdp_of_gaussian(parse("3")) == parse("9/2")
    for order in ORDERS:
        assert conversions.renyi_of_zcdp(parse("9/2"), order) == conversions.renyi_of_gaussian(parse("3"), order)


# -- Gaussian ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", ["0", "1", "3"])
def test_gaussian_privacy_is_the_integral_over_the_better_side(epsilon):
    with mp.workdps(DIGITS), precision(110):
        level, mu = real(Fraction(epsilon)), mpf(3) / 4
        cut = mu / 2 - level / mu

        def excess(x):
            return (mpmath.exp(-(x**2) / 2) - mpmath.exp(level - (x - mu) ** 2 / 2)) / mpmath.sqrt(2 * mpmath.pi)

        expected = mpmath.quad(excess, [cut - 30, cut - 10, cut - 3, cut])
        ball = stated_guarantee.gdp_pair(parse("3/4")).forward(rational(Fraction(epsilon)))
        assert near(mpf(ball.mid().str(40, radius=False)) / expected, mpf(1), 20)


# -- hypotheses -------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [Fraction(1), Fraction(1, 2), Fraction(0), Fraction(-3)])
def test_an_order_of_at_most_one_is_undecided(order):
    for ask in (
        lambda: Renyi(order, parse("1")),
        lambda: conversions.renyi_of_laplace(parse("1"), order),
        lambda: conversions.renyi_of_pure(parse("1"), order),
    ):
        with pytest.raises(Undecided, match="above 1"):
            ask()


@pytest.mark.parametrize("value", ["-1", "x", "log(1/2)"])
def test_a_parameter_below_zero_or_open_is_undecided(value):
    bad = parse(value)
    for ask in (
        lambda: Renyi(Fraction(2), bad),
        lambda: conversions.renyi_of_laplace(bad, Fraction(2)),
        lambda: conversions.renyi_of_pure(bad, Fraction(2)),
        lambda: conversions.renyi_of_zcdp(bad, Fraction(2)),
        lambda: conversions.renyi_delta_bound(Renyi(Fraction(2), num(1)), bad),
        lambda: conversions.zcdp_of_pure(bad),
        lambda: conversions.zcdp_of_gaussian(bad),
        lambda: conversions.zcdp_of_bounded_range(bad),
        lambda: stated_guarantee.gdp_pair(bad),
    ):
        with pytest.raises((Undecided, Rejected), match="at least 0"):
            ask()
