"""Parts in parallel: the greatest of their profiles, order by order."""

from fractions import Fraction

import pytest
from flint import arb

from dpverify.trusted.facts.pairs import Curve, Pair, symmetric
from dpverify.trusted.kernel.balls import precision, rational
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import parse
from dpverify.trusted.theories.composition.rules import parallel_composition
from dpverify.trusted.theories.curves.rules import gaussian


def laplace(ratio):
    return symmetric(lambda epsilon: (-((epsilon - rational(Fraction(ratio))) / 2).expm1()).max(arb(0)))


def exact(pair, rule="x"):
    return Curve(pair, pair, (rule,))


def test_the_upper_profile_is_the_greatest_at_each_epsilon():
    one, other = laplace("1/2"), gaussian.pair(parse("1/2"))
    with precision(64):
        found = parallel_composition.curve([exact(one, "a"), exact(other, "b")], 1)
        for epsilon in ("0", "1/4", "1/2", "2"):
            at = rational(Fraction(epsilon))
            assert found.upper.worst(at).overlaps(one.worst(at).max(other.worst(at)))
    assert found.lower is other and found.rules == (parallel_composition.NAME, "a", "b")
    assert parallel_composition.ASSUMED[0] in found.assumed


def test_orders_are_not_mixed():
    first = Pair(lambda e: arb("0.3"), lambda e: arb("0.1"))
    second = Pair(lambda e: arb("0.2"), lambda e: arb("0.4"))
    found = parallel_composition.curve([exact(first), exact(second)], 0).upper
    assert found.forward(arb(0)).overlaps(arb("0.3")) and found.backward(arb(0)).overlaps(arb("0.4"))


def test_one_part_without_a_bound_leaves_the_whole_without():
    found = parallel_composition.curve([exact(laplace(1)), Curve(None, laplace(1), ())], 0)
    assert found.upper is None and found.lower is not None


def test_one_part_alone_keeps_its_curve_exact():
    assert parallel_composition.curve([exact(laplace(1))], 0).exact


@pytest.mark.parametrize("index", [-1, 2, 7])
def test_an_index_of_no_part_is_rejected(index):
    with pytest.raises(Rejected):
        parallel_composition.curve([exact(laplace(1)), exact(laplace(2))], index)
