"""Laws of exact comparison. Values to compare with come from mpmath, at 80 digits."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from fractions import Fraction
from itertools import pairwise, product
from math import ceil, floor, isqrt
from typing import Any

import mpmath
import pytest
from flint import arb
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dpverify.search import decimals
from dpverify.search.counterexample import find_counterexample
from dpverify.search.decimals import decimal_bounds
from dpverify.trusted.kernel.compare import certainly_equal, certainly_le, certainly_lt, sign
from dpverify.trusted.kernel.errors import DpverifyError, ExprError, Undecided
from dpverify.trusted.kernel.expr import (
    Add,
    Call,
    Expr,
    Mul,
    Num,
    Pow,
    Sym,
    add,
    call,
    div,
    mul,
    neg,
    num,
    parse,
    power,
    sqrt,
    sub,
    substitute,
)
from dpverify.trusted.kernel.loading import asked_for
from dpverify.trusted.kernel.model import Domain
from dpverify.trusted.order.enclosed import enclose
from dpverify.trusted.order.forms import Forms
from dpverify.trusted.order.local import settled, sign_of
from tests.effort import examples

MP = mpmath.MPContext()
MP.dps = 80

POSITIVE = Domain(Fraction(0))
REAL = Domain()
UNIT = Domain(Fraction(0), Fraction(1))
CLOSED_UNIT = Domain(Fraction(0), Fraction(1), lower_open=False, upper_open=False)
COUNT = Domain(Fraction(1), lower_open=False, integer=True)
SEVERAL = Domain(Fraction(1), lower_open=True, integer=True)
DOMAINS = {
    "nu": POSITIVE, "d": COUNT, "Delta": POSITIVE, "b": POSITIVE, "e": POSITIVE, "k": SEVERAL, "n": COUNT,
    "p": UNIT, "q": CLOSED_UNIT, "x": REAL, "y": REAL,
}  # fmt: skip


def by_mpmath(expr: Expr, values: dict[str, Fraction] | None = None) -> Any:
    """The value of a tree by a second library; raises ArithmeticError or ValueError where it is not real."""
    return _by_mpmath(expr, values or {})


def _by_mpmath(expr: Expr, values: dict[str, Fraction]) -> Any:
    if isinstance(expr, Num | Sym):
        value = expr.value if isinstance(expr, Num) else values[expr.name]
        return MP.mpf(value.numerator) / value.denominator
    if isinstance(expr, Add):
        return MP.fsum(_by_mpmath(arg, values) for arg in expr.args)
    if isinstance(expr, Mul):
        return MP.fprod(_by_mpmath(arg, values) for arg in expr.args)
    if isinstance(expr, Pow):
        result = MP.power(_by_mpmath(expr.base, values), _by_mpmath(expr.exponent, values))
    else:
        assert isinstance(expr, Call)
        args = [_by_mpmath(arg, values) for arg in expr.args]
        functions = {"abs": abs, "min": min, "max": max, "pi": lambda: +MP.pi, "logerfc": lambda x: MP.log(MP.erfc(x))}
        result = (functions.get(expr.name) or getattr(MP, expr.name))(*args)
    if not isinstance(result, MP.mpf):
        raise ValueError("not real")
    return result


# -- equality of constants -------------------------------------------------------------------------


def t_loss(nu: int, d: int) -> Expr:
    """The loss of t noise at sensitivity 1, at the point c = (1 + sqrt(1 + 4 nu))/2 where it is greatest."""
    c = f"((1 + sqrt(1 + 4*{nu}))/2)"
    return parse(f"({nu} + {d})/2*(log(1 + {c}**2/{nu}) - log(1 + ({c} - 1)**2/{nu}))")


EQUAL = [
    ("8*asinh(sqrt(5)/10)", "8*asinh(1/(2*sqrt(5)))"),
    ("8*asinh(sqrt(5)/10)", "8*log((1 + sqrt(21))/(2*sqrt(5)))"),
    ("log(8)", "3*log(2)"),
    ("log(3) + log(5)", "log(15)"),
    ("log(1000001) - log(1000003)", "log(1000001/1000003)"),
    ("log(exp(1)*3)", "1 + log(3)"),
    ("log(pi**3/exp(2))", "3*log(pi) - 2"),
    ("log(1 + exp(1)) - log(1 + exp(-1))", "1"),
    ("sqrt(2)*log(4)", "2*sqrt(2)*log(2)"),
    ("sqrt(2)**sqrt(2)", "2**(sqrt(2)/2)"),
    ("sqrt(5 + 2*sqrt(6))", "sqrt(2) + sqrt(3)"),
    ("log(sqrt(5 + 2*sqrt(6)))", "log(sqrt(2) + sqrt(3))"),
    ("(2 + sqrt(5))**(1/3) - (sqrt(5) - 2)**(1/3)", "1"),
    ("sqrt(sqrt(2) + 1)*sqrt(sqrt(2) - 1)", "1"),
    ("2**(1/3)*4**(1/3)", "2"),
    ("2**(1/4)", "sqrt(sqrt(2))"),
    ("2*atanh(1/3)", "log(2)"),
    ("cosh(1)**2 - sinh(1)**2", "1"),
    ("tanh(log(2))", "3/5"),
    ("erf(1/2) + erfc(1/2)", "1"),
    ("logerfc(2)", "log(erfc(2))"),
    ("besselk(1, 2)*gamma(1/3)/besselk(1, 2)", "gamma(1/3)"),
    ("max(sqrt(2), sqrt(3))", "sqrt(3)"),
    ("log(log(4))", "log(2) - log(2) + log(2*log(2))"),
    ("log((1 + sqrt(2))**53) - 53*log(1 + sqrt(2))", "0"),
]  # fmt: skip


@pytest.mark.parametrize(("left", "right"), EQUAL)
def test_known_identities_are_proved(left: str, right: str) -> None:
    a, b = parse(left), parse(right)
    assert abs(by_mpmath(a) - by_mpmath(b)) < MP.mpf(10) ** -70
    assert certainly_equal(a, b)
    assert certainly_equal(b, a)
    assert certainly_le(a, b)
    assert not certainly_lt(a, b)
    assert sign(sub(a, b)) == 0


@pytest.mark.parametrize(("nu", "d"), [(5, 3), (5, 50), (1, 1), (3, 10), (7, 2)])
def test_the_loss_of_t_noise_is_an_asinh(nu: int, d: int) -> None:
    # Reimherr and Awan 2019, Example 6, in closed form
    assert certainly_equal(t_loss(nu, d), parse(f"({nu} + {d})*asinh(1/(2*sqrt({nu})))"))


def test_high_powers_inside_a_logarithm_stay_cheap() -> None:
    c = "((1 + sqrt(21))/2)"
    a = parse(f"log((1 + {c}**2/5)**(53/2)/(1 + ({c} - 1)**2/5)**(53/2))")
    assert certainly_equal(a, parse("53*asinh(sqrt(5)/10)"))


@pytest.mark.parametrize(("left", "right"), EQUAL)
@pytest.mark.parametrize("shift", ["1e-9", "1e-40", "1e-60", "1e-200", "1e-1000"])
def test_a_small_shift_is_seen_and_ordered(left: str, right: str, shift: str) -> None:
    a, b = parse(left), add(parse(right), parse(shift))
    assert not certainly_equal(a, b)
    assert certainly_lt(a, b)
    assert not certainly_le(b, a)


def test_near_coincidences_are_not_equalities() -> None:
    # Ramanujan's constant and 262537412640768744 agree to 30 digits
    assert certainly_lt(parse("exp(pi*sqrt(163))"), parse("262537412640768744"))
    # sums of square roots that agree to 20 digits and more (Graham's problem)
    a, b = parse("sqrt(10) + sqrt(11)"), parse("sqrt(5) + sqrt(18)")
    assert certainly_lt(b, a) == bool(by_mpmath(b) < by_mpmath(a))


def test_what_has_no_value_is_never_proved() -> None:
    for text in ("log(-1)", "sqrt(-1)", "atanh(2)", "log(sqrt(2)*sqrt(3) - sqrt(6))"):
        a = parse(text)
        assert not certainly_equal(a, a), text
        assert not certainly_le(a, a), text
        with pytest.raises(Undecided):
            enclose(a)


def test_what_cancels_without_a_value_has_no_sign() -> None:
    undefined = Call("log", (num(-1),))
    assert sign(Add((undefined, Mul((num(-1), undefined))))) is None


def test_a_symbol_is_not_a_constant() -> None:
    with pytest.raises(ExprError):
        sign(parse("x"))
    assert not certainly_le(parse("x"), parse("x + 1"))
    assert not certainly_le(parse("x"), parse("x + y + 1"), {"x": POSITIVE})


# -- random constants ------------------------------------------------------------------------------

SMALL = st.fractions(min_value=Fraction(1, 6), max_value=12, max_denominator=6)


def _constants(depth: int) -> st.SearchStrategy[Expr]:
    """Positive constants, so that every function is defined."""
    leaves = st.one_of(SMALL.map(num), st.just(parse("pi")))
    if depth == 0:
        return leaves
    part = _constants(depth - 1)
    return st.one_of(
        leaves,
        st.tuples(part, part).map(lambda t: add(*t)),
        st.tuples(part, part).map(lambda t: mul(*t)),
        st.tuples(part, part).map(lambda t: div(*t)),
        part.map(sqrt),
        part.map(lambda x: power(x, Num(Fraction(1, 3)))),
        part.map(lambda x: call("log", add(num(1), x))),
        part.map(lambda x: call("asinh", x)),
        SMALL.map(lambda x: call("exp", num(x))),
    )


CONSTANTS = _constants(3)


def _same_value(a: Expr) -> st.SearchStrategy[Expr]:
    """Other ways to write a positive constant."""
    return st.sampled_from((
        call("log", call("exp", a)),
        call("exp", call("log", a)),
        sqrt(mul(a, a)),
        power(sqrt(a), num(2)),
        div(mul(a, add(sqrt(num(2)), num(1))), add(num(1), sqrt(num(2)))),
        call("sinh", call("asinh", a)),
        add(mul(num(3), a), mul(num(-2), a)),
        sub(call("max", a, add(a, num(1))), num(1)),
        mul(call("log", num(9)), a, Num(Fraction(1, 2)), power(call("log", num(3)), num(-1))),
    ))  # fmt: skip


@settings(max_examples=examples(60), deadline=None)
@given(CONSTANTS, CONSTANTS)
def test_order_agrees_with_a_second_library_and_is_antisymmetric(a: Expr, b: Expr) -> None:
    difference = by_mpmath(b) - by_mpmath(a)
    close = abs(difference) < MP.mpf(10) ** -60
    assert certainly_lt(a, b) == (difference > 0 and not close)
    assert certainly_lt(b, a) == (difference < 0 and not close)
    assert not certainly_equal(a, b) or close
    assert certainly_le(a, b) == (certainly_lt(a, b) or certainly_equal(a, b))


@settings(max_examples=examples(60), deadline=None)
@given(st.data())
def test_rewriting_is_recognised_and_a_shift_of_it_is_not(data: st.DataObject) -> None:
    a = data.draw(_constants(2))
    b = data.draw(_same_value(a))
    tiny = parse("1e-30")
    assert certainly_equal(a, b)
    assert not certainly_equal(a, add(b, tiny))
    assert certainly_lt(a, add(b, tiny))
    assert certainly_lt(sub(b, tiny), a)


@settings(max_examples=examples(80), deadline=None)
@given(st.lists(st.tuples(st.integers(-6, 6), st.integers(1, 60)), min_size=1, max_size=4), st.integers(1, 3))
def test_sums_of_roots_vanish_only_if_they_do(terms: list[tuple[int, int]], scale: int) -> None:
    # grouped by squarefree part, square roots are independent over the rationals (Besicovitch 1940)
    expected: dict[int, int] = {}
    total: Expr = num(0)
    for c, n in terms:
        square = max(r for r in range(1, 8) if n % (r * r) == 0)
        expected[n // square**2] = expected.get(n // square**2, 0) + c * square
        total = Add((total, Mul((num(c * scale), Pow(num(n), Num(Fraction(1, 2)))))))
    assert certainly_equal(total, num(0)) == (not any(expected.values()))


@settings(max_examples=examples(80), deadline=None)
@given(st.lists(st.tuples(st.integers(-4, 4), st.fractions(Fraction(1, 9), 9, max_denominator=9)), min_size=1, max_size=5))
def test_sums_of_logarithms_of_rationals_vanish_only_if_the_product_is_one(terms: list[tuple[int, Fraction]]) -> None:
    product_ = Fraction(1)
    total: Expr = num(0)
    for n, x in terms:
        product_ *= x**n
        total = add(total, mul(num(n), Call("log", (num(x),))))
    assert certainly_equal(total, num(0)) == (product_ == 1)
    assert certainly_lt(total, num(0)) == (product_ < 1)


def test_nested_roots_that_denest() -> None:
    for a, b in product((2, 3, 5), (7, 11)):
        outer = parse(f"sqrt({a + b} + 2*sqrt({a * b}))")
        assert certainly_equal(outer, parse(f"sqrt({a}) + sqrt({b})"))
        assert not certainly_equal(outer, parse(f"sqrt({a}) + sqrt({b + 1})"))


# -- decimals --------------------------------------------------------------------------------------


@settings(max_examples=examples(80), deadline=None)
@given(CONSTANTS, st.integers(1, 40), st.booleans(), st.integers(-40, 40))
def test_decimal_bounds_enclose_and_are_close(a: Expr, digits: int, minus: bool, magnitude: int) -> None:
    a = mul(num(-1 if minus else 1), a, num(Fraction(10) ** magnitude))
    low, high = decimal_bounds(a, digits)
    lower, upper = parse(low), parse(high)
    assert certainly_le(lower, a)
    assert certainly_le(a, upper)
    assert isinstance(lower, Num) and isinstance(upper, Num)
    unit = max(abs(lower.value), abs(upper.value)) * Fraction(10) ** (1 - digits)
    assert upper.value - lower.value <= 2 * unit
    for text in (low, high):
        shown = text.lstrip("-").split("e")[0].replace(".", "").lstrip("0")
        assert len(shown) == digits


def test_decimals_of_simple_values() -> None:
    assert decimal_bounds(parse("log(2)"), 20) == ("0.69314718055994530941", "0.69314718055994530942")
    assert decimal_bounds(parse("-log(2)"), 5) == ("-0.69315", "-0.69314")
    assert decimal_bounds(parse("1/4"), 2) == ("0.25", "0.25")
    assert decimal_bounds(parse("999999/1000000"), 3) == ("0.999", "1.00")
    assert decimal_bounds(parse("exp(-100)"), 6) == ("3.72007e-44", "3.72008e-44")
    assert decimal_bounds(parse("exp(-50000)"), 6) == ("1.88757e-21715", "1.88758e-21715")
    assert decimal_bounds(parse("sqrt(5 + 2*sqrt(6)) - sqrt(2) - sqrt(3)"), 9) == ("0", "0")
    with pytest.raises(ValueError, match="digits"):
        decimal_bounds(parse("1"), 0)
    with pytest.raises(Undecided):
        decimal_bounds(parse("log(-1)"), 5)


# -- parameters ------------------------------------------------------------------------------------

TRUTH = "exp(e)/(exp(e) + k - 1)"
IDENTITIES = [
    ("(nu + d)*asinh(Delta/(2*sqrt(nu)))", "(nu + d)*log((Delta + sqrt(Delta**2 + 4*nu))/(2*sqrt(nu)))"),
    ("(nu + d)*asinh(Delta/(2*sqrt(nu)))", "-(nu + d)*asinh(-Delta/(2*sqrt(nu)))"),
    ("(nu + d)/2*(log(1 + ((Delta + sqrt(Delta**2 + 4*nu))/2)**2/nu) - log(1 + ((Delta - sqrt(Delta**2 + 4*nu))/2)**2/nu))",
     "(nu + d)*asinh(Delta/(2*sqrt(nu)))"),
    ("log(exp(e))", "e"),
    ("n*log(2)", "log(2**n)"),
    ("log(p/(1 - p))", "log(p) - log(1 - p)"),
    (f"log(({TRUTH})*(k - 1)/(1 - {TRUTH}))", "e"),
    ("sqrt(Delta**2*nu)", "Delta*sqrt(nu)"),
    ("sqrt(x**2)", "abs(x)"),
    ("sqrt(x**2*y**2)", "abs(x)*abs(y)"),
    ("(nu*b)**e", "nu**e*b**e"),
    ("max(x, y) + min(x, y)", "x + y"),
    ("max(x, y)", "(x + y + abs(x - y))/2"),
    ("exp(e/2)*exp(e/3)", "exp(5*e/6)"),
    ("2*atanh(p)", "log(1 + p) - log(1 - p)"),
    ("tanh(x)", "(exp(2*x) - 1)/(exp(2*x) + 1)"),
    ("sqrt(3 + 2*sqrt(2))*x", "x + sqrt(2)*x"),
    ("erfc(x) + erf(x)", "1"),
    ("logbesselk(1/2, nu)", "log(besselk(1/2, nu))"),
]  # fmt: skip
STRICT = [
    ("Delta/b", "2*Delta/b"),
    ("asinh(Delta)", "Delta"),
    ("log(1 + Delta)", "Delta"),
    ("log(1 + exp(e))", "e + log(2)"),
    ("1 + e", "exp(e)"),
    ("(exp(e) - 1)/(exp(e) + 1)", "e/2"),
    ("1 - exp(-e)", "e"),
    ("p*(1 - p)", "1/3"),
    ("log(p)", "0"),
    ("sqrt(nu)", "sqrt(nu + 1)"),
    ("log(exp(e)*p + 1 - p)", "e"),
    ("(nu + d)*asinh(Delta/(2*sqrt(nu)))", "(nu + d)*Delta/(2*sqrt(nu))"),
    (TRUTH, "1"),
    ("(nu + d)*asinh(Delta/(2*sqrt(nu)))", "(nu + d)*asinh(Delta/sqrt(nu))"),
    ("(nu + d)*asinh(Delta/(2*sqrt(nu)))", "(nu + d + 1)*asinh(Delta/(2*sqrt(nu)))"),
]
WEAK = [
    ("Delta/b", "Delta/b + x**2"),
    ("log(1 + x**2)", "x**2"),
    ("1 - 1/nu", "log(nu)"),
    ("x*y", "(x**2 + y**2)/2"),
    ("p*(1 - p)", "1/4"),
    ("q**2", "q"),
    ("max(x, y)", "abs(x) + abs(y)"),
    ("abs(x + y)", "abs(x) + abs(y)"),
    ("min(x, y)", "(x + y)/2"),
    ("x", "max(x, y, e)"),
    ("sqrt(nu*b)", "(nu + b)/2"),
    ("log(1 + exp(x))", "log(2) + abs(x)"),
]
UNTRUE = [
    ("x", "y"),
    ("q", "q**2"),
    ("2*Delta/b", "Delta/b"),
    ("nu", "100*nu - 1"),
    ("log(2 + Delta)", "Delta"),
    ("exp(p)", "1 + p"),
    ("p*(1 - p)", "1/4 - 1/100"),
    ("max(x, y)", "x"),
    ("sqrt(x**6)", "x**3 + 1"),
    ("x**2*y**2*(x**2 + y**2 - 3) + 1", "0"),
    ("asinh(Delta)", "log(Delta + 1)"),
    ("d", "1 + (d - 1)*p"),
]


@pytest.mark.parametrize(("left", "right"), IDENTITIES)
def test_identities_hold_for_all_parameters(left: str, right: str) -> None:
    a, b = parse(left), parse(right)
    assert certainly_equal(a, b, DOMAINS)
    assert certainly_le(a, b, DOMAINS)
    assert not certainly_lt(a, b, DOMAINS)
    assert not certainly_equal(a, add(b, parse("1e-30")), DOMAINS)
    assert find_counterexample(a, b, DOMAINS) is None


@pytest.mark.parametrize(("left", "right"), STRICT)
def test_strict_inequalities_hold_for_all_parameters(left: str, right: str) -> None:
    a, b = parse(left), parse(right)
    assert certainly_lt(a, b, DOMAINS)
    assert certainly_le(a, b, DOMAINS)
    assert not certainly_le(b, a, DOMAINS)
    assert not certainly_equal(a, b, DOMAINS)


@pytest.mark.parametrize(("left", "right"), WEAK)
def test_weak_inequalities_hold_for_all_parameters(left: str, right: str) -> None:
    a, b = parse(left), parse(right)
    assert certainly_le(a, b, DOMAINS)
    assert not certainly_equal(a, b, DOMAINS)
    assert not certainly_le(b, a, DOMAINS)


@pytest.mark.parametrize(("left", "right"), UNTRUE)
def test_what_fails_somewhere_has_a_counterexample_and_no_proof(left: str, right: str) -> None:
    a, b = parse(left), parse(right)
    assert not certainly_le(a, b, DOMAINS)
    at = find_counterexample(a, b, DOMAINS)
    assert at is not None
    assert certainly_lt(substitute(b, at), substitute(a, at))
    for name, value in at.items():
        domain = DOMAINS[name]
        assert isinstance(value, Num)
        assert domain.lower is None or value.value > domain.lower or (value.value == domain.lower and not domain.lower_open)
        assert domain.upper is None or value.value < domain.upper or (value.value == domain.upper and not domain.upper_open)
        assert not domain.integer or value.value.denominator == 1


def test_ends_of_a_domain_count() -> None:
    x, zero = parse("x"), parse("0")
    assert certainly_lt(zero, x, {"x": POSITIVE})
    assert not certainly_lt(zero, x, {"x": Domain(Fraction(0), lower_open=False)})
    assert certainly_le(zero, x, {"x": Domain(Fraction(0), lower_open=False)})
    assert certainly_le(parse("2"), x, {"x": Domain(Fraction(1), integer=True)})
    assert not certainly_le(parse("2"), x, {"x": Domain(Fraction(1))})
    assert certainly_lt(x, parse("1"), {"x": UNIT})
    assert not certainly_lt(x, parse("1"), {"x": CLOSED_UNIT})
    assert certainly_le(x, parse("-1"), {"x": Domain(upper=Fraction(-1), upper_open=False)})
    assert certainly_equal(x, parse("3"), {"x": Domain(Fraction(3), Fraction(3), lower_open=False, upper_open=False)})
    assert not certainly_equal(x, parse("3"), {"x": Domain(Fraction(3), Fraction(3))})


def test_what_is_undefined_for_some_parameter_is_never_proved() -> None:
    for text in ("log(x)", "1/x", "sqrt(x)", "atanh(x)", "1/(p - q)", "log(k - 2)", "x**(1/3)", "besselk(1, x)", "y**x"):
        assert not certainly_equal(parse(text), parse(text), DOMAINS), text
        assert not certainly_le(parse(text), add(parse(text), num(1)), DOMAINS), text
    assert not certainly_le(parse("x"), parse("max(x, log(-1 - nu))"), DOMAINS)


def _terms(depth: int) -> st.SearchStrategy[Expr]:
    """Expressions in x (real), p in (0, 1), n >= 1, often undefined somewhere."""
    leaves = st.one_of(st.sampled_from([Sym("x"), Sym("p"), Sym("n")]), st.fractions(-3, 3, max_denominator=3).map(num))
    if depth == 0:
        return leaves
    part = _terms(depth - 1)
    return st.one_of(
        leaves,
        st.tuples(part, part).map(lambda t: add(*t)),
        st.tuples(part, part).map(lambda t: mul(*t)),
        st.tuples(part, part).filter(lambda t: t[1] != num(0)).map(lambda t: div(*t)),
        part.map(neg),
        part.map(lambda x: power(x, num(2))),
        part.map(lambda x: sqrt(add(num(1), power(x, num(2))))),
        part.map(lambda x: call("exp", x)),
        part.map(lambda x: call("asinh", x)),
        part.map(lambda x: Call("abs", (x,))),
        part.map(lambda x: Call("log", (x,))),
        part.map(lambda x: Pow(x, Num(Fraction(1, 2)))),
        st.tuples(part, part).map(lambda t: Call("max", t)),
        st.tuples(part, part).map(lambda t: Call("min", t)),
    )


POINTS = [
    {"x": x, "p": p, "n": n}
    for x in map(Fraction, ("-20", "-1", "-1/7", "0", "1/3", "1", "5/2", "9"))
    for p in map(Fraction, ("1/1000", "1/3", "1/2", "9/10", "999/1000"))
    for n in map(Fraction, (1, 2, 7))
]


@pytest.mark.wide
@settings(max_examples=examples(50), deadline=None)
@given(_terms(2), _terms(2), st.sampled_from([None, "1", "0", "-1", "1/1000"]))
def test_what_is_proved_holds_at_every_point_tried(a: Expr, b: Expr, shift: str | None) -> None:
    try:
        if shift is not None:
            b = add(a, mul(b, b), parse(shift))
    except ExprError:
        assume(False)
    le, lt, equal = (f(a, b, DOMAINS) for f in (certainly_le, certainly_lt, certainly_equal))
    assert not (lt and equal)
    assert le or not (lt or equal)
    assume(le)
    slack = MP.mpf(10) ** -60
    for point in POINTS:
        try:
            left, right = by_mpmath(a, point), by_mpmath(b, point)
        except OverflowError:
            continue
        assert left <= right + slack * max(1, abs(left), abs(right))
        if equal:
            assert abs(left - right) <= slack * max(1, abs(left), abs(right))


@pytest.mark.wide
@settings(max_examples=examples(60), deadline=None)
@given(_terms(2), _terms(1))
def test_a_counterexample_contradicts_every_proof(a: Expr, b: Expr) -> None:
    at = find_counterexample(a, b, DOMAINS, tries=60)
    assume(at is not None)
    assert at is not None
    assert certainly_lt(substitute(b, at), substitute(a, at))
    assert not certainly_le(a, b, DOMAINS)


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(st.integers(-5, 5), min_size=1, max_size=4), st.integers(-3, 3))
def test_polynomials_on_an_interval_agree_with_their_values(coefficients: list[int], bound: int) -> None:
    p = add(*(mul(num(c), power(Sym("q"), num(i))) for i, c in enumerate(coefficients)))
    proved = certainly_lt(p, num(bound), DOMAINS)
    values = [sum(c * Fraction(t, 50) ** i for i, c in enumerate(coefficients)) for t in range(51)]
    if proved:
        assert max(values) < bound
    if all(u <= v for u, v in pairwise(sorted(coefficients))) and sum(abs(c) for c in coefficients) < bound:
        assert proved


def test_errors_of_the_tree_itself_are_the_only_ones_raised() -> None:
    for text in ("1/x", "log(x)**(1/2)", "floor(x)", "x**x", "gamma(x)", "2**(n*x)"):
        for f in (certainly_equal, certainly_le, certainly_lt):
            try:
                assert not f(parse(text), num(-7), DOMAINS)
            except DpverifyError as error:  # pragma: no cover
                pytest.fail(f"{text}: {error}")


@pytest.mark.parametrize("u", ["5/2", "-5/2", "sqrt(2)", "-log(3)"])
def test_logexprel_is_the_logarithm_of_its_quotient(u):
    quotient = parse(f"log((exp({u}) - 1)/({u}))")
    assert certainly_equal(parse(f"logexprel({u})"), quotient)
    assert not certainly_lt(parse(f"logexprel({u})"), quotient)


def test_logexprel_of_a_parameter_is_taken_apart_only_away_from_zero():
    assert certainly_equal(parse("logexprel(b)"), parse("log((exp(b) - 1)/b)"), DOMAINS)
    assert not certainly_equal(parse("logexprel(x)"), parse("log((exp(x) - 1)/x)"), DOMAINS)


# -- one form of what is equal -----------------------------------------------------------------------


def formed(expr: Expr, domains: dict[str, Domain] | None = None) -> Expr:
    """The tree of the form of an expression."""
    forms = Forms(domains or {})
    found = forms.of(expr)
    return div(forms.tree(found.top), forms.tree(found.bottom))


@pytest.mark.wide
@settings(max_examples=100, deadline=None)
@given(_terms(3))
def test_the_form_of_an_expression_has_the_same_value_at_every_point_tried(a: Expr) -> None:
    try:
        found = formed(a, DOMAINS)
    except (Undecided, ExprError):
        assume(False)
    for point in POINTS[::4]:
        try:
            before, after = by_mpmath(a, point), by_mpmath(found, point)
        except (OverflowError, ArithmeticError, ValueError):
            continue
        if MP.isfinite(before) and MP.isfinite(after):
            assert abs(before - after) <= MP.mpf(10) ** -40 * max(1, abs(before))


@pytest.mark.wide
@settings(max_examples=examples(100), deadline=None)
@given(CONSTANTS, CONSTANTS)
def test_the_form_of_a_constant_has_the_same_value(a: Expr, b: Expr) -> None:
    for expr in (
        a,
        sub(a, b),
        call("log", mul(a, b)),
        call("max", a, b, neg(a)),
        Call("abs", (sub(a, b),)),
        call("exp", sub(call("log", num(3)), a)),
    ):
        true, found = by_mpmath(expr), by_mpmath(formed(expr))
        assert abs(true - found) <= MP.mpf(10) ** -60 * max(1, abs(true))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("8*asinh(3*sqrt(5)/10)", "8*asinh(3/2/sqrt(5))"), ("sqrt(3)/2", "3/2/sqrt(3)"), ("log(12)", "log(3) + log(4)"),
        ("exp(log(3))/2", "3/2"), ("max(1 - exp(-1/2), 0)", "1 - exp(-1/2)"), ("abs(log(2/3))", "log(3) - log(2)"),
        ("2**(1/4)*8", "2**(13/4)"), ("14**(-1/2)", "sqrt(2/7)/2"), ("asinh(exp(1) + 2)", "asinh(2 + exp(1))"),
        ("exp(2*log(3) - log(2))", "9/2"), ("min(pi, 3, 4)", "3"),
        ("min(log(3), log(2))", "log(2)"), ("max(-log(3), -log(2))", "-log(2)"),
    ],
)  # fmt: skip
def test_roots_and_logarithms_of_rationals_are_equal_by_their_forms(left: str, right: str) -> None:
    with asked_for() as places:
        assert certainly_equal(parse(left), parse(right))
    assert set(places) <= {"dpverify.trusted.order.forms"}


def test_exponentials_of_products_of_logarithms_are_no_powers() -> None:
    for text in ("exp(2*log(3)*log(5))", "exp(log(3)*log(5))", "exp(2*log(3) + log(2)*log(5))", "exp(log(pi))/exp(2*log(pi + 1))"):
        expr = parse(text)
        assert abs(by_mpmath(formed(expr)) - by_mpmath(expr)) < MP.mpf(10) ** -60 * by_mpmath(expr)


def test_a_power_too_large_to_write_out_is_not_written_out() -> None:
    a = Pow(num(2), Num(Fraction(10**9)))
    assert not certainly_equal(Call("log", (a,)), parse("log(2)"))
    assert not certainly_equal(a, add(a, parse("1")))
    for e in (10**9, -(10**9)):
        with pytest.raises(Undecided, match="too large"):
            Forms({}).of(Pow(num(3), Num(Fraction(2 * e + 1, 2))))


# -- signs of parts --------------------------------------------------------------------------------


@pytest.mark.wide
@settings(max_examples=examples(150), deadline=None)
@given(_terms(3))
def test_the_sign_that_parts_tell_is_the_sign_at_every_point_tried(a: Expr) -> None:
    try:
        signs = sign_of(a, DOMAINS)
    except Undecided:
        assume(False)
    assert signs
    for point in POINTS:
        try:
            value = by_mpmath(a, point)  # an expression with a sign has a value everywhere
        except OverflowError:
            continue
        if abs(value) > MP.mpf(10) ** -60:
            assert (1 if value > 0 else -1) in signs


@pytest.mark.parametrize(
    ("text", "signs"),
    [
        ("1 - p", {1}), ("p - 1", {-1}), ("k - 1", {1}), ("k - 2", {0, 1}), ("2 - n", {-1, 0, 1}), ("-nu/2 - d/2", {-1}),
        ("log(p)", {-1}), ("log(n)", {0, 1}), ("log(1 + exp(-x))", {1}), ("x**2", {0, 1}), ("q*b", {0, 1}), ("sqrt(2)*x - x", {-1, 0, 1}),
        ("erfc(x) + p", {1}), ("-asinh(b)", {-1}), ("max(x, b)", {1}), ("min(-b, x)", {-1}), ("b**x", {1}), ("1/(p - 1)", {-1}),
        ("logerfc(b)", {-1}), ("besselk(x, b)", {1}), ("log(2) - log(3)", {-1}), ("tanh(-nu)**3", {-1}), ("abs(x)", {0, 1}),
        ("q", {0, 1}), ("q - 1", {-1, 0}), ("-q", {-1, 0}), ("q + p", {1}), ("q - p", {-1, 0, 1}), ("q - 1 - p", {-1}),
        ("-3*q + 3", {0, 1}), ("k/2 - 1", {0, 1}), ("1 - d", {-1, 0}), ("sqrt(q)", {0, 1}), ("b**(-1/2)", {1}),
        ("(-b)**3", {-1}), ("(-b)**(-2)", {1}), ("x**3", {-1, 0, 1}), ("max(q, -b)", {0, 1}), ("min(q, b)", {0, 1}),
        ("max(-q, -b)", {-1, 0}),
        ("0*x", {0}), ("pi - 3", {1}), ("log(p) + 1", {-1, 0, 1}), ("log(p) - 1", {-1}), ("2 - sqrt(b)", {-1, 0, 1}),
        ("1 - q**2", {-1, 0, 1}), ("log(p) - q**2", {-1}), ("q**2 - log(p)", {1}), ("-q**2 - x**2", {-1, 0}),
        ("exp(b) - 1", {1}), ("1 - 2*exp(-b)/2", {1}), ("p*(exp(nu) - 1)", {1}), ("exp(x) - 1", {-1, 0, 1}), ("exp(-b) - 1", {-1}),
        ("exp(x**2) - 1", {0, 1}), ("log(1 + p*(exp(b) - 1))", {1}), ("3 - 3*exp(b)", {-1}),
        ("floor(b)", {0, 1}), ("floor(-b)", {-1}), ("floor(-q)", {-1, 0}), ("floor(1 + b)", {1}), ("floor(x)", {-1, 0, 1}),
        ("atanh(p)", {1}), ("atanh(-p)", {-1}),
    ],
)  # fmt: skip
def test_signs_of_parts_are_what_they_are_by_hand(text: str, signs: set[int]) -> None:
    assert sign_of(parse(text), DOMAINS) == signs


@pytest.mark.parametrize(
    "text",
    [
        "log(x)",
        "1/x",
        "sqrt(x)",
        "(-b)**x",
        "gamma(x)",
        "besselk(0, x)",
        "q**(-1)",
        "q**(-1/2)",
        "x**(-2)",
        "(-b)**(1/3)",
        "log(q)",
        "atanh(q)",
        "atanh(b)",
        "0*log(x) + b",
    ],
)
def test_what_parts_do_not_show_to_be_defined_has_no_sign(text: str) -> None:
    expr = Add((Mul((num(0), parse("log(x)"))), Sym("b"))) if text.startswith("0*") else parse(text)
    with pytest.raises(Undecided):
        sign_of(expr, DOMAINS)


def test_an_empty_domain_has_no_sign() -> None:
    for empty in (Domain(Fraction(3), Fraction(3)), Domain(Fraction(1), Fraction(2), integer=True)):
        with pytest.raises(Undecided, match="empty"):
            sign_of(parse("exp(x)"), {"x": empty})


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("0", "b"),
        ("2", "k"),
        ("exp(x)", "exp(x)"),
        ("-nu - d", "0"),
        ("log(3)", "log(3)"),
        ("1/3", "sqrt(2)"),
        ("exp(-abs(x)/2)", "exp(-abs(-x)/2)"),
        ("abs(b)", "b"),
        ("2*(nu/2 + d/2)*asinh(x)", "(nu + d)*asinh(x)"),
        ("log(p/(1 - p))", "log(p) - log(1 - p)"),
        ("exp(log(p*nu))/p", "nu"),
        ("log(sqrt(nu)*exp(x))", "x + log(nu)/2"),
    ],
)
def test_an_elementary_comparison_loads_no_field(left: str, right: str) -> None:
    with asked_for() as places:
        assert certainly_le(parse(left), parse(right), DOMAINS)
    assert set(places) <= {"dpverify.trusted.order.local"}


@settings(max_examples=examples(100), deadline=None)
@given(_terms(3))
def test_settling_keeps_the_values(a: Expr) -> None:
    try:
        found = settled(a, DOMAINS)
    except (Undecided, ExprError):
        assume(False)
    for point in POINTS[::4]:
        try:
            before = by_mpmath(a, point)
        except (OverflowError, ArithmeticError, ValueError):
            continue
        if not MP.isfinite(before):
            continue
        after = by_mpmath(found, point)
        assert abs(before - after) <= MP.mpf(10) ** -60 * max(1, abs(before))


def test_logarithms_are_taken_apart_where_all_factors_are_positive_alone() -> None:
    for text, apart in (
        ("log((p - 1)*(p - 2))", "log((p - 1)*(p - 2))"),
        ("log(p*b)", "log(p) + log(b)"),
        ("log((p - 1)**2)", "log((p - 1)**2)"),
    ):
        assert settled(parse(text), DOMAINS) == parse(apart)


def test_what_was_remembered_still_tells_what_it_was_proved_with() -> None:
    for _ in range(2):
        with asked_for() as places:
            assert certainly_equal(parse("sqrt(5 + 2*sqrt(6))"), parse("sqrt(2) + sqrt(3)"))
            assert certainly_le(parse("x*y"), parse("(x**2 + y**2)/2"), DOMAINS)
        assert {f"dpverify.trusted.order.{name}" for name in ("forms", "local")} <= set(places)


@pytest.mark.parametrize(
    ("domain", "inside", "outside"),
    [
        (Domain(), ("-7", "0", "1/3"), ()),
        (Domain(Fraction(0), None), ("1/9", "5"), ("0", "-1")),
        (Domain(Fraction(0), None, lower_open=False), ("0", "1/9"), ("-1/9",)),
        (Domain(Fraction(0), Fraction(1)), ("1/2",), ("0", "1", "3/2")),
        (Domain(Fraction(2), None, lower_open=False, integer=True), ("2", "3"), ("5/2", "1")),
    ],
)
def test_a_rational_lies_in_a_domain_between_its_ends_and_whole_where_the_domain_is(domain, inside, outside):
    assert all(domain.holds(Fraction(x)) for x in inside) and not any(domain.holds(Fraction(x)) for x in outside)


@pytest.mark.parametrize("digits", [5, 12, 25])
def test_decimals_of_what_cancels_are_as_close_as_any(digits: int) -> None:
    for bits in range(20, 5 * digits + 80, 3):
        near = Fraction(isqrt(2 << 2 * bits), 1 << bits)
        low, high = (parse(text) for text in decimal_bounds(sub(parse("sqrt(2)"), Num(near)), digits))
        assert isinstance(low, Num) and isinstance(high, Num)
        assert high.value - low.value <= high.value * Fraction(10) ** (1 - digits), bits


@pytest.mark.parametrize("digits", [1, 2, 3, 7])
@pytest.mark.parametrize(("rounding", "way"), [(floor, ROUND_FLOOR), (ceil, ROUND_CEILING)])
def test_decimals_are_rounded_and_written_as_the_decimal_module_does(digits: int, rounding: Any, way: str) -> None:
    """In plain digits where the leading one stands between 10^-5 and 10^digits, else with a power of ten."""
    context = Context(prec=digits, rounding=way)
    for numerator, exponent, turn in product((1, 2, 7, 10, 95, 99, 123, 999, 1001, 1234567, 9999999), range(-9, 10), (1, -1)):
        exact = Fraction(turn * numerator) * Fraction(10) ** exponent
        text = decimals._decimal(exact, digits, rounding)
        rounded = context.create_decimal(f"{turn * numerator}e{exponent}")
        assert Fraction(text) == Fraction(rounded), (exact, text)
        plain = -5 <= rounded.adjusted() < digits
        minus, shown = "-" if turn < 0 else "", text.lstrip("-")
        assert text == minus + shown and ("e" in text) is not plain
        mantissa, _, power = shown.partition("e")
        assert power == ("" if plain else str(rounded.adjusted()))
        assert len(mantissa.replace(".", "").lstrip("0")) == digits and mantissa == mantissa.rstrip(".") and mantissa[0] != "."
        assert mantissa.startswith("0") is (plain and rounded.adjusted() < 0)
    assert decimals._decimal(Fraction(0), digits, rounding) == "0"


def test_decimals_enclose_all_of_a_ball_and_a_number_of_any_size_is_written_or_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for ball, wanted in ((arb("0.5", "0.001"), ("0.4", "0.6")), (arb("-0.5", "0.001"), ("-0.6", "-0.4")), (arb(3), ("3", "3"))):
        monkeypatch.setattr(decimals, "constant", lambda _, ball=ball: ball)
        assert decimal_bounds(parse("sqrt(2)"), 1) == wanted
    monkeypatch.setattr(decimals, "constant", lambda _: arb(2) ** (decimals.MAX_BINARY_EXPONENT + 1000))
    with pytest.raises(Undecided, match="too large or too small"):
        decimal_bounds(parse("sqrt(2)"), 1)
    monkeypatch.undo()
    for text in ("exp(-2000)", "exp(3000)"):
        low, high = (parse(end) for end in decimal_bounds(parse(text), 5))
        assert certainly_lt(low, parse(text)) and certainly_lt(parse(text), high)


@pytest.mark.parametrize("digits", [1, 3])
def test_a_constant_is_enclosed_anew_where_its_ball_has_fewer_than_four_bits_a_digit(digits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    balls: list[arb] = []
    monkeypatch.setattr(decimals, "constant", lambda _: balls.pop(0))
    for bits, again in ((4 * digits, True), (4 * digits + 1, False), (200, False), (None, True)):
        first = arb("inf") if bits is None else arb(1, arb(2) ** -bits)
        assert bits is None or first.rel_accuracy_bits() in (bits, bits - 1, bits + 1)
        while bits is not None and first.rel_accuracy_bits() != bits:
            first = arb(1, first.rad() * arb(2) ** (first.rel_accuracy_bits() - bits))
        balls[:] = [first, arb(7)]
        shown = decimal_bounds(parse("sqrt(2)"), digits)
        assert (shown == decimal_bounds(num(7), digits)) is again and len(balls) == (0 if again else 1)


def test_few_integers_are_taken_one_by_one():
    few, many, real = (
        Domain(Fraction(1), end, False, False, whole) for end, whole in ((Fraction(6), True), (None, True), (Fraction(6), False))
    )
    for domain, holds in ((few, True), (real, False)):  # 2^(n - 1) - n is 0 at 1 and 2, and below 0 between
        assert certainly_le(parse("n"), parse("2**(n - 1)"), {"n": domain}) is holds
    assert not certainly_le(parse("n"), parse("2**(n - 1) - 1/1000"), {"n": few})
    assert not certainly_le(parse("2**n"), parse("33*n/2"), {"n": many})  # it fails at 7 first
    assert certainly_le(parse("2**n"), parse("33*n/2"), {"n": few})
    open_ends = Domain(Fraction(1), Fraction(4), integer=True)  # 2 and 3 alone
    assert certainly_le(parse("(n - 2)*(n - 3)"), parse("0"), {"n": open_ends}) and certainly_le(
        parse("2**n"), parse("8"), {"n": open_ends}
    )
