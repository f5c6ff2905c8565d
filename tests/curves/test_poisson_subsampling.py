"""Poisson samples: the profile of the mixture of the two laws, computed for finite pairs by hand."""

from fractions import Fraction

import pytest
from flint import arb
from mpmath import mp

from dpverify.search.composition import plans
from dpverify.trusted.combinators.runs import Run
from dpverify.trusted.facts.pairs import Curve, Pair
from dpverify.trusted.kernel.balls import constant, precision, rational
from dpverify.trusted.kernel.expr import Num, num, parse
from dpverify.trusted.kernel.model import Compose, Part, Subsample, Table, repeated
from dpverify.trusted.theories.composition.rules import poisson_subsampling

F = Fraction
P, Q = (F(1, 2), F(1, 3), F(1, 6)), (F(1, 5), F(1, 5), F(3, 5))
EPSILONS = ["-2", "-1/3", "0", "1/10", "1/2", "2"]


def profile(p, q):
    def at(epsilon):
        return sum(((rational(a) - epsilon.exp() * rational(b)).max(arb(0)) for a, b in zip(p, q, strict=True)), arb(0))

    return at


def pair(p=P, q=Q):
    return Pair(profile(p, q), profile(q, p), everywhere=True)


def excess(p, q, epsilon):
    with mp.workdps(40):
        factor = mp.exp(real(F(epsilon)))
        return mp.fsum(max(real(a) - factor * real(b), 0) for a, b in zip(p, q, strict=True))


def real(x):
    return mp.mpf(x.numerator) / x.denominator


def agrees(ball, value):
    with precision(200):
        return ball.overlaps(arb(mp.nstr(value, 35)) + arb(0, 1) * arb(10) ** -30) and bool(ball.rad() < arb(10) ** -25)


@pytest.mark.parametrize("everywhere", [True, False])
@pytest.mark.parametrize("rate", [F(1, 100), F(1, 2), F(99, 100)])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_both_orders_are_those_of_the_mixture(rate, epsilon, everywhere):
    mixed = tuple(rate * a + (1 - rate) * b for a, b in zip(P, Q, strict=True))
    known = pair() if everywhere else Pair(profile(P, Q), profile(Q, P))
    with precision(128):
        found = poisson_subsampling.sampled(known, parse(str(rate)))
        at = constant(parse(epsilon))
        assert agrees(found.forward(at), excess(mixed, Q, epsilon))
        assert agrees(found.backward(at), excess(Q, mixed, epsilon))


def test_at_the_edge_where_the_other_order_ends_the_enclosure_holds():
    with precision(64):
        found = poisson_subsampling.sampled(pair(), parse("1/2"))
        edge = constant(parse("log(2)"))
        assert found.backward(edge).contains(0) and found.backward(edge + 1) == 0
        wide = rational(F(1, 2)).union(rational(F(1)))
        assert found.backward(wide).contains(found.backward(rational(F(3, 4))).mid())


@pytest.mark.parametrize(("first", "second", "left"), [((F(1), F(0)), (F(1, 2), F(1, 2)), 0), ((F(1, 2), F(1, 2)), (F(1), F(0)), F(1, 6))])
def test_only_what_the_output_with_the_record_alone_has_is_left_at_the_end(first, second, left):
    """At rate 1/3 nothing is the other's alone: the mixture can give all that it can."""

    def rest(p, q):
        return lambda: rational(sum(a for a, b in zip(p, q, strict=True) if b == 0))

    rests = rest(first, second), rest(second, first)
    known = Pair(profile(first, second), profile(second, first), rests=rests)
    with precision(128):
        found = poisson_subsampling.sampled(known, parse("1/3"))
        assert found.reversed.rests == found.rests[::-1]
        with mp.workdps(40):
            assert agrees(found.rest(), real(F(left))) and agrees(found.worst(arb(50)), real(F(left)))


def test_rate_1_keeps_the_pair_and_rate_0_leaves_nothing():
    same = pair()
    assert poisson_subsampling.sampled(same, num(1)) is same
    with precision(64):
        assert poisson_subsampling.sampled(same, num(0)).worst(arb(0)) == 0


def test_bounds_stay_on_their_side_and_exact_curves_exact():
    upper, lower, both = pair(), pair(Q, P), pair()
    with precision(64):
        apart = poisson_subsampling.curve(Curve(upper, lower, ("x",), ("y",)), parse("1/3"))
        exact = poisson_subsampling.curve(Curve(both, both, ()), parse("1/3"))
        half = poisson_subsampling.curve(Curve(both, None, ()), parse("1/3"))
    assert not apart.exact and apart.lower is not None and apart.rules == (poisson_subsampling.NAME, "x") and "y" in apart.assumed
    assert exact.exact and exact.below == (poisson_subsampling.LOWER,) and half.lower is None
    assert set(poisson_subsampling.ASSUMED) <= set(half.assumed)


@pytest.mark.parametrize(
    "rows", [((F(1, 2), F(1, 2), F(0)), (F(1, 5), F(1, 5), F(3, 5))), ((F(1, 5), F(1, 5), F(3, 5)), (F(1, 2), F(1, 2), F(0)))]
)
def test_either_of_two_inputs_may_have_the_record_whatever_the_evidence_says_of_their_order(rows):
    # three answers, of which 1 - (2/5)^3 can be given with the record alone if it is the second input that has it
    rate = F(1, 5)
    inner = Part(Compose((repeated(Part(Table(tuple(tuple(map(Num, row)) for row in rows))), Num(F(3))),)))
    joint = {"rule": "joint-neighbours", "above": {"plans": [{"rule": "finite-composition"}], "of": [0]}}
    with precision(100):
        found = plans.curve(Run(Part(Subsample(inner, Num(rate)))), {"rule": "poisson-subsampling", "part": joint})
        for epsilon in (F(0), F(1, 10), F(1), F(3)):
            assert float(found.upper.worst(rational(epsilon)).upper()) >= float(rate) * (1 - 0.4**3) - 1e-12
