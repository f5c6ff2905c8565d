"""Selections with a guarantee for one order of the data alone, at a delta: what their pure epsilon in this order says."""

import math

import pytest

from dpverify.search.verify import verify
from dpverify.trusted.kernel.errors import CertificateError
from dpverify.trusted.kernel.expr import parse
from dpverify.trusted.kernel.judgement import check
from dpverify.trusted.order.enclosed import enclose
from tests.selections import laplace, of, sparse

FALLING = sparse(None, laplace(2), 5, neighbours="decreasing")  # with an exact threshold no other rule bounds its curve
PURE = 0.5


@pytest.mark.parametrize("epsilon", ["1/4", "1/8", "0"])
def test_delta_is_at_most_what_is_left_of_one_below_the_pure_epsilon_and_at_least_what_an_output_shows(epsilon):
    judged = verify(of(FALLING, epsilon, delta=None)).judgement
    low, high = (float(enclose(end).mid()) for end in (judged.delta_lower, judged.delta_upper))
    assert high == pytest.approx(1 - math.exp(float(parse(epsilon).value) - PURE), rel=1e-9)
    assert 0 < low < high


def test_claims_beside_the_bound_are_judged_as_it_says_and_at_the_pure_epsilon_nothing_is_left():
    bound = 1 - math.exp(0.25 - PURE)
    assert verify(of(FALLING, "1/4", delta=parse(f"{bound + 1e-6:.9f}"))).judgement.verdict == "PROVED"
    assert verify(of(FALLING, "1/4", delta=parse(f"{bound - 1e-6:.9f}"))).judgement.verdict == "UNKNOWN"
    assert verify(of(FALLING, "1/4", delta=parse("1/1000"))).judgement.verdict == "REFUTED"
    assert verify(of(FALLING, "1/2", delta=parse("1/1000"))).judgement.verdict == "PROVED"


def test_randomized_response_has_less_and_does_not_dominate_one_order():
    below = (math.exp(PURE) - math.exp(0.25)) / (1 + math.exp(PURE))
    above = 1 - math.exp(0.25 - PURE)
    assert below < above
    assert verify(of(FALLING, "1/4", delta=parse(f"{(below + above) / 2:.9f}"))).judgement.verdict == "UNKNOWN"


def forged(change):
    """The certificate of such a claim, with the line of the rule changed."""
    packed = verify(of(FALLING, "1/4", delta=parse("3/10"))).certificate
    lines = [dict(line) for line in packed["lines"]]
    [number] = [i for i, line in enumerate(lines) if line["rule"] == "pure-guarantee"]
    change(lines, number)
    return {**packed, "lines": lines}


def test_the_rule_wants_one_premise_about_this_selection():
    with pytest.raises(CertificateError, match="cannot be used"):
        check(forged(lambda lines, i: lines[i].update(premises=[])))
