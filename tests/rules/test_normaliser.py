"""The density of a kernel is one for every input: non-negative, with integral 1 (theory#normaliser-of-a-kernel)."""

from copy import deepcopy

import pytest

from dpverify.catalogue import read_spec
from dpverify.errors import SpecError
from dpverify.search.finite import normaliser as search
from dpverify.search.signs.seek import Sought
from dpverify.search.verify import verify
from dpverify.trusted.kernel.balls import precision
from dpverify.trusted.kernel.errors import STUMBLES, CertificateError, DpverifyError, Rejected
from dpverify.trusted.kernel.expr import num, parse
from dpverify.trusted.kernel.model import Claim, Kernel
from dpverify.trusted.kernel.shown import Shown, under
from dpverify.trusted.theories.finite import normaliser as rule
from dpverify.trusted.theories.finite.rules import kernel_point

BOUNDED_LAPLACE = "exp(-abs(y - theta))/(2 - exp(-theta) - exp(theta - 1))"


def kernel(density, output=("0", "1"), inputs=("0", "1")):
    low, high = (None if end is None else parse(end) for end in output)
    return Kernel(parse(density), (low, high), (parse(inputs[0]), parse(inputs[1])))


def check(noise, evidence=None):
    with precision(128):
        return rule.check_normaliser(Claim(noise, None), evidence)


ROOT = "exp(1/2)"
INSIDE = f"max(0, floor(1 + min(0, 1/({ROOT} - 1) - abs(y - theta*{ROOT}/({ROOT} - 1)))))"
REACH = f"({ROOT} + 1)/({ROOT} - 1)"
CUT_OFF = "exp(-(y - theta)**2/2)/(sqrt(pi/2)*(erf((1 - theta)/sqrt(2)) + erf(theta/sqrt(2))))"
SHOWN = [
    kernel(BOUNDED_LAPLACE),
    kernel("exp(-abs(y - theta)/2)/(2*(2 - exp(-theta/2) - exp((theta - 5)/2)))", ("0", "5"), ("0", "5")),
    kernel("exp(-abs(y - theta))/(2 - exp(-theta) - exp(theta)/2)", ("0", "log(2)"), ("0", "log(2)")),
    kernel("exp(-abs(y - theta))/2", (None, None)),
    kernel("exp(-y/(theta + 1))/(theta + 1)", ("0", None)),
    kernel("1/3 - 1/4*min(1, floor(abs(y - 2*theta)))", ("-3", "3"), ("-1", "1")),
    kernel(f"(exp(1) - {ROOT})/(2*{ROOT} + 2)*(exp(-1) + (1 - exp(-1))*{INSIDE})", (f"-{REACH}", REACH), ("-1", "1")),
    kernel("(1 + 4*floor(min(1, max(0, 5/4 - abs(y - theta - 1/2)))))/4", ("0", "2")),
    kernel("max(0, 1 - abs(y - theta))", ("-1", "2")),
    kernel("(1 + 2*min(y, theta))/(1 + 2*(theta - theta**2/2))"),
    kernel("theta*exp(theta*y)/(exp(theta) - 1)", ("0", "1"), ("1", "2")),
    kernel("1/(y + theta + 1)/log((2 + theta)/(1 + theta))"),
    kernel("cosh(y - theta)/(sinh(1 - theta) + sinh(theta))"),
    kernel("6*y*(1 - y)"),
]


@pytest.mark.sampled(8)
@pytest.mark.parametrize("noise", SHOWN)
def test_an_integral_of_1_is_shown_for_all_inputs_and_nothing_is_assumed(noise):
    with under(Sought()):
        assert check(noise, search.propose(noise)) == ()
        assert search.faults(Claim(noise, None)) == ()


BROKEN = [
    ("1 + theta*(theta - 1/3)*(theta - 1)", "does not integrate to 1"),  # 1 at 0, 1/3 and 1
    ("1 + theta*(theta - 1/3)*(theta - 1)*(theta - 1/2)*(theta - 2/3)*y/100", "does not integrate to 1"),
    ("1 + exp(-10**6*(theta - 414/1000)**2)", "does not integrate to 1"),  # at inputs in a thousandth of the range alone
    ("exp(-abs(y - theta))/2", "does not integrate to 1"),
    ("exp(-abs(y - theta))/(2 - exp(-theta) - exp(theta - 1) + theta*(1 - theta)*(theta - 1/3)/10**6)", "does not integrate to 1"),
    ("(1 + theta*(1 - theta)*(3*theta - 1)/50)*2*y", "does not integrate to 1"),
    ("1 + 4*theta*(y - 1/2)", "negative"),
    ("3*y - 1/2", "negative"),  # the ratio of two such densities is 1 everywhere
]


@pytest.mark.parametrize(("density", "said"), BROKEN)
def test_what_is_certainly_no_density_is_a_fault_of_the_file(tmp_path, density, said):
    (tmp_path / "spec.toml").write_text(
        f'[mechanism]\nkind = "kernel"\ndensity = "{density}"\noutput = [0, 1]\ninput = [0, 1]\n[[claim]]\nepsilon = 9\n'
    )
    with pytest.raises(SpecError, match=said):
        read_spec(tmp_path / "spec.toml")


@pytest.mark.parametrize(("density", "said"), BROKEN)
def test_what_is_certainly_no_density_is_never_proved_without_an_assumption(density, said):
    """No evidence, made for this density or another, shows it to be one."""
    noise = kernel(density)
    for other in (noise, SHOWN[0], SHOWN[-1]):
        if said == "negative":
            assert rule.NEGATIVE in check(noise)
        else:
            with pytest.raises(DpverifyError, match=r"antiderivative|do not certainly sum to 1|kinks"):
                check(noise, {"cells": search._cells(other, few=True)})


@pytest.mark.parametrize(("density", "said"), BROKEN)
def test_nothing_is_looked_for_of_what_is_certainly_no_density(density, said):
    found = verify(Claim(kernel(density), num(9)))
    assert found.judgement.verdict == "UNKNOWN" and said in found.reasons[0] and not found.certificate["lines"]


def test_what_is_not_shown_is_assumed():
    for density in ("1 + theta*(theta - 1/3)*(theta - 1)", "3*y - 1/2"):
        claim = Claim(kernel(density), num(9))
        with precision(128):
            found = kernel_point.check(claim, {"theta": "0", "other": "1", "event": ["1/2", "3/4"]})
        assert rule.ONE_FOR_ALL in found.assumed


def changed(evidence, **fields):
    found = deepcopy(evidence)
    found["cells"][0].update(fields)
    return found


def test_each_hypothesis_of_the_antiderivatives_is_checked():
    noise = kernel(BOUNDED_LAPLACE)
    evidence = search.propose(noise)
    (cell,) = evidence["cells"]
    left, right = cell["parts"]
    for wrong in (
        {"cells": []},
        changed(evidence, until="1/2"),  # the inputs are not covered
        changed(evidence, until="0"),
        {"cells": [cell, cell]},
        changed(evidence, cuts=["theta/2"]),  # the kink is inside a piece
        changed(evidence, cuts=["theta**2"]),
        changed(evidence, cuts=["2*theta"]),  # the lines cross
        changed(evidence, cuts=[], parts=[left]),
        changed(evidence, parts=[left]),
        changed(evidence, parts=[right, left]),
        changed(evidence, parts=[f"{left} + y", right]),
        changed(evidence, parts=[f"{left} + floor(y)", right]),  # derivative 0 where it has one
        changed(evidence, parts=[f"{left} + abs(y - 1/2)/(y - 1/2)", right]),
        changed(evidence, parts=[f"{left} + sqrt((y - 1/2)**2)/(y - 1/2)", right]),
        changed(evidence, parts=[f"{left} + w", right]),
        changed(evidence, parts=[left, 1]),
        changed(evidence, cuts=["y"]),
        {"cells": {"until": "1"}},
    ):
        with pytest.raises((DpverifyError, *STUMBLES)):
            check(noise, wrong)


def test_a_jump_hidden_in_an_antiderivative_is_seen():
    """2 on [0, 1] does not integrate to 1: an F that falls by 1 somewhere, with derivative 2 elsewhere, would say so."""
    noise = kernel("2")
    for jump in ("floor(2*y)", "abs(2*y - 1)/(2*y - 1)/2", "sqrt((2*y - 1)**2)/(2*y - 1)/2", "max(y, 1/2)/y", "min(1, floor(y + 1/2))"):
        with pytest.raises(DpverifyError):
            check(noise, {"cells": [{"until": "1", "cuts": [], "parts": [f"2*y - {jump}"]}]})


def test_a_piece_to_infinity_needs_an_exponential_that_falls():
    noise = kernel("exp(-abs(y - theta))/2", (None, None))
    evidence = search.propose(noise)
    (cell,) = evidence["cells"]
    assert cell["parts"] == ["1", "-1"]
    for parts in (["1", "1"], ["-1", "-1"], ["1", "-2"], ["1", "y"]):
        with pytest.raises((Rejected, CertificateError)):
            check(noise, changed(evidence, parts=parts))
    rising = kernel("exp(y)", ("0", None))  # -F(0) would be -1 with c = 1, 1 with c = -1
    for part in ("1", "-1"):
        with pytest.raises(Rejected):
            check(rising, {"cells": [{"until": "1", "cuts": [], "parts": [part]}]})


def test_an_infinite_line_as_one_piece_is_refused():
    with pytest.raises(Rejected, match="whole line"):
        check(kernel("exp(-abs(y - theta))/2", (None, None)), {"cells": [{"until": "1", "cuts": [], "parts": ["1"]}]})


def test_a_normaliser_that_may_vanish_is_refused():
    with pytest.raises(DpverifyError):
        check(kernel("(theta - 1/2)*(1 + y)/(theta - 1/2 + y - y)"), {"cells": [{"until": "1", "cuts": [], "parts": ["y"]}]})
    with pytest.raises(Rejected, match="may be 0"):
        check(kernel("1/(theta - 1/2)**2"), {"cells": [{"until": "1", "cuts": [], "parts": ["y"]}]})


@pytest.mark.parametrize("density", ["(theta + 1)*y**theta", "1/(4*cosh((y - theta)/2)**2)"])
def test_an_integral_that_no_antiderivative_shows_is_assumed(density):
    noise = kernel(density, (None, None) if "cosh" in density else ("0", "1"))
    assert "cells" not in search.propose(noise)
    assert rule.ONE_FOR_ALL in check(noise, search.propose(noise))
    assert search.faults(Claim(noise, None)) == ()


def test_an_integral_that_is_seen_to_be_another_over_cells_is_a_fault():
    noise = kernel("(theta + 2)*exp(-(theta + 2)*y)/(1 - exp(-theta - 2))*(1 + theta/100)")  # 1 + theta/100
    assert "does not integrate to 1" in search.faults(Claim(noise, None))[0]


@pytest.mark.parametrize("density", ["6*y*(1 - y)", "1 + theta*(2*y - 1)", "exp(y)*abs(y - theta)", "max(0, y - theta)", "y - theta + 1"])
def test_a_density_that_only_touches_zero_is_non_negative(density):
    assert rule.NEGATIVE not in check(kernel(density))


@pytest.mark.parametrize(
    "density", ["3*(y - theta)**2/(1 - 3*theta + 3*theta**2) + 0*y", "(exp(y) - 1 - y)/(exp(1) - 5/2)", "1 + theta*(2*y - 1)"]
)
def test_a_density_whose_sign_wants_to_be_shown_is_else_assumed_to_be_non_negative(density):
    with under(Shown()):
        assert rule.NEGATIVE in check(kernel(density))
    with under(Sought()):
        assert rule.NEGATIVE not in check(kernel(density))


@pytest.mark.parametrize(
    "density", ["y - theta", "2*y - 1/100", "(y - 1/2)*(theta - 1/2)", "1/(y - 2)", "exp(y)*(y + 1 - cosh(3*theta*y)/9)", CUT_OFF]
)
def test_a_density_that_is_not_seen_to_be_non_negative_is_assumed_to_be(density):
    with under(Sought()):
        assert rule.NEGATIVE in check(kernel(density))
