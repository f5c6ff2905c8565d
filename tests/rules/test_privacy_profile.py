"""Bounds read off a curve: on the side they should be, and refused where the point given is on the other."""

from fractions import Fraction

import pytest
from flint import arb

from dpverify.search.composition.privacy_profile import propose
from dpverify.search.verify import verify
from dpverify.trusted.combinators.runs import whole
from dpverify.trusted.facts.pairs import Curve, Pair, symmetric
from dpverify.trusted.kernel.balls import constant, precision
from dpverify.trusted.kernel.bounds import INFINITE
from dpverify.trusted.kernel.errors import CertificateError, DpverifyError, Rejected, Undecided
from dpverify.trusted.kernel.expr import num, parse
from dpverify.trusted.kernel.fact import Fact
from dpverify.trusted.kernel.model import L1, L2, Claim, Compose, Domain, Part, PostProcess, Radial, Subsample, Table
from dpverify.trusted.kernel.proof import Proof
from dpverify.trusted.theories.composition.rules import privacy_profile
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


# -- curves of which everything is known ----------------------------------------------------------------


def level(height):
    """A profile that falls by 1/8."""
    return lambda epsilon: arb(height) - epsilon / 8


ABOVE, BELOW = Pair(level(0.75), level(0.5)), Pair(level(0.25), level(0.375), rests=(lambda: arb(0.125), lambda: arb(0.25)))


def read(curve, evidence, epsilon=None, delta=None, **fields):
    claim = Claim(GAUSSIAN, *(None if text is None else parse(text) for text in (epsilon, delta)), sensitivity=num(1), **fields)
    premise = Fact("rule", whole(claim), curve, (), (), {}, (), 64)
    with precision(64):
        return {(bound.quantity, bound.side): bound for bound in privacy_profile.infer(claim, evidence, [premise])}


def curve_of(upper, lower):
    return Curve(upper, lower, ("rule",), ("assumed",), ("below",))


@pytest.mark.parametrize("upper", [ABOVE, ABOVE.reversed])
@pytest.mark.parametrize("lower", [BELOW, BELOW.reversed])
def test_delta_lies_between_the_worse_orders_of_both_pairs(upper, lower):
    found = read(curve_of(upper, lower), {"delta": True}, "1")
    assert found["delta", "upper"].value == parse("5/8") and found["delta", "lower"].value == parse("1/4")
    assert found["delta", "upper"].assumed == ("assumed",) and found["delta", "lower"].assumed == ("assumed", "below")
    assert found["delta", "upper"].witness is None and found["delta", "lower"].witness == {"epsilon": "1"}
    exact = read(curve_of(upper, upper), {"delta": True}, "1")
    assert exact["delta", "upper"].value == exact["delta", "lower"].value == parse("5/8")


def test_a_side_that_a_curve_has_not_is_not_bounded():
    assert read(curve_of(ABOVE, None), {"delta": True}, "1").keys() == {("delta", "upper")}
    assert read(curve_of(None, BELOW), {"delta": True}, "1")["delta", "lower"].value == parse("1/4")
    assert read(curve_of(None, BELOW.reversed), {"delta": True}, "1").keys() == {("delta", "lower")}
    even = symmetric(level(0.5))
    assert read(curve_of(None, even), {"delta": True}, "1")["delta", "lower"].value == parse("3/8")
    for evidence in ({"upper": "5"}, {"lower": "1/2"}, {"lower": "inf"}):
        with pytest.raises(Rejected):
            read(curve_of(None, None), evidence, delta="1/1000")


def test_delta_is_a_probability():
    found = read(curve_of(symmetric(level(2)), symmetric(level(-1))), {"delta": True}, "0")
    assert found["delta", "upper"].value == num(1) and found["delta", "lower"].value == num(0)
    assert read(curve_of(symmetric(level(-1)), None), {"delta": True}, "0")["delta", "upper"].value == num(0)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(
    ("key", "text", "delta", "holds"),
    [
        ("upper", "1", "5/8", True), ("upper", "7/8", "5/8", False), ("upper", "0", "3/4", True), ("upper", "0", "7/10", False),
        ("upper", "-1", "7/8", False), ("upper", "0", "1", True),
        ("lower", "1", "1/4", False), ("lower", "7/8", "1/4", True), ("lower", "-1", "1/4", False), ("lower", "0", "9/10", True),
        ("lower", "1/100", "3/8", False), ("lower", "inf", "1/4", False), ("lower", "inf", "1/5", True),
    ],
)  # fmt: skip
def test_an_epsilon_bounds_where_the_worse_order_is_certainly_on_its_side_of_delta(key, text, delta, holds, turned):
    pairs = (ABOVE.reversed, BELOW.reversed) if turned else (ABOVE, BELOW)
    if not holds:
        with pytest.raises(Rejected):
            read(curve_of(*pairs), {key: text}, delta=delta)
        return
    ((quantity, side), bound), *others = read(curve_of(*pairs), {key: text}, delta=delta).items()
    assert (quantity, side, bound.value) == ("epsilon", key, INFINITE if text == "inf" else parse(text)) and not others
    if text == "0" and key == "lower":
        assert not bound.assumed and not bound.through and bound.witness is None
    else:
        assert ("below" in bound.assumed) is (key == "lower") and bound.through == ("rule",)


def test_an_upper_bound_asks_for_an_upper_pair_alone():
    assert read(curve_of(ABOVE, None), {"upper": "1"}, delta="5/8")["epsilon", "upper"].value == num(1)


def test_no_delta_is_above_1():
    assert read(curve_of(None, None), {"upper": "0"}, delta="1")["epsilon", "upper"].value == num(0)


def test_what_the_profile_tends_to_is_to_be_known_where_no_epsilon_is_claimed_to_do():
    with pytest.raises(Rejected, match="not certainly above delta"):
        read(curve_of(ABOVE, Pair(BELOW.forward, BELOW.backward)), {"lower": "inf"}, delta="0")


def test_a_parameter_without_a_value_has_no_profile():
    with pytest.raises(Rejected, match="a value for each"):
        read(curve_of(ABOVE, BELOW), {"delta": True}, "1", domains=(("b", Domain(Fraction(0))),))


def test_nothing_is_read_of_what_is_not_claimed_or_not_asked_for():
    for evidence, claimed, why in (({"delta": True}, {}, "no epsilon"), ({"lower": "1"}, {}, "no delta"), ({"upper": "1"}, {}, "no delta")):
        with pytest.raises(Rejected, match=why):
            read(curve_of(ABOVE, BELOW), evidence, **claimed)
    with pytest.raises(CertificateError, match="no bound is asked for"):
        read(curve_of(ABOVE, BELOW), {}, "1", "1/2")
