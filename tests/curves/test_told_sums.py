"""Streams that tell sums of Gaussian noises and answers: the Mahalanobis distance of the greatest move, by hand and by matrices."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.special import ndtr as phi

from dpverify.catalogue.reader import read_tables
from dpverify.search.verify import verify
from dpverify.trusted.combinators.runs import whole
from dpverify.trusted.kernel.balls import constant, precision
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.order.enclosed import enclose
from dpverify.trusted.theories.selection.rules import told_sums


def gaussian(sigma):
    return {"kind": "builtin", "name": "gaussian", "sigma": sigma}


def stream(queries, *step, neighbours="one", **others):
    table = {"kind": "stream", "fresh": {"nu": gaussian(2)}, "queries": queries, "neighbours": neighbours, "step": list(step)}
    return table | others


COUNTED = {"state": {"s": 0, "i": 0}}
AND_SUM = (
    {"when": "i >= 2", "emit": "sum", "tell": "s + nu"},
    {"emit": "count", "tell": "q + nu", "set": {"s": "s + q", "i": "i + 1"}},
)
"""Two counts are told with noise, and then their sum with noise of its own."""
AND_NOISY_SUM = (AND_SUM[0], AND_SUM[1] | {"set": {"s": "s + q + nu", "i": "i + 1"}})
"""The same where the sum is of the noisy counts."""
ENDS = (
    {"when": "i >= 3", "tell": "s + q + nu"},
    {"when": "i >= 2", "emit": "read", "set": {"s": "s + q + nu", "i": "i + 1"}},
    {"when": "i >= 1", "tell": "s + q + nu", "set": {"s": "s + q + nu", "i": "i + 1"}},
    {"emit": "read", "set": {"s": "s + q + nu", "i": "i + 1"}},
)
"""Of four noisy counts the sum of the first two and that of all."""
PREFIX = {"tell": "s + q + nu", "set": {"s": "s + q"}}
TREE = {"answers": ["x", "y"], "fresh": {"a": gaussian(2), "b": gaussian(2), "c": gaussian(3)}}
NODES = {"tell": ["x + a", "y + b", "x + y + c"]}
INTEGER = {"kind": "translation", "density": "exp(-z**2/2)", "integers": True}
SHARED = {"once": {"z": gaussian(3)}}


def of_pair(mu, epsilon=1.0):
    return phi(mu / 2 - epsilon / mu) - math.exp(epsilon) * phi(-mu / 2 - epsilon / mu)


def claimed(mechanism, **others):
    table = {"mechanism": mechanism, "claim": [{"sensitivity": 1, "epsilon": 1, "delta": "tight"} | others]}
    return read_tables("stream.toml", table).claims[0].claim


@pytest.mark.parametrize(
    "mechanism, square",
    [
        (stream(3, *AND_SUM, **COUNTED), Fraction(1, 4) + Fraction(1, 4)),
        (stream(3, *AND_SUM, **COUNTED, neighbours="all"), 2 * Fraction(1, 4) + Fraction(4, 4)),
        (stream(3, *AND_NOISY_SUM, **COUNTED), Fraction(1, 4)),
        (stream(4, *ENDS, **COUNTED), Fraction(1, 8)),
        (stream(4, *ENDS, **COUNTED, neighbours="increasing"), 2 * Fraction(4, 8)),
        (stream(3, PREFIX, state={"s": 0}), Fraction(3, 4)),
        (stream(3, PREFIX, state={"s": 0}, neighbours="monotone"), Fraction(1 + 4 + 9, 4)),
        (stream(1, NODES, **TREE), Fraction(1, 4) + Fraction(1, 9)),
        (stream(1, NODES, **TREE, neighbours="all"), Fraction(2, 4) + Fraction(4, 9)),
        (stream(1, NODES, **TREE, neighbours="hull", hull=[["3", "-3"], [1, 1]]), Fraction(18, 4)),
        # covariance 4 I + 9 J of three numbers: its inverse is (I - 9/31 J)/4
        (stream(3, {"tell": "q + z + nu"}, **SHARED), (1 - Fraction(9, 31)) / 4),
        (stream(3, {"tell": "q + z + nu"}, **SHARED, neighbours="monotone"), Fraction(2, 4) * (1 - 2 * Fraction(9, 31))),
        (stream(3, {"tell": "q + z + nu"}, **SHARED, neighbours="all"), (3 - Fraction(9, 31)) / 4),
        # a counter ends the run after two steps, and before that nothing else does
        (stream(5, PREFIX | {"count": {"n": 1}}, state={"s": 0}, limits={"n": 2}), Fraction(2, 4)),
    ],
)
def test_the_curve_is_that_of_the_greatest_move(mechanism, square):
    found = verify(claimed(mechanism)).judgement
    for bound in (found.delta_lower, found.delta_upper):
        assert float(enclose(bound).mid()) == pytest.approx(of_pair(math.sqrt(square)), rel=1e-9)


def mu(mechanism):
    with precision(64):
        return float(enclose(told_sums.distance(whole(claimed(mechanism)))).mid())


def test_any_sums_are_as_matrices_tell():
    random = np.random.default_rng(7)
    for neighbours in ("one", "all", "increasing"):
        weights = random.integers(-2, 3, size=(4, 2, 3))  # of two numbers told in each step those of the state, the answer and a noise
        step = [
            {
                "when": f"i >= {n}",
                "tell": [f"{a}*s + {b}*q + {c}*nu + {z}" for z, (a, b, c) in zip(("xi", "eta"), weights[n], strict=True)],
                "set": {"s": "s + q - nu", "i": "i + 1"},
            }
            for n in reversed(range(1, 4))
        ]
        step.append({"tell": ["q + nu + xi", "eta - 2*q"], "set": {"s": "s + q - nu", "i": "i + 1"}})
        found = stream(4, *step, **COUNTED, neighbours=neighbours, fresh={"nu": gaussian(2), "xi": gaussian("1/2"), "eta": gaussian("1/2")})
        noise, moves = np.hstack((np.zeros((8, 4)), np.eye(8))), np.zeros((8, 4))
        noise[0, 0], moves[0, 0], moves[1, 0] = 1, 1, -2
        for n, j in product(range(1, 4), range(2)):
            a, b, c = weights[n, j]
            noise[2 * n + j, :n], moves[2 * n + j, :n] = -a, a
            noise[2 * n + j, n], moves[2 * n + j, n] = c, b
        told = noise @ np.diag([2.0] * 4 + [0.5] * 8)
        seen = np.linalg.pinv(told) @ moves
        ends = np.eye(4) if neighbours == "one" else np.array(list(product((0, 1) if neighbours == "increasing" else (-1, 1), repeat=4)))
        assert mu(found) == pytest.approx(max(np.linalg.norm(seen @ end) for end in ends), rel=1e-9)


def test_neighbours_twice_as_far_apart_move_twice_as_far():
    part = stream(3, *AND_SUM, **COUNTED, neighbours="monotone") | {"sensitivity": 1}
    table = {"mechanism": {"kind": "group", "part": part, "size": 2}, "claim": [{"epsilon": 1, "delta": "tight"}]}
    found = verify(read_tables("group.toml", table).claims[0].claim).judgement.delta_upper
    assert float(enclose(found).mid()) == pytest.approx(of_pair(2 * math.sqrt(3 / 2)), rel=1e-9)


@pytest.mark.parametrize("measure, value", [("gdp", 1 / math.sqrt(2)), ("zcdp", 1 / 4), ("renyi", 3 / 4)])
def test_other_measures_are_those_of_the_pair(measure, value):
    told = {"gdp": "tight", "zcdp": "tight", "renyi": {"order": 3, "epsilon": "tight"}}[measure]
    table = {"mechanism": stream(3, *AND_SUM, **COUNTED), "claim": [{"sensitivity": 1, measure: told}]}
    claim = read_tables("stream.toml", table).claims[0].claim
    assert float(enclose(verify(claim).judgement.upper).mid()) == pytest.approx(value, rel=1e-9)


def test_between_bounds_it_bounds_from_above_alone():
    found = verify(claimed(stream(3, PREFIX, state={"s": 0}, bounds=[0, 1]))).judgement
    assert float(enclose(found.delta_upper).mid()) == pytest.approx(of_pair(math.sqrt(3 / 4)), rel=1e-9)
    assert found.delta_lower is None or float(enclose(found.delta_lower).mid()) < of_pair(math.sqrt(3 / 4))


def test_where_nothing_is_told_nothing_is_lost():
    assert mu(stream(3, {"emit": "none"})) == 0


@pytest.mark.parametrize(
    "mechanism, said",
    [
        (stream(3, {"when": "q + nu > 0", "tell": "q + nu"}, {"emit": "no"}), "not certain that all runs take the same"),
        (stream(3, {"when": "nu > 0", "tell": "q + nu"}, {"emit": "no"}), "not certain that all runs take the same"),
        (stream(65, PREFIX, state={"s": 0}), "number from 1 to 64"),
        (stream("n", PREFIX, state={"s": 0}, parameters={"n": "integer >= 1"}), "number from 1 to 64"),
        ({k: v for k, v in stream(1, PREFIX, state={"s": 0}).items() if k != "queries"}, "end after at most 64 steps"),
        (stream(3, {"tell": "q"}), "told without noise"),
        (stream(3, {"tell": ["q + nu", "2*q + nu"]}), "told without noise"),
        (stream(3, {"tell": "q + z"}, **SHARED), "told without noise"),
        (stream(3, PREFIX, state={"s": 0}, fresh={"nu": {"kind": "builtin", "name": "laplace", "scale": 1}}), "not certainly Gaussian"),
        (stream(3, PREFIX, state={"s": 0}, fresh={"nu": gaussian("pi")}), "rational variance"),
        (stream(13, PREFIX, state={"s": 0}, neighbours="all"), "more than 4,096 vertices"),
        (stream(3, PREFIX, state={"s": 0}, fresh={"nu": INTEGER}), "not certainly Gaussian"),
    ],
)
def test_what_is_no_gaussian_vector_is_refused(mechanism, said):
    with pytest.raises(Rejected, match=said):
        told_sums.distance(whole(claimed(mechanism)))


def test_a_noise_told_twice_with_the_same_answer_tells_it_once():
    assert mu(stream(3, {"tell": ["q + nu", "2*q + 2*nu"]})) == pytest.approx(1 / 2)


@pytest.mark.parametrize("order", ["one-sided", "reverse"])
def test_in_one_order_it_is_as_exact(order):
    found = verify(claimed(stream(1, {"tell": "q + nu"}), order=order)).judgement
    low, high = (float(constant(end)) for end in (found.delta_lower, found.delta_upper))
    assert low == pytest.approx(of_pair(1 / 2), rel=1e-9) and high == pytest.approx(of_pair(1 / 2), rel=1e-9)
    assert verify(claimed(stream(1, {"tell": "q + nu"}), order=order, delta=str(of_pair(1 / 2) * 0.99))).judgement.verdict == "REFUTED"


def test_an_answer_does_not_depend_on_what_was_asked_before():
    noise = {"w": {"kind": "translation", "log_density": "-(z - 1)**2/2"}}
    claim = claimed(stream(1, {"tell": "q + w"}, fresh=noise), delta="1/5")
    first, *others = (verify(claim).judgement for _ in range(3))
    assert first.verdict == "PROVED"
    assert all((other.verdict, other.delta_upper, other.rules) == (first.verdict, first.delta_upper, first.rules) for other in others)
