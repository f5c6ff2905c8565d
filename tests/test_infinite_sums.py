"""Sums of infinitely many terms: enclosed, or certainly infinite."""

from contextlib import suppress

import mpmath
import pytest
from flint import arb

from dpverify.trusted.language.errors import CertificateError, DpverifyError, Rejected, Undecided
from dpverify.trusted.language.expr import parse
from dpverify.trusted.numbers.balls import precision
from dpverify.trusted.order import infinite_sums


def total(text, start=64, order=2, logarithms=0, **more):
    with precision(128):
        told = infinite_sums.read({"start": start, "order": order, "logarithms": logarithms, **more})
        return infinite_sums.total(parse(text), told, 80)


def holds(ball, expected):
    return ball.overlaps(arb(str(expected), 1e-24))


KNOWN = [
    ("1/k**2", {}, lambda: mpmath.zeta(2)),
    ("k**(-1001/1000)", {}, lambda: mpmath.zeta(mpmath.mpf(1001) / 1000)),
    ("(k - 3)**2/k**5", {}, lambda: mpmath.zeta(3) - 6 * mpmath.zeta(4) + 9 * mpmath.zeta(5)),
    ("4**(-k)", {"order": 1}, lambda: mpmath.mpf(1) / 3),
    ("k**2*2**(-k)", {}, lambda: mpmath.mpf(6)),
    ("log(k)/k**2", {"order": 4}, lambda: -mpmath.zeta(2, derivative=1)),
    ("1/(k**2 + 1)", {"order": 4}, lambda: (mpmath.pi * mpmath.coth(mpmath.pi) - 1) / 2),
    ("1/((k + 1)*log(k + 1)**2)", {"order": 4, "logarithms": 1}, lambda: mpmath.mpf("2.109742801236891974479257197616551")),
]


@pytest.mark.parametrize("text, told, expected", KNOWN)
def test_sums_that_are_known(text, told, expected):
    with mpmath.workdps(40):
        known = mpmath.nstr(expected(), 35)
    found = total(text, **told)
    assert holds(found, known)
    assert found.rad() < 1e-8


@pytest.mark.parametrize("start, order", [(16, 1), (64, 3), (1000, 6)])
def test_the_sum_does_not_depend_on_how_it_is_told(start, order):
    assert total("1/k**2", start, order).overlaps(total("1/k**2", 64, 4))


@pytest.mark.parametrize("end", [6, 10])
def test_a_tail_by_its_scale_is_that_by_quadrature(end):
    assert total("1/(k*(log(k) + 1)**2)", logarithms=1, end=end).overlaps(total("1/(k*(log(k) + 1)**2)", logarithms=1))


@pytest.mark.parametrize(
    "terms, logarithms",
    [
        ("1/k", 0),
        ("1 + 1/k", 0),
        ("2**k/k**9", 0),
        ("1/((k + 1)*log(k + 1))", 0),
        ("1/((k + 1)*log(k + 1)**(99/100))", 1),
        ("1/((k + 2)*log(k + 2)*log(log(k + 2)))", 1),
        ("k**(-999/1000)", 0),
        ("1/sqrt(k**2 + 1)", 0),
    ],
)
def test_sums_just_beyond_the_boundary_are_infinite(terms, logarithms):
    assert infinite_sums.diverges(parse(terms), {"end": 6, "logarithms": logarithms})


@pytest.mark.parametrize("logarithms", [0, 1])
@pytest.mark.parametrize(
    "terms", ["k**(-1001/1000)", "1/((k + 1)*log(k + 1)**(101/100))", "exp(-sqrt(k))", "1/((k + 2)*log(k + 2)*log(log(k + 2))**(101/100))"]
)
def test_sums_just_within_the_boundary_are_never_said_to_be_infinite(terms, logarithms):
    with suppress(Undecided):
        assert not infinite_sums.diverges(parse(terms), {"end": 6, "logarithms": logarithms})


@pytest.mark.parametrize("terms", ["1/k", "1/(k*(log(k) + 1))", "-1/k**2", "k**(-3/2)*(k - 100)/sqrt((k - 100)**2)"])
def test_what_is_not_a_finite_sum_of_smooth_terms_is_not_enclosed(terms):
    for told in ({}, {"logarithms": 1}, {"logarithms": 0, "end": 10}):
        with pytest.raises(DpverifyError):
            total(terms, **told)


def test_terms_whose_derivatives_change_their_sign_are_refused():
    with pytest.raises(DpverifyError):
        total("(2 + tanh(k - 90))/k**2")


def test_powers_of_squares_are_not_taken_for_powers():
    assert total("((k - 10)**2)**(1/2)/k**4", 1024, 1).overlaps(arb(sum(abs(k - 10) / k**4 for k in range(1, 20000)), 1e-8))


@pytest.mark.parametrize(
    "told",
    [
        None,
        {},
        {"start": 15, "order": 1, "logarithms": 0},
        {"start": 64, "order": 7, "logarithms": 0},
        {"start": 64, "order": True, "logarithms": 0},
        {"start": 64, "order": 1, "logarithms": 3},
        {"start": 64, "order": 1, "logarithms": 0, "end": 3},
    ],
)
def test_evidence_out_of_range_is_refused(told):
    with pytest.raises(CertificateError):
        infinite_sums.read(told)


@pytest.mark.parametrize("text", ["k - 3", "1/k - 1/1000", "0"])
def test_eigenvalues_that_are_not_all_positive_are_refused(text):
    with precision(128), pytest.raises(Rejected, match="not certainly positive"):
        infinite_sums.require_positive(parse(text), 64, "the eigenvalues")
