"""Noise of the best shape: bounds on S against its definition, by singular values in floats, and what is proved in each measure."""

from fractions import Fraction
from itertools import combinations, product
from math import exp, expm1, sqrt

import numpy as np
import pytest
from flint import arb, fmpz_mat
from scipy.special import ndtr

from dpverify.errors import SpecError
from dpverify.project.designer import design, question_of, whole
from dpverify.project.designer.shapes import dense, greatest
from dpverify.project.designer.structure import structure
from dpverify.project.designer.workloads import read_workload, rows_of
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.theories.utility import noise_shapes

WORKLOADS = {
    "prefix": {"kind": "prefix", "length": 5},
    "ranges": {"kind": "ranges", "length": 4},
    "marginals": {"kind": "marginals", "sizes": [2, 3, 2], "sets": [[0, 1], [2], []]},
    "product": {"kind": "product", "parts": ["prefix", "identity", "total", "ranges"], "sizes": [3, 2, 2, 2]},
    "union": {
        "kind": "union", "weights": [2, "1/2"],
        "of": [{"kind": "product", "parts": ["prefix", "total"], "sizes": [3, 4]}, {"kind": "marginals", "sizes": [3, 4], "ways": 1}],
    },
    "no records of one kind": {"kind": "cube", "dimension": 3},
}  # fmt: skip


def asked(workload, adjacency="add-remove", **more):
    return question_of("design", {"design": {"workload": workload, "adjacency": adjacency, **({"zcdp": "1/10"} | more)}})


def differences(question):
    columns = np.array([[float(x) for x in row] for row in question.rows]).T
    if question.adjacency == "replace":
        return np.array([a - b for a, b in combinations(columns, 2)])
    return columns


def by_any_weights(moved, rounds=4000):
    """The least trace from below: the square of the sum of singular values, of the best weights that plain multiplication finds."""
    p = np.ones(len(moved)) / len(moved)
    best = 0.0
    for _ in range(rounds):
        root = np.sqrt(p)
        u, values, _ = np.linalg.svd(root[:, None] * moved, full_matrices=False)
        best = max(best, values.sum() ** 2)
        p = (u**2) @ values
        p = p / p.sum()
    return best


@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
@pytest.mark.parametrize("name", WORKLOADS)
def test_the_ends_hold_the_least_trace_of_a_covariance_above_all_differences(name, adjacency):
    question = asked(WORKLOADS[name], adjacency)
    low, high = map(float, structure(question).ends)
    known = by_any_weights(differences(question))
    assert low <= known * (1 + 1e-4) and known <= high * (1 + 1e-9)
    assert high / low - 1 < 1e-3


@pytest.mark.parametrize("name", WORKLOADS)
def test_histograms_that_are_close_in_l2_have_the_square_of_the_frobenius_norm(name):
    question = asked(WORKLOADS[name], "l2")
    whole = sum(x * x for row in question.rows for x in row)
    assert [float(end) for end in structure(question).ends] == pytest.approx([float(whole)] * 2)


@pytest.mark.parametrize("name", WORKLOADS)
def test_the_greatest_variance_is_that_of_the_worst_weights_of_the_queries(name):
    question = asked(WORKLOADS[name], objective="greatest")
    low, high = map(float, structure(question).most)
    rows = differences(question).T
    draw = np.random.default_rng(3)
    for _ in range(20):
        weights = draw.dirichlet(np.ones(len(rows)))
        assert by_any_weights((np.sqrt(weights)[:, None] * rows).T, 300) <= high * (1 + 1e-9)
    assert low <= high < low * 1.01


@pytest.mark.wide
def test_prefix_sums_of_two_have_the_squared_golden_ratio_and_of_any_number_more_than_the_bound_of_singular_values():
    assert [float(x) for x in dense(noise_shapes.gram("prefix", 2), "add-remove").ends] == pytest.approx([(3 + sqrt(5)) / 2] * 2, rel=1e-6)
    assert [float(x) for x in greatest(fmpz_mat(rows_of("prefix", 2)), "add-remove").ends] == pytest.approx([4 / 3] * 2, rel=1e-5)
    for n, error in ((128, 2.3120911), (256, 2.5282233)):  # the best of HDMM's optimisers, journal version
        low, high = map(float, dense(noise_shapes.gram("prefix", n), "add-remove").ends)
        assert sqrt(high / n) <= error * (1 + 1e-7) and high / low - 1 < 1e-5


@pytest.mark.parametrize("part", ["total", "identity", "prefix", "ranges"])
@pytest.mark.parametrize("size", [1, 2, 5])
def test_the_gram_matrix_of_a_family_is_that_of_its_rows(part, size):
    rows = fmpz_mat(rows_of(part, size))
    assert noise_shapes.gram(part, size) == rows.transpose() * rows


def test_tables_are_those_of_marginals_written_out_and_are_never_built():
    sizes = [4] * 5
    low, high = map(float, noise_shapes.of_tables(sizes, {kept: Fraction(1) for kept in combinations(range(5), 2)}, "add-remove"))
    assert low == pytest.approx(948.0591649, rel=1e-9) and high == pytest.approx(low, rel=1e-9)
    question = asked({"kind": "marginals", "sizes": [10] * 40, "ways": 2})
    assert question.rows is None and question.size == (100 * 40 * 39 // 2, 10**40)
    (one,) = design(question, lambda specs: []).ranked
    assert float(constant(one.value("rms_l2", "upper"))) == pytest.approx(sqrt(5 * float(structure(question).ends[0])), rel=1e-6)


# -- certificates that are changed --------------------------------------------------------------------------


def test_no_multiple_of_a_difference_is_refused():
    counted, one = noise_shapes.gram("prefix", 2), fmpz_mat([[1, 0], [0, 1]])
    for moves, replaced in (([[1, 1], [0, 1]], False), ([[1, 0], [0, 1]], True), ([[1, 0], [1, 0]], True), ([[0, 1], [0, 0]], False)):
        with pytest.raises(Rejected, match="no multiple of a difference"):
            noise_shapes.from_below(counted, fmpz_mat(moves), one, 1, replaced=replaced)


def test_a_matrix_that_is_too_great_proves_less_and_never_more():
    counted, moves = noise_shapes.gram("prefix", 2), fmpz_mat([[1, 0], [0, 1]])
    for turned in product(range(-3, 4), repeat=3):
        x = fmpz_mat([[turned[0], turned[1]], [turned[1], turned[2]]])
        for level in (1, 2, 7):
            found = noise_shapes.from_below(counted, moves, x, level, replaced=False)
            assert not found.is_finite() or float(found.lower()) <= (3 + sqrt(5)) / 2
    with pytest.raises(Rejected, match="not symmetric"):
        noise_shapes.from_below(counted, moves, fmpz_mat([[1, 1], [0, 1]]), 1, replaced=False)


def test_an_inverse_that_is_far_from_one_is_refused_and_one_that_is_near_pays():
    counted, one = noise_shapes.gram("prefix", 2), fmpz_mat([[10, 0], [0, 10]])
    with pytest.raises(Rejected, match="not near enough"):
        noise_shapes.from_above(counted, one, one, 1000, replaced=False)
    for unit in (96, 100, 104):
        assert float(noise_shapes.from_above(counted, one, one, unit, replaced=False).upper()) >= 3


@pytest.mark.parametrize("shift", [1, 3, 7])
@pytest.mark.parametrize("s", [1.0, 2.5, 6.0])
def test_the_delta_of_noise_on_the_integers_is_at_most_what_is_said(s, shift):
    z = np.arange(-400, 401)
    p = np.exp(-(z**2) / (2 * s * s))
    p /= p.sum()
    moved = np.exp(-((z - shift) ** 2) / (2 * s * s))
    moved /= moved.sum()
    for epsilon in (0.1, 1.0, 3.0):
        true = np.maximum(p - exp(epsilon) * moved, 0).sum()
        told = noise_shapes.integer_delta(arb(epsilon), arb(s) / shift, arb(s), 1)
        assert true <= float(told.upper())
    large = arb(2**20)
    sigma = 2.0
    known = ndtr(1 / (2 * sigma) - sigma) - exp(1) * ndtr(-1 / (2 * sigma) - sigma)
    assert float(noise_shapes.integer_delta(arb(1), arb(sigma), large, 1000)) == pytest.approx(known, rel=1e-6)


# -- questions ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("privacy", "times"),
    [
        ({"zcdp": "1/10"}, sqrt(5 / 4.998)),
        ({"gdp": "1/2"}, sqrt(4 / 3.9975)),
        ({"renyi": {"order": 2, "epsilon": 1}}, sqrt(expm1(1))),
        ({"renyi": {"order": "5/2", "epsilon": 1}}, sqrt(5 / 4 * expm1(1))),
        ({"renyi": {"order": "3/2", "epsilon": "1/10"}}, sqrt(7.5 / (3 / 8 / expm1(0.05) - 1 / 4))),
        ({"epsilon": 1, "delta": "1e-6"}, 3.1136),
    ],
    ids=str,
)
@pytest.mark.parametrize("objective", ["total", "greatest"])
def test_noise_of_the_best_shape_is_as_near_to_every_mechanism_for_every_workload(privacy, times, objective):
    for kind in (WORKLOADS["marginals"], {"kind": "product", "parts": ["prefix", "identity"], "sizes": [60, 50]}):
        table = {"workload": kind, "adjacency": "add-remove", "objective": objective, **privacy}
        question = question_of("design", {"design": table})
        known = structure(question)
        found = whole.shaped(question, known)
        if objective == "total":
            top = {(b.measure, b.side): b.value for _, b in whole.errors(question, found, None)}["rms_l2", "upper"]
            bottom = whole.necessary(question, known)[1].value
        else:
            top, bottom = whole.greatest(found), whole.necessary_greatest(question, known)
        assert float(constant(top) / constant(bottom)) == pytest.approx(times, rel=2e-3)


def test_weights_multiply_the_errors_of_queries_or_of_families():
    table = {"kind": "marginals", "sizes": [2, 3], "ways": 1}
    one = structure(asked(table, weights=[2, 3]))
    both = {"kind": "union", "of": [{"kind": "marginals", "sizes": [2, 3], "sets": [[i]]} for i in (0, 1)], "weights": [2, 3]}
    assert [float(x) for x in one.ends] == pytest.approx([float(x) for x in structure(asked(both)).ends])
    each = structure(asked(table, weights=[2, 2, 3, 3, 3]))
    assert [float(x) for x in each.ends] == pytest.approx([float(x) for x in one.ends], rel=1e-5)


def test_what_has_neither_a_short_matrix_nor_a_structure_is_refused():
    with pytest.raises(SpecError, match=r"too many entries to be written out, and an attribute has 5000 values.*order matters"):
        design(asked({"kind": "prefix", "length": 5000}), lambda specs: [])


def test_rows_of_a_product_are_products_of_rows_in_the_order_of_the_parts():
    found = read_workload({"kind": "product", "parts": ["prefix", "ranges"], "sizes": [2, 2]})
    assert found.rows == tuple(tuple(Fraction(x) for x in row) for row in np.kron(rows_of("prefix", 2), rows_of("ranges", 2)).tolist())
    assert found.queries == 6 and found.lengths == (6,)


def test_a_query_whose_variance_is_not_the_greatest_is_measured_all_the_same():
    """Weights 1, 2, 1 on prefix sums of three counts: a shape with the variance 64/15 is known, in which the third query has less."""
    queries = fmpz_mat([[1, 0, 0], [2, 2, 0], [1, 1, 1]])
    low, high = greatest(queries, "add-remove").ends
    known = arb(64) / 15
    assert low <= known
    assert high <= known * arb("1.1")


@pytest.mark.parametrize(
    ("query", "adjacency", "weights", "least"),
    [
        ([[1, 1, 0, 2, "1/7", 1], [3, 1, -1, 1, 1, "1/2"], [-1, 0, 1, -2, 2, 2], [-1, 1, 2, "1/7", 1, 0]], "l1", [2, 1, 1, "1/3"], 16),
        ([[0, 1, -1, 2, "1/3"], [0, 1, -1, 5, 1], [0, -1, 2, 2, 0], [0, 2, 1, 1, -1]], "add-remove", None, 25),
        ([[0, -5, 1], [0, "1/7", 0], [0, 0, 2]], "replace", ["1/3", 2, "1/3"], 4),
    ],
)
def test_the_greatest_variance_is_near_that_of_one_query_alone_where_its_weight_is_nearly_all(query, adjacency, weights, least):
    more = {} if weights is None else {"weights": weights}
    question = question_of("design", {"design": {"query": query, "adjacency": adjacency, "gdp": 1, "objective": "greatest", **more}})
    low, high = structure(question).most
    assert least * 0.99 <= float(low) <= least <= float(high) * (1 + 1e-9) <= least * 1.001
