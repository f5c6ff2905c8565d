"""Bets on joint counts: valid under every law that the claim allows, and fast under those it does not."""

from itertools import combinations

import mpmath
import numpy as np
import pytest
from scipy import stats
from scipy.optimize import linprog

from dpverify.audits.bets import mixture
from dpverify.audits.bounds import kl_to_claim
from dpverify.audits.partition import CurvePoint
from dpverify.errors import AuditError

PURE = [CurvePoint(1.0)]
CURVES = {
    "pure": [CurvePoint(0.5)],
    "approximate": [CurvePoint(1.0, 0.05)],
    "curve": [CurvePoint(0.0, 0.3), CurvePoint(0.7, 0.1)],
    "zero": [CurvePoint(0.0)],
}
CUTS = np.linspace(0, 1, 15)


def cells(above, below):
    """The cells' law from P(loss >= cut) for rising cuts, and the law under x' of a loss that is symmetric."""
    p, q = (-np.diff(np.concatenate([[1.0], tail, [0.0]])) for tail in (above, below))
    return p, q


def laplace(scale):
    return cells(stats.laplace.cdf(CUTS[::-1], 0, scale), stats.laplace.cdf(CUTS[::-1], 1, scale))


def additive(noise, scale, reach):
    cuts = np.linspace(0.5 + reach, 0.5 - reach, 15)
    return cells(noise.cdf(cuts / scale), noise.cdf((cuts - 1) / scale))


def gaussian(scale):
    return additive(stats.norm, scale, 2.5)


def student(scale):
    return additive(stats.t(5), scale, 3.5)


def knorm(scale):
    """Three dimensions, l2: radius Gamma(3), loss ||z - e|| - ||z||, whose angle is uniform."""
    r = (np.arange(40_000) + 0.5) * 1e-3
    weight = stats.gamma(3, scale=scale).pdf(r) * 1e-3

    def tail(loss):
        below = np.where(r + loss < 0, 1.0, (((1 - loss**2 - 2 * r * loss) / (2 * r) + 1) / 2).clip(0, 1))
        return float(weight @ below / weight.sum())

    losses = np.linspace(-1, 1, 17)[1:-1]
    return cells(np.array([tail(x) for x in losses]), np.array([1 - tail(-x) for x in losses]))


def curve_of_gaussian():
    epsilons = np.linspace(0, 3, 12)
    return [CurvePoint(e, stats.norm.cdf(0.5 - e) - np.exp(e) * stats.norm.cdf(-0.5 - e)) for e in epsilons]


def information(p, q, curve):
    return max(kl_to_claim(p[k:].sum(), q[k:].sum(), point) for k in range(1, len(p)) for point in curve)


def running(p, q, runs, looks, each, seed):
    """Joint counts of independent pairs at equally spaced looks: (runs, looks, K, K)."""
    joint = np.outer(p, q).ravel()
    steps = np.random.default_rng(seed).multinomial(each, joint / joint.sum(), size=(runs, looks))
    return steps.cumsum(axis=1).reshape(runs, looks, len(p), len(p))


def wealth(bets, counts):
    """In parts, since a look of a run holds a number for every bet."""
    return np.concatenate([bets.log_wealth(part) for part in np.array_split(counts, 50)])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("designed", [False, True], ids=["generic", "designed"])
@pytest.mark.parametrize("curve", CURVES.values(), ids=CURVES)
def test_no_bet_gains_on_average_under_any_joint_law_that_the_claim_allows(curve, designed):
    size = 4
    rng = np.random.default_rng(3)
    bets = mixture(size, curve, alternatives=[tuple(rng.dirichlet(np.ones(size), 2)) for _ in range(20)] if designed else ())
    factors = np.exp(bets.log_factors)[: 20 if designed else None : 1 if designed else 5]
    rows, limits = [], []
    for event in (list(e) for n in range(1, size) for e in combinations(range(size), n)):
        left, right = np.zeros((2, size, size))
        left[event, :], right[:, event] = 1, 1
        for point in curve:
            rows += [(left - np.exp(point.epsilon) * right).ravel(), (right - np.exp(point.epsilon) * left).ravel()]
            limits += [point.delta] * 2
    for factor in factors:
        best = linprog(-factor, A_ub=rows, b_ub=limits, A_eq=[np.ones(size**2)], b_eq=[1.0], bounds=(0, 1))
        assert best.status == 0
        assert -best.fun <= 1 + 1e-9


NULLS = {
    "an event at the boundary": (PURE, [0.2, 0.8], [0.2 * np.exp(1), 1 - 0.2 * np.exp(1)]),
    "the other direction": (PURE, [0.8, 0.2], [1 - 0.2 * np.exp(1), 0.2 * np.exp(1)]),
    "an event never seen on one side": ([CurvePoint(1.0, 0.05)], [0.95, 0.05], [1.0, 0.0]),
    "randomised response": (PURE, [1 / (1 + np.exp(1)), 1 / (1 + np.exp(-1))], [1 / (1 + np.exp(-1)), 1 / (1 + np.exp(1))]),
    "delta and epsilon at once": ([CurvePoint(1.0, 0.05), CurvePoint(2.0)], [0.95 - 0.1 * np.exp(1), 0.1 * np.exp(1) + 0.05], [0.9, 0.1]),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("designed", [False, True], ids=["generic", "designed"])
@pytest.mark.parametrize(("curve", "p", "q"), NULLS.values(), ids=NULLS)
def test_a_true_claim_is_refuted_at_any_look_with_at_most_the_stated_probability(curve, p, q, designed):
    alpha, runs = 0.05, 2000
    p, q = np.array(p), np.array(q)
    bets = mixture(2, curve, alternatives=[([0.1, 0.9], [0.9, 0.1]), (q, p)] if designed else ())
    alarms = (wealth(bets, running(p, q, runs, 200, 1, seed=9)) >= -np.log(alpha)).any(axis=1).mean()
    assert alarms <= alpha + 3 * np.sqrt(alpha * (1 - alpha) / runs)


POWER = {
    "Laplace": (laplace, PURE),
    "Gaussian by its curve": (gaussian, curve_of_gaussian()),
    "t with 5 degrees": (student, [CurvePoint(6 * np.arcsinh(1 / (2 * np.sqrt(5))))]),
    "K-norm in three dimensions": (knorm, PURE),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("scale", [0.9, 0.5])
@pytest.mark.parametrize(("law", "curve"), POWER.values(), ids=POWER)
def test_noise_too_small_is_refuted_within_the_promised_multiple_of_the_information_limit(law, curve, scale):
    alpha, share = 1e-3, 0.6
    p, q = law(scale)
    limit = np.log(1 / alpha) / information(p, q, curve)
    each = max(1, int(limit / 20))
    bets = mixture(16, curve, alternatives=[law(scale) for scale in (0.9, 0.8, 0.5)])
    refuted = wealth(bets, running(p, q, 100, 80, each, seed=1)) >= np.log(1 / (share * alpha))
    pairs = np.where(refuted.any(axis=1), (refuted.argmax(axis=1) + 1) * each, np.inf)
    assert np.median(pairs) < 1.5 * limit
    assert np.quantile(pairs, 0.9) < 2.4 * limit


def test_half_of_the_laplace_noise_is_refuted_within_300_pairs_without_a_design():
    gained = wealth(mixture(16, PURE), running(*laplace(0.5), 200, 30, 10, seed=2))
    assert (gained >= np.log(1 / (0.6 * 1e-3))).any(axis=1).mean() > 0.5


def test_rounding_never_creates_wealth_and_costs_little():
    curve = [CurvePoint(0.3, 1e-3), CurvePoint(1.0)]
    bets = mixture(4, curve, alternatives=[([0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1])])
    counts = np.random.default_rng(4).multinomial(10**9, np.outer([0.2, 0.2, 0.3, 0.3], [0.3, 0.3, 0.2, 0.2]).ravel()).reshape(4, 4)
    with mpmath.workdps(60):
        total = mpmath.mpf(0)
        for stakes, prior in zip(bets.stakes, bets.log_prior, strict=True):
            gained = mpmath.mpf(float(prior))
            for (i, j), count in np.ndenumerate(counts):
                factor, atom = mpmath.mpf(1), 0
                for point in curve:
                    odds, delta = mpmath.exp(mpmath.mpf(point.epsilon)), mpmath.mpf(point.delta)
                    for forward in (True, False):
                        for cut in range(1, 4):
                            speaks, against = (i >= cut, j >= cut) if forward else (j < cut, i < cut)
                            factor += mpmath.mpf(float(stakes[atom])) * (int(speaks) - odds * int(against) - delta) / (odds + delta)
                            atom += 1
                gained += int(count) * mpmath.log(factor)
            total += mpmath.exp(gained)
        exact = mpmath.log(total)
    assert float(exact) - 1e-2 <= float(bets.log_wealth(counts)) <= exact


def test_stakes_never_risk_all_in_one_round():
    bets = mixture(16, curve_of_gaussian(), alternatives=[gaussian(0.1)])
    assert bets.log_factors.min() > np.log(0.9e-3)
    assert np.exp(bets.log_prior).sum() == pytest.approx(1)


def test_no_pairs_make_no_wealth_and_stacks_are_counted_one_by_one():
    bets = mixture(5, PURE)
    counts = np.random.default_rng(0).integers(0, 50, size=(3, 2, 5, 5))
    counts[0, 0] = 0
    gained = bets.log_wealth(counts)
    assert gained.shape == (3, 2)
    assert -1e-9 < gained[0, 0] <= 0
    assert gained[2, 1] == pytest.approx(float(bets.log_wealth(counts[2, 1])))


def test_exchanging_the_inputs_and_the_order_of_cells_changes_nothing():
    bets = mixture(6, CURVES["curve"])
    counts = np.random.default_rng(0).integers(0, 50, size=(6, 6))
    assert float(bets.log_wealth(counts)) == pytest.approx(float(bets.log_wealth(counts.T[::-1, ::-1])))


@pytest.mark.parametrize("swapped", [False, True])
def test_the_best_bet_names_the_event_that_leaks(swapped):
    p, q = np.array([0.3, 0.3, 0.3, 0.1]), np.array([0.3, 0.3, 0.39, 0.01])
    joint = (1e5 * np.outer(p, q)).astype(np.int64)
    best = mixture(4, PURE).best(joint[::-1, ::-1].T if swapped else joint)
    assert (best.low, best.high, best.swapped, best.point) == ((0, 1, True, PURE[0]) if swapped else (3, 4, False, PURE[0]))
    assert best.log_wealth > 100


def test_points_that_claim_nothing_are_left_out_and_long_curves_thinned():
    assert mixture(2, [CurvePoint(np.inf), CurvePoint(1.0), CurvePoint(0.0, 1.0)]).curve == (CurvePoint(1.0),)
    assert len(mixture(16, [CurvePoint(e / 100) for e in range(100)]).curve) <= 16


@pytest.mark.parametrize(
    ("size", "curve", "alternatives", "says"),
    [
        (1, PURE, (), "2 to 16"),
        (17, PURE, (), "2 to 16"),
        (2, [CurvePoint(800.0)], (), "claims nothing"),
        (2, [], (), "claims nothing"),
        (2, [CurvePoint(-1.0)], (), "at least 0"),
        (2, [CurvePoint(float("nan"))], (), "at least 0"),
        (3, PURE, [([0.5, 0.5], [0.5, 0.5])], "for 3 cells"),
    ],
)
def test_what_cannot_be_bet_on_is_refused(size, curve, alternatives, says):
    with pytest.raises(AuditError, match=says):
        mixture(size, curve, alternatives=alternatives)
