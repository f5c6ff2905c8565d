"""The size of the error that noise makes: quantiles, moments, densities and survival against known distributions."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from dpverify.pictures import NoiseError, noise_error
from dpverify.trusted.kernel.expr import ZERO, num, parse
from dpverify.trusted.kernel.model import L1, L2, LINF, Claim, Kernel, Mixture, Norm, Product, Radial, Staircase, Table, Translation

SQUARE = Norm("columns", None, ((Fraction(1), Fraction(1)), (Fraction(1), Fraction(-1))))
PROBABILITIES = (0.5, 0.9, 0.95, 0.99)


def error(mechanism) -> NoiseError:
    found = noise_error(Claim(mechanism, None, ZERO, num(1)))
    assert found is not None
    return found


def radial(profile: str, dimension: int = 1, norm: Norm = L2, scale: str = "1") -> NoiseError:
    return error(Radial(parse(profile), norm, num(dimension), parse(scale)))


def assert_law(found: NoiseError, known, tolerance: float = 1e-7) -> None:
    """That sizes, density and survival are those of a distribution of the size."""
    sizes = found.sizes
    assert [sizes.median, sizes.q90, sizes.q95, sizes.q99] == pytest.approx([known.ppf(p) for p in PROBABILITIES], rel=tolerance)
    x, above = np.array(found.survival).T
    assert np.allclose(above, known.sf(x), atol=max(tolerance, 1e-9))
    if math.isfinite(sizes.rms):
        assert sizes.mean == pytest.approx(known.mean(), rel=tolerance)
        assert sizes.rms == pytest.approx(math.sqrt(known.moment(2)), rel=tolerance)
    if found.dimension > 1:
        points = np.array([point for point in found.density if point[0] != known.support()[1]])  # any value will do at a jump
        assert np.allclose(points[:, 1], known.pdf(points[:, 0]), rtol=1e-6, atol=max(tolerance, 1e-9))


def test_laplace_noise_has_an_exponential_size():
    found = radial("exp(-r)", scale="3/2")
    assert_law(found, stats.expon(scale=1.5))
    z, density = np.array(found.density).T
    assert np.allclose(density, stats.laplace(scale=1.5).pdf(z), rtol=1e-9)
    assert z.min() == -z.max()
    assert 0.0 in z
    assert found.coordinate is None


@pytest.mark.parametrize("dimension", [1, 2, 5, 50, 1000])
def test_gaussian_noise_has_a_chi_norm_and_normal_coordinates(dimension):
    found = radial("exp(-r**2/2)", dimension, scale="2")
    assert_law(found, stats.chi(dimension, scale=2))
    if dimension > 1:
        size = found.coordinate
        assert size is not None
        known = stats.halfnorm(scale=2)
        assert [size.median, size.q90, size.q95, size.q99] == pytest.approx([known.ppf(p) for p in PROBABILITIES], rel=2e-3)
        assert [size.mean, size.rms] == pytest.approx([known.mean(), 2.0], rel=1e-9)


@pytest.mark.parametrize(("nu", "dimension"), [(3, 1), (5, 3), (7, 50), ("1/2", 1), (2, 2), (1, 2)])
def test_t_noise_has_the_norm_of_an_f_distribution_and_only_the_moments_that_it_has(nu, dimension):
    found = radial(f"(1 + r**2/({nu}))**(-(({nu}) + {dimension})/2)", dimension)
    degrees = float(Fraction(nu))
    ratio = stats.f(dimension, degrees)  # ||t||^2 / d is F(d, nu)
    sizes = found.sizes
    expected = [math.sqrt(dimension * ratio.ppf(p)) for p in PROBABILITIES]
    assert [sizes.median, sizes.q90, sizes.q95, sizes.q99] == pytest.approx(expected, rel=1e-6)
    assert math.isinf(sizes.mean) == (degrees <= 1)
    assert math.isinf(sizes.rms) == (degrees <= 2)
    if degrees > 2:
        assert sizes.rms == pytest.approx(math.sqrt(dimension * degrees / (degrees - 2)), rel=1e-7)


def test_cauchy_noise_has_neither_mean_nor_variance():
    for found in (radial("(1 + r**2)**(-1)"), error(Translation(parse("1/(1 + z**2)")))):
        assert [found.sizes.mean, found.sizes.rms] == [math.inf, math.inf]
        assert found.sizes.q99 == pytest.approx(math.tan(math.pi / 2 * 0.99), rel=1e-7)


@pytest.mark.parametrize("norm", [L1, L2, LINF, SQUARE, Norm("lp", Fraction(3, 2))])
def test_k_norm_noise_has_a_gamma_norm_whatever_the_norm(norm):
    assert_law(radial("exp(-r/2)", 2, norm), stats.gamma(2, scale=2))


def test_the_coordinates_of_k_norm_noise_in_l1_are_those_of_laplace_noise_with_a_gamma_radius():
    rng = np.random.default_rng(1)
    found = radial("exp(-r)", 3, L1).coordinate
    assert found is not None  # exp(-|x| - |y| - |z|): independent Laplace coordinates
    known = stats.expon()
    assert [found.median, found.q90, found.q95, found.q99] == pytest.approx([known.ppf(p) for p in PROBABILITIES], rel=2e-3)
    assert [found.mean, found.rms] == pytest.approx([1.0, math.sqrt(2)], rel=1e-9)
    cube = radial("exp(-r)", 2, LINF).coordinate
    assert cube is not None
    points = rng.uniform(-1, 1, size=(400_000, 2))
    sphere = np.abs(points / np.abs(points).max(axis=1, keepdims=True))[:, 0] * rng.gamma(2, size=400_000)
    assert [cube.median, cube.q90] == pytest.approx(list(np.quantile(sphere, [0.5, 0.9])), rel=0.02)
    assert cube.mean == pytest.approx(sphere.mean(), rel=0.01)


def test_uniform_noise_stays_in_its_ball():
    found = radial("1 - min(1, floor(r))", 3, scale="2")
    assert_law(found, stats.beta(3, 1, scale=2))
    interval = error(Translation(parse("1"), (parse("-1"), parse("1"))))
    assert_law(interval, stats.uniform())
    z, density = np.array(interval.density).T
    assert z.min() == -1
    assert z.max() == 1
    assert np.allclose(density, 0.5)


def test_one_sided_noise_counts_its_one_side():
    found = error(Translation(parse("exp(-2*z)"), (parse("0"), None)))
    assert_law(found, stats.expon(scale=0.5))
    assert min(z for z, _ in found.density) == 0.0


def test_lopsided_noise_counts_both_sides():
    found = error(Translation(parse("exp(-max(z, -3*z))")))
    mixed = lambda x: 0.75 * np.exp(-x) + 0.25 * np.exp(-3 * x)  # noqa: E731
    x, above = np.array(found.survival).T
    assert np.allclose(above, mixed(x), atol=1e-8)
    assert found.sizes.mean == pytest.approx(0.75 + 0.25 / 3, rel=1e-8)


def test_staircase_noise_has_the_quantiles_of_its_steps():
    found = error(Staircase(parse("log(2)"), parse("1/2")))
    # a (1/2 + 1/2 b) (1 + b + ...) = 1/2 with b = 1/2: height a = 1/3 up to 1/2, then 1/6 up to 3/2, then 1/12
    masses = [(0.5, 2 / 3), (1.0, 1 / 3), (1.0, 1 / 6), (1.0, 1 / 12)]
    inside = np.cumsum([width * height for width, height in masses])
    assert found.sizes.median == pytest.approx(0.5 + (0.5 - inside[0]) / (1 / 3), rel=1e-7)
    x, above = np.array(found.survival).T
    edges = np.cumsum([0, *(width for width, _ in masses)])
    known = x <= edges[-1]
    assert np.allclose(above[known], 1 - np.interp(x[known], edges, [0, *inside]), atol=1e-8)


def test_noise_on_the_integers_has_masses_and_integer_quantiles():
    found = error(Translation(parse("exp(-abs(z)/2)"), integers=True))
    known = stats.dlaplace(0.5)
    assert found.kind == "masses"
    assert all(mass == pytest.approx(known.pmf(n)) for n, mass in found.density)
    assert all(above == pytest.approx(2 * known.sf(n)) for n, above in found.survival)
    assert found.sizes.q95 == next(n for n in range(100) if 1 - 2 * known.sf(n) >= 0.95)
    assert found.sizes.rms == pytest.approx(known.std())


def test_a_heavy_tail_on_the_integers_has_no_mean():
    found = error(Translation(parse("1/(1 + z**2)"), integers=True))
    assert [found.sizes.mean, found.sizes.rms] == [math.inf, math.inf]
    total = math.pi / math.tanh(math.pi)
    assert dict(found.density)[0.0] == pytest.approx(1 / total, rel=1e-4)


def test_independent_gaussian_coordinates_have_a_chi_norm():
    found = error(Product(parse("exp(-z**2/2)"), num(4), L2))
    assert_law(found, stats.chi(4), 3e-3)
    assert found.coordinate is not None
    assert found.coordinate.q95 == pytest.approx(stats.halfnorm().ppf(0.95), rel=1e-7)


def test_independent_laplace_coordinates_have_a_gamma_l1_norm_and_the_greatest_of_exponentials():
    assert_law(error(Product(parse("exp(-abs(z)/2)"), num(3), L1)), stats.gamma(3, scale=2), 3e-3)
    found = error(Product(parse("exp(-abs(z))"), num(3), LINF)).sizes
    expected = [-math.log(1 - p ** (1 / 3)) for p in PROBABILITIES]
    assert [found.median, found.q90, found.q95, found.q99] == pytest.approx(expected, rel=1e-3)


def test_a_mixture_without_a_closed_form_has_the_quantiles_that_its_draws_have():
    mixture = Mixture(parse("exp(-r/v)/v"), parse("exp(-log(v)**2/2)/v"), (ZERO, None), L2, num(1), num(1))
    found = error(mixture).sizes
    v, w = np.polynomial.hermite_e.hermegauss(80)
    above = lambda x: float((w * np.exp(-x / np.exp(v))).sum() / w.sum())  # noqa: E731
    for p, x in zip(PROBABILITIES, (found.median, found.q90, found.q95, found.q99), strict=True):
        assert above(x) == pytest.approx(1 - p, rel=2e-3)
    assert found.mean == pytest.approx(math.exp(0.5), rel=1e-4)
    assert found.rms == pytest.approx(math.sqrt(2) * math.exp(1), rel=1e-3)


@pytest.mark.parametrize("scale", ["1/10**12", "10**12"])
def test_the_unit_of_the_answers_does_not_matter(scale):
    factor = float(Fraction(1, 10**12)) if scale.startswith("1/") else 1e12
    assert_law(radial("exp(-r**2/2)", 2, scale=scale), stats.rayleigh(scale=factor))


def test_what_is_no_additive_noise_has_no_error():
    table = Table(((parse("1/2"), parse("1/2")), (parse("1/4"), parse("3/4"))))
    kernel = Kernel(parse("exp(-abs(y - theta))"), (None, None), (num(0), num(1)))
    for mechanism in (table, kernel, Radial(parse("exp(-eps*r)"), L2, num(1)), Radial(parse("exp(-r)"), L2, parse("d"))):
        assert noise_error(Claim(mechanism, None, ZERO, num(1))) is None
    assert noise_error(Claim(Radial(parse("1/(1 + r)"), L2, num(1)), None, ZERO, num(1))) is None  # no distribution: infinite mass


def test_the_density_of_a_norm_shows_both_sides_of_its_jump():
    x, density = np.array(radial("1 - min(1, floor(r))", 3).density).T
    inside = x < 1
    assert np.allclose(density[inside], 3 * x[inside] ** 2)
    assert density[inside].max() == pytest.approx(3, rel=1e-6)
    assert (density[x > 1] == 0).all()


@pytest.mark.parametrize(("profile", "mean", "rms"), [("1/(1 + r)**3", 1.0, math.inf), ("min(1, 1/r**2)", math.inf, math.inf)])
def test_moments_on_the_edge_of_existence_are_decided_by_the_tail(profile, mean, rms):
    found = radial(profile).sizes
    assert found.mean == pytest.approx(mean, rel=1e-7)
    assert found.rms == rms
