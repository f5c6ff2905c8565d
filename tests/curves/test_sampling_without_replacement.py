"""Samples of a fixed size, checked on a mechanism small enough to draw every sample."""

from fractions import Fraction
from itertools import combinations

import pytest
from flint import arb
from mpmath import mp

from dpverify.trusted.facts.pairs import Curve, Pair
from dpverify.trusted.kernel.balls import constant, precision, rational
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import num, parse
from dpverify.trusted.theories.composition.rules import sampling_without_replacement as rule

F = Fraction


def profile(p, q):
    def at(epsilon):
        return sum(((rational(a) - epsilon.exp() * rational(b)).max(arb(0)) for a, b in zip(p, q, strict=True)), arb(0))

    return at


def response(bits):
    """The parity of the sampled bits, told truthfully with probability 3/4."""
    return (F(3, 4), F(1, 4)) if sum(bits) % 2 else (F(1, 4), F(3, 4))


def on_samples(data, size):
    drawn = [response(chosen) for chosen in combinations(data, size)]
    return tuple(sum(row[i] for row in drawn) / len(drawn) for i in range(2))


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("epsilon", ["0", "1/10", "1/3", "1"])
def test_no_input_of_four_bits_has_more_than_the_bound(size, epsilon):
    part = Pair(profile((F(3, 4), F(1, 4)), (F(1, 4), F(3, 4))), profile((F(1, 4), F(3, 4)), (F(3, 4), F(1, 4))))
    with precision(100):
        bound = rule.curve(Curve(part, part, ()), parse(f"{size}/4")).upper
        at = constant(parse(epsilon))
        for rest in ((0, 0, 0), (0, 0, 1), (0, 1, 1), (1, 1, 1)):
            one, other = on_samples((0, *rest), size), on_samples((1, *rest), size)
            for p, q in ((one, other), (other, one)):
                assert not bound.worst(at) < profile(p, q)(at)


def test_the_bound_is_the_formula_of_balle_barthe_and_gaboardi():
    part = Pair(profile((F(3, 4), F(1, 4)), (F(1, 4), F(3, 4))), profile((F(1, 4), F(3, 4)), (F(3, 4), F(1, 4))))
    with precision(128), mp.workdps(40):
        found = rule.curve(Curve(part, part, ()), parse("1/4")).upper.worst(constant(parse("1/3")))
        inner = 1 + 4 * (mp.exp(mp.mpf(1) / 3) - 1)
        truth = (mp.mpf(3) / 4 - inner / 4) / 4
        assert found.overlaps(arb(mp.nstr(truth, 35)) + arb(0, 1) * arb(10) ** -30)


def test_where_all_other_records_are_equal_the_lower_bound_is_met():
    part = Pair(profile((F(3, 4), F(1, 4)), (F(1, 4), F(3, 4))), profile((F(1, 4), F(3, 4)), (F(3, 4), F(1, 4))))
    with precision(100):
        found = rule.curve(Curve(part, part, ()), parse("1/4"))
        one, other = on_samples((1, 0, 0, 0), 1), on_samples((0, 0, 0, 0), 1)
        at = constant(parse("1/4"))
        assert found.lower.forward(at).overlaps(profile(one, other)(at)) and found.lower.backward(at).overlaps(profile(other, one)(at))
        assert found.below == (rule.LOWER,) and rule.LOWER not in found.assumed and not found.lower.worst(at) > found.upper.worst(at)
        assert rule.curve(Curve(part, None, ()), parse("1/4")).lower is None


def test_the_whole_data_is_the_part():
    part = Pair(profile((F(1),), (F(1),)), profile((F(1),), (F(1),)))
    exact = Curve(part, part, ())
    with precision(64):
        assert rule.curve(exact, num(1)) is exact


@pytest.mark.parametrize("rate", ["0", "-1", "2", "p"])
def test_what_is_no_rate_is_rejected(rate):
    with precision(64), pytest.raises(Rejected):
        rule.curve(Curve(None, None, ()), parse(rate))
