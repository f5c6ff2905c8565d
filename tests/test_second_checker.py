"""The second checker: its arithmetic holds what it encloses, it shares nothing with the first, and it refuses what is forged."""

import ast
import copy
import io
import json
import math
import subprocess
import sys
import tokenize
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CHECKER = ROOT / "checker"
BEFORE = sys.path[:]
OWN = [*(path.stem for path in CHECKER.glob("*.py")), "second_opinion"]
for module in OWN:  # other tests have modules of these names
    sys.modules.pop(module, None)
sys.path[:0] = [str(CHECKER), str(ROOT / "tools")]

import algebra as al  # noqa: E402
import check  # noqa: E402
import intervals as iv  # noqa: E402
import second_opinion  # noqa: E402
import terms  # noqa: E402

from dpverify.trusted.kernel import judgement as kernel  # noqa: E402
from dpverify.trusted.kernel.canonical_form import claim_hash  # noqa: E402
from dpverify.trusted.kernel.errors import CertificateError, Rejected  # noqa: E402
from tests import committed  # noqa: E402

sys.path[:] = BEFORE
for module in OWN:
    sys.modules.pop(module, None)

POSITIVE = (Fraction(0), None, True, True, False)
COUNT = (Fraction(1), None, False, True, True)
# digits from Abramowitz & Stegun, tables 1.1 and 4.2 to 4.4
DIGITS = [
    (lambda: iv.exp(iv.point(1)), "2.71828182845904523536028747135266249775724709369995"),
    (lambda: iv.exp(iv.point(-1)), "0.36787944117144232159552377016146086744581113103176"),
    (lambda: iv.log(iv.point(2)), "0.69314718055994530941723212145817656807550013436025"),
    (lambda: iv.log(iv.point(10)), "2.30258509299404568401799145468436420760110148862877"),
    (lambda: iv.point(2) ** Fraction(1, 2), "1.41421356237309504880168872420969807856967187537694"),
    (lambda: iv.point(3) ** Fraction(1, 3), "1.44224957030740838232163831078010958839186925349935"),
    (iv.pi, "3.14159265358979323846264338327950288419716939937510"),
]


def certificate(name):
    return committed.certificate(name)


def answer(data):
    return check.examine(data | {"claim_sha256": claim_hash(data["claim"])})


@contextmanager
def digits_of(bits):
    """Work with so many bits, and as before afterwards."""
    before = iv.DOWN.prec
    iv.precision(bits)
    yield
    iv.DOWN.prec = iv.UP.prec = before


# -- arithmetic ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("bits", [24, 53, 120, 160])
@pytest.mark.parametrize(("enclosed", "digits"), DIGITS)
def test_an_enclosure_holds_the_known_digits_and_is_narrow(enclosed, digits, bits):
    with digits_of(bits):
        found = enclosed()
    known, last = Fraction(digits), Fraction(1, 10**50)
    assert found.lo <= known + last and known - last <= found.hi
    assert Fraction(found.hi) - Fraction(found.lo) <= abs(known) * Fraction(1, 2 ** (bits - 3))


@pytest.mark.parametrize("x", [Fraction(-700), Fraction(-7, 3), Fraction(-1, 10**9), Fraction(1, 7), Fraction(5), Fraction(12345, 67)])
def test_exp_and_log_are_inverse_and_turn_sums_into_products(x):
    with digits_of(90):
        up, down = iv.exp(iv.point(x)), iv.exp(iv.point(-x))
        product, back, twice, square = up * down, iv.log(up), iv.exp(iv.point(2 * x)), up**2
    assert product.lo <= 1 <= product.hi
    assert back.lo <= x <= back.hi and Fraction(back.hi) - Fraction(back.lo) < Fraction(1, 2**70)
    assert max(twice.lo, square.lo) <= min(twice.hi, square.hi)


@pytest.mark.parametrize(
    "function",
    [iv.exp, lambda x: x**3, lambda x: x**2, lambda x: x * x, lambda x: x + x, lambda x: x - iv.point(1), lambda x: x**4,
     lambda x: -x, lambda x: x * iv.point(-2)],
)  # fmt: skip
@pytest.mark.parametrize("bits", [1, 40])
def test_a_wider_interval_has_a_wider_image(function, bits):
    ends = [Fraction(n, 7) for n in (-20, -6, -1, 0, 2, 9, 31)]
    with digits_of(bits):
        for i, low in enumerate(ends):
            for j in range(i, len(ends)):
                outer = function(iv.point(low).hull(iv.point(ends[j])))
                for inside in ends[i : j + 1]:
                    inner = function(iv.point(inside))
                    assert outer.lo <= inner.hi and inner.lo <= outer.hi


@pytest.mark.parametrize("n", [-3, -2, -1, 0, 1, 2, 3, 5, 8])
def test_powers_hold_exact_powers_at_few_digits(n):
    with digits_of(1):
        for low, high in [(-5, -2), (-3, 4), (2, 7), (-1, 0), (0, 3)]:
            interval = iv.point(Fraction(low, 3)).hull(iv.point(Fraction(high, 3)))
            if n < 0 and low <= 0 <= high:
                with pytest.raises(terms.Undecided):
                    interval**n
                continue
            found = interval**n
            for k in range(9):
                x = Fraction(low, 3) + Fraction(high - low, 3) * Fraction(k, 8)
                assert found.lo <= x**n <= found.hi


def test_rounding_goes_outward_and_by_one_unit_at_most():
    for x in (Fraction(1, 3), Fraction(-1, 3), Fraction(10**20 + 1), Fraction(-7, 10**9)):
        with digits_of(10):
            found = iv.point(x)
            assert found.lo <= x <= found.hi and Fraction(found.hi) - Fraction(found.lo) <= abs(x) / 2**10
            third = found / iv.point(3)
            assert third.lo <= x / 3 <= third.hi and (found + found).lo <= 2 * x <= (found + found).hi


@pytest.mark.parametrize("bits", [24, 200])
def test_exp_and_ln_of_many_numbers_are_inside_what_more_digits_give(bits):
    for n in range(-40, 41):
        x = Fraction(n * n * n + 1, 97)
        for function in (iv.exp,) if x <= 0 else (iv.exp, iv.log):
            with digits_of(bits):
                near = function(iv.point(x))
            with digits_of(3 * bits):
                nearer = function(iv.point(x))
            assert near.lo < nearer.lo <= nearer.hi < near.hi or near.lo == nearer.lo == nearer.hi == near.hi


@pytest.mark.parametrize(("text", "values"), [("log(x)", [0, -1]), ("sqrt(x)", [-1]), ("1/x", [0])])
def test_what_has_no_value_is_never_enclosed(text, values):
    for value in values:
        with pytest.raises(terms.Undecided):
            al.Field({}).form(terms.replaced(terms.parse(text), {"x": terms.num(value)}))


# -- order -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("less", "more"),
    [
        ("log(9)", "2*log(3)"), ("sqrt(2)*sqrt(5)", "sqrt(10)"), ("eps/2", "eps"), ("log(p*(exp(eps) - 1) + 1)", "eps"),
        ("1", "n**2 - n + 1"), ("log(p/(-p + 1))", "log(p*(n + 1)/(-p + 1))"), ("asinh(sqrt(3)/6)", "asinh(1/2/sqrt(3))"),
        ("log(n)", "log(n + 1)"), ("tanh(eps/2)", "eps/2"), ("eps", "exp(eps) - 1"), ("(eps + 2)*(-exp(-eps) + 1)", "2*eps"),
        ("log((p + exp(eps))/(p*exp(eps) + 1))", "eps"), ("p*tanh(eps)", "p*eps"),
        ("exp(-1)*(-exp(-1) + 1)/(exp(-1) + 1) + exp(-2)/(exp(-1) + 1)", "exp(-1)/(exp(-1) + 1)"),
    ],
)  # fmt: skip
def test_the_order_of_expressions_is_proved(less, more):
    field = al.Field({"eps": POSITIVE, "n": COUNT, "p": (Fraction(0), Fraction(1), True, True, False)})
    assert field.at_most(field.form(terms.parse(less)), field.form(terms.parse(more)))


@pytest.mark.parametrize(
    ("less", "more"), [("eps", "1"), ("1", "p"), ("n", "2"), ("log(4)", "2*log(2) - 1/10**9"), ("eps**2", "eps"), ("tanh(eps/2)", "eps/3"),
     ("eps/2", "tanh(eps/2)"), ("exp(eps) - 1", "2*eps"), ("eps - eps**2", "tanh(eps)/2")],
)
def test_an_order_that_does_not_hold_everywhere_is_not_proved(less, more):
    field = al.Field({"eps": POSITIVE, "n": COUNT, "p": (Fraction(0), Fraction(1), True, True, False)})
    assert not field.at_most(field.form(terms.parse(less)), field.form(terms.parse(more)))


def test_an_end_that_belongs_to_a_domain_is_one_of_its_values():
    up_to = lambda upper_open: al.Field({"p": (Fraction(1, 2), Fraction(1), True, upper_open, False)})  # noqa: E731
    gap = terms.parse("-p + 1")
    assert up_to(True).positive(up_to(True).form(gap))
    assert not up_to(False).positive(up_to(False).form(gap)) and up_to(False).at_most({}, up_to(False).form(gap))


@pytest.mark.parametrize("density", ["exp(exp(r) - exp(2*r))", "exp(r**2 - r)", "(r**2 + 1)**(-1)", "exp(-1)"])
def test_a_density_without_finite_mass_is_not_noise(density):
    data = certificate("exponential_radial.exact")
    data["claim"]["mechanism"] |= {"profile": density, "dimension": "2"}
    found = answer(data)
    assert found.kind != "decided"


# -- the program -----------------------------------------------------------------------------------------------


@pytest.mark.wide
def test_it_has_modules_of_at_most_300_lines_and_shares_no_import():
    own = {path.stem for path in CHECKER.glob("*.py")}
    lines = 0
    for path in CHECKER.glob("*.py"):
        source = path.read_text(encoding="utf-8")
        tree = ast.parse(source)
        lines += len(code_lines(source, tree))
        assert len(code_lines(source, tree)) <= 300, path.name
        nodes = list(ast.walk(tree))
        names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
        names += [node.module for node in nodes if isinstance(node, ast.ImportFrom)]
        assert {name.split(".")[0] for name in names} <= own | sys.stdlib_module_names
        assert not any(isinstance(node, ast.Constant) and isinstance(node.value, float) for node in nodes)
    assert 1000 <= lines <= 5000


def code_lines(source, tree):
    """The lines that hold code: no blanks, comments or docstrings, as docs/design.md counts them."""
    told, code = set(), set()
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
            told |= set(range(body[0].lineno, body[0].end_lineno + 1))
    empty = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        code |= set() if token.type in empty else set(range(token.start[0], token.end[0] + 1))
    return code - told


def test_exit_codes_say_decided_not_decided_and_refused(tmp_path):
    forged = tmp_path / "forged.cert.json"
    forged.write_text(json.dumps(certificate("laplace.sensitivity-1-exact") | {"verdict": "REFUTED"}), encoding="utf-8")
    names = ("laplace.sensitivity-1-exact", "uniform_ball.epsilon-1")
    decided, other = (committed.saved(name, tmp_path) for name in names)
    for files, code in [([decided], 0), ([decided, other], 1), ([other, forged, decided], 2)]:
        run = subprocess.run([sys.executable, "-P", "-B", CHECKER / "check.py", *files], capture_output=True, text=True)
        assert run.returncode == code, run.stderr
    assert "the certificate says REFUTED, its lines give PROVED" in run.stdout


# -- forged evidence, a rule each ---------------------------------------------------------------------------


def changed(name, change):
    data = copy.deepcopy(certificate(name))
    change(data["claim"], data["lines"])
    return answer(data)


def put(value, *path):
    """A change of what stands at a path from the lines ("lines") or the claim ("claim")."""

    def change(claim, lines):
        held = {"claim": claim, "lines": lines}
        for step in path[:-1]:
            held = held[step]
        held[path[-1]] = value

    return change


FORGED = [
    ("concave-exponent", "laplace.sensitivity-1-just-below", put("3/2", "claim", "epsilon"), "its lines give PROVED"),
    ("concave-exponent", "exponential_radial.exact", put("1/2", "claim", "mechanism", "dimension"), "not certainly a count"),
    ("point-witness", "laplace.sensitivity-1-just-below", put(["9"], "lines", 2, "parameters", "b"), "not as far apart as answers"),
    ("point-witness", "laplace.sensitivity-1-just-below", put("0", "lines", 2, "parameters", "radius"), "a point has probability 0"),
    ("combination", "compose_laplace.pure-exact", put([], "lines", 1, "premises"), "the number of its premise"),
    ("combination", "compose_laplace.pure-exact", put("lower", "lines", 1, "parameters", "side"), "about another part or side"),
    ("combination", "compose_laplace.pure-exact", put("0", "claim", "mechanism", "parts", 0, "times"), "not certainly a count"),
    ("kary-response", "k_randomized_response_all.closed-form", put("1/3", "lines", 0, "parameters", "side"), "neither upper nor lower"),
]


@pytest.mark.parametrize(("rule", "name", "change", "why"), FORGED)
def test_forged_evidence_is_refused_with_the_reason(rule, name, change, why):
    assert check.examine(certificate(name)).kind == "decided"
    found = changed(name, change)
    assert found.kind == "refused" and why in found.notes[0], found


@pytest.mark.parametrize("change", [{"lower_open": True}, {"upper": "1"}, {"upper": "0"}])
def test_domains_of_integers_with_open_ends_or_of_one_value_are_not_decided(change):
    data = certificate("group_all.exact")
    assert answer(data).kind == "decided"
    data["claim"]["domains"]["k"] |= change
    assert answer(data).kind == "undecided"


@pytest.mark.parametrize(
    ("key", "value"),
    [("schema", "dpverify-certificate/1"), ("verdict", "MAYBE"), ("prec", 52), ("lines", {}), ("claim_sha256", "0" * 64), ("prec", 1.5)],
)
def test_what_is_no_certificate_is_refused(key, value):
    found = check.examine(certificate("laplace.sensitivity-1-exact") | {key: value})
    assert found.kind == "refused" or (key == "lines" and found.kind == "undecided")


# -- rules by themselves: values of theorems, and a case for each guard ------------------------------------------


def lp(p):
    return {"kind": "lp", "p": p, "matrix": []}


def radial(profile, dimension="1", scale="1", norm=None):
    return {"kind": "radial", "profile": profile, "norm": norm or lp("2"), "dimension": dimension, "scale": scale}


def line(density, integers=False, support=(None, None)):
    return {"kind": "translation", "density": density, "support": list(support), "integers": integers}


def coordinates(density, dimension, p):
    return {"kind": "product", "density": density, "dimension": dimension, "norm": lp(p)}


def rows(*listed, adjacent=None):
    return {"kind": "table", "rows": [list(row) for row in listed], "adjacent": adjacent}


def noisy_max(noise, candidates="3", neighbours="all", report="index"):
    return {"kind": "noisy_max", "noise": noise, "candidates": candidates, "neighbours": neighbours, "report": report, "bounds": None}


def threshold(noise, answers, positives="2", **told):
    other = {"threshold": "0", "report": "answers", "fresh": None, "resample": False, "neighbours": "all", "bounds": None}
    return {"kind": "above_threshold", "queries": "5", "threshold_noise": noise, "query_noise": answers, "positives": positives, **other,
     **told}


def kary(k, p):
    return {"kind": "kary_response", "k": k, "p": p}


def stairs(epsilon, gamma):
    return {"kind": "staircase", "epsilon": epsilon, "gamma": gamma}


def scores(*listed, beta="1", adjacent=None):
    return {"kind": "exponential", "scores": [list(row) for row in listed], "beta": beta, "adjacent": adjacent, "points": [], "metric": ""}


def stated(measure, *listed):
    return {"kind": "guarantee", "measure": measure, "rows": list(listed)}


LOWER, UPPER = {"side": "lower"}, {"side": "upper"}
BOTH = (LOWER, UPPER)
ORDERED = {"rows": [["3", "0"], ["4", "1"]], "adjacency": "add-remove"}
NO, NOT_KNOWN, MALFORMED = terms.Refused, terms.Undecided, terms.Malformed
CLOSE = {"a": ["1"], "b": ["2"], "radius": "1/1000", "value": "9/10"}
UNIFORM = {"a": ["0"], "b": ["3"], "radius": "1/10", "value": "inf"}
SQUARE = {"kind": "columns", "p": None, "matrix": [["1", "1"], ["1", "-1"]]}  # |x| + |y| <= 2 at the corners: the maximum norm
CROSS = {"rows": [["1", "1"], ["2", "0"]], "adjacency": "replace"}  # answers differ by (0, 2), whose greatest coordinate is 2
GAUGE = {"dual": ["0", "1"], "primal": [{"0": "1", "1": "-1"}], "value": "2", "worst": 0}
REAL = {"rows": [["3", "0"], ["0", "4"]], "adjacency": "l2"}  # an ellipse with the axes 3 and 4; its point (9, 16)/5 has l1 norm 5
FALLING = {"a": ["2"], "b": ["1"], "radius": "1/1000", "value": "-2"}
INSIDE = {"kind": "columns", "p": None, "matrix": [["1/10", "1/10"], ["1", "0"], ["0", "1"]]}  # of the first the gauge is 1/5
POLE = {"side": "right", "point": "0", "other": "1", "radius": "1/1024"}
SVT = threshold(radial("exp(-r)", scale="2"), radial("exp(-r)", scale="2"))

MALFORMED = terms.Malformed
# exponential noise of the rate theta, cut off at 1: the ratio is greatest at y = 1, of the least rate against the greatest
RATES = {"kind": "kernel", "density": "theta*exp(-theta*y)/(-exp(-theta) + 1)", "output": ["0", "1"], "input": ["1", "2"]}
GREATEST = "log(exp(-1)/2 + 1/2) + 1"
RISING = ["slide", ["1", "0", "0"], [["slide", ["0", "0", "1"], [["slide", ["0", "-1", "0"], [["corner", 0]]]]]]]
TREE = ["cut", ["0", "1", "-1"], "0", RISING, ["slide", ["-1", "0", "0"], [["corner", 0]]]]
TOLD_AT_1 = "log(2) - log(exp(-1) + 1) - 1"
# 2/3 where y + theta is below 1/2, and 4/3 above
STEPS = {"kind": "kernel", "density": "2/3*floor(y + theta + 1/2) + 2/3", "output": ["0", "1"], "input": ["-1/2", "1/4"]}
VALUES = [
    ("concave-exponent", radial("exp(-r)", "7", "1/2"), "3", BOTH, "6"),
    ("concave-exponent", radial("exp(-sqrt(r))"), "9", BOTH, "3"),
    ("concave-exponent", radial("(r + 1)**(-5)", "4"), "2", BOTH, "5*log(3)"),
    ("concave-exponent", radial("(r + 1)**(-4)", "4"), "2", BOTH, NOT_KNOWN),
    ("concave-exponent", radial("exp(-r**2)"), "1", BOTH, NOT_KNOWN),
    ("concave-exponent", radial("exp(-r)/r", "2"), "1", BOTH, NOT_KNOWN),
    ("concave-exponent", radial("exp(-r)"), None, BOTH, NO),
    ("concave-exponent", radial("exp(-r)"), "-1", BOTH, NO),
    ("concave-exponent", radial("exp(-r)", norm=lp("1/2")), "1", BOTH, NO),
    ("concave-exponent", radial("exp(-r)", "2", norm={"kind": "ellipsoid", "p": None, "matrix": [["1", "2"], ["2", "1"]]}), "1", BOTH, NO),
    ("concave-exponent", radial("exp(-r)", "2", norm={"kind": "ellipsoid", "p": None, "matrix": [["2", "1"], ["1", "2"]]}), "1", BOTH, "1"),
    ("concave-exponent", radial("exp(-r)", "2", norm={"kind": "columns", "p": None, "matrix": [["1", "2"], ["2", "4"]]}), "1", BOTH, NO),
    ("concave-exponent", radial("exp(-r)", "2"), ORDERED, BOTH, "5"),
    ("concave-exponent", radial("exp(-r)", "2", norm=lp("1")), ORDERED, BOTH, "7"),
    ("concave-exponent", radial("exp(-r)", "2", norm=lp(None)), ORDERED, BOTH, "4"),
    ("concave-exponent", radial("exp(-r)", "2", norm={"kind": "facets", "p": None, "matrix": [["1", "1"],
     ["0", "3"]]}), ORDERED, BOTH, "12"),
    ("concave-exponent", radial("exp(-r)", "2", norm={"kind": "ellipsoid", "p": None, "matrix": [["2", "1"], ["1", "2"]]}), ORDERED, BOTH,
     "sqrt(26/3)"),
    ("concave-exponent", radial("exp(-r)", "2"), ORDERED | {"adjacency": "replace"}, BOTH, "sqrt(18)"),
    ("concave-exponent", radial("exp(-r)", "3"), ORDERED, BOTH, NO),
    ("concave-exponent", line("exp(-abs(z)/2)", integers=True), "5/2", BOTH, "1"),
    ("concave-exponent", line("exp(-z)", support=("0", None)), "1", BOTH, NOT_KNOWN),
    ("concave-exponent", coordinates("exp(-sqrt(abs(z)))", "4", "2"), "2", BOTH, "4"),
    ("concave-exponent", coordinates("exp(-abs(z))", "4", None), "2", BOTH, "8"),
    ("concave-exponent", coordinates("exp(-abs(z))", "2", "1"), ORDERED, [UPPER], "7"),
    ("concave-exponent", coordinates("exp(-abs(z))", "2", "1"), ORDERED, [LOWER], NOT_KNOWN),
    ("concave-exponent", rows(("1", "0")), None, BOTH, NO),
    ("convex-exponent", radial("exp(-2*sqrt(r**2 + 1))", "3"), "3/2", BOTH, "3"),
    ("convex-exponent", radial("exp(2*r - r**2)"), "1", BOTH, NOT_KNOWN),
    # far out the root of exp(r) + 1 is the greater of the two, as exp(r/2)
    ("convex-exponent", radial("1/(exp(r/4) + sqrt(exp(r) + 1))"), "1", BOTH, "1/2"),
    ("convex-exponent", radial("1/(sqrt(exp(2*r) + 1) + exp(r/2))**3"), "2", BOTH, "6"),
    ("convex-exponent", radial("exp(-r**2)"), "1", [UPPER], NOT_KNOWN),
    ("convex-exponent", radial("exp(-r**2)"), "1", [LOWER], "infinite"),
    ("convex-exponent", radial("exp(-r**2)"), "0", [LOWER], NOT_KNOWN),
    ("convex-exponent", radial("exp(-sqrt(r))"), "1", BOTH, NOT_KNOWN),
    ("convex-exponent", line("exp(-2*z)/(exp(-2*z) + 1)**3"), "1", BOTH, "4"),
    ("convex-exponent", coordinates("cosh(z)**(-3)", "9", "2"), "2", BOTH, "18"),
    ("convex-exponent", coordinates("cosh(z)**(-3)", "2", "2"), ORDERED, [LOWER], NOT_KNOWN),
    ("convex-exponent", coordinates("exp(-2*z)/(exp(-2*z) + 1)**3", "9", "2"), "2", [LOWER], NOT_KNOWN),
    ("power-identity", radial("(r**2/2 + 3)**(-5)", "9"), "2", BOTH, "10*asinh(1/sqrt(6))"),
    ("power-identity", radial("(r**2/2 + 3)**(-5)", "10"), "2", BOTH, NOT_KNOWN),
    ("power-identity", radial("(r**2 + 1)**(-2)*(r**2 + 2)**(-2)"), "2", BOTH, NOT_KNOWN),
    ("power-identity", line("(z**2 + 1)**(-2)", integers=True), "2", [LOWER], NOT_KNOWN),
    ("point-witness", radial("exp(-r)"), "1", [CLOSE, CLOSE | {"value": "997/1000"}], None),
    ("point-witness", radial("exp(-r)"), "1", [CLOSE | {"value": "9985/10000"}, CLOSE | {"value": "1"}], None),
    ("point-witness", radial("exp(-r)"), "1", [CLOSE | {"b": ["3"]}, CLOSE | {"radius": "0"},
                                              CLOSE | {"a": ["-1"], "b": ["0"]}], NO),
    ("point-witness", radial("exp(-r)"), "1", [CLOSE | {"value": "1001/1000"}], NOT_KNOWN),
    ("point-witness", radial("exp(-r)"), "1", [CLOSE | {"b": []}, CLOSE | {"b": ["2", "2"]}, CLOSE | {"prec": 52}], MALFORMED),
    ("point-witness", line("1", support=("-1", "1")), "3", [UNIFORM], "infinite"),
    ("point-witness", radial("exp(-r)"), "1", [{key: CLOSE[key] for key in ("a", "b", "radius")} | {"limit": "1/2"}], NOT_KNOWN),
    ("point-witness", radial("exp(-floor(r))"), "1", [{"a": ["1/2"], "b": ["3/2"], "radius": "1/9", "value": "1"}], NOT_KNOWN),
    ("point-witness", line("1", support=("-1", "1")), "3", [UNIFORM | {"b": ["1/2"]}, UNIFORM | {"a": ["2"]}, UNIFORM | {"value": "1"}],
     NO),
    ("point-witness", line("1", support=("-1", "1")), "3", [UNIFORM | {"b": ["1"]}], NOT_KNOWN),
    ("point-witness", line("exp(-abs(z))", integers=True), "1", [CLOSE | {"value": "1"}], None),
    ("point-witness", line("exp(-abs(z))", integers=True), "1", [CLOSE | {"a": ["1/2"], "b": ["3/2"]}], NO),
    ("point-witness", line("exp(-2*abs(z))"), "2", [{"a": ["-1"], "b": ["-2"], "radius": "1/9", "value": "3/2"}], None),
    ("point-witness", coordinates("exp(-abs(z))", "2", "2"), "1",
     [{"a": ["0", "0"], "b": ["3/5", "4/5"], "radius": "1/9", "value": "9/10"}], None),
    ("point-witness", coordinates("exp(-abs(z))", "2", "2"), "1",
     [{"a": ["0", "0"], "b": ["3/5", "5/6"], "radius": "1/9", "value": "1"}], NO),
    ("point-witness", coordinates("exp(-abs(z))", "1", "2"), "9", [{"a": ["0", "0"], "b": ["1", "1"], "radius": "1/9", "value": "1"}], NO),
    ("point-witness", coordinates("exp(-abs(z))", "2", "1"), ORDERED,
     [{"a": ["0", "0"], "b": ["3", "4"], "radius": "1/9", "value": "6"}], None),
    ("point-witness", coordinates("exp(-abs(z))", "2", "1"), ORDERED,
     [{"a": ["0", "0"], "b": ["3", "3"], "radius": "1/9", "value": "5"}], NO),
    ("divergence", radial("exp(-r**(3/2))"), "1", [{"side": "+inf", "start": "16"}], "infinite"),
    ("divergence", line("exp(-exp(z) - exp(-2*z))"), "1", [{"side": "-inf", "start": "16"}, {"side": "+inf", "start": "16"}], "infinite"),
    ("divergence", radial("exp(-r)"), "1", [{"side": "+inf", "start": "16"}], NO),
    ("divergence", radial("exp(-r**2)"), "0", [{"side": "+inf", "start": "16"}], NO),
    ("divergence", radial("exp(-r**2)"), "1", [{"side": "-inf", "start": "16"}], NO),
    ("divergence", radial("exp(-r**2)"), "1", [{"side": "zero", "start": "16"}], NOT_KNOWN),
    ("divergence", radial("r**2*exp(-r)"), "1", [POLE], "infinite"), ("divergence", radial("exp(-r)/r", "3"), "1", [POLE], "infinite"),
    ("divergence", radial("exp(-r)/sqrt(r)"), "1", [POLE], "infinite"), ("divergence", radial("exp(-r)/r"), "1", [POLE], NOT_KNOWN),
    ("divergence", radial("r*exp(-r)", "3"), "0", [POLE], NO), ("divergence", radial("exp(-r)", "3"), "1", [POLE], NOT_KNOWN),
    ("divergence", radial("r*exp(-r)"), "1", [POLE | {"point": "1"}, POLE | {"side": "left"}], NOT_KNOWN),
    ("divergence", radial("exp(-floor(r + 1/2))"), "1", [{"side": "+inf", "start": "16"}], NO),
    ("divergence", radial("exp(-floor(r**2 + 1/2))"), "1", [{"side": "+inf", "start": "16"}], "infinite"),
    ("divergence", radial("exp(floor(r))"), "1", [{"side": "+inf", "start": "16"}], NOT_KNOWN),
    ("point-witness", radial("exp(-2*floor(r + 1/2))"), "2", [{"a": ["0"], "b": ["2"], "radius": "1/9", "limit": "4"}], "4"),
    ("point-witness", radial("exp(-2*floor(r + 1/2))"), "1", [{"a": ["0"], "b": ["1/2"], "radius": "1/9", "limit": "2"}], NOT_KNOWN),
    ("point-witness", line("exp(-max(abs(z - 1), 3))"), "4", [{"a": ["4"], "b": ["8"], "radius": "1/9", "limit": "4"}], "4"),
    ("modulus-parts", radial("exp(-2*floor(r + 1/2))"), "3/2", [{"bound": "4"}], "4"),
    ("modulus-parts", radial("exp(-2*floor(r + 1/2))"), "3/2", [{"bound": "4 - 1/10**9"}], NOT_KNOWN),
    ("divergence", radial("exp(-exp(sqrt(r)))"), "1", [{"side": "+inf", "start": "16"}], "infinite"),
    ("divergence", radial("exp(-exp(sqrt(2)*log(r + 1)/2))"), "1", [{"side": "+inf", "start": "16"}], NOT_KNOWN),  # concave: (r + 1)**0.7
    ("divergence", radial("exp(-exp(1/(r + 1)))/(r + 1)**2"), "1", [{"side": "+inf", "start": "16"}], NOT_KNOWN),
    ("point-witness", radial("exp(-r)*(r**5*exp(r) + 1)/(r + 1)**6"), "1", [FALLING], NOT_KNOWN),  # far out it falls as 1/r
    ("point-witness", radial("exp(sqrt(r**4 + r**3 + 1) - r**2 - sqrt(r))"), "1", [FALLING], NOT_KNOWN),  # far out it rises as exp(r/2)
    ("point-witness", radial("exp(sqrt(r**2 + 1) - 2*r)"), "1", [FALLING], None),
    ("concave-exponent", radial("exp(-r)", "2", norm=INSIDE), {"rows": [["1/10"], ["1/10"]], "adjacency": "add-remove"},
     [LOWER | {"sensitivity": "upper"}, UPPER | {"sensitivity": "upper"}], ValueError),
    ("staircase", stairs("2", "1"), "5/2", BOTH, "6"),
    ("staircase", stairs("2", "0"), None, BOTH, "2"),
    ("staircase", stairs("2", "11/10"), "1", BOTH, NO), ("staircase", stairs("2", "-1/10"), "1", BOTH, NO),
    ("staircase", stairs("0", "1/2"), "1", BOTH, NO), ("staircase", stairs("1", "1/2"), "0", BOTH, NO),
    ("staircase", stairs("1", "1/2"), "1", [{"side": "left"}], MALFORMED),
    ("finite-table", rows(("1/2", "1/2"), ("1/8", "7/8")), None, [{"cells": []}, {"cells": [[1, 0, 1]]}, {"cell": [0, 1, 0]}], "log(4)"),
    ("finite-table", rows(("1/2", "1/2"), ("1/8", "7/8")), None, [{"cell": [0, 0, 0]}, {"cell": [0, 2, 0]}, {"cell": [0, 1, 2]}], NO),
    ("finite-table", rows(("1/2", "1/2"), ("1/8", "7/8"), ("1/2", "1/2"), adjacent=[[0, 2]]), None, [{"cells": [[2, 0, 1]]}], "0"),
    ("finite-table", rows(("1/2", "1/2"), ("1/8", "6/8")), None, [{"cells": [[0, 1, 0]]}, {"cell": [0, 1, 0]}], NOT_KNOWN),
    ("finite-table", rows(("3/2", "-1/2"), ("1/8", "7/8")), None, [{"cells": [[0, 1, 0]]}], NOT_KNOWN),
    ("finite-table", rows(("1", "0"), ("1/2", "1/2")), None, [{"cells": [[0, 1, 0]]}, {"cell": [0, 1, 1]}], NO),
    ("finite-table", rows(("1", "0"), ("1/2", "1/2")), None, [{"cell": [1, 0, 1]}], "infinite"),
    ("finite-table", rows(("1", "0"), ("1/2", "1/2"), adjacent=[[0, 2]]), None, [{"cell": [1, 0, 1]}], NO),
    ("finite-table", scores(("0", "2"), ("1", "1")), None, [{"cells": [[1, 0, 0]]}, {"cell": [1, 0, 0]}], "log(exp(2)/2 + 1/2)"),
    ("finite-table", scores(("0", "2"), ("1", "1")), None, [{"cell": [1, 0, True]}, {"cell": [1, 0, 2]}], NO),
    ("exponential-general", scores(("0", "2"), ("1", "1"), beta="3"), None, [{}], "6"),
    ("exponential-general", scores(("0", "2"), ("1", "1"), ("5", "2"), beta="3", adjacent=[[0, 1]]), None, [{}], "6"),
    ("exponential-general", scores(("0", "2"), ("1", "1"), beta="0"), None, [{}], "0"),
    ("exponential-general", scores(("0", "2"), ("1", "1"), beta="-1"), None, [{}], NO),
    ("exponential-general", rows(("1", "0")), None, [{}], KeyError),
    ("finite-table", scores(("0", "2"), ("1", "1")), "1/2", [{"cells": [[0, 1, 1]]}], NOT_KNOWN),
    ("kary-response", kary("5", "1/2"), None, BOTH, "log(4)"), ("kary-response", kary("5", "1/9"), None, BOTH, "log(2)"),
    ("kary-response", kary("1", "1/2"), None, BOTH, NO), ("kary-response", kary("5/2", "1/2"), None, BOTH, NO),
    ("kary-response", kary("3", "1"), None, BOTH, NOT_KNOWN), ("kary-response", kary("3", "5/4"), None, BOTH, NOT_KNOWN),
    ("kary-response", kary("5", "1/2"), None, [UPPER | {"value": "2*log(2)"}], "log(4)"),
    ("log-concave-noisy-max", noisy_max(radial("exp(-r)", scale="1/3")), "2", BOTH, "12"),
    ("log-concave-noisy-max", noisy_max(radial("exp(-r)"), neighbours="monotone"), "2", BOTH, "2"),
    ("log-concave-noisy-max", noisy_max(radial("exp(-r)"), report="value"), "2", BOTH, "6"),
    ("log-concave-noisy-max", noisy_max(radial("exp(-r)"), "1"), "2", BOTH, "0"),
    ("log-concave-noisy-max", noisy_max(radial("exp(-r)"), "3/2"), "2", BOTH, NO),
    ("log-concave-noisy-max", noisy_max(line("exp(-z - exp(-2*z))"), "9"), "1", BOTH, "2"),
    ("log-concave-noisy-max", noisy_max(radial("exp(-r**2)")), "1", [UPPER], "infinite"),
    ("log-concave-noisy-max", noisy_max(radial("(r + 1)**(-3)")), "1", BOTH, NOT_KNOWN),
    ("log-concave-noisy-max", noisy_max(radial("exp(-r)", "2")), "1", BOTH, NOT_KNOWN),
    ("log-concave-threshold", threshold(radial("exp(-r)", scale="2"), radial("exp(-r)", scale="4")), "1", [{"shift": "up"}], "3/2"),
    ("log-concave-threshold", threshold(radial("exp(-r)", scale="2"), radial("exp(-r)", scale="4")), "1", [{"shift": "down"}], "3"),
    ("log-concave-threshold", threshold(radial("exp(-r)", scale="2"), radial("exp(-r)", scale="4"), resample=True), "1",
     [{"shift": "up"}], "2"),
    ("log-concave-threshold", threshold(radial("exp(-r)", scale="2"), radial("exp(-r)", scale="4")), "1",
     [LOWER | {"negatives": 3, "positives": 2, "move": 0}], "5/4"),
    ("log-concave-threshold", threshold(radial("exp(-r)", scale="2"), radial("exp(-r)", scale="4")), "1",
     [LOWER | {"negatives": 4, "positives": 2, "move": 0}, LOWER | {"negatives": 1, "positives": 3, "move": 0}], NO),
    ("log-concave-threshold", threshold(radial("exp(-r)"), radial("exp(-r)"), report="fresh", fresh=radial("exp(-r)", scale="1/2")), "1",
     [{"shift": "up"}], "9"),
    ("log-concave-threshold", threshold(line("exp(-z - exp(-2*z))"), radial("exp(-r)", scale="4")), "1", [{"shift": "up"}], "2"),
    ("log-concave-threshold", threshold(line("exp(-z - exp(-2*z))"), radial("exp(-r)", scale="4")), "1", [{"shift": "down"}], "infinite"),
    ("log-concave-noisy-max", noisy_max(line("exp(-abs(z))", integers=True), report="value"), "3/2", BOTH, NOT_KNOWN),
    ("log-concave-noisy-max", noisy_max(line("exp(-abs(z))", integers=True), neighbours="one", report="value"), "3/2", BOTH, "1"),
    ("log-concave-noisy-max", noisy_max(line("exp(-2*z)", support=("0", None))), "3", BOTH, "12"),
    ("log-concave-noisy-max", noisy_max(line("exp(2*z)", support=(None, "0")), "3"), "3", BOTH, "24"),
    ("log-concave-noisy-max", noisy_max(line("exp(-2*z)", support=("1", None))), "3", BOTH, NOT_KNOWN),
    ("log-concave-noisy-max", noisy_max(line("exp(-sqrt(z))", support=("0", None))), "3", BOTH, NOT_KNOWN),
    ("log-concave-noisy-max", noisy_max(line("exp(z - 2*abs(z))")), "1", BOTH, "2"),
    ("log-concave-noisy-max", noisy_max(line("exp(-z + 2*abs(z) - z**2)")), "1", BOTH, NOT_KNOWN),
    ("log-concave-noisy-max", noisy_max(radial("exp(-r)"), "2") | {"bounds": ["0", "1"]}, "1",
     [LOWER, UPPER, LOWER | {"exact": True}, LOWER | {"exact": False}], NOT_KNOWN),
    ("log-concave-threshold", SVT | {"query_noise": None, "bounds": ["0", "1"]}, "1", [LOWER | {"exact": False}], NOT_KNOWN),
    ("log-concave-threshold", SVT | {"query_noise": None, "threshold_noise": line("exp(-abs(z))", integers=True), "bounds": ["0", "1/2"]},
     "1", [LOWER | {"exact": True}], NOT_KNOWN),
    ("concave-exponent", radial("exp(-r/2)", "2", norm=SQUARE), CROSS, [{"sensitivity": GAUGE}, LOWER | {"sensitivity": GAUGE}], "1"),
    ("concave-exponent", radial("exp(-r/2)", "2", norm=SQUARE), CROSS,
     [{"sensitivity": GAUGE | {"value": "1"}}, {"sensitivity": GAUGE | {"value": "3"}}, {"sensitivity": GAUGE | {"dual": ["0", "2"]}},
      {"sensitivity": GAUGE | {"primal": [{"0": "1", "1": "2"}]}}], NOT_KNOWN),
    ("concave-exponent", radial("exp(-r)", "2", norm=lp("1")), REAL, BOTH, "5"),
    ("concave-exponent", radial("exp(-r)", "2", norm=lp(None)), REAL, BOTH, "4"),
    ("concave-exponent", radial("exp(-r)", "2"), REAL, BOTH, "4"),
    ("concave-exponent", radial("exp(-r)", "2"), REAL | {"rows": [["3", "1"], ["0", "4"]]}, BOTH, NOT_KNOWN),
    ("concave-exponent", line("exp(-abs(z))", integers=True), REAL | {"rows": [["3", "0"]]}, BOTH, NOT_KNOWN),
    ("equal-answers", radial("exp(-r**2)"), "0", BOTH, "0"), ("equal-answers", radial("exp(-r**2)"), "1", BOTH, NO),
    ("equal-answers", radial("exp(-r**2)"), {"rows": [["1/2", "1/2"]], "adjacency": "replace"}, BOTH, "0"),
    ("equal-answers", radial("exp(-r**2)"), {"rows": [["1/2", "1"]], "adjacency": "replace"}, BOTH, NO),
    ("equal-answers", radial("1/(r + 1)"), "0", BOTH, NOT_KNOWN), ("equal-answers", radial("exp(-r)/r**2", "2"), "0", BOTH, NOT_KNOWN),
    # h(r) = r + log(r**2 + 1) rises at most as it does from 1/phi to phi, by 1 + 2 log(phi)
    ("modulus", radial("exp(-r)/(r**2 + 1)", "3"), "1", [{"bound": "log(sqrt(5)/2 + 3/2) + 1"}], "2*log(sqrt(5)/2 + 1/2) + 1"),
    ("modulus", radial("exp(-r)/(r**2 + 1)", "3"), "1", [{"bound": "log(sqrt(5)/2 + 3/2) + 1 - 1/10**9"}], NOT_KNOWN),
    ("modulus", line("exp(-abs(z))/(z**2 + 1)"), "1", [{"bound": "2"}], "2"),
    ("modulus", radial("1/(r**2 + 1)", "2"), "1", [{"bound": "100"}], NOT_KNOWN),  # no finite mass
    ("modulus", radial("exp(-log(3)*floor(r + 2/3))"), "3/2", [{"bound": "log(9)"}, {"bound": "2*log(3)"}], "log(9)"),
    ("modulus", radial("exp(-log(3)*floor(2*r + 2/3))"), "3/2", [{"bound": "3*log(3)"}], "log(27)"),
    ("modulus", radial("exp(-log(3)*floor(r + 2/3))", scale="2"), "3/2", [{"bound": "log(3)"}], "log(3)"),
    ("modulus", radial("exp(-log(3)*floor(r + 2/3))"), "3/2", [{"bound": "log(9) - 1/10**9"}], NOT_KNOWN),
    ("modulus", radial("exp(log(3)*floor(r + 2/3))"), "1", [{"bound": "100"}], NOT_KNOWN),
    ("modulus", radial("exp(-floor(r)**2)"), "1", [{"bound": "100"}], NOT_KNOWN),
    ("modulus", radial("exp(-floor(r) - floor(2*r))"), "1", [{"bound": "100"}], NOT_KNOWN),
    ("modulus", radial("exp(-floor(r**2 + 1/2))"), "1", [{"bound": "100"}], NOT_KNOWN),
    ("modulus", radial("exp(-r*floor(r))"), "1", [{"bound": "100"}], NOT_KNOWN),
    ("modulus", coordinates("exp(-abs(z))/(z**2 + 1)", "2", "1"), "1", [{"bound": "100"}], NOT_KNOWN),
    # |h'| = |1 - 2 r/(r**2 + 1)| is 1 at 0 and far out, and less elsewhere; three coordinates at the length 1 have sqrt(3) in l_1
    ("product-lipschitz", coordinates("exp(-abs(z))*(z**2 + 1)", "3", "2"), "1", [{"slope": "1"}], "sqrt(3)"),
    ("product-lipschitz", coordinates("exp(-abs(z))*(z**2 + 1)", "3", None), "1/2", [{"slope": "1"}], "3/2"),
    ("product-lipschitz", coordinates("exp(-abs(z))*(z**2 + 1)", "3", "2"), "1", [{"slope": "99/100"}, {"slope": "-1"}], NOT_KNOWN),
    ("product-lipschitz", coordinates("exp(-abs(z))*(3*z**2 + 1)", "3", "2"), "1", [{"slope": "1"}], "sqrt(3)"),
    ("product-lipschitz", coordinates("exp(-abs(z)/4)*(z**2 + 1)", "3", "1"), "1", [{"slope": "3/4"}], "3/4"),  # at z = 1
    ("product-lipschitz", coordinates("exp(-abs(z)/4)*(z**2 + 1)", "3", "1"), "1", [{"slope": "1/4"}, {"slope": "74/100"}], NOT_KNOWN),
    ("product-lipschitz", coordinates("exp(-abs(z))/abs(z)**(1/2)", "3", "2"), "1", [{"slope": "100"}], NOT_KNOWN),
    ("product-lipschitz", coordinates("exp(-z**2)", "3", "2"), "1", [{"slope": "100"}], NOT_KNOWN),
    ("stated-epsilon", stated("approximate", ["3", "0"], ["2", "0"], ["1", "1/9"]), None, [{}], "2"),
    ("stated-epsilon", stated("bounded_range", ["3"]), None, [{}], "3"),
    ("stated-epsilon", stated("approximate", ["1", "1/9"]), None, [{}], NOT_KNOWN),
    ("stated-epsilon", stated("approximate", ["-1", "0"]), None, [{}], NOT_KNOWN),
    ("stated-epsilon", stated("zcdp", ["1"]), None, [{}], NOT_KNOWN), ("stated-epsilon", radial("exp(-r)"), "1", [{}], KeyError),
    ("stated-epsilon", stated("approximate", ["3", "0"]) | {"order": "one-sided"}, None, [{}], NOT_KNOWN),
    ("log-concave-threshold", SVT | {"report": "answers+value"}, "1", [{}, LOWER], "5/2"),
    ("log-concave-threshold", SVT | {"report": "answers+value", "query_noise": line("exp(z/2 - abs(z))")}, "1", [{}, LOWER], "15/2"),
    ("log-concave-threshold", SVT | {"report": "answers+value", "query_noise": line("exp(z/2 - abs(z))"), "neighbours": "decreasing"}, "1",
     [{}, LOWER], "1"),
    ("log-concave-threshold", SVT | {"report": "answers+value", "resample": True}, "1", [{}, LOWER], NOT_KNOWN),
    ("log-concave-threshold", SVT, "1", [{"peaks": [2]}], "5/2"),
    ("log-concave-threshold", SVT | {"queries": "2"}, "1", [{"peaks": [1]}], "1"),
    ("log-concave-threshold", SVT, "1", [{"peaks": [1]}, {"peaks": [3]}, {"peaks": [-1]}], "5/2"),
    ("log-concave-threshold", SVT | {"resample": True}, "1", [{"peaks": [2]}], NOT_KNOWN),
    ("log-concave-threshold", SVT | {"query_noise": None}, "1", [LOWER | {"exact": True}], NOT_KNOWN),
    ("kernel-box", RATES, None, [{"value": GREATEST, "tree": TREE}], GREATEST),
    ("kernel-box", RATES, None,
     [{"value": GREATEST + " - 1/10**9", "tree": TREE}, {"value": GREATEST, "tree": ["slide", ["1", "0", "0"], [TREE]]},
      {"value": GREATEST, "tree": ["slide", ["0", "0", "0"], []]}, {"value": GREATEST, "tree": [*TREE[:3], [*RISING[:2], []], TREE[4]]},
      {"value": GREATEST, "tree": ["tangent", ["1", "1", "2"]]}], NOT_KNOWN),
    ("kernel-box", RATES, None,
     [{"value": "9", "tree": ["high", ["0", "0", "0"]]}], MALFORMED),
    ("kernel-box", RATES, None, [{"value": GREATEST, "tree": [*TREE[:3], ["values"], TREE[4]]}], NOT_KNOWN),
    ("kernel-box", RATES | {"density": "(y - 1/2)*theta"}, None, [{"value": "9", "tree": TREE}], NOT_KNOWN),
    ("kernel-box", RATES | {"density": "exp(y*other)"}, None, [{"value": "9", "tree": ["corner", 0]}], NO),
    ("kernel-box", RATES | {"output": ["1", "0"]}, None, [{"value": "9", "tree": TREE}], NO),
    ("kernel-box", RATES, "-1", [{"value": "9", "tree": TREE}], NO),
    ("kernel-box", radial("exp(-r)"), "1", [{"value": "9", "tree": TREE}], NOT_KNOWN),
    ("kernel-box", RATES | {"output": [None, "1"]}, None, [{"value": "9", "tree": TREE}], NOT_KNOWN),
    ("kernel-point", RATES, None, [{"y": "1", "theta": "2", "other": "1"}], TOLD_AT_1),
    ("kernel-point", RATES, "1", [{"y": "1", "theta": "2", "other": "1"}], TOLD_AT_1),
    ("kernel-point", RATES, "1/2", [{"y": "1", "theta": "2", "other": "1"}], NO),
    ("kernel-point", RATES, None, [{"y": "2", "theta": "2", "other": "1"}, {"y": "1", "theta": "3", "other": "1"}], NO),
    ("kernel-point", RATES | {"density": "(y - 1/2)*theta"}, None, [{"y": "0", "theta": "2", "other": "1"}], NOT_KNOWN),
    ("kernel-point", STEPS, None, [{"y": "1/2", "theta": "0", "other": "1/4"}], NOT_KNOWN),
    ("kernel-point", RATES, None, [{"theta": "2", "other": "1"}], NOT_KNOWN),
    ("stated-epsilon", stated("approximate", ["3", "0"]) | {"kind": "filter"}, None, [{"side": "exact"}], "3"),
    ("stated-epsilon", stated("approximate", ["3", "1/9"]) | {"kind": "filter"}, None, [{}], NOT_KNOWN),
    ("stated-epsilon", stated("zcdp", ["3"]) | {"kind": "filter"}, None, [{}], NOT_KNOWN),
    ("stated-epsilon", stated("approximate", ["3", "0"]) | {"kind": "filter", "order": "reverse"}, None, [{}], NOT_KNOWN),
    ("kernel-box", STEPS, None, [{"value": "log(2)", "tree": ["values"]}], "log(2)"),
    ("kernel-box", STEPS, None, [{"value": "log(2) - 1/10**9", "tree": ["values"]}, {"value": "log(2)", "tree": ["corner", 1]}], NOT_KNOWN),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "mechanism", "moved", "given", "wanted"), VALUES)
def test_a_rule_proves_the_value_of_its_theorem_or_nothing(rule, mechanism, moved, given, wanted):
    field = al.Field({})
    query = moved if isinstance(moved, dict) else None
    for evidence in given:
        form = None if query or moved is None else field.form(terms.parse(moved))
        asked = check.noise.Question(mechanism, form, query, field)
        if isinstance(wanted, type):
            with pytest.raises(wanted):
                check.RULES[rule](asked, evidence)
            continue
        side, value, _, assumed = check.RULES[rule](asked, evidence)
        lower = "cell" in evidence or rule in ("point-witness", "divergence", "kernel-point")
        assert side == ("lower" if lower else evidence.get("side", "upper")) and assumed
        if wanted in (None, "infinite"):
            assert value == ("infinite" if wanted else al.constant(Fraction(evidence["value"])))
        else:
            assert value != "infinite" and field.zero(al.sub(value, field.form(terms.parse(wanted))))


@pytest.mark.parametrize(("rule", "profile"), [("convex-exponent", "1/(a*exp(r) + 1)"), ("concave-exponent", "1/(a*r + 1)**2")])
def test_noise_that_one_value_of_a_parameter_leaves_without_finite_mass_is_no_noise_for_all(rule, profile):
    def bound(lower_open):
        field = al.Field({"a": (Fraction(0), None, lower_open, True, False)})
        return check.RULES[rule](check.noise.Question(radial(profile), al.ONE, None, field), UPPER)

    assert bound(lower_open=True)[:1] == ("upper",)
    with pytest.raises(terms.Undecided):
        bound(lower_open=False)


# -- parts that share their neighbours: sums over one pair, by hand ---------------------------------------------------


def part(mechanism, query=None, sensitivity=None, times="1"):
    return {"mechanism": mechanism, "query": query, "sensitivity": sensitivity, "adjacency": "", "times": times}


def counts(numbers, adjacency):
    return {"rows": [[str(x) for x in numbers]], "adjacency": adjacency}


def composed(*listed):
    return {"kind": "compose", "parts": list(listed)}


def sampled(inner, rate, scheme="poisson"):
    return {"kind": "subsample", "part": inner, "rate": rate, "scheme": scheme}


def combined(mechanism, evidence):
    claim = {"mechanism": mechanism, "sensitivity": None, "query": None}
    asked = check.noise.Question(mechanism, None, None, al.Field({}))
    return check.parts.combination(claim, asked, evidence, [])


def at_pair(difference, **more):
    return LOWER | {"neighbours": [{"difference": difference, "columns": len(difference), "adjacency": ""}]} | more


LAPLACE, ONE_SIDED = radial("exp(-r)"), line("exp(-z)", support=("0", None))
STEEP, STEEPER = line("exp(-max(2*z, -z))"), line("exp(-max(3*z, -z))")  # h rises by 2, by 3, to the right and by 1 to the left
ALL = UPPER | {"neighbours": {}}


def apart_in_two_bins(adjacency):
    return composed(part(LAPLACE, counts([1, 0], adjacency)), part(LAPLACE, counts([0, 1], adjacency)))


STEEPS = composed(part(STEEP, counts([1, -1], "add-remove")), part(STEEPER, counts([-1, -1], "add-remove")))
TABLES = composed(part(rows(("1/2", "1/2"), ("1/8", "7/8"))), part(rows(("1/4", "3/4"), ("1/2", "1/2")), times="2"))
BESIDE = composed(part(sampled(part(LAPLACE, counts([1, 0, 3], "replace")), "1/2", "without_replacement")),
                  part(LAPLACE, counts([0, 10, 5], "replace")))  # fmt: skip
JOINT = [
    (apart_in_two_bins("add-remove"), ALL, "1"), (apart_in_two_bins("replace"), ALL, "2"), (apart_in_two_bins("l1"), ALL, "1"),
    (apart_in_two_bins("l2"), ALL, NOT_KNOWN), (apart_in_two_bins("l2"), UPPER | {"slopes": True}, "sqrt(2)"),
    (apart_in_two_bins("l2"), at_pair(["3/5", "-4/5"]), "7/5"), (apart_in_two_bins("l2"), at_pair(["3/5", "5/6"]), NO),
    (apart_in_two_bins("l1"), at_pair(["1/3", "-2/3"]), "1"), (apart_in_two_bins("l1"), at_pair(["1/2", "2/3"]), NO),
    (apart_in_two_bins("add-remove"), at_pair(["1", "0"]), "1"), (apart_in_two_bins("add-remove"), at_pair(["1", "-1"]), NO),
    (apart_in_two_bins("add-remove"), UPPER | {"slopes": True}, NOT_KNOWN), (apart_in_two_bins("l2"), LOWER | {"slopes": True}, NOT_KNOWN),
    (composed(part(radial("exp(-sqrt(r))"), counts([1], "l1"))), ALL, NOT_KNOWN),
    (composed(part(line("exp(-abs(z))", integers=True), counts([1], "l1"))), ALL, NOT_KNOWN),
    (composed(part(coordinates("exp(-abs(z))", "2", "1"), {"rows": [["1", "3"], ["-2", "1"]], "adjacency": "add-remove"}, times="2")), ALL,
     NOT_KNOWN),
    (composed(part(radial("exp(-r/2)", "2", norm=SQUARE), {"rows": [["1", "1"], ["1", "-1"]], "adjacency": "add-remove"})), ALL, "1/2"),
    (STEEPS, ALL, "5"), (STEEPS, at_pair(["1", "0"]), "3"), (STEEPS, at_pair(["1", "0"], backward=True), "4"),
    (STEEPS, at_pair(["0", "1"]), "2"), (STEEPS, at_pair(["0", "1"], backward=True), "5"), (STEEPS, at_pair(["0", "-1"]), "5"),
    (sampled(part(ONE_SIDED, counts([1], "add-remove")), "1/2"), ALL, "log(2)"),
    (sampled(part(ONE_SIDED, counts([1], "add-remove")), "1/2"), at_pair(["1"]), "log(exp(1)/2 + 1/2)"),
    (sampled(part(ONE_SIDED, counts([1], "add-remove")), "1/2"), at_pair(["1"], backward=True), "log(2)"),
    (sampled(part(ONE_SIDED, counts([1], "add-remove")), "1"), ALL, "infinite"),
    (sampled(part(LAPLACE, counts([1], "add-remove")), "1/2"), at_pair(["-1"]), "-log(exp(-1)/2 + 1/2)"),
    (BESIDE, ALL, "log(exp(3)/2 + 1/2) + 10"), (BESIDE, at_pair(["1", "-1", "0"]), "log(exp(1)/2 + 1/2) + 10"),
    (BESIDE, at_pair(["1", "0", "-1"]), "log(exp(2)/2 + 1/2) + 5"),
    (TABLES, UPPER | {"neighbours": {}}, "2*log(3/2) + log(4)"),
    (TABLES, LOWER | {"neighbours": [{"inputs": 2, "pair": [0, 1]}]}, "2*log(3/2) + log(4)"),
    (TABLES, LOWER | {"neighbours": [{"inputs": 2, "pair": [1, 0]}]}, "2*log(2) + log(7/4)"),
    (TABLES, LOWER | {"neighbours": [{"inputs": 3, "pair": [1, 0]}]}, NO),
    (TABLES, LOWER | {"neighbours": [{"inputs": 2, "pair": [1, 1]}]}, NO),
    (composed(part(LAPLACE, counts([1, 0], "add-remove")), part(LAPLACE, None, "1")), ALL, NOT_KNOWN),
    (composed(part(LAPLACE, counts([1, 0], "add-remove")), part(LAPLACE, counts([1], "add-remove"))), ALL, NOT_KNOWN),
    (composed(part(LAPLACE, counts([1, 0], "add-remove")), part(rows(("1", "0")))), ALL, NOT_KNOWN),
    (composed(part({"kind": "group", "size": "2", "part": part(LAPLACE, counts([1, 0], "add-remove"))})), ALL, NOT_KNOWN),
    (composed(part(LAPLACE, counts([1], "add-remove")), part(LAPLACE, counts([1], "replace"))), ALL, NO),
]  # fmt: skip


@pytest.mark.parametrize(("mechanism", "evidence", "wanted"), JOINT)
def test_parts_that_share_their_neighbours_lose_the_greatest_sum_over_one_pair(mechanism, evidence, wanted):
    if isinstance(wanted, type):
        with pytest.raises(wanted):
            combined(mechanism, evidence)
        return
    side, value, _, assumed = combined(mechanism, evidence)
    field = al.Field({})
    assert side == evidence["side"] and assumed
    assert value == "infinite" if wanted == "infinite" else field.zero(al.sub(value, field.form(terms.parse(wanted))))


@pytest.mark.wide
def test_certificates_that_it_decides_have_the_verdict_that_is_stated():
    counts = {"decided": 0, "undecided": 0, "refused": 0}
    for name in committed.names()[::12]:  # all of them: make second-opinion
        data = committed.certificate(name)
        if second_opinion.pure(data):
            found = check.examine(data)
            counts[found.kind] += 1
            assert found.kind != "decided" or found.verdict == data["verdict"], name
    assert counts["refused"] == 0 and 2 * counts["decided"] >= 5 * counts["undecided"]


# -- both checkers -------------------------------------------------------------------------------------------------


SHORT = (
    "laplace.sensitivity-1-just-below", "exponential_mechanism.exact", "k_randomized_response_all.closed-form", "student_t_all.closed-form",
    "compose_tables.pure-exact", "subsample_all.exact", "parallel_pure.just-below", "logistic.exact", "knorm_polytope_d2.tight",
    "sparse_vector_1.eps", "compose_gaussians.no-pure-epsilon", "gaussian.epsilon-1",
)  # fmt: skip


@pytest.mark.wide
def test_both_checkers_agree_on_certificates_and_on_changed_ones():
    certificates = committed.certificates()
    names = [name for name in SHORT if name in certificates]
    assert len(names) >= 8
    differences, counts = second_opinion.run(names, certificates, 3, long=False)
    assert differences == []
    assert counts["pure certificates", "decided"] == len(names) and counts["changed certificates", "refused"] > 20


@pytest.mark.wide
def test_a_committed_certificate_that_the_first_refuses_is_a_difference_whatever_the_second_says(monkeypatch):
    certificates = second_opinion.judgements.read()
    data = certificates["two_point.exact"] | {"verdict": "REFUTED"}
    for kind in ("undecided", "refused"):
        answer = check.examine(data)._replace(kind=kind)
        monkeypatch.setattr(second_opinion.second, "examine", lambda _, answer=answer: answer)
        assert second_opinion.compare(data).difference == ""
        assert "the first refuses: the certificate says REFUTED" in second_opinion.compare(data, committed=True).difference


def test_noise_that_no_rule_looks_at_is_in_a_norm_too():
    data = certificate("above_threshold_same_noise_told.1-first-broken-by-five-queries")
    data["claim"]["mechanism"]["threshold_noise"]["norm"]["kind"] = "lq"
    with pytest.raises(CertificateError, match=r"in a norm by a matrix\. State it in an lp norm"):
        kernel.check(data | {"claim_sha256": claim_hash(data["claim"])})


def test_noise_that_no_rule_looks_at_is_on_the_line_too():
    data = certificate("above_threshold_same_noise_told.1-first-broken-by-five-queries")
    data["claim"]["mechanism"]["threshold_noise"]["dimension"] = "3/4"
    with pytest.raises(CertificateError, match="its dimension is not 1"):
        kernel.check(data | {"claim_sha256": claim_hash(data["claim"])})


def test_a_difference_is_found(monkeypatch):
    data = certificate("laplace.sensitivity-1-exact")
    assert not second_opinion.compare(data).difference
    monkeypatch.setattr(second_opinion.second, "examine", lambda _: check.Answer("refused", None, None, None, (), ["line 0: no"]))
    assert "the second refuses" in second_opinion.compare(data).difference
    apart = al.constant(10)
    monkeypatch.setattr(second_opinion.second, "examine", lambda _: check.Answer("decided", "PROVED", apart, apart, (), []))
    assert second_opinion.compare(data).difference == "their enclosures are apart"


def test_integers_behind_maps_are_not_taken_to_move_by_whole_steps():
    """Epsilon is 4: answers move by 2 of at most 9/4, and then by 2 (tests/laws/test_truths_by_hand.py)."""
    noise = {"kind": "translation", "density": "exp(-abs(z))", "support": [None, None], "integers": True}
    behind = {"kind": "lipschitz", "constant": "3/2", "part": part(noise, sensitivity="3/2")}
    claim = {"mechanism": {"kind": "group", "size": "2", "part": part(behind)}, "sensitivity": None, "query": None, "epsilon": "3"}
    claim |= {"delta": "0", "domains": {}, "mechanism_name": "it", "name": ""}
    lines = [
        {"rule": "concave-exponent", "place": [{"part": 0}, {"part": 0}]},
        {"rule": "combination", "parameters": {"side": "upper", "part": 0}, "premises": [0]},
    ]
    data = {"schema": "dpverify-certificate/2", "verdict": "PROVED", "prec": 128, "claim": claim, "lines": lines}
    data["claim_sha256"] = claim_hash(claim)
    with pytest.raises(Rejected, match="it is not whole, and another map or a group stands beside it"):
        kernel.check(data)
    assert answer(data).kind == "undecided"
    data = certificate("integer_noise_group.two-whole-steps")  # two records move an answer by 2, where one moves it by at most 3/2
    assert answer(data).upper == al.constant(2)


@pytest.mark.parametrize(("name", "path"), [("parallel_pure.exact", ()), ("compose_laplace.pure-exact", ("mechanism", "parts", 0))])
def test_an_adjacency_that_is_none_is_refused_by_both(name, path):
    data = certificate(name)
    held = data["claim"]
    for step in path:
        held = held[step]
    held["adjacency"] = "replaced"
    with pytest.raises(CertificateError, match="'replaced' is no adjacency\\. Use add-remove, replace, l1, l2"):
        kernel.check(data | {"claim_sha256": claim_hash(data["claim"])})
    assert answer(data).kind == "refused"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("laplace.sensitivity-1-exact", {"loss": [["1"]]}), ("laplace.sensitivity-1-exact", {"prior": ["1"]}),
        ("laplace.sensitivity-1-exact", {"name": "a\nb"}), ("laplace.sensitivity-1-exact", {"mechanism_name": "a\u202eb"}),
        ("laplace.sensitivity-1-exact", {"distance": "linf"}), ("laplace.sensitivity-1-exact", {"order": "reverse", "utility": True}),
        ("above_threshold_fresh_increasing.eps", {"order": "one-sided"}), ("student_t_all.closed-form", {"domains": {"": "nu"}}),
        ("student_t_all.closed-form", {"domains": {"\u00e9": "nu"}}), ("student_t_all.closed-form", {"domains": {"1x": "nu"}}),
        ("elliptical_process.pure-no-change-at-all", {"query": {"rows": [["1"]], "adjacency": "l2"}, "sensitivity": None}),
        ("above_threshold_one_order.half", {"mechanism": lambda inner: {"kind": "group", "part": part(inner), "size": "2"}}),
    ],
)  # fmt: skip
def test_what_does_not_go_together_in_a_claim_is_refused_by_both(name, said):
    data = certificate(name)
    domains = {new: data["claim"]["domains"][old] for new, old in said.get("domains", {}).items()}
    said = {key: value(data["claim"][key]) if callable(value) else value for key, value in said.items()}
    data["claim"] |= said | ({"domains": data["claim"]["domains"] | domains} if domains else {})
    data["claim_sha256"] = claim_hash(data["claim"])
    with pytest.raises(CertificateError):
        kernel.check(data)
    assert answer(data).kind == "refused"


@pytest.mark.parametrize(
    "changes", [{"worst": -1}, {"worst": 1}, {"worst": None}, {"dual": ["0", "-1"]}, {"primal": [{"0": "-1", "1": "1"}]}]
)
def test_a_gauge_is_told_in_one_way(changes):
    data = certificate("knorm_polytope_d2.replace")
    for line in data["lines"]:
        line["parameters"]["sensitivity"] |= changes
    with pytest.raises((Rejected, CertificateError)):
        kernel.check(data)
    assert answer(data).kind == "undecided"


@pytest.mark.parametrize(("mixing", "known"), [
    ("v**(-7/2)*exp(-5/2/v)", True), ("exp(-v)", True), ("1/(v + 1)**2", True), ("v**(-7/2)", False), ("exp(v)", False),
    ("1/(v + 1)", False), ("1/v", False), ("exp(-v)/v", False),
])  # fmt: skip
def test_a_process_has_a_law(mixing, known):
    data = certificate("elliptical_process.pure-no-change-at-all")
    data["claim"]["mechanism"]["mixing"] = mixing
    data["claim_sha256"] = claim_hash(data["claim"])
    assert (answer(data).kind == "decided") == known


ALIGNED = ("lines", 0, "parameters", "ways", 0)
BREAKING = [
    ("stream_numeric.exact", "99/100", "claim", "epsilon"), ("stream_numeric.exact", "2", "claim", "sensitivity"),
    ("stream_numeric.exact", "c + 1", "claim", "mechanism", "limits", 0, "value"),
    ("stream_numeric.exact", ["q + nu"], "claim", "mechanism", "steps", 0, "tell"),
    ("stream_numeric.exact", [], "claim", "mechanism", "limits"),
    ("stream_numeric.exact", "2", "claim", "mechanism", "steps", 0, "count", 0, "value"),
    ("stream_numeric.exact", {"rho": ["0", "0"]}, *ALIGNED, "once"), ("stream_numeric.exact", {"found": "1/2/c"}, *ALIGNED, "prices"),
    ("stream_numeric.exact", ["1", "0"], *ALIGNED, "steps", 0, 4, "nu"),
    ("stream_numeric.exact", ["0", "1"], *ALIGNED, "steps", 0, 4, "xi"),
    ("stream_numeric.exact", {"nu": ["1", "0"]}, *ALIGNED, "steps", 1, 4), ("stream_numeric.exact", 1, *ALIGNED, "steps", 0, 2),
    ("stream_numeric.exact", [[{"t": ["0", "0"]}, False]], *ALIGNED, "modes"), ("stream_numeric.exact", "1/9", *ALIGNED, "each"),
    ("stream_numeric.exact", ["1"], *ALIGNED, "ahead"), ("stream_integers.exact", ["5/2", "0"], *ALIGNED, "steps", 0, 4, "nu"),
    ("stream_prefix_sums.exact", ["1/2", "0"], *ALIGNED, "ahead"), ("stream_prefix_sums.exact", 0, *ALIGNED, "steps", 1, 3),
    ("stream_prefix_sums.exact", "all", "claim", "mechanism", "neighbours"),
    ("stream_prefix_sums.exact", "s", "claim", "mechanism", "answers", 0),
    ("stream_smart_sums.exact", [{}, False], *ALIGNED, "modes", 2), ("stream_smart_sums.exact", {}, *ALIGNED, "steps", 4, 4),
    ("stream_range_of_two.exact", {"nu": ["-1", "1", "0"]}, *ALIGNED, "steps", 0, 4),
    ("stream_same_noise_told.a-quarter-for-each-query", "1/5", *ALIGNED, "each"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value", "path"), [(name, value, path) for name, value, *path in BREAKING])
def test_an_alignment_that_does_not_hold_or_does_not_pay_proves_nothing(name, value, path):
    assert answer(certificate(name)).verdict == "PROVED"
    assert changed(name, put(value, *path)).kind != "decided"


WEIGHTS = ["1/16", "1/8", "1/16", "1/8", "1/16", "1/8", "1/16", "1/8", "0", "0", "1/8", "0", "0", "1/8"]
RUN = "stream_adaptive.just-below"
SPOILT = [
    (RUN, "1/15", "lines", 1, "parameters", "weights", 0),  # steeper than the noise
    (RUN, "-1/16", "lines", 1, "parameters", "weights", 0), (RUN, WEIGHTS[1:], "lines", 1, "parameters", "weights"),
    (RUN, ["2"], "lines", 1, "parameters", "run", 0, 3),  # moves by more than the sensitivity
    (RUN, ["-1"], "lines", 1, "parameters", "run", 0, 3),  # the other way, which takes from what is lost
    (RUN, ["-3000"], "lines", 1, "parameters", "run", 4, 1),  # the guard does not hold there
    (RUN, ["2000"], "lines", 1, "parameters", "run", 0, 1),  # an earlier branch is taken
    (RUN, 0, "lines", 1, "parameters", "run", 5, 0), (RUN, "3000", "lines", 1, "parameters", "once", "rho"),
    ("stream_integers.just-below", "above", "claim", "mechanism", "steps", 1, "emit"), (RUN, "", "claim", "mechanism", "steps", 2, "emit"),
    (RUN, "2", "claim", "mechanism", "limits", 0, "value"), (RUN, "5", "claim", "mechanism", "queries"),
    (RUN, True, "lines", 1, "parameters", "unbounded"), (RUN, ["-2000", "2000"], "claim", "mechanism", "between"),
    (RUN, "increasing", "claim", "mechanism", "neighbours"),
    ("stream_prefix_sums.just-below", "-11/10", "lines", 1, "parameters", "weights", 0),
    ("stream_smart_sums.just-below", ["1"], "lines", 1, "parameters", "run", 1, 3),  # two answers move, of neighbours where one does
    ("stream_running_sum.one", ["0"], "lines", 0, "parameters", "run", 1, 3),
    ("stream_running_sum.one", ["-999"], "lines", 0, "parameters", "run", 1, 1),  # the state is another then
    ("stream_running_sum.one", "5", "claim", "mechanism", "queries"),
    ("stream_running_sum.one", [1, 2], "lines", 0, "parameters", "repeat"),
    ("stream_exact_answers.any", "1/2", "lines", 0, "parameters", "weights", 0),
    ("stream_bad_smart_sums.any", "1", "lines", 0, "parameters", "weights", 0),
    ("stream_integers.just-below", ["-1/2"], "lines", 1, "parameters", "run", 0, 3),
    ("stream_integers.just-below", "-1/2", "lines", 1, "parameters", "once", "rho"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value", "path"), [(name, value, path) for name, value, *path in SPOILT])
def test_a_run_that_does_not_go_so_or_does_not_lose_so_much_proves_nothing(name, value, path):
    assert answer(certificate(name)).verdict == "REFUTED"
    assert changed(name, put(value, *path)).kind != "decided"


@pytest.mark.parametrize(("name", "lost"), [(RUN, 1), ("stream_partial_sum.less", Fraction(3, 4)), ("stream_min_max.just-below", 1)])
def test_a_run_loses_what_the_cheapest_shifts_cost(name, lost):
    assert answer(certificate(name)).lower == al.constant(lost)


def test_the_name_of_a_branch_says_nothing_of_the_noise():
    data = certificate("stream_numeric.exact")
    data["claim"]["mechanism"]["steps"][0]["emit"] = "'integers': True"
    data["claim"]["sensitivity"] = "3/2"
    assert answer(data).kind != "decided"  # the sensitivity of real answers has no floor


def test_parts_that_are_alike_and_orthogonal_share_what_moves():
    data = certificate("compose_real_histograms.pure-just-above")
    for rows, kind in [("1", "decided"), ("6/5", "undecided")]:
        data["claim"]["mechanism"]["parts"][1]["query"]["rows"] = [["0", rows]]
        assert answer(data | {"lines": data["lines"][:2]}).kind == kind


# -- mixtures in closed form ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "part", "value"),
    [
        ("student_t_mixture.sensitivity-1-tight", "mixing", "exp(-5/2/v)/v**(5/2)"),  # fewer degrees of freedom, which lose more
        ("student_t_mixture.sensitivity-1-just-above", "mixing", "exp(-5/2/v)/v**(5/2)"),
        ("student_t_mixture.sensitivity-1-just-above", "mixing", "1/v**(7/2)"),
        ("student_t_mixture.sensitivity-1-just-above", "mixing", "exp(-5/2/v**2)/v**(7/2)"),
        ("student_t_mixture.sensitivity-1-just-above", "profile", "exp(-r**2/2/v)/v"),  # not free of the scale
        ("student_t_mixture.sensitivity-1-just-above", "profile", "exp(-r**2/2/v**2)/v**(3/2)"),
        ("student_t_mixture.sensitivity-1-just-above", "support", ["0", "1"]),
        ("student_t_mixture.sensitivity-1-just-above", "dimension", "2"),
        ("mixture_normaliser.exact", "mixing", "exp(-2*v)"), ("mixture_normaliser.exact", "mixing", "exp(-v)/v"),
    ],
)  # fmt: skip
def test_a_mixture_with_another_law_is_not_what_its_closed_form_is_said_to_be(name, part, value):
    first, other = answer(certificate(name)), changed(name, put(value, "claim", "mechanism", part))
    assert first.kind == "decided" and (other.kind != "decided" or other.upper != first.upper)


def test_a_mixture_of_normal_noise_with_an_exponential_variance_is_laplace_noise():
    root = al.Field({}).power(al.constant(2), Fraction(1, 2))
    for name, side in [("exact", "upper"), ("just-below", "lower")]:
        assert al.Field({}).zero(al.sub(getattr(answer(certificate(f"mixture_normaliser.{name}")), side), root))


# -- the best of several runs ------------------------------------------------------------------------------------------


def chances(law, numbers):
    """P[K = k] up to a common factor, for k from 0 on, by the products that define the laws."""
    first = numbers[0]
    if law == "fixed":
        return [float(k == first) for k in range(int(first) + 1)]
    if law == "poisson":
        return [math.exp(-first) * first**k / math.factorial(k) for k in range(120)]
    c, gamma = numbers if law == "negative_binomial" else (1, 1 / first)
    weights, weight = [0.0], 1.0
    for k in range(1, 900):
        weight *= (1 - gamma) * ((k - 1 + c) / k if k > 1 else 1)
        weights.append(weight)
    return weights


LAWS = [("fixed", [3]), ("poisson", [2]), ("poisson", [Fraction(1, 3)]), ("geometric", [4]), ("negative_binomial", [2, Fraction(1, 5)]),
        ("negative_binomial", [Fraction(-1, 2), Fraction(1, 9)]), ("negative_binomial", [0, Fraction(1, 7)])]  # fmt: skip


def best_of(name, law, numbers, **changes):
    data = certificate(name)
    data["claim"]["mechanism"] |= {"law": law, "numbers": [str(x) for x in numbers]}
    data["claim"]["mechanism"]["part"] |= changes
    data["claim"]["epsilon"], data["verdict"] = "tight", "PROVED"
    return data


@pytest.mark.parametrize(("law", "numbers"), LAWS)
def test_the_best_of_several_runs_loses_what_the_worst_levels_lose(law, numbers):
    weights = chances(law, [float(x) for x in numbers])
    slope = lambda x: sum(k * w * x ** (k - 1) for k, w in enumerate(weights) if k)  # noqa: E731
    e = 0.1
    levels = [(i / 400, max(math.exp(-e) * i / 400, 1 - math.exp(e) * (1 - i / 400))) for i in range(1, 401)]
    levels.append((math.exp(e) / (1 + math.exp(e)), 1 / (1 + math.exp(e))))
    worst = e + max(math.log(slope(high) / slope(low)) for high, low in levels)
    found = answer(best_of("best_of.the-tight-epsilon", law, numbers))
    assert found.kind == "decided"
    assert all(abs(float(al.evaluate(value, 100).lo) - worst) < 1e-9 for value in (found.lower, found.upper))


@pytest.mark.parametrize(("law", "numbers"), LAWS)
@pytest.mark.parametrize(("below", "output"), [([], 0), ([1], 2), ([0, 2], 1)])
def test_an_output_that_is_the_best_tells_the_quotient_of_its_chances(law, numbers, below, output):
    rows = [["1/2", "1/4", "1/4"], ["1/5", "2/5", "2/5"]]
    data = best_of("best_of_responses.less-than-an-output-tells", law, numbers, mechanism={"kind": "table", "adjacent": None, "rows": rows})
    pair = [0, 1] if output == 0 else [1, 0]
    data["lines"][0]["parameters"] |= {"below": below, "output": output, "inputs": pair}
    weights, levels = chances(law, [float(x) for x in numbers]), []
    for row in (rows[x] for x in pair):
        start = float(sum(Fraction(row[y]) for y in below))
        levels.append(sum(w * ((start + float(Fraction(row[output]))) ** k - start**k) for k, w in enumerate(weights) if k))
    found = answer(data)
    assert found.kind == "decided" and abs(float(al.evaluate(found.lower, 100).lo) - math.log(levels[0] / levels[1])) < 1e-9


@pytest.mark.parametrize(
    ("law", "numbers", "changes"),
    [
        ("geometric", ["1/2"], {}), ("poisson", ["0"], {}), ("fixed", ["3/2"], {}), ("fixed", ["0"], {}), ("uniform", ["3"], {}),
        ("negative_binomial", ["-1", "1/2"], {}), ("negative_binomial", ["1", "0"], {}), ("negative_binomial", ["1", "1"], {}),
        ("negative_binomial", ["1"], {}), ("geometric", ["3", "1"], {}), ("logarithmic", ["1"], {}),
    ],
)  # fmt: skip
def test_a_law_that_is_none_proves_nothing(law, numbers, changes):
    assert answer(best_of("best_of.the-tight-epsilon", law, numbers, **changes)).kind != "decided"


@pytest.mark.parametrize(
    ("mechanism", "times"),
    [
        (stated("approximate", ["1/10", "0"]), "2"), (stated("approximate", ["1/10", "0"], ["1/20", "1/9"]), "1"),
        (stated("bounded_range", ["1/10"]), "1"), (stated("approximate", ["1/10", "1/9"]), "1"),
    ],
)  # fmt: skip
def test_of_the_best_of_several_runs_a_bound_from_below_wants_a_part_that_may_be_the_worst(mechanism, times):
    data = certificate("best_of.a-little-less")
    assert answer(data).verdict == "REFUTED"
    data["claim"]["mechanism"]["part"] |= {"mechanism": mechanism, "times": times}
    assert answer(data).kind != "decided"


def test_the_gamma_of_a_logarithmic_law_is_on_the_safe_side():
    for name, line, moved in [("a-little-more-than-the-truth", 1, "1/30"), ("a-little-less", 2, "1/50")]:
        data = certificate(f"best_of_logarithmic.{name}")
        assert answer(data).kind == "decided"
        data["lines"][line]["parameters"]["part"]["gamma"] = moved
        assert answer(data).kind != "decided"


# -- one order of neighbours, and kernels: whole certificates ---------------------------------------------------------


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("measure_one_sided_table.one-sided-exact", {"order": "reverse"}), ("measure_one_sided_table.one-sided-exact", {"epsilon": "2"}),
        ("measure_one_sided_table.one-sided-exact", {"adjacency": "replace"}),
        ("one_sided_sample.the-reverse-order-what-a-sample-of-anything-has", {"order": "one-sided"}),
        ("one_sided_sample.the-reverse-order-what-a-sample-of-anything-has", {"adjacency": "replace"}),
        ("one_sided_sample.the-reverse-order-what-a-sample-of-anything-has", {"epsilon": "28/100"}),
        ("one_sided_exponential_noise.one-sided-exact", {"order": "reverse"}),
        ("one_sided_exponential_noise.one-sided-exact", {"query": {"adjacency": "replace", "rows": [["1"]]}}),
        ("one_sided_exponential_noise.one-sided-exact", {"query": {"adjacency": "add-remove", "rows": [["1", "-1"]]}}),
        ("bounded_laplace.any-two-inputs-just-above", {"epsilon": "99999/100000"}),
        ("bounded_laplace.sensitivity-14-just-above", {"sensitivity": "1/2"}),
        ("bounded_laplace.sensitivity-14-just-above", {"sensitivity": None}), ("piecewise.exact", {"epsilon": "log(3)"}),
    ],
)  # fmt: skip
def test_a_claim_that_is_not_proved_for_these_neighbours_is_not_accepted(name, changes):
    data = certificate(name)
    assert answer(data).verdict == "PROVED"
    data["claim"] |= changes
    assert answer(data).kind != "decided"


def test_a_bound_for_both_orders_holds_of_each_from_above_alone():
    data = certificate("laplace.sensitivity-1-just-below")
    assert answer(data).verdict == "REFUTED"
    data["claim"]["order"] = "one-sided"
    assert answer(data).kind == "undecided"
    data = certificate("laplace.sensitivity-1-just-above")
    data["claim"]["order"] = "reverse"
    assert answer(data).verdict == "PROVED"
