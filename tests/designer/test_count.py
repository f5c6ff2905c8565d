"""One query on counts with a delta: the noise that is cut, against linear programs over all laws, and the bound for any mechanism."""

from fractions import Fraction
from math import exp

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import bmat, csr_array

import dpverify
from dpverify.search.utility import one_line as searched
from dpverify.search.utility.offers import rational_text
from dpverify.trusted.kernel.balls import constant, precision
from dpverify.trusted.kernel.expr import Num
from dpverify.trusted.theories.utility import one_line


def of_any_law(epsilon, delta, reach):
    """The least variance of a symmetric law on the integers up to a reach that keeps epsilon and delta with its shift by 1."""
    n = 2 * reach + 1
    apart = np.eye(n) - exp(epsilon) * np.eye(n, k=1)
    spent = csr_array(np.concatenate([np.zeros(n), np.ones(n)])[None])
    symmetric = csr_array(np.concatenate([np.eye(n) - np.eye(n)[::-1], np.zeros((n, n))], axis=1)[:reach])
    whole = csr_array(np.concatenate([np.ones(n), np.zeros(n)])[None])
    found = linprog(
        np.concatenate([np.arange(-reach, reach + 1) ** 2, np.zeros(n)]),
        A_ub=bmat([[csr_array(np.concatenate([apart, -np.eye(n)], axis=1))], [spent]]), b_ub=[*[0] * n, delta],
        A_eq=bmat([[whole], [symmetric]]), b_eq=[1, *[0] * reach], method="highs",
    )  # fmt: skip
    assert found.status == 0
    return found.fun


@pytest.mark.wide
@pytest.mark.parametrize(
    ("epsilon", "delta", "adjacency", "query", "gap"),
    [
        ("1", "1/1000000", "add-remove", [[1]], 1e-8),
        ("1/2", "1/1000", "replace", [[1, 0, 1]], 1e-4),
        ("1", "1/3", "add-remove", [[0, 1]], 0.1),
        ("2", "9/10", "add-remove", [[1]], 1.0),
    ],
)
def test_noise_that_is_cut_has_the_least_variance_of_any_on_the_integers(epsilon, delta, adjacency, query, gap):
    found = dpverify.design(query, adjacency=adjacency, epsilon=epsilon, delta=delta)
    best = found.ranked[0]
    assert best.candidate.name == "geometric, cut" and best.verdict == "PROVED"
    square = float(constant(best.value("rms_l2", "upper"))) ** 2
    assert square == pytest.approx(of_any_law(float(Fraction(epsilon)), float(Fraction(delta)), 40), rel=1e-6, abs=1e-9)
    assert float(constant(found.least[1].value)) ** 2 <= square * (1 + 1e-12) <= (1 + gap) * float(constant(found.least[1].value)) ** 2


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(1, "1/100"), (2, "1/1000"), (1, "1/10"), ("1/2", "1/1000"), ("1/4", "1/100"), ("1/10", "1/1000")]
)
def test_what_floats_find_of_a_line_is_proved_where_the_least_is_inside_a_piece(epsilon, delta):
    e, d = Fraction(epsilon), Fraction(delta)
    reach, least, square = searched.with_delta(float(e), float(d))
    with precision(192):
        proved = one_line.capped(constant(Num(e)), constant(Num(d)), Fraction(reach), Fraction(rational_text(least * (1 - 1e-9))), "any")
    assert square * (1 - 1e-7) <= float(proved) <= of_any_law(float(e), float(d), 60) * (1 + 1e-9)
