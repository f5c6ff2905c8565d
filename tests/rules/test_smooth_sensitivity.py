"""Noise whose scale depends on the data (theory#smooth-sensitivity): held against brute force over outputs, answers and scales,
and against a mechanism that is private by it, on all databases of a few records."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import dpverify as dp
from dpverify.errors import SpecError
from dpverify.search.verify import verify
from dpverify.trusted.combinators.runs import Run
from dpverify.trusted.kernel.balls import constant, precision
from dpverify.trusted.kernel.bounds import Infinite
from dpverify.trusted.kernel.expr import parse
from dpverify.trusted.kernel.model import (
    L1,
    L2,
    Claim,
    Compose,
    Group,
    Lipschitz,
    Norm,
    Part,
    Radial,
    SmoothSensitivity,
    Subsample,
    Sum,
    Summand,
    Translation,
)
from dpverify.trusted.kernel.well_formed import require_well_formed
from dpverify.trusted.theories.additive.rules import smooth_box, smooth_point, smooth_power
from dpverify.trusted.theories.curves.rules import smooth_curve
from tests.refused import Refusals, each, require_refused


def student(nu, scale="1"):
    return Radial(parse(f"(1 + r**2/({nu}))**(-(({nu}) + 1)/2)"), L2, parse("1"), parse(scale))


CAUCHY = student(1)
FOURTH = Translation(parse("1/(1 + z**4)"))
SKEWED = Translation(parse("1/(1 + (z - 1)**2*(z + 2)**2)"))
KINKED = Radial(parse("(1 + r)**(-3)"), L1, parse("1"))
LAPLACE = Radial(parse("exp(-r)"), L1, parse("1"), parse("4"))
GAUSSIAN = Radial(parse("exp(-r**2/2)"), L2, parse("1"), parse("4"))


def claimed(noise, bound, moved="1", epsilon=None, delta="0", **more):
    mechanism = SmoothSensitivity(noise, parse(bound))
    tight = None if delta is None else parse(delta)
    return Claim(mechanism, None if epsilon is None else parse(epsilon), tight, sensitivity=parse(moved), **more)


def judged(*args, **more):
    return verify(claimed(*args, **more)).judgement


# -- the pure epsilon -------------------------------------------------------------------------------------------

OUTPUTS = np.concatenate([-np.geomspace(1e6, 30, 2_000), np.linspace(-30, 30, 60_001), np.geomspace(30, 1e6, 2_000)])


def brute_force(density, bound, moved, steps=5):
    """The greatest loss of either order over a grid of scales, answers and outputs."""
    log = lambda z: np.log(density(z))  # noqa: E731
    return max(
        np.abs(log(OUTPUTS) - log((OUTPUTS - u) * math.exp(-t)) + t).max()
        for t in np.linspace(0, bound, steps)
        for u in np.linspace(-moved, moved, steps)
    )


@pytest.mark.parametrize("nu", ["1/2", "1", "3"])
@pytest.mark.parametrize(("bound", "moved"), [("1/5", "3/10"), ("1", "1/10"), ("1/50", "9"), ("1/2", "0")])
def test_t_noise_has_its_epsilon_in_closed_form(nu, bound, moved):
    found, n = judged(student(nu), bound, moved), float(Fraction(nu))
    assert found.lower == found.upper
    truth = brute_force(lambda z: (1 + z * z / n) ** (-(n + 1) / 2), float(Fraction(bound)), float(Fraction(moved)))
    assert float(constant(found.upper)) == pytest.approx(truth, rel=1e-5, abs=1e-9)


def test_cauchy_noise_measures_the_hyperbolic_plane():
    bound, moved = 0.4, 0.7
    distance = math.acosh(1 + (moved**2 + math.expm1(bound) ** 2) / (2 * math.exp(bound)))
    assert float(constant(judged(CAUCHY, "2/5", "7/10").upper)) == pytest.approx(distance, rel=1e-12)


def test_a_scale_of_the_noise_divides_the_sensitivity():
    assert judged(student(3, "4"), "1/10", "1").upper == judged(student(3), "1/10", "1/4").upper


@pytest.mark.parametrize(
    ("noise", "density", "bound", "moved"),
    [
        (FOURTH, lambda z: 1 / (1 + z**4), "1/10", "1/5"),
        (KINKED, lambda z: (1 + np.abs(z)) ** -3.0, "log(6/5)", "sqrt(2)/3"),
        (SKEWED, lambda z: 1 / (1 + (z - 1) ** 2 * (z + 2) ** 2), "1/20", "1/10"),
    ],
    ids=["fourth power", "kink at 0", "two modes"],
)
def test_any_density_with_tails_like_powers_is_enclosed(noise, density, bound, moved):
    found = verify(claimed(noise, bound, moved), 6).judgement
    low, high = float(constant(found.lower)), float(constant(found.upper))
    truth = brute_force(density, float(constant(parse(bound))), float(constant(parse(moved))), 9)
    assert low - 1e-12 <= high < low + 1e-6
    assert low >= truth - 1e-6
    assert truth > high - 1e-3


@pytest.mark.parametrize("noise", [LAPLACE, GAUSSIAN, Translation(parse("exp(-abs(z))*(1 + z**2)"))])
def test_light_tails_hide_no_change_of_the_scale(noise):
    assert isinstance(judged(noise, "1/1000", "0").lower, Infinite)


def test_at_one_scale_it_is_noise_that_is_added():
    alone = verify(Claim(student(3), None, sensitivity=parse("1"))).judgement
    assert float(constant(judged(student(3), "0").upper)) == pytest.approx(float(constant(alone.upper)), rel=1e-14)


@pytest.mark.wide
def test_an_event_alone_refutes_what_is_far_from_true():
    found = verify(claimed(FOURTH, "1/10", "1/5", "3/5"), 6).judgement
    p, q = (float(Fraction(found.witness[key][end])) for key, end in (("P", 0), ("Q", 1)))
    assert found.verdict == "REFUTED"
    assert p > math.exp(0.6) * q > 0


@pytest.mark.parametrize(("epsilon", "verdict"), [("D*(n + 1)/(2*sqrt(n)) + b*max(1, n)", "PROVED"), ("D + b/2", "REFUTED")])
def test_the_bound_by_slopes_holds_for_all_parameters(epsilon, verdict):
    noise = dp.student_t("n" if verdict == "PROVED" else 1, dimension=1)
    ranging = ["b", "D", *(["n"] if verdict == "PROVED" else [])]
    mechanism = dp.smooth_sensitivity(noise, "b", parameters=dict.fromkeys(ranging, "positive"))
    assert dp.verify(mechanism, sensitivity="D", epsilon=epsilon).verdict == verdict


# -- the mechanism that it is for ---------------------------------------------------------------------------------

GRID = (0.0, 0.3, 1.0)


def smooth_medians(size, bound):
    """Of every database of so many records on a grid its median and smooth sensitivity, both by definition."""
    databases = list(itertools.product(GRID, repeat=size))
    median = {x: sorted(x)[size // 2] for x in databases}
    near = {x: [y for y in databases if sum(a != b for a, b in zip(x, y, strict=True)) == 1] for x in databases}
    local = {x: max(abs(median[x] - median[y]) for y in near[x]) for x in databases}
    apart = lambda x, y: sum(a != b for a, b in zip(x, y, strict=True))  # noqa: E731
    scale = {x: max(math.exp(-bound * apart(x, y)) * local[y] for y in databases) for x in databases}
    return median, scale, near


@pytest.mark.parametrize(("size", "bound", "wide"), [(3, "1/5", 2), (3, "1", 1), (5, "1/3", 3)])
def test_what_is_proved_holds_of_a_median_at_its_smooth_sensitivity(size, bound, wide):
    median, scale, near = smooth_medians(size, float(Fraction(bound)))
    proved = float(constant(judged(student(3, str(wide)), bound).upper))
    y = np.concatenate([-np.geomspace(1e4, 4, 400), np.linspace(-4, 5, 1_001), np.geomspace(5, 1e4, 400)])
    states = {(median[x], scale[x]) for x in median}
    log = {s: -2 * np.log1p(((y - s[0]) / (wide * s[1])) ** 2 / 3) - math.log(s[1]) for s in states}
    pairs = {((median[x], scale[x]), (median[z], scale[z])) for x in near for z in near[x]}
    worst = max(np.max(log[a] - log[b]) for a, b in pairs)
    assert worst <= proved
    assert worst > proved / 4  # such data come near what is proved


# -- with a delta -------------------------------------------------------------------------------------------------

FAR = np.linspace(-250, 250, 50_001)
LOGS = {"laplace": lambda z: -np.abs(z) / 4 - math.log(8), "gaussian": lambda z: -z * z / 32 - math.log(4 * math.sqrt(2 * math.pi))}
NOISES = {"laplace": LAPLACE, "gaussian": GAUSSIAN}


def divergence(name, bound, moved, epsilon, steps=5):
    """The greatest divergence of either order over a grid of scales and answers, by sums over outputs."""
    log, found = LOGS[name], 0.0
    first = log(FAR)
    for t, u in itertools.product(np.linspace(0, bound, steps), (moved, moved / 2, -moved)):
        other = log((FAR - u) * math.exp(-t)) - t
        for p, q in ((first, other), (other, first)):
            found = max(found, np.maximum(np.exp(p) - np.exp(epsilon + q), 0).sum() * (FAR[1] - FAR[0]))
    return found


@pytest.mark.parametrize("name", NOISES)
@pytest.mark.parametrize(
    ("bound", "moved", "epsilon"),
    [("1/40", "1", "1/2"), ("1/40", "1", "0"), ("1/5", "1", "1"), ("1/10", "12", "3/2"), ("1/10", "0", "1/20")],
)
def test_the_tight_delta_is_enclosed(name, bound, moved, epsilon):
    found = judged(NOISES[name], bound, moved, epsilon, None)
    low, high = float(constant(found.delta_lower)), float(constant(found.delta_upper))
    truth = divergence(name, *map(float, map(Fraction, (bound, moved, epsilon))))
    assert low == pytest.approx(truth, rel=2e-3)
    assert truth * (1 - 1e-4) <= high <= truth * 1.02


@pytest.mark.parametrize("name", NOISES)
def test_between_the_ends_the_worst_scale_is_found(name):
    """Answers far apart: at a greater scale they are less so, and the worst is inside."""
    noise = NOISES[name]
    with precision(64):
        mechanism, moved, epsilon = SmoothSensitivity(noise, parse("2")), parse("4"), constant(parse("1/2"))
        pairs = [smooth_curve.below(mechanism, moved, Fraction(i, 8)) for i in range(9)]
        heights = [float(pair.worst(epsilon).mid()) for pair in pairs]
        most = float(smooth_curve.above(mechanism, moved, [Fraction(i, 64) for i in range(65)]).worst(epsilon).mid())
    assert max(heights) <= most <= max(heights) * 1.1
    assert most >= divergence(name, 2, 4, 0.5, 17) * (1 - 1e-4)


def test_at_one_scale_the_curve_is_that_of_noise_that_is_added():
    for noise in (LAPLACE, GAUSSIAN):
        alone = verify(Claim(noise, parse("1/5"), None, sensitivity=parse("1"))).judgement
        still = judged(noise, "0", "1", "1/5", None)
        assert float(constant(still.delta_upper)) == pytest.approx(float(constant(alone.delta_upper)), rel=1e-9)
        assert float(constant(still.delta_lower)) == pytest.approx(float(constant(alone.delta_lower)), rel=1e-9)


# -- as a part --------------------------------------------------------------------------------------------------------


def test_pure_epsilons_of_parts_add_up_and_are_sampled():
    part = Part(SmoothSensitivity(student(3, "4"), parse("1/10")), parse("1"))
    one = float(constant(judged(student(3, "4"), "1/10").upper))
    both = verify(Claim(Compose((part, part)), None)).judgement
    assert float(constant(both.upper)) == pytest.approx(2 * one, rel=1e-9)
    sampled = verify(Claim(Subsample(part, parse("1/10")), None)).judgement
    assert float(constant(sampled.upper)) == pytest.approx(math.log1p(0.1 * math.expm1(one)), rel=1e-9)


@pytest.mark.parametrize("outside", [lambda part: Group(part, parse("2")), lambda part: Lipschitz(part, parse("2"))])
def test_several_steps_are_not_taken_for_one_that_is_longer(outside):
    """Two steps move the logarithm of the scale by twice its bound: by more than the bound for one."""
    part = Part(SmoothSensitivity(student(3, "4"), parse("1/10")), parse("1"))
    one = float(constant(judged(student(3, "4"), "1/10").upper))
    found = verify(Claim(outside(part), parse(str(Fraction(one).limit_denominator(1000))))).judgement
    assert found.verdict != "PROVED"


def test_a_claim_in_one_order_is_as_one_in_both():
    assert judged(student(3), "1/10", "1", order="one-sided").upper == judged(student(3), "1/10", "1").upper


# -- as it is written -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("density", "noise"),
    [
        ("1/(pi*(1 + (y - theta)**2))", "1/(pi*(1 + z**2))"),
        ("1/(1 + (theta - y)**4)", "1/(1 + z**4)"),
        ("(1 + abs(y - theta)/2)**(-3)", "(1 + abs(z)/2)**(-3)"),
    ],
)
def test_a_kernel_with_a_bound_of_its_scale_is_noise_of_the_difference(density, noise):
    written = dp.tight_epsilon(dp.kernel(density, scale_bound="1/10"), sensitivity="1/5")
    added = dp.tight_epsilon(dp.smooth_sensitivity(dp.translation(noise), "1/10"), sensitivity="1/5")
    assert written.upper == added.upper


@pytest.mark.parametrize(
    ("written", "why"),
    [
        (lambda: dp.kernel("exp(-y*theta)", scale_bound="1/10"), "Write y and theta as y - theta alone"),
        (lambda: dp.kernel("1/(1 + (y - theta)**2)", output=[0, 1], scale_bound="1/10"), "on the whole line"),
        (lambda: dp.kernel("1/(1 + z*(y - theta)**2)", scale_bound="1/10", parameters={"z": 2}), "z is what y - theta is called"),
        (lambda: dp.kernel("1/(1 + (y - theta)**2)"), "output is missing"),
        (lambda: dp.smooth_sensitivity(dp.laplace(1), "-1/10"), "scale_bound = -1/10 is not non-negative|scale_bound"),
        (lambda: dp.smooth_sensitivity(dp.discrete_laplace(1), "1/10"), "not on the integers"),
        (lambda: dp.smooth_sensitivity(dp.student_t(3, dimension=2), "1/10"), "dimension"),
    ],
    ids=["theta alone", "an interval", "a parameter z", "no bound", "negative", "integers", "the plane"],
)
def test_what_is_no_such_noise_is_refused_in_words(written, why):
    with pytest.raises(SpecError, match=why):
        dp.verify(written(), sensitivity=1, epsilon=1)


def test_the_sampler_takes_an_answer_and_its_scale():
    sampler = dp.sampler(dp.smooth_sensitivity(dp.laplace(4), "1/10"))
    told = sampler([5, 10], 20_000, np.random.default_rng(0))
    assert abs(np.median(told) - 5) < 2
    assert np.median(np.abs(told - 5)) == pytest.approx(40 * math.log(2), rel=0.05)
    for data in ([5], [5, 0], [5, -1]):
        with pytest.raises(dp.errors.DataError):
            sampler(data, 1, np.random.default_rng(0))


# -- one hypothesis broken at a time -------------------------------------------------------------------------------------

POINT = {"turned": "1/10", "moved": "0", "first": "greater", "y": ["1", "2"], "event": ["1", "2"]}
VALUES = {"tree": ["values"], "tails": [["0", ["values"]]] * 2}
BOX = {"value": "10", "reach": ["-1", "1"], "losses": [VALUES] * 2}
HALF = Translation(parse("exp(-z)"), (parse("0"), None))
BY_MATRIX = Radial(parse("exp(-r)"), Norm("ellipsoid", matrix=((Fraction(4),),)), parse("1"))
PART = Part(SmoothSensitivity(LAPLACE, parse("1/10")), parse("1"))
CURVE = {"cuts": ["0", "1"], "at": "1"}


def run_of(noise):
    return Run(Part(SmoothSensitivity(noise, parse("1")), parse("1")))


OFF_CENTRE = Sum((Summand(Translation(parse("exp(-(z - 1)**2/2)")), parse("2")),))  # its centre moves with the scale
BROKEN: Refusals = {
    "power: another mechanism": (lambda: smooth_power.check(Claim(CAUCHY, None, sensitivity=parse("1")), {}), "only noise of smooth"),
    "power: another density": (lambda: smooth_power.check(claimed(LAPLACE, "1/10"), {}), "logarithm"),
    "power: no density": (lambda: smooth_power.check(claimed(Radial(parse("(1 + r**2)**(-1/2)"), L2, parse("1")), "1"), {}), "integrable"),
    "power: a lower bound by slopes": (lambda: smooth_power.check(claimed(CAUCHY, "1"), {"slopes": True, "side": "lower"}), "from above"),
    "point: turned too far": (lambda: smooth_point.check(claimed(CAUCHY, "1/20"), POINT), "turned"),
    "point: turned back": (lambda: smooth_point.check(claimed(CAUCHY, "1"), POINT | {"turned": "-1/10"}), "turned"),
    "point: moved too far": (lambda: smooth_point.check(claimed(CAUCHY, "1"), POINT | {"moved": "-2"}), "moved"),
    "point: no order": (lambda: smooth_point.check(claimed(CAUCHY, "1"), POINT | {"first": "both"}), "smaller or the greater"),
    "point: a single output": (lambda: smooth_point.check(claimed(CAUCHY, "1"), POINT | {"y": ["1", "1"]}), "probability 0"),
    "point: bounded far out": (lambda: smooth_point.check(claimed(CAUCHY, "1"), POINT | {"beyond": 1}), "grow without bound"),
    "point: the other order": (lambda: smooth_point.check(claimed(LAPLACE, "1"), POINT | {"beyond": 1, "first": "smaller"}), "grow"),
    "point: half of the line": (lambda: smooth_point.check(claimed(HALF, "1"), POINT), "whole line"),
    "point: no density": (lambda: smooth_point.check(claimed(Translation(parse("1")), "1"), POINT), "integrable"),
    "box: below the truth": (lambda: smooth_box.check(claimed(FOURTH, "1/10"), BOX | {"value": "0"}), "kernel-box"),
    "box: no tails": (lambda: smooth_box.check(claimed(LAPLACE, "1/10"), BOX), "kernel-box"),
    "box: a reach that falls": (lambda: smooth_box.check(claimed(FOURTH, "1/10"), BOX | {"reach": ["1", "-1"]}), "do not rise"),
    "box: no constant": (lambda: smooth_box.check(claimed(FOURTH, "1/10"), BOX | {"value": "b"}), "not a constant"),
    "curve: another mechanism": (lambda: smooth_curve.infer(Run(Part(LAPLACE, parse("1"))), CURVE, []), "no noise of smooth"),
    "curve: two steps": (lambda: smooth_curve.infer(Run(PART, parse("2")), CURVE, []), "one step apart"),
    "curve: behind a map": (lambda: smooth_curve.infer(Run(PART, mapped=True), CURVE, []), "one step apart"),
    "curve: another density": (lambda: smooth_curve.infer(run_of(CAUCHY), CURVE, []), "Gaussian or Laplace"),
    "curve: about 1": (lambda: smooth_curve.infer(run_of(Translation(parse("exp(-abs(z - 1))"))), CURVE, []), "about 0"),
    "curve: a sum about 2": (lambda: smooth_curve.infer(run_of(OFF_CENTRE), CURVE, []), "about 0"),
    "curve: cells that end early": (lambda: smooth_curve.infer(Run(PART), CURVE | {"cuts": ["0", "1/2"]}, []), "do not reach"),
    "curve: a pair beyond": (lambda: smooth_curve.infer(Run(PART), CURVE | {"at": "2"}, []), "outside"),
    "a norm by a matrix": (lambda: require_well_formed(claimed(BY_MATRIX, "1", epsilon="1")), "in an lp norm"),
}  # fmt: skip


@each(BROKEN)
def test_a_broken_hypothesis_is_refused(asked, why):
    require_refused(asked, why)
