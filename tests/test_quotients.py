"""Quotients taken apart are the same function, and no number is made that is too long to write."""

from fractions import Fraction

import pytest

from dpverify.trusted.kernel.balls import rational, value
from dpverify.trusted.kernel.expr import parse
from dpverify.trusted.numbers.quotients import MAX_DEGREE, divided


@pytest.mark.parametrize("text", ["r**2/(1 + r)", "(r**3 + 1)/(r + 2)**2", "(5*r)**4/(1 + r**2)", "r**40/(1 + r)"])
@pytest.mark.parametrize("at", [Fraction(0), Fraction(3, 7), Fraction(50)])
def test_what_is_taken_apart_has_the_values_of_the_quotient(text, at):
    expr = parse(text)
    assert value(divided(expr, "r"), {"r": rational(at)}).overlaps(value(expr, {"r": rational(at)}))
    assert divided(expr, "r") != expr


@pytest.mark.parametrize("constant", ["10**(10**10)", "10**(-(10**10))", "(2/3)**(10**9)", "10**(10**4000)"])
def test_a_constant_too_long_to_write_is_left_as_a_power(constant):
    for text in (f"r**2/(1 + r*{constant})", f"({constant})*r**2/(1 + r)"):
        assert divided(parse(text), "r") == parse(text)


def test_a_polynomial_beyond_the_greatest_degree_is_left():
    expr = parse(f"r**{MAX_DEGREE + 1}/(1 + r)")
    assert divided(expr, "r") == expr
