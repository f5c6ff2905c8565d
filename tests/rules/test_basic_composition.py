"""Adding up: sums of what every part spends, each checked by its curve or its pure epsilon."""

from dataclasses import replace
from fractions import Fraction

import pytest

from dpverify.search.composition import budgets
from dpverify.search.verify import verify
from dpverify.trusted.kernel.compare import certainly_equal
from dpverify.trusted.kernel.errors import CertificateError, Rejected
from dpverify.trusted.kernel.expr import Num, num, parse
from dpverify.trusted.kernel.model import L1, L2, Claim, Compose, Part, Radial, repeated
from dpverify.trusted.kernel.proof import Proof
from tests.proofs import Step, bound, fact

LAPLACE = Part(Radial(parse("exp(-r/2)"), L1, num(1)), num(1))
GAUSSIAN = Part(Radial(parse("exp(-r**2/8)"), L2, num(1)), num(1))
PREMISE = {"premise": {"rule": "concave-exponent", "evidence": {"side": "upper"}}}
SHARE = {"curve": {"rule": "gaussian"}, "epsilon": "1", "delta": "1/100"}  # the tight delta at 1 is 0.00683
CLAIM = Claim(Compose((LAPLACE, repeated(Part(GAUSSIAN.mechanism, num(1)), num(3)))), num(4), parse("1/20"))


def run(claim, *parts):
    return bound(claim, Step("one-sided", {"parts": list(parts)}))


def test_epsilons_and_deltas_add_up():
    (of_delta,), (of_epsilon,) = run(CLAIM, PREMISE, SHARE), run(replace(CLAIM, epsilon=None), PREMISE, SHARE)
    assert (of_delta.side, of_delta.quantity, of_delta.value) == ("upper", "delta", parse("3/100"))
    assert (of_epsilon.side, of_epsilon.quantity) == ("upper", "epsilon") and certainly_equal(of_epsilon.value, parse("7/2"))


def test_every_part_and_the_sum_are_shown():
    known = fact(CLAIM, Step("one-sided", {"parts": [PREMISE, SHARE]}))
    assert budgets.spent(CLAIM, [known]) == {
        "part 1 (radial)": "epsilon 0.5, delta 0",
        "part 2 (radial x 3)": "epsilon 1, delta 0.01 each",
        "basic composition": "epsilon 3.5, delta 0.03 (bound)",
    }


def test_a_bound_is_given_only_where_the_other_number_is_within_the_claim():
    spared = Claim(CLAIM.mechanism, num(3), parse("1/20"))
    assert [bound.quantity for bound in run(spared, PREMISE, SHARE)] == ["epsilon"]
    with pytest.raises(Rejected):
        run(Claim(CLAIM.mechanism, num(3), parse("1/50")), PREMISE, SHARE)


@pytest.mark.parametrize(
    ("share", "why"),
    [
        ({**SHARE, "delta": "1/200"}, Rejected),  # below the tight delta
        ({**SHARE, "epsilon": "1/2"}, Rejected),
        ({**SHARE, "epsilon": "-1"}, Rejected),
        ({**SHARE, "delta": "-1"}, Rejected),
        ({**SHARE, "curve": {"rule": "laplace"}}, Rejected),
        ({**SHARE, "curve": {"rule": "no-such"}}, CertificateError),
        ({"curve": {"rule": "gaussian"}, "epsilon": "1"}, CertificateError),
        (PREMISE, Rejected),  # no pure epsilon
    ],
)
def test_a_share_that_does_not_hold_is_refused(share, why):
    with pytest.raises(why):
        run(CLAIM, PREMISE, share)


SPENT = {"epsilon": "1", "delta": "1/100"}


@pytest.mark.parametrize(
    "spent", [{}, {"1": 7}, {"1": {}}, {"1": "1"}, {"1": None}, {"0": SPENT}, {"0": SPENT, "1": SPENT}, {"2": SPENT}, 7, None]
)
def test_every_run_wants_its_share(spent):
    proof = Proof(CLAIM)
    premises = [proof.infer("concave-exponent", (0,), {"side": "upper"}), proof.infer("gaussian", (1,))]
    assert proof.infer("one-sided", (), {"side": "upper", "spent": {"1": SPENT}}, premises).says
    with pytest.raises(CertificateError):
        proof.infer("one-sided", (), {"side": "upper", "spent": spent}, premises)


def test_every_run_wants_the_premise_about_itself():
    proof, pure = Proof(CLAIM), {"side": "upper"}
    premises = [proof.infer("concave-exponent", (0,), pure), proof.infer("gaussian", (1,))]
    other = Proof(Claim(Compose((Part(LAPLACE.mechanism, num(2)), Part(GAUSSIAN.mechanism, num(2)))), num(4)))
    strangers = [other.infer("concave-exponent", (0,), pure), other.infer("gaussian", (1,))]
    for given in ([], premises[:1], [*premises, premises[0]], premises[::-1], [premises[0], strangers[1]], [strangers[0], premises[1]]):
        with pytest.raises(CertificateError):
            proof.infer("one-sided", (), {"side": "upper", "spent": {"1": SPENT}}, given)


def test_one_mechanism_spends_what_its_curve_says():
    (found,) = run(Claim(GAUSSIAN.mechanism, num(1), parse("1/10"), num(1)), SHARE)
    assert (found.quantity, found.value) == ("delta", parse("1/100"))


def test_what_equal_parts_spend_is_told_once():
    twice = Claim(Compose((GAUSSIAN, LAPLACE, GAUSSIAN)), num(4), parse("1/20"))
    (found,) = run(twice, SHARE, PREMISE)
    assert (found.quantity, found.value) == ("delta", parse("1/50"))


def test_the_sum_stands_beside_a_tighter_bound():
    judgement = verify(Claim(CLAIM.mechanism, None, Num(Fraction(1, 10**6))), 6).judgement
    assert "basic composition" in judgement.also and "one-sided" in judgement.rules
