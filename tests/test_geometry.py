"""Norms, gauges and sensitivities: known values, laws, a second method, and mutated certificates."""

from fractions import Fraction as F
from itertools import product
from math import isqrt

import numpy as np
import pytest
from flint import fmpq, fmpq_poly
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.spatial import ConvexHull, QhullError

from dpverify.search.additive.sensitivity import gauges
from dpverify.trusted.geometry.eigenvalues import largest_root
from dpverify.trusted.geometry.lengths import l1_radius, largest_in, norm_faults, norm_value
from dpverify.trusted.kernel.compare import certainly_le
from dpverify.trusted.kernel.errors import CertificateError, Rejected, Undecided
from dpverify.trusted.kernel.expr import Expr, Num, add, num, parse, power
from dpverify.trusted.kernel.model import L1, L2, LINF, Claim, Matrix, Norm, Query, Radial
from dpverify.trusted.kernel.well_formed import require_well_formed
from dpverify.trusted.sensitivity.queries import differences, query_faults, sensitivity


def rational(rows) -> Matrix:
    return tuple(tuple(F(x) for x in row) for row in rows)


def query(rows, adjacency="add-remove") -> Query:
    return Query(rational(rows), adjacency)


def columns(*rows) -> Norm:
    return Norm("columns", matrix=rational(rows))


def facets(*rows) -> Norm:
    return Norm("facets", matrix=rational(rows))


def ellipsoid(*rows) -> Norm:
    return Norm("ellipsoid", matrix=rational(rows))


def derived(q: Query, norm: Norm) -> Expr:
    """The exact sensitivity, with gauge evidence where the norm wants it."""
    evidence = gauges(norm.matrix, differences(q)) if norm.kind == "columns" and q.adjacency != "l2" else None
    found = sensitivity(q, norm, len(q.rows), evidence)
    assert found.exact
    return found.upper


def gauge(norm: Norm, vector) -> Expr:
    vector = tuple(F(x) for x in vector)
    return norm_value(norm, vector, gauges(norm.matrix, [vector]) if norm.kind == "columns" else None)


SQUARE_AND_TIPS = columns((1, 0), (0, 1), (1, 1))  # the hexagon with corners +-(1,0), +-(0,1), +-(1,1)


# -- known values -----------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 2, 5])
def test_k_counting_queries_have_l1_sensitivity_k(k):
    # GK: k counting queries; some record is counted by all of them, and another by none.
    rows = [list(bits) for bits in zip(*product((0, 1), repeat=k), strict=True)]
    assert derived(query(rows, "add-remove"), L1) == num(k)
    assert derived(query(rows, "replace"), L1) == num(k)
    assert derived(query(rows, "add-remove"), L2) == power(num(k), num(F(1, 2)))
    assert derived(query(rows, "replace"), LINF) == num(1)


@pytest.mark.parametrize("bins", [2, 3, 6])
def test_a_histogram_moves_by_2_under_replace_and_1_under_add_remove(bins):
    identity = [[int(i == j) for j in range(bins)] for i in range(bins)]
    assert derived(query(identity, "replace"), L1) == num(2)
    assert derived(query(identity, "add-remove"), L1) == num(1)
    assert derived(query(identity, "l1"), L1) == num(1)
    assert derived(query(identity, "l2"), L2) == num(1)
    assert derived(query(identity, "l2"), L1) == power(num(bins), num(F(1, 2)))


@pytest.mark.parametrize(
    ("norm", "value"),
    [
        (L1, "7"), (L2, "5"), (LINF, "4"), (Norm("lp", F(3)), "91**(1/3)"), (Norm("lp", F(3, 2)), "4*(1 + (3/4)**(3/2))**(2/3)"),
        # Sigma^-1 = [[3, -1], [-1, 2]]/5 gives (27 + 24 + 32)/5
        (ellipsoid((2, 1), (1, 3)), "sqrt(83/5)"),
        (facets((1, 1), (1, 0)), "3"), (facets((1, F(1, 2)), (0, -2)), "8"),
        (columns((1, 0), (0, 1)), "7"), (columns((1, 1), (1, -1)), "4"),
        # the hexagon: opposite signs see the edge from (1, 0) to (0, -1)
        (SQUARE_AND_TIPS, "7"),
    ],
)  # fmt: skip
def test_the_norm_of_3_minus_4(norm, value):
    found = gauge(norm, (3, -4))
    assert float_of(found) == pytest.approx(float_of(parse(value)), rel=1e-14)
    if "3/2" not in value:  # the order of terms is free
        assert found == parse(value)


def float_of(expr: Expr) -> float:
    from sympy import N, sympify

    from dpverify.trusted.kernel.expr import format_expr

    return float(N(sympify(format_expr(expr), locals={"max": sympify("Max")}, rational=True), 30))


def test_planar_worked_examples_in_the_hexagon():
    assert gauge(SQUARE_AND_TIPS, (1, 1)) == num(1)
    assert gauge(SQUARE_AND_TIPS, (2, 1)) == num(2)
    assert gauge(SQUARE_AND_TIPS, (F(1, 2), F(1, 2))) == num(F(1, 2))
    assert gauge(SQUARE_AND_TIPS, (0, 0)) == num(0)
    assert derived(query([[1, 0, 2], [0, 1, -1]], "add-remove"), SQUARE_AND_TIPS) == num(3)
    # (2, -1) - (0, 1) = (2, -2) has gauge 4
    assert derived(query([[1, 0, 2], [0, 1, -1]], "replace"), SQUARE_AND_TIPS) == num(4)


@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_the_query_own_k_gives_sensitivity_1_without_evidence(d):
    # HT Section 4: F(x - x') lies in ||x - x'||_1 K.
    signs = list(product((1, -1), repeat=d))
    rows = [list(row) for row in zip(*signs, strict=True)]
    own = Norm("columns", matrix=rational(signs))
    assert sensitivity(query(rows), own, d).upper == num(1)
    evidence = gauges(own.matrix, differences(query(rows)))
    assert evidence["value"] == "1"


def test_points_inside_k_do_not_raise_the_sensitivity_of_its_own_query():
    points = [(2, 0), (0, 2), (1, 1), (F(1, 3), 0)]
    own = columns(*points)
    assert sensitivity(query(zip(*points, strict=True)), own, 2).upper == num(1)
    assert sensitivity(query(zip(*points, strict=True)), own, 2).at == (F(2), F(0))


# -- databases close in l2 -----------------------------------------------------------------------------


def test_operator_norms_that_are_rational_or_quadratic_are_exact():
    # F F' = [[2, 1], [1, 1]] has the largest eigenvalue (3 + sqrt(5))/2, the square of the golden ratio
    golden = query([[1, 1], [0, 1]], "l2")
    assert derived(golden, L2) == parse("sqrt(3/2 + sqrt(5/4))")
    assert derived(golden, L1) == parse("sqrt(5)")
    assert derived(golden, LINF) == parse("sqrt(2)")
    assert derived(query([[3, 0], [0, 4]], "l2"), L2) == num(4)
    assert derived(query([[3, 0], [0, 4]], "l2"), ellipsoid((9, 0), (0, 64))) == num(1)
    assert derived(golden, columns((1, 0), (0, 1))) == derived(golden, L1)
    assert derived(golden, facets((1, 0), (0, 1))) == derived(golden, LINF)
    assert derived(query([[0, 0]], "l2"), L2) == num(0)


small = st.integers(-4, 4)


def matrices(rows: int, width: int):
    return st.lists(st.lists(small, min_size=width, max_size=width), min_size=rows, max_size=rows)


@given(matrices(4, 5))
def test_the_largest_singular_value_lies_between_the_bounds(rows):
    found = sensitivity(query(rows, "l2"), L2, 4)
    seen = np.linalg.norm(np.array(rows, float), 2)
    assert float_of(found.lower) <= seen * (1 + 1e-12) + 1e-12
    assert float_of(found.upper) >= seen * (1 - 1e-12) - 1e-12
    assert float_of(found.upper) == pytest.approx(float_of(found.lower), rel=1e-14)


@given(matrices(3, 4), matrices(3, 3))
def test_an_ellipsoid_from_the_map_a_gives_the_singular_value_of_the_inverse(rows, a):
    # Sigma = A A' makes ||z|| = ||A^-1 z||_2.
    root = np.array(a, float)
    assume(abs(np.linalg.det(root)) > 0.5)
    sigma = (np.array(a) @ np.array(a).T).tolist()
    seen = np.linalg.norm(np.linalg.solve(root, np.array(rows, float)), 2)
    found = sensitivity(query(rows, "l2"), ellipsoid(*sigma), 3)
    assert float_of(found.upper) == pytest.approx(seen, rel=1e-9, abs=1e-9)
    assert float_of(found.lower) == pytest.approx(seen, rel=1e-9, abs=1e-9)


@given(matrices(3, 4))
def test_sign_vectors_give_the_operator_norm_from_l2_to_l1(rows):
    seen = max(np.linalg.norm(np.array(s) @ np.array(rows, float)) for s in product((1, -1), repeat=3))
    assert float_of(derived(query(rows, "l2"), L1)) == pytest.approx(seen, abs=1e-12)


def test_other_lp_norms_of_l2_databases_are_undecided_except_on_the_line():
    with pytest.raises(Undecided, match="p = 3"):
        sensitivity(query([[1, 1], [0, 1]], "l2"), Norm("lp", F(3)), 2)
    assert derived(query([[3, 4]], "l2"), Norm("lp", F(3))) == num(5)


# -- laws --------------------------------------------------------------------------------------------

vectors = st.tuples(small, small, small)
norms = st.sampled_from(
    [
        L1, L2, LINF, Norm("lp", F(3)), Norm("lp", F(5, 2)), ellipsoid((2, 1, 0), (1, 3, 1), (0, 1, 1)),
        facets((1, 1, 0), (0, 1, 1), (1, 0, 1), (1, 1, 1)), columns((1, 0, 0), (0, 2, 0), (1, 1, 1), (1, -1, 2)),
    ]
)  # fmt: skip


@given(norms, vectors, st.fractions(F(1, 9), 9, max_denominator=9))
def test_a_norm_is_homogeneous(norm, vector, factor):
    left = gauge(norm, [-factor * x for x in vector])
    assert float_of(left) == pytest.approx(float(factor) * float_of(gauge(norm, vector)), rel=1e-13)


@given(norms, vectors, vectors)
def test_a_norm_obeys_the_triangle_inequality(norm, a, b):
    both = gauge(norm, [x + y for x, y in zip(a, b, strict=True)])
    assert float_of(both) <= (float_of(gauge(norm, a)) + float_of(gauge(norm, b))) * (1 + 1e-13)


@pytest.mark.parametrize("d", [2, 3])
@given(data=st.data())
def test_the_gauge_by_columns_is_the_gauge_by_facets_of_the_same_polytope(d, data):
    points = np.array(data.draw(matrices(data.draw(st.integers(d, 6)), d)))
    assume(np.linalg.matrix_rank(points) == d)
    try:
        hull = ConvexHull(np.vstack((points, -points)))
    except QhullError:
        assume(False)
    # <normal, x> + offset <= 0, offset < 0: the facet normal/-offset is rational with a small denominator
    rows = [[F(float(x / -row[-1])).limit_denominator(3000) for x in row[:-1]] for row in hull.equations]
    vector = data.draw(st.tuples(*[small] * d))
    assert gauge(columns(*points.tolist()), vector) == gauge(facets(*rows), vector)


@given(norms, matrices(3, 4), st.sampled_from(["add-remove", "replace"]))
def test_the_sensitivity_is_the_largest_norm_over_the_pairs(norm, rows, adjacency):
    f = np.array(rows)
    moves = [f[:, i] - f[:, j] for i in range(4) for j in range(i)] if adjacency == "replace" else list(f.T)
    seen = max(float_of(gauge(norm, map(int, move))) for move in moves)
    q = query(rows, adjacency)
    vectors = differences(q)
    found = sensitivity(q, norm, 3, gauges(norm.matrix, vectors) if norm.kind == "columns" and vectors else None)
    assert float_of(found.upper) == pytest.approx(seen, rel=1e-13)
    if found.at is not None:
        assert float_of(gauge(norm, found.at)) == pytest.approx(seen, rel=1e-13)


def test_irrational_powers_are_compared_by_dominance_and_else_left_to_max():
    p = Norm("lp", F(3, 2))
    assert derived(query([[1, 2, 0], [2, -1, 2]]), p) == gauge(p, (1, 2))
    found = sensitivity(query([[3, 5], [3, 0]]), p, 2)  # 3 * 2^(2/3) = 4.76 against 5: neither dominates
    assert float_of(found.upper) == pytest.approx(5)
    assert found.at is None


def test_powers_too_long_to_write_stay_unevaluated():
    size = norm_value(Norm("lp", F(10_001)), (F(2), F(3)))
    assert size == parse("3*((2/3)**10001 + 1)**(1/10001)")


# -- the l1 radius and unit vectors -----------------------------------------------------------------------


def test_the_l1_radius_of_the_unit_ball():
    assert l1_radius(L1, 5) == num(1)
    assert l1_radius(L2, 4) == num(2)
    assert l1_radius(LINF, 7) == num(7)
    assert l1_radius(Norm("lp", F(3)), 8) == num(4)
    assert l1_radius(SQUARE_AND_TIPS, 2) == num(2)
    assert l1_radius(ellipsoid((4, -2), (-2, 4)), 2) == parse("sqrt(12)")
    assert l1_radius(facets((1, 0), (0, 1)), 2) == num(2)
    # |x + y| <= 1, |x - y| <= 2 is the rectangle with corners (3/2, -1/2), (1/2, -3/2)
    assert l1_radius(facets((1, 1), (F(1, 2), F(-1, 2))), 2) == num(2)


def test_a_rational_unit_vector_has_norm_1():
    for norm in (L1, L2, LINF, Norm("lp", F(7, 3)), SQUARE_AND_TIPS, facets((3, 1), (0, 1)), ellipsoid((4, 0), (0, 2))):
        vector, size = largest_in(norm, 2)
        assert size == num(1)
        assert gauge(norm, vector) == num(1)
    vector, size = largest_in(ellipsoid((2, 0), (0, 1)), 2)
    assert (vector, size) == ((F(1), F(0)), parse("sqrt(1/2)"))


# -- faults ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("norm", "fault"),
    [
        (Norm("lp", F(1, 2)), "below 1"),
        (Norm("hexagon"), "unknown norm"),
        (columns(), "empty"),
        (columns((1, 0), (1,)), "row 2 has 1 numbers"),
        (columns((1, 1), (2, 2)), "K has no interior"),
        (facets((1, 1), (2, 2)), "unbounded"),
        (ellipsoid((1, 0)), "1 rows"),
        (ellipsoid((1, 2), (0, 1)), "not symmetric"),
        (ellipsoid((1, 2), (2, 1)), "not positive definite"),
        (ellipsoid((1, 1), (1, 1)), "not positive definite"),
        (ellipsoid((0, 0), (0, 0)), "not positive definite"),
    ],
)
def test_what_is_no_norm_is_told(norm, fault):
    assert any(fault in line for line in norm_faults(norm, 2))


def test_all_faults_of_a_matrix_are_told():
    assert len(norm_faults(ellipsoid((1, 2, 3), (1,)), 2)) == 2
    assert norm_faults(L2, 0)


def test_duplicate_points_and_proper_norms_have_no_faults():
    assert not norm_faults(columns((1, 0), (1, 0), (0, 1), (0, 0)), 2)
    assert not norm_faults(ellipsoid((2, 1), (1, 3)), 2)
    assert not norm_faults(Norm("lp", F(1)), 50)


@given(matrices(3, 3))
def test_positive_definite_means_all_eigenvalues_above_zero(a):
    sigma = np.array(a) + np.array(a).T
    least = np.linalg.eigvalsh(sigma).min()
    assume(abs(least) > 1e-9)
    assert bool(norm_faults(ellipsoid(*sigma.tolist()), 3)) == (least < 0)


def test_a_query_that_does_not_fit_is_told_and_refused():
    assert query_faults(query([[1, 2], [3, 4]], "replace"), 2) == []
    wrong = Query(rational([[1, 2], [3]]), "swap")
    assert len(query_faults(wrong, 3)) == 3
    with pytest.raises(CertificateError, match="unknown adjacency"):  # before any rule is asked
        require_well_formed(Claim(Radial(parse("exp(-r)"), L1, num(3)), num(1), query=wrong))
    assert query_faults(Query((), "l1"), 1)
    assert query_faults(Query(((),), "l1"), 1)


def test_a_p_that_strayed_into_a_polytope_changes_nothing():
    stray = Norm("columns", F(2), rational([(1, 0), (0, 1)]))
    assert derived(query([[1, 1], [0, 1]], "l2"), stray) == parse("sqrt(5)")


# -- certificates ------------------------------------------------------------------------------------------

QUERY = query([[1, 0, 2], [0, 1, -1]], "replace")


def certificate():
    return gauges(SQUARE_AND_TIPS.matrix, differences(QUERY))


def test_a_certificate_is_accepted_and_its_absence_is_undecided():
    assert sensitivity(QUERY, SQUARE_AND_TIPS, 2, certificate()).upper == num(4)
    with pytest.raises(Undecided, match="certificate"):
        sensitivity(QUERY, SQUARE_AND_TIPS, 2)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda c: c.update(value="7/2"), "above the value"),
        (lambda c: c.update(value="9/2"), "is not the value"),
        (lambda c: c.update(value="4.0"), "not an exact rational"),
        (lambda c: c.update(value="4/0"), "not an exact rational"),
        (lambda c: c.update(value=True), "not an exact rational"),
        (lambda c: c.update(value="1e999999999"), "not an exact rational"),
        (lambda c: c["primal"].pop(), "do not add up"),
        (lambda c: c["primal"][0].update({"0": "1/3"}), "do not add up"),
        # the same vector with 10 times a detour (1, 0) + (0, 1) - (1, 1) = 0
        (lambda c: c["primal"].__setitem__(0, {"0": "11", "1": "9", "2": "-10"}), "above the value"),
        (lambda c: c.update(worst=0), "is not the value"),
        (lambda c: c.update(worst=-1), "whole number from 0"),
        (lambda c: c.update(worst="1"), "whole number from 0"),
        (lambda c: c.update(dual=["2", "-2"]), "outside"),
        (lambda c: c.update(dual=["1", "0"]), "is not the value"),
    ],
)
def test_a_mutated_certificate_is_rejected(change, why):
    mutated = certificate()
    change(mutated)
    with pytest.raises((Rejected, CertificateError), match=why):
        sensitivity(QUERY, SQUARE_AND_TIPS, 2, mutated)


def test_a_certificate_of_another_query_or_norm_is_rejected():
    with pytest.raises(Rejected):
        sensitivity(query([[1, 0, 3], [0, 1, -1]], "replace"), SQUARE_AND_TIPS, 2, certificate())
    with pytest.raises(Rejected):
        sensitivity(QUERY, columns((2, 0), (0, 2), (2, 2)), 2, certificate())


def test_roots_too_close_to_be_told_apart_are_enclosed_together():
    # 2 + sqrt(2) to 2^-300 from below, as a root of its own beside x^2 - 4x + 2
    near = F(isqrt(2 << 600), 1 << 300) + 2
    both = fmpq_poly([2, -4, 1]) * fmpq_poly([fmpq(-near.numerator, near.denominator), 1])
    upper, lower = largest_root(both)
    assert certainly_le(lower, parse("2 + sqrt(2)")) and certainly_le(parse("2 + sqrt(2)"), upper)
    assert isinstance(upper, Num) and isinstance(lower, Num) and upper.value - lower.value < F(1, 1 << 250)
    assert largest_root(fmpq_poly([2, -4, 1])) == (add(num(2), parse("sqrt(2)")),) * 2
