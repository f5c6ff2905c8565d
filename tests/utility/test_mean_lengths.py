"""The mean length of uniform points: moments against the law of Dirichlet, bounds against closed forms."""

from fractions import Fraction as F
from itertools import product
from math import asinh, factorial, prod, sqrt

import pytest
from flint import arb, fmpz, fmpz_mat
from hypothesis import given, settings
from hypothesis import strategies as st

from dpverify.search.utility import bodies, mean_lengths, polytopes
from dpverify.trusted.kernel.balls import constant, precision
from dpverify.trusted.kernel.errors import STUMBLES, CertificateError, Rejected, Undecided
from dpverify.trusted.kernel.expr import Num, num, parse
from dpverify.trusted.kernel.model import L1, LINF, Claim, Query, Radial
from dpverify.trusted.kernel.proof import Proof
from dpverify.trusted.theories.utility import shapes
from dpverify.trusted.theories.utility.half_lines import mean_size
from dpverify.trusted.theories.utility.rules import polytope
from dpverify.trusted.theories.utility.rules.polytope import Moments, Root
from tests.effort import examples


def asked(*columns):
    rows = tuple(zip(*(tuple(map(F, c)) for c in columns), strict=True))
    return Claim(Radial(parse("exp(-r)"), L1, num(len(rows))), None, query=Query(rows, "l1"))


def ball(norm, d):
    return Claim(Radial(parse("exp(-r)"), norm, num(d)), None, sensitivity=num(1))


def mean(claim, of="query", **more):
    with precision(128):
        low, high = bodies.fact(Proof(claim), of, mean=True, **more).says.mean
    assert isinstance(low, Num) and isinstance(high, Num)
    return low.value, high.value


def dirichlet(gram, k):
    """E (l' H l)^k, term by term."""
    d = len(gram)
    total = F(0)
    for pairs in product(product(range(d), repeat=2), repeat=k):
        counts = [sum(pair.count(i) for pair in pairs) for i in range(d)]
        share = F(factorial(d - 1) * prod(map(factorial, counts)), factorial(d - 1 + 2 * k))
        total += share * prod(gram[i][j] for i, j in pairs)
    return total


@pytest.mark.parametrize("gram", [[[3]], [[2, 1], [1, 5]], [[2, -1, 0], [-1, 3, 1], [0, 1, 7]]], ids=["1", "2", "3"])
@pytest.mark.parametrize("order", [2, 4])
def test_moments_are_those_of_the_law_of_dirichlet(gram, order):
    with precision(128):
        for k, moment in enumerate(Moments(len(gram), order)(fmpz_mat(gram))):
            if k <= 3:
                expected = dirichlet(gram, k)
                assert moment.overlaps(arb(expected.numerator) / expected.denominator) and moment.rel_accuracy_bits() > 80


SQUARE = ((1, 1), (1, -1))
KNOWN = {
    "interval": (asked((3,), (5,)), 2.5),
    "cross-polytope": (asked((1, 0), (0, 1)), 2 / 3 * (1 / 2 + asinh(1) / (2 * sqrt(2)))),
    "square": (asked(*SQUARE), (sqrt(2) + asinh(1)) / 3),
    "cube": (asked(*product((1, -1), repeat=3)), 0.9605919564550529),
}


@pytest.mark.parametrize(("about", "expected"), KNOWN.values(), ids=KNOWN)
def test_the_mean_length_is_the_known_one(about, expected):
    low, high = mean(about)
    assert float(low) - 1e-12 <= expected <= float(high) + 1e-12
    assert high - low < F(1, 10**6) * high


def test_the_ball_of_a_norm_has_the_mean_of_its_hull():
    low, high = mean(ball(LINF, 3), "norm")
    assert float(low) <= KNOWN["cube"][1] <= float(high) and high - low < F(1, 10**6)
    low, high = mean(ball(L1, 2), "norm")
    assert float(low) <= KNOWN["cross-polytope"][1] <= float(high) and high - low < F(1, 10**6)


def test_along_axes_lengths_are_those_of_the_space():
    columns = [(1, 1, 0), (1, 1, 2), (2, 2, -1)]  # in a plane, where (1, 1, 0) has the length sqrt(2)
    enclosed = [
        mean(asked(*columns), axes=axes) for axes in (((F(1), F(1), F(0)), (F(0), F(0), F(1))), ((F(1), F(1), F(3)), (F(-1), F(-1), F(5))))
    ]
    flat = mean(asked(*((F(1414213562373095048801688724209698, 10**33) * a, c) for a, _, c in columns)))
    assert max(low for low, _ in (*enclosed, flat)) <= min(high for _, high in (*enclosed, flat)) + F(1, 10**20)
    assert all(high - low < F(1, 10**6) for low, high in enclosed)


@pytest.mark.wide
def test_in_five_dimensions_six_digits_are_reached():
    columns = [(1, 1, -1, 1, 1), (1, -1, 1, 1, -1), (-1, 1, 1, 1, -1), (1, 1, 1, -1, -1), (1, 1, 1, 1, 1)]
    low, high = mean(asked(*columns))
    assert high - low < F(1, 10**6) * high


def forged(above, below, columns=SQUARE, **more):
    about = asked(*columns)
    simplices = polytopes.told(next(polytopes.boundary(shapes.generators(about, "query", ""))))
    with precision(128):
        return polytope.check(about, {"of": "query", "simplices": simplices, "above": above, "below": below, **more}).mean


POSITIVE = st.fractions(min_value=F(1, 50), max_value=3, max_denominator=50)
LISTS = st.lists(st.lists(POSITIVE, min_size=1, max_size=3, unique=True).map(lambda roots: [str(x) for x in roots]), min_size=1, max_size=3)


@given(LISTS, LISTS)
@settings(max_examples=examples(60), deadline=None)
def test_wherever_the_polynomials_touch_the_mean_is_enclosed(above, below):
    try:
        low, high = forged(above, below)
    except Undecided:
        return
    with precision(64):
        assert float(constant(low).mid()) - 1e-9 <= KNOWN["square"][1] <= float(constant(high).mid()) + 1e-9


@given(st.lists(POSITIVE, min_size=1, max_size=4, unique=True), st.fractions(0, 3), st.fractions(3, 9))
@settings(max_examples=examples(60), deadline=None)
def test_a_polynomial_that_meets_the_root_at_an_end_is_on_one_side_of_it(roots, low, high):
    """A law of two masses: the mean of the root lies between the bounds of its ends."""
    with precision(256):
        masses = [arb(low.numerator) / low.denominator, arb(high.numerator) / high.denominator]
        root = Root(roots)
        moments = [(masses[0] ** k + masses[1] ** k) / 2 for k in range(root.order + 1)]
        truth = (masses[0].sqrt() + masses[1].sqrt()) / 2
        for end, above in ((arb(10), True), (masses[0] / 2, False)):
            bound = root.bound(moments, end)
            assert not (bound < truth if above else bound > truth)


@pytest.mark.parametrize("roots", [[["0"]], [["-1/2"]], [["1/2", "1/2"]]], ids=str)
def test_touching_points_that_are_not_different_positive_numbers_are_refused(roots):
    with pytest.raises(Rejected, match="are not different positive numbers"):
        forged(roots, [["1/2"]])
    with pytest.raises(Rejected, match="are not different positive numbers"):
        forged([["1/2"]], roots)


@pytest.mark.parametrize("roots", [None, [], [[]], ["1/2"]], ids=str)
def test_touching_points_that_are_no_lists_are_told_so(roots):
    with pytest.raises((CertificateError, *STUMBLES)):
        forged(roots, [["1/2"]])


def test_an_end_where_a_polynomial_touches_already_decides_nothing():
    with pytest.raises(Undecided):
        forged([["1"]], [["1/2"]], ((1,),))


def test_halved_simplices_are_those_of_the_same_body():
    points = tuple(tuple(map(F, c)) for c in ((100, 0), (0, 1), (70, 1)))
    simplices = next(polytopes.boundary(points))
    found = mean_lengths.cut(points, shapes.unit(2), simplices)
    assert len(found.simplices) > len(simplices)
    about = asked(*points)
    fine, coarse = (
        polytope.check(about, {"of": "query", "simplices": polytopes.told(one), "middles": [list(m) for m in found.middles]})
        for one in (found.simplices, simplices)
    )
    assert (fine.volume, fine.second) == (coarse.volume, coarse.second)


# -- sizes of coordinates ------------------------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=6, unique=True))
@settings(deadline=None)
def test_the_mean_size_of_a_form_is_the_sum_over_its_positive_corners(values):
    """For different values the divided difference is a sum over the values by themselves."""
    d = len(values)
    positive = sum((F(t**d, prod(t - s for s in values if s != t)) for t in values if t > 0), F(0)) / d
    expected = 2 * positive - F(sum(values), d)
    with precision(128):
        assert mean_size([fmpz(t) for t in values]).overlaps(arb(expected.numerator) / expected.denominator)


@pytest.mark.parametrize(
    ("values", "expected"), [((-1, -1, 1, 1), F(3, 8)), ((0, 0, -1), F(1, 3)), ((0,), F(0)), ((2, 2, 2), F(2)), ((-3, -3), F(3))], ids=str
)
def test_values_that_are_repeated_have_the_mean_size_that_is_known(values, expected):
    with precision(128):
        assert mean_size([fmpz(t) for t in values]).overlaps(arb(expected.numerator) / expected.denominator)


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (((2, 0, 0), (0, 3, 0), (0, 0, 1)), (F(1, 2), F(3, 4), F(1, 4))),
        (tuple(product((1, -1), repeat=3)), (F(1, 2),) * 3),
        (((4,),), (F(2),)),
    ],
    ids=["cross-polytope", "cube", "interval"],
)
def test_the_mean_sizes_of_coordinates_are_the_known_ones(columns, expected):
    about = asked(*columns)
    simplices = polytopes.told(next(polytopes.boundary(shapes.generators(about, "query", ""))))
    with precision(128):
        found = polytope.check(about, {"of": "query", "simplices": simplices, "sizes": True})
    assert len(found.sizes) == len(expected) and found.mean is None
    for (low, high), value in zip(found.sizes, expected, strict=True):
        assert low.value <= value <= high.value and high.value - low.value < F(1, 10**30)
