"""Witnesses in words: what a refutation of a claim with delta says of its neighbours."""

import pytest

from dpverify.search.verify import verify
from dpverify.trusted.kernel.expr import num, parse
from dpverify.trusted.kernel.model import L2, Claim, Compose, Part, Radial, Translation

GAUSSIAN = Radial(parse("exp(-r**2/2)"), L2, num(3), num(2))
ZERO_INSIDE = Radial(parse("(r - 1)**2*exp(-r)"), L2, num(1), num(1))


def pair(mechanism, sensitivity, epsilon, delta):
    found = verify(Claim(mechanism, parse(epsilon), parse(delta), sensitivity)).judgement
    assert found.verdict == "REFUTED" and found.witness is not None
    return found.witness["pair"]


def test_a_witness_about_one_additive_mechanism_says_how_far_apart_the_answers_are():
    assert pair(GAUSSIAN, num(3), "1", "1/10").startswith("answers 3 apart")
    assert pair(Translation(parse("exp(-abs(z))")), parse("1/2"), "1/4", "1/10").startswith("answers 1/2 apart")


@pytest.mark.wide
def test_a_witness_at_a_shorter_shift_does_not_speak_of_the_sensitivity():
    """The worst shift of this density is about 1.2, where answers may be 2 apart."""
    assert "answers 2 apart" not in pair(ZERO_INSIDE, num(2), "1", "1/4")


def test_a_witness_about_several_parts_says_no_one_distance():
    parts = Compose((Part(GAUSSIAN, num(3)), Part(GAUSSIAN, num(1))))
    assert not pair(parts, None, "1", "1/10").startswith("answers")
