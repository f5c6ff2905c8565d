"""The second checker on spaces, nearness, votes, cells, series: what is false is not accepted, and numbers are those of a second method."""

import copy
import math
import sys
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
import bessel  # noqa: E402
import cells  # noqa: E402
import check  # noqa: E402
import integrals  # noqa: E402
import intervals as iv  # noqa: E402
import series  # noqa: E402
import terms  # noqa: E402

from dpverify.trusted.kernel.canonical_form import claim_hash  # noqa: E402
from tests import committed  # noqa: E402

sys.path[:] = BEFORE
for module in OWN:
    sys.modules.pop(module, None)


def answer(name, change):
    data = copy.deepcopy(committed.certificate(name))
    change(data["claim"], data["lines"])
    return check.examine(data | {"claim_sha256": claim_hash(data["claim"])})


def put(value, *path):
    def change(claim, lines):
        held = {"claim": claim, "lines": lines}
        for step in path[:-1]:
            held = held[step]
        held[path[-1]] = value

    return change


MECHANISM = ("claim", "mechanism")
PARAMETERS = ("lines", 0, "parameters")
FALSE = [
    ("space_box.one-answer-serves-all", put("49/100", "claim", "within")),
    ("space_box.one-answer-serves-all", put("1/2", *MECHANISM, "diameter")),
    ("space_box.one-answer-serves-all", put(["1", "11/10"], *MECHANISM, "shape", "numbers")),
    ("space_box.compatible", put("1", *PARAMETERS, "share")),
    ("space_box.too-private", put("41/10", "claim", "epsilon")),
    ("space_box.too-private", put("1/2", "claim", "within")),
    ("space_box.too-private", put("unbounded", *MECHANISM, "databases")),
    ("space_density.general-bound-which-is-tight", put("49/1000", "claim", "beta")),
    ("space_density.without-the-normaliser", put("bounded", *MECHANISM, "databases")),
    ("space_exponential.near", put("101/1000", "claim", "beta")),
    ("space_exponential.near", put("33/50", "claim", "epsilon")),
    ("space_finite.exact", put("9/10*log(6)", "claim", "epsilon")),
    ("space_finite.exact", put("6/25", "claim", "beta")),
    ("space_finite.exact", put([["3/4", "1/4"], ["1/4", "3/4"]], *MECHANISM, "table")),
    ("space_finite.all-of-them-within-1", put("1/2", *MECHANISM, "rate")),
    ("space_given.near-and-private", put([["3/4", "1/4"], ["1/5", "4/5"]], *MECHANISM, "table")),
    ("space_given.not-so-near", put("1/4", "claim", "beta")),
    ("space_grid.by-a-grid", put("70", "lines", 1, "parameters", "epsilon")),
    ("space_grid.by-a-grid", put([[2, 3]] * 10, "lines", 1, "parameters", "reach")),
    ("space_grid.by-noise-that-is-clamped", put("157/10", *PARAMETERS, "tail")),
    ("space_real.half-of-it-is-too-little", put("log(b**(-1))/g", "claim", "epsilon")),
    ("space_tree.within-12", put(["1", "1/2", "3"], *MECHANISM, "shape", "numbers")),
    ("space_tree.within-less", put("1/2", "claim", "within")),
    ("space_ellipsoid.near", put(["log(k + 1)"], *MECHANISM, "shape", "numbers")),
    ("space_ellipsoid.near", put("3529/10000", *PARAMETERS, "net", "tail")),
    ("space_ellipsoid_not_compact.within-49100", put("51/100", "claim", "within")),
    ("space_ellipsoid_not_compact.within-49100", put(["k**(-1) + 49/100"], *MECHANISM, "shape", "numbers")),
    ("near_exponential.exact", put("1015363/10000000", "claim", "measure", "value")),
    ("near_noise.within-log1be", put("b/2", "claim", "measure", "value")),
    ("near_noise.within-log1be", put("log(b**(-1))/2/e", "claim", "within")),
    ("near_coordinates.length-just-above", put("4", *MECHANISM, "dimension")),
    ("near_coordinates.length-just-above", put("l1", "claim", "distance")),
    ("near_integers.at-an-integer", put("4999/1000", "claim", "within")),
    ("smooth_student_t.just-above", put("2196/5000", "claim", "epsilon")),
    ("smooth_student_t.just-above", put("11/100", *MECHANISM, "scale_bound")),
    ("smooth_student_t.just-above", put("101/100", "claim", "sensitivity")),
    ("smooth_cauchy.the-sum", put("D + b/2", "claim", "epsilon")),
    ("elliptical_process.pure", put("0", "claim", "sensitivity")),
    ("elliptical_process.pure", put("v**(-1)", *MECHANISM, "mixing")),
]


@pytest.mark.parametrize(("name", "change"), FALSE)
def test_what_is_made_false_is_not_decided_as_it_was(name, change):
    before = committed.certificate(name)
    assert check.examine(before).verdict == before["verdict"]
    assert answer(name, change).kind != "decided"


UNKNOWN = [
    ("space_box.compatible", PARAMETERS), ("space_box.too-private", ("lines", 1, "parameters")), ("space_finite.exact", PARAMETERS),
    ("space_tree.within-12", PARAMETERS), ("smooth_student_t.just-above", None), ("elliptical_process.pure", None),
]  # fmt: skip


@pytest.mark.parametrize(("name", "path"), UNKNOWN)
def test_a_parameter_that_is_not_known_is_not_passed_over(name, path):
    def change(claim, lines):
        for line in lines:
            line.setdefault("parameters", {})["more"] = "1"

    assert answer(name, change).kind == "undecided"


@pytest.mark.parametrize("key", ["sensitivity", "query", "order", "measure", "distance", "adjacency", "loss"])
def test_a_claim_about_a_space_that_says_more_is_not_decided(key):
    values = {
        "sensitivity": "1", "query": {"rows": [["1"]], "adjacency": "l1"}, "order": "one-sided", "distance": "l2", "adjacency": "l1",
        "measure": {"name": "zcdp", "value": "1", "at": None}, "loss": [["1"]],
    }  # fmt: skip
    assert answer("space_tree.within-12", put(values[key], "claim", key)).kind != "decided"


# -- numbers by a second method ----------------------------------------------------------------------------


@pytest.mark.parametrize("x", [Fraction(1, 5), Fraction(1), Fraction(7, 2), Fraction(40)])
def test_bessel_functions_of_half_orders_and_the_recurrence_of_others(x):
    iv.precision(90)
    at = iv.point(x)
    half = (iv.pi() / (iv.point(2) * at)) ** Fraction(1, 2) * iv.exp(-at)
    for order, closed in ((Fraction(1, 2), half), (Fraction(3, 2), half * (iv.point(1) + iv.point(1) / at))):
        found = bessel.bessel(order, at)
        assert found.lo <= closed.hi and closed.lo <= found.hi
    zero, one, two = (bessel.bessel(Fraction(n), at) for n in range(3))  # K_2 = K_0 + 2/x K_1
    made = zero + iv.point(2) / at * one
    assert made.lo <= two.hi and two.lo <= made.hi and bessel.log_slope(Fraction(0), at).hi <= -1


FUNCTIONS = ["exp(-r**2/2)", "(r**2 + 1)**(-3/2)", "log(r + 2)*r", "erfc(r - 1)", "exp(-1/r)/r", "sqrt(r + 1)", "besselk(1/3, r)"]


@pytest.mark.parametrize("text", FUNCTIONS)
def test_series_hold_the_value_nearby_and_their_widths_shrink(text):
    iv.precision(120)
    form = al.Field({}).over("r").form(terms.parse(text.replace("erfc(r - 1)", "erfc(r + 1)")))
    near = series.series(form, iv.point(Fraction(3, 2)), 12)
    step = Fraction(1, 64)
    total, power = iv.point(0), iv.point(1)
    for c in near:
        total, power = total + c * power, power * iv.point(step)
    rest = series.series(form, iv.point(Fraction(3, 2)).hull(iv.point(Fraction(3, 2) + step)), 13)[12] * power
    there = series.at(form, iv.point(Fraction(3, 2) + step))
    assert (total + rest).lo <= there.hi and there.lo <= (total + rest).hi
    assert Fraction((total + rest).hi) - Fraction((total + rest).lo) < Fraction(1, 10**12)


INTEGRALS = [("exp(r)", 0, 1, math.e - 1), ("(r**2 + 1)**(-1)", 0, 1, math.pi / 4), ("sqrt(r)", 1, 4, 14 / 3)]


@pytest.mark.parametrize(("text", "a", "b", "value"), INTEGRALS)
def test_integrals_hold_what_antiderivatives_give(text, a, b, value):
    iv.precision(90)
    form = al.Field({}).over("r").form(terms.parse(text))
    found = integrals.Integral(form, "r", "1e-18").over(Fraction(a), Fraction(b))
    assert float(found.lo) <= value + 1e-15 and value - 1e-15 <= float(found.hi) and found.hi - found.lo < 1e-15


def test_what_is_beyond_is_no_less_than_the_integral_there():
    iv.precision(60)
    field = al.Field({}).over("r")
    for text, exact in (("r", math.exp(-8)), ("3*log(r)", 1 / (2 * 8**2)), ("r + log(r)", 3.7666e-5)):
        found = integrals.beyond(field.form(terms.parse(text)), 8)
        assert exact <= float(found.hi) <= 1.2 * exact
    with pytest.raises(terms.Undecided):
        integrals.beyond(field.form(terms.parse("log(r)")), 8)


RISES = [
    ("r - 4*log(r**2 + 1)", lambda r: r - 4 * math.log(r * r + 1)), ("r + log(r**2 + 1)", lambda r: r + math.log(r * r + 1)),
    ("2*log(r**2 + 1)", lambda r: 2 * math.log(r * r + 1)),
]  # fmt: skip


@pytest.mark.parametrize(("text", "h"), RISES)
def test_a_bound_below_the_greatest_rise_is_never_shown_and_one_above_is(text, h):
    most = max(abs(h(k / 500 + 1) - h(k / 500)) for k in range(20_000))
    form, iv_one = al.Field({}).over("r").form(terms.parse(text)), iv.point(1)
    bound = lambda x: iv.point(Fraction(round(x * 10**6), 10**6))  # noqa: E731
    assert not cells.Rise(form, iv_one, bound(most - 1e-4)).shows()
    assert cells.Rise(form, iv_one, bound(most + 1e-3)).shows()


@pytest.mark.wide
def test_votes_of_two_candidates_are_those_of_one_normal_number():
    data = committed.certificate("noisy_votes.epsilon-alone")
    wins = lambda gap: math.erfc(-gap / (40 * 2)) / 2  # noqa: E731
    for votes in ((60, 40), (5, 80)):
        gap = votes[0] - votes[1]
        losses = [abs(math.log(f(gap) / f(gap + step))) for step in (2, -2) for f in (wins, lambda g: wins(-g))]
        for epsilon, verdict in ((max(losses) + 1e-9, "PROVED"), (max(losses) - 1e-9, "REFUTED")):
            made = copy.deepcopy(data) | {"verdict": verdict}
            made["claim"]["mechanism"]["votes"] = [[str(n) for n in votes]]
            made["claim"]["epsilon"] = str(Fraction(round(epsilon * 10**12), 10**12))
            assert check.examine(made | {"claim_sha256": claim_hash(made["claim"])}).verdict == verdict
