"""Lower bounds on epsilon cover it as often as they say, and what could have been detected would have been."""

from math import exp, log

import numpy as np
import pytest
from scipy import stats
from scipy.special import betaincinv

from dpverify.audits.bets import mixture
from dpverify.audits.bounds import detectable_epsilon, epsilon_anytime, epsilon_lower_bound, kl_to_claim
from dpverify.audits.partition import CurvePoint
from dpverify.errors import AuditError


@pytest.mark.wide
@pytest.mark.sampled(2)
@pytest.mark.parametrize(("n_p", "n_q"), [(11, 11), (4, 16)])
@pytest.mark.parametrize("delta", [0.0, 0.1])
def test_the_bound_exceeds_epsilon_with_at_most_the_stated_probability_whatever_the_null(n_p, n_q, delta):
    risk = 0.2
    bounds = np.array(
        [[epsilon_lower_bound(a, n_p, b, n_q, confidence=1 - risk, delta=delta) for b in range(n_q + 1)] for a in range(n_p + 1)]
    )
    worst = 0.0
    for epsilon in (0.0, 0.1, 0.5, 1.0, 2.0):
        for q in np.linspace(0, (1 - delta) * exp(-epsilon), 60):
            p = min(exp(epsilon) * q + delta, 1.0)
            law = np.outer(stats.binom.pmf(range(n_p + 1), n_p, p), stats.binom.pmf(range(n_q + 1), n_q, q))
            worst = max(worst, float(law[bounds > epsilon].sum()))
    assert 0.25 * risk < worst <= risk + 1e-12


@pytest.mark.parametrize(("n", "least"), [(10**6, 0.996), (10**7, 0.9987)])
def test_laplace_at_epsilon_1_is_bounded_closely(n, least):
    assert least < epsilon_lower_bound(n // 2, n, round(n * exp(-1) / 2), n, confidence=0.95) < 1


def test_with_q_all_but_known_the_bound_is_clopper_and_pearsons_for_p():
    known = log(betaincinv(600, 401, 0.05) / 0.1)
    assert epsilon_lower_bound(600, 1000, 10**8, 10**9, confidence=0.95) == pytest.approx(known, abs=3e-3)
    with_delta = log((betaincinv(600, 401, 0.05) - 0.2) / 0.1)
    assert epsilon_lower_bound(600, 1000, 10**8, 10**9, confidence=0.95, delta=0.2) == pytest.approx(with_delta, abs=5e-3)


def test_with_p_all_but_known_the_bound_is_clopper_and_pearsons_for_q():
    known = log(0.5 / betaincinv(101, 900, 0.95))
    assert epsilon_lower_bound(5 * 10**8, 10**9, 100, 1000, confidence=0.95) == pytest.approx(known, abs=5e-3)


@pytest.mark.parametrize("n", [100, 10**6, 10**9])
@pytest.mark.parametrize("confidence", [0.9, 1 - 1e-9])
def test_an_event_never_seen_on_one_side_gives_a_finite_bound(n, confidence):
    found = epsilon_lower_bound(n, n, 0, n, confidence=confidence)
    exact = log(1 / (1 - (1 - confidence) ** (1 / n)))  # both sides known but q
    assert 0.9 * exact - 0.1 < found < exact


def test_nothing_seen_bounds_nothing():
    for hits_p, hits_q in ((0, 0), (0, 10), (10, 10), (3, 4)):
        assert epsilon_lower_bound(hits_p, 10, hits_q, 10, confidence=0.9) == 0.0
    assert epsilon_lower_bound(30, 1000, 0, 1000, confidence=0.95, delta=0.04) == 0.0


def test_more_confidence_more_delta_and_fewer_hits_all_lower_the_bound():
    first = epsilon_lower_bound(300, 1000, 50, 1000, confidence=0.95)
    assert epsilon_lower_bound(300, 1000, 50, 1000, confidence=0.999) < first
    assert epsilon_lower_bound(300, 1000, 50, 1000, confidence=0.95, delta=0.01) < first
    assert epsilon_lower_bound(290, 1000, 50, 1000, confidence=0.95) < first
    assert epsilon_lower_bound(300, 1000, 60, 1000, confidence=0.95) < first


@pytest.mark.parametrize("counts", [(11, 10, 0, 10), (1, 10, -1, 10), (0, 0, 0, 10)])
def test_hits_that_are_no_hits_are_refused(counts):
    with pytest.raises(AuditError, match="number of runs"):
        epsilon_lower_bound(*counts, confidence=0.9)


@pytest.mark.parametrize(("confidence", "delta"), [(1.0, 0.0), (0.0, 0.0), (0.9, 1.0), (0.9, -0.1)])
def test_confidence_and_delta_out_of_range_are_refused(confidence, delta):
    with pytest.raises(AuditError, match="confidence"):
        epsilon_lower_bound(5, 10, 1, 10, confidence=confidence, delta=delta)
    with pytest.raises(AuditError, match="confidence"):
        epsilon_anytime(np.eye(2, dtype=np.int64), confidence=confidence, delta=delta)


@pytest.mark.parametrize("delta", [0.0, 1e-3, 0.05])
def test_the_anytime_bound_lies_above_no_epsilon_that_its_own_mixture_does_not_refute(delta):
    joint = np.outer([0.1, 0.4, 0.5], [0.5, 0.4, 0.1])
    for pairs in (100, 3000, 10**6):
        counts = np.random.default_rng(pairs).multinomial(pairs, joint.ravel()).reshape(3, 3)
        bound = epsilon_anytime(counts, confidence=0.99, delta=delta)
        below = [mixture(3, [CurvePoint(epsilon, delta)]).log_wealth(counts) for epsilon in np.linspace(0, bound, 100)[:-1]]
        assert min(map(float, below)) >= log(100)
    assert log((0.5 - delta) / 0.1) - 0.03 < bound < log((0.5 - delta) / 0.1)


@pytest.mark.wide
def test_the_anytime_bound_is_exceeded_at_some_look_with_at_most_the_stated_probability():
    alpha, runs, epsilon = 0.2, 60, 0.5
    p, q = np.array([0.5, 0.5]), np.array([1 - 0.5 * exp(-epsilon), 0.5 * exp(-epsilon)])
    steps = np.random.default_rng(7).multinomial(100, np.outer(p, q).ravel(), size=(runs, 3)).cumsum(axis=1).reshape(runs, 3, 2, 2)
    wrong = np.mean([any(epsilon_anytime(counts, confidence=1 - alpha) > epsilon for counts in run) for run in steps])
    assert wrong <= alpha + 3 * np.sqrt(alpha * (1 - alpha) / runs)


def test_without_pairs_the_anytime_bound_is_0():
    assert epsilon_anytime(np.zeros((4, 4), dtype=np.int64), confidence=0.5) == 0.0


@pytest.mark.parametrize(
    ("mass", "pairs", "claim"), [(0.5, 1000, 0.1), (0.5, 100_000, 1.0), (0.05, 10_000, 1.0), (0.002, 10_000, 0.5), (0.9, 3000, 0.1)]
)
def test_a_leak_of_the_detectable_epsilon_is_found_nine_times_in_ten(mass, pairs, claim):
    threshold, runs = log(1e3), 2000
    bets = mixture(2, [CurvePoint(claim)])
    law = (np.array([1 - mass, mass]), np.array([1 - mass, mass]))
    epsilon = detectable_epsilon(bets, pairs, law, threshold)
    assert claim < epsilon < 40
    less, more = mass * exp(-epsilon), (1 - mass) * exp(-epsilon)
    leaks = [([1 - mass, mass], [1 - less, less]), ([more, 1 - more], [1 - mass, mass])]  # at cell 1 of x, at cell 0 of x'
    powers = []
    for p, q in leaks:
        counts = np.random.default_rng(1).multinomial(pairs, np.outer(p, q).ravel(), size=runs).reshape(runs, 2, 2)
        powers.append(float((bets.log_wealth(counts) >= threshold).mean()))
    assert max(powers) > 0.9 - 3 * np.sqrt(0.09 / runs)


def test_what_a_run_could_detect_falls_with_pairs_towards_the_claim():
    bets = mixture(2, [CurvePoint(1.0)])
    law = (np.array([0.5, 0.5]), np.array([0.7, 0.3]))
    found = [detectable_epsilon(bets, pairs, law, log(1e6)) for pairs in (3, 300, 10_000, 10**6, 10**8)]
    assert found[0] == float("inf")
    assert found[1] > found[2] > found[3] > found[4] > 1
    assert found[4] < 1.01


@pytest.mark.parametrize(("p", "q", "point"), [(0.5, 0.1, CurvePoint(1.0)), (0.3, 0.0, CurvePoint(0.5)), (1.0, 0.5, CurvePoint(0.1, 0.2))])
def test_the_distance_to_the_claim_is_the_least_over_all_that_it_allows(p, q, point):
    p0, q0 = np.meshgrid(np.linspace(1e-6, 1 - 1e-6, 2001), np.linspace(1e-6, 1 - 1e-6, 2001))

    def kl(a, b):
        return sum(x * np.log(x / y) if x else 0.0 for x, y in ((a, b), (1 - a, 1 - b)))

    brute = np.where(p0 <= exp(point.epsilon) * q0 + point.delta, kl(p, p0) + kl(q, q0), np.inf).min()
    assert kl_to_claim(p, q, point) == pytest.approx(brute, rel=5e-3)
    assert kl_to_claim(p, q, point) <= brute


def test_what_the_claim_allows_is_at_distance_0():
    assert kl_to_claim(0.5, 0.5 / exp(1) + 1e-9, CurvePoint(1.0)) == 0.0
