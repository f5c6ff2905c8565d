"""The exponential mechanism's general bound 2 beta Delta_u (theory#exponential-general)."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpverify.search.additive import exponential as search
from dpverify.search.finite import finite_table as table
from dpverify.trusted.kernel.balls import precision
from dpverify.trusted.kernel.compare import certainly_equal, certainly_le
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import num, parse
from dpverify.trusted.kernel.model import Claim, Domain, Exponential, KaryResponse
from dpverify.trusted.theories.finite.rules import exponential_general
from dpverify.trusted.theories.finite.rules import finite_table as finite
from tests.effort import examples


def claim(scores, beta="1", adjacent=None, **fields):
    return Claim(Exponential(tuple(tuple(parse(str(s)) for s in row) for row in scores), parse(beta), adjacent), None, **fields)


def bound(given_claim):
    (step,) = search.propose(given_claim, 20)
    with precision(128):
        return exponential_general.check(given_claim, step["evidence"])


def test_the_bound_is_twice_beta_times_the_sensitivity_of_the_scores():
    found = bound(claim([[0, 3], [1, 1]], "1/2"))
    assert found.side == "upper" and found.value == num(2)
    assert found.also == {"general bound 2 beta Delta_u": "2"}


def test_it_holds_for_every_beta_at_once():
    everywhere = claim([[0, 3], [1, 1]], "beta", domains=(("beta", Domain(Fraction(0))),))
    assert certainly_equal(bound(everywhere).value, parse("4*beta"), dict(everywhere.domains))


def test_irrational_scores_are_compared_exactly():
    assert certainly_equal(bound(claim([[0, "sqrt(2)"], ["3/2", 0]])).value, num(3))


def test_only_adjacent_rows_count():
    assert bound(claim([[0], [1], [5]], adjacent=((0, 1),))).value == num(2)


@settings(max_examples=examples(25), deadline=None)
@given(st.lists(st.lists(st.integers(-3, 3), min_size=3, max_size=3), min_size=2, max_size=3))
def test_it_is_never_below_the_exact_value(scores):
    c = claim(scores, "1/3")
    with precision(128):
        exact = [finite.check(c, step["evidence"]) for step in table.propose(c, 20)]
    assert all(certainly_le(b.value, bound(c).value) for b in exact)


def test_in_a_metric_space_the_distance_stands_for_the_sensitivity():
    points = ((num(0),), (num(1),), (num(3),))
    scores = tuple(tuple(num(-abs(a[0].value - b[0].value)) for b in points) for a in points)
    everyone = Claim(Exponential(scores, parse("1/2"), None, points, "l1"), None)
    assert bound(everyone).value == num(1)
    near = Claim(Exponential(scores, parse("1/2"), None, points, "l1"), None, sensitivity=num(3))
    assert bound(near).value == num(3)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (claim([[0, 1], [1, 0]], "-1"), "negative"),
        (claim([[0, 2], [2, 0]], sensitivity=num(1)), "sensitivity"),
        (claim([[0, 1], [1]]), "length"),
        (Claim(KaryResponse(num(2), parse("1/2")), None), "exponential mechanism"),
        (Claim(Exponential(((num(0), num(-2)), (num(-2), num(0))), num(1), None, ((num(0),), (num(1),)), "l1"), None), "minus"),
    ],
)
def test_a_hypothesis_that_fails_is_named(wrong, why):
    with pytest.raises(Rejected, match=why):
        exponential_general.check(wrong, {})
