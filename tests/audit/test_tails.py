"""Tails of hypergeometric laws against sums of exact probabilities."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest

from dpverify.audits.tails import rarer_tails


def exact(a, b, all_a, all_b):
    """By counting the ways to draw, as rationals."""
    ways = {k: comb(all_a, k) * comb(all_b, a + b - k) for k in range(max(0, a + b - all_b), min(all_a, a + b) + 1)}
    total = sum(ways.values())
    return float(min(sum(Fraction(w, total) for k, w in ways.items() if (k <= a if low else k >= a)) for low in (True, False)))


@pytest.mark.parametrize(
    "counts", [(0, 9, 20, 20), (9, 0, 20, 20), (3, 4, 10, 8), (7, 2, 9, 31), (40, 3, 300, 310), (1, 30, 40, 400), (500, 400, 900, 950)]
)
def test_the_rarer_tail_is_the_sum_of_its_probabilities(counts):
    assert rarer_tails(*counts) == pytest.approx(exact(*counts), rel=1e-7)


def test_each_class_has_its_own_tail():
    a, b = np.array([3, 9]), np.array([4, 0])
    assert rarer_tails(a, b, 20, 20) == pytest.approx([exact(3, 4, 20, 20), exact(9, 0, 20, 20)])
    assert rarer_tails(a[:0], b[:0], 20, 20).shape == (0,)
