"""Metric spaces of answers (theory/spaces.md): what every guard refuses, and how wide, how netted and how packed spaces are."""

import math
from dataclasses import replace
from fractions import Fraction

import pytest

from dpverify.catalogue.shapes import read_shape
from dpverify.search.verify import verify
from dpverify.search.witness_words import in_words
from dpverify.trusted.kernel.balls import constant, hull
from dpverify.trusted.kernel.bounds import INFINITE
from dpverify.trusted.kernel.errors import CertificateError, Rejected
from dpverify.trusted.kernel.expr import ZERO, call, num, parse, substitute
from dpverify.trusted.kernel.model import L1, L2, LINF, Claim, Domain, Norm, Shape, Space
from dpverify.trusted.theories.spaces.nets import FALLING, ceiling, cube, net, others
from dpverify.trusted.theories.spaces.packings import Packing, packing, width
from dpverify.trusted.theories.spaces.rules import (
    cell_response,
    given_mechanism,
    near_dual,
    near_table,
    net_mechanism,
    noise_near,
    weighted_packing,
)
from dpverify.trusted.theories.spaces.shapes import (
    MANY,
    NET,
    SEPARATED,
    along,
    asked,
    check,
    classes,
    logarithm,
    require,
    spread,
    tamed,
    together,
)

FACETS = Norm("facets", None, ((Fraction(1), Fraction(1)), (Fraction(1), Fraction(-2))))
PLANE = Norm("ellipsoid", None, ((Fraction(1), Fraction(0)), (Fraction(0), Fraction(1, 4))))
GAMMA = {"g": Domain(Fraction(0)), "b": Domain(Fraction(0), Fraction(1))}


def shape(kind, **made_of):
    return read_shape({"kind": kind, **made_of})


def points(*numbers):
    return shape("points", distances=[[abs(i - j) for j in numbers] for i in numbers])


BIT, ROW = points(0, 1), points(0, 1, 2)
TRIANGLE = {"kind": "hull", "corners": [[0, 0], [1, 0], [0, 1]]}
TREE = shape("tree", ratio="1/2", branching=[3, 2])
WIDE_TREE = shape("tree", ratio="1/2", branching=[2, "inf"])


def claim(
    space, within="1/4", beta="1/20", databases="answers", diameter=None, *, lipschitz="1", between=(), truth=(), table=(), rate=None
):
    apart, rows = (tuple(tuple(map(Fraction, row)) for row in matrix) for matrix in (between, table))
    wide, noise = (None if text is None else parse(text) for text in (diameter, rate))
    mechanism = Space(space, parse(lipschitz), databases, wide, apart, tuple(truth), rows, noise)
    return Claim(mechanism, None, within=parse(within), beta=parse(beta))


def bounded(space, diameter, **more):
    return claim(space, databases="bounded", diameter=diameter, **more)


def number(expr):
    return float(constant(expr).mid())


def size(*args):
    return math.exp(number(net(*args)))


# -- how wide a space is ---------------------------------------------------------------------------------------------


ELLIPSOID = {"kind": "ellipsoid", "axes": "1/k"}
WIDTHS = [
    (shape("box", sides=[3, 4]), 5),
    (shape("box", sides=[3, 4], norm="l1"), 7),
    (shape("box", sides=[3, 4], norm="linf"), 4),
    (Shape("box", (num(3), num(4)), norm=FACETS), 11),  # |3 + 2 4|
    (Shape("box", (num(3), num(4)), norm=PLANE), math.sqrt(9 + 64)),
    (Shape("box", (parse("sqrt(10)"), num(4)), norm=PLANE), math.sqrt(10) + 8),  # sides that are not rational: their sum
    (shape("ball", radius="3/2", dimension=2), 3),
    (shape("sphere", radius="3/2", dimension=2), 3),
    (points(0, 1, 5), 5),
    (shape("hull", corners=[[0, 0], [1, 0], [3, 4]]), 5),
    (shape("ellipsoid", axes="1/k"), 2),
    (shape("hoelder", constant=9, bound="3/2", exponent=1), 3),
    (Shape("cantor", (num(2), parse("1/3"))), 2),
    (shape("discrete", distance=2), 2),
    (TREE, 1),
    (WIDE_TREE, 1),
    (shape("tree", ratio="1/2", branching=[1, 1, 2]), 0.25),
    (shape("tree", ratio="1/2", branching="1 + k"), 0.5),
    (shape("product", norm="l1", parts=[TRIANGLE, {"kind": "box", "sides": [1]}]), 1 + math.sqrt(2)),
    (shape("product", norm="l1", parts=[{**TRIANGLE, "norm": "l1"}, {**TRIANGLE, "norm": "linf"}]), 3),
    (shape("product", norm="l1", parts=[ELLIPSOID, {"kind": "ellipsoid", "axes": "2 - 2/k**2"}]), 6),
    (shape("product", norm="l2", parts=[ELLIPSOID, ELLIPSOID]), math.sqrt(8)),
    (shape("product", norm="linf", parts=[ELLIPSOID, {"kind": "product", "norm": "l1", "parts": [ELLIPSOID, TRIANGLE]}]), 2 + math.sqrt(2)),
    (Shape("product", norm=L1, parts=(shape("net", size="1 + 1/r"), Shape("box", (num(3), num(4)), norm=FACETS))), 11),
]  # fmt: skip


@pytest.mark.parametrize(("space", "wide"), WIDTHS, ids=lambda value: "")
def test_databases_exist_exactly_where_the_greatest_distance_allows_them(space, wide):
    least = float(wide)
    for factor, lipschitz in ((1, "1"), (2, "1/2")):
        enough, short = (str(Fraction(factor * least * part).limit_denominator(10**8)) for part in (1.00001, 0.99999))
        require(bounded(space, enough, lipschitz=lipschitz).mechanism, {})
        with pytest.raises(Rejected, match="no databases are so near"):
            require(bounded(space, short, lipschitz=lipschitz).mechanism, {})


@pytest.mark.wide
def test_boxes_of_many_sides_are_measured_by_these():
    unit = tuple(tuple(Fraction(int(i == j)) for j in range(13)) for i in range(13))
    box = Shape("box", (num(1),) * 13, norm=Norm("ellipsoid", None, unit))
    assert [number(wide) for wide, _ in spread(box)] == [13]
    twelve = Shape("box", (num(1),) * 12, norm=Norm("ellipsoid", None, tuple(row[:12] for row in unit[:12])))
    assert [number(wide) for wide, _ in spread(twelve)] == pytest.approx([math.sqrt(12)])


def test_lengths_come_together_in_their_norm():
    assert [number(together(norm, (num(3), num(4)))) for norm in (L1, L2, LINF)] == [7, 5, 4]


def test_axes_with_a_floor_in_them_are_taken_by_their_remainders():
    axis, at = parse("1/k + floor(k/3)/k + floor(sqrt(k))*0 + floor(2*k + 1/2)"), lambda expr, k: number(parse_at(expr, k))
    for first in (1, 5):
        found = {}
        parts = classes(axis, first)
        assert len(parts) == 3
        for place, (one, _) in enumerate(parts):
            found |= {first + place + 3 * (k - 1): at(one, k) for k in (1, 2, 5)}
        for k, value in found.items():
            assert value == pytest.approx(1 / k + (k // 3) / k + math.floor(2 * k + 0.5))
    assert [at(along(parse("floor(k/2) + floor(k**2)"), 1, 1), k) for k in (2, 3)] == [5, 10]
    [(one, over)] = classes(parse("floor(k**2/2)/k"), 4)
    assert over.lower == 4 and [at(one, k) for k in (4, 5)] == [2, 12 / 5]


def parse_at(expr, k):
    return substitute(expr, {"k": num(k)})


def test_logarithms_of_products_and_powers_are_taken_apart_and_of_what_is_not_positive_refused():
    k = {"k": Domain(Fraction(1), lower_open=False)}
    for text in ("3*exp(-k)/k**2", "abs(1/k)*2", "exp(sqrt(k))"):
        assert number(parse_at(logarithm(parse(text), k), 4)) == pytest.approx(math.log(number(parse_at(parse(text), 4))))
    for text in ("k - 1", "-k", "abs(1 - k)"):
        with pytest.raises(Rejected, match="not certainly positive"):
            logarithm(parse(text), k)


# -- what is no space, no claim about one, no database ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"within": None}, "about a space"),
        ({"beta": None}, "about a space"),
        ({"mechanism": None}, "about a space"),
        ({"within": ZERO}, "0 is not certainly positive"),
        ({"within": parse("g")}, "g is not certainly positive"),
        ({"beta": ZERO}, "between 0 and 1"),
        ({"beta": num(1)}, "between 0 and 1"),
        ({"beta": num(2)}, "between 0 and 1"),
        ({"beta": num(-1)}, "between 0 and 1"),
        ({"beta": parse("b")}, "between 0 and 1"),
    ],
)
def test_a_claim_about_a_space_says_how_near_and_how_often(wrong, why):
    with pytest.raises(Rejected, match=why):
        asked(replace(claim(BIT), **wrong), "a rule")
    assert asked(replace(claim(BIT, "g", "b"), domains=tuple(GAMMA.items())), "a rule")[1:] == (parse("g"), parse("b"))


@pytest.mark.parametrize("given", [{"table": [[1, 0], [0, 1]]}, {"rate": "0"}, {"rate": "1"}])
def test_a_mechanism_that_is_given_is_not_chosen(given):
    with pytest.raises(Rejected, match="would choose another"):
        asked(claim(BIT, **given), "a rule")
    assert asked(claim(BIT, **given), "a rule", one=True)


ANY = {"sides": (num(1),)}
R = num(1)
M = ((Fraction(0),),)
TWO = ((Fraction(0), Fraction(1)), (Fraction(1), Fraction(0)))
NO_NORM = Norm("lp", Fraction(1, 2))


@pytest.mark.parametrize(
    ("space", "why"),
    [
        (Shape("blob"), "none that is known"),
        (Shape("box", ()), "at least one"),
        (Shape("box", (R,), matrix=M), "nothing else"),
        (Shape("box", (R,), parts=(BIT,)), "nothing else"),
        (Shape("box", (R, ZERO)), "0 is not certainly positive"),
        (Shape("box", (R,), norm=NO_NORM), "norm"),
        (Shape("ball", (R,)), "has 2 numbers"),
        (Shape("ball", (R, R), matrix=M), "has 2 numbers"),
        (Shape("ball", (R, R), parts=(BIT,)), "has 2 numbers"),
        (Shape("ball", (ZERO, R)), "radius"),
        (Shape("ball", (R, R), norm=NO_NORM), "norm"),
        (Shape("ball", (R, ZERO)), "whole number from 1"),
        (Shape("ball", (R, parse("3/2"))), "whole number from 1"),
        (Shape("ball", (R, parse("n"))), "whole number from 1"),
        (Shape("ball", (R, num(10_001))), "whole number from 1"),
        (Shape("hull", (R,), matrix=TWO), "at least one, of one length"),
        (Shape("hull", matrix=TWO, parts=(BIT,)), "at least one, of one length"),
        (Shape("hull"), "at least one, of one length"),
        (Shape("hull", matrix=((),)), "at least one, of one length"),
        (Shape("hull", matrix=((Fraction(1),), (Fraction(1), Fraction(2)))), "at least one, of one length"),
        (Shape("hull", matrix=TWO, norm=NO_NORM), "norm"),
        (Shape("points", (R,), matrix=TWO), "matrix of distances, and no more"),
        (Shape("points", matrix=TWO, parts=(BIT,)), "matrix of distances, and no more"),
        (Shape("points"), "square"),
        (Shape("points", matrix=((Fraction(0), Fraction(1)),)), "square"),
        (Shape("points", matrix=((Fraction(1),),)), "else positive"),
        (Shape("points", matrix=((Fraction(0), Fraction(-1)), (Fraction(-1), Fraction(0)))), "else positive"),
        (Shape("tree", (R, parse("1/2"))), "a scale, a ratio"),
        (Shape("infinite_tree", (R,)), "a scale, a ratio"),
        (Shape("tree", (R, parse("1/2"), num(2)), matrix=M), "a scale, a ratio"),
        (Shape("tree", (R, parse("1/2"), num(2)), parts=(BIT,)), "a scale, a ratio"),
        (Shape("tree", (ZERO, parse("1/2"), num(2))), "scale"),
        (Shape("tree", (R, ZERO, num(2))), "ratio"),
        (Shape("tree", (R, R, num(2))), "below 1"),
        (Shape("tree", (R, parse("1/2"), ZERO)), "whole number of at least 1"),
        (Shape("tree", (R, parse("1/2"), parse("3/2"))), "whole number of at least 1"),
        (Shape("tree", (R, parse("1/2"), parse("k + 1"), num(2))), "whole number of at least 1"),
        (Shape("tree", (R, parse("1/2"), parse("2 - k"))), "whole number of at least 1"),
        (Shape("tree", (R, parse("1/2"), parse("2**(-k)"))), "whole number of at least 1"),
        (Shape("tree", (R, parse("1/2"), parse("1 + k/2"))), "whole number of at least 1"),
        (Shape("tree", (R, parse("1/2"), parse("1 + n"))), "whole number of at least 1"),
        (Shape("infinite_tree", (R, parse("1/2"), parse("k + 1"))), "whole number of at least 1"),
        (Shape("cantor", (R,)), "has 2 numbers"),
        (Shape("cantor", (ZERO, parse("1/3"))), "scale"),
        (Shape("cantor", (R, ZERO)), "ratio"),
        (Shape("cantor", (R, parse("1/2"))), "below 1/2"),
        (Shape("ellipsoid", ()), "has 1 numbers"),
        (Shape("ellipsoid", (parse("1/(k - 3)"),)), "have a value"),
        (Shape("ellipsoid", (parse("1 + floor(k/2)*(1/(k - 3))"),)), "have a value"),
        (Shape("ellipsoid", (parse("(-1)**k"),)), "have a value"),
        (Shape("ellipsoid", (parse("log(k - 2*floor(k/2) - 1/(2*k))"),)), "have a value"),
        (Shape("ellipsoid", (parse("1/k + 2**(1/(k - 2))"),)), "have a value"),
        (Shape("ellipsoid", (parse("1/(k - 2 + floor(k/2)*0) + floor(k/2)"),)), "have a value"),
        (Shape("hoelder", (R, R, R)), "has 4 numbers"),
        (Shape("hoelder", (R, ZERO, R, R)), "constant"),
        (Shape("hoelder", (R, R, ZERO, R)), "exponent"),
        (Shape("hoelder", (R, R, R, ZERO)), "bound"),
        (Shape("hoelder", (R, R, num(2), R)), "at most 1"),
        (Shape("hoelder", (parse("3/2"), R, R, R)), "dimension"),
        (Shape("real", (R, R)), "has 1 numbers"),
        (Shape("real", (R,), norm=NO_NORM), "norm"),
        (Shape("integers", (R,)), "has 0 numbers"),
        (Shape("discrete", (ZERO,)), "distance"),
        (Shape("discrete", (R, R)), "has 1 numbers"),
        (Shape("net", (R, R)), "has 1 numbers"),
        (Shape("net", (parse("1/2"),)), "at least 1"),
        (Shape("product", norm=L1), "at least one"),
        (Shape("product", (R,), norm=L1, parts=(BIT,)), "no numbers"),
        (Shape("product", norm=L1, matrix=M, parts=(BIT,)), "no numbers"),
        (Shape("product", norm=FACETS, parts=(BIT,)), "in an lp norm"),
        (Shape("product", norm=NO_NORM, parts=(BIT,)), "in an lp norm"),
        (Shape("product", norm=L1, parts=(BIT, Shape("blob"))), "none that is known"),
    ],
    ids=lambda value: "",
)
def test_a_shape_that_is_no_metric_space_is_refused(space, why):
    with pytest.raises(Rejected, match=why):
        check(space, {})


@pytest.mark.parametrize(
    "space",
    [
        Shape("tree", (R, parse("1/2"), parse("1 + 3*k**2 + 2**k"))),
        Shape("tree", (R, parse("1/2"), R)),
        Shape("infinite_tree", (R, parse("1/2"))),
        Shape("ball", (R, num(10_000)), norm=L1),
        Shape("hoelder", (R, R, R, R)),
        Shape("product", norm=L1, parts=(BIT,)),
        Shape("product", norm=LINF, parts=(BIT, BIT)),
        Shape("points", matrix=M),
        Shape("net", (R,)),
        Shape("ellipsoid", (parse("2**(-k) + (1/3)**k + (-k)**2"),)),
    ],
    ids=lambda value: "",
)
def test_a_shape_that_is_just_one_is_none_to_refuse(space):
    check(space, {})


@pytest.mark.parametrize(
    ("asked_of", "why"),
    [
        (claim(BIT, lipschitz="0"), "lipschitz"),
        (bounded(BIT, None), "need one"),
        (bounded(points(0), "0"), "diameter"),
        (claim(BIT, databases="some"), "not bounded, unbounded, answers or listed"),
        (claim(shape("box", sides=[1]), table=[[1]]), "finitely many points"),
        (claim(BIT, table=[[1, 0], [0, 1]], rate="1"), "finitely many points"),
        (claim(BIT, rate="-1"), "at least 0"),
        (claim(BIT, rate="x"), "at least 0"),
        (claim(BIT, table=[[1, 0]]), "row for each database"),
        (claim(BIT, table=[[1, 0, 0], [0, 1, 0]]), "row for each database"),
        (claim(BIT, table=[[2, -1], [0, 1]]), "row for each database"),
        (claim(BIT, table=[["1/2", "1/3"], [0, 1]]), "row for each database"),
        (claim(shape("box", sides=[1]), databases="listed", between=[[0]], truth=[0]), "finitely many points alone"),
        (claim(BIT, databases="listed", between=[[0, 1]], truth=[0, 1]), "databases: it is not a square"),
        (claim(BIT, databases="listed", between=[[0, 1], [1, 0]], truth=[0]), "every answer once"),
        (claim(BIT, databases="listed", between=[[0, 1], [1, 0]], truth=[0, 0]), "every answer once"),
        (claim(BIT, databases="listed", between=[[0, "1/2"], ["1/2", 0]], truth=[0, 1]), "too far"),
        (claim(BIT, databases="listed", between=[[0, 1], [1, 0]], truth=[0, 1], lipschitz="1/2"), "too far"),
    ],
    ids=lambda value: "",
)
def test_databases_that_are_as_declared_exist(asked_of, why):
    with pytest.raises(Rejected, match=why):
        require(asked_of.mechanism, {})


def test_listed_databases_may_share_an_answer_and_have_a_row_of_a_table_each():
    between, table = [[0, 1, 1], [1, 0, 1], [1, 1, 0]], [[1, 0], [0, 1], [0, 1]]
    require(claim(BIT, databases="listed", between=between, truth=[0, 1, 1], table=table).mechanism, {})
    with pytest.raises(Rejected, match="row for each database"):
        require(claim(BIT, databases="listed", between=between, truth=[0, 1, 1], table=table[:2]).mechanism, {})
    require(claim(points(0), databases="listed", between=[[0]], truth=[0]).mechanism, {})


# -- nets ----------------------------------------------------------------------------------------------------------------


R2 = math.sqrt(2)
QUARTERS = shape("hull", corners=[[0, 0], [1, 0], [0, 1]], norm="l1")


@pytest.mark.parametrize(
    ("space", "radius", "told", "expected"),
    [
        (shape("box", sides=[1]), "1/4", {}, 2),
        (shape("box", sides=[1]), "24/100", {}, 3),
        (shape("box", sides=[1, 2], norm="l1"), "1/4", {}, 32),
        (shape("box", sides=[1, 2], norm="linf"), "1/4", {}, 8),
        (Shape("box", (R, R), norm=FACETS), "3/4", {}, 4),  # a cube of edge 1/2 has corners at 3/4
        (Shape("box", (R, R), norm=PLANE), "3/4", {}, 4),
        (QUARTERS, "1/2", {}, 16),
        (shape("hull", corners=[[0, 0], [1, 0]], norm="l1"), "1/2", {}, 2),
        (Shape("hull", matrix=((Fraction(0), Fraction(0)), (Fraction(1), Fraction(0))), norm=FACETS), "1/2", {}, 6),
        (shape("hull", corners=[[1, 1]]), "1/2", {}, 1),
        (shape("ball", radius=1, dimension=2), "1", {}, 1),
        (shape("ball", radius=1, dimension=1), "1/2", {}, 2),
        (shape("ball", radius=1, dimension=2), "1/2", {}, 25),
        (shape("sphere", radius=1, dimension=2), "2", {}, 1),
        (shape("sphere", radius=1, dimension=1), "1/2", {}, 2),
        (shape("sphere", radius=1, dimension=2), "1/2", {}, 16),
        (shape("sphere", radius=1, dimension=2), "1", {}, 8),
        (TREE, "1", {"depth": 0}, 1),
        (TREE, "1/4", {"depth": 2}, 6),
        (TREE, "1/8", {"depth": 3}, 12),
        (TREE, "1/4", {}, 27),
        (TREE, "2", {}, 3),
        (shape("tree", ratio="1/2", branching=3), "1/4", {}, 27),
        (WIDE_TREE, "1/2", {"depth": 1}, 2),
        (shape("cantor", ratio="1/3"), "1/9", {}, 8),
        (shape("ellipsoid", axes="1/k"), "1", {"factor": "1", "power": "1"}, (4 * R2) ** R2),
        (shape("ellipsoid", axes="1/k"), "1", {"factor": "1", "power": "1", "start": 1, "times": "1"}, (4 * R2) ** R2),
        (shape("ellipsoid", axes="1/k"), "1/2", {"axes": 2, "tail": "1/3"}, 4 / math.sqrt(5 / 36) * 2 / math.sqrt(5 / 36)),
        (shape("ellipsoid", axes="1/k"), "1", {"axes": 0, "tail": "1"}, 1),
        (shape("ellipsoid", axes="1/(100*k)"), "1", {"axes": 1, "tail": "1/100"}, 2),
        (shape("hoelder", constant=1, bound=1, exponent=1, dimension=2), "1", {}, 1),  # 0 is within 1 of all of them
        (shape("hoelder", constant=1, bound=1, exponent=1, dimension=2), "1/2", {}, 8 * 3**15),
        (shape("hoelder", constant=1, bound=2, exponent="1/2", dimension=1), "1", {}, 8 * 3**7),
        (shape("discrete", distance=2), "2", {}, 1),
        (shape("net", size="1 + 1/r"), "1/2", {}, 3),
        (ROW, "1/2", {}, 3),
        (ROW, "1", {"points": [1, 1]}, 1),
        (ROW, "1", {"points": [0, 1]}, 2),
        (shape("product", norm="l2", parts=[{"kind": "box", "sides": [1]}] * 2), "1/2", {}, 4),
        (shape("product", norm="linf", parts=[{"kind": "box", "sides": [1]}] * 2), "1/4", {"parts": [{}, {}]}, 4),
    ],
    ids=lambda value: "",
)
def test_nets_have_as_many_points_as_theory_says(space, radius, told, expected):
    assert size(space, parse(radius), told, {}) == pytest.approx(expected)


def test_many_axes_have_a_net_where_their_tail_is_short():
    assert size(shape("ellipsoid", axes="1/k"), parse("2"), {"axes": 3, "tail": "1/4"}, {}) == pytest.approx(
        math.prod(max(2, 4 / k / math.sqrt(4 - 1 / 16)) for k in (1, 2, 3))
    )


@pytest.mark.parametrize(
    ("space", "radius", "told", "why"),
    [
        (shape("real"), "1", {}, "no finite nets"),
        (ROW, "0", {}, "not certainly positive"),
        (ROW, "g", {}, "not certainly positive"),
        (TREE, "1/4", {"depth": -1}, "whole number from 0"),
        (TREE, "1/4", {"depth": 20_001}, "whole number from 0"),
        (TREE, "1/4", {"depth": True}, "whole number from 0"),
        (TREE, "1/4", {"depth": 1}, "within the radius"),
        (WIDE_TREE, "1/4", {"depth": 2}, "infinitely many children"),
        (WIDE_TREE, "1/4", {}, "infinitely many children"),
        (shape("ellipsoid", axes="1/k"), "1", {"factor": "0", "power": "1"}, "must be positive"),
        (shape("ellipsoid", axes="1/k"), "1", {"factor": "1", "power": "0"}, "must be positive"),
        (shape("ellipsoid", axes="1/k"), "1", {"factor": "1", "power": "1", "depth": 3}, "not one of"),
        (shape("ellipsoid", axes="1/k"), "1", {"factor": "1", "power": "2"}, "not certainly at most"),
        (shape("ellipsoid", axes="1/k"), "1", {"factor": "1", "power": "1", "start": 0}, "from 1 to"),
        (shape("ellipsoid", axes="1/k"), "1", {"factor": "1", "power": "1", "start": 20_001}, "from 1 to"),
        (shape("ellipsoid", axes="1/k"), "1", {"factor": "1", "power": "1", "start": True}, "from 1 to"),
        (shape("ellipsoid", axes="1/k + 0*a"), "1", {"factor": "1", "power": "2", "start": 2}, "axis 2"),
        (Shape("ellipsoid", (parse("a/k"),)), "1", {"factor": "1", "power": "1", "start": 2}, "without parameters"),
        (shape("ellipsoid", axes="-1/k"), "1", {"factor": "1", "power": "1", "start": 2}, "at least 0 for k"),
        (shape("ellipsoid", axes="1/k"), "1", {"factor": "8", "power": "2", "start": 2}, "not certainly below"),
        (shape("ellipsoid", axes="1/k"), "1", {"factor": "8", "power": "2", "start": 2, "times": "1"}, "not certainly below"),
        (shape("ellipsoid", axes="1/k"), "1", {"axes": -1, "tail": "1"}, "whole number from 0"),
        (shape("ellipsoid", axes="1/k"), "1", {"axes": 20_001, "tail": "1"}, "whole number from 0"),
        (shape("ellipsoid", axes="1/k"), "1", {"axes": True, "tail": "1"}, "whole number from 0"),
        (shape("ellipsoid", axes="1/k"), "1", {"axes": 2, "tail": "33/100"}, "axes after 2"),
        (shape("ellipsoid", axes="1/k"), "1/3", {"axes": 2, "tail": "1/3"}, "within the radius"),
        (shape("ellipsoid", axes="1/k"), "32/100", {"axes": 0, "tail": "1"}, "within the radius"),
        (shape("discrete", distance=2), "199/100", {}, "further apart"),
        (ROW, "1", {"points": [0, 3]}, "whole number from 0 to 2"),
        (ROW, "1", {"points": [-1]}, "whole number from 0 to 2"),
        (ROW, "1", {"points": [True]}, "whole number from 0 to 2"),
    ],
    ids=lambda value: "",
)
def test_what_is_no_net_is_refused(space, radius, told, why):
    with pytest.raises((Rejected, CertificateError), match=why):
        net(space, parse(radius), told, {})


def test_axes_that_are_counted_one_by_one_have_numbers():
    with pytest.raises(Rejected, match="that are numbers"):
        net(shape("ellipsoid", axes="1/k"), parse("g"), {"axes": 2, "tail": "1/3"}, GAMMA)


def test_whole_numbers_are_above_and_all_points_but_one_are_counted():
    assert [ceiling(parse(text)) for text in ("5/2", "2", "-1/2", "sqrt(2)", "g")] == [num(3), num(2), num(0), num(2), parse("g + 1")]
    assert others(call("log", num(3))) == call("log", num(2))
    for text in ("log(1 + g)", "exp(3)", "log(g)", "3"):
        assert others(parse(text)) == parse(text)
    assert others(call("log", parse("1/2"))) == call("log", parse("1/2"))
    assert [number(cube(norm, 2)) for norm in (LINF, L1, FACETS, PLANE)] == [1, 2, 3, 3]


def test_what_rises_to_infinity_is_where_its_inverse_says():
    at_one = {-1: math.e, 0: 1, 1: math.log(2), 2: math.log(1 + math.log(2))}
    for depth, (rises, back) in FALLING.items():
        assert number(parse_at(rises, 1)) == pytest.approx(at_one[depth])
        assert number(parse_at(rises, 7)) == pytest.approx([7, math.log(8), math.log(1 + math.log(8)), math.exp(7)][depth])
        assert number(back(parse_at(rises, 7))) == pytest.approx(7)


def test_multipliers_are_held_against_the_greatest_ratio_that_there_may_be(monkeypatch):
    asked_of = claim(BIT, beta="1/5")
    [told] = [line["parameters"] for line in verify(asked_of).certificate["lines"] if line["rule"] == "near-dual"]
    assert near_dual.check(asked_of, told).side == "lower"
    monkeypatch.setattr(near_dual, "constant", lambda expr: constant(expr) + hull(Fraction(-1), Fraction(1)))
    with pytest.raises(Rejected, match="not certainly above beta"):
        near_dual.check(asked_of, told)


# -- packings ------------------------------------------------------------------------------------------------------------


SPACED = {"kind": "separated", "distance": 1}
FOUR = "1/4"


@pytest.mark.parametrize(
    ("space", "near", "told", "count"),
    [
        (shape("box", sides=[1]), "2", {}, 1),
        (shape("box", sides=[4, 4]), "1/2", {"by": "volume"}, 6),  # 16/pi
        (shape("box", sides=[4, 4], norm="linf"), "1/2", {"by": "volume"}, 4),
        (shape("box", sides=[4, 4], norm="l1"), "1/2", {"by": "volume"}, 8),
        (shape("box", sides=[1, 1]), "2", {"by": "volume"}, 1),
        (shape("ball", radius=1, dimension=2), FOUR, {}, 4),
        (shape("ball", radius=1, dimension=2), FOUR, {"by": "cube"}, 4),
        (shape("ball", radius=1, dimension=2, norm="linf"), FOUR, {"by": "cube"}, 16),
        (shape("ball", radius=1, dimension=3), FOUR, {"by": "volume"}, 8),
        (shape("ball", radius=1, dimension=3), "2", {"by": "volume"}, 1),
        (shape("ball", radius=1, dimension=3), "7/10", {"by": "axes"}, 6),
        (shape("ball", radius=1, dimension=3, norm="linf"), "49/100", {"by": "axes"}, 6),
        (shape("sphere", radius=1, dimension=3, norm="l1"), "99/100", {"by": "axes"}, 6),
        (shape("sphere", radius=1, dimension=2), FOUR, {"by": "volume"}, 7),  # caps of 2 arcsin(1/4) on each side
        (shape("sphere", radius=1, dimension=2, norm="l1"), FOUR, {"by": "volume"}, 2),
        (shape("sphere", radius=1, dimension=1), FOUR, {"by": "volume"}, 2),
        (shape("sphere", radius=1, dimension=2), FOUR, {}, 2),
        (shape("sphere", radius=1, dimension=2), "1", {}, 1),
        (QUARTERS, "99/100", {"points": [[0, 1, 0], [0, 0, 1]]}, 2),
        (QUARTERS, "5", {"points": [["1/3", "1/3", "1/3"]]}, 1),
        (ROW, "1/2", {"points": [0, 1, 2]}, 3),
        (ROW, "99/100", {"points": [0, 2]}, 2),
        (ROW, "5", {"points": [0, 0]}, 1),
        (TREE, "2", {"depth": 0}, 1),
        (TREE, "99/100", {"depth": 1}, 3),
        (TREE, "49/100", {"depth": 2}, 6),
        (TREE, "24/100", {"depth": 3}, 12),
        (WIDE_TREE, "99/100", {"depth": 1}, 2),
        (WIDE_TREE, "49/100", {"depth": 2}, None),
        (shape("cantor", ratio="1/3"), "2", {"depth": 0}, 1),
        (shape("cantor", ratio="1/3"), "33/100", {"depth": 1}, 2),
        (shape("cantor", ratio="1/3"), "11/100", {"depth": 2}, 4),
        (shape("cantor", ratio="2/5"), "29/100", {"depth": 1}, 2),  # half of 1 - 2/5
        (shape("cantor", ratio="1/10"), "79/100", {"depth": 1}, 2),  # all of the gap
        (shape("hoelder", constant=1, bound=1, exponent=1), FOUR, {}, 4),
        (shape("hoelder", constant=1, bound=1, exponent=1, dimension=2), "1/9", {"cells": 2}, 16),
        (shape("hoelder", constant=1, bound=1, exponent=1, dimension=1), "1/20000", {"cells": 4096}, 2**4096),
        (shape("discrete", distance=2), "199/100", {}, None),
        (shape("separated", distance=2), "99/100", {}, None),
        (shape("product", parts=[{"kind": "box", "sides": [1]}, {"kind": "box", "sides": [2]}]), FOUR, {"parts": [{}, {}]}, 8),
        (shape("product", parts=[{"kind": "box", "sides": [1]}, {"kind": "box", "sides": [2]}]), FOUR, {"parts": [None, {}]}, 4),
        (shape("product", parts=[{"kind": "box", "sides": [1]}, SPACED]), FOUR, {"parts": [{}, {}]}, None),
    ],
    ids=lambda value: "",
)
def test_packings_have_as_many_points_as_theory_says(space, near, told, count):
    found = packing(space, parse(near), told)
    assert (found.count, found.overlap) == (count, 1)


@pytest.mark.parametrize(("near", "overlap"), [("7/10", 1), ("3/4", 2), ("9/10", 5)])
def test_an_answer_is_near_to_as_many_ends_of_axes_as_pythagoras_allows(near, overlap):
    axes = shape("ellipsoid", axes="1 + 1/k")
    first = packing(axes, parse(near), {"least": "1", "first": 3})
    assert (first.count, first.overlap, first.wide) == (6, overlap, num(2))
    endless = packing(axes, parse(near), {"least": "1", "step": 2, "start": 3})
    assert (endless.count, endless.overlap, endless.wide) == (None, overlap, num(2)) and "3, 5, ..." in in_words(endless.what)
    two = shape("product", parts=[{"kind": "ellipsoid", "axes": "1 + 1/k"}, {"kind": "ellipsoid", "axes": "1"}])
    both = packing(two, parse(near), {"parts": [{"least": "1"}, {"least": "1", "first": 2}]})
    assert (both.count, both.overlap, both.assumed) == (None, overlap**2, ())


def test_a_packing_shows_what_it_takes_for_granted_once():
    spaced = shape("product", parts=[SPACED, SPACED, {"kind": "discrete"}])
    assert packing(spaced, parse(FOUR), {"parts": [{}, {}, {}]}).assumed == (SEPARATED, MANY)
    assert packing(spaced, parse(FOUR), {"parts": [None, None, {}]}).assumed == (MANY,)


@pytest.mark.parametrize(
    ("space", "near", "told", "why"),
    [
        (shape("real"), FOUR, {}, "no packings that are known"),
        (shape("net", size="1 + 1/r"), FOUR, {}, "no packings that are known"),
        (Shape("box", (R, R), norm=FACETS), FOUR, {}, "lp norms alone"),
        (Shape("ball", (R, num(2)), norm=FACETS), FOUR, {"by": "axes"}, "lp norms alone"),
        (shape("ball", radius=1, dimension=3), "71/100", {"by": "axes"}, "more than twice"),
        (shape("ball", radius=1, dimension=3, norm="linf"), "1/2", {"by": "axes"}, "more than twice"),
        (shape("sphere", radius=1, dimension=3), "71/100", {"by": "volume"}, "quarter of a turn"),
        (QUARTERS, FOUR, {}, "list of rows of 3 rationals"),
        (QUARTERS, FOUR, {"points": []}, "list of rows of 3 rationals"),
        (QUARTERS, FOUR, {"points": [[1, 0]]}, "list of rows of 3 rationals"),
        (QUARTERS, FOUR, {"points": [[1, 0, 0], [2, -1, 0]]}, "one for each corner"),
        (QUARTERS, FOUR, {"points": [["1/2", "1/3", 0]]}, "one for each corner"),
        (QUARTERS, "1", {"points": [[0, 1, 0], [0, 0, 1]]}, "more than twice"),
        (QUARTERS, FOUR, {"points": [[0, 1, 0], [0, 0, 1], [0, 1, 0]]}, "more than twice"),
        (ROW, FOUR, {"points": [0, 3]}, "whole number from 0 to 2"),
        (ROW, FOUR, {"points": [-1]}, "whole number from 0 to 2"),
        (ROW, FOUR, {"points": [True]}, "whole number from 0 to 2"),
        (ROW, "1", {"points": [0, 2]}, "all but one"),
        (TREE, "1", {"depth": 1}, "further apart"),
        (TREE, FOUR, {}, "whole number from 0"),
        (TREE, FOUR, {"depth": -1}, "whole number from 0"),
        (TREE, FOUR, {"depth": 4097}, "whole number from 0"),
        (Shape("tree", (R, parse("1/2"), num(2), parse("1 + n"))), FOUR, {"depth": 2}, "not a number at every depth"),
        (shape("cantor", ratio="1/3"), "1/3", {"depth": 1}, "clear of each other"),
        (shape("cantor", ratio="2/5"), "3/10", {"depth": 1}, "clear of each other"),
        (shape("ellipsoid", axes="1"), "1", {"least": "1"}, "more than that"),
        (shape("ellipsoid", axes="1/k"), FOUR, {"least": "1/2", "first": 3}, "axis 3"),
        (shape("ellipsoid", axes="1 - 1/k"), FOUR, {"least": "1/2", "first": 3}, "axis 1"),
        (shape("ellipsoid", axes="1/k"), FOUR, {"least": "1/2", "first": 0}, "from 1 to 4096"),
        (shape("ellipsoid", axes="1/k"), FOUR, {"least": "1/2", "first": 4097}, "from 1 to 4096"),
        (shape("ellipsoid", axes="1/k"), FOUR, {"least": "1/2", "first": True}, "from 1 to 4096"),
        (shape("ellipsoid", axes="1"), FOUR, {"least": "1", "step": 0}, "'step' is 0"),
        (shape("ellipsoid", axes="1"), FOUR, {"least": "1", "start": 0}, "'start' is 0"),
        (shape("ellipsoid", axes="1"), FOUR, {"least": "1", "start": 10**6 + 1}, "whole number from 1 to 1000000"),
        (shape("ellipsoid", axes="1"), FOUR, {"least": "1", "start": 1.0}, "whole number from 1 to 1000000"),
        (shape("hoelder", constant=1, bound=1, exponent=1), "1/8", {"cells": 2}, "bump: 1/4 is not"),
        (shape("hoelder", constant=9, bound="1/10", exponent=1), "1/10", {"cells": 2}, "bound: 1/5 is not"),
        (shape("hoelder", constant=1, bound=1, exponent=1, dimension=2), "1/9000", {"cells": 65}, "not written out"),
        (shape("discrete", distance=2), "2", {}, "further apart"),
        (shape("separated", distance=2), "1", {}, "more than twice"),
    ],
    ids=lambda value: "",
)
def test_what_is_no_packing_is_refused(space, near, told, why):
    with pytest.raises((Rejected, CertificateError), match=why):
        packing(space, parse(near), told)


def test_points_of_a_packing_are_as_wide_as_their_space_where_that_is_known():
    one = Packing(1, "")
    assert width(shape("box", sides=[3, 4]), one) == num(5)
    assert number(width(shape("product", norm="l1", parts=[TRIANGLE, {"kind": "box", "sides": [3]}]), one)) == pytest.approx(3 + R2)
    assert width(shape("ellipsoid", axes="1"), Packing(1, "", wide=num(7))) == num(7)
    for space in (shape("ellipsoid", axes="1"), Shape("box", (R, R), norm=FACETS), shape("separated", distance=1), shape("net", size="2")):
        with pytest.raises(Rejected, match="declare a diameter"):
            width(space, one)


# -- the rules -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("space", "factor"),
    [
        (shape("real", dimension=2), 1),
        (shape("box", sides=[1, 1]), 1),
        (Shape("box", (R, R), norm=FACETS), 2),
        (shape("ball", radius=1, dimension=2), 1),
        (shape("ball", radius=1, dimension=2, norm="linf"), 1),
        (shape("ball", radius=1, dimension=2, norm="l1"), 2),
        (shape("sphere", radius=1, dimension=2), 2),
        (shape("sphere", radius=1, dimension=2, norm="linf"), 2),
        (shape("hull", corners=[[0, 0], [1, 1]]), 1),
        (QUARTERS, 2),
        (shape("hull", corners=[[0, 0], [1, 1]], norm="linf"), 2),
    ],
    ids=lambda value: "",
)
def test_answers_are_brought_back_at_the_cost_that_their_set_has(space, factor):
    assert number(noise_near.check(claim(space, lipschitz="3"), {"tail": "10"}).value) == 3 * factor * 10 * 4
    closed = 2 * math.log(20) + 4 * math.log(2)
    assert number(noise_near.check(claim(space), {}).value) == pytest.approx(factor * closed * 4)


def test_noise_on_integers_is_as_near_as_its_ratio_says():
    integers = shape("integers")
    assert [noise_near.check(claim(space), {}).side for space in (integers, shape("real"))] == ["upper", "upper"]
    assert noise_near.check(claim(shape("real"), beta="19/20"), {"tail": "1/2"}).value == num(2)
    assert number(noise_near.check(claim(integers, "3/2", "17/100"), {"ratio": "1/3"}).value) == pytest.approx(math.log(3))  # 1/6 above 1
    assert number(noise_near.check(claim(integers, "sqrt(5)", "1/10", lipschitz="2"), {}).value) == pytest.approx(2 * math.log(10) / 2.5)
    for near, beta, ratio, why in (
        ("1", "16/100", "1/3", "not certainly further than 1"),
        ("1", "1/2", "1", "between"),
        ("1", "1/2", "0", "between"),
    ):
        with pytest.raises(Rejected, match=why):
            noise_near.check(claim(integers, near, beta), {"ratio": ratio})
    for near, beta in (("g", "1/2"), ("1", "b")):
        asked_of = replace(claim(integers, near, beta), domains=tuple((name, GAMMA[name]) for name in {near, beta} & GAMMA.keys()))
        with pytest.raises(Rejected, match="that are numbers"):
            noise_near.check(asked_of, {"ratio": "1/3"})
        assert noise_near.check(asked_of, {})
    for asked_of, tail in ((replace(claim(shape("real"), beta="b"), domains=(("b", GAMMA["b"]),)), "9"), (claim(shape("real")), "-1")):
        with pytest.raises(Rejected, match="a gamma law of shape 1"):
            noise_near.check(asked_of, {"tail": tail})


@pytest.mark.parametrize(
    ("space", "within", "depth", "expected"),
    [
        (TREE, "1/2", 1, math.log(2 * 19)),
        (TREE, "1/4", 2, 2 * math.log(5 * 19)),
        (TREE, "1", 0, 0),
        (shape("cantor", ratio="1/3"), "1/3", 1, 3 * math.log(19)),
        (shape("cantor", ratio="1/3"), "1/9", 2, 9 * math.log(3 * 19)),
    ],
)
def test_pieces_are_told_with_the_epsilon_of_randomized_response(space, within, depth, expected):
    assert cell_response.check(claim(space, within), {"depth": depth}).side == "upper"
    assert number(cell_response.check(claim(space, within, lipschitz="2"), {"depth": depth}).value) == pytest.approx(2 * expected)
    assert cell_response.check(claim(shape("cantor", ratio="1/3"), "1/3", "1/2"), {"depth": 1}).value == ZERO


@pytest.mark.parametrize("depth", [None, True, -1, "1"])
def test_pieces_are_of_a_depth(depth):
    with pytest.raises(CertificateError, match="not a whole number of at least 0"):
        cell_response.check(claim(TREE, "1/2"), {"depth": depth})
    with pytest.raises(Rejected, match="how far apart pieces are"):
        cell_response.check(claim(ROW, "1/2"), {"depth": 0})


def test_a_stated_net_is_an_assumption():
    stated = {"kind": "net", "size": "1 + 1/r"}
    for space in (shape("net", size="1 + 1/r"), shape("product", parts=[TRIANGLE, stated])):
        assert net_mechanism.check(claim(space), {"share": "1/2"}).assumed == (NET,)
    assert net_mechanism.check(claim(shape("net", size="1")), {"share": "1"}).assumed == (NET,)
    assert net_mechanism.check(claim(TREE), {"share": "1/2"}).assumed == ()
    assert number(net_mechanism.check(claim(ROW, lipschitz="3"), {"share": "1/2"}).value) == pytest.approx(6 * math.log(2 * 19) * 8)
    for share in ("0", "-1", "3/2"):
        with pytest.raises(Rejected, match="not above 0 and at most 1"):
            net_mechanism.check(claim(ROW), {"share": share})
    with pytest.raises(Rejected, match="must be below gamma"):
        net_mechanism.check(claim(ROW), {"share": "1"})


HALVES = [["4/5", "1/5"], ["1/5", "4/5"]]
AS_FAR = "sqrt(3)*gamma(1/3)*gamma(2/3)/(2*pi)"  # it is 1, by the reflection of gamma, which neither balls nor forms see


@pytest.mark.parametrize(
    ("rule", "asked_of", "evidence", "why"),
    [
        (near_table, claim(TREE), {"epsilon": "1"}, "finitely many points"),
        (near_table, replace(claim(BIT, "g"), domains=(("g", GAMMA["g"]),)), {"epsilon": "1"}, "that are numbers"),
        (near_table, replace(claim(BIT, beta="b"), domains=(("b", GAMMA["b"]),)), {"epsilon": "1"}, "that are numbers"),
        (near_table, claim(BIT), {"epsilon": "-1"}, "at least 0"),
        (near_table, claim(BIT), {"epsilon": "x**2"}, "at least 0"),
        (near_table, claim(BIT, beta="1/5"), {"epsilon": "1386/1000", "rows": HALVES}, "allowed at their distance"),
        (near_table, claim(BIT, beta="19/100"), {"epsilon": "9", "rows": HALVES}, "near the truth"),
        (near_table, claim(BIT), {"epsilon": "9", "rows": [[1, 0], [0, 1]]}, "on the first alone"),
        (near_table, claim(BIT), {"epsilon": "9"}, "list of rows of 2 rationals"),
        (near_table, claim(BIT), {"epsilon": "9", "rows": HALVES[:1]}, "a row for each"),
        (near_table, claim(BIT), {"epsilon": "9", "rows": [[1], [1]]}, "list of rows of 2 rationals"),
        (near_table, claim(BIT), {"epsilon": "9", "rows": [[2, -1], [0, 1]]}, "at least 0, with the sum 1"),
        (near_table, claim(BIT), {"epsilon": "9", "rows": [["1/2", "1/3"], [0, 1]]}, "at least 0, with the sum 1"),
        (near_dual, claim(BIT, databases="unbounded"), {"epsilon": "1", "weights": [1, 1], "multipliers": [[0, 1, [1, 1]]]}, "declared"),
        (near_dual, claim(BIT), {"epsilon": "1", "weights": [1, 1], "multipliers": [[0, 2, [1, 1]]]}, "pair of databases"),
        (near_dual, claim(BIT), {"epsilon": "1", "weights": [1, 1], "multipliers": [[-1, 0, [1, 1]]]}, "pair of databases"),
        (near_dual, claim(BIT), {"epsilon": "1", "weights": [1, 1], "multipliers": [[0, True, [1, 1]]]}, "pair of databases"),
        (near_dual, claim(BIT), {"epsilon": "1", "weights": [1, 1], "multipliers": [[1, 1, [1, 1]]]}, "pair of databases"),
        (near_dual, claim(BIT), {"epsilon": "1", "weights": [1, 1], "multipliers": [[0, 1, [1, 1]]] * 2}, "stands there twice"),
        (given_mechanism, claim(BIT), {"epsilon": "1"}, "none is given"),
        (given_mechanism, claim(BIT, table=HALVES, beta="19/100"), {"epsilon": "9"}, "near the truth"),
        (given_mechanism, claim(BIT, table=HALVES, beta="1/5"), {"epsilon": "1386/1000"}, "allowed at their distance"),
        (given_mechanism, claim(BIT, table=[[1, 0], ["1/2", "1/2"]], beta="1/2"), {"epsilon": "99"}, "on the first alone"),
        (given_mechanism, claim(BIT, table=HALVES, beta="1/5"), {"far": 0}, "too far"),
        (given_mechanism, claim(BIT, table=HALVES, beta="1/5", within=AS_FAR), {"far": 0}, "within gamma is not certain"),
        (given_mechanism, claim(BIT, table=HALVES), {"far": 2}, "whole number from 0 to 1"),
        (given_mechanism, claim(BIT, table=HALVES), {"far": True}, "whole number from 0 to 1"),
        (given_mechanism, claim(BIT, table=HALVES), {"cell": [0, 0, 1]}, "told from itself"),
        (given_mechanism, claim(BIT, table=HALVES), {"cell": [0, 1, 2]}, "whole number from 0 to 1"),
        (given_mechanism, claim(BIT, table=[[1, 0], [0, 1]]), {"cell": [0, 1, 1]}, "a probability is 0"),
        (given_mechanism, claim(ROW, table=[[1, 0, 0]] * 3), {"cell": [0, 1, 2]}, "a probability is 0"),
        (given_mechanism, claim(BIT, rate="1", databases="unbounded"), {"cell": [0, 1, 0]}, "not declared"),
        (weighted_packing, replace(claim(BIT, "g"), domains=(("g", GAMMA["g"]),)), {}, "parameters that have values"),
        (weighted_packing, claim(BIT), {"packing": {"points": [0]}}, "do not exclude epsilon 0"),
        (weighted_packing, claim(BIT, beta="1/2"), {"packing": {"points": [0, 1]}}, "do not exclude epsilon 0"),
        (weighted_packing, claim(BIT, databases="unbounded"), {"packing": {"points": [0, 1]}}, "not declared"),
    ],
    ids=lambda value: "",
)  # fmt: skip
def test_what_a_rule_wants_is_there(rule, asked_of, evidence, why):
    with pytest.raises((Rejected, CertificateError), match=why):
        rule.check(asked_of, evidence)


def test_tables_and_given_mechanisms_cost_what_their_ratios_say():
    assert near_table.check(claim(BIT, beta="1/5"), {"epsilon": "1387/1000", "rows": HALVES}).value == parse("1387/1000")
    assert near_table.check(claim(BIT, beta="1/5", lipschitz="2"), {"epsilon": "log(16)", "rows": HALVES})
    assert given_mechanism.check(claim(BIT, table=HALVES, beta="1/5"), {"epsilon": "1387/1000"})
    middle = [[0, 1, 0]] * 3
    assert near_table.check(claim(ROW, "1"), {"epsilon": "0", "rows": middle}).value == ZERO
    assert given_mechanism.check(claim(ROW, "1", table=middle), {"epsilon": "0"}).value == ZERO
    assert number(given_mechanism.check(claim(BIT, table=HALVES), {"cell": [0, 1, 0]}).value) == pytest.approx(math.log(4))
    assert number(given_mechanism.check(bounded(BIT, "2", table=HALVES), {"cell": [1, 0, 1]}).value) == pytest.approx(math.log(2))
    assert number(given_mechanism.check(claim(BIT, rate="3"), {"cell": [0, 1, 0]}).value) == pytest.approx(3)
    listed = claim(BIT, databases="listed", between=[[0, 2], [2, 0]], truth=[0, 1], table=HALVES)
    assert number(given_mechanism.check(listed, {"cell": [0, 1, 0]}).value) == pytest.approx(math.log(2))
    assert given_mechanism.check(listed, {"cell": [0, 1, 0], "far": 0}).value == INFINITE
    assert given_mechanism.check(claim(BIT, table=[[1, 0], [0, 1]]), {"cell": [0, 1, 0]}).value == INFINITE


def test_packings_cost_what_their_numbers_say():
    two = weighted_packing.check(claim(BIT, lipschitz="3", diameter="9"), {"packing": {"points": [0, 1]}})
    assert two.side == "lower" and "more than one of them" in in_words(two.witness["packing"])
    assert number(two.value) == pytest.approx(3 * math.log(19))
    assert number(weighted_packing.check(bounded(BIT, "2"), {"packing": {"points": [0, 1]}}).value) == pytest.approx(math.log(19) / 2)
    axes = weighted_packing.check(claim(shape("ellipsoid", axes="1"), "3/4"), {"packing": {"least": "1", "first": 20}})
    assert number(axes.value) == pytest.approx(math.log(39 * 0.95 / 1.05) / 2) and "more than 2 of them" in in_words(
        axes.witness["packing"]
    )
    many = weighted_packing.check(claim(shape("hoelder", constant=1, bound=1, exponent=1), "1/2000"), {"packing": {"cells": 300}})
    assert number(many.value) == pytest.approx((300 * math.log(2) + math.log(19)) / 2) and "2^300" in in_words(many.witness["packing"])
    assert weighted_packing.check(claim(shape("discrete")), {}).assumed == (MANY,)


@pytest.mark.parametrize(
    ("axis", "tame"),
    [
        ("erfc(k)", "exp(-k**2)"), ("3*k*erfc(k/2)", "3*k*exp(-k**2/4)"), ("erfc(k)**(1/3)", "exp(-k**2)**(1/3)"),
        ("erfc(k - 1)", "exp(-(k - 1)**2)"), ("erfc(k - 2)", "erfc(k - 2)"), ("erfc(-k)", "erfc(-k)"), ("1/erfc(k)", "1/erfc(k)"),
        ("1/k + erfc(k)", "1/k + erfc(k)"), ("exp(-k)", "exp(-k)"),
    ],
)  # fmt: skip
def test_axes_are_at_most_as_long_as_those_without_erfc(axis, tame):
    assert tamed(parse(axis)) == parse(tame)
    for k in range(1, 6):
        there = [abs(number(substitute(expr, {"k": num(k)}))) for expr in (parse(axis), tamed(parse(axis)))]
        assert there[0] <= there[1] * (1 + 1e-12)


def test_an_ellipsoid_with_axes_erfc_of_k_is_compatible_with_privacy():
    space = shape("ellipsoid", axes="erfc(k)")
    every = replace(claim(space, "g", "b"), domains=tuple(sorted(GAMMA.items())))
    assert verify(every).judgement.verdict == "PROVED"
    long = Space(shape("ellipsoid", axes="erfc(k) + 1/2"), databases="answers")
    assert verify(replace(every, mechanism=long)).judgement.verdict == "REFUTED"


def test_one_function_is_within_the_bound_of_all():
    functions = shape("hoelder", dimension=1, constant=1, exponent=1, bound=2)
    assert net(functions, num(2), {}, {}) == ZERO and number(net(functions, parse("1999/1000"), {}, {})) > 0
    assert verify(replace(claim(functions, "2"), epsilon=ZERO)).judgement.verdict == "PROVED"
    assert verify(replace(claim(functions, "1999/1000"), epsilon=ZERO)).judgement.verdict == "REFUTED"
