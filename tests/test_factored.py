"""Matrices of balls factored at their midpoints (theory#factored-matrices): what is lost is counted, whatever the tiles."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from flint import arb, arb_mat

from dpverify.trusted.kernel.balls import exact, hull, precision
from dpverify.trusted.kernel.errors import Undecided
from dpverify.trusted.numbers import factored

H = [Fraction(x) for x in (1, -2, 3, 1, 0, 2, -1)]


@pytest.fixture(autouse=True, params=[2, 3, 100])
def _tiles(request, monkeypatch):
    monkeypatch.setattr(factored, "_TILE", request.param)


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


def parts(size):
    starts = range(0, size, factored._TILE)
    return starts, [min(factored._TILE, size - start) for start in starts]


def in_tiles(matrix, wide=lambda i, j: 0):
    starts, sizes = parts(len(matrix))

    def tile(a, b):
        places = product(range(starts[a], starts[a] + sizes[a]), range(starts[b], starts[b] + sizes[b]))
        return arb_mat(sizes[a], sizes[b], [ball(matrix[i][j], wide(i, j)) for i, j in places])

    return [[tile(a, b) for b in range(a + 1)] for a in range(len(sizes))]


def triangle(tiles, size):
    """The exact lower triangle that tiles are of."""
    starts, sizes = parts(size)
    found = [[Fraction(0)] * size for _ in range(size)]
    for a, row in enumerate(tiles):
        for b, tile in enumerate(row):
            for i, j in product(range(sizes[a]), range(sizes[b])):
                assert tile[i, j].rad() == 0
                found[starts[a] + i][starts[b] + j] = exact(tile[i, j])
    return found


def test_every_leading_block_has_its_norm():
    for found, expected in zip(leading(covariance(), H), norms(covariance(), H), strict=True):
        assert hull(expected, expected) in found and found.rad() < 1e-9


def test_what_the_balls_of_a_single_entry_leave_open_is_all_of_it():
    [found] = leading([[Fraction(4)]], [Fraction(2)], lambda i, j: 1, 1)
    assert found.contains(arb("1/5")) and found.contains(arb(3))  # (2 - 1)^2/(4 + 1) and (2 + 1)^2/(4 - 1)
    assert abs(found.lower() - 0.2) < 1e-6 and abs(found.upper() - 3) < 1e-6
    [found] = leading([[Fraction(4)]], [Fraction(1)], lambda i, j: 1, 2)
    assert found.contains(arb(0)) and found.lower() > -1e-6 and abs(found.upper() - 3) < 1e-6


def test_what_is_lost_is_as_much_as_the_matrix_is_from_the_square_of_its_factor_in_every_row():
    size, wide = 7, lambda i, j: Fraction(1 + i * j, 1000)
    matrix, tiles = covariance(), in_tiles(covariance(), wide)
    lost = [arb_mat(size, 1) for size in parts(size)[1]]
    factored._factor(tiles, lost)
    lower = triangle(tiles, size)
    off = [[abs(matrix[i][j] - sum(x * y for x, y in zip(lower[i], lower[j], strict=True))) for j in range(size)] for i in range(size)]
    most = [sum(off[i][j] + wide(max(i, j), min(i, j)) for j in range(size)) for i in range(size)]
    found = [x for column in lost for x in column.entries()]
    assert all(hull(one, one) <= x * (1 + arb(2) ** -40) for one, x in zip(most, found, strict=True))
    assert all(x < ball(one * (1 + Fraction(1, 10**6))) for one, x in zip(most, found, strict=True))


def test_the_bound_on_the_inverse_is_the_product_of_its_norms():
    size = 7
    lower = [[Fraction(1 + (i * j) % 3 if i > j else 2 if i == j else 0) for j in range(size)] for i in range(size)]
    inverse = np.abs(np.linalg.inv(np.array(lower, dtype=float)))
    expected = inverse.sum(axis=0).max() * inverse.sum(axis=1).max()
    found = factored._square_of_inverse(in_tiles(lower), parts(size)[1])
    assert float(found) == pytest.approx(expected, rel=1e-9)


def test_what_a_solution_misses_is_the_squared_length_of_all_that_the_balls_leave_open():
    size = 7
    lower = [[Fraction(1 + (i * j) % 3 if i > j else 2 if i == j else 0) for j in range(size)] for i in range(size)]
    starts, sizes = parts(size)
    y, missed = factored._solved(in_tiles(lower), [ball(x, Fraction(1, 8)) for x in H], starts, sizes)
    expected = np.linalg.solve(np.array(lower, dtype=float), np.array(H, dtype=float))
    assert [float(x) for x in y.entries()] == pytest.approx(expected.tolist())
    assert float(missed) == pytest.approx(size / 64, rel=1e-6) and missed >= arb(size) / 64


@pytest.mark.parametrize("middle, radius", [(0, 0), (-1, 0), (1, 1), (1, 2)])
def test_what_is_not_certainly_positive_definite_has_no_answer(middle, radius):
    matrix = [[Fraction(middle if i == j == 3 else i == j) for j in range(4)] for i in range(4)]
    with pytest.raises(Undecided, match="not certainly positive definite"):
        leading(matrix, H[:4], lambda i, j: radius if i == j == 3 else 0)


def test_what_is_no_inverse_at_this_precision_bounds_nothing():
    """Both rests are above 1, so that the product of what is left would be positive again."""
    size = 7
    lower = [[Fraction(1 if i == j else 4096 if i > j else 0) for j in range(size)] for i in range(size)]
    with precision(32), pytest.raises(Undecided, match="not certainly positive definite"):
        factored._square_of_inverse(in_tiles(lower), parts(size)[1])
