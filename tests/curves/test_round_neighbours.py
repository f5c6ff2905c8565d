"""Real histograms of two kinds of records in l2: a polygon round the disc bounds log-concave noise, directions in it from below."""

from fractions import Fraction

import numpy as np
import pytest

from dpverify.search.verify import verify
from dpverify.trusted.combinators import at_pair, candidates
from dpverify.trusted.kernel.compare import certainly_equal
from dpverify.trusted.kernel.expr import num, parse
from dpverify.trusted.kernel.model import Claim, Compose, Group, Part, Query, Translation

LAPLACE = Translation(parse("exp(-abs(z))"))


def part(*row, noise=LAPLACE):
    return Part(noise, None, Query((tuple(Fraction(x) for x in row),), "l2"))


PAIR = Compose((part(1, 0), part(0, 1)))


def on_a_grid(shifts, epsilon):
    """delta of two Laplace answers that move by so much."""
    z = np.linspace(-20, 20, 1601)
    p = np.exp(-np.abs(z))
    p /= p.sum()
    a, b = (np.abs(z - s) - np.abs(z) for s in shifts)
    loss = a[:, None] + b[None, :]
    return float((p[:, None] * p[None, :] * np.maximum(-np.expm1(epsilon - loss), 0)).sum())


def test_two_laplace_answers_share_the_length_of_the_difference():
    found = verify(Claim(PAIR, num(1), parse("1/10")), digits=8).judgement
    truth = max(on_a_grid((np.cos(t), np.sin(t)), 1.0) for t in np.linspace(0, np.pi / 4, 4))
    low, high = (float(bound.value) for bound in (found.delta_lower, found.delta_upper))
    assert truth - 2e-3 < low <= high < 1.03 * truth
    assert low <= truth + 1e-3 and high >= truth - 1e-3


def test_the_polygon_holds_the_disc_and_is_hardly_greater():
    vertices = [tuple(map(float, v)) for v in candidates._round_about()]
    around = np.array([*vertices, *(tuple(-x for x in v) for v in vertices)])
    around = around[np.argsort(np.arctan2(around[:, 1], around[:, 0]))]
    after = np.roll(around, -1, axis=0)
    cross = around[:, 0] * after[:, 1] - around[:, 1] * after[:, 0]
    assert len(around) == 24
    assert (cross / np.linalg.norm(after - around, axis=1) >= 1 - 1e-12).all()  # every side is as far out as the circle
    assert (np.linalg.norm(around, axis=1) < 1.01).all()


def test_vertices_of_the_polygon_are_no_neighbours_and_scale_with_a_group():
    group = Part(Group(Part(Compose((part(1, 0), part("1/3", 2)))), num(3)))
    for choice in candidates.choices(group):
        assert not at_pair.are_neighbours(group, choice)
        assert 3 < np.linalg.norm([float(x) for x in choice[0][1]]) < 3.03
    assert at_pair.are_neighbours(group, (((("records", 2, "l2")), (Fraction(3), Fraction(0))),))


@pytest.mark.parametrize("row", [(1, 0, 0), ("1/2", 1, 2)])
def test_three_kinds_of_records_have_no_polygon(row):
    with pytest.raises(candidates.Undecided):
        candidates.choices(Part(Compose((part(*row), part(0, 1, 1)))))


def test_what_is_not_log_concave_has_no_polygon():
    with pytest.raises(candidates.Undecided):
        candidates.choices(Part(Compose((part(1, 0), part(0, 1, noise=Translation(parse("1/(1 + z**2)")))))))


def test_the_pure_epsilon_stays_exact():
    found = verify(Claim(PAIR, None), digits=10).judgement
    assert certainly_equal(found.upper, parse("sqrt(2)"))
