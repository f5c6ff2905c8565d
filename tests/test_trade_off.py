"""The least epsilon against nearness (Kleinberg & Ligett 2010, Definition 2.3)."""

import math
from decimal import Decimal
from fractions import Fraction

import pytest

import dpverify
from dpverify.catalogue.shapes import read_shape
from dpverify.errors import SpecError
from dpverify.project.trade_off import trade_off
from dpverify.search.spaces import near_tables
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.bounds import Infinite
from dpverify.trusted.kernel.expr import num, parse
from dpverify.trusted.kernel.model import Claim, KaryResponse, Space

TREE = Space(read_shape({"kind": "tree", "ratio": "1/2", "branching": [2, "inf"]}), databases="bounded", diameter=num(1))


def of(space, within, beta="1/20"):
    return trade_off(Claim(space, None, within=num(1), beta=parse(beta)), within)


def test_a_tree_with_a_node_of_infinitely_many_children_has_a_step_where_its_leaves_part():
    found = of(TREE, ["1", Fraction(1, 4), "1/2", "3/4"])
    assert [str(point.within.value) for point in found.points] == ["1/4", "1/2", "3/4", "1"]
    infinite, half, more, whole = found.points
    assert isinstance(infinite.lower, Infinite) and infinite.upper is None
    for point in (half, more):
        assert float(constant(point.lower).mid()) == pytest.approx(math.log(19)) == float(constant(point.upper).mid())
    assert float(constant(whole.upper).mid()) == 0
    assert found.json()["points"][0] == {"within": "1/4", "lower": "inf", "upper": None} and found.json()["beta"] == "1/20"
    assert "infinite" in str(found) and "2.94444" in str(found)


def test_it_does_not_rise_and_is_enclosed_between_its_points():
    found = of(Space(read_shape({"kind": "real"}), databases="answers"), ["1/4", "1/2", 1, 2])
    ends = [(float(constant(p.lower).mid()), float(constant(p.upper).mid())) for p in found.points]
    assert all(low <= high for low, high in ends) and ends == sorted(ends, reverse=True)
    low, high = (float(constant(end).mid()) for end in found.between("3/4"))
    assert (low, high) == (pytest.approx(ends[2][0]), pytest.approx(ends[1][1]))
    assert low <= math.log(20) / 0.75 <= high  # that at 3/4 itself
    assert found.between("1/8")[1] is None and found.between(5)[0] == num(0)


@pytest.mark.parametrize("wrong", ["0", -1, "x", None, 0.5])
def test_what_is_no_positive_number_is_refused(wrong):
    with pytest.raises(SpecError, match="is not a positive number"):
        of(TREE, [wrong])


def test_other_claims_have_no_trade_off():
    with pytest.raises(SpecError, match="about a space"):
        trade_off(Claim(KaryResponse(num(2), parse("1/2")), num(1)), [1])


def test_a_report_says_in_words_what_is_proved_of_a_space():
    from dpverify.report.page.sections.statement import sentence

    asked = Claim(TREE, None, within=parse("1/2"), beta=parse("1/20"))
    assert sentence(asked, "PROVED")[0].startswith("some mechanism is private at some epsilon")
    assert "no mechanism is private" in sentence(asked, "REFUTED")[0] and "within 1/2 of the truth" in sentence(asked, "REFUTED")[0]


SIDE = dpverify.space({"kind": "box", "sides": [1]}, diameter=1)


@pytest.mark.parametrize("beta", ["1/20", Fraction(1, 3)])
def test_in_python_it_is_stated_of_a_space_and_is_that_of_randomised_response_where_answers_are_to_be_right(beta):
    """Of three points at a distance of 1 the truth with probability 1 - b, else another: log of 2 (1 - b)/b."""
    space = dpverify.space({"kind": "points", "distances": [[0, 1, 1], [1, 0, 1], [1, 1, 0]]}, databases="answers")
    found = dpverify.trade_off(space, [Decimal("0.5"), 1], beta=beta, digits=8)
    right, any_answer = ([float(constant(end).mid()) for end in (point.lower, point.upper)] for point in found.points)
    assert right == [pytest.approx(math.log(2 * (1 - Fraction(beta)) / Fraction(beta)), abs=1e-7)] * 2 and any_answer == [0, 0]
    assert dpverify.trade_off(found.claim, [1], 8).json()["points"] == [{"within": "1", "lower": "0", "upper": "0"}]


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: dpverify.trade_off(dpverify.laplace(1), [1], sensitivity=1), "within"),
        (lambda: dpverify.trade_off(SIDE, [], beta="1/2"), "trade_off: within is empty."),
        (lambda: dpverify.trade_off(SIDE, [1]), "beta"),
        (lambda: dpverify.trade_off(SIDE, [1, -1], beta="1/2"), "within = -1 is not a pos"),
        (lambda: dpverify.trade_off(Claim(TREE, None, within=num(1), beta=parse("1/2")), [1], beta="1/2"), "remove these arguments"),
    ],
)  # fmt: skip
def test_what_has_no_trade_off_in_python_is_told(ask, said):
    with pytest.raises(SpecError, match=said):
        ask()


def test_only_pairs_with_nothing_between_them_count_for_a_table():
    """Of a path the neighbours; where steps are as long as the distance but of length 0, all of them."""
    path = Space(read_shape({"kind": "points", "distances": [[abs(i - j) for j in range(5)] for i in range(5)]}), databases="answers")
    [near] = near_tables.finite(Claim(path, None, within=num(1), beta=parse("1/4")), {"epsilon": "0"}, "near-table")[:1]
    assert near_tables._pairs(near, near.least) == [(i, j) for i in range(5) for j in range(5) if abs(i - j) == 1]
    assert len(near_tables._pairs(near, lambda x, y: num(7))) == 20 == len(near_tables._pairs(near, lambda x, y: num(0)))
    assert len(near_tables._pairs(near, lambda x, y: parse("sqrt(2)"))) == 20
