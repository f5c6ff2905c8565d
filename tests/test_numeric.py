"""Floats for looking around: near the balls' values, vectorised, and quiet where there is no value."""

import warnings
from fractions import Fraction

import numpy as np
import pytest

from dpverify.search.numeric import number, vectorised
from dpverify.trusted.kernel.balls import precision, rational, value
from dpverify.trusted.kernel.expr import FUNCTIONS, Sym, call, num, parse

POINTS = [Fraction(1, 7), Fraction(1, 2), Fraction(9, 10)]


def exact(tree, at) -> float:
    with precision(100):
        return float(value(tree, {"x": rational(at)}).mid())


def named(name):
    least, most = FUNCTIONS[name]
    if most is None:
        return call(name, Sym("x"), num(Fraction(1, 2)), parse("x**2"))
    return call(name, num(Fraction(3, 4)), Sym("x")) if least == 2 else call(name, Sym("x"))


@pytest.mark.parametrize("name", [name for name, (least, _) in FUNCTIONS.items() if least < 3])
def test_every_function_of_the_language_has_a_float_version(name):
    tree = named(name)
    found = vectorised(tree, "x")(np.array([float(x) for x in POINTS]))
    assert found == pytest.approx([exact(tree, x) for x in POINTS], rel=1e-13, abs=1e-15)


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("log(exp(-x) + exp(-2*x)/3)", 5000),  # each term underflows
        ("log(2*exp(-x**2) + x*exp(-x**2))", 100),
        ("logerfc(x)", 200),
        ("logbesselk(1/2, x)", 3000),
        ("pi*x + sqrt(2)", 3),
    ],
)
def test_logarithms_survive_where_their_arguments_underflow(text, at):
    assert vectorised(parse(text), "x")(np.array([float(at)]))[0] == pytest.approx(exact(parse(text), Fraction(at)), rel=1e-12)


def test_constants_are_broadcast_and_numbers_are_numbers():
    assert vectorised(parse("3/2"), "x")(np.zeros(4)).tolist() == [1.5] * 4
    assert number(parse("log(3) + 1/4")) == pytest.approx(np.log(3) + 0.25)
    assert number(parse("10**400")) == np.inf
    assert number(parse("-10**400")) == -np.inf


def test_what_has_no_value_is_nan_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isnan(vectorised(parse("log(x) + sqrt(x)"), "x")(np.array([-1.0]))).all()
        assert np.isnan(vectorised(parse("x + y"), "x")(np.array([1.0]))).all()
        vectorised(parse("1/x + exp(x)"), "x")(np.array([0.0, 1e9]))
