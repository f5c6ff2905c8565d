"""Groups of a part known by its curve alone: the delta factor is there, and the bound is above the truth."""

from fractions import Fraction

import pytest
from flint import arb
from mpmath import mp

from dpverify.trusted.facts.pairs import Curve
from dpverify.trusted.kernel.balls import precision, rational
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import num, parse
from dpverify.trusted.theories.composition.rules import group_privacy
from dpverify.trusted.theories.curves.rules import gaussian as rule

F = Fraction


def gaussian(mu):
    pair = rule.pair(parse(str(mu)))
    return Curve(pair, pair, ("gaussian",))


def truth(mu, epsilon):
    with mp.workdps(40):
        mu, epsilon = mp.mpf(mu.numerator) / mu.denominator, mp.mpf(epsilon.numerator) / epsilon.denominator
        return mp.ncdf(mu / 2 - epsilon / mu) - mp.exp(epsilon) * mp.ncdf(-mu / 2 - epsilon / mu)


@pytest.mark.parametrize("size", [1, 2, 5])
@pytest.mark.parametrize("epsilon", [F(1, 4), F(1)])
def test_the_bound_is_the_formula_and_is_above_the_truth(size, epsilon):
    mu = F(1, 3)
    with precision(128), mp.workdps(40):
        found = group_privacy.curve(gaussian(mu), size, epsilon)
        at = found.upper.worst(rational(size * epsilon))
        e = mp.mpf(epsilon.numerator) / epsilon.denominator
        formula = truth(mu, epsilon) * mp.expm1(size * e) / mp.expm1(e)
        assert at.overlaps(arb(mp.nstr(formula, 35)) * (1 + arb(0, 1) * arb(10) ** -20))
        assert at >= arb(mp.nstr(truth(size * mu, size * epsilon), 35)) - arb(10) ** -20
    assert found.rules[0] == group_privacy.NAME and found.lower is not None


def test_the_bound_holds_at_every_epsilon():
    with precision(100), mp.workdps(40):
        upper = group_privacy.curve(gaussian(F(1, 2)), 3, F(1, 2)).upper
        for epsilon in (F(0), F(1, 2), F(1), F(3, 2), F(2), F(4)):
            exact = arb(mp.nstr(truth(F(3, 2), epsilon), 35))
            assert upper.worst(rational(epsilon)) >= exact - arb(10) ** -20


def test_delta_is_at_most_1():
    with precision(64):
        assert group_privacy.curve(gaussian(F(3)), 50, F(1)).upper.worst(arb(1)) <= 1 + arb(2) ** -40


@pytest.mark.parametrize(("size", "epsilon"), [(0, F(1)), (2, F(0)), (2, F(-1))])
def test_groups_of_nobody_and_epsilons_below_0_are_rejected(size, epsilon):
    with precision(64), pytest.raises(Rejected):
        group_privacy.curve(gaussian(F(1)), size, epsilon)


def test_a_part_without_an_upper_bound_has_no_group():
    with precision(64), pytest.raises(Rejected):
        group_privacy.curve(Curve(None, rule.pair(num(1)), ()), 2, F(1))
