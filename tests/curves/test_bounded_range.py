"""Mechanisms of bounded range, against their worst pairs one by one."""

from fractions import Fraction
from itertools import product

import mpmath
import pytest
from flint import arb
from mpmath import mp, mpf

from dpverify.trusted.language.errors import Undecided
from dpverify.trusted.language.expr import parse
from dpverify.trusted.numbers.balls import precision, rational
from dpverify.trusted.rules.curves import optimal_composition
from dpverify.trusted.rules.guarantees import bounded_range


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


@pytest.mark.parametrize(("eta", "epsilon"), [("1", "1/2"), ("2", "1"), ("1/2", "0")])
@pytest.mark.parametrize("k", [2, 3])
def test_copies_fixed_in_advance_are_worst_with_equal_ends(k, eta, epsilon):
    with mp.workdps(30):
        size, level = (mpf(Fraction(x).numerator) / Fraction(x).denominator for x in (eta, epsilon))
        found = middle(at(bounded_range.fixed_copies(parse(eta), k), epsilon))
        steps = 24 if k == 2 else 9
        grid = [two_points(size, size * i / steps) for i in range(steps + 1)]
        assert max(composed(pairs, level) for pairs in product(grid, repeat=k)) <= found * (1 + mpf(10) ** -20)
        equal = max(composed([two_points(size, size * mpf(i) / 300)] * k, level) for i in range(301))
        assert found * mpf("0.99") < equal <= found * (1 + mpf(10) ** -20)


def test_one_copy_is_the_mechanism_itself():
    for epsilon in ("0", "1/3", "9/10"):
        assert at(bounded_range.fixed_copies(parse("1"), 1), epsilon).overlaps(at(bounded_range.pair(parse("1")), epsilon))


def test_many_copies_lie_between_half_and_full_pure_composition():
    low, high = (optimal_composition.composed([optimal_composition.Part(parse(e), parse("0"), 50)]) for e in ("1/10", "1/5"))
    found = bounded_range.fixed_copies(parse("1/5"), 50)
    for epsilon in ("1/2", "1"):
        assert at(low, epsilon) < at(found, epsilon) < at(high, epsilon)


def test_a_wide_epsilon_is_enclosed():
    for pair in (bounded_range.pair(parse("1")), bounded_range.fixed_copies(parse("1"), 4)):
        with precision(64):
            wide = pair.forward(arb(0.25).union(arb(0.75)))
            assert all(wide.contains(pair.forward(arb(x)).mid()) for x in (0.25, 0.5, 0.75))


def test_the_exponential_mechanism_has_twice_beta_times_the_sensitivity():
    assert bounded_range.exponential_range(parse("1/2"), parse("3")) == parse("3")
    assert bounded_range.exponential_range(parse("1/2"), parse("3"), same_direction=True) == parse("3/2")


def test_an_exponential_mechanism_stays_below_the_curve_of_its_range():
    with mp.workdps(30):
        beta, before, after = mpf(1), [mpf(0), mpf(1), mpf("0.5"), mpf(2)], [mpf(1), mpf(0), mpf("0.7"), mpf("2.5")]
        p, q = ([mpmath.exp(beta * u) / mpmath.fsum(mpmath.exp(beta * v) for v in scores) for u in scores] for scores in (before, after))
        pair = bounded_range.pair(bounded_range.exponential_range(parse("1"), parse("1")))
        for epsilon in (Fraction(0), Fraction(1, 2), Fraction(1)):
            level = mpmath.exp(mpf(epsilon.numerator) / epsilon.denominator)
            delta = mpmath.fsum(max(mpf(0), a - level * b) for a, b in zip(p, q, strict=True))
            assert delta <= middle(at(pair, epsilon))


@pytest.mark.parametrize("eta", ["0", "-1", "x", "log(1)"])
def test_a_range_that_is_not_positive_is_undecided(eta):
    with pytest.raises(Undecided, match="positive"):
        bounded_range.pair(parse(eta))
    with pytest.raises(Undecided, match="positive"):
        bounded_range.fixed_copies(parse(eta), 2)


def test_what_is_out_of_reach_or_no_mechanism_is_undecided():
    for k in (0, 100_000):
        with pytest.raises(Undecided, match="copies"):
            bounded_range.fixed_copies(parse("1"), k)
    for beta, sensitivity in (("-1", "1"), ("1", "-1"), ("b", "1")):
        with pytest.raises(Undecided, match="at least 0"):
            bounded_range.exponential_range(parse(beta), parse(sensitivity))
