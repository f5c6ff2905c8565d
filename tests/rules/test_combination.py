"""Pure epsilons of combinators: exact where the parts are, and refused where a hypothesis fails (THEORY T11-T15)."""

from fractions import Fraction

import pytest

from dpverify import kernel
from dpverify.balls import precision
from dpverify.certificate import Step
from dpverify.compare import certainly_equal
from dpverify.errors import CertificateError, Rejected, Undecided
from dpverify.expr import Num, add, num, parse
from dpverify.model import L1, L2, Claim, Compose, Domain, Group, Lipschitz, Parallel, Part, PostProcess, Radial, Subsample, Table
from dpverify.rules import combination
from dpverify.rules.base import INFINITE
from dpverify.verify import verify

HALF = parse("1/2")
UPPER = {"rule": "concave-exponent", "evidence": {"side": "upper"}}
LOWER = {"rule": "concave-exponent", "evidence": {"side": "lower"}}


def laplace(epsilon="1", times="1"):
    return Part(Radial(parse(f"exp(-({epsilon})*r)"), L1, num(1)), num(1), times=parse(times))


GAUSSIAN = Part(Radial(parse("exp(-r**2/2)"), L2, num(1)), num(1))
WARNER = Part(Table(((parse("3/4"), parse("1/4")), (parse("1/4"), parse("3/4")))))


def check(mechanism, part, side="upper", **domains):
    claim = Claim(mechanism, None, domains=tuple(domains.items()))
    with precision(128):
        return combination.check(claim, {"side": side, "part": part})


@pytest.mark.parametrize(
    ("mechanism", "plan", "value"),
    [
        (Compose((laplace("1/2"), laplace("1/3", "4"))), {"parts": [0, 0]}, "1/2 + 4/3"),
        (Parallel((laplace("1/2"), laplace("1/3"))), {"parts": [0, 0]}, "1/2"),
        (Group(laplace("1/2"), num(3)), 0, "3/2"),
        (Lipschitz(laplace("1/2"), parse("5/2")), 0, "5/4"),
        (Subsample(laplace("2"), HALF), 0, "log((1 + exp(2))/2)"),
        (Subsample(laplace("2"), num(1)), 0, "2"),
        (Compose((Part(Parallel((laplace("1"), laplace("2")))), Part(Subsample(laplace("1"), HALF)))), {"parts": [{"parts": [0, 0]}, 0]},
         "2 + log((1 + exp(1))/2)"),
    ],
)  # fmt: skip
def test_both_sides_are_the_closed_form(mechanism, plan, value):
    for side, leaf in (("upper", UPPER), ("lower", LOWER)):
        found = check(mechanism, filled(plan, leaf), side)
        assert found.side == side and certainly_equal(found.value, parse(value))


def filled(plan, leaf):
    if isinstance(plan, dict):
        return {"parts": [filled(part, leaf) for part in plan["parts"]]}
    return leaf


def test_post_processing_and_groups_of_samples_have_an_upper_side_alone():
    for mechanism in (PostProcess(laplace()), Group(Part(Subsample(laplace(), HALF)), num(2))):
        assert check(mechanism, UPPER).side == "upper"
        with pytest.raises(Rejected):
            check(mechanism, LOWER, "lower")


def test_parameters_stay_in_the_value():
    domains = {"p": Domain(Fraction(0), Fraction(1)), "e": Domain(Fraction(0))}
    found = check(Subsample(laplace("e"), parse("p")), UPPER, **domains)
    assert certainly_equal(found.value, parse("log(1 + p*(exp(e) - 1))"), domains)
    count = Domain(Fraction(1), None, False, True, True)
    assert certainly_equal(check(Compose((laplace("2", "k"),)), {"parts": [UPPER]}, k=count).value, parse("2*k"), {"k": count})


def test_one_part_without_an_epsilon_leaves_none_to_the_whole():
    claim = Claim(Compose((laplace(), GAUSSIAN)), num(1000))
    judgement = verify(claim).judgement
    assert judgement.verdict == "REFUTED" and judgement.lower is INFINITE


@pytest.mark.parametrize(
    ("mechanism", "plan", "domains"),
    [
        (Subsample(laplace(), parse("3/2")), UPPER, {}),
        (Subsample(laplace(), parse("-1/2")), UPPER, {}),
        (Subsample(laplace(), parse("p")), UPPER, {"p": Domain(Fraction(0), Fraction(2))}),
        (Compose((laplace("1", "0"),)), {"parts": [UPPER]}, {}),
        (Compose((laplace("1", "k"),)), {"parts": [UPPER]}, {"k": Domain(Fraction(0))}),
        (Lipschitz(laplace(), num(-1)), UPPER, {}),
        (Parallel((Part(laplace().mechanism, num(1), adjacency="replace"), laplace())), {"parts": [UPPER, UPPER]}, {}),
        (Subsample(Part(laplace().mechanism, num(1), adjacency="replace"), HALF), UPPER, {}),
        (Compose((laplace(),)), {"parts": [LOWER]}, {}),  # the premise is of the other side
        (Compose((GAUSSIAN,)), {"parts": [UPPER]}, {}),
        (laplace().mechanism, UPPER, {}),
    ],
)
def test_a_hypothesis_that_fails_is_refused(mechanism, plan, domains):
    with pytest.raises((Rejected, Undecided)):
        check(mechanism, plan, **domains)


@pytest.mark.parametrize("parts", [[], [UPPER], [UPPER] * 3, [UPPER, {"rule": "x"}], [UPPER, None], None, "ab"])
def test_evidence_of_another_shape_is_no_evidence(parts):
    for plan in ({"parts": parts}, parts):
        with pytest.raises((CertificateError, Rejected)):
            check(Compose((laplace(), laplace("2"))), plan)


def test_the_budget_stands_beside_the_sum():
    also = verify(Claim(Compose((laplace("1/2", "3"), WARNER)), num(5))).judgement.also
    assert also["part 1 (radial x 3)"] == "epsilon 3/2" and also["part 2 (table)"] == "epsilon log(3)"
    assert also["basic composition"] == "epsilon log(3) + 3/2"


@pytest.mark.parametrize("offset", [Fraction(-1, 10**9), Fraction(1, 10**9)])
def test_a_group_of_a_table_goes_by_its_neighbours(offset):
    chain = Table(tuple((parse(f"{4 - i}/5"), parse(f"{1 + i}/5")) for i in range(4)), ((0, 1), (1, 2), (2, 3)))
    claim = Claim(Group(Part(chain), num(2)), add(parse("log(3)"), Num(offset)))
    assert verify(claim).judgement.verdict == ("PROVED" if offset > 0 else "REFUTED")


@pytest.mark.parametrize("times", ["3/2", "1/2", "0", "-1", "t"])
def test_a_part_runs_a_whole_number_of_times(times):
    with pytest.raises(Rejected, match="not certainly an integer of at least 1"):
        check(Compose((laplace(times=times),)), {"parts": [UPPER]}, t=Domain(Fraction(1), None, False))
    whole = check(Compose((laplace(times="t"),)), {"parts": [UPPER]}, t=Domain(Fraction(1), None, False, integer=True))
    assert whole.value == parse("t")


@pytest.mark.parametrize("adjacent", [(), ((0, 0),), ((1, 1), (0, 0))])
def test_randomized_response_without_neighbours_reveals_nothing(adjacent):
    alone = Part(Table(WARNER.mechanism.rows, adjacent), times=num(2))
    claim = Claim(Compose((alone,)), parse("1/10"), parse("1/100"))
    assert verify(claim, 6).judgement.verdict != "REFUTED"
    evidence = {"curve": {"rule": "optimal-composition"}, "delta": True}
    with pytest.raises((Rejected, CertificateError)):
        kernel.bound(claim, Step("privacy-profile", evidence), 64)
