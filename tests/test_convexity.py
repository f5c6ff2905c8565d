"""Shapes are laws: whatever is claimed of a random tree's sign, slope, curvature and limits holds at every point tried."""

import math
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dpverify.trusted.kernel.balls import precision, rational, value
from dpverify.trusted.kernel.errors import Undecided
from dpverify.trusted.kernel.expr import Expr, Sym, add, call, mul, num, parse, power, symbols
from dpverify.trusted.kernel.model import Domain
from dpverify.trusted.kernel.signs import AT_LEAST_ZERO, POSITIVE, minus, plus, square, times
from dpverify.trusted.shapes import limits
from dpverify.trusted.shapes.convexity import Shapes

X = Sym("x")
CONSTANTS = st.sampled_from([num(Fraction(n, 2)) for n in (-4, -2, -1, 1, 2, 3, 6)])
EXPONENTS = st.sampled_from([num(Fraction(n, 6)) for n in (-12, -6, -3, 2, 3, 4, 9, 12, 18, 24)])
FUNCTIONS = st.sampled_from(["exp", "log", "abs", "cosh", "sinh", "tanh", "asinh", "erf", "erfc", "logerfc", "logexprel"])


def grow(trees: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    return st.one_of(
        st.lists(trees, min_size=2, max_size=3).map(lambda parts: add(*parts)),
        st.lists(trees, min_size=2, max_size=2).map(lambda parts: mul(*parts)),
        st.tuples(trees, EXPONENTS).map(lambda pair: power(*pair)),
        st.tuples(FUNCTIONS, trees).map(lambda pair: call(*pair)),
        st.lists(trees, min_size=2, max_size=2).map(lambda parts: call("max", *parts)),
        st.lists(trees, min_size=2, max_size=2).map(lambda parts: call("min", *parts)),
    )


TREES = st.recursive(st.one_of(st.just(X), st.just(X), CONSTANTS), grow, max_leaves=5)


def at(tree: Expr, x: Fraction):
    with precision(400):
        return value(tree, {"x": rational(x)})


def differences(tree: Expr, x: Fraction, step: Fraction):
    """Values, first and second differences, and those of log at x: their signs are those of the derivatives, averaged."""
    left, middle, right = (at(tree, x + k * step) for k in (-1, 0, 1))
    return middle, right - left, left + right - 2 * middle, left * right - middle * middle


@given(TREES, st.booleans(), st.fractions(Fraction(1, 50), Fraction(20), max_denominator=60), st.booleans())
def test_signs_slopes_and_curvatures_hold_where_they_are_tried(tree, half, x, flipped):
    assume("x" in symbols(tree))
    shapes = Shapes("x", half, {})
    try:
        shape = shapes.shape(tree)
    except Undecided:
        assume(False)
    point = -x if flipped and not half else x
    balls = differences(tree, point, Fraction(1, 128))
    assume(all(ball.is_finite() for ball in balls))
    middle, rise, bend, log_bend = balls
    tried = {"value": middle, "slope": rise, "bend": bend}
    for name, ball in tried.items():
        claimed = getattr(shape, name)
        # a strict sign of a measure may still average to zero; a weak one may not be crossed
        assert not (ball > 0 and 1 not in claimed), name
        assert not (ball < 0 and -1 not in claimed), name
    if shape.value == POSITIVE:
        assert not (log_bend > 0 and 1 not in shape.log_bend) and not (log_bend < 0 and -1 not in shape.log_bend)
    if shape.root is not None and shape.root > 0 and shape.value <= AT_LEAST_ZERO:
        with precision(400):
            p = rational(shape.root)
            parts = [at(tree, point + k * Fraction(1, 128)) for k in (-1, 0, 1)]
            assume(all(part > 0 for part in parts))
            left, centre, right = ((part.log() * p).exp() for part in parts)
        assert not left + right - 2 * centre < 0, "f**root is convex"


@given(TREES, st.fractions(Fraction(1, 50), Fraction(20), max_denominator=60))
def test_tidying_changes_no_value(tree, x):
    assume("x" in symbols(tree))
    shapes = Shapes("x", True, {})
    try:
        shapes.shape(tree)
        tidied = shapes.tidy(tree)
    except Undecided:
        assume(False)
    before, after = at(tree, x), at(tidied, x)
    assume(before.is_finite() and after.is_finite())
    assert before.overlaps(after)


@given(TREES)
def test_limits_are_approached(tree):
    assume("x" in symbols(tree))
    shapes = Shapes("x", True, {})
    try:
        shapes.shape(tree)
    except Undecided:
        assume(False)
    limit, lead, slow, start = (
        limits.slope_limit(shapes, tree),
        limits.leading(shapes, tree),
        limits.log_slope(shapes, tree),
        shapes.at_zero(tree),
    )
    far = Fraction(10**6)
    ball = at(tree, far)
    if limit is not None and ball.is_finite():
        assert abs(float((ball / rational(far)).mid()) - float(at(limit, far).mid())) < 0.1 + 0.01 * abs(float(at(limit, far).mid()))
    if lead is not None and ball.is_finite() and ball > 0:
        log_lead = at(call("log", lead[0]), far) + at(lead[1], far) * rational(far).log()
        assert abs(float((ball.log() - log_lead).mid())) < 1
    if slow is not None and ball.is_finite():
        twice = at(tree, far * far)
        assume(twice.is_finite())
        assert abs(float((twice - ball).mid()) - float(at(slow, far).mid()) * math.log(10**6)) < 1
    if start is not None:
        near = at(tree, Fraction(1, 10**60))
        assume(near.is_finite())
        assert abs(float((near - at(start, far)).mid())) < 0.01


ALL = [frozenset(s) for s in ((-1,), (0,), (1,), (-1, 0), (0, 1), (-1, 1), (-1, 0, 1))]
SAMPLES = (-3, -1, 0, 1, 2)


@pytest.mark.parametrize("a", ALL)
@pytest.mark.parametrize("b", ALL)
def test_the_signs_of_sums_and_products_contain_those_of_numbers(a, b):
    def sign(x):
        return (x > 0) - (x < 0)

    for x in (x for x in SAMPLES if sign(x) in a):
        assert -sign(x) in minus(a) and sign(x * x) in square(a)
        for y in (y for y in SAMPLES if sign(y) in b):
            assert sign(x + y) in plus(a, b) and sign(x * y) in times(a, b)


@pytest.mark.parametrize("text", ["log(x - 1)", "sqrt(x - 1)", "1/(x - 1)", "floor(x)", "gamma(x)", "x**y", "besselk(x, x)", "atanh(x)"])
def test_what_is_not_certainly_defined_and_continuous_is_undecided(text):
    with pytest.raises(Undecided):
        Shapes("x", True, {"y": Domain()}).shape(parse(text) if text != "x**y" else parse("(x - 1)**y"))


def test_a_cusp_is_not_taken_for_a_curve():
    with pytest.raises(Undecided):
        Shapes("x", False, {}).shape(parse("sqrt(abs(x))"))


@pytest.mark.parametrize("order", ["1/10", "1/4", "2/5", "3/5", "1", "3/2", "7/3", "5"])
def test_powers_times_bessel_functions_bend_one_way_and_are_finite_at_zero(order):
    shapes = Shapes("x", True, {})
    tree = parse(f"3*({order})*log(x) + 3*logbesselk({order}, 2*x) + x")
    shape = shapes.shape(add(tree, mul(num(-1), X)))
    assert shape.convex == (Fraction(order) < Fraction(1, 2)) and shape.concave == (Fraction(order) > Fraction(1, 2))
    for k in range(-6, 5):
        _, first, second, _ = differences(add(tree, mul(num(-1), X)), Fraction(2) ** k, Fraction(2) ** (k - 4))
        assert first < 0 and (second > 0 if shape.convex else second < 0)
    start = shapes.at_zero(tree)
    with precision(200):
        near = at(tree, Fraction(1, 2**1000))
        assert abs(value(start, {}) - near) < rational(Fraction(1, 2**50))
    assert shapes.at_zero(parse("-log(x) + logbesselk(1, x)")) is None


@pytest.mark.parametrize("text", ["1/(1 + r**2)", "(1 + r**2)**(-1/2)", "1/(1 + r**3)", "(1 + r**4)**(-2)", "1/(2 + r + r**2)**(1/3)"])
def test_falling_powers_of_convex_functions_may_bend_either_way(text):
    """Convex far out, and concave near 0 where the base is flat there; of those that are not flat nothing is said."""
    half = Shapes("r", True, {})
    assert not half.shape(parse(text)).convex and not half.shape(parse(text)).concave
    assert half.shape(parse("1/(1 + r)")).convex and half.shape(parse("1/(1 + sqrt(r))")).convex
