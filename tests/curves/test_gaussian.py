"""Gaussian curves: the closed form against integrals, every spelling of a Gaussian, and what is none."""

from fractions import Fraction
from random import Random

import pytest
from flint import arb, fmpq
from mpmath import mp

from dpverify.trusted.facts.pairs import Pair
from dpverify.trusted.geometry.sensitivity import Sensitivity
from dpverify.trusted.kernel.balls import constant, precision, rational
from dpverify.trusted.kernel.compare import certainly_equal
from dpverify.trusted.kernel.errors import Rejected, Undecided
from dpverify.trusted.kernel.expr import Num, call, num, parse, sub
from dpverify.trusted.kernel.model import L1, L2, LINF, Norm, Product, Radial, Translation
from dpverify.trusted.theories.curves.rules import gaussian

ELLIPSOID = Norm("ellipsoid", matrix=((Fraction(2), Fraction(1)), (Fraction(1), Fraction(3))))


def radial(text, norm=L2, dimension=3, scale="1"):
    return Radial(parse(text), norm, num(dimension), parse(scale))


def stated(text):
    return Sensitivity(parse(text), parse(text))


def by_integration(mu, epsilon):
    """The integral of p - e^epsilon q over the half-line where it is positive, outward from its end and in units of p there."""
    with mp.workdps(60):
        m, e = (mp.mpf(x.numerator) / x.denominator for x in (mu, epsilon))
        end = m / 2 - e / m

        def excess(t):
            return mp.exp(end * t - t**2 / 2) * -mp.expm1(-m * t)

        width = 1 / (1 + abs(end))
        ends = [width * 2**k for k in range(8)]
        total = mp.quad(excess, [0, *ends, ends[-1] + 20, ends[-1] + 20 + 2 * abs(end)])
        return total * mp.exp(-(end**2) / 2) / mp.sqrt(2 * mp.pi)


def agrees(ball, value, digits):
    """Whether a ball encloses a value of 50 good digits and is known to so many digits itself."""
    with precision(300):
        reference = arb(mp.nstr(value, 50)) * arb(1, "1e-45")
        return ball.overlaps(reference) and bool(ball.rad() < abs(ball.mid()) * arb(10) ** -digits)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("mu", "epsilon"), [("1", "0"), ("1", "1"), ("1/50", "1/10"), ("1/50", "1"), ("5", "1/100"), ("5", "60"), ("2/7", "3")]
)
def test_the_closed_form_is_the_integral_and_keeps_its_digits_where_delta_is_tiny(mu, epsilon):
    value = by_integration(Fraction(mu), Fraction(epsilon))
    for bits, digits in ((64, 12), (100, 20)):
        with precision(bits):
            assert agrees(gaussian.profile(parse(mu))(rational(Fraction(epsilon))), value, digits)
    with precision(400):
        exact = constant(gaussian.delta_expr(parse(mu), parse(epsilon)))
    assert agrees(exact, value, 20)


def test_below_zero_the_closed_form_is_that_of_the_exchanged_pair():
    with precision(100):
        pair = gaussian.curve(radial("exp(-r**2/2)"), stated("1")).upper
        dual = Pair(pair.forward, pair.backward)
        for epsilon in (arb(fmpq(1, 3)), arb(4), arb(0)):
            assert pair.delta(-epsilon).overlaps(dual.delta(-epsilon))


def test_a_wide_epsilon_gets_all_values_within_and_a_shapeless_one_an_error():
    profile = gaussian.profile(parse("3/2"))
    wide = profile(arb(1, "1/4"))
    assert all(wide.contains(profile(arb(fmpq(k, 8)))) for k in range(6, 11))
    with pytest.raises(Undecided, match="not enclosed"):
        profile(arb("nan"))


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("exp(-r**2/(2*(3/7)**2))", "7/3"),
        ("exp(-(r/3)**2)", "sqrt(2)/3"),
        ("exp(-r**2/(2*sqrt(2)**2))/sqrt(2*pi)", "1/sqrt(2)"),
        ("1/exp(r**2/2)", "1"),
        ("sqrt(exp(-r**2/5))", "1/sqrt(5)"),
        ("3**(-r**2)", "sqrt(2*log(3))"),
        ("exp(-(1 + r)**2)*exp(2*r)", "sqrt(2)"),
    ],
)
def test_one_gaussian_in_many_spellings(text, rate):
    assert certainly_equal(gaussian.mu(radial(text, scale="2"), parse("3")), parse(f"3*({rate})/2"))


@pytest.mark.parametrize(
    ("noise", "rate"),
    [
        (Translation(parse("exp(-(z - 3)**2/4)")), "1/sqrt(2)"),
        (Translation(parse("exp(-z**2 + 3*z - 1)")), "sqrt(2)"),
        (Translation(parse("exp(-abs(z)**2/2)")), "1"),
        (radial("exp(-r**2/2)", LINF, 1), "1"),
        (radial("exp(-r**2/2)", Norm("ellipsoid", matrix=((Fraction(4),),)), 1), "1"),
        (radial("exp(-r**2/2)", ELLIPSOID, 2), "1"),
        (Product(parse("exp(-z**2/2)"), num(9), L2), "1"),
        (Product(parse("exp(-z**2/2)"), num(9), L1), "1"),
        (Product(parse("exp(-z**2/2)"), num(9), LINF), "3"),
    ],
)
def test_gaussians_by_location_on_a_line_in_an_ellipsoid_and_by_coordinates(noise, rate):
    assert certainly_equal(gaussian.mu(noise, num(1)), parse(rate))


@pytest.mark.parametrize(
    "noise",
    [
        radial("exp(-r)"),
        radial("exp(-r**2 + r)"),
        radial("exp(-r**2)", L1),
        radial("exp(r**2)"),
        radial("-exp(-r**2)"),
        radial("exp(-r**2)*(1 + r**4/10**9)"),
        radial("exp(-c*r**2)"),
        Translation(parse("exp(-z**2)"), (num(0), None)),
        Translation(parse("exp(-z**2)"), integers=True),
        Translation(parse("exp(-z*abs(z))")),
    ],
)
def test_what_is_not_certainly_gaussian_has_no_curve(noise):
    assert gaussian.mu(noise, num(1)) is None
    with pytest.raises(Rejected, match="not certainly exp"):
        gaussian.curve(noise, stated("1"))


@pytest.mark.parametrize(
    ("noise", "why"),
    [
        (Product(parse("exp(-z**2)"), num(1), Norm("ellipsoid", matrix=((Fraction(4),),))), "in an lp norm"),
    ],
)
def test_a_norm_that_gives_no_deviation_is_refused(noise, why):
    with pytest.raises(Rejected, match=why):
        gaussian.mu(noise, num(1))


def test_a_negative_distance_is_refused_and_none_hides_everything():
    with pytest.raises(Rejected, match="at least 0"):
        gaussian.profile(parse("-1"))
    with pytest.raises(Rejected, match="at least 0"):
        gaussian.delta_expr(parse("-1"), num(1))
    assert gaussian.delta_expr(parse("sqrt(2) - sqrt(2)"), num(1)) == call("max", sub(num(1), call("exp", num(1))), num(0))
    assert gaussian.profile(parse("0"))(arb(0)) == 0


def test_the_curve_is_exact_where_the_distance_is_and_in_between_otherwise():
    noise = radial("exp(-r**2/2)")
    assert gaussian.curve(noise, stated("2")).exact
    curve = gaussian.curve(noise, Sensitivity(parse("2"), parse("3/2")))
    assert not curve.exact
    assert curve.lower.forward(arb(1)) < curve.upper.forward(arb(1))


def test_a_query_bounds_independent_coordinates_by_the_difference_it_has():
    noise, reach = (
        Product(parse("exp(-z**2/2)"), num(4), L1),
        Sensitivity(num(1), num(1), (Fraction(1, 2), Fraction(1, 2), Fraction(0), Fraction(0))),
    )
    assert gaussian.curve(noise, reach, stated=True).exact
    met = gaussian.curve(noise, reach).lower.forward(arb(1))
    assert met.overlaps(gaussian.profile(parse("1/sqrt(2)"))(arb(1)))
    spread = gaussian.curve(noise, stated("1")).lower.forward(arb(1))
    assert spread.overlaps(gaussian.profile(parse("1/2"))(arb(1)))


@pytest.mark.wide
def test_random_points_lie_on_the_curve_of_the_reference():
    random = Random(5)
    for _ in range(6):
        mu, epsilon = Fraction(random.randint(1, 400), 100), Fraction(random.randint(0, 500), 100)
        with precision(64):
            assert agrees(gaussian.profile(Num(mu))(rational(epsilon)), by_integration(mu, epsilon), 12)
