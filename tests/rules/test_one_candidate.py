"""The index of one candidate: there is nothing to tell."""

import pytest

from dpverify.search.verify import verify
from dpverify.trusted.kernel.expr import ONE, ZERO, num, parse
from dpverify.trusted.kernel.model import Claim, NoisyMax, Norm, Radial
from dpverify.trusted.theories.selection.rules import worst_output

NOISES = [Radial(parse(profile), Norm("lp", num(2).value), ONE) for profile in ("exp(-r/2)", "exp(-r**2/8)")]


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("bounds", [None, (ZERO, ONE)])
def test_the_index_of_one_candidate_tells_nothing(noise, bounds):
    found = verify(Claim(NoisyMax(noise, ONE, bounds=bounds), None, sensitivity=ONE)).judgement
    assert (found.verdict, found.lower, found.upper) == ("PROVED", ZERO, ZERO)


def test_an_output_that_is_certain_has_probability_1():
    law = worst_output.law(NOISES[0], [])
    for first in (law, None):
        output = worst_output.Output(0, 0, num(0).value, num(1).value, num(0).value)
        assert worst_output.Compared(first, law).probability(output, [num(-1).value, num(1).value]) == 1
    one = worst_output.Output(1, 0, num(0).value, num(1).value, num(0).value)
    assert worst_output.Compared(None, law).probability(one, []) == 0.5


@pytest.mark.parametrize("report", ["index", "value"])
def test_no_answer_moves_further_than_its_bounds_are_apart(report):
    found = [
        verify(Claim(NoisyMax(NOISES[0], num(2), report=report, bounds=(ONE, num(2))), None, sensitivity=parse(moved))).judgement
        for moved in ("1", "3", "1/2")
    ]
    near, far, less = ((one.lower, one.upper) for one in found)
    assert near == far != less and near[1] is not None
