"""What is stated of a mechanism, as it stands."""

import pytest

from dpverify.trusted.kernel.errors import Rejected
from dpverify.trusted.kernel.expr import ONE, ZERO, num, parse
from dpverify.trusted.kernel.model import L2, Claim, Domain, Guarantee, Radial
from dpverify.trusted.theories.composition.rules import one_sided
from dpverify.trusted.theories.composition.rules import stated_epsilon as rule


def claim(known, epsilon="1", delta="0", **more):
    return Claim(known, None if epsilon is None else parse(epsilon), None if delta is None else parse(delta), **more)


def points(*rows):
    return Guarantee("approximate", tuple(tuple(parse(str(value)) for value in row) for row in rows))


def test_the_pure_epsilon_is_the_least_that_is_stated():
    (found,) = rule.check(claim(points([3, 0], [2, 0], [1, "1/2"])), {})
    assert (found.side, found.value, found.quantity) == ("upper", num(2), "pure")


def test_a_bounded_range_is_a_pure_epsilon():
    assert [one.value for one in rule.check(claim(Guarantee("bounded_range", ((num(3),),))), {})] == [num(3)]


def test_a_row_bounds_delta_from_its_epsilon_on_and_epsilon_from_its_delta_on():
    known = points([1, "1/10"], [2, "1/100"])
    assert one_sided.infer(claim(known, "2"), {"side": "upper", "row": 1}, ()).value == parse("1/100")
    assert one_sided.infer(claim(known, "3/2", None), {"side": "upper", "row": 0}, ()).value == parse("1/10")
    found = one_sided.infer(claim(known, None, "1/50"), {"side": "upper", "row": 1}, ())
    assert (found.value, found.quantity) == (num(2), "epsilon")


def test_parameters_may_stay_open():
    domains = (("c", Domain(num(0).value)),)
    found = one_sided.infer(claim(points(["2*c", "1/10"]), "3*c", "1/10", domains=domains), {"side": "upper", "row": 0}, ())
    assert found.value == parse("1/10")


@pytest.mark.parametrize(
    ("known", "evidence"),
    [
        (points([1, "1/2"]), {}),
        (Guarantee("zcdp", ((ONE,),)), {}),
        (Guarantee("gdp", ((ONE,),)), {}),
        (points([-1, 0]), {}),
        (points(["x", 0]), {}),
        (Guarantee("bounded_range", ((num(-1),),)), {}),
        (Guarantee("bounded_range", ((num(2),), (num(1),))), {}),
        (Guarantee("bounded_range", ((num(2), ZERO),)), {}),
        (Guarantee("approximate", ()), {}),
        (Guarantee("zcdp", ((ONE, ZERO),)), {}),
        (Radial(parse("exp(-r)"), L2, ONE), {}),
    ],
)
def test_what_is_not_stated_is_refused(known, evidence):
    with pytest.raises(Rejected):
        rule.check(claim(known, "1", "1/1000"), evidence)


@pytest.mark.parametrize("row", [1, -1, "0", True, None, 0.0])
def test_rows_that_are_not_there(row):
    with pytest.raises(Rejected, match="states no such"):
        one_sided.infer(claim(points([1, 0])), {"side": "upper", "row": row}, ())


def test_a_row_beyond_what_is_claimed_says_nothing_of_it():
    with pytest.raises(Rejected, match="within what is claimed"):
        one_sided.infer(claim(points([2, "1/100"]), "1", "1/1000"), {"side": "upper", "row": 0}, ())
