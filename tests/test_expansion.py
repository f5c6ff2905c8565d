"""A term is a multiple of a power of a symbol where it is written so: the two parts multiply to it."""

from fractions import Fraction

import pytest
from flint import arb

from dpverify.trusted.kernel.balls import value
from dpverify.trusted.kernel.expr import parse, symbols
from dpverify.trusted.numbers.expansion import monomial


@pytest.mark.parametrize(
    ("text", "p"),
    [("3*a*v**2", 2), ("v", 1), ("a", 0), ("2/v", -1), ("exp(a)*sqrt(v)*v", Fraction(3, 2)), ("sqrt(v)/sqrt(v)", 0)],
)
def test_a_multiple_of_a_power_is_taken_apart(text, p):
    free, found = monomial(parse(text), "v")
    assert found == p and "v" not in symbols(free)
    at = {"a": arb(1), "v": arb(4)}
    assert (value(free, at) ** 2 * arb(4) ** int(2 * p)).overlaps(value(parse(text), at) ** 2)


@pytest.mark.parametrize("text", ["log(v)", "v**a", "v*exp(v)", "v + 1", "(v + 1)**2", "2**v"])
def test_what_is_no_such_multiple_is_not(text):
    assert monomial(parse(text), "v") is None
