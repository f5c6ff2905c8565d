"""Sums of infinitely many terms: enclosed, or certainly infinite."""

import math
from contextlib import suppress
from fractions import Fraction

import mpmath
import pytest
from flint import arb

from dpverify.trusted.kernel.balls import precision, value
from dpverify.trusted.kernel.errors import STUMBLES, CertificateError, DpverifyError, Rejected, Undecided
from dpverify.trusted.kernel.expr import parse
from dpverify.trusted.theories.processes import infinite_sums


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
    with pytest.raises((CertificateError, *STUMBLES)):
        infinite_sums.read(told)


@pytest.mark.parametrize(("start", "end"), [(64, 4), (64, 6), (4096, 10)])
def test_an_end_before_the_tail_is_refused(start, end):
    with pytest.raises(CertificateError, match="beyond"):
        total("1/k**2", start, 1, end=end)


@pytest.mark.parametrize("text", ["k - 3", "1/k - 1/1000", "0"])
def test_eigenvalues_that_are_not_all_positive_are_refused(text):
    with precision(128), pytest.raises(Rejected, match="not certainly positive"):
        infinite_sums.require_positive(parse(text), 64, "the eigenvalues")


SIGNS = {"logarithms": 1, "cells": 64}


@pytest.mark.parametrize("p", ["101/100", "3/2", "2"])
def test_sums_that_converge_by_a_logarithm_of_a_logarithm_are_enclosed(p):
    """f = 1/(x log x (log log x)^p), x = k + 15, has the antiderivative (log log x)^(1 - p)/(1 - p); Euler and Maclaurin from 2000 on."""
    power, n = float(Fraction(p)), 2000

    def f(k):
        x = k + 15
        return 1 / (x * math.log(x) * math.log(math.log(x)) ** power)

    expected = math.fsum(map(f, range(1, n))) + f(n) / 2 - (f(n + 1e-1) - f(n - 1e-1)) / 0.2 / 12
    expected += math.log(math.log(n + 15)) ** (1 - power) / (power - 1)
    terms = parse(f"1/((k + 15)*log(k + 15)*log(log(k + 15))**({p}))")
    found = infinite_sums.total(terms, infinite_sums.read({"start": 64, "order": 1, "logarithms": 1, "end": 4, "signs": SIGNS}), 64)
    assert found.rad() < 1e-3 * found.mid() and abs(float(found.mid()) - expected) < float(found.rad()) + 1e-7


@pytest.mark.parametrize(("p", "infinite"), [("1", True), ("99/100", True), ("101/100", False), ("2", False)])
def test_sums_near_the_boundary_of_the_second_logarithm_diverge_or_do_not(p, infinite):
    terms = parse(f"1/(k*log(k + 1)*log(log(k + 15))**({p}))")
    said = []
    for end, logarithms in ((4, 1), (10, 1), (4, 2)):
        with suppress(Undecided):
            said.append(infinite_sums.diverges(terms, {"end": end, "logarithms": logarithms}))
    assert any(said) is infinite


def test_signs_are_looked_at_on_all_of_the_end():
    for wrong in ("(k - 4000)**2 - 1", "1 - k/10**7", "1 - k/10**9", "(k - 10**6)**2 - 1"):
        with pytest.raises(Rejected, match="positive from"):
            infinite_sums.require_positive(parse(wrong), 16, "it", (1, 64))
    infinite_sums.require_positive(parse("1/log(log(k + 15))"), 16, "it", (1, 64))
    with pytest.raises(Undecided):
        told = infinite_sums.Told(16, 1, 1, 4, (1, 64))
        infinite_sums.total(parse("1/(k*log(k + 1)*log(log(k + 15))**2)*(1 - 100000/(k + 50000))"), told, 64)


@pytest.mark.parametrize(
    "signs", [None, [], {"logarithms": 0, "cells": 4}, {"logarithms": 1}, {"logarithms": 3, "cells": 4}, {"logarithms": 1, "cells": 4097}]
)
def test_signs_that_are_not_told_well_are_refused(signs):
    with pytest.raises((CertificateError, *STUMBLES)):
        infinite_sums.read({"start": 64, "order": 1, "logarithms": 1, "signs": signs})


def test_a_slow_tail_with_a_logarithm_above_is_bounded():
    """The integral of u^-2 log(u)^3 from X on is (log^3 + 3 log^2 + 6 log + 6)(X)/X."""
    found = infinite_sums._slowest(infinite_sums._germ(parse("log(u)**3/u**2"), Fraction(2) ** 10), Fraction(2) ** 10)
    at = math.log(1024)
    assert found.contains(arb((at**3 + 3 * at**2 + 6 * at + 6) / 1024)) and found < 4 * at**3 / 1024
    with pytest.raises(Undecided, match="too early"):
        infinite_sums._slowest(infinite_sums._germ(parse("log(u)**9/u**2"), Fraction(2) ** 4), Fraction(2) ** 4)


@pytest.mark.parametrize(("terms", "truth"), [("sqrt((1 - k)**2)", 4), ("(1 - k)**2*(1 - k)", -64), ("sqrt(k**4)/k", 5)])
def test_powers_are_merged_only_where_they_have_the_same_value(terms, truth):
    assert value(infinite_sums._merged(parse(terms)), {"k": arb(5)}).overlaps(arb(truth))


def test_terms_that_are_negative_on_a_part_of_the_end_have_no_sum_there():
    """They are below 0 up to e**5, which is about 148, and positive from there on."""
    told = infinite_sums.read({"start": 64, "order": 1, "logarithms": 1, "end": 4, "signs": {"logarithms": 1, "cells": 16}})
    with pytest.raises(Undecided, match="the terms are not certainly at least 0 from k = 64 on"):
        infinite_sums.total(parse("(log(k) - 5)/k**2"), told, 64)


def test_terms_that_bend_the_other_way_on_a_part_of_the_end_are_not_summed():
    """With L = log(k) the second derivative has the sign of 6 L**2 - 60 L + 132, below 0 for L from 3.27 to 6.73."""
    told = infinite_sums.read({"start": 64, "order": 1, "logarithms": 1, "end": 4, "signs": {"logarithms": 1, "cells": 64}})
    with pytest.raises(Undecided, match="the derivative of the order 2 of the terms is not certainly at least 0 from k = 64 on"):
        infinite_sums.total(parse("log(k)**12/k**2"), told, 64)
