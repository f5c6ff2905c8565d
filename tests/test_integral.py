"""Integrals are enclosed, and finite exactly where calculus says so."""

from fractions import Fraction

import mpmath
import pytest
from flint import arb

from dpverify.search.additive.asymptotics import infinite_ends, integrable_at, is_integrable
from dpverify.trusted.kernel.errors import STUMBLES, CertificateError, Undecided
from dpverify.trusted.kernel.expr import Num, num, parse
from dpverify.trusted.kernel.model import L1, L2, Product, Radial, Translation
from dpverify.trusted.language.logarithms import neg_log
from dpverify.trusted.numbers.asymptotics import End
from dpverify.trusted.numbers.noise import integrable
from dpverify.trusted.numbers.pieces import breaks
from dpverify.trusted.numbers.quadrature import integral, normaliser
from dpverify.trusted.theories.additive.integrable import integrable_by_shape

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
    assert is_integrable(radial("r**(-1/2)*besselk(1/2, r)")) is False


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


@pytest.mark.sampled(2)
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
    assert is_integrable(noise) is finite
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


def staircase_integral(rise, share, power):
    """The integral of exp(-rise * floor(r + 1 - share)) r^power, step by step (mpmath), its steps at share, share + 1, ..."""
    total, j = share ** (power + 1), 0
    while j * rise < 100 + 8 * power:
        total += mpmath.exp(-(j + 1) * rise) * ((j + 1 + share) ** (power + 1) - (j + share) ** (power + 1))
        j += 1
    return total / (power + 1)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("rise", "d"), [("log(3)", 1), ("log(3)", 2), ("1/10", 3), ("1", 10), ("1/100", 5), ("2", 20)])
def test_infinitely_many_steps_are_summed_in_every_dimension(rise, d):
    exact = mpmath.log(3) if rise == "log(3)" else mpmath.mpf(Fraction(rise).numerator) / Fraction(rise).denominator
    noise = radial(f"exp(-({rise})*floor(r + 2/3))", d)
    assert is_integrable(noise) is True
    assert contains(normaliser(noise), staircase_integral(exact, mpmath.mpf(1) / 3, d - 1))


@pytest.mark.wide
def test_steps_in_many_dimensions_are_summed_or_bounded_by_what_they_step_along():
    noise = radial("exp(-floor(r))", 100)
    assert contains(normaliser(noise), staircase_integral(mpmath.mpf(1), mpmath.mpf(0), 99) * mpmath.e)
    for d in (1000, 10**6):
        assert is_integrable(radial("exp(-floor(r))", d)) is True
    assert is_integrable(radial("(1 + r - floor(r))/(1 + r)**1000", 1000)) is False
    assert is_integrable(radial("(1 + r - floor(r))/(1 + r)**1001", 1000)) is True


@pytest.mark.parametrize(
    ("density", "expected"),
    [
        ("exp(-floor(abs(z)))", 2 / (1 - mpmath.exp(-1))),
        ("exp(-floor(abs(z - 1/7)))", 2 / (1 - mpmath.exp(-1))),
        ("exp(-floor(z))*exp(2*floor(min(z, 0)))", (1 + mpmath.exp(-1)) / (1 - mpmath.exp(-1))),  # floor(z) <= -1 below 0
        # one period of length 2 holds floor(3 z) = 0 .. 5, floor(z/2) = 0, and is worth exp(-7) of the one before
        ("exp(-floor(abs(z)/2) - floor(3*abs(z)))", 2 * sum(mpmath.exp(-k) for k in range(6)) / 3 / (1 - mpmath.exp(-7))),
        ("exp(-floor(abs(z))) + exp(-2*floor(abs(z)))", 2 / (1 - mpmath.exp(-1)) + 2 / (1 - mpmath.exp(-2))),
        # exp(z - floor(z)) has the integral e - 1 over a period
        ("exp(abs(z) - 2*floor(abs(z)))", 2 * (mpmath.e - 1) / (1 - mpmath.exp(-1))),
        # steps at 1, 2, ... are those of share 1, which starts at level 0 too
        ("z**2*exp(-floor(abs(z)))", 2 * staircase_integral(mpmath.mpf(1), mpmath.mpf(1), 2)),
    ],
)
def test_repeating_densities_on_the_line(density, expected):
    assert contains(normaliser(line(density)), expected)


@pytest.mark.parametrize("density", ["exp(floor(abs(z)))", "exp(-floor(z))", "exp(abs(z) - floor(abs(z)))"])
def test_steps_that_do_not_fall_are_not_called_integrable(density):
    assert is_integrable(line(density)) is not True


def test_noise_that_is_the_hyperbolic_sine_of_a_gaussian_has_the_mass_of_the_gaussian():
    # the inverse hyperbolic sine as a logarithm cancels left of 0
    assert contains(normaliser(line("exp(-asinh(z)**2/2)/sqrt(1 + z**2)")), mpmath.sqrt(2 * mpmath.pi))


# -- what evidence says of ends --------------------------------------------------------------------

TOLD = [[4, [], None], [None, [], 4]]


@pytest.mark.parametrize("density", ["exp(-abs(z))", "1/(1 + z**2)"])
def test_what_is_told_of_an_integrable_density_is_accepted(density):
    assert integrable(line(density), TOLD)


@pytest.mark.parametrize(
    ("density", "told"),
    [
        ("exp(-abs(z))", [[None, [], None], [None, [], 4]]),  # an infinite end has to start somewhere
        ("1/(1 + abs(z))", TOLD),  # an infinite integral
        ("abs(z)**(-1)*exp(-abs(z))", [[4, [], 4], [4, [], 4]]),
        ("abs(z)**(-1)*exp(-abs(z))", TOLD),  # a pole told to be bounded
        ("abs(z)**(-1/2)*exp(-abs(z))", TOLD),
        ("exp(-abs(z))", [[4, [], None], [None, ["5", "3"], 4]]),  # cuts that fall
        ("exp(-abs(z))", [[4, [], None], [None, ["20"], 4]]),  # a cut beyond the end
        ("exp(-abs(z))/(z - 3)**2", TOLD),  # a pole inside
    ],
)
def test_what_is_told_falsely_proves_nothing(density, told):
    try:
        assert not integrable(line(density), told)
    except CertificateError as error:
        assert "pieces" in str(error)


@pytest.mark.parametrize(
    "told",
    [None, [], [[4, [], None]], [[4, []], [None, [], 4]], [[3, [], None], [None, [], 4]], [[True, [], None], [None, [], 4]],
     [["4", [], None], [None, [], 4]], [[1001, [], None], [None, [], 4]], {"left": 4}],
)  # fmt: skip
def test_what_is_told_in_another_form_is_refused(told):
    with pytest.raises((CertificateError, *STUMBLES)):
        integrable(line("exp(-abs(z))"), told)


@pytest.mark.parametrize(("density", "told", "summable"), [
    ("exp(-abs(z))", [4, 4], True),
    ("1/(1 + z**2)", [4, 4], True),
    ("1/(1 + abs(z))", [4, 4], False),
    ("1/(z - 3)**2", [4, 4], False),  # no finite probability at 3
    ("max(0, 3 - abs(z))", [4, 4], True),
    ("exp(-abs(z))*(2 + z - 2*floor(z/2))", [4, 4], True),  # falls by e^2 over two integers
    ("2 + z - 2*floor(z/2)", [4, 4], False),  # repeats for ever
    ("exp(-abs(z))*(2 - z + 2*floor(z/2))", [4, 4], True),
    ("exp(-abs(z))*(1/2 - z + 2*floor(z/2))", [4, 4], False),  # negative at odd integers
    ("exp(z/3)*(1 + z - floor(z))", [4, 4], False),
    ("1/(gamma(1 + abs(z))*3**abs(z))", [4, 4], True),
])  # fmt: skip
def test_what_is_told_of_sums_is_checked(density, told, summable):
    assert integrable(line(density, integers=True), told) is summable


@pytest.mark.parametrize("told", [None, [4], [None, 4], [4, None], [3, 4], [4, 15], [True, 4]])
def test_what_is_told_of_sums_in_another_form_is_refused(told):
    with pytest.raises((CertificateError, *STUMBLES)):
        integrable(line("exp(-abs(z))", integers=True), told)


INFINITE_ON_THE_LINE = [
    "1/abs(z - 1)*exp(-abs(z))", "exp(-abs(z))/z**2", "1/(z - 1)**2*exp(-z**2)", "exp(z)", "1", "1/(1 + abs(z))", "exp(-max(0, z))",
    "1/(1 - exp(-z**2))*exp(-abs(z))", "abs(z)**(-1)*exp(-abs(z))", "1/(1 + z**2)**(1/2)", "exp(-abs(z) + 1/abs(z))",
]  # fmt: skip
INFINITE_ROUND = [
    ("1/r*exp(-r)", 1), ("r**(-2)*exp(-r)", 2), ("exp(-r)/(r - 1)**2", 1), ("exp(1/r)*exp(-r)", 3), ("exp(-r)/(exp(r) - 1)", 1),
    ("(1 + r)**(-2)", 2), ("(1 + r)**(-3)", 3), ("r**(-1/2)*besselk(1/2, r)", 1),
]  # fmt: skip


@pytest.mark.parametrize("noise", [line(density) for density in INFINITE_ON_THE_LINE] + [radial(*one) for one in INFINITE_ROUND], ids=str)
def test_no_shape_shows_that_an_infinite_integral_is_finite(noise):
    assert not integrable_by_shape(noise)


@pytest.mark.parametrize("density", ["1/z**2", "1/(z - 1)**2*exp(-abs(z))", "1/abs(z)*exp(-abs(z))", "1/(1 + abs(z))"])
def test_no_shape_shows_that_an_infinite_sum_is_finite(density):
    assert not integrable_by_shape(line(density, integers=True))


@pytest.mark.parametrize("noise", [line("exp(-abs(z))"), line("1/(1 + z**2)"), line("abs(z)**(-1/2)*exp(-abs(z))"), radial("exp(-r)", 50)])
def test_a_shape_shows_that_plain_noise_is_integrable(noise):
    assert integrable_by_shape(noise)


# -- ends and the pieces between them ----------------------------------------------------------------


@pytest.mark.parametrize(("low", "high"), [("10", "1001/100"), ("-1001/100", "-10"), ("0", "1"), ("-3", "50")])
def test_poles_at_both_ends_of_a_piece_of_any_width_have_room_for_each_other(low, high):
    """The arcsine law: the integral of 1/sqrt((z - a)(b - z)) is pi, and the share below a quarter of the way is 1/3."""
    density = parse(f"1/sqrt((z - ({low}))*({high} - z))")
    a, b = Fraction(low), Fraction(high)
    assert contains(integral(density, "z", a, b), mpmath.pi)
    assert contains(integral(density, "z", a, a + (b - a) / 4), mpmath.pi / 3)
    assert contains(integral(density, "z", b - (b - a) / 4, b), mpmath.pi / 3)


@pytest.mark.parametrize(
    ("density", "low", "high", "expected"),
    [
        ("z**(-1/2)*exp(-z)", 0, None, mpmath.sqrt(mpmath.pi)),
        ("(-z)**(-1/2)*exp(z)", None, 0, mpmath.sqrt(mpmath.pi)),
        ("1/z**2", 3, None, mpmath.mpf(1) / 3),
        ("1/z**2", None, -3, mpmath.mpf(1) / 3),
        ("1/(1 + z**2)", None, None, mpmath.pi),
        ("exp(-abs(z - 30))", None, None, 2),
        ("z**(-3/4)", 0, Fraction(1, 4096), mpmath.mpf(1) / 2),
        ("abs(z - 1)**(-1/2)", 0, 3, 2 + 2 * mpmath.sqrt(2)),
    ],
)  # fmt: skip
def test_integrals_over_half_lines_and_up_to_poles_are_those_of_calculus(density, low, high, expected):
    ends = [None if end is None else Fraction(end) for end in (low, high)]
    assert contains(integral(parse(density), "z", *ends), expected)


@pytest.mark.parametrize("density", ["1/(z*log(z)**2)", "exp(-z)*gamma(z)/gamma(z + 1/2)", "log(1 + 1/z)/z**(1/2)"])
def test_an_end_whose_mass_no_start_shows_is_not_answered(density):
    with pytest.raises(Undecided, match="not certain"):
        integral(parse(density), "z", Fraction(2), None)


@pytest.mark.parametrize(
    ("density", "where"),
    [("1/z", r"at \+infinity"), ("exp(-z)*gamma(z)", r"at \+infinity"), ("1/(z - 2)", "to the right of 2"), ("1", r"at \+infinity")],
)
def test_an_end_of_certainly_infinite_mass_is_named(density, where):
    with pytest.raises(Undecided, match=f"not integrable {where}"):
        integral(parse(density), "z", Fraction(2), None)
