"""Every kind with a law of its own has a sampler of that law: against the distribution functions that audits have, and exact moments."""

import pickle

import numpy as np
import pytest
from scipy import stats

import dpverify
from dpverify import declare
from dpverify.audits.declared import declared
from dpverify.catalogue.declarations import Mechanism
from dpverify.errors import DataError, NoSampler
from dpverify.samplers import mechanisms
from dpverify.samplers.grids import grid
from dpverify.trusted.kernel.expr import ONE, num
from dpverify.trusted.kernel.model import Claim, Compose, Part, Sampled, repeated

SIZE = 20_000
BOX = [[1, 0], [0, 1]]


def model(declaration):
    return Mechanism("noise", declaration).model()


def drawn(mechanism, data=None, size=SIZE, seed=1, **options):
    sampler = mechanisms.sampler(mechanism, **options)
    return sampler(sampler.zeros if data is None else data, size, np.random.default_rng(seed))


def agree(points, cdf):
    return stats.kstest(points, cdf).pvalue > 1e-4


RADIAL = {
    "l1": ("exp(-r)", declare.L1(), 3),
    "l2": ("(1 + r**2/5)**(-4)", declare.L2(), 3),
    "linf": ("exp(-sqrt(r))", declare.LInf(), 2),
    "lp": ("1/(1 + r**4)", declare.Lp("5/2"), 2),
    "lp of a great p": ("exp(-r**2)", declare.Lp(2000), 2),
    "ellipsoid": ("exp(-r)/(1 + r)", declare.Ellipsoid([[2, 1], [1, 3]]), 2),
    "columns": ("exp(-r**3)", declare.Columns([[1, 0], [0, 1], [1, 1]]), 2),
    "facets": ("max(0, 1 - r)", declare.Facets([[1, 0], [0, 1], [1, 1]]), 2),
    "on the line": ("exp(-r)*(1 + r)", declare.Facets([[3]]), 1),
}


@pytest.mark.parametrize(("profile", "norm", "dimension"), RADIAL.values(), ids=RADIAL)
def test_the_length_of_radial_noise_has_the_declared_law_and_its_direction_is_symmetric(profile, norm, dimension):
    noise = model(declare.Radial(norm=norm, profile=profile, dimension=dimension, scale=2))
    law = declared(Claim(noise, ONE, sensitivity=ONE))
    points = drawn(noise)
    if dimension == 1:
        assert agree(points, law.noise_cdf())
        return
    lengths = law.norm(points)
    assert agree(lengths, law.radius_cdf())
    for values in (points[:, 0], points[:, -1]):
        assert stats.binomtest(int((values > 0).sum()), SIZE).pvalue > 1e-4
    upper = points[:, 0] > np.median(points[:, 0])
    assert stats.ks_2samp(lengths[points[:, 0] > 0], lengths[points[:, 0] < 0]).pvalue > 1e-4 and upper.any()


@pytest.mark.parametrize(
    ("norm", "second"),
    [
        (declare.L1(), [[1 / 6, 0], [0, 1 / 6]]),
        (declare.L2(), [[1 / 4, 0], [0, 1 / 4]]),
        (declare.LInf(), [[1 / 3, 0], [0, 1 / 3]]),
        (declare.Ellipsoid([[2, 1], [1, 3]]), [[2 / 4, 1 / 4], [1 / 4, 3 / 4]]),
        (declare.Columns([[1, 0], [0, 1], [1, -1]]), [[5 / 18, -5 / 36], [-5 / 36, 5 / 18]]),
        (declare.Facets(BOX), [[1 / 3, 0], [0, 1 / 3]]),
    ],
    ids=["l1", "l2", "linf", "ellipsoid", "hexagon", "square"],
)
def test_noise_that_is_uniform_in_the_unit_ball_has_the_second_moments_of_the_ball(norm, second):
    points = drawn(model(declare.Radial(norm=norm, profile="1 - floor(min(r, 1))", dimension=2)))
    squares = points[:, :, None] * points[:, None]
    assert (np.abs(squares.mean(0) - second) < 5 * squares.std(0) / SIZE**0.5).all()


LINES = {
    "an asymmetric density": declare.Translation("exp(-z - exp(-z))"),
    "a density on an interval": declare.Translation("1 + z", support=["-1/2", 2]),
    "the staircase": declare.staircase(1, "1/4"),
    "a mixture": declare.Mixture("exp(-r**2/(2*v))/v**(1/2)", "v**(-7/2)*exp(-5/(2*v))", declare.L2(), 1),
    "a mixture of bounded scale": declare.Mixture("v*exp(-v*r)", "v", declare.L1(), 1, support=[1, 3]),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("declaration", LINES.values(), ids=LINES)
def test_noise_on_the_line_has_its_distribution_function(declaration):
    noise = model(declaration)
    assert agree(drawn(noise), declared(Claim(noise, ONE, sensitivity=ONE)).noise_cdf())


def test_the_coordinates_of_product_noise_are_independent_draws():
    noise = model(declare.Product("1/cosh(z)**2", 3))
    points = drawn(noise, [1, 2, 3]) - [1, 2, 3]
    assert agree(points.ravel(), lambda z: (1 + np.tanh(z)) / 2)
    assert np.abs(np.corrcoef(points.T) - np.eye(3)).max() < 5 / SIZE**0.5
    assert np.abs(np.corrcoef(np.abs(points).T) - np.eye(3)).max() < 5 / SIZE**0.5


@pytest.mark.parametrize(
    ("declaration", "row", "probabilities"),
    [
        (declare.Table([["1/3", "2/3"], ["1/2", "1/2"]]), 0, [1 / 3, 2 / 3]),
        (declare.Exponential([[0, 1, 2], [2, 1, 0]], "log(2)"), 1, [4 / 7, 2 / 7, 1 / 7]),
        (declare.k_randomized_response(4, "1/2"), 2, [1 / 6, 1 / 6, 1 / 2, 1 / 6]),
        (declare.k_randomized_response(10**6, "1 - 1/10**9"), 10**5, None),
    ],
)
def test_finitely_many_outputs_have_their_probabilities(declaration, row, probabilities):
    outputs = drawn(model(declaration), row)
    if probabilities is None:
        assert all(output == row for output in outputs)
        return
    assert stats.chisquare(np.bincount(outputs), np.array(probabilities) * SIZE).pvalue > 1e-4


def test_a_kernel_is_drawn_at_its_theta():
    density = "exp(-abs(y - theta))/(2 - exp(-theta) - exp(theta - 1))"
    kernel = model(declare.Kernel(density, output=[0, 1], input=[0, 1]))
    law = declared(Claim(kernel, ONE))
    for theta in (0.0, 0.3):
        assert agree(drawn(kernel, theta), law.output_cdf(np.array([theta])))
    with pytest.raises(DataError, match=r"data = 2 is not in \[0, 1\]"):
        drawn(kernel, 2)


def test_builtins_on_the_integers_are_exact_for_every_scale():
    laplace, gaussian = model(declare.discrete_laplace("7/2")), model(declare.discrete_gaussian("sqrt(5)"))
    for noise in (laplace, gaussian):
        assert mechanisms.sampler(noise).told[-1] == "exact: nothing is rounded"
    assert agree_on_integers(drawn(laplace, 10) - 10, lambda z: np.exp(-np.abs(z) / 3.5))
    assert agree_on_integers(drawn(gaussian), lambda z: np.exp(-(z**2) / 10))
    assert drawn(laplace, 2**63 + 5, 3).dtype == object
    other = model(declare.discrete_laplace("sqrt(2)"))
    assert agree_on_integers(drawn(other), lambda z: np.exp(-np.abs(z) / 2**0.5))


def agree_on_integers(outcomes, weight):
    places = np.arange(-200, 201)
    mass = weight(places) / weight(places).sum()
    common = mass > 5e-4
    seen = np.array([(outcomes == z).sum() for z in places[common]])
    return stats.chisquare([*seen, SIZE - seen.sum()], [*mass[common] * SIZE, (1 - mass[common].sum()) * SIZE]).pvalue > 1e-4


# -- parts -----------------------------------------------------------------------------------------------------


def test_the_parts_of_a_composition_put_out_their_answers_one_after_the_other():
    part = declare.discrete_laplace("1/100", times=2)
    both = model(declare.Compose(parts=[part, declare.Product("exp(-abs(z)*10**6)", 2), declare.Table([[0, 1], [1, 0]])]))
    points = drawn(both, [7, 1, 2, 1], 5)
    assert points.shape == (5, 5) and np.allclose(points, [7, 7, 1, 2, 0], atol=1e-3)


@pytest.mark.parametrize("kind", ["Group", "Lipschitz", "Parallel"])
def test_what_changes_neighbours_alone_is_drawn_as_its_part(kind):
    part = declare.discrete_laplace(2)
    options = {"Group": {"part": part, "size": 3}, "Lipschitz": {"part": part, "constant": 2}, "Parallel": {"parts": [part]}}[kind]
    assert np.array_equal(drawn(model(getattr(declare, kind)(**options))), drawn(model(part)))


def test_a_linear_map_is_applied_to_what_its_part_puts_out():
    inner = declare.Compose(parts=[declare.discrete_laplace(2), declare.discrete_laplace(3)])
    plain = drawn(model(inner), [1, 2])
    mapped = drawn(model(declare.PostProcess(inner, matrix=[[1, 1], [0, 2], [1, -1]])), [1, 2])
    assert mapped.dtype == np.int64 and np.array_equal(mapped, plain @ np.array([[1, 0, 1], [1, 2, -1]]))
    halves = drawn(model(declare.PostProcess(inner, matrix=[["1/2", 0]])), [1, 2])
    assert np.array_equal(halves, plain[:, 0] / 2)
    huge = drawn(model(declare.PostProcess(inner, matrix=[[10**20, 0]])), [1, 2])
    assert [int(x) for x in huge] == [10**20 * int(x) for x in plain[:, 0]]


# -- floats ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("snap", "finding"), [(None, ("VIOLATION", "float")), ("1/1048576", ("NO_VIOLATION_SEEN", "model"))])
def test_an_audit_finds_the_last_bits_of_floats_unless_they_are_snapped_away(snap, finding):
    claim = Claim(model(declare.laplace(1)), ONE, sensitivity=ONE)
    found = dpverify.audit(dpverify.sampler(claim, snap=snap), claim, samples=8_000, seed=1)
    assert (found.finding, found.level) == finding
    assert {one.finding for one in (found, *found.also)} <= {"NO_VIOLATION_SEEN", finding[0]}


def test_snapped_outputs_are_multiples_of_the_step():
    points = drawn(model(declare.Product("exp(-z**2)", 2)), [1 / 3, 1e6 / 7], grid=grid("1/256"))
    assert np.array_equal(points * 256, np.rint(points * 256))
    kernel = model(declare.Kernel("1", output=[0, 1], input=[0, 1]))
    assert set(drawn(kernel, 0, 200, grid=grid("1/2"))) == {0, 0.5, 1}


def test_a_sampler_goes_to_other_processes_and_draws_the_same_there():
    mine = mechanisms.sampler(model(declare.Product("1/cosh(z)**2", 2)), grid("1/256"))
    theirs = pickle.loads(pickle.dumps(mine))
    assert theirs == mine and theirs.told == mine.told
    assert np.array_equal(*(each([0, 1], 10, np.random.default_rng(1)) for each in (mine, theirs)))


# -- what there is no sampler for, and no data -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mechanism", "why"),
    [
        (Sampled(), "the one that the \\[audit\\] table names"),
        (declare.Guarantee(epsilon=1), "only a guarantee is known"),
        (declare.Subsample(declare.laplace(1), "1/2"), "a random sample of the records"),
        (declare.PostProcess(declare.laplace(1), map="rounded"), "names the map and does not say what it does"),
        (declare.Mixture("exp(-r - v*r**2)", "exp(-v)", declare.L2(), 1), r"no s\(v\) is found"),
        (Compose((repeated(Part(Sampled()), num(5000)),)), "times is no integer from 1 to 4096"),
        (Compose((repeated(Part(model(declare.Product("exp(-z**2)", 3000))), num(2)),)), "put out more than 4096 numbers"),
        (Compose((Part(model(declare.Product("exp(-z**2)", 3000))),) * 2), "put out more than 4096 numbers"),
        (declare.Translation("exp(-z**2)", support=["sqrt(2)", 5], integers=True), "not rational. Round it inward"),
        (declare.Radial(norm=declare.Ellipsoid([[1, 0], [0, "1e-400"]]), profile="exp(-r)", dimension=2), "too long and thin"),
    ],
)
def test_what_has_no_law_to_draw_from_is_told_so(mechanism, why):
    with pytest.raises(NoSampler, match=why):
        mechanisms.sampler(mechanism if not hasattr(mechanism, "constructor") else model(mechanism))


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ([1, 2], "is not a list of 3 numbers"),
        (1, "is not a list of 3 numbers"),
        ("abc", "is not a list of 3 numbers"),
        ([1, 2, float("nan")], "is not a list of 3 numbers"),
        ([1, 2, True], "is not a list of 3 numbers"),
        ([0.5, 0, 0], "data = 0.5 is not an integer"),
        ([0, 10**400, 0], "an integer beyond the range of floats"),
        ([0, 0, 2], "data = 2 is not the number of an input: 0 to 1"),
    ],
)
def test_what_is_no_true_answer_is_told_so(data, why):
    mechanism = model(declare.Compose(parts=[declare.discrete_laplace(1), declare.laplace(1), declare.randomized_response("3/4")]))
    with pytest.raises(DataError, match=why):
        drawn(mechanism, data, 10)
    with pytest.raises(DataError, match="size = -1 is negative"):
        drawn(mechanism, [0, 0, 0], -1)


def test_a_claim_that_ranges_over_parameters_has_no_one_law():
    noise = Mechanism("t", declare.laplace("b"), {"b": declare.Positive()})
    with pytest.raises(NoSampler, match="ranges over b"):
        dpverify.sampler(noise)


def test_python_takes_claims_and_declarations_alike():
    declaration = declare.discrete_laplace(2)
    found = [
        dpverify.sampler(of)(0, 50, np.random.default_rng(1)).tolist()
        for of in (declaration, Mechanism("m", declaration), model(declaration), Claim(model(declaration), ONE))
    ]
    assert found[0] == found[1] == found[2] == found[3]
    assert dpverify.sampler(declare.laplace(1))(np.array([0.5]), 3, np.random.default_rng(1)).shape == (3,)
