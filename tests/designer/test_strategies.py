"""Strategies and how precisely their rows are measured: the map back is exact, the precisions are as good as a second method's."""

from fractions import Fraction
from math import exp, sqrt

import numpy as np
import pytest
from scipy.optimize import minimize

from dpverify.project.designer import exact
from dpverify.project.designer.candidates import least_sigma
from dpverify.project.designer.question import Question
from dpverify.project.designer.recursive import of_the_paper, tuned
from dpverify.project.designer.strategies import strategies
from dpverify.project.designer.tuning import discrete_delta, discrete_sigma, spread, weights
from dpverify.project.designer.workloads import marginals, prefixes, ranges
from dpverify.trusted.kernel.expr import ONE

GENERATOR = np.random.default_rng(5)
RANDOM = tuple(tuple(Fraction(int(x)) for x in row) for row in GENERATOR.integers(-3, 4, (4, 9)))
HEAVY = (tuple(100 * x for x in RANDOM[0]), *RANDOM[1:], RANDOM[1])
QUERIES = {"random": RANDOM, "one heavy row, one twice": HEAVY, "ranges": ranges(5).rows, "prefixes": prefixes(8).rows}


def question(rows, workload=None, adjacency="l1"):
    return Question("query.toml", rows, adjacency, ONE, workload=workload)


@pytest.mark.parametrize("name", QUERIES)
def test_every_map_back_gives_exactly_the_query(name):
    found = list(strategies(question(QUERIES[name])))
    assert len(found) >= 3 and len({one.name for one in found}) == len(found)
    for one in found:
        assert one.back is None or exact.times(one.back, one.rows) == QUERIES[name]


def test_marginals_of_any_sizes_are_made_of_few_interactions():
    workload = marginals((2, 3, 2), 2)
    one = next(one for one in strategies(question(workload.rows, workload)) if one.name == "interactions")
    assert exact.times(one.back, one.rows) == workload.rows
    assert len(one.rows) == 1 + (1 + 2 + 1) + (2 + 1 + 2)  # the mean, main effects, pairs


@pytest.mark.parametrize("power", [1, 2])
def test_precisions_are_those_of_a_general_solver(power):
    costs, moves = np.array([1.0, 4.0, 9.0, 0.5]), np.abs(GENERATOR.normal(size=(4, 6)))
    w = weights(costs, moves, power)
    assert ((w**power) @ (moves**power)).max() <= 1 + 1e-9
    known = minimize(
        lambda x: (costs / x**2).sum(),
        np.full(4, 0.1),
        bounds=[(1e-3, None)] * 4,
        constraints={"type": "ineq", "fun": lambda x: 1 - (x**power) @ (moves**power)},
        options={"maxiter": 500, "ftol": 1e-12},
    )
    assert (costs / w**2).sum() == pytest.approx(known.fun, rel=1e-4)


def test_the_ellipsoid_holds_all_moves_and_none_of_less_trace_does():
    moved = GENERATOR.normal(size=(12, 3))
    s = spread(moved)
    sigma = np.trace(s) * s
    lengths = np.einsum("ij,jk,ik->i", moved, np.linalg.inv(sigma), moved)
    assert lengths.max() == pytest.approx(1, abs=1e-5)

    def trace(entries):
        low = np.zeros((3, 3))
        low[np.tril_indices(3)] = entries
        shape = low @ low.T + 1e-9 * np.eye(3)
        return np.trace(shape) * np.einsum("ij,jk,ik->i", moved, np.linalg.inv(shape), moved).max()

    known = min(minimize(trace, GENERATOR.normal(size=6), method="Nelder-Mead", options={"maxiter": 4000}).fun for _ in range(3))
    assert np.trace(sigma) <= known * (1 + 1e-4)


@pytest.mark.parametrize("adjacency", ["l1", "replace"])
def test_the_pieces_of_a_recursive_mechanism_estimate_exactly_the_query(adjacency):
    kept = exact.basis(HEAVY)
    rows = tuple(HEAVY[i] for i in kept)
    back = exact.coordinates(HEAVY, rows)
    found = [of_the_paper(rows, back, adjacency), *tuned(rows, back, adjacency)]
    assert len(found) >= 2
    for split in found:
        stacked = tuple(row for piece in split.pieces for row in piece.rows)
        assert exact.times(split.matrix, stacked) == HEAVY


def test_the_paper_halves_the_dimension_until_it_is_one():
    split = of_the_paper(RANDOM, exact.unit(4), "l1")
    assert [len(piece.rows) for piece in split.pieces] == [4, 2, 1]  # floor(log2 4) + 1 levels
    assert [len(piece.keep) for piece in split.pieces] == [2, 1, 1]
    assert {piece.share for piece in split.pieces} == {Fraction(1, 3)}


def test_exact_decimals_lie_above():
    for x in (1.0, 0.1, 123.456, 7e-9):
        assert Fraction(x) < exact.above(x) < Fraction(x) * (1 + Fraction(1, 10**5))


@pytest.mark.parametrize(("sigma", "move", "epsilon"), [(0.7, 1, 1.0), (4.0, 3, 0.5), (4.0, 1, 2.0)])
def test_delta_of_discrete_gaussian_noise_is_the_sum_over_the_integers(sigma, move, epsilon):
    law = {z: exp(-0.5 * (z / sigma) ** 2) for z in range(-100, 101)}
    total = sum(law.values())
    want = sum(max(p - exp(epsilon) * law.get(z + move, 0.0), 0.0) for z, p in law.items()) / total
    found = discrete_delta(np.array([move]), np.array([sigma]), epsilon)
    assert want - 1e-15 <= found <= want * 1.01
    both = sum(
        max(p * r - exp(epsilon) * law.get(z + move, 0.0) * law.get(y + 1, 0.0), 0.0) for z, p in law.items() for y, r in law.items()
    )
    assert discrete_delta(np.array([move, 1, 0]), np.array([sigma] * 3), epsilon) == pytest.approx(both / total**2, rel=0.01)


def test_discrete_gaussian_noise_is_wide_enough_and_not_much_wider_than_that():
    moves, shares = np.array([[1.0, 2.0], [1.0, -2.0], [1.0, 0.0]]), np.array([1.0, 2.0])
    least = least_sigma(1.0, 1e-5) * sqrt(2)
    found = discrete_sigma(moves, shares, 1.0, 1e-5, least)
    assert discrete_delta(moves[0], found * shares, 1.0) <= 1e-5 < discrete_delta(moves[0], found / 1.002 * shares, 1.0)
