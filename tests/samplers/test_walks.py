"""Walks: their limit is the uniform law, what chains tell of themselves is right, and a claim is weakened as the theorem says."""

import pickle
from fractions import Fraction as F
from math import exp, log

import numpy as np
import pytest
from scipy import stats

from dpverify.errors import DataError, NoSampler
from dpverify.samplers import polytope, walked, walks
from dpverify.samplers.mechanisms import sampler
from dpverify.trusted.kernel.expr import num, parse
from dpverify.trusted.kernel.model import L2, Compose, Norm, Part, Radial

HEXAGON = ((F(1), F(0)), (F(0), F(1)), (F(1), F(-1)))
EXACT = polytope.hull(HEXAGON)


def rng(seed=1):
    return np.random.default_rng(seed)


def test_the_oracle_of_linear_programs_says_what_the_facets_say():
    programs, known = walks.hull(HEXAGON), walks.facets(EXACT)
    points, directions = rng().uniform(-0.3, 0.3, (20, 2)), rng(2).standard_normal((20, 2))
    assert np.allclose(programs.norm(points), known.norm(points)) and np.allclose(known.norm(points), EXACT.gauge(points))
    for mine, theirs in zip(programs.reach(points, directions), known.reach(points, directions), strict=True):
        assert np.allclose(mine, theirs)
        assert np.allclose(known.norm(points + mine[:, None] * directions), 1)


def test_hit_and_run_comes_to_the_uniform_law():
    found = walks.walk(walks.facets(EXACT), walks.hit_and_run, 50, rng(), chains=400, thin=4)
    assert found.r_hat < 1.02 and found.uniformity > 1e-4
    squares = found.points[:, :, None] * found.points[:, None]
    second = [[5 / 18, -5 / 36], [-5 / 36, 5 / 18]]  # of the uniform law of the hexagon
    assert (np.abs(squares.mean(0) - second) < 5 * squares.std(0) / found.effective**0.5).all()
    assert found.told[0] == "walk: not certified" and "(epsilon, delta + (1 + e^epsilon) tau)" in found.told[2]


def test_the_grid_walk_meets_every_point_of_the_grid_in_the_body_alike():
    body = walks.facets(EXACT)
    step = walks.grid_walk(body, 2)
    here, generator = np.zeros((4_000, 2)), rng(7)
    for _ in range(60):
        here = step(body, here, generator)
    places, seen = np.unique(np.rint(here * 2).astype(int), axis=0, return_counts=True)
    sums = places.sum(axis=1)
    assert len(places) == 19 and np.abs(sums).max() <= 2, "the points of the grid in the hexagon"
    assert stats.chisquare(seen).pvalue > 1e-4
    spread = step.spread(here, generator) - here
    assert np.abs(spread).max() <= 0.25 and stats.kstest(spread.ravel() * 2 + 0.5, "uniform").pvalue > 1e-4


def test_walks_by_linear_programs_alone_tell_that_they_are_short():
    found = walks.walk(walks.hull(HEXAGON), walks.grid_walk(walks.hull(HEXAGON), 20), 12, rng(), chains=2, burn=0)
    assert found.r_hat > 1.2 and found.effective < 12
    assert walks.walk(walks.hull(HEXAGON), walks.hit_and_run, 10, rng(), chains=2).points.shape == (20, 2)


def test_effective_sizes_are_those_of_the_theory():
    independent = rng().standard_normal((4, 4_000))
    assert abs(walks.effective(independent) / independent.size - 1) < 0.1 and abs(walks.r_hat(independent) - 1) < 0.01
    rho, chains = 0.9, np.zeros((4, 20_000))
    noise = rng(3).standard_normal(chains.shape)
    for i in range(1, chains.shape[1]):
        chains[:, i] = rho * chains[:, i - 1] + noise[:, i]
    wanted = chains.size * (1 - rho) / (1 + rho)  # of an autoregression of order 1
    assert abs(walks.effective(chains) / wanted - 1) < 0.2
    assert walks.r_hat(independent + np.arange(4)[:, None]) > 1.5 and walks.effective(independent + 3 * np.arange(4)[:, None]) < 100
    assert walks.effective(np.zeros((2, 10))) == 0 and walks.r_hat(np.zeros((2, 10))) == np.inf


def test_a_claim_is_weakened_as_the_theorem_says():
    epsilon, delta = walks.weakened(1.0, 0.1, relative=0.5)
    assert abs(epsilon - (1 + log(3))) < 1e-12 and abs(delta - 0.15) < 1e-12
    assert walks.weakened(1.0, 0.0, total_variation=0.01) == (1.0, (1 + exp(1)) * 0.01)
    assert walks.weakened(1.0, 0.0, total_variation=0.9) == (1.0, 1.0)


@pytest.mark.parametrize("near", [{}, {"relative": 0.1, "total_variation": 0.1}, {"relative": 1.0}, {"total_variation": -0.1}])
def test_how_near_is_said_in_one_way(near):
    with pytest.raises(DataError, match="say how near"):
        walks.weakened(1.0, 0.0, **near)


def test_what_cannot_be_walked_is_told_so():
    with pytest.raises(NoSampler, match="do not span"):
        walks.hull(((F(1), F(1)), (F(2), F(2))))
    with pytest.raises(NoSampler, match="no solution"):
        walks.hull(HEXAGON).reach(np.array([[5.0, 5.0]]), np.array([[1.0, -1.0]]))
    with pytest.raises(DataError, match="at least four points"):
        walks.walk(walks.hull(HEXAGON), walks.hit_and_run, 1, rng())


COLUMNS = ((F(100), F(0)), (F(0), F(1)), (F(100), F(-1)))
ROWS = ((F(1, 100), F(0)), (F(0), F(1)), (F(1, 100), F(1)))  # the facets of the hull of these columns
NORMS = {"columns": Norm("columns", None, COLUMNS), "facets": Norm("facets", None, ROWS)}


@pytest.mark.parametrize("how", ["hit-and-run", "grid"])
def test_noise_by_a_walk_has_the_moments_of_the_noise_and_its_label(how):
    drawn = sampler(Radial(parse("exp(-r)"), NORMS["facets"], num(2), num(2)), walk=how)
    outputs = drawn([7, 0], 2_000, rng()) - [7, 0]
    # a uniform point of the hexagon with (1, 0), (0, 1), (1, -1) has E u_i^2 = 5/18; noise exp(-r/2) has 3 4 4 times that, 100^2 times more
    told = drawn.told[drawn.told.index("walk: not certified") :]
    worth = float(told[1].split("worth ")[1].split()[0])
    assert np.allclose((outputs**2).mean(0) * [1e-4, 1], 12 * 4 * 5 / 18, rtol=min(1.0, 8 / worth**0.5))
    assert told[1].startswith("R-hat ") and "(epsilon, delta + (1 + e^epsilon) tau)" in told[2] and "the walk's unknown" in told[2]
    assert told[3] == "outputs of one run depend on each other: for data that are released, take one output of each run"


def test_directions_by_a_walk_are_of_length_1_in_the_norm(monkeypatch):
    monkeypatch.setattr(walked, "LEAST", 4)
    for norm in NORMS.values():
        draw, told = walked.Walking("hit-and-run").directions(norm, 2)
        points = draw(9, rng())
        assert np.allclose(np.abs(points @ np.array(ROWS, float).T).max(axis=1), 1) and "walk, hit-and-run" in told
        assert len(np.unique(points, axis=0)) == 9


def test_every_part_in_the_norm_of_a_polytope_has_a_walk_and_no_other_one(monkeypatch):
    monkeypatch.setattr(walked, "LEAST", 4)
    noises = (Radial(parse("exp(-r)"), norm, num(2)) for norm in (*NORMS.values(), L2))
    drawn = sampler(Compose(tuple(map(Part, noises))), walk="hit-and-run")
    assert drawn([0] * 6, 8, rng()).shape == (8, 6) and drawn([0] * 6, 8, rng()).shape == (8, 6)
    lines = [line for line in drawn.told if line.startswith("walk ")]
    assert [line[:14] for line in lines] == ["walk 1, R-hat ", "walk 2, R-hat "] and "the sum of all walks' unknown" in drawn.told[-2]
    assert pickle.loads(pickle.dumps(drawn)).walk.how == "hit-and-run"


def test_where_there_is_nothing_to_walk_in_or_no_such_walk_it_says_so():
    with pytest.raises(NoSampler, match="a walk has nothing to walk in"):
        sampler(Radial(parse("exp(-r)"), L2, num(2)), walk="grid")
    with pytest.raises(DataError, match="walk = 'ball' is not one of hit-and-run, grid"):
        sampler(Radial(parse("exp(-r)"), NORMS["columns"], num(2)), walk="ball")
    flat = Norm("columns", None, ((F(1), F(1)), (F(2), F(2))))
    with pytest.raises(NoSampler, match="do not span the space"):
        sampler(Radial(parse("exp(-r)"), flat, num(2)), walk="grid")
