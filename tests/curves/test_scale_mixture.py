"""Gaussian scale mixtures that show their variance: the profile is a mean of Gaussian profiles (theory#gaussian-scale-mixture)."""

from fractions import Fraction

import mpmath
import pytest
from flint import arb

from dpverify.trusted.geometry.sensitivity import Sensitivity
from dpverify.trusted.kernel.balls import constant, precision, rational
from dpverify.trusted.kernel.errors import Rejected, Undecided
from dpverify.trusted.kernel.expr import ONE, num, parse
from dpverify.trusted.kernel.model import L1, L2, LINF, Mixture, Norm, Product, Radial, Translation
from dpverify.trusted.theories.curves.mixing import Law, mixing_of
from dpverify.trusted.theories.curves.rules.gaussian_scale_mixture import curve, observed
from dpverify.trusted.theories.processes.rules.cameron_martin import theorem5

UNIT = Sensitivity(ONE, ONE)


def radial(profile, d, norm=L2, scale="1"):
    return Radial(parse(profile), norm, num(d), parse(scale))


def mixture(profile, mixing, d, upper=None):
    return Mixture(parse(profile), parse(mixing), (parse("0"), None if upper is None else parse(upper)), L2, num(d))


def gaussian(epsilon, mu):
    near, half = epsilon / mu, mu / 2
    return mpmath.ncdf(half - near) - mpmath.exp(epsilon) * mpmath.ncdf(-half - near)


def mean(law, epsilon, shift=1):
    """E of the Gaussian hockey stick for V of a density on (0, inf), by tanh-sinh quadrature at 40 digits."""
    with mpmath.workdps(40):
        cuts = [0, *(mpmath.mpf(4) ** k for k in range(-8, 9, 2)), mpmath.inf]
        return mpmath.quad(lambda v: law(v) * gaussian(epsilon, shift / mpmath.sqrt(v)), cuts) / mpmath.quad(law, cuts)


def contains(ball, number, slack="1e-12"):
    return abs(ball - arb(mpmath.nstr(number, 25))) < abs(ball) * arb(slack)


T3 = radial("(1 + r**2/5)**(-4)", 3)


# -- values ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("noise", "law"),
    [
        (T3, lambda v: v ** mpmath.mpf("-3.5") * mpmath.exp(-2.5 / v)),
        (radial("exp(-r)", 3), lambda v: v * mpmath.exp(-v / 2)),
    ],
)
def test_the_profile_is_the_mean_of_gaussian_profiles(noise, law):
    with precision(64):
        assert contains(curve(noise, UNIT).upper.forward(arb(2)), mean(law, mpmath.mpf(2)), "1e-16")


def test_noise_of_exponential_variance_has_the_integral_of_its_survival_function():
    """At epsilon = 0: E[erf(a/sqrt(V))] = 1 - exp(-2 a) for V exponential, a = 1/sqrt(8)."""
    for noise in (radial("besselk(0, sqrt(2)*r)", 2), radial("r**(-1/2)*besselk(1/2, sqrt(2)*r)", 3), radial("exp(-sqrt(2)*r)/r", 3)):
        with precision(100):
            assert (curve(noise, UNIT).upper.forward(arb(0)) - (1 - (-1 / arb(2).sqrt()).exp())).overlaps(arb(0))


def test_a_variance_in_a_narrow_interval_is_between_the_two_gaussians():
    law = Law(ONE, Fraction(1), Fraction(17, 16))
    found = observed(law, num(2)).forward(arb(1))
    assert gaussian(1, 2 / mpmath.sqrt(mpmath.mpf(17) / 16)) < mpmath.mpf(str(found.mid().str(15, radius=False))) < gaussian(1, 2)


@pytest.mark.parametrize("epsilon", [Fraction(0), Fraction(1, 1000), Fraction(3), Fraction(40)])
@pytest.mark.parametrize("bits", [64, 100])
def test_the_profile_is_as_sharp_as_the_precision(epsilon, bits):
    with precision(bits):
        found = curve(T3, UNIT).upper.forward(rational(epsilon).mid())
        assert found > 0
        assert found.rel_accuracy_bits() >= bits - 24


@pytest.mark.parametrize("noise", [T3, radial("exp(-r)", 10), radial("besselk(0, sqrt(2)*r)", 2)])
@pytest.mark.parametrize(("shift", "epsilon"), [("10000", 0), ("10000", 1000), ("1/1000000", 0), ("1/1000000", 1000), ("30", 5)])
def test_great_and_small_shifts_have_enclosures_too(noise, shift, epsilon):
    with precision(64):
        found = curve(noise, Sensitivity(parse(shift), parse(shift))).upper.forward(arb(epsilon))
        assert found >= 0 or found.rad() < arb(10) ** -30
        assert found.rad() < arb(10) ** -18
        if shift == "10000":
            assert found > arb("0.99")
        if shift == "1/1000000":
            assert found < arb("0.000001")


def test_one_law_written_in_the_variance_in_the_precision_or_in_the_deviation_is_one_pair():
    shapes = (
        T3,
        mixture("v**(-3/2)*exp(-r**2/(2*v))", "v**(-7/2)*exp(-5/(2*v))", 3),
        mixture("v**(3/2)*exp(-v*r**2/2)", "v**(3/2)*exp(-5*v/2)", 3),
        mixture("v**(-3)*exp(-r**2/(2*v**2))", "v**(-6)*exp(-5/(2*v**2))", 3),
    )
    with precision(64):
        found = [curve(noise, UNIT).upper.forward(arb(1)) for noise in shapes]
        assert all(abs(value - found[0]) < arb(2) ** -50 for value in found)


def test_the_dimension_does_not_matter_to_who_sees_the_variance():
    with precision(64):
        low, high = (curve(radial(f"(1 + r**2/5)**(-{c})", d), UNIT).upper.forward(arb(1)) for c, d in (("3", 1), ("13", 21)))
        assert abs(low - high) < arb(2) ** -50


# -- laws ----------------------------------------------------------------------------------------


def test_a_wide_epsilon_gives_a_ball_that_holds_all_of_its_values():
    pair = curve(T3, UNIT).upper
    wide = pair.forward(arb(1).union(arb(2)))
    assert all(wide.contains(pair.forward(arb(x))) for x in (1, 1.5, 2))


def test_the_scale_divides_the_sensitivity():
    with precision(64):
        one = curve(radial("exp(-r)", 2, scale="3"), Sensitivity(num(3), num(3))).upper.forward(arb(1))
        assert one.overlaps(curve(radial("exp(-r)", 2), UNIT).upper.forward(arb(1)))


def test_it_dominates_the_line_where_the_variance_is_hidden():
    """Laplace noise on a line is a Gaussian of gamma variance; half way between the answers the variance does not matter."""
    with precision(64):
        found = curve(radial("exp(-r)", 1), UNIT).upper
        assert found.forward(arb(0)).overlaps(1 - (arb(-1) / 2).exp())
        assert found.forward(arb(1) / 2) > 1 - (arb(-1) / 4).exp()
        assert found.forward(arb(2)) > 0


def test_a_mahalanobis_norm_is_the_euclidean_one_after_a_linear_map():
    sigma = Norm("ellipsoid", None, ((Fraction(2), Fraction(1)), (Fraction(1), Fraction(3))))
    assert mixing_of(radial("exp(-r)", 2, sigma)) == mixing_of(radial("exp(-r)", 2))


def test_only_an_upper_bound_is_claimed():
    assert curve(T3, UNIT).lower is None


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "noise",
    [
        radial("exp(-r)", 2, L1),
        radial("exp(-r)", 2, LINF),
        radial("exp(-r**2/2)", 2),
        radial("(1 + r**3)**(-4)", 2),
        radial("(1 + r**2)**(-1)", 2),
        radial("r**2*besselk(0, r)", 2),
        radial("exp(-r**4)", 1),
        mixture("exp(-r/v)/v", "exp(-v)", 1),
        mixture("exp(-(1 + v)*r**2)", "exp(-v)", 1),
        Mixture(parse("exp(-v*r**2)"), parse("exp(-v)"), (parse("-1"), None), L2, num(1)),
        Radial(parse("exp(-c*r)"), L2, num(2)),
        Radial(parse("exp(-r)"), L2, parse("d")),
    ],
)
def test_noise_that_is_not_read_as_a_gaussian_mixture_is_undecided(noise):
    assert mixing_of(noise) is None
    with pytest.raises(Undecided, match="not recognised"):
        curve(noise, UNIT)


@pytest.mark.parametrize("law", [Law(parse("v - 1")), Law(parse("-exp(-v)")), Law(parse("exp(-a*v)")), Law(ONE, Fraction(2), Fraction(1))])
def test_a_law_that_is_none_is_rejected(law):
    with pytest.raises(Rejected):
        observed(law, ONE)


def test_a_law_without_a_finite_integral_is_undecided():
    with pytest.raises(Undecided):
        observed(Law(parse("1/v")), ONE)


@pytest.mark.parametrize("noise", [Product(parse("exp(-abs(z))"), num(2)), Translation(parse("exp(-abs(z))"))])
def test_noise_of_another_kind_is_rejected(noise):
    with pytest.raises(Rejected, match="the mechanism"):
        curve(noise, UNIT)


def test_a_negative_sensitivity_or_scale_is_rejected():
    with pytest.raises(Rejected):
        curve(T3, Sensitivity(num(-1), num(-1)))
    with pytest.raises(Rejected):
        curve(radial("exp(-r)", 2, scale="-1"), UNIT)


# -- Theorem 5 -------------------------------------------------------------------------------------

EXPONENTIAL = Law(parse("exp(-v)"))


def test_theorem_5_is_the_moment_generating_function():
    """V exponential: 2 E[(delta/2)^V] = 2/(1 + log(2/delta))."""
    with precision(100):
        found = theorem5(EXPONENTIAL, parse("1/10"), ONE, parse("1/1000"))
        assert found.overlaps(2 / (1 + arb(2000).log()))
        assert found.rel_accuracy_bits() > 76


@pytest.mark.sampled(4)
@pytest.mark.parametrize("epsilon", ["1/10", "1", "2", "4*log(2)"])
@pytest.mark.parametrize("delta", ["1/1000000", "1/10", "1"])
def test_the_mean_of_gaussian_profiles_is_below_theorem_5_at_its_own_scale(epsilon, delta):
    law, e, d = Law(parse("v**(-7/2)*exp(-5/(2*v))")), parse(epsilon), parse(delta)
    shift = parse(f"({epsilon})/sqrt(2*log(2/({delta})))")
    with precision(64):
        found = observed(law, shift).forward(constant(e))
        assert found < theorem5(law, shift, e, d).min(arb(1))


@pytest.mark.parametrize(
    ("shift", "epsilon", "delta", "what"),
    [
        ("1", "1", "1/1000", "the scale"),
        ("1/10", "3", "1/1000", "epsilon"),
        ("1/10", "0", "1/1000", "epsilon"),
        ("1/10", "1", "0", "delta"),
        ("1/10", "1", "2", "delta"),
        ("-1/10", "1", "1/1000", "the scale"),
    ],
)
def test_theorem_5_wants_its_hypotheses(shift, epsilon, delta, what):
    with pytest.raises(Rejected, match=what):
        theorem5(EXPONENTIAL, parse(shift), parse(epsilon), parse(delta))


def test_theorem_5_fails_for_a_great_epsilon():
    """V = 1, epsilon = 20, u = 2: 2 exp(-2) is below the Gaussian delta, so that a condition on epsilon is needed."""
    assert gaussian(20, 10) > 3 * (2 * mpmath.exp(-2))
