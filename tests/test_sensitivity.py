"""The search for gauge certificates: optimal by a second solver, exact, and accepted by the checker."""

from fractions import Fraction as F
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import linprog

from dpverify.search.additive import sensitivity as search
from dpverify.trusted.geometry.lengths import l1_radius, norm_value
from dpverify.trusted.kernel.errors import Undecided
from dpverify.trusted.kernel.expr import num, parse
from dpverify.trusted.kernel.model import L1, Claim, Norm, Query, Radial, Sampled
from dpverify.trusted.sensitivity.queries import sensitivity

entries = st.integers(-5, 5)


def rational(rows):
    return tuple(tuple(F(x) for x in row) for row in rows)


def optimum(points, vector) -> float:
    """The gauge by its primal program in floats."""
    k = np.array(points, float).T
    n = k.shape[1]
    return float(linprog(np.ones(2 * n), A_eq=np.hstack((k, -k)), b_eq=np.array(vector, float), bounds=(0, None)).fun)


@pytest.mark.parametrize("large", [0, 10**9], ids=["warm start by floats", "rationals alone"])
@given(data=st.data())
def test_the_gauge_is_the_optimum_of_the_linear_program(large, data):
    d = data.draw(st.integers(1, 4))
    points = data.draw(st.lists(st.tuples(*[entries] * d), min_size=d, max_size=9))
    assume(np.linalg.matrix_rank(np.array(points)) == d)
    vectors = data.draw(st.lists(st.tuples(*[entries] * d), min_size=1, max_size=3))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "LARGE", large)
        evidence = search.gauges(rational(points), rational(vectors))
    seen = [optimum(points, vector) for vector in vectors]
    assert float(F(evidence["value"])) == pytest.approx(max(seen), rel=1e-7, abs=1e-7)
    norm = Norm("columns", matrix=rational(points))
    worst = evidence["worst"]
    alone = {**evidence, "worst": 0, "primal": [evidence["primal"][worst]]}
    assert norm_value(norm, rational(vectors)[worst], alone) == num(F(evidence["value"]))


def test_degenerate_programs_end():
    # every corner of a cross-polytope with all mid-points: many optimal bases
    points = [v for v in product((-1, 0, 1), repeat=4) if any(v)]
    assert search.gauges(rational(points), rational([(1, 1, 1, 1)]))["value"] == "1"
    cross = [[int(i == j) for j in range(6)] for i in range(6)] * 3
    assert search.gauges(rational(cross), rational([(1, 0, 0, 0, 0, 0)]))["value"] == "1"


def test_numbers_beyond_floats_are_no_obstacle(monkeypatch):
    monkeypatch.setattr(search, "LARGE", 0)
    huge = 10**400
    assert search.gauges(rational([(huge, 0), (0, F(1, huge))]), rational([(huge, 1)]))["value"] == str(huge + 1)


def test_eight_dimensions_and_twenty_columns_need_no_facets():
    generator = np.random.default_rng(7)
    points = rational(generator.integers(-9, 10, (20, 8)).tolist())
    rows = rational(generator.integers(-9, 10, (8, 12)).tolist())
    norm = Norm("columns", matrix=points)
    claim = Claim(Radial(parse("exp(-r)"), norm, num(8)), num(1), query=Query(rows, "replace"))
    found = sensitivity(claim.query, norm, 8, search.propose(claim))
    f = np.array(rows, float)
    seen = max(optimum(points, f[:, i] - f[:, j]) for i in range(12) for j in range(i))
    assert float(found.upper.value) == pytest.approx(seen, rel=1e-9)


def test_nothing_is_proposed_where_nothing_is_needed():
    query = Query(rational([(1, 0), (0, 1)]), "l1")
    assert search.propose(Claim(Radial(parse("exp(-r)"), L1, num(2)), num(1), query=query)) == {}
    assert search.propose(Claim(Radial(parse("exp(-r)"), L1, num(2)), num(1), sensitivity=num(1))) == {}
    assert search.propose(Claim(Sampled(), num(1), query=query)) == {}
    assert search.propose_radius(L1, 3) == {}


@given(st.lists(st.tuples(entries, entries, entries), min_size=3, max_size=6))
def test_the_l1_radius_by_certificate_is_the_one_by_vertices(rows):
    assume(np.linalg.matrix_rank(np.array(rows)) == 3)
    norm = Norm("facets", matrix=rational(rows))
    assert l1_radius(norm, 3, search.propose_radius(norm, 3)) == l1_radius(norm, 3)


def test_the_l1_radius_beyond_enumeration_needs_the_certificate():
    identity = [[int(i == j) for j in range(8)] for i in range(8)]
    cube = Norm("facets", matrix=rational([*identity, *(tuple(F(s, 8) for s in signs) for signs in product((1, -1), repeat=8))][:30]))
    with pytest.raises(Undecided, match="too many"):
        l1_radius(cube, 8)
    assert l1_radius(cube, 8, search.propose_radius(cube, 8)) == num(8)
