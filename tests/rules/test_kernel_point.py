"""Lower bounds for one-parameter kernels from an event (theory#kernel-point)."""

import pytest

from dpverify.trusted.facts.bounds import INFINITE
from dpverify.trusted.language.errors import CertificateError, Rejected
from dpverify.trusted.language.expr import num, parse
from dpverify.trusted.language.model import Claim, KaryResponse, Kernel
from dpverify.trusted.numbers.balls import precision
from dpverify.trusted.order.compare import certainly_equal, certainly_le, certainly_lt
from dpverify.trusted.rules.finite import kernel_point, normaliser

LINE = Kernel(parse("1 + (theta - 1/2)*(2*y - 1)"), (num(0), num(1)), (num(0), num(1)))
EVIDENCE = {"theta": "1", "other": "0", "event": ["9/10", "1"], "y": "1"}


def check(claim, **evidence):
    with precision(192):
        return kernel_point.check(claim, evidence)


def claim(mechanism=LINE, sensitivity=None):
    return Claim(mechanism, None, sensitivity=sensitivity)


def test_a_point_gives_the_exact_log_ratio():
    bound = check(claim(), **EVIDENCE)
    assert bound.side == "lower" and certainly_equal(bound.value, parse("log(3)"))


def test_an_event_gives_probabilities_that_a_reader_can_check():
    bound = check(claim(), **{key: text for key, text in EVIDENCE.items() if key != "y"})
    # on [9/10, 1] the densities are within [14/10, 3/2] and [1/2, 6/10]; exactly P = 29/200 and Q = 11/200
    assert certainly_le(bound.value, parse("log(14/6)")) and certainly_lt(parse("log(14/6) - 1/10**6"), bound.value)
    for side, exact in (("P", "29/200"), ("Q", "11/200")):
        low, high = bound.witness[side]
        assert certainly_le(parse(low), parse(exact)) and certainly_le(parse(exact), parse(high))


def test_an_event_that_one_input_forbids_is_infinite():
    triangle = Kernel(parse("max(0, 1 - abs(y - theta))"), (num(-1), num(2)), (num(0), num(1)))
    found = check(claim(triangle), theta="1", other="0", event=["5/4", "3/2"])
    assert found.value is INFINITE and found.witness["Q"] == ["0", "0"]


def test_a_jump_in_the_event_is_refused():
    step = Kernel(parse("(1 + 4*floor(min(1, max(0, 5/4 - abs(y - theta - 1/2)))))/4"), (num(0), num(2)), (num(0), num(1)))
    with pytest.raises(Rejected, match="jump"):
        check(claim(step), theta="0", other="1", event=["1/2", "4/5"], y="1/2")
    assert certainly_equal(check(claim(step), theta="0", other="1", event=["1/2", "3/5"], y="1/2").value, parse("log(5)"))


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"theta": "2"}, "input interval"),
        ({"other": "-1/10**30"}, "input interval"),
        ({"event": ["9/10", "11/10"]}, "not certainly at most"),
        ({"event": ["-1/10", "1/10"], "y": "0"}, "not certainly at most"),
        ({"event": ["1", "1"]}, "but one"),
        ({"event": ["1", "9/10"]}, "not certainly at most"),
        ({"y": "1/2"}, "not certainly in the event"),
    ],
)
def test_evidence_outside_the_claim_is_refused(changed, why):
    with pytest.raises(Rejected, match=why):
        check(claim(), **EVIDENCE | changed)


def test_inputs_beyond_the_sensitivity_are_refused():
    assert check(claim(sensitivity=num(1)), **EVIDENCE)
    with pytest.raises(Rejected, match="sensitivity"):
        check(claim(sensitivity=parse("1 - 1/10**30")), **EVIDENCE)


def test_a_density_without_its_normaliser_is_never_bounded_without_an_assumption():
    forgotten = Kernel(parse("exp(-abs(y - theta))/2"), (num(0), num(1)), (num(0), num(1)))
    assert normaliser.ONE_FOR_ALL in check(claim(forgotten), **EVIDENCE).assumed
    cells = [{"until": "1", "cuts": ["theta"], "parts": ["exp(y - theta)/2", "-exp(theta - y)/2"]}]
    with pytest.raises(Rejected, match="sum to 1"):
        check(claim(forgotten), **EVIDENCE, normaliser={"cells": cells})


def test_symbols_and_other_mechanisms_are_refused():
    with pytest.raises(CertificateError, match="constant"):
        check(claim(), **EVIDENCE | {"theta": "t"})
    with pytest.raises(Rejected, match="kernel"):
        check(claim(KaryResponse(num(2), parse("1/2"))), **EVIDENCE)
