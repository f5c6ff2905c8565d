"""Conformance: expected values come from scipy's laws and from samplers written here."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy import stats

from dpverify.audits.conformance import Conformance, Ties, conformance, ties
from dpverify.audits.declared import Declared, declared
from dpverify.audits.outputs import Outputs
from dpverify.catalogue import read_spec, resolve
from dpverify.errors import AuditError
from tests.effort import tries

Array = np.ndarray[Any, Any]
NEED = np.log(1 / (0.1 * 1e-3))  # conformance has about a tenth of the capital of an audit at 99.9 %


def lp(points: Array, p: float) -> Array:
    return np.linalg.norm(points, ord=p, axis=-1)


def ellipsoid(points: Array) -> Array:
    return np.asarray(np.sqrt(np.einsum("...i,ij,...j->...", points, np.linalg.inv(SIGMA), points)))


def hexagon(points: Array) -> Array:
    return np.abs(points @ HEXAGON.T).max(axis=-1)


SIGMA = np.array([[4.0, 1.0], [1.0, 1.0]])
HEXAGON = np.array([[1.0, 0.0], [0.3, 1.0], [-0.8, 0.9]])


@dataclass(frozen=True)
class Law(Declared):
    """What dpverify.audits.declared would answer, from scipy."""

    kind: str = "line"  # type: ignore[misc]
    cdf: Any = None
    dimension: int = 1
    size: Any = None
    row: tuple[float, ...] = ()

    def worst_pairs(self) -> list[tuple[Array, Array]]:
        return []

    def partition(self, x: Array, x_prime: Array) -> Any: ...

    def law(self, x: Array, x_prime: Array, scale: float = 1.0) -> None: ...

    def neighbours(self, x: Array, x_prime: Array) -> bool:
        return True

    def curve(self) -> None: ...

    def noise_cdf(self) -> Any:
        return self.cdf

    def radius_cdf(self) -> Any:
        return self.cdf

    def output_cdf(self, x: Array) -> Any:
        return self.cdf

    def norm(self, points: Array) -> Any:
        return self.size(points)

    def probabilities(self, x: Array) -> Any:
        return np.array(self.row)


Draw = Callable[[int, np.random.Generator], Array]


def wealth(tester: Conformance, values: Array) -> tuple[float, str]:
    values = np.asarray(values)
    outputs = Outputs(values.reshape(len(values), -1))
    return tester.log_wealth(tester.statistics(outputs), len(outputs))


def median_samples(tester: Conformance, draw: Draw, most: int, runs: int = 15, step: int = 100) -> float:
    """The median number of outputs until the wealth reaches NEED; inf where it does not within `most`."""
    found = []
    for seed in range(runs):
        values = draw(most, np.random.default_rng(seed)).reshape(most, -1)
        total, when = np.zeros(1, dtype=np.int64), np.inf
        for start in range(0, most, step):
            total = total + tester.statistics(Outputs(values[start : start + step]))
            if tester.log_wealth(total, start + step)[0] >= NEED:
                when = start + step
                break
        found.append(when)
    return float(np.median(found))


LAWS = {"laplace": stats.laplace(), "gaussian": stats.norm(), "t": stats.t(5), "logistic": stats.logistic()}
LAWS["small"] = stats.laplace(scale=1e-6)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("scale", [0.9, 1.1])
@pytest.mark.parametrize("name", LAWS)
def test_a_tenth_of_scale_is_found_within_2500_samples(name: str, scale: float) -> None:
    tester = conformance(Law(cdf=LAWS[name].cdf), np.zeros(1))
    assert median_samples(tester, lambda n, rng: scale * LAWS[name].rvs(size=n, random_state=rng), 4000, runs=25) <= 2500


@pytest.mark.parametrize("scale", [0.9, 1.1])
def test_a_tenth_of_scale_of_integer_noise_is_found_within_2500_samples(scale: float) -> None:
    tester = conformance(Law("integers", stats.dlaplace(1 / 5).cdf), np.array([7.0]))
    draw: Draw = lambda n, rng: 7 + stats.dlaplace(1 / 5 / scale).rvs(size=n, random_state=rng)  # noqa: E731
    assert median_samples(tester, draw, 4000, runs=25) <= 2500


def k_norm(shape: float, n: int, rng: np.random.Generator, d: int = 3) -> Array:
    direction = rng.exponential(size=(n, d)) * rng.choice([-1, 1], size=(n, d))
    return direction / lp(direction, 1)[:, None] * rng.gamma(shape, size=n)[:, None]


L1_NOISE = Law("radial", stats.gamma(3).cdf, 3, partial(lp, p=1))


def test_a_tenth_of_scale_of_a_norm_is_found_within_2500_samples() -> None:
    assert median_samples(conformance(L1_NOISE, np.ones(3)), lambda n, rng: 1 + 0.9 * k_norm(3, n, rng), 3000) <= 1500


@pytest.mark.parametrize("shape", [2, 4])
def test_a_radius_with_the_degrees_of_another_dimension_is_found_at_once(shape: int) -> None:
    assert median_samples(conformance(L1_NOISE, np.ones(3)), lambda n, rng: 1 + k_norm(shape, n, rng), 1000, step=50) <= 300


def test_tails_that_are_not_drawn_are_found_in_about_ten_thousand_samples() -> None:
    def draw(n: int, rng: np.random.Generator) -> Array:
        noise = rng.laplace(size=2 * n)
        return noise[np.abs(noise) < np.log(500)][:n]  # 1e-3 on either side is missing

    assert median_samples(conformance(Law(cdf=stats.laplace.cdf), np.zeros(1)), draw, 12_000, runs=5) <= 10_000


def leaking(draw: Draw, size: float, part: float, n: int, rng: np.random.Generator) -> Array:
    """With probability `part` the noise is `size` times what it should be."""
    noise = draw(n, rng).reshape(n, -1)
    return noise * np.where(rng.random((n, 1)) < part, size, 1.0)


SMEARED: dict[str, tuple[Law, Draw]] = {
    "laplace": (Law(cdf=stats.laplace.cdf), lambda n, rng: rng.laplace(size=n)),
    "gaussian": (Law(cdf=stats.norm.cdf), lambda n, rng: rng.standard_normal(n)),
    "skewed": (Law(cdf=stats.expon(-0.3).cdf), lambda n, rng: rng.exponential(size=n) - 0.3),
    "product": (Law("product", stats.laplace.cdf, 3), lambda n, rng: rng.laplace(size=(n, 3))),
    "norm": (Law("radial", stats.gamma(3).cdf, 3, partial(lp, p=1)), lambda n, rng: k_norm(3, n, rng)),
    "integers": (Law("integers", stats.dlaplace(1e-5).cdf), lambda n, rng: np.rint(stats.dlaplace(1e-5).rvs(size=n, random_state=rng))),
}


@pytest.mark.parametrize("size", [0.0, 1e-6, 1e-3])
@pytest.mark.parametrize("name", SMEARED)
def test_noise_that_is_now_and_then_far_too_small_is_found_in_about_ten_thousand_samples(name: str, size: float) -> None:
    law, draw = SMEARED[name]

    def leak(n: int, rng: np.random.Generator) -> Array:
        noise = leaking(draw, size, 5e-3, n, rng)
        return np.rint(noise) if law.kind == "integers" else noise

    assert median_samples(conformance(law, np.zeros(law.dimension)), leak, 12_000, runs=5, step=500) <= 10_000


def test_a_leak_near_the_true_answer_is_named() -> None:
    leak = leaking(lambda n, rng: rng.laplace(size=n), 1e-3, 5e-3, 40_000, np.random.default_rng(0))
    assert "too often near the true answer" in wealth(conformance(Law(cdf=stats.laplace.cdf), np.zeros(1)), leak)[1]


CONFORMING: dict[str, tuple[Law, Array, Draw]] = {
    "laplace": (Law(cdf=stats.laplace.cdf), np.array([3.0]), lambda n, rng: 3 + rng.laplace(size=n)),
    "far from zero": (Law(cdf=stats.laplace.cdf), np.array([1e9]), lambda n, rng: 1e9 + rng.laplace(size=n)),
    "heavy": (Law(cdf=stats.cauchy.cdf), np.array([3.0]), lambda n, rng: 3 + rng.standard_cauchy(size=n)),
    "uniform": (Law(cdf=stats.uniform.cdf), np.array([0.0]), lambda n, rng: rng.random(n)),
    "one-sided": (Law("product", stats.expon.cdf, 5), np.zeros(5), lambda n, rng: rng.exponential(size=(n, 5))),
    "integers": (Law("integers", stats.dlaplace(0.7).cdf), np.zeros(1), lambda n, rng: stats.dlaplace(0.7).rvs(size=n, random_state=rng)),
    "l1": (L1_NOISE, np.ones(3), lambda n, rng: 1 + k_norm(3, n, rng)),
    "maximum norm": (
        Law("radial", stats.gamma(4).cdf, 4, partial(lp, p=np.inf)),
        np.zeros(4),
        lambda n, rng: rng.uniform(-1, 1, size=(n, 4)) * rng.gamma(5, size=n)[:, None],  # uniform in the ball: one degree more
    ),
    "ellipsoid": (
        Law("radial", stats.chi(2).cdf, 2, ellipsoid),
        np.zeros(2),
        lambda n, rng: rng.multivariate_normal(np.zeros(2), SIGMA, size=n),
    ),
    "l3": (
        Law("radial", lambda r: stats.gamma(4 / 3).cdf(np.maximum(r, 0) ** 3), 4, partial(lp, p=3)),
        np.zeros(4),
        lambda n, rng: rng.gamma(1 / 3, size=(n, 4)) ** (1 / 3) * rng.choice([-1, 1], size=(n, 4)),
    ),
    "polytope": (
        Law("radial", stats.gamma(2).cdf, 2, hexagon),
        np.zeros(2),
        lambda n, rng: in_hexagon(n, rng) * rng.gamma(3, size=n)[:, None],
    ),
    "table": (Law("finite", row=(0.5, 0.3, 0.2, 0.0)), np.zeros(1), lambda n, rng: rng.choice(3, size=n, p=[0.5, 0.3, 0.2])),
    "kernel": (Law("kernel", stats.beta(2, 5).cdf), np.zeros(1), lambda n, rng: rng.beta(2, 5, size=n)),
}


def in_hexagon(n: int, rng: np.random.Generator) -> Array:
    points = rng.uniform(-3, 3, size=(20 * n, 2))
    return points[hexagon(points) <= 1][:n]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", CONFORMING)
def test_a_conforming_sampler_gives_no_wealth(name: str) -> None:
    law, x, draw = CONFORMING[name]
    tester = conformance(law, x)
    reached, last = [], []
    for seed in range(12):  # seed 8 is a Laplace sample whose mean of |z| is 4.4 standard errors off after 2,500 draws: it may alarm
        values = draw(8000, np.random.default_rng(seed)).reshape(8000, -1)
        parts = [tester.statistics(Outputs(part)) for part in np.split(values, 16)]
        reached.append(max(tester.log_wealth(sum(parts[: k + 1]), 500 * (k + 1))[0] for k in range(16)))
        last.append(wealth(tester, values)[0])
    assert (np.array(reached) >= np.log(20)).mean() <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 12)
    assert np.median(last) < 0  # bets cost where nothing is wrong


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["laplace", "l1", "table", "integers"])
def test_false_alarms_with_optional_stopping_stay_within_alpha(name: str) -> None:
    law, x, draw = CONFORMING[name]
    tester, rng, runs = conformance(law, x), np.random.default_rng(5), tries(150, 1000)
    best = np.full(runs, -np.inf)
    for run in range(runs):
        values = draw(1024, rng).reshape(1024, -1)
        total, start = 0, 0
        for end in 2 ** np.arange(11):
            total, start = total + tester.statistics(Outputs(values[start:end])), end
            best[run] = max(best[run], tester.log_wealth(total, end)[0])
    for alpha in (0.05, 0.01):
        assert (best >= np.log(1 / alpha)).mean() <= alpha + 3 * np.sqrt(alpha * (1 - alpha) / runs)


def test_every_bet_has_mean_at_most_one_whatever_the_rounding() -> None:
    for law, x, _ in CONFORMING.values():
        for view in conformance(law, x).views:
            assert (np.exp(view.log_odds) @ view.upper <= 1 + 1e-9).all()
            assert np.exp(view.log_weights).sum() == pytest.approx(1)
            assert view.upper.sum() >= 1


def equal_signs(n: int, rng: np.random.Generator) -> Array:
    return 1 + np.abs(k_norm(3, n, rng)) * rng.choice([-1, 1], size=(n, 1))


def one_coordinate_larger(n: int, rng: np.random.Generator) -> Array:
    noise = k_norm(3, n, rng) * np.array([1.0, 1.0, 1.5])
    return 1 + noise / lp(noise, 1)[:, None] * rng.gamma(3, size=n)[:, None]


def gaussian_directions(n: int, rng: np.random.Generator) -> Array:
    noise = rng.standard_normal((n, 3))
    return 1 + noise / lp(noise, 1)[:, None] * rng.gamma(3, size=n)[:, None]


@pytest.mark.parametrize("draw", [equal_signs, one_coordinate_larger, gaussian_directions])
def test_wrong_directions_under_a_right_norm_are_found(draw: Draw) -> None:
    tester = conformance(L1_NOISE, np.ones(3))
    level, meaning = wealth(tester, draw(6000, np.random.default_rng(1)))
    assert level > NEED
    assert not meaning.startswith("norm")


def test_noise_of_a_product_that_is_shared_by_the_coordinates_is_found() -> None:
    tester = conformance(Law("product", stats.laplace.cdf, 4), np.zeros(4))
    shared = np.repeat(np.random.default_rng(2).laplace(size=(1000, 1)), 4, axis=1)
    assert wealth(tester, shared)[0] > NEED


def test_the_meaning_names_what_is_wrong() -> None:
    rng, tester = np.random.default_rng(3), conformance(Law(cdf=stats.laplace.cdf), np.zeros(1))
    assert "0.9 times the declared scale" in wealth(tester, 0.9 * rng.laplace(size=20_000))[1]
    assert "0.5 times the declared scale" in wealth(tester, 0.5 * rng.laplace(size=20_000))[1]
    assert "declared centre" in wealth(tester, 0.14 + rng.laplace(size=5000))[1]


def test_values_outside_the_declared_support_are_found() -> None:
    rng = np.random.default_rng(4)
    outside = np.append(rng.random(1000), [1.5, 1.5])
    level, meaning = wealth(conformance(Law(cdf=stats.uniform.cdf), np.zeros(1)), outside)
    assert level > NEED
    assert "above all that the declared law can give" in meaning


@pytest.mark.parametrize("value", [3, 4, -1, 0.5])
def test_a_column_that_cannot_be_is_infinite_evidence(value: float) -> None:
    level, meaning = wealth(conformance(Law("finite", row=(0.5, 0.3, 0.2, 0.0)), np.zeros(1)), np.array([0, 1, value]))
    assert level == np.inf
    assert "outside the declared support" in meaning


def test_integer_noise_between_the_integers_is_infinite_evidence() -> None:
    assert wealth(conformance(Law("integers", stats.dlaplace(0.7).cdf), np.zeros(1)), np.array([0.0, 1.5]))[0] == np.inf


def test_another_temperature_of_a_table_is_found() -> None:
    row = np.array([0.5, 0.3, 0.15, 0.05])
    hot = row**0.5 / (row**0.5).sum()
    tester = conformance(Law("finite", row=tuple(row)), np.zeros(1))
    level, meaning = wealth(tester, np.random.default_rng(6).choice(4, size=2000, p=hot))
    assert level > NEED
    assert "2 times the declared temperature" in meaning


def test_outputs_of_another_shape_are_an_error() -> None:
    tester = conformance(Law(cdf=stats.laplace.cdf), np.zeros(1))
    with pytest.raises(AuditError, match="1 number an output"):
        tester.statistics(Outputs(np.zeros((5, 2))))
    with pytest.raises(AuditError, match="None"):
        tester.statistics(Outputs(np.zeros((2, 1)), np.array([0, 1]), ("float", "None")))
    with pytest.raises(AuditError, match="nan"):
        tester.statistics(Outputs(np.full((2, 1), np.nan)))


def test_statistics_of_other_outputs_are_an_error() -> None:
    tester = conformance(Law(cdf=stats.laplace.cdf), np.zeros(1))
    with pytest.raises(AuditError, match="not of 6 outputs"):
        tester.log_wealth(tester.statistics(Outputs(np.zeros((5, 1)))), 6)


def test_a_kind_without_distribution_function_is_an_error() -> None:
    with pytest.raises(AuditError, match="no conformance test"):
        conformance(Law("mystery"), np.zeros(1))


def test_statistics_add_up_and_survive_pickling() -> None:
    for name in ("laplace", "l1", "ellipsoid", "integers", "table"):
        law, x, draw = CONFORMING[name]
        values = draw(300, np.random.default_rng(0)).reshape(300, -1)
        tester = conformance(law, x)
        other = pickle.loads(pickle.dumps(tester))
        whole = tester.statistics(Outputs(values))
        parts = [other.statistics(Outputs(part)) for part in np.split(values, [1, 120])]
        assert (sum(parts) == whole).all()


@pytest.mark.parametrize("name", ["student_t", "knorm_ellipsoid", "knorm_facets"])
def test_the_catalogue_conforms_and_a_tenth_less_does_not(name: str) -> None:
    law = declared(read_spec(resolve(name)[0]).claims[0].claim)
    assert law is not None
    cdf, rng, x = law.radius_cdf(), np.random.default_rng(3), np.ones(law.dimension)
    assert cdf is not None
    radii = np.geomspace(1e-6, 1e6, 1 << 18)
    noise = np.interp(rng.random(3000), cdf(radii), radii)[:, None] * law.directions(3000, rng)
    tester = conformance(law, x)
    assert wealth(tester, x + noise)[0] < 0
    assert wealth(tester, x + 0.9 * noise)[0] > NEED


# -- repeated values


def tied(law: Law, values: Array, x: float = 0.0) -> tuple[float, str]:
    """The wealth after outputs that came in two batches."""
    test = ties(law, np.full(law.dimension, x))
    assert isinstance(test, Ties)
    for part in np.array_split(values.reshape(len(values), -1), 2):
        test = test.merge(Outputs(part))
    return test.log_wealth()


LAPLACE = Law(cdf=stats.laplace.cdf)
NOISE = np.random.default_rng(9).laplace(size=100_000)


@pytest.mark.parametrize(
    "values",
    [
        NOISE,
        np.round(NOISE, 6),
        np.round(NOISE * 2**20) / 2**20,
        NOISE + 1e9 - 1e9,
        np.random.default_rng(9).standard_normal(100_000),
        -np.log(np.random.default_rng(9).random(100_000)),
    ],
    ids=["numpy", "six decimals", "a fine grid", "far away", "gaussian", "inverse"],
)
def test_doubles_and_fine_grids_give_no_wealth(values: Array) -> None:
    assert tied(LAPLACE, values)[0] < 0


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (NOISE.astype(np.float32), "repeat"),
        (np.round(NOISE, 2)[:1000], "multiples of 0.01"),
        (np.round(NOISE[:1000] * 16) / 16, "multiples of 0.0625"),
        (np.concatenate([NOISE[:500], NOISE[:500]]), "500 of 1000 outputs repeat"),
        (NOISE[np.random.default_rng(1).integers(65536, size=3000)], "repeat"),
        (np.clip(NOISE[:10_000], -6, 6), "repeat"),
    ],
    ids=["float32", "two decimals", "a coarse grid", "a reused seed", "16 bits of seed", "clipped"],
)
def test_repeated_values_are_found(values: Array, words: str) -> None:
    level, meaning = tied(LAPLACE, values)
    assert level > NEED
    assert words in meaning


def test_vectors_drawn_from_few_seeds_are_found() -> None:
    few = k_norm(3, 1000, np.random.default_rng(0))
    assert tied(L1_NOISE, few[np.random.default_rng(1).integers(1000, size=500)])[0] > NEED
    assert tied(L1_NOISE, k_norm(3, 50_000, np.random.default_rng(0)))[0] < 0


def test_laws_on_integers_and_tables_may_repeat() -> None:
    assert ties(Law("integers", stats.dlaplace(0.7).cdf), np.zeros(1)) is None
    assert ties(Law("finite", row=(0.5, 0.5)), np.zeros(1)) is None


@pytest.mark.wide
def test_repeats_on_an_allowed_grid_stay_within_alpha() -> None:
    rng, runs, step = np.random.default_rng(8), 200, 2.0**-18
    alarms = 0
    for _ in range(runs):
        values = np.round(rng.laplace(size=(2048, 1)) / step) * step
        test, best, start = ties(LAPLACE, np.zeros(1)), -np.inf, 0
        assert test is not None
        for end in (128, 512, 1024, 2048):
            test, start = test.merge(Outputs(values[start:end])), end
            best = max(best, test.log_wealth()[0])
        alarms += best >= np.log(20)
    assert alarms / runs <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)
