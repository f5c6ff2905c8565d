"""Dyadic numbers of witnesses as decimals that are on the safe side."""

from decimal import Decimal

import pytest

from dpverify.report.dyadic import readable


@pytest.mark.parametrize(
    ("dyadic", "down", "up"),
    [
        ("3*2^-2", "0.75", "0.75"),
        ("0*2^0", "0", "0"),
        ("1*2^-33", "1.16415321e-10", "1.16415322e-10"),
        ("-1*2^-33", "-1.16415322e-10", "-1.16415321e-10"),
        ("1*2^40", "1.09951162e12", "1.09951163e12"),
    ],
)
def test_an_enclosure_is_rounded_outward(dyadic, down, up):
    assert readable([dyadic, dyadic]) == [down, up]
    assert readable({"P": [dyadic, dyadic], "loss": dyadic}) == {"P": [down, up], "loss": down}


def test_numbers_of_any_size_are_written_out():
    (low, high) = readable(["12345678901234567891*2^-3000000", "12345678901234567891*2^-3000000"])
    expected = 19.0915149 - 3_000_000 * 0.301029995664  # the decimal logarithm
    assert abs(Decimal(low.partition("e")[2]) - Decimal(expected)) < 1
    assert Decimal(low.partition("e")[0]) < Decimal(high.partition("e")[0])


def test_everything_else_stays_as_it_is():
    witness = {"pair": "answers q and q' with an output at (2*2^-1) from q", "n": 7, "inner": {"at": None}, "list": ["a", 1]}
    assert readable(witness) == witness | {"pair": "answers q and q' with an output at (1) from q"}
