"""Curves of selections against scipy's quadrature, matrices, and the divergences of single pairs of answers (theory: selection.md)."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from scipy import integrate, optimize, stats
from scipy.special import ndtr as phi

from dpverify.search.verify import verify
from dpverify.trusted.combinators.runs import Run
from dpverify.trusted.facts.pairs import Curve, Pair, symmetric
from dpverify.trusted.kernel.balls import precision
from dpverify.trusted.kernel.errors import STUMBLES, CertificateError, Rejected
from dpverify.trusted.kernel.expr import ONE, ZERO, num, parse
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import Claim, Compose, Group, Lipschitz, Measure, Part, Subsample, repeated
from dpverify.trusted.kernel.proof import Proof
from dpverify.trusted.order.enclosed import enclose
from dpverify.trusted.theories.curves.rules import least_curve as least
from dpverify.trusted.theories.divergences import chords
from dpverify.trusted.theories.divergences.rules import selection_measures as selections
from dpverify.trusted.theories.selection.delta_masses import of_run
from dpverify.trusted.theories.selection.rules import compared_gaussians as delta_release
from dpverify.trusted.theories.selection.rules import first_positive as delta_first_positive
from dpverify.trusted.theories.selection.rules import greatest_noise as delta_greatest
from dpverify.trusted.theories.selection.rules import selection_event as delta_event
from tests.selections import ALL_N, GEOMETRIC, GUMBEL, LOGISTIC, gaussian, laplace, largest, of, on_line, sparse

G1, G2, L2 = gaussian(1), gaussian(2), laplace(2)
UNIT = (ZERO, ONE)


def run(mechanism, sensitivity=1):
    return Run(Part(mechanism, parse(str(sensitivity))))


def curve(rule, mechanism, sensitivity=1, **parameters):
    with precision(64):
        return rule.infer(run(mechanism, sensitivity), parameters, ())


def height(rule, mechanism, epsilon, sensitivity=1, order="forward", **parameters):
    """The bound at an epsilon, whose enclosure is sharp."""
    found = curve(rule, mechanism, sensitivity, **parameters)
    pair = found.lower if found.upper is None else found.upper
    with precision(64):
        ball = getattr(pair, order)(arb(str(epsilon)))
    assert ball.rad() < 1e-12
    return float(ball.mid())


# -- Gaussian comparisons ----------------------------------------------------------------------------------------------


def moves(n, neighbours):
    """The corners of the moves of n answers, in units of the sensitivity."""
    if neighbours == "one":
        return [[float(i == j) for i in range(n)] for j in range(n)]
    return list(itertools.product((-1.0, 1.0) if neighbours == "all" else (0.0, 1.0), repeat=n))


def both_ways(n, neighbours):
    """Moves and their opposites."""
    listed = [np.array(d) for d in moves(n, neighbours)]
    return listed if neighbours == "all" else [*listed, *(-d for d in listed if d.any())]


def squared(mechanism, sensitivity=1):
    return float(enclose(delta_release.distance(of_run(run(mechanism, sensitivity), "x"))).mid()) ** 2


@pytest.mark.parametrize("n", [1, 2, 3, 6, 7])
@pytest.mark.parametrize("neighbours", ["all", "monotone", "one"])
@pytest.mark.parametrize("report", ["index", "index+gap", "value"])
def test_noisy_max_moves_by_the_greatest_length_of_differences_about_their_mean_or_of_all(n, neighbours, report):
    centred = [np.array(d) - (np.mean(d) if report != "value" else 0) for d in moves(n, neighbours)]
    most = max(d @ d for d in centred) * 9 / 4
    assert squared(largest(G2, n, neighbours=neighbours, report=report), 3) == pytest.approx(most)


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize(("report", "shared"), [("answers", 1), ("answers+gap", 1), ("answers+value", 0)])
@pytest.mark.parametrize("neighbours", ["all", "one"])
def test_above_threshold_moves_by_the_length_in_the_covariance_of_what_is_compared(n, report, shared, neighbours):
    inverse = np.linalg.inv(4 * np.eye(n) + shared * np.ones((n, n)))
    most = max(np.array(d) @ inverse @ np.array(d) for d in moves(n, neighbours))
    assert squared(sparse(G1, G2, n, report=report, neighbours=neighbours)) == pytest.approx(most)


@pytest.mark.parametrize(("first", "second", "n"), [(G1, G2, 1), (G2, G1, 1), (G1, G2, 3), (G2, G1, 3), (G1, G2, 9), (G2, G1, 9)])
@pytest.mark.parametrize("neighbours", ["monotone", "increasing", "decreasing"])
def test_answers_that_move_together_move_by_at_most_what_any_share_of_them_does(first, second, n, neighbours):
    (s, t) = (1, 4) if first is G1 else (4, 1)
    shared = s / (t + n * s)
    share = optimize.minimize_scalar(lambda k: -(k - shared * k * k), bounds=(0, n), method="bounded", options={"xatol": 1e-9})
    most = (-share.fun if n > 1 else 1 - shared) / t
    assert squared(sparse(first, second, n, neighbours=neighbours)) == pytest.approx(most, rel=1e-6)


@pytest.mark.parametrize(
    ("mechanism", "most"),
    [
        (sparse(None, G2, 3), 3 / 4),
        (sparse(L2, G2, 3), 3 / 4),
        (sparse(G1, G2, 3, resample=True), 3 / 4),
        (sparse(L2, G2, 3, neighbours="monotone"), 3 / 4),
        (sparse(L2, G2, 3, report="fresh", fresh=G1, positives=2), 3 / 4 + 2),
        (sparse(L2, G2, 3, report="fresh", fresh=G1, positives=7), 3 / 4 + 3),
        (sparse(L2, G2, 3, report="fresh", fresh=G1, positives=None), 3 / 4 + 3),
        (sparse(L2, G2, 3, report="fresh", fresh=G1, neighbours="one", positives=2), 1 / 4 + 1),
        (sparse(L2, G2, 3, bounds=(ZERO, parse("1/2"))), 3 / 16),
    ],
)
def test_noise_that_comparisons_do_not_share_and_fresh_noise_count_by_themselves(mechanism, most):
    assert squared(mechanism) == pytest.approx(most)


def normal(mu, epsilon):
    return stats.norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * stats.norm.cdf(-mu / 2 - epsilon / mu)


def test_the_pair_is_that_of_two_normal_laws_in_both_orders():
    for order in ("forward", "backward"):
        assert height(delta_release, largest(G2, 2), 0.5, order=order) == pytest.approx(normal(math.sqrt(2) / 2, 0.5), rel=1e-12)
    assert height(delta_release, largest(G2, 1), 0.5) == 0


# -- the greatest noise --------------------------------------------------------------------------------------------------


def shifted(law, moved):
    """The profile at any epsilon of noise by itself."""
    if law is None:
        return lambda x: max(0.0, -math.expm1(x))
    if law[0] == "normal":
        return lambda x: normal(moved / law[1], x)
    ratio = moved / law[1]
    return lambda x: max(0.0, -math.expm1(x), -math.expm1((x - ratio) / 2))


def by_greatest(noise, n, reach, times, shared, epsilon):
    """The mean over the greatest of n noises, by scipy."""
    kind, scale = noise
    law = stats.norm(scale=scale) if kind == "normal" else stats.laplace(scale=scale)

    def integrand(z):
        loss = ((z + reach) ** 2 - z**2) / (2 * scale**2) if kind == "normal" else (abs(z + reach) - abs(z)) / scale
        return n * law.pdf(z) * law.cdf(z) ** (n - 1) * shared(epsilon - times * max(0.0, loss))

    ends = [-60 * scale, -reach, -reach / 2, 0, *(k * scale / 2 for k in range(1, 24)), 60 * scale]
    return sum(integrate.quad(integrand, a, b, epsabs=1e-14, limit=200)[0] for a, b in itertools.pairwise(ends))


N1, N2, E2 = ("normal", 1), ("normal", 2), ("laplace", 2)


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    ("mechanism", "noise", "n", "reach", "times", "shared", "epsilon"),
    [
        (largest(G1, 5), N1, 5, 2, 1, shifted(None, 0), 3),
        (largest(G1, 1), N1, 1, 2, 1, shifted(None, 0), 0.1),
        (largest(G2, 3, neighbours="monotone"), N2, 3, 1, 1, shifted(None, 0), 0.5),
        (largest(G2, 3, neighbours="one"), N2, 3, 1, 1, shifted(None, 0), 0),
        (largest(L2, 4), E2, 4, 2, 1, shifted(None, 0), 0.5),
        (largest(L2, 4), E2, 4, 2, 1, shifted(None, 0), 1.5),
        (sparse(G1, G2, 4), N2, 4, 2, 1, shifted(N1, 1), 2),
        (sparse(G1, G2, 4, neighbours="monotone", report="answers+gap"), N2, 4, 1, 1, shifted(N1, 1), 2),
        (sparse(G1, G2, 4, positives=2), N2, 4, 2, 2, shifted(N1, 1), 2),
        (sparse(G1, G2, 3, positives=7), N2, 3, 2, 3, shifted(N1, 1), 2),
        (sparse(G1, G2, 3, positives=None), N2, 3, 2, 3, shifted(N1, 1), 2),
        (sparse(G1, G2, 4, positives=2, resample=True), N2, 4, 2, 2, shifted(N1, math.sqrt(2)), 2),
        (sparse(G1, G2, 4, report="fresh", fresh=G2, positives=2), N2, 4, 2, 2, shifted(N1, math.sqrt(1.5)), 2),
        (sparse(L2, G2, 4), N2, 4, 2, 1, shifted(E2, 1), 0.25),
        (sparse(L2, G2, 4), N2, 4, 2, 1, shifted(E2, 1), 2),
        (sparse(G1, L2, 4), E2, 4, 2, 1, shifted(N1, 1), 1),
        (sparse(L2, laplace(2), 4), E2, 4, 2, 1, shifted(E2, 1), 0.7),
        (sparse(L2, laplace(2), 4, positives=2), E2, 4, 2, 2, shifted(E2, 1), 1.1),
        (sparse(L2, G2, 4, bounds=(ZERO, parse("1/2"))), N2, 4, 1, 1, shifted(E2, 0.5), 0.25),
    ],
)
def test_the_greatest_of_the_noises_is_integrated_as_scipy_does(mechanism, noise, n, reach, times, shared, epsilon):
    expected = by_greatest(noise, n, reach, times, shared, epsilon)
    assert height(delta_greatest, mechanism, epsilon) == pytest.approx(expected, rel=1e-7, abs=1e-13)


def test_what_is_far_out_is_relatively_sharp():
    value = curve(delta_greatest, largest(G1, 3)).upper
    with precision(64):
        ball = value.forward(arb(40))
    assert float(ball.rad() / ball.mid()) < 1e-12
    assert float(ball.mid()) == pytest.approx(by_far(3, 2, 40), rel=1e-6)


def by_far(n, reach, epsilon):
    start = epsilon / reach - reach / 2
    height = lambda z: -math.expm1(epsilon - reach * z - reach**2 / 2) * n * stats.norm.pdf(z)  # noqa: E731  # below z nearly all are
    return integrate.quad(height, start, start + 3, epsabs=0)[0]


@pytest.mark.parametrize(
    ("rule", "mechanism", "why"),
    [
        (delta_greatest, largest(G1, 3, report="value"), "more than the index"),
        (delta_greatest, largest(G1, 3, report="index+gap"), "more than the index"),
        (delta_greatest, sparse(G1, G2, 3, report="answers+value"), "the noisy answers are told"),
        (delta_greatest, sparse(None, G2, 3), "there is none"),
        (delta_greatest, sparse(G1, None, 3), "there is none"),
        (delta_greatest, sparse(L2, G2, 3, positives=2, resample=True), "all are to be Gaussian"),
        (delta_greatest, sparse(L2, G2, 3, report="fresh", fresh=G2), "all are to be Gaussian"),
        (delta_greatest, sparse(G1, G2, 3, report="fresh", fresh=L2), "all are to be Gaussian"),
        (delta_greatest, largest(LOGISTIC, 3), "not certainly Gaussian or Laplace"),
        (delta_greatest, largest(G1, 2 * 10**9), "from 1 to 1000000000"),
        (delta_release, largest(L2, 3), "not certainly Gaussian noise on the line"),
        (delta_release, largest(GEOMETRIC, 3), "lives on the integers"),
        (delta_release, sparse(G1, L2, 3), "query_noise"),
        (delta_release, sparse(G1, None, 3), "query_noise"),
        (delta_release, sparse(G1, G2, 3, report="fresh", fresh=L2), "fresh"),
    ],
)
def test_bounds_by_what_is_released_or_moved_are_refused_where_they_are_not_proved(rule, mechanism, why):
    with pytest.raises(Rejected, match=why):
        curve(rule, mechanism)


# -- on the integers -----------------------------------------------------------------------------------------------------

DISCRETE = on_line("exp(-z**2/8)", integers=True)
WHOLE = np.arange(-60, 61)
LAWS = {"gaussian": (DISCRETE, np.exp(-(WHOLE**2) / 8)), "geometric": (GEOMETRIC, np.exp(-abs(WHOLE) / 2))}
"""Noise with its weights."""


def by_sum(weights, n, reach, epsilon):
    """The mean over the greatest of n integers."""
    chance = weights / weights.sum()
    most = np.diff(np.concatenate([[0], np.cumsum(chance) ** n]))
    falls = np.concatenate([chance[reach:], np.zeros(reach)]) / chance
    return (most * np.maximum(0, 1 - math.exp(epsilon) * falls)).sum()


@pytest.mark.parametrize("name", ["gaussian", "geometric"])
@pytest.mark.parametrize(
    ("words", "sensitivity", "reach"), [({}, 1, 2), ({"neighbours": "monotone"}, 2, 2), ({"neighbours": "one"}, "7/2", 3)]
)
@pytest.mark.parametrize("epsilon", [0, 0.4, 2])
def test_the_greatest_of_integers_is_summed(name, words, sensitivity, reach, epsilon):
    noise, weights = LAWS[name]
    found = height(delta_greatest, largest(noise, 3, **words), epsilon, sensitivity, cuts=["-50", "50"])
    assert found == pytest.approx(by_sum(weights, 3, reach, epsilon), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(("low", "high"), [(2, 50), (-50, 4), (0, 3)])
def test_what_is_outside_of_the_integers_that_are_added_counts_as_the_first_of_them_or_in_full(low, high):
    chance = LAWS["gaussian"][1] / LAWS["gaussian"][1].sum()
    most = np.diff(np.concatenate([[0], np.cumsum(chance) ** 3]))
    lost = np.maximum(0, 1 - math.exp(0.4) * np.exp(-(np.maximum(WHOLE, low) * 4 + 4) / 8))
    expected = (most * np.where(high - 2 < WHOLE, 1.0, lost)).sum()
    assert height(delta_greatest, largest(DISCRETE, 3), 0.4, cuts=[str(low), str(high)]) == pytest.approx(expected, rel=1e-9)


def test_no_pair_of_integers_is_above_the_bound():
    noise = LAWS["gaussian"][1] / LAWS["gaussian"][1].sum()
    law = dict(zip(WHOLE.tolist(), noise, strict=True))

    def first(lead):
        """The chance of the first of two to be the greatest, which it is at a tie."""
        return sum(law[a] * sum(noise[a + lead >= WHOLE]) for a in range(-50, 51))

    for epsilon in (0.1, 0.8):
        bound = height(delta_greatest, largest(DISCRETE, 2), epsilon, cuts=["-50", "50"])
        for lead in range(-6, 7):
            for p, q in ((first(lead), first(lead - 2)), (first(lead - 2), first(lead))):
                assert excess(np.array([p, 1 - p]), np.array([q, 1 - q]), epsilon) <= bound + 1e-12


@pytest.mark.parametrize(
    ("mechanism", "cuts", "why"),
    [
        (largest(DISCRETE, 3, report="value"), ["-9", "9"], "the index of the greatest alone"),
        (largest(DISCRETE, 3, report="index+gap"), ["-9", "9"], "the index of the greatest alone"),
        (sparse(DISCRETE, DISCRETE, 3), ["-9", "9"], "the index of the greatest alone"),
        (largest(on_line("1/(1 + z**2)", integers=True), 3), ["-9", "9"], "log-concave|smooth|shape"),
        (largest(DISCRETE, 3), ["0", "1"], "no further apart"),
        (largest(DISCRETE, 2000), ["-9", "9"], "from 1 to 1000"),
    ],
)
def test_sums_over_integers_are_refused_where_they_are_not_proved(mechanism, cuts, why):
    with pytest.raises(Rejected, match=why):
        curve(delta_greatest, mechanism, cuts=cuts)


def test_cuts_between_integers_are_refused_where_they_are_evaluated():
    found = curve(delta_greatest, largest(DISCRETE, 3), cuts=["-19/2", "9"]).upper
    with pytest.raises(Rejected, match="they are integers"), precision(64):
        found.forward(arb(1))


def test_nothing_is_integrated_where_nothing_moves():
    with pytest.raises(Rejected, match="not certainly positive"):
        curve(delta_greatest, largest(G1, 3), 0)


# -- every bound is above every pair ---------------------------------------------------------------------------------------

GRID = np.linspace(-30, 30, 1501)
WEIGHTS = {1: stats.norm.pdf(GRID) * 0.04, 2: stats.norm.pdf(GRID, scale=2) * 0.04, "laplace": stats.laplace.pdf(GRID, scale=2) * 0.04}


def chances_of_max(answers, scale):
    """Of each of the answers to be the greatest."""
    beyond = [
        np.prod([stats.norm.cdf(GRID + a - b, scale=scale) for j, b in enumerate(answers) if j != i], 0) for i, a in enumerate(answers)
    ]
    return np.array([(WEIGHTS[scale] * others).sum() for others in beyond])


def chances_of_first(answers, first, scale):
    """Of each answer to be the first positive, and of none."""
    below = [phi((GRID - a) / scale) for a in answers]
    before = [np.prod(below[:j], 0) * np.ones_like(GRID) for j in range(len(answers) + 1)]
    outputs = [b * (1 - at) for b, at in zip(before, below, strict=False)] + [before[-1]]
    return np.array([(WEIGHTS[first] * output).sum() for output in outputs])


def excess(p, q, epsilon):
    return np.maximum(p - math.exp(epsilon) * q, 0).sum()


@pytest.mark.parametrize("neighbours", ["all", "monotone", "one"])
def test_no_pair_of_answers_of_noisy_max_is_above_a_bound(neighbours):
    rng = np.random.default_rng(1)
    for epsilon in (0.1, 0.7):
        bounds = [height(rule, largest(G2, 3, neighbours=neighbours), epsilon) for rule in (delta_release, delta_greatest)]
        for d in both_ways(3, neighbours):
            for answers in rng.normal(0, 2, (2, 3)):
                found = excess(chances_of_max(answers, 2), chances_of_max(answers + d, 2), epsilon)
                assert found <= min(bounds) + 1e-12


CUTS = [str(k) for k in (-64, -16, -4, 0, 1, 4, 16, 64)]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("neighbours", ["all", "monotone", "one"])
@pytest.mark.parametrize(("first", "noise"), [(1, G1), ("laplace", L2)])
def test_no_pair_of_answers_of_above_threshold_is_above_a_bound(neighbours, first, noise):
    rng = np.random.default_rng(2)
    open_one, between = (sparse(noise, G2, 3, neighbours=neighbours, **words) for words in ({}, {"bounds": UNIT}))
    for epsilon in (0.1,):
        anywhere = min(height(rule, open_one, epsilon) for rule in (delta_release, delta_greatest))
        inside = height(delta_first_positive, between, epsilon, cuts=CUTS)
        for d in both_ways(3, neighbours):
            for answers in rng.uniform(-3, 3, (1, 3)):
                found = excess(chances_of_first(answers, first, 2), chances_of_first(answers + d, first, 2), epsilon)
                assert found <= anywhere + 1e-12
            corner = np.where(d > 0, 0.0, np.where(d < 0, 1.0, rng.integers(0, 2, 3)))
            found = excess(chances_of_first(corner, first, 2), chances_of_first(corner + d, first, 2), epsilon)
            assert found <= inside + 1e-12


# -- the first positive --------------------------------------------------------------------------------------------------


def mean_of_losses(first, n, step, low, high, way, epsilon):
    """The bound for one way to move, from its definition: outputs weighed by how probable they are where all answers are the least."""

    def chance(count, at, positives, other):
        return (WEIGHTS[first] * phi((GRID - at) / 2) ** count * phi((other - GRID) / 2) ** positives).sum()

    outputs = [(j, 1) for j in range(n)] + [(n, 0)]
    u, v = way
    losses = [chance(j, high - u * step, y, low + v * step) / chance(j, high, y, low) for j, y in outputs]
    worst = np.maximum.accumulate([max(0.0, 1 - math.exp(epsilon) / loss) for loss in losses])
    return sum(chance(j, low, y, low) * w for (j, y), w in zip(outputs, worst, strict=True))


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("words", "step", "ways"),
    [
        ({}, 1, [(1, 1)]),
        ({"neighbours": "monotone"}, 1, [(1, 0), (0, 1)]),
        ({"neighbours": "one"}, 1, [(1, 0), (0, 1)]),
        ({"neighbours": "increasing"}, 1, [(1, 0)]),
        ({"neighbours": "decreasing"}, 1, [(0, 1)]),
        ({}, 0.5, [(1, 1)]),
        ({}, 7, [(1, 1)]),
    ],
)
@pytest.mark.parametrize("epsilon", [0.05, 0.2])
def test_outputs_between_bounds_are_weighed_where_negatives_are_the_most_probable(words, step, ways, epsilon):
    expected = max(mean_of_losses(1, 3, min(step, 1), 0, 1, way, epsilon) for way in ways)
    found = height(
        delta_first_positive, sparse(G1, G2, 3, bounds=UNIT, **words), epsilon, Fraction(step), cuts=[*CUTS[:4], "1/2", *CUTS[4:]]
    )
    assert found == pytest.approx(expected, rel=1e-9)


def test_an_exact_threshold_needs_no_integral():
    found = height(delta_first_positive, sparse(None, G2, 1, bounds=UNIT), 0.1, cuts=["0", "1"])
    up, down = stats.norm.cdf(-0.5), 0.5
    losses = [max(0.0, 1 - math.exp(0.1) * a / b) for a, b in ((down, 1 - up), (up, 0.5))]
    assert found == pytest.approx(0.5 * losses[0] + 0.5 * max(losses), rel=1e-12)


@pytest.mark.parametrize(
    ("mechanism", "why"),
    [
        (sparse(G1, G2, 3), "there are none"),
        (sparse(G1, G2, 3, positives=2, bounds=UNIT), "does not stop at the first"),
        (sparse(G1, G2, 3, positives=None, bounds=UNIT), "does not stop at the first"),
        (sparse(G1, G2, 3, report="answers+gap", bounds=UNIT), "tells more than answers"),
        (sparse(G1, None, 3, bounds=UNIT), "there is none"),
        (sparse(LOGISTIC, G2, 3, bounds=UNIT), "not certainly Gaussian or Laplace"),
        (largest(G1, 3, bounds=UNIT), "does not stop at the first"),
        (sparse(G1, G2, 3, bounds=UNIT, threshold=parse("sqrt(2)")), "wants a rational"),
        (sparse(G1, G2, 2000, bounds=UNIT), "from 1 to 1000"),
    ],
)
def test_outputs_between_bounds_are_looked_at_only_where_that_is_proved(mechanism, why):
    with pytest.raises(Rejected, match=why):
        curve(delta_first_positive, mechanism, cuts=CUTS)


@pytest.mark.parametrize("cuts", [None, "0", ["0"], ["1", "0"], ["0", "0"], [str(k) for k in range(1001)], ["a", "b"]])
def test_cuts_are_numbers_that_rise(cuts):
    with pytest.raises(CertificateError):
        curve(delta_first_positive, sparse(G1, G2, 3, bounds=UNIT), cuts=cuts)


def test_a_cut_is_wanted_where_a_density_has_its_kink():
    for missing in ("0", "1"):
        found = curve(delta_first_positive, sparse(L2, laplace(2), 3, bounds=UNIT), cuts=[cut for cut in CUTS if cut != missing])
        with pytest.raises(Rejected, match="kink"), precision(64):
            found.upper.forward(arb(1) / 10)


def test_what_is_outside_of_the_cuts_is_not_lost():
    sharp = curve(delta_first_positive, sparse(G1, G2, 3, bounds=UNIT), cuts=CUTS).upper
    for cuts in (["-2", "0", "1", "64"], ["-64", "0", "1", "2"]):
        wide = curve(delta_first_positive, sparse(G1, G2, 3, bounds=UNIT), cuts=cuts).upper
        with precision(64):
            assert wide.forward(arb(1) / 10).contains(sharp.forward(arb(1) / 10))


# -- events --------------------------------------------------------------------------------------------------------------


def pair_of(p, q, epsilon):
    return max(p - math.exp(epsilon) * q, 1 - p - math.exp(epsilon) * (1 - q), 0)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("neighbours", "fall"), [("all", 2), ("monotone", 1), ("one", 1)])
@pytest.mark.parametrize("group", [1, 2])
def test_the_greatest_is_among_the_first_answers_with_these_probabilities(neighbours, fall, group):
    lead = Fraction(1, 2)
    here, there = (chances_of_max([float(x)] * group + [0.0] * (3 - group), 2)[:group].sum() for x in (lead, lead - fall))
    mechanism = largest(G2, 3, neighbours=neighbours)
    cuts = ["-64", *sorted({"-1/2", str(fall - lead), "0"}, key=Fraction), "64"]
    for order, (p, q) in {"forward": (here, there), "backward": (there, here)}.items():
        found = height(delta_event, mechanism, 0.1, group=group, lead="1/2", cuts=cuts, order=order)
        assert found == pytest.approx(pair_of(p, q, 0.1), rel=1e-9)


def chance_of_event(first, k, low, y, high, after):
    negative, other = (phi((GRID - at) / 2) for at in (low, high))
    return (WEIGHTS[first] * negative**k * ((1 - other) ** y if after == "all" else 1 - other**y)).sum()


@pytest.mark.sampled(5)
@pytest.mark.parametrize(("k", "y", "after"), [(2, 1, "all"), (1, 2, "all"), (1, 2, "any"), (0, 2, "any"), (3, 0, "all")])
@pytest.mark.parametrize(("neighbours", "move", "way"), [("all", 0, (1, 1)), ("monotone", 0, (1, 0)), ("monotone", 1, (0, 1))])
def test_negatives_that_are_followed_by_positives_have_these_probabilities(k, y, after, neighbours, move, way):
    u, v = way
    p, q = (
        chance_of_event("laplace", k, -1 + u * s, y, 2 - v * s, after) if y else chance_of_event("laplace", k, -1 + u * s, 0, 0, "all")
        for s in (0, 1)
    )
    told = {"negatives": k, "positives": y, "next": after, "move": move, "answers": ["-1", "2"], "cuts": ["-90", "-1", "0", "1", "2", "90"]}
    for order, (a, b) in {"forward": (p, q), "backward": (q, p)}.items():
        found = height(delta_event, sparse(L2, G2, 3, positives=2, neighbours=neighbours), 0.02, order=order, **told)
        assert found == pytest.approx(pair_of(a, b, 0.02), rel=1e-4, abs=1e-9)  # the kink of Laplace noise is on the grid


@pytest.mark.parametrize("neighbours", ["increasing", "decreasing"])
def test_of_one_order_alone_the_other_tells_nothing(neighbours):
    told = {"negatives": 1, "positives": 0, "next": "all", "move": 0, "answers": ["0", "0"], "cuts": ["-64", "0", "1", "64"]}
    if neighbours == "decreasing":
        told |= {"negatives": 0, "positives": 1, "answers": ["0", "1"]}
    mechanism = sparse(G1, G2, 1, neighbours=neighbours)
    p, q = stats.norm.cdf([0, -1 / math.sqrt(5)]) if neighbours == "increasing" else stats.norm.cdf([1 / math.sqrt(5), 0])
    assert pair_of(p, q, 0.1) != pytest.approx(pair_of(q, p, 0.1))
    assert height(delta_event, mechanism, 0.1, order="forward", **told) == pytest.approx(pair_of(p, q, 0.1), rel=1e-9)
    assert height(delta_event, mechanism, 0.1, order="backward", **told) == 0


@pytest.mark.parametrize(("p", "q"), [(0.5, 0.001), (0.001, 0.5), (0.5, 0.999), (0.3, 0.6)])
@pytest.mark.parametrize("order", [1.2, 2])
def test_an_event_of_one_order_alone_shows_no_more_than_its_divergence(p, q, order):
    pair = delta_event.pair_of(lambda: ((arb(p), arb(q)),) * 2, True)
    points = [Fraction(place, 10) for place in range(81)]
    divergence = math.log(p**order * q ** (1 - order) + (1 - p) ** order * (1 - q) ** (1 - order))
    assert 0 < chords.least(arb(order), pair, points) < divergence


@pytest.mark.parametrize(
    ("answers", "k", "y", "after", "p", "q"),
    [
        (["-1", "1"], 1, 1, "all", stats.norm.cdf(1) - stats.norm.cdf(-1), 0),
        (["-1", "1"], 2, 1, "any", stats.norm.cdf(1) - stats.norm.cdf(-1), 0),
        (["-2", "1"], 1, 2, "all", stats.norm.cdf(1) - stats.norm.cdf(-2), stats.norm.cdf(0) - stats.norm.cdf(-1)),
        (["-1", "0"], 3, 0, "all", stats.norm.sf(-1), stats.norm.sf(0)),
        (["0", "1"], 0, 2, "all", stats.norm.cdf(1), stats.norm.cdf(0)),
    ],
)
def test_exact_answers_are_told_apart_by_the_threshold_between_them(answers, k, y, after, p, q):
    told = {"negatives": k, "positives": y, "next": after, "move": 0, "answers": answers, "cuts": ["0", "1"]}
    found = curve(delta_event, sparse(G1, None, 3, positives=2), **told).lower
    with precision(64):
        assert float(found.forward(arb(1) / 10).mid()) == pytest.approx(pair_of(p, q, 0.1), abs=1e-14)
        assert float(found.rests[0]().mid()) == pytest.approx(p if q == 0 else 0, abs=1e-14)
        assert found.rests[1]() == 0


def test_an_exact_threshold_is_compared_with_each_answer():
    told = {"negatives": 2, "positives": 1, "next": "all", "move": 0, "answers": ["-1", "1"], "cuts": ["0", "1"]}
    p, q = stats.norm.cdf(0.5) ** 3, 0.5**3
    assert height(delta_event, sparse(None, G2, 3), 0.1, **told) == pytest.approx(pair_of(p, q, 0.1), rel=1e-12)


MAX = {"group": 1, "lead": "0", "cuts": ["-64", "0", "1", "2", "64"]}
EVENT = {"negatives": 1, "positives": 1, "next": "all", "move": 0, "answers": ["0", "1"], "cuts": ["-64", "0", "1", "64"]}


@pytest.mark.parametrize(
    ("mechanism", "told", "why"),
    [
        (largest(G2, 3), {**MAX, "group": 0}, "'group'"),
        (largest(G2, 3), {**MAX, "group": 3}, "'group'"),
        (largest(G2, 3), {**MAX, "group": True}, "'group'"),
        (largest(G2, 4, neighbours="one"), {**MAX, "group": 2}, "more than one answer"),
        (largest(G2, 3, report="value"), MAX, "not told"),
        (largest(LOGISTIC, 3), MAX, "not certainly Gaussian or Laplace"),
        (largest(G2, 3, bounds=UNIT), {**MAX, "lead": "1001/1000"}, "between the bounds"),
        (largest(G2, 3, bounds=UNIT), {**MAX, "lead": "999/1000"}, "between the bounds"),
        (largest(G2, 3, bounds=UNIT, neighbours="monotone"), {**MAX, "lead": "-1/1000"}, "between the bounds"),
        (sparse(G1, G2, 3), {**EVENT, "negatives": 3}, "not asked for"),
        (sparse(G1, G2, 3), {**EVENT, "negatives": 0, "positives": 0}, "not asked for"),
        (sparse(G1, G2, 3), {**EVENT, "positives": 2}, "not told to be positive"),
        (sparse(G1, G2, 3, positives=2, resample=True), {**EVENT, "positives": 2}, "another threshold"),
        (sparse(G1, G2, 3), {**EVENT, "negatives": -1}, "'negatives'"),
        (sparse(G1, G2, 3), {**EVENT, "positives": True}, "'positives'"),
        (sparse(G1, G2, 3), {**EVENT, "next": "some"}, "some"),
        (sparse(G1, G2, 3), {**EVENT, "move": 1}, "'move'"),
        (sparse(G1, G2, 3), {**EVENT, "move": True}, "'move'"),
        (sparse(G1, G2, 3), {**EVENT, "answers": ["0"]}, "'answers' are not 2 numbers"),
        (sparse(G1, G2, 3, neighbours="one"), {**EVENT, "negatives": 2}, "more than one answer"),
        (sparse(G1, G2, 3, neighbours="one"), {**EVENT, "positives": 2, "next": "any", "move": 1}, "more than one answer"),
        (sparse(None, None, 3), EVENT, "there is none"),
        (sparse(G1, G2, 3, bounds=UNIT), {**EVENT, "answers": ["1/1000", "1"]}, "between the bounds"),
        (sparse(G1, G2, 3, bounds=UNIT), {**EVENT, "answers": ["0", "999/1000"]}, "between the bounds"),
        (sparse(G1, G2, 3, bounds=UNIT), {**EVENT, "answers": ["0", "1001/1000"]}, "between the bounds"),
        (sparse(G1, G2, 3, bounds=UNIT), {**EVENT, "answers": ["-1/1000", "1"]}, "between the bounds"),
    ],
)
def test_an_event_that_is_none_of_neighbours_is_refused(mechanism, told, why):
    with pytest.raises((Rejected, CertificateError, *STUMBLES), match=why):
        curve(delta_event, mechanism, **told)


OUTPUT = {"negatives": 2, "positives": 1, "move": 0, "answers": ["0", "1"], "cuts": ["-60", "60"]}
GRID_OF_INTEGERS = {"grids": {"threshold_noise": ["-61", "61"], "query_noise": ["-61", "61"]}}


def test_an_output_with_integers_has_the_probabilities_of_sums():
    chance = LAWS["geometric"][1] / LAWS["geometric"][1].sum()
    below = np.concatenate([[0], np.cumsum(chance)])  # of less than each integer

    def output(low, high):
        at = lambda z: below[np.clip(z + 60, 0, 121)]  # noqa: E731
        return (chance * at(WHOLE - low) ** 2 * (1 - at(WHOLE - high))).sum()

    p, q = output(0, 1), output(1, 0)
    for order, (a, b) in {"forward": (p, q), "backward": (q, p)}.items():
        found = height(delta_event, sparse(GEOMETRIC, GEOMETRIC, 3), 0.2, order=order, **OUTPUT, **GRID_OF_INTEGERS)
        assert found == pytest.approx(pair_of(a, b, 0.2), rel=1e-9)


def test_an_output_with_logistic_noise_has_the_probability_of_quadrature():
    law, cuts = stats.logistic(scale=2), [str(k) for k in range(-40, 41, 2)]
    told = {"negatives": 2, "positives": 0, "move": 0, "answers": ["0", "0"], "cuts": ["-38", "-16", "-4", "-1", "0", "1", "4", "16", "38"]}
    p, q = (integrate.quad(lambda t, d=d: law.pdf(t) * law.cdf(t + d) ** 2, -80, 80, epsabs=1e-13)[0] for d in (0, -2))
    found = curve(delta_event, largest(LOGISTIC, 3), grids={"noise": cuts}, **told).lower
    with precision(64):
        assert float(found.forward(arb(1) / 10).mid()) == pytest.approx(pair_of(p, q, 0.1), rel=1e-5)


@pytest.mark.parametrize(
    ("mechanism", "told", "why"),
    [
        (largest(GEOMETRIC, 3), {}, "on the integers several"),
        (sparse(GEOMETRIC, GEOMETRIC, 3, report="answers+gap"), {}, "tells more than answers"),
        (sparse(GEOMETRIC, GEOMETRIC, 3), {"negatives": 3}, "so many are asked for"),
        (sparse(GEOMETRIC, GEOMETRIC, 3), {"positives": 2}, "so many are asked for"),
        (sparse(GEOMETRIC, GEOMETRIC, 3), {"move": 1}, "'move'"),
        (sparse(GEOMETRIC, GEOMETRIC, 3, neighbours="one"), {}, "more than one answer"),
        (sparse(GEOMETRIC, GEOMETRIC, 3), {"cuts": ["1", "0"]}, "'cuts'"),
        (sparse(GEOMETRIC, GEOMETRIC, 3), {"grids": []}, "cuts of its own"),
    ],
)
def test_an_output_that_does_not_occur_is_refused(mechanism, told, why):
    with pytest.raises((Rejected, CertificateError), match=why):
        curve(delta_event, mechanism, **OUTPUT | GRID_OF_INTEGERS | told)


def test_noise_of_other_laws_has_bounds_on_both_sides():
    found = judged(sparse(GEOMETRIC, GEOMETRIC, 2), "1/4", "1/1000")
    assert found.verdict == "REFUTED" and "negatives, then" in found.witness["event"]
    assert found.delta_upper is not None


def test_between_bounds_events_at_the_ends_are_of_neighbours():
    assert height(delta_event, largest(G2, 3, bounds=UNIT), 0, **MAX | {"lead": "1", "cuts": ["-64", "-1", "0", "1", "64"]}) > 0
    assert height(delta_event, sparse(G1, G2, 3, bounds=UNIT), 0, **EVENT) > 0
    assert height(delta_event, sparse(G1, G2, 3, neighbours="one"), 0, **EVENT | {"positives": 0}) > 0


# -- the least of several curves -----------------------------------------------------------------------------------------


def stated(value, back=None, about=None, rule="compared-gaussians", assumed=("a",)):
    """A curve as if a rule had proved it: of these profiles."""
    pair = symmetric(lambda _: arb(value)) if back is None else Pair(lambda _: arb(value), lambda _: arb(back))
    return Fact(rule, about or run(largest(G2, 3)), Curve(pair, None, (rule,), assumed), assumed, (), {}, (), 64)


def below(value, about=None):
    pair = symmetric(lambda _: arb(value))
    return Fact(
        "selection-event", about or run(largest(G2, 3)), Curve(None, pair, ("selection-event",), ("b",), ("c",)), (), (), {}, (), 64
    )


def test_of_several_bounds_the_least_holds_in_each_order():
    found = least.infer(run(largest(G2, 3)), {"below": 2}, [stated(3, 5), stated(4, 4, assumed=("d",)), below(1)])
    assert (found.upper.forward(arb(0)), found.upper.backward(arb(0)), found.lower.forward(arb(0))) == (3, 4, 1)
    assert (found.rules, found.assumed, found.below) == (("least-curve", "compared-gaussians", "selection-event"), ("a", "d"), ("b", "c"))
    same = least.infer(run(largest(G2, 3)), {}, [stated(3), stated(2)])
    assert same.upper.forward is same.upper.backward and same.upper.forward(arb(0)) == 2 and same.lower is None
    assert least.infer(run(largest(G2, 3)), {}, [below(1)]).upper is None
    assert least.infer(run(largest(G2, 3)), {}, [below(1), stated(3)]).upper.forward(arb(0)) == 3


@pytest.mark.parametrize("given", [[], [stated(1, about=run(largest(G2, 2)))], [stated(1), below(1, about=run(largest(G2, 3), 2))]])
def test_a_curve_of_something_else_is_no_bound(given):
    with pytest.raises(CertificateError):
        least.infer(run(largest(G2, 3)), {}, given)


@pytest.mark.parametrize("number", [-1, 1, True, "0"])
def test_the_lower_pair_is_that_of_a_premise(number):
    with pytest.raises(CertificateError, match="'below'"):
        least.infer(run(largest(G2, 3)), {"below": number}, [stated(1)])


# -- whole claims --------------------------------------------------------------------------------------------------------


def judged(mechanism, epsilon, delta, sensitivity="1", **words):
    claim = Claim(mechanism, parse(epsilon), parse(delta), None if sensitivity is None else parse(sensitivity), **words)
    return verify(claim, 10).judgement


def test_two_candidates_have_the_curve_of_one_gaussian_on_both_sides():
    delta = normal(math.sqrt(2) / 4, 0.5)
    assert judged(largest(gaussian(4), 2), "1/2", f"{delta * (1 + 1e-9):.17f}").verdict == "PROVED"
    refuted = judged(largest(gaussian(4), 2), "1/2", f"{delta * (1 - 1e-9):.17f}")
    assert refuted.verdict == "REFUTED"
    assert refuted.witness["event"].startswith("the greatest is")


def test_three_candidates_are_between_two_groups_and_one_gaussian():
    found = judged(largest(G2, 3), "1", "1/1000")
    best = optimize.minimize_scalar(
        lambda x: -excess(np.array([chances_of_max([x, 0, 0], 2)[0]]), np.array([chances_of_max([x - 2, 0, 0], 2)[0]]), 1), (-4, 0)
    )
    assert float(enclose(found.delta_lower).mid()) == pytest.approx(-best.fun, rel=1e-6)
    assert float(enclose(found.delta_upper).mid()) == pytest.approx(normal(math.sqrt(8 / 3) / 2, 1), rel=1e-9)
    assert -best.fun < 0.9 * normal(math.sqrt(8 / 3) / 2, 1)  # so that no curve of a Gaussian is met


@pytest.mark.wide
def test_a_selection_is_a_part_like_others():
    part = Part(largest(G2, 2), ONE)
    alone, delta = normal(math.sqrt(2) / 2, 0.5), normal(1, 0.5)
    assert judged(Compose((repeated(Part(part.mechanism, ONE), num(2)),)), "1/2", str(delta * 1.01), None).verdict == "PROVED"
    assert judged(Compose((repeated(Part(part.mechanism, ONE), num(2)),)), "1/2", str(alone / 2), None).verdict == "REFUTED"
    assert judged(Group(part, num(2)), "1/2", str(normal(math.sqrt(2), 0.5) * 1.000001), None).verdict == "PROVED"
    assert judged(Group(part, num(2)), "1/2", str(normal(math.sqrt(2), 0.5) * 0.999999), None).verdict == "REFUTED"
    inner = math.log(1 + math.expm1(0.5) / 0.25)
    sampled = normal(math.sqrt(2) / 2, inner) / 4
    assert judged(Subsample(part, parse("1/4")), "1/2", str(sampled * 1.000001), None).verdict == "PROVED"
    assert judged(Subsample(part, parse("1/4")), "1/2", str(sampled * 0.999), None).verdict == "REFUTED"


@pytest.mark.parametrize(("delta", "noise"), [("0", laplace(2)), ("1/1000", G2)])
def test_a_map_by_half_a_step_refutes_nothing(delta, noise):
    assert judged(Lipschitz(Part(largest(noise, 2), ONE), parse("1/2")), "1/10", delta, None).verdict == "UNKNOWN"


def test_the_order_of_a_record_is_not_told_by_a_selection():
    assert judged(largest(G2, 2), "1/2", "1/1000", order="one-sided").verdict == "UNKNOWN"


@pytest.mark.parametrize(
    ("measure", "value"), [(Measure("gdp", None), 0.5), (Measure("zcdp", None), 0.125), (Measure("renyi", None, Fraction(3)), 0.375)]
)
def test_other_measures_are_those_of_the_gaussian_pair_that_dominates(measure, value):
    claim = Claim(largest(gaussian(4), 4), None, ZERO, ONE, measure=measure)
    assert float(enclose(selections.infer(claim, {}, ())[0].value).mid()) == pytest.approx(value)
    with pytest.raises(Rejected, match="it is no selection"):
        selections.infer(replace(claim, mechanism=G1), {}, ())
    with pytest.raises(Rejected, match="no measure of privacy"):
        selections.infer(replace(claim, measure=None), {}, ())


def test_a_selection_is_a_part_in_other_measures():
    both = Compose((Part(largest(gaussian(4), 4), ONE), Part(gaussian(4), ONE)))
    proof = Proof(Claim(both, None, ZERO, measure=Measure("zcdp", None)))
    parts = [proof.infer("selection-measures", (0,)), proof.infer("gaussian-measures", (1,))]
    (whole,) = proof.infer("added-measures", (), {"side": "upper"}, parts).says
    assert float(enclose(whole.value).mid()) == pytest.approx(5 / 32)


def divergence(order, p, q):
    return math.log(sum(x**order * y ** (1 - order) for x, y in zip(p, q, strict=True))) / (order - 1)


def chosen(scores, rate):
    """The probabilities of the exponential mechanism."""
    weights = np.exp(rate * (np.array(scores) - max(scores)))
    return weights / weights.sum()


@pytest.mark.parametrize(("neighbours", "eta"), [("all", 3.0), ("monotone", 1.5), ("one", 1.5)])
@pytest.mark.parametrize("order", [Fraction(101, 100), Fraction(2), Fraction(9)])
def test_gumbel_noise_has_the_divergences_of_the_range_of_the_exponential_mechanism(neighbours, eta, order):
    # an order of divergences a: a eta^2/8; no two neighbours diverge further, and some nearly so far at orders near 1
    claim = Claim(largest(GUMBEL, 3, neighbours=neighbours), None, ZERO, num(3), measure=Measure("renyi", None, order))
    bound = float(enclose(selections.infer(claim, {}, ())[0].value).mid())
    assert bound == pytest.approx(float(order) * eta**2 / 8)
    rng = np.random.default_rng(5)
    pairs = [(rng.normal(size=3) * 4, 3 * np.array(move)) for move in moves(3, neighbours) for _ in range(60)]
    assert max(divergence(float(order), chosen(q, 0.5), chosen(q + d, 0.5)) for q, d in pairs) <= bound
    wide = replace(claim, measure=Measure("gdp", None))
    pure = 2 * stats.norm.ppf(1 / (1 + math.exp(-eta)))
    assert float(enclose(selections.infer(wide, {}, ())[0].value).mid()) == pytest.approx(pure)


def test_between_bounds_the_range_is_that_of_moves_between_them():
    claim = Claim(largest(GUMBEL, 3, bounds=UNIT), None, ZERO, num(3), measure=Measure("zcdp", None))
    assert float(enclose(selections.infer(claim, {}, ())[0].value).mid()) == pytest.approx(1 / 8)


@pytest.mark.parametrize(
    "mechanism",
    [
        largest(GUMBEL, 3, report="value"),
        largest(GUMBEL, 3, report="index+gap"),
        largest(LOGISTIC, 3),
        largest(on_line("exp(-z/2 - 2*exp(-z/2))"), 3),
        largest(on_line("exp(-z/2 - exp(-z))"), 3),
        largest(on_line("exp(-z/2 - exp(-z/2))", ZERO), 3),
        largest(on_line("exp(-z/2 - exp(-z/2))", None, ONE), 3),
        largest(on_line("exp(-z/2 - exp(-z/2))", integers=True), 3),
        largest(on_line("1/(1 + z**2)"), 3),
        largest(on_line("exp(-abs(z)/2)", None, ZERO), 3),
        sparse(GUMBEL, GUMBEL, 3),
    ],
)
def test_no_other_selection_has_the_range_of_the_exponential_mechanism(mechanism):
    claim = Claim(mechanism, None, ZERO, ONE, measure=Measure("zcdp", None))
    with pytest.raises(Rejected, match=r"Gaussian|on the integers"):
        selections.infer(claim, {}, ())


@pytest.mark.wide
def test_a_claim_with_open_parameters_stays_open_with_its_reason():
    found = verify(of(largest(G2, "n"), "1/2", 1, ALL_N, parse("min(1, n/5)")))
    assert found.judgement.verdict == "UNKNOWN"
    assert any("wants a value" in reason or "want a value" in reason for reason in found.reasons)


def test_a_refutation_shows_the_pair_the_event_and_both_probabilities():
    witness = judged(sparse(gaussian(4), None, 3, bounds=UNIT), "1/2", "1/100").witness
    assert witness["pair"] == "1 answer 0, then 1 answer 1; and 1 answer 1, then 1 answer 0"
    assert witness["event"] == "the first 1 negative, then all of the next 1 positive"
    assert witness["P"] == "[0.0987063256829, 0.0987063256830]"
    assert (witness["Q"], stats.norm.cdf(0.25) - 0.5) == ("0", pytest.approx(0.09870632568295, rel=1e-12))


@pytest.mark.parametrize("neighbours", ["increasing", "decreasing"])
def test_divergences_of_one_order_alone_are_those_of_its_pair(neighbours):
    """The event is nearly certain on the first neighbour: the divergence the other way round is forty times as great."""
    told = {"negatives": 1, "positives": 0, "next": "all", "move": 0, "answers": ["-4", "-4"], "cuts": ["-64", "0", "1", "64"]}
    if neighbours == "decreasing":
        told |= {"negatives": 0, "positives": 1, "answers": ["3", "4"]}
    p, q = stats.norm.cdf([4, 3])
    wanted, other = divergence(2, (p, 1 - p), (q, 1 - q)), divergence(2, (q, 1 - q), (p, 1 - p))
    proof = Proof(Claim(sparse(G1, None, 1, neighbours=neighbours), None, ONE, measure=Measure("renyi", None, Fraction(2))))
    points = {"points": [str(Fraction(place, 8)) for place in range(40)]}
    (found,) = proof.infer("measures-of-a-curve", (), {"side": "lower", **points}, [proof.infer("selection-event", (), told)]).says
    assert float(enclose(found.value).mid()) <= wanted < other / 40
