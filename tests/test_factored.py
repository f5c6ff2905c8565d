"""Matrices of balls factored at their midpoints (theory#factored-matrices): what is lost is counted."""

from fractions import Fraction

import numpy as np
import pytest
from flint import arb

from dpverify.trusted.kernel.balls import hull, precision
from dpverify.trusted.kernel.errors import Undecided
from dpverify.trusted.numbers import factored

H = [Fraction(x) for x in (1, -2, 3, 1, 0, 2, -1)]


def ball(middle, radius=0):
    return hull(Fraction(middle) - Fraction(radius), Fraction(middle) + Fraction(radius))


def covariance(size=7):
    """min(i, j) and more on the diagonal, with no order in it."""
    rng = np.random.default_rng(3)
    root = rng.integers(-2, 3, (size, size))
    return [[Fraction(int(x)) for x in row] for row in root @ root.T + 3 * np.eye(size, dtype=int)]


def norms(matrix, h):
    """h' K^-1 h of each leading block, by elimination in rationals: the squares of the entries of L^-1 h, over the pivots."""
    rows = [[*row, entry] for row, entry in zip(matrix, h, strict=True)]
    total, found = Fraction(0), []
    for i, row in enumerate(rows):
        total += row[-1] ** 2 / row[i]
        found.append(total)
        for below in rows[i + 1 :]:
            share = below[i] / row[i]
            below[:] = [b - share * a for a, b in zip(row, below, strict=True)]
    return found


def leading(matrix, h, wide=lambda i, j: 0, moved=0):
    return list(factored.leading_norms(lambda i, j: ball(matrix[i][j], wide(i, j)), [ball(x, moved) for x in h]))


def test_every_leading_block_has_its_norm():
    for found, expected in zip(leading(covariance(), H), norms(covariance(), H), strict=True):
        assert hull(expected, expected) in found and found.rad() < 1e-9


def test_what_the_balls_of_a_single_entry_leave_open_is_all_of_it():
    [found] = leading([[Fraction(4)]], [Fraction(2)], lambda i, j: 1, 1)
    assert found.contains(arb("1/5")) and found.contains(arb(3))  # (2 - 1)^2/(4 + 1) and (2 + 1)^2/(4 - 1)
    assert abs(found.lower() - 0.2) < 1e-6 and abs(found.upper() - 3) < 1e-6
    [found] = leading([[Fraction(4)]], [Fraction(1)], lambda i, j: 1, 2)
    assert found.contains(arb(0)) and found.lower() > -1e-6 and abs(found.upper() - 3) < 1e-6


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7])
def test_what_the_balls_of_the_entries_leave_open_is_in_every_norm(size):
    """Matrices inside the balls, each entry at an end of its own, have norms inside those that are found."""
    rng, wide = np.random.default_rng(size), Fraction(1, 100)
    found = leading([row[:size] for row in covariance()[:size]], H[:size], lambda i, j: wide, wide)
    for _ in range(20):
        signs = rng.choice([-1, 1], (size, size + 1))
        inside = [[covariance()[i][j] + wide * int(signs[max(i, j), min(i, j)]) for j in range(size)] for i in range(size)]
        moved = [x + wide * int(sign) for x, sign in zip(H, signs[:, size], strict=False)]
        assert all(hull(one, one) in ball for one, ball in zip(norms(inside, moved), found, strict=True))


def test_the_rest_of_the_square_counts_with_its_row_sums():
    """R = K/4 for one entry: what its ball leaves open over 4 is r, on both sides."""
    [found] = leading([[Fraction(4)]], [Fraction(2)], lambda i, j: 2)
    assert found.contains(1 / (1 + arb("1/2"))) and found.contains(arb(2)) and found.rad() < (arb(2) - arb(2) / 3) / 2 + 1e-6


@pytest.mark.parametrize("middle, radius", [(0, 0), (-1, 0), (1, 1), (1, 2)])
def test_what_is_not_certainly_positive_definite_has_no_answer(middle, radius):
    matrix = [[Fraction(middle if i == j == 3 else i == j) for j in range(4)] for i in range(4)]
    with pytest.raises(Undecided, match="not certainly positive definite"):
        leading(matrix, H[:4], lambda i, j: radius if i == j == 3 else 0)


def test_points_too_close_for_the_precision_have_no_answer():
    """Nearly equal rows are far from independent: their factor is not known at so few bits."""
    close = [[1 - Fraction((i - j) ** 2, 10**6) for j in range(4)] for i in range(4)]
    with precision(32), pytest.raises(Undecided, match="not certainly positive definite"):
        leading(close, H[:4])
