"""Germs are enclosures on the whole end: every sampled value of f, f' and f'' lies in them, near the start and far beyond."""

from fractions import Fraction

import pytest
from flint import arb
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dpverify.trusted.kernel.balls import constant, precision, rational, value
from dpverify.trusted.kernel.errors import ExprError, Undecided
from dpverify.trusted.kernel.expr import Num, Sym, add, call, mul, num, parse, power, symbols
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.numbers.asymptotics import LEAST_START, VARIABLE, End, Germ, Range, end_jet
from dpverify.trusted.numbers.jets import jet
from tests.effort import examples

F = Fraction
X = Sym("x")
BITS = 100
FURTHER = (F(1), F(1000001, 1000000), F(9, 8), F(2), F(17), F(10**4), F(2) ** 60)
"""Samples in the chart s of an end, as multiples of its start."""


def in_chart(end: End, s: Fraction) -> Fraction:
    """The point of the original variable."""
    point = {"+inf": s, "-inf": -s, "right": end.point + 1 / s, "left": end.point - 1 / s}
    return point[end.side]


def scale(germ: Germ, s: Fraction) -> arb:
    """exp(P(s)) s^a log(s)^b."""
    x = rational(s)
    size = x ** rational(germ.a) * x.log() ** rational(germ.b)
    for p, c in germ.growth:
        size *= (constant(c) * x ** rational(p)).exp()
    return size


def check(tree, end: End) -> int:
    """Assert that the germs of a tree hold its jets at the samples; how many could be compared."""
    with precision(BITS):
        germs = end_jet(tree, "x", end)
    seen = 0
    for factor in FURTHER:
        s = end.start * factor
        # bits enough for what cancels between a point and its neighbour at a distance of 1/s
        with precision(BITS + 400):
            found = jet(tree, "x", rational(in_chart(end, s)))
            for name in ("v", "d1", "d2"):
                germ, ball = getattr(germs, name), getattr(found, name)
                if not ball.is_finite():
                    continue
                size = scale(germ, s)
                if not (size.is_finite() and size > 0):
                    continue
                ratio = ball / size
                assert not ratio > germ.k.hi, (name, factor, ratio, germ.k.hi)
                assert not ratio < germ.k.lo, (name, factor, ratio, germ.k.lo)
                seen += 1
                bounded = _bounds(germ)
                assert bounded is None or not (ball > bounded.hi or ball < bounded.lo), (name, factor)
    return seen


def _bounds(germ: Germ) -> Range | None:
    with precision(BITS):
        try:
            return germ.bounds()
        except Undecided:
            return None


# -- functions that have to be covered ---------------------------------------------------------------

AT_INFINITY = [
    "x", "x**2 - 3*x + 7", "(1 + x**2/5)**(-4)", "sqrt(1 + x**2)", "x**(1/3) - x**(1/4)", "log(1 + x**2/5)*4", "log(x)**2", "x*log(x)",
    "exp(-x)", "exp(-x**2/2)", "exp(-sqrt(x))", "exp(-(1 + x)**2)", "log(1 + exp(-x))", "log(exp(x) + exp(-2*x))",
    "log(1 + exp(x/2) + exp(-x))",
    "tanh(x)", "log(cosh(x))", "sinh(x)", "asinh(x)", "asinh(x)**2", "erf(x)", "erfc(x)", "logerfc(x)", "logerfc(log(x))",
    "besselk(1/2, x)",
    "besselk(1/4, x)*exp(x)", "logbesselk(0, sqrt(1 + x**2))", "logbesselk(5, x)", "x**(-1/2)*besselk(1/2, x)",
    "logexprel(x)", "logexprel(-x)", "logexprel(-x**2/2)", "logexprel(1/x)", "abs(x - 3)", "max(x, 2*x - 9) + min(x, 5)",
    "floor(min(x, 3))", "log(gamma(x))", "log(gamma(x/2 + 1/3)) - x*log(3)", "log(gamma(x + 1)) - log(gamma(x))",
    "x**2/(1 + x**3)",
    "1 - 1/x", "exp(-x)*x**7", "log(2 + exp(-x)*x)", "(x - 1)**2*exp(-2*x)", "sqrt(x + sqrt(x))", "exp(1/x)", "pi*x - sqrt(2)",
]  # fmt: skip
AT_MINUS_INFINITY = [
    "x", "exp(x)", "exp(-x**2/2)", "log(1 + exp(-x))", "tanh(x)", "erfc(x)", "logerfc(x)", "logexprel(x)", "asinh(x)", "abs(x - 3)",
    "(1 + x**2)**(-2)", "sqrt(1 + x**2)", "x/(1 + x**2)", "cosh(x)", "exp(x) - exp(-exp(x))",
]  # fmt: skip
AT_ZERO = [
    "x", "x**2 - 3*x + 7", "x**(-1/2)", "log(x)", "log(x)**2", "x*log(x)", "exp(-x)", "exp(-1/x)", "sqrt(1 + x**2)", "(1 + x**2/5)**(-4)",
    "besselk(0, x)", "besselk(1/2, x)", "besselk(1/4, x)*x**(1/4)", "logbesselk(0, x)", "logbesselk(3/2, x) + log(x)", "tanh(x)", "erf(x)",
    "erfc(x)", "logerfc(x)", "logexprel(-x**2/2)", "logexprel(x)", "cosh(x)", "asinh(x)", "log(1 + x)", "x**(1/3)", "abs(x)**(3/2)",
    "exp(-log(x)**2/2)", "exp(logexprel(-x) - x)", "abs(x - 3)",
]  # fmt: skip
NEAR_A_POINT = [
    "1/(x - 1)",
    "(x - 1)**(-2)*exp(-x)",
    "log(abs(x - 1))",
    "abs(x - 1)**(1/2)",
    "x**3",
    "exp(-abs(x))",
    "besselk(1/2, x)",
    "sqrt(2 - x)",
]


@pytest.mark.parametrize("start", ["16", "64", str(2**40)])
@pytest.mark.parametrize("text", AT_INFINITY)
def test_germs_hold_at_plus_infinity(text, start):
    try:
        assert check(parse(text), End("+inf", F(start))) >= 12
    except Undecided:
        assert start == "16"  # too early for some


@pytest.mark.parametrize("start", ["16", "64", str(2**40)])
@pytest.mark.parametrize("text", AT_MINUS_INFINITY)
def test_germs_hold_at_minus_infinity(text, start):
    try:
        assert check(parse(text), End("-inf", F(start))) >= 12
    except Undecided:
        assert start == "16" or "exp(-exp" in text


@pytest.mark.parametrize("start", ["16", "64", str(2**40)])
@pytest.mark.parametrize("text", AT_ZERO)
def test_germs_hold_to_the_right_of_zero(text, start):
    try:
        assert check(parse(text), End("right", F(start))) >= 12
    except Undecided:
        assert start == "16"


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("text", NEAR_A_POINT)
def test_germs_hold_on_both_sides_of_a_point(text, side):
    assert check(parse(text), End(side, F(64), F(1))) >= 12


# -- random functions --------------------------------------------------------------------------------

CONSTANTS = st.sampled_from([num(F(n, 2)) for n in (-4, -2, -1, 1, 2, 3, 6)] + [parse("pi"), parse("sqrt(2)")])
EXPONENTS = st.sampled_from([num(F(n, 6)) for n in (-12, -6, -3, 2, 3, 4, 9, 12, 18)])
FUNCTIONS = st.sampled_from(["exp", "log", "abs", "cosh", "sinh", "tanh", "asinh", "erf", "erfc", "logerfc", "logexprel"])
ORDERS = st.sampled_from([num(F(n, 4)) for n in (0, 1, 2, 4, 6)])


def grow(trees):
    return st.one_of(
        st.lists(trees, min_size=2, max_size=3).map(lambda parts: add(*parts)),
        st.lists(trees, min_size=2, max_size=3).map(lambda parts: mul(*parts)),
        st.tuples(trees, EXPONENTS).map(lambda pair: power(*pair)),
        st.tuples(FUNCTIONS, trees).map(lambda pair: call(*pair)),
        st.tuples(ORDERS, trees).map(lambda pair: call("logbesselk", *pair)),
        st.lists(trees, min_size=2, max_size=2).map(lambda parts: call("max", *parts)),
        trees.map(lambda u: call("log", add(num(1), call("exp", u)))),
    )


TREES = st.recursive(st.one_of(st.just(X), st.just(X), st.just(power(X, num(-1))), CONSTANTS), grow, max_leaves=6)
ENDS = st.one_of(
    st.builds(End, st.sampled_from(["+inf", "-inf"]), st.sampled_from([F(16), F(17, 1), F(64), F(5000), F(2) ** 40])),
    st.builds(
        End, st.sampled_from(["left", "right"]), st.sampled_from([F(16), F(64), F(2) ** 40]), st.sampled_from([F(0), F(1), F(-3, 2)])
    ),
)


@pytest.mark.wide
@given(TREES, ENDS)
def test_germs_of_random_functions_hold_on_every_side(tree, end):
    assume("x" in symbols(tree))
    try:
        check(tree, end)
    except (Undecided, ExprError):
        assume(False)


@given(TREES, st.sampled_from([F(16), F(64), F(5000)]))
def test_germs_of_logarithms_of_random_densities_hold(tree, start):
    assume("x" in symbols(tree))
    try:
        check(neg_log(tree), End("+inf", start))
    except (Undecided, ExprError):
        assume(False)


# -- what germs say ----------------------------------------------------------------------------------


def germ(text: str, side: str = "+inf", start: int = 64, part: str = "v") -> Germ:
    with precision(BITS):
        return getattr(end_jet(parse(text), "x", End(side, F(start))), part)


@pytest.mark.parametrize(
    ("text", "side", "expected"),
    [
        ("x - log(x)", "+inf", 1), ("-exp(x)", "+inf", -1), ("1 - exp(-x)", "+inf", 0), ("1/x", "+inf", 0), ("log(x)", "right", -1),
        ("1/x", "right", 1), ("besselk(1/2, x)", "right", 1), ("x", "-inf", -1), ("logerfc(x)", "+inf", -1),
    ],
)  # fmt: skip
def test_divergence_is_seen_with_its_sign(text, side, expected):
    assert germ(text, side).diverges() == expected


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [("1 - exp(-x)", "0", "1"), ("tanh(x)", "-1", "1"), ("x/sqrt(1 + x**2)", "0", "1"), ("2 + 1/x", "2", "3"), ("erfc(x)", "0", "1/10")],
)
def test_limits_are_sharp(text, low, high):
    bounds = germ(text).bounds()
    assert bounds.lo >= rational(F(low))
    assert bounds.hi <= rational(F(high))


def test_a_limit_of_the_slope_is_not_passed():
    # h' = tanh tends to 1 from below; that of sqrt(1 + x^2) too
    for text in ("log(cosh(x))", "sqrt(1 + x**2)", "-logbesselk(0, x)"):
        bounds = germ(text, part="d1").bounds()
        assert bounds.hi <= (2 if "bessel" in text else 1), text
        assert bounds.lo > rational(F(98, 100)), text


@pytest.mark.parametrize(
    ("text", "end", "why"),
    [
        ("x", End("+inf", F(15)), "must start at 16"),
        ("floor(x)", End("+inf", F(64)), "no enclosure at infinity"),
        ("abs(log(x) - 9)", End("+inf", F(16)), "a kink"),
        ("log(3 - x)", End("+inf", F(64)), "not certainly positive"),
        ("sqrt(-x)", End("+inf", F(64)), "not certainly positive"),
        ("gamma(x)", End("+inf", F(64)), "no enclosure at infinity"),
        ("exp(x*log(x))", End("+inf", F(64)), "beyond every scale"),
    ],
)
def test_what_is_not_covered_is_undecided(text, end, why):
    with precision(BITS), pytest.raises(Undecided, match=why):
        end_jet(parse(text), "x", end)


def test_an_unbounded_function_has_no_bounds():
    with precision(BITS), pytest.raises(Undecided, match="unbounded"):
        germ("x").bounds()


@pytest.mark.parametrize(("side", "boundary"), [("+inf", 64), ("-inf", -64), ("right", F(193, 64)), ("left", F(191, 64))])
def test_an_end_meets_the_rest_at_its_boundary(side, boundary):
    end = End(side, F(64), F(3) if side in ("left", "right") else F(0))
    assert end.boundary() == boundary
    with precision(BITS):
        assert value(end.variable(), {VARIABLE: arb(64)}).overlaps(rational(F(boundary)))


def test_ranges_round_outward():
    with precision(53):
        third = Range.of(rational(F(1, 3)))
        assert third.lo < rational(F(1, 3)).upper() and third.hi >= rational(F(1, 3)).lower()
        product = third * Range(arb(-2), arb(3))
        assert product.lo <= rational(F(-2, 3)).lower() and product.hi >= rational(F(1)).lower()
        assert (third + (-third)).lo <= 0 <= (third + (-third)).hi
        with pytest.raises(Undecided, match="not finite"):
            Range(arb("nan"), arb(1))
    assert LEAST_START == 16
    assert germ("0*x + 2").bounds().ball().overlaps(arb(2))
    assert Num(F(2)) == parse("2")


def test_a_power_that_nobody_multiplies_out_is_left_undecided_at_once():
    around_zero = Germ(arb(64), Range(arb(-1), arb(1)))
    with precision(BITS), pytest.raises(Undecided, match="a power beyond"):
        around_zero.power(F(10**12))  # whose coefficients would fill the memory


POWERS = st.sampled_from([F(n, 2) for n in range(-9, 10)])
RATES = st.sampled_from([num(F(n, k)) for n in (-3, -1, 1, 2) for k in (1, 10, 1000)] + [parse("-pi/50")])
GROWTHS = st.dictionaries(st.sampled_from([F(1, 3), F(1, 2), F(1), F(2)]), RATES, max_size=3)


@settings(max_examples=examples(300))
@given(st.sampled_from([F(16), F(64), F(5000)]), POWERS, POWERS, GROWTHS)
def test_bounds_of_a_scale_hold_on_the_whole_end(start, a, b, growth):
    """A scale that falls in the end may rise before."""
    falling = Germ(rational(start), Range(arb(-1), arb(2)), a, b, tuple(sorted(growth.items(), reverse=True)))
    bounds = _bounds(falling)
    assume(bounds is not None)
    with precision(BITS):
        for factor in (*FURTHER, F(5, 4), F(3), F(5), F(30), F(200)):
            size = scale(falling, start * factor)
            assert not 2 * size > bounds.hi and not -size < bounds.lo, factor


@pytest.mark.parametrize(
    ("a", "b", "growth"), [(5, 0, ((1, "-1/1000"),)), (0, 9, ((1, "-1/100"),)), (-1, 9, ()), (0, 0, ((1, "-1/9"), ("1/2", "3")))]
)
def test_a_scale_that_rises_before_it_falls_is_not_bounded_by_its_start(a, b, growth):
    with precision(BITS):
        rising = Germ(arb(16), Range.of(arb(1)), F(a), F(b), tuple((F(p), parse(c)) for p, c in growth))
        with pytest.raises(Undecided, match="does not yet fall"):
            rising.bounds()
        later = Germ(arb(2) ** 40, Range.of(arb(1)), F(a), F(b), rising.growth)
        assert not later.bounds().hi < scale(later, F(2) ** 40)


def test_a_function_that_is_0_has_no_scale():
    with precision(BITS):
        nothing = Germ(arb(16), Range(arb(0), arb(0)), F(3), growth=((F(2), num(1)),))
        assert nothing.direction() == nothing.diverges() == 0 and nothing.bounds().is_zero()
        for product in (nothing * germ("exp(x)"), germ("exp(x)") * nothing):
            assert product.bounds().is_zero() and product.direction() == 0
        assert (nothing + germ("1/x")).bounds().hi == germ("1/x").bounds().hi
