"""Mechanisms of bounded range, against their worst pairs one by one."""

from fractions import Fraction
from itertools import product

import mpmath
import pytest
from flint import arb
from mpmath import mp, mpf

from dpverify.trusted.kernel.balls import precision, rational
from dpverify.trusted.kernel.errors import Undecided
from dpverify.trusted.kernel.expr import parse
from dpverify.trusted.theories.composition.rules import bounded_range
from dpverify.trusted.theories.curves.rules import optimal_composition


def two_points(eta, t):
    p = (mpmath.exp(eta) - mpmath.exp(t)) / (mpmath.exp(eta) - 1)
    return [(p, t), (1 - p, t - eta)]


def composed(pairs, epsilon):
    """H of a product of pairs given by their losses under P."""
    total = mpf(0)
    for outcomes in product(*pairs):
        loss = mpmath.fsum(outcome[1] for outcome in outcomes)
        if loss > epsilon:
            total += mpmath.fprod(outcome[0] for outcome in outcomes) * -mpmath.expm1(epsilon - loss)
    return total


def middle(ball):
    assert ball.rel_accuracy_bits() > 70
    return mpf(ball.mid().str(40, radius=False))


def at(pair, epsilon):
    with precision(96):
        return pair.forward(rational(Fraction(epsilon)))


@pytest.mark.parametrize(("eta", "epsilon"), [("1", "0"), ("1", "1/2"), ("3", "1/5"), ("1/10", "9/100"), ("1/10", "99999/1000000")])
def test_one_mechanism_is_the_worst_of_all_two_point_pairs(eta, epsilon):
    with mp.workdps(50):
        size, level = (mpf(Fraction(x).numerator) / Fraction(x).denominator for x in (eta, epsilon))
        found = middle(at(bounded_range.pair(parse(eta)), epsilon))
        values = [composed([two_points(size, size * i / 400)], level) for i in range(401)]
        assert max(values) <= found * (1 + mpf(10) ** -20)
        best = composed([two_points(size, (size + level) / 2)], level)
        assert abs(best - found) <= mpf(10) ** -20 * found


def test_it_is_zero_from_eta_on():
    with precision(64):
        assert bounded_range.pair(parse("log(3)")).forward(arb(2)).is_zero()
        assert bounded_range.pair(parse("1/10")).forward(rational(Fraction(1, 10))) < arb(2) ** -60


def test_it_is_better_than_pure_of_the_same_epsilon_and_not_better_than_half():
    for epsilon in ("0", "1/5", "1/2"):
        assert at(bounded_range.pair(parse("1")), epsilon) < at(optimal_composition.pair(parse("1")), epsilon)
        assert at(bounded_range.pair(parse("1")), epsilon) >= at(optimal_composition.pair(parse("1/2")), epsilon) or epsilon == "0"


def test_a_wide_epsilon_is_enclosed():
    pair = bounded_range.pair(parse("1"))
    with precision(64):
        wide = pair.forward(arb(0.25).union(arb(0.75)))
        assert all(wide.contains(pair.forward(arb(x)).mid()) for x in (0.25, 0.5, 0.75))


def test_an_exponential_mechanism_stays_below_the_curve_of_its_range():
    with mp.workdps(30):
        beta, before, after = mpf(1), [mpf(0), mpf(1), mpf("0.5"), mpf(2)], [mpf(1), mpf(0), mpf("0.7"), mpf("2.5")]
        p, q = ([mpmath.exp(beta * u) / mpmath.fsum(mpmath.exp(beta * v) for v in scores) for u in scores] for scores in (before, after))
        pair = bounded_range.pair(parse("2"))  # twice beta times the sensitivity of the scores
        for epsilon in (Fraction(0), Fraction(1, 2), Fraction(1)):
            level = mpmath.exp(mpf(epsilon.numerator) / epsilon.denominator)
            delta = mpmath.fsum(max(mpf(0), a - level * b) for a, b in zip(p, q, strict=True))
            assert delta <= middle(at(pair, epsilon))


@pytest.mark.parametrize("eta", ["0", "-1", "x", "log(1)"])
def test_a_range_that_is_not_positive_is_undecided(eta):
    with pytest.raises(Undecided, match="positive"):
        bounded_range.pair(parse(eta))
