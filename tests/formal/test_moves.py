"""The bound on what a density loses, by its form: never below the truth, and equal to it where the parts move most at one place."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from dpverify.project.formal.moves import HALF_LINE, LINE, Calculus, coefficients, exponent
from dpverify.project.formal.terms import NotReplayedError, Terms
from dpverify.trusted.kernel.expr import format_expr, num, parse, substitute

NAMES = {name: getattr(math, name) for name in dir(math)} | {"abs": abs, "min": min, "max": max}


def at(expr, **symbols):
    """The value in floats."""
    return eval(format_expr(expr), dict(NAMES), symbols)


def bound(density, distance, variable="r", domain=HALF_LINE):
    """Of a density, at a distance."""
    terms = Terms({}, {variable: variable})
    return Calculus(terms, variable, domain, num(Fraction(distance))).of(exponent(parse(density)))


def greatest(density, distance, low):
    """The greatest loss on a grid."""
    h = exponent(parse(density))
    name = "z" if "z" in density else "r"
    grid = [low + k / 64 for k in range(64 * 24)]
    return max(at(h, **{name: b}) - at(h, **{name: max(a, low)}) for b in grid for a in (b - distance, b + distance, b))


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("density", "distance", "truth"),
    [
        ("exp(-r)", "3/2", 1.5),
        ("exp(-sqrt(r))", "2", math.sqrt(2)),
        ("(r**2/3 + 1)**(-2)", "1", 4 * math.asinh(1 / (2 * math.sqrt(3)))),
        ("(2*r + 3)**(-4)", "1/2", 4 * math.log(4 / 3)),
        ("exp(-r)/(r**2 + 1)", "1", 1 + 2 * math.asinh(0.5)),
        ("exp(-2*sqrt(r**2 + 1))", "1/4", 0.5),
        ("cosh(r)**(-2)", "1", 2),
        ("cosh(r/3)**(-2)", "1", 2 / 3),
        ("exp(-log(3)*floor(r + 2/3))", "3/2", 2 * math.log(3)),
    ],
)
def test_of_a_norm_it_is_the_tight_value(density, distance, truth):
    assert at(bound(density, distance).most) == pytest.approx(truth, rel=1e-12)
    assert greatest(density, float(Fraction(distance)), 0) <= truth + 1e-9


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("density", "distance", "truth"),
    [
        ("exp(-abs(z)/2)", "3", 1.5),
        ("exp(-z/2)/(exp(-z/2) + 1)**2", "1", 0.5),
        ("exp(-z)/(exp(-z) + 1)**3", "1", 2),
        ("(1/3)**abs(z)", "1", math.log(3)),
        ("cosh(z)**(-1)", "2", 2),
        ("cosh(z/2)**(-2)", "3/2", 1.5),
        ("exp(-sqrt(abs(z)))", "2", math.sqrt(2)),
        ("(z**2 + 1)**(-1)", "1", 2 * math.asinh(0.5)),
    ],
)
def test_of_the_line_it_is_the_tight_value(density, distance, truth):
    assert at(bound(density, distance, "z", LINE).most) == pytest.approx(truth, rel=1e-12)
    assert greatest(density, float(Fraction(distance)), -12) <= truth + 1e-9


def test_where_the_parts_move_most_at_different_places_it_is_above_the_truth():
    most = at(bound("(r**2 + 1)**4*exp(-r)", "1").most)
    assert most == pytest.approx(1 + 8 * math.asinh(0.5), rel=1e-12)
    assert most > greatest("(r**2 + 1)**4*exp(-r)", 1.0, 0) + 1


@pytest.mark.parametrize(
    ("density", "why"), [("exp(-r**2/2)", "no form"), ("exp(-sqrt(r + 1))", "no root"), ("exp(r*sqrt(r))", "no multiple")]
)
def test_a_form_that_is_not_known_is_refused(density, why):
    with pytest.raises(NotReplayedError, match=why):
        bound(density, "1")


def test_the_function_of_the_proof_is_the_exponent():
    for density in ("exp(-r/2)", "(r**2/3 + 1)**(-2)", "exp(-2*sqrt(r**2 + 1))", "exp(-r)/(r**2 + 1)"):
        found = bound(density, "1")
        for r in (0.0, 0.3, 2.5):
            assert at(found.function, r=r) == pytest.approx(at(exponent(parse(density)), r=r))
            assert math.exp(-at(found.function, r=r)) == pytest.approx(at(parse(density), r=r))


def test_the_coefficients_of_a_polynomial_make_it_again():
    expr = parse("3*r**2/a - 2*r + r/7 + b")
    found = coefficients(expr, "r")
    again = sum(at(substitute(part, {}), a=2.0, b=5.0) * 1.7**power for power, part in found.items())
    assert again == pytest.approx(at(expr, r=1.7, a=2.0, b=5.0))
    assert coefficients(parse("r**3"), "r") is None
    assert coefficients(parse("r**2*r"), "r") is None
    assert coefficients(parse("exp(r)"), "r") is None
