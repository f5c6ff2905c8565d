"""Bounds read off a curve: on the side they should be, and refused where the point given is on the other."""

import pytest

from dpverify.search.privacy_profile import propose
from dpverify.search.verify import verify
from dpverify.trusted.facts.bounds import INFINITE
from dpverify.trusted.language.errors import CertificateError, DpverifyError, Rejected, Undecided
from dpverify.trusted.language.expr import num, parse
from dpverify.trusted.language.model import L1, L2, Claim, Compose, Part, PostProcess, Radial, Subsample, Table
from dpverify.trusted.numbers.balls import constant, precision
from dpverify.trusted.proof import Proof
from tests.proofs import Step, bound
from tests.reference import MP

HALF = parse("1/2")
GAUSSIAN = Radial(parse("exp(-r**2/2)"), L2, num(1), num(2))
DELTA = "0.00682959498311457538423501287994"  # at epsilon 1, sensitivity 1
EPSILON = "1.99309140441511963114946158809"  # at delta 1e-5


CURVE = {"rule": "gaussian"}


def run(evidence, epsilon=None, delta=None, mechanism=GAUSSIAN, sensitivity="1", curve=CURVE):
    stated = [None if text is None else parse(text) for text in (epsilon, delta, sensitivity)]
    found = bound(Claim(mechanism, *stated), Step("privacy-profile", {"curve": curve, **evidence}))
    return {(each.quantity, each.side): each for each in found}


def test_the_numbers_expected_here_are_those_of_the_formula():
    one = MP.mpf(1)
    assert abs(MP.ncdf(one / 4 - 2) - MP.e * MP.ncdf(-one / 4 - 2) - MP.mpf(DELTA)) < MP.mpf(10) ** -30
    e = MP.mpf(EPSILON)
    assert abs(MP.ncdf(one / 4 - 2 * e) - MP.exp(e) * MP.ncdf(-one / 4 - 2 * e) - MP.mpf(10) ** -5) < MP.mpf(10) ** -30


def test_delta_is_enclosed_at_the_claimed_epsilon():
    found = run({"delta": True}, epsilon="1")
    upper, lower = found["delta", "upper"].value, found["delta", "lower"].value
    with precision(128):
        room = constant(parse("1/10**28"))
        assert constant(lower) <= constant(parse(DELTA)) + room and constant(upper) >= constant(parse(DELTA)) - room
        assert constant(upper) - constant(lower) < constant(parse("1/10**24"))
    assert found["delta", "upper"].through == ("gaussian",)


def test_epsilon_lies_between_the_rationals_given():
    found = run({"upper": "1993092/1000000", "lower": "1993091/1000000"}, delta="1/10**5")
    assert found["epsilon", "upper"].value == parse("1.993092") and found["epsilon", "lower"].value == parse("1.993091")


@pytest.mark.parametrize("evidence", [{"upper": "1993091/1000000"}, {"lower": "1993092/1000000"}, {"upper": "-1"}, {"lower": "-1"}])
def test_rationals_on_the_wrong_side_are_refused(evidence):
    with pytest.raises(Rejected):
        run(evidence, delta="1/10**5")


def test_a_bound_from_below_names_its_epsilon_and_a_refutation_its_event():
    assert run({"delta": True}, epsilon="1", delta="1/1000")["delta", "lower"].witness == {"epsilon": "1"}
    assert run({"lower": "3/2"}, epsilon="1", delta="1/10**5")["epsilon", "lower"].witness == {"epsilon": "3/2"}
    refuted = verify(Claim(GAUSSIAN, num(1), parse("1/1000"), num(1))).judgement
    assert refuted.verdict == "REFUTED" and {"P", "Q", "event", "pair"} <= refuted.witness.keys()
    with precision(128):
        p, q = (constant(parse(refuted.witness[name].strip("[]").split(", ")[0])) for name in "PQ")
        assert p - q * constant(parse("exp(1)")) > constant(parse("1/1000"))
    assert verify(Claim(GAUSSIAN, num(1), parse("1/100"), num(1))).judgement.witness is None


def test_what_only_one_of_two_inputs_gives_refutes_every_epsilon():
    revealing = Table(((HALF, HALF, num(0)), (HALF, num(0), HALF)))
    told = {"mechanism": revealing, "sensitivity": None, "curve": {"rule": "finite-curve"}}
    (found,) = run({"lower": "inf"}, delta="2/5", **told).values()
    assert (found.side, found.value, found.witness["epsilon"]) == ("lower", INFINITE, "inf")
    for delta in ("1/2", "3/5"):
        with pytest.raises(Rejected, match="not certainly above delta"):
            run({"lower": "inf"}, delta=delta, **told)


def test_post_processing_has_no_lower_bound():
    part = Part(GAUSSIAN, num(1))
    assert set(run({"delta": True}, epsilon="1", mechanism=PostProcess(part), sensitivity=None)) == {("delta", "upper")}
    with pytest.raises(Rejected):
        run({"lower": "1/2"}, delta="1/10**5", mechanism=PostProcess(part), sensitivity=None)


@pytest.mark.parametrize(
    ("evidence", "curve"),
    [
        ({}, CURVE),
        ({"delta": "true"}, CURVE),
        ({"delta": 1}, CURVE),
        ({"upper": "x"}, CURVE),
        ({"upper": "1e9"}, CURVE),
        ({"delta": True}, {"rule": "gaussian", "prec": 10**9}),
        ({"delta": True}, {"rule": "gaussian", "prec": True}),
        ({"delta": True}, {"rule": "gaussian", "prec": "128"}),
        ({"delta": True}, {}),
        ({"delta": True}, {"rule": "laplace"}),
        ({"delta": True}, {"rule": "poisson-subsampling", "part": CURVE}),
        ({"delta": True}, {"rule": "group-privacy", "part": CURVE, "epsilon": "-1"}),
        ({"delta": True}, {"rule": 7}),
    ],
)
def test_evidence_of_another_form_is_refused(evidence, curve):
    with pytest.raises(DpverifyError):
        run(evidence, epsilon="1", delta="1/10**5", curve=curve)


def test_what_is_not_claimed_is_not_bounded():
    with pytest.raises(Rejected):
        run({"delta": True}, delta="1/10**5")
    with pytest.raises(Rejected):
        run({"upper": "2"}, epsilon="1")


def test_mixed_neighbours_are_refused_before_any_curve():
    mixed = Subsample(Part(GAUSSIAN, num(1), adjacency="replace"), parse("1/2"))
    with pytest.raises(Rejected, match="adjacency"):
        run({"delta": True}, epsilon="1", mechanism=mixed, sensitivity=None, curve={"rule": "poisson-subsampling", "part": CURVE})


def test_a_sample_wants_the_rule_of_its_scheme():
    part = Part(GAUSSIAN, num(1))
    for scheme, other in (("poisson", "sampling-without-replacement"), ("without_replacement", "poisson-subsampling")):
        sample, curve = Subsample(part, parse("1/2"), scheme), {"rule": other, "part": CURVE}
        with pytest.raises(Rejected):
            run({"delta": True}, epsilon="1", mechanism=sample, sensitivity=None, curve=curve)


def test_an_exact_rule_for_one_noise_does_not_compose_another():
    mixed = Compose((Part(GAUSSIAN, num(1)), Part(Radial(parse("exp(-r)"), L1, num(1)), num(1))))
    for name in ("gaussian-composition", "laplace-sums", "optimal-composition"):
        with pytest.raises(Rejected):
            run({"delta": True}, epsilon="1", mechanism=mixed, sensitivity=None, curve={"rule": name})
    with pytest.raises(Undecided):
        run({"delta": True}, epsilon="1", mechanism=mixed, sensitivity=None, curve={"rule": "gaussian"})
    with pytest.raises(Rejected):
        Proof(Claim(mixed, num(1))).infer("gaussian")


@pytest.mark.parametrize("count", [0, 2])
def test_it_reads_one_curve(count):
    proof = Proof(Claim(GAUSSIAN, num(1), sensitivity=num(1)))
    with pytest.raises(CertificateError, match="wants one premise"):
        proof.infer("privacy-profile", (), {"delta": True}, [proof.infer("gaussian")] * count)


def test_the_curve_of_something_else_is_not_read():
    proof, other = Proof(Claim(GAUSSIAN, num(1), sensitivity=num(1))), Proof(Claim(GAUSSIAN, num(1), sensitivity=num(2)))
    for strange in (other.infer("gaussian"), proof.infer("convex-exponent", (), {"side": "lower"})):
        with pytest.raises(CertificateError, match="not about the curve of the part"):
            proof.infer("privacy-profile", (), {"delta": True}, [strange])


def test_claims_about_one_composition_at_one_delta_rest_on_one_curve():
    # deriving it takes long, and what equal uses of a rule say is derived once
    truth, lie = parse("3/4"), parse("1/4")
    both = Compose((Part(GAUSSIAN, num(1)), Part(Table(((truth, lie), (lie, truth))))))
    plans = [propose(Claim(both, parse(epsilon), parse("1/10**6")), 10, lambda claim: None) for epsilon in ("4", "4.1", "3.95")]
    curves = [step["premises"][0] for plan in plans for step in plan if step["rule"] == "privacy-profile"]
    assert len(curves) >= 3
    assert all(curve.says is curves[0].says and curve.rule == "loss-distribution" for curve in curves)


def test_no_profile_is_made_at_an_epsilon_below_zero(monkeypatch):
    def never(*_):
        raise AssertionError("a profile was asked for")

    monkeypatch.setattr("dpverify.trusted.facts.pairs.Pair.worst", never)
    for epsilon in ("-1", "log(1/2)"):
        with pytest.raises(Rejected, match="certainly at least 0"):
            run({"delta": True}, epsilon=epsilon)
    with pytest.raises(AssertionError):
        run({"delta": True}, epsilon="0")
