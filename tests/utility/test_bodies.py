"""The volume and the moments of convex bodies, against what is known of them and against sums over all choices of points."""

from fractions import Fraction as F
from itertools import combinations, product
from math import factorial

import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from dpverify.search.utility import bodies, polytopes
from dpverify.trusted.geometry.linear import matrix, to_fraction
from dpverify.trusted.kernel.balls import constant, precision
from dpverify.trusted.kernel.errors import STUMBLES, CertificateError, Rejected
from dpverify.trusted.kernel.expr import Num, num, parse
from dpverify.trusted.kernel.model import L1, L2, LINF, Claim, Norm, Product, Query, Radial
from dpverify.trusted.kernel.proof import Proof
from dpverify.trusted.theories.utility import shapes
from dpverify.trusted.theories.utility.rules import independent_columns, polytope, simple_body
from tests.effort import examples


def claim(norm=L2, d=2, rows=None, adjacency="l1"):
    query = None if rows is None else Query(tuple(tuple(map(F, row)) for row in rows), adjacency)
    return Claim(Radial(parse("exp(-r)"), norm, num(d)), None, query=query, sensitivity=None if rows else num(1))


def asked(*columns, adjacency="l1"):
    """A claim whose query has these columns."""
    return claim(d=len(columns[0]), rows=list(zip(*columns, strict=True)), adjacency=adjacency)


def body(claim, of="query", axes=None):
    found = bodies.fact(Proof(claim), of, axes)
    return None if found is None else found.says


def exact(value):
    assert isinstance(value, Num)
    return value.value


def second(found):
    return [[exact(x) for x in row] for row in found.second]


def det(rows):
    return to_fraction(matrix([tuple(map(F, row)) for row in rows]).det())


def transformed(moments, t):
    """T M T'."""
    t = matrix([tuple(map(F, row)) for row in t])
    return [[to_fraction(x) for x in row] for row in (t * matrix([tuple(row) for row in moments]) * t.transpose()).tolist()]


# -- a second method: all supporting hyperplanes by brute force, faces by their own faces -------------------------------------------------


def brute(points):
    """Volume and second moments of the hull of points and opposites: every facet by all choices of d points, cut from its first corner."""
    points = [tuple(map(F, p)) for p in points]
    both = list(dict.fromkeys(points + [tuple(-x for x in p) for p in points]))
    d = len(points[0])
    facets = set()
    for chosen in combinations(both, d):
        if det(chosen) == 0:
            continue
        a = [to_fraction(x) for x in matrix(chosen).solve(matrix([(F(1),)] * d)).entries()]
        heights = [sum(x * y for x, y in zip(a, p, strict=True)) for p in both]
        if max(heights) <= 1:
            facets.add(frozenset(i for i, height in enumerate(heights) if height == 1))

    def cut(face, dimension):
        apex = min(face)
        if dimension == 0:
            yield (apex,)
            return
        parts = {face & other for other in facets if not face <= other}
        sides = [part for part in parts if part and not any(part < other for other in parts)]
        for side in sides:
            if apex not in side:
                yield from ((apex, *simplex) for simplex in cut(side, dimension - 1))

    volume, moments = F(0), [[F(0)] * d for _ in range(d)]
    for facet in facets:
        for simplex in cut(facet, d - 1):
            corners = [both[i] for i in simplex]
            size, s = abs(det(corners)), [sum(x) for x in zip(*corners, strict=True)]
            volume += size
            for i, j in product(range(d), repeat=2):
                moments[i][j] += size * (sum(v[i] * v[j] for v in corners) + s[i] * s[j])
    return volume / factorial(d), [[x / (volume * (d + 1) * (d + 2)) for x in row] for row in moments]


HEXAGON = ((1, 0), (0, 1), (1, -1))
CUBOCTAHEDRON = ((1, 1, 0), (1, -1, 0), (1, 0, 1), (1, 0, -1), (0, 1, 1), (0, 1, -1))
SIGNS3 = tuple(product((1, -1), repeat=3))


@pytest.mark.parametrize(
    ("columns", "volume", "one"),
    [
        (((3,), (-5,), (0,), (2,)), 10, F(25, 3)),
        (((1, 0), (0, 1)), 2, F(1, 6)),
        (HEXAGON, 3, F(5, 18)),
        (SIGNS3, 8, F(1, 3)),  # the cube, with every corner and its opposite
        (CUBOCTAHEDRON, F(20, 3), None),
        (((1, 0, 0), (0, 1, 0), (0, 0, 1), (F(1, 3),) * 3, (F(1, 2), F(1, 2), 0)), F(4, 3), F(1, 10)),  # points inside facets and edges
        (((1, 1), (1, 1), (-1, -1), (1, -1), (0, 0)), 4, F(1, 3)),
        (((10**40, 0), (0, F(1, 10**40)), (1, 0)), 2, F(10**80, 6)),
    ],
    ids=["interval", "square on its corner", "hexagon", "cube", "cuboctahedron", "points in faces", "repeated and zero", "huge and tiny"],
)
def test_volume_and_second_moments_are_those_that_are_known(columns, volume, one):
    found = body(asked(*columns))
    assert found.exact and exact(found.volume) == volume
    assert one is None or second(found)[0][0] == one


@pytest.mark.parametrize("rows", [2, 3, 4])
@pytest.mark.parametrize("seed", range(3))
def test_volume_and_second_moments_are_those_of_all_facets_by_brute_force(rows, seed):
    import random

    rng = random.Random(17 * rows + seed)
    pool = (-1, 1) if seed == 0 else (0, 1) if seed == 1 else (F(-3, 2), F(1, 3), 0, 1, 2)
    columns = [tuple(rng.choice(pool) for _ in range(rows)) for _ in range(rows + 3)]
    if matrix([tuple(map(F, c)) for c in columns]).rank() < rows:
        columns += [tuple(int(i == j) for j in range(rows)) for i in range(rows)]
    volume, moments = brute([c for c in columns if any(c)])
    found = body(asked(*columns))
    assert (exact(found.volume), second(found)) == (volume, moments)


@pytest.mark.parametrize("columns", [HEXAGON, CUBOCTAHEDRON, (*SIGNS3, (2, 0, 0))])
def test_without_floats_the_same_is_found(columns):
    about = asked(*columns)
    *_, exactly = polytopes.boundary(shapes.generators(about, "query", ""))
    assert exact(polytope.check(about, {"of": "query", "simplices": polytopes.told(exactly)}).volume) == brute(columns)[0]


def test_facets_that_floats_cannot_tell_apart_are_found():
    columns = ((1, 0, 0), (0, 1, 0), (0, 0, 1), (F(1, 2) + F(1, 10**14), F(1, 2), 0), (F(1, 3) + F(1, 10**15), F(1, 3), F(1, 3)))
    assert exact(body(asked(*columns)).volume) == brute(columns)[0]


def test_points_that_floats_take_for_dependent_span_the_plane():
    assert exact(body(asked((1, 1), (1, 1 + F(1, 10**20)))).volume) == F(2, 10**20)


@pytest.mark.parametrize(
    ("norm", "d", "volume"),
    [
        (L1, 3, "4/3"),
        (L2, 2, "pi"),
        (L2, 3, "4*pi/3"),
        (L2, 5, "8*pi**2/15"),
        (LINF, 3, "8"),
        (Norm("lp", F(3)), 2, "4*gamma(4/3)**2/gamma(5/3)"),
        (Norm("lp", F(3)), 1, "2"),
        (Norm("ellipsoid", None, ((F(2), F(1)), (F(1), F(3)))), 2, "sqrt(5)*pi"),
        (Norm("columns", None, ((F(2), F(1)), (F(1), F(3)))), 2, "10"),
        (Norm("facets", None, ((F(2), F(1)), (F(1), F(3)))), 2, "4/5"),
    ],
    ids=str,
)
def test_the_volume_of_a_unit_ball_is_the_known_one(norm, d, volume):
    with precision(128):
        assert constant(body(claim(norm, d), "norm").volume).overlaps(constant(parse(volume)))


@pytest.mark.parametrize("p", ["1", "3/2", "2", "3", "7"])
def test_the_second_moment_of_an_lp_ball_is_the_integral_over_its_slices(p):
    """In the plane: the integral of x^2 (1 - x^p)^(1/p) over that of (1 - x^p)^(1/p), x from 0 to 1."""
    share = body(claim(Norm("lp", F(p)), 2), "norm").second[0][0]
    steps = 20_000
    heights = [((i + 0.5) / steps, (1 - ((i + 0.5) / steps) ** float(F(p))) ** (1 / float(F(p)))) for i in range(steps)]
    expected = sum(x * x * h for x, h in heights) / sum(h for _, h in heights)
    with precision(64):
        assert abs(float(constant(share).mid()) - expected) < 1e-5


def test_histograms_close_in_l2_have_an_ellipsoid():
    found = body(asked((1, 0), (1, 1), (1, 2), adjacency="l2"))
    assert [[F(3, 4), F(3, 4)], [F(3, 4), F(5, 4)]] == second(found)
    with precision(64):
        assert constant(found.volume).overlaps(arb.pi() * arb(6).sqrt())


def test_the_body_of_a_query_is_the_same_under_any_noise():
    about = asked(*HEXAGON)
    product_noise = Claim(Product(parse("exp(-abs(z))"), num(2)), None, query=about.query)
    assert exact(body(product_noise).volume) == exact(body(about).volume) == 3


def test_replaced_records_have_the_hull_of_differences():
    assert exact(body(asked((1, 0), (0, 1), (0, 0), adjacency="replace")).volume) == 3  # the hexagon


@pytest.mark.parametrize("rows", [((1, 1), (1, -1)), ((1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1)), ((2, 1), (1, 3), (1, -1))])
def test_a_norm_by_facets_has_the_volume_of_the_hull_of_its_vertices(rows):
    norm = Norm("facets", None, tuple(tuple(map(F, row)) for row in rows))
    found = body(claim(norm, len(rows[0])), "norm")
    corners = []
    for chosen in combinations(norm.matrix, len(rows[0])):
        if det(chosen):
            for signs in product((1, -1), repeat=len(chosen)):
                x = [to_fraction(v) for v in matrix(chosen).solve(matrix([(F(s),) for s in signs])).entries()]
                if all(abs(sum(a * b for a, b in zip(row, x, strict=True))) <= 1 for row in norm.matrix):
                    corners.append(x)
    assert (exact(found.volume), second(found)) == brute(corners)


def test_along_axes_a_body_is_the_hull_of_its_points_there():
    axes = ((F(1), F(2), F(0)), (F(0), F(1), F(-1)))
    along = [tuple(sum(a * x for a, x in zip(axis, c, strict=True)) for axis in axes) for c in CUBOCTAHEDRON]
    found = body(asked(*CUBOCTAHEDRON), axes=axes)
    assert found.axes == axes
    assert (exact(found.volume), second(found)) == brute([p for p in along if any(p)])


def test_a_query_of_smaller_rank_is_seen_along_what_its_columns_span():
    about = asked((1, 1, 2), (1, -1, 0), (0, 0, 0), (2, 0, 2))
    axes = bodies.span(about)
    assert len(axes) == 2 and body(about) is None
    assert exact(body(about, axes=axes).volume) > 0
    assert bodies.span(asked((1, 0), (0, 1))) is None
    assert bodies.span(asked((0, 0))) == ()


SMALL = st.fractions(min_value=-3, max_value=3, max_denominator=3)


@given(st.integers(2, 3).flatmap(lambda d: st.tuples(
    st.lists(st.tuples(*[SMALL] * d), min_size=d, max_size=7), st.lists(st.tuples(*[SMALL] * d), min_size=d, max_size=d)
)))  # fmt: skip
@settings(max_examples=examples(40), deadline=None)
def test_a_linear_map_multiplies_the_volume_by_its_determinant_and_carries_the_moments(drawn):
    columns, t = drawn
    if matrix(columns).rank() < len(t) or det(t) == 0:
        return
    image = [tuple(sum(a * x for a, x in zip(row, c, strict=True)) for row in t) for c in columns]
    before, after = body(asked(*columns)), body(asked(*image))
    assert exact(after.volume) == abs(det(t)) * exact(before.volume)
    assert second(after) == transformed(second(before), t)


def test_the_chosen_columns_are_far_apart():
    """Of the columns of signs of a Hadamard matrix among others the orthogonal ones have the greatest determinant there is."""
    columns = [tuple(F((-1) ** (a & b).bit_count()) for a in range(8)) for b in range(8)]
    every = (*(tuple(x / 2 for x in c) for c in columns), *columns, tuple(F(1) for _ in range(8)))
    chosen = polytopes.independent(every)
    assert abs(det([every[k] for k in chosen])) == 8**4


@given(st.lists(st.tuples(SMALL, SMALL, SMALL), min_size=3, max_size=7))
@settings(max_examples=examples(25), deadline=None)
def test_independent_points_bound_the_volume_from_below(columns):
    if matrix(columns).rank() < 3:
        return
    about = asked(*columns)
    points = shapes.generators(about, "query", "")
    chosen = [k + 1 for k in polytopes.independent(points)]
    found = independent_columns.check(about, {"of": "query", "points": chosen})
    assert not found.exact
    assert 0 < exact(found.volume) <= exact(body(about).volume)


# -- evidence that does not hold ---------------------------------------------------------------------------------------------------------


def cut(columns):
    about = asked(*columns)
    return about, next(iter(polytopes.boundary(shapes.generators(about, "query", "")))).tolist()


def lines(simplices):
    return [" ".join(map(str, simplex)) for simplex in simplices]


@pytest.mark.parametrize("columns", [HEXAGON, CUBOCTAHEDRON])
def test_a_simplex_left_out_twice_there_or_doubled_by_its_opposite_is_refused(columns):
    about, simplices = cut(columns)
    polytope.check(about, {"of": "query", "simplices": lines(simplices)})
    for k, simplex in enumerate(simplices):
        opposite = [-x for x in simplex]
        for forged in (simplices[:k] + simplices[k + 1 :], [*simplices, simplex], [*simplices, opposite]):
            with pytest.raises(Rejected):
                polytope.check(about, {"of": "query", "simplices": lines(forged)})


@pytest.mark.parametrize("columns", [HEXAGON, CUBOCTAHEDRON])
def test_boundaries_that_go_round_twice_are_refused(columns):
    about, simplices = cut(columns)
    for again in (simplices, [[-x for x in simplex] for simplex in simplices]):
        with pytest.raises(Rejected, match="overlap"):
            polytope.check(about, {"of": "query", "simplices": lines(simplices + again)})


def test_going_round_twice_is_refused_where_the_middle_of_the_first_simplex_is_a_corner_the_second_time():
    about, once = asked((1, 0), (0, 1)), ["1 2", "-1 2"]
    finer = ["1 3", "2 3", "-1 2"]
    for simplices in (once, finer):
        polytope.check(about, {"of": "query", "middles": [[1, 2]], "simplices": simplices})
    with pytest.raises(Rejected, match="overlap"):
        polytope.check(about, {"of": "query", "middles": [[1, 2]], "simplices": [*once, *finer]})


def test_a_smaller_body_inside_is_refused():
    for columns in (((1, 0), (0, 1), (1, 1)), ((1, 0), (0, 1), (1, -1))):
        for inner in (["1 2", "-1 2"], ["-1 -2", "1 -2"]):
            with pytest.raises(Rejected, match="hyperplane does not keep all points"):
                polytope.check(asked(*columns), {"of": "query", "simplices": inner})


def test_a_facet_covered_twice_by_different_simplices_is_refused():
    """The square facets of a cube have two diagonals: both cuts together close up, and cover every direction twice."""
    about = asked(*SIGNS3[:4])
    faces = [(1, 2, 4, 3), (1, 2, -3, -4), (1, 3, -2, -4)]
    points = shapes.generators(about, "query", "")
    one = [[a, b, c] for a, b, c, _ in faces] + [[a, c, d] for a, b, c, d in faces]
    other = [[a, b, d] for a, b, c, d in faces] + [[b, c, d] for a, b, c, d in faces]
    number = {p: k for k, p in enumerate(points, 1)} | {tuple(-x for x in p): -k for k, p in enumerate(points, 1)}
    corners = {k: tuple(map(F, SIGNS3[k - 1])) for k in (1, 2, 3, 4)}
    corners |= {-k: tuple(-x for x in p) for k, p in corners.items()}

    def named(simplices):
        return lines([[number[corners[k]] for k in simplex] for simplex in simplices])

    assert exact(polytope.check(about, {"of": "query", "simplices": named(one)}).volume) == 8
    assert exact(polytope.check(about, {"of": "query", "simplices": named(other)}).volume) == 8
    with pytest.raises(Rejected, match="overlap"):
        polytope.check(about, {"of": "query", "simplices": named(one + other)})
    with pytest.raises(Rejected, match="does not lie between two"):
        polytope.check(about, {"of": "query", "simplices": named([*one[:-1], *other[:1]])})


def test_a_flat_simplex_is_refused():
    about = asked((1, 0), (2, 0), (0, 1))
    with pytest.raises(Rejected, match="it is flat"):
        polytope.check(about, {"of": "query", "simplices": ["1 2"]})


@pytest.mark.parametrize(
    ("parameters", "why"),
    [
        ({}, "of"),
        ({"of": "query"}, "not iterable"),
        ({"of": "query", "simplices": []}, "out of range"),
        ({"of": "query", "simplices": "12"}, "must be square"),
        ({"of": "query", "simplices": ["1 4"]}, "4"),
        ({"of": "query", "simplices": ["1 0"]}, "0"),
        ({"of": "query", "simplices": ["1 -1"]}, "it is flat"),
        ({"of": "query", "simplices": ["1 2 3"]}, "must be square"),
        ({"of": "query", "axes": [["1"]], "simplices": ["1"]}, "'axes' is not a list of rows of 2 rationals"),
        ({"of": "query", "middles": [[1, 4]], "simplices": ["1 2"]}, "out of range"),
    ],
    ids=str,
)
def test_evidence_that_is_none_is_told_so(parameters, why):
    with pytest.raises((CertificateError, Rejected, *STUMBLES), match=why):
        polytope.check(asked(*HEXAGON), parameters)


@pytest.mark.parametrize(
    ("about", "parameters", "why"),
    [
        (claim(), {"of": "query"}, "it has no query"),
        (Claim(Product(parse("exp(-abs(z))"), num(2)), None, sensitivity=num(1)), {"of": "norm"}, "it is not noise in a norm"),
        (Claim(Radial(parse("exp(-r)"), L1, parse("d")), None, sensitivity=num(1)), {"of": "norm"}, "it is no number"),
        (claim(L2), {"of": "norm"}, "not a polytope by its points, nor, without axes, by its facets"),
        (claim(LINF), {"of": "norm", "axes": [["1", "0"]]}, "not a polytope by its points, nor, without axes, by its facets"),
        (asked((0, 0)), {"of": "query"}, "it is a single point"),
        (asked(*HEXAGON), {"of": "query", "axes": [["1", "0"], ["2", "0"]]}, "they are not independent"),
        (claim(LINF), {"of": "norm", "vertices": [["1", "2"]]}, "it is outside the body"),
        (claim(LINF), {"of": "norm", "vertices": [["1", "0"], ["0", "1"]], "simplices": ["1 2", "-1 2"]}, "none of the body's facets"),
    ],
    ids=[
        "no query",
        "no norm",
        "any dimension",
        "round",
        "facets along axes",
        "a point",
        "axes",
        "a vertex outside",
        "a smaller body",
    ],
)
def test_a_body_that_is_not_so_is_refused(about, parameters, why):
    with pytest.raises(Rejected, match=why):
        polytope.check(about, parameters)


def test_points_half_way_between_two_may_be_corners():
    about = asked((1, 0), (0, 1))
    found = polytope.check(about, {"of": "query", "middles": [[1, 2]], "simplices": ["1 3", "2 3", "-1 2"]})
    assert (exact(found.volume), second(found)[0][0]) == (2, F(1, 6))


@pytest.mark.parametrize(
    ("about", "parameters", "why"),
    [
        (asked(*HEXAGON), {"of": "query"}, "has not 2 points or pairs of facets"),
        (asked((1, 0), (2, 0)), {"of": "query"}, "has not 2 points or pairs of facets, all independent"),
        (asked((1, 0), (2, 0), adjacency="l2"), {"of": "query"}, "it has no interior"),
        (claim(L1, 3), {"of": "norm", "axes": [["1", "0", "0"]]}, "ellipsoids alone are seen along axes"),
    ],
    ids=["a hexagon", "a line", "a flat ellipsoid", "axes"],
)
def test_a_body_that_is_not_simple_is_refused(about, parameters, why):
    with pytest.raises(Rejected, match=why):
        simple_body.check(about, parameters)


@pytest.mark.parametrize(
    ("about", "points", "why"),
    [
        (asked(*HEXAGON), [1, 1], "they are not independent"),
        (asked((1, 0), (2, 0)), [1, 2], "they are not independent"),
        (claim(L2), [1, 2], "it is not given by points"),
    ],
    ids=["one twice", "a line", "round"],
)
def test_points_that_are_not_independent_bound_nothing(about, points, why):
    with pytest.raises(Rejected, match=why):
        independent_columns.check(about, {"of": "query" if about.query else "norm", "points": points})
    with pytest.raises(CertificateError, match="'points' is 9, not a whole number") if about.query else pytest.raises(Rejected):
        independent_columns.check(about, {"of": "query" if about.query else "norm", "points": [1, 9]})


def test_a_round_ball_has_its_mean_length():
    for about, expected in ((claim(L2, 3), F(3, 4)), (claim(Norm("lp", F(3)), 1), F(1, 2))):
        low, high = simple_body.check(about, {"of": "norm"}).mean
        assert low == high == num(expected)
    assert simple_body.check(claim(Norm("lp", F(3)), 2), {"of": "norm"}).mean is None


# -- what is within reach ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pairs", range(5, 12))
def test_the_most_facets_are_those_of_polygons_of_triangulated_spheres_and_of_cyclic_polytopes(pairs):
    n = 2 * pairs
    assert [polytopes.most_facets(pairs, d) for d in (1, 2, 3, 4)] == [2, n, 2 * n - 4, n * (n - 3) // 2]


def test_a_body_of_too_many_facets_has_a_lower_bound_of_its_volume():
    columns = [tuple(int(i == j) for j in range(14)) for i in range(14)] * 3
    columns = [tuple(x * (1 + k // 14) + (k % 14 == 5) * (j == 2) for j, x in enumerate(c)) for k, c in enumerate(columns)]
    assert polytopes.most_facets(len(columns), 14) > polytopes.MOST_FACETS
    found = body(asked(*columns))
    assert not found.exact and found.second is None
    assert exact(found.volume) == F(2**14 * 3**14, factorial(14))  # of the longest columns


@pytest.mark.parametrize("points", [[1], [1, 2, 3], [1, 4], [0, 1], "12"])
def test_a_volume_from_below_wants_as_many_points_as_there_are_dimensions(points):
    with pytest.raises((CertificateError, ValueError), match=r"not a whole number from 1 to 3|must be square"):
        independent_columns.check(asked(*HEXAGON), {"of": "query", "points": points})
