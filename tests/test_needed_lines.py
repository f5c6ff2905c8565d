"""Certificates carry the lines that their verdict and the bounds that are shown need, and no others."""

from dataclasses import replace

import pytest

from dpverify.search import verify as path
from dpverify.search.certificates import lines
from dpverify.trusted.kernel import judgement as kernel
from dpverify.trusted.kernel.certificate import unpack
from dpverify.trusted.kernel.expr import ONE, ZERO, num, parse
from dpverify.trusted.kernel.model import L2, Claim, Radial, Translation

LAPLACE = Translation(parse("exp(-abs(z)/2)"))
T_NOISE = Radial(parse("(1 + r**2/5)**(-4)"), L2, num(3))
GAUSSIAN = Translation(parse("exp(-z**2/2)"))
CLAIMS = {
    "Laplace, proved": Claim(LAPLACE, parse("1/2"), sensitivity=ONE),
    "Laplace, refuted": Claim(LAPLACE, parse("49/100"), sensitivity=ONE),
    "t noise, proved": Claim(T_NOISE, parse("2"), sensitivity=ONE),
    "Gaussian noise, tight": Claim(GAUSSIAN, ONE, None, sensitivity=ONE),
    "Gaussian noise, refuted": Claim(GAUSSIAN, ONE, parse("1/10"), sensitivity=ONE),
    "Gaussian noise, no epsilon": Claim(GAUSSIAN, ONE, ZERO, sensitivity=ONE),
}


def said(judgement):
    return replace(judgement, rules=(), assumptions=())


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS.keys())
def test_without_any_line_of_a_certificate_less_is_said(claim):
    facts = kernel.replay(unpack(path.verify(claim, 12).certificate))
    below = {id(premise) for fact in facts for premise in fact.premises}
    top = [fact for fact in facts if id(fact) not in below and fact.rule not in path._TOLD]
    whole = kernel.judge(claim, facts)
    assert top and all(said(kernel.judge(claim, lines(other for other in facts if other is not fact))) != said(whole) for fact in top)


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS.keys())
def test_what_is_left_out_changes_nothing_that_is_said_and_takes_no_more_for_granted(monkeypatch, claim):
    found = path.verify(claim, 12).judgement
    monkeypatch.setattr(path._Kept, "trimmed", lambda _, judgement: judgement)
    before = path.verify(claim, 12).judgement
    assert said(found) == said(before) and set(found.assumptions) <= set(before.assumptions)


def test_the_loss_at_a_point_is_no_line_beside_a_bound_in_closed_form():
    for name, rule in (("Laplace, proved", "concave-exponent"), ("t noise, proved", "power-identity")):
        assert {line["rule"] for line in path.verify(CLAIMS[name], 12).certificate["lines"]} == {rule}
