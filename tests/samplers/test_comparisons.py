"""Samplers of noisy answers that are compared: their laws by enumeration and quadrature, and comparisons by digits on demand."""

import itertools
import math
import pickle
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from scipy import integrate, stats

from dpverify.errors import DataError, NoSampler
from dpverify.samplers import comparisons, digits, mechanisms
from dpverify.samplers.grids import grid
from dpverify.trusted.kernel.balls import precision
from dpverify.trusted.kernel.expr import ONE, parse
from dpverify.trusted.kernel.model import Branch, Compose, Drawn, Guard, Named, Part, Stream
from tests.selections import EXPONENTIAL, GEOMETRIC, GUMBEL, LEFT_HEAVY, LOGISTIC, gaussian, laplace, largest, on_line, sparse

SIZE = 4_000
FEW = 250
LAWS = {
    "Laplace": (laplace(2), stats.laplace(scale=2)),
    "Laplace by its density": (on_line("exp(-abs(z)/2)"), stats.laplace(scale=2)),
    "Gaussian": (gaussian(2), stats.norm(scale=2)),
    "exponential": (EXPONENTIAL, stats.expon(scale=2)),
    "logistic": (LOGISTIC, stats.logistic(scale=2)),
    "Gumbel": (GUMBEL, stats.gumbel_r(scale=2)),
}
NODES, WEIGHTS = np.polynomial.legendre.leggauss(60)
ANSWERS = [0, Fraction(3, 2), -1.25]


def drawn(mechanism, data, size=SIZE, seed=1, **options):
    return mechanisms.sampler(mechanism, **options)(data, size, np.random.default_rng(seed))


def fits(counts, probabilities):
    counts, expected = np.asarray(counts, float), np.asarray(probabilities) * np.sum(counts)
    common = expected >= 5
    assert not counts[np.asarray(probabilities) == 0].any()
    seen, wanted = [*counts[common], counts[~common].sum()], [*expected[common], expected[~common].sum()]
    if wanted[-1] < 1:
        seen, wanted = seen[:-1], np.array(wanted[:-1]) * sum(seen[:-1]) / sum(wanted[:-1])
    return stats.chisquare(seen, np.array(wanted) * sum(seen) / sum(wanted)).pvalue > 1e-4


def greatest(law, answers):
    """The probability of each index, by quadrature."""

    def of(i):
        others = [q for j, q in enumerate(answers) if j != i]
        integrand = lambda v: law.pdf(v - answers[i]) * math.prod(law.cdf(v - q) for q in others)  # noqa: E731
        points = [float(q) for q in answers]
        return integrate.quad(integrand, -60, 90, points=points, limit=300)[0]

    return [of(i) for i in range(len(answers))]


@pytest.fixture(params=[53, 2], ids=["by floats", "by balls"])
def bits(request, monkeypatch):
    """With two bits known of each noise, most comparisons ask for more."""
    plain = comparisons.noise_of
    monkeypatch.setattr(comparisons, "noise_of", lambda noise: replace(plain(noise), bits=request.param))
    mechanisms._law.cache_clear()
    yield request.param
    mechanisms._law.cache_clear()


def many(bits):
    return SIZE if bits > 2 else FEW


# -- noises by digits ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("noise", "law"), LAWS.values(), ids=LAWS)
def test_a_known_noise_is_a_monotone_function_of_its_bits_that_has_its_law(noise, law):
    known = digits.noise_of(noise)
    assert known.exact
    for first, count in [(1, 2), (3, 3), (7, 3), (1, 60), (2**60 - 1, 60), (-2, 3), (-8, 3), (-(2**60), 60)]:
        magnitude, tail = (-1 - first, law.ppf) if first < 0 else (first, law.isf)
        with precision(200):
            ball = known.between(first, count)
        for u in (magnitude / 2**count, (magnitude + 1) / 2**count):
            assert not abs(ball - tail(u / 2)) > 1e-9 * (1 + abs(tail(u / 2)))
            inside = ball.union(arb(tail(u / 2)))
            assert inside.rad() <= ball.rad() * 1.001 + 1e-9  # an end of the interval, and not one far inside
    with precision(100):
        assert not known.between(0, 64).is_finite() and not known.between(-1, 64).is_finite()
    middle = known.draw(SIZE, np.random.default_rng(2)).middle
    assert stats.kstest(middle, law.cdf).pvalue > 1e-4


@pytest.mark.parametrize("first_bits", [4, 53])
@pytest.mark.parametrize(("noise", "law"), LAWS.values(), ids=LAWS)
def test_the_interval_in_floats_holds_the_noise_whatever_bits_come_after(noise, law, first_bits):
    known = replace(digits.noise_of(noise), bits=first_bits)
    draws, rng = known.draw(60, np.random.default_rng(3)), np.random.default_rng(4)
    for middle, radius, word in zip(draws.middle, draws.radius, draws.words, strict=True):
        with precision(200):
            ball = known.lazy(rng, word).ball(150)
        assert ball.rad() < 1e-20
        assert abs(float(ball.mid()) - middle) <= radius or math.isinf(radius)
        assert first_bits == 4 or 2.0**-44 < radius / (2 + abs(middle)) < 2.0**-20 or not radius < 1  # wider than rounding


def test_more_digits_keep_the_first_ones():
    rng = np.random.default_rng(5)
    for noise, _ in LAWS.values():
        lazy = digits.noise_of(noise).lazy(rng)
        with precision(400):
            balls = [lazy.ball(count) for count in (53, 100, 300)]
        assert balls[0].contains(balls[1]) and balls[1].contains(balls[2]) and balls[2].rad() < 1e-60
        with precision(400):
            assert lazy.ball(53).overlaps(balls[2])


def test_sums_of_draws_are_compared_and_rounded_exactly():
    noise = digits.noise_of(laplace(1))
    draws = {("z", 0): noise.lazy(np.random.default_rng(6)), ("k", 0): Fraction(3)}
    z = digits.Sum({("z", 0): Fraction(1)})
    there = digits.as_float(z, draws)
    for gap in (Fraction(1, 10**30), Fraction(0), -Fraction(1, 10**30)):
        assert digits.sign(digits.Sum({("z", 0): Fraction(-1)}, gap).plus(z), draws) == (gap > 0) - (gap < 0)  # the noise cancels
    assert digits.sign(z.plus(digits.Sum({}, Fraction(there)), Fraction(-1)), draws) in (-1, 1)
    assert digits.sign(digits.Sum({("k", 0): Fraction(1)}, Fraction(-3)), draws) == 0
    assert digits.nearest(z, draws, Fraction(1, 1024)) == round(there * 1024)
    assert digits.nearest(digits.Sum({("k", 0): Fraction(1, 2)}), draws, Fraction(1)) == 2
    odd = digits.constant_sum(parse("sqrt(2)"))
    assert digits.sign(odd.plus(digits.Sum({}, Fraction(-1414213562373, 10**12))), {}) == 1
    with pytest.raises(NoSampler, match="are they equal"):
        digits.sign(odd.plus(odd, Fraction(-1)), {})


# -- the greatest of several ----------------------------------------------------------------------------------------


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("noise", "law"), LAWS.values(), ids=LAWS)
def test_the_index_of_the_greatest_has_its_probabilities_by_quadrature(noise, law, bits):
    outputs = drawn(largest(noise, 3), ANSWERS, many(bits))
    assert outputs.dtype == np.int64
    assert fits(np.bincount(outputs, minlength=3), greatest(law, ANSWERS))


def test_the_exponential_mechanism_for_any_scores_is_drawn_by_its_probabilities():
    outputs = drawn(largest(GUMBEL, 4), [0, 1, 2, -3])
    weights = np.exp(np.array([0, 1, 2, -3]) / 2)
    assert fits(np.bincount(outputs, minlength=4), weights / weights.sum())


def test_of_equal_integers_the_first_is_the_greatest_by_enumeration():
    answers, places = [0, 1, 0], np.arange(-70, 71)
    mass = np.exp(-np.abs(places) / 2)
    mass /= mass.sum()
    law = np.zeros(3)
    below = np.array([mass[places < z].sum() for z in range(-75, 76)])
    for i, v in itertools.product(range(3), range(-40, 41)):
        term = mass[v - answers[i] + 70] if abs(v - answers[i]) <= 70 else 0
        for j in range(3):
            if j != i:
                term *= below[v - answers[j] + 75] + (mass[v - answers[j] + 70] if j > i else 0)
        law[i] += term
    outputs = drawn(largest(GEOMETRIC, 3), answers)
    assert law.sum() == pytest.approx(1, abs=1e-6) and fits(np.bincount(outputs, minlength=3), law / law.sum())
    values = drawn(largest(GEOMETRIC, 3, report="value"), answers)
    assert values.dtype == np.int64


def test_the_greatest_noisy_answer_and_its_lead_have_their_laws(bits):
    law, size = stats.laplace(scale=2), many(bits)
    values = drawn(largest(laplace(2), 2, report="value"), [0, 1], size)
    assert stats.kstest(values, lambda v: law.cdf(v) * law.cdf(v - 1)).pvalue > 1e-4
    rows = drawn(largest(EXPONENTIAL, 2, report="index+gap"), [0, 1], size)
    first = rows[rows[:, 0] == 0, 1]
    assert len(first) / size == pytest.approx(math.exp(-0.5) / 2, abs=2 / size**0.5)
    assert stats.kstest(first, stats.expon(scale=2).cdf).pvalue > 1e-4  # memoryless


def test_a_snapped_lead_is_the_rounded_lead(bits):
    plain = drawn(largest(laplace(2), 3, report="index+gap"), ANSWERS, 300)
    snapped = drawn(largest(laplace(2), 3, report="index+gap"), ANSWERS, 300, grid=grid("1/4"))
    if bits == 2:  # runs that are decided by more digits draw different ones
        assert (snapped[:, 1] * 4 % 1 == 0).all() and (snapped[:, 1] >= 0).all()
    else:
        assert np.array_equal(snapped[:, 0], plain[:, 0]) and np.array_equal(snapped[:, 1], np.rint(plain[:, 1] * 4) / 4)


# -- above a threshold -----------------------------------------------------------------------------------------------


def pattern(answers, told, rho, nu):
    """The probability that these are told first, by quadrature over the threshold's noise."""

    def integrand(t):
        terms = (nu.sf(t - q) if yes else nu.cdf(t - q) for q, yes in zip(answers, told, strict=False))
        return rho.pdf(t) * math.prod(terms)

    edges = np.unique([-90.0, -20.0, -5.0, *map(float, answers), 0.0, 5.0, 20.0, 90.0])
    low, high = edges[:-1, None], edges[1:, None]
    return float(np.sum(integrand((low + high) / 2 + (high - low) / 2 * NODES) * WEIGHTS * (high - low) / 2))


def codes_of(outputs):
    seen = {}
    for row in map(tuple, outputs.tolist()):
        seen[row] = seen.get(row, 0) + 1
    return seen


@pytest.mark.parametrize("positives", [2, None])
def test_above_threshold_tells_each_pattern_as_often_as_quadrature_says(positives, bits):
    rho, nu = stats.laplace(scale=2), stats.norm(scale=3)
    mechanism = sparse(laplace(2), gaussian(3), 3, positives, threshold=ONE)
    seen = codes_of(drawn(mechanism, [0, 2, 1], many(bits)))
    law = {}
    for told in itertools.product([0, 1], repeat=3):
        stop = next((i for i in range(3) if positives is not None and sum(told[: i + 1]) >= positives), 2)
        law[(*told[: stop + 1], *[-1] * (2 - stop))] = pattern([-1, 1, 0], told[: stop + 1], rho, nu)
    assert sum(law.values()) == pytest.approx(1) and seen.keys() <= law.keys()
    assert fits([seen.get(row, 0) for row in law], list(law.values()))


def test_a_threshold_that_is_drawn_again_is_a_new_one_after_each_positive():
    nu = stats.laplace(scale=1)
    rho = stats.laplace(scale=8)
    again = codes_of(drawn(sparse(laplace(8), laplace(1), 2, None, resample=True), [0, 0]))
    kept = codes_of(drawn(sparse(laplace(8), laplace(1), 2, None), [0, 0]))
    assert fits([again[1, 1], SIZE - again[1, 1]], [1 / 4, 3 / 4])
    once = pattern([0, 0], [1, 1], rho, nu)
    assert fits([kept[1, 1], SIZE - kept[1, 1]], [once, 1 - once])
    late = 1 / 2 - pattern([0, 0], [0, 0], rho, nu)
    assert fits([again[0, 1], SIZE - again[0, 1]], [late, 1 - late])


def test_exact_answers_and_an_exact_threshold_are_compared_without_a_tolerance():
    exact = sparse(None, None, 3, None)
    assert drawn(exact, [Fraction(-1, 10**20), 0, 1e-300], 1).tolist() == [[0, 1, 1]]
    leaky = codes_of(drawn(sparse(laplace(2), None, 2, None), [0, 1]))
    assert (1, 0) not in leaky and fits([leaky[1, 1], leaky[0, 1], leaky[0, 0]], [1 / 2, 1 / 2 - math.exp(-0.5) / 2, math.exp(-0.5) / 2])


def test_what_is_told_of_a_positive_is_its_gap_its_value_or_a_new_noisy_answer(bits):
    size = many(bits)
    lap = stats.laplace
    gap = drawn(sparse(None, laplace(2), 1, report="answers+gap"), [1], size)
    value = drawn(sparse(None, laplace(2), 1, report="answers+value", threshold=ONE), [0], size)
    fresh = drawn(sparse(None, laplace(2), 1, report="fresh", fresh=laplace(5)), [1], size)
    assert {0.0, 1.0} == set(gap[:, 0]) and not gap[gap[:, 0] == 0, 1].any()
    assert stats.kstest(gap[gap[:, 0] == 1, 1], lambda v: 1 - lap.sf(v - 1, scale=2) / lap.sf(-1, scale=2)).pvalue > 1e-4
    assert stats.kstest(value[value[:, 0] == 1, 1], lambda v: 1 - lap.sf(v, scale=2) / lap.sf(1, scale=2)).pvalue > 1e-4
    assert stats.kstest(fresh[fresh[:, 0] == 1, 1], lap(1, 5).cdf).pvalue > 1e-4
    snapped = drawn(sparse(None, laplace(2), 1, report="answers+gap"), [1], size, grid=grid("1/2"))
    assert (snapped[:, 1] * 2 % 1 == 0).all() and snapped[:, 1].any()


# -- streams -------------------------------------------------------------------------------------------------------


def guard(text, strict=False):
    return Guard(parse(text), strict)


def stream(*steps, once=(), fresh=(), state=(), limits=(), **rest):
    of = lambda model, pairs: tuple(model(name, parse(value) if model is Named else value) for name, value in pairs)  # noqa: E731
    return Stream(("q",), of(Drawn, once), of(Drawn, fresh), of(Named, state), of(Named, limits), steps, **rest)


def named(**pairs):
    return tuple(Named(name, parse(value)) for name, value in pairs.items())


def test_a_budget_in_tenths_is_used_up_exactly():
    program = stream(
        Branch((guard("q"),), "above", count=named(cost="1/10")), Branch(emit="below"), limits=(("cost", "3/10"),), queries=parse("5")
    )
    sampler = mechanisms.sampler(program)
    rng = np.random.default_rng(0)
    assert sampler([1, -1, 1, 1, 1], 2, rng).tolist() == [[0, 1, 0, 0, -1]] * 2
    assert sampler.told == ("0: above, 1: below, -1: nothing more", "exact: nothing is rounded")
    with pytest.raises(DataError, match="a list of 5 numbers"):
        sampler([1, 2], 1, rng)


def test_state_and_counters_are_in_comparisons_and_steps_that_tell_nothing_leave_no_trace():
    program = stream(
        Branch((guard("s + q - 4 + n"),), "over", (parse("s + q"),), named(s="0"), named(n="1")),
        Branch(change=named(s="s + q")),
        state=(("s", "0"),),
        limits=(("n", "2"),),
    )
    outputs = drawn(program, [1, 2, 1, 1, 1, 1, 9], 1)
    assert outputs.tolist() == [[0, 4, 0, 3, -1, 0, -1, 0, -1, 0, -1, 0, -1, 0]]
    assert drawn(program, [], 3).shape == (3, 0)


def test_a_strict_comparison_fails_where_both_sides_are_equal():
    program = stream(Branch((guard("q", True),), "more"), Branch((guard("q"),), "equal"), Branch(emit="less"))
    assert drawn(program, [1, 0, -1], 1).tolist() == [[0, 1, 2]]
    rows = [[Fraction(q)] for q in (1, 0, -1)]
    assert comparisons._program(program, None, ()).alone(rows, {}, np.random.default_rng(0)) == [0, 1, 2]


@pytest.mark.parametrize("text", ["q + s - t", "s + q - t", "a - t + q", "a - b + q"])
def test_sums_that_floats_round_are_compared_exactly(text):
    far = str(2**53)
    program = stream(
        Branch((guard(text, True),), "more"), Branch(emit="not more"), state=(("s", far), ("t", far), ("a", far), ("b", far))
    )
    assert drawn(program, [1, 0, -1], 1).tolist() == [[0, 1, 1]]


def test_numbers_beyond_both_ends_of_floats_are_compared_exactly():
    little = Fraction(1, 10**400)
    program = stream(Branch((guard("q"),), "at least"), Branch(emit="less"))
    assert drawn(program, [little, -little, 0], 1).tolist() == [[0, 1, 0]]
    for scale in ("1/10**400", "10**400"):
        outputs = drawn(largest(laplace(scale), 3), [0, 0, 0], 300)
        assert fits(np.bincount(outputs, minlength=3), [1 / 3] * 3)
    near = stream(Branch((guard("q + nu"),), "above"), Branch(emit="below"), fresh=(("nu", laplace("1/10**400")),))
    seen = codes_of(drawn(near, [0], 300))
    assert fits([seen[(0,)], seen[(1,)]], [1 / 2, 1 / 2])


def test_noise_that_is_drawn_once_is_the_same_in_each_step_and_fresh_noise_another(bits):
    keeps = stream(Branch(tell=(parse("q + rho"), parse("nu"))), once=(("rho", laplace(1)),), fresh=(("nu", laplace(1)),))
    size = many(bits)
    outputs = drawn(keeps, [0, 3], size).reshape(size, 2, 2)
    if bits > 2:
        assert np.allclose(outputs[:, 1, 0] - outputs[:, 0, 0], 3)
        assert abs(np.corrcoef(outputs[:, 0, 1], outputs[:, 1, 1])[0, 1]) < 5 / size**0.5
        assert stats.kstest(outputs[:, 1, 1], stats.laplace.cdf).pvalue > 1e-4
    range_of = stream(
        Branch((guard("q + nu - low"), guard("1 + high - q - nu", True)), "inside"),
        Branch(emit="outside", count=named(n="1")),
        once=(("low", laplace(1)), ("high", laplace(2))), fresh=(("nu", gaussian(1)),), limits=(("n", "1"),),
    )  # fmt: skip
    seen = codes_of(drawn(range_of, [0, 1], size))
    low, high, nu = stats.laplace(scale=1), stats.laplace(1, 2), stats.norm()
    first = integrate.quad(lambda v: nu.pdf(v) * low.cdf(v) * high.sf(v), -9, 9, points=[0, 1])[0]
    assert fits([seen.get((1, -1), 0), size - seen.get((1, -1), 0)], [1 - first, first])


def test_integers_are_compared_as_integers():
    program = stream(
        Branch((guard("q + nu - t"),), "above", (parse("q + nu - t"),)), Branch(emit="below"),
        once=(("rho", GEOMETRIC),), fresh=(("nu", GEOMETRIC),), state=(("t", "rho"),),
    )  # fmt: skip
    outputs = drawn(program, [0])
    assert outputs.dtype == np.int64 and mechanisms.sampler(program).told[-1] == "exact: nothing is rounded"
    places = np.arange(-80, 81)
    mass = np.exp(-np.abs(places) / 2) / np.exp(-np.abs(places) / 2).sum()
    difference = np.convolve(mass, mass)[160:200]
    gaps = outputs[outputs[:, 0] == 0, 1]
    assert gaps.min() == 0 and fits(np.bincount(gaps, minlength=40)[:40], difference / difference.sum())
    with pytest.raises(DataError, match=r"0\.5 is not an integer"):
        drawn(program, [0.5], 1)


def test_noise_of_another_density_is_compared_in_floats_and_says_so():
    sampler = mechanisms.sampler(largest(LEFT_HEAVY, 2))
    outputs = sampler([0, 0], SIZE, np.random.default_rng(1))
    assert fits(np.bincount(outputs), [1 / 2, 1 / 2])
    assert not any("exact" in line or "demand" in line for line in sampler.told)


ADAPTIVE = stream(
    Branch((guard("q + a - t - 2"),), "far", (parse("q + a - t"),), (), named(cost="1/2")),
    Branch((guard("q + b - t"), guard("3 - s", True)), "near", (), named(s="s + 1"), named(cost="1")),
    Branch(emit="below", change=named(t="t + z/7")),
    once=(("rho", laplace(2)),), fresh=(("a", gaussian(3)), ("b", EXPONENTIAL), ("z", GEOMETRIC)),
    state=(("t", "rho - 1/3"), ("s", "0")), limits=(("cost", "2"),),
)  # fmt: skip


RESAMPLED = comparisons.as_stream(sparse(laplace(2), LOGISTIC, 4, 2, resample=True))


@pytest.mark.parametrize("program", [ADAPTIVE, RESAMPLED], ids=["stream", "resampled"])
@pytest.mark.parametrize("first_bits", [5, 12, 53])
@pytest.mark.parametrize("step", [None, "1/8"])
def test_what_floats_decide_is_what_more_digits_say(program, first_bits, step, monkeypatch):
    plain = comparisons.noise_of
    monkeypatch.setattr(comparisons, "noise_of", lambda noise: replace(plain(noise), bits=first_bits))
    made = comparisons._program(program, None if step is None else grid(step), ())
    rows = [[Fraction(q)] for q in (0, "3/2", -1, "1/3")]
    runs = comparisons._Runs(made, rows, 60, np.random.default_rng(8))
    found, rng = runs.done(), np.random.default_rng(9)
    assert len(runs.open) < 60 and (runs.open if first_bits == 5 else first_bits == 12 or not runs.open)
    for run in set(range(60)) - set(runs.open):
        draws = {}
        for (name, number), (alive, words) in runs.words.items():
            if run in alive:
                draws[name, number] = made.noises[name].lazy(rng, words[list(alive).index(run)])
        assert made.alone(rows, draws, rng) == pytest.approx(found[run].tolist(), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("told", ["index", "value", "index+gap"])
@pytest.mark.parametrize(("first_bits", "least"), [(8, 60), (53, 100)])
def test_the_greatest_that_floats_decide_is_the_greatest_by_more_digits(told, first_bits, least, monkeypatch):
    noise, answers, seen = replace(digits.noise_of(laplace(2)), bits=first_bits), [Fraction(0), Fraction(1, 2), Fraction(-1)], []

    class Noted:
        def __getattr__(self, name):
            return getattr(noise, name)

        def draw(self, size, rng):
            seen.append(noise.draw(size, rng))
            return seen[-1]

    exactly, again = comparisons._greatest_exactly, set()

    def noted(answers, draws, told, snapping):
        again.add(tuple(draw.word[0] for draw in draws.values()))
        return exactly(answers, draws, told, snapping)

    monkeypatch.setattr(comparisons, "_greatest_exactly", noted)
    snapping = comparisons._Snapping(Fraction(1, 2), 2.0)
    found = comparisons._greatest(Noted(), answers, 100, np.random.default_rng(3), told, snapping, at_random=False)
    decided = [run for run in range(100) if tuple(int(z.words[run]) for z in seen) not in again]
    assert len(decided) >= least
    for run in decided:
        for more in range(3):
            rng = np.random.default_rng([run, more])
            draws = {("z", i): noise.lazy(rng, z.words[run]) for i, z in enumerate(seen)}
            assert exactly(answers, draws, told, snapping) == found[run].tolist()


# -- what is refused, and how samplers go together ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mechanism", "data", "said"),
    [
        (largest(GEOMETRIC, 2), [0, 0.5], r"0\.5 is not an integer"),
        (largest(laplace(1), 2, bounds=(parse("0"), ONE)), [0, 2], "holds 2, which is not between the bounds of the answers, 0 and 1"),
        (largest(laplace(1), 2), [0, 10**400], "beyond the range of floats"),
        (Stream(("a", "b"), (), (), (), (), (Branch(emit="x"),)), [1, 2, 3], "3 numbers, and each step reads 2"),
    ],
)
def test_data_that_are_no_answers_are_refused(mechanism, data, said):
    with pytest.raises(DataError, match=said):
        drawn(mechanism, data, 1)


@pytest.mark.parametrize(
    ("mechanism", "said"),
    [
        (largest(laplace(1), 1, report="index+gap"), "of one candidate there is no lead"),
        (largest(replace(laplace(1), dimension=parse("2")), 3), "noise that is added to one answer has the dimension 1"),
        (largest(laplace(1), "n"), "the number of candidates is no integer"),
        (sparse(laplace(1), laplace(1), 3000, report="answers+gap"), "more than 4096 numbers"),
        (stream(Branch(emit="x", count=named(n="sqrt(2)")), limits=(("n", "3"),)), "the counter n grows by, or is limited by"),
        (stream(Branch((guard("q"),), "x")), "the last branch has a condition"),
        (Compose((Part(stream(Branch(emit="x"))), Part(laplace(1)))), "reads as many answers as come"),
    ],
)
def test_what_cannot_be_drawn_is_refused_with_the_reason(mechanism, said):
    with pytest.raises(NoSampler, match=said):
        mechanisms.sampler(mechanism)


def test_selections_are_parts_as_others_are_and_a_sampler_is_pickled():
    both = Compose((Part(sparse(laplace(1), laplace(1), 2)), Part(largest(laplace(1), 2))))
    sampler = mechanisms.sampler(both)
    assert sampler.zeros == [0, 0, 0, 0]
    again = pickle.loads(pickle.dumps(sampler))
    first, second = (each([0, 50, 90, 0], 5, np.random.default_rng(1)) for each in (sampler, again))
    assert np.array_equal(first, second) and set(map(tuple, first.tolist())) <= {(0, 1, 0), (1, -1, 0), (0, 0, 0)}
    bounded = mechanisms.sampler(largest(laplace(1), 2, bounds=(parse("2"), parse("3"))))
    assert bounded.zeros == [2.0, 2.0] and bounded([2, 3], 4, np.random.default_rng(1)).shape == (4,)
