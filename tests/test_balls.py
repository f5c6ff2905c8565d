"""Jets are the value and two derivatives: at points by mpmath, on wide balls because they contain those at every point."""

from fractions import Fraction

import pytest
from flint import arb, ctx
from hypothesis import assume, given
from hypothesis import strategies as st

from dpverify.trusted.kernel.balls import MAX_PRECISION, ball_power, finite, hull, precision, rational, value
from dpverify.trusted.kernel.errors import ExprError, Undecided
from dpverify.trusted.kernel.expr import Num, Sym, add, call, mul, num, parse, power, symbols
from dpverify.trusted.numbers.jets import JetCompiler, jet
from dpverify.trusted.numbers.kinks import resolve
from tests.reference import MP, by_mpmath, holds, to_mpf

F = Fraction
X = Sym("x")


def derivatives(tree, at: Fraction):
    """Value and two derivatives by mpmath's central differences at 60 digits."""
    f = lambda t: by_mpmath(tree, x=t)  # noqa: E731
    x = to_mpf(at)
    return f(x), MP.diff(f, x), MP.diff(f, x, 2)


def agree(tree, at: Fraction, *, narrow: bool = True) -> None:
    with precision(160):
        found = jet(tree, "x", rational(at))
        for ball, expected in zip((found.v, found.d1, found.d2), derivatives(tree, at), strict=True):
            assert holds(ball, expected, F(1, 10**18)), (ball, expected)
            assert not narrow or ball.rad() <= (1 + abs(ball)) * rational(F(1, 10**25))


# -- every function --------------------------------------------------------------------------------

POINTS = {
    "exp": ("-3", "1/2", "20"),
    "log": ("1/1000", "3/7", "50"),
    "cosh": ("-2", "1/3", "15"),
    "sinh": ("-2", "1/3", "15"),
    "tanh": ("-2", "1/3", "9"),
    "asinh": ("-20", "1/3", "1000"),
    "atanh": ("-9/10", "1/3", "99/100"),
    "erf": ("-2", "1/3", "3"),
    "erfc": ("-2", "1/3", "6"),
    "logerfc": ("-3", "0", "1/3", "5", "30"),
    "logexprel": ("-60", "-1", "-1/1000000", "1/1000", "2", "70"),
    "abs": ("-3", "2"),
}


@pytest.mark.parametrize(("name", "at"), [(name, at) for name, points in POINTS.items() for at in points])
def test_each_function_has_its_derivatives(name, at):
    agree(call(name, X), F(at))
    agree(call(name, parse("x/3 + x**2/50")) if name != "atanh" else call(name, parse("x/3")), F(at)) if at != "0" else None


@pytest.mark.sampled(18)
@pytest.mark.parametrize("order", ["0", "1", "5", "-2", "1/2", "1/4", "-3/2"])
@pytest.mark.parametrize("at", ["1/1000", "1/3", "2", "30", "200"])
def test_bessel_functions_have_their_derivatives(order, at):
    # K_v' = -(K_(v-1) + K_(v+1))/2; orders a half from an integer are elementary, which mpmath knows too
    with MP.workdps(32):
        v, x = to_mpf(F(order)), to_mpf(F(at))
        k = [MP.besselk(v + n, x) for n in (-2, -1, 0, 1, 2)]
        value_of, slope, bend = k[2], -(k[1] + k[3]) / 2, (k[0] + 2 * k[2] + k[4]) / 4
        logarithm = (MP.log(value_of), slope / value_of, bend / value_of - (slope / value_of) ** 2)
    with precision(160):
        for name, expected in (("besselk", (value_of, slope, bend)), ("logbesselk", logarithm)):
            found = jet(call(name, parse(order), X), "x", rational(F(at)))
            for ball, number in zip((found.v, found.d1, found.d2), expected, strict=True):
                assert holds(ball, number, F(1, 10**18))
                assert ball.rad() <= abs(ball) * rational(F(1, 10**25))


def test_a_removable_singularity_is_smooth():
    with precision(128):
        found = jet(parse("logexprel(x)"), "x", arb(0))
    assert (found.v, found.d1) == (arb(0), arb(1) / 2)
    assert found.d2.overlaps(arb(1) / 12)
    with precision(128):  # near it, too, no digits are lost
        near = jet(parse("logexprel(x)"), "x", rational(F(1, 10**40)))
    assert near.d1.rad() < 1e-30
    assert near.d2.rad() < 1e-30


@pytest.mark.parametrize(
    "text",
    ["gamma(x)", "x**x", "3**x", "x**(1/3)", "x**(-5/2)", "(1 + x**2)**(7/4)", "sqrt(2 + 3*x**2)", "x**pi", "pi**x", "sqrt(x)**x"],
)
def test_powers_and_gamma(text):
    tree = parse(text)
    with precision(160):
        found = jet(tree, "x", rational(F(5, 4)))
        for ball, expected in zip((found.v, found.d1, found.d2), derivatives(tree, F(5, 4)), strict=True):
            assert holds(ball, expected, F(1, 10**18)) or (text == "gamma(x)" and not ball.is_finite())
        assert found.d1.is_finite()


# -- random trees ----------------------------------------------------------------------------------

CONSTANTS = st.sampled_from([num(F(n, 2)) for n in (-4, -3, -1, 1, 2, 5)] + [parse("pi"), parse("sqrt(2)")])
EXPONENTS = st.sampled_from([num(F(n, 6)) for n in (-12, -6, -3, 2, 3, 4, 9, 12, 18)])
SMOOTH = st.sampled_from(["exp", "log", "cosh", "sinh", "tanh", "asinh", "erf", "erfc", "logerfc", "logexprel"])
KINKED = st.sampled_from(["abs", "floor"])


def grow(trees):
    return st.one_of(
        st.lists(trees, min_size=2, max_size=3).map(lambda parts: add(*parts)),
        st.lists(trees, min_size=2, max_size=2).map(lambda parts: mul(*parts)),
        st.tuples(trees, EXPONENTS).map(lambda pair: power(*pair)),
        st.tuples(SMOOTH, trees).map(lambda pair: call(*pair)),
        # the forms that are kept whole
        st.lists(trees, min_size=2, max_size=3).map(lambda us: call("log", add(*(call("exp", u) for u in us)))),
        trees.map(lambda u: power(add(num(2), mul(num(3), power(u, num(2)))), Num(F(1, 2)))),
    )


def grow_kinks(trees):
    return st.one_of(
        grow(trees),
        st.tuples(KINKED, trees).map(lambda pair: call(*pair)),
        st.lists(trees, min_size=2, max_size=3).map(lambda parts: call("max", *parts)),
        st.lists(trees, min_size=2, max_size=3).map(lambda parts: call("min", *parts)),
    )


LEAVES = st.one_of(st.just(X), st.just(X), CONSTANTS)
TREES = st.recursive(LEAVES, grow, max_leaves=6)
KINKED_TREES = st.recursive(LEAVES, grow_kinks, max_leaves=6)
NUMBERS = st.fractions(F(-5), F(5), max_denominator=40)


@given(TREES, NUMBERS)
def test_jets_of_random_trees_agree_with_mpmath(tree, at):
    assume("x" in symbols(tree))
    try:
        with precision(160):
            found = jet(tree, "x", rational(at))
        assume(found.v.is_finite() and found.d1.is_finite() and found.d2.is_finite())
        assume(all(abs(ball) < 1e8 for ball in (found.v, found.d1, found.d2)))
        expected = derivatives(tree, at)
    except (ExprError, ValueError, OverflowError, ZeroDivisionError, TypeError):
        assume(False)
    for ball, number in zip((found.v, found.d1, found.d2), expected, strict=True):
        assert holds(ball, number, F(1, 10**10)), (ball, number)


@given(KINKED_TREES, NUMBERS, st.fractions(F(1, 40), F(4), max_denominator=40), st.lists(st.fractions(0, 1), min_size=3, max_size=5))
def test_a_wide_ball_contains_the_jets_of_its_points(tree, start, width, shares):
    assume("x" in symbols(tree))
    with precision(100):
        try:
            over = jet(tree, "x", hull(start, start + width))
            inside = [jet(tree, "x", rational(start + share * width)) for share in shares]
        except ExprError:
            assume(False)
        for point in inside:
            for name in ("v", "d1", "d2"):
                ball, thin = getattr(over, name), getattr(point, name)
                assert not (ball.is_finite() and thin.is_finite()) or ball.overlaps(thin), name


@given(KINKED_TREES, NUMBERS)
def test_values_without_derivatives_are_the_same(tree, at):
    with precision(100):
        try:
            plain, whole = value(tree, {"x": rational(at)}), jet(tree, "x", rational(at)).v
        except ExprError:
            assume(False)
        assert not (plain.is_finite() and whole.is_finite()) or plain.overlaps(whole)


def along_direction(tree, where, x, y):
    """The value and two derivatives of a tree in x and y along a direction."""
    rates = {"x": rational(x), "y": rational(y)}
    return JetCompiler().compile(tree)({name: (ball, rates[name], arb(0)) for name, ball in where.items()})


@given(TREES, NUMBERS, st.fractions(F(-2), F(2), max_denominator=9))
def test_directional_derivatives_are_sums_of_partials(tree, at, rate):
    # along (1, rate) the function tree(x) * exp(y) has the slope tree' exp(y) + rate * tree * exp(y)
    whole = mul(tree, parse("exp(y)"))
    with precision(120):
        where = {"x": rational(at), "y": rational(F(1, 3))}
        try:
            along, by_x, by_y = (along_direction(whole, where, x, y) for x, y in ((1, rate), (1, 0), (0, 1)))
        except ExprError:
            assume(False)
        wanted = by_x[1] + rational(rate) * by_y[1]
        assert not (along[1].is_finite() and wanted.is_finite()) or along[1].overlaps(wanted)
        assert not (along[0].is_finite() and by_x[0].is_finite()) or along[0].overlaps(by_x[0])


# -- shapes that survive wide cells ----------------------------------------------------------------


@given(NUMBERS, st.integers(1, 60))
def test_the_slope_of_a_hypotenuse_stays_within_its_limits(start, width):
    with precision(100):
        over = jet(parse("sqrt(3 + 4*(x - 1)**2)"), "x", hull(start, start + width))
        assert over.d1.upper() <= 2
        assert over.d1.lower() >= -2
        assert over.d2.is_finite()


@given(NUMBERS, st.integers(1, 8))
def test_the_slope_of_a_log_sum_is_a_mean_of_the_slopes(start, width):
    with precision(100):
        over = jet(parse("log(exp(-x) + 3 + 5*exp(x/2))"), "x", hull(start, start + width))
        slack = rational(F(1, 10**6))
        assert over.d1.upper() <= rational(F(1, 2)) + slack
        assert over.d1.lower() >= -1 - slack
        assert over.d2.upper() <= 9


def test_monotone_slopes_are_sharp_on_wide_cells():
    with precision(100):
        for text, low, high in (("logerfc(x)", 1, 40), ("logexprel(x)", -30, 30), ("logbesselk(1/2, x)", 1, 40)):
            tree = parse(text)
            over = jet(tree, "x", hull(F(low), F(high)))
            ends = jet(tree, "x", arb(low)).d1.union(jet(tree, "x", arb(high)).d1)
            assert over.d1.rad() <= ends.rad() * rational(F(101, 100)), text


# -- kinks -----------------------------------------------------------------------------------------


def test_at_a_kink_the_slope_is_between_both_sides_and_the_curvature_is_unknown():
    with precision(64):
        found = jet(parse("abs(x) + max(x, 2*x)"), "x", hull(F(-1), F(1)))
        assert found.d1.contains(0) and found.d1.contains(3)
        assert not found.d2.is_finite()
        step = jet(parse("floor(x)"), "x", hull(F(1, 2), F(3, 2)))
        assert step.v.contains(0) and step.v.contains(1)
        assert not step.d1.is_finite()


INF = None


@pytest.mark.parametrize(
    ("text", "lower", "upper", "expected"),
    [
        ("abs(x - 1)", "1", INF, "x - 1"),
        ("abs(x - 1)", INF, "1", "1 - x"),
        ("abs(x - 1)", "0", "2", "abs(x - 1)"),
        ("abs(3 - sqrt(2)*x)", INF, "2", "3 - sqrt(2)*x"),
        ("abs(3 - sqrt(2)*x)", "2", "3", "abs(3 - sqrt(2)*x)"),
        ("min(x, 3)", "0", "3", "x"),
        ("min(x, 3)", "3", INF, "3"),
        ("max(x, 3, 2*x - 1)", "2", "3", "2*x - 1"),
        ("max(x, 3, 2*x - 1)", "3", "4", "2*x - 1"),
        ("floor(x + 2/3)", "1/3", "4/3", "1"),
        ("floor(x + 2/3)", "0", "1", "floor(x + 2/3)"),
        ("floor(-x)", "0", "1", "-1"),
        ("floor(x)", "0", INF, "floor(x)"),
        ("exp(-abs(x) + floor(min(x, 3)))", "3", INF, "exp(3 - x)"),
        ("abs(abs(x) - 1)", "1", "2", "x - 1"),
        ("abs(abs(x) - 1)", "-1", "0", "x + 1"),
        ("abs(x**2 - 1)", "2", "3", "x**2 - 1"),
        ("abs(x**2 - 1)", "0", "1", "1 - x**2"),
        ("abs(x**2 - 1)", "-1", "0", "abs(x**2 - 1)"),
        ("abs(x**2 + x - 6)", "3", "4", "abs(x**2 + x - 6)"),
        ("max(0, 5*log(x))", "0", "1", "0"),
        ("max(0, 5*log(x))", "1", INF, "5*log(x)"),
        ("max(0, 5*log(x))", "1/2", "2", "max(0, 5*log(x))"),
        ("min(1, x**(-5))", "0", "1", "1"),
        ("min(1, x**(-5))", "1", INF, "x**(-5)"),
        ("max(exp(-x), 1/3)", "2", INF, "1/3"),
        ("max(exp(-x), 1/3)", INF, "1", "exp(-x)"),
        ("max(sqrt(x), 3)", "8", INF, "max(sqrt(x), 3)"),
    ],
)
def test_kinks_of_monotone_arguments_are_decided_on_intervals(text, lower, upper, expected):
    ends = [None if end is None else F(end) for end in (lower, upper)]
    with precision(64):
        assert resolve(parse(text), "x", ends[0], ends[1]) == parse(expected)


@given(KINKED_TREES, NUMBERS, st.fractions(F(1, 20), F(3), max_denominator=20), st.fractions(F(1, 50), F(49, 50)))
def test_a_resolved_tree_has_the_same_values_inside(tree, start, width, share):
    with precision(100):
        where = {"x": rational(start + share * width)}
        try:
            before, after = value(tree, where), value(resolve(tree, "x", start, start + width), where)
        except ExprError:
            assume(False)
        assert not (before.is_finite() and after.is_finite()) or before.overlaps(after)


# -- edges of what is defined ----------------------------------------------------------------------


@pytest.mark.parametrize("text", ["log(x)", "sqrt(x)", "x**(1/3)", "1/x", "x**(-1/2)", "besselk(1, x)", "logbesselk(1, x)", "atanh(x + 1)"])
def test_a_ball_that_leaves_the_domain_is_not_finite(text):
    with precision(64):
        over = jet(parse(text), "x", hull(F(-1), F(1)))
        assert not (over.v.is_finite() and over.d1.is_finite())
        with pytest.raises(Undecided, match="not finite"):
            finite(over.d1)


@given(st.fractions(F(1, 20), F(20)), st.fractions(F(0), F(10)), st.fractions(F(-4), F(4), max_denominator=6), st.fractions(0, 1))
def test_powers_of_wide_balls_contain_the_powers_of_their_points(low, width, exponent, share):
    with precision(80):
        wide = ball_power(hull(low, low + width), exponent)
        assert wide.overlaps(ball_power(rational(low + share * width), exponent))


def test_symbols_without_values_are_named():
    with pytest.raises(ExprError, match="the symbol 'y' has no value"):
        jet(parse("x + y"), "x", arb(1))
    with pytest.raises(ExprError, match="the symbol 'y' has no value"):
        value(parse("x + y"), {"x": arb(1)})
    with pytest.raises(Undecided, match="the order of besselk"):
        jet(parse("besselk(x, 2)"), "x", arb(1))


def test_precision_is_restored_and_bounded():
    before = ctx.prec
    with pytest.raises(ExprError), precision(200):
        assert ctx.prec == 200
        raise ExprError("inside")
    assert ctx.prec == before
    for bits in (0, 31, MAX_PRECISION + 1, -5):
        with pytest.raises(ValueError, match="bits"), precision(bits):
            pass


@given(st.fractions())
def test_a_rational_lies_in_its_ball(x):
    with precision(64):
        assert rational(x).overlaps(arb(x.numerator) / arb(x.denominator))
        assert hull(x, x + 1).contains(rational(x).mid())


@pytest.mark.parametrize(("lower", "upper"), [(6, 7), (16, 40), (-64, -16), (1000, 2000)])
def test_sums_of_exponentials_of_very_different_size_stay_finite_on_wide_balls(lower, upper):
    with precision(128):
        found = jet(parse("log(1 + 10*exp(-(x - 4)**2))"), "x", hull(F(lower), F(upper)))
        assert found.v.is_finite() and abs(found.d1) < 10 and abs(found.d2) < 100
