"""Events behind divergences: their two probabilities, from the slope of the profile alone."""

from fractions import Fraction

import pytest
from flint import arb, fmpq
from mpmath import mp

from dpverify.search import events as event
from dpverify.search.curves.output_sets import decimals
from dpverify.trusted.facts.pairs import Pair
from dpverify.trusted.kernel.balls import precision, rational
from dpverify.trusted.kernel.expr import parse
from dpverify.trusted.theories.curves.rules import gaussian

F = Fraction


@pytest.mark.parametrize("epsilon", [F(0), F(1, 3), F(2)])
@pytest.mark.parametrize("mu", [F(1, 2), F(2)])
def test_the_probabilities_of_a_gaussian_half_line_are_enclosed(mu, epsilon):
    pair = gaussian.pair(parse(str(mu)))
    with precision(150), mp.workdps(40):
        p, q = event.probabilities(pair.forward, pair.forward, rational(epsilon))
        cut = mp.mpf(epsilon.numerator) / epsilon.denominator * mu.denominator / mu.numerator
        half = mp.mpf(mu.numerator) / mu.denominator / 2
        for ball, truth in ((p, mp.ncdf(half - cut)), (q, mp.ncdf(-half - cut))):
            assert ball.overlaps(arb(mp.nstr(truth, 36)) * (1 + arb(0, 1) * arb(10) ** -30))
            assert epsilon == 0 or ball.rad() < arb(10) ** -8


def steps(p, q):
    def profile(epsilon):
        return sum(((rational(a) - epsilon.exp() * rational(b)).max(arb(0)) for a, b in zip(p, q, strict=True)), arb(0))

    return profile


def test_at_a_kink_every_event_between_the_two_is_enclosed():
    with precision(120):
        profile = steps((F(3, 4), F(1, 4)), (F(1, 4), F(3, 4)))
        p, q = event.probabilities(profile, profile, arb(3).log())
    assert p.overlaps(arb(3) / 4) and q.contains(arb("0.1")) and q.rad() < arb(1) / 4


def test_the_worse_order_is_described():
    p, q = (F(1, 2), F(1, 2), F(0)), (F(1, 8), F(3, 4), F(1, 8))
    with precision(100):
        one, other = steps(p, q), steps(q, p)
        plain, turned = (event.between(pair, pair, arb(1)) for pair in (Pair(one, other), Pair(other, one)))
    assert "other order" not in plain["pair"] and "other order" in turned["pair"]
    assert plain["P"] == turned["P"] and plain["Q"] == turned["Q"]
    assert plain["P"].startswith(("0.5", "[0.49", "[0.5"))


def test_probabilities_too_small_to_write_out_are_still_enclosed():
    with precision(120):
        tiny = arb(2) ** -20000
        assert event._decimal(tiny)[0] == "0" and event._decimal(tiny)[1].endswith("e-1000")
        assert event._decimal(-tiny)[0].endswith("e-1000") and event._decimal(-tiny)[1] == "0"
        assert event._decimal(arb(0)) == ("0", "0")


@pytest.mark.parametrize(("ball", "text"), [(arb(fmpq(1, 2)), "0.500"), (arb(1) / 3, "[0.333, 0.334]"), (arb(0), "0")])
def test_decimals_are_rounded_outward(ball, text):
    assert decimals(ball, 3) == text


def test_what_is_too_small_to_write_out_is_still_enclosed():
    tiny = arb(2) ** -100000
    assert arb(decimals(tiny, 3)).contains(tiny)
