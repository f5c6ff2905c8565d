"""Sums of many losses at fewer places, rare ones apart, one product for both orders: bounds on both sides (theory#loss-distribution)."""

import math
from dataclasses import replace
from fractions import Fraction

import mpmath
import pytest
from flint import arb, fmpz_poly
from hypothesis import given, settings
from hypothesis import strategies as st

from dpverify.search.composition.loss_distribution import propose, touching, worse_order
from dpverify.trusted.facts.pairs import Curve, Pair, symmetric
from dpverify.trusted.kernel.balls import exact, precision, rational
from dpverify.trusted.kernel.errors import STUMBLES, Rejected
from dpverify.trusted.kernel.expr import Num
from dpverify.trusted.theories.composition import losses
from dpverify.trusted.theories.composition.grid import Grid, Masses
from dpverify.trusted.theories.composition.rules import loss_distribution, poisson_subsampling
from dpverify.trusted.theories.curves.rules import gaussian
from tests.effort import examples, tries

F = Fraction
BITS = 96
SIDES = tuple(losses.Side)


def grid_of(spacing, bits=BITS, tail=90, low=-40, high=40, **more):
    return Grid(spacing, spacing / 2**20, bits, tail, ((low, high),), **more)


def profile(masses, spacing, epsilon):
    """The profile of masses by its definition, times 2^bits."""
    step = spacing * 2**masses.doublings
    listed = enumerate(masses.finite.coeffs(), masses.low)
    terms = [int(mass) * (1 - (epsilon - rational(step * place)).exp()).max(arb(0)) for place, mass in listed]
    return masses.infinite + sum(terms, arb(0))


some_masses = st.builds(
    lambda low, listed, rest: Masses(low, fmpz_poly([mass << (BITS - 40) for mass in listed] + [1 << (BITS - 40)]), rest << (BITS - 40)),
    st.integers(-9, 9),
    st.lists(st.one_of(st.just(0), st.integers(0, 2**30), st.integers(0, 50)), max_size=14),
    st.integers(0, 2**20),
)
spacings = st.sampled_from([F(1, 3), F(1, 20), F(7, 4), F(1, 1000)])


@pytest.mark.wide
@settings(max_examples=tries(examples(150), 3000))
@given(some_masses, spacings, st.data())
def test_masses_at_every_second_place_bound_those_at_all_places(masses, spacing, data):
    grid = grid_of(spacing)
    above, below = (losses._Products(grid, side).halved(masses) for side in SIDES)
    assert all(mass >= 0 for found in (above, below) for mass in found.finite.coeffs())
    assert above.doublings == below.doublings == masses.doublings + 1 and above.infinite == below.infinite == masses.infinite
    for _ in range(6):
        epsilon = rational(spacing * data.draw(st.fractions(-14, 26, max_denominator=8)))
        with precision(300):
            old = profile(masses, spacing, epsilon)
            assert not profile(above, spacing, epsilon) < old
            assert not profile(below, spacing, epsilon) > old


def inverse_mean(masses, spacing):
    """Of e^-loss, times 2^bits; and by how much it moves where every mass is rounded."""
    step = rational(spacing * 2**masses.doublings)
    factors = [(-step * (masses.low + j)).exp() for j in range(len(masses.finite.coeffs()))]
    return sum((int(mass) * factor for mass, factor in zip(masses.finite.coeffs(), factors, strict=True)), arb(0)), sum(factors, arb(0))


@given(some_masses, spacings)
def test_masses_that_are_split_keep_their_total_and_that_of_the_other_distribution(masses, spacing):
    found = losses._Products(grid_of(spacing), losses.Side.UPPER).halved(masses)
    assert 0 <= int(found.finite(1)) - int(masses.finite(1)) <= found.finite.length()
    with precision(300):
        (before, _), (after, rounded) = inverse_mean(masses, spacing), inverse_mean(found, spacing)
        assert abs(after - before) <= 2 * rounded * (1 + masses.finite(1) * arb(2) ** -BITS)


@pytest.mark.parametrize("spacing", [F(1, 20), F(1, 1000)])
def test_masses_that_change_little_from_place_to_place_keep_both_totals_from_below(spacing):
    listed = [int(mpmath.exp(-mpmath.mpf(j - 60) ** 2 / 200) * 2**BITS) for j in range(200)]
    masses = Masses(-60, fmpz_poly(listed), 0)
    found = losses._Products(grid_of(spacing), losses.Side.LOWER).halved(masses)
    with precision(300):
        (before, _), (after, _) = inverse_mean(masses, spacing), inverse_mean(found, spacing)
        assert abs(after / before - 1) < rational(spacing) * arb("1e-5")
    assert 0 <= int(masses.finite(1)) - int(found.finite(1)) < int(masses.finite(1)) // 10**8


def responses(ratio):
    def at(epsilon):
        p = 1 / (1 + (-rational(ratio)).exp())
        return ((p - epsilon.exp() * (1 - p)).max(arb(0)) + (1 - p - epsilon.exp() * p).max(arb(0))).max(arb(0))

    return symmetric(at)


def composed_responses(ratio, count, epsilon):
    r, e = mpmath.mpf(ratio.numerator) / ratio.denominator, mpmath.mpf(epsilon.numerator) / epsilon.denominator
    terms = (mpmath.binomial(count, i) * max(0, mpmath.exp((count - i) * r) - mpmath.exp(e + i * r)) for i in range(count + 1))
    return mpmath.fsum(terms) / (1 + mpmath.exp(r)) ** count


def composed_gaussian(mu, epsilon):
    e = mpmath.mpf(epsilon.numerator) / epsilon.denominator
    return mpmath.ncdf(mu / 2 - e / mu) - mpmath.exp(e) * mpmath.ncdf(-mu / 2 - e / mu)


turns = st.lists(st.integers(0, 7), max_size=4).map(sorted).map(tuple)
aparts = st.one_of(st.just(()), st.tuples(st.integers(0, 4), st.integers(-10, 40)))


def enclosed(sums, epsilon):
    upper, lower = sums
    with precision(300):
        at = rational(epsilon).mid()
        above, below = upper.at(at).upper(), losses.completed(at, lower.at(at)).lower()
        return mpmath.mpf(below.str(60, radius=False)), mpmath.mpf(above.str(60, radius=False))


def both_sums(parts, grid):
    alone = [([pair], times) for pair, times in parts]
    return losses.upper_sums(alone, grid), losses.lower_sums(alone, grid)


@settings(max_examples=tries(examples(60), 1000))
@given(
    st.integers(1, 70),
    turns,
    aparts,
    st.sampled_from([F(1, 10), F(1, 7)]),
    st.lists(st.fractions(-2, 3, max_denominator=16), min_size=3, max_size=3),
)
def test_responses_are_enclosed_whatever_squarings_double_the_spacing(count, doublings, apart, ratio, epsilons):
    grid = grid_of(F(1, 10), tail=60, low=-3, high=3, doublings=(doublings,), apart=(apart,) if doublings else ())
    found = both_sums([(responses(ratio), count)], grid)
    with mpmath.workdps(60):
        for epsilon in epsilons:
            lower, upper = enclosed(found, epsilon)
            assert lower <= composed_responses(ratio, count, epsilon) <= upper


@settings(max_examples=tries(examples(25), 300))
@given(st.sampled_from([3, 16, 65, 100]), turns, aparts, st.integers(1, 3), st.fractions(-1, 4, max_denominator=16))
def test_gaussians_of_several_parts_are_enclosed(count, doublings, apart, other, epsilon):
    one, two = gaussian.pair(Num(F(1, 8))), gaussian.pair(Num(F(1, 3)))
    few = {"doublings": (doublings, ()), "apart": (apart, ())} if doublings else {}
    grid = replace(grid_of(F(1, 40), tail=60), ranges=((-40, 40), (-90, 90)), **few)
    found = both_sums([(one, count), (two, other)], grid)
    with mpmath.workdps(60):
        lower, upper = enclosed(found, epsilon)
        assert lower <= composed_gaussian(mpmath.sqrt(mpmath.mpf(count) / 64 + mpmath.mpf(other) / 9), epsilon) <= upper


def leaky(pair, weight):
    kept = rational(1 - weight)
    return symmetric(lambda e: rational(weight) + kept * pair.forward(e))


@given(st.integers(1, 40), turns, st.sampled_from([F(3), F(40)]), st.fractions(0, 20, max_denominator=4))
def test_mass_at_a_far_loss_is_enclosed_too(count, doublings, far, epsilon):
    weight = F(1, 50)
    grid = grid_of(F(1, 10), tail=60, low=-3, high=3, far=far, doublings=(doublings,))
    with mpmath.workdps(60):
        lower, upper = enclosed(both_sums([(leaky(responses(F(1, 10)), weight), count)], grid), epsilon)
        kept = (1 - mpmath.mpf(1) / 50) ** count
        assert lower <= 1 - kept + kept * composed_responses(F(1, 10), count, epsilon) <= upper


def sampled(rate, sigma):
    return poisson_subsampling.sampled(gaussian.pair(Num(1 / sigma)), Num(rate))


@pytest.mark.parametrize(
    ("rate", "sigma", "count", "delta"),
    [(F(1, 100), F(1), 640, 1e-5), (F(1, 20), F(2), 1000, 1e-5), (F(1, 500), F(3, 4), 5001, 1e-5), (F(1, 20), F(4), 200, 1e-40)],
)
def test_what_the_search_chooses_agrees_with_one_spacing_and_is_close(rate, sigma, count, delta):
    """The same product without doublings, at the orders' own grids, is the second method."""
    pair = sampled(rate, sigma)
    evidence = touching([pair], propose([pair], [count], None, delta, 3, both=True))
    assert evidence["doublings"][0]
    plain = {key: value for key, value in evidence.items() if key not in ("doublings", "apart")}
    few, many = (both_sums([(pair, count)], losses.read_grid(one)) for one in (evidence, plain))
    assert few[0].masses.length() < many[0].masses.length() * 3 / 4
    with precision(300):
        at = exact(rational(F(1, 100)).mid())
        while many[0].at(rational(at).mid()).upper() > delta:
            at *= F(65, 64)
        ball = rational(at).mid()
        (up, down), (above, below) = ([float(one.at(ball).mid()) for one in pair_of] for pair_of in (few, many))
    assert below <= up and down <= above
    assert up / down - 1 < 0.02 * max(1.0, -math.log10(delta) / 5)


def curve(pair):
    return Curve(pair, pair, ())


@pytest.mark.wide
@pytest.mark.parametrize("keys", [("grid",), ("reverse",)])
def test_one_grid_bounds_both_orders_as_two_do(keys):
    pair, count = sampled(F(1, 10), F(1)), 50
    orders = {"grid": pair, "reverse": pair.reversed}
    grids = {key: touching([one], propose([one], [count], None, 1e-6, 3, both=True)) for key, one in orders.items()}
    two = loss_distribution.distributions([curve(pair)], [count], grids)
    one = loss_distribution.distributions([curve(pair)], [count], {key: grids[key] for key in keys})
    with precision(200):
        for epsilon in (0, F(1, 4), 1, 2, 30, 10**4):
            at = rational(F(epsilon)).mid()
            for order in ("forward", "backward"):
                above, below = getattr(one.upper, order)(at), getattr(one.lower, order)(at)
                assert above >= getattr(two.lower, order)(at).lower() and below.lower() <= getattr(two.upper, order)(at).upper()
                if epsilon in (F(1, 4), 1):
                    assert above / getattr(two.upper, order)(at) < 1.02
        assert one.upper.worst(rational(F(10**4)).mid()) < arb("1e-6")


def test_the_worse_order_of_a_sample_is_that_with_the_record_first():
    pair = sampled(F(1, 100), F(1))
    assert worse_order([pair], [100], None, 1e-5) == "grid" and worse_order([pair.reversed], [100], None, 1e-5) == "reverse"
    assert worse_order([pair], [100], 1.0, None) == "grid"


def test_a_composition_without_a_grid_is_refused():
    with pytest.raises(Rejected, match="neither order"):
        loss_distribution.distributions([curve(sampled(F(1, 10), F(1)))], [2], {})


def wrongly(name):
    """A step that leans to the other side."""
    honest = getattr(losses._Products, name)

    def changed(self, *arguments):
        other = SIDES[self.side is losses.Side.UPPER]
        return honest(losses._Products(self.grid, other), *arguments)

    return changed


def test_a_step_to_the_other_side_is_seen(monkeypatch):
    pair, grid = responses(F(1, 10)), grid_of(F(1, 10), low=-3, high=3, doublings=((1, 3),))

    def violations():
        found = both_sums([(pair, 64)], grid)
        with mpmath.workdps(60):
            truths = [(composed_responses(F(1, 10), 64, e), *enclosed(found, e)) for e in (F(1, 20), F(1, 2), F(1), F(9, 5))]
        return sum(lower > truth for truth, lower, _ in truths), sum(upper < truth for truth, _, upper in truths)

    assert violations() == (0, 0)
    monkeypatch.setattr(losses._Products, "halved", wrongly("halved"))
    lower, upper = violations()
    assert lower and upper


GOOD = {"spacing": "1/20", "nudge": "1/1000", "bits": 64, "tail": 50, "ranges": [[-60, 60]]}


@pytest.mark.parametrize(
    "change",
    [
        {"doublings": [[1], [1]]},
        {"doublings": [["1"]]},
        {"doublings": [[True]]},
        {"doublings": 3},
        {"doublings": [[1] * 65]},
        {"apart": [[2, 3]]},
        {"doublings": [[1]], "apart": [[2]]},
        {"doublings": [[1]], "apart": [[2, 3], []]},
        {"doublings": [[1]], "apart": [[-1, 3]]},
        {"doublings": [[1]], "apart": [[99, 3]]},
        {"doublings": [[1]], "apart": [[1, 3, 5]]},
    ],
)
def test_doublings_and_what_lies_apart_are_whole_numbers_for_every_part(change):
    with pytest.raises((Rejected, *STUMBLES), match=r"doublings|apart|not an integer|not iterable"):
        losses.read_grid({**GOOD, **change})


def test_lists_of_masses_keep_all_that_they_hold_when_they_are_parted():
    masses = Masses(-3, fmpz_poly([1 << 60, 2 << 60, 3 << 60, 4 << 60, 5 << 60]), 7 << 60)
    for side in SIDES:
        products = losses._Products(grid_of(F(1, 10)), side)
        near, far = products.parted([masses], 2, -1)
        assert near.finite == fmpz_poly([1 << 60, 2 << 60]) and near.infinite == 0 and far.infinite == 7 << 60 and far.doublings == 2
        (together,) = products.parted([products.halved(products.halved(near)), far], 2, -1)
        assert abs(int(together.finite(1)) - (15 << 60)) < 99


def test_pairs_of_which_one_order_is_unbounded_have_a_grid_for_each():
    def one_way(epsilon):
        return (-(epsilon - rational(F(1, 2))).expm1()).max(arb(0)) / 2

    pair = Pair(one_way, lambda _: arb(F(1, 4).numerator) / 4)
    assert worse_order([pair], [3], None, 1e-5) is None
