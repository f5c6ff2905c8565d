"""What an audit asks: the claim as numbers rounded up, neighbours that are neighbours, and errors that say what is missing."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpverify.audits import audit, audit_query
from dpverify.audits.partition import CurvePoint
from dpverify.audits.plan import make_plan, number_up
from dpverify.errors import AuditError
from dpverify.trusted.kernel.expr import Num, parse
from dpverify.trusted.kernel.model import Claim, Domain, Norm, Query, Radial, Sampled, Table, Translation


def number(value):
    return Num(Fraction(value))


LINE = Radial(parse("exp(-r)"), Norm("lp", Fraction(1)), number(1))
CUBE = Radial(parse("exp(-r)"), Norm("lp", Fraction(2)), number(3))
CLAIM = Claim(LINE, number(1), sensitivity=number(1), name="c")
BLACK = Claim(Sampled(), number(1), name="b")


def moves(plan):
    """By how much the true answers of each pair differ."""
    return [(pair.answers[1] - pair.answers[0]).tolist() for pair in plan.pairs]


# -- the claim in numbers ----------------------------------------------------------------------------------------


@given(st.fractions(0, 10**6))
def test_a_number_is_rounded_up_by_little(value):
    rounded = Fraction(number_up(Num(value)))
    assert value <= rounded <= value * (1 + Fraction(1, 10**15)) + Fraction(1, 10**300)


@pytest.mark.parametrize("value", [0.0, 1.0, 0.5, 3.75, 1e6])
def test_a_number_that_is_a_short_decimal_of_floats_stays_itself(value):
    assert number_up(number(value)) == value


@pytest.mark.parametrize(("text", "digits"), [("log(3)", "1.09861228866810969140"), ("8*asinh(sqrt(5)/10)", "1.7742730175404607565")])
def test_an_expression_is_rounded_up_by_little(text, digits):
    """Digits: OEIS A002391; the other by interval arithmetic."""
    assert Fraction(digits) <= Fraction(number_up(parse(text))) <= Fraction(digits) * (1 + Fraction(1, 10**15))


def test_a_claim_of_numbers_is_one_point():
    plan = make_plan(Claim(Sampled(), number("1/2"), number("1e-5")), pairs=[(0, 1)])
    assert plan.curve == (CurvePoint(plan.epsilon, plan.delta),)
    assert plan.epsilon == 0.5 and Fraction(plan.delta) >= Fraction(1, 10**5) and plan.delta < 1.0000001e-5


def test_a_tight_epsilon_is_the_one_that_is_proved():
    """Two rows of 3/4 and 1/4: log(3) (theory#finite-table)."""
    rows = Table(((number("3/4"), number("1/4")), (number("1/4"), number("3/4"))))
    plan = make_plan(Claim(rows, None))
    assert math.log(3) <= plan.epsilon <= math.log(3) * (1 + 1e-14) and plan.delta == 0


def test_tight_with_a_delta_is_the_whole_declared_curve():
    """Laplace noise of scale 1 at sensitivity 1: delta(e) = 1 - exp((e - 1)/2) for e up to 1 (theory#laplace)."""
    for claim in (replace(CLAIM, delta=None), replace(CLAIM, epsilon=None, delta=number("1e-3"))):
        plan = make_plan(claim)
        assert len(plan.curve) > 5
        for point in plan.curve[:-1]:
            exact = max(1 - math.exp((point.epsilon - 1) / 2), 0)
            assert exact <= point.delta <= exact + 1e-8


def test_an_epsilon_that_is_claimed_keeps_its_tight_delta_within_the_chords_of_the_curve():
    """Laplace noise at epsilon 1/2: delta = 1 - exp(-1/4) (theory#laplace)."""
    plan = make_plan(replace(CLAIM, epsilon=number("1/2"), delta=None))
    assert plan.epsilon == 0.5 and plan.curve[-1] == CurvePoint(plan.epsilon, plan.delta)
    assert 1 - math.exp(-1 / 4) <= plan.delta <= 1 - math.exp(-1 / 4) + 1e-3
    assert make_plan(replace(CLAIM, epsilon=None, delta=number("1e-3"))).epsilon is None


# -- the inputs ---------------------------------------------------------------------------------------------------


def test_without_inputs_the_declaration_gives_the_worst_pair_and_pairs_for_floats():
    plan = make_plan(CLAIM)
    assert moves(plan) == [[1.0]] and plan.pairs[0].left.tolist() == [0.0]
    assert plan.float_pairs
    for pair in (*plan.pairs, *plan.float_pairs):
        assert 0 < abs(pair.answers[1] - pair.answers[0]).max() <= 1 + 1e-9
        assert pair.answers[0] is pair.left


def test_the_worst_pair_is_as_far_apart_as_the_sensitivity_in_the_declared_norm():
    for norm, of in ((Norm("lp", Fraction(1)), 1), (Norm("lp", Fraction(2)), 2), (Norm("lp", None), np.inf)):
        plan = make_plan(Claim(Radial(parse("exp(-r)"), norm, number(3)), number(2), sensitivity=number(2)))
        assert [np.linalg.norm(move, of) for move in moves(plan)] == pytest.approx([2.0] * len(plan.pairs))


def test_given_pairs_are_run_as_they_are_in_their_order():
    plan = make_plan(CLAIM, pairs=[([0.25], [1.0]), (2, 1)])
    assert [(pair.left, pair.right) for pair in plan.pairs] == [([0.25], [1.0]), (2, 1)]
    assert moves(plan) == [[0.75], [-1.0]] and plan.float_pairs == ()


def test_a_query_gives_the_true_answers():
    plan = make_plan(CLAIM, pairs=[([0, 1, 1], [0, 0, 1])], query=sum)
    assert [answer.tolist() for answer in plan.pairs[0].answers] == [[2.0], [1.0]]


def test_the_usual_patterns_that_are_no_neighbours_of_a_declaration_are_left_out():
    """Of the usual patterns only those that move one coordinate are within 1 in l2."""
    plan = make_plan(Claim(CUBE, number(1), sensitivity=number(1)), patterns="usual", length=3)
    assert plan.pairs and all(np.linalg.norm(move) == pytest.approx(1) for move in moves(plan))
    assert len(make_plan(BLACK, patterns="usual", length=3).pairs) == 8


@pytest.mark.wide
def test_pairs_of_a_strategy_follow_the_seed():
    vectors = st.lists(st.floats(-4, 4, width=16), min_size=1, max_size=1)
    first, again, other = (make_plan(CLAIM, patterns=vectors, seed=seed) for seed in (1, 1, 2))
    assert repr(first.pairs) == repr(again.pairs) != repr(other.pairs)
    assert all(abs(move[0]) <= 1 + 1e-9 for move in moves(first))


def test_a_move_of_the_query_beyond_the_sensitivity_is_run_though_it_is_no_pair_of_the_declaration():
    plan = make_plan(CLAIM, pairs=[([0, 0], [0, 3])], query=sum)
    assert plan.pairs[0].answers is None


# -- what cannot be asked ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claim", "arguments", "said"),
    [
        (replace(CLAIM, domains=(("scale", Domain(Fraction(0))),)), {}, "scale ranges over a domain"),
        (BLACK, {}, "say on which inputs"),
        (BLACK, {"patterns": "usual"}, "needs length"),
        (BLACK, {"pairs": [(0, 0)]}, "both inputs are 0"),
        (BLACK, {"pairs": [(np.zeros(3), np.zeros(3))]}, "both inputs are"),
        (BLACK, {"pairs": [0, 1]}, "no pair of inputs"),
        (BLACK, {"pairs": [[0], [1]]}, "no pair of inputs"),
        (BLACK, {"pairs": ["ab"]}, "no pair of inputs"),
        (BLACK, {"pairs": [(0, 1, 2)]}, "no pair of inputs"),
        (CLAIM, {"pairs": [(0, 1.5)]}, "further apart than the sensitivity"),
        (CLAIM, {"pairs": [([0, 0], [0, 1])]}, "that is declared answers with 1 number. If they are rows, name the function"),
        (CLAIM, {"pairs": [([1, 2, 3], [1, 2])]}, "no query is named, so that [1, 2, 3] and [1, 2] are taken for the true answers"),
        (CLAIM, {"pairs": [([{"age": 3}], [])]}, "no query is named"),
        (CLAIM, {"pairs": [("a", "b")]}, "not vectors of numbers"),
        (CLAIM, {"pairs": [("a", "b")], "query": str}, "the query gives no vectors of numbers"),
        (CLAIM, {"pairs": [([1], [1, 2])], "query": list}, "the query gives 1 number on [1] and 2 on [1, 2]"),
        (CLAIM, {"patterns": "usual", "length": 2}, "none of the patterns is a pair of neighbours of 1 answer at"),
        (CLAIM, {"query": sum}, "which data have them"),
        (CLAIM, {"patterns": 3}, "no Hypothesis strategy"),
        (replace(CLAIM, sensitivity=number(0)), {}, "moves no answer"),
        (replace(BLACK, epsilon=number(800)), {"pairs": [(0, 1)]}, "no sampler breaks a claim"),
        (replace(BLACK, epsilon=None), {"pairs": [(0, 1)]}, "no finite epsilon is known"),
        (replace(BLACK, delta=None), {"pairs": [(0, 1)]}, "curve, which is not known"),
        (Claim(Translation(parse("exp(-z**2)"), (None, None)), None, sensitivity=number(1)), {}, "no finite epsilon is known"),
    ],
)
def test_what_cannot_be_asked_is_an_error_that_names_the_claim_and_the_way_out(claim, arguments, said):
    with pytest.raises(AuditError) as caught:
        make_plan(claim, **arguments)
    assert said in str(caught.value), caught.value


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "what is claimed?"),
        ({"epsilon": "many"}, "is not a number"),
        ({"epsilon": "1/0"}, "is not a number"),
        ({"epsilon": math.inf}, "is not a number"),
        ({"epsilon": math.nan}, "is not a number"),
        ({"epsilon": -1}, "is negative"),
        ({"epsilon": 1, "delta": -1e-9}, "is negative"),
        ({"epsilon": 1, "delta": 1, "pairs": [(0, 1)]}, "no sampler breaks a claim"),
        ({"epsilon": 1, "confidence": 1.0}, "not between 0 and 1"),
        ({"epsilon": 1, "samples": 0}, "an audit needs some"),
        ({"epsilon": 1, "pairs": [(0, 1)], "workers": -1}, "workers = -1"),
        ({"epsilon": 1, "pairs": [(0, 1)], "timeout": 0}, "not a time"),
    ],
)
def test_arguments_that_make_no_sense_are_errors(arguments, said):
    with pytest.raises(AuditError) as caught:
        audit(lambda data, rng: 0, **arguments)
    assert said in str(caught.value), caught.value


# -- the search for a wrong query ----------------------------------------------------------------------------------


@pytest.mark.wide
def test_the_declared_sensitivity_of_a_query_is_searched_whether_stated_or_derived():
    """Three counts of which two are added: one record moves the sum by at most 1."""
    query = Query(((Fraction(1), Fraction(1), Fraction(0)),), "add-remove")
    claims = (CLAIM, Claim(LINE, number(1), query=query))
    for claim in claims:
        arguments = {"pairs": [([3, 1, 4], [3, 2, 4])], "adjacency": "add-remove"}
        assert audit_query(lambda data: [data[0] + data[1]], claim, **arguments) is None
        moved = audit_query(lambda data: [2 * (data[0] + data[1])], claim, **arguments)
        assert moved is not None and (moved.kind, moved.moved, moved.sensitivity) == ("moved", 2.0, 1.0)


def test_without_a_sensitivity_there_is_nothing_to_search():
    assert audit_query(lambda data: 100 * sum(data), BLACK, pairs=[([0], [1])]) is None
