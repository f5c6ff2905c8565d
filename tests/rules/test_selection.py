"""Answers with noise that are compared: noisy max, above threshold, the exponential mechanism for any scores (theory: selection.md)."""

import functools
import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import integrate, stats

from dpverify.search.selection.rough_laws import Rough
from dpverify.search.verify import verify
from dpverify.trusted.combinators.runs import Run
from dpverify.trusted.kernel.bounds import Infinite
from dpverify.trusted.kernel.canonical_form import claim_hash, from_json, to_json
from dpverify.trusted.kernel.errors import CertificateError, Rejected, Undecided
from dpverify.trusted.kernel.expr import ONE, ZERO, num, parse
from dpverify.trusted.kernel.judgement import check
from dpverify.trusted.kernel.model import (
    L2,
    AboveThreshold,
    Claim,
    Compose,
    Group,
    Lipschitz,
    Measure,
    NoisyMax,
    Part,
    Radial,
    Subsample,
    repeated,
)
from dpverify.trusted.order.enclosed import enclose
from dpverify.trusted.theories.divergences.rules import selection_measures as selections
from dpverify.trusted.theories.selection.compared import NORMALISED
from dpverify.trusted.theories.selection.rules import compared_gaussians as delta_release
from dpverify.trusted.theories.selection.rules import log_concave_noisy_max as noisy_max
from dpverify.trusted.theories.selection.rules import log_concave_threshold as threshold
from dpverify.trusted.theories.selection.rules import selection_moduli as moduli
from dpverify.trusted.theories.selection.rules import survival, worst_output
from tests.selections import (
    ALL_N,
    CAUCHY,
    EXPONENTIAL,
    GEOMETRIC,
    GUMBEL,
    LEFT_HEAVY,
    LOGISTIC,
    NATURAL,
    POSITIVE,
    alone,
    gaussian,
    laplace,
    largest,
    of,
    on_line,
    sparse,
)


def tight(mechanism, sensitivity=1):
    """Both sides of the tight epsilon, as floats; the certificate is checked by itself."""
    verified = verify(of(mechanism, sensitivity=sensitivity))
    judgement = check(verified.certificate)
    assert judgement.verdict == verified.judgement.verdict

    def height(value):
        return None if value is None else math.inf if isinstance(value, Infinite) else float(enclose(value).mid())

    return height(judgement.lower), height(judgement.upper)


def verdict(mechanism, epsilon, domains=(), **more):
    verified = verify(of(mechanism, epsilon, domains=domains, **more))
    assert check(verified.certificate).verdict == verified.judgement.verdict
    return verified.judgement.verdict


# -- known values -------------------------------------------------------------------------------------------------

EXACT = {
    "noisy max is epsilon from two candidates on": (largest(laplace(2), 2), 1),
    "noisy max of seven": (largest(laplace(2), 7), 1),
    "of one candidate the index tells nothing": (largest(laplace(2), 1), 0),
    "all the same way costs half": (largest(laplace(2), 3, neighbours="monotone"), 0.5),
    "one alone costs half": (largest(laplace(2), 3, neighbours="one"), 0.5),
    "the exponential mechanism": (largest(GUMBEL, 5), 1),
    "permute and flip": (largest(EXPONENTIAL, 5), 1),
    "logistic noise": (largest(LOGISTIC, 5), 1),
    "geometric noise": (largest(GEOMETRIC, 5), 1),
    "a left tail that is heavier counts for two": (largest(LEFT_HEAVY, 2), 2),
    "and twice for three": (largest(LEFT_HEAVY, 3), 4),
    "until the right tail does": (largest(LEFT_HEAVY, 5), 6),
    "Gaussian noise hides nothing from afar": (largest(gaussian(9), 3), math.inf),
    "the value of three is half more than private": (largest(laplace(2), 3, report="value"), 1.5),
    "the value of one is additive noise": (largest(LEFT_HEAVY, 1, report="value"), 3),
    "the value of one-sided noise tells it all": (largest(EXPONENTIAL, 3, report="value"), math.inf),
    "the value where one answer moves alone": (largest(laplace(2), 9, report="value", neighbours="one"), 0.5),
    "the value on the integers": (largest(GEOMETRIC, 3, report="value"), 1.5),
    "the lead costs nothing": (largest(laplace(2), 4, report="index+gap"), 1),
    **{
        f"sparse vector of {n} queries": (sparse(laplace(2), laplace(4), n), value) for n, value in enumerate((0.25, 0.5, 0.75, 1, 1, 1), 1)
    },
    **{f"no limit on the positives, {n} queries": (sparse(laplace(2), laplace(2), n, None), n / 2) for n in (1, 2, 3, 6)},
    **{f"little noise on {n} answers": (sparse(laplace(4), laplace("4/3"), n), v) for n, v in ((1, 0.25), (2, 1.5), (3, 1.75), (9, 1.75))},
    "exact answers, one query": (sparse(laplace(2), None, 1, None), 0.5),
    "exact answers, two queries": (sparse(laplace(2), None, 2, None), math.inf),
    "an exact threshold adds up": (sparse(None, laplace(4), 5, 2), 1.25),
    "the same value told": (sparse(laplace(2), laplace(4), 5, report="answers+value"), 1.25),
    "the same value told, two positives": (sparse(laplace(2), laplace(8), 9, 2, report="answers+value"), 1.125),
    "the gap costs nothing": (sparse(laplace(2), laplace(4), 9, report="answers+gap"), 1),
    "fresh noise adds": (sparse(laplace(3), laplace(6), 9, report="fresh", fresh=laplace(3)), 1),
    "answers that rise": (sparse(laplace(2), laplace(4), 9, 2, neighbours="increasing"), 1),
    "answers that fall": (sparse(laplace(2), laplace(4), 9, 2, neighbours="decreasing"), 0.5),
    "both of these": (sparse(laplace(2), laplace(4), 9, 2, neighbours="monotone"), 1),
    "one answer alone": (sparse(laplace(2), laplace(4), 9, 2, neighbours="one"), 0.25),
    "geometric noise on both": (sparse(GEOMETRIC, on_line("exp(-abs(z)/4)", integers=True), 9), 1),
    "one-sided noise on the answers": (sparse(laplace(2), on_line("exp(-z/4)", ZERO), 9), 1),
}


@pytest.mark.parametrize("name", EXACT)
def test_the_tight_epsilon_in_closed_form(name):
    mechanism, value = EXACT[name]
    lower, upper = tight(mechanism)
    assert lower == pytest.approx(value, abs=1e-12) and (upper == pytest.approx(value, abs=1e-12) or (upper is None and value == math.inf))


FOR_ALL = {
    "noisy max": (largest(laplace("2/e"), "n"), "e"),
    "sparse vector": (sparse(laplace("2/e"), laplace("4*k/e"), "n", "k"), "e"),
    "its thresholds drawn again": (sparse(laplace("2/e"), laplace("4/e"), "n", "k", resample=True), "k*e"),
    "the gap": (sparse(laplace("2/e"), laplace("4*k/e"), "n", "k", report="answers+gap"), "e"),
    "fresh noise": (sparse(laplace("3/e"), laplace("6*k/e"), "n", "k", report="fresh", fresh=laplace("3*k/e")), "e"),
    "too little noise on the answers": (sparse(laplace("4/e"), laplace("4/(3*e)"), "n", "k"), "(1 + 6*k)/4*e"),
}


@pytest.mark.parametrize("name", FOR_ALL)
def test_a_claim_for_all_counts_and_scales_is_proved_and_nothing_less(name):
    mechanism, epsilon = FOR_ALL[name]
    used = {"n": NATURAL, "e": POSITIVE, **({"k": NATURAL} if isinstance(mechanism, AboveThreshold) else {})}
    domains = tuple(sorted(used.items()))
    assert verdict(mechanism, epsilon, domains) == "PROVED"
    assert verdict(mechanism, f"99/100*({epsilon})", domains) == "REFUTED"


@pytest.mark.parametrize(
    ("mechanism", "least"),
    [
        (largest(laplace(2), "n", report="value"), 3),
        (sparse(laplace(2), laplace(4), "n", report="answers+value"), 5),
        (sparse(laplace(2), laplace(8), "n", 2, report="answers+value"), 9),
        (sparse(laplace(2), laplace(2), "n", None), 3),
        (sparse(laplace(2), None, "n", None), 2),
    ],
    ids=["value", "same value", "same value twice", "no limit", "exact answers"],
)
def test_a_wrong_claim_is_refuted_at_the_fewest_answers_that_break_it(mechanism, least):
    judgement = verify(of(mechanism, 1, domains=ALL_N)).judgement
    assert judgement.verdict == "REFUTED" and judgement.witness["at"] == {"n": str(least)}
    assert verdict(replace(mechanism, **{_count(mechanism): num(least - 1)}), 1) == "PROVED"


def _count(mechanism):
    return "candidates" if isinstance(mechanism, NoisyMax) else "queries"


# -- against integration --------------------------------------------------------------------------------------------


NODES, WEIGHTS = np.polynomial.legendre.leggauss(60)


def distribution(scale, x):
    """Of Laplace noise: P[Z <= x]."""
    return np.where(x < 0, np.exp(np.minimum(x, 0) / scale) / 2, 1 - np.exp(-np.maximum(x, 0) / scale) / 2)


def pattern(first, second, negatives, positives):
    """The probability of an output with Laplace noise of these scales, by Gauss rules; negatives, positives: the answers of each."""
    edges = sorted({0.0, *negatives, *positives, *(sign * far for far in (5.0, 20.0, 60.0, 150.0, 400.0) for sign in (-1, 1))})
    total = 0.0
    for a, b in itertools.pairwise(edges):
        t = (a + b) / 2 + (b - a) / 2 * NODES
        height = np.exp(-np.abs(t) / first) / (2 * first)
        for q in negatives:
            height = height * distribution(second, t - q)
        for q in positives:
            height = height * distribution(second, q - t)
        total += (b - a) / 2 * float(WEIGHTS @ height)
    return total


@pytest.mark.sampled(9)
@pytest.mark.parametrize(("negatives", "positives"), [(1, 0), (0, 1), (1, 1), (2, 1), (3, 1), (1, 2)])
@pytest.mark.parametrize(("first", "second"), [(2.0, 4.0), (4.0, 4 / 3), (1.0, 5.0)])
def test_no_pair_of_answers_loses_more_than_the_bound_and_some_nearly_do(first, second, negatives, positives):
    a, b = 1 / first, 1 / second
    bound = min(a + 2 * negatives * b, (negatives + positives) * b, a + 2 * positives * b)

    def loss(low, high, move):
        here = pattern(first, second, [low] * negatives, [high] * positives)
        there = pattern(first, second, [low + move] * negatives, [high - move] * positives)
        return math.log(here / there)

    losses = [loss(low, high, move) for low, high in itertools.product((-9, 0, 3, 40), (-40, -3, 0, 9)) for move in (-1, 1)]
    assert max(losses) <= bound + 1e-7
    assert max(losses) >= bound - 0.15
    mechanism = sparse(laplace(Fraction(first)), laplace(Fraction(second).limit_denominator(9)), negatives + positives, max(1, positives))
    lower, upper = tight(mechanism)
    assert max(losses) <= upper + 1e-7 and lower == upper


def test_no_law_of_the_greatest_of_several_loses_more_than_the_bound():
    rng = np.random.default_rng(3)
    law, (left, right) = stats.laplace_asymmetric(kappa=math.sqrt(3)), (1 / math.sqrt(3), math.sqrt(3))
    for _ in range(300):
        n = int(rng.integers(1, 5))
        x, moves = rng.normal(0, 6, n), rng.choice([-1, 0, 1], n)

        def density(y):
            return float(np.prod(law.cdf(y)) * np.sum(law.pdf(y) / law.cdf(y)))

        assert math.log(density(x) / density(x - moves)) <= max(n * left, right) + 1e-9


# -- between bounds ------------------------------------------------------------------------------------------------------

BOUNDS = (ZERO, ONE)
BETWEEN = {  # at eps = 1/2, over all pairs of {0, 1}^n
    **{f"noisy max, Gaussian, {n}": (largest(gaussian(8), n, bounds=BOUNDS), v, 5) for n, v in ((4, 0.257403), (5, 0.2908), (25, 0.49137))},
    **{
        f"sparse vector, Laplace, {n}": (sparse(laplace(4), laplace(8), n, bounds=BOUNDS), v, 4)
        for n, v in ((1, 0.0866), (2, 0.1994), (3, 0.2930), (4, 0.3628), (5, 0.4122), (25, 0.4999994))
    },
    **{
        f"sparse vector, Gaussian, {n}": (sparse(gaussian(4), gaussian(8), n, bounds=BOUNDS), v, 5)
        for n, v in ((5, 0.44193), (25, 0.98706))
    },
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", BETWEEN)
def test_between_bounds_the_tight_epsilon_is_one_pair_of_integrals(name):
    mechanism, value, places = BETWEEN[name]
    lower, upper = tight(mechanism)
    assert round(lower, places) == round(value, places) and 0 <= upper - lower < 1e-15


@pytest.mark.sampled(4)
@pytest.mark.parametrize("neighbours", ["all", "monotone", "increasing", "decreasing"])
@pytest.mark.parametrize(("first", "second", "n", "positives"), [(2.0, 4.0, 3, 2), (1.0, 0.5, 2, 2), (3.0, 1.0, 3, 1)])
def test_no_pair_between_bounds_loses_more(neighbours, first, second, n, positives):
    mechanism = sparse(laplace(Fraction(first)), laplace(Fraction(second)), n, positives, neighbours=neighbours, bounds=(ZERO, num(2)))
    lower, upper = tight(mechanism)
    steps = {"all": [(-1, 0, 1)], "monotone": [(0, 1), (-1, 0)], "increasing": [(0, 1)], "decreasing": [(-1, 0)]}[neighbours]
    worst = 0.0
    for yes in itertools.product((False, True), repeat=n):
        if sum(yes) > positives or (sum(yes) == positives and not yes[-1]):
            continue
        for q in itertools.product((0.0, 0.7, 1.0, 2.0), repeat=n):
            here = _chance(first, second, q, yes)
            for moves in itertools.chain.from_iterable(itertools.product(step, repeat=n) for step in steps):
                there = tuple(a + b for a, b in zip(q, moves, strict=True))
                if min(there) >= 0 and max(there) <= 2:
                    worst = max(worst, math.log(here / _chance(first, second, there, yes)))
    assert worst == pytest.approx(upper, abs=1e-6) and lower == pytest.approx(upper, abs=1e-12)


@functools.cache
def _chance(first, second, q, yes):
    return pattern(first, second, [a for a, b in zip(q, yes, strict=True) if not b], [a for a, b in zip(q, yes, strict=True) if b])


@pytest.mark.parametrize("neighbours", ["all", "monotone", "one"])
def test_no_pair_between_bounds_loses_more_of_the_greatest(neighbours):
    law, upper = stats.norm(scale=2), tight(largest(gaussian(2), 3, neighbours=neighbours, bounds=(ZERO, num(2))))[1]
    t = np.linspace(-20, 24, 4001)

    @functools.cache
    def chance(q):
        return float(np.trapezoid(law.pdf(t - q[0]) * law.cdf(t - q[1]) * law.cdf(t - q[2]), t))

    worst = 0.0
    for q in itertools.product((0.0, 0.6, 1.0, 2.0), repeat=3):
        for moves in itertools.product((-1, 0, 1), repeat=3):
            together = (
                neighbours == "all"
                or (neighbours == "one" and sum(map(abs, moves)) < 2)
                or (neighbours == "monotone" and len({*moves} - {0}) < 2)
            )
            there = tuple(a + b for a, b in zip(q, moves, strict=True))
            if together and min(there) >= 0 and max(there) <= 2:
                worst = max(worst, math.log(chance(q) / chance(there)))
    assert worst == pytest.approx(upper, abs=1e-6)


@pytest.mark.parametrize("neighbours", ["all", "monotone", "one", "increasing", "decreasing"])
def test_two_exact_answers_between_bounds_are_told_apart(neighbours):
    assert tight(sparse(gaussian(9), None, 2, bounds=BOUNDS, neighbours=neighbours))[0] == math.inf


@pytest.mark.parametrize("mechanism", [largest(laplace(2), 5001, bounds=BOUNDS), sparse(laplace(2), laplace(4), 5001, bounds=BOUNDS)])
def test_between_bounds_what_all_answers_lose_is_proved_however_near_the_worst_pair_comes_to_it(mechanism):
    assert verify(of(mechanism, 1)).judgement.verdict == "PROVED"  # which many answers lose up to less than 1e-15
    assert verify(of(mechanism, "1 - 1/10**9")).judgement.verdict == "REFUTED"


def test_between_bounds_a_threshold_with_noise_of_a_light_tail_is_integrated_over_as_far_as_it_reaches():
    noise = stats.gumbel_r(scale=2)

    def chance(no, yes):
        f = lambda t: noise.pdf(t) * stats.laplace.cdf(t - no, scale=4) ** 4 * stats.laplace.sf(t - yes, scale=4)  # noqa: E731
        return integrate.quad(f, -12, 80, points=[0, 1], epsabs=1e-14, limit=400)[0]

    judgement = verify(of(sparse(GUMBEL, laplace(4), 5, bounds=BOUNDS), 1)).judgement
    truth = math.log(chance(0, 1) / chance(1, 0))
    assert float(judgement.lower.value) == pytest.approx(truth, abs=1e-9) == float(judgement.upper.value)


def test_a_refutation_shows_a_pair_an_output_and_both_probabilities():
    witness = verify(of(sparse(laplace(2), laplace(2), 3, None), 1)).judgement.witness
    assert "positive" in witness["event"]
    low, high = (
        float(part.split(" ")[0]) for part in (witness["pair"].partition("answers ")[2], witness["pair"].partition("negatives, ")[2])
    )
    counts = [int(part.split()[0]) for part in witness["event"].split(", then ")]
    negatives, positives = counts if len(counts) == 2 else (0, *counts)
    p, q = (pattern(2, 2, [low + move] * negatives, [high - move] * positives) for move in (0, 1))
    assert p > math.e * q
    assert [float(witness[key].strip("[]").split(" ")[0]) for key in "PQ"] == [pytest.approx(p, rel=1e-6), pytest.approx(q, rel=1e-6)]


# -- any noise ---------------------------------------------------------------------------------------------------------


@pytest.mark.wide
def test_survival_functions_bound_the_index_sharply():
    assert tight(largest(CAUCHY, 6, neighbours="monotone"))[1] == pytest.approx(math.log(2), abs=1e-6)  # at m = 0
    m = np.linspace(-50, 50, 200_001)
    best = np.max(stats.t(3).logsf(m) - stats.t(3).logsf(m + 2))
    assert tight(largest(Radial(parse("(1 + r**2/3)**(-2)"), L2, ONE), 4))[1] == pytest.approx(best, abs=1e-6)


@pytest.mark.parametrize(
    ("mechanism", "parameters", "why"),
    [
        (largest(CAUCHY, 3), {"value": "1", "cuts": ["-99", "0", "99"]}, "split the cell"),
        (largest(CAUCHY, 3), {"value": "1/99999", "cuts": ["-99", "99"]}, "to the right of it"),
        (largest(CAUCHY, 3), {"value": "1/2", "cuts": ["1", "99"]}, "to the left of it"),
        (largest(CAUCHY, 3), {"value": "1", "cuts": ["1", "0"]}, "do not rise"),
        (largest(CAUCHY, 3), {"value": "1"}, "no list of 2"),
        (largest(CAUCHY, 3, report="value"), {"value": "9", "cuts": ["0", "9"]}, "tells the index alone"),
        (largest(GUMBEL, 3), {"value": "9", "cuts": ["0", "9"]}, "not certainly even"),
        (largest(GEOMETRIC, 3), {"value": "9", "cuts": ["0", "9"]}, "not certainly even"),
        (
            largest(Radial(parse("(1 - r**2)/(1 + r**2)**3"), L2, ONE), 3),
            {"value": "9", "cuts": ["-99", "99"]},
            "at least 0|right of it|logarithm|enclosure",
        ),
    ],
)
def test_survival_functions_are_checked(mechanism, parameters, why):
    with pytest.raises((Rejected, CertificateError), match=why):
        alone(of(mechanism, 9), survival.NAME, **parameters)


@pytest.mark.wide
@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("mechanism", "value"),
    [
        (largest(CAUCHY, 3, report="value"), "6*asinh(1/2)"),
        (sparse(laplace(2), CAUCHY, "n", 2), "1/2 + 4*asinh(1)"),
        (sparse(CAUCHY, CAUCHY, 2, 2, neighbours="monotone"), "4*asinh(1/2)"),
        (sparse(CAUCHY, CAUCHY, "n", 2, neighbours="decreasing"), "4*asinh(1/2)"),
        (sparse(CAUCHY, CAUCHY, "n", 2, neighbours="one"), "2*asinh(1/2)"),
        (sparse(None, CAUCHY, 3, 1), "6*asinh(1/2)"),
    ],
)
def test_what_noise_that_is_not_log_concave_loses_by_itself_bounds_comparisons(mechanism, value):
    domains = ALL_N if parse("n") in (getattr(mechanism, "candidates", None), getattr(mechanism, "queries", None)) else ()
    assert verdict(mechanism, value, domains) == "PROVED"
    assert verdict(mechanism, f"{value} - 1/1000", domains) == "UNKNOWN"


# -- as parts -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mechanism", "value"),
    [
        (Compose((repeated(Part(largest(laplace(2), 3), ONE), num(2)), Part(sparse(laplace(2), laplace(4), 4), ONE))), "3"),
        (Group(Part(largest(laplace(2), 3), ONE), num(3)), "3"),
        (Subsample(Part(largest(laplace(2), 3), ONE), parse("1/2")), "log((1 + exp(1))/2)"),
        (Lipschitz(Part(largest(laplace(2), 3), ONE), num(2)), "2"),
        (Compose((repeated(Part(largest(CAUCHY, 3, report="value"), ONE), num(2)),)), "12*asinh(1/2)"),
    ],
)
def test_selections_are_parts_like_any_other(mechanism, value):
    claim = Claim(mechanism, parse(value))
    assert verify(claim).judgement.verdict == "PROVED"
    assert verify(replace(claim, epsilon=parse(f"{value} - 1/1000"))).judgement.verdict == ("UNKNOWN" if "asinh" in value else "REFUTED")


@pytest.mark.parametrize(("constant", "bound"), [("1/2", "1"), ("3/2", "2")])
def test_no_refutation_rests_on_answers_that_neighbours_by_halves_of_a_step_would_have(constant, bound):
    # where answers move in proportion, by 1/2 and 3/2, epsilon is 1/2 and 3/2; where distances are whole, it is that of 0 and 1 steps
    part = Part(largest(laplace(2), 3), ONE)
    claim = Claim(Lipschitz(part, parse(constant)), parse(bound))
    found = verify(claim).judgement
    assert (found.verdict, found.upper, found.lower) == ("PROVED", parse(bound), None)
    less = replace(claim, epsilon=parse(f"{constant} * 1/3"))
    assert verify(less).judgement.verdict == "UNKNOWN"
    whole = verify(replace(less, mechanism=Lipschitz(part, ONE))).certificate
    whole = dict(whole)
    assert whole["verdict"] == "REFUTED"
    canonical = to_json(less)
    with pytest.raises(Rejected, match="it is not whole, and something behind the map knows whole steps"):
        check(whole | {"claim": canonical, "claim_sha256": claim_hash(canonical)})


def test_a_group_of_any_size_loses_as_often_as_it_is_large_on_both_sides():
    part, sizes = Part(largest(laplace(2), 3), ONE), (("k", NATURAL),)
    assert verify(Claim(Group(part, parse("k")), parse("k"), domains=sizes)).judgement.verdict == "PROVED"
    assert verify(Claim(Group(part, parse("k")), parse("9*k/10"), domains=sizes)).judgement.verdict == "REFUTED"


@pytest.mark.wide
def test_what_is_enclosed_is_a_part_too():
    between = Compose((Part(largest(laplace(2), 3, bounds=BOUNDS), ONE), Part(largest(CAUCHY, 3, neighbours="monotone"), ONE)))
    value = tight(largest(laplace(2), 3, bounds=BOUNDS))[1] + math.log(2)
    assert verify(Claim(between, parse(f"{value:.5f} + 1/10000")), 6).judgement.verdict == "PROVED"
    assert verify(Claim(between, parse(f"{value:.5f} - 1/10000")), 6).judgement.verdict == "UNKNOWN"


def test_between_bounds_one_answer_alone_has_the_lesser_of_two_bounds():
    assert verdict(sparse(laplace(2), laplace(4), 3, neighbours="one", bounds=BOUNDS), "1/4") == "PROVED"


def test_where_one_answer_moves_alone_several_steps_may_move_several():
    """They lose at most what one step does so many times: of the greatest of Cauchy noise 3 * 2 * asinh(1/2), as each answer alone does."""
    single = largest(CAUCHY, 3, report="value", neighbours="one")
    one = float(enclose(verify(Claim(single, num(100), sensitivity=ONE)).judgement.upper).mid())
    three = verify(Claim(Group(Part(single, ONE), num(3)), num(100))).judgement
    assert three.verdict == "PROVED"
    assert float(enclose(three.upper).mid()) == pytest.approx(3 * one)


@pytest.mark.wide
def test_a_guarantee_for_one_order_of_the_data_is_no_part_and_no_premise():
    falling = sparse(laplace(2), laplace(4), 9, neighbours="decreasing")
    with pytest.raises(CertificateError, match="for one order of the data alone"):
        from_json(to_json(Claim(Compose((Part(falling, ONE),)), ONE)))
    # at delta > 0 randomized response would be dominated in both orders
    assert verdict(falling, "1/4", delta=parse("1/8")) == "PROVED" and verdict(falling, "1/5", delta=parse("1/40")) == "UNKNOWN"


# -- what is refused -----------------------------------------------------------------------------------------------------


UNEVEN = sparse(laplace(2), laplace(2), 6, None)
BOUNDED = sparse(laplace(4), laplace(8), 2, bounds=BOUNDS)
SHOWN = {"side": "lower", "move": 0, "cuts": ["-999", "0", "1", "999"]}


@pytest.mark.parametrize(
    ("claim", "rule", "parameters", "why"),
    [
        (of(largest(CAUCHY, 2), 9), noisy_max.NAME, {}, "not certainly log-concave"),
        (of(largest(on_line("exp(-abs(z)) + exp(-abs(z - 9))"), 2), 9), noisy_max.NAME, {}, "log-concave|law of shapes|smooth"),
        (of(largest(laplace(2), "3/2"), 9), noisy_max.NAME, {}, "not certainly an integer of at least 1"),
        (of(largest(laplace(-2), 2), 9), noisy_max.NAME, {}, "not certainly positive"),
        (of(largest(laplace(2), 2), 9, sensitivity=-1), noisy_max.NAME, {}, "not certainly non-negative"),
        (of(largest(Radial(parse("exp(-r)"), L2, num(2)), 2), 9), noisy_max.NAME, {}, "its dimension is not 1"),
        (of(largest(laplace(2), 1, report="index+gap"), 9), noisy_max.NAME, {}, "no lead over a next one"),
        (of(largest(laplace(2), 2, bounds=(ZERO, ONE)), 9), noisy_max.NAME, {"side": "lower"}, "never far apart"),
        (of(sparse(laplace(2), laplace(4), 3), 9), noisy_max.NAME, {}, "it is no noisy max"),
        (of(laplace(2), 9), noisy_max.NAME, {}, "not of a kind that the rule is about"),
        (of(largest(laplace(2), 2), 9), threshold.NAME, {}, "it is no above threshold"),
        (of(sparse(CAUCHY, laplace(4), 3), 9), threshold.NAME, {"shift": "up"}, "not certainly log-concave"),
        (of(sparse(laplace(2), CAUCHY, 3), 9), threshold.NAME, {"shift": "up"}, "not certainly log-concave"),
        (of(sparse(laplace(2), laplace(4), 3, "1/2"), 9), threshold.NAME, {"shift": "up"}, "not certainly an integer of at least 1"),
        (
            of(largest(LOGISTIC, 2, bounds=BOUNDS), 9),
            worst_output.NAME,
            {"value": "9", "cuts": ["-9", "9"]},
            "not certainly Gaussian or Laplace",
        ),
        (of(largest(laplace(2), 2), 9), worst_output.NAME, {"value": "9", "cuts": ["-9", "9"]}, "no worst pair"),
        (of(BOUNDED, 9), worst_output.NAME, {"value": "9", "cuts": ["-99", "99"]}, "a kink between -99 and 99"),
        (of(BOUNDED, 9), worst_output.NAME, {"value": "249/1250", "cuts": ["-999", "0", "1", "999"]}, "not certainly lose at most"),
        (of(BOUNDED, 9), worst_output.NAME, {"value": "1/2", "cuts": ["0", "1"]}, "not certainly lose at most"),
        (of(BOUNDED, 9), worst_output.NAME, {"value": "1/2", "cuts": ["0", "0"]}, "do not rise"),
        (of(BOUNDED, 9), worst_output.NAME, {"value": "1/2"}, "no list of 2 to"),
        (of(BOUNDED, 0), worst_output.NAME, {**SHOWN, "value": "1/5", "positives": 1}, "not certainly lose as much"),
        (of(BOUNDED, 0), worst_output.NAME, {**SHOWN, "value": "1/10", "positives": 2}, "so many are asked for, or may be positive"),
        (of(BOUNDED, 0), worst_output.NAME, {**SHOWN, "value": "1/10", "positives": 3}, "not a whole number"),
        (
            of(BOUNDED, 0),
            worst_output.NAME,
            {**SHOWN, "value": "1/10", "positives": 1, "answers": ["0", "9"]},
            "not between the bounds",
        ),
        (of(replace(BOUNDED, neighbours="one"), 0), worst_output.NAME, {**SHOWN, "value": "1/10", "positives": 0}, "more than one answer"),
        (of(replace(BOUNDED, bounds=(ONE, ZERO)), 9), worst_output.NAME, {"value": "9", "cuts": ["-9", "9"]}, "ends that rise"),
        (of(replace(BOUNDED, report="answers+gap"), 9), worst_output.NAME, {"value": "9", "cuts": ["-9", "9"]}, "more than answers"),
        (
            of(largest(laplace(2), 2, report="value", bounds=BOUNDS), 9),
            worst_output.NAME,
            {"value": "9", "cuts": ["-9", "9"]},
            "more than the index",
        ),
        (of(UNEVEN, 9), threshold.NAME, {"side": "lower", "exact": True}, "they are not exact"),
        (of(sparse(laplace(2), None, 1), 9), threshold.NAME, {"side": "lower", "exact": True}, "not certainly two or more"),
        (
            of(sparse(laplace(2), None, 2), 9, sensitivity=0),
            threshold.NAME,
            {"side": "lower", "exact": True},
            "not certain that answers move",
        ),
        (of(sparse(EXPONENTIAL, None, 2), 9), threshold.NAME, {"side": "lower", "exact": True}, "not certainly positive everywhere"),
        (of(UNEVEN, 9), threshold.NAME, {"peaks": [1]}, "2 positives do not certainly lose at most what 1 do"),
        (of(UNEVEN, 9), threshold.NAME, {"peaks": [5]}, "4 positives do not certainly lose at most what 5 do"),
        (of(replace(UNEVEN, resample=True), 9), threshold.NAME, {"peaks": [3]}, "drawn again"),
        (of(sparse(laplace(2), laplace(4), "n"), 9, domains=ALL_N), threshold.NAME, {"peaks": [1]}, "wants numbers of queries"),
        (of(UNEVEN, 1), threshold.NAME, {"side": "lower", "negatives": 4, "positives": 3, "move": 0}, "so many are asked for"),
        (
            of(sparse(laplace(2), laplace(4), 9), 1),
            threshold.NAME,
            {"side": "lower", "negatives": 2, "positives": 2, "move": 0},
            "may be positive",
        ),
    ],
)
def test_a_broken_hypothesis_is_refused(claim, rule, parameters, why):
    with pytest.raises((Rejected, CertificateError), match=why):
        alone(claim, rule, **parameters)


@pytest.mark.parametrize(
    ("mechanism", "parameters", "why"),
    [
        (UNEVEN, {}, "cannot be used"),
        (UNEVEN, {"peaks": [True]}, "is True, not a whole number"),
        (UNEVEN, {"peaks": [7]}, "is 7, not a whole number"),
        (UNEVEN, {"peaks": []}, "cannot be used"),
        (UNEVEN, {"side": "both"}, "not upper or lower"),
        (UNEVEN, {"shift": "up", "at": {}}, "it has no 'at'"),
        (UNEVEN, {"side": "lower", "negatives": -1, "positives": 1, "move": 0}, "not a whole number of at least 0"),
        (UNEVEN, {"side": "lower", "negatives": 1, "positives": 1, "move": 1}, "'move' is 1, not a whole number"),
    ],
)
def test_parameters_that_say_nothing_are_misuse(mechanism, parameters, why):
    with pytest.raises(CertificateError, match=why):
        alone(of(mechanism, 9), threshold.NAME, **parameters)


def test_a_premise_about_another_noise_or_another_move_is_refused():
    packed = dict(verify(of(sparse(CAUCHY, CAUCHY, 30, 2), 9)).certificate)
    for at, other in (
        (0, {"noise": "query_noise", "moved": 2}),
        (1, {"noise": "query_noise", "moved": 1}),
        (1, {"noise": "fresh", "moved": 1}),
    ):
        lines = [dict(line) for line in packed["lines"] if line["rule"] in ("power-identity", "selection-moduli")][:3]
        assert [line["rule"] for line in lines] == ["power-identity", "power-identity", moduli.NAME]
        lines[2]["premises"], lines[at]["place"] = [0, 1], [other]
        with pytest.raises((CertificateError, Rejected), match=r"not about the pure epsilon|has no fresh"):
            check({**packed, "lines": lines})


@pytest.mark.parametrize(
    "forged", [{"neighbours": "none"}, {"report": "all"}, {"report": "fresh"}, {"fresh": to_json(of(laplace(2)))["mechanism"]}]
)
def test_words_that_mean_nothing_are_no_claim(forged):
    claim = to_json(of(sparse(laplace(2), laplace(4), 3), 1))
    with pytest.raises(CertificateError):
        from_json({**claim, "mechanism": {**claim["mechanism"], **forged}})


@pytest.mark.parametrize(
    "norm", [{"kind": "facets", "matrix": [["2"]]}, {"kind": "columns", "matrix": [["1/2"]]}, {"kind": "ellipsoid", "matrix": [["1/4"]]}]
)
@pytest.mark.parametrize("mechanism", [NoisyMax(laplace(1), num(2)), sparse(laplace(1), laplace(1), 3), NoisyMax(gaussian(1), num(2))])
def test_noise_is_compared_in_the_unit_of_the_answers_alone(mechanism, norm):
    """In each of these norms a number has twice its size: a move by 2 would be taken for one by 2 that is one by 4, and 4 for 2."""
    claim = to_json(of(mechanism, 2))
    for name, noise in claim["mechanism"].items():
        if isinstance(noise, dict):
            claim["mechanism"][name] = {**noise, "norm": {**norm, "p": None}}
    with pytest.raises(CertificateError, match="in a norm by a matrix"):
        from_json(claim)


def test_the_greatest_of_two_with_noise_of_half_the_scale_loses_twice_as_much():
    """By quadrature: with the density exp(-2 |z|), which a norm of twice the size makes of exp(-r), the loss is 4 in the limit."""

    def second_wins(lead):
        return integrate.quad(lambda z: math.exp(-2 * abs(z)) * stats.laplace.sf(z + lead, scale=1 / 2), -12, 30, points=[-lead, 0])[0]

    assert 3.6 < math.log(second_wins(8) / second_wins(10)) < 4
    assert tight(NoisyMax(laplace("1/2"), num(2))) == pytest.approx((4, 4))


def test_on_the_integers_a_lead_of_0_tells_of_all_that_are_the_greatest():
    """By enumeration: the third of four answers leads by 0, so it ties with the fourth, and the first two are below."""

    def log_chance(move):
        here = (5 + move, 5 + move, -move, -move)
        law = [math.exp(-abs(z) / 2) for z in range(-100, 101)]  # of GEOMETRIC, up to a factor; what is beyond has less than e^-45 of it
        below = dict(zip(range(-100, 102), itertools.accumulate(law, initial=0), strict=True))
        told = (law[t - here[2] + 100] * law[t - here[3] + 100] * below[t - here[0]] * below[t - here[1]] for t in range(-90, 90))
        return math.log(sum(told))

    told = of(largest(GEOMETRIC, 4, report="index+gap"), 1)
    assert log_chance(0) - log_chance(1) > 1.5
    assert verify(told).judgement.verdict != "PROVED"
    with pytest.raises(Rejected, match="several answers may be the greatest"):
        noisy_max.check(told, {})
    assert tight(largest(GEOMETRIC, 2, report="index+gap")) == (1, 1)


def test_on_the_integers_answers_move_by_the_integer_part():
    assert tight(largest(GEOMETRIC, 3), "3/2") == (1, 1)
    assert verify(of(largest(GEOMETRIC, 3), 1)).judgement.assumptions.count("answers are integers") == 1


def test_the_exponential_mechanism_is_noisy_max_with_gumbel_noise():
    beta, scores = 0.5, np.array([0.3, -1.2, 2.0])
    law = stats.gumbel_r(scale=1 / beta)
    for i in range(3):
        others = np.delete(scores, i)
        chance = integrate.quad(lambda t: law.pdf(t) * np.prod(law.cdf(t + scores[i] - others)), -30, 80)[0]  # noqa: B023
        assert chance == pytest.approx(math.exp(beta * scores[i]) / np.exp(beta * scores).sum(), abs=1e-7)


def test_what_is_proved_at_no_delta_in_one_order_is_so_at_every_delta():
    rising = sparse(laplace(300), None, 1, neighbours="increasing")
    assert verdict(rising, "1/300") == verdict(rising, "1/300", delta=parse("1/100")) == "PROVED"


def test_exact_answers_against_noise_without_a_closed_form_are_told_apart_too():
    assert tight(sparse(GUMBEL, None, 4, None, neighbours="one", bounds=BOUNDS))[0] == math.inf


@pytest.mark.wide
def test_cells_of_a_density_are_no_more_than_a_certificate_may_list():
    with pytest.raises(Undecided, match="no power series"):
        Rough(GUMBEL).grid(Fraction(-(2**40)), Fraction(2**40))


@pytest.mark.wide
def test_a_refuted_delta_shows_what_is_left_of_the_event_at_the_claimed_epsilon():
    mechanism = sparse(gaussian(4), gaussian(8), 3, bounds=BOUNDS)
    witness = verify(of(mechanism, "1/10", delta=parse("1/1000"))).judgement.witness
    left, p, q = (float(witness[key].strip("[]").split(",")[0]) for key in ("P - exp(epsilon)*Q", "P", "Q"))
    assert left == pytest.approx(p - math.exp(0.1) * q, abs=1e-10) == pytest.approx(0.0249818, abs=1e-7)


# -- noise of which a bound asks nothing but that it is a law ---------------------------------------------------------------


UNENDING = on_line("1/(1 + abs(z))")
"""No law: its integral is infinite. A claim file with it is refused; a certificate that says so shows what it assumes."""


@pytest.mark.parametrize(("threshold_noise", "told"), [(UNENDING, True), (CAUCHY, False), (laplace(1), False), (None, False)])
def test_what_is_not_certain_to_be_a_law_of_the_threshold_is_shown(threshold_noise, told):
    found = threshold.check(of(sparse(threshold_noise, laplace(2), 6, report="answers+value")), {})
    assert (NORMALISED in found.assumed) == told
    claim = of(sparse(threshold_noise, gaussian(2), 6))
    assert (NORMALISED in delta_release.infer(Run(Part(claim.mechanism, ONE)), {}, ()).assumed) == told
    (bound,) = selections.infer(replace(claim, measure=Measure("zcdp", None)), {}, ())
    assert (NORMALISED in bound.assumed) == told
