"""Enclosed numbers of witnesses have one form, whatever form a rule tells them in, and lie in what is shown."""

import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpverify.report.enclosures import enclosed, ends, shown, witness_text

FORMS = {
    "a ball": ("[2.8567613369943103987e-6 +/- 2.28e-26]", "2.8567613...e-6"),
    "an interval as a text": ("[0.00479102195, 0.00488780702]", "in [0.00479, 0.00489]"),
    "an interval as numbers": (["0.00479102195", "0.00488780702"], "in [0.00479, 0.00489]"),
    "dyadic numbers": (["1*2^-3", "3*2^-4"], "in [0.125, 0.188]"),
    "a wide ball": ("[-1.56e+4 +/- 91.7]", "in [-15700, -15500]"),
    "a ball round 0": ("[+/- 3e-5]", "in [-3e-5, 3e-5]"),
    "one number": ("3/4", "3/4"),
    "one number twice": (["3/4", "3/4"], "3/4"),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_chance_has_one_form_and_few_digits(form):
    told, said = FORMS[form]
    assert shown({"P": told}) == {"P": said}


def test_a_line_says_what_equals_and_what_lies_in():
    witness = {"pair": ["0", "1"], "event": "G(0) = [4.1327313541224929385 +/- 3.07e-20]", "P": ["0.1", "0.2"], "Q": "1/8"}
    assert witness_text(witness) == "pair = [0, 1], event = G(0) = 4.1327313..., P in [0.1, 0.2], Q = 1/8"


def test_two_answers_are_no_interval():
    assert shown({"low": ["0", "1"], "pair": ["1/2", "1"]}) == {"low": ["0", "1"], "pair": ["1/2", "1"]}


numbers = st.decimals(allow_nan=False, allow_infinity=False, places=25, min_value=-10**6, max_value=10**6)


@given(numbers, numbers)
def test_what_is_shown_holds_both_ends(a, b):
    low, high = sorted((a, b))
    said = enclosed(low, high)
    if said.startswith("in "):
        below, above = ends(said.removeprefix("in "))
        assert below <= low and high <= above
    else:
        digits, power = re.fullmatch(r"(-?[\d.]+)\.\.\.(?:e(-?\d+))?|.*", said).groups() if "..." in said else (said, None)
        at, unit = Decimal(digits).scaleb(int(power or 0)), Decimal(1).scaleb(int(power or 0) - len(digits.partition(".")[2]))
        assert abs(at - low) <= unit and abs(at - high) <= unit
