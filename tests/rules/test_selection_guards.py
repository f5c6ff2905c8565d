"""Rules about selections, each hypothesis broken alone, and each formula where its terms differ (theory: selection.md)."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from flint import acb, arb
from scipy import stats

from dpverify.search.verify import verify
from dpverify.search.witness_words import in_words
from dpverify.trusted.combinators import noises
from dpverify.trusted.kernel.bounds import INFINITE, Bound, Infinite
from dpverify.trusted.kernel.errors import STUMBLES, CertificateError, Rejected, Undecided
from dpverify.trusted.kernel.expr import ONE, ZERO, num, parse
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import L2, Domain, Norm, Product, Radial
from dpverify.trusted.order.enclosed import enclose
from dpverify.trusted.theories.selection import chances, compared, noise_laws
from dpverify.trusted.theories.selection.rules import log_concave_noisy_max as noisy_max
from dpverify.trusted.theories.selection.rules import log_concave_threshold as threshold
from dpverify.trusted.theories.selection.rules import selection_moduli as moduli
from dpverify.trusted.theories.selection.rules import survival, worst_output
from tests.proofs import Step, bound
from tests.selections import ALL_N, CAUCHY, EXPONENTIAL, GEOMETRIC, LEFT_HEAVY, gaussian, laplace, largest, of, on_line, sparse

BELOW = on_line("exp(z/4)", None, ZERO)
UNIFORM = on_line("1", ZERO, ONE)
LEFT_HEAVY_INTEGERS = on_line("exp(-max(3*z, -z))", integers=True)
PLANE = Radial(parse("exp(-r)"), L2, num(2))
OWN_UNIT = Radial(parse("exp(-r)"), Norm("ellipsoid", None, ((num(4),),)), ONE)
PRODUCT = Product(parse("exp(-abs(z)/2)"), ONE)
BOUNDS = (ZERO, ONE)
SYMBOL = (("s", Domain(Fraction(0))),)


def height(value):
    return math.inf if isinstance(value, Infinite) else float(enclose(value).mid())


def upper(rule, mechanism, sensitivity=1, **evidence):
    return height(rule.check(of(mechanism, 9, sensitivity), evidence).value)


def lower(rule, mechanism, **evidence):
    return height(rule.check(of(mechanism, 9), {"side": "lower", **evidence}).value)


# -- how steeply noise falls ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("noise", "least", "most"),
    [
        (BELOW, 1, 1),  # 2 min(inf, 2/4)
        (UNIFORM, math.inf, math.inf),
        (EXPONENTIAL, 1, 1),
        (PRODUCT, 1, 1),
        (on_line("exp(-z**2)"), math.inf, math.inf),
        (on_line("exp(-z**2 - z)"), math.inf, math.inf),
        (on_line("exp(-z**2 - max(z, 0))", ZERO), math.inf, math.inf),
        (on_line("exp(-max(3*z, -z))"), 4, 4),
        (on_line("exp(-max(z, -3*z))"), 2, 2),
        (on_line("exp(2*z)", None, num(7)), 8, 8),
    ],
    ids=str,
)
def test_the_index_of_three_loses_twice_the_least_of_one_slope_and_two_of_the_other(noise, least, most):
    assert (lower(noisy_max, largest(noise, 3)), upper(noisy_max, largest(noise, 3))) == pytest.approx((least, most))


@pytest.mark.parametrize(
    ("noise", "why"),
    [
        (OWN_UNIT, "in its own unit"),
        (PLANE, "not certainly log-concave noise on the line"),
        (Product(parse("exp(-abs(z))"), num(2)), "not certainly log-concave noise on the line"),
        (on_line("exp(-sqrt(z))", ZERO), "not certainly log-concave noise on the line"),
        (on_line("exp(-sqrt(-z))", None, ZERO), "not certainly log-concave noise on the line"),
        (Radial(parse("exp(-(r - 1)**2)"), L2, ONE), "not certainly log-concave"),
        (on_line("exp(-(abs(z) - 1)**2)"), "not certainly log-concave"),
        (on_line("exp(-max(z, 0))"), "slope of the exponent of the noise is not certainly positive"),
        (on_line("exp(-max(-z, 0))"), "slope of the exponent of the noise is not certainly positive"),
        (on_line("exp(z)", ZERO), "slope of the exponent of the noise is not certainly positive"),
        (on_line("exp(-4*abs(z) - z - (abs(z) - z)/(2 + 2*abs(z)))"), "not certainly log-concave"),  # convex above 0 alone
    ],
    ids=str,
)
def test_noise_that_is_not_certainly_log_concave_on_the_line_is_refused(noise, why):
    with pytest.raises(Rejected, match=why):
        noisy_max.check(of(largest(noise, 3), 9), {})
    with pytest.raises(Rejected, match=why):
        threshold.check(of(sparse(laplace(2), noise, 3), 9), {"shift": "up"})


def test_answers_that_do_not_certainly_move_lose_nothing_for_certain():
    for mechanism, rule, told in (
        (largest(gaussian(9), 3), noisy_max, {}),
        (sparse(gaussian(9), gaussian(9), 3), threshold, {"positives": 1, "negatives": 2, "move": 0}),
    ):
        with pytest.raises(Rejected, match="the sensitivity: it is not certainly positive"):
            rule.check(of(mechanism, 9, sensitivity=0), {"side": "lower", **told})
    assert upper(noisy_max, largest(gaussian(9), 3), sensitivity=0) == math.inf


def test_what_is_infinite_is_at_most_what_is_infinite_and_above_all_else():
    asked = compared.asked(of(largest(laplace(2), 3), 9), {}, "a rule")
    pairs = [(x, y, compared.at_most(asked, x, y)) for x in (ONE, num(2), INFINITE) for y in (ONE, num(2), INFINITE)]
    assert [less for *_, less in pairs] == [height(x) <= height(y) for x, y, _ in pairs]


def test_an_infinite_slope_counts_only_where_it_certainly_does():
    domains = (("n", Domain(Fraction(0), None, lower_open=False, integer=True)),)
    for side, uncertain in (("upper", INFINITE), ("lower", ZERO)):
        asked = compared.asked(of(largest(laplace(2), 3), 9, domains=domains), {"side": side}, "a rule")
        assert [compared.times(asked, parse(count), INFINITE) for count in ("0", "1", "n + 1", "-n", "n")] == [
            ZERO, INFINITE, INFINITE, ZERO, uncertain,
        ]  # fmt: skip


# -- the greatest of several --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mechanism", "least", "most"),
    [
        (largest(LEFT_HEAVY, 2, report="index+gap"), 2, 6),  # r min(b+, b-) and r max(b+, b-), r = 2
        (largest(LEFT_HEAVY, 2, report="index+gap", neighbours="monotone"), 1, 3),
        (largest(LEFT_HEAVY, 2, report="index+gap", neighbours="one"), 1, 3),
        (largest(LEFT_HEAVY, 3, report="value"), 3, 3),  # max(n b-, b+)
        (largest(LEFT_HEAVY, 4, report="value"), 4, 4),
        (largest(LEFT_HEAVY, 4, report="value", neighbours="monotone"), 4, 4),
        (largest(LEFT_HEAVY, 4, report="value", neighbours="one"), 3, 3),
        (largest(LEFT_HEAVY_INTEGERS, 3, report="value"), 3, 5),  # at most max(b+, b-) + (n - 1) b-
        (largest(LEFT_HEAVY_INTEGERS, 4, report="value", neighbours="monotone"), 4, 4),
        (largest(LEFT_HEAVY_INTEGERS, 4, report="value", neighbours="one"), 3, 3),
    ],
    ids=str,
)
def test_what_is_told_of_the_greatest_costs_what_the_slopes_say(mechanism, least, most):
    assert (lower(noisy_max, mechanism), upper(noisy_max, mechanism)) == (least, most)


# -- above threshold ----------------------------------------------------------------------------------------------------

STEEP = on_line("exp(-max(5*z, -z))")
"""Slopes 1 to the left, 5 to the right."""
SHALLOW = on_line("exp(-max(z/8, -2*z))")
"""Slopes 2 to the left, 1/8 to the right."""
WAYS = {"all": [(1, 1)], "monotone": [(1, 0), (0, 1)], "increasing": [(1, 0)], "decreasing": [(0, 1)]}
NOISES = {"steep": (STEEP, 1.0, 5.0), "shallow": (SHALLOW, 2.0, 0.125), "ends above": (BELOW, 0.25, math.inf)}


def product(count, slope):
    return 0.0 if count == 0 else count * slope


def loss(first, second, ways, k, y):
    """L(k, y) of the theorem, for the worst of the ways."""
    (_, left, right), (_, low, high) = first, second
    return max(
        min(
            product(u, right) + product(y * (u + v), high),
            product(k * u, low) + product(y * v, high),
            product(v, left) + product(k * (u + v), low),
        )
        for u, v in ways
    )


CASES = [(1, 1), (2, None), (3, 1), (5, 2)]


@pytest.mark.sampled(18)
@pytest.mark.parametrize("neighbours", WAYS)
@pytest.mark.parametrize("second", NOISES)
@pytest.mark.parametrize("first", NOISES)
def test_above_threshold_loses_what_the_theorem_says_on_the_worst_output(first, second, neighbours):
    ways, both = WAYS[neighbours], (NOISES[first], NOISES[second])
    for n, c in CASES:
        mechanism, limit = sparse(NOISES[first][0], NOISES[second][0], n, c, neighbours=neighbours), min(n, c or n)
        losses = [[loss(*both, [way], n - y, y) for y in range(limit + 1)] for way in ways]
        peaks = [values.index(max(values)) for values in losses]
        assert upper(threshold, mechanism, peaks=peaks) == pytest.approx(max(map(max, losses)))
        for move, values in enumerate(losses):
            shown = [lower(threshold, mechanism, positives=y, negatives=n - y, move=move) for y in range(limit + 1)]
            assert shown == pytest.approx(values)


@pytest.mark.sampled(18)
@pytest.mark.parametrize("neighbours", WAYS)
@pytest.mark.parametrize("second", NOISES)
@pytest.mark.parametrize("first", NOISES)
def test_one_shift_for_all_outputs_costs_what_the_theorem_says(first, second, neighbours):
    (_, left, right), (_, low, high) = NOISES[first], NOISES[second]
    for n, c in CASES:
        mechanism, limit = sparse(NOISES[first][0], NOISES[second][0], n, c, neighbours=neighbours), c or n
        for resample, draws in ((False, 1), (True, limit)):
            told = replace(mechanism, resample=resample)
            up = max(product(draws * u, right) + product(limit * (u + v), high) for u, v in WAYS[neighbours])
            down = max(product(draws * v, left) + product(n * (u + v), low) for u, v in WAYS[neighbours])
            still = max(product(n * u, low) + product(limit, max(product(v, high) - product(u, low), 0)) for u, v in WAYS[neighbours])
            found = [upper(threshold, told, shift=way) for way in ("up", "down", "still")]
            assert found == pytest.approx([up, down, still])


def test_a_threshold_drawn_again_loses_each_run_again():
    mechanism = sparse(STEEP, SHALLOW, 6, 2, resample=True)
    both = (NOISES["steep"], NOISES["shallow"])
    assert lower(threshold, mechanism, positives=2, negatives=2, move=0) == pytest.approx(2 * loss(*both, WAYS["all"], 2, 1))
    with pytest.raises(Rejected, match="so many are asked for"):
        lower(threshold, mechanism, positives=2, negatives=3, move=0)


@pytest.mark.parametrize(
    ("neighbours", "each"),  # each positive adds e+ v at least, max(e+ v, e- u) at most; the slopes of fresh noise are 1 and 5
    [("all", (5, 5)), ("monotone", (5, 5)), ("increasing", (0, 1)), ("decreasing", (5, 5))],
)
def test_fresh_noise_adds_what_each_positive_moves_by(neighbours, each):
    plain = sparse(laplace(2), laplace(4), 4, 2, neighbours=neighbours)
    fresh = replace(plain, report="fresh", fresh=STEEP)
    for move, (_, down) in enumerate(WAYS[neighbours]):
        told = {"positives": 2, "negatives": 2, "move": move}
        assert lower(threshold, fresh, **told) - lower(threshold, plain, **told) == pytest.approx(2 * 5 * down)
    a, b = 1 / 2, 1 / 4
    costs = [u * a + 2 * max(b * (u + v) + 5 * v, u) for u, v in WAYS[neighbours]]  # a positive that goes up pays for what is told alone
    assert upper(threshold, fresh, shift="up") == pytest.approx(max(costs))
    assert upper(threshold, fresh, shift="up") - upper(threshold, plain, shift="up") <= 2 * each[1]


def test_fresh_noise_is_bounded_where_positives_go_up_by_its_left_slope():
    fresh = sparse(laplace(2), laplace(4), 4, 2, neighbours="increasing", report="fresh", fresh=on_line("exp(-max(z, -5*z))"))
    assert upper(threshold, fresh, shift="up") == pytest.approx(0.5 + 2 * max(1 / 4, 5))


@pytest.mark.parametrize(
    ("neighbours", "value"),  # n = 4 answers, 2 positives, the slopes 1 and 5
    [("all", 2 * 1 + 2 * 5), ("increasing", 4 * 1), ("decreasing", 2 * 5), ("monotone", 10), ("one", 5)],
)
def test_the_same_noisy_answers_told_cost_what_each_of_them_does(neighbours, value):
    told = sparse(laplace(2), STEEP, 4, 2, neighbours=neighbours, report="answers+value")
    assert lower(threshold, told) == upper(threshold, told) == value
    many = replace(told, queries=num(11), neighbours="monotone")
    assert lower(threshold, many) == upper(threshold, many) == max(11 * 1, 2 * 5)
    few = replace(told, queries=ONE)
    assert upper(threshold, few) == {"increasing": 1}.get(neighbours, 5)


@pytest.mark.parametrize("second", NOISES)
@pytest.mark.parametrize("first", NOISES)
def test_one_answer_that_moves_alone_loses_by_itself_or_with_the_threshold(first, second):
    (noise, left, right), (other, low, high) = NOISES[first], NOISES[second]
    for n, c in CASES:
        mechanism = sparse(noise, other, n, c, neighbours="one")
        up = min(low, right + product(min(c or n, n - 1), high))
        down = min(high, left + product(n - 1, low))
        assert upper(threshold, mechanism) == lower(threshold, mechanism) == pytest.approx(max(up, down))
        fresh = replace(mechanism, report="fresh", fresh=STEEP)
        assert upper(threshold, fresh) == lower(threshold, fresh) == pytest.approx(max(up, 1, down + 5))


def test_the_positives_of_an_output_need_no_neighbour_beyond_the_limit():
    assert upper(threshold, sparse(laplace(2), laplace(2), 6, 1), peaks=[1]) == 1.5  # two positives would lose 2.5


def test_what_answers_told_lose_by_themselves_has_no_end_where_their_noise_has_one():
    for noise in (EXPONENTIAL, BELOW):
        assert upper(threshold, sparse(laplace(2), noise, 3), shift="still") == math.inf
    assert upper(threshold, sparse(laplace(2), EXPONENTIAL, 3, neighbours="increasing"), shift="up") == 0.5 + 0.5
    assert upper(threshold, sparse(laplace(2), BELOW, 3, neighbours="increasing"), shift="still") == 3 / 4


@pytest.mark.parametrize(
    ("mechanism", "peaks", "beside"),
    [
        (sparse(STEEP, on_line("exp(-abs(z)/4)"), 4, 2, neighbours="increasing"), [1], 0),  # 1 with none, 3/4 with one
        (sparse(laplace(2), laplace(2), 6, 2), [1], 2),  # 3/2 with one, 5/2 with two
        (sparse(laplace(2), laplace(2), 6, 2), [0], 1),
    ],
)
def test_a_peak_beside_an_output_that_loses_more_is_none(mechanism, peaks, beside):
    with pytest.raises(Rejected, match=f"{beside} positives do not certainly lose at most what {peaks[0]} do"):
        threshold.check(of(mechanism, 9), {"peaks": peaks})


@pytest.mark.parametrize(
    ("rule", "mechanism", "told", "shown"),
    [
        (
            noisy_max,
            largest(laplace(2), 3),
            {},
            ("move by 1: the winner down, all others up", "the index of an answer that is far below, or above, the others", "1"),
        ),
        (
            noisy_max,
            largest(gaussian(2), 3, neighbours="one"),
            {},
            ("move by 1: the winner down alone", "the index of an answer that is far below, or above, the others", "unbounded"),
        ),
        (
            threshold,
            sparse(laplace(2), laplace(4), 3, 2, neighbours="monotone"),
            {"positives": 2, "negatives": 1, "move": 1},
            ("move by 1: not at negatives, down at positives", "2 positives and 1 negative", "1/2"),
        ),
        (
            threshold,
            sparse(laplace(2), laplace(4), 4, 2, resample=True),
            {"positives": 2, "negatives": 1, "move": 0},
            ("move by 1: up at negatives, down at positives", "2 positives and 1 negative before each", "1"),
        ),
    ],
)
def test_a_lower_bound_says_how_answers_move_and_what_is_lost(rule, mechanism, told, shown):
    witness = rule.check(of(mechanism, 9), {"side": "lower", **told}).witness
    pair, point, lost = shown
    assert in_words(witness) == {"pair": f"answers far apart, which {pair}", "point": f"{point}, in the limit", "loss": lost}


EXACT = {"side": "lower", "exact": True}


@pytest.mark.parametrize(
    ("claim", "evidence", "why"),
    [
        (of(sparse(laplace(2), None, 2), 9), {"exact": True}, "this is no lower bound"),
        (of(sparse(None, None, 2), 9), EXACT, "the threshold is"),
        (of(sparse(GEOMETRIC, None, 2), 9), EXACT, "not certainly positive everywhere"),
        (of(sparse(CAUCHY, None, 2), 9), EXACT, "not certainly log-concave"),
        (of(sparse(laplace(2), None, 2, bounds=(ONE, ONE)), 9), EXACT, "not certain that answers move"),
        (of(sparse(laplace(2), laplace(2), 6, "n"), 9, domains=ALL_N), {"peaks": [1]}, "wants numbers of"),
    ],
)  # fmt: skip
def test_a_broken_hypothesis_about_a_threshold_is_refused(claim, evidence, why):
    with pytest.raises(Rejected, match=why):
        threshold.check(claim, evidence)


MONOTONE = sparse(laplace(2), laplace(2), 6, None, neighbours="monotone")


@pytest.mark.parametrize(
    "evidence",
    [
        {"peaks": 3},
        {"peaks": [3, 3, 3]},
        {"peaks": [3]},
        {"peaks": [3, 7]},
        {"peaks": [3, -1]},
        {"side": "lower", "negatives": True, "positives": 1, "move": 0},
        {"side": "lower", "negatives": 1, "positives": True, "move": 0},
        {"side": "lower", "negatives": 1, "positives": 1, "move": True},
        {"side": "lower", "negatives": 1, "positives": 1, "move": 2},
        {"side": "lower", "negatives": 1, "positives": -1, "move": 0},
        {"side": "lower", "negatives": 1, "positives": 1, "move": -1},
    ],
)
def test_an_output_or_a_peak_that_is_none_is_misuse(evidence):
    with pytest.raises((Rejected, CertificateError), match=r"peaks|not a whole number|cannot be used"):
        bound(of(MONOTONE, 9), Step(threshold.NAME, evidence))


# -- any noise ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mechanism", "way", "terms"),
    [
        (largest(CAUCHY, 1), "compared", []),
        (largest(CAUCHY, 7), "compared", [("1", "noise", 2)]),
        (largest(CAUCHY, 7, neighbours="monotone"), "compared", [("1", "noise", 1)]),
        (largest(CAUCHY, 7, neighbours="one"), "compared", [("1", "noise", 1)]),
        (largest(CAUCHY, 2, report="index+gap"), "compared", [("1", "noise", 2)]),
        (largest(CAUCHY, 7), "told", [("7", "noise", 1)]),
        (largest(CAUCHY, 7, report="value"), "compared", [("7", "noise", 1)]),
        (largest(CAUCHY, 7, report="value", neighbours="one"), "told", [("1", "noise", 1)]),
        (sparse(CAUCHY, CAUCHY, 5, 2), "compared", [("1", "threshold_noise", 1), ("2", "query_noise", 2)]),
        (sparse(CAUCHY, CAUCHY, 5, 2), "told", [("5", "query_noise", 1)]),
        (sparse(CAUCHY, CAUCHY, 5, None), "compared", [("1", "threshold_noise", 1), ("5", "query_noise", 2)]),
        (sparse(CAUCHY, CAUCHY, 5, 2, report="answers+value"), "compared", [("5", "query_noise", 1)]),
        (sparse(CAUCHY, CAUCHY, 5, 2, report="answers+gap"), "compared", [("1", "threshold_noise", 1), ("2", "query_noise", 2)]),
        (sparse(CAUCHY, CAUCHY, 5, 2, neighbours="one"), "compared", [("1", "query_noise", 1)]),
        (sparse(CAUCHY, CAUCHY, 5, 2, neighbours="decreasing"), "compared", [("2", "query_noise", 1)]),
        (sparse(CAUCHY, CAUCHY, 5, 2, neighbours="increasing"), "compared", [("1", "threshold_noise", 1), ("2", "query_noise", 1)]),
        (sparse(CAUCHY, CAUCHY, 5, 2, neighbours="monotone"), "compared", [("1", "threshold_noise", 1), ("2", "query_noise", 1)]),
        (sparse(CAUCHY, CAUCHY, 5, 2, resample=True), "compared", [("2", "threshold_noise", 1), ("2", "query_noise", 2)]),
        (
            sparse(CAUCHY, CAUCHY, 5, 2, report="fresh", fresh=CAUCHY),
            "compared",
            [("1", "threshold_noise", 1), ("2", "query_noise", 2), ("2", "fresh", 1)],
        ),
        (
            sparse(CAUCHY, CAUCHY, 5, 2, report="fresh", fresh=CAUCHY, neighbours="one"),
            "compared",
            [("1", "query_noise", 1), ("1", "fresh", 1)],
        ),
    ],
    ids=str,
)
def test_each_noise_counts_as_often_and_for_as_far_a_move_as_the_theorem_says(mechanism, way, terms):
    found = moduli.terms(compared.asked(of(mechanism, 9), {}, moduli.NAME), way)
    assert found == [(parse(count), name, times) for count, name, times in terms]


@pytest.mark.parametrize(
    ("mechanism", "way", "why"),
    [
        (largest(CAUCHY, 1, report="index+gap"), "compared", "no lead over a next one"),
        (largest(PLANE, 3), "compared", "noise: there is none, or it is not on the line"),
        (sparse(None, CAUCHY, 5, 2), "compared", "threshold_noise: there is none, or it is not on the line"),
        (sparse(CAUCHY, PLANE, 5, 2), "compared", "query_noise: there is none, or it is not on the line"),
    ],
    ids=str,
)
def test_what_no_noise_on_the_line_is_moved_by_is_refused(mechanism, way, why):
    with pytest.raises((Rejected, CertificateError), match=why):
        moduli.terms(compared.asked(of(mechanism, 9), {}, moduli.NAME), way)


def test_a_bound_from_noises_by_themselves_shows_what_these_rest_on():
    claim = of(sparse(CAUCHY, CAUCHY, 5, 2, report="fresh", fresh=CAUCHY, neighbours="decreasing"), 9)
    asked = [noises.question(claim, name, 1) for name in ("query_noise", "fresh")]
    premises = [
        Fact(f"rule {value}", about, (Bound("upper", num(value), assumed=(f"{value} too",)),), (f"what {value} wants",), (), {}, (), 128)
        for about, value in zip(asked, (3, 7), strict=True)
    ]
    found = moduli.infer(claim, {"way": "compared"}, premises)
    assert found == Bound(
        "upper",
        num(2 * 3 + 2 * 7),
        assumed=("what 3 wants", "3 too", "what 7 wants", "7 too"),
        through=("rule 3", "rule 7"),
    )
    for fewer in (premises[:1], [*premises, premises[0]]):
        with pytest.raises(ValueError, match="zip"):
            moduli.infer(claim, {"way": "compared"}, fewer)


# -- by survival functions --------------------------------------------------------------------------------------------------

WITH_A_HOLE = Radial(parse("9**9*((r - 3)**2 - 1)*(9 + r)/(1 + r**2)**4"), L2, ONE)
EVEN = {
    "Cauchy": (CAUCHY, stats.cauchy),
    "Cauchy of scale 2": (Radial(parse("1/(1 + r**2)"), L2, ONE, num(2)), stats.cauchy(scale=2)),
    "Cauchy on the line": (on_line("3/(1 + z**2)"), stats.cauchy),
    "Laplace": (laplace(1), stats.laplace),
}


@pytest.mark.parametrize("name", EVEN)
def test_tails_and_heights_are_those_of_the_law(name):
    noise, law = EVEN[name]
    points = [Fraction(x) for x in ("-7", "-2", "-1/2", "0", "1/3", "1", "5")]
    tails = survival.Tails(noise, set(points))
    for point in points:
        assert float(tails.at(point).mid()) == pytest.approx(law.sf(float(point)), abs=1e-7)
        assert tails.at(point).rad() < 1e-7
    for low, high in itertools.combinations(points, 2):
        found, x = tails.height(low, high), np.linspace(float(low), float(high), 6001)
        highest = law.pdf(0.0) if low <= 0 <= high else law.pdf(x).max()
        assert float(found.lower()) == pytest.approx(law.pdf(x).min(), abs=1e-6)
        assert float(found.upper()) == pytest.approx(highest, abs=1e-6)


@pytest.mark.parametrize(("low", "high"), [(-3, -1), (-2, -1), (-1, 0), (0, 1), (0, 2), (2, 5), (3, 3.125)])
def test_the_ratio_between_two_cuts_is_bounded_from_its_left_end_on(low, high):
    law, shift = stats.cauchy, 2
    tails = survival.Tails(CAUCHY, {Fraction(x) for x in (low, high, low + shift, high + shift)})
    found = float(survival.most(tails, Fraction(low), Fraction(high), Fraction(shift)).mid())
    m = np.linspace(low, high, 2001)
    slope = law.pdf(m + shift).max() / law.sf(high + shift) - law.pdf(m).min() / law.sf(low)
    assert found == pytest.approx(law.logsf(low) - law.logsf(low + shift) + (high - low) * max(slope, 0), abs=1e-6)
    assert found >= (law.logsf(m) - law.logsf(m + shift)).max() - 1e-8


@pytest.mark.parametrize("noise", [CAUCHY, on_line("1/(1 + z**2)")])
def test_few_cuts_prove_a_bound_that_is_not_sharp(noise):
    evidence = {"value": "2", "cuts": ["-1", "0", "1", "2", "4", "8", "16"]}
    assert survival.check(of(largest(noise, 5, neighbours="monotone"), 9), evidence) == Bound("upper", num(2))
    with pytest.raises(Rejected, match="to the left of it"):
        survival.check(of(largest(noise, 5, neighbours="monotone"), 9), {"value": "3/2", "cuts": ["1", "16"]})


@pytest.mark.parametrize(
    ("mechanism", "more", "why"),
    [
        (largest(WITH_A_HOLE, 3), {"cuts": ["-99", "0", "99"]}, "at least 0 between two cuts"),
        (largest(CAUCHY, 3), {"cuts": ["1"]}, "no list of 2"),
        (largest(CAUCHY, 3), {"cuts": "01"}, "no list of 2"),
        (largest(CAUCHY, 3), {"cuts": ["0", "2", "1"]}, "do not rise"),
        (largest(CAUCHY, 3), {"cuts": ["-9", "-1"]}, "an end must start at"),
        (largest(CAUCHY, 3), {"cuts": ["-9", "0"]}, "an end must start at"),
        (largest(CAUCHY, 3), {"cuts": ["-9", "-9", "9"]}, "do not rise"),
        (largest(CAUCHY, 3), {"value": "-1"}, "to the right of it"),
        (largest(CAUCHY, 3), {"value": "1/8", "cuts": ["-99", "16"]}, "to the right of it"),  # |h'| is 32/257 at 16, and answers part by 2
        (largest(Radial(parse("1/(1 + r**2)"), L2, ONE, num(0)), 3), {}, "not certainly even"),
        (sparse(CAUCHY, CAUCHY, 3, report="index"), {}, "no noisy max"),
        (largest(PLANE, 3), {}, "not certainly even"),
        (largest(OWN_UNIT, 3), {}, "not certainly even"),
        (largest(PRODUCT, 3), {}, "not certainly even"),
        (largest(Radial(parse("1/(1 + r**2)"), L2, ONE, parse("-1/2")), 3), {}, "not certainly even"),
        (largest(on_line("exp(-abs(z))", ZERO), 3), {}, "not certainly even"),
        (largest(on_line("exp(-abs(z))", None, ZERO), 3), {}, "not certainly even"),
        (largest(on_line("exp(-abs(z - 1))"), 3), {}, "not certainly even"),
    ],
    ids=str,
)
def test_a_broken_hypothesis_about_survival_functions_is_refused(mechanism, more, why):
    with pytest.raises((Rejected, CertificateError, Undecided), match=why):
        survival.check(of(mechanism, 9), {"value": "9", "cuts": ["-99", "0", "99"], **more})


@pytest.mark.parametrize(
    ("claim", "why"),
    [
        (of(largest(CAUCHY, 3), 9, "s", SYMBOL), "not a positive number"),
        (of(largest(CAUCHY, 3), 9, 0), "not a positive number"),
        (of(largest(Radial(parse("1/(1 + r**2)"), L2, ONE, parse("s")), 3), 9, 1, SYMBOL), "a value for every parameter"),
        (of(largest(Radial(parse("1/(s + r**2)"), L2, ONE), 3), 9, 1, SYMBOL), "a value for every parameter"),
        (of(largest(on_line("1/(s + z**2)"), 3), 9, 1, SYMBOL), "a value for every parameter"),
    ],
)
def test_survival_functions_want_numbers(claim, why):
    with pytest.raises(Rejected, match=why):
        survival.check(claim, {"value": "9", "cuts": ["-99", "0", "99"]})


# -- between bounds ------------------------------------------------------------------------------------------------------------

NEAR = {"value": "9", "cuts": ["-99", "0", "1", "99"]}
BETWEEN = sparse(laplace(4), laplace(8), 2, bounds=BOUNDS)
SHOWN = {**NEAR, "side": "lower", "value": "1/10", "positives": 1, "move": 0}
FAR = {**SHOWN, "answers": ["-9", "9"]}


@pytest.mark.parametrize(("gaussian", "law"), [(True, stats.norm(scale=0.5)), (False, stats.laplace(scale=0.5))])
def test_gaussian_and_laplace_noise_have_their_densities(gaussian, law):
    noise = noise_laws.Closed(gaussian, arb(2))
    assert noise.next_to(Fraction(-1), Fraction(1)) is None
    for x in (-3.0, -0.25, 0.0, 0.5, 2.0):
        near = noise.next_to(Fraction(x) - (x <= 0), Fraction(x) + (x > 0))
        found = [near.density(acb(x), True), near.below(acb(x), True), near.above(acb(x), True), *noise.at(Fraction(x))]
        expected = [law.pdf(x), law.cdf(x), law.sf(x), law.cdf(x), law.sf(x)]
        assert [float(acb(ball).real.mid()) for ball in found] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("cuts", [(1, 5, 6), (-99, 1, 2, 5, 99), (4, 5, 8)])
def test_an_output_has_the_probability_that_its_answers_give_it(cuts):
    first, second = stats.laplace(scale=1), stats.laplace(scale=2)
    noises_of = chances.Compared(noise_laws.Closed(False, arb(1)), noise_laws.Closed(False, arb(1) / 2))
    places = sorted({Fraction(cut) for cut in cuts} | {Fraction(1), Fraction(2)})
    found = noises_of.probability(chances.Output(2, 1, Fraction(1), Fraction(2), Fraction(5)), places)
    t = np.linspace(-40, 50, 90_001)
    height = first.pdf(t - 5) * second.cdf(t - 1) ** 2 * second.sf(t - 2)
    left, right = float(places[0]), float(places[-1])  # there negatives are at most as likely as at the left end, positives as at the right
    below = first.cdf(left - 5) * second.cdf(left - 1) ** 2
    outside = below + first.sf(right - 5) * second.sf(right - 2)
    truth = float(np.trapezoid(height, t))
    assert float(found.lower()) <= truth + 1e-6 and truth - 1e-6 <= float(found.upper())
    assert float(found.upper() - found.lower()) == pytest.approx(outside, abs=1e-7)


@pytest.mark.parametrize(("low", "high", "centre"), [("1/3", "2", "1/2"), ("1/2", "-1", "1/2"), ("-2", "3", "-5/2"), ("3", "1/4", "1")])
def test_an_output_against_an_exact_threshold_has_a_product_of_tails(low, high, centre):
    law, places = stats.laplace(scale=2), [Fraction(x) for x in (low, high, centre)]
    found = chances.Compared(None, noise_laws.Closed(False, arb(1) / 2)).probability(chances.Output(3, 2, *places), [])
    expected = law.cdf(float(places[2] - places[0])) ** 3 * law.sf(float(places[2] - places[1])) ** 2
    assert float(found.mid()) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("neighbours", ["all", "monotone", "increasing", "decreasing"])
def test_an_exact_threshold_between_bounds_loses_what_the_worst_answers_do(neighbours):
    mechanism = sparse(None, laplace(2), 3, 2, bounds=BOUNDS, neighbours=neighbours)
    judgement, law, grid = verify(of(mechanism)).judgement, stats.laplace(scale=2), np.array([0.0, 1.0])
    worst = 0.0
    for up, down in WAYS[neighbours]:  # negatives move up, positives down, each between 0 and 1
        no = max(law.logcdf(-q) - law.logcdf(-min(q + up, 1)) for q in grid)
        yes = max(law.logsf(-q) - law.logsf(-max(q - down, 0)) for q in grid)
        worst = max(worst, *((3 - y) * no + y * yes for y in range(3)))
    assert height(judgement.upper) == pytest.approx(worst, abs=1e-9) and height(judgement.lower) == pytest.approx(worst, abs=1e-9)


def test_the_worst_answers_are_at_the_bounds_and_no_further_apart():
    asked = compared.asked(of(sparse(laplace(2), laplace(4), 5, 2, bounds=(num(1), parse("3/2"))), 9), {}, "a rule", near=True)
    here, there = chances.pair(asked, 0, (3, 2), None)
    assert (here.negatives, here.positives, here.low, here.high) == (3, 2, Fraction(1), Fraction(3, 2))
    assert (there.low, there.high) == (Fraction(3, 2), Fraction(1))
    few = compared.asked(of(sparse(laplace(2), laplace(4), 5, 2, bounds=(num(1), num(3))), 9, "1/2"), {}, "a rule", near=True)
    here, there = chances.pair(few, 0, (5, 0), None)
    assert [here.low, here.high, there.low, there.high] == [Fraction(5, 2), Fraction(3, 2), Fraction(3), Fraction(1)]


def test_every_output_is_within_an_upper_bound():
    mechanism = sparse(laplace(2), laplace(4), 3, 3, bounds=BOUNDS, neighbours="increasing")
    losses = [height(verify(of(replace(mechanism, positives=num(1), queries=num(n)))).judgement.upper) for n in (1, 3)]
    middle = str(Fraction(sum(losses) / 2).limit_denominator(1000))  # three negatives lose more, and no positive loses anything
    with pytest.raises(Rejected, match="an output of 0 positives and 3 negatives does not certainly lose"):
        worst_output.check(of(mechanism, 9), {**NEAR, "value": middle})


@pytest.mark.parametrize(("threshold", "way"), [(0, "negative"), (1, "positive")])
def test_one_answer_between_bounds_loses_the_more_of_a_negative_and_a_positive(threshold, way):
    law, mechanism = stats.laplace(scale=2), sparse(None, laplace(2), 1, bounds=BOUNDS, neighbours="one", threshold=num(threshold))
    negative, positive = law.logcdf(threshold) - law.logcdf(threshold - 1), law.logsf(threshold - 1) - law.logsf(threshold)
    assert {"negative": negative, "positive": positive}[way] == max(negative, positive) == pytest.approx(0.5)
    assert worst_output.check(of(mechanism, 9), {**NEAR, "value": "51/100"}) == Bound("upper", parse("51/100"))
    with pytest.raises(Rejected, match=f"{int(way == 'positive')} positives and . negatives does not certainly lose at most"):
        worst_output.check(of(mechanism, 9), {**NEAR, "value": "49/100"})


def test_noise_of_a_known_form_on_the_line_is_that_noise():
    for noise, found in ((on_line("exp(-abs(z)/2)"), (False, 0.5)), (on_line("exp(-z**2/8)"), (True, 0.5))):
        law = noise_laws.closed(noise)
        assert (law.gaussian, float(law.rate.mid())) == found
    for noise in (on_line("exp(-max(z/2, -z))"), on_line("exp(-z**2/2 - z)"), on_line("exp(-abs(z - 1))")):
        with pytest.raises(Rejected, match="not certainly Gaussian or Laplace"):
            noise_laws.law(noise, [])


@pytest.mark.parametrize("neighbours", ["all", "monotone", "one"])
def test_the_greatest_of_several_between_bounds_loses_no_less_where_one_moves_alone(neighbours):
    judgement = verify(of(largest(laplace(2), 3, bounds=BOUNDS, neighbours=neighbours))).judgement
    assert height(judgement.lower) == pytest.approx(height(judgement.upper), abs=1e-12)


@pytest.mark.parametrize(
    ("mechanism", "evidence", "why"),
    [
        (replace(BETWEEN, resample=True), NEAR, "draws a threshold again"),
        (replace(BETWEEN, query_noise=None), NEAR, "answers exactly"),
        (largest(GEOMETRIC, 3, bounds=BOUNDS), NEAR, "it wants cuts of its own"),
        (largest(on_line("exp(-abs(z))", ZERO), 3, bounds=BOUNDS), NEAR, "not certainly Gaussian or Laplace"),
        (largest(on_line("exp(-abs(z))", None, ZERO), 3, bounds=BOUNDS), NEAR, "not certainly Gaussian or Laplace"),
        (largest(PRODUCT, 3, bounds=BOUNDS), NEAR, "not certainly Gaussian or Laplace"),
        (largest(PLANE, 3, bounds=BOUNDS), NEAR, "not certainly Gaussian or Laplace"),
        (largest(Radial(parse("exp(-r**2)"), L2, num(2)), 3, bounds=BOUNDS), NEAR, "not certainly Gaussian or Laplace"),
        (largest(OWN_UNIT, 3, bounds=BOUNDS), NEAR, "not certainly Gaussian or Laplace"),
        (largest(laplace("s"), 3, bounds=BOUNDS), NEAR, "not certainly Gaussian or Laplace"),
        (largest(laplace(2), "s", bounds=BOUNDS), NEAR, "candidates: it wants a number"),
        (replace(BETWEEN, queries=parse("s")), NEAR, "queries: it wants a number"),
        (replace(BETWEEN, positives=parse("s")), NEAR, "positives: it wants a number"),
        (replace(BETWEEN, queries=num(5000), positives=None), NEAR, "more than 1000"),
        (replace(BETWEEN, bounds=(ZERO, parse("sqrt(2)"))), NEAR, "bounds: it wants a rational number"),
        (replace(BETWEEN, threshold=parse("sqrt(2)")), NEAR, "threshold: it wants a rational number"),
        (BETWEEN, {**NEAR, "cuts": ["0"]}, "no list of 2"),
        (BETWEEN, {**NEAR, "cuts": "01"}, "no list of 2"),
        (BETWEEN, {**NEAR, "cuts": ["0", "2", "1"]}, "do not rise"),
        (BETWEEN, {**SHOWN, "positives": True}, "not a whole number"),
        (BETWEEN, {**SHOWN, "positives": -1}, "not a whole number"),
        (BETWEEN, {**SHOWN, "move": False}, "not a whole number"),
        (BETWEEN, {**SHOWN, "move": 1}, "'move' is 1, not a whole number"),
        (BETWEEN, {**SHOWN, "move": -1}, "not a whole number"),
        (replace(BETWEEN, bounds=None), {**FAR, "answers": 1}, "not iterable"),
        (replace(BETWEEN, bounds=None), {**FAR, "answers": ["0"]}, "are not 2 numbers"),
        (replace(BETWEEN, bounds=None), {**FAR, "answers": ["0", "1", "2"]}, "are not 2 numbers"),
    ],
    ids=str,
)  # fmt: skip
def test_a_broken_hypothesis_about_answers_between_bounds_is_refused(mechanism, evidence, why):
    domains = (("s", Domain(Fraction(1), None, lower_open=False, integer=True)),)
    with pytest.raises((Rejected, CertificateError, *STUMBLES), match=why):
        worst_output.check(of(mechanism, 9, domains=domains), evidence)
