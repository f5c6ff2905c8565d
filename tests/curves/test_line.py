"""Curves of one-dimensional noise against closed distribution functions, mpmath's quadrature, and what theory says of all of them."""

from fractions import Fraction
from itertools import pairwise

import mpmath
import pytest
from flint import arb

from dpverify.search.events import probabilities
from dpverify.trusted.geometry.sensitivity import Sensitivity
from dpverify.trusted.kernel.balls import precision
from dpverify.trusted.kernel.errors import Rejected, Undecided
from dpverify.trusted.kernel.expr import ONE, ZERO, Num, parse
from dpverify.trusted.kernel.model import L2, Radial, Staircase, Translation
from tests.told import line as curve

MP = mpmath.mp.clone()
MP.dps = 60


def on_line(text, lower=None, upper=None):
    return Translation(parse(text), (None if lower is None else parse(lower), None if upper is None else parse(upper)))


def radial(text, scale="1", norm=L2):
    return Radial(parse(text), norm, ONE, parse(scale))


def at(noise, shift, epsilon, bits=64, order="upper"):
    reach = Sensitivity(parse(shift), parse(shift))
    with precision(bits):
        found = curve(noise, reach)
        pair = found.upper if order == "upper" else found.lower
        return (pair.backward if order == "backward" else pair.forward)(arb(epsilon) if isinstance(epsilon, int) else epsilon)


def close(ball, number, digits):
    """The ball holds the number and is that sharp."""
    number = MP.mpf(number)
    gap = abs(MP.mpf(ball.mid().str(50, radius=False)) - number)
    assert gap <= MP.mpf(ball.rad().str(10, radius=False, more=True)) * 2 + abs(number) * MP.mpf(10) ** -45, (ball, number)
    assert ball.rel_accuracy_bits() > digits * 3.3219, (ball, number)


def eps(text):
    """An exact point near a decimal, and its value."""
    point = arb(text).mid()
    return point, MP.mpf(point.str(60, radius=False))


def from_cdf(cdf, low, high, shift, epsilon):
    k = MP.exp(epsilon)
    return cdf(high) - cdf(low) - k * (cdf(high - shift) - cdf(low - shift))


def cauchy(shift, epsilon):
    k = MP.exp(epsilon)
    root = MP.sqrt(4 * shift**2 - 4 * (k - 1) * (k - 1 - shift**2))
    low, high = ((-2 * shift - s * root) / (2 * (k - 1)) for s in (1, -1))
    return from_cdf(lambda x: MP.mpf(1) / 2 + MP.atan(x) / MP.pi, low, high, shift, epsilon)


def t3(shift, epsilon):
    k = MP.exp(epsilon / 2)  # 3 + (z - D)^2 > k (3 + z^2)
    root = MP.sqrt(4 * shift**2 - 4 * (k - 1) * (3 * (k - 1) - shift**2))
    low, high = ((-2 * shift - s * root) / (2 * (k - 1)) for s in (1, -1))
    return from_cdf(
        lambda x: MP.mpf(1) / 2 + (x / MP.sqrt(3) / (1 + x * x / 3) + MP.atan(x / MP.sqrt(3))) / MP.pi, low, high, shift, epsilon
    )


def logistic(shift, epsilon):
    ratio = MP.exp(epsilon / 2)
    a = MP.log((MP.exp(shift / 2) - ratio) / (ratio - MP.exp(-shift / 2)))
    return from_cdf(lambda x: 1 / (1 + MP.exp(-x)), MP.mpf("-inf"), a, shift, epsilon)


def sech(shift, epsilon):
    k = MP.exp(epsilon)
    a = MP.log((MP.exp(shift) - k) / (k - MP.exp(-shift))) / 2
    return from_cdf(lambda x: 2 / MP.pi * MP.atan(MP.exp(x)) if x > MP.mpf("-inf") else MP.mpf(0), MP.mpf("-inf"), a, shift, epsilon)


def gauss(shift, epsilon):
    return MP.ncdf(shift / 2 - epsilon / shift) - MP.exp(epsilon) * MP.ncdf(-shift / 2 - epsilon / shift)


CLOSED = {
    "cauchy": (radial("1/(1 + r**2)"), cauchy, ("0.001", "0.5", "0.9")),
    "t, 3 degrees": (radial("(1 + r**2/3)**(-2)"), t3, ("0.000001", "0.5", "1.09")),
    "logistic": (on_line("exp(-z)/(1 + exp(-z))**2"), logistic, ("0.001", "0.5", "0.999999")),
    "sech": (on_line("1/cosh(z)"), sech, ("0.25", "0.9")),
    "gauss": (on_line("exp(-z**2/2)"), gauss, ("0.125", "1", "10")),
    "moved cauchy": (on_line("1/(1 + (z - 3/7)**2)"), cauchy, ("0.5",)),
    "moved gauss": (on_line("exp(-(z - 1)**2/2)"), gauss, ("0.125", "1")),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", CLOSED)
def test_curves_agree_with_distribution_functions(name):
    noise, reference, epsilons = CLOSED[name]
    for text in epsilons:
        point, exact = eps(text)
        close(at(noise, "1", point), reference(MP.mpf(1), exact), 12)


@pytest.mark.parametrize("name", ["cauchy", "t, 3 degrees", "logistic", "sech"])
def test_more_bits_give_more_digits(name):
    noise, reference, _ = CLOSED[name]
    point, exact = eps("0.5")
    close(at(noise, "1", point, bits=110), reference(MP.mpf(1), exact), 20)


@pytest.mark.parametrize("shift", ["1/1000", "1/3", "sqrt(2)", "40"])
def test_shifts_of_every_size(shift):
    length = {"1/1000": MP.mpf(1) / 1000, "1/3": MP.mpf(1) / 3, "sqrt(2)": MP.sqrt(2), "40": MP.mpf(40)}[shift]
    point, exact = eps(f"{float(length) / 4:.6f}")
    close(at(on_line("exp(-abs(z))"), shift, point), 1 - MP.exp((exact - length) / 2), 12)
    close(at(on_line("exp(-z**2/2)"), shift, point), gauss(length, exact), 12)


def test_a_mixture_of_gaussians_against_quadrature():
    p = lambda z: MP.exp(-z * z / 2) + MP.exp(-z * z / 8)  # noqa: E731
    point, exact = eps("0.5")
    loss = lambda z: MP.log(p(z)) - MP.log(p(z - 1)) - exact  # noqa: E731
    grid = [MP.mpf(i) / 8 for i in range(-200, 40)]
    roots = [MP.findroot(loss, (a, b), solver="anderson") for a, b in pairwise(grid) if loss(a) * loss(b) < 0]
    cdf = lambda x: (MP.ncdf(x) + 2 * MP.ncdf(x / 2)) / 3  # noqa: E731
    cuts = [MP.mpf("-inf"), *roots]
    if len(cuts) % 2:
        cuts = cuts[1:]
    total = sum(from_cdf(cdf, low, high, 1, exact) for low, high in zip(cuts[::2], cuts[1::2], strict=True))
    close(at(on_line("exp(-z**2/2) + exp(-z**2/8)"), "1", point), total, 12)


def test_t_with_half_degrees_against_quadrature():
    p = lambda z: (1 + 2 * z * z / 5) ** MP.mpf("-1.75")  # noqa: E731
    k = MP.exp(MP.mpf("0.5") / MP.mpf("1.75"))  # 5/2 + (z - 1)^2 > k (5/2 + z^2)
    root = MP.sqrt(4 - 4 * (k - 1) * (MP.mpf("2.5") * (k - 1) - 1))
    low, high = (-2 - root) / (2 * (k - 1)), (-2 + root) / (2 * (k - 1))
    whole = MP.quad(p, [-MP.inf, -10, 0, 10, MP.inf])
    inside = MP.quad(lambda z: p(z) - MP.exp(MP.mpf("0.5")) * p(z - 1), [low, -2, high]) / whole
    found = at(radial("(1 + 2*r**2/5)**(-7/4)"), "1", arb("0.5"))
    assert abs(MP.mpf(found.mid().str(40, radius=False)) - inside) < MP.mpf(10) ** -18
    assert found.rel_accuracy_bits() > 44


def test_laplace_is_zero_from_its_own_epsilon_on():
    noise = on_line("exp(-abs(z)/2)")
    assert at(noise, "1", arb("0.75").mid()) == 0
    at_the_edge = at(noise, "1", arb("0.5").mid())
    assert at_the_edge.contains(0) and at_the_edge < arb("1e-15")
    at_the_third = at(on_line("exp(-abs(z)/3)"), "1", arb(1) / 3)  # a tie that balls cannot see
    assert at_the_third.contains(0) and at_the_third < arb("1e-15")


def test_one_sided_exponential_has_two_orders():
    noise = on_line("exp(-z)", "0")
    point, exact = eps("0.5")
    close(at(noise, "1", point, order="lower"), 1 - MP.exp(-1), 12)
    close(at(noise, "1", point, order="backward"), 1 - MP.exp(exact - 1), 12)
    close(at(noise, "1", point), 1 - MP.exp(-1), 12)
    found = curve(noise, Sensitivity(ONE, ONE))
    assert not found.exact
    assert found.upper.forward is found.upper.backward


def test_bounded_uniform_noise_is_told_apart_on_its_edge_only():
    noise = on_line("1", "-1", "1")
    for epsilon in (0, 1, 5):
        assert at(noise, "1/2", epsilon).contains(arb(1) / 4)
    assert at(noise, "3", 1).contains(1)


def test_a_triangle_against_its_areas():
    found = at(on_line("max(0, 1 - abs(z))"), "1", 0)
    assert found.contains(arb(3) / 4)  # of two triangles that overlap in one of height and half base 1/2


@pytest.mark.parametrize("centre", ["0", "1/3"])
@pytest.mark.parametrize("shift", [1, 3])
def test_asymmetric_laplace(centre, shift):
    noise = on_line(f"min(exp(-(z - {centre})), exp(2*(z - {centre})))")
    point, exact = eps("0.5")
    root = (2 * shift - exact) / 3  # the loss falls from 2 * shift by 3 to -shift
    cdf = lambda x: MP.exp(2 * x) / 3 if x <= 0 else 1 - 2 * MP.exp(-x) / 3  # noqa: E731
    close(at(noise, str(shift), point, order="lower"), cdf(root) - MP.exp(exact) * cdf(root - shift), 12)
    root = (shift - exact) / 3  # in the other order from shift
    cdf = lambda x: 2 * MP.exp(x) / 3 if x <= 0 else 1 - MP.exp(-2 * x) / 3  # noqa: E731
    close(at(noise, str(shift), point, order="backward"), cdf(root) - MP.exp(exact) * cdf(root - shift), 12)


def test_scale_divides_the_shift():
    point, exact = eps("0.25")
    close(at(radial("1/(1 + r**2)", "3"), "1", point), cauchy(MP.mpf(1) / 3, exact), 12)


def test_no_shift_hides_everything():
    assert curve(on_line("exp(-abs(z))"), Sensitivity(ZERO, ZERO)).upper.forward(arb(0)) == 0


def test_wide_epsilons_are_enclosed():
    noise = radial("(1 + r**2/3)**(-2)")
    wide = at(noise, "1", arb("0.5").union(arb("0.75")))
    for text in ("0.5", "0.6", "0.75"):
        assert wide.contains(at(noise, "1", arb(text).mid()).mid())


@pytest.mark.wide
def test_longer_shifts_are_worse_and_greater_epsilons_better():
    noise = radial("exp(-sqrt(r))")
    values = [[at(noise, shift, arb(text).mid()) for text in ("0", "0.2", "0.4")] for shift in ("1/4", "1/2", "1")]
    for row in values:
        assert row[0] > row[1] > row[2]
    for less, more in pairwise(values):
        assert all(a < b for a, b in zip(less, more, strict=True))


def test_the_event_has_the_probabilities_of_the_profile():
    point, _ = eps("0.5")
    found = curve(on_line("exp(-z)/(1 + exp(-z))**2"), Sensitivity(ONE, ONE))
    with precision(200):
        p, q = probabilities(found.upper.forward, found.upper.forward, point)
    ratio = MP.exp(MP.mpf("0.5") / 2)  # S is a half-line, as for `logistic`
    end = MP.log((MP.exp(MP.mpf(1) / 2) - ratio) / (ratio - MP.exp(-MP.mpf(1) / 2)))
    for ball, last in ((p, end), (q, end - 1)):
        number = 1 / (1 + MP.exp(-last))
        assert abs(MP.mpf(ball.mid().str(30, radius=False)) - number) < MP.mpf(10) ** -12


def test_a_cusp_of_any_power_at_the_mode():
    found = at(on_line("exp(-abs(z)**(2/3))"), "1", 0)
    inside, outside = MP.quad(lambda u: 3 * u * u * MP.exp(-u * u), [0, MP.root(MP.mpf(1) / 2, 3)]), 3 * MP.sqrt(MP.pi) / 4  # z = u^3
    close(found, inside / outside, 12)


def test_unequal_bounds_on_the_sensitivity_give_two_pairs():
    found = curve(on_line("exp(-abs(z))"), Sensitivity(Num(Fraction(2)), ONE))
    assert not found.exact
    assert found.lower.forward(arb("0.5")) < found.upper.forward(arb("0.5"))


@pytest.mark.parametrize(
    "noise",
    [
        on_line("exp(-(abs(z) - 2)**2)"),  # two modes
        on_line("(1 + z**2)*exp(-z**2/4)"),
        on_line("abs(z)*exp(-abs(z))"),
        radial("1/(1 + r)"),  # not integrable
        radial("exp(r - r**2)"),
        Radial(parse("exp(-r)"), L2, Num(Fraction(2))),
        on_line("exp(-floor(abs(z)))"),
        on_line("exp(-floor(z))", "0"),
        radial("exp(-r)*exp(-floor(r))"),
        on_line("exp(-a*abs(z))"),
    ],
)
def test_what_is_not_proved_is_not_answered(noise):
    with pytest.raises(Undecided):
        curve(noise, Sensitivity(ONE, ONE)).upper.forward(arb(1))


@pytest.mark.parametrize(
    ("noise", "shift"),
    [
        (Translation(parse("exp(-abs(z))"), integers=True), "1"),
        (on_line("exp(-abs(z))"), "-1"),
        (radial("exp(-r)", "0"), "1"),
        (Staircase(ONE, ONE), "1"),
    ],
)
def test_what_it_is_not_about_is_rejected(noise, shift):
    with pytest.raises(Rejected):
        curve(noise, Sensitivity(parse(shift), parse(shift)))
