"""Strategies with Laplace noise: what is proved of their errors, against least squares in floats and matrices that are written out."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from flint import fmpz_mat

import dpverify
from dpverify.project.designer import laplace
from dpverify.project.designer.workloads import read_workload, rows_of
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.theories.utility import laplace_strategies
from dpverify.trusted.theories.utility.noise_shapes import gram


def floats(matrix):
    return np.array([[float(x) for x in row] for row in matrix.tolist()])


def by_least_squares(queries, strategy):
    """The squares of W A^+ and the greatest l1 length of a column of A, in floats."""
    return (np.asarray(queries @ np.linalg.pinv(strategy)) ** 2).sum() * np.abs(strategy).sum(axis=0).max() ** 2


@pytest.mark.parametrize("part", ["prefix", "ranges", "identity", "total"])
def test_the_error_of_rows_is_that_of_least_squares_and_no_more_than_that_of_the_identity(part):
    for size in (3, 9, 20):
        found = laplace.rows_for([gram(part, size)], [1.0])
        proved = float(found.errors[0]) * found.reach**2
        true = by_least_squares(np.array(rows_of(part, size)), floats(found.measured))
        assert true * (1 - 1e-9) <= proved <= true * (1 + 1e-4)
        assert proved <= float(np.trace(floats(gram(part, size)))) * (1 + 1e-4)


def test_several_families_have_an_error_each():
    parts = ["prefix", "total"]
    found = laplace.rows_for([gram(part, 12) for part in parts], [1.0, 5.0])
    for part, error in zip(parts, found.errors, strict=True):
        true = by_least_squares(np.array(rows_of(part, 12)), floats(found.measured))
        assert true * (1 - 1e-9) <= float(error) * found.reach**2 <= true * (1 + 1e-4)


def test_the_slope_is_that_of_the_error():
    rng = np.random.default_rng(3)
    sums, matrix = rng.random((3, 7)), rng.random((9, 7))
    counted = matrix.T @ matrix
    error, slope = laplace._error(sums, counted)
    strategy = np.concatenate([np.eye(7), sums]) / (1 + sums.sum(axis=0))
    assert error == pytest.approx(by_least_squares(matrix, strategy))
    for place in ((0, 0), (1, 4), (2, 6)):
        moved = sums.copy()
        moved[place] += 1e-6
        assert (laplace._error(moved, counted)[0] - error) / 1e-6 == pytest.approx(slope[place], rel=1e-3)


def test_an_inverse_that_is_far_from_one_is_refused_and_one_that_is_near_pays():
    rows, one = fmpz_mat([[1, 0], [0, 1], [1, 1]]), [fmpz_mat([[1, 0], [0, 1]])]
    right = fmpz_mat([[2, -1, 1], [-1, 2, 1]])
    assert float(laplace_strategies.of_rows(one, rows, right, 3)[0]) == pytest.approx(4 / 3)
    fine = fmpz_mat([[2000, -1000, 1001], [-1000, 2000, 1000]])
    exact = np.linalg.solve(floats(fine) @ floats(rows), floats(fine))
    assert float(laplace_strategies.of_rows(one, rows, fine, 3000)[0]) >= (exact**2).sum() > 4 / 3
    for undone, unit in ((fmpz_mat(2, 3), 1), (right, 1), (right, -3)):
        with pytest.raises(Rejected, match="near enough"):
            laplace_strategies.of_rows(one, rows, undone, unit)
    assert laplace_strategies.reach(fmpz_mat([[1, -2], [-3, 1]])) == 4


def test_shares_of_tables_are_those_of_matrices_written_out():
    sizes = [2, 3, 4]
    workload = read_workload({"kind": "marginals", "sizes": sizes, "sets": [[0, 1], [2], [0]]})
    asked = {(0, 1): Fraction(4), (2,): Fraction(1), (0,): Fraction(9)}
    matrix = np.array(workload.rows, dtype=float) * np.repeat([2, 1, 3], [6, 4, 2])[:, None]

    def strategy(shares):
        blocks = []
        for table, share in shares.items():
            block = np.ones((1, 1))
            for i, size in enumerate(sizes):
                block = np.kron(block, np.eye(size) if i in table else np.ones((1, size)))
            blocks.append(float(share) * block)
        return np.concatenate(blocks)

    found = laplace.shares_of_tables(sizes, asked)
    for shares in (found, {(0, 1): Fraction(1, 2), (0, 2): Fraction(1)}, {(0, 1, 2): Fraction(1)}):
        proved = float(laplace_strategies.of_tables(sizes, asked, shares))
        assert proved == pytest.approx(by_least_squares(matrix, strategy(shares)))
        best = float(laplace_strategies.of_tables(sizes, asked, found))
        assert best <= proved * (1 + 1e-9)
    with pytest.raises(Rejected, match="not known from those"):
        laplace_strategies.of_tables(sizes, asked, {(0, 1): Fraction(1)})


def test_tables_that_are_too_many_have_no_shares():
    assert laplace.shares_of_tables([2] * 30, dict.fromkeys(combinations(range(30), 2), Fraction(1))) is None


@pytest.mark.wide
@pytest.mark.sampled(1)
def test_ranges_have_no_more_than_what_is_published_of_templates_with_the_identity():
    """One answer at epsilon 1: 8.113 (McKenna et al. 2018)."""
    best = dpverify.design(workload={"kind": "ranges", "length": 256}, adjacency="add-remove", epsilon=1).ranked[0]
    assert best.candidate.name == "geometric, strategy"
    assert float(constant(best.value("rms_l2", "upper"))) <= 8.113 * np.sqrt(256 * 257 / 2)
