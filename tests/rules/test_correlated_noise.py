"""Correlated noise (theory#correlated-gaussians), held against enumeration of patterns and signs, and closed forms of Gaussian noise."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import optimize, stats

from dpverify import read_spec
from dpverify.errors import NoSampler, SpecError
from dpverify.samplers.mechanisms import sampler
from dpverify.search.certificates import pack
from dpverify.search.verify import verify
from dpverify.trusted.combinators.exchanged import either_order
from dpverify.trusted.combinators.runs import Run, leaf
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.canonical_form import from_json, to_json
from dpverify.trusted.kernel.certificate import Line
from dpverify.trusted.kernel.errors import CertificateError, Rejected, Undecided
from dpverify.trusted.kernel.expr import num, parse
from dpverify.trusted.kernel.judgement import check, infer
from dpverify.trusted.kernel.model import (
    L1,
    L2,
    Claim,
    Compose,
    CorrelatedNoise,
    Group,
    Lipschitz,
    Measure,
    Part,
    PostProcess,
    Radial,
    Repeat,
    Subsample,
)
from dpverify.trusted.kernel.proof import Proof
from dpverify.trusted.kernel.well_formed import require_well_formed
from dpverify.trusted.sensitivity.participation import squares
from dpverify.trusted.theories.curves.rules import correlated_gaussians
from dpverify.trusted.theories.divergences.rules import sampled_measures

GAUSSIAN = Radial(parse("exp(-r**2/2)"), L2, parse("1"), parse("3"))
LAPLACE = Radial(parse("exp(-r)"), L1, parse("1"), parse("3"))


def of(strategy, steps=None, times=1, separation=1, order="any", sigma="4", rate=None, coefficients=()):
    rows = () if isinstance(strategy, str) else tuple(tuple(map(Fraction, map(str, row))) for row in strategy)
    return CorrelatedNoise(
        parse(sigma),
        "matrix" if rows else strategy,
        num(len(rows[0]) if rows else steps),
        rows,
        tuple(map(Fraction, map(str, coefficients))),
        num(times),
        num(separation),
        order,
        None if rate is None else parse(rate),
    )


def claimed(mechanism, epsilon=None, delta="1/100000", moved="1", **more):
    asked = None if epsilon is None else parse(epsilon)
    return Claim(mechanism, asked, None if delta is None else parse(delta), sensitivity=None if moved is None else parse(moved), **more)


def between(judgement):
    return tuple(None if end is None else float(constant(end)) for end in (judgement.lower, judgement.upper))


# -- by enumeration -----------------------------------------------------------------------------------------------


def dense(noise):
    """C as an array, from its definition."""
    n = int(noise.steps.value)
    if noise.strategy == "matrix":
        return np.array([[float(x) for x in row] for row in noise.matrix])
    if noise.strategy == "binary_tree":
        ends = [(m << level, (m + 1) << level) for level in range(n) for m in range(n) if (m + 1) << level <= n]
        return np.array([[1.0 if low <= i < high else 0.0 for i in range(n)] for low, high in ends])
    column = [1.0] * n if noise.strategy == "prefix_sums" else [float(x) for x in noise.coefficients]
    return np.array([[column[i - j] if 0 <= i - j < len(column) else 0.0 for j in range(n)] for i in range(n)])


def patterns(n, times, separation, order):
    for size in range(times + 1):
        for steps in itertools.combinations(range(n), size):
            gaps = {b - a for a, b in itertools.pairwise(steps)}
            if all(gap == separation if order == "fixed" else gap >= separation for gap in gaps):
                yield list(steps)


def by_enumeration(noise):
    """The greatest square over patterns and signs, and the greatest sum of |G_ij|."""
    gram = dense(noise).T @ dense(noise)
    signed, sizes = 0.0, 0.0
    for steps in patterns(len(gram), int(noise.times.value), int(noise.separation.value), noise.order):
        inner = gram[np.ix_(steps, steps)]
        sizes = max(sizes, float(np.abs(inner).sum()))
        for signs in itertools.product([1, -1], repeat=len(steps)):
            signed = max(signed, float(np.array(signs) @ inner @ np.array(signs)) if steps else 0.0)
    return signed, sizes


def drawn(rng):
    """Strategies of every sort, small enough to look at all patterns."""
    n, times, separation = int(rng.integers(1, 9)), int(rng.integers(1, 5)), int(rng.integers(1, 5))
    order = str(rng.choice(["any", "fixed"]))
    column = rng.integers(-4, 5, size=rng.integers(1, n + 1)).tolist()
    sort = int(rng.integers(6))
    if sort == 0:
        return of("prefix_sums", n, times, separation, order)
    if sort == 1:
        return of("binary_tree", n, times, separation, order)
    if sort == 2:
        return of("toeplitz", n, times, separation, order, coefficients=sorted(map(abs, column), reverse=True))
    if sort == 3:
        return of("toeplitz", n, times, separation, order, coefficients=column)
    rows = rng.integers(-3, 4, size=(int(rng.integers(1, 7)), n))
    return of((np.abs(rows) if sort == 4 else rows).tolist(), None, times, separation, order)


def test_squares_enclose_those_of_all_patterns_and_signs():
    rng, exact = np.random.default_rng(7), 0
    for _ in range(250):
        noise = drawn(rng)
        signed, sizes = by_enumeration(noise)
        most, least = (float(x) for x in squares(noise))
        assert least <= signed + 1e-9, noise
        assert signed <= most + 1e-9 and (noise.strategy == "toeplitz" or sizes <= most + 1e-9), noise
        exact += most == least
    assert exact > 200


def falling(noise):
    column = [Fraction(1)] if noise.strategy == "prefix_sums" else list(noise.coefficients)
    return min(column) >= 0 and column == sorted(column, reverse=True)


def test_the_square_is_exact_where_theory_says_so():
    rng, seen = np.random.default_rng(8), set()
    for _ in range(250):
        noise = drawn(rng)
        toeplitz, times, separation = noise.strategy in ("toeplitz", "prefix_sums"), int(noise.times.value), int(noise.separation.value)
        apart = toeplitz and noise.strategy == "toeplitz" and separation >= len(noise.coefficients)
        gram = dense(noise).T @ dense(noise)
        whole = noise.strategy == "binary_tree" and (noise.order == "fixed" or times == 1)
        small = noise.strategy == "matrix" and (gram >= 0).all()
        if apart or (toeplitz and falling(noise)) or whole or small:
            most, least = squares(noise)
            assert most == least == pytest.approx(by_enumeration(noise)[0], rel=1e-12), noise
            seen.add((noise.strategy, noise.order, bool(apart)))
    assert len(seen) >= 8


def test_more_patterns_than_are_looked_at_one_by_one_are_bounded_by_the_heaviest():
    rows = [[1 if j <= i else 0 for j in range(40)] for i in range(40)]
    most, least = squares(of(rows, None, 5, 3))
    assert most == least == squares(of("prefix_sums", 40, 5, 3))[0]  # the same matrix, by its name
    band = [[Fraction(1, 1 + i - j) if 0 <= i - j < 4 else 0 for j in range(60)] for i in range(60)]
    most, least = squares(of(band, None, 9, 4))
    assert most == least == squares(of("toeplitz", 60, 9, 4, coefficients=["1", "1/2", "1/3", "1/4"]))[0]
    most, least = squares(of("prefix_sums", 40, 5, 3))
    turned = [[(-1) ** j if j <= i else 0 for j in range(40)] for i in range(40)]  # every second column
    assert squares(of(turned, None, 5, 3)) == (most, least)
    rows = np.random.default_rng(9).integers(-3, 4, size=(30, 30))
    most, least = squares(of(rows.tolist(), None, 6, 2))
    gram = rows.T @ rows
    some = np.random.default_rng(10)
    for _ in range(300):
        steps = np.sort(some.choice(25, size=6, replace=False)) + np.arange(6)
        signs = some.choice([1, -1], size=6)
        assert float(signs @ gram[np.ix_(steps, steps)] @ signs) <= most
    assert 0 < least <= most <= 2 * least


@pytest.mark.parametrize("separation", [1, 2, 4, 8])
def test_trees_are_exact_where_both_are_powers_of_two(separation):
    for times in range(1, 16 // separation + 1):
        noise = of("binary_tree", 16, times, separation)
        most, least = squares(noise)
        assert most == least
        if times <= 4:
            assert most == by_enumeration(noise)[0]


def test_a_tree_has_only_intervals_that_end_within_the_steps():
    assert squares(of("binary_tree", 6, 6)) == (34, 34)  # six of 1, three of 2, one of 4
    assert squares(of("binary_tree", 7, 1)) == (3, 3)
    assert squares(of("binary_tree", 7, 2, 4)) == (5, 5)  # two of 1, two of 2, one of 4: the other step is in no interval of 4


def test_vectors_of_the_plane_are_worse_than_signs_and_within_the_bound():
    rows = [["1", "-1/2", "-1/2"], ["-1/2", "1", "-1/2"], ["-1/2", "-1/2", "1"]]  # a projection by 3/2: its square is itself by 3/2
    most, least = (float(x) for x in squares(of(rows, None, 3)))
    gram = dense(of(rows)).T @ dense(of(rows))
    corners = np.array([[math.cos(2 * math.pi * i / 3), math.sin(2 * math.pi * i / 3)] for i in range(3)])
    plane = float(np.trace(corners.T @ gram @ corners))
    assert least == pytest.approx(6) and plane == pytest.approx(6.75) and most == pytest.approx(9)
    assert least < plane < most


# -- the curve ----------------------------------------------------------------------------------------------------


def gaussian_delta(mu, epsilon):
    return stats.norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * stats.norm.cdf(-mu / 2 - epsilon / mu)


def gaussian_epsilon(mu, delta):
    return optimize.brentq(lambda epsilon: gaussian_delta(mu, epsilon) - delta, 0, 200, xtol=1e-13)


BANDED = of("toeplitz", 8, 2, 4, coefficients=["1", "1/2", "3/8", "5/16"])
MU = math.sqrt(2 * (1 + 1 / 4 + 9 / 64 + 25 / 256)) / 4


def test_the_curve_is_that_of_gaussian_noise():
    low, high = between(verify(claimed(BANDED)).judgement)
    assert low == pytest.approx(gaussian_epsilon(MU, 1e-5), rel=1e-9) and high == pytest.approx(low, rel=1e-9)
    low, high = between(verify(claimed(BANDED, moved="5/2")).judgement)
    assert low == pytest.approx(gaussian_epsilon(MU * 2.5, 1e-5), rel=1e-9) and high == pytest.approx(low, rel=1e-9)


def test_claims_beside_the_boundary_are_told_apart():
    at = Fraction(gaussian_epsilon(MU, 1e-5)).limit_denominator(10**9)
    for factor, verdict in ((Fraction(1000001, 1000000), "PROVED"), (Fraction(999999, 1000000), "REFUTED")):
        assert verify(claimed(BANDED, str(at * factor))).judgement.verdict == verdict
    assert verify(claimed(BANDED, "5", "0")).judgement.verdict == "REFUTED"  # no epsilon holds alone
    assert verify(claimed(BANDED, "5", "0", order="one-sided")).judgement.verdict == "REFUTED"


@pytest.mark.parametrize("order", ["", "one-sided", "reverse"])
def test_both_orders_lose_as_much(order):
    low, high = between(verify(claimed(BANDED, order=order)).judgement)
    assert low == pytest.approx(gaussian_epsilon(MU, 1e-5), rel=1e-9) and high == pytest.approx(low, rel=1e-9)


@pytest.mark.parametrize(
    ("measure", "value"),
    [(Measure("gdp", None), MU), (Measure("zcdp", None), MU**2 / 2), (Measure("renyi", None, Fraction(5)), 5 * MU**2 / 2)],
)
def test_other_measures_are_those_of_gaussian_noise(measure, value):
    low, high = between(verify(claimed(BANDED, delta="0", measure=measure)).judgement)
    assert low == pytest.approx(value, rel=1e-12) and high == pytest.approx(value, rel=1e-12)


def test_what_is_enclosed_is_said_to_be():
    noise = of("toeplitz", 6, 3, coefficients=["1", "-1/2", "1"])
    signed, _ = by_enumeration(noise)
    low, high = between(verify(claimed(noise)).judgement)
    assert low < high and low <= gaussian_epsilon(math.sqrt(signed) / 4, 1e-5) <= high
    found = verify(claimed(noise, "1", None)).judgement
    truth = gaussian_delta(math.sqrt(signed) / 4, 1)
    assert float(constant(found.delta_lower)) <= truth * (1 + 1e-9) and truth < 0.9 * float(constant(found.delta_upper))
    assert verify(claimed(noise, str((low + high) / 2)[:8])).judgement.verdict == "UNKNOWN"
    mu = between(verify(claimed(noise, delta="0", measure=Measure("gdp", None))).judgement)
    assert mu[0] < mu[1]


# -- in compositions ----------------------------------------------------------------------------------------------


def test_compositions_with_gaussian_noise_are_exact():
    mu = math.hypot(MU, MU, 1 / 3)
    both = Compose((Part(Repeat(Part(BANDED, num(1)), num(2))), Part(GAUSSIAN, num(1))))
    low, high = between(verify(claimed(both, moved=None)).judgement)
    assert low == pytest.approx(gaussian_epsilon(mu, 1e-5), rel=1e-9) and high == pytest.approx(low, rel=1e-9)


def test_compositions_with_laplace_noise_lie_between_those_of_gaussian_ones():
    both = Compose((Part(BANDED, num(1)), Part(LAPLACE, num(1))))
    low, high = between(verify(claimed(both, moved=None)).judgement)
    alone = gaussian_epsilon(MU, 1e-5)
    assert alone < low <= high <= alone + 1 / 3 + 1e-9 and high - low < 1e-3


def test_groups_and_maps_take_users_further():
    low, high = between(verify(claimed(Group(Part(BANDED, num(1)), num(3)), moved=None)).judgement)
    assert low == pytest.approx(gaussian_epsilon(3 * MU, 1e-5), rel=1e-9) and high == pytest.approx(low, rel=1e-9)
    low, high = between(verify(claimed(Lipschitz(Part(BANDED, num(1)), parse("3/2")), moved=None)).judgement)
    assert low is None and high == pytest.approx(gaussian_epsilon(1.5 * MU, 1e-5), rel=1e-9)
    twice = Lipschitz(Part(Lipschitz(Part(BANDED, num(1)), parse("3/2"))), parse("4/3"))  # users stay one apart behind each of the maps
    low, high = between(verify(claimed(twice, moved=None)).judgement)
    assert low is None and high == pytest.approx(gaussian_epsilon(2 * MU, 1e-5), rel=1e-9)
    low, high = between(verify(claimed(PostProcess(Part(BANDED, num(1)), "sums"), moved=None)).judgement)
    assert low is None and high == pytest.approx(gaussian_epsilon(MU, 1e-5), rel=1e-9)


def test_users_are_added_or_removed():
    both = Compose((Part(BANDED, num(1)), Part(Subsample(Part(GAUSSIAN, num(1)), parse("1/10"), "without_replacement"))))
    with pytest.raises(CertificateError, match="cannot be mixed"):
        require_well_formed(claimed(both, moved=None))


# -- samples ------------------------------------------------------------------------------------------------------


SAMPLED = of("toeplitz", 20, coefficients=["1", "1/2"], sigma="2", rate="1/10")


def plain(times, square):
    moved = parse(f"sqrt({square})")
    part = Part(Subsample(Part(Radial(parse("exp(-r**2/2)"), L2, parse("1"), parse("2")), moved), parse("1/10")))
    return Compose((Part(Repeat(part, num(times))),))


@pytest.mark.wide
def test_a_banded_strategy_on_samples_is_a_composition_of_samples():
    for order in ("", "one-sided"):
        found = between(verify(claimed(SAMPLED, order=order)).judgement)
        known = between(verify(claimed(plain(10, "5/4"), moved=None, order=order)).judgement)
        assert found == pytest.approx(known, rel=1e-3)


def test_renyi_divergences_of_samples_are_exact():
    mu, p, order = math.sqrt(5 / 4) / 2, 0.1, 4
    terms = (math.comb(order, k) * (1 - p) ** (order - k) * p**k * math.exp(k * (k - 1) * mu**2 / 2) for k in range(order + 1))
    truth = 10 * math.log(sum(terms)) / (order - 1)
    low, high = between(verify(claimed(SAMPLED, delta="0", measure=Measure("renyi", None, Fraction(order)))).judgement)
    assert low == pytest.approx(truth, rel=1e-12) and high == pytest.approx(truth, rel=1e-12)


@pytest.mark.wide
def test_the_last_columns_are_shorter_and_groups_may_differ():
    rows = [["3", 0, 0, 0], ["1", "1", 0, 0], [0, "1", "1", 0], [0, 0, "1", "4"]]  # squares of lengths: {10, 2} and {2, 16}
    noise = of(rows, sigma="20", rate="1/10")
    _, high = between(verify(claimed(noise, delta="0", measure=Measure("renyi", None, Fraction(2)))).judgement)

    def one(square):
        return math.log(1 + 0.01 * math.expm1(square / 400))

    assert high == pytest.approx(one(16) + one(2), rel=1e-9)
    low, high = between(verify(claimed(noise)).judgement)
    assert low is not None and high - low < 1e-3 * high  # the second group has just these
    other = of([["3", 0, 0, 0], ["1", "1", 0, 0], [0, "1", "2", 0], [0, 0, "1", "4"]], sigma="20", rate="1/10")  # {10, 5} and {2, 16}
    _, high = between(verify(claimed(other, delta="0", measure=Measure("renyi", None, Fraction(2)))).judgement)
    assert high == pytest.approx(one(16) + one(5), rel=1e-9)
    assert between(verify(claimed(other)).judgement)[0] is None  # no group has both


def test_more_groups_than_bands_see_a_record_less_often():
    def second(separation):
        noise = of("toeplitz", 7, sigma="20", rate="1/10", separation=separation, coefficients=[1, 1])
        return between(verify(claimed(noise, delta="0", measure=Measure("renyi", None, Fraction(2)))).judgement)

    def groups(count):  # the squares of the lengths of the columns are 2, and 1 for the last
        squares = [2] * 6 + [1]
        return max(sum(math.log(1 + 0.01 * math.expm1(square / 400)) for square in squares[first::count]) for first in range(count))

    for separation, count in ((1, 2), (2, 2), (3, 3), (7, 7), (9, 9)):
        _, high = second(separation)
        assert high == pytest.approx(groups(count), rel=1e-9)


# -- what is refused ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        (of("toeplitz", 4), "toeplitz has coefficients"),
        (of("prefix_sums", 4, coefficients=[1]), "others have neither"),
        (of("toeplitz", 2, coefficients=[1, 1, 1]), "no more coefficients than steps"),
        (of("prefix_sums", 4, order="some"), "neither any nor fixed"),
        (of("sums", 4), "none of those that are known"),
        (of("prefix_sums", 0), "an integer of at least 1"),
        (of("prefix_sums", 4, sigma="0"), "positive"),
        (of("prefix_sums", 4, times=0), "an integer of at least 1"),
        (of("prefix_sums", 4, separation=0), "an integer of at least 1"),
        (of("prefix_sums", 4, times=2, rate="1/2"), "nothing is said of how many"),
        (of("prefix_sums", 4, order="fixed", rate="1/2"), "nothing is said of how many"),
        (of("prefix_sums", 4, rate="3/2"), "between 0 and 1"),
        (CorrelatedNoise(num(1), "matrix", num(2), ((Fraction(1),),)), "a column for each"),
        (CorrelatedNoise(num(1), "matrix", num(1), ((Fraction(1),), (Fraction(1), Fraction(1)))), "a column for each"),
        (CorrelatedNoise(num(1), "prefix_sums", num(1), ((Fraction(1),),)), "others have neither"),
    ],
)
def test_what_means_nothing_is_refused(broken, why):
    with pytest.raises(CertificateError, match=why):
        require_well_formed(claimed(broken))


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        (GAUSSIAN, "no correlated noise"),
        (of("prefix_sums", 10_001), "at most 10000 steps"),
        (of("binary_tree", 4, rate="1/2"), "not lower triangular"),
        (of([[1, 1], [0, 1]], rate="1/2"), "not lower triangular"),
        (of([[1, 0], [1, 1], [1, 1]], rate="1/2"), "not lower triangular"),
    ],
)
def test_what_the_rule_is_not_about_is_rejected(broken, why):
    with pytest.raises(Rejected, match=why):
        infer(Proof(claimed(broken)), "correlated-gaussians", {}, (), 128)


def test_the_last_column_of_a_band_is_shorter():
    noise = of("toeplitz", 5, sigma="20", rate="1/10", coefficients=[1, 1])  # squares of lengths: {2, 2, 1} and {2, 2}
    _, high = between(verify(claimed(noise, delta="0", measure=Measure("renyi", None, Fraction(2)))).judgement)
    assert high == pytest.approx(sum(math.log(1 + 0.01 * math.expm1(square / 400)) for square in (2, 2, 1)), rel=1e-9)


@pytest.mark.parametrize("run", [Run(Part(SAMPLED, num(1)), num(2)), Run(Part(SAMPLED, num(1)), mapped=True)], ids=["group", "map"])
def test_with_samples_neighbours_differ_by_one_record(run):
    with pytest.raises(Rejected, match="they are to differ by one record"):
        correlated_gaussians.infer(run, {}, ())


def test_several_records_of_samples_are_not_followed():
    assert leaf(Run(Part(BANDED, num(1)), num(2))).sensitivity == num(2)
    with pytest.raises(Undecided, match="what several records do there"):
        leaf(Run(Part(SAMPLED, num(1)), num(2)))


def test_samples_are_not_the_same_in_both_orders():
    assert either_order(claimed(BANDED, order="reverse")) and not either_order(claimed(SAMPLED, order="reverse"))


def test_a_group_that_sees_less_bounds_nothing_from_below():
    noise = of([["3", 0, 0, 0], ["1", "1", 0, 0], [0, "1", "2", 0], [0, 0, "1", "4"]], sigma="20", rate="1/10")
    with pytest.raises(Rejected, match="no group sees just these"):
        sampled_measures.infer(claimed(noise, delta="0", measure=Measure("renyi", None, Fraction(2))), {"side": "lower"}, [None])


def test_samples_want_a_premise_about_them():
    claim = claimed(SAMPLED, "5")
    with pytest.raises(CertificateError, match="wants one premise"):
        infer(Proof(claim), "correlated-gaussians", {}, (), 128)
    with pytest.raises(CertificateError, match="one premise about the samples"):
        infer(
            Proof(claimed(SAMPLED, delta="0", measure=Measure("renyi", None, Fraction(2)))), "sampled-measures", {"side": "upper"}, (), 128
        )
    with pytest.raises(Rejected, match="no correlated noise with sampling"):
        check(pack(claimed(BANDED, "5"), 128, "PROVED", [Line("gaussian", ("samples",), {}, (), 128)]))


def test_a_bound_that_is_no_equality_gives_no_closed_form():
    noise = of("toeplitz", 6, 3, coefficients=["1", "-1/2", "1"])
    with pytest.raises(Rejected, match="which parts, move together is not known"):
        infer(Proof(claimed(noise, "1")), "closed-profile", {}, (), 128)


# -- in files, in Python, and drawn -------------------------------------------------------------------------------


def in_a_file(tmp_path, mechanism):
    path = tmp_path / "claim.toml"
    path.write_text(
        f'[mechanism]\nkind = "correlated_noise"\nsigma = 4\n{mechanism}\n[[claim]]\nsensitivity = 1\nepsilon = 9\ndelta = "1/1000"\n'
    )
    return path


@pytest.mark.parametrize(
    ("mechanism", "noise"),
    [
        ('strategy = "prefix_sums"\nsteps = 9', of("prefix_sums", 9)),
        ('strategy = [[1, 0], ["1/2", 1]]\nparticipation = { times = 2 }', of([[1, 0], ["1/2", 1]], None, 2)),
        (
            'strategy = "binary_tree"\nsteps = 8\nparticipation = { times = 2, separation = 3, order = "fixed" }',
            of("binary_tree", 8, 2, 3, "fixed"),
        ),
        (
            'strategy = "toeplitz"\ncoefficients = [1, "1/2"]\nsteps = 6\nsampling = { rate = "1/9" }',
            of("toeplitz", 6, rate="1/9", coefficients=[1, "1/2"]),
        ),
        (
            'strategy = "toeplitz"\ncoefficients = [1, "1/2"]\nsteps = 6\nsampling = { rate = "1/9" }\n'
            "participation = { times = 2, separation = 3 }",
            of("toeplitz", 6, rate="1/9", separation=3, coefficients=[1, "1/2"]),
        ),
    ],
)
def test_a_file_says_the_same_as_the_model_and_so_does_a_certificate(tmp_path, mechanism, noise):
    [entry] = read_spec(in_a_file(tmp_path, mechanism)).claims
    assert entry.claim.mechanism == noise
    assert from_json(to_json(entry.claim)).mechanism == noise


@pytest.mark.parametrize(
    ("mechanism", "why"),
    [
        ("steps = 4", "strategy is missing"),
        ('strategy = "prefix_sums"', "steps is missing"),
        ('strategy = "prefix sums"\nsteps = 4', "is not one of toeplitz, prefix_sums, binary_tree"),
        ('strategy = "toeplitz"\nsteps = 4', "coefficients go with"),
        ('strategy = "prefix_sums"\nsteps = 4\ncoefficients = [1]', "coefficients go with"),
        ("strategy = [[1, 0], [1, 1]]\nsteps = 2", "Leave steps out"),
        ("strategy = [[1, 0], [1]]", "different lengths"),
        ('strategy = "prefix_sums"\nsteps = 4\nparticipation = 3', "is no participation"),
        ('strategy = "prefix_sums"\nsteps = 4\nparticipation = { separation = 3 }', "is no participation"),
        ('strategy = "prefix_sums"\nsteps = 4\nparticipation = { times = 3, order = "all" }', "is not one of any, fixed"),
        ('strategy = "prefix_sums"\nsteps = 4\nsampling = "1/2"', "is no sampling"),
        ('strategy = "prefix_sums"\nsteps = 4\nparticipation = { times = 1 }\nsampling = { rate = "1/2" }', "Write times = 4 and no order"),
        (
            'strategy = "prefix_sums"\nsteps = 4\nparticipation = { times = 4, order = "fixed" }\nsampling = { rate = "1/2" }',
            "in any order",
        ),
        ('strategy = "prefix_sums"\nsteps = 0', "steps = 0"),
    ],
)
def test_a_file_that_says_nothing_whole_is_told_why(tmp_path, mechanism, why):
    with pytest.raises(SpecError, match=why):
        read_spec(in_a_file(tmp_path, mechanism))


@pytest.mark.parametrize(
    "noise",
    [
        of("prefix_sums", 6),
        of("binary_tree", 6),
        of("toeplitz", 6, coefficients=[1, "1/2", "-1/3"]),
        of([[1, 0, 0], [2, 1, 0], [0, -1, 1], [1, 1, 1]]),
    ],
)
def test_what_is_drawn_has_the_mean_and_the_spread_of_the_definition(noise):
    steps, size = int(noise.steps.value), 40_000
    data = [3 * i - 4 for i in range(steps)]
    outputs = sampler(noise)(data, size, np.random.default_rng(3))
    there = dense(noise) @ np.array(data, dtype=float)
    assert outputs.shape == (size, len(there))
    assert np.abs(outputs.mean(axis=0) - there).max() < 6 * 4 / math.sqrt(size)
    assert np.abs(np.cov(outputs.T) - 16 * np.eye(len(there))).max() < 16 * 8 / math.sqrt(size)


def test_samples_of_records_are_not_drawn():
    with pytest.raises(NoSampler, match="record by record"):
        sampler(SAMPLED)


def test_a_verdict_names_the_theorem_that_it_goes_through():
    both = Compose((Part(BANDED, num(1)), Part(GAUSSIAN, num(1))))
    asked = claimed(BANDED, delta="0", measure=Measure("gdp", None)), claimed(both, moved=None), claimed(BANDED, "2"), claimed(SAMPLED)
    assert all("correlated-gaussians" in verify(claim).judgement.rules for claim in asked)
