"""Tables and finite exponential mechanisms: the exact value (theory#finite-table)."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpverify.search.finite import finite_table as search
from dpverify.trusted.kernel.balls import precision
from dpverify.trusted.kernel.bounds import INFINITE
from dpverify.trusted.kernel.compare import certainly_equal
from dpverify.trusted.kernel.errors import CertificateError, Rejected
from dpverify.trusted.kernel.expr import num, parse
from dpverify.trusted.kernel.model import Claim, Domain, Exponential, Table
from dpverify.trusted.theories.finite.rules import finite_table as finite
from tests.effort import examples


def exprs(rows):
    return tuple(tuple(parse(str(entry)) for entry in row) for row in rows)


def table(rows, adjacent=None, **fields):
    return Claim(Table(exprs(rows), adjacent), None, **fields)


def check(claim, **evidence):
    with precision(128):
        return finite.check(claim, evidence)


def bounds(claim):
    steps = search.propose(claim, 20)
    return {bound.side: bound for bound in (check(claim, **step["evidence"]) for step in steps)}


RESPONSE = table([["3/4", "1/4"], ["1/4", "3/4"]])


def test_randomized_response_costs_the_log_of_the_odds():
    found = bounds(RESPONSE)
    assert found["upper"].value == found["lower"].value == parse("log(3)")
    assert found["lower"].witness == {"pair": [0, 1], "event": "{0}", "P": "3/4", "Q": "1/4"}


def test_randomized_response_at_irrational_odds_costs_exactly_epsilon():
    truth, lie = "exp(1)/(1 + exp(1))", "1/(1 + exp(1))"
    found = bounds(table([[truth, lie], [lie, truth]]))
    assert certainly_equal(found["upper"].value, num(1)) and certainly_equal(found["lower"].value, num(1))


def test_parameters_may_range_over_a_domain_and_be_fixed_for_a_lower_bound():
    claim = table([["p", "1 - p"], ["1 - p", "p"]], domains=(("p", Domain(Fraction(1, 2), Fraction(1))),))
    assert certainly_equal(check(claim, cells=[[0, 1, 0]]).value, parse("log(p/(1 - p))"), dict(claim.domains))
    fixed = check(claim, cell=[0, 1, 0], at={"p": "3/4"})
    assert certainly_equal(fixed.value, parse("log(3)")) and fixed.at == {"p": parse("3/4")}
    with pytest.raises(Rejected, match="outside"):
        check(claim, cell=[0, 1, 0], at={"p": "1/4"})


def test_a_greatest_ratio_that_is_no_rational_number_is_above_those_that_are():
    found = bounds(table([["exp(-1)", "1 - exp(-1)"], ["1/2", "1/2"], ["2/5", "3/5"]]))
    for side in ("upper", "lower"):
        assert certainly_equal(found[side].value, parse("1 - log(2)"))


@st.composite
def rational_tables(draw):
    width = draw(st.integers(2, 4))
    rows = [draw(st.lists(st.integers(1, 9), min_size=width, max_size=width)) for _ in range(draw(st.integers(2, 4)))]
    return [[Fraction(entry, sum(row)) for entry in row] for row in rows]


@settings(max_examples=examples(40), deadline=None)
@given(rational_tables())
def test_the_bounds_meet_at_the_greatest_ratio(rows):
    greatest = max(p / q for row in rows for other in rows for p, q in zip(row, other, strict=True))
    found = bounds(table(rows))
    assert certainly_equal(found["upper"].value, parse(f"log({greatest})"))
    assert certainly_equal(found["lower"].value, found["upper"].value)


def test_only_adjacent_pairs_count():
    rows = [["1/2", "1/2"], ["1/3", "2/3"], ["1/9", "8/9"]]
    assert certainly_equal(bounds(table(rows, ((0, 1), (1, 2))))["upper"].value, parse("log(3)"))
    assert certainly_equal(bounds(table(rows))["upper"].value, parse("log(9/2)"))
    with pytest.raises(Rejected, match="adjacent"):
        check(table(rows, ((0, 1),)), cell=[0, 2, 0])


def test_a_zero_that_faces_a_non_zero_is_infinite():
    claim = table([["1/2", "1/2", 0], [0, "1/2", "1/2"]])
    assert bounds(claim)["lower"].value is INFINITE
    with pytest.raises(Rejected, match="zero"):
        check(claim, cells=[[0, 1, 1]])
    with pytest.raises(Rejected, match="bounds nothing"):
        check(claim, cell=[1, 0, 0])


def test_zeros_that_face_each_other_cost_nothing():
    assert bounds(table([["1/3", "2/3", 0], ["2/3", "1/3", 0]]))["upper"].value == parse("log(2)")


def test_a_named_cell_that_is_not_the_greatest_is_refused():
    with pytest.raises(Rejected, match="named maximum"):
        check(RESPONSE, cells=[[0, 1, 1]])
    with pytest.raises(Rejected):
        check(RESPONSE, cells=[])
    for cell in ([0, 1], [0, 1, "0"], "abc", None):
        with pytest.raises(CertificateError):
            check(RESPONSE, cells=[cell])
    for cell in ([0, 0, 0], [0, 2, 0], [0, 1, 2], [0, 1, -1]):
        with pytest.raises(Rejected, match="not an adjacent pair"):
            check(RESPONSE, cells=[cell])


def exponential(scores, beta="1", **fields):
    return Claim(Exponential(exprs(scores), parse(beta), fields.pop("adjacent", None)), None, **fields)


def metric(points, beta="1", name="l1", **fields):
    rows = exprs(points)
    distances = [[f"-({'+'.join(f'abs(({a})-({b}))' for a, b in zip(x, y, strict=True))})" for y in points] for x in points]
    return Claim(Exponential(exprs(distances), parse(beta), None, rows, name), None, **fields)


def test_the_exponential_mechanism_on_two_symmetric_scores_is_randomized_response():
    assert certainly_equal(bounds(exponential([[1, 0], [0, 1]], "log(3)"))["upper"].value, parse("log(3)"))


def test_rows_shifted_by_a_constant_cost_nothing():
    assert certainly_equal(bounds(exponential([[0, 1, 5], [7, 8, 12]]))["upper"].value, num(0))


def test_a_sensitivity_below_that_of_the_scores_is_refused():
    assert check(exponential([[0, 2], [2, 0]], sensitivity=num(2)), cell=[0, 1, 1]).side == "lower"
    with pytest.raises(Rejected, match="sensitivity"):
        check(exponential([[0, 2], [2, 0]], sensitivity=num(1)), cell=[0, 1, 1])


def test_two_points_cost_beta_per_unit_of_distance():
    # normalisers are equal, so that the factor 2 of the general bound is not paid
    found = bounds(metric([[0], [5]], "1/7"))
    assert certainly_equal(found["upper"].value, parse("1/7")) and certainly_equal(found["lower"].value, parse("1/7"))


def test_a_sensitivity_keeps_the_pairs_that_are_so_near():
    near = bounds(metric([[0], [1], [3]], sensitivity=num(1)))["upper"].value
    # outputs at x = 0: weights 1, e^-1, e^-3; at x = 1: e^-1, 1, e^-2
    assert certainly_equal(near, parse("1 + log((1 + exp(-1) + exp(-2))/(1 + exp(-1) + exp(-3)))"))


def test_scores_must_be_minus_the_distances():
    honest = metric([[0], [1]]).mechanism
    forged = Claim(Exponential(exprs([[0, -2], [-2, 0]]), honest.beta, None, honest.points, "l1"), None)
    with pytest.raises(Rejected, match="minus"):
        check(forged, cell=[0, 1, 0])
