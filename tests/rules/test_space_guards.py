"""Metric spaces of answers (theory/spaces.md): what every guard refuses, and how wide, how netted and how packed spaces are."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest

from dpverify.catalogue.shapes import read_shape
from dpverify.trusted.facts.bounds import INFINITE
from dpverify.trusted.language.errors import CertificateError, DpverifyError, Rejected
from dpverify.trusted.language.expr import ZERO, call, num, parse, substitute
from dpverify.trusted.language.model import L1, L2, LINF, Claim, Domain, Norm, Shape, Space
from dpverify.trusted.numbers.balls import constant
from dpverify.trusted.rules.spaces import cell_response, given_mechanism, near_dual, near_table, net_mechanism, noise_near, weighted_packing
from dpverify.trusted.rules.spaces.nets import ceiling, cube, net, others
from dpverify.trusted.rules.spaces.packings import Packing, packing, width
from dpverify.trusted.rules.spaces.shapes import MANY, NET, SEPARATED, asked, check, classes, logarithm, require, spread, together

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


def claim(space, within="1/4", beta="1/20", databases="answers", diameter=None, lipschitz="1", between=(), truth=(), table=(), rate=None):
    mechanism = Space(
        space, parse(lipschitz), databases, None if diameter is None else parse(diameter), tuple(tuple(map(Fraction, row)) for row in between),
        tuple(truth), tuple(tuple(map(Fraction, row)) for row in table), None if rate is None else parse(rate),
    )  # fmt: skip
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


def test_boxes_of_many_sides_are_measured_by_these():
    unit = tuple(tuple(Fraction(int(i == j)) for j in range(13)) for i in range(13))
    box = Shape("box", (num(1),) * 13, norm=Norm("ellipsoid", None, unit))
    assert [number(wide) for wide, _ in spread(box)] == [13]
    twelve = Shape("box", (num(1),) * 12, norm=Norm("ellipsoid", None, tuple(row[:12] for row in unit[:12])))
    assert [number(wide) for wide, _ in spread(twelve)] == pytest.approx([math.sqrt(12)])


def test_the_distance_of_a_product_is_that_of_all_its_parts_together():
    two = shape("product", norm="l1", parts=[TRIANGLE, TRIANGLE])
    asked_of = bounded(two, "3/2", within="1/10")
    with pytest.raises(Rejected, match="no databases are so near"):
        weighted_packing.check(asked_of, {"packing": {"parts": [{"points": [[1, 0, 0], [0, 1, 0]]}] * 2}})


def test_lengths_come_together_in_their_norm():
    assert [number(together(norm, (num(3), num(4)))) for norm in (L1, L2, LINF)] == [7, 5, 4]


def test_axes_with_a_floor_in_them_are_taken_by_their_remainders():
    axis, at = parse("1/k + floor(k/3)/k + floor(sqrt(k))*0 + floor(2*k + 1/2)"), lambda expr, k: number(parse_at(expr, k))
    for first in (1, 5):
        found = {}
        parts = classes(axis, first)
        assert len(parts) == 3
        for place, (one, over) in enumerate(parts):
            found |= {first + place + 3 * (k - 1): at(one, k) for k in (1, 2, 5)}
        for k, value in found.items():
            assert value == pytest.approx(1 / k + (k // 3) / k + math.floor(2 * k + 0.5))
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
        Shape("tree", (R, parse("1/2"), parse("1 + k**2 + 2**k"))),
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
        (claim(shape("box", sides=[1]), rate="1"), "finitely many points alone"),
        (claim(shape("box", sides=[1]), table=[[1]]), "finitely many points alone"),
        (claim(BIT, table=[[1, 0], [0, 1]], rate="1"), "finitely many points alone"),
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
