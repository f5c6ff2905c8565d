"""Exponential mechanisms on nets: drawn exactly, as near as is promised and as private as is proved (theory#net-mechanism)."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from dpverify.catalogue.shapes import read_shape
from dpverify.errors import NoSampler
from dpverify.samplers.nearness import near_mechanism
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.expr import num, parse
from dpverify.trusted.kernel.model import Claim, Space

SPACES = {
    "points": ({"kind": "points", "distances": [[abs(i - j) for j in range(6)] for i in range(6)]}, "3/2", 2, range(6)),
    "square": ({"kind": "box", "sides": [1, "3/2"], "norm": "linf"}, "1/4", (Fraction(1, 3), Fraction(1, 7)), None),
    "triangle of sums": ({"kind": "box", "sides": [1, 1], "norm": "l1"}, "1/2", (Fraction(1), Fraction(0)), None),
    "tree": ({"kind": "tree", "ratio": "1/2", "branching": [3, 2]}, "1/4", (2, 1, 0, 1, 1), None),
    "cantor": ({"kind": "cantor", "ratio": "1/3"}, "1/5", (1, 0, 1, 1), None),
}


def mechanism(name, beta="1/10"):
    space, within, truth, _ = SPACES[name]
    asked = Claim(Space(read_shape(space), databases="answers"), None, within=parse(within), beta=parse(beta))
    return near_mechanism(asked), truth, Fraction(within)


def law(found, truth):
    """The probabilities of the net's points, in floats."""
    weights = np.exp([-float(found.rate * found.distance(truth, point)) for point in found.points])
    return weights / weights.sum()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", SPACES)
def test_what_is_drawn_has_the_law_of_the_exponential_mechanism_and_is_near(name):
    found, truth, within = mechanism(name)
    assert found.verified.judgement.verdict == "PROVED"
    drawn = Counter(found.sample(truth, 600, np.random.default_rng(5)))
    expected = law(found, truth)
    seen = np.array([drawn[point] for point in found.points])
    likely = expected * 600 >= 5
    groups = [np.append(x[likely], x[~likely].sum()) for x in (seen, expected * 600)]
    groups = [x[groups[1] > 0] for x in groups]
    assert stats.chisquare(*groups).pvalue > 1e-4
    far = [p for point, p in zip(found.points, expected, strict=True) if found.distance(truth, point) > within]
    assert sum(far) <= 0.1
    assert min(found.distance(truth, point) for point in found.points) <= within / 2  # it is a net


@pytest.mark.parametrize("name", SPACES)
def test_no_two_true_answers_are_told_apart_better_than_is_proved(name):
    found, truth, _ = mechanism(name)
    epsilon = 2 * found.rate
    for other in found.points[:: max(1, len(found.points) // 7)]:
        losses = np.log(law(found, truth)) - np.log(law(found, other))
        assert np.abs(losses).max() <= float(epsilon * found.distance(truth, other)) + 1e-9


def test_the_exact_epsilon_stands_beside_the_general_bound():
    found, _, _ = mechanism("points")
    judged = found.exactly().judgement
    points, rate = np.arange(6), float(found.rate)
    rows = np.exp(-rate * np.abs(points[:, None] - points))
    rows /= rows.sum(axis=1, keepdims=True)
    losses = np.abs(np.log(rows[:, None]) - np.log(rows[None])).max(axis=2)
    gaps = np.abs(points[:, None] - points) + np.eye(6)
    exact = float(constant(judged.upper).mid())
    assert exact == pytest.approx((losses / gaps).max()) and exact < 2 * rate
    assert mechanism("square")[0].exactly() is None


@pytest.mark.parametrize(
    ("space", "within", "why"),
    [
        ({"kind": "ball", "radius": 1, "dimension": 2}, "1/4", "not all rational"),
        ({"kind": "box", "sides": [1, 1]}, "1/4", "not all rational"),
        ({"kind": "box", "sides": [1000, 1000], "norm": "linf"}, "1/4", "at most"),
        ({"kind": "integers"}, "1", "not all rational|no mechanism"),
        ({"kind": "box", "sides": [1]}, "sqrt(2)", "are rationals"),
    ],
    ids=str,
)
def test_what_is_not_drawn_is_said(space, within, why):
    with pytest.raises(NoSampler, match=why):
        near_mechanism(Claim(Space(read_shape(space), databases="answers"), None, within=parse(within), beta=parse("1/10")))
    with pytest.raises(NoSampler, match="for a space"):
        near_mechanism(Claim(Space(read_shape(space), databases="answers"), num(1)))
