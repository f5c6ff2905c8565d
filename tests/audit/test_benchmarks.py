"""The samplers of specs/benchmarks/ have the laws that their claim files and the table of known epsilons say."""

import importlib.util
import math
import tomllib
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from dpverify.audits import audit_spec
from dpverify.audits.conformance import conformance
from dpverify.audits.declared import declared
from dpverify.audits.outputs import encode
from dpverify.catalogue.reader import read_spec
from dpverify.search.numeric import number
from dpverify.search.verify import verify
from dpverify.trusted.kernel.bounds import Infinite

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "specs" / "benchmarks"
TRUTH = {row["name"]: row for row in tomllib.loads((ROOT / "tests" / "golden" / "audit_truth.toml").read_text())["mechanism"]}
FILES = sorted(FOLDER.glob("*.toml"))
RUNS = 300_000
ALPHA = 1e-5  # of each exact test, all with fixed seeds


def _load(path):
    spec = importlib.util.spec_from_file_location("_benchmark_samplers", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SAMPLERS = _load(FOLDER / "samplers.py")


def sample(name, data, size=RUNS, seed=0):
    return getattr(SAMPLERS, name)(list(data), size, np.random.default_rng([seed, *map(int, data)]))


def agrees(count, runs, probability):
    """An exact two-sided binomial test."""
    return stats.binomtest(int(count), runs, probability).pvalue > ALPHA


# -- the laws, by quadrature ---------------------------------------------------------------------------------

NODES, WEIGHTS = np.polynomial.legendre.leggauss(40)


def density(x, scale):
    return np.exp(-np.abs(x) / scale) / (2 * scale)


def cdf(x, scale):
    x = np.asarray(x, float)
    return np.where(x < 0, np.exp(np.minimum(x, 0) / scale) / 2, 1 - np.exp(-np.maximum(x, 0) / scale) / 2)


def integral(function, kinks, scale):
    """Over the real line, for integrands that fall like exp(-|z|/scale) and are smooth between the kinks."""
    far = np.linspace(0, 60 * scale, 61)
    edges = np.unique(np.concatenate([min(kinks) - far, kinks, max(kinks) + far]))
    low, high = edges[:-1, None], edges[1:, None]
    return float(np.sum(function((low + high) / 2 + (high - low) / 2 * NODES) * WEIGHTS * (high - low) / 2))


def pattern(queries, answers, rho, nu, threshold):
    """The probability that a sparse vector technique begins with these answers, given both scales."""

    def product(z):
        terms = [cdf(threshold + z - query, nu) for query in queries]
        return density(z, rho) * math.prod(term if answer == "F" else 1 - term for term, answer in zip(terms, answers, strict=False))

    return integral(product, [0, *(query - threshold for query in queries)], rho)


def svt3_negative_last(queries):
    """Only the last query is above the threshold and its answer is negative."""

    def product(z):
        below = math.prod(cdf(1 + z - query, 20) for query in queries[:-1])
        return density(z, 20) * below * np.maximum(cdf(-queries[-1], 20) - cdf(1 + z - queries[-1], 20), 0)

    return integral(product, [-1, 0, *(query - 1 for query in queries)], 20)


def first_is_largest(queries):
    return integral(lambda z: density(z - queries[0], 20) * math.prod(cdf(z - q, 20) for q in queries[1:]), queries, 20)


def geosample(count, k):
    """P(Y <= 1) of the truncated geometric mechanism on 0 to 5, in fractions (Ghosh, Roughgarden & Sundararajan 2009)."""
    a = Fraction(2**k, 2**k + 1)
    return float(sum(a ** abs(z - count) * (1 if z in (0, 5) else 1 - a) / (1 + a) for z in (0, 1)))


def bits(ones, zeros, p):
    return p**ones * (1 - p) ** zeros


def all_of(queries, scale):
    return math.prod(float(cdf(-query, scale)) for query in queries)


DISCRETE = math.exp(-0.1)
SIGMA = 3.730632
SHORT = float(TRUTH["gaussian_short_noise"]["epsilon"])
RAPPOR_SET, RAPPOR_CLEAR = 0.625 * 0.55 + 0.375 * 0.45, 0.375 * 0.55 + 0.625 * 0.45
FILTER = {2: [7, 10, 11, 19], 6: [0, 6, 14, 17]}


def rappor_event(x, set_bit, clear_bit):
    return bits(4, 0, set_bit) * bits(0, 4, clear_bit) if x[0] == 2 else bits(4, 0, clear_bit) * bits(0, 4, set_bit)


def rappor_seen(y):
    return y[:, FILTER[2]].all(axis=1) & ~y[:, FILTER[6]].any(axis=1)


def answered(text):
    codes = np.array([{"F": 0, "T": 1, "-": -1}[letter] for letter in text])
    return lambda y: (y == codes).all(axis=1)


# Of each sampler its event, as a condition on outputs and as a probability given the input.
EVENTS = {
    "laplace": (lambda y: y <= 0, lambda x: cdf(-x[0], 10)),
    "geosample": (lambda y: y <= 1, lambda x: geosample(x[0], 3)),
    "noisy_hist1": (lambda y: y[:, 0] <= 0, lambda x: cdf(-x[0], 10)),
    "noisy_hist2": (lambda y: y[:, 0] <= 0, lambda x: cdf(-x[0], 0.1)),
    "report_noisy_max1": (lambda y: y == 0, first_is_largest),
    "report_noisy_max2": (lambda y: y == 0, lambda x: 0.2 * math.exp(-0.1 * (1 - x[0]))),
    "report_noisy_max3": (lambda y: y <= 0, lambda x: all_of(x, 20)),
    "report_noisy_max4": (lambda y: y < 1, lambda x: (1 - math.exp(-0.05)) ** 5 if x[0] == 0 else 0),
    "svt1": (answered("FFFFFT----"), lambda x: pattern(x, "FFFFFT", 20, 40, 0.5)),
    "svt2": (answered("FFFFFT----"), lambda x: pattern(x, "FFFFFT", 20, 40, 1)),
    "svt3": (lambda y: (y[:, :9] == -1e4).all(axis=1) & (y[:, 9] < 0) & (y[:, 9] > -1e4), svt3_negative_last),
    "svt4": (answered("FFFFFT----"), lambda x: pattern(x, "FFFFFT", 40, 40 / 3, 1)),
    "svt5": (answered("TTTTTFFFFF"), lambda x: -math.expm1(-0.05) / 2 if x[0] == 1 else 0),
    "svt6": (answered("FFFFFTTTTT"), lambda x: pattern(x, "FFFFFTTTTT", 20, 20, 1)),
    "rappor": (rappor_seen, lambda x: rappor_event(x, RAPPOR_SET, RAPPOR_CLEAR)),
    "one_time_rappor": (rappor_seen, lambda x: rappor_event(x, 21 / 40, 19 / 40)),
    "laplace_parallel": (lambda y: (y <= 0).all(axis=1), lambda x: all_of(x * 20, 200)),
    "svt34_parallel": (
        lambda y: (y[:, :10] == -1e4).all(axis=1) & (y[:, 10:] == 0).all(axis=1),
        lambda x: pattern(x, "F" * 10, 20, 40, 1) * pattern(x, "F" * 10, 40, 40 / 3, 1),
    ),
    "prefix_sum": (lambda y: (np.diff(y, axis=1, prepend=0) <= 0).all(axis=1), lambda x: all_of(x, 10)),
    "numerical_svt": (lambda y: (y == 0).all(axis=1), lambda x: pattern(x, "F" * 10, 30, 120, 1)),
    "laplace_half_noise": (lambda y: y <= 0, lambda x: cdf(-x[0], 5)),
    "laplace_short_noise": (lambda y: y <= 0, lambda x: cdf(-x[0], 10 / 1.1)),
    "discrete_laplace": (lambda y: y <= 0, lambda x: DISCRETE ** x[0] / (1 + DISCRETE)),
    "geosample_right": (lambda y: y <= 1, lambda x: geosample(x[0], 5)),
    "randomized_response": (lambda y: y == 1, lambda x: DISCRETE ** (1 - x[0]) / (1 + DISCRETE)),
    "gaussian_pure": (lambda y: y <= -20, lambda x: stats.norm.cdf((-20 - x[0]) / 10)),
    "gaussian": (lambda y: y <= 0.5 - SIGMA**2, lambda x: stats.norm.cdf((0.5 - SIGMA**2 - x[0]) / SIGMA)),
    "gaussian_short_noise": (
        lambda y: y <= 0.5 - (SIGMA / 1.1) ** 2 * SHORT,
        lambda x: stats.norm.cdf((0.5 - (SIGMA / 1.1) ** 2 * SHORT - x[0]) / (SIGMA / 1.1)),
    ),
    "snapping": (lambda y: y <= -16, lambda x: cdf(-8 - x[0], 10)),
}


@pytest.mark.parametrize("name", EVENTS)
def test_the_events_of_the_table_have_its_probabilities_by_closed_form_or_quadrature(name):
    row = TRUTH[name]
    assert [float(EVENTS[name][1](x)) for x in row["pair"]] == pytest.approx([row["p"], row["q"]], rel=1e-9, abs=1e-15)


@pytest.mark.sampled(9)
@pytest.mark.parametrize("name", EVENTS)
def test_the_samplers_see_the_events_of_the_table_as_often_as_it_says(name):
    row = TRUTH[name]
    for data, probability in zip(row["pair"], (row["p"], row["q"]), strict=True):
        assert agrees(np.count_nonzero(EVENTS[name][0](sample(name, data))), RUNS, probability)


@pytest.mark.parametrize("name", EVENTS)
def test_an_event_that_attains_the_epsilon_has_it_as_its_log_ratio_and_no_other_passes_it(name):
    row = TRUTH[name]
    loss = abs(math.log((row["p"] - row.get("delta", 0)) / row["q"])) if row["q"] else math.inf
    known = float(row["epsilon"])
    assert row["attained"] == (math.isinf(loss) if math.isinf(known) else loss == pytest.approx(known, abs=1e-5))
    assert loss <= known + 1e-5
    if "pairs_epsilon" in row:
        assert loss == pytest.approx(row["pairs_epsilon"], abs=1e-9)


# -- whole laws, where one event says too little -----------------------------------------------------------------


@pytest.mark.parametrize(("name", "rho", "nu", "threshold"), [("svt1", 20, 40, 0.5), ("svt2", 20, 40, 1), ("svt4", 40, 40 / 3, 1)])
@pytest.mark.parametrize("data", [[1] * 10, [2] * 5 + [0] * 5])
def test_a_sparse_vector_technique_stops_where_its_law_says(name, rho, nu, threshold, data):
    y = sample(name, data)
    assert y.dtype == np.int8
    for stop in range(11):
        text = "F" * stop + "T" * (stop < 10)
        seen = np.count_nonzero(answered(text + "-" * (10 - len(text)))(y))
        assert agrees(seen, RUNS, pattern(data[: len(text)], text, rho, nu, threshold))


def test_the_redrawn_threshold_is_fresh_after_each_answer():
    scan = SAMPLERS._scan([0, 0], RUNS, np.random.default_rng(3), rho=40, nu=0, stop=2, threshold=0, redraw=True)
    first, second = [hit for _, hit, _ in scan]
    assert agrees(np.count_nonzero(first & second), RUNS, 1 / 4)  # an old threshold would be passed again: 1/2
    assert not np.any(~first & second)


@pytest.mark.parametrize("value", [-30.0, 0.0, 25.0])
def test_numerical_answers_of_technique_3_are_the_noisy_answers_compared(value):
    y = sample("svt3", [1, 1])
    law = integral(lambda z: density(z, 20) * np.maximum(cdf(value - 1, 20) - cdf(z, 20), 0), [0, value - 1], 20)
    assert agrees(np.count_nonzero((y[:, 0] > -1e4) & (y[:, 0] <= value)), RUNS, law)
    assert set(np.unique(y[y[:, 0] > -1e4, 1])) == {-2e4}


def test_numerical_answers_of_the_numerical_technique_are_drawn_afresh():
    y = sample("numerical_svt", [1, 1, 1])
    above = pattern([1], "T", 30, 120, 1)
    for value in (-50.0, 30.0):
        assert agrees(np.count_nonzero((y[:, 0] != 0) & (y[:, 0] <= value)), RUNS, above * float(cdf(value - 1, 60)))
    twice = (y[:, 0] != 0) & (y[:, 1] != 0)
    assert np.array_equal(twice, y[:, 2] == -2e4)
    assert agrees(np.count_nonzero(twice), RUNS, pattern([1, 1], "TT", 30, 120, 1))


@pytest.mark.parametrize(("name", "scale", "width"), [("noisy_hist1", 10, 5), ("laplace_parallel", 200, 20), ("prefix_sum", 10, 10)])
def test_the_entries_of_a_vector_are_independent_laplace(name, scale, width):
    y = sample(name, [0] * (1 if name == "laplace_parallel" else width), 20_000)
    noise = np.diff(y, axis=1, prepend=0) if name == "prefix_sum" else y
    assert noise.shape == (20_000, width)
    assert stats.kstest(noise.ravel(), stats.laplace(scale=scale).cdf).pvalue > ALPHA
    for i in range(width - 1):
        assert agrees(np.count_nonzero((noise[:, i] > 0) == (noise[:, i + 1] > 0)), 20_000, 1 / 2)


@pytest.mark.parametrize("value", [2, 6])
def test_rappor_reports_each_bit_with_the_probability_of_its_filter(value):
    filters = {2: {11, 19, 10, 7}, 6: {0, 6, 14, 17}}  # MurmurHash3 of the decimal digit, seeds 0 to 3, modulo 20
    for name, one, zero in (("rappor", RAPPOR_SET, RAPPOR_CLEAR), ("one_time_rappor", 21 / 40, 19 / 40)):
        counts = sample(name, [value], 100_000).sum(axis=0)
        assert all(agrees(count, 100_000, one if bit in filters[value] else zero) for bit, count in enumerate(counts))


@pytest.mark.parametrize(("name", "k"), [("geosample", 3), ("geosample_right", 5)])
@pytest.mark.parametrize("count", range(6))
def test_geosample_is_the_truncated_geometric_mechanism(name, k, count):
    a = 2**k / (2**k + 1)
    y = sample(name, [count], 100_000)
    for z in range(6):
        assert agrees(np.count_nonzero(y == z), 100_000, a ** abs(z - count) * (1 if z in (0, 5) else 1 - a) / (1 + a))


def test_the_gaussian_controls_are_tight_and_too_short_for_their_claim():
    def delta(sigma, epsilon=1.0):
        return stats.norm.cdf(0.5 / sigma - epsilon * sigma) - math.exp(epsilon) * stats.norm.cdf(-0.5 / sigma - epsilon * sigma)

    assert 0.99999e-5 < delta(SIGMA) <= 1e-5
    assert delta(SIGMA / 1.1) == pytest.approx(4.3128e-5, rel=1e-4)
    assert delta(SIGMA / 1.1, SHORT) == pytest.approx(1e-5, rel=1e-6)
    for name, sigma in (("gaussian", SIGMA), ("gaussian_short_noise", SIGMA / 1.1), ("gaussian_pure", 10)):
        assert stats.kstest(sample(name, [1], 50_000), stats.norm(1, sigma).cdf).pvalue > ALPHA


# -- the claim files ---------------------------------------------------------------------------------------------


def test_every_sampler_has_its_claim_file_and_its_row_in_the_table():
    stems = {path.stem.removeprefix("sampled_") for path in FILES}
    assert stems == set(TRUTH) == set(EVENTS)
    assert sum("published" in row for row in TRUTH.values()) == 20


@pytest.mark.sampled(15)
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_what_is_declared_of_a_sampler_is_proved_or_refuted_and_its_tight_epsilon_is_that_of_the_table(path):
    (stated,) = read_spec(path).claims
    row, text = TRUTH[path.stem.removeprefix("sampled_")], path.read_text()
    assert f'sampler = "samplers:{row["name"]}"' in text
    assert ("wrong" if row["wrong"] else "right") in text.split("[mechanism]")[0]
    assert float(stated.claim.delta.value) == row.get("delta", 0)
    found = verify(stated.claim, 9).judgement
    assert found.verdict == stated.expect == ("REFUTED" if row["wrong"] else "PROVED")
    ends = [math.inf if isinstance(end, Infinite) else number(end) for end in (found.lower, found.upper) if end is not None]
    assert ends and all(end == pytest.approx(float(row["epsilon"]), rel=1e-6) for end in ends)
    assert len(ends) == 2 or row["name"] in ("snapping", "gaussian_pure", "report_noisy_max4", "svt5")


CONFORMING = ["laplace_half_noise", "noisy_hist2", "geosample", "report_noisy_max2", "svt1", "svt2", "svt4", "svt5", "svt6"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", CONFORMING)
def test_a_sampler_is_as_its_file_declares(name):
    law = declared(read_spec(FOLDER / f"sampled_{name}.toml").claims[0].claim)
    for data in TRUTH[name]["pair"]:
        tester = conformance(law, np.array(data))
        assert tester.log_wealth(tester.statistics(encode(sample(name, data, 20_000), 20_000)), 20_000)[0] < 6


@pytest.mark.wide
def test_the_audit_of_a_file_agrees_with_its_proof():
    spec = read_spec(FOLDER / "sampled_svt5.toml")
    found = audit_spec(spec, samples=6_000, seed=2, level="model")
    assert found[0].finding == "VIOLATION" and spec.claims[0].expect == "REFUTED"


def test_names_of_claim_files_are_nobody_elses():
    assert not {path.stem for path in FILES} & {path.stem for path in (ROOT / "specs").glob("*.toml")}
