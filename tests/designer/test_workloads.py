"""Workloads by name: their matrices, against the sensitivities that the literature states of them."""

from itertools import product

import pytest

from dpverify.catalogue.toml import Fault
from dpverify.project.designer.workloads import cube, histogram, marginals, prefixes, ranges, read_workload, subsets
from dpverify.trusted.kernel.model import L1, Query
from dpverify.trusted.sensitivity.queries import sensitivity

EVERY = [histogram(5), prefixes(6), ranges(5), ranges(6), marginals((2, 2, 2), 2), marginals((2, 3, 4), 2), cube(4), subsets(4)]


@pytest.mark.parametrize("workload", EVERY, ids=lambda one: one.name)
def test_the_cited_sensitivities_are_those_of_the_matrices(workload):
    added, replaced = workload.cited
    found = [sensitivity(Query(workload.rows, kind), L1, len(workload.rows)).upper.value for kind in ("add-remove", "replace")]
    assert found[0] == added and replaced in (None, found[1])


def test_marginals_count_the_records_of_each_combination():
    sizes, ways = (2, 3), 1
    cells = list(product(range(2), range(3)))
    data = [3, 1, 4, 1, 5, 9]  # of each cell
    answers = [sum(x * n for x, n in zip(row, data, strict=True)) for row in marginals(sizes, ways).rows]
    first = [sum(n for cell, n in zip(cells, data, strict=True) if cell[0] == v) for v in range(2)]
    second = [sum(n for cell, n in zip(cells, data, strict=True) if cell[1] == v) for v in range(3)]
    assert answers == first + second


def test_all_two_way_marginals_of_eight_bits_have_112_rows():
    assert (len(marginals((2,) * 8, 2).rows), len(marginals((2,) * 8, 2).rows[0])) == (112, 256)


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ("histogram", "not a table such as"),
        ({}, "kind is missing"),
        ({"kind": "histograms", "bins": 3}, "histogram"),
        ({"kind": "histogram"}, "bins is missing"),
        ({"kind": "histogram", "bins": 0}, "not a positive integer"),
        ({"kind": "histogram", "bins": 10**10}, "more than 200000 entries"),
        ({"kind": "cube", "dimension": 40}, "more than 200000 entries"),
        ({"kind": "marginals", "sizes": [2, 1], "ways": 1}, "integers of at least 2"),
        ({"kind": "marginals", "sizes": [2, 2], "ways": 3}, "there are 2 attributes"),
        ({"kind": "marginals", "sizes": [9] * 60, "ways": 30}, "more than 200000 marginals"),
        ({"kind": "marginals", "sizes": [2, 2]}, "ways or sets is missing"),
        ({"kind": "marginals", "sizes": [2, 2], "sets": [[0, 2]]}, "there is no attribute 2"),
        ({"kind": "marginals", "sizes": [2, 2], "sets": [[0, 0]]}, "not a list of lists of attributes"),
        ({"kind": "marginals", "sizes": [2, 2], "sets": [[0, 1], [1, 0]]}, "a set of attributes twice"),
        ({"kind": "product", "sizes": [2, 2], "parts": ["total"]}, "1 of them, and 2 attributes"),
        ({"kind": "product", "sizes": [2], "parts": ["all"]}, "not a list of total, identity, prefix, ranges"),
        ({"kind": "union", "of": []}, "not a list of workloads"),
        ({"kind": "union", "of": [{"kind": "prefix", "length": 3}], "weights": [1, 2]}, "2 of them, and 1 workloads"),
        ({"kind": "union", "of": [{"kind": "prefix", "length": 3}, {"kind": "prefix", "length": 4}]}, "their sizes differ"),
        ({"kind": "prefix", "length": 4, "size": 4}, "unknown key"),
    ],
)
def test_a_workload_that_is_none_says_why(table, why):
    with pytest.raises(Fault, match=why):
        read_workload(table)


def test_a_table_in_a_file_is_the_family_of_that_name():
    assert read_workload({"kind": "ranges", "length": 4}) == ranges(4)
