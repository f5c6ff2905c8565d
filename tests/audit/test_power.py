"""Small versions of what bench/power.py measures: how many samples audits need, and how often they are wrong. All seeds are fixed."""

import importlib.util
import math
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import optimize, stats

import dpverify
from dpverify.audits.bets import mixture
from dpverify.audits.bounds import kl_to_claim
from dpverify.audits.partition import CurvePoint
from dpverify.runtime.finding import FLOAT, MODEL

ROOT = Path(__file__).parents[2]


def _load(path):
    spec = importlib.util.spec_from_file_location("_power_study", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where its dataclasses look their names up
    spec.loader.exec_module(module)
    return module


POWER = _load(ROOT / "bench" / "power.py")
LINE = ("Laplace", "t, nu = 5", "Gaussian, by its curve")


# -- the yardstick -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [0.9, 0.5])
def test_the_information_of_laplace_noise_is_that_of_its_best_threshold_in_closed_form(scale):
    law = stats.laplace(0, scale)
    best = max(kl_to_claim(law.cdf(t), law.cdf(t - 1), CurvePoint(1.0)) for t in np.linspace(-2, 2, 401))
    assert POWER.information(POWER.LAWS["Laplace"], scale) == pytest.approx(best, rel=3e-3)


@pytest.mark.parametrize("name", LINE)
def test_noise_as_declared_is_within_its_claim_by_quadrature(name):
    assert POWER.information(POWER.LAWS[name], 1.0) < 1e-7
    assert POWER.information(POWER.LAWS[name], 0.9) > 1e-4


@pytest.mark.parametrize(
    ("name", "norm"),
    [
        ("K-norm, l2, d = 3", lambda z: np.sqrt((z**2).sum(axis=1))),
        ("K-norm, hexagon", lambda z: np.maximum(np.abs(z).max(axis=1), np.abs(z[:, 0] - z[:, 1]))),
    ],
)
def test_k_norm_noise_has_a_gamma_radius_and_is_spread_evenly(name, norm):
    noise = POWER.LAWS[name].draw(np.random.default_rng(11), 100_000)
    dimension = noise.shape[1]
    assert stats.kstest(norm(noise), "gamma", args=(dimension,)).pvalue > 1e-4
    # directions with a radius of the uniform law fill the unit ball evenly: half of the ball, moved within it, holds 2^-d of them
    inside = noise / norm(noise)[:, None] * np.random.default_rng(12).random((len(noise), 1)) ** (1 / dimension)
    shifted = norm(inside - np.eye(dimension)[0] / 2) < 1 / 2
    assert shifted.mean() == pytest.approx(0.5**dimension, abs=0.006)


# -- power ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["Laplace", pytest.param("Gaussian, by its curve", marks=pytest.mark.wide)])
def test_noise_that_is_10_percent_too_small_is_refuted_near_the_information_limit(name):
    limit = math.log(1000) / POWER.information(POWER.LAWS[name], 0.9)
    counts = [POWER.refuted(name, 0.9, True, POWER.SURE, POWER.PAIRS, seed)[0] for seed in range(11)]
    assert np.median(counts) < POWER.MEDIAN * limit
    assert np.quantile(counts, 0.9, method="higher") < POWER.Q90 * limit


@pytest.mark.wide
@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", LINE)
def test_half_the_noise_is_refuted_in_few_pairs(name):
    sure = [POWER.refuted(name, 0.5, True, POWER.SURE, POWER.PAIRS, seed)[0] for seed in range(5)]
    surer = [POWER.refuted(name, 0.5, True, POWER.SURER, POWER.PAIRS, seed)[0] for seed in range(5)]
    unseen = [POWER.refuted(name, 0.5, False, POWER.SURER, POWER.PAIRS, seed)[0] for seed in range(5)]
    assert np.median(sure) < POWER.HALF_PAIRS
    assert np.median(surer) < POWER.HALF_PAIRS_SURER and np.median(unseen) < POWER.HALF_PAIRS_SURER


@pytest.mark.wide
@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", ["numpy, x + laplace()", "numpy, normal(x)", "float32", "inverse of the distribution function"])
@pytest.mark.parametrize("white", [True, False])
def test_naive_samplers_are_at_fault_at_float_level_alone_and_soon(name, white):
    law, sampler = POWER.naive_samplers()[name]
    delta = 0.0 if POWER.LAWS[law].epsilon else POWER.gaussian_delta(1.0)
    inputs = {"claim": POWER.LAWS[law].claim()} if white else {"epsilon": 1, "delta": delta, "pairs": [([0.0], [1.0])]}
    for seed in range(2):
        finding = dpverify.audit(sampler, **inputs, samples=2 * POWER.CLEAN_PAIRS, seed=seed)
        assert POWER.of_level(finding, FLOAT).samples <= POWER.FLOAT_PAIRS
        assert POWER.of_level(finding, MODEL) is None


# -- false alarms --------------------------------------------------------------------------------------------


@pytest.mark.wide
@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", ["Laplace", "discrete Laplace", "Laplace, black box"])
def test_samplers_without_a_fault_are_never_flagged_at_the_default_confidence(name):
    assert not np.any([POWER.flagged(name, 1e-6, POWER.CLEAN_PAIRS, seed) for seed in range(4)])


QUICK = [name for name in POWER.single_tests() if name.startswith("bets: ") and "learned" not in name]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", QUICK)
def test_bets_on_what_just_holds_alarm_at_most_as_often_as_they_say(name):
    chunks = range(3)
    most = POWER.ALPHA + 3 * math.sqrt(POWER.ALPHA * (1 - POWER.ALPHA) / (len(chunks) * POWER.CHUNK))
    assert sum(POWER.one_chunk(name, seed) for seed in chunks) <= most * len(chunks) * POWER.CHUNK


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", [name for name in POWER.single_tests() if name.startswith(("fixed", "anytime"))])
def test_bounds_exceed_the_true_epsilon_at_most_as_often_as_they_say(name):
    assert POWER.one_chunk(name, 1) <= POWER.CHUNK * POWER.most_alarms(POWER.CHUNK)


def test_bets_alarm_on_what_the_claim_forbids():
    joint = np.outer((0.2, 0.8), (0.8, 0.2))
    bets = mixture(2, [CurvePoint(math.log(3))])
    assert POWER.bets_alarms(bets, joint, np.random.default_rng(0)) == POWER.CHUNK


def test_coupled_runs_have_the_laws_of_single_ones():
    p, q = np.array([0.1, 0.2, 0.7]), np.array([0.5, 0.0, 0.5])
    joint = POWER.coupled(p, q)
    np.testing.assert_allclose(joint.sum(axis=1), p, atol=1e-12)
    np.testing.assert_allclose(joint.sum(axis=0), q, atol=1e-12)
    assert joint[2, 0] == pytest.approx(0.2)


# -- what an audit says that it would have found ----------------------------------------------------------------


@pytest.mark.wide
@pytest.mark.sampled(1)
@pytest.mark.parametrize(("sigma", "epsilon", "white"), [(1.0, 1.0, True), (3.0, 1.0, False), (3.0, 1.0, True)])
def test_an_epsilon_at_a_delta_that_would_have_been_found_nine_times_in_ten_is(sigma, epsilon, white):
    """The whole law is that of smaller noise, whose epsilon at the claimed delta is known in closed form; `make power` has 200 runs."""
    delta, pairs, runs = POWER.normal_delta(epsilon, 1 / sigma), 40_000, 12
    said = POWER.stated_run(sigma, epsilon, white, sigma, 1, pairs)
    assert epsilon < said.detectable_epsilon < 4 * epsilon
    smaller = optimize.brentq(lambda s: POWER.normal_delta(said.detectable_epsilon, 1 / s) - delta, sigma / 20, sigma)
    found = sum(POWER.stated_found(sigma, epsilon, white, smaller, seed, pairs) for seed in range(100, 100 + runs))
    assert found >= stats.binom.ppf(0.001, runs, 0.9)
