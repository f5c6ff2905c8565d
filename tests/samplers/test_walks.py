"""Walks: their limit is the uniform law, what chains tell of themselves is right, and a claim is weakened as the theorem says."""

from fractions import Fraction as F
from math import exp, log

import numpy as np
import pytest
from scipy import stats

from dpverify.errors import DataError, NoSampler
from dpverify.samplers import polytope, walks

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
