"""The pages of docs/sources/: their numbers are computed, and are those of closed forms and of second methods."""

import math
import sys
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy import special, stats
from scipy.optimize import linprog
from scipy.sparse import csr_array
from scipy.spatial import ConvexHull, Delaunay

TOOLS = str(Path(__file__).parents[1] / "tools")
if TOOLS not in sys.path:
    sys.path.append(TOOLS)

from computed import figures, judged, lecture, mean_function, random_queries, reconstruction, street_map  # noqa: E402
from computed.pages import FOLDER, Page, Row, Table, cells, standalone  # noqa: E402

PAGES = {one.PAGE.name: one.PAGE for one in (random_queries, figures, lecture, reconstruction, mean_function, street_map)}
TEXTS = {name: page.path.read_text(encoding="utf-8") for name, page in PAGES.items()}
OUT = "out of reach"


def rows(page, table):
    return cells(TEXTS[page], table)


def told_above(text, exact, digits=4):
    """Whether a number is an upper bound, of so many digits."""
    return exact * (1 - 1e-12) <= float(text) <= exact * (1 + 10.0 ** (1 - digits))


def told_below(text, exact, digits=4):
    return exact * (1 - 10.0 ** (1 - digits)) <= float(text) <= exact * (1 + 1e-12)


# -- what is written -------------------------------------------------------------------------------------


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", PAGES)
def test_a_page_says_the_numbers_of_today(name):
    """Where this fails, `python tools/computed --quick` writes those that take no time, and without `--quick` all."""
    assert PAGES[name].written(TEXTS[name], quick=True) == TEXTS[name]


@pytest.mark.parametrize(("name", "file"), [(page.name, file) for page in PAGES.values() for file, _ in page.pictures])
def test_a_picture_is_drawn_from_the_table_of_its_page(name, file):
    draw = dict(PAGES[name].pictures)[file]
    assert (FOLDER / file).read_text(encoding="utf-8") == draw(TEXTS[name])
    assert f"]({file})" in TEXTS[name]


EXAMPLE = "before\n<!-- table: t -->\n\n| a | b |\n|---|---|\n| 1 | x |\n| 2 | y |\n\n<!-- end -->\nafter\n"


def example(*slow):
    return Page("example", [Table("t", ("a", "b"), [Row((key,), lambda key=key: (f"new {key}",), slow=key in slow) for key in "12"])])


def test_quick_rows_are_computed_and_slow_ones_stay():
    assert cells(example("2").written(EXAMPLE, quick=True), "t") == [["1", "new 1"], ["2", "y"]]
    assert cells(example("2").written(EXAMPLE, quick=False), "t") == [["1", "new 1"], ["2", "new 2"]]
    again = example("2").written(EXAMPLE, quick=True)
    assert example("2").written(again, quick=True) == again and again.startswith("before\n") and again.endswith("after\n")


def test_a_slow_row_or_a_table_that_is_not_on_the_page_is_told():
    with pytest.raises(ValueError, match=r"there is no row \| 2 \| : run `python tools/computed`"):
        example("2").written(EXAMPLE.replace("| 2 |", "| 3 |"), quick=True)
    with pytest.raises(ValueError, match="there is no table 't'"):
        example().written("nothing", quick=True)


def test_a_picture_of_its_own_has_colours_for_light_and_dark():
    drawn = standalone('<svg role="img"><title id="t">x</title></svg>')
    assert drawn.startswith('<svg xmlns="http://www.w3.org/2000/svg" width="540" role="img"><style>')
    assert "prefers-color-scheme:dark" in drawn


def test_an_error_that_is_not_proved_is_on_no_page():
    refuted = judged.judge(judged.laplace(1, "1/2"), "[[1]]", "l1", "1")
    with pytest.raises(ValueError, match="REFUTED: no rms_l2 is proved"):
        refuted.own()
    with pytest.raises(ValueError, match="no expected_loss of any mechanism is proved"):
        refuted.least("expected_loss")


def test_bounds_are_rounded_so_that_they_stay_bounds():
    third = Fraction(1, 3)
    assert (judged.up(third), judged.down(third)) == ("0.3334", "0.3333")
    assert (judged.up(100 * third, 3), judged.up(12345600 * third), judged.down(12345600 * third)) == ("33.4", "4116000", "4115000")


# -- random queries --------------------------------------------------------------------------------------


def hull(matrix):
    columns = np.array(matrix, dtype=float).T
    return np.concatenate((columns, -columns))


def mean_square(points):
    """E ||u||^2 of a uniform point of the hull, over simplices that fill it."""
    d = points.shape[1]
    filled = points[Delaunay(points, qhull_options="QJ").simplices]
    sizes = np.abs(np.linalg.det(filled[:, 1:] - filled[:, :1]))
    squares = ((filled**2).sum(axis=(1, 2)) + (filled.sum(axis=1) ** 2).sum(axis=1)) / ((d + 1) * (d + 2))
    return float(sizes @ squares / sizes.sum())


def by_volume(volume, d, epsilon):
    """sqrt(d/(d + 2)) (W/v_d)^(1/d), W summed over shells."""
    shells = sum(math.exp(-epsilon * j) * (j**d - (j - 1) ** d) for j in range(1, int(40 * (d + 5) / epsilon)))
    ball = math.pi ** (d / 2) / math.gamma(d / 2 + 1)
    return math.sqrt(d / (d + 2)) * (volume * shells / ball) ** (1 / d)


@pytest.mark.parametrize("most", [4, pytest.param(math.inf, marks=pytest.mark.wide)])
def test_errors_of_random_queries_are_those_of_the_theorems_from_other_triangulations(most):
    """K-norm noise has the mean square (d + 1)(d + 2) E||u||^2 over epsilon^2, Laplace noise 2 d^3."""
    for d, n, root, growth, volume, lines, norm, laplace, ratio in rows("random-queries", "random"):
        d, n = int(d), int(n)
        if d > most:
            continue
        assert float(root) == pytest.approx(math.sqrt(d), abs=6e-4)
        assert float(growth) == pytest.approx(math.sqrt(math.log(n / d)), abs=6e-4)
        assert told_above(laplace, math.sqrt(2 * d))
        if d <= 6:
            points = hull(random_queries.random_rows(d, n))
            assert told_above(norm, math.sqrt((d + 1) * (d + 2) * mean_square(points)) / d)
            whole = by_volume(ConvexHull(points).volume, d, 0.01) * 0.01 / d  # a projection may give more
            assert whole * 0.999 < float(volume) < float(norm)
        if (d, n) in ((6, 96), (6, 192)):  # all pairs of opposite columns: the cube
            assert told_above(norm, math.sqrt((d + 1) * (d + 2) / (3 * d)))
        if n == d:  # a parallelotope of l1: K is the image of the ball of l1
            assert told_above(norm, math.sqrt(2))
        if norm == OUT:
            assert (volume, ratio) == (OUT, OUT) and d > random_queries.WITHIN
        else:
            assert float(ratio) == pytest.approx(float(norm) / max(float(lines), float(volume)), rel=2e-3) and float(ratio) >= 1


def test_the_bound_by_lines_is_the_best_that_weights_give():
    """With weights p it is sqrt(2) tr sqrt(F diag(p) F') for small epsilon, and no weights give more than the greatest slope."""
    for d, n, _, _, _, lines, *_ in rows("random-queries", "random"):
        matrix = np.array(random_queries.random_rows(int(d), int(n)), dtype=float)
        weights = np.full(int(n), 1 / int(n))
        for _ in range(300):
            values, axes = np.linalg.eigh((matrix * weights) @ matrix.T)
            inside = values > 1e-12
            slopes = (((axes[:, inside] / values[inside] ** 0.25).T @ matrix) ** 2).sum(axis=0)
            weights = weights * slopes / (weights @ slopes)
        assert math.sqrt(2) * np.sqrt(values[inside]).sum() / int(d) * (1 - 2e-3) <= float(lines)
        assert float(lines) <= math.sqrt(2) * slopes.max() / int(d) * (1 + 1e-6)


def test_for_the_cube_all_errors_have_closed_forms_and_laplace_noise_is_optimal_up_to_a_constant():
    for d, volume, lines, norm, laplace, ratio in rows("random-queries", "cube"):
        d = int(d)
        assert sorted(map(abs, {x for row in random_queries.cube_rows(d) for x in row})) in ([1], [1, 1])
        assert len(set(map(tuple, hull(random_queries.cube_rows(d))))) == 2**d
        assert told_above(laplace, math.sqrt(2)) and told_above(norm, math.sqrt((d + 1) * (d + 2) / 3) / d)
        # Two levels of rounding, and epsilon = 1/100 in place of 0.
        assert told_below(lines, math.sqrt(2 / d) * 0.005 / math.sinh(0.005), 3 if d == 1 else 4)
        assert told_below(volume, by_volume(2.0**d, d, 0.01) * 0.01 / d**1.5)
        assert float(laplace) / float(volume) < 8 and float(ratio) >= 1
    assert random_queries.first_above(math.sqrt(2)) == 54
    large = 10_000
    log_size = (special.gammaln(large + 1) + large * math.log(2) - large / 2 * math.log(math.pi) + special.gammaln(large / 2 + 1)) / large
    assert math.exp(log_size) / large**1.5 == pytest.approx(2 / (math.e * math.sqrt(2 * math.pi * math.e)), rel=2e-3)


def test_gaussian_noise_with_a_large_enough_delta_has_less_error_than_any_noise_without():
    for delta, gauss, least, less, first in rows("random-queries", "separation"):
        sigma, epsilon = 100 * float(gauss), 0.01
        spent = stats.norm.cdf(1 / (2 * sigma) - epsilon * sigma) - math.exp(epsilon) * stats.norm.cdf(-1 / (2 * sigma) - epsilon * sigma)
        assert 0.98 * float(delta) < spent <= float(delta)
        assert told_below(least, math.sqrt(2) * 0.005 / math.sinh(0.005)) and less == ("yes" if float(gauss) < float(least) else "no")
        at = int(first)
        assert float(random_queries.cube_by_volume(at).lower()) > float(gauss) * 0.999
        assert at == 1 or float(random_queries.cube_by_volume(at - 1).upper()) < float(gauss) * 1.001
    assert float(random_queries.cube_by_volume(3).mid()) == pytest.approx(by_volume(8.0, 3, 0.01) * 0.01 / 3, rel=1e-9)


# -- the figures -----------------------------------------------------------------------------------------


def test_the_first_figure_is_from_the_exact_volume_and_the_laws_of_the_noises():
    d, points = figures.D, hull(random_queries.random_rows(figures.D, figures.N))
    found = {row[0]: row[1:] for row in rows("figures", "figure 1")}
    volume, ball = ConvexHull(points).volume, math.pi**2 / 2
    assert told_above(found["independent Laplace noise"][0], d * math.sqrt(2 * d))
    assert told_above(found["K-norm noise"][0], math.sqrt((d + 1) * (d + 2) * mean_square(points)))
    packed = d / (2 * math.e) * d / (d + 1) * (d + 1) ** (-1 / d) * (volume / ball) ** (1 / d)
    assert told_below(found["any mechanism, by packing"][1], packed)
    assert told_below(found["any mechanism, by volume"][0], by_volume(volume, d, 1.0))
    deviation = float(found["Gaussian noise, delta = 10^-6"][0]) / d  # of an answer that moves by 1
    spent = stats.norm.cdf(1 / (2 * deviation) - deviation) - math.e * stats.norm.cdf(-1 / (2 * deviation) - deviation)
    assert 0.9e-6 < spent <= 1e-6
    least = max(float(found[f"any mechanism, by {rule}"][0]) for rule in ("volume", "lines"))
    assert least <= float(found["K-norm noise"][0])


def test_draws_as_in_the_second_figure_have_the_proved_moments():
    """Four standard errors of 200,000 draws."""
    proved = {row[0]: (row[1], float(row[2])) for row in rows("figures", "figure 2")}
    square = (figures.D + 1) * (figures.D + 2) * mean_square(hull(random_queries.random_rows(figures.D, figures.N)))
    assert proved["root mean square"][0].startswith(f"in [{math.sqrt(square):.4f}"[:-1])
    mean = float(proved["mean length"][0].split("[")[1].split(",")[0])
    assert abs(proved["mean length"][1] - mean) < 4 * math.sqrt((square - mean**2) / figures.DRAWS)
    assert abs(proved["root mean square"][1] - math.sqrt(square)) < 4 * math.sqrt(square / figures.DRAWS)
    assert abs(proved["mean of its norm"][1] - figures.D) < 4 * math.sqrt(figures.D / figures.DRAWS)  # Gamma with shape d


def test_the_levels_of_the_third_figure_halve_the_body_and_add_up():
    levels = rows("figures", "figure 3")
    assert [row[1:4] for row in levels] == [["4", "2", "1/3"], ["2", "1", "1/3"], ["1", "1", "1/3"]]
    total = math.sqrt(sum(float(row[4]) ** 2 for row in levels))
    compared = {row[0]: row[1] for row in rows("figures", "heavy row")}
    assert total == pytest.approx(float(compared["recursive, of the paper"]), rel=1e-3)


def test_for_a_heavy_row_no_error_is_below_the_least_and_laplace_noise_has_its_closed_form():
    compared = {row[0]: row[1:] for row in rows("figures", "heavy row")}
    least = float(compared.pop("any with delta = 0, at least")[0])
    for name, (own, times) in compared.items():
        if not name.startswith("gaussian"):
            assert float(own) >= least and float(times) == pytest.approx(float(own) / least, rel=2e-3)
    assert told_above(compared["laplace"][0], (figures.HEAVY + figures.D - 1) * math.sqrt(2 * figures.D))
    points = hull(figures.heavy())
    assert told_above(compared["k-norm"][0], math.sqrt((figures.D + 1) * (figures.D + 2) * mean_square(points)))


# -- the lecture -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("table", "scale"), [("counting", lambda k: k), ("histogram", lambda k: 2)])
def test_errors_of_counting_queries_and_histograms_are_those_of_laplace_noise(table, scale):
    for k, each, exceeded, union, own, least, ratio in rows("lecture", table):
        k = int(k)
        b = scale(k)
        assert told_above(each, b) and told_above(own, b * math.sqrt(2 * k))
        assert told_above(union, b * math.log(20 * k)) and told_above(exceeded, -b * math.log(1 - 0.95 ** (1 / k)))
        assert float(ratio) == pytest.approx(float(own) / float(least), rel=2e-3) and float(ratio) > 1


def test_the_sensitivity_of_k_counting_queries_is_k_and_that_of_a_histogram_2():
    for k in (1, 2, 3):
        columns = list(zip(*lecture.counting(k), strict=True))
        assert max(sum(abs(x - y) for x, y in zip(a, b, strict=True)) for a, b in product(columns, repeat=2)) == k
    bins = list(zip(*lecture.histogram(3), strict=True))
    assert max(sum(abs(x - y) for x, y in zip(a, b, strict=True)) for a, b in product(bins, repeat=2)) == 2


def test_one_count_needs_the_geometric_mechanism_at_least():
    q = math.exp(-1)
    assert told_below(rows("lecture", "counting")[0][5], math.sqrt(2 * q) / (1 - q))


def test_the_mean_of_bits_costs_a_root_of_n_more_where_each_bit_is_answered_by_itself():
    p = math.e / (1 + math.e)
    for n, laplace, response, times in rows("lecture", "mean"):
        n = int(n.replace(",", ""))
        assert told_above(laplace, math.sqrt(2) / n) and told_above(response, math.sqrt(p * (1 - p) / n) / (2 * p - 1))
        assert float(times) == pytest.approx(math.sqrt(p * (1 - p) * n / 2) / (2 * p - 1), rel=2e-3)


# -- reconstruction --------------------------------------------------------------------------------------


def test_the_attack_finds_all_bits_from_exact_counts_and_few_more_than_half_from_very_noisy_ones():
    assert reconstruction.recovered(32, 64, "bounded", 0.0, 0) == 1
    assert reconstruction.recovered(32, 128, "bounded", 0.5, 0) == 1
    shares = [reconstruction.recovered(32, 64, "laplace", 1e4, trial) for trial in range(4)]
    assert abs(np.mean(shares) - 0.5) < 4 * math.sqrt(0.25 / 128)


def test_the_attack_makes_the_sum_of_distances_least():
    """Six bits: the best of all assignments has all distances 0 only where it is the truth, so that the attack finds it too."""
    subsets, truth = (np.array(one, dtype=float) for one in reconstruction.asked(6, 20, 1))
    assert (reconstruction.attack(subsets, subsets @ truth) == truth).all()
    best = min(product((0, 1), repeat=6), key=lambda bits: np.abs(subsets @ np.array(bits) - subsets @ truth).sum())
    assert tuple(truth) == best


def test_the_share_falls_with_the_noise_and_is_never_above_what_privacy_allows():
    bounded = [float(row[3]) for row in rows("reconstruction", "bounded")]
    assert bounded == sorted(bounded, reverse=True) and bounded[0] == 1 and bounded[-1] < 0.6
    assert {row[2] for row in rows("reconstruction", "bounded")[1:]} == {"infinite"}
    members = (np.array(reconstruction.asked(reconstruction.BITS, reconstruction.QUERIES, k)[0]) for k in range(reconstruction.TRIALS))
    sensitivity = max(int(subsets.sum(axis=0).max()) for subsets in members)
    slack = 3 * math.sqrt(0.25 / (reconstruction.BITS * reconstruction.TRIALS))
    for epsilon, scale, share, most in rows("reconstruction", "laplace"):
        allowed = 1 / (1 + math.exp(-float(epsilon)))
        assert float(most) == pytest.approx(allowed, abs=5e-3) and float(share) <= allowed + slack
        assert float(scale) == pytest.approx(sensitivity / float(epsilon), rel=6e-3)
    asked = [float(row[1]) for row in rows("reconstruction", "queries")]
    assert asked == sorted(asked)


# -- a mean of curves --------------------------------------------------------------------------------------


def test_the_distances_of_means_of_curves_are_those_of_many_evaluations():
    """Of Brownian noise by quadrature of h'^2, of the others by the inverse of their covariance at a hundred points, which sees less."""
    told = {row[0]: [float(end) for end in row[1].split(" to ")] for row in rows("mean-function", "scale")}
    t = np.linspace(0, 1, 100_001)
    slopes = [np.gradient(np.tanh(4 * t) + sign * t * (1 - t), t) for sign in (1, -1)]
    assert told["brownian"] == pytest.approx([max(np.trapezoid(slope**2, t) for slope in slopes) ** 0.5] * 2, rel=1e-4)
    at = np.linspace(0, 1, 60)
    for name, nu in (("matern-1/2", 0.5), ("matern-3/2", 1.5)):
        x = np.sqrt(2 * nu) * abs(at[:, None] - at[None, :]) * 4
        inverse = np.linalg.inv((1 + (x if nu > 1 else 0)) * np.exp(-x))
        seen = max(h @ inverse @ h for h in (np.tanh(4 * at) + sign * at * (1 - at) for sign in (1, -1))) ** 0.5
        assert 0.98 * told[name][1] < seen < told[name][1]


def test_noise_on_curves_is_calibrated():
    for row in rows("mean-function", "scale"):
        mu = float(row[1].split(" to ")[1]) / 1000 / float(row[2])
        assert float(row[3]) == pytest.approx(stats.norm.cdf(mu / 2 - 1 / mu) - math.e * stats.norm.cdf(-mu / 2 - 1 / mu), rel=5e-3)
        assert float(row[3]) < 1e-5 and row[4] == "PROVED"


# -- a place on a street map -----------------------------------------------------------------------------


def least_failure(near, epsilon):
    """The least probability of an answer that is too far, on the worst crossing, of any mechanism with this epsilon."""
    ways = street_ways()
    n = len(ways)
    place, worst = np.arange(n * n).reshape(n, n), n * n
    bounds = []
    for x in range(n):
        for other in np.flatnonzero(np.arange(n) != x):
            block = np.zeros((n, n * n + 1))
            block[np.arange(n), place[x]] = 1
            block[np.arange(n), place[other]] = -np.exp(epsilon * ways[x, other])
            bounds.append(block / np.exp(epsilon * ways[x, other]))
        far = np.zeros((1, n * n + 1))
        far[0, place[x][ways[x] > near]], far[0, worst] = 1, -1
        bounds.append(far)
    upper = np.concatenate(bounds)
    sums = np.zeros((n, n * n + 1))
    for x in range(n):
        sums[x, place[x]] = 1
    cost = np.zeros(n * n + 1)
    cost[worst] = 1
    return linprog(cost, csr_array(upper), np.zeros(len(upper)), csr_array(sums), np.ones(n), method="highs").fun


def street_ways():
    """Shortest ways by squaring the matrix of the streets, in the algebra of minimum and sum."""
    n = street_map.WIDE * street_map.HIGH
    ways = np.where(np.eye(n, dtype=bool), 0.0, np.inf)
    for (a, b), length in street_map.streets().items():
        ways[a, b] = ways[b, a] = length
    for _ in range(5):
        ways = (ways[:, :, None] + ways[None, :, :]).min(axis=1)
    return ways


def test_ways_on_the_map_are_the_shortest_and_all_places_are_reached():
    assert np.array_equal(street_ways(), np.array(street_map.distances(), dtype=float)) and np.isfinite(street_ways()).all()
    assert len(street_map.streets()) == 24 - street_map.CLOSED


@pytest.mark.wide
def test_a_place_on_the_map_is_as_private_as_linear_programs_and_sums_say():
    ways = street_ways()
    for near, least, most, rate, epsilon, verdict in rows("street-map", "trade-off"):
        assert least_failure(int(near), float(least)) > 0.1 - 1e-6 and least_failure(int(near), float(most)) < 0.1 + 1e-6
        weights = np.exp(-float(rate) * ways)
        table = weights / weights.sum(axis=1, keepdims=True)
        losses = np.log(table[:, None, :] / table[None, :, :]).max(axis=2)
        apart = ways + np.eye(len(ways))
        assert told_above(epsilon, (losses / apart).max()) and verdict == "PROVED" and float(most) < float(epsilon) < 2 * float(rate)
        far = (table * (ways > int(near))).sum(axis=1).max()
        less = np.exp(-(float(rate) - 0.1) * ways)
        assert far <= 0.1 < ((less / less.sum(axis=1, keepdims=True)) * (ways > int(near))).sum(axis=1).max()


def test_what_is_told_of_a_place_has_the_probabilities_of_the_exponential_mechanism():
    ways, rate = street_ways(), float(street_map.least_rate(street_map.SHOWN))
    weights = np.exp(-rate * ways[street_map.HOME])
    expected = street_map.DRAWS * weights / weights.sum()
    seen = np.bincount(street_map.drawn(), minlength=len(ways))
    often = expected >= 5
    pooled = [np.append(counts[often], counts[~often].sum()) for counts in (seen, expected)]
    assert stats.chisquare(*pooled).pvalue > 1e-3
