"""A k-ary response beside tables with as many inputs is at the pairs that these name; beside others it assumes pairs of its own."""

from fractions import Fraction

import pytest

from dpverify.search.verify import verify
from dpverify.trusted.combinators.neighbours import APART, SAME_ROWS
from dpverify.trusted.facts.assumed_of_inputs import ANY, PAIRS
from dpverify.trusted.kernel.compare import certainly_equal
from dpverify.trusted.kernel.expr import Num, call, num, parse
from dpverify.trusted.kernel.model import Claim, Compose, Group, KaryResponse, Parallel, Part, Table

THIRDS = ("1/2", "1/4", "1/4")
LISTED = Table(tuple(tuple(parse(THIRDS[(y - x) % 3]) for y in range(3)) for x in range(3)), ((0, 1),))
RESPONSE = KaryResponse(num(3), parse("1/2"))


def assumed(*mechanisms, delta="0"):
    parts = tuple(Part(mechanism) for mechanism in mechanisms)
    return verify(Claim(Compose(parts), parse("1"), parse(delta)), digits=10).judgement


@pytest.mark.parametrize("delta", ["0", "1/1000"])
def test_a_response_with_as_many_inputs_is_at_the_pairs_that_a_table_names(delta):
    found = assumed(RESPONSE, LISTED, delta=delta)
    lines = "; ".join(found.assumptions)
    assert found.verdict == "REFUTED"
    assert PAIRS in lines and SAME_ROWS in lines
    assert ANY not in lines and APART not in lines


def test_a_response_with_other_inputs_says_which_pairs_it_assumes():
    found = assumed(KaryResponse(num(4), parse("1/2")), LISTED)
    lines = "; ".join(found.assumptions)
    assert PAIRS in lines and ANY in lines and APART in lines and SAME_ROWS not in lines


def test_both_lose_as_much_as_the_worst_pair_of_outputs_at_one_pair_of_inputs():
    response = [[Fraction(1, 2) if x == y else Fraction(1, 4) for y in range(3)] for x in range(3)]
    table = [[Fraction(THIRDS[(y - x) % 3]) for y in range(3)] for x in range(3)]
    worst = max(response[0][a] * table[0][b] / (response[1][a] * table[1][b]) for a in range(3) for b in range(3))
    found = assumed(RESPONSE, LISTED)
    for bound in (found.lower, found.upper):
        assert certainly_equal(bound, call("log", Num(worst)))


def test_a_response_about_other_people_is_not_linked():
    found = assumed(LISTED, Parallel((Part(RESPONSE), Part(RESPONSE))))
    assert APART in "; ".join(found.assumptions)


@pytest.mark.parametrize(
    "whole",
    [
        Parallel((Part(RESPONSE), Part(LISTED))),
        Compose((Part(Group(Part(RESPONSE), num(2))), Part(LISTED))),
        Compose((Part(RESPONSE), Part(Group(Part(LISTED), num(2))))),
    ],
)
def test_a_response_at_neighbours_of_its_own_says_which_pairs_it_assumes(whole):
    found = verify(Claim(whole, parse("1/2")), digits=10).judgement
    assert found.verdict == "REFUTED" and ANY in found.assumptions
