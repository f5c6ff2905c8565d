"""Words about a claim: how far it is from the tight value."""

from fractions import Fraction

import pytest

from dpverify.report import Entry, words
from dpverify.trusted.kernel import Judgement
from dpverify.trusted.language.expr import num
from dpverify.trusted.language.model import Claim, Sampled


def entry(epsilon, lower, upper, delta=0, deltas=(None, None)):
    """A claim with bounds on its tight epsilon and its tight delta, as the kernel gives them."""
    exact = [None if value is None else num(Fraction(value)) for value in (epsilon, delta, lower, upper, *deltas)]
    claim = Claim(Sampled(), exact[0], exact[1])
    found = Judgement(claim, "PROVED", exact[2], exact[3], (), (), delta_lower=exact[4], delta_upper=exact[5])
    return Entry("f.toml", "m", claim, "PROVED", judgement=found)


@pytest.mark.parametrize(
    ("of", "said"),
    [
        (("3/2", 1, 1), "+0.5 (+50 %)"),
        ((1, 1, 1), "none"),
        (("1/2", 1, 1), "-0.5 (-50 %)"),
        ((3, None, 1), "at least +2 (+200 %)"),
        ((1, None, 2), ""),
        ((1, 2, None), ""),
        ((2, None, None), ""),
    ],
)
def test_slack_is_what_is_claimed_less_the_tight_value_as_far_as_that_is_known(of, said):
    assert words.slack(entry(*of)) == said


@pytest.mark.parametrize(
    ("delta", "tight", "said"),
    [("3/4", "1/2", "+0.25 (+50 %) of delta"), ("1/2", "1/2", "none of delta"), (0, "1/2", "-0.5 of delta"), (0, 0, "")],
)
def test_where_epsilon_is_not_known_the_slack_is_that_of_delta(delta, tight, said):
    assert words.slack(entry(1, None, None, delta, (tight, tight))) == said


@pytest.mark.parametrize(("value", "said"), [(-100.0, "-100"), (0.123, "+0.12"), (99.4, "+99"), (1234.5, "+1234"), (1e-7, "+1e-07")])
def test_per_cent_are_plain_numbers_where_those_are_short(value, said):
    assert words._percent(value) == said


def test_one_thing_is_one():
    assert [words.count(number, "claim") for number in (0, 1, 2)] == ["0 claims", "1 claim", "2 claims"]
