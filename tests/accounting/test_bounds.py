"""What events cost lies between the bounds: truths by closed forms, by integrals over outputs, and by listing small data sets."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from dpverify.accounting.enclosures import Cost
from dpverify.accounting.events import Event
from dpverify.accounting.moving import moves
from dpverify.accounting.numbers_of_runs import fewest_stops, kept
from dpverify.accounting.relations import Relation
from dpverify.accounting.translate import Unsupported

ADD, ONE, SPECIAL = Relation.ADD_OR_REMOVE_ONE, Relation.REPLACE_ONE, Relation.REPLACE_SPECIAL
SLACK = 1e-7
"""Of the integrals that bounds are held against."""
GRID = np.linspace(-20, 20, 40_001)


def event(kind, *inner, **numbers):
    exact = {name: tuple(map(Fraction, value)) if isinstance(value, list) else value for name, value in numbers.items()}
    kept_as_they_are = (tuple, type(None))
    as_numbers = {
        name: value if isinstance(value, kept_as_they_are) or value == math.inf else Fraction(value) for name, value in exact.items()
    }
    return Event(kind, as_numbers, inner)


def gaussian(sigma):
    return event("GaussianDpEvent", noise_multiplier=sigma)


def sampled(rate, inside):
    return event("PoissonSampledDpEvent", inside, sampling_probability=rate)


def deltas(one, relation, epsilon):
    found = Cost([(one, 1)], relation).delta(Fraction(epsilon))
    return float(found.lower), float(found.upper)


def mixture(*weighted, sigma):
    """A mixture of normal densities on the grid, by weight and mean."""
    return sum(float(weight) * stats.norm.pdf(GRID, float(mean), float(sigma)) for weight, mean in weighted)


def excess(p, q, epsilon):
    """The greater of the two hockey-stick divergences of two densities on the grid."""
    step = GRID[1] - GRID[0]
    return max(np.maximum(a - math.exp(epsilon) * b, 0).sum() * step for a, b in ((p, q), (q, p)))


def held(bounds, truth):
    assert bounds[0] <= truth + SLACK and truth - SLACK <= bounds[1], (bounds, truth)


@pytest.mark.parametrize(("relation", "moved"), [(ADD, 1), (SPECIAL, 1), (ONE, 2)])
def test_a_record_in_the_place_of_another_moves_a_sum_twice_as_far(relation, moved):
    mu, epsilon = moved / 1.5, 1.0
    truth = stats.norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * stats.norm.cdf(-mu / 2 - epsilon / mu)
    low, high = deltas(gaussian("3/2"), relation, 1)
    held((low, high), truth)
    assert high - low < 1e-9
    laplace = Cost([(event("LaplaceDpEvent", noise_multiplier="3/2"), 1)], relation).epsilon(Fraction(0))
    assert laplace.lower <= Fraction(2 * moved, 3) <= laplace.upper
    assert float(laplace.upper - laplace.lower) < 1e-9


@pytest.mark.parametrize("relation", [ADD, SPECIAL])
def test_a_sample_is_a_mixture_and_exact(relation):
    truth = excess(mixture((0.8, 0), (0.2, 1), sigma=0.75), mixture((1, 0), sigma=0.75), 0.5)
    low, high = deltas(sampled("1/5", gaussian("3/4")), relation, Fraction(1, 2))
    held((low, high), truth)
    assert high - low < 1e-6
    nested = sampled("2/5", sampled("1/2", gaussian("3/4")))
    held(deltas(nested, relation, Fraction(1, 2)), truth)


def near(bounds, truth, width=1e-3):
    """Bounds that hold, and are near each other."""
    held(bounds, truth)
    assert bounds[1] - bounds[0] < width * truth, bounds


@pytest.mark.wide
def test_a_sampled_record_in_the_place_of_another_is_a_pair_of_mixtures():
    """The pair that is worst: values 1 and -1, each in its sample with the rate."""
    for rate, sigma, epsilon in ((0.25, 0.75, 0.5), (0.5, 2.0, 0.0)):
        truth = excess(mixture((1 - rate, 0), (rate, 1), sigma=sigma), mixture((1 - rate, 0), (rate, -1), sigma=sigma), epsilon)
        near(deltas(sampled(Fraction(rate), gaussian(sigma)), ONE, Fraction(epsilon)), truth)


@pytest.mark.wide
def test_no_two_records_of_a_sample_lose_more_than_two_opposite_ones():
    """Values of two dimensions, all on one circle or inside, on a grid of outputs."""
    rate, sigma, epsilon = 0.25, 0.75, 0.5
    high = deltas(sampled(Fraction(rate), gaussian(sigma)), ONE, Fraction(epsilon))[1]
    axis = np.linspace(-6, 6, 601)
    first, second = np.meshgrid(axis, axis)

    def law(value):
        moved = np.exp(-((first - value[0]) ** 2 + (second - value[1]) ** 2) / (2 * sigma**2))
        return ((1 - rate) * np.exp(-(first**2 + second**2) / (2 * sigma**2)) + rate * moved) / (2 * math.pi * sigma**2)

    for size in (1, 0.5):
        for angle in np.linspace(0, math.pi, 7):
            p, q = law((1, 0)), law((size * math.cos(angle), size * math.sin(angle)))
            assert np.maximum(p - math.exp(epsilon) * q, 0).sum() * (axis[1] - axis[0]) ** 2 <= high + SLACK


@pytest.mark.wide
def test_gaussians_composed_in_a_sample_are_one_gaussian():
    inside = event("ComposedDpEvent", gaussian(1), event("SelfComposedDpEvent", gaussian(2), count=3))
    one, other = sampled("1/4", inside), sampled("1/4", gaussian(Fraction(1)))
    p, q = (mixture((0.75, 0), (0.25, sign), sigma=math.sqrt(4 / 7)) for sign in (1, -1))
    near(deltas(one, ONE, Fraction(1, 2)), excess(p, q, 0.5))
    assert deltas(other, ONE, Fraction(1, 2))[1] < deltas(one, ONE, Fraction(1, 2))[0]


FEW = slice(12_000, 30_000, 20)
"""Of the grid, for products."""


def composed(first, second, epsilon):
    """The divergence of the outputs of two parts, each a pair of densities on the grid."""
    step = (GRID[1] - GRID[0]) * FEW.step
    (p, q), (r, s) = (tuple(density[FEW] for density in pair) for pair in (first, second))
    return float(np.maximum(np.outer(p, r) - math.exp(epsilon) * np.outer(q, s), 0).sum() * step**2)


MOVED = event("MixtureOfGaussiansDpEvent", standard_deviation=1, sensitivities=["0", "1", "2"], sampling_probs=["1/5", "3/5", "1/5"])


@pytest.mark.wide
def test_mixtures_of_gaussians_are_held_from_both_sides():
    p, q = mixture((0.2, 0), (0.6, 1), (0.2, 2), sigma=1), mixture((1, 0), sigma=1)
    near(deltas(MOVED, ADD, 1), excess(p, q, 1.0))
    sample = mixture((0.6, 0), (0.3, 1), (0.1, 2), sigma=1)
    near(deltas(sampled("1/2", MOVED), ADD, 1), excess(sample, q, 1.0))
    alike = event("MixtureOfGaussiansDpEvent", standard_deviation=1, sensitivities=["0", "1", "1"], sampling_probs=["1/5", "3/5", "1/5"])
    low, high = deltas(alike, ADD, 1)
    assert high - low < 1e-6
    with pytest.raises(Unsupported, match="must be `ADD_OR_REMOVE_ONE` or `REPLACE_SPECIAL`"):
        Cost([(MOVED, 1)], ONE)


@pytest.mark.wide
@pytest.mark.parametrize("beside", [MOVED, sampled("1/2", gaussian(1))], ids=["twice", "a sample"])
def test_parts_that_move_at_random_are_at_one_pair_in_one_order(beside):
    still = mixture((1, 0), sigma=1)
    laws = [mixture((0.2, 0), (0.6, 1), (0.2, 2), sigma=1), mixture((0.5, 0), (0.5, 1), sigma=1)]
    p, r = laws[0], laws[0 if beside is MOVED else 1]
    truth = max(composed((p, still), (r, still), 1.0), composed((still, p), (still, r), 1.0))
    found = Cost([(MOVED, 1), (beside, 1)], ADD).delta(Fraction(1), digits=6)
    assert float(found.lower) <= truth + 1e-5 and truth - 1e-5 <= float(found.upper)
    assert float(found.upper - found.lower) < 5e-2 * truth


def test_weights_whose_sum_is_not_1_are_read_on_the_safe_side():
    for weights in (["1/4", "1/2"], ["1/4", "7/8"]):
        each = list(zip((Fraction(0), Fraction(1)), map(Fraction, weights), strict=True))
        low, high = (moves(each, Fraction(1), least=side) for side in (True, False))
        assert all(sum(weight for _, weight in one.weights) == 1 for one in (low, high))
        assert dict(low.weights)[Fraction(1)] < dict(high.weights)[Fraction(1)]


@pytest.mark.wide
@pytest.mark.parametrize(("size", "sample"), [(4, 2), (3, 3)])
def test_samples_with_replacement_are_held_by_the_worst_data(size, sample):
    """Every choice of values 1, 0, -1 of the others, and each sequence of draws."""
    one = event("SampledWithReplacementDpEvent", gaussian(1), source_dataset_size=size, sample_size=sample)

    def law(values):
        sums = {}
        for draws in itertools.product(values, repeat=sample):
            sums[sum(draws)] = sums.get(sum(draws), 0) + size**-sample
        return mixture(*((weight, mean) for mean, weight in sums.items()), sigma=1)

    for epsilon in (0.5, 2.0):
        worst = max(excess(law([1, *rest]), law([-1, *rest]), epsilon) for rest in itertools.product((1, 0, -1), repeat=size - 1))
        bounds = deltas(one, ONE, Fraction(epsilon))
        held(bounds, worst)
        assert bounds[0] > 0.99 * worst and bounds[1] < 1.05 * worst


@pytest.mark.wide
@pytest.mark.parametrize("relation", [ADD, ONE])
def test_truncated_samples_of_small_data_sets_lose_no_more(relation):
    """Every choice of values 1, 0, -1 of the others, and each sample and batch by its probability."""
    rate, batch, sigma, epsilon, others = 0.5, 1, 1.0, 0.5, 2
    numbers = {"dataset_size": others + 1, "sampling_probability": rate, "truncated_batch_size": batch, "noise_multiplier": sigma}
    one = event("TruncatedSubsampledGaussianDpEvent", **numbers)
    low, high = deltas(one, relation, Fraction(1, 2))

    def law(values):
        """The density of what is told of these records."""
        sums = {}
        for there in itertools.product((0, 1), repeat=len(values)):
            chosen = [value for value, is_there in zip(values, there, strict=True) if is_there]
            chance = rate ** sum(there) * (1 - rate) ** (len(values) - sum(there))
            batches = [tuple(chosen)] if len(chosen) <= batch else list(itertools.combinations(chosen, batch))
            for picked in batches:
                sums[sum(picked)] = sums.get(sum(picked), 0) + chance / len(batches)
        return mixture(*((weight, mean) for mean, weight in sums.items()), sigma=sigma)

    worst = 0.0
    for rest in itertools.product((1, 0, -1), repeat=others):
        other = law(rest) if relation is ADD else law([-1, *rest])
        worst = max(worst, excess(law([1, *rest]), other, epsilon))
    held((low, high), worst)
    assert low > 0


def test_a_batch_as_large_as_the_data_truncates_nothing():
    numbers = {"dataset_size": 5, "sampling_probability": "1/2", "truncated_batch_size": 5, "noise_multiplier": 1}
    one = event("TruncatedSubsampledGaussianDpEvent", **numbers)
    for relation in Relation:
        assert Cost([(one, 1)], relation).mechanisms == Cost([(sampled("1/2", gaussian(1)), 1)], relation).mechanisms


def test_samples_of_a_fixed_size_are_held_by_the_worst_data():
    one = event("SampledWithoutReplacementDpEvent", gaussian(1), source_dataset_size=4, sample_size=1)
    low, high = deltas(one, ONE, Fraction(1, 2))

    def law(values):
        return mixture(*((0.25, value) for value in values), sigma=1)

    worst = max(excess(law([1, *rest]), law([-1, *rest]), 0.5) for rest in itertools.product((1, 0, -1), repeat=3))
    held((low, high), worst)
    assert high - low < 1e-6
    inner = event("SampledWithoutReplacementDpEvent", gaussian(1), source_dataset_size=9, sample_size=1)
    with pytest.raises(Unsupported, match="a sample of 1 records is not a data set of 9"):
        Cost([(event("SampledWithoutReplacementDpEvent", inner, source_dataset_size=4, sample_size=1), 1)], ONE)


@pytest.mark.parametrize("buckets", [2, 5])
def test_responses_to_another_answer_and_to_none(buckets):
    noise = Fraction(3, 10)
    one = event("RandomizedResponseDpEvent", noise_parameter=noise, num_buckets=buckets)
    truth, other = 1 - noise + noise / buckets, noise / buckets
    least = Cost([(one, 1)], ONE).epsilon(Fraction(0))
    held((float(least.lower), float(least.upper)), math.log(truth / other))
    special = Cost([(one, 1)], SPECIAL).epsilon(Fraction(0))
    held((float(special.lower), float(special.upper)), max(math.log(truth * buckets), -math.log(noise)))
    with pytest.raises(Unsupported, match="must be `REPLACE_ONE` or `REPLACE_SPECIAL`"):
        Cost([(one, 1)], ADD)


@pytest.mark.wide
def test_a_response_to_none_beside_a_sample_has_no_lower_bound_that_takes_the_wrong_order():
    """Both tell the record from none in one order: the product of the pairs, on a grid of outputs and two answers."""
    response = event("RandomizedResponseDpEvent", noise_parameter="1/2", num_buckets=2)
    for rate, sigma in ((0.125, 1.1), (0.875, 0.5)):
        with_it, without = mixture((1 - rate, 0), (rate, 1), sigma=sigma), mixture((1, 0), sigma=sigma)
        step = GRID[1] - GRID[0]
        truth = max(
            sum(np.maximum(x * a - math.exp(0.3) * y * b, 0).sum() * step for x, y in pairs)
            for pairs, a, b in (
                (((0.75, 0.5), (0.25, 0.5)), with_it, without),
                (((0.5, 0.75), (0.5, 0.25)), without, with_it),
            )
        )
        both = event("ComposedDpEvent", response, sampled(Fraction(rate), gaussian(Fraction(sigma))))
        held(deltas(both, SPECIAL, Fraction(3, 10)), truth)


def test_a_tree_costs_its_height():
    for steps, height in ((1, 1), (3, 2), (4, 3), (1600, 11)):
        one = event("SingleEpochTreeAggregationDpEvent", noise_multiplier=4, step_counts=(Fraction(1), Fraction(steps)))
        mu = math.sqrt(height) / 4
        truth = stats.norm.cdf(mu / 2 - 1 / mu) - math.e * stats.norm.cdf(-mu / 2 - 1 / mu)
        held(deltas(one, SPECIAL, 1), truth)
    with pytest.raises(Unsupported, match="must be `REPLACE_SPECIAL`"):
        Cost([(one, 1)], ADD)


def test_the_mean_number_of_runs_is_met_from_above():
    for shape, mean in ((2, 100), (Fraction(1, 2), 3), (5, Fraction(11, 10)), (Fraction(1, 100), 1000)):
        shape, mean = Fraction(shape), Fraction(mean)
        gamma, c = float(fewest_stops(shape, mean)), float(shape)
        assert 0 < gamma < 1
        assert c * (1 - gamma) / (gamma * (1 - gamma**c)) == pytest.approx(float(mean), rel=1e-9)
    assert fewest_stops(Fraction(1), Fraction(4)) == pytest.approx(0.25)
    assert fewest_stops(Fraction(1), Fraction(4)) <= Fraction(1, 4)


def test_how_often_a_record_is_kept_is_met_from_below():
    for records, rate, batch in ((3, Fraction(1, 2), 1), (6, Fraction(9, 10), 4), (50, Fraction(1, 10), 5)):
        truth = sum(
            math.comb(records, k) * rate**k * (1 - rate) ** (records - k) * min(Fraction(1), Fraction(batch, k + 1))
            for k in range(records + 1)
        )
        assert 0 <= rate * truth - kept(records, rate, batch) < 1e-30
    assert kept(3, Fraction(1), 2) == Fraction(2, 4)


def test_the_best_of_one_run_is_that_run():
    one = event("RepeatAndSelectDpEvent", gaussian(1), mean=1, shape=1)
    assert deltas(one, ADD, 1) == deltas(gaussian(1), ADD, 1)
    none = event("RepeatAndSelectDpEvent", gaussian(1), mean=0, shape=math.inf)
    assert deltas(none, ADD, 1) == (0, 0)


@pytest.mark.parametrize(("shape", "law"), [(0, 0), (1, 1), (2, 2)])
def test_the_best_of_pure_runs_loses_at_most_two_and_the_shape_times_as_much(shape, law):
    one = event("RepeatAndSelectDpEvent", event("LaplaceDpEvent", noise_multiplier=1), mean=1000, shape=shape)
    upper = float(Cost([(one, 1)], ADD).epsilon(Fraction(0)).upper)
    assert 2 + law - 0.2 < upper <= 2 + law


@pytest.mark.wide
def test_stated_guarantees_are_met_from_above():
    delta = Fraction(1, 10**6)
    zcdp = float(Cost([(event("ZCDpEvent", rho="1/8", xi=0), 1)], ADD).epsilon(delta).upper)
    noise = float(Cost([(gaussian(2), 1)], ADD).epsilon(delta).upper)  # is 1/8-zCDP
    assert noise < zcdp <= 1 / 8 + 2 * math.sqrt(math.log(10**6) / 8)
    shifted = float(Cost([(event("ZCDpEvent", rho="1/8", xi="1/10"), 1)], ADD).epsilon(delta).upper)
    assert zcdp < shifted <= zcdp + 0.13
    flat = float(Cost([(event("DiscreteGaussianDpEvent", sigma=2, sensitivity=1, dimension=1), 1)], ADD).epsilon(delta).upper)
    many = event("DiscreteGaussianDpEvent", sigma=2, sensitivity=1, dimension=None)
    assert flat < float(Cost([(many, 1)], ADD).epsilon(delta).upper) == zcdp
    for kind in ("ExponentialMechanismDpEvent", "PermuteAndFlipDpEvent"):
        assert float(Cost([(event(kind, epsilon="1/2"), 1)], ADD).epsilon(Fraction(0)).upper) == 0.5
    approximate = event("EpsilonDeltaDpEvent", epsilon="1/2", delta="1/1000")
    assert float(Cost([(approximate, 1)], ADD).delta(Fraction(1, 2)).upper) == 0.001


def test_what_hides_nothing_is_enclosed_all_the_same():
    bare = Cost([(gaussian(0), 1), (gaussian(1), 1)], ADD)
    assert bare.epsilon(Fraction(1, 2))[:2] == (math.inf, math.inf)
    assert bare.delta(Fraction(5))[:2] == (1, 1)
    assert bare.epsilon(Fraction(1))[0] == 0  # everything is private with a delta of 1
    sometimes = Cost([(sampled("1/10", gaussian(0)), 1)], ADD)  # its delta is 1/10
    assert sometimes.delta(Fraction(5))[:2] == (0, 1)
    assert not sometimes.is_private
    never = Cost([(sampled(0, gaussian(0)), 1)], ADD)
    assert never.delta(Fraction(0))[:2] == (0, 0)


def test_what_is_not_supported_is_seen_beside_what_hides_nothing():
    both = event("ComposedDpEvent", event("NonPrivateDpEvent"), event("UnsupportedDpEvent"))
    with pytest.raises(Unsupported):
        Cost([(both, 1)], ADD)


@pytest.mark.parametrize(
    ("one", "relation"),
    [
        (event("SampledWithReplacementDpEvent", gaussian(1), source_dataset_size=9, sample_size=2), ADD),
        (event("SampledWithReplacementDpEvent", event("ZCDpEvent", rho=1, xi=0), source_dataset_size=9, sample_size=2), ONE),
        (sampled("1/2", event("ZCDpEvent", rho=1, xi=0)), SPECIAL),
        (sampled("1/2", event("LaplaceDpEvent", noise_multiplier=1)), ONE),
        (sampled("1/2", event("SingleEpochTreeAggregationDpEvent", noise_multiplier=1, step_counts=(Fraction(3),))), SPECIAL),
        (event("SampledWithoutReplacementDpEvent", gaussian(1), source_dataset_size=9, sample_size=2), ADD),
        (event("DiscreteLaplaceDpEvent", noise_parameter=1, sensitivity=1), ONE),
    ],
)
def test_what_is_not_proved_is_not_supported(one, relation):
    with pytest.raises(Unsupported):
        Cost([(one, 1)], relation)


@pytest.mark.wide
def test_equal_events_are_one_part_and_orders_do_not_matter():
    one, other = gaussian(2), sampled("1/10", gaussian(1))
    there = Cost([(one, 1), (other, 2), (one, 3)], ADD).mechanisms.most
    assert [part["times"] for part in there["parts"]] == [4, 2]
    nested = event("ComposedDpEvent", other, event("SelfComposedDpEvent", one, count=4), other)
    assert Cost([(nested, 1)], ADD).delta(Fraction(1))[:2] == Cost([(other, 2), (one, 4)], ADD).delta(Fraction(1))[:2]


@pytest.mark.wide
def test_a_width_that_is_asked_is_met_or_told():
    steps = Cost([(sampled("1/100", gaussian(1)), 50)], ADD)
    found = steps.epsilon(Fraction(1, 10**5), width=Fraction(1, 100))
    assert Fraction(found.upper) - Fraction(found.lower) <= Fraction(1, 100)


def test_a_huge_shift_has_a_cost_and_both_its_ends():
    found = Cost([(gaussian(Fraction(1, 1000)), 2)], ADD).epsilon(Fraction(1, 10**5), 12)
    # mu^2/2 + mu z of the quantile z, but for the second term of delta, which takes a little off
    mu = 1000 * math.sqrt(2)
    about = mu**2 / 2 + mu * stats.norm.isf(1e-5)
    assert about - 2 < float(found.lower) <= float(found.upper) < about
    assert float(found.upper - found.lower) < 1e-3


@pytest.mark.wide
def test_a_narrow_width_is_reached_where_a_coarse_grid_is_not_enough():
    found = Cost([(sampled(Fraction(1, 100), gaussian(Fraction(1))), 100)], ADD).epsilon(Fraction(1, 10**5), width=Fraction(1, 20_000))
    assert 0 < float(found.upper - found.lower) <= 5e-5


@pytest.mark.wide
def test_many_different_events_have_both_sides(monkeypatch):
    monkeypatch.setattr("dpverify.search.composition.loss_distribution._MANY", 4)
    scales = [10 + Fraction(i, 3) for i in range(14)]
    found = Cost([(event("LaplaceDpEvent", noise_multiplier=scale), 1) for scale in scales], ADD).epsilon(Fraction(1, 10**5), 6)
    # the answers of all are independent: no less than what as many of the least cost, no more than what as many of the greatest do
    least, most = (Cost([(event("LaplaceDpEvent", noise_multiplier=scale), 14)], ADD).epsilon(Fraction(1, 10**5), 6) for scale in (15, 10))
    assert least.lower < found.lower <= found.upper < most.upper and float(found.upper - found.lower) < 1e-2
