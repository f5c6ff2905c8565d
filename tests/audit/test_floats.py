"""Leaks of the representation: naive samplers show them, correct ones do not, and the level is told apart."""

import math
import pickle

import numpy as np
import pytest
from scipy.stats import binom

import dpverify
from dpverify.audits.floats import LowestBits, Reach, Repeats, float_pairs, float_partitions, learn_float, log_evidence
from dpverify.audits.outputs import Outputs
from dpverify.audits.partition import joint_counts

PAIRS = 2000
NEEDED = math.log(1e6 / 0.1)


def outputs(y):
    return Outputs(np.asarray(y)[:, None] if np.ndim(y) == 1 else np.asarray(y))


def in_ball(x, x_prime):
    return bool(np.sum(np.abs(x - x_prime)) <= 1.0)


def log_wealth(tables, epsilon, delta=0.0):
    """Of a plain mixture of bets, both directions and all cuts; tables: (..., K, K)."""
    size = tables.shape[-1]
    wealth = []
    for cut in range(1, size):
        above = np.arange(size) >= cut
        for event in (above, ~above):
            left, right = (event, above) if event is above else (event, event)
            hit, other = (left[:, None], right[None, :]) if event is above else (right[None, :], left[:, None])
            for stake in (0.3, 0.6, 0.9):
                gain = stake / (math.exp(epsilon) + delta) * (1.0 * hit - math.exp(epsilon) * other - delta)
                wealth.append(np.sum(tables * np.log1p(gain), axis=(-2, -1)))
    return np.logaddexp.reduce(wealth, axis=0) - math.log(len(wealth))


def inverse_cdf(x, scale, n, rng):
    u = rng.random(n) - 0.5
    return x - scale * np.sign(u) * np.log(1.0 - 2.0 * np.abs(u))


def sum_of_exponentials(x, scale, n, rng):
    return x + scale * (rng.standard_exponential(n) - rng.standard_exponential(n))


def normal(x, scale, n, rng):
    return x + rng.normal(0.0, scale * math.sqrt(2.0 * math.log(1.25e5)), n)


NAIVE = {
    "numpy laplace": lambda x, scale, n, rng: x + rng.laplace(0.0, scale, n),
    "numpy laplace with loc": lambda x, scale, n, rng: rng.laplace(x, scale, n),
    "inverse cdf": inverse_cdf,
    "difference of exponentials": sum_of_exponentials,
    "float32": lambda x, scale, n, rng: np.float32(x) + rng.laplace(0.0, scale, n).astype(np.float32),
    "float32 seen as float64": lambda x, scale, n, rng: (np.float32(x) + rng.laplace(0.0, scale, n).astype(np.float32)).astype(float),
    "float32 noise on float64": lambda x, scale, n, rng: x + rng.laplace(0.0, scale, n).astype(np.float32).astype(float),
    "normal": normal,
}


def rounded_once(x, scale, n, rng):
    """Noise of more bits than a double has, added and rounded once."""
    noise = rng.laplace(0.0, scale, n) * (1 + rng.uniform(-1, 1, n).astype(np.longdouble) * 2.0**-52)
    return (np.longdouble(x) + noise).astype(float)


SAFE = {
    "rounded to a binary grid": lambda x, scale, n, rng: np.round((x + rng.laplace(0.0, scale, n)) * 1024) / 1024,
    "rounded to a decimal grid": lambda x, scale, n, rng: np.round(x + rng.laplace(0.0, scale, n), 3),
    "integers as floats": lambda x, scale, n, rng: np.round(x) + np.diff(rng.geometric(-math.expm1(-1 / scale), (2, n)), axis=0)[0],
    "rounded once": rounded_once,
}


def table(sampler, pair, epsilon, rng, n=PAIRS):
    left, right = (outputs(sampler(float(point[0]), 1.0 / epsilon, n, rng)) for point in pair)
    (partition,) = float_partitions(*pair, left.numbers.dtype)
    return joint_counts(partition, left, right)[0]


def test_pairs_are_few_distinct_and_as_far_apart_as_the_norm_allows():
    for dimension in (1, 2, 5):
        pairs = float_pairs(1.0, dimension, in_ball)
        assert 3 <= len(pairs) <= 4
        assert len({(x.tobytes(), y.tobytes()) for x, y in pairs}) == len(pairs)
        assert all(x.shape == y.shape == (dimension,) and in_ball(x, y) for x, y in pairs)
    assert np.array_equal(float_pairs(1.0, 2, lambda x, y: bool(np.max(np.abs(x - y)) <= 1.0))[1][1], [1.0, 1.0])


def test_pairs_that_are_not_accepted_are_left_out():
    assert float_pairs(1.0, 1, lambda x, y: False) == []


@pytest.mark.parametrize("sensitivity", [1.0, 0.1, 3.0, 1e-3, 1e6])
def test_the_distance_of_a_pair_never_exceeds_the_sensitivity_exactly(sensitivity):
    from fractions import Fraction

    for x, x_prime in float_pairs(sensitivity, 1, lambda x, y: True):
        assert abs(Fraction(float(x[0])) - Fraction(float(x_prime[0]))) <= Fraction(sensitivity)


def test_below_a_half_one_plus_noise_gives_multiples_of_two_to_the_minus_53_only():
    y = np.array([0.25 + 2.0**-54, 0.25 + 2.0**-53, -0.125 + 2.0**-55, 0.3, 1e-20, 0.7])
    fine = np.array([float(v) * 2.0**53 != round(float(v) * 2.0**53) for v in y])
    assert fine.tolist() == [True, False, True, True, True, False]
    (partition,) = float_partitions(np.zeros(1), np.ones(1), np.float64)
    codes = partition.codes(outputs(y))
    assert np.array_equal(codes >= 5, fine)
    assert codes[1] == 2  # on the grid, where not all floats are


def test_the_event_below_a_half_has_the_probability_of_theory():
    # In [2^-k-1, 2^-k) a share 2^-k of the floats lies on the grid of 2^-53, which is what 1 + noise gives for y > 0; for y < 0 noise
    # lies beyond -1 and its grid is 2^-52.
    expected = 0.0
    for k in range(1, 60):
        mass = (math.exp(-(2.0 ** (-k - 1))) - math.exp(-(2.0**-k))) / 2.0
        expected += mass * (1.0 - 2.0**-k) + mass * (1.0 - 2.0 ** (-k - 1))
    n = 400_000
    y = np.random.default_rng(1).laplace(0.0, 1.0, n)
    (partition,) = float_partitions(np.zeros(1), np.ones(1), np.float64)
    share = np.mean((partition.codes(outputs(y)) >= 5) & (np.abs(y) < 0.5))
    assert abs(share - expected) < 4 * math.sqrt(expected * (1 - expected) / n)
    assert share > 0.271  # of {|y| < 1/2, 2^53 y not an integer}, a part of it


@pytest.mark.parametrize("name", NAIVE)
def test_what_one_addition_gives_is_never_said_to_be_out_of_its_reach(name):
    rng = np.random.default_rng(2)
    for x, x_prime in float_pairs(1.0, 1, in_ball):
        counts = table(NAIVE[name], (x, x_prime), 1.0, rng, 20_000)
        left, right = counts.sum(axis=1), counts.sum(axis=0)
        assert right[5:].sum() == 0
        assert left[:2].sum() == 0


@pytest.mark.parametrize("epsilon", [1.0, 0.1])
@pytest.mark.parametrize("name", NAIVE)
def test_naive_samplers_are_flagged_at_one_in_a_million_as_a_fault_of_representation(name, epsilon):
    rng = np.random.default_rng(3)
    pair = float_pairs(1.0, 1, in_ball)[0]
    counts = table(NAIVE[name], pair, epsilon, rng)
    assert log_wealth(counts, epsilon, 1e-5 if name == "normal" else 0.0) > NEEDED
    assert max(log_evidence(counts)) > NEEDED


def test_a_leak_in_one_coordinate_of_a_vector_is_seen():
    rng = np.random.default_rng(4)
    for x, x_prime in float_pairs(1.0, 3, in_ball):
        left, right = (outputs(point + rng.laplace(0.0, 1.0, (PAIRS, 3))) for point in (x, x_prime))
        (partition,) = float_partitions(x, x_prime, np.float64)
        assert log_wealth(joint_counts(partition, left, right)[0], 1.0) > NEEDED


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", SAFE)
def test_safe_samplers_are_never_flagged_in_a_thousand_seeds(name):
    rng = np.random.default_rng(5)
    seeds = 1000
    for x, x_prime in float_pairs(1.0, 1, in_ball)[:: 2 if name != "integers as floats" else 4]:
        left, right = (outputs(SAFE[name](float(point[0]), 1.0, seeds * 500, rng)) for point in (x, x_prime))
        (partition,) = float_partitions(x, x_prime, np.float64)
        tables = joint_counts(partition, left, right, segments=seeds)
        assert np.max(log_wealth(tables, 1.0)) < math.log(1e4)  # a false alarm at 1e-4 would have chance 0.1 at most in the whole test


def test_too_little_smooth_noise_is_no_fault_of_representation():
    rng = np.random.default_rng(6)
    pair = float_pairs(1.0, 1, in_ball)[0]
    counts = table(lambda x, scale, n, rng: rounded_once(x, scale / 2, n, rng), pair, 1.0, rng, 20_000)
    assert log_wealth(counts, 1.0) > NEEDED  # it is a violation,
    assert max(log_evidence(counts)) < math.log(1e3)  # but not of this level


def test_evidence_of_level_is_a_supermartingale_with_fair_bits():
    for n in (5, 60):
        total = 0.0
        for s in range(n + 1):
            counts = np.zeros((7, 7), dtype=np.int64)
            counts[3, 6], counts[3, 2] = s, n - s
            total += binom.pmf(s, n, 0.5) * math.exp(log_evidence(counts)[0])
        assert total == pytest.approx(1.0, rel=1e-9)


def test_outputs_that_are_no_floats_or_do_not_move_have_no_partition():
    assert float_partitions(np.zeros(1), np.ones(1), np.int64) == ()
    assert float_partitions(np.ones(1), np.ones(1), np.float64) == ()


def test_outputs_of_another_width_are_neutral():
    (partition,) = float_partitions(np.zeros(3), np.ones(3), np.float64)
    assert set(partition.codes(outputs(np.zeros(5)))) == {3}


def test_extreme_outputs_have_a_cell():
    (partition,) = float_partitions(np.zeros(1), np.ones(1), np.float64)
    codes = partition.codes(outputs(np.array([0.0, -0.0, 5e-324, 1.7e308, np.inf, -np.inf, 2.0**53])))
    assert codes.max() < partition.size


def test_partitions_survive_pickling():
    rng = np.random.default_rng(7)
    y = outputs(rng.laplace(size=1000))
    learned = learn_float(outputs(rng.laplace(size=4000)), outputs(1.0 + rng.laplace(size=4000)))
    for partition in (float_partitions(np.zeros(1), np.ones(1), np.float64)[0], learned):
        assert np.array_equal(pickle.loads(pickle.dumps(partition)).codes(y), partition.codes(y))


@pytest.mark.parametrize("name", ["numpy laplace", "inverse cdf", "float32", "float32 noise on float64"])
def test_the_lowest_bits_are_learned_from_naive_samplers(name):
    rng = np.random.default_rng(8)
    draw = lambda x, n: outputs(NAIVE[name](x, 1.0, n, rng))  # noqa: E731
    learned = learn_float(draw(0.0, 4000), draw(1.0, 4000))
    assert isinstance(learned, LowestBits)
    counts = joint_counts(learned, draw(0.0, PAIRS), draw(1.0, PAIRS))[0]
    assert log_wealth(counts, 1.0) > NEEDED
    assert "lowest set bits" in learned.describe(5, 7)


def test_noise_of_few_values_is_learned_by_its_repeats():
    rng = np.random.default_rng(9)
    draw = lambda x, n: outputs(x + np.log1p(rng.integers(1, 2**14, n) / 2**14))  # noqa: E731
    learned = learn_float(draw(0.0, 8000), draw(1.0 / 3.0, 8000))
    assert isinstance(learned, Repeats)
    assert log_wealth(joint_counts(learned, draw(0.0, PAIRS), draw(1.0 / 3.0, PAIRS))[0], 1.0) > NEEDED
    assert "met before on x" in learned.describe(2, 3)


@pytest.mark.parametrize("factor", [1.0, 0.5])
@pytest.mark.parametrize("name", SAFE)
def test_nothing_is_learned_from_safe_samplers_even_with_too_little_noise(name, factor):
    rng = np.random.default_rng(10)
    learned = [learn_float(*(outputs(SAFE[name](x, factor, 4000, rng)) for x in (0.0, 1.0))) for _ in range(25)]
    assert learned.count(None) == 25


def test_an_event_is_told_in_words_with_both_true_answers():
    partition = Reach((0.0,), (1.0,), (0,))
    assert partition.describe(5, 7) == "y is a float that 0.0 + noise can round to, and 1.0 + noise cannot produce"
    assert partition.describe(0, 2) == "y is a float that 1.0 + noise can round to, and 0.0 + noise cannot produce"
    assert partition.describe(4, 7).endswith("cannot produce, or produces with gaps nearby")


def test_a_violation_of_floats_says_what_leaks_and_what_to_do():
    found = dpverify.audit(lambda data, rng: data[0] + rng.laplace(), dpverify.laplace(1), sensitivity=1, epsilon=1, samples=4000, seed=1)
    told = [one for one in (found, *found.also) if one.level == "float"]
    assert [one.finding for one in told] == ["VIOLATION"]
    assert told[0].notes[-1].startswith("the representation of the output") and "docs/explanation/floating-point.md" in told[0].notes[-1]
    assert all("representation" not in note for one in (found, *found.also) if one.level == "model" for note in one.notes)
