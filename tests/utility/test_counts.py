"""Geometric noise for a count, its best remap, and the least loss of any private mechanism (docs/explanation/best-count.md)."""

from fractions import Fraction as F

import pytest

from dpverify.search.utility.remaps import remap, remapped, truncated_geometric
from tests.tools import load

page = load("optimum")


def absolute(last):
    return tuple(tuple(F(abs(x - y)) for y in range(last + 1)) for x in range(last + 1))


@pytest.mark.wide
def test_the_page_says_the_numbers_of_the_code():
    """Where this fails, `python tools/optimum.py` writes the numbers of today."""
    text = page.PAGE.read_text(encoding="utf-8")
    assert page.written(text) == text


def test_truncated_geometric_noise_alone_is_not_the_best_and_with_its_best_remap_it_is():
    small = page.row("log(2)", 2)
    assert small[2:] == (F(2, 3), F(4, 7), F(4, 7))
    large = page.row("1", 10)
    assert [round(float(value), 4) for value in large[2:]] == [0.8452, 0.8030, 0.8030]
    assert 0 <= large.remapped - large.bound < F(1, 10**11)


def test_truncated_geometric_noise_has_the_law_of_geometric_noise_with_its_tails_put_together():
    a = F(1, 3)
    law = truncated_geometric(1 / a, 4)
    assert all(sum(row) == 1 for row in law)
    assert law[1][2] == (1 - a) / (1 + a) * a
    tail = sum(((1 - a) / (1 + a) * a**k for k in range(1, 60)), F(0)) + (1 - a) / (1 + a)  # of 0 from an input of 0, but for 3^-60
    assert abs(law[0][0] - tail) < F(1, 3**59)


@pytest.mark.parametrize("prior", [(), (F(1, 6), F(1, 3), F(1, 2))], ids=["worst", "mean"])
def test_a_remap_is_a_law_for_each_output_and_never_raises_the_loss(prior):
    def loss(rows):
        means = [sum(p * c for p, c in zip(*both, strict=True)) for both in zip(rows, absolute(2), strict=True)]
        return sum(w * mean for w, mean in zip(prior, means, strict=True)) if prior else max(means)

    rows = truncated_geometric(F(5, 2), 2)
    found = remap(rows, absolute(2), prior)
    assert all(sum(row) == 1 and min(row) >= 0 for row in found)
    assert loss(remapped(rows, found)) <= loss(rows) + F(1, 10**12)
