"""Adaptive polylines: every jump breaks them, every kink is a point, and bends get more points."""

import numpy as np
import pytest

from dpverify.pictures.polyline import infinite_spans, polylines, sampled


def test_a_straight_line_takes_no_more_points_than_it_starts_with():
    (line,) = polylines(sampled(lambda x: 2 * x + 1, -3.0, 5.0))
    assert len(line) <= 49
    assert line[0] == (-3.0, -5.0)
    assert line[-1] == (5.0, 11.0)


@pytest.mark.parametrize("width", [1.0, 0.1, 0.01])
def test_the_line_stays_within_one_percent_of_a_bump(width):
    bump = lambda x: 1 / (1 + (x / width) ** 2)  # noqa: E731
    (line,) = polylines(sampled(bump, -10.0, 10.0, [0.0]))
    x = np.linspace(-10, 10, 20001)
    xs, ys = np.array(line).T
    assert np.abs(np.interp(x, xs, ys) - bump(x)).max() < 0.012
    assert len(line) < 200


def test_a_jump_that_nobody_announced_breaks_the_line_where_it_is():
    lines = polylines(sampled(lambda x: np.where(x < 1 / 3, 0.0, 1.0), 0.0, 1.0))
    assert len(lines) == 2
    assert lines[0][-1][0] == pytest.approx(1 / 3, abs=1e-8)
    assert lines[1][0][0] == pytest.approx(1 / 3, abs=1e-8)
    assert all(y == 0 for _, y in lines[0])


def test_a_steep_but_continuous_line_is_not_broken():
    assert len(polylines(sampled(lambda x: np.tanh(1e4 * (x - 0.3)), 0.0, 1.0))) == 1


def test_a_kink_is_one_point_of_the_line():
    (line,) = polylines(sampled(lambda x: np.abs(x - 0.123), -1.0, 1.0, [0.123]))
    assert [x for x, _ in line if abs(x - 0.123) < 1e-3] == [0.123]


def test_infinite_stretches_break_the_line_and_are_listed_to_their_ends():
    points = sampled(lambda x: np.where(x < -0.5, np.inf, np.where(x > 0.7, -np.inf, x)), -1.0, 1.0)
    (line,) = polylines(points)
    assert line[0][0] == pytest.approx(-0.5, abs=1e-8)
    assert line[-1][0] == pytest.approx(0.7, abs=1e-8)
    (plus,), (minus,) = infinite_spans(points, 1), infinite_spans(points, -1)
    assert plus == pytest.approx((-1.0, -0.5), abs=1e-8)
    assert minus == pytest.approx((0.7, 1.0), abs=1e-8)


def test_a_function_without_values_has_no_line():
    points = sampled(lambda x: np.full_like(x, np.nan), 0.0, 1.0)
    assert polylines(points) == ()
    assert infinite_spans(points, 1) == ()
