"""Selections with a guarantee for one order of the data alone, at a delta: what their pure epsilon in this order says."""

import math
from dataclasses import replace
from functools import cache

import pytest

from dpverify.search.verify import verify
from dpverify.trusted.kernel import judgement as kernel
from dpverify.trusted.kernel.certificate import unpack
from dpverify.trusted.kernel.errors import CertificateError
from dpverify.trusted.kernel.expr import parse
from dpverify.trusted.kernel.judgement import check
from dpverify.trusted.order.enclosed import enclose
from tests.selections import laplace, of, sparse

FALLING = sparse(None, laplace(2), 5, neighbours="decreasing")  # with an exact threshold no other rule bounds its curve
PURE = 0.5
BOUND = 1 - math.exp(0.25 - PURE)


@cache
def enclosed(epsilon):
    """The answer to what delta it has at an epsilon."""
    return verify(of(FALLING, epsilon, delta=None), 9)


def beside(delta):
    """What the facts of the certificate about epsilon 1/4 say of a claimed delta there."""
    certificate = unpack(enclosed("1/4").certificate)
    facts = kernel.replay(certificate)
    return kernel.judge(replace(certificate.claim, delta=parse(f"{delta:.9f}")), facts).verdict


@pytest.mark.wide
@pytest.mark.sampled(2)
@pytest.mark.parametrize("epsilon", ["1/4", "1/8", "0"])
def test_delta_is_at_most_what_is_left_of_one_below_the_pure_epsilon_and_at_least_what_an_output_shows(epsilon):
    judged = enclosed(epsilon).judgement
    low, high = (float(enclose(end).mid()) for end in (judged.delta_lower, judged.delta_upper))
    assert high == pytest.approx(1 - math.exp(float(parse(epsilon).value) - PURE), rel=1e-9)
    assert 0 < low < high


def test_claims_beside_the_bound_are_judged_as_it_says_and_at_the_pure_epsilon_nothing_is_left():
    assert [beside(delta) for delta in (BOUND + 1e-6, BOUND - 1e-6, 1e-3)] == ["PROVED", "UNKNOWN", "REFUTED"]
    assert verify(of(FALLING, "1/2", delta=parse("1/1000")), 9).judgement.verdict == "PROVED"


def test_randomized_response_has_less_and_does_not_dominate_one_order():
    below = (math.exp(PURE) - math.exp(0.25)) / (1 + math.exp(PURE))
    assert below < BOUND
    assert beside((below + BOUND) / 2) == "UNKNOWN"


@pytest.mark.wide  # what its facts say is above
def test_a_search_for_a_claimed_delta_finds_the_bound_too():
    assert verify(of(FALLING, "1/4", delta=parse(f"{BOUND + 1e-6:.9f}")), 9).judgement.verdict == "PROVED"
    assert verify(of(FALLING, "1/4", delta=parse(f"{BOUND - 1e-6:.9f}")), 9).judgement.verdict == "UNKNOWN"


def forged(change):
    """The certificate of such a claim, with the line of the rule changed."""
    packed = enclosed("1/4").certificate
    lines = [dict(line) for line in packed["lines"]]
    [number] = [i for i, line in enumerate(lines) if line["rule"] == "pure-guarantee"]
    change(lines, number)
    return {**packed, "lines": lines}


def test_the_rule_wants_one_premise_about_this_selection():
    with pytest.raises(CertificateError, match="cannot be used"):
        check(forged(lambda lines, i: lines[i].update(premises=[])))
