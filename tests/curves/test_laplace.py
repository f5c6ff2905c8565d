"""Laplace curves: closed form, every spelling, and the domination of all splits of an l1 shift by one coordinate."""

from fractions import Fraction
from itertools import pairwise

import pytest
from flint import arb, fmpq
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp

from dpverify.trusted.facts.pairs import Pair
from dpverify.trusted.geometry.sensitivity import Sensitivity
from dpverify.trusted.kernel.balls import constant, precision, rational
from dpverify.trusted.kernel.compare import certainly_equal
from dpverify.trusted.kernel.errors import Rejected, Undecided
from dpverify.trusted.kernel.expr import Num, num, parse
from dpverify.trusted.kernel.model import L1, L2, LINF, Norm, Product, Radial, Translation
from dpverify.trusted.theories.curves.rules import laplace


def line(text):
    return Translation(parse(text))


def copies(count, norm=L1, text="exp(-abs(z))"):
    return Product(parse(text), num(count), norm)


def stated(text):
    return Sensitivity(parse(text), parse(text))


def real(value):
    return mp.mpf(value.numerator) / value.denominator


def by_integration(shift, epsilon):
    """The integral of (p - e^epsilon q)_+ for p at 0 and q at the shift, b = 1, piece by piece between all kinks."""
    with mp.workdps(60):
        t, e = real(shift), real(epsilon)

        def excess(z):
            return max(mp.exp(-abs(z)) - mp.exp(e - abs(z - t)), 0) / 2

        return mp.quad(excess, [-200, -20, -4, -1, 0]) + mp.quad(excess, sorted({mp.mpf(0), max(min((t - e) / 2, t), 0), t}))


def one_split(first, second, epsilon):
    """E over the first coordinate's output of the second coordinate's divergence at epsilon less the loss: a double integral."""
    with mp.workdps(30):
        r, s, e = map(real, (first, second, epsilon))

        def other(x):  # by its definition: four pieces of the line between the kinks of p - e^x q, p at 0 and q at s
            cut = (s - x) / 2 if -s < x < s else (mp.mpf("-inf") if x >= s else mp.mpf("inf"))
            below = lambda c, at: mp.exp(c - at) / 2 if c <= at else 1 - mp.exp(at - c) / 2  # noqa: E731
            return below(cut, 0) - mp.exp(x) * below(cut, s)

        def weighed(z):
            return mp.exp(-abs(z)) / 2 * other(e - (abs(z - r) - abs(z)))

        kinks = sorted({mp.mpf(0), r, *(k for k in ((r - e - s) / 2, (r - e + s) / 2) if 0 < k < r)})
        inner = sum((mp.quad(weighed, list(part)) for part in pairwise(kinks)), mp.mpf(0))
        return other(e - r) / 2 + inner + mp.exp(-r) / 2 * other(e + r)


def agrees(ball, value, digits):
    with precision(300):
        reference = arb(mp.nstr(value, 50)) * arb(1, "1e-45")
        return ball.overlaps(reference) and bool(ball.rad() < abs(ball.mid()) * arb(10) ** -digits)


@pytest.mark.parametrize(
    ("t", "epsilon"), [("1", "0"), ("2", "1"), ("1/10", "1/11"), ("50", "49"), ("50", "1/3"), ("1000001/1000000", "1")]
)
def test_the_closed_form_is_the_integral_and_keeps_its_digits_near_the_end(t, epsilon):
    value = by_integration(Fraction(t), Fraction(epsilon))
    for bits, digits in ((64, 12), (100, 20)):
        with precision(bits):
            assert agrees(laplace.profile(parse(t))(rational(Fraction(epsilon))), value, digits)
    with precision(300):
        exact = constant(laplace.delta_expr(parse(t), parse(epsilon)))
    assert agrees(exact, value, 30)


@given(
    st.fractions(Fraction(1, 20), 4, max_denominator=20),
    st.fractions(Fraction(1, 20), 4, max_denominator=20),
    st.fractions(0, 7, max_denominator=10),
)
def test_no_split_of_a_shift_over_two_coordinates_is_worse_than_one_coordinate(first, second, epsilon):
    split = one_split(first, second, epsilon)
    whole = laplace.profile(Num(first + second))(rational(epsilon))
    u, least = real(first + second - epsilon) / 2, min(real(first), real(second))
    proved = 1 - mp.exp(-u) * (1 + min(u, least) / 2) if u > 0 else mp.mpf(0)
    assert abs(split - proved) < mp.mpf(10) ** -12
    assert whole.upper() >= arb(mp.nstr(split, 20)) - arb("1e-12")


def test_below_zero_the_closed_form_is_that_of_the_exchanged_pair():
    with precision(100):
        for t in ("0", "1"):
            pair = laplace.curve(line("exp(-abs(z))"), stated(t)).upper
            dual = Pair(pair.forward, pair.backward)
            for epsilon in (arb(fmpq(1, 3)), arb(1), arb(4), arb(0)):
                assert pair.delta(-epsilon).overlaps(dual.delta(-epsilon))


def test_past_the_end_nothing_is_left_and_at_it_no_more_than_the_enclosure():
    profile = laplace.profile(parse("log(2)"))
    assert profile(arb(1)) == 0
    at_end = profile(arb(2).log())
    assert at_end.contains(0)
    assert at_end < arb("1e-15")


def test_a_wide_epsilon_gets_all_values_within_and_a_shapeless_one_an_error():
    profile = laplace.profile(parse("1"))
    wide = profile(arb(1, "1/2"))
    assert all(wide.contains(profile(arb(fmpq(k, 8)))) for k in range(4, 13))
    with pytest.raises(Undecided, match="not enclosed"):
        profile(arb("inf"))


@pytest.mark.parametrize(
    ("noise", "ratio"),
    [
        (line("exp(-abs(z)/3)"), "1/3"),
        (line("exp(-abs(z - 1/2))/2"), "1"),
        (line("exp(-abs(2*z + 1)/5)"), "2/5"),
        (line("exp(-max(z, -z))"), "1"),
        (line("exp(min(z, -z)/5)"), "1/5"),
        (line("exp(-sqrt(z**2))"), "1"),
        (line("exp(-abs(z))**2/7"), "2"),
        (Radial(parse("2**(-r)"), L2, num(1), parse("3")), "log(2)/3"),
        (Radial(parse("exp(-r)"), Norm("ellipsoid", matrix=((Fraction(4),),)), num(1)), "1"),
        (copies(5), "1"),
    ],
)
def test_one_laplace_in_many_spellings_and_by_coordinates(noise, ratio):
    assert certainly_equal(laplace.scale_ratio(noise, num(1)), parse(ratio))


@pytest.mark.parametrize(
    "noise",
    [
        line("exp(-max(z, -2*z))"),
        line("exp(-abs(z) - abs(z - 1))"),
        line("exp(abs(z))"),
        line("exp(-abs(z)**2)"),
        line("1/cosh(z)"),
        line("exp(-abs(z)*(1 + 1/(10**9 + z**2)))"),
        line("exp(-b*abs(z))"),
        Translation(parse("exp(-abs(z))"), (None, num(4))),
        Translation(parse("exp(-abs(z))"), integers=True),
        Radial(parse("exp(-r)"), L1, num(2)),
    ],
)
def test_what_is_not_certainly_laplace_has_no_curve(noise):
    assert laplace.scale_ratio(noise, num(1)) is None
    with pytest.raises(Rejected, match="not certainly exp"):
        laplace.curve(noise, stated("1"))


def test_a_norm_by_a_matrix_over_coordinates_and_a_negative_distance_are_refused():
    with pytest.raises(Rejected, match="in an lp norm"):
        laplace.scale_ratio(copies(1, Norm("ellipsoid", matrix=((Fraction(4),),))), num(1))
    with pytest.raises(Rejected, match="at least 0"):
        laplace.profile(parse("-1/9"))
    with pytest.raises(Rejected, match="at least 0"):
        laplace.delta_expr(parse("-1/9"), num(1))


def test_under_a_stated_l1_sensitivity_the_curve_of_copies_is_exact():
    curve = laplace.curve(copies(7), stated("3/2"), stated=True)
    assert curve.exact
    assert curve.upper.forward(arb(1)).overlaps(laplace.profile(parse("3/2"))(arb(1)))


def test_a_query_bounds_copies_from_below_by_the_coordinate_that_surely_moves():
    reach = Sensitivity(num(1), num(1), (Fraction(2, 3), Fraction(-1, 3)))
    assert laplace.curve(copies(2), reach).lower.forward(arb(0)).overlaps(laplace.profile(parse("2/3"))(arb(0)))
    assert laplace.curve(copies(2), stated("1")).lower.forward(arb(0)).overlaps(laplace.profile(parse("1/2"))(arb(0)))
    assert laplace.curve(copies(2), Sensitivity(num(1), num(1), (Fraction(0), Fraction(1)))).exact


def test_in_another_norm_copies_have_no_closed_form():
    assert laplace.scale_ratio(copies(4, L2), num(1)) is None
    assert laplace.scale_ratio(copies(4, LINF), num(1)) is None
    assert laplace.scale_ratio(copies(1, LINF), num(1)) == num(1)


def test_in_another_norm_copies_are_bounded_on_both_sides_of_an_even_split():
    curve = laplace.curve(copies(2, LINF), stated("1"), stated=True)
    split = one_split(Fraction(1), Fraction(1), Fraction(1, 2))
    assert curve.lower.forward(arb("1/2")) < arb(mp.nstr(split, 20)) < curve.upper.forward(arb("1/2"))
