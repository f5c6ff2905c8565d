"""Gaussian parts compose to one Gaussian, whatever their dimensions; others are refused."""

from fractions import Fraction

import pytest
from flint import arb
from mpmath import mp

from dpverify.trusted.combinators.runs import merged
from dpverify.trusted.kernel.balls import constant, precision, rational
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import Num, num, parse
from dpverify.trusted.kernel.model import L1, L2, Compose, Norm, Part, Product, Query, Radial, repeated
from dpverify.trusted.theories.composition import gaussian_queries
from dpverify.trusted.theories.composition.rules import gaussian_composition

F = Fraction


def gaussian(sigma, sensitivity=1, times=1, dimension=1, norm=L2):
    noise = Radial(parse("exp(-r**2/2)"), norm, num(dimension), Num(F(sigma)))
    return repeated(Part(noise, Num(F(sensitivity))), num(times))


def curve(*parts):
    return gaussian_composition.curve(merged(Part(Compose(parts))))


def truth(mu, epsilon):
    return mp.ncdf(mu / 2 - epsilon / mu) - mp.exp(epsilon) * mp.ncdf(-mu / 2 - epsilon / mu)


@pytest.mark.parametrize(
    ("parts", "square"),
    [
        ([gaussian(2)], F(1, 4)),
        ([gaussian(2, times=4)], F(1)),
        ([gaussian(2), gaussian(3, 2, dimension=5)], F(1, 4) + F(4, 9)),
        ([gaussian(5, "1/2", times=100), gaussian(1)], F(2)),
    ],
)
def test_the_squares_of_the_shifts_add(parts, square):
    with precision(128), mp.workdps(40):
        found = curve(*parts)
        assert found.exact and found.rules == (gaussian_composition.NAME,)
        for epsilon in (F(0), F(1, 2), F(3)):
            exact = truth(mp.sqrt(mp.mpf(square.numerator) / square.denominator), mp.mpf(epsilon.numerator) / epsilon.denominator)
            assert found.upper.worst(rational(epsilon)).overlaps(arb(mp.nstr(exact, 36)) * (1 + arb(0, 1) * arb(10) ** -28))


def test_a_query_gives_its_own_shift():
    noise = Radial(parse("exp(-r**2/2)"), L2, num(2), num(1))
    asked = Part(noise, None, Query(((F(1), F(0)), (F(1), F(2))), "add-remove"))
    with precision(80):
        assert gaussian_composition.total(merged(Part(Compose((asked, asked))))) == parse("sqrt(8)")


@pytest.mark.parametrize(
    "other",
    [
        Part(Radial(parse("exp(-r)"), L1, num(1)), num(1)),
        gaussian(1, dimension=2, norm=Norm("lp", Fraction(3))),
        Part(Product(parse("exp(-abs(z))"), num(2)), num(1)),
    ],
)
def test_a_part_that_is_not_gaussian_is_rejected(other):
    with precision(80), pytest.raises(Rejected):
        curve(gaussian(1), other)


def asked(rows, sigma=1, norm=L2):
    return Part(Radial(parse("exp(-r**2/2)"), norm, num(len(rows)), parse(str(sigma))), None, Query(rows, "l2"))


@pytest.mark.parametrize("attained", [True, False])
def test_real_histograms_close_in_l2_move_all_gaussian_answers_by_the_largest_eigenvalue(attained):
    runs = merged(Part(Compose((asked(((F(1), F(1)),)), asked(((F(0), F(1)),))))))
    [(indices, square)] = gaussian_queries.shared(runs, attained)
    # F'F = [[1, 1], [1, 2]], whose largest eigenvalue is (3 + sqrt 5)/2
    assert indices == [0, 1] and float(constant(square).mid()) == pytest.approx((3 + 5**0.5) / 2, rel=1e-12)


@pytest.mark.parametrize(
    "other",
    [
        asked(((F(0), F(1)),), norm=Norm("ellipsoid", None, ((F(2),),))),
        asked(((F(0), F(1)), (F(1), F(0))), norm=Norm("ellipsoid", None, ((F(2), F(1)), (F(1), F(2))))),
        asked(((F(0), F(1)),), sigma="pi"),
    ],
)
def test_under_l2_nothing_is_known_of_gaussian_answers_of_other_covariances_or_irrational_sizes(other):
    runs = merged(Part(Compose((asked(((F(1), F(1)),)), other))))
    assert gaussian_queries.shared(runs, attained=False) == []
    assert [square for _, square in gaussian_queries.shared(runs, attained=True)] == [None]


def test_squares_too_long_to_add_are_rounded_to_either_side():
    sigmas = [F(20 + i, 7) + F(1, 10**15 + 2 * i + 1) for i in range(300)]
    exact = sum(1 / sigma**2 for sigma in sigmas)
    runs = merged(Part(Compose(tuple(map(gaussian, sigmas)))))
    with precision(18_000):
        high, low = (constant(gaussian_composition.total(runs, attained=side)) ** 2 for side in (False, True))
        # each of the numbers is moved, by less than 2^-1000 of it
        assert low < rational(exact) < high
        assert high - low < rational(exact) * arb(2) ** -1000
