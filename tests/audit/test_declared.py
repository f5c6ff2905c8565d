"""The declared law in floats: distribution functions, partitions, curves, against closed forms and second methods."""

import pickle
from fractions import Fraction
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, optimize, special, stats

from dpverify.audits.declared import declared, gauge, quadrature, steps
from dpverify.audits.declared.curves import quadrature_curve, radial_curve
from dpverify.audits.declared.laws import averaged
from dpverify.audits.outputs import Outputs
from dpverify.errors import AuditError
from dpverify.trusted.kernel.expr import num, parse
from dpverify.trusted.kernel.model import (
    L1,
    L2,
    LINF,
    Claim,
    Domain,
    Exponential,
    KaryResponse,
    Kernel,
    Mixture,
    Norm,
    Product,
    Query,
    Radial,
    Sampled,
    Staircase,
    Table,
    Translation,
)
from tests.effort import examples

CUBE = Norm("columns", matrix=tuple(tuple(map(Fraction, row)) for row in ((1, -1, -1), (1, -1, 1), (1, 1, -1), (1, 1, 1))))
SIGMA = Norm("ellipsoid", matrix=((Fraction(2), Fraction(1)), (Fraction(1), Fraction(3))))
HEXAGON = Norm("facets", matrix=tuple(tuple(map(Fraction, row)) for row in ((1, 0), (0, 1), (1, 1))))


def law(mechanism, epsilon="1", sensitivity="1", **more):
    sensitivity = None if sensitivity is None else parse(sensitivity)
    found = declared(Claim(mechanism, None if epsilon is None else parse(epsilon), sensitivity=sensitivity, **more))
    assert found is not None
    return found


def line(density, **more):
    return law(Translation(parse(density)), **more)


def ball(profile, norm=L2, dimension=3, **more):
    return law(Radial(parse(profile), norm, num(dimension)), **more)


def one(*values):
    return Outputs(np.array(values, dtype=float)[:, None])


def by_words(partition, points):
    """Cells from what `describe` says, for partitions of the line."""
    found = np.full(len(points), -1)
    for cell in range(partition.size):
        words = partition.describe(cell, cell + 1)
        inside = np.zeros(len(points), dtype=bool)
        for part in words.replace("any output", "y > -1e999").split(" or "):
            pieces = part.split()
            if part == "no output":
                continue
            if pieces[0] == "y":
                bound = float(pieces[2])
                inside |= points <= bound if pieces[1] == "<=" else points > bound
            else:
                inside |= (points > float(pieces[0])) & (points <= float(pieces[4]))
        found[inside] = cell
    return found


# -- distribution functions -----------------------------------------------------------------------------------

LINES = [
    ("exp(-abs(z)/2)", stats.laplace(scale=2)),
    ("exp(-z**2/18)", stats.norm(scale=3)),
    ("1/(1 + z**2)", stats.cauchy()),
    ("(1 + z**2/3)**(-2)", stats.t(3)),
    ("exp(-z)/(1 + exp(-z))**2", stats.logistic()),
    ("exp(-(z - 5)**2*5000)", stats.norm(5, 0.01)),
    ("exp(-abs(z)*10**9)", stats.laplace(scale=1e-9)),
]


@pytest.mark.parametrize(("density", "known"), LINES, ids=[density for density, _ in LINES])
def test_the_noise_cdf_is_that_of_scipy_to_ten_digits(density, known):
    points = np.concatenate((known.ppf(np.linspace(1e-6, 1 - 1e-6, 501)), known.ppf([1e-14, 1e-10]), known.isf([1e-14, 1e-10])))
    cdf = line(density).noise_cdf()
    assert cdf(points) == pytest.approx(known.cdf(points), rel=1e-10, abs=2e-15)
    assert cdf(np.array([-np.inf, np.inf])).tolist() == [0, 1]


def test_a_density_with_jumps_at_irrational_points_is_integrated_by_halving():
    cdf = quadrature(lambda z: np.where(np.abs(z) < np.sqrt(2), 0.0, -np.abs(z)))
    total = 2 * np.sqrt(2) + 2 * np.exp(-np.sqrt(2))
    assert cdf(np.array([-np.sqrt(2), -3.0, 0.7])) == pytest.approx(
        np.array([np.exp(-np.sqrt(2)), np.exp(-3), np.exp(-np.sqrt(2)) + np.sqrt(2) + 0.7]) / total, rel=1e-12
    )


def test_a_pole_at_the_centre_keeps_its_mass():
    cdf = quadrature(lambda z: -np.abs(z) - 0.5 * np.log(np.abs(z)), kinks=[0.0])
    points = np.array([1e-12, 1e-3, 0.4, 3.0])
    assert cdf(points) == pytest.approx(0.5 + stats.gamma(0.5).cdf(points) / 2, rel=1e-10)


def test_the_cdf_on_integers_has_steps_and_the_law_of_scipy():
    cdf = law(Translation(parse("exp(-abs(z)/2)"), integers=True)).noise_cdf()
    points = np.arange(-40, 41)
    assert cdf(points) == pytest.approx(stats.dlaplace(0.5).cdf(points), rel=1e-10)
    assert (cdf(points + 0.999) == cdf(points)).all()


def test_heavy_tails_on_integers_are_summed_to_infinity():
    cdf = steps(lambda z: -np.log1p(z**2), -np.inf, np.inf)
    total = np.pi / np.tanh(np.pi)  # sum of 1 / (1 + k^2)
    assert cdf(np.array([0.0])) - cdf(np.array([-1.0])) == pytest.approx(1 / total, rel=1e-12)
    far = 3 * 2**20
    assert cdf(np.array([-far])) == pytest.approx(special.polygamma(1, far) / total, rel=1e-9)


@pytest.mark.parametrize(("norm", "dimension"), [(L1, 4), (L2, 3), (LINF, 5), (Norm("lp", Fraction(3)), 2), (CUBE, 3), (SIGMA, 2)])
def test_the_radius_of_exponential_noise_is_gamma_of_shape_d_in_any_norm(norm, dimension):
    cdf = law(Radial(parse("exp(-r/2)"), norm, num(dimension), parse("3"))).radius_cdf()
    points = np.linspace(0.01, 80, 200)
    assert cdf(points) == pytest.approx(stats.gamma(dimension, scale=6).cdf(points), rel=1e-10)


def test_a_mixture_has_the_radius_of_what_it_is_mixed_from():
    profile, mixing = "v**d*exp(-v**2*r**2/2)", "v**(nu - 1)*exp(-nu*v**2/2)"  # a t law: v^2 is chi-square(nu)/nu
    values = {"nu": "5", "d": "3"}
    for name, value in values.items():
        profile, mixing = profile.replace(name, value), mixing.replace(name, value)
    noise = Mixture(parse(profile), parse(mixing), (num(0), None), L2, num(3))
    points = np.linspace(0.05, 30, 100)
    assert law(noise).radius_cdf()(points) == pytest.approx(stats.f(3, 5).cdf(points**2 / 3), rel=1e-7)


def test_a_mixture_is_what_its_draws_are_where_the_normaliser_depends_on_v():
    """exp(-v r - r) on the line, v of law exp(-v): the rate is 1 + v, and P[r > t] the mean of exp(-(1 + v) t), exp(-t)/(1 + t)."""
    noise = Mixture(parse("exp(-v*r - r)"), parse("exp(-v)"), (num(0), None), L2, num(1))
    profile = np.exp(averaged(noise)(np.linspace(0.001, 40, 40_001)))
    survival = 1 - np.cumsum(profile) / profile.sum()
    assert survival[1000] == pytest.approx(np.exp(-1.0) / 2, rel=1e-2)
    assert survival[3000] == pytest.approx(np.exp(-3.0) / 4, rel=1e-2)


def test_a_kernel_has_a_cdf_at_every_input():
    bounded = Kernel(parse("exp(-abs(y - theta))/(2 - exp(-theta) - exp(theta - 1))"), (num(0), num(1)), (num(0), num(1)))
    points = np.linspace(0, 1, 11)
    for theta in (0.0, 0.3, 1.0):
        known = stats.laplace(theta)
        expected = (known.cdf(points) - known.cdf(0)) / (known.cdf(1) - known.cdf(0))
        assert law(bounded, sensitivity=None).output_cdf(np.array([theta]))(points) == pytest.approx(expected, rel=1e-10, abs=1e-15)


# -- norms ------------------------------------------------------------------------------------------------------


def hull_gauge(points, vector):
    """min sum |w| with sum w_k point_k = vector, by linear programming."""
    both = np.concatenate((points, -points))
    return optimize.linprog(np.ones(len(both)), A_eq=both.T, b_eq=vector, bounds=(0, None)).fun


@pytest.mark.parametrize("seed", range(3))
def test_the_gauge_of_a_hull_of_columns_is_the_linear_programs_optimum(seed):
    rng = np.random.default_rng(seed)
    columns = rng.integers(-3, 4, (7, 4))
    norm = gauge(Norm("columns", matrix=tuple(tuple(Fraction(int(x)) for x in row) for row in columns)), 4)
    points = rng.standard_normal((20, 4))
    assert norm(points) == pytest.approx([hull_gauge(columns, point) for point in points], rel=1e-9)


def test_corners_of_a_facet_norm_have_norm_one_and_their_hull_is_the_ball():
    norm = gauge(HEXAGON, 2)
    points = np.random.default_rng(1).standard_normal((20, 2))
    assert norm(norm.corners) == pytest.approx(1)
    assert norm(points) == pytest.approx([hull_gauge(norm.corners, point) for point in points], rel=1e-9)


@pytest.mark.parametrize(
    ("norm", "name", "dimension"),
    [(CUBE, "knorm_polytope", 3), (SIGMA, "knorm_ellipsoid", 2), (LINF, "knorm_linf", 3), (L1, "knorm_l1", 2)],
)
def test_directions_and_norms_are_those_of_the_shelfs_sampler(norm, name, dimension):
    values = {"eps": 1.0} | ({"d": dimension} if name in ("knorm_linf", "knorm_l1") else {})
    noise = import_module(f"mechanisms.{name}").sample(20_000, np.random.default_rng(5), **values)
    found = ball("exp(-r)", norm, dimension)
    radii = found.norm(noise)
    assert stats.kstest(radii, found.radius_cdf()).pvalue > 1e-6
    mine = found.directions(20_000, np.random.default_rng(6))
    assert found.norm(mine) == pytest.approx(1)
    tilt = np.arange(1, dimension + 1)
    assert stats.ks_2samp(mine @ tilt, noise / radii[:, None] @ tilt).pvalue > 1e-6


def test_directions_and_norms_of_a_great_p_stay_within_floats():
    noise = ball("exp(-r)", Norm("lp", Fraction(2000)), 3)
    points = noise.directions(1_000, np.random.default_rng(1))
    assert (points != 0).all() and noise.norm(1000 * points) == pytest.approx(1000)
    inner = np.sort(np.abs(points), axis=1)[:, :2]  # in nearly a cube, all but the greatest coordinate are uniform
    assert stats.kstest(inner.ravel(), "uniform").pvalue > 1e-6


# -- partitions ---------------------------------------------------------------------------------------------------


def test_laplace_cells_have_their_closed_form_probabilities_at_every_scale():
    noise = line("exp(-abs(z))")
    ((x, x_prime),) = noise.worst_pairs()
    assert (x[0], x_prime[0]) == (0, 1)
    cells = noise.partition(x, x_prime)
    edges = np.array([-np.inf, *cells.edges, np.inf])
    for scale in (0.5, 0.9, 1.0, 2.0):
        for found, centre in zip(noise.law(x, x_prime, scale), (0, 1), strict=True):
            masses = np.diff(stats.laplace(centre, scale).cdf(edges))
            assert found == pytest.approx([masses[np.array(cells.cells) == k].sum() for k in range(cells.size)], rel=1e-9)


def test_a_cell_of_laplace_noise_shows_nearly_all_of_epsilon_on_much_mass():
    noise = line("exp(-abs(z))")
    p, q = noise.law(*noise.worst_pairs()[0])
    assert np.log(p[-1] / q[-1]) > 0.9 and p[-1] > 0.4
    assert np.log(q[0] / p[0]) > 0.9 and q[0] > 0.4


def test_edges_stay_clear_of_the_plateaus_that_rounding_could_cross():
    for norm, dimension in ((L1, 2), (CUBE, 3), (LINF, 2)):
        noise = ball("exp(-r)", norm, dimension)
        for x, x_prime in noise.worst_pairs():
            assert np.abs(np.abs(noise.partition(x, x_prime).thresholds) - 1).min() > 1e-4


def test_the_worst_events_of_t_noise_are_intervals_between_roots_of_a_quadratic():
    noise = line("(1 + z**2/3)**(-2)", epsilon="2*asinh(1/2/sqrt(3))*2")
    cells = noise.partition(np.array([0.0]), np.array([1.0]))
    runs = [i for i, cell in enumerate(cells.cells) if cell == 0]
    assert len(runs) == 1 and 0 < runs[0] < len(cells.edges)
    low, high = cells.edges[runs[0] - 1], cells.edges[runs[0]]
    # 2 log((3 + (y - 1)^2) / (3 + y^2)) takes one value at both: (3 + (y - 1)^2) = k (3 + y^2) has roots with product 3 + 1/(1 - k)
    k = (3 + (low - 1) ** 2) / (3 + low**2)
    assert sorted(np.roots([1 - k, -2, 4 - 3 * k])) == pytest.approx([low, high], rel=1e-9)


def test_staircase_cells_are_cut_at_the_jumps():
    noise = law(Staircase(parse("1"), parse("1/2")))
    cells = noise.partition(*noise.worst_pairs()[0])
    assert cells.edges == pytest.approx([0.5])
    p, q = noise.law(*noise.worst_pairs()[0])
    assert np.log(p[1] / q[1]) == pytest.approx(1, rel=1e-9)


def test_outputs_that_one_input_alone_can_give_have_a_cell_of_their_own():
    noise = law(Translation(num(1), (num(-1), num(1))))
    p, q = noise.law(*noise.worst_pairs()[0])
    assert (p[-1], q[-1], p[0], q[0]) == pytest.approx((0.5, 0, 0, 0.5))
    solid = ball("1 - min(1, floor(r))", L2, 3)
    p, q = solid.law(*solid.worst_pairs()[0])
    assert q[-1] < 1e-4 and p[-1] == pytest.approx(1 - 5 / 16, abs=0.01)  # the lune: two balls at distance 1 share 5/16


@given(st.lists(st.floats(-50, 50), min_size=1, max_size=40), st.sampled_from(["exp(-abs(z))", "1/(1 + z**2)", "exp(-z**2/2)"]))
@settings(max_examples=examples(40), deadline=None)
def test_codes_are_what_describe_says(values, density):
    cells = _cached(density)
    assert cells.codes(one(*values)).tolist() == by_words(cells, np.array(values)).tolist()


_PARTITIONS = {}


def _cached(density):
    if density not in _PARTITIONS:
        _PARTITIONS[density] = line(density).partition(np.array([0.0]), np.array([1.0]))
    return _PARTITIONS[density]


def test_vector_codes_count_the_thresholds_that_the_loss_reaches():
    noise = ball("(1 + r**2/5)**(-4)")
    x, x_prime = noise.worst_pairs()[0]
    cells = noise.partition(x, x_prime)
    points = np.random.default_rng(0).standard_normal((100, 3)) * 2
    loss = 4 * np.log((5 + ((points - x_prime) ** 2).sum(axis=1)) / (5 + ((points - x) ** 2).sum(axis=1)))
    assert cells.codes(Outputs(points)).tolist() == np.searchsorted(cells.thresholds, loss, side="right").tolist()
    assert "loss >= " in cells.describe(cells.size - 1, cells.size) and "l2" in cells.describe(1, cells.size)


@pytest.mark.parametrize(
    "noise", [line("exp(-abs(z))"), ball("exp(-r)", CUBE, 3), law(KaryResponse(num(4), parse("1/2")), sensitivity=None)]
)
def test_partitions_survive_pickling_and_probabilities_add_up_to_one(noise):
    x, x_prime = noise.worst_pairs()[0]
    cells = noise.partition(x, x_prime)
    outputs = Outputs(np.random.default_rng(0).integers(0, 4, (50, noise.dimension)).astype(float))
    assert (pickle.loads(pickle.dumps(cells)).codes(outputs) == cells.codes(outputs)).all()
    assert [side.sum() for side in noise.law(x, x_prime, 0.8)] == pytest.approx([1, 1])
    assert cells.describe(0, cells.size)


def test_sampled_frequencies_are_the_law_of_the_cells():
    sampled = import_module("mechanisms.student_t").sample(100_000, np.random.default_rng(3), nu=5, d=3)
    noise = ball("(1 + r**2/5)**(-4)", epsilon="1775/1000")
    x, x_prime = noise.worst_pairs()[0]
    cells = noise.partition(x, x_prime)
    for scale in (1.0, 0.5):
        for answer, expected in zip((x, x_prime), noise.law(x, x_prime, scale), strict=True):
            found = np.bincount(cells.codes(Outputs(answer + scale * sampled)), minlength=cells.size) / 100_000
            assert found == pytest.approx(expected, abs=0.015)


def test_outputs_of_another_shape_are_refused_by_name():
    cells = _cached("exp(-abs(z))")
    with pytest.raises(AuditError, match=r"gives \[float, float\] as an output"):
        cells.codes(Outputs(np.zeros((3, 2)), names=("[float, float]",)))
    with pytest.raises(AuditError, match="None"):
        cells.codes(Outputs(np.zeros((3, 1)), names=("None",)))
    with pytest.raises(AuditError, match="several shapes"):
        cells.codes(Outputs(np.zeros((2, 1)), np.array([0, 1]), ("float", "str")))
    table = law(KaryResponse(num(3), parse("1/2")), sensitivity=None)
    with pytest.raises(AuditError, match="0 to 2"):
        table.partition(np.array([0]), np.array([1])).codes(one(0, 3))


# -- pairs ------------------------------------------------------------------------------------------------------


def test_worst_pairs_lie_at_exactly_the_sensitivity():
    for norm, dimension in ((L1, 3), (L2, 3), (LINF, 3), (Norm("lp", Fraction(3, 2)), 3), (CUBE, 3), (SIGMA, 2), (HEXAGON, 2)):
        noise = ball("exp(-r)", norm, dimension, sensitivity="7/3")
        for x, x_prime in noise.worst_pairs():
            assert noise.distance(x_prime - x) == pytest.approx(7 / 3)
            assert noise.neighbours(x, x_prime) and not noise.neighbours(x, x_prime * 1.001)


def test_a_querys_worst_pair_is_a_column():
    rows = tuple(tuple(map(Fraction, row)) for row in ((1, 1, 1, 1), (-1, -1, 1, 1), (-1, 1, -1, 1)))
    noise = ball("exp(-r)", CUBE, 3, sensitivity=None, query=Query(rows, "add-remove"))
    for _, x_prime in noise.worst_pairs():
        assert any(np.allclose(x_prime, sign * np.array(column, dtype=float)) for column in zip(*rows, strict=True) for sign in (1, -1))


@pytest.mark.parametrize(
    ("density", "norm", "expected"), [("exp(-abs(z))", L1, [1, 0]), ("exp(-abs(z))", L2, [2**-0.5] * 2), ("1/(1 + z**2)", L1, [0.5] * 2)]
)
def test_product_noise_splits_the_sensitivity_where_the_modulus_is_concave(density, norm, expected):
    # Laplace: linear, so an l1 budget goes on one coordinate and an l2 budget is split; Cauchy: 2 asinh(s/2) is concave
    noise = law(Product(parse(density), num(2), norm))
    assert noise.worst_pairs()[0][1] == pytest.approx(expected)


def test_the_worst_inputs_of_finite_mechanisms_have_the_largest_ratio():
    rows = (("2/3", "1/6", "1/6"), ("1/3", "1/3", "1/3"), ("1/6", "1/6", "2/3"))
    table = law(Table(tuple(tuple(map(parse, row)) for row in rows), ((0, 1), (1, 2))), sensitivity=None)
    ((a, b),) = table.worst_pairs()
    assert {int(a[0]), int(b[0])} in ({0, 1}, {1, 2})
    assert not table.neighbours(np.array([0]), np.array([2]))
    scores = law(Exponential(((num(3), num(1)), (num(2), num(2))), parse("1/2")), sensitivity=None)
    assert scores.probabilities(np.array([0])) == pytest.approx(special.softmax([1.5, 0.5]))
    hot = scores.law(np.array([0]), np.array([1]), 0.5)[0]
    assert sorted(hot) == pytest.approx(sorted(special.softmax([3, 1])))


def test_a_kernels_worst_pair_is_found_at_the_ends():
    bounded = Kernel(parse("exp(-abs(y - theta))/(2 - exp(-theta) - exp(theta - 1))"), (num(0), num(1)), (num(0), num(1)))
    ((a, b),) = law(bounded, sensitivity=None).worst_pairs()
    assert {float(a[0]), float(b[0])} == {0.0, 1.0}
    ((a, b),) = law(bounded, sensitivity="1/4").worst_pairs()
    assert sorted([float(a[0]), float(b[0])]) in ([0.0, 0.25], [0.75, 1.0])


# -- curves --------------------------------------------------------------------------------------------------------


def gaussian_delta(epsilon, ratio):
    return stats.norm.cdf(ratio / 2 - epsilon / ratio) - np.exp(epsilon) * stats.norm.cdf(-ratio / 2 - epsilon / ratio)


@pytest.mark.parametrize("noise", [line("exp(-z**2/8)"), ball("exp(-r**2/8)"), law(Product(parse("exp(-z**2/8)"), num(3)))])
def test_gaussian_noise_has_its_closed_curve_in_every_form(noise):
    curve = noise.curve()
    assert len(curve) == 12 and curve[0].epsilon == 0 and curve[-1].delta < 1.1e-6
    for point in curve:
        exact = gaussian_delta(point.epsilon, 0.5)
        assert exact <= point.delta <= exact * (1 + 1e-8) + 2e-12


def test_gaussian_noise_by_quadrature_agrees_with_the_closed_form():
    for point in quadrature_curve(line("exp(-z**2/2)"), [0.5, 1.0]):
        assert point.delta == pytest.approx(gaussian_delta(point.epsilon, 1.0), rel=1e-8, abs=1e-11)


def test_laplace_noise_has_its_closed_curve():
    for point in line("exp(-abs(z)/2)", sensitivity="3").curve():
        exact = max(0.0, -np.expm1((point.epsilon - 1.5) / 2))
        assert exact - 1e-15 <= point.delta <= exact * (1 + 1e-8) + 2e-12


def test_the_curve_of_logistic_noise_is_its_hockey_stick():
    p, q = stats.logistic(), stats.logistic(1)

    def gap(y, epsilon):
        return max(p.pdf(y) - np.exp(epsilon) * q.pdf(y), 0.0)

    for point in line("exp(-z)/(1 + exp(-z))**2").curve()[::3]:
        exact, _ = integrate.quad(gap, -60, 60, args=(point.epsilon,), points=[-5, 0, 0.5, 5], limit=500)
        assert point.delta == pytest.approx(exact, rel=1e-6, abs=1e-9)


def test_discrete_laplace_noise_has_its_summed_curve():
    noise = law(Translation(parse("exp(-abs(z))"), integers=True))
    k = np.arange(-60, 62)
    p, q = stats.dlaplace(1).pmf(k), stats.dlaplace(1).pmf(k - 1)
    for point in noise.curve():
        assert point.delta == pytest.approx(np.maximum(p - np.exp(point.epsilon) * q, 0).sum(), rel=1e-8, abs=3e-12)


def curve_of_radius(log_profile, dimension, reach):
    with np.errstate(divide="ignore"):
        radius = quadrature(lambda r: (dimension - 1) * np.log(r) + log_profile(r), 0.0)
    return radial_curve(log_profile, radius, dimension, reach)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("dimension", "reach"), [(2, 0.1), (3, 1.0), (20, 3.0), (3, 0.001)])
def test_spherical_gaussian_noise_by_caps_agrees_with_the_closed_form(dimension, reach):
    for point in curve_of_radius(lambda r: -(r**2) / 2, dimension, reach):
        exact, slack = gaussian_delta(point.epsilon, reach), 1e-11 + 2e-15 * np.exp(point.epsilon)
        assert exact - 1e-15 <= point.delta <= exact * (1 + 2e-9) + slack


def test_spherical_noise_becomes_laplace_noise_as_the_dimension_falls_to_one():
    for point in curve_of_radius(lambda r: -r, 1 + 1e-9, 1.0):
        assert point.delta == pytest.approx(-np.expm1((point.epsilon - 1) / 2), abs=3e-9)


@pytest.mark.wide
def test_the_curve_of_t_noise_is_its_hockey_stick_over_a_ball():
    # the loss 4 log((5 + |y - e|^2) / (5 + |y|^2)) reaches epsilon in a ball: with k = exp(epsilon/4), about -e/(k - 1)
    nodes, weights = np.polynomial.legendre.leggauss(300)
    constant = special.gamma(4) / (special.gamma(2.5) * (5 * np.pi) ** 1.5)
    for point in ball("(1 + r**2/5)**(-4)").curve()[1:]:
        centre = 1 / np.expm1(point.epsilon / 4)
        size = np.sqrt(max(0.0, centre**2 + centre - 5))
        length, cosine = size * (1 + nodes[:, None]) / 2, nodes
        along, across = length * cosine - centre, length**2 * (1 - cosine**2)
        p, q = ((1 + ((along - at) ** 2 + across) / 5) ** -4.0 for at in (0, 1))
        gap = (p - np.exp(point.epsilon) * q) * 2 * np.pi * length**2 * weights[:, None] * size / 2 * weights
        assert point.delta == pytest.approx(constant * gap.sum(), rel=3e-9, abs=5e-12)


@pytest.mark.wide
def test_two_solid_balls_at_distance_one_share_five_sixteenths():
    (point,) = ball("1 - min(1, floor(r))").curve()
    assert (point.epsilon, point.delta) == (0, pytest.approx(11 / 16, rel=1e-8))


@pytest.mark.wide
def test_an_ellipsoid_has_the_curve_of_the_ball_in_its_own_coordinates():
    for mine, round_ in zip(ball("exp(-r)", SIGMA, 2).curve(), ball("exp(-r)", L2, 2).curve(), strict=True):
        assert (mine.epsilon, mine.delta) == pytest.approx((round_.epsilon, round_.delta), rel=1e-9)


def test_no_curve_is_given_for_corners_or_for_a_density_that_rises():
    assert ball("exp(-r)", L1).curve() is None
    assert ball("r**2*exp(-r)").curve() is None
    assert ball("exp(-r)", sensitivity="1/10**12").curve() is None


@pytest.mark.wide
def test_no_curve_is_given_where_a_smaller_move_is_worse():
    wavy = Translation(parse("max(1/100, 1 - abs(z - 2*floor(z/2) - 1))*exp(-abs(z)/50)"))  # nearly of period 2
    assert law(wavy, sensitivity="2").curve() is None
    assert len(law(wavy, sensitivity="2").worst_pairs()) == 2


# -- what is not declared -------------------------------------------------------------------------------------------


def test_without_a_density_in_numbers_nothing_is_declared():
    assert declared(Claim(Sampled(), num(1))) is None
    free = Claim(Translation(parse("exp(-abs(z)/b)")), num(1), sensitivity=num(1), domains=(("b", Domain(Fraction(0))),))
    assert declared(free) is None


def test_a_density_without_a_finite_integral_is_refused():
    with pytest.raises(AuditError, match="integral"):
        line("1/(1 + abs(z))")
