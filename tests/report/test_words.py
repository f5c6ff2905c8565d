"""Words about a claim: how far it is from the tight value."""

from dataclasses import replace
from fractions import Fraction

import pytest

from dpverify.report import Entry, short, text, words
from dpverify.report.enclosures import common
from dpverify.report.results import Results
from dpverify.trusted.kernel.expr import num, parse
from dpverify.trusted.kernel.judgement import Judgement
from dpverify.trusted.kernel.model import Claim, Sampled


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


@pytest.mark.parametrize(
    ("lower", "upper", "said"),
    [
        ("0.1234567", "0.1234568", "0.123456..."),
        ("1.23456", "1.23457", "in [1.23456, 1.23457]"),
        ("0.9999999999", "1.000000000", "in [0.9999999999, 1]"),
        ("1.23456788e-40", "1.23456789e-40", "1.2345678...e-40"),
        ("9.99999999e-6", "1.00000000e-5", "in [9.99999999e-6, 1.00000000e-5]"),
        ("12345678", "12345679", "in [12345678, 12345679]"),
    ],
)
def test_two_decimals_are_told_by_the_digits_that_they_share_where_these_say_enough(lower, upper, said):
    assert common(lower, upper) == said


def lines(*entries, full=False):
    """The lines of the claims of one file, or of several."""
    told = text.render(Results([replace(one, file=file) for file, group in entries for one in group]), detail=text.Detail(full=full))
    return [line[9:].strip() for line in told.split("\n") if line.startswith("PROVED")]


def test_a_tight_value_that_the_claim_above_has_is_not_told_again_where_it_is_not_asked_for():
    claims = [entry(*of) for of in ((1, "1/3", "1/3"), (2, "1/3", "1/3"), (None, "1/3", "1/3"), (1, "1/3", "1/2"))]
    assert lines(("a", claims)) == [
        "epsilon 1  tight epsilon 1/3", "epsilon 2  same tight epsilon", "tight epsilon 1/3",
        "epsilon 1  tight epsilon in [0.3333333333, 0.5]",
    ]  # fmt: skip
    assert lines(("a", claims[:2]), full=True)[1] == "epsilon 2  tight epsilon 1/3"


def test_nothing_known_is_not_the_same_as_above():
    assert lines(("a", [entry(1, None, None), entry(2, None, None)])) == ["epsilon 1", "epsilon 2"]


def test_a_claim_that_is_not_as_expected_is_told_whole():
    first, second = entry(1, "1/3", "1/3"), replace(entry(2, "1/3", "1/3"), expected="REFUTED")
    assert lines(("a", [first, second]))[1] == "epsilon 2  expected REFUTED  tight epsilon 1/3"


def test_of_one_file_ten_digits_are_told():
    one = entry(1, Fraction(123456789012, 10**12), Fraction(123456789013, 10**12))
    assert lines(("a", [one])) == ["epsilon 1  tight epsilon 0.123456789..."]


def test_one_thing_is_one():
    assert [words.count(number, "claim") for number in (0, 1, 2)] == ["0 claims", "1 claim", "2 claims"]


@pytest.mark.parametrize("stated", ["1/n", "1/(n + 1)", "1/n**2", "n**2", "2/n", "exp(-n)", "2**(-n)"])
def test_what_is_claimed_over_a_parameter_is_told_as_its_author_writes_it(stated):
    assert short(parse(stated)) == stated
