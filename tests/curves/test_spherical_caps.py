"""The exact curve of radial noise against closed forms and other integrals."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import mpmath
import pytest
from flint import acb, arb
from mpmath import mp, mpf

from dpverify.search.events import probabilities
from dpverify.trusted.facts.pairs import Curve
from dpverify.trusted.geometry.sensitivity import Sensitivity
from dpverify.trusted.kernel.balls import constant, precision
from dpverify.trusted.kernel.errors import Rejected, Undecided
from dpverify.trusted.kernel.expr import parse
from dpverify.trusted.kernel.model import L1, L2, Norm, Radial
from dpverify.trusted.numbers.complex_bessel import LogBesselK
from tests import told

UNIT = arb(-1).union(arb(1))
STUDENT = "(1 + r**2/({nu}))**(-({nu} + {d})/2)"


def made(profile: str, d: int | str, shift: str = "1", scale: str = "1", norm: Norm = L2) -> Curve:
    reach = parse(shift)
    return told.caps(Radial(parse(profile), norm, parse(str(d)), parse(scale)), Sensitivity(reach, reach))


def delta(curve: Curve, epsilon: str, bits: int = 96) -> arb:
    assert curve.upper is not None
    with precision(bits):
        return curve.upper.forward(arb(Fraction(epsilon).numerator) / Fraction(epsilon).denominator)


def agrees(found: arb, expected: Any, digits: int, known: int | None = None) -> bool:
    """Whether an enclosure is narrow to `digits` digits and holds the reference, itself good to `known` digits (by default as many)."""
    with precision(256):
        wanted = arb(mpmath.nstr(expected, 45))
        slack = abs(wanted) * arb(10) ** -(known or digits)
        return bool(found.rel_accuracy_bits() > 3.3 * digits) and bool(found.overlaps(wanted + (-slack).union(slack)))


def gaussian(epsilon: str, shift: str = "1") -> Any:
    e, mu = mpf(Fraction(epsilon).numerator) / Fraction(epsilon).denominator, mpf(shift)
    return mpmath.ncdf(mu / 2 - e / mu) - mpmath.exp(e) * mpmath.ncdf(-mu / 2 - e / mu)


@pytest.fixture(autouse=True)
def _digits() -> Any:
    with mp.workdps(50):
        yield


@pytest.mark.parametrize("epsilon", ["0", "1/4", "1", "3", "12"])
def test_gaussian_noise_in_five_dimensions_has_the_closed_form(epsilon: str) -> None:
    assert agrees(delta(made("exp(-r**2/2)", 5), epsilon), gaussian(epsilon), 20, 40)


def test_forty_digits_are_there_for_the_asking() -> None:
    assert agrees(delta(made("exp(-r**2/2)", 5), "1/4", 160), gaussian("1/4"), 40, 44)


@pytest.mark.parametrize("d", [2, 4, 21])
def test_the_dimension_does_not_matter_to_gaussian_noise(d: int) -> None:
    assert agrees(delta(made("exp(-r**2/2)", d, "2"), "1", 64), gaussian("1", "2"), 12, 40)


def test_the_loss_at_which_no_ball_lies_whole_in_the_event_is_no_exception() -> None:
    assert agrees(delta(made("exp(-r**2/2)", 3), "1/2", 64), gaussian("1/2"), 12, 40)


def laplace_3d(epsilon: Any, shift: Any) -> Any:
    """exp(-r) in three dimensions: dV = 2 pi r s dr ds / D, and r + s integrated by hand."""
    inner = lambda w: (2 * shift**2 + 8 * shift + 16 - 2 * w**2) * (mpmath.exp(w / 2) - mpmath.exp(epsilon - w / 2))  # noqa: E731
    return mpmath.exp(-shift / 2) / (32 * shift) * mpmath.quad(inner, [epsilon, shift])


@pytest.mark.parametrize(("epsilon", "shift"), [("0", "1"), ("1/2", "1"), ("3", "4"), ("99/100", "1")])
def test_exponential_noise_in_three_dimensions_by_bipolar_coordinates(epsilon: str, shift: str) -> None:
    e = mpf(Fraction(epsilon).numerator) / Fraction(epsilon).denominator
    assert agrees(delta(made("exp(-r)", 3, shift), epsilon), laplace_3d(e, mpf(shift)), 20, 40)


def by_caps(g: Callable[[Any], Any], inverse: Callable[[Any], Any], ends: tuple[Any, Any], epsilon: Any, shift: Any) -> Any:
    """P(S) - e^epsilon Q(S) in the plane, each by the share of circles round its own centre. inverse: of h.

    ends: least r and least s of points of S's boundary on the segment between the centres.
    """
    h = lambda r: -mpmath.log(g(r))  # noqa: E731
    far = [1, 3, 10, 30, 90]
    share_p = lambda r: 1 - mpmath.acos(_clip((r**2 + shift**2 - inverse(h(r) + epsilon) ** 2) / (2 * r * shift))) / mp.pi  # noqa: E731
    share_q = lambda s: mpmath.acos(_clip((s**2 + shift**2 - inverse(h(s) - epsilon) ** 2) / (2 * s * shift))) / mp.pi  # noqa: E731
    mass = mpmath.quad(lambda r: r * g(r), [0, *far])
    p = mpmath.quad(lambda r: r * g(r), [0, ends[0]]) + mpmath.quad(lambda r: r * g(r) * share_p(r), [ends[0], *far])
    q = mpmath.quad(lambda s: s * g(s) * share_q(s), [ends[1], *far])
    return (p - mpmath.exp(epsilon) * q) / mass


def _clip(x: Any) -> Any:
    return max(mpf(-1), min(mpf(1), x))


def test_exponential_noise_in_the_plane_by_shares_of_circles() -> None:
    with mp.workdps(25):
        e = mpf(1) / 2
        expected = by_caps(lambda r: mpmath.exp(-r), lambda h: h, ((1 - e) / 2, (1 + e) / 2), e, 1)
    assert agrees(delta(made("exp(-r)", 2), "1/2", 72), expected, 12)


def test_stretched_exponential_noise_in_the_plane_by_shares_of_circles() -> None:
    with mp.workdps(25):
        e = mpf(1) / 4
        g = lambda r: mpmath.exp(-(r ** mpf("1.5")))  # noqa: E731
        low = mpmath.findroot(lambda r: (1 - r) ** mpf("1.5") - r ** mpf("1.5") - e, 0.3)
        expected = by_caps(g, lambda h: h ** (mpf(2) / 3), (low, 1 - low), e, 1)
    assert agrees(delta(made("exp(-r**(3/2))", 2), "1/4", 72), expected, 12)


def student(nu: Any, d: int, epsilon: Any, shift: Any) -> Any:
    """p - e^epsilon q over the ball that S is for t noise, in polar coordinates about the ball's centre."""
    a = mpmath.exp(2 * epsilon / (nu + d)) - 1
    centre, radius = -shift / a, mpmath.sqrt((shift**2 - nu * a) / a + shift**2 / a**2)
    density = lambda square: (1 + square / nu) ** (-(nu + d) / 2)  # noqa: E731

    def f(t: Any, angle: Any) -> Any:
        x, across = centre + t * mpmath.cos(angle), t * mpmath.sin(angle)
        height = density(x**2 + across**2) - mpmath.exp(epsilon) * density((x - shift) ** 2 + across**2)
        return height * t ** (d - 1) * mpmath.sin(angle) ** (d - 2)

    sphere = 2 * mp.pi ** (mpf(d - 1) / 2) / mpmath.gamma(mpf(d - 1) / 2)
    constant = mpmath.gamma((nu + d) / 2) / mpmath.gamma(nu / 2) / (nu * mp.pi) ** (mpf(d) / 2)
    return constant * sphere * mpmath.quad(f, [0, radius], [0, mp.pi], method="gauss-legendre", maxdegree=6)


@pytest.mark.parametrize(("nu", "d", "epsilon"), [("5", 3, "1"), ("7/2", 2, "1"), ("5", 10, "3")])
def test_student_noise_by_polar_coordinates_about_the_event(nu: str, d: int, epsilon: str) -> None:
    with mp.workdps(16):
        n, e = (mpf(Fraction(x).numerator) / Fraction(x).denominator for x in (nu, epsilon))
        expected = student(n, d, e, mpf(1))
    assert agrees(delta(made(STUDENT.format(nu=nu, d=d), d), epsilon, 64), expected, 11)


def test_a_profile_with_a_pole_at_the_centre_by_shares_of_spheres() -> None:
    """exp(-r)/r in three dimensions, the whole balls of S included: q's share of a sphere is that of its height."""
    with mp.workdps(20):
        e, loss = mpf(1) / 2, lambda r: r + mpmath.log(r)
        other = lambda level: mpmath.lambertw(mpmath.exp(level)).real  # noqa: E731
        low = mpmath.findroot(lambda r: loss(1 - r) - loss(r) - e, mpf("0.35"))
        far = [1, 2, 5, 12, 50]
        height = lambda a, b: (1 + _clip((a**2 + 1 - b**2) / (2 * a))) / 2  # noqa: E731
        p = 1 - mpmath.exp(-low) * (1 + low) + mpmath.quad(lambda r: r * mpmath.exp(-r) * height(r, other(loss(r) + e)), [low, *far])
        q = mpmath.quad(lambda s: s * mpmath.exp(-s) * (1 - height(s, other(loss(s) - e))), [1 - low, *far])
        expected = p - mpmath.exp(e) * q
    assert agrees(delta(made("exp(-r)/r", 3), "1/2", 64), expected, 11)


def test_a_bessel_profile_is_its_elementary_form() -> None:
    bessel = delta(made("r**(-1/2)*besselk(1/2, sqrt(2)*r)", 3), "1/2", 64)
    assert bessel.overlaps(delta(made("exp(-sqrt(2)*r)/r", 3), "1/2", 64)) and bessel.rel_accuracy_bits() > 40


def laplace(d: int) -> str:
    """The symmetric multivariate Laplace law, whose marginals are Laplace of scale 1/sqrt(2)."""
    return f"r**(1 - {d}/2)*besselk(1 - {d}/2, sqrt(2)*r)"


def test_multivariate_laplace_noise_at_epsilon_zero_is_its_marginal() -> None:
    assert agrees(delta(made(laplace(4), 4), "0", 58), 1 - mpmath.exp(-1 / mpmath.sqrt(2)), 13, 40)


@pytest.mark.parametrize(
    ("d", "epsilon", "expected", "known"),
    [
        (2, "1", "0.22626809952650542381", 19),
        (2, "2", "0.0125109252752657273589778", 23),
        (4, "1", "0.25810677291316325171", 19),
    ],
)
def test_multivariate_laplace_noise_by_shares_of_spheres(d: int, epsilon: str, expected: str, known: int) -> None:
    """P(S) - e^epsilon Q(S), each by the share of spheres round its own centre, with mpmath's roots and quadrature."""
    assert agrees(delta(made(laplace(d), d), epsilon, 64), mpf(expected), 13, known)


def test_whole_balls_are_all_that_is_left_of_a_lune_far_out() -> None:
    """Where the loss is e^epsilon K_0(D), S is nearly the disc on which K_0(r) > e^epsilon K_0(D), known to about its own radius."""
    k = mpmath.sqrt(2)
    with mp.workdps(120):
        radius = mpmath.findroot(lambda t: mpmath.besselk(0, k * mpmath.exp(t)) - mpmath.exp(6) * mpmath.besselk(0, k), -96)
        x = k * mpmath.exp(radius)
        share = 1 - x * mpmath.besselk(1, x) - mpmath.exp(6) * mpmath.besselk(0, k) * x**2 / 2
    assert agrees(delta(made(laplace(2), 2), "6", 64), share, 13, 38)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("order", ["0", "1/3", "1/2", "-1", "pi", "6"])
def test_the_logarithm_of_a_bessel_function_on_boxes(order: str) -> None:
    """Corners of boxes, and points inside, by the power series and integrals of flint."""
    with precision(128):
        found, v = LogBesselK(parse(order)), acb(constant(parse(order)))
        for centre, across, up in product(("1/50", "1", "7", "20"), ("0", "1/1000", "1/8", "1/2"), ("0", "1/1000", "1/4", "2/3")):
            c = constant(parse(centre))
            box = acb(c * (1 + constant(parse(across)) * UNIT), c * constant(parse(up)) * UNIT)
            for x, y in product((-1, 0, 1), (0, 1)):
                u = acb(c * (1 + x * constant(parse(across))), c * y * constant(parse(up)))
                ratio = u.bessel_k(v + 1) / u.bessel_k(v) - v / u  # -K'/K
                # where a disc round the box stays in the right half-plane
                assert found.value(box).exp().overlaps(u.bessel_k(v)) or not found.value(box).is_finite()
                assert found.slope(box).overlaps(-ratio) or not found.slope(box).is_finite()
                assert found.bend(box).overlaps(1 + v * v / u**2 + ratio / u - ratio**2) or not found.bend(box).is_finite()
        assert found.value(acb(1)).rel_accuracy_bits() > 100 and found.slope(acb(1)).rel_accuracy_bits() > 100
        assert found.slope(acb(10, 1)).is_finite() and not found.value(acb(-1)).is_finite() and not found.slope(acb(UNIT)).is_finite()


def test_a_bessel_function_inside_another_function_is_undecided() -> None:
    with pytest.raises(Undecided):
        delta(made("exp(besselk(0, r))*exp(-r)", 2), "1/2", 64)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("profile", "d"), [("exp(-r)", 10), (STUDENT.format(nu=5, d=21), 21), ("1/cosh(r)", 2), ("exp(-sqrt(r))", 3)])
def test_enclosures_at_two_precisions_meet_and_delta_falls(profile: str, d: int) -> None:
    curve = made(profile, d)
    coarse, fine, later = delta(curve, "1/8", 40), delta(curve, "1/8", 72), delta(curve, "1/4", 40)
    assert coarse.overlaps(fine) and fine.rel_accuracy_bits() > 48
    assert later < coarse


def test_delta_rises_with_the_sensitivity_and_a_range_of_sensitivities_is_not_exact() -> None:
    noise = Radial(parse(STUDENT.format(nu=4, d=3)), L2, parse("3"))
    curve = told.caps(noise, Sensitivity(upper=parse("1"), lower=parse("7/8")))
    assert not curve.exact and curve.upper is not None and curve.lower is not None
    with precision(48):
        assert curve.lower.forward(arb(1) / 2) < curve.upper.forward(arb(1) / 2)
    assert made("exp(-r)", 3).exact


def test_a_ball_of_epsilons_gives_the_hull_of_its_ends() -> None:
    curve = made("exp(-r)", 3)
    assert curve.upper is not None
    with precision(64):
        wide = curve.upper.forward((arb(1) / 4).union(arb(1) / 2))
    assert wide.contains(delta(curve, "3/8", 64)) and wide.contains(delta(curve, "1/4", 64).mid())


def test_an_ellipsoid_and_a_scale_are_changes_of_units() -> None:
    sigma = Norm("ellipsoid", None, ((Fraction(2), Fraction(1)), (Fraction(1), Fraction(3))))
    plain = delta(made("exp(-r)", 2), "1/4", 64)
    assert delta(made("exp(-r)", 2, norm=sigma), "1/4", 64).overlaps(plain)
    assert delta(made("exp(-r)", 2, "3", "3"), "1/4", 64).overlaps(plain)


def test_above_the_pure_epsilon_delta_is_zero() -> None:
    assert delta(made("exp(-r)", 4), "2", 64) == 0
    assert delta(made(STUDENT.format(nu=5, d=3), 3), "2", 64) == 0  # pure epsilon 1.774273...
    at_the_edge = delta(made("exp(-r)", 3), "1", 64)
    assert at_the_edge.contains(0) and at_the_edge < arb("1e-6")


def test_answers_that_never_move_hide_nothing_and_cost_nothing() -> None:
    assert delta(made("exp(-r)", 3, "0"), "0") == 0


def test_the_event_has_the_probabilities_that_make_delta() -> None:
    curve = made("exp(-r)", 3)
    assert curve.upper is not None
    with precision(128):
        found, other = probabilities(curve.upper.forward, curve.upper.forward, arb(1) / 2)
    # P(S) by bipolar coordinates, r + s integrated by hand
    half = mpf(1) / 2
    p = mpmath.exp(-half) / 32 * mpmath.quad(lambda w: (26 - 2 * w**2) * mpmath.exp(w / 2), [half, 1])
    assert abs(mpf(found.mid().str(30, radius=False)) - p) < mpf(10) ** -10
    assert (found - (arb(1) / 2).exp() * other).overlaps(curve.upper.forward(arb(1) / 2))


@pytest.mark.parametrize(
    ("profile", "d", "norm", "place"),
    [
        ("exp(-r)", 1, L2, "dimension"),
        ("exp(-r)", "5/2", L2, "dimension"),
        ("exp(-r)", "n", L2, "dimension"),
        ("exp(-r)", 3, L1, "norm"),
        ("exp(-k*r)", 3, L2, "profile"),
    ],
)
def test_what_the_theorem_does_not_take_is_rejected(profile: str, d: int | str, norm: Norm, place: str) -> None:
    with pytest.raises(Rejected, match=place):
        made(profile, d, norm=norm)


@pytest.mark.parametrize("profile", ["exp(-max(1, r))", "r**2*exp(-r)", "exp(r)", "1 - min(1, floor(r))", "2 + cosh(r)"])
def test_a_profile_that_rises_vanishes_or_has_kinks_is_undecided(profile: str) -> None:
    with pytest.raises(Undecided):
        delta(made(profile, 3), "1/2", 64)


def test_noise_without_a_normaliser_is_undecided() -> None:
    with pytest.raises(Undecided):
        delta(made("(1 + r)**(-2)", 3), "1", 64)


def test_sensitivities_below_zero_are_rejected() -> None:
    with pytest.raises(Rejected, match="sensitivity"):
        made("exp(-r)", 3, "-1")


@pytest.mark.parametrize("order", ["0", "1/3", "1/2", "1", "5/2", "7", "-3/4"])
@pytest.mark.parametrize("near", ["1/1000000", "1/3", "1", "17/8", "30", "300"])
def test_bessel_functions_at_many_points_near_each_other_are_as_at_each_alone(order: str, near: str) -> None:
    with precision(200):
        logarithm = LogBesselK(parse(order))
        start = constant(parse(near))
        for k in range(16):
            point = (start * (1 + arb(k) / 29)).mid()
            found = logarithm.value(acb(point)).real
            with precision(600):
                wanted = point.bessel_k(constant(parse(order))).log()
            assert wanted.rel_accuracy_bits() > 150
            assert found.overlaps(wanted)
            assert found.rad() < arb(2) ** -150 * (1 + abs(wanted))


def test_at_a_huge_epsilon_the_lune_is_a_tiny_ball_round_the_pole() -> None:
    # g = exp(-c r)/r, c = sqrt(2): r0 = exp(c - epsilon) to first order, P of the ball c^2 r0^2/2, of which a third is e^epsilon Q
    with mp.workdps(60):
        leading = mpmath.exp(2 * mp.sqrt(2) - 2000) / 3
    found = delta(made("r**(-1/2)*besselk(1/2, sqrt(2)*r)", 3), "1000")
    assert agrees(found, leading, 20, 30)
