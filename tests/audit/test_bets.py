"""Bets on counts of cells: valid under every law that the claim allows, and fast under those it does not."""

from itertools import combinations

import mpmath
import numpy as np
import pytest
from scipy import stats
from scipy.optimize import linprog, minimize

from dpverify.audits.bets import mixture, wealth_at
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


@pytest.mark.parametrize("designed", [False, True], ids=["generic", "designed"])
@pytest.mark.parametrize("curve", CURVES.values(), ids=CURVES)
def test_no_bet_gains_on_average_under_any_two_laws_that_the_claim_allows(curve, designed):
    """The means of what both outputs multiply a bet by sum to at most 2, by a linear programme, so that their product is at most 1."""
    size = 4
    rng = np.random.default_rng(3)
    bets = mixture(size, curve, alternatives=[tuple(rng.dirichlet(np.ones(size), 2)) for _ in range(20)] if designed else ())
    rows = slice(20) if designed else slice(None, None, 5)
    constraints, limits = [], []
    for event in (list(e) for n in range(1, size) for e in combinations(range(size), n)):
        inside = np.zeros(size)
        inside[event] = 1
        for point in curve:
            odds = np.exp(point.epsilon)
            constraints += [np.concatenate([inside, -odds * inside]), np.concatenate([-odds * inside, inside])]
            limits += [point.delta] * 2
    sums = np.kron(np.eye(2), np.ones(size))
    for left, right in zip(np.exp(bets.log_left[rows]), np.exp(bets.log_right[rows]), strict=True):
        best = linprog(-np.concatenate([left, right]), A_ub=constraints, b_ub=limits, A_eq=sums, b_eq=[1.0, 1.0], bounds=(0, 1))
        assert best.status == 0
        assert -best.fun <= 2 + 1e-9
        assert min(left.min(), right.min()) > 0


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_a_bet_for_known_laws_grows_as_fast_as_they_are_far_from_the_claim(epsilon):
    """Against one event and its complement: the least KL(p || p0) + KL(q || q0) over all that the claim allows, by convex programming."""
    odds = np.exp(epsilon)
    allowed = [{"type": "ineq", "fun": lambda x: odds * x[1] - x[0]}, {"type": "ineq", "fun": lambda x: odds * (1 - x[0]) - (1 - x[1])}]
    for p in (0.02, 0.3, 0.8):
        q = p * np.exp(-1.5 * epsilon)
        laws = np.array([1 - p, p]), np.array([1 - q, q])
        bets = mixture(2, [CurvePoint(epsilon)], alternatives=[laws])
        growth = float(bets.law_of_log(*laws)[0][0])
        middle = p * (1 + np.exp(-epsilon)) / 2

        def distance(x, p=p, q=q):
            return sum(a * np.log(a / b) + (1 - a) * np.log((1 - a) / (1 - b)) for a, b in zip((p, q), x, strict=True))

        far = minimize(distance, [middle, middle], bounds=[(1e-6, 1 - 1e-6)] * 2, constraints=allowed, options={"ftol": 1e-14}).fun
        assert far >= kl_to_claim(p, q, CurvePoint(epsilon)) - 1e-9, "one event of one order alone says less"
        assert growth == pytest.approx(far, rel=2e-2)
        one = mixture(2, [CurvePoint(epsilon, 1e-9)], alternatives=[laws])
        assert float(one.law_of_log(*laws)[0][0]) == pytest.approx(growth, rel=2e-2), "by Newton steps, where delta is not 0"


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


@pytest.mark.parametrize("curve", [[CurvePoint(0.3, 1e-3), CurvePoint(1.0)], PURE], ids=["two points", "pure"])
def test_rounding_never_creates_wealth_and_costs_little(curve):
    """The sum of both means, in exact arithmetic on the factors as they are used, and the wealth of a billion pairs."""
    bets = mixture(4, curve, alternatives=[([0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1])])
    counts = np.random.default_rng(4).multinomial(10**9, np.outer([0.2, 0.2, 0.3, 0.3], [0.3, 0.3, 0.2, 0.2]).ravel()).reshape(4, 4)
    with mpmath.workdps(60):
        for left, right in zip(bets.log_left, bets.log_right, strict=True):
            for law in (np.eye(4)[0], np.full(4, 0.25)):  # the same law on both sides is allowed, whatever is claimed
                means = [mpmath.mpf(float(w)) * mpmath.exp(float(x)) for side in (left, right) for w, x in zip(law, side, strict=True)]
                assert sum(means) <= 2
        total = mpmath.mpf(0)
        for prior, left, right in zip(bets.log_prior, bets.log_left, bets.log_right, strict=True):
            terms = [*zip(counts.sum(axis=1), left, strict=True), *zip(counts.sum(axis=0), right, strict=True)]
            total += mpmath.exp(mpmath.mpf(float(prior)) + sum(int(count) * mpmath.mpf(float(x)) for count, x in terms))
        exact = mpmath.log(total)
    # the factors themselves were lowered by 2^-44 of the greatest of each bet, which a billion pairs make up to a tenth of
    assert float(exact) - 1e-2 <= float(bets.log_wealth(counts)) <= exact + 1e9 * 2.0**-44 * 2


def test_stakes_never_risk_all_in_one_round():
    bets = mixture(16, curve_of_gaussian(), alternatives=[gaussian(0.1)])
    assert min(bets.log_left.min(), bets.log_right.min()) > np.log(0.9e-3)
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


def test_wealth_at_many_points_is_that_of_each_of_their_mixtures():
    points = [CurvePoint(epsilon, delta) for epsilon in (0.0, 0.3, 2.0) for delta in (0.0, 0.05)]
    counts = np.random.default_rng(0).integers(0, 900, (4, 3, 3))
    assert wealth_at(points, counts) == pytest.approx(np.array([mixture(3, [point]).log_wealth(counts) for point in points]))
