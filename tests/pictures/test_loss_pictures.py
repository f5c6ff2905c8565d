"""The picture of the privacy loss: its supremum is the tight epsilon, and its lines follow the loss."""

import json
import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from dpverify.pictures import LossCurve, loss
from dpverify.trusted.kernel import judgement as kernel
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.bounds import Infinite
from dpverify.trusted.kernel.canonical_form import from_json
from dpverify.trusted.kernel.expr import ZERO, num, parse
from dpverify.trusted.kernel.model import (
    L1,
    L2,
    Claim,
    Exponential,
    KaryResponse,
    Kernel,
    Norm,
    Product,
    Radial,
    Staircase,
    Table,
    Translation,
)
from tests import committed
from tests.spread import of_certificate, spread

PICTURED = {"radial", "translation", "product", "mixture", "staircase", "table", "exponential", "kary_response", "kernel"}


def certificates() -> list[tuple[str, dict]]:
    """One certificate of every pictured mechanism and sensitivity, with its name. Only the test of each has the kernel check it."""
    found: dict[str, tuple[str, dict]] = {}
    for name, data in committed.certificates().items():
        claimed = data["claim"]
        key = json.dumps([claimed["mechanism"], claimed["sensitivity"], claimed["query"]])
        if claimed["mechanism"]["kind"] not in PICTURED or claimed["domains"] or claimed["delta"] != "0" or key in found:
            continue
        if "measure" in claimed or "order" in claimed:  # what is enclosed is not the epsilon in both orders
            continue
        # no picture of a curve, of answers that never move, or of outputs that never meet
        if not any(line["rule"] in ("privacy-profile", "equal-answers", "cosets") for line in data["lines"]):
            found[key] = (name, data)
    return list(found.values())


CERTIFICATES = dict(certificates())
SAMPLE = spread(CERTIFICATES, 30, lambda name: [kind for what, kind in of_certificate(CERTIFICATES[name]) if what == "kind"])


def bounds(judgement: kernel.Judgement) -> tuple[float, float]:
    lower, upper = judgement.lower, judgement.upper
    ends = [-math.inf if lower is None else lower, math.inf if upper is None else upper]
    low, high = (math.inf if isinstance(end, Infinite) else end if isinstance(end, float) else float(constant(end)) for end in ends)
    return low, high


def radial(profile: str, dimension: int = 1, sensitivity: str = "1", norm: Norm = L2, scale: str = "1") -> LossCurve:
    found = loss(Claim(Radial(parse(profile), norm, num(dimension), parse(scale)), None, ZERO, parse(sensitivity)))
    assert found is not None
    return found


def translation(density: str, sensitivity: str = "1", integers: bool = False, low: str | None = None) -> LossCurve:
    support = (None if low is None else parse(low), None)
    found = loss(Claim(Translation(parse(density), support, integers), None, ZERO, parse(sensitivity)))
    assert found is not None
    return found


def by(kind: str, *rows: tuple[int | Fraction, ...]) -> Norm:
    return Norm(kind, None, tuple(tuple(Fraction(entry) for entry in row) for row in rows))


def points_of(curve: LossCurve) -> np.ndarray:
    return np.array([point for line in curve.lines for point in line])


def test_there_are_many_judged_claims_to_compare_with():
    assert len(CERTIFICATES) > 80


@pytest.mark.parametrize("name", SAMPLE)
def test_the_supremum_is_within_the_enclosure_of_the_tight_epsilon(name):
    data = CERTIFICATES[name]
    curve = loss(from_json(data["claim"]))
    low, high = bounds(kernel.check(data))
    assert curve is not None
    assert curve.supremum.value <= high + 1e-6
    assert curve.supremum.value >= low - 1e-6
    assert curve.reverse.value <= curve.supremum.value + 1e-9 * (1 + abs(curve.supremum.value)) or curve.reverse.value == math.inf


@pytest.mark.parametrize("name", SAMPLE)
def test_no_point_of_a_picture_is_above_its_supremum_and_the_supremum_shows(name):
    curve = loss(from_json(CERTIFICATES[name]["claim"]))
    assert curve is not None
    values = [bar.loss for bar in curve.bars] or [y for line in curve.lines for _, y in line]
    top, least = max(values), min(values)
    assert top <= curve.supremum.value + 1e-6
    if math.isfinite(curve.supremum.value):
        assert top >= curve.supremum.value - 0.06 * (curve.supremum.value - least) - 1e-9
    assert len(values) < 700
    for line in curve.lines:
        assert all(a[0] < b[0] for a, b in pairwise(line))


def test_laplace_noise_loses_all_it_can_before_the_nearer_answer():
    curve = radial("exp(-r)", scale="2", sensitivity="3")
    t, y = points_of(curve).T
    assert np.allclose(y, np.clip((3 - 2 * t) / 2, -1.5, 1.5), atol=1e-9)
    assert curve.supremum.value == pytest.approx(1.5)
    assert curve.supremum.where == "reached for all t ≤ 0"
    assert curve.supremum.attained
    assert {0.0, 3.0} <= set(t)
    assert curve.answers == (0.0, 3.0)


def test_gaussian_noise_loses_without_bound():
    curve = radial("exp(-r**2/2)", scale="2")
    t, y = points_of(curve).T
    assert np.allclose(y, (1 - 2 * t) / 8, atol=1e-9)
    assert curve.supremum.value == math.inf
    assert curve.supremum.where == "infinite: grows without bound as t → −∞"
    assert curve.supremum.towards == -1


def test_logistic_noise_approaches_its_supremum_and_the_picture_reaches_far_enough():
    curve = translation("exp(-z)/(1 + exp(-z))**2")
    t, y = points_of(curve).T
    h = lambda z: 2 * np.logaddexp(z / 2, -z / 2)  # noqa: E731
    assert np.allclose(y, h(t - 1) - h(t), atol=1e-9)
    assert curve.supremum.where == "approached as t → −∞"
    assert not curve.supremum.attained
    assert y.max() > 0.96


def test_cauchy_noise_loses_most_where_calculus_says():
    curve = radial("(1 + r**2)**(-1)")
    golden = (math.sqrt(5) - 1) / 2  # the larger root of r^2 + r = 1 for h(r + 1) - h(r), h = log(1 + r^2)
    assert curve.supremum.at == pytest.approx(-golden, abs=1e-6)
    assert curve.supremum.value == pytest.approx(2 * math.asinh(0.5), abs=1e-12)
    assert curve.supremum.where == "at t = −0.618"
    t, y = points_of(curve).T
    assert 60 <= len(t) <= 200
    dense = np.linspace(t[0], t[-1], 4001)
    exact = np.log1p((dense - 1) ** 2) - np.log1p(dense**2)
    assert np.abs(np.interp(dense, t, y) - exact).max() < 0.01 * np.ptp(exact)


def test_a_steep_middle_is_drawn_with_more_points():
    curve = radial("exp(-sqrt(r))", dimension=3)
    t, y = points_of(curve).T
    dense = np.linspace(t[0], t[-1], 8001)
    exact = np.sqrt(np.abs(dense - 1)) - np.sqrt(np.abs(dense))
    assert np.abs(np.interp(dense, t, y) - exact).max() < 0.02
    assert curve.supremum.where == "at t = 0"


def test_a_jump_breaks_the_line_where_the_step_is():
    curve = loss(Claim(Staircase(parse("log(3)"), parse("1/4")), None, ZERO, parse("1")))
    assert curve is not None
    gaps = [(a[-1][0], b[0][0]) for a, b in pairwise(curve.lines)]
    assert [round(left, 6) for left, _ in gaps] == [0.25, 0.75]
    assert all(right - left < 1e-6 for left, right in gaps)
    assert curve.supremum.value == pytest.approx(math.log(3))
    assert curve.supremum.where == "reached for all t ≤ 0.25"


def test_staircases_across_more_than_a_step_lose_two_in_places():
    curve = loss(Claim(Staircase(parse("1"), parse("1/3")), None, ZERO, parse("3/2")))
    assert curve is not None
    assert curve.supremum.value == curve.reverse.value == 2.0
    assert curve.supremum.where == "reached for t from −0.3333 to 0.1667"


def test_one_sided_noise_is_infinite_one_way_and_finite_the_other():
    curve = translation("exp(-2*z)", sensitivity="1/2", low="0")
    assert curve.supremum.value == math.inf
    assert curve.reverse.value == pytest.approx(1.0)
    (span,) = curve.infinite
    assert span == pytest.approx((0.0, 0.5), abs=1e-6)
    assert min(t for line in curve.lines for t, _ in line) >= 0.5


def test_a_uniform_density_is_infinite_on_one_side_and_impossible_on_the_other():
    curve = radial("1 - min(1, floor(r))", dimension=3, sensitivity="1/2")
    assert curve.supremum.value == curve.reverse.value == math.inf
    assert curve.infinite[0] == pytest.approx((-1.0, -0.5), abs=1e-6)
    assert curve.impossible[0] == pytest.approx((1.0, 1.5), abs=1e-6)
    assert np.allclose(points_of(curve)[:, 1], 0.0)


def test_a_pole_of_the_density_is_an_infinite_loss_at_one_point():
    curve = radial("besselk(0, r)", dimension=2)
    assert curve.supremum.value == math.inf
    assert curve.supremum.where == "infinite at t = 0"
    assert curve.infinite == ((0.0, 0.0),)
    assert len(curve.lines) == 3


def test_a_removable_singularity_at_the_centre_is_drawn_through():
    curve = radial("(2 - (r**2 + 2)*exp(-r**2/2))/r**4", dimension=3)
    t, y = points_of(curve).T
    v, w = np.polynomial.legendre.leggauss(60)  # slash noise: the mean of v^3 exp(-v^2 r^2/2) over v uniform on (0, 1)
    v, w = (v + 1) / 2, w / 2
    g = lambda r: ((v**3 * w) * np.exp(-((v * r[:, None]) ** 2) / 2)).sum(axis=1)  # noqa: E731
    assert np.allclose(y, np.log(g(np.abs(t)) / g(np.abs(t - 1))), atol=1e-7)
    assert len(curve.lines) == 1


def test_noise_on_the_integers_is_drawn_as_points():
    curve = translation("exp(-abs(z)/4)", sensitivity="3", integers=True)
    assert curve.kind == "points"
    assert all(t == round(t) and y == pytest.approx((abs(t - 3) - abs(t)) / 4) for t, y in curve.lines[0])
    assert curve.supremum.value == 0.75
    assert curve.supremum.where == "reached for all t ≤ 0"


def test_uneven_noise_loses_more_to_a_neighbour_closer_than_the_sensitivity():
    curve = radial("exp(-r/10)*(2 + cosh(r)**(-2) - 2*cosh(4*r)**(-2))", sensitivity="2")
    g = lambda r: np.exp(-np.abs(r) / 10) * (2 + np.cosh(r) ** -2.0 - 2 * np.cosh(4 * r) ** -2.0)  # noqa: E731
    r = np.linspace(-6, 6, 2401)
    best = max(float(np.log(g(r + c) / g(r)).max()) for c in np.linspace(0.05, 2, 40))
    assert curve.supremum.value == pytest.approx(best, abs=2e-3)
    assert curve.answers is not None
    assert abs(curve.answers[1] - curve.answers[0]) < 1.9


@pytest.mark.parametrize(
    ("norm", "expected", "text"),
    [
        (L1, 0.5, "one coordinate"),
        (L2, math.sqrt(3) / 2, "the diagonal of all 3 coordinates"),
        (Norm("lp", None), 1.5, "the diagonal of all 3 coordinates"),
        (by("columns", (1, 0, 0), (0, 2, 1), (0, 0, 1)), 1.5, "(0, 2, 1)"),
        (by("facets", (Fraction(1, 2), 0, 0), (0, 1, 0), (0, 0, 1)), 2.0, "(2, 1, 1)"),
        (by("ellipsoid", (4, 0, 0), (0, 1, 0), (0, 0, 1)), math.sqrt(6) / 2, "direction"),
    ],
)
def test_independent_laplace_noise_loses_the_l1_length_of_the_worst_direction(norm, expected, text):
    curve = loss(Claim(Product(parse("exp(-abs(z)/2)"), num(3), norm), None, ZERO, num(1)))
    assert curve is not None
    assert curve.supremum.value == pytest.approx(expected, abs=1e-9)
    assert text in curve.pair


def test_a_table_has_a_bar_for_every_output_of_its_worst_rows():
    rows = tuple(tuple(parse(p) for p in row) for row in (("1/2", "1/3", "1/6"), ("1/4", "1/4", "1/2"), ("1/3", "1/3", "1/3")))
    curve = loss(Claim(Table(rows), None))
    assert curve is not None
    assert curve.kind == "bars"
    assert curve.pair == "inputs 1 and 0"
    assert [bar.loss for bar in curve.bars] == pytest.approx([math.log(1 / 2), math.log(3 / 4), math.log(3)])
    assert curve.supremum.where == "at output 2"
    assert curve.reverse.value == pytest.approx(math.log(2))


def test_an_impossible_output_has_an_infinite_bar():
    rows = ((parse("1"), parse("0"), parse("0")), (parse("1/2"), parse("1/2"), parse("0")))
    curve = loss(Claim(Table(rows), None))
    assert curve is not None
    assert curve.pair == "inputs 1 and 0"
    assert [bar.label for bar in curve.bars] == ["output 0", "output 1"]
    assert [bar.loss for bar in curve.bars] == [pytest.approx(math.log(1 / 2)), math.inf]


def test_a_probability_too_small_for_floats_is_not_impossible():
    tiny = "1/10**400"
    rows = ((parse(tiny), parse(f"1 - {tiny}")), (parse(f"1 - {tiny}"), parse(tiny)))
    curve = loss(Claim(Table(rows), None))
    assert curve is not None
    assert curve.supremum.value == pytest.approx(400 * math.log(10))


def test_the_exponential_mechanism_has_the_log_ratios_of_its_probabilities():
    scores = ((0, 1, 3), (1, 0, 3))
    curve = loss(Claim(Exponential(tuple(tuple(num(s) for s in row) for row in scores), parse("1/2")), None))
    assert curve is not None
    assert sorted(bar.loss for bar in curve.bars) == pytest.approx([-0.5, 0.0, 0.5])


def test_choosing_among_k_has_a_bar_for_each_kind_of_answer():
    curve = loss(Claim(KaryResponse(num(4), parse("1/2")), None))
    assert curve is not None
    assert [bar.loss for bar in curve.bars] == pytest.approx([math.log(3), -math.log(3), 0.0])


def test_a_conditional_density_is_drawn_along_its_output_for_inputs_at_the_allowed_distance():
    density = parse("exp(-abs(y - theta))/(2 - exp(-theta) - exp(theta - 1))")
    mechanism = Kernel(density, (num(0), num(1)), (num(0), num(1)))
    curve = loss(Claim(mechanism, None, ZERO, parse("1/4")))
    assert curve is not None
    normaliser = lambda theta: math.log(2 - math.exp(-theta) - math.exp(theta - 1))  # noqa: E731
    assert curve.pair == "inputs 0 and 0.25"
    y, values = points_of(curve).T
    assert np.allclose(values, np.abs(y - 0.25) - y + normaliser(0.25) - normaliser(0), atol=1e-9)
    assert curve.supremum.value == pytest.approx(0.25 + normaliser(0.25) - normaliser(0))


def conditional(density: str, output: tuple[str | None, str | None], inputs: tuple[str, str], sensitivity: str | None = None) -> LossCurve:
    low, high = (None if end is None else parse(end) for end in output)
    moved = None if sensitivity is None else parse(sensitivity)
    found = loss(Claim(Kernel(parse(density), (low, high), (parse(inputs[0]), parse(inputs[1]))), None, ZERO, moved))
    assert found is not None
    return found


def test_the_worst_inputs_at_the_allowed_distance_are_found_where_the_normaliser_is_steepest():
    curve = conditional("exp(theta*y)*theta/(exp(theta) - 1)", ("0", "1"), ("1/2", "2"), "1/4")
    log_density_at_zero = lambda theta: math.log(theta / math.expm1(theta))  # noqa: E731
    assert curve.pair == "inputs 1.75 and 2"
    assert curve.supremum.value == pytest.approx(log_density_at_zero(1.75) - log_density_at_zero(2), rel=1e-12)


def test_outputs_without_an_end_are_drawn_as_far_as_they_are_likely_and_looked_at_further():
    laplace = conditional("exp(-abs(y - theta))/2", (None, None), ("0", "1"))
    assert laplace.supremum.value == pytest.approx(1.0)
    assert laplace.supremum.where == "reached for all y ≤ 0"
    assert laplace.window is not None
    assert -10 < laplace.window[0] < laplace.window[1] < 10
    exponential = conditional("theta*exp(-theta*y)", ("0", None), ("1", "2"))
    assert exponential.supremum.where == "infinite: grows without bound as y → ∞"
    assert exponential.reverse.value == pytest.approx(math.log(2))
    cauchy = conditional("1/(pi*(1 + (y - theta)**2))", (None, None), ("0", "1"))
    assert cauchy.supremum.value == pytest.approx(2 * math.asinh(0.5), abs=1e-8)


@pytest.mark.parametrize("name", ["compose_gaussian", "subsample_laplace", "guarantee_pure", "elliptical_process", "student_t_all"])
def test_combinators_guarantees_processes_and_open_parameters_have_no_picture(name):
    first = next(one for one in committed.names() if one.startswith(f"{name}."))
    assert loss(from_json(committed.certificate(first)["claim"])) is None


def test_no_sensitivity_means_no_picture():
    assert loss(Claim(Radial(parse("exp(-r)"), L2, num(1)), None, ZERO, ZERO)) is None


@pytest.mark.parametrize("profile", ["exp(-exp(r))", "exp(-r**3)", "1/gamma(1 + r)", "exp(-cosh(r)**2)"])
def test_losses_that_outgrow_floats_are_unbounded_and_not_impossible(profile):
    curve = radial(profile)
    assert curve.supremum.where == "infinite: grows without bound as t → −∞"
    assert curve.infinite == ()
    assert curve.window is not None
    assert -10 < curve.window[0] < curve.window[1] < 10


def test_more_steps_than_a_picture_can_show_are_not_all_drawn():
    curve = radial("exp(-floor(4*r))", sensitivity="50")
    assert curve.supremum.value == 200
    assert len(points_of(curve)) < 700


def test_what_is_no_density_has_no_picture():
    assert loss(Claim(Radial(parse("1/(1 + r)"), L2, num(2)), None, ZERO, num(1))) is None
    assert loss(Claim(Translation(parse("1")), None, ZERO, num(1))) is None


def test_a_limit_with_a_slowly_vanishing_rest_is_told_from_its_neighbours():
    curve = radial("(1 + r)**3*exp(-r)")
    t, y = points_of(curve).T
    h = lambda r: r - 3 * np.log1p(r)  # noqa: E731
    assert np.allclose(y, h(np.abs(t - 1)) - h(np.abs(t)), atol=1e-9)
    assert curve.supremum.value == pytest.approx(3 * math.log(2) - 1, abs=1e-9)  # between the answers' distances 1 and 0
    tail = radial("(1 + r)**3*exp(-4*r)")
    assert tail.supremum.value == pytest.approx(4, abs=1e-12)
    assert tail.supremum.where == "approached as t → −∞"
