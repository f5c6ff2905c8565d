"""The mean loss of a finite mechanism (theory#expected-loss)."""

from dataclasses import replace
from fractions import Fraction as F

import pytest

from dpverify.search.certificates import pack
from dpverify.search.verify import verify
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.certificate import Line
from dpverify.trusted.kernel.errors import CertificateError, Rejected
from dpverify.trusted.kernel.expr import ONE, Num, parse
from dpverify.trusted.kernel.judgement import check
from dpverify.trusted.kernel.model import Claim, Domain, Exponential, Table

WRONG = ((F(0), F(1)), (F(1), F(0)))


def table(*rows):
    return Table(tuple(tuple(map(parse, row)) for row in rows))


def errors(of, **parameters):
    return check(pack(of, 128, "UNKNOWN", [Line("expected-loss", (), parameters, (), 128)])).errors


def test_the_worst_input_counts_and_under_a_prior_the_mean():
    mechanism = table(("2/3", "1/3"), ("1/2", "1/2"))
    assert {bound.value for _, bound in errors(Claim(mechanism, ONE, loss=WRONG))} == {Num(F(1, 2))}
    assert {bound.value for _, bound in errors(Claim(mechanism, ONE, loss=WRONG, prior=(F(3, 4), F(1, 4))))} == {Num(F(3, 8))}


def test_there_may_be_more_outputs_than_inputs_and_inputs_without_weight():
    wide = Claim(table(("1/2", "1/3", "1/6"), ("0", "0", "1")), ONE, loss=((F(0), F(3), F(6)), (F(1), F(1), F(1))), prior=(F(1), F(0)))
    assert {bound.value for _, bound in errors(wide)} == {Num(F(2))}
    assert {bound.value for _, bound in errors(replace(wide, prior=()))} == {Num(F(2))}


def test_losses_of_any_sign_and_probabilities_that_are_no_fractions_count():
    mechanism = table(("exp(-1)", "1 - exp(-1)"), ("1/2", "1/2"))
    for _, bound in errors(Claim(mechanism, ONE, loss=((F(-1), F(2)), (F(0), F(1))))):
        assert abs(float(constant(bound.value).mid()) - (2 - 3 / 2.718281828459045)) < 1e-12


def test_the_exponential_mechanism_has_its_loss_too():
    mechanism = Exponential(((parse("0"), parse("-1")), (parse("-1"), parse("0"))), ONE)
    judgement = verify(Claim(mechanism, parse("1"), loss=WRONG, utility=True)).judgement
    own = [float(constant(bound.value).mid()) for _, bound in judgement.errors if bound.whose == "this"]
    least = [float(constant(bound.value).mid()) for _, bound in judgement.errors if bound.whose == "any"]
    assert own == pytest.approx([1 / (1 + 2.718281828459045)] * 2) and least == pytest.approx(own[:1])


@pytest.mark.parametrize(
    ("of", "why"),
    [
        (Claim(table(("2/3", "1/3"), ("1/2", "1/2")), ONE), "it states no losses"),
        (Claim(table(("2/3", "1/3"), ("1/2", "1/2")), ONE, loss=WRONG[:1]), "loss.*2 rows"),
        (Claim(table(("2/3", "1/3"), ("1/2", "1/2")), ONE, loss=(*WRONG, *WRONG)), "loss.*2 rows"),
        (Claim(table(("2/3", "1/3"), ("1/2", "1/2")), ONE, loss=((F(0), F(1)), (F(1),))), "of 2 entries"),
        (Claim(table(("2/3", "1/3", "0"), ("1/2", "1/2", "0")), ONE, loss=WRONG), "of 3 entries"),
        (Claim(table(("2/3", "1/3"), ("1/2", "1/3")), ONE, loss=WRONG), "row 1.*not certainly to exactly 1"),
        (Claim(table(("p", "1 - p"), ("1/2", "1/2")), ONE, loss=WRONG, domains=(("p", Domain(F(0), F(1))),)), "give them values"),
    ],
    ids=["none", "short", "long", "ragged", "narrow", "no table", "parameter"],
)
def test_a_broken_hypothesis_is_rejected(of, why):
    with pytest.raises((Rejected, CertificateError), match=why):
        errors(of)
