"""Rare events: found in past outputs, bet on as the exact binomial test would, and not found where there are none."""

import math

import numpy as np
import pytest
from scipy import stats

from dpverify.audits import MODEL, VIOLATION, audit
from dpverify.audits.bets import mixture
from dpverify.audits.outputs import Outputs, encode
from dpverify.audits.partition import CurvePoint
from dpverify.audits.rare import AGAINST, FOR, NEITHER, Rare, Rule, learn_rare

PURE = CurvePoint(1.0)
PAIR = [([0.0], [1.0])]
GRID = 2.0**-20


def truncated(reach):
    def sample(data, size, rng):
        noise = rng.laplace(size=size)
        while (far := np.abs(noise) > reach).any():
            noise[far] = rng.laplace(size=int(far.sum()))
        return data[0] + noise

    return sample


def released(rate):
    """Laplace noise, but for the true answer now and then."""

    def sample(data, size, rng):
        outputs = data[0] + rng.laplace(size=size)
        outputs[rng.random(size) < rate] = data[0]
        return outputs

    return sample


def rounded(data, size, rng):
    return np.round((data[0] + rng.laplace(size=size)) / GRID) * GRID


def both(sampler, size, seed=1):
    rng = np.random.default_rng(seed)
    return [encode(sampler(data, size, rng), size) for data in PAIR[0]]


def test_values_beyond_the_other_sides_extremes_are_found_at_both_ends():
    left, right = both(truncated(5), 20_000)
    found = learn_rare(left, right, PURE)
    rules = {(rule.kind, rule.cell): rule.value for rule in found.rules if rule.kind != "equal"}
    assert 4.9 < rules["above", AGAINST] <= 5.0 and -5.0 < -4.0 - rules["below", FOR] <= 0.1
    assert (left.numbers[:, 0] > rules["above", AGAINST]).sum() <= 3, "next to none on x"
    codes = found.codes(right)
    assert np.array_equal(codes == AGAINST, right.numbers[:, 0] > rules["above", AGAINST])


def test_a_value_that_repeats_on_one_side_alone_is_found_and_looked_out_for_before_it_is_seen():
    left, right = both(released(1 / 500), 5000)
    found = learn_rare(left, right, PURE)
    equal = {(rule.value, rule.cell) for rule in found.rules if rule.kind == "equal"}
    assert {(0.0, FOR), (1.0, AGAINST)} <= equal
    assert "output == 0" in found.describe(FOR, FOR + 1) and "output == 1" in found.describe(NEITHER, FOR + 1)
    plain = [encode(data[0] + np.random.default_rng(2).laplace(size=50), 50) for data in PAIR[0]]
    assert learn_rare(*plain, PURE) is None
    watched = learn_rare(*plain, PURE, ([0.0], [1.0]))
    assert {(rule.value, rule.cell) for rule in watched.rules} == {(0.0, FOR), (1.0, AGAINST)}


def test_a_shape_that_one_side_alone_shows_is_found():
    left = encode([None if k % 50 == 0 else float(k) for k in range(500)], 500)
    right = encode([float(k) for k in range(500)], 500)
    found = learn_rare(left, right, PURE)
    assert [rule.cell for rule in found.rules if rule.kind == "shape"] == [FOR]
    assert int((found.codes(left) == FOR).sum()) == 10 and not (found.codes(right) == FOR).any()
    assert "None" in found.describe(FOR, 3)


def test_the_first_rule_that_holds_decides_and_the_cell_of_an_output_is_its_own():
    rules = (Rule("[number x 2]", 0, "above", 1.0, FOR), Rule("[number x 2]", 1, "below", 0.0, AGAINST))
    partition = Rare(rules, (np.ones(3) / 3, np.ones(3) / 3))
    outputs = encode(np.array([[2.0, -1.0], [0.0, -1.0], [0.0, 1.0], [2.0, 1.0]]), 4)
    assert partition.codes(outputs).tolist() == [FOR, AGAINST, NEITHER, FOR]
    assert [int(partition.codes(outputs[[row]])[0]) for row in range(4)] == [FOR, AGAINST, NEITHER, FOR]
    assert (partition.codes(encode(np.zeros(3), 3)) == NEITHER).all(), "outputs of another shape"
    assert partition.describe(0, 3) == "any output" and partition.describe(2, 3) == "output[0] > 1"


def test_the_bets_on_what_one_side_alone_shows_win_what_the_exact_binomial_test_does():
    """n outputs in the event, all on x: P <= (e/(1 + e))^n under the claim, for either side that shows something alone."""
    law = np.array([1e-9, 0.9998, 2e-4]), np.array([2e-4, 0.9998, 1e-9])
    bets = mixture(3, [PURE], alternatives=[law], generic_share=0.1)
    ours, theirs, many = 30, 25, 100_000
    counts = np.diag([0, many, 0])
    counts[FOR, NEITHER], counts[NEITHER, AGAINST] = ours, theirs
    exact = sum(-stats.binom.logsf(n - 1, n, math.e / (1 + math.e)) for n in (ours, theirs))
    assert exact - 0.3 < float(bets.log_wealth(counts)) <= exact


@pytest.mark.parametrize("delta", [0.0, 0.01])
def test_nothing_is_found_that_the_claim_allows_clearly(delta):
    """Laplace noise of half the epsilon: no event speaks against the claim but by luck."""
    rng = np.random.default_rng(3)
    left, right = (encode(x + 2 * rng.laplace(size=20_000), 20_000) for x in (0.0, 1.0))
    found = learn_rare(left, right, CurvePoint(1.0, delta))
    assert found is None or len(found.rules) <= 1


def test_exact_numbers_past_floats_are_left_to_other_testers():
    sides = [encode([2**70 + k + x for k in range(100)], 100) for x in (0, 1)]
    assert isinstance(sides[0], Outputs) and learn_rare(*sides, PURE) is None


@pytest.mark.parametrize(("sampler", "word"), [(truncated(4), "output < "), (released(1 / 1000), "output == ")])
def test_a_rare_violation_is_found_by_a_whole_audit(sampler, word):
    finding = audit(sampler, epsilon=1, pairs=PAIR, samples=150_000, seed=4, confidence=0.999, level=MODEL)
    assert finding.finding == VIOLATION and word in finding.event


@pytest.mark.wide
@pytest.mark.sampled(3)
def test_no_false_alarm_of_rare_events_where_the_claim_holds_with_equality():
    """Learned from 2,000 outputs, bet on in the 6,000 after: at most alpha of the runs, and three standard errors, ever reach 1/alpha."""
    alpha, runs, alarms = 0.05, 300, 0
    for seed in range(runs):
        left, right = both(rounded, 8000, seed)
        found = learn_rare(left[:2000], right[:2000], PURE, ([0.0], [1.0]))
        if found is None:
            continue
        bets = mixture(3, [PURE], alternatives=[found.law], generic_share=0.3)
        cells = [np.eye(3, dtype=np.int64)[found.codes(side[2000:])] for side in (left, right)]
        codes = [each.reshape(60, 100, 3).sum(axis=1).cumsum(axis=0) for each in cells]
        wealth = codes[0] @ bets.log_left.T + codes[1] @ bets.log_right.T + bets.log_prior
        alarms += bool((np.logaddexp.reduce(wealth, axis=1) >= -math.log(alpha)).any())
    assert alarms <= runs * (alpha + 3 * math.sqrt(alpha * (1 - alpha) / runs))


def test_values_that_an_earlier_rule_has_are_not_told_again():
    law = (np.ones(3) / 3, np.ones(3) / 3)
    above, equal, less = (Rule("number", 0, kind, value, FOR) for kind, value in (("above", 5.0), ("equal", 9.0), ("equal", 2.0)))
    other = Rule("number", 0, "equal", 9.0, AGAINST)
    assert Rare((above, equal, less), law).describe(FOR, FOR + 1) == "output > 5 or output == 2"
    assert Rare((equal, above), law).describe(FOR, FOR + 1) == "output == 9 or output > 5"
    assert Rare((above, other), law).describe(AGAINST, AGAINST + 1) == "output == 9"
