"""Composition by privacy loss distributions: the truth lies between the bounds, and they are close (theory#loss-distribution)."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product

import mpmath
import numpy as np
import pytest
from flint import arb, fmpz_poly
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from dpverify.search import events
from dpverify.search.composition.loss_distribution import propose, touching
from dpverify.trusted.facts.pairs import Pair, symmetric
from dpverify.trusted.kernel.balls import exact, finite, precision, rational
from dpverify.trusted.kernel.errors import STUMBLES, Rejected, Undecided
from dpverify.trusted.theories.composition import grid as grids
from dpverify.trusted.theories.composition import losses
from dpverify.trusted.theories.composition.grid import Grid
from tests.effort import examples, tries

F = Fraction


@pytest.fixture(autouse=True)
def digits():
    with mpmath.workdps(45):
        yield


# -- pairs whose profiles are known ----------------------------------------------------------------


def finite_pair(p, q):
    def order(first, second):
        def profile(epsilon):
            return sum(((rational(x) - epsilon.exp() * rational(y)).max(arb(0)) for x, y in zip(first, second, strict=True)), arb(0))

        return profile

    return Pair(order(p, q), order(q, p))


def laplace(ratio):
    def profile(epsilon):
        return (-((epsilon - rational(ratio)) / 2).expm1()).max(arb(0))

    return symmetric(profile)


def leaky(pair, weight):
    """The pair with probability 1 - weight, and with the rest outputs that tell the two apart."""
    kept = rational(1 - weight)
    return Pair(lambda e: rational(weight) + kept * pair.forward(e), lambda e: rational(weight) + kept * pair.backward(e))


def gaussian(sigma, shift=1):
    def profile(epsilon):
        a, root = rational(F(shift) / sigma) / 2, arb(2).sqrt()
        b = epsilon / (2 * a)
        return ((b - a) / root).erfc() / 2 - epsilon.exp() * ((b + a) / root).erfc() / 2

    return symmetric(profile)


def subsampled(pair, rate):
    """((1 - rate) Q + rate P, Q)."""

    def forward(epsilon):
        q = rational(rate)
        return q * pair.delta((epsilon.expm1() / q).log1p())

    def backward(epsilon):
        q, factor = rational(rate), epsilon.exp()
        scaled = 1 - factor * (1 - q)
        if not scaled > 0:
            return arb(0)
        return scaled * pair.reversed.delta((factor * q / scaled).log())

    return Pair(forward, backward)


def randomized_response(ratio):
    """e^ratio to 1; ratio an exact rational."""

    def profile(epsilon):
        most = rational(ratio).exp()
        return ((most - epsilon.exp()) / (1 + most)).max(arb(0))

    return symmetric(profile)


def composed_responses(ratio, k, epsilon):
    """theory#gaussian-composition, with mpmath."""
    e, r = number(epsilon), number(ratio)
    terms = (mpmath.binomial(k, i) * max(0, mpmath.exp((k - i) * r) - mpmath.exp(e + i * r)) for i in range(k + 1))
    return mpmath.fsum(terms) / (1 + mpmath.exp(r)) ** k


def composed_gaussian(mu, epsilon):
    e = number(epsilon)
    return mpmath.ncdf(mu / 2 - e / mu) - mpmath.exp(e) * mpmath.ncdf(-mu / 2 - e / mu)


def number(value):
    value = F(value)
    return mpmath.mpf(value.numerator) / value.denominator


# -- helpers ---------------------------------------------------------------------------------------


def exact_ball(text):
    return rational(F(text)).mid()


class Composed:
    """Bounds on H of a product of pairs from both sides, at every real epsilon."""

    def __init__(self, parts, grid):
        alone = [([pair], times) for pair, times in parts]
        self.above, self.below, self.prec = losses.upper_sums(alone, grid), losses.lower_sums(alone, grid), grid.prec

    def upper(self, epsilon):
        with precision(self.prec):
            return self.above.at(finite(epsilon).lower()).upper().min(arb(1))

    def lower(self, epsilon):
        with precision(self.prec):
            at = finite(epsilon).upper()
            return losses.completed(at, self.below.at(at)).lower()

    def delta(self, epsilon):
        return self.lower(epsilon).union(self.upper(epsilon))


def made(parts, digits=4, **target):
    evidence = propose([pair for pair, _ in parts], [times for _, times in parts], target.get("epsilon"), target.get("delta"), digits)
    return Composed(parts, losses.read_grid(evidence))


def bounds(composition, epsilon):
    with precision(200):
        at = exact_ball(epsilon)
        lower, upper = composition.lower(at), composition.upper(at)
        assert lower.is_exact() and upper.is_exact()
        return mpmath.mpf(lower.str(40, radius=False)), mpmath.mpf(upper.str(40, radius=False))


TWENTIETH = F(1, 20)


def simple_grid(parts, spacing=TWENTIETH, low=-60, high=60, bits=64, tail=50, far=None, nudge=None, strides=()):
    return Grid(spacing, nudge or spacing / 2**20, bits, tail, ((low, high),) * len(parts), far, (strides,) * len(parts) if strides else ())


any_strides = st.one_of(
    st.just(()),
    st.lists(st.tuples(st.integers(-40, 40), st.integers(1, 30)), min_size=1, max_size=4, unique_by=lambda step: step[0]).map(
        lambda steps: tuple(sorted(steps))
    ),
)


# -- the truth is between the bounds ----------------------------------------------------------------

weights = st.lists(st.integers(0, 12), min_size=2, max_size=3)


@st.composite
def finite_parts(draw):
    parts = []
    for _ in range(draw(st.integers(1, 2))):
        size = draw(st.integers(2, 3))
        rows = [draw(st.lists(st.integers(0, 12), min_size=size, max_size=size).filter(any)) for _ in range(2)]
        parts.append((*([F(x, sum(row)) for x in row] for row in rows), draw(st.integers(1, 3))))
    return parts


def true_delta(parts, epsilon):
    """H of the product, by listing its outputs, to 200 bits."""
    rows = [list(zip(p, q, strict=True)) for p, q, times in parts for _ in range(times)]
    factor, total = rational(epsilon).exp(), arb(0)
    for outputs in product(*rows):
        p, q = math.prod((x for x, _ in outputs), start=F(1)), math.prod((y for _, y in outputs), start=F(1))
        total += (rational(p) - factor * rational(q)).max(arb(0))
    return total


@given(
    finite_parts(),
    st.fractions(-3, 3, max_denominator=50),
    st.sampled_from([F(1, 3), F(1, 10), F(2, 35)]),
    st.tuples(st.integers(-40, 5), st.integers(1, 60)),
    st.sampled_from([None, F(100)]),
    st.sampled_from([8, 40]),
    any_strides,
)
def test_the_truth_of_finite_products_lies_between_the_bounds_on_any_grid(parts, epsilon, spacing, ends, far, tail, strides):
    pairs = [(finite_pair(p, q), times) for p, q, times in parts]
    composition = Composed(pairs, simple_grid(pairs, spacing, ends[0], ends[0] + ends[1], tail=tail, far=far, strides=strides))
    with precision(200):
        at = exact_ball(epsilon)
        truth = true_delta(parts, F(epsilon))
        truth = truth.union(true_delta(parts, F(epsilon) + F(1, 2**180))).union(true_delta(parts, F(epsilon) - F(1, 2**180)))
        assert composition.lower(at) <= truth.upper()
        assert composition.upper(at) >= truth.lower()


@settings(max_examples=8)
@given(finite_parts().filter(lambda parts: all(min(*p, *q) > 0 for p, q, _ in parts)), st.fractions(-1, 3, max_denominator=50))
def test_on_a_fine_grid_the_bounds_of_finite_products_are_close(parts, epsilon):
    pairs = [(finite_pair(p, q), times) for p, q, times in parts]
    composition = Composed(pairs, simple_grid(pairs, F(1, 100), -270, 270))
    with precision(200):
        at = exact_ball(epsilon)
        assert composition.upper(at) - composition.lower(at) < arb(6) / 100


KNOWN = {
    "gaussian": gaussian(F(3, 2)),
    "laplace": laplace(F(7, 10)),
    "leaky laplace": leaky(laplace(F(7, 10)), F(1, 100)),
    "sampled gaussian": subsampled(gaussian(F(1)), F(1, 10)),
    "sampled gaussian, reversed": subsampled(gaussian(F(1)), F(1, 10)).reversed,
    "sampled laplace": subsampled(laplace(F(1)), F(1, 5)),
    "sampled laplace, reversed": subsampled(laplace(F(1)), F(1, 5)).reversed,
}


@settings(max_examples=tries(examples(60), 1000))
@given(
    st.sampled_from(sorted(KNOWN)),
    st.fractions(F(1, 100), F(1, 2), max_denominator=1000),
    st.tuples(st.integers(-30, 5), st.integers(1, 40)),
    st.sampled_from([2**30, 2**8, 5]),
    st.sampled_from([None, F(30)]),
    st.lists(st.fractions(-2, 3, max_denominator=100), min_size=4, max_size=4),
    any_strides,
)
def test_one_part_once_is_enclosed_on_any_grid(name, spacing, ends, shorter, far, epsilons, strides):
    pair = KNOWN[name]
    grid = simple_grid([pair], spacing, ends[0], ends[0] + ends[1], nudge=spacing / shorter, far=far, strides=strides)
    composition = Composed([(pair, 1)], grid)
    with precision(200):
        for epsilon in epsilons:
            at = exact_ball(epsilon)
            truth = pair.delta(at)
            assert composition.lower(at) <= truth.upper()
            assert composition.upper(at) >= truth.lower()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("far", [None, F(7)])
@pytest.mark.parametrize("count", [1, 1000, 3001])
def test_the_profile_of_masses_is_the_sum_over_the_losses_above_epsilon(count, far):
    bits, spacing, start = 60, F(1, 400), F(-2)
    weights = [(7 * j * j + 3) % 1009 for j in range(count)]
    sums = losses.Sums(bits, start, spacing, fmpz_poly([w << 40 for w in weights]), 5 << 40, far)
    for epsilon in (F(-3), F(-2), F(-1), F(-1) + F(1, 900), F(1, 3), F(21, 4), F(6), F(8)):
        with precision(140):
            found = sums.at(rational(epsilon).mid())
        expected = mpmath.mpf(5) * (1 if far is None else max(0, -mpmath.expm1(number(epsilon - far))))
        for j, weight in enumerate(weights):
            loss = start + j * spacing
            if loss > epsilon:
                expected -= weight * mpmath.expm1(number(epsilon - loss))
        assert abs(number(exact(found.mid())) - expected / 2**20) <= mpmath.mpf(10) ** -25 * (1 + expected)


def test_one_part_once_is_enclosed_at_every_epsilon_and_exact_at_the_upper_corners():
    pair = gaussian(F(2))
    composition = Composed([(pair, 1)], simple_grid([pair]))
    with precision(200):
        for tenth in range(-15, 25):
            at = exact_ball(F(tenth, 10))
            assert composition.lower(at) < pair.delta(at) <= composition.upper(at) + arb(2) ** -60
            assert composition.upper(at) - pair.delta(at) < arb(2) ** -50


@pytest.mark.parametrize("k", [1, 2, 7, 40])
def test_randomized_response_on_its_own_grid_is_the_optimal_composition(k):
    parts = [(randomized_response(F(3, 10)), k)]
    composition = Composed(parts, simple_grid(parts, F(1, 10), -4, 3, bits=128, tail=110, nudge=F(1, 10**12)))
    for epsilon in ("0", "0.25", "0.6", "1.5", "5"):
        lower, upper = bounds(composition, epsilon)
        truth = composed_responses(F(3, 10), k, epsilon)
        slack = mpmath.mpf(10) ** -38  # of the truth's own rounding
        assert lower <= truth + slack
        assert upper >= truth - slack
        assert upper - lower < 1e-9


def test_atoms_that_no_grid_fits_are_still_enclosed_closely():
    parts = [(randomized_response(F(1, 7)), 5), (randomized_response(F(314159, 1000000)), 3)]
    lower, upper = bounds(made(parts, epsilon=0.7), "0.7")
    truth, first, second = 0, mpmath.mpf(1) / 7, mpmath.mpf("0.314159")
    for i, j in product(range(6), range(4)):
        loss = (5 - 2 * i) * first + (3 - 2 * j) * second
        p = mpmath.binomial(5, i) * mpmath.exp((5 - i) * first) / (1 + mpmath.exp(first)) ** 5
        p *= mpmath.binomial(3, j) * mpmath.exp((3 - j) * second) / (1 + mpmath.exp(second)) ** 3
        truth += p * max(0, 1 - mpmath.exp(mpmath.mpf("0.7") - loss))
    assert lower <= truth <= upper
    assert upper - lower < truth / 1000


@pytest.mark.wide
def test_a_hundred_laplace_releases_to_a_relative_width_of_a_millionth():
    lower, upper = bounds(made([(laplace(F(1, 10)), 100)], digits=6, epsilon=2.0), "2")
    assert lower <= mpmath.mpf("0.018575772699549757") <= upper
    assert upper - lower < 1e-6 * lower


@pytest.mark.wide
def test_ten_thousand_gaussian_releases_to_a_thousandth_of_epsilon():
    composition = made([(gaussian(F(50)), 10**4)], digits=3, delta=1e-12)
    for epsilon in ("15.6", "15.6411", "15.7"):
        lower, upper = bounds(composition, epsilon)
        assert lower <= composed_gaussian(2, epsilon) <= upper
        # within a thousandth of epsilon on either side
        assert upper <= composed_gaussian(2, F(epsilon) - F(1, 1000))
        assert lower >= composed_gaussian(2, F(epsilon) + F(1, 1000))


@pytest.mark.wide
def test_different_gaussians_compose_as_the_sum_of_their_squares():
    parts = [(gaussian(F(3)), 4), (gaussian(F(5)), 7), (gaussian(F(2), F(1, 2)), 2)]
    lower, upper = bounds(made(parts, epsilon=2.5), "2.5")
    truth = composed_gaussian(mpmath.sqrt(mpmath.mpf(4) / 9 + mpmath.mpf(7) / 25 + mpmath.mpf(2) / 16), "2.5")
    assert lower <= truth <= upper
    assert upper - lower < 1e-4 * truth


@pytest.mark.wide
def test_two_subsampled_gaussians_as_by_direct_integration():
    rate, alpha = 0.2, math.exp(0.25)
    x = np.linspace(-12, 13, 400_001)
    weight, ratio = norm.pdf(x) * (x[1] - x[0]), 1 - rate + rate * np.exp(x - 0.5)

    def beyond(cut):
        return (1 - rate) * norm.sf(cut) + rate * norm.sf(cut - 1)

    def inverse(r):
        return np.log(np.maximum(r - 1 + rate, 1e-300) / rate) + 0.5

    # the inner integral over the outputs y of the second part with ratio(x) ratio(y) > alpha, or < 1/alpha, is closed
    cut = inverse(alpha / ratio)
    forward = np.sum(weight * (ratio * beyond(cut) - alpha * norm.sf(cut)))
    cut = inverse(1 / (alpha * ratio))
    backward = np.sum(weight * (norm.cdf(cut) - alpha * ratio * (1 - beyond(cut))))
    pair = subsampled(gaussian(F(1)), F(1, 5))
    for order, truth in ((pair, forward), (pair.reversed, backward)):
        lower, upper = bounds(made([(order, 2)], epsilon=0.25), "0.25")
        assert lower <= truth * (1 + 1e-8)
        assert upper >= truth * (1 - 1e-8)
        assert upper - lower < 3e-4 * truth


@pytest.mark.wide
def test_a_thousand_steps_of_private_gradient_descent_within_a_hundredth_of_epsilon():
    pair = subsampled(gaussian(F(1)), F(1, 100))
    for order in (pair, pair.reversed):
        composition = made([(order, 1000)], digits=2, delta=1e-5)
        for epsilon in (F(13, 10), F(183, 100)):
            lower, upper = bounds(composition, epsilon)
            # the upper bound falls below the lower one within a hundredth
            assert bounds(composition, epsilon + F(1, 100))[1] < lower <= upper


# -- mass at infinity -------------------------------------------------------------------------------


@pytest.mark.wide
def test_outputs_that_tell_everything_are_kept_on_both_sides():
    weight = F(1, 10**6)
    parts = [(leaky(laplace(F(1, 5)), weight), 30)]
    composition = made(parts, digits=6, delta=1e-4)
    truth = 1 - (1 - mpmath.mpf(10) ** -6) ** 30
    lower, upper = bounds(composition, "500")
    assert lower <= truth + mpmath.mpf(10) ** -20
    assert upper >= truth - mpmath.mpf(10) ** -20
    assert upper - lower < 1e-7 * truth


def test_parts_whose_outputs_never_coincide_have_delta_one():
    pair = finite_pair([F(1), F(0)], [F(0), F(1)])
    lower, upper = bounds(made([(pair, 2)], epsilon=3.0), "3")
    assert 1 - mpmath.mpf(10) ** -10 < lower <= upper == 1


def test_without_a_far_loss_no_mass_at_infinity_is_invented():
    pair = leaky(randomized_response(F(1, 10)), F(1, 2))
    composition = Composed([(pair, 3)], simple_grid([pair], F(1, 10), -3, 2))
    lower, upper = bounds(composition, "1")
    assert lower == 0
    assert 0.875 <= upper < 0.8751


def test_a_far_loss_that_is_not_far_enough_is_refused():
    pair = laplace(F(1))
    with pytest.raises(Rejected, match="far loss must be at or beyond"):
        Composed([(pair, 2)], simple_grid([pair], far=F(1, 2)))


def test_mass_that_only_seems_to_be_at_infinity_is_at_a_finite_loss_in_the_lower_bound():
    pair = gaussian(F(1, 4))  # much is left at a loss of 3
    composition = Composed([(pair, 2)], simple_grid([pair], F(1, 10), -30, 20, far=F(3)))
    for epsilon in ("1", "6", "20", "60"):
        lower, upper = bounds(composition, epsilon)
        assert lower <= composed_gaussian(4 * mpmath.sqrt(2), epsilon) <= upper


# -- roundings --------------------------------------------------------------------------------------


def rounded_wrongly(self, doubled):
    unit = 1 << self.grid.bits
    return doubled // unit if self.side is losses.Side.UPPER else -((-doubled) // unit)


def trimmed_wrongly(self, masses):
    other = losses.Side.LOWER if self.side is losses.Side.UPPER else losses.Side.UPPER
    return TRIMMED(losses._Products(self.grid, other), masses)


TRIMMED = losses._Products._trimmed


@pytest.mark.parametrize("mutant", [None, "products", "tails"])
def test_roundings_to_the_other_side_are_seen(monkeypatch, mutant):
    if mutant == "products":
        monkeypatch.setattr(losses._Products, "_rounded", rounded_wrongly)
    if mutant == "tails":
        monkeypatch.setattr(losses._Products, "_trimmed", trimmed_wrongly)
    ratio, k = F(1, 10), 64
    parts = [(randomized_response(ratio), k)]
    tail = 24 if mutant == "tails" else 39
    composition = Composed(parts, simple_grid(parts, ratio, -2, 1, bits=40, tail=tail, nudge=ratio / 2**36))
    sound = []
    for epsilon in ("0.05", "0.55", "1.05", "2.05"):
        lower, upper = bounds(composition, epsilon)
        truth = composed_responses(ratio, k, epsilon)
        sound.append((lower <= truth, truth <= upper))
    assert all(all(pair) for pair in sound) == (mutant is None)
    if mutant is not None:
        assert not all(low for low, _ in sound) and not all(high for _, high in sound)


def wide(profile):
    """The profile with an enclosure a hundredth wide on either side."""
    return lambda epsilon: profile(epsilon) + arb(0, "0.01")


def test_profiles_rounded_to_the_other_side_are_seen(monkeypatch):
    exact = gaussian(F(2))
    pair = Pair(wide(exact.forward), wide(exact.backward))

    def violations():
        composition = Composed([(pair, 1)], simple_grid([pair], nudge=F(1, 200)))
        with precision(200):
            balls = [exact_ball(F(tenth, 10)) for tenth in range(-10, 20)]
            return [
                sum(composition.lower(at) > exact.delta(at) for at in balls),
                sum(composition.upper(at) < exact.delta(at) for at in balls),
            ]

    assert violations() == [0, 0]
    floor, ceiling = grids.floor, grids.ceiling
    with monkeypatch.context() as changed:
        changed.setattr(grids, "floor", lambda ball, bits: -floor(-ball, bits))
        assert violations()[0] > 0
    with monkeypatch.context() as changed:
        changed.setattr(grids, "ceiling", floor)
        assert violations()[1] > 0
    assert ceiling is grids.ceiling


def test_wide_enclosures_of_the_parts_only_widen_the_bounds():
    exact = gaussian(F(2))
    pair = Pair(wide(exact.forward), wide(exact.backward))
    composition = Composed([(pair, 2)], simple_grid([pair], nudge=F(1, 100)))
    for epsilon in ("0", "0.5", "2"):
        lower, upper = bounds(composition, epsilon)
        assert lower <= composed_gaussian(mpmath.sqrt(2) / 2, epsilon) <= upper


@given(st.integers(-(10**6), 10**6), st.integers(-80, 10), st.integers(32, 64))
def test_integers_on_either_side_of_a_ball(mantissa, exponent, bits):
    with precision(128):
        value = F(mantissa) * F(2) ** exponent / 3
        ball = rational(value)
        assert F(grids.floor(ball, bits), 2**bits) <= value <= F(grids.ceiling(ball, bits), 2**bits)
        assert grids.ceiling(ball, bits) - grids.floor(ball, bits) <= 2


def test_products_of_masses_are_rounded_once_to_each_side():
    grid = simple_grid([None], bits=32, tail=32)
    left, right = grids.Masses(-1, fmpz_poly([3, 1 << 31]), 5), grids.Masses(2, fmpz_poly([7, 1 << 30]), 0)
    upper, lower = (losses._Products(grid, side).times(left, right) for side in losses.Side)
    top = F(2**61, 2**32)
    assert F(int(lower.finite[lower.finite.degree()])) == top <= F(int(upper.finite[upper.finite.degree()]))
    assert upper.infinite >= F(5 * ((1 << 30) + 7), 2**32) >= lower.infinite


# -- queries ----------------------------------------------------------------------------------------


def test_wide_epsilons_enclose_every_delta_inside():
    pair = gaussian(F(2))
    composition = Composed([(pair, 3)], simple_grid([pair]))
    with precision(200):
        ball = arb("0.7", "0.3")
        found = composition.delta(ball)
        for tenth in range(4, 11):
            assert found.contains(composition.delta(exact_ball(F(tenth, 10))))


def test_the_event_has_the_probabilities_of_the_true_event():
    composition = made([(gaussian(F(2)), 9)], digits=5, epsilon=2.0)
    with precision(200):
        p, q = events.probabilities(composition.lower, composition.upper, arb(2))
        mu = mpmath.mpf(3) / 2
        for ball, truth in ((p, mpmath.ncdf(mu / 2 - 2 / mu)), (q, mpmath.ncdf(-mu / 2 - 2 / mu))):
            assert ball.lower() <= arb(str(truth)).upper() and ball.upper() >= arb(str(truth)).lower()
            assert ball.rad() < arb("0.02") * abs(ball.mid())


def test_an_epsilon_that_is_not_enclosed_is_undecided():
    pair = gaussian(F(2))
    composition = Composed([(pair, 1)], simple_grid([pair]))
    with pytest.raises(Undecided):
        composition.upper(arb("nan"))


# -- evidence ---------------------------------------------------------------------------------------

GOOD = {"spacing": "1/20", "nudge": "1/2000000", "bits": 64, "tail": 50, "ranges": [[-60, 60]]}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"spacing": "0"}, "must be positive"),
        ({"spacing": "-1/3"}, "must be positive"),
        ({"nudge": "1/20"}, "between 0 and a quarter"),
        ({"nudge": "0"}, "between 0 and a quarter"),
        ({"spacing": "wide"}, "is not a fraction"),
        ({"bits": 8}, "bits must be"),
        ({"bits": True}, "not an integer"),
        ({"bits": 10**6}, "bits must be"),
        ({"tail": 0}, "bits must be"),
        ({"ranges": [[3, 3]]}, "between 1 and"),
        ({"ranges": [[0, 1 << 40]]}, "between 1 and"),
        ({"ranges": [[0, 1, 2]]}, "too many values"),
        ({"ranges": [["0", 1]]}, "not an integer"),
        ({"far": "-3"}, "far loss must be positive"),
    ],
)
def test_evidence_that_is_no_grid_is_refused(change, says):
    with pytest.raises((Rejected, *STUMBLES), match=says):
        losses.read_grid({**GOOD, **change})


def test_evidence_that_lacks_something_is_refused():
    for key in GOOD:
        with pytest.raises(KeyError, match=key):
            losses.read_grid({name: value for name, value in GOOD.items() if name != key})


def test_a_grid_for_other_parts_is_refused():
    pair = gaussian(F(2))
    with pytest.raises(Rejected, match="1 ranges for 2 parts"):
        Composed([(pair, 1), (pair, 2)], losses.read_grid(GOOD))
    with pytest.raises(Rejected, match="occurs 0 times"):
        Composed([(pair, 0)], losses.read_grid(GOOD))


def test_more_masses_than_are_worked_with_are_refused(monkeypatch):
    monkeypatch.setattr(losses, "MAX_CELLS", 100)
    pair = gaussian(F(2))
    with pytest.raises(Rejected, match="a wider spacing"):
        Composed([(pair, 4)], losses.read_grid(GOOD))


def test_the_search_evaluates_costly_profiles_as_often_as_told():
    evidence = propose([gaussian(F(2))], [3], 1.0, None, 8, evaluated=300)
    assert 200 < len(losses.read_grid(evidence).places(0)) <= 300


def test_losses_with_nothing_between_them_take_a_place_on_either_side_of_each():
    response, wide = randomized_response(F(2, 5)), gaussian(F(3))
    evidence = propose([response, wide], [3, 5], 1.0, None, 4)
    grid = losses.read_grid(evidence)
    assert len(grid.places(0)) <= 6 < 400 < len(grid.places(1))
    lower, upper = bounds(Composed([(response, 3), (wide, 5)], grid), "1")
    assert lower <= upper <= lower * mpmath.mpf("1.001")


def test_losses_beside_each_other_are_found_one_by_one_and_soon():
    """Six losses log(p/q), four of them within a tenth: the grid has a place on either side of each."""
    p, q = ([F(n, 200) for n in row] for row in ((40, 30, 20, 30, 40, 40), (20, 29, 21, 31, 39, 60)))
    asked = 0

    def counted(profile):
        def at(epsilon):
            nonlocal asked
            asked += 1
            return profile(epsilon)

        return at

    pair = finite_pair(p, q)
    evidence = propose([Pair(counted(pair.forward), counted(pair.backward))], [3], 1.0, None, 4)
    places, spacing = losses.read_grid(evidence).places(0), float(F(evidence["spacing"]))
    assert len(places) <= 2 * len(p) + 2
    for a, b in zip(p, q, strict=True):
        place = float(mpmath.log(mpmath.mpf(a.numerator) / a.denominator * b.denominator / b.numerator) / spacing)
        assert {math.floor(place + 1e-6), math.ceil(place - 1e-6)} <= set(places)
    assert asked < 2500


def test_losses_on_a_lattice_take_a_place_for_each_multiple():
    """The discrete Gaussian's losses are the odd multiples of 1/50."""
    weights = [mpmath.exp(-mpmath.mpf(n * n) / 50) for n in range(-12, 13)]
    total = mpmath.fsum(weights)
    p = [F(int(w / total * 2**160), 2**160) for w in weights]
    p[12] += 1 - sum(p)
    with precision(200):
        balls = [rational(x) for x in p]
        assert all(ball.is_exact() for ball in balls)

    def profile(epsilon):
        factor = epsilon.exp()
        return sum(((a - factor * b).max(arb(0)) for a, b in zip([*balls, arb(0)], [arb(0), *balls], strict=True)), arb(0))

    pair = symmetric(profile)
    places = losses.read_grid(propose([pair, gaussian(F(4))], [10, 3], 2.0, None, 4)).places(0)
    assert len(places) < 400


@pytest.mark.wide
def test_losses_of_a_lower_pair_and_mass_at_infinity_of_a_slow_one_are_on_the_grid():
    """One-sided noise: the greater of both orders has losses 0 and infinity, the pair itself -1 and infinity."""
    gone = 1 - rational(F(-1)).exp()

    def forward(epsilon):
        return gone + (1 - gone) * (-(epsilon + 1).expm1()).max(arb(0))

    def backward(epsilon):
        return (-(epsilon - 1).expm1()).max(arb(0))

    lower = Pair(forward, backward, everywhere=False)
    upper = symmetric(lambda epsilon: lower.worst(epsilon))
    for stand_ins in (None, [gaussian(F(1))]):
        grid = losses.read_grid(propose([upper], [2], 1.0, None, 5, stand_ins=stand_ins, lowers=[lower]))
        with precision(200):
            below = losses.lower_sums([([lower], 2)], grid).at(arb(1))
            truth = 1 - rational(F(-2)).exp()
            assert truth - rational(F(1, 10**6)) < below <= truth


def between_ends(epsilon):
    """The inputs 0 and 1 of noise e^-y on (0, 1) and its mirror image: the loss is 1 - 2y."""
    t = ((1 - epsilon) / 2).max(arb(0))
    return ((1 - (-t).exp() - epsilon.exp() * ((t - 1).exp() - arb(-1).exp())) / (1 - arb(-1).exp())).max(arb(0))


@given(touching=st.tuples(st.sets(st.integers(-2, 45)), st.sets(st.integers(-2, 45))), epsilon=st.fractions(-2, 2))
@settings(max_examples=examples(30), deadline=None)
def test_wherever_lines_touch_they_bound_from_below(touching, epsilon):
    pair, ends = symmetric(between_ends), (frozenset(touching[0]), frozenset(touching[1]))
    with precision(200):
        at = rational(epsilon).mid()
        below = losses.lower_sums([([pair], 1)], replace(simple_grid([None], low=-20, high=20), touching=(ends,))).at(at)
        assert below <= pair.delta(at) + arb(2) ** -150


def test_where_the_density_of_losses_begins_and_ends_lines_touch_at_the_ends():
    pair = symmetric(between_ends)
    plain = propose([pair], [2], 0.5, None, 3, evaluated=100)
    told = touching([pair], plain)
    assert any(told["touching"][0])
    with precision(200):
        without, found = (losses.lower_sums([([pair], 2)], losses.read_grid(grid)).at(arb(-1)) for grid in (plain, told))
        assert found > without


@pytest.mark.parametrize("wrong", [[[[], []], [[], []]], [[[1]]], [[["1"], []]], [[[True], []]], 3])
def test_cells_where_lines_touch_are_numbers_and_belong_to_every_part(wrong):
    with pytest.raises((Rejected, *STUMBLES), match=r"touching|not enough values|is not an integer|not iterable"):
        losses.read_grid({**GOOD, "touching": wrong})


def test_strides_must_rise_and_belong_to_every_part():
    for strides in ([[[0, 0]]], [[[5, 2], [5, 3]]], [[[0, 2]], []]):
        with pytest.raises(Rejected, match="strides"):
            losses.read_grid({**GOOD, "strides": strides})


def test_strides_step_over_places_and_keep_the_ends():
    grid = simple_grid([None], low=-4, high=21, strides=((0, 3), (10, 8)))
    assert grid.places(0) == [-4, -3, -2, -1, 0, 3, 6, 9, 12, 20, 21]


def test_the_search_wants_one_target():
    with pytest.raises(ValueError, match="either an epsilon or a delta"):
        propose([gaussian(F(2))], [1], None, None, 6)


def test_losses_that_reach_too_far_for_one_grid_get_a_coarser_one_and_are_given_up_where_there_is_none(monkeypatch):
    pair = symmetric(lambda epsilon: (-epsilon).exp() / 4)
    monkeypatch.setattr("dpverify.search.composition.loss_distribution.MOST_CELLS", 2)
    with pytest.raises(Undecided, match="reach too far for a grid"):
        propose([pair], [1], 1.0, None, 3)
    monkeypatch.setattr("dpverify.search.composition.loss_distribution.MOST_CELLS", 64)
    found = propose([pair], [1], 1.0, None, 3)
    assert all(high - low <= 64 for low, high in found["ranges"])


def test_wide_steps_end_where_shorter_ones_begin():
    from dpverify.search.composition.loss_distribution import _within

    steps = ((-60, 128), (-55, 64), (-50, 8), (-46, 1), (400, 16))
    grid = Grid(F(1, 100), F(1, 1000), 64, 30, ((-51, 500),), None, (tuple(_within(steps, -51)),))
    places = grid.places(0)
    assert set(range(-45, 401)) <= set(places) and max(after - here for here, after in pairwise(places)) <= 16


@pytest.mark.wide
def test_of_many_pairs_some_are_explored_and_the_others_are_near_them():
    from dpverify.search.composition.loss_distribution import _explore, _shapes

    pairs = [gaussian(F(100 + i, 10)) for i in range(60)]
    shapes = _shapes(pairs, [])
    for pair, shape in list(zip(pairs, shapes, strict=True))[::20]:
        assert shape.deviation == pytest.approx(_explore(pair).deviation, rel=0.02)
