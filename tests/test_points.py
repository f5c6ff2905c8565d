"""Pairs of points of a density: how evidence writes them, which pairs neighbours have, and what lies round a point."""

from fractions import Fraction

import pytest
from flint import arb

from dpverify.trusted.kernel.assumptions import EVERY, REAL
from dpverify.trusted.kernel.balls import precision, rational
from dpverify.trusted.kernel.errors import CertificateError, ExprError, Rejected, Undecided
from dpverify.trusted.kernel.expr import ONE, ZERO, num, parse
from dpverify.trusted.kernel.model import L1, L2, LINF, Claim, Domain, KaryResponse, Product, Query, Radial, Translation
from dpverify.trusted.language.signs import NEGATIVE
from dpverify.trusted.theories.additive import points
from dpverify.trusted.theories.additive.points import Points

F = Fraction
LAPLACE = Translation(parse("exp(-abs(z))"))
WHOLE = Translation(parse("exp(-abs(z))"), integers=True)
PLANE = Radial(parse("exp(-r)"), L2, num(2), parse("1/2"))
COPIES = Product(parse("exp(-abs(z))"), num(2), L1)


def pair(a, b):
    return Points(*(tuple(parse(x) for x in side.split()) for side in (a, b)))


def check(noise, a, b, query=None, sensitivity="1"):
    claim = Claim(noise, None, sensitivity=None if query else parse(sensitivity), query=query)
    with precision(64):
        return points.check_pair(claim, noise, pair(a, b), {})


def row(*columns, adjacency="add-remove"):
    return Query((tuple(map(F, columns)),), adjacency)


# -- reading -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("told", [{"a": [], "b": []}, {"a": ["1"], "b": []}, {"a": ["1"] * 1001, "b": ["1"] * 1001}])
def test_points_are_listed_for_both_answers(told):
    with pytest.raises(CertificateError, match="must be a list of 1 to 1000"):
        points.read_points(told)
    with pytest.raises(ValueError, match="longer"):  # which the kernel refuses
        assert points.read_points({"a": ["1"], "b": ["1", "2"]}).shifts
    assert points.read_points({"a": ["3*2^-1"], "b": ["sqrt(2)"]}) == Points((parse("3/2"),), (parse("sqrt(2)"),))


@pytest.mark.parametrize(
    ("text", "why"), [("1 +", "ends too early"), ("x", "free symbols"), ("y + 2", "free symbols"), ("1*2^x", "point-witness")]
)
def test_a_point_is_a_constant(text, why):
    with pytest.raises((CertificateError, ExprError), match=why):
        points.read_point(text)


@pytest.mark.parametrize(
    ("claim", "why"),
    [
        (Claim(KaryResponse(num(2), ONE), None), "additive noise"),
        (Claim(LAPLACE, None, sensitivity=ONE, domains=(("b", Domain(F(0))),)), "a value for b"),
        (Claim(Translation(parse("1/(1 + abs(z))")), None, sensitivity=ONE), "integrable"),
    ],
)
def test_a_witness_is_of_noise_of_which_everything_is_known(claim, why):
    with precision(64), pytest.raises(Rejected, match=why):
        points.noise_of(claim, {}, "rule")


# -- pairs that neighbours have ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("noise", "a", "b", "assumed"),
    [
        (LAPLACE, "1", "2", ()), (LAPLACE, "2", "1", ()), (LAPLACE, "1", "3/2", (EVERY,)), (LAPLACE, "1", "1", (EVERY,)),
        (WHOLE, "0", "1", ()), (WHOLE, "0", "0", (EVERY,)),
        (PLANE, "0", "2", ()), (PLANE, "1", "2", ()), (PLANE, "1/2", "1", (EVERY,)), (PLANE, "1", "1", ()), (PLANE, "0", "1", (EVERY,)),
        (Radial(parse("exp(-r)"), L2, ONE), "1", "3/2", (EVERY,)),
        (COPIES, "0 0", "1 0", (EVERY,)), (COPIES, "0 0", "1/2 1/2", (EVERY,)), (COPIES, "0", "1", ()),
    ],
)  # fmt: skip
def test_two_points_occur_at_the_whole_distance_or_round_a_triangle(noise, a, b, assumed):
    """On the line at the sensitivity, in the plane where a triangle has these sides and the sensitivity; others where they are to occur."""
    assert check(noise, a, b) == assumed


@pytest.mark.parametrize(
    ("noise", "a", "b", "why"),
    [
        (LAPLACE, "1", "9/4", "within the sensitivity"), (LAPLACE, "1 2", "2 3", "one point"), (PLANE, "1", "4", "within the sensitivity"),
        (PLANE, "-1", "1", "non-negative"), (PLANE, "1 1", "1 1", "one point"), (WHOLE, "1/2", "3/2", "integers"),
        (COPIES, "0 0 0", "0 0 0", "more coordinates"),
        (COPIES, "0 0", "1 1/2", "within the sensitivity"), (WHOLE, "0", "sqrt(2)", "integers"),
        (Product(parse("exp(-abs(z))"), parse("d"), LINF), "0", "0", "more coordinates"),
    ],
)  # fmt: skip
def test_two_points_that_no_neighbours_have_are_refused(noise, a, b, why):
    with pytest.raises(Rejected, match=why):
        check(noise, a, b)


def test_a_query_has_its_own_differences_alone():
    assert check(LAPLACE, "0", "3", row(3, 1)) == check(LAPLACE, "1", "2", row(3, 1)) == ()
    with pytest.raises(Rejected, match="the shift is not one of the query's extreme differences"):
        check(LAPLACE, "1", "3", row(3, 1))
    for adjacency in ("l1", "l2"):
        assert check(LAPLACE, "1", "2", row(3, 1, adjacency=adjacency)) == (REAL,)
        with pytest.raises(Rejected, match="the shift is not one of the query's extreme differences"):
            check(LAPLACE, "1", "5", row(3, 1, adjacency=adjacency))
    with pytest.raises(Rejected):
        check(COPIES, "0 0", "1 0", Query(((F(1), F(0)), (F(1), F(2))), "add-remove"))
    assert check(COPIES, "0 0", "1 1", Query(((F(1), F(0)), (F(1), F(2))), "add-remove")) == ()


def test_in_the_plane_a_triangle_on_a_difference_of_the_query_has_no_longer_side_than_the_other_two():
    query = Query(((F(1),), (F(0),)), "add-remove")  # two scales apart
    assert check(PLANE, "1", "2", query) == check(PLANE, "0", "2", query) == ()
    for b in ("4", "1"):
        with pytest.raises(Rejected, match="the sensitivity that the query gives"):
            check(PLANE, "0", b, query)


def test_answers_on_the_integers_move_by_the_whole_steps_within_their_sensitivity():
    assert check(WHOLE, "0", "1", sensitivity="3/2") == () and check(LAPLACE, "0", "1", sensitivity="3/2") == (EVERY,)
    assert check(LAPLACE, "0", "3/2", sensitivity="3/2") == ()


@pytest.mark.parametrize(
    ("noise", "shown"),
    [
        (Radial(parse("r*exp(-r)"), L2, ONE), True),
        (LAPLACE, True),
        (Translation(parse("(1 + z)*exp(-abs(z))")), False),
        (Translation(parse("z*exp(-z)"), (ZERO, None)), True),
        (Translation(parse("z*exp(-z)"), (parse("1/2"), None)), True),
        (Translation(parse("z*exp(-z)"), (parse("-1/2"), None)), False),
        (Translation(parse("z*exp(-z)"), (None, ONE)), False),
        (Product(parse("z*exp(-abs(z))"), num(2), L1), False),
    ],
)
def test_that_a_density_is_nowhere_negative_is_seen_or_assumed(noise, shown):
    with precision(64):
        assert points.sign_of(noise) == (() if shown else (NEGATIVE,))


# -- round a point ----------------------------------------------------------------------------------


@pytest.mark.parametrize("support", [(None, None), (ZERO, None), (None, ONE), (ZERO, ONE), (parse("sqrt(2)"), parse("2"))])
@pytest.mark.parametrize(("low", "high"), [("-2", "-1"), ("-1/2", "1/2"), ("1/4", "3/4"), ("1/2", "3/2"), ("3/2", "7/4"), ("3", "4")])
def test_what_lies_in_a_support_beside_it_or_across_its_edge_is_told_apart(support, low, high):
    noise = Translation(parse("exp(-abs(z))"), support)
    ends = [end and (2**0.5 if end == parse("sqrt(2)") else float(end.value)) for end in support]
    x, y = float(F(low)), float(F(high))
    left, right = (-9 if ends[0] is None else ends[0]), (9 if ends[1] is None else ends[1])
    wanted = False if left <= x and y <= right else True if y < left or x > right else None
    with precision(64):
        near = rational(F(low)).union(rational(F(high)))
        assert points.outside(noise, near) is wanted
        if wanted is None:
            with pytest.raises(Undecided, match="edge of the support"):
                points.density_on(noise, near)
        else:
            assert (points.density_on(noise, near) == 0) is wanted


@pytest.mark.parametrize(
    ("point", "radius", "low", "high"), [("1", "1/4", "3/4", "5/4"), ("1/8", "1/2", "0", "5/8"), ("0", "1", "0", "1"), ("1", "1", "0", "2")]
)
def test_distances_round_a_point_are_at_least_0(point, radius, low, high):
    with precision(64):
        near = points.neighbourhood(PLANE, parse(point), F(radius))
        for end, at in ((near.lower(), low), (near.upper(), high)):
            assert abs(end - rational(F(at))) < arb(2) ** -20
        line = points.neighbourhood(LAPLACE, parse("1/8"), F(1, 2))
        assert line.contains(arb(-0.375)) and line.contains(arb(0.625)) and line.rad() < arb(0.5001)
        assert points.neighbourhood(WHOLE, num(3), F(0)) == 3
