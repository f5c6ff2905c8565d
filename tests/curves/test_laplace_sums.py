"""Sums of Laplace losses: residues against direct integration of Irwin-Hall densities."""

from fractions import Fraction
from math import comb, factorial

import mpmath
import pytest
from flint import arb
from mpmath import mp, mpf

from dpverify.trusted.kernel.balls import precision, rational
from dpverify.trusted.kernel.errors import Undecided
from dpverify.trusted.kernel.expr import num, parse
from dpverify.trusted.theories.composition.rules import laplace_sums


def irwin_hall(count, x):
    """The density of a sum of `count` uniforms on (0, 1)."""
    return sum((-1) ** j * comb(count, j) * (x - j) ** (count - 1) for j in range(int(mpmath.floor(x)) + 1)) / factorial(count - 1)


def by_integration(eps0, k, epsilon):
    """E(1 - exp(epsilon - loss))_+, the loss split by the numbers of upper points, lower points and inner draws."""
    total = mpf(0)
    for up in range(k + 1):
        for down in range(k + 1 - up):
            inner = k - up - down
            ways = factorial(k) / (factorial(up) * factorial(down) * factorial(inner))
            # P-masses of the two points; the inner draws have P-density exp(-(eps0 - l)/2)/4
            mass = ways * mpf(0.5) ** up * (mpmath.exp(-eps0) / 2) ** down * (mpmath.exp(-eps0 / 2) * eps0 / 2) ** inner
            base = (up - down) * eps0
            if inner == 0:
                total += mass * max(0, 1 - mpmath.exp(epsilon - base))
                continue
            low = max(mpf(0), (epsilon - base) / (2 * eps0) + mpf(inner) / 2)
            if low >= inner:
                continue

            def integrand(x, base=base, inner=inner):
                inside = eps0 * (2 * x - inner)
                return irwin_hall(inner, x) * mpmath.exp(inside / 2) * (1 - mpmath.exp(epsilon - base - inside))

            cuts = [low, *(mpf(j) for j in range(inner + 1) if j > low)]
            total += mass * mpmath.quad(integrand, cuts, maxdegree=5)
    return total


def profile_of(groups):
    return laplace_sums.pair(groups).forward


def value(profile, epsilon, bits=96):
    with precision(bits):
        return profile(rational(Fraction(epsilon)))


def close(ball, expected, digits):
    middle = mpf(ball.mid().str(60, radius=False))
    assert ball.rel_accuracy_bits() > 3.33 * digits
    assert abs(middle - expected) <= abs(expected) * mpf(10) ** -digits


@pytest.mark.parametrize("k", [1, 2, 3, 5])
@pytest.mark.parametrize(("eps0", "share"), [("1/10", "0"), ("1", "1/3"), ("5/2", "9/10")])
def test_it_is_the_integral_over_upper_lower_and_inner_losses(k, eps0, share):
    with mp.workdps(40):
        size = mpf(Fraction(eps0).numerator) / Fraction(eps0).denominator
        epsilon = k * size * Fraction(share).numerator / Fraction(share).denominator
        expected = by_integration(size, k, epsilon)
        ball = value(profile_of([(parse(eps0), k)]), k * Fraction(eps0) * Fraction(share), 110)
        close(ball, expected, 22)


@pytest.mark.parametrize("epsilon", ["0", "1/7", "9/10", "1", "3"])
def test_one_mechanism_is_the_closed_form(epsilon):
    with mp.workdps(40):
        size = Fraction(epsilon)
        expected = max(mpf(0), -mpmath.expm1((mpf(size.numerator) / size.denominator - 1) / 2))
        ball = value(profile_of([(parse("1"), 1)]), epsilon)
        if expected == 0:
            assert ball.is_zero()
        else:
            close(ball, expected, 22)


def test_a_hundred_of_them_have_the_published_value():
    # the published value is for the double nearest to 0.1, which the 17th digit shows
    ball = value(profile_of([(num(Fraction(0.1)), 100)]), 2)
    with precision(96):
        assert abs(ball - arb("0.018575772699549757")) < arb("5e-19")
    exact = value(profile_of([(parse("0.1"), 100)]), 2)
    assert exact.rel_accuracy_bits() > 80
    assert not exact.overlaps(ball)


def test_a_sixty_four_bit_answer_contains_the_sharper_ones():
    profile = profile_of([(parse("0.1"), 100)])
    for epsilon in ("0", "1/3", "2", "77/10", "99/10"):
        assert value(profile, epsilon, 64).contains(value(profile, epsilon, 300).mid())
        assert value(profile, epsilon, 64).rel_accuracy_bits() >= 40


def test_tiny_deltas_are_as_accurate_as_others():
    # above (k - 2) eps0 only the sums of k upper points and of inner draws near the top are left
    with mp.workdps(60):
        size, k, epsilon = mpf(1) / 10, 3, mpf(3) / 10 - mpf(1) / 10**6
        expected = by_integration(size, k, epsilon)
        close(value(profile_of([(parse("1/10"), 3)]), Fraction(3, 10) - Fraction(1, 10**6)), expected, 18)
    far = value(profile_of([(parse("1/100"), 400)]), "399/100")
    assert 0 < far < arb(2) ** -300
    assert far.rel_accuracy_bits() > 60


def test_unequal_mechanisms_are_the_convolution_of_both():
    first, second = mpf("0.5"), mpf("1.25")
    epsilon = mpf("0.75")
    with mp.workdps(30):

        def one(size, at):  # the profile of one at any real epsilon
            return mpmath.mpf(0) if at >= size else 1 - mpmath.exp((max(at, -size) - size) / 2) if at > -size else 1 - mpmath.exp(at)

        def tail(loss):  # the other one's profile where the first has this loss
            return one(second, epsilon - loss)

        points = tail(first) / 2 + tail(-first) * mpmath.exp(-first) / 2
        inside = mpmath.quad(lambda loss: mpmath.exp(-(first - loss) / 2) / 4 * tail(loss), [-first, epsilon - second, first])
        ball = value(profile_of([(parse("1/2"), 1), (parse("5/4"), 1)]), "3/4")
        close(ball, points + inside, 18)


def test_groups_of_equals_are_one_group():
    split = value(profile_of([(parse("1/5"), 7), (parse("1/5"), 13)]), "6/5")
    whole = value(profile_of([(parse("1/5"), 20)]), "6/5")
    assert split.overlaps(whole)
    assert split.rel_accuracy_bits() > 70


def test_it_ends_at_the_basic_bound():
    profile = profile_of([(parse("1/10"), 10)])
    assert value(profile, 1) < arb(2) ** -60
    assert value(profile, 2).is_zero()
    assert value(profile, "999/1000") > 0


def test_it_is_convex_in_the_exponential_and_falls():
    profile = profile_of([(parse("1/3"), 6)])
    with precision(120):
        points = [(rational(Fraction(i, 7)).exp(), profile(rational(Fraction(i, 7)))) for i in range(14)]
        for (x, a), (y, b), (z, c) in zip(points, points[1:], points[2:], strict=False):
            assert a > b > c
            assert b * (z - x) < a * (z - y) + c * (y - x)


def test_a_wide_epsilon_is_enclosed():
    profile = profile_of([(parse("1/3"), 6)])
    with precision(64):
        wide = profile(arb(1).union(arb(1.5)))
        for epsilon in (arb(1), arb("1.25").mid(), arb(1.5)):
            assert wide.contains(profile(epsilon).mid())
        assert profile(arb(0, 0.25)).contains(profile(arb(0)).mid())


def test_the_two_orders_are_the_same():
    pair = laplace_sums.pair([(parse("1/10"), 3)])
    assert pair.forward is pair.backward


@pytest.mark.parametrize(
    ("groups", "why"),
    [
        ([("0", 3)], "positive"),
        ([("-1", 3)], "positive"),
        ([("x", 3)], "positive"),
        ([("log(1)", 3)], "positive"),
        ([("1", 100_000)], "privacy-loss distribution"),
        ([(f"1/{i}", 9) for i in range(2, 9)], "too many"),
    ],
)
def test_what_is_out_of_reach_is_undecided(groups, why):
    with pytest.raises(Undecided, match=why):
        profile_of([(parse(text), times) for text, times in groups])


def test_an_epsilon_that_is_not_enclosed_is_undecided():
    with pytest.raises(Undecided, match="not enclosed"):
        profile_of([(parse("1"), 2)])(arb("nan"))
