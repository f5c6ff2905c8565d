"""Selections with any noise that has a density: outputs between bounds, pairs of answers, and the greater of two (theory: selection.md)."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from flint import acb
from scipy import integrate, stats

from dpverify.search.verify import verify
from dpverify.trusted.combinators import noises
from dpverify.trusted.combinators.runs import Run, leaf
from dpverify.trusted.kernel.balls import precision
from dpverify.trusted.kernel.bounds import Bound
from dpverify.trusted.kernel.errors import STUMBLES, CertificateError, Rejected, Undecided
from dpverify.trusted.kernel.expr import ONE, ZERO, num, parse
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.judgement import check
from dpverify.trusted.kernel.model import L2, Branch, Claim, Domain, Drawn, Group, Guard, Named, Part, Product, Radial, Staircase, Stream
from dpverify.trusted.numbers.antiderivatives import Mass, Series
from dpverify.trusted.numbers.complex import compiled
from dpverify.trusted.order.enclosed import enclose
from dpverify.trusted.theories.selection import noise_laws
from dpverify.trusted.theories.selection.rules import alignment, two_candidates, worst_output
from tests.selections import CAUCHY, GEOMETRIC, LEFT_HEAVY, LOGISTIC, from_above, laplace, largest, of, on_line, sparse, upper

BOUNDS = (ZERO, ONE)
T3 = Radial(parse("(1 + r**2/3)**(-2)"), L2, ONE)
UNIFORM = on_line("1", num(-2), num(2))
MIXED = on_line("exp(-abs(z)) + exp(-abs(z)/3)")


class Mixture:
    """Of Laplace noise of scales 1 and 3 with equal heights at 0."""

    one, three = stats.laplace(), stats.laplace(scale=3)

    def pdf(self, x):
        return (self.one.pdf(x) + 3 * self.three.pdf(x)) / 4

    def cdf(self, x):
        return (self.one.cdf(x) + 3 * self.three.cdf(x)) / 4

    def sf(self, x):
        return self.cdf(-x)


KNOWN = {
    "logistic": (LOGISTIC, stats.logistic(scale=2)),
    "uniform": (UNIFORM, stats.uniform(-2, 4)),
    "Student": (T3, stats.t(3)),
    "mixture": (MIXED, Mixture()),
}


def chance(first, answers, k, y, low, high, centre=0.0):
    """The probability of an output, by quadrature of scipy."""

    def integrand(t):
        return first.pdf(t - centre) * answers.cdf(t - low) ** k * answers.sf(t - high) ** y

    parts = [
        -np.inf,
        *np.unique([centre + x for x in (-400, -40, -4, -2, 0, 2, 4, 40, 400)] + [low, high, low - 2, low + 2, high - 2, high + 2]),
        np.inf,
    ]
    with np.errstate(all="ignore"):
        return sum(integrate.quad(integrand, a, b, epsabs=1e-13, limit=200)[0] for a, b in itertools.pairwise(parts))


def both(mechanism, sensitivity=1):
    verified = verify(of(mechanism, sensitivity=sensitivity))
    judgement = check(verified.certificate)
    assert judgement.verdict == verified.judgement.verdict
    return [None if value is None else float(enclose(value).mid()) for value in (judgement.lower, judgement.upper)]


def above(mechanism, sensitivity=1):
    """The bound from above alone, as a float."""
    return float(enclose(upper(of(mechanism, sensitivity=sensitivity))).mid())


@pytest.mark.wide
@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", [*KNOWN])
def test_between_bounds_as_far_apart_as_answers_move_every_noise_has_its_worst_pair(name):
    noise, law = KNOWN[name]
    worst = math.log(chance(law, law, 2, 0, 0, 0, 1) / chance(law, law, 2, 0, 1, 0, 0))
    assert both(largest(noise, 3, bounds=BOUNDS)) == pytest.approx([worst, worst], abs=1e-7)


@pytest.mark.parametrize("name", ["uniform"])
def test_so_it_has_above_a_threshold_where_the_worst_output_may_stop_early(name):
    noise, law = KNOWN[name]
    outputs = [(2, 0), (1, 1), (0, 1)]
    worst = max(math.log(chance(law, law, k, y, 0, 1) / chance(law, law, k, y, 1, 0)) for k, y in outputs)
    assert both(sparse(noise, noise, 2, bounds=BOUNDS)) == pytest.approx([worst, worst], abs=1e-7)


def test_on_the_integers_outputs_have_the_probabilities_that_sums_give():
    mechanism = sparse(GEOMETRIC, on_line("exp(-z**2/8)", integers=True), 3, bounds=(ZERO, num(2)))
    t = np.arange(-60, 61)
    first, second = np.exp(-abs(t) / 2), np.exp(-(t**2) / 8)
    first, second = first / first.sum(), second / second.sum()

    def below(q):
        return np.array([second[t < x - q].sum() for x in t])

    def output(k, y, low, high):
        return (first * below(low) ** k * (1 - below(high)) ** y).sum()

    worst = max(math.log(output(3 - y, y, 1, 1) / output(3 - y, y, 2, 0)) for y in (0, 1))
    assert both(mechanism) == pytest.approx([worst, worst], abs=1e-9)
    grid = [(low, high) for low in range(3) for high in range(3)]
    for low, high in grid:  # no other pair loses more
        for k, y in ((3, 0), (2, 1), (1, 1), (0, 1)):
            there = output(k, y, min(low + 1, 2), max(high - 1, 0))
            assert math.log(output(k, y, low, high) / there) <= worst + 1e-12


@pytest.mark.wide
def test_the_greater_of_two_with_cauchy_noise_has_the_modulus_of_cauchy_noise_of_twice_the_scale():
    scale, value = 1, 0.35804
    law = stats.cauchy(scale=2)
    u = np.linspace(-5, 20, 250_001)
    truth = float(np.max(np.log(law.sf(u) / law.sf(u + scale))))
    assert truth == pytest.approx(value, abs=1e-5)
    lower, upper = both(largest(CAUCHY, 2, neighbours="monotone"), scale)
    assert truth - 1e-7 <= upper <= truth + 3e-5 and truth - 3e-5 <= lower <= truth + 1e-9


@pytest.mark.wide
def test_where_tails_have_a_slope_in_the_limit_the_greater_of_two_approaches_it():
    lower, upper = both(largest(MIXED, 2))
    assert 2 / 3 <= upper <= 2 / 3 + 3e-5 and 0.55 < lower < 2 / 3


@pytest.mark.wide
def test_what_two_candidates_lose_more_lose_too():
    everywhere = of(largest(MIXED, "n"), "1/3", domains=(("n", Domain(Fraction(1), None, lower_open=False, integer=True)),))
    refuted = verify(everywhere).judgement
    assert refuted.verdict == "REFUTED" and refuted.witness["at"]["n"] == "2"
    more = verify(of(largest(MIXED, 9), "1/3")).judgement.witness["pair"]
    assert "others" in more and ("all others" in more) != ("all further ones far below" in more)


# -- the law of noise -------------------------------------------------------------------------------------------------------------


def test_mass_up_to_points_is_what_the_distribution_functions_say():
    cuts = [Fraction(k, 4) for k in range(-16, 17)]
    with precision(80):
        mass = Mass(parse("1/(1 + z**2)"), (None, None), cuts)
        near = mass.next_to(Fraction(0), Fraction(1))
        for x in (Fraction(-4), Fraction(-1, 3), Fraction(0), Fraction(7, 3), Fraction(4)):
            below, above = mass.at(x)
            assert below.rad() < 1e-18 and float(below) == pytest.approx(stats.cauchy.cdf(float(x)), abs=1e-14)
            assert float(above) == pytest.approx(stats.cauchy.sf(float(x)), abs=1e-14)
        z = acb(0.5, 0.0625)
        found = near.below(z, True)
        assert found.overlaps(acb(0.5) + z.atan() / acb.pi()) and found.rad() < 1e-18
        assert near.above(z, True).overlaps(acb(0.5) - z.atan() / acb.pi())
        assert not near.below(acb(0.5, 2), True).is_finite()  # outside of the disc nothing is known
        assert all(not ball.is_finite() for ball in mass.at(Fraction(5)))
        assert mass.next_to(Fraction(3), Fraction(5)) is None and mass.next_to(Fraction(-5), Fraction(-3)) is None


def test_a_series_is_refused_where_the_density_is_not_analytic_round_the_cell():
    function = compiled(parse("1/(1 + z**2)"), "z")
    with precision(64):
        with pytest.raises(Undecided, match="split the cell"):
            Series(function, Fraction(-1), Fraction(1))
        assert Series(function, Fraction(-1, 8), Fraction(1, 8)).most >= 1


def test_noise_with_ends_has_no_mass_beyond_them():
    with precision(64):
        mass = Mass(parse("1"), (Fraction(-2), Fraction(2)), [Fraction(x) for x in (-4, -2, 2, 4)])
        assert [[float(x) for x in mass.at(Fraction(point))] for point in (-3, 0, 3)] == [[0, 1], [0.5, 0.5], [1, 0]]
        assert mass.next_to(Fraction(-3), Fraction(-1)) is None  # a kink between
        assert float(mass.next_to(Fraction(2), Fraction(3)).below(acb(5), True).real) == 1
        assert float(mass.next_to(Fraction(-1), Fraction(1)).density(acb(0), True).real) == 0.25
        with pytest.raises(Undecided, match="cut there"):
            Mass(parse("1"), (Fraction(-2), Fraction(2)), [Fraction(-3), Fraction(3)])


def test_probabilities_on_the_integers_are_known_between_the_cuts_alone():
    with precision(64):
        law = noise_laws.law(GEOMETRIC, [Fraction(-9), Fraction(9)])
        total = sum(math.exp(-abs(n) / 2) for n in range(-99, 100))
        assert float(law.chance(2)) == pytest.approx(math.exp(-1) / total)
        assert float(law.at(Fraction(1))[0]) == pytest.approx(sum(math.exp(n / 2) for n in range(-99, 1)) / total)
        assert float(law.at(Fraction(1))[1]) == pytest.approx(sum(math.exp(-n / 2) for n in range(1, 99)) / total)
        assert float(law.at(Fraction(10))[1]) == pytest.approx(sum(math.exp(-n / 2) for n in range(10, 99)) / total)
        for known in (law.chance(10), law.chance(-10), law.at(Fraction(1, 2))[0]):
            assert not known.is_finite()
        beyond = sum(math.exp(-n / 2) for n in range(10, 99)) / total
        for far, least in ((law.at(Fraction(12))[1], 0.0), (law.at(Fraction(12))[0], 1 - beyond), (law.at(Fraction(-11))[0], 0.0)):
            assert [float(far.lower()), float(far.upper() - far.lower())] == pytest.approx([least, beyond], abs=1e-6)
        one_sided = noise_laws.law(on_line("exp(-z/2)", num(-1), num(3), integers=True), [Fraction(-5), Fraction(5)])
        assert [float(x) for x in one_sided.at(Fraction(-1))] == [0, 1] and [float(x) for x in one_sided.at(Fraction(4))] == [1, 0]
        assert one_sided.chance(-2) == 0 and one_sided.chance(4) == 0


# -- guards ------------------------------------------------------------------------------------------------------------------------

NEAR = {"value": "9", "cuts": ["-99", "0", "1", "99"]}
GRID = [str(Fraction(k, 8)) for k in range(-4, 5)]
FEW = {"grids": {"noise": GRID}}
SHOWN = {**NEAR, "side": "lower", "value": "1/10", "positives": 1, "move": 0}
TWO = {"value": "1", "cuts": ["-8", "0", "8", "64"], "grid": [], "places": ["-1", "1"], "kinks": []}


@pytest.mark.parametrize(
    ("mechanism", "evidence", "why"),
    [
        (largest(CAUCHY, 3, bounds=BOUNDS), NEAR, "wants cuts of its own"),
        (largest(CAUCHY, 3, bounds=BOUNDS), {**NEAR, "grids": {"noise": ["0"]}}, "'grids' is no list"),
        (largest(CAUCHY, 3, bounds=BOUNDS), {**NEAR, "grids": {"noise": ["1", "0"]}}, "'grids' do not rise"),
        (largest(CAUCHY, 3, bounds=BOUNDS), {**NEAR, "grids": {"fresh": GRID}}, "cuts of its own"),
        (largest(CAUCHY, 3, bounds=BOUNDS), {**NEAR, "grids": [GRID]}, "cuts of its own"),
        (largest(CAUCHY, 3, bounds=BOUNDS), {**NEAR, **FEW}, "is not known there"),
        (largest(CAUCHY, 3, bounds=(ZERO, num(2))), {**NEAR, **FEW}, "not certainly log-concave"),
        (largest(CAUCHY, 3, bounds=BOUNDS, neighbours="monotone"), {**NEAR, **FEW}, "not certainly log-concave"),
        (largest(CAUCHY, 3, bounds=BOUNDS, neighbours="one"), {**NEAR, **FEW}, "not certainly log-concave"),
        (sparse(CAUCHY, laplace(2), 3, bounds=(ZERO, num(2))), {**NEAR, "grids": {"threshold_noise": GRID}}, "not certainly log-concave"),
        (sparse(laplace(2), CAUCHY, 3, bounds=(ZERO, num(2))), {**NEAR, "grids": {"query_noise": GRID}}, "not certainly log-concave"),
        (
            largest(Product(parse("1/(1 + z**2)"), num(2)), 3, bounds=BOUNDS),
            {**NEAR, **FEW},
            "noise on the line that is given by its density",
        ),
        (largest(on_line("1/(s + z**2)"), 3, bounds=BOUNDS), {**NEAR, **FEW}, "noise on the line that is given by its density"),
        (sparse(GEOMETRIC, laplace(2), 3, bounds=BOUNDS), {**NEAR, "grids": {"threshold_noise": ["-9", "9"]}}, "one is on the integers"),
        (
            sparse(GEOMETRIC, GEOMETRIC, 3, bounds=BOUNDS),
            {**NEAR, "grids": {"threshold_noise": ["-1/2", "9"], "query_noise": ["-9", "9"]}},
            "integers",
        ),
        (
            sparse(GEOMETRIC, GEOMETRIC, 3, bounds=BOUNDS),
            {**NEAR, "grids": {"threshold_noise": ["0", "30000"], "query_noise": ["0", "9"]}},
            "apart",
        ),
        (sparse(laplace(2), laplace(2), 3, bounds=BOUNDS), {**SHOWN, "negatives": 3}, "so many are asked for"),
        (sparse(laplace(2), laplace(2), 3, bounds=BOUNDS), {**SHOWN, "positives": 0, "negatives": 2}, "so many are asked for"),
        (sparse(laplace(2), laplace(2), 3, 2), {**SHOWN, "negatives": 2, "positives": 2, "answers": ["0", "1"]}, "so many are asked for"),
        (sparse(laplace(2), laplace(2), 3, 1), {**SHOWN, "negatives": 1, "positives": 2, "answers": ["0", "1"]}, "so many are asked for"),
        (sparse(laplace(2), laplace(2), 3), {**SHOWN, "negatives": 1.0}, "not a whole number"),
        (sparse(laplace(2), laplace(2), 3), {**SHOWN, "negatives": -1}, "not a whole number"),
        (largest(laplace(2), 3, bounds=BOUNDS), {**SHOWN, "positives": 0, "negatives": 1}, "so many are asked for"),
        (largest(laplace(2), 3), {**SHOWN, "positives": 1, "negatives": 1, "answers": ["0", "1"]}, "so many are asked for"),
        (largest(laplace(2), 3), {**SHOWN, "positives": 0, "negatives": 3, "answers": ["0", "1"]}, "so many are asked for"),
        (
            largest(laplace(2), 3, neighbours="one"),
            {**SHOWN, "positives": 0, "negatives": 2, "answers": ["0", "0"]},
            "more than one answer",
        ),
        (
            sparse(laplace(2), laplace(2), 3, 2, neighbours="one"),
            {**SHOWN, "positives": 2, "negatives": 1, "move": 1, "answers": ["0", "1"]},
            "more than one",
        ),
        (largest(laplace(2), 3, bounds=(ZERO, num(2))), {**SHOWN, "positives": 0, "answers": ["3/2", "1"]}, "not between the bounds"),
        (largest(laplace(2), 3, bounds=(ZERO, num(2))), {**SHOWN, "positives": 0, "answers": ["1", "1/2"]}, "not between the bounds"),
        (largest(laplace(2), 3, bounds=(ZERO, num(2))), {**SHOWN, "positives": 0, "answers": ["1", "5/2"]}, "not between the bounds"),
        (largest(laplace(2), 3, bounds=(ZERO, num(2))), {**SHOWN, "positives": 0, "answers": ["-1/2", "1"]}, "not between the bounds"),
    ],
    ids=str,
)
def test_a_broken_hypothesis_about_outputs_is_refused(mechanism, evidence, why):
    domains = (("s", Domain(Fraction(1), None, lower_open=False, integer=True)),)
    with pytest.raises((Rejected, CertificateError), match=why):
        worst_output.check(of(mechanism, 9, domains=domains), evidence)


@pytest.mark.sampled(11)
@pytest.mark.parametrize(
    ("mechanism", "more", "why"),
    [
        (largest(CAUCHY, 3), {}, "more than two"),
        (largest(CAUCHY, 2, report="value"), {}, "index alone"),
        (largest(on_line("exp(-abs(abs(z) - 1))"), 2), {}, "unimodal|not rise|rises|monotone"),
        (largest(LEFT_HEAVY, 2), {}, "not certainly even"),
        (largest(CAUCHY, 2), {"cuts": ["0", "1", "2", "64"]}, "from half the last one on"),
        (largest(CAUCHY, 2), {"cuts": ["-8", "0", "8"]}, "'cuts' is no list"),
        (largest(CAUCHY, 2), {"cuts": ["-8", "8", "0", "64"]}, "'cuts' do not rise"),
        (largest(CAUCHY, 2), {"value": "1/100"}, "from half the last one on"),
        (largest(CAUCHY, 2), {"value": "1/10"}, "from half the last one on"),  # |h'| is 2 z/(1 + z**2): 1/16 at 32, 1/32 at 64
        (
            largest(laplace(4), 2, neighbours="one"),  # -log S is log 2 at 0, and 0.58 at -1
            {"value": "3/5", "places": ["-200", "0", "200"], "kinks": ["0"], "cuts": ["-1", "0", "8", "64"]},
            "first cut",
        ),
        (largest(CAUCHY, 2), {"grid": GRID, "places": ["0"]}, "'places' is no list"),
        (largest(CAUCHY, 2), {"grid": GRID, "kinks": "0"}, "'kinks' is no list"),
        (largest(CAUCHY, 2), {}, "wants cuts of its own"),
        (largest(LOGISTIC, 2), {"grid": ["-1", "0", "1"]}, "is not known there"),
        pytest.param(
            largest(laplace(1), 2),
            {"value": "2", "places": ["-40", "0", "40"], "kinks": ["0"], "cuts": ["-8", "0", "8", "64"]},
            "first cut|ratio is not",
            marks=pytest.mark.wide,  # seven seconds, and the next is refused for the same
        ),
        (
            largest(laplace(1), 2),
            {"value": "2", "places": ["-40", "0", "40"], "kinks": ["0"], "cuts": ["-2", "0", "8", "32"]},
            "first cut|ratio is not",
        ),
    ],
    ids=str,
)
def test_a_broken_hypothesis_about_two_candidates_is_refused(mechanism, more, why):
    with pytest.raises((Rejected, CertificateError, Undecided), match=why):
        two_candidates.check(of(mechanism, 9), {**TWO, **more})


class Held:
    """The difference of two Laplace noises of scale 1, in closed form."""

    def at(self, u):
        from flint import arb

        x = arb(u.numerator) / u.denominator
        return 1 - self.at(-u) if u < 0 else (1 + x / 2) * (-x).exp() / 2


def test_between_two_cuts_the_ratio_is_bounded_by_lines_on_the_right_sides():
    cuts = [Fraction(k, 4) for k in range(-16, 17)]
    law = Held()
    for shift in (Fraction(1, 2), Fraction(1), Fraction(3, 8)):
        for i in range(len(cuts) - 1):
            bound = two_candidates.most(law, cuts, i, shift)
            seen = [float((law.at(u) / law.at(u + shift)).log()) for u in (cuts[i] + Fraction(j, 64) for j in range(17))]
            assert max(seen) <= float(bound.upper()) + 1e-12
            assert float(bound.upper()) <= max(seen) + 0.1


# -- streams ------------------------------------------------------------------------------------------------------------------------


def stream(rho, nu, neighbours="all", tell=(), hull=()):
    above = Branch((Guard(parse("q + nu - t")),), "above", tuple(map(parse, tell)), (), (Named("found", ONE),))
    drawn = (Drawn("rho", rho),), (Drawn("nu", nu),)
    state, limits = (Named("t", parse("rho")),), (Named("found", ONE),)
    return Stream(("q",), *drawn, state, limits, (above, Branch((), "below")), neighbours=neighbours, hull=hull)


def asinh_twice(x):
    return 2 * math.asinh(x / 2)


@pytest.mark.parametrize(
    ("mechanism", "value"),
    [
        (stream(CAUCHY, CAUCHY), asinh_twice(1) + asinh_twice(2)),
        (stream(laplace(2), CAUCHY), 0.5 + asinh_twice(2)),
        (stream(CAUCHY, laplace(2)), asinh_twice(1) + 1),
        (stream(CAUCHY, CAUCHY, "increasing"), 2 * asinh_twice(1)),
        (stream(CAUCHY, CAUCHY, "decreasing", ["q + nu - t"]), asinh_twice(1)),
        (stream(CAUCHY, CAUCHY, "monotone", ["q + nu - t"]), 2 * asinh_twice(1)),
    ],
)
def test_shifts_of_noise_with_heavy_tails_cost_what_it_loses_by_itself(mechanism, value):
    assert above(mechanism) == pytest.approx(value, abs=1e-12)


@pytest.mark.wide
@pytest.mark.sampled(2)
@pytest.mark.parametrize(("sensitivity", "hull", "furthest"), [("3/2", 2, 3), ("1/2", 2, 1), ("1/2", 4, 2), (2, 1, 2), ("7/4", 1, 1)])
def test_integers_in_a_hull_move_noise_with_heavy_tails_as_far_as_they_differ(sensitivity, hull, furthest):
    # the noise 1/(1 + z^2) on the integers, told: the greatest ratio of neighbours that are so far apart
    rows = (Fraction(0),), (Fraction(hull),)
    drawn, only = Drawn("nu", on_line("1/(1 + z**2)", integers=True)), Branch((), "", (parse("q + nu"),))
    told = Stream(("q",), (), (drawn,), (), (), (only,), ONE, "hull", rows)
    most = max(math.log((1 + (z + furthest) ** 2) / (1 + z**2)) for z in range(-50, 50))
    assert above(told, sensitivity) >= most - 1e-12


@pytest.mark.wide
def test_noise_with_heavy_tails_is_moved_by_whole_steps_of_integers():
    # twice the integer part of 7/4 is 2, and not the 3 of twice 7/4
    whole = stream(*[on_line("1/(1 + z**2)", integers=True)] * 2)
    assert above(whole, "7/4") == pytest.approx(above(whole), abs=1e-12)


def two_thresholds(ends, nu):
    high = Branch((Guard(parse("q + nu - a")),), "high", (), (), (Named("found", ONE),))
    low = Branch((Guard(parse("b - q - xi")),), "low", (), (), (Named("found", ONE),))
    drawn = (Drawn("up", ends), Drawn("down", ends)), (Drawn("nu", nu), Drawn("xi", nu))
    state = Named("a", parse("up")), Named("b", parse("down"))
    return Stream(("q",), *drawn, state, (Named("found", ONE),), (high, low, Branch((), "mid")), neighbours="monotone")


def judged_as_group(mechanism, sensitivity):
    return verify(Claim(Group(Part(mechanism, parse(sensitivity)), num(2)), None)).judgement


def test_two_steps_one_way_and_back_lose_no_more_than_is_proved():
    # ten answers at 5, as many at -19/4, which are between the thresholds, and 0 above the upper one; the first go up and the others down
    step = 1 / 64
    t = np.arange(-20, 40, step) + step / 2
    density = np.exp(-2 * np.floor(np.abs(t) + 0.5))

    def chance(up, down, last):
        below = stats.laplace(scale=0.25).cdf
        upper = density * below(t - up) ** 10 * below(t + down) ** 10 * below(last - t)
        return upper.sum() * (density * below(t + up) ** 10 * below(t - down) ** 10).sum()

    lost = math.log(chance(5, 4.75, 0) / chance(5.5, 5.25, -0.5))
    assert lost > 6.5
    stairs = Staircase(num(2), parse("1/2"))
    single = above(two_thresholds(stairs, laplace("1/4")), "1/2")
    assert lost <= float(enclose(judged_as_group(two_thresholds(stairs, laplace("1/4")), "1/2").upper).mid()) <= 2 * single


@pytest.mark.parametrize(
    "noise",
    [
        laplace(2),
        GEOMETRIC,
        on_line("exp(-z)", ZERO),
        on_line("exp(z)", None, ONE),
        on_line("exp(z**3)", None, ZERO),
        on_line("1", ZERO, ONE),
        on_line("exp(-z - exp(-z))"),
        Product(parse("exp(-abs(z))"), ONE),
    ],
)
def test_log_concave_noises_lose_in_proportion_over_several_steps(noise):
    run = Run(Part(stream(noise, laplace(2), "monotone"), ONE), factor=num(3))
    assert leaf(run) == Claim(run.part.mechanism, None, sensitivity=num(3))


@pytest.mark.parametrize(
    "noise",
    [
        *(CAUCHY, T3, MIXED, on_line("1/(1 + z)**2", ZERO), on_line("1/(1 + z)", ZERO, ONE), on_line("1/(2 - z)**2", None, ONE)),
        *(Staircase(ONE, parse("1/2")), on_line("exp(-max(z, 0))/(1 + min(z, 0)**2)")),
    ],
)
def test_other_noises_of_answers_that_move_together_are_not_followed_over_several_steps(noise):
    for mechanism in (stream(noise, laplace(2), "monotone"), stream(laplace(2), noise, "hull", hull=((Fraction(1),),))):
        with pytest.raises(Undecided, match="one way and back"):
            leaf(Run(Part(mechanism, ONE), factor=num(2)))
    assert leaf(Run(Part(stream(noise, noise, "all"), ONE), factor=num(2))).sensitivity == num(2)


def premise_of(question, epsilon):
    return Fact("power-identity", question, (Bound("upper", epsilon),), (), (), {}, (), 128)


def test_no_shift_has_a_cost_that_no_premise_states():
    claim = of(stream(laplace(2), CAUCHY))
    use = from_above(claim).parameters
    question = noises.question(claim, "nu", "2")
    epsilon = parse("2*asinh(1)")
    premise = premise_of(question, epsilon)
    assert float(enclose(alignment.infer(claim, use, [premise]).value).mid()) == pytest.approx(0.5 + asinh_twice(2))
    smaller = premise_of(noises.question(claim, "nu", "1"), epsilon)
    for forged, premises, why in (
        (use, [], "zip|unpack|premises"),
        ({**use, "moduli": "nu"}, [premise], "zip|unpack|premises"),
        (use, [smaller], "premise"),
        ({**use, "moduli": [["nu", "1"]]}, [smaller], "no premise says what that costs"),
        ({**use, "moduli": [["rho", "2"]]}, [premise], "premise"),
        ({**use, "moduli": [["t", "2"]]}, [premise], "none in this mechanism"),
        ({**use, "moduli": [["nu", "-2"]]}, [premise], "none in this mechanism"),
        ({**use, "moduli": [["nu", 2.0]]}, [premise], "none in this mechanism"),
        ({**use, "moduli": []}, [], "not certainly log-concave"),
    ):
        with pytest.raises((Rejected, CertificateError, *STUMBLES), match=why):
            alignment.infer(claim, forged, premises)
    still = of(stream(laplace(2), CAUCHY), sensitivity=0)
    with pytest.raises(Rejected, match="not certainly positive"):
        alignment.infer(still, use, [premise_of(noises.question(still, "nu", "2"), epsilon)])


@pytest.mark.parametrize(
    ("mechanism", "why"),
    [
        (largest(on_line("exp(-z**2)"), "n"), "state bounds of the answers, or claim an epsilon at a delta above 0"),
        (sparse(on_line("exp(-z**2)"), on_line("exp(-z**2)"), "n"), "state bounds of the answers, or claim an epsilon at a delta above 0"),
    ],
    ids=["noisy max", "above threshold"],
)
def test_an_open_question_says_what_would_help(mechanism, why):
    verified = verify(of(mechanism, domains=(("n", Domain(Fraction(1), None, lower_open=False, integer=True)),)))
    assert verified.judgement.verdict == "UNKNOWN" and any(why in reason for reason in verified.reasons)


def test_the_index_of_one_answer_tells_nothing_whatever_the_noise():
    assert verify(of(largest(CAUCHY, 1), "0")).judgement.verdict == "PROVED"
    assert verify(of(largest(CAUCHY, 1, report="value"), "1/100")).judgement.verdict != "PROVED"
