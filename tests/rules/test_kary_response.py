"""k-ary randomized response for every k and p at once (theory#kary-response)."""

from fractions import Fraction

import pytest

from dpverify.search.finite import finite_table as table
from dpverify.search.finite import kary_response as search
from dpverify.trusted.kernel.balls import precision
from dpverify.trusted.kernel.bounds import INFINITE
from dpverify.trusted.kernel.compare import certainly_equal, certainly_lt
from dpverify.trusted.kernel.errors import CertificateError, Rejected
from dpverify.trusted.kernel.expr import num, parse, substitute
from dpverify.trusted.kernel.model import Claim, Domain, KaryResponse, Staircase, Table
from dpverify.trusted.theories.finite.rules import finite_table as finite
from dpverify.trusted.theories.finite.rules import kary_response

COUNT = Domain(Fraction(2), lower_open=False, integer=True)
POSITIVE = Domain(Fraction(0))
UNIT = Domain(Fraction(0), Fraction(1))


def claim(k, p, epsilon=None, /, **domains):
    return Claim(KaryResponse(parse(k), parse(p)), None if epsilon is None else parse(epsilon), domains=tuple(domains.items()))


def check(c, **evidence):
    with precision(128):
        return kary_response.check(c, evidence)


def proposed(c):
    return [check(c, **step["evidence"]) for step in search.propose(c, 20)]


@pytest.mark.parametrize(("k", "p"), [(2, "3/4"), (4, "1/2"), (5, "1/10"), (3, "1/3")])
def test_it_agrees_with_the_table_written_out(k, p):
    other = (1 - Fraction(p)) / (k - 1)
    rows = tuple(tuple(num(Fraction(p) if x == y else other) for y in range(k)) for x in range(k))
    written = Claim(Table(rows), None)
    with precision(128):
        exact = [finite.check(written, step["evidence"]).value for step in table.propose(written, 20)]
    for bound in proposed(claim(str(k), p)):
        assert all(certainly_equal(bound.value, value) for value in exact)


def test_the_truth_at_p_of_epsilon_costs_epsilon_for_all_k_and_epsilon():
    c = claim("k", "exp(e)/(exp(e) + k - 1)", "e", k=COUNT, e=POSITIVE)
    assert {bound.side: bound.value for bound in proposed(c)} == {"upper": parse("e"), "lower": parse("e")}


def test_a_likely_truth_needs_no_absolute_value():
    likely = Domain(Fraction(1, 2), Fraction(1))
    c = claim("k", "p", "log(p*(k - 1)/(1 - p))", k=COUNT, p=likely)
    assert certainly_equal(check(c, side="upper").value, c.epsilon, dict(c.domains))


def test_over_all_p_the_value_is_the_absolute_one():
    value = check(claim("k", "p", k=COUNT, p=UNIT), side="upper").value
    at = {"k": num(3), "p": parse("1/10")}
    assert certainly_equal(substitute(value, at), parse("log(9/2)"))


def test_a_false_claim_for_all_parameters_is_broken_at_some_of_them():
    c = claim("k", "p", "log(p/(1 - p)) + 1", k=COUNT, p=Domain(Fraction(1, 2), Fraction(1)))
    (broken,) = [bound for bound in proposed(c) if bound.at]
    assert broken.side == "lower"
    assert certainly_lt(substitute(c.epsilon, broken.at), broken.value)


def test_certain_truth_and_certain_lies_are_infinite():
    for p, pair in (("1", [0, 1]), ("0", [1, 0])):
        bound = check(claim("3", p), side="lower")
        assert bound.value is INFINITE and bound.witness["pair"] == pair and bound.witness["Q"] == "0"
        with pytest.raises(Rejected, match="not certainly"):
            check(claim("3", p), side="upper")


@pytest.mark.parametrize(
    ("c", "evidence", "why"),
    [
        (claim("3", "p", p=POSITIVE), {}, "below 1"),
        (claim("3", "3/2"), {}, "below 1"),
        (claim("3", "-1/2"), {}, "above 0"),
        (claim("3", "1/2"), {"value": "log(3)"}, "not certainly exp"),
        (claim("3", "1/10"), {"value": "log(2/9)"}, "at least 0"),
        (claim("3", "1/2"), {"value": "x"}, "at least 0"),
        (Claim(Staircase(num(1), num(0)), None), {}, "randomized response"),
    ],
)
def test_a_hypothesis_that_fails_is_named(c, evidence, why):
    with pytest.raises(Rejected, match=why):
        check(c, side="upper", **evidence)


def test_the_side_and_the_parameters_are_read_strictly():
    c = claim("k", "1/2", k=COUNT)
    with pytest.raises(CertificateError, match="side"):
        check(c, side="both")
    for k in ("1", "5/2"):
        with pytest.raises(Rejected, match="outside"):
            check(c, side="lower", at={"k": k})
    with pytest.raises(KeyError, match="q"):
        check(c, side="lower", at={"q": "1"})
