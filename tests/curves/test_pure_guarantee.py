"""A part of which only its pure epsilon is known: randomized response dominates it."""

from fractions import Fraction

import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from dpverify.search.composition import plans
from dpverify.trusted.combinators.runs import Run
from dpverify.trusted.kernel.balls import precision, rational
from dpverify.trusted.kernel.expr import num, parse
from dpverify.trusted.kernel.model import L1, Part, Radial
from dpverify.trusted.theories.curves.rules import pure_guarantee

F = Fraction
LAPLACE = Radial(parse("exp(-r)"), L1, num(1))
PREMISE = {"rule": "concave-exponent", "evidence": {"side": "upper"}}
tables = st.lists(st.tuples(st.integers(1, 20), st.integers(1, 20)), min_size=2, max_size=4)


def known(epsilon):
    """The curve of a mechanism of which a premise states this pure epsilon: Laplace noise on answers so far apart."""
    return plans.curve(Run(Part(LAPLACE, epsilon)), {"rule": pure_guarantee.NAME, "premise": PREMISE})


@given(tables, st.fractions(0, 2, max_denominator=8))
def test_no_pair_of_the_same_pure_epsilon_has_more(cells, epsilon):
    totals = [sum(cell[i] for cell in cells) for i in (0, 1)]
    p, q = ([F(cell[i], totals[i]) for cell in cells] for i in (0, 1))
    ratio = max(max(a / b, b / a) for a, b in zip(p, q, strict=True))
    with precision(80):
        found = known(parse(f"log({ratio})"))
        at = rational(epsilon)
        for one, other in ((p, q), (q, p)):
            excess = sum(((rational(a) - at.exp() * rational(b)).max(arb(0)) for a, b in zip(one, other, strict=True)), arb(0))
            assert not found.upper.worst(at) < excess - arb(2) ** -60


@pytest.mark.parametrize("epsilon", ["1/2", "3", "log(3)"])
def test_it_is_0_from_the_epsilon_on_and_known_from_above_alone(epsilon):
    with precision(80):
        found = known(parse(epsilon))
        assert found.lower is None and found.rules == (pure_guarantee.NAME, PREMISE["rule"])
        assert found.upper.worst(arb(3) + arb(2) ** -40) < arb(2) ** -60


def test_no_privacy_loss_is_no_delta():
    with precision(80):
        assert known(num(0)).upper.worst(arb(0)) < arb(2) ** -60
