"""Lower bounds for one-parameter kernels from an event (theory#kernel-point)."""

import pytest

from dpverify.trusted.kernel.balls import precision
from dpverify.trusted.kernel.bounds import INFINITE
from dpverify.trusted.kernel.compare import certainly_equal, certainly_le, certainly_lt
from dpverify.trusted.kernel.errors import CertificateError, Rejected
from dpverify.trusted.kernel.expr import num, parse
from dpverify.trusted.kernel.model import Claim, KaryResponse, Kernel
from dpverify.trusted.theories.finite import normaliser
from dpverify.trusted.theories.finite.rules import kernel_point

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


def on_the_line(density, **evidence):
    kernel = Kernel(parse(density), (None, None), (num(0), num(1)))
    return check(claim(kernel), **{"theta": "1", "other": "0", "beyond": 1, **evidence})


@pytest.mark.parametrize("side", [1, -1])
def test_a_ratio_that_grows_with_the_output_is_infinite(side):
    found = on_the_line("exp(-abs(y)/(1 + theta))/(2*(1 + theta))", beyond=side)
    assert found.side == "lower" and found.value is INFINITE
    # of Gaussians one apart, log p(y; 1) - log p(y; 0) = y - 1/2 grows on the one side, and falls on the other
    gaussian = "exp(-(y - theta)**2/2)/sqrt(2*pi)"
    assert on_the_line(gaussian, beyond=side, theta=str(int(side > 0)), other=str(int(side < 0))).value is INFINITE
    with pytest.raises(Rejected, match="grow"):
        on_the_line(gaussian, beyond=side, theta=str(int(side < 0)), other=str(int(side > 0)))


@pytest.mark.parametrize(
    ("density", "why"),
    [
        ("(1 + theta)/(pi*((1 + theta)**2 + y**2))", "grow"),  # the ratio stays below 2
        ("exp(-abs(y - theta))/2", "grow"),
        ("max(0, 1 - abs(y))*exp(theta*y)", "grow"),  # no outputs beyond 1 at all, whatever the other factor
    ],
)
def test_a_ratio_that_is_bounded_or_of_no_outputs_is_not_infinite(density, why):
    for side in (1, -1):
        with pytest.raises(Rejected, match=why):
            on_the_line(density, beyond=side)


def test_outputs_without_end_are_looked_for_where_the_output_has_none():
    half = Kernel(parse("(1 + theta)*exp(-(1 + theta)*y)"), (num(0), None), (num(0), num(1)))
    assert check(claim(half), theta="0", other="1", beyond=1).value is INFINITE
    for side in (-1, 2, 0):
        with pytest.raises(Rejected, match="end"):
            check(claim(half), theta="0", other="1", beyond=side)
