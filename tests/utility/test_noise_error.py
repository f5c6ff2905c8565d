"""The error of additive noise: against other ways to compute it, and laws that it obeys."""

import math
from fractions import Fraction as F
from itertools import pairwise

import mpmath as mp
import numpy as np
import pytest
from flint import arb, fmpz
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, optimize, special, stats

from dpverify.search.utility import noise_error
from dpverify.search.utility.errors import lacking
from dpverify.trusted.kernel import judgement as kernel
from dpverify.trusted.kernel.balls import constant, precision
from dpverify.trusted.kernel.bounds import INFINITE
from dpverify.trusted.kernel.errors import CertificateError, Rejected
from dpverify.trusted.kernel.expr import Num, num, parse
from dpverify.trusted.kernel.model import (
    L1,
    L2,
    LINF,
    Claim,
    Domain,
    EllipticalProcess,
    Group,
    Mixture,
    Norm,
    Part,
    Product,
    Radial,
    Staircase,
    Table,
    Translation,
)
from dpverify.trusted.kernel.proof import Proof
from dpverify.trusted.numbers.root_sums import Nodes, independent
from dpverify.trusted.theories.utility import exponential_sums, laws, tails
from dpverify.trusted.theories.utility.rules import root_of_squares
from tests.effort import examples
from tests.proofs import Step, fact

L32 = Norm("lp", F(3, 2))
ROUND = Norm("ellipsoid", None, ((F(2), F(1)), (F(1), F(3))))
HEXAGON = Norm("columns", None, ((F(1), F(0)), (F(0), F(1)), (F(1), F(1))))
HEXAGON_BY_FACETS = Norm("facets", None, ((F(1), F(0)), (F(0), F(1)), (F(1), F(-1))))
TWENTIETH = parse("1/20")


def radial(profile, norm=L2, d=1, scale="1"):
    return Radial(parse(profile), norm, num(d), parse(scale))


def t_noise(nu, d, scale="1"):
    return radial(f"(1 + r**2/{nu})**(-{F(nu + d, 2)})".replace("(-", "(-"), L2, d, scale)


def line(density, support=(None, None)):
    return Translation(parse(density), support)


def product(density, d):
    return Product(parse(density), num(d))


def integers(density):
    return Translation(parse(density), integers=True)


def asked(noise, beta=None):
    return Claim(noise, None, sensitivity=num(1), utility=True, beta=beta)


def errors(noise, beta=None, digits=8):
    """The best bounds of each kind that the kernel accepts of what is proposed: (lower, upper), as an answer has them."""
    claim = asked(noise, beta)
    proof = Proof(claim)
    facts = [
        kernel.infer(proof, step["rule"], step["evidence"], step["premises"], step["prec"])
        for step in noise_error.propose(proof, (), digits)
    ]
    found = {}
    for _, bound in kernel.judge(claim, facts).errors:
        name = bound.measure if bound.coordinate is None else (bound.measure, bound.coordinate)
        found.setdefault(name, {})[bound.side] = bound.value
    return {name: (sides.get("lower"), sides.get("upper")) for name, sides in found.items()}


def number(value):
    return math.inf if value is INFINITE else float(constant(value).mid())


def encloses(bounds, expected, within, width=1e-6):
    """Whether both ends are about the number, and the lower one not above the upper."""
    lower, upper = map(number, bounds)
    assert lower <= upper * (1 + 1e-15)
    assert lower <= expected * (1 + within) and expected * (1 - within) <= upper
    assert upper - lower <= width * upper
    return True


# -- moments -------------------------------------------------------------------------------------------


def by_angles(radius_moment, length, p, coordinate=None):
    """E||Z||^p in the plane, or of a coordinate: the direction at an angle has the cone measure, of density length^-2."""

    def part(angle, power):
        x, y = math.cos(angle), math.sin(angle)
        size = 1.0 if coordinate is None else abs((x, y)[coordinate])
        return length(x, y) ** (-2 - power) * size**power

    def total(power):
        return integrate.quad(part, 0, 2 * math.pi, args=(power,), limit=400, points=[k * math.pi / 4 for k in range(8)])[0]

    return radius_moment * total(p) / total(0)


LENGTHS = {
    "l1": (L1, lambda x, y: abs(x) + abs(y)),
    "l2": (L2, math.hypot),
    "l3/2": (L32, lambda x, y: (abs(x) ** 1.5 + abs(y) ** 1.5) ** (2 / 3)),
    "linf": (LINF, lambda x, y: max(abs(x), abs(y))),
    "ellipsoid": (ROUND, lambda x, y: math.sqrt((3 * x * x - 2 * x * y + 2 * y * y) / 5)),
    "hexagon": (HEXAGON, lambda x, y: max(abs(x), abs(y), abs(x - y))),
    "hexagon by facets": (HEXAGON_BY_FACETS, lambda x, y: max(abs(x), abs(y), abs(x - y))),
}


@pytest.mark.parametrize("name", LENGTHS)
def test_errors_of_noise_in_a_norm_are_those_by_integrals_over_angles(name):
    norm, length = LENGTHS[name]
    polytope = norm.kind in ("columns", "facets")
    for profile, scale, radius in (("exp(-r)", "2", (4, 24)), ("exp(-r**2/2)", "1", (math.sqrt(math.pi / 2), 2))):
        found = errors(radial(profile, norm, 2, scale))
        encloses(found["expected_l2"], by_angles(radius[0], length, 1), 1e-6, 0.3 if polytope else 2e-6)
        encloses(found["rms_l2"], math.sqrt(by_angles(radius[1], length, 2)), 1e-6)
        for i in (0, 1):
            encloses(found["expected_absolute", i], by_angles(radius[0], length, 1, i), 1e-6, 0.2 if polytope else 1e-6)
            encloses(found["rms", i], math.sqrt(by_angles(radius[1], length, 2, i)), 1e-6)


@pytest.mark.parametrize(("kind", "width"), [("columns", 6), ("facets", F(2, 3))])
def test_on_the_line_a_norm_by_columns_or_facets_is_a_multiple_of_the_size(kind, width):
    """exp(-|x|/b) has the mean size b, and is above b log 20 one time in twenty."""
    found = errors(radial("exp(-r)", Norm(kind, None, ((F(1),), (F(3),), (F(-2),))), 1, "2"), parse("1/20"))
    encloses(found["expected_l2"], width, 1e-9)
    encloses(found["rms_l2"], width * math.sqrt(2), 1e-9)
    encloses(found["exceeded"], width * math.log(20), 1e-9)


LINES = {
    "logistic": (line("exp(-z)/(1 + exp(-z))**2"), lambda z: math.exp(-abs(z)) / (1 + math.exp(-abs(z))) ** 2, (-40, 40)),
    "not centred": (line("exp(-abs(z - 1))"), lambda z: math.exp(-abs(z - 1)), (-40, 42)),
    "one side": (line("exp(-z)", (num(0), None)), lambda z: math.exp(-z), (0, 40)),
    "an interval": (line("1 + z", (num(-1), num(3))), lambda z: 1 + z, (-1, 3)),
    "a triangle": (line("max(0, 1 - abs(z))"), lambda z: max(0.0, 1 - abs(z)), (-1, 1)),
    "power": (line("exp(-abs(z)**(3/2))"), lambda z: math.exp(-(abs(z) ** 1.5)), (-20, 20)),
    "Gamma": (radial("r*exp(-2*r)"), lambda z: abs(z) * math.exp(-2 * abs(z)), (-20, 20)),
    "Bessel": (radial("besselk(0, r)"), lambda z: special.k0(abs(z)), (-30, 30)),
}


@pytest.mark.parametrize("name", LINES)
def test_errors_on_the_line_are_those_by_another_quadrature(name):
    noise, density, (low, high) = LINES[name]
    pieces = list(pairwise(sorted({low, high, *(x for x in (-1, 0, 1, 2) if low < x < high)})))
    means = [sum(integrate.quad(lambda z, p=p: density(z) * abs(z) ** p, *piece)[0] for piece in pieces) for p in (0, 1, 2)]
    found = errors(noise)
    encloses(found["expected_l2"], means[1] / means[0], 1e-5)
    encloses(found["rms_l2"], math.sqrt(means[2] / means[0]), 1e-5)
    assert found["expected_absolute", 0] == found["expected_l2"] and found["rms", 0] == found["rms_l2"]


def test_closed_forms_are_exact():
    assert errors(product("exp(-abs(z)/3)", 4))["rms_l2"] == (parse("sqrt(72)"),) * 2  # sqrt(2) b sqrt(d)
    assert errors(radial("exp(-2*r)", L2, 5))["expected_l2"] == (parse("5/2"),) * 2
    gauss = errors(radial("exp(-r**2/2)", L2, 3, "2"))
    for value in gauss["expected_l2"]:  # sigma sqrt(2) Gamma((d + 1)/2)/Gamma(d/2)
        assert constant(value).overlaps(constant(parse("2*sqrt(2)*gamma(2)/gamma(3/2)")))
    t = errors(t_noise(5, 3))
    assert t["rms_l2"] == (parse("sqrt(5)"),) * 2  # nu d/(nu - 2)
    q = "exp(-1/2)"
    geometric = errors(integers("exp(-abs(z)/2)"))
    assert number(geometric["rms_l2"][0]) == pytest.approx(number(parse(f"sqrt(2*{q})/(1 - {q})")), rel=1e-14)
    assert number(geometric["expected_l2"][0]) == pytest.approx(1 / math.sinh(0.5), rel=1e-14)


@pytest.mark.parametrize("density", ["exp(-z**2/8)", "exp(-abs(z)/2)", "exp(-abs(z - 1))", "1/(1 + z**2)**3", "exp(-abs(z))*(1 + z**2)"])
def test_errors_on_the_integers_are_sums(density):
    at = np.arange(-3000, 3001)
    p = np.array([eval(density, {"exp": math.exp, "abs": abs, "z": int(z)}) for z in at])
    found = errors(integers(density), TWENTIETH)
    encloses(found["expected_l2"], (abs(at) * p).sum() / p.sum(), 1e-6, 1e-5)
    encloses(found["rms_l2"], math.sqrt((at * at * p).sum() / p.sum()), 1e-6, 1e-5)
    least = min(t for t in range(100) if p[abs(at) > t].sum() <= p.sum() / 20)
    assert found["exceeded"] == found["exceeded_union"] == (num(least), num(least))


@pytest.mark.parametrize("gamma", ["0", "1/3", "1/2", "1/(1 + exp(1/2))", "1"])
def test_errors_of_staircase_noise_are_those_of_its_steps(gamma):
    g, q, eps = number(parse(gamma)), math.exp(-0.75), "3/4"
    edges = [(0, g, 1.0), *((g + k - 1, g + k, q**k) for k in range(1, 200))]
    mass = sum(h * (b - a) for a, b, h in edges)
    found = errors(Staircase(parse(eps), parse(gamma)), TWENTIETH)
    encloses(found["expected_l2"], sum(h * (b**2 - a**2) / 2 for a, b, h in edges) / mass, 1e-12)
    encloses(found["rms_l2"], math.sqrt(sum(h * (b**3 - a**3) / 3 for a, b, h in edges) / mass), 1e-12)
    beyond = optimize.brentq(lambda t: sum(h * max(0, b - max(a, t)) for a, b, h in edges) - mass / 20, 0, 50)
    encloses(found["exceeded"], beyond, 1e-9)


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5])
def test_cauchy_noise_has_infinite_errors_in_every_dimension(d):
    found = errors(t_noise(1, d))
    assert set(found.values()) == {(INFINITE, INFINITE)}
    assert {"expected_l2", "rms_l2", ("expected_absolute", d - 1), ("rms", 0)} <= found.keys()


@pytest.mark.parametrize("d", [1, 2, 4])
def test_t_noise_with_two_degrees_of_freedom_has_a_mean_and_no_mean_square(d):
    found = errors(t_noise(2, d))
    # Z = N sqrt(2)/chi_2: E||N|| sqrt(2) E(1/chi_2)
    mean = math.sqrt(2) * math.gamma((d + 1) / 2) / math.gamma(d / 2) * math.sqrt(2) * math.sqrt(math.pi / 2)
    encloses(found["expected_l2"], mean, 1e-12)
    assert found["rms_l2"] == found["rms", 0] == (INFINITE, INFINITE)


HEAVY = {
    "of the order of 1/z^2": line("1/(1 + abs(z))**2"),
    "between": line("1/(1 + z**2 + z/2)"),
    "on the integers": integers("1/(1 + z**2)"),
    "independent": product("1/(2 + z**2 + abs(z))", 3),
    "in a polytope": radial("(1 + r)**(-3)", HEXAGON, 2),
}


@pytest.mark.parametrize("name", HEAVY)
def test_heavy_noise_has_infinite_errors_by_its_density(name):
    found = errors(HEAVY[name])
    assert found["expected_l2"] == found["rms_l2"] == (INFINITE, INFINITE)


def test_a_mixture_is_as_heavy_as_its_mixing_law():
    """Gaussians of precision v: E 1/sqrt(v) exists and E 1/v does not."""
    noise = Mixture(parse("v**(3/2)*exp(-v*r**2/2)"), parse("exp(-v)/(1 + v)"), (num(0), None), L2, num(3))
    found = errors(noise)
    ratio = mp.quad(lambda v: mp.exp(-v) / (1 + v) / mp.sqrt(v), [0, 1, mp.inf]) / mp.quad(lambda v: mp.exp(-v) / (1 + v), [0, 1, mp.inf])
    encloses(found["expected_l2"], float(ratio) * 2 * math.sqrt(2 / math.pi), 1e-6)
    assert found["rms_l2"] == (INFINITE, INFINITE)


def test_a_mixture_in_closed_form_is_the_t_noise_that_it_is():
    noise = Mixture(parse("v**(3/2)*exp(-v*r**2/2)"), parse("v**(3/2)*exp(-5*v/2)"), (num(0), None), L2, num(3))
    assert number(errors(noise)["rms_l2"][0]) == pytest.approx(math.sqrt(5), rel=1e-12)


# -- the root of a sum ---------------------------------------------------------------------------------

FINE = Nodes(3, -150, 222)


@pytest.mark.parametrize("d", [1, 2, 3, 10, 100])
def test_the_mean_length_of_independent_gaussians_is_that_of_the_law_of_chi(d):
    with precision(200):
        found = independent(FINE, lambda t: 1 - (1 + 2 * constant(t)).rsqrt(), (arb(2) / arb.pi()).sqrt(), d)
        expected = arb(2).sqrt() * ((arb(d + 1) / 2).lgamma() - (arb(d) / 2).lgamma()).exp()
        assert found.contains(expected)
        assert found.rad() < expected * arb(10) ** -18


@pytest.mark.parametrize("parts", [1, 2])
def test_sums_for_one_number_are_off_by_as_much_as_the_factor_says_and_no_more(parts):
    nodes = Nodes(parts, -200 * parts, 200 * parts)
    worst = 0.0
    for k in range(12):
        s = mp.mpf(2) ** (mp.mpf(k) / (12 * parts))
        with mp.workprec(200):
            h = mp.log(2) / parts
            terms = ((1 - mp.exp(-s * mp.exp(j * h))) * mp.exp(-j * h / 2) for j in range(-400 * parts, 400 * parts))
            worst = max(worst, float(abs(h * mp.fsum(terms) / (2 * mp.sqrt(mp.pi)) / mp.sqrt(s) - 1)))
    assert float(nodes.off()) / 4 < worst <= float(nodes.off())


def test_a_mean_length_that_is_cut_short_is_enclosed_all_the_same():
    with precision(200):
        for nodes in (Nodes(1, -4, 6), Nodes(1, -30, 4), Nodes(1, -2, 30)):
            found = independent(nodes, lambda t: 1 - (1 + 2 * constant(t)).rsqrt(), (arb(2) / arb.pi()).sqrt(), 3)
            assert found.contains(arb(2).sqrt() / (arb(3) / 2).gamma())


@pytest.mark.sampled(1)
@pytest.mark.parametrize("density", ["exp(-abs(z))", "exp(-z)/(1 + exp(-z))**2", "exp(-abs(z - 1))"])
def test_the_mean_length_of_two_independent_numbers_is_a_double_integral(density):
    f = {"exp": math.exp, "abs": abs}
    at = np.concatenate([np.linspace(a, b, 401) for a, b in ((-30, -6), (-6, 0), (0, 1), (1, 6), (6, 30))])
    weights = np.zeros_like(at)
    for k in range(5):  # Simpson's rule on each piece, whose ends may be kinks
        weights[k * 401 : (k + 1) * 401] = _simpson(at[k * 401 : (k + 1) * 401])
    p = weights * [eval(density, f | {"z": float(z)}) for z in at]
    expected = (np.hypot.outer(at, at) * np.outer(p, p)).sum() / p.sum() ** 2
    encloses(errors(product(density, 2))["expected_l2"], expected, 1e-5, 1e-5)


def _simpson(x):
    weights = np.full(len(x), 2.0)
    weights[1::2], weights[0], weights[-1] = 4.0, 1.0, 1.0
    return weights * (x[1] - x[0]) / 3


# -- the greatest coordinate ---------------------------------------------------------------------------


def root(survival, beta=0.05):
    return optimize.brentq(lambda t: survival(t) - beta, 1e-6, 1e4, xtol=1e-13)


QUANTILES = {
    "Laplace": (product("exp(-abs(z)/2)", 3), lambda t: 1 - (1 - math.exp(-t / 2)) ** 3),
    "Gaussian": (radial("exp(-r**2/2)", L2, 3, "2"), lambda t: 1 - (1 - 2 * stats.norm.sf(t / 2)) ** 3),
    "cube": (radial("exp(-r)", LINF, 3), lambda t: stats.gamma.sf(t, 3)),
    "l1": (radial("exp(-r)", L1, 4, "3"), lambda t: 1 - (1 - math.exp(-t / 3)) ** 4),
    "l3/2": (radial("exp(-r**(3/2))", L32, 2), lambda t: 1 - stats.gamma.cdf(t**1.5, 2 / 3) ** 2),
    "logistic": (product("exp(-z)/(1 + exp(-z))**2", 2), lambda t: 1 - (1 - 2 * stats.logistic.sf(t)) ** 2),
    "t on the line": (t_noise(3, 1), lambda t: 2 * stats.t.sf(t, 3)),
    "an ellipsoid on the line": (radial("exp(-r)", Norm("ellipsoid", None, ((F(4),),)), 1), lambda t: math.exp(-t / 2)),
    "not centred": (line("exp(-abs(z - 1))"), lambda t: (math.exp(1 - t) + math.exp(-1 - t)) / 2 if t > 1 else 1),
    "one side": (line("exp(-z)", (num(0), None)), lambda t: math.exp(-t)),
    "an interval": (line("1", (num(-1), num(3))), lambda t: max(0, 3 - t) / 4 + max(0, 1 - t) / 4),
    "far on the left": (line("exp(z)", (None, num(-2))), lambda t: min(1, math.exp(2 - t))),
}


@pytest.mark.parametrize("name", QUANTILES)
def test_what_is_exceeded_rarely_is_the_root_of_another_formula(name):
    noise, survival = QUANTILES[name]
    encloses(errors(noise, TWENTIETH)["exceeded"], root(survival), 1e-9)


@pytest.mark.wide
def test_the_greatest_coordinate_of_t_noise_is_that_of_gaussians_of_a_random_variance():
    found = errors(t_noise(3, 2), TWENTIETH)

    def survival(t):
        return 1 - integrate.quad(lambda w: stats.chi2.pdf(w, 3) * math.erf(t * math.sqrt(w / 6)) ** 2, 0, np.inf, epsabs=1e-12)[0]

    encloses(found["exceeded"], root(survival), 1e-7)
    encloses(found["exceeded_union"], root(lambda t: 4 * stats.t.sf(t, 3)), 1e-9)


def test_kamaths_bound_is_beside_the_exact_one_and_above_it():
    found = errors(product("exp(-abs(z)*2)", 10), TWENTIETH)
    assert found["exceeded_union"] == (parse("log(200)/2"),) * 2
    assert number(found["exceeded"][1]) < number(found["exceeded_union"][0])


BETWEEN = {
    "secant in l2": radial("1/cosh(r)", L2, 3),
    "exponential in l3/2": radial("exp(-r)", L32, 2),
    "Gaussian covariance": radial("exp(-r**2/2)", ROUND, 2),
    "t of a covariance": Radial(parse("(1 + r**2/5)**(-7/2)"), ROUND, num(2)),
    "hexagon": radial("exp(-r)", HEXAGON, 2),
}


def sampled(noise, count=100_000):
    """Draws of radial noise: the length by inversion on a grid, the direction from uniform points of the ball in a box."""
    rng, d = np.random.default_rng(5), int(noise.dimension.value)
    length = {
        "lp": lambda x: np.linalg.norm(x, float(noise.norm.p), axis=1),
        "ellipsoid": lambda x: np.sqrt(np.einsum("ij,jk,ik->i", x, np.linalg.inv(np.array(noise.norm.matrix, float)), x)),
        "columns": lambda x: np.maximum(np.abs(x).max(1), np.abs(x[:, 0] - x[:, 1])),
    }[noise.norm.kind]
    box = rng.uniform(-1, 1, (4 * count, d)) * (2 if noise.norm.kind == "ellipsoid" else 1)
    sizes = length(box)
    directions = (box / sizes[:, None])[sizes <= 1][:count]
    r = np.linspace(1e-9, 200, 400_001)
    profile = str(noise_error.format_expr(noise.profile)).replace("exp", "np.exp").replace("cosh", "np.cosh").replace("sqrt", "np.sqrt")
    with np.errstate(over="ignore"):
        mass = np.cumsum(eval(profile, {"np": np, "r": r}) * r ** (d - 1))
    radius = np.interp(rng.uniform(size=len(directions)), mass / mass[-1], r)
    return directions * radius[:, None]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", BETWEEN)
def test_bounds_on_the_greatest_coordinate_hold_the_quantile_of_samples(name):
    noise = BETWEEN[name]
    found = errors(noise, TWENTIETH, digits=5)
    quantile = np.quantile(np.abs(sampled(noise)).max(1), 0.95)
    lower, upper = map(number, found["exceeded"])
    assert lower <= quantile * 1.02 and quantile <= upper * 1.02
    assert upper <= 1.25 * lower


def test_the_union_bound_in_a_hexagon_is_that_of_sums_of_exponentials():
    """In the cone of two corners v, w noise of exp(-||z||) is E v + F w, E and F exponential: a coordinate is E + F, E or F by a third."""
    found = errors(radial("exp(-r/3)", HEXAGON, 2, "2/3"), TWENTIETH)
    encloses(found["exceeded_union"], root(lambda t: 2 * math.exp(-t / 2) * (1 + t / 6)), 1e-9)
    assert number(found["exceeded"][0]) == pytest.approx(root(lambda t: math.exp(-t / 2) * (1 + t / 6)), rel=1e-7)


@pytest.mark.wide
def test_masses_between_cuts_enclose_what_the_closed_form_says_of_a_polytope():
    """With sqrt(1 + r^2) in place of r there is no closed form; by cuts both are enclosed."""
    claim = asked(radial("exp(-r)", HEXAGON, 2), TWENTIETH)
    exact = root(lambda t: 2 * math.exp(-t) * (1 + t / 3))
    for at, side in ((exact * 1.1, "upper"), (exact * 0.9, "lower")):
        evidence = {"body": HEXAGONAL, "bits": 30, "cuts": CUTS, "at": str(F(at).limit_denominator(1000)), "side": side}
        assert fact(claim, Step("polytope-tails", evidence)).says[0].side == side
    found = errors(radial("exp(-sqrt(1 + r**2))", HEXAGON, 2), TWENTIETH)
    quantile = np.quantile(np.abs(sampled(radial("exp(-sqrt(1 + r**2))", HEXAGON, 2))).max(1), 0.95)
    lower, upper = map(number, found["exceeded"])
    assert lower <= quantile <= upper <= 1.3 * lower


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=5), st.floats(0.1, 20))
@settings(max_examples=examples(30), deadline=None)
def test_tails_of_sums_of_exponentials_are_those_of_their_laws(factors, level):
    """By the density of a sum on a grid of equal factors taken together: sums of Gamma laws, by one integral for two of them."""
    found = exponential_sums.share_above([fmpz(a) for a in factors], arb(level))
    counts = {a: factors.count(a) for a in set(factors) if a}
    if len(counts) > 2 or not counts:
        counts = {}
    if len(counts) == 1:
        ((a, m),) = counts.items()
        expected = stats.gamma.sf(level / a, m) if a > 0 else 0.0
    elif len(counts) == 2:
        (a, m), (b, n) = sorted(counts.items(), reverse=True)
        points = [max(0.0, level / b)] if b > 0 else None

        def beyond(y):
            return stats.gamma.pdf(y, n) * (stats.gamma.sf((level - b * y) / a, m) if a > 0 else float(b * y > level))

        expected = integrate.quad(beyond, 0, 80, points=points if points and points[0] < 80 else None, limit=200)[0]
    else:
        return
    assert float(found.mid()) == pytest.approx(expected, rel=1e-6, abs=1e-9)


HEXAGONAL = {"of": "norm", "simplices": ["1 3", "2 3", "1 -2"]}
CUTS = [str(F(k, 4)) for k in range(4, 80)]
POLYTOPE = {
    "too near": ({"at": "4", "side": "upper"}, Rejected, "not certainly at most beta"),
    "too far": ({"at": "5", "side": "lower"}, Rejected, "not certainly above beta"),
    "too far for one": ({"at": "4", "side": "lower", "alone": True}, Rejected, "not certainly above beta"),
    "no body": ({"at": "5", "side": "upper", "body": None}, CertificateError, "cannot be used"),
    "another body": ({"at": "5", "side": "upper", "body": {**HEXAGONAL, "of": "query"}}, CertificateError, "whole unit ball"),
    "a part of it": ({"at": "5", "side": "upper", "body": {**HEXAGONAL, "axes": [["1", "0"]]}}, CertificateError, "whole unit ball"),
    "half of it": ({"at": "5", "side": "upper", "body": {**HEXAGONAL, "simplices": ["1 3", "2 3"]}}, Rejected, "missing"),
    "no cuts": ({"at": "5", "side": "upper", "cuts": []}, CertificateError, "cuts is a list"),
}
CLOSED = {
    "too near": ({"at": "46/10", "side": "upper"}, "exp(-r)", Rejected, "not certainly at most beta"),
    "too far": ({"at": "47/10", "side": "lower"}, "exp(-r)", Rejected, "not certainly above beta"),
    "another profile": ({"at": "47/10", "side": "upper"}, "exp(-r**2)", Rejected, "is not exp"),
    "a weight": ({"at": "47/10", "side": "upper"}, "r*exp(-r)", Rejected, "is not exp"),
}


@pytest.mark.parametrize("name", CLOSED)
def test_a_closed_tail_that_does_not_hold_is_refused(name):
    change, profile, error, why = CLOSED[name]
    with pytest.raises(error, match=why):
        fact(asked(radial(profile, HEXAGON, 2), TWENTIETH), Step("polytope-tails", {"body": HEXAGONAL, **change}))


@pytest.mark.parametrize("name", POLYTOPE)
def test_a_distance_in_a_polytope_that_does_not_hold_is_refused(name):
    change, error, why = POLYTOPE[name]
    evidence = {"body": HEXAGONAL, "bits": 30, "cuts": CUTS, "at": "5", "side": "upper"}
    claim = asked(radial("exp(-r)", HEXAGON, 2), TWENTIETH)
    assert {bound.measure for bound in fact(claim, Step("polytope-tails", evidence)).says} == {"exceeded_union", "exceeded"}
    with pytest.raises(error, match=why):
        fact(claim, Step("polytope-tails", {**evidence, **change}))


def test_the_tails_of_a_polytope_are_those_of_its_own_norm():
    evidence = {"body": {"of": "norm", "simplices": ["1 2", "1 -2"]}, "bits": 30, "cuts": CUTS, "at": "5", "side": "upper"}
    with pytest.raises(Rejected, match=r"the norm.*not given as a polytope"):
        fact(asked(radial("exp(-r)", L1, 2), TWENTIETH), Step("polytope-tails", evidence))


# -- laws ----------------------------------------------------------------------------------------------

SCALED = [
    lambda c: radial("exp(-r)", L1, 3, c),
    lambda c: t_noise(3, 2, c),
    lambda c: radial("exp(-r**2/2)", ROUND, 2, c),
    lambda c: product(f"exp(-abs(z)/({c}))", 2),
    lambda c: radial("exp(-r)", HEXAGON, 2, c),
]


@pytest.mark.wide
@settings(max_examples=10, deadline=None)
@given(st.sampled_from(SCALED), st.fractions(F(1, 50), 50, max_denominator=50))
def test_the_error_of_scaled_noise_is_scaled(make, c):
    once, scaled = errors(make("1")), errors(make(str(c)))
    assert once.keys() == scaled.keys()
    for name, bounds in once.items():
        for a, b in zip(bounds, scaled[name], strict=True):
            assert (a is b is INFINITE) or number(b) == pytest.approx(float(c) * number(a), rel=1e-12)


@pytest.mark.parametrize("unit", ["10**12", "1/10**9"])
@pytest.mark.parametrize("d", [2, 1000])
def test_a_mean_length_is_as_narrow_in_every_unit(unit, d):
    lower, upper = errors(product(f"exp(-abs(z)/({unit}))", d))["expected_l2"]
    assert upper.value - lower.value < upper.value / 10**16


@pytest.mark.parametrize("noise", [radial("exp(-r)", L32, 3), t_noise(3, 4), product("exp(-abs(z))", 5)])
def test_means_are_at_most_mean_squares_and_coordinates_at_most_the_whole(noise):
    found = errors(noise)
    assert number(found["expected_l2"][1]) <= number(found["rms_l2"][0])
    assert number(found["expected_absolute", 0][1]) <= number(found["expected_l2"][0])
    d = len([name for name in found if name[0] == "rms"])
    assert number(found["rms", 0][0]) ** 2 * d == pytest.approx(number(found["rms_l2"][0]) ** 2, rel=1e-12)


# -- randomized response -------------------------------------------------------------------------------


@pytest.mark.parametrize("p", ["3/4", "1/4", "99/100"])
def test_the_estimate_of_a_bit_has_the_error_of_its_two_outcomes(p):
    table = Table(((parse(p), parse(f"1 - {p}")), (parse(f"1 - {p}"), parse(p))))
    found = errors(table)
    q = F(p)
    for x in (0, 1):
        outcomes = [(abs((y - (1 - q)) / (2 * q - 1) - x), q if y == x else 1 - q) for y in (0, 1)]
        assert number(found["expected_l2"][0]) == pytest.approx(float(sum(e * w for e, w in outcomes)), rel=1e-14)
        assert number(found["rms_l2"][1]) == pytest.approx(math.sqrt(sum(e * e * w for e, w in outcomes)), rel=1e-14)


@pytest.mark.parametrize(
    "rows", [(("1/2", "1/2"), ("1/2", "1/2")), (("2/3", "1/3"), ("1/4", "3/4")), (("3/4", "3/4"), ("3/4", "3/4")), (("1", "0"), ("0", "1"))]
)
def test_a_table_that_is_no_randomized_response_has_no_estimate(rows):
    assert errors(Table(tuple(tuple(map(parse, row)) for row in rows))) == {}


# -- what is refused -----------------------------------------------------------------------------------

LAPLACE, CAUCHY, UNIT = product("exp(-abs(z))", 3), t_noise(1, 2), radial("exp(-r)", L2, 3)
MOMENTS = {"power": 1, "coordinates": 1}
REFUSED = {
    "no power": ("noise-moments", LAPLACE, {"power": 3, "coordinates": 1}, CertificateError, "whole number from 1 to 2"),
    "a power that is true": ("noise-moments", LAPLACE, {"power": True, "coordinates": 1}, CertificateError, "whole number from 1 to 2"),
    "coordinates below 0": ("noise-moments", LAPLACE, {"power": 1, "coordinates": -1}, CertificateError, "'coordinates' is -1"),
    "no accuracy": ("noise-moments", LAPLACE, {**MOMENTS, "bits": 0}, CertificateError, "'bits' is 0, not a whole number"),
    "no noise": ("noise-moments", Table(((parse("1"),),)), MOMENTS, Rejected, "only noise that is added"),
    "a density that is negative": (
        "noise-moments",
        line("exp(-abs(z))*(z**2 - 1)"),
        {**MOMENTS, "bits": 30},
        Rejected,
        "not certainly at least 0",
    ),
    "a density that is not integrable": ("noise-moments", radial("(1 + r**2)**(-1)", L2, 3), MOMENTS, Rejected, "not certainly integrable"),
    "a pole that is not integrable": ("noise-moments", radial("exp(-r)/r**4", L2, 3), MOMENTS, Rejected, "not certainly integrable"),
    "an unknown ball": ("noise-moments", radial("exp(-r)", HEXAGON, 2), MOMENTS, Rejected, "unit ball is a premise"),
    "no closed form": ("noise-moments", line("exp(-z)/(1 + exp(-z))**2"), MOMENTS, Rejected, "no closed form"),
    "integrals of stairs": ("noise-moments", Staircase(num(1), parse("1/2")), {**MOMENTS, "bits": 30}, Rejected, "closed forms"),
    "a finite mean": ("infinite-moments", UNIT, {**MOMENTS, "size": 0, "side": 1, "beyond": 16}, Rejected, "may fall faster"),
    "a mean of t noise": ("infinite-moments", t_noise(2, 2), {**MOMENTS, "size": 0, "side": 1, "beyond": 16}, Rejected, "may fall faster"),
    "no such size": (
        "infinite-moments",
        CAUCHY,
        {**MOMENTS, "size": 1, "side": 1, "beyond": 16},
        CertificateError,
        "not a whole number from 0 to 0",
    ),
    "a side that is text": (
        "infinite-moments",
        CAUCHY,
        {**MOMENTS, "size": 0, "side": "1", "beyond": 16},
        CertificateError,
        "not a whole number",
    ),
    "an end inside": (
        "infinite-moments",
        line("1/(1 + z**2)", (num(5), None)),
        {**MOMENTS, "size": 0, "side": 1, "beyond": 4},
        Rejected,
        "does not live on all",
    ),
    "no beta": ("noise-quantile", LAPLACE, {}, Rejected, "states no probability"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_hold_is_refused(name):
    rule, noise, evidence, error, why = REFUSED[name]
    with pytest.raises(error, match=why):
        fact(asked(noise), Step(rule, evidence))


SECANT = radial("1/cosh(r)", L2, 3)
QUANTILE = {
    "too near": (LAPLACE, {"at": "4", "side": "upper"}, Rejected, "not certainly at most beta"),
    "too far": (LAPLACE, {"at": "5", "side": "lower"}, Rejected, "not certainly above beta"),
    "no side": (LAPLACE, {"at": "5", "side": "both"}, CertificateError, "side is lower or upper"),
    "below 0": (LAPLACE, {"at": "-5", "side": "upper"}, CertificateError, "above 0"),
    "not Laplace": (UNIT, {}, Rejected, "not Laplace noise"),
    "no closed tail": (line("exp(-z)/(1 + exp(-z))**2"), {"at": "9", "side": "upper"}, Rejected, "no closed form"),
    "cuts that fall": (
        radial("1/cosh(r)", L2, 3),
        {"at": "9", "side": "upper", "bits": 30, "cuts": ["2", "1"]},
        CertificateError,
        "cuts is a list",
    ),
    "cuts of a mixture": (UNIT, {"at": "9", "side": "upper", "bits": 30, "near": "2", "far": "1"}, CertificateError, "near and far"),
    "a polytope": (radial("exp(-r)", HEXAGON, 2), {"at": "9", "side": "upper", "bits": 30}, Rejected, "lp norms and ellipsoids"),
}


@pytest.mark.parametrize("name", QUANTILE)
def test_a_quantile_that_does_not_hold_is_refused(name):
    noise, evidence, error, why = QUANTILE[name]
    with pytest.raises(error, match=why):
        fact(asked(noise, TWENTIETH), Step("noise-quantile", evidence))


@pytest.mark.parametrize("rule", ["noise-quantile", "union-bound"])
def test_a_distance_is_on_the_side_that_its_probability_says(rule):
    claim = asked(LAPLACE, TWENTIETH)
    above, below = (fact(claim, Step(rule, {"at": at, "side": side})).says for at, side in (("41/10", "upper"), ("4", "lower")))
    assert {(bound.side, bound.value) for bound in (*above, *below)} == {("upper", parse("41/10")), ("lower", parse("4"))}
    assert {bound.measure for bound in below} == {"exceeded_union" if rule == "union-bound" else "exceeded"}  # the sum is above beta first
    for at, side in (("4", "upper"), ("41/10", "lower")):
        with pytest.raises(Rejected, match="not certainly"):
            fact(claim, Step(rule, {"at": at, "side": side}))


def test_a_mean_length_rests_on_the_mean_of_its_own_first_coordinate():
    nodes = {"parts": 1, "first": -20, "last": 20}
    proof = Proof(asked(LAPLACE))
    with precision(128):
        square = proof.infer("noise-moments", (), {"power": 2, "coordinates": 1})
        mean = proof.infer("noise-moments", (), MOMENTS)
        assert proof.infer("root-of-squares", (), nodes, (mean,)).says[0].measure == "expected_l2"
        with pytest.raises(Rejected, match="not enclosed"):
            proof.infer("root-of-squares", (), nodes, (square,))
        with pytest.raises(CertificateError, match="one premise"):
            proof.infer("root-of-squares", (), nodes)
        with pytest.raises(CertificateError, match="whole number from"):
            proof.infer("root-of-squares", (), {**nodes, "first": 20}, (mean,))
        other = Proof(asked(product("exp(-abs(z)/2)", 3)))
        with pytest.raises(CertificateError, match="one premise"):
            other.infer("root-of-squares", (), nodes, (mean,))
        heavy = Proof(asked(product("1/(1 + z**2)", 3)))
        infinite = heavy.infer("noise-moments", (), MOMENTS)
        with pytest.raises(Rejected, match="not finite"):
            heavy.infer("root-of-squares", (), nodes, (infinite,))


def test_log_concave_bounds_want_a_convex_exponent_and_every_coordinate():
    for noise, wanted, why in (
        (radial("exp(-sqrt(r))", LINF, 2), 2, "not certainly radial noise in a norm with a log-concave density"),
        (radial("r*exp(-r)", LINF, 2), 2, "with a log-concave density"),
        (radial("exp(-r)", LINF, 2), 1, "every coordinate"),
        (LAPLACE, 3, "not certainly radial"),
    ):
        proof = Proof(asked(noise, TWENTIETH))
        with precision(128):
            squares = proof.infer("noise-moments", (), {"power": 2, "coordinates": wanted})
            with pytest.raises(Rejected, match=why):
                proof.infer("log-concave-noise", (), {}, (squares,))


LACKING = {
    "a group": (Group(Part(LAPLACE, num(1)), num(2)), "made of several"),
    "a process": (EllipticalProcess(parse("exp(-v)")), "infinite rank"),
    "a table": (Table(((parse("1"),),)), "no answer with noise added"),
}


@pytest.mark.parametrize("name", LACKING)
def test_what_has_no_error_says_why(name):
    mechanism, why = LACKING[name]
    assert why in lacking(Claim(mechanism, num(1)), "rms_l2")


def test_parameters_without_a_value_have_no_error():
    noise = Radial(parse("exp(-r)"), L2, num(2), parse("b"))
    claim = Claim(noise, None, sensitivity=num(1), domains=(("b", Domain(F(0))),), utility=True)
    assert noise_error.propose(Proof(claim), (), 10) == []
    with pytest.raises(Rejected, match="give every parameter a value"):
        fact(claim, Step("noise-moments", MOMENTS))


def test_values_are_written_as_dyadic_numbers():
    lower, upper = errors(line("exp(-z)/(1 + exp(-z))**2"))["expected_l2"]
    assert all(isinstance(end, Num) and end.value.denominator & (end.value.denominator - 1) == 0 for end in (lower, upper))


def test_a_mean_length_by_one_integral_is_of_independent_coordinates_or_of_lp_norms_and_ellipsoids():
    evidence = {"parts": 40, "first": -20, "last": 20}
    claim = asked(radial("exp(-r)", HEXAGON, 2))
    with pytest.raises(Rejected, match="neither independent coordinates nor a norm of lp or an ellipsoid"):
        root_of_squares._length(laws.read(claim, {}, "root-of-squares"), root_of_squares._nodes(evidence), arb(1), evidence)


TAILS = {
    "Cauchy on the line": (line("1/(1 + z**2)"), lambda t: 1 - 2 / math.pi * math.atan(t)),
    "a length of Cauchy type in the maximum norm": (radial("(1 + r**2)**(-2)", LINF, 2), lambda t: 1 / (1 + t * t)),
    "a length of exponential type in the maximum norm": (radial("exp(-r)", LINF, 3), lambda t: (1 + t + t * t / 2) * math.exp(-t)),
}


@pytest.mark.parametrize("name", TAILS)
@pytest.mark.parametrize("t", [F(1, 2), F(3)])
def test_tails_in_closed_form_are_those_of_calculus(name, t):
    noise, truth = TAILS[name]
    with precision(80):
        law = laws.read(asked(noise), {}, "noise-quantile")
        assert float(tails.greatest(law, t, {}, "noise-quantile").mid()) == pytest.approx(truth(float(t)), rel=1e-12)


def test_what_is_exceeded_of_a_mixture_on_the_line_is_that_of_laplace_noise():
    # N(0, v), v exponential of mean 2, has density exp(-|z|)/2
    noise = Mixture(parse("exp(-r**2/(2*v))/v**(1/2)"), parse("exp(-v/2)"), (num(0), None), L2, num(1))
    found = errors(noise, TWENTIETH)["exceeded"]
    encloses(found, math.log(20), 1e-6, 1e-3)


def test_what_is_exceeded_of_a_mixture_without_a_closed_form_is_the_mean_over_its_variances():
    noise = Mixture(parse("exp(-r**2/(2*v))/v**(1/2)"), num(1), (num(1), num(2)), L2, num(1))
    beyond = optimize.brentq(lambda t: integrate.quad(lambda v: special.erfc(t / math.sqrt(2 * v)), 1, 2)[0] - 0.05, 0.1, 10)
    encloses(errors(noise, TWENTIETH)["exceeded"], beyond, 1e-6, 1e-3)


@pytest.mark.parametrize("t", [F(1, 2), F(3, 2), F(7, 2)])
def test_tails_of_staircase_noise_at_the_edge_of_a_step(t):
    q, edges = math.exp(-0.75), [(0, 0.5, 1.0), *((k - 0.5, k + 0.5, math.exp(-0.75 * k)) for k in range(1, 200))]
    mass = sum(h * (b - a) for a, b, h in edges)
    with precision(80):
        law = laws.read(asked(Staircase(parse("3/4"), parse("1/2"))), {}, "noise-quantile")
        found = float(tails.greatest(law, t, {}, "noise-quantile").mid())
    assert found == pytest.approx(sum(h * max(0, b - max(a, t)) for a, b, h in edges) / mass, rel=1e-12) and q < 1
