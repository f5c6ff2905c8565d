"""What a rule is told beside the noise, forged: the answer may be missing or wide, and never on the wrong side of the truth."""

from fractions import Fraction as F

import pytest
from flint import arb

from dpverify.search.additive import hints
from dpverify.trusted.geometry.sensitivity import Sensitivity
from dpverify.trusted.kernel.balls import precision, rational
from dpverify.trusted.kernel.errors import CertificateError, ExprError, Rejected, Undecided
from dpverify.trusted.kernel.expr import ONE, num, parse
from dpverify.trusted.kernel.model import L2, LINF, Norm, Radial, Translation
from dpverify.trusted.shapes.convexity import Shapes
from dpverify.trusted.theories.additive import slopes
from dpverify.trusted.theories.curves import lipschitz, unimodal
from dpverify.trusted.theories.curves.rules import lattice, line
from dpverify.trusted.theories.curves.rules import lipschitz_exponent as gauge
from dpverify.trusted.theories.curves.rules import radial_caps as spherical_caps
from tests import told

UNIT = Sensitivity(ONE, ONE)
EPSILONS = (F(0), F(1, 4), F(3, 4))

ON_LINE = {
    "cauchy": "1/(1 + z**2)",
    "moved": "1/(1 + (z - 3/7)**2)",
    "mixture": "exp(-z**2/2) + exp(-z**2/8)",
    "cusp": "exp(-abs(z)**(2/3))",
    "skew": "min(exp(z), exp(-2*z))",
}
FORGED_LINE = [
    {"mode": "1"},
    {"mode": "-3/7", "turns": ["-16", "-1"]},
    {"slopes": ["-1", "1"]},
    {"slopes": ["-1000", "1000"], "turns": ["-16"]},
    {"turns": ["-1"]},
    {"turns": ["-16"]},
    {"turns": ["-16", "-8", "-4", "-2", "-1"]},
    {"turns": ["-1/1000"]},
    {"turns": ["1"]},
    {"far": "1/1000"},
    {"far": "1/1000", "turns": ["-1*2^-20"]},
]


@pytest.mark.sampled(30)
@pytest.mark.parametrize("forged", FORGED_LINE)
@pytest.mark.parametrize("name", ON_LINE)
def test_a_line_that_is_told_wrong_things_never_says_a_wrong_divergence(name, forged):
    noise = Translation(parse(ON_LINE[name]))
    with precision(64):
        right = told.line(noise, UNIT).lower
        try:
            found = line.curve(noise, UNIT, unimodal.hints(forged, line.NAME)).lower
            pairs = [(found.forward(rational(e)), right.forward(rational(e))) for e in EPSILONS]
        except Undecided:
            return
    assert all(one.overlaps(other) for one, other in pairs)


@pytest.mark.parametrize("mode", ["-2", "0", "2", "7/3"])
@pytest.mark.parametrize("slopes_told", [[], ["-16", "-2", "0", "2", "16"], ["-2", "2"]])
def test_no_mode_makes_a_density_with_two_modes_unimodal(mode, slopes_told):
    for density in ("exp(-(abs(z) - 2)**2)", "abs(z)*exp(-abs(z))"):
        for whole in (False, True):
            with precision(64), pytest.raises(Undecided):
                unimodal.read(Translation(parse(density), integers=whole), unimodal.hints({"mode": mode, "slopes": slopes_told}, "line"))


@pytest.mark.parametrize("slopes_told", [[], ["7"], ["-7", "7"]])
@pytest.mark.parametrize("mode", ["0", "5"])
@pytest.mark.parametrize("whole", [False, True])
def test_a_density_that_turns_negative_at_a_step_is_not_unimodal(whole, mode, slopes_told):
    """-log(-p) rises past the step as -log(p) does before it, and p only falls where it steps."""
    density = Translation(parse("exp(-z)*(1 - 2*floor(z/5))"), (parse("0"), parse("9")), integers=whole)
    with precision(64), pytest.raises(Undecided):
        unimodal.read(density, unimodal.hints({"mode": mode, "slopes": slopes_told}, "line"))


@pytest.mark.parametrize("forged", [{"turns": ["1", "0"]}, {"slopes": ["0", "0"]}, {"far": "0"}, {"far": "-1"}, {"mode": "one"}])
def test_what_is_no_hint_is_a_misuse(forged):
    with pytest.raises(CertificateError):
        unimodal.hints(forged, line.NAME)


@pytest.mark.parametrize("peak", [[5, 5], [5, 4], [4, 5], [-5, -5], [0, 0], [400, 400]])
@pytest.mark.parametrize("density", ["exp(-(z - 5)**2/8)", "exp(-abs(z))", "exp(-abs(z - 5)) + 0*z"])
def test_a_peak_that_is_told_wrong_never_says_a_wrong_divergence(density, peak):
    noise = Translation(parse(density), integers=True)
    with precision(64):
        right = told.lattice(noise, UNIT).lower
        try:
            found = lattice.curve(noise, UNIT, unimodal.Hints(), tuple(peak)).lower
            pairs = [(order(found)(rational(e)), order(right)(rational(e))) for e in EPSILONS for order in (_forward, _backward)]
        except Undecided:
            return
    assert all(one.overlaps(other) for one, other in pairs)


STEPPED = {
    "1 + floor(z/2)": {0: 1, 1: 1, 2: 2},
    "1 - floor(-z/2)": {0: 1, 1: 2, 2: 2},
    "2 - max(0, floor(1 - abs(z - 1)))": {0: 2, 1: 1, 2: 2},
    "2 + max(0, floor(1 - abs(z))) + max(0, floor(1 - abs(z - 2)))": {0: 3, 1: 2, 2: 3},
    "exp(-z*log(2))*(1 + 7*max(0, floor(1 - abs(z - 2))))": {0: 4, 1: 2, 2: 8},
}


@pytest.mark.parametrize("mode", ["-1", "0", "1/2", "1", "2", "3"])
@pytest.mark.parametrize("density", STEPPED)
def test_no_mode_that_is_told_hides_a_step_at_an_integer(density, mode):
    weights, factor = STEPPED[density], F(5, 4)
    noise = Translation(parse(density), (parse("0"), parse("2")), integers=True)
    right = [sum(max(F(0), w - factor * weights.get(n - s, 0)) for n, w in weights.items()) / sum(weights.values()) for s in (1, -1)]
    with precision(64):
        try:
            found = lattice.curve(noise, UNIT, unimodal.hints({"mode": mode}, lattice.NAME), (int(F(mode)), int(F(mode)))).lower
            balls = [order(found)(rational(factor).log()) for order in (_forward, _backward)]
        except Undecided:
            return
    assert all(ball.overlaps(rational(one)) for ball, one in zip(balls, right, strict=True))


def _forward(pair):
    return pair.forward


def _backward(pair):
    return pair.backward


@pytest.mark.parametrize("cuts", [(), (0,), (0, 1), (0, 16), (1, 16), (0, 4, 2, 16), (0, F(1, 2), 16), (0, 1, 2, 3, 4, 8, 64)])
def test_an_axis_that_is_cut_wrongly_never_says_a_wrong_divergence(cuts):
    noise = Radial(parse("(1 + r**2/5)**(-4)*exp(-r/8)"), L2, num(3), ONE)
    with precision(53):
        right = told.caps(noise, UNIT).upper
        try:
            found = spherical_caps.curve(noise, UNIT, tuple(map(F, cuts))).upper
            pairs = [(found.forward(rational(e)), right.forward(rational(e))) for e in (F(1, 4), F(3, 4))]
        except Undecided:
            return
    assert all(one.overlaps(other) for one, other in pairs)


SLOPE = "4*log(1 + r**2/5)"  # slopes of at most 4/sqrt(5) = 1.78885...


@pytest.mark.parametrize(
    "forged",
    [
        {"slope": "1.788", "cuts": None},
        {"slope": "0", "cuts": None},
        {"slope": "-2", "cuts": None},
        {"slope": "2", "cuts": ["0", "1*2^-10"]},
        {"slope": "2", "cuts": ["1", "16"]},
        {"slope": "2", "cuts": ["16"]},
        {"slope": "2", "cuts": ["0", "16", "4"]},
        {"slope": "r", "cuts": None},
    ],
)
def test_a_slope_that_is_not_shown_is_refused(forged):
    shapes = Shapes("r", True, {})
    h = shapes.tidy(parse(SLOPE))
    sound = hints.steep(h, shapes, ONE)
    with precision(64):
        assert lipschitz.greatest_slope(h, shapes, sound) is not None
        with pytest.raises((Rejected, Undecided)):
            lipschitz.greatest_slope(h, shapes, {**sound, **{key: value for key, value in forged.items() if value is not None}})


@pytest.mark.parametrize(
    "forged", [{"slope": "2"}, {"slope": "(", "cuts": ["0", "16"]}, {"slope": "2", "cuts": 5}, {"slope": "2", "cuts": ["x"]}]
)
def test_a_slope_that_cannot_be_read_is_a_misuse(forged):
    with pytest.raises((CertificateError, ExprError, KeyError, TypeError)):  # the kernel makes one of all of them
        slopes.told(parse(SLOPE), "r", True, forged, gauge.NAME)


def test_a_jump_is_not_hidden_by_cuts():
    for cuts in (["0", "2", "3", "16"], ["0", "1", "16"], ["0", "16"]):
        with precision(64), pytest.raises((Rejected, Undecided)):
            slopes.told(parse("r + floor(min(r, 3)/2)"), "r", True, {"slope": "2", "cuts": cuts}, gauge.NAME)


def test_the_pure_epsilon_is_only_taken_of_a_concave_exponent():
    with precision(64), pytest.raises(Undecided):
        gauge.curve(Radial(parse("exp(-sqrt(1 + r**2))"), LINF, num(2), ONE), UNIT, {"pure": True})


HEXAGON = Norm("facets", None, ((F(1), F(0)), (F(0), F(1)), (F(1), F(1))))
THREE_PAIRS = Norm("facets", None, ((F(1), F(0)), (F(0), F(1)), (F(1), F(2))))


@pytest.mark.parametrize("vector", [["1", "1"], ["1", "-1"], ["1/2", "1/2"], ["0", "0"], ["1"], ["1", "0", "0"]])
def test_a_vector_that_is_not_in_all_facets_shows_nothing(vector):
    """No vector has size 1 under x, y and x + y; (1, -1) has it under x, y and x + 2 y."""
    assert not gauge._of_all(HEXAGON.matrix, {"vertex": vector})
    assert gauge._of_all(THREE_PAIRS.matrix, {"vertex": vector}) == (vector == ["1", "-1"])


@pytest.mark.parametrize("corner", [-1, 3, "0", None, 1.0, True])
def test_a_corner_that_is_no_vertex_is_a_misuse(corner):
    with precision(64), pytest.raises(CertificateError, match="corner"):
        gauge.curve(Radial(parse("exp(-r)"), HEXAGON, num(2), ONE), UNIT, {"corner": corner}, stated=True)


@pytest.mark.parametrize("corner", [0, 1, 2])
def test_the_pair_of_any_corner_is_no_better_than_the_upper_bound(corner):
    with precision(64):
        found = gauge.curve(Radial(parse("exp(-r)"), HEXAGON, num(2), ONE), UNIT, {"corner": corner}, stated=True)
        for epsilon in EPSILONS:
            assert not found.lower.forward(rational(epsilon)) > found.upper.forward(rational(epsilon))
        assert isinstance(found.lower.forward(arb(0)), arb)
