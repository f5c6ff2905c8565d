"""The closed form of t noise against its marginals, against lunes, and against integrals over the event."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import mpmath
import pytest
from flint import arb
from mpmath import mp, mpf

from dpverify.search.additive.hints import turns_of_loss
from dpverify.trusted.geometry.sensitivity import Sensitivity
from dpverify.trusted.kernel.balls import constant, precision, rational
from dpverify.trusted.kernel.errors import Rejected, Undecided
from dpverify.trusted.kernel.expr import parse
from dpverify.trusted.kernel.model import L2, Radial
from dpverify.trusted.shapes.convexity import Shapes
from dpverify.trusted.theories.curves.lunes import Lunes
from dpverify.trusted.theories.curves.rules import student_t as t_noise
from dpverify.trusted.theories.curves.student import Student
from tests import told

SHAPES = Shapes("r", True, {})


def student(nu: str, d: int, shift: str) -> Student:
    return Student(constant(parse(nu)), d, constant(parse(shift)) / constant(parse(nu)).sqrt())


def profile(nu: str, d: int) -> str:
    return f"(1 + r**2/({nu}))**(-(({nu}) + {d})/2)"


def law(h: str, d: int = 3) -> t_noise.Law | None:
    return t_noise.law_of(parse(h), d, SHAPES)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("nu", "d", "shift", "epsilon"),
    [("5", 3, "1", "1/4"), ("7/2", 2, "1", "1"), ("1", 4, "3", "1/2"), ("5", 10, "1", "3"), ("5", 21, "1", "1/8"), ("30", 2, "5", "2")],
)
def test_the_closed_form_is_the_integral_over_lunes(nu: str, d: int, shift: str, epsilon: str) -> None:
    """Volumes of lunes, integrated over radii, know nothing of the density of the loss."""
    h = f"(({nu}) + {d})/2*log(1 + r**2/({nu}))"
    at = rational(Fraction(epsilon))
    with precision(96):
        lunes = Lunes(parse(h), parse(profile(nu, d)), d, parse(shift), SHAPES, sorted(turns_of_loss(parse(h), parse(shift), SHAPES)))
        expected = lunes.divergence(at, 40)
        made = student(nu, d, shift)
        found = made.divergence(at)
        assert expected.rel_accuracy_bits() > 30 and expected.overlaps(found) and found.rel_accuracy_bits() > 56


@pytest.mark.parametrize("d", [2, 3, 6])
def test_what_lunes_leave_out_far_away_is_the_mass_of_balls_beyond(d: int) -> None:
    """The integral of -g'(r) r^d/d beyond R, by parts that of g r^(d - 1) and g(R) R^d/d."""
    h, start = f"(5 + {d})/2*log(1 + r**2/5)", arb(64)
    with precision(96), mp.workdps(30):
        lunes = Lunes(parse(h), parse(profile("5", d)), d, parse("1"), SHAPES, sorted(turns_of_loss(parse(h), parse("1"), SHAPES)))
        slope = mpmath.quad(
            lambda r: (mpf(5 + d) / 5) * r * (1 + r * r / 5) ** (-mpf(5 + d) / 2 - 1) * r**d / d, [64, 1024, 2**16, 2**24, mpmath.inf]
        )
        found = lunes._far_tail(start)
        assert found >= arb(mp.nstr(slope, 25)) * (1 - arb(10) ** -12) and found <= arb(mp.nstr(slope, 25)) * arb("1.01")


@pytest.mark.parametrize("nu", ["1", "2", "1/2", "5", "sqrt(7)"])
def test_total_variation_is_that_of_the_marginal(nu: str) -> None:
    """At epsilon 0 the event is a half-space; close to it H = H(0) - epsilon Q(S) up to a higher power."""
    with mp.workdps(40):
        n = mpmath.sqrt(7) if nu == "sqrt(7)" else mpf(Fraction(nu).numerator) / Fraction(nu).denominator
        half = mpf(1) / 2
        height = mpmath.gamma((n + 1) / 2) / mpmath.gamma(n / 2) / mpmath.sqrt(n * mpmath.pi)
        inner = height * mpmath.quad(lambda x: (1 + x**2 / n) ** (-(n + 1) / 2), [-half, half])
    small = arb(2) ** -30
    with precision(128):
        expected = arb(mpmath.nstr(inner, 35))
        made = student(nu, 3, "1")
        assert abs(made.divergence(arb(0)) - expected) < arb(10) ** -28
        gone = made.divergence(arb(0)) - made.divergence(small)
        assert abs(gone / small - (1 - expected) / 2) < arb(10) ** -4
        tiny = arb(2) ** -500
        assert made.divergence(tiny).overlaps(made.divergence(arb(0)))


def test_in_the_plane_two_degrees_of_freedom_are_elementary() -> None:
    """F = 1 there: P(S) = Y (1 + E)/(1 + E Y) and Q(S) = Y (1 + E)/(E + Y) up to one factor, E/(1 + E)."""
    with precision(128):
        made = student("2", 2, "1")
        epsilon = arb(1) / 3
        e = (2 * (arb(1) / (2 * arb(2).sqrt())).asinh()).exp()
        grown = (epsilon / 2).exp()
        y = (e - grown) / (e * grown - 1)
        found = made.divergence(epsilon)
        assert found.overlaps(e * y / (1 + e * y) - epsilon.exp() * y / (e + y)) and found.rel_accuracy_bits() > 100


def test_the_polynomials_of_neighbouring_intervals_agree_and_h_falls() -> None:
    with precision(96):
        made = student("7/2", 5, "4")
        values = [made.divergence(arb(n) / 16) for n in range(96)]
        assert all(later < earlier for earlier, later in pairwise(values))
        grown = [arb(2) + k * arb(2) ** -20 for k in range(4)]  # H is convex in e^epsilon
        fine = [made.divergence(factor.log()) for factor in grown]
        slopes = [later - earlier for earlier, later in pairwise(fine)]
        assert slopes[0] < slopes[1] < slopes[2]


def test_beyond_the_pure_epsilon_nothing_is_lost() -> None:
    with precision(96):
        pure = 8 * (1 / (2 * arb(5).sqrt())).asinh()
        made = student("5", 3, "1")
        assert made.divergence(pure.upper() + 1) == 0
        assert made.divergence(pure.lower() - arb(2) ** -20) > 0
        edge = made.divergence(pure.mid())
        assert edge.contains(0) and abs(edge) < arb(10) ** -15


def test_many_degrees_of_freedom_and_dimensions_are_close_to_gaussian_noise() -> None:
    """The density of t noise tends to the Gaussian's like 1/nu, and Phi(0) - e^(1/2) Phi(-1) is the Gaussian's H(1/2) at distance 1."""
    with precision(64):
        found = told.caps(Radial(parse(profile("400", 3)), L2, parse("3")), Sensitivity(parse("1"), parse("1"))).upper
        assert found is not None
        delta = found.forward(arb(1) / 2)
    gaussian = arb(1) / 2 - (arb(1) / 2).exp() * (1 / arb(2).sqrt()).erfc() / 2
    assert abs(delta - gaussian) < arb("0.002") and delta.rel_accuracy_bits() > 40


def test_a_thousand_epsilons_share_their_polynomials() -> None:
    noise = Radial(parse(profile("5", 3)), L2, parse("3"))
    pair = told.caps(noise, Sensitivity(parse("1"), parse("1"))).upper
    assert pair is not None
    with precision(64):
        values = [pair.forward(arb(n) / 600) for n in range(1000)]
    assert all(value.rel_accuracy_bits() > 40 for value in values)


@pytest.mark.parametrize("h", ["4*log(1 + r**2/5)", "2*log(3 + sqrt(2)*r**2) + log(7)", "7/4*log(1 + r**2)"])
def test_t_noise_is_recognised_by_its_profile(h: str) -> None:
    assert law(h) is not None


@pytest.mark.parametrize(
    "h",
    [
        "3",
        "r**2/2",
        "r",
        "4*log(1 + r)",
        "4*log(1 + r**4)",
        "r*log(1 + r**2)",
        "log(1 + r**2)",
        "3*log(r**2)",
        "3*log(r**2 - 1)",
        "2*log(1 + r**2) + r",
    ],
)
def test_other_profiles_are_not_taken_for_t_noise(h: str) -> None:
    assert law(h) is None


def test_degrees_of_freedom_and_distances_have_to_be_positive() -> None:
    for nu, distance in ((arb(0), arb(1)), (arb(-1), arb(1)), (arb(3), arb(0)), (arb(3), arb(-1)), (arb("nan"), arb(1))):
        with pytest.raises(Undecided):
            Student(nu, 3, distance)
    with pytest.raises(Rejected, match="sensitivity"):
        told.caps(Radial(parse(profile("5", 3)), L2, parse("3")), Sensitivity(parse("-1"), parse("-1")))
