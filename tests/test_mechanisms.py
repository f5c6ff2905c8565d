"""Every mechanism's sampler draws from the density that its declaration states.

The law is computed here from the declared expression by quadrature, without a word of the sampler.
The tests are seeded: a correct sampler fails at the threshold once in a million times, and then always.
"""

import itertools
import math
from functools import reduce
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest
from scipy import special, stats
from scipy.spatial import ConvexHull

from dpverify import declare
from dpverify.trusted.language import model
from dpverify.trusted.language.expr import Add, Call, Expr, Mul, Num, Pow
from tests.each import holds_of_each

FOLDER = Path(__file__).parents[1] / "mechanisms"
NAMES = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "_template")
SIZE, LEAST_P = 20_000, 1e-6

PARAMETERS = {
    "laplace": [{"b": 2}], "laplace_iid": [{"b": 1.5, "d": 3}], "gaussian": [{"sigma": 2, "d": 3}], "logistic": [{"b": 2}],
    "knorm_l1": [{"eps": 0.5, "d": 4}], "knorm_l2": [{"eps": 2, "d": 1}, {"eps": 0.5, "d": 3}], "knorm_linf": [{"eps": 0.5, "d": 5}],
    "knorm_lp": [{"eps": 1, "d": 3}], "knorm_ellipsoid": [{"eps": 1}], "knorm_polytope": [{"eps": 0.5}], "knorm_facets": [{"eps": 0.5}],
    "student_t": [{"nu": 3, "d": 1}, {"nu": 5, "d": 3}], "cauchy": [{"d": 2}], "pearson_vii": [{"N": 3, "s": 2}],
    "multivariate_laplace": [{"d": 1}, {"d": 2}, {"d": 5}], "exponential_power": [{"a": 0.5, "d": 2}, {"a": 2, "d": 3}],
    "kotz": [{"d": 2}], "kotz_modified": [{"N": 0, "s": 1, "d": 3}, {"N": 5, "s": 1, "d": 2}],
    "hyperbolic": [{"alpha": 2, "delta": 1, "d": 2}],
    "generalized_hyperbolic": [{"lam": -0.5, "alpha": 1, "d": 1}, {"lam": 1, "alpha": 1, "d": 2}], "slash": [{"d": 1}, {"d": 3}],
    "laplace_log_normal": [{"s": 1}], "uniform_log_normal": [{"s": 1}], "arsinh_normal": [{"s": 1}], "staircase": [{"eps": 1, "g": 0.3}],
    "discrete_laplace": [{"b": 2}], "discrete_gaussian": [{"sigma": 2.5}], "geometric": [{"ratio": 0.5}],
    "truncated_geometric": [{"a": 0.5}], "bounded_laplace": [{"b": 0.5}], "randomized_response": [{"p": 0.75}],
    "k_randomized_response": [{"k": 4, "p": 0.5}], "rappor": [{"p": 0.75}], "exponential_mechanism": [{"beta": 0.5}],
    "exponential_mechanism_metric": [{"beta": 0.5}], "two_point": [{"t": 0.25}],
    "noisy_max": [{"b": 2, "n": 3}], "above_threshold": [{"b": 1.5, "n": 3}], "exponential_any_scores": [{"beta": 0.5, "n": 3}],
    "adaptive_threshold": [{"b": 1.5, "n": 3}],
}  # fmt: skip
"""The values at which each mechanism is sampled; a mechanism that is not named has no parameters."""

CASES = [pytest.param(name, values, id=f"{name}-{i}") for name in NAMES for i, values in enumerate(PARAMETERS.get(name, [{}]))]


# -- the declared law --------------------------------------------------------------------------------

FUNCTIONS = {
    "exp": np.exp, "log": np.log, "abs": np.abs, "floor": np.floor, "cosh": np.cosh, "sinh": np.sinh, "tanh": np.tanh,
    "asinh": np.arcsinh, "atanh": np.arctanh, "erf": special.erf, "erfc": special.erfc, "besselk": special.kv, "gamma": special.gamma,
    "min": lambda *args: reduce(np.minimum, args), "max": lambda *args: reduce(np.maximum, args), "pi": lambda: math.pi,
}  # fmt: skip


def value(expr: Expr, at):
    """An expression in doubles, on arrays."""
    if isinstance(expr, Num):
        return float(expr.value)
    if isinstance(expr, Add):
        return sum(value(arg, at) for arg in expr.args)
    if isinstance(expr, Mul):
        return math.prod(value(arg, at) for arg in expr.args)
    if isinstance(expr, Pow):
        return value(expr.base, at) ** value(expr.exponent, at)
    if isinstance(expr, Call):
        return FUNCTIONS[expr.name](*(value(arg, at) for arg in expr.args))
    return at[expr.name]


def distribution(density, low, high):
    """The distribution function of an unnormalised density, by the midpoint rule on a chart of the interval."""
    t = np.linspace(0, 1, 400_001)
    if high < math.inf:
        x = low + (high - low) * t
    elif low > -math.inf:
        x = low + (t / np.maximum(1 - t, 1e-6)) ** 2
    else:
        x = np.tan(math.pi * (np.clip(t, 1e-9, 1 - 1e-9) - 0.5))
    middle = (x[1:] + x[:-1]) / 2
    with np.errstate(all="ignore"):
        mass = np.nan_to_num(density(middle)) * np.diff(x)
    total = np.concatenate(([0.0], np.cumsum(mass)))
    return lambda points: np.interp(points, x, total / total[-1])


def mixed(noise: model.Mixture, values):
    """The radial profile of a scale mixture: Gauss-Legendre in v on a chart of its support."""
    nodes, weights = np.polynomial.legendre.leggauss(400)
    t, weights = (nodes + 1) / 2, weights / 2
    if noise.support[1] is None:
        v, weights = t / (1 - t), weights / (1 - t) ** 2
    else:
        low, high = (value(end, values) for end in noise.support)
        v, weights = low + (high - low) * t, weights * (high - low)

    def profile(r):
        at = {**values, "r": r[:, None], "v": v}
        return (value(noise.profile, at) * value(noise.mixing, at)) @ weights

    return lambda r: np.concatenate([profile(part) for part in np.array_split(r, 200)])


def length(norm: model.Norm, points):
    """The norm of each row."""
    if norm.kind == "lp":
        return np.linalg.norm(points, ord=math.inf if norm.p is None else float(norm.p), axis=1)
    matrix = np.array(norm.matrix, dtype=float)
    if norm.kind == "ellipsoid":
        return np.sqrt(np.einsum("ij,jk,ik->i", points, np.linalg.inv(matrix), points))
    if norm.kind == "facets":
        return np.abs(points @ matrix.T).max(axis=1)
    hull = ConvexHull(np.vstack((matrix, -matrix))).equations
    return (points @ (-hull[:, :-1] / hull[:, -1:]).T).max(axis=1)


# -- comparing ---------------------------------------------------------------------------------------


def agrees(sample, cdf):
    """Kolmogorov and Smirnov do not object."""
    assert stats.kstest(sample, cdf).pvalue > LEAST_P


def counts_agree(sample, probabilities):
    """The chi-square test does not object; outcomes 0, 1, ..., the rare ones pooled."""
    observed = np.bincount(sample, minlength=len(probabilities))
    expected = np.asarray(probabilities) / np.sum(probabilities) * len(sample)
    rare = expected < 5
    if rare.any():
        observed, expected = np.append(observed[~rare], observed[rare].sum()), np.append(expected[~rare], expected[rare].sum())
    assert stats.chisquare(observed[expected > 0], expected[expected > 0]).pvalue > LEAST_P


def load(name):
    spec = spec_from_file_location(f"mechanism_{name}", FOLDER / f"{name}.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def inputs(noise):
    """What the sampler wants to know of the input, for a few inputs."""
    if isinstance(noise, model.Table):
        return [{"x": x} for x in range(len(noise.rows))]
    if isinstance(noise, model.Exponential):
        return [{"x": x} for x in range(len(noise.scores))]
    if isinstance(noise, model.KaryResponse):
        return [{"x": 0}, {"x": 2}]
    if isinstance(noise, model.NoisyMax | model.AboveThreshold | model.Stream):
        return [{"answers": [0, 0, 0]}, {"answers": [-1, 2, 1]}]
    if isinstance(noise, model.Kernel):
        low, high = (value(end, {}) for end in noise.input)
        return [{"theta": low + (high - low) * part} for part in (0, 0.3, 1)]
    return [{}]


def test_a_file_declares_one_mechanism_of_its_own_name_with_its_source():
    holds_of_each(NAMES, declares_one_mechanism_of_its_own_name)


def declares_one_mechanism_of_its_own_name(name):
    module = load(name)
    declared = [thing for thing in vars(module).values() if isinstance(thing, declare.Mechanism)]
    assert [thing.name for thing in declared] == [name]
    assert declared[0] is getattr(module, name)
    assert declared[0].source is not None
    assert module.__doc__.strip()


def test_the_template_is_a_mechanism_itself():
    module = load("_template")
    assert module._template.model() == load("laplace").laplace.model()
    agrees(module.sample(SIZE, np.random.default_rng(1), b=2.0), stats.laplace(scale=2).cdf)


@pytest.mark.parametrize(("name", "values"), CASES)
def test_a_sampler_is_vectorised_and_repeats_itself_under_a_seed(name, values):
    module = load(name)
    noise = getattr(module, name).model()
    for given in inputs(noise):
        first, again, other = (module.sample(50, np.random.default_rng(seed), **given, **values) for seed in (7, 7, 8))
        several = dimension(noise, values) if hasattr(noise, "dimension") else 0
        if isinstance(noise, model.AboveThreshold | model.Stream):
            several = values["n"]
        assert first.shape == ((50, several) if several else (50,))
        assert np.array_equal(first, again)
        assert np.isfinite(first).all()
        assert not np.array_equal(first, other)


def dimension(noise, values):
    return int(value(noise.dimension, values))


@pytest.mark.sampled(16)
@pytest.mark.parametrize(("name", "values"), CASES)
def test_a_sampler_draws_from_the_declared_law(name, values):
    module = load(name)
    noise = getattr(module, name).model()
    rng = np.random.default_rng(20240229)
    for given in inputs(noise):
        sample = module.sample(SIZE, rng, **given, **values)
        fits(noise, values | given, sample, rng)


def fits(noise, values, sample, rng):
    """The sample agrees with the declared law at these values and this input."""
    match noise:
        case model.Radial() | model.Mixture():
            d, radius = dimension(noise, values), length(noise.norm, sample)
            g = mixed(noise, values) if isinstance(noise, model.Mixture) else lambda r: value(noise.profile, {**values, "r": r})
            agrees(radius, distribution(lambda r: r ** (d - 1) * g(r), 0, math.inf))
            directions_agree(noise.norm, sample / radius[:, None], rng)
        case model.Product():
            cdf = distribution(lambda z: value(noise.density, {**values, "z": z}), -math.inf, math.inf)
            for column in sample.T:
                agrees(column, cdf)
            assert stats.spearmanr(sample[:, 0], sample[:, 1]).pvalue > LEAST_P
        case model.Translation(integers=True):
            reach = np.arange(0 if noise.support[0] is not None else -200, 201)
            counts_agree(sample - reach[0], np.broadcast_to(value(noise.density, {**values, "z": reach.astype(float)}), reach.shape))
        case model.Translation():
            low, high = (sign * math.inf if end is None else value(end, values) for sign, end in zip((-1, 1), noise.support, strict=True))
            agrees(sample, distribution(lambda z: np.broadcast_to(value(noise.density, {**values, "z": z}), z.shape), low, high))
        case model.NoisyMax() | model.AboveThreshold():
            compared(noise, values, sample)
        case model.Stream():
            in_tiers(noise, values, sample)
        case model.Kernel():
            low, high = (value(end, values) for end in noise.output)
            agrees(sample, distribution(lambda y: value(noise.density, {**values, "y": y}), low, high))
        case model.Table():
            counts_agree(sample, [value(entry, values) for entry in noise.rows[values["x"]]])
        case model.Exponential():
            counts_agree(sample, [math.exp(value(noise.beta, values) * value(score, values)) for score in noise.scores[values["x"]]])
        case model.KaryResponse():
            k, p = values["k"], values["p"]
            counts_agree(sample, [p if y == values["x"] else (1 - p) / (k - 1) for y in range(k)])
        case model.Staircase():
            eps, gamma = values["eps"], values["g"]
            agrees(sample, distribution(lambda z: np.exp(-eps * np.floor(np.abs(z) + 1 - gamma)), -60, 60))


def directions_agree(norm, direction, rng):
    """Directions follow the cone measure: a point of the body is uniform when a radius U^(1/d) is added."""
    size, d = direction.shape
    if d == 1:
        counts_agree((direction[:, 0] > 0).astype(int), [1, 1])
        return
    if norm.kind in ("columns", "facets"):
        cones_agree(norm, direction)
        return
    if norm.kind == "ellipsoid":
        direction = direction @ np.linalg.inv(np.linalg.cholesky(np.array(norm.matrix, dtype=float))).T
    p = math.inf if norm.kind == "lp" and norm.p is None else 2.0 if norm.kind == "ellipsoid" else float(norm.p)
    body = direction * rng.random((size, 1)) ** (1 / d)
    slab = (lambda t: np.ones_like(t)) if p == math.inf else (lambda t: (1 - np.abs(t) ** p) ** ((d - 1) / p))
    for column in body.T:
        agrees(column, distribution(slab, -1, 1))


def cones_agree(norm, direction):
    """Each cone over a simplex of the hull's boundary has the share of directions that it has of the volume."""
    if norm.kind == "columns":
        corners = np.array(norm.matrix, dtype=float)
        corners = np.vstack((corners, -corners))
    else:
        facets = np.array(norm.matrix, dtype=float)
        polar = ConvexHull(np.vstack((facets, -facets))).equations  # the corners of K are the facets of its polar
        corners = np.unique(np.round(-polar[:, :-1] / polar[:, -1:], 12), axis=0)
    simplices = corners[ConvexHull(corners).simplices]
    inside = np.array([(direction @ np.linalg.inv(simplex)).min(axis=1) for simplex in simplices])
    counts_agree(inside.argmax(axis=0), np.abs(np.linalg.det(simplices)))


# -- comparisons ---------------------------------------------------------------------------------------


def compared(noise, values, sample):
    """An index, or where a run stops, by sums over all values of one noise."""
    answers = values["answers"]
    if isinstance(noise, model.NoisyMax) and not noise.noise.integers:
        counts_agree(sample, np.exp(values["beta"] * np.array(answers)))
        return
    places = np.arange(-120, 121)

    def mass(law):
        weights = value(law.density, {**values, "z": places.astype(float)})
        return weights / weights.sum()

    if isinstance(noise, model.NoisyMax):
        p = mass(noise.noise)
        below = [np.array([p[places + q < v].sum() for v in places]) for q in answers]
        at = [np.interp(places - q, places, p) for q in answers]
        law = [at[i] * math.prod(below[j] + at[j] * (j > i) for j in range(3) if j != i) for i in range(3)]
        counts_agree(sample, [part.sum() for part in law])
        return
    first, other = mass(noise.threshold_noise), mass(noise.query_noise)
    no = [np.array([other[places + q < t].sum() for t in places]) for q in answers]
    stops = [first * math.prod(no[:k]) * (1 - no[k]) for k in range(3)] + [first * math.prod(no)]
    before = np.where((sample == 1).any(axis=1), (sample == 1).argmax(axis=1), 3)
    assert ((sample == 0).sum(axis=1) == before).all() and ((sample == -1).sum(axis=1) == np.maximum(2 - before, 0)).all()
    counts_agree(before, [part.sum() for part in stops])


def in_tiers(noise, values, sample):
    """What is told by an adaptive threshold, by sums over all values of its noise."""
    places = np.arange(-160, 161)

    def mass(law):
        weights = value(law.density, {**values, "z": places.astype(float)})
        return weights / weights.sum()

    first, far, near = (mass(drawn.noise) for drawn in (*noise.once, *noise.fresh))
    chances = []
    for q in values["answers"]:
        leaps, above = (np.array([law[places + q >= t + beyond].sum() for t in places]) for law, beyond in ((far, 5), (near, 0)))
        chances.append([leaps, (1 - leaps) * above, (1 - leaps) * (1 - above)])
    law = {}
    for words in itertools.product((0, 1, 2), repeat=3):
        cost = np.cumsum([0, *(0 if word == 2 else 1 + word for word in words)])
        told = tuple(word if spent < 3 else -1 for word, spent in zip(words, cost[:3], strict=True))
        law[told] = (first * math.prod(chances[k][word] for k, word in enumerate(told) if word >= 0)).sum()
    order = list(law)
    counts_agree(np.array([order.index(tuple(row)) for row in sample.tolist()]), list(law.values()))
