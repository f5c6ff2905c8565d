"""Independent coordinates: dominated by one Laplace coordinate with the whole slope, and seen through one of their own."""

from fractions import Fraction as F

import mpmath
import numpy as np
import pytest
from flint import arb

from dpverify.search.additive import asymptotics
from dpverify.trusted.geometry.sensitivity import Sensitivity
from dpverify.trusted.kernel.errors import Rejected, Undecided
from dpverify.trusted.kernel.expr import ONE, num, parse
from dpverify.trusted.kernel.model import L1, L2, LINF, Norm, Product, Radial
from tests.told import product as curve

UNIT = Sensitivity(ONE, ONE)
LOGISTIC = "exp(-z)/(1 + exp(-z))**2"
SKEW = Norm("columns", None, ((F(2), F(1)), (F(1), F(3))))


def product(density, norm, d=2):
    return Product(parse(density), num(d), norm)


def two_scales(norm, d=2, stated=True):
    """The curve of coordinates whose exponent has no certain shape."""
    noise = product("exp(-z**2/2) + exp(-z**2/8)", norm, d)
    return curve(noise, UNIT, stated=stated, parameters=asymptotics.evidence(noise))


def laplace(ratio, epsilon):
    return max(0.0, 1 - float(mpmath.exp((epsilon - ratio) / 2)))


def middle(ball):
    return float(ball.mid())


def divergence(density, v, epsilon, reach=40, cells=1200):
    """The hockey stick of two coordinates by the midpoint rule."""
    t = (np.arange(cells) + 0.5) * 2 * reach / cells - reach
    p = np.outer(density(t), density(t))
    q = np.outer(density(t - v[0]), density(t - v[1]))
    return np.maximum(p - np.exp(epsilon) * q, 0).sum() / p.sum()


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("norm", "radius"), [(L1, 1), (L2, 2**0.5), (LINF, 2), (SKEW, 4)])
def test_the_bound_is_laplace_noise_moved_by_the_greatest_l1_length(norm, radius):
    """t noise, whose exponent 3 log(1 + z^2/5) has slopes of at most 3/sqrt(5)."""
    found = curve(product("(1 + z**2/5)**(-3)", norm), UNIT, stated=True).upper
    for epsilon in (0.0, 0.5):
        assert middle(found.forward(arb(epsilon))) == pytest.approx(laplace(radius * 3 / 5**0.5, epsilon), abs=1e-6)


@pytest.mark.parametrize(("norm", "radius"), [(L1, 1), (L2, 2**0.5), (LINF, 2), (SKEW, 4)])
def test_log_concave_coordinates_are_dominated_by_one_of_them_moved_by_the_greatest_l1_length(norm, radius):
    """The logistic density 1/(4 cosh(z/2)^2) moved by r crosses itself at r/2: at epsilon 0 the divergence is tanh(r/4)."""
    found = curve(product(LOGISTIC, norm), UNIT, stated=True)
    assert middle(found.upper.forward(arb(0))) == pytest.approx(float(mpmath.tanh(radius / 4)), abs=1e-12)
    assert found.exact == (norm == L1)


@pytest.mark.parametrize(
    ("text", "density"),
    [(LOGISTIC, lambda t: 1 / (4 * np.cosh(t / 2) ** 2)), ("exp(-max(2*z, -z))", None), ("1/cosh(z)", lambda t: 1 / np.cosh(t))],
)
def test_over_a_ball_of_l1_a_vertex_is_the_worst_shift_of_log_concave_coordinates(text, density):
    density = density or (lambda t: np.exp(-np.maximum(2 * t, -t)))
    found = curve(product(text, L1), UNIT, stated=True)
    for epsilon in (0.0, 0.5):
        worst = max(divergence(density, v, epsilon) for v in ((1, 0), (-1, 0), (0.5, 0.5), (0.5, -0.5), (-0.25, -0.75), (0.75, -0.25)))
        upper = middle(found.upper.forward(arb(epsilon)))
        assert upper == pytest.approx(worst, abs=2e-3)
        assert max(middle(f(arb(epsilon))) for f in (found.lower.forward, found.lower.backward)) == pytest.approx(upper, abs=1e-9)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("density", [lambda t: 1 / (4 * np.cosh(t / 2) ** 2), lambda t: np.exp(-np.sqrt(1 + t * t))])
@pytest.mark.parametrize("v", [(1, 0), (1, 1), (1, -1), (0.25, 0.75)])
def test_it_is_above_the_divergence_of_shifts_and_one_coordinate_is_below(density, v):
    text = LOGISTIC if density(0.0) == 0.25 else "exp(-sqrt(1 + z**2))"
    length = num(1) if max(v) < 1 else num(sum(map(abs, v)))
    upper = curve(product(text, L1), Sensitivity(length, length)).upper
    at = tuple(map(F, v))
    lower = curve(product(text, L1), Sensitivity(length, length, at)).lower
    for epsilon in (0.0, 0.25):
        true = divergence(density, v, epsilon)
        assert middle(lower.forward(arb(epsilon))) - 1e-3 < true < middle(upper.forward(arb(epsilon))) + 1e-3


def test_laplace_coordinates_in_l1_have_the_pair_of_one_of_them():
    found = curve(product("exp(-abs(z)/2)", L1, 5), UNIT, stated=True)
    for epsilon in (0.0, 0.25):
        for pair in (found.upper, found.lower):
            assert middle(pair.forward(arb(epsilon))) == pytest.approx(laplace(0.5, epsilon), abs=1e-12)


def test_one_coordinate_is_a_lower_bound_where_no_upper_bound_is_found():
    found = two_scales(L2, 3)
    assert found.upper is None
    p = lambda z: mpmath.exp(-z * z / 2) + mpmath.exp(-z * z / 8)  # noqa: E731
    expected = mpmath.quad(lambda z: max(p(z) - mpmath.exp(0.5) * p(z - 1), 0), [-20, -8, -4, -2, -1, 0, 0.5])
    expected /= 3 * mpmath.sqrt(2 * mpmath.pi)
    assert middle(found.lower.forward(arb(0.5))) == pytest.approx(float(expected), abs=1e-4)


def test_gaussian_coordinates_are_bounded_by_one_moved_by_the_greatest_l1_length():
    found = curve(product("exp(-z**2/2)", LINF, 3), UNIT, stated=True)
    for pair, mu in ((found.upper, 3), (found.lower, 1)):
        expected = mpmath.ncdf(mu / 2 - 0.5 / mu) - mpmath.exp("0.5") * mpmath.ncdf(-mu / 2 - 0.5 / mu)
        assert middle(pair.forward(arb(0.5))) == pytest.approx(float(expected), abs=1e-10)


def test_the_lower_bound_wants_to_know_how_answers_move():
    assert curve(product(LOGISTIC, L2), UNIT).lower is None
    still = curve(product(LOGISTIC, L2), Sensitivity(ONE, ONE, (F(0), F(-1))))
    stated = curve(product(LOGISTIC, L2), UNIT, stated=True)
    assert still.lower.forward(arb(0)).overlaps(stated.lower.forward(arb(0)))


def test_in_a_norm_by_columns_the_longest_coordinate_of_a_column_moves():
    found = curve(product("exp(-abs(z))", SKEW), UNIT, stated=True)
    assert middle(found.lower.forward(arb(0))) == pytest.approx(laplace(3, 0), abs=1e-12)


@pytest.mark.parametrize(
    ("noise", "reach"),
    [
        (product("exp(-abs(z) + 2*z)", L1), UNIT),
        (product("exp(-abs(z))", L1), Sensitivity(num(-1), num(-1))),
        (product("exp(-a*abs(z))", L1), UNIT),
        (product("max(0, 1 - abs(z))", L1), UNIT),
        (Radial(parse("exp(-r)"), L1, num(2)), UNIT),
    ],
)
def test_what_is_no_such_noise_is_rejected(noise, reach):
    with pytest.raises(Rejected):
        curve(noise, reach)


def test_neither_bound_is_undecided():
    with pytest.raises(Undecided):
        two_scales(L2, stated=False)
