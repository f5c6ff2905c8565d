"""Expressions: text and tree are inverse to each other, folding keeps values, and what is refused says so."""

from fractions import Fraction

import mpmath
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dpverify.trusted.kernel import expr as language
from dpverify.trusted.kernel.balls import constant, precision, rational, value
from dpverify.trusted.kernel.errors import ExprError
from dpverify.trusted.kernel.expr import (
    PI,
    Num,
    Pow,
    Sym,
    add,
    call,
    div,
    format_expr,
    mul,
    neg,
    num,
    parse,
    parse_number,
    power,
    substitute,
    symbols,
)
from dpverify.trusted.language.derivatives import derivative
from dpverify.trusted.language.linear import linear_part
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.language.signs import absolute

SMALL = st.fractions(-6, 6, max_denominator=12)
LEAVES = st.one_of(SMALL.map(Num), st.sampled_from([Sym("r"), Sym("z"), Sym("nu_2"), PI]))
UNARY = st.sampled_from([name for name, (least, most) in language.FUNCTIONS.items() if least == most == 1])
BINARY = st.sampled_from(["besselk", "logbesselk", "min", "max"])


def _made(build):
    """A strategy's trees where they make sense: 0 to a negative power does not."""

    def attempt(parts):
        try:
            return build(*parts)
        except ExprError:
            assume(False)

    return attempt


def grow(trees):
    return st.one_of(
        st.lists(trees, min_size=2, max_size=4).map(_made(add)),
        st.lists(trees, min_size=2, max_size=4).map(_made(mul)),
        st.tuples(trees, st.one_of(trees, SMALL.map(Num))).map(_made(power)),
        st.tuples(trees, trees).map(_made(div)),
        st.tuples(UNARY, trees).map(_made(call)),
        st.tuples(BINARY, trees, trees).map(_made(call)),
    )


TREES = st.recursive(LEAVES, grow, max_leaves=10)


# -- text and tree ---------------------------------------------------------------------------------


@given(TREES)
def test_parsing_the_text_of_a_tree_gives_the_tree_back(tree):
    assert parse(format_expr(tree)) == tree


@given(TREES, SMALL)
def test_a_tree_with_values_put_in_is_read_back_too(tree, number):
    try:
        tree = substitute(tree, {"nu_2": Num(number)})
    except ExprError:
        assume(False)
    assert parse(format_expr(tree)) == tree


@given(TREES)
def test_text_is_stable(tree):
    assert format_expr(parse(format_expr(tree))) == format_expr(tree)


@given(st.text(alphabet="0123456789.eE+-*/^(), rzexplogsqtabminfoerc_\u00e9#'\"[]{}", max_size=40))
def test_no_text_does_anything_but_parse_or_be_refused(text):
    try:
        tree = parse(text)
    except ExprError:
        return
    assert parse(format_expr(tree)) == tree


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.1", Fraction(1, 10)),
        ("1.775", Fraction(71, 40)),
        ("1e-6", Fraction(1, 10**6)),
        (".5", Fraction(1, 2)),
        ("2.", Fraction(2)),
        ("-2**2", Fraction(-4)),
        ("2**3**2", Fraction(512)),
        ("2**-1", Fraction(1, 2)),
        ("1/3 + 1/6", Fraction(1, 2)),
        ("6/2/3", Fraction(1)),
        ("1 - 2 - 3", Fraction(-4)),
        ("sqrt(9/4)", Fraction(3, 2)),
        ("8**(2/3)", Fraction(4)),
        ("sqrt(2)*sqrt(2)", Fraction(2)),
        ("abs(-3) + min(2, 1) + max(1, 5) + floor(-1/2)", Fraction(8)),
        ("exp(0) + log(1) + cosh(0) + erfc(0) + sinh(0) + logexprel(0)", Fraction(3)),
    ],
)
def test_numbers_are_exact_and_fold(text, expected):
    assert parse(text) == Num(expected)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("r + r", "2*r"),
        ("r*r", "r**2"),
        ("r/r", "1"),
        ("2*(r + z) - 2*z", "2*r"),
        ("(r**2)**3", "r**6"),
        ("(r**(1/2))**3", "r**(3/2)"),
        ("(2*r)**2", "4*r**2"),
        ("max(r, r)", "r"),
        ("sqrt(r)", "r**(1/2)"),
        ("-2*(r + z)", "-2*r - 2*z"),
        ("-(r + 1)*z/2", "(r + 1)*z*(-1/2)"),
    ],
)
def test_like_terms_and_powers_are_collected(left, right):
    assert parse(left) == parse(right)


def test_a_square_of_a_root_is_kept_where_the_root_may_be_undefined():
    assert parse("sqrt(r)**2") != parse("r")


# -- folding keeps values --------------------------------------------------------------------------


@given(TREES, TREES, st.fractions(Fraction(1, 10), 4, max_denominator=20))
def test_sums_products_and_quotients_have_the_values_of_their_parts(left, right, at):
    with precision(200):
        where = {name: rational(at) for name in ("r", "z", "nu_2")}
        try:
            x, y = value(left, where), value(right, where)
            made = {"sum": (add(left, right), x + y), "product": (mul(left, right), x * y), "quotient": (div(left, right), x / y)}
            found = {name: (value(tree, where), wanted) for name, (tree, wanted) in made.items()}
        except ExprError:
            assume(False)
        for name, (ball, wanted) in found.items():
            assert not wanted.is_finite() or ball.overlaps(wanted), name


@given(TREES)
def test_linear_parts_add_up(tree):
    slope, rest = linear_part(tree, "r")
    assert "r" not in symbols(slope)
    with precision(200):
        where = {"r": rational(Fraction(7, 5)), "z": rational(Fraction(9, 7)), "nu_2": rational(2)}
        try:
            whole, parts = value(tree, where), value(slope, where) * where["r"] + value(rest, where)
        except ExprError:
            assume(False)
        assert not whole.is_finite() or parts.overlaps(whole) or not parts.is_finite()


def test_substitution_is_simultaneous():
    assert substitute(parse("r + 2*z"), {"r": Sym("z"), "z": Sym("r")}) == parse("z + 2*r")


@pytest.mark.parametrize(
    ("text", "point"),
    [(f"{name}(z/2 + 1/10)", "0.7") for name in ("exp", "log", "cosh", "sinh", "tanh", "asinh", "atanh", "erf", "erfc")]
    + [("(1 + z**2)**(-3/2)", "0.7"), ("z**z", "1.3"), ("3**z*z**2", "0.4"), ("z*exp(-z**2)*sqrt(z)", "2")],
)
def test_derivatives_agree_with_differences(text, point):
    tree = parse(text)
    at = Fraction(point)
    step = Fraction(1, 2**80)
    with precision(400):
        high, low = (value(tree, {"z": rational(at + s * step)}) for s in (1, -1))
        slope = (high - low) / rational(2 * step)
        assert abs(value(derivative(tree, "z"), {"z": rational(at)}) - slope) < (1 + abs(slope)) * rational(Fraction(1, 2**100))


@pytest.mark.parametrize("text", ["abs(z)", "floor(z)", "max(z, 1)", "besselk(1, z)", "gamma(z)"])
def test_functions_without_a_derivative_rule_say_so(text):
    with pytest.raises(ExprError, match="has no derivative rule"):
        derivative(parse(text), "z")


# -- the logarithm of a density --------------------------------------------------------------------

DENSITIES = [
    "exp(-r)", "(1 + r**2/5)**(-4)", "exp(-r**2/2)*r**3", "cosh(r)**(-2)", "1/cosh(r - 1)", "erfc(r)*exp(r)", "besselk(1/2, r)*sqrt(r)",
    "abs(r - 1)**3*exp(-r)", "(r - 1)**2*exp(-r)", "(1 - exp(-r**2/2))/r**2", "(exp(r) - 1)*exp(-2*r)", "exp(-r) + exp(-2*r)/3",
    "exp(-r)/(1 + exp(-r))**2", "2*exp(r) + r*exp(-r)", "3", "(2*r)**4", "abs(-2*r)", "1 - exp(-r)", "sqrt(exp(-r))", "(-1)*(r - 9)",
    "exp(-floor(r))", "min(1, exp(-r))", "(r*(r - 1))**2", "pi*exp(-r)/sqrt(pi)",
]  # fmt: skip


@pytest.mark.parametrize("text", DENSITIES)
@pytest.mark.parametrize("point", ["1/10", "1/2", "3/2", "4", "7"])
def test_neg_log_is_minus_the_logarithm_wherever_the_density_is_positive(text, point):
    density = parse(text)
    with precision(300):
        where = {"r": rational(Fraction(point))}
        direct = -value(density, where).log()
        taken_apart = value(neg_log(density), where)
        assert direct.is_finite()
        assert abs(taken_apart - direct) < rational(Fraction(1, 10**60))


def test_a_maximum_is_taken_apart_where_all_of_it_is_plainly_positive_alone():
    assert neg_log(parse("max(1 + exp(-r), exp(-2*r))")) == call("min", neg_log(parse("1 + exp(-r)")), parse("2*r"))
    for other in ("0", "1 - r"):
        density = call("max", parse(other), parse("exp(-r)"))
        assert neg_log(density) == neg(call("log", density))


@given(TREES, st.fractions(Fraction(1, 10), 4, max_denominator=20))
def test_neg_log_of_any_positive_tree_is_minus_its_logarithm(tree, at):
    with precision(200):
        where = {name: rational(at) for name in ("r", "z", "nu_2")}
        try:
            ball = value(tree, where)
            assume(ball > 0 and ball.is_finite())
            found = value(neg_log(tree), where)
        except ExprError:
            assume(False)
        assert not found.is_finite() or found.overlaps(-ball.log())


def test_neg_log_stays_finite_where_the_density_underflows():
    with precision(100):
        for text in ("exp(-r**2)", "erfc(r)", "besselk(2, r)", "cosh(r)**(-1)", "exp(-r) + exp(-2*r)"):
            assert value(neg_log(parse(text)), {"r": rational(10**6)}).is_finite(), text


def test_a_constant_that_is_not_positive_is_no_density():
    for text in ("0", "-2"):
        with pytest.raises(ExprError, match="is not positive"):
            neg_log(parse(text))


# -- refusals --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "an empty expression"),
        ("   ", "an empty expression"),
        ("1 +", "the expression ends too early at column 4"),
        ("2^3", "'\\^' is not a power; write \\*\\* at column 2"),
        ("(1", r"expected '\)', found the end at column 3"),
        ("1)", r"unexpected '\)' at column 2"),
        ("1 2", "unexpected '2' at column 3"),
        ("2r", "unexpected 'r' at column 2"),
        ("r; import os", "unexpected ';' at column 2"),
        ("__import__('os')", "unexpected"),
        ("r.real", "unexpected '.'"),
        ("r[0]", r"unexpected '\['"),
        ("lambda: 1", "unexpected ':'"),
        ("eval(r)", "unknown function 'eval'"),
        ("sin(r)", "unknown function 'sin' at column 1"),
        ("exp", "exp is a function and needs its argument"),
        ("nan", "nan is not a number here"),
        ("inf", "inf is not a number here"),
        ("-Infinity", "Infinity is not a number here"),
        ("exp()", "unexpected"),
        ("exp(1, 2)", "exp takes 1 argument, not 2"),
        ("besselk(r)", "besselk takes 2 arguments, not 1"),
        ("1/0", "division by zero"),
        ("0**(-1)", "division by zero"),
        ("r/(1 - 1)", "division by zero"),
        ("1e99999", "exponent of '1e99999' is beyond 5000"),
        ("10**3000*10**3000", "a number of more than 14000 bits"),
        ("\u00e9", "unexpected"),
    ],
)
def test_what_is_refused_says_what_and_where(text, why):
    with pytest.raises(ExprError, match=why):
        parse(text)


def test_refusals_name_the_language():
    with pytest.raises(ExprError, match=r"Use numbers, symbols, \+ - \* / \*\*"):
        parse("r $ 2")


def test_long_texts_and_deep_nesting_are_refused_quickly():
    with pytest.raises(ExprError, match="an expression of 20001 characters; at most 20000"):
        parse("1" * 20_001)
    with pytest.raises(ExprError, match="nested more than 120 deep"):
        parse("(" * 1000 + "r" + ")" * 1000)
    assert parse("-" * 5001 + "r") == neg(Sym("r"))
    with pytest.raises(ExprError, match="nested more than 120 deep"):
        parse("2**" * 3000 + "r")
    assert parse("(" * 100 + "r" + ")" * 100) == Sym("r")
    with pytest.raises(ExprError, match="a number of 5001 digits"):
        parse("1" * 5001)


def test_large_powers_stay_unevaluated():
    tree = parse("2**(10**9)")
    assert isinstance(tree, Pow)
    with precision(64):
        logarithm = constant(call("log", tree))
    assert abs(logarithm - mpmath_ball(10**9 * mpmath.log(2))) < 1


def mpmath_ball(number):
    return rational(Fraction(int(mpmath.nint(number))))


@given(st.from_regex(r"[0-9]{1,12}(\.[0-9]{1,12})?([eE][+-]?[0-9]{1,2})?", fullmatch=True))
def test_decimal_literals_have_their_exact_value(text):
    assert parse_number(text) == Fraction(text)
    assert parse(text) == num(Fraction(text))


@pytest.mark.parametrize(
    ("density", "expected"),
    [
        ("exp(-r) + exp(-r**2/2)", "r - log(1 + exp(-r**2/2 + r))"),
        ("exp(-r**2/2) + exp(-r)", "r - log(exp(-r**2/2 + r) + 1)"),
        ("exp(-2*r) + 3*exp(-r/10)", "r/10 - log(exp(-19*r/10) + 3)"),
        ("exp(-sqrt(r)) + exp(-r)", "sqrt(r) - log(1 + exp(-r + sqrt(r)))"),
        ("min(exp(-r), 1/2)", "max(r, log(2))"),
        ("max(exp(-r), exp(-2*r))", "min(r, 2*r)"),
        ("max(1 - r, 0)", "-log(max(1 - r, 0))"),
    ],
)
def test_the_exponential_that_falls_slowest_is_taken_out_and_extremes_are_of_logarithms(density, expected):
    assert neg_log(parse(density)) == parse(expected)


def test_the_depth_of_an_expression_is_that_of_its_deepest_part():
    for one in ("(1 + x)", "x**(-y)", "abs(x)", "max(x, (y))"):
        assert symbols(parse(" + ".join([one] * 300))) <= {"x", "y"}


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("x**2", "x**2"),
        ("x**3", "abs(x**3)"),
        ("x*y", "abs(x*y)"),
        ("-2*x", "2*abs(x)"),
        ("-2*exp(x)", "2*exp(x)"),
        ("-3", "3"),
        ("x**2 + exp(x)", "x**2 + exp(x)"),
        ("besselk(1, x)**3", "besselk(1, x)**3"),
    ],
)
def test_an_absolute_value_is_left_out_where_no_sign_can_be_lost(text, kept):
    assert absolute(parse(text)) == parse(kept)
