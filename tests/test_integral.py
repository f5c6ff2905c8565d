"""Integrals are enclosed, and finite exactly where calculus says so."""

from fractions import Fraction

import mpmath
import pytest
from flint import arb

from dpverify.ends import End
from dpverify.errors import Undecided
from dpverify.expr import Num, neg_log, num, parse
from dpverify.integral import breaks, has_normaliser, infinite_ends, integrable_at, normaliser
from dpverify.model import L1, L2, Product, Radial, Translation

mpmath.mp.dps = 40


def radial(profile, dimension=1):
    return Radial(parse(profile), L2, num(dimension))


def line(density, *support, integers=False):
    ends = tuple(None if end is None else Num(Fraction(end)) for end in support) or (None, None)
    return Translation(parse(density), ends, integers)


def contains(ball: arb, expected, relative=1e-6) -> bool:
    """Whether the ball holds the expected value (mpmath, 40 digits) and is narrow."""
    text = mpmath.nstr(mpmath.mpf(expected), 35)
    return bool(ball.overlaps(arb(text))) and bool(ball.rad() <= arb(text) * relative)


def t_integral(nu, d):
    """The integral of (1 + r^2/nu)^(-(nu+d)/2) r^(d-1): nu^(d/2) B(d/2, nu/2) / 2."""
    return mpmath.mpf(nu) ** (mpmath.mpf(d) / 2) * mpmath.beta(mpmath.mpf(d) / 2, mpmath.mpf(nu) / 2) / 2


@pytest.mark.parametrize("d", [1, 2, 3, 10, 50])
def test_exponential_profiles_give_the_gamma_function(d):
    assert contains(normaliser(radial("exp(-r)", d)), mpmath.gamma(d))
    assert contains(normaliser(radial("exp(-r/1000)", d)), mpmath.gamma(d) * mpmath.mpf(1000) ** d)


@pytest.mark.parametrize("d", [1, 2, 7, 50])
def test_gaussian_profiles_give_the_gamma_function_of_half_the_dimension(d):
    assert contains(normaliser(radial("exp(-r**2/2)", d)), mpmath.mpf(2) ** (mpmath.mpf(d) / 2 - 1) * mpmath.gamma(mpmath.mpf(d) / 2))


@pytest.mark.parametrize(("nu", "d"), [(5, 3), (1, 1), (1, 2), (1, 10), (5, 50), (Fraction(1, 2), 1)])
def test_multivariate_t_gives_the_beta_function(nu, d):
    profile = f"(1 + r**2/({nu}))**(-({nu} + {d})/2)"
    assert contains(normaliser(radial(profile, d)), t_integral(mpmath.mpf(str(float(nu))), d))


@pytest.mark.parametrize("a", ["1/2", "3", "10"])
def test_stretched_exponentials_give_the_gamma_function(a):
    assert contains(normaliser(radial(f"exp(-r**({a}))", 2)), mpmath.gamma(2 / mpmath.mpf(float(Fraction(a)))) / float(Fraction(a)))


@pytest.mark.parametrize(("v", "d"), [("0", 2), ("1/2", 3), ("1/4", 1), ("1/2", 50)])
def test_bessel_profiles_with_poles_are_integrated(v, d):
    # the integral of r^(m-1) K_v(r) is 2^(m-2) Gamma((m-v)/2) Gamma((m+v)/2); here m = d - v
    order = mpmath.mpf(float(Fraction(v)))
    m = d - order
    expected = mpmath.mpf(2) ** (m - 2) * mpmath.gamma((m - order) / 2) * mpmath.gamma((m + order) / 2)
    assert contains(normaliser(radial(f"r**(-({v}))*besselk({v}, r)", d)), expected)


def test_a_pole_of_order_one_on_the_line_is_not_integrable():
    assert has_normaliser(radial("r**(-1/2)*besselk(1/2, r)")) is False


@pytest.mark.parametrize(
    ("noise", "expected"),
    [
        (line("exp(-abs(z))"), 2),
        (line("exp(-abs(z - 1/3))"), 2),
        (line("exp(-z)", 0, None), 1),
        (line("1", -1, 1), 2),
        (line("1/(1+z**2)"), mpmath.pi),
        (line("exp(-z)/(1+exp(-z))**2"), 1),
        (line("abs(z)**(-1/2)*exp(-abs(z))"), 2 * mpmath.sqrt(mpmath.pi)),
        (line("sqrt(1 - z**2)", -1, 1), mpmath.pi / 2),
        (line("max(0, 1 - abs(z))"), 1),
        (line("exp(z)*exp(-exp(z))"), 1),
        (Product(parse("exp(-z**2)"), num(4), L1), mpmath.sqrt(mpmath.pi)),
        (radial("1 - min(1, floor(r))", 3), mpmath.mpf(1) / 3),
        (radial("exp(-(r-100)**2)"), mpmath.sqrt(mpmath.pi)),
        (radial("(1 - exp(-r**2/2))/r**2"), mpmath.sqrt(mpmath.pi / 2)),  # slash: 0/0 at the centre
        (radial("(2 - (2 + r**2)*exp(-r**2/2))/r**4", 3), mpmath.sqrt(mpmath.pi / 2)),
        (radial("erfc(log(r)/sqrt(2))"), 2 * mpmath.exp(mpmath.mpf(1) / 2)),  # uniform-log-normal: 2 E[exp(N)]
        (radial("exp(logexprel(-r) - r)"), mpmath.log(2)),  # Frullani
    ],
)
def test_known_integrals_are_enclosed(noise, expected):
    assert contains(normaliser(noise), expected)


@pytest.mark.parametrize(
    ("density", "expected"),
    [
        ("exp(-abs(z)/10)", 1 / mpmath.tanh(mpmath.mpf(1) / 20)),
        ("exp(-abs(z)/1000)", 1 / mpmath.tanh(mpmath.mpf(1) / 2000)),
        ("exp(-z**2/2)", mpmath.jtheta(3, 0, mpmath.exp(-mpmath.mpf(1) / 2))),
        ("1/(1+z**2)", mpmath.pi / mpmath.tanh(mpmath.pi)),
    ],
)
def test_sums_over_the_integers_are_enclosed(density, expected):
    assert contains(normaliser(line(density, integers=True)), expected)


def test_a_sum_over_finitely_many_integers():
    assert contains(normaliser(line("1 + z", "1/2", 4, integers=True)), 2 + 3 + 4 + 5)


@pytest.mark.parametrize(
    ("noise", "finite"),
    [
        (radial("(1+r**2)**(-1)", 1), True),
        (radial("(1+r**2)**(-1)", 2), False),  # 1/r at infinity: the edge
        (radial("(1+r**2)**(-51/100)", 1), True),
        (radial("r**(-2)*exp(-r)", 3), True),
        (radial("r**(-2)*exp(-r)", 2), False),
        (radial("exp(r)", 1), False),
        (radial("1", 1), False),
        (line("exp(-z)"), False),
        (line("1/sqrt(abs(z - 1))*exp(-abs(z))"), True),
        (line("1/(z-1)**2*exp(-abs(z))"), False),
        (line("log(z)**2", 0, 1), True),
    ],
)
def test_integrable_exactly_where_calculus_says_so(noise, finite):
    assert has_normaliser(noise) is finite
    if not finite:
        assert infinite_ends(noise)
        with pytest.raises(Undecided):
            normaliser(noise)


@pytest.mark.parametrize(("d", "finite"), [(1, True), (2, True), (3, False), (50, False)])
def test_an_end_is_judged_in_its_dimension(d, finite):
    h = neg_log(parse("(1 + r**2)**(-3/2)"))  # r^-3 at infinity
    assert integrable_at(h, "r", num(d), End("+inf", Fraction(16))) is finite
    assert integrable_at(h, "r", num(d), End("right", Fraction(16))) is True


def test_kinks_and_edges_are_found():
    found = breaks(parse("abs(z - 1/3) + max(2*z, 1) + sqrt(4 - z**2)"), "z")
    assert found == {Fraction(1, 3), Fraction(1, 2), Fraction(2), Fraction(-2)}
