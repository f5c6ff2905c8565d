"""Expressions as terms of Coq: what they say is the same number, and what has no counterpart says so."""

from __future__ import annotations

import math
import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpverify.project.formal.terms import NotReplayedError, Terms, number
from dpverify.trusted.kernel.expr import parse
from dpverify.trusted.kernel.model import Domain

POSITIVE = Domain(Fraction(0), None)
COUNT = Domain(Fraction(1), None, lower_open=False, integer=True)
TERMS = Terms({"a": POSITIVE, "n": COUNT}, {"r": "r"})
MEANS = {
    "exp": math.exp, "ln": math.log, "Rabs": abs, "cosh": math.cosh, "sinh": math.sinh, "tanh": math.tanh, "arcsinh": math.asinh,
    "sqrt": math.sqrt, "Rpower": math.pow, "Rmin": min, "Rmax": max, "floor": math.floor, "INR": float, "PI": math.pi,
}  # fmt: skip


def value(text: str, **symbols: float) -> float:
    """What a term is worth: applications in Coq's way of writing, read by a parser of their own."""
    tokens = re.findall(r"\d+|\w+|[-+*/^()]", text)
    tokens.append("")

    def atom():
        token = tokens.pop(0)
        if token == "(":
            inner = total()
            assert tokens.pop(0) == ")"
            return inner
        if token.isdigit():
            return float(token)
        known = symbols.get(token, MEANS.get(token))
        if callable(known):
            arguments = [atom()]
            if token in ("Rpower", "Rmin", "Rmax"):
                arguments.append(atom())
            return known(*arguments)
        return known

    def power():
        base = atom()
        if tokens[0] == "^":
            tokens.pop(0)
            return base ** atom()
        return base

    def signed():
        if tokens[0] == "-":
            tokens.pop(0)
            return -signed()
        if tokens[0] == "/":
            tokens.pop(0)
            return 1 / signed()
        return power()

    def product():
        held = signed()
        while tokens[0] in ("*", "/"):
            held = held * power() if tokens.pop(0) == "*" else held / power()
        return held

    def total():
        held = product()
        while tokens[0] in ("+", "-"):
            held = held + product() if tokens.pop(0) == "+" else held - product()
        return held

    found = total()
    assert tokens == [""]
    return found


@pytest.mark.parametrize(
    "text",
    [
        "exp(-r/2)", "(1 + r**2/a)**(-(a + n)/2)", "exp(-2*sqrt(r**2 + 1))", "cosh(r)**(-2)", "exp(-r)/(exp(-r) + 1)**2",
        "(1/3)**abs(r)",         "2*asinh(r/2/sqrt(a))", "r - 3*a - (r - a)", "-r**2", "(-r)**3/(-7/2)", "1/(r*a)",
        "min(r, a, 2)*max(r, 3)",
        "exp(-log(3)*floor(r + 2/3))",
        "-(r + a)/(3*a)", "a/r/n", "pi*tanh(r) - sinh(r)",
    ],
)  # fmt: skip
def test_a_term_says_the_same_number_as_the_expression(text):
    known = {name: getattr(math, name) for name in dir(math)} | {"abs": abs, "min": min, "max": max}
    expected = eval(text, known, {"r": 1.7, "a": 0.6, "n": 3})
    assert value(TERMS.real(parse(text)), r=1.7, a=0.6, n=3) == pytest.approx(expected, rel=1e-12)


@given(st.fractions())
def test_a_number_is_itself(given_number):
    assert value(number(given_number)) == pytest.approx(float(given_number), rel=1e-12)


def test_a_parameter_is_a_variable_with_all_that_its_domain_says():
    terms = Terms({"p": Domain(Fraction(0), Fraction(1)), "n": COUNT, "exp_": POSITIVE, "exists": Domain(None, Fraction(-1, 2))})
    assert terms.binders() == [
        "(p : R)", "(p_lower : 0 < p)", "(p_upper : p < 1)", "(n : nat)", "(n_lower : 1 <= INR n)",
        "(parameter_exp_ : R)", "(parameter_exp__lower : 0 < parameter_exp_)", "(parameter_exists : R)",
        "(parameter_exists_upper : parameter_exists < - (1 / 2))",
    ]  # fmt: skip


def test_no_two_parameters_are_one_variable():
    names = ["r", "parameter_r", "parameter_parameter_r", "_r", "r_", "_r_", "exp", "parameter_exp", "b", "noise_0", "parameter_noise_0"]
    assert len({Terms({}).parameter(name) for name in names}) == len(names)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("besselk(0, r)", "besselk(0, r) has besselk, which the Coq library does not know."),
        ("erfc(r)", "erfc(r) has erfc, which the Coq library does not know."),
        ("r**(1/3)", "r**(1/3) is a power of r, which is not positive by its form."),
        ("q", "q has no meaning here."),
    ],
)
def test_what_has_no_counterpart_says_so(text, why):
    with pytest.raises(NotReplayedError) as found:
        TERMS.real(parse(text))
    assert str(found.value) == why


def test_whole_numbers_alone_count():
    assert TERMS.whole(parse("3")) == "3"
    assert TERMS.whole(parse("n")) == "n"
    for text in ("a", "1/2", "-1", "2*n"):
        with pytest.raises(NotReplayedError, match="is not written as a whole number"):
            TERMS.whole(parse(text))
    with pytest.raises(NotReplayedError, match="k ranges over integers below 0"):
        Terms({"k": Domain(None, None, integer=True)}).real(parse("k"))
