"""Formulas: what is typeset reads back as the same expression, and every mechanism has its law."""

import re
from dataclasses import fields, replace
from fractions import Fraction
from pathlib import Path
from xml.etree import ElementTree

import mpmath
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dpverify.report.mathml import density, density_text, mathml, text
from dpverify.trusted.kernel.errors import ExprError
from dpverify.trusted.kernel.expr import ONE, PI, Add, Call, Mul, Num, Pow, Sym, add, call, children, div, mul, num, parse, power, sub
from dpverify.trusted.kernel.model import (
    KINDS,
    LINF,
    AboveThreshold,
    Combinator,
    Compose,
    EllipticalProcess,
    Exponential,
    Guarantee,
    NoisyMax,
    Part,
    Product,
    Radial,
    Repeat,
    Table,
    Translation,
    all_parts,
)
from tests import shelved
from tests.effort import examples

ROOT = Path(__file__).parents[2]

GREEK = {"ν": "nu", "θ": "theta", "σ": "sigma", "Δ": "Delta", "π": "pi", "ε": "eps"}
CALLS = {
    "log": "log", "min": "min", "max": "max", "cosh": "cosh", "sinh": "sinh", "tanh": "tanh", "arsinh": "asinh", "artanh": "atanh",
    "erf": "erf", "erfc": "erfc", "Γ": "gamma", "exp": "exp",
}  # fmt: skip
TIMES, APPLY, MINUS = "\u2062", "\u2061", "\u2212"
RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
LOWERED = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")


# -- reading MathML back, as an eye does: an mrow is not a bracket -----------------------------------


def read(element):
    """The expression of a `math` element in the language of claim files."""
    (inside,) = element
    return written(inside)


def written(element):
    parts = list(element)
    if element.tag == "mn":
        return element.text
    if element.tag == "mi":
        return "exp(1)" if element.text == "e" else GREEK.get(element.text, element.text)
    if element.tag == "mfrac":
        return f"(({written(parts[0])})/({written(parts[1])}))"
    if element.tag == "msqrt":
        return f"sqrt({written(parts[0])})"
    if element.tag == "mroot":
        return f"(({written(parts[0])})**(1/({written(parts[1])})))"
    if element.tag == "msub":
        return f"{written(parts[0])}_{written(parts[1])}"
    if element.tag == "msup":
        return raised(*parts)
    if element.tag == "msubsup":
        return f"(({written(parts[0])}_{written(parts[1])})**({written(parts[2])}))"
    assert element.tag == "mrow", element.tag
    return fenced(parts) if is_fence(element) else in_line(parts)


def raised(base, script):
    if base.tag == "mi" and base.text == "e":
        return f"exp({written(script)})"
    single = base.tag in ("mi", "mn", "msub") or is_fence(base) or is_call(base)
    assert single, "only the last of several would be raised"
    return f"(({written(base)})**({written(script)}))"


def is_fence(element):
    return element.tag == "mrow" and element[0].get("fence") == "true"


def is_call(element):
    return element.tag == "mrow" and len(element) == 3 and element[1].text == APPLY


def fenced(parts):
    signs = parts[0].text + parts[-1].text
    name = {"()": "", "||": "abs", "⌊⌋": "floor"}[signs]
    return f"{name}({in_line(parts[1:-1])})"


def in_line(parts):
    said = []
    rest = list(parts)
    while rest:
        part = rest.pop(0)
        if rest and rest[0].text == APPLY:
            rest.pop(0)
            said.append(applied(part, rest.pop(0)))
        elif part.tag == "mo":
            said.append({TIMES: "*", "·": "*", MINUS: "-", "+": "+", "/": "/", ",": ","}[part.text])
        else:
            said.append(written(part))
    return "".join(said)


def applied(function, argument):
    assert is_fence(argument)
    if function.tag == "msub":
        assert function[0].text == "K"
        return f"besselk({written(function[1])},{written(argument)})"
    if function.tag == "msup":
        return f"({applied(function[0], argument)}**{written(function[1])})"
    return f"{CALLS[function.text]}{written(argument)}"


# -- reading the text back ---------------------------------------------------------------------------

TOKEN = re.compile(r"\s*(\d+(?:\.\d+)?|[A-Za-zΑ-Ωα-ω]+|[⁰¹²³⁴-⁹⁻]+|[₀-₉]+|.)")


class Reader:
    """The grammar of formulas on one line: implicit products only of a number and a letter."""

    def __init__(self, line):
        self.tokens = TOKEN.findall(line)

    def peek(self):
        return self.tokens[0] if self.tokens else ""

    def take(self, wanted=None):
        token = self.tokens.pop(0)
        assert wanted in (None, token), (wanted, token)
        return token

    def sum(self):
        said = "-" if self.peek() == MINUS and self.take() else ""
        said += self.product()
        while self.peek() in ("+", MINUS) and self.peek():
            said += {"+": "+", MINUS: "-"}[self.take()] + self.product()
        return said

    def product(self):
        said = self.power()
        while (self.peek() in ("·", "/") or self.peek().isalpha()) and self.peek():
            if self.peek().isalpha():
                assert said[-1].isdigit(), "a product without a sign needs a number before the letter"
                said += "*" + self.power()
            else:
                said += {"·": "*", "/": "/"}[self.take()] + self.power()
        return said

    def power(self):
        base = self.atom()
        script = self.script()
        return f"({base})**({script})" if script and base != "e" else f"exp({script or 1})" if base == "e" else base

    def script(self):
        if self.peek() == "^":
            self.take()
            return self.group()
        return self.take().translate(RAISED) if self.peek() and self.peek()[0] in "⁰¹²³⁴⁵⁶⁷⁸⁹⁻" else ""

    def group(self):
        if self.peek() != "(":
            return self.atom()
        self.take("(")
        inside = self.sum()
        self.take(")")
        return f"({inside})"

    def arguments(self):
        self.take("(")
        found = [self.sum()]
        while self.peek() == ",":
            self.take()
            found.append(self.sum())
        self.take(")")
        return ",".join(found)

    def atom(self):
        token = self.peek()
        if token == "(":
            return self.group()
        self.take()
        if token in ("|", "⌊"):
            inside = self.sum()
            self.take({"|": "|", "⌊": "⌋"}[token])
            return f"{ {'|': 'abs', '⌊': 'floor'}[token] }({inside})".replace(" ", "")
        if token == "√" or (token[0] in "⁰¹²³⁴⁵⁶⁷⁸⁹" and self.take("√")):
            return f"(({self.group()})**(1/{2 if token == '√' else token.translate(RAISED)}))"
        if token in CALLS:
            script = self.script()
            return f"({CALLS[token]}({self.arguments()}))" + (f"**{script}" if script else "")
        lowered = self.lowered()
        if token == "K":
            return f"besselk({lowered},{self.arguments()})"
        assert token[0].isalnum(), token
        return GREEK.get(token, token) + (f"_{lowered}" if lowered else "")

    def lowered(self):
        if self.peek() == "_":
            self.take()
            return self.group()
        return self.take().translate(LOWERED) if self.peek() and self.peek()[0] in "₀₁₂₃₄₅₆₇₈₉" else ""


def read_line(line):
    reader = Reader(line)
    said = reader.sum()
    assert not reader.tokens, reader.tokens
    return said


# -- random trees ----------------------------------------------------------------------------------

WRITTEN_SHORT = [Fraction(71, 40), Fraction(1, 10**6), Fraction(3, 10**5), Fraction(9, 64), Fraction(12 * 10**7)]
SMALL = st.one_of(st.fractions(-6, 6, max_denominator=12), st.sampled_from(WRITTEN_SHORT))
NAMES = ("r", "z", "nu_2", "theta", "sigma", "rate", "Delta")
LEAVES = st.one_of(SMALL.map(Num), st.sampled_from([*map(Sym, NAMES), PI]))
UNARY = st.sampled_from(["exp", "sqrt", "abs", "floor", *(name for name in CALLS.values() if name not in ("min", "max", "gamma"))])
BINARY = st.sampled_from(["besselk", "min", "max"])


def made(build):
    def attempt(parts):
        try:
            return build(*parts)
        except ExprError:
            assume(False)

    return attempt


def grow(trees):
    return st.one_of(
        st.lists(trees, min_size=2, max_size=4).map(made(add)),
        st.lists(trees, min_size=2, max_size=4).map(made(mul)),
        st.tuples(trees, st.one_of(trees, SMALL.map(Num))).map(made(power)),
        st.tuples(trees, trees).map(made(div)),
        st.tuples(UNARY, trees).map(made(call)),
        st.tuples(BINARY, trees, trees).map(made(call)),
    )


TREES = grow(st.recursive(LEAVES, grow, max_leaves=8))
POINTS = st.tuples(*(st.fractions(Fraction(1, 10), 3, max_denominator=50) for _ in NAMES))


MP = mpmath.mp.clone()
MP.dps = 40
FUNCTIONS = {
    "abs": abs, "min": min, "max": max, "asinh": MP.asinh, "atanh": MP.atanh, "pi": lambda: +MP.pi,
    # Functions that are quick and do not jump stand for these two: only their arguments matter here. K is even in its order.
    "floor": lambda x: MP.tanh(x + MP.mpf(1) / 7), "besselk": lambda order, x: MP.tanh(order**2) + MP.erf(x),
}  # fmt: skip


class Undefined(Exception):
    pass


def value(tree, point):
    """The value of a tree at a point. Raises Undefined where there is none, or one too large to compare."""
    if isinstance(tree, Num):
        return MP.mpf(tree.value.numerator) / tree.value.denominator
    if isinstance(tree, Sym):
        x = point[NAMES.index(tree.name)]
        return MP.mpf(x.numerator) / x.denominator
    parts = [value(part, point) for part in children(tree)]
    if isinstance(tree, Add | Mul):
        found = (MP.fsum if isinstance(tree, Add) else MP.fprod)(parts)
    else:
        whole = isinstance(tree, Pow) and isinstance(tree.exponent, Num) and tree.exponent.value.denominator == 1
        if isinstance(tree, Pow) and not (parts[0] > 0 or (whole and parts[0] != 0)):
            raise Undefined
        found = MP.power(*parts) if isinstance(tree, Pow) else (FUNCTIONS.get(tree.name) or getattr(MP, tree.name))(*parts)
    if not (isinstance(found, MP.mpf) and MP.isfinite(found) and abs(found) < 10**9):
        raise Undefined
    return found


def known(tree, point):
    """The value of an example's tree; an example without one is passed over."""
    try:
        return value(tree, point)
    except Undefined:
        assume(False)


def same(left, right):
    return abs(left - right) <= MP.mpf(10) ** -18


@settings(max_examples=examples(60), deadline=None)
@given(TREES, POINTS)
def test_the_mathml_of_a_tree_reads_back_as_a_tree_of_the_same_value(tree, point):
    assume("…" not in text(tree))  # rounded, as the line says
    seen = read(ElementTree.fromstring(mathml(tree)))
    assert same(known(tree, point), value(parse(seen), point)), seen


@pytest.mark.wide
@settings(max_examples=examples(60), deadline=None)
@given(TREES, POINTS)
def test_the_line_of_a_tree_reads_back_as_a_tree_of_the_same_value(tree, point):
    line = text(tree)
    assume("…" not in line)
    assert same(known(tree, point), value(parse(read_line(line)), point)), line


@settings(max_examples=examples(60), deadline=None)
@given(TREES)
def test_the_alternative_text_is_the_line(tree):
    assert ElementTree.fromstring(mathml(tree)).get("alttext") == text(tree)


# -- every form inside every other ---------------------------------------------------------------------

X, Y = Sym("r"), Sym("z")
FORMS = {
    "sum": lambda x: add(x, Y), "difference": lambda x: sub(Y, x), "rest": lambda x: sub(x, Y), "product": lambda x: mul(Sym("sigma"), x),
    "multiple": lambda x: mul(num(3), x), "half": lambda x: mul(num(Fraction(1, 2)), x), "decimal": lambda x: mul(num(Fraction(71, 40)), x),
    "negative": lambda x: mul(num(-1), x), "over": lambda x: div(x, Y), "under": lambda x: div(Y, x), "under one": lambda x: div(ONE, x),
    "after a number": lambda x: mul(x, Pow(num(2), Y)), "two under": lambda x: div(Y, mul(x, Sym("sigma"))),
    "square": lambda x: power(x, num(2)), "inverse square": lambda x: power(x, num(-2)), "root": lambda x: power(x, num(Fraction(1, 2))),
    "cube root": lambda x: power(x, num(Fraction(1, 3))), "power 3/2": lambda x: power(x, num(Fraction(3, 2))),
    "base": lambda x: power(x, Y), "exponent": lambda x: power(Y, x), "exponent of e": lambda x: call("exp", x),
    "log": lambda x: call("log", x), "abs": lambda x: call("abs", x), "floor": lambda x: call("floor", x),
    "argument": lambda x: call("besselk", Y, x), "order": lambda x: call("besselk", x, Y), "smaller": lambda x: call("min", x, Y),
    # trees that no constructor folds, but that are trees all the same
    "plain sum": lambda x: Add((Y, x)), "plain difference": lambda x: Add((Y, Mul((num(-1), x)))), "plain product": lambda x: Mul((Y, x)),
    "plain multiple": lambda x: Mul((x, num(Fraction(2, 3)))), "plain quotient": lambda x: Mul((Y, Pow(x, num(-1)))),
    "plain power": lambda x: Pow(x, num(2)),
}  # fmt: skip
PLACES = (Fraction(7, 5), Fraction(3, 7), Fraction(1), Fraction(1), Fraction(9, 4), Fraction(1), Fraction(1))


@pytest.mark.sampled(17)
@pytest.mark.parametrize("outer", FORMS)
def test_brackets_stand_wherever_one_form_inside_another_needs_them(outer):
    compared = 0
    for inner in FORMS:
        tree = FORMS[outer](FORMS[inner](X))
        try:
            expected = value(tree, PLACES)
        except Undefined:
            continue
        compared += 1
        seen, line = read(ElementTree.fromstring(mathml(tree))), text(tree)
        assert same(expected, value(parse(seen), PLACES)), (tree, seen)
        assert same(expected, value(parse(read_line(line)), PLACES)), (tree, line)
    assert compared > len(FORMS) / 2


# -- the way a person sets them ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written_as", "line"),
    [
        ("(1 + r**2/nu)**(-(nu + d)/2)", "(1 + r²/ν)^(−(ν + d)/2)"),
        ("exp(-z**2/(2*sigma**2))", "e^(−z²/(2σ²))"),
        ("exp(-abs(z)/b)", "e^(−|z|/b)"),
        ("2*x", "2x"),
        ("2*rate", "2·rate"),
        ("s*(r + 1)", "s·(r + 1)"),
        ("2*3**x", "2·3^x"),
        ("1/cosh(r)**2", "1/cosh²(r)"),
        ("r**v*besselk(v, sqrt(2)*r)", "r^v·K_v(√2·r)"),
        ("1.775*x", "1.775x"),
        ("1e-6", "10⁻⁶"),
        ("1/3", "1/3"),
        ("x**(1/3)", "³√x"),
        ("floor(r + 1 - g)", "⌊1 + r − g⌋"),
        ("gamma(nu/2)", "Γ(ν/2)"),
        ("8*asinh(sqrt(5)/10)", "8·arsinh(√5/10)"),
        ("exp(1)", "e"),
        ("-(x + 1)/2", "−(x + 1)/2"),
    ],
)
def test_expressions_are_set_the_way_people_write_them(written_as, line):
    assert text(parse(written_as)) == line


@pytest.mark.parametrize(
    ("written_as", "expected"),
    [
        ("x/y", "<mfrac><mi>x</mi><mi>y</mi></mfrac>"),
        ("sqrt(x)", "<msqrt><mi>x</mi></msqrt>"),
        ("x**(1/3)", "<mroot><mi>x</mi><mn>3</mn></mroot>"),
        ("x**y", "<msup><mi>x</mi><mi>y</mi></msup>"),
        ("nu_2", "<msub><mi>ν</mi><mn>2</mn></msub>"),
        ("theta1", "<msub><mi>θ</mi><mn>1</mn></msub>"),
        ("lam", "<mi>λ</mi>"),
    ],
)
def test_layout_has_its_elements(written_as, expected):
    assert expected in mathml(parse(written_as))


def test_a_long_exponent_of_e_is_set_on_the_line():
    assert text(parse("exp(-a*b*c*d - f*g*h*k)")).startswith("exp(")


def test_logarithms_of_special_functions_are_set_by_what_they_mean():
    assert text(Call("logbesselk", (Sym("v"), Sym("x")))) == "log(K_v(x))"
    assert text(Call("logexprel", (Sym("x"),))) == "log((e^x − 1)/x)"
    assert text(Call("logerfc", (Sym("x"),))) == "log(erfc(x))"
    assert text(Call("logratio", (Sym("n"), Sym("r"), num(2)))) == "log(n/r²)"


def test_a_number_of_many_digits_is_rounded_and_says_so():
    assert text(Num(Fraction(10**60 + 1, 3 * 10**60))) == "0.333333333333…"
    assert text(num(7**400)).startswith("1.09450060434…·10³³⁸") or "…·10" in text(num(7**400))
    assert len(text(num(Fraction(7**400, 3)))) < 25


def test_a_name_with_signs_of_markup_is_escaped():
    assert "<b>" not in mathml(Sym("<b>"))


def test_a_block_stands_on_a_line_of_its_own():
    assert mathml(Sym("x"), block=True).startswith('<math display="block"')


# -- the laws of mechanisms --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def mechanisms():
    found = {}
    for path in shelved.SPECS:
        for stated in shelved.read(path).claims:
            found.setdefault(stated.claim.mechanism, path.stem)
    return found


@pytest.mark.wide
def test_every_mechanism_of_the_catalogue_has_a_law_that_is_well_formed(mechanisms):
    for mechanism, stem in mechanisms.items():
        root = ElementTree.fromstring(density(mechanism))
        assert root.tag == "math" and root.get("alttext") == density_text(mechanism), stem
        assert all(element.text for element in root.iter() if element.tag in ("mi", "mn", "mo", "mtext")), stem
        assert len(density_text(mechanism)) < 3000, stem


def test_the_catalogue_has_every_kind_of_mechanism(mechanisms):
    kinds = {type(inner) for mechanism in mechanisms for inner in (mechanism, *(part.mechanism for part in all_parts(mechanism)))}
    assert kinds - {Repeat} == set(KINDS.values())


def test_mechanisms_that_differ_have_laws_that_differ(mechanisms):
    # sensitivities of parts belong to the law; the norm of a product's sensitivity, adjacency and the folded scale do not
    known = ("table", "product", "kernel", "sampled", "radial", "translation", "exponential", "space")
    laws = {}
    for mechanism in mechanisms:
        if type(mechanism) in [KINDS[name] for name in known]:
            continue
        if isinstance(mechanism, NoisyMax | AboveThreshold):  # how answers move together, and where they lie, is no part of the law
            mechanism = replace(mechanism, neighbours="all", bounds=None)
        if isinstance(mechanism, EllipticalProcess):  # nor what answers differ by
            mechanism = replace(mechanism, differences=())
        laws.setdefault(density_text(mechanism), []).append(mechanism)
    assert [same for same in laws.values() if len({repr(one) for one in same}) > 1] == []


@pytest.mark.parametrize(
    ("mechanism", "line"),
    [
        (Radial(parse("exp(-r)"), LINF, num(3), num(2)), "f(y) ∝ e^(−‖y − q(x)‖_∞/2), y ∈ ℝ³"),
        (Radial(parse("exp(-r**2/2)"), LINF, num(1), Sym("sigma")), "f(y) ∝ e^(−|y − q(x)|²/(2σ²))"),
        (Translation(parse("exp(-z)"), (num(0), None)), "f(y) ∝ e^(−(y − q(x))), y − q(x) ≥ 0"),
        (Translation(parse("1"), (None, num(1))), "f(y) ∝ 1, y − q(x) ≤ 1"),
        (Product(parse("exp(-abs(z))"), Sym("d")), "f(y) ∝ ∏_(i = 1)^d e^(−|y_i − q_i(x)|), y ∈ ℝ^d"),
        (Table(((num(1), num(0)),)), "Pr[y | x] = P_(x, y), P = [[1, 0]]"),
        (Guarantee("zcdp", ((parse("1/8"),),)), "D_α(M(x) ‖ M(x′)) ≤ α/8 for every α > 1"),
        (Guarantee("approximate", ((num(1), num(0)),)), "Pr[M(x) ∈ S] ≤ e·Pr[M(x′) ∈ S]"),
        (
            Exponential(((num(0),),), parse("1/2"), points=((num(1),),), metric="l1"),
            "Pr[y | x] ∝ e^(−d(a_x, a_y)/2); d the l1 distance; a = [[1]]",
        ),
    ],
)
def test_a_law_says_the_distribution_of_the_output(mechanism, line):
    assert density_text(mechanism) == line


def test_a_large_table_is_told_in_words_and_a_small_one_is_shown():
    row = tuple(num(Fraction(1, 9)) for _ in range(9))
    assert "mtable" not in density(Table((row,)))
    assert "1 rows and 9 columns" in density_text(Table((row,)))
    assert "mtable" in density(Table((row[:8],)))


def test_many_parts_are_counted_instead_of_shown():
    part = Part(Guarantee("zcdp", ((num(1),),)))
    line = density_text(Compose((part,) * 50))
    assert line.endswith("and 31 more parts") and line.startswith("M = M₁ ∘ M₂")


def test_many_rows_of_a_guarantee_are_counted_instead_of_shown():
    rows = tuple((num(k), num(k)) for k in range(2, 32))
    assert density_text(Guarantee("renyi", rows)).endswith("and 22 more")


def test_every_combinator_shows_its_parts(mechanisms):
    for mechanism in mechanisms:
        if isinstance(mechanism, Combinator):
            line = density_text(mechanism)
            assert line.startswith("M = ") and "M₁" in line
            assert all(field.name for field in fields(mechanism))


def test_a_power_of_a_root_keeps_its_brackets():
    assert text(Pow(parse("sqrt(x)"), num(2))) == "(√x)²"


def test_a_sum_that_is_taken_away_keeps_its_brackets():
    assert text(Add((Sym("x"), Mul((num(-1), Add((Sym("y"), Sym("z")))))))) == "x − (y + z)"
