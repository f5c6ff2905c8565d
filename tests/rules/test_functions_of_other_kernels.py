"""Whole functions under rbf and under covariances that are written out: in the space with a norm, outside, or not decided."""

from fractions import Fraction
from math import exp, factorial, sqrt

import pytest
from flint import arb

from dpverify.search.processes.norms import derivations, outside
from dpverify.search.verify import verify
from dpverify.trusted.kernel.balls import constant
from dpverify.trusted.kernel.bounds import INFINITE
from dpverify.trusted.kernel.errors import CertificateError, DpverifyError, Rejected, Undecided
from dpverify.trusted.kernel.expr import ONE, num, parse
from dpverify.trusted.kernel.model import Claim, EllipticalProcess
from dpverify.trusted.theories.processes import evaluations, gaussian_functions
from dpverify.trusted.theories.processes import norms as processes
from dpverify.trusted.theories.processes.rules import elliptical_process
from dpverify.trusted.theories.processes.rules import elliptical_process_unbounded as unbounded

T5 = parse("v**(-7/2)*exp(-5/(2*v))")


def rbf(h, variance="2", length="1/2", interval=("0", "1"), **more):
    return process("rbf", h, (variance, length), interval, **more)


def written(kernel, h, interval=("0", "1"), **more):
    return process("kernel", h, (kernel,), interval, **more)


def process(name, h, shape, interval, **more):
    ends = tuple(map(parse, interval))
    return EllipticalProcess(T5, covariance=name, shape=tuple(map(parse, shape)), interval=ends, differences=(parse(h),), **more)


def norm(noise, told=None):
    [h] = noise.differences
    return processes.squared_norm(noise, h, {} if told is None else told)


def by_series(taylor, length, variance, terms=40):
    """sum of n! l^(2n) g_n^2/v, g = h exp(t^2/(2 l^2)), from the Taylor coefficients of h at 0, exactly until the end."""
    square = Fraction(length) ** 2
    gauss = [Fraction(0)] * terms
    for k in range((terms + 1) // 2):
        gauss[2 * k] = 1 / (2 * square) ** k / factorial(k)
    g = [sum(taylor(i) * gauss[n - i] for i in range(n + 1)) for n in range(terms)]
    return float(sum(factorial(n) * square**n * x * x for n, x in enumerate(g)) / Fraction(variance))


def of_gaussian(a, b=0, m=0):
    """The Taylor coefficients of t^m exp(-a t^2 + b t)."""
    a, b = Fraction(a), Fraction(b)

    def coefficient(n):
        left = n - m
        return sum(((-a) ** k / factorial(k) * b ** (left - 2 * k) / factorial(left - 2 * k) for k in range(left // 2 + 1)), Fraction(0))

    return lambda n: coefficient(n) if n >= m else Fraction(0)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("h", "taylor"),
    [
        ("exp(-t**2)", of_gaussian(1)),
        ("exp(-2*t**2)", of_gaussian(2)),
        ("exp(-3*t**2 + t)", of_gaussian(3, 1)),
        ("exp(-2*t**2 - 3*t)", of_gaussian(2, -3)),
        ("t*exp(-2*t**2)", of_gaussian(2, 0, 1)),
        ("t**3*exp(-t**2 + t/2)", of_gaussian(1, "1/2", 3)),
        ("exp(-2*t**2) - 3*t**2*exp(-t**2)", lambda n: of_gaussian(2)(n) - 3 * of_gaussian(1, 0, 2)(n)),
        ("(t - 2)**2*exp(-t**2)*exp(-t**2)", lambda n: sum(c * of_gaussian(2, 0, m)(n) for m, c in enumerate((4, -4, 1)))),
        ("2*sinh(t)*exp(-2*t**2)", lambda n: of_gaussian(2, 1)(n) - of_gaussian(2, -1)(n)),
        ("2*cosh(t)*exp(-2*t**2)", lambda n: of_gaussian(2, 1)(n) + of_gaussian(2, -1)(n)),
    ],
)
def test_the_norm_under_rbf_is_the_sum_over_taylor_coefficients(h, taylor):
    assert float(norm(rbf(h)).mid()) == pytest.approx(by_series(taylor, "1/2", 2), rel=1e-6)
    assert norm(rbf(h)).rel_accuracy_bits() > 30


def test_a_value_of_the_kernel_has_its_norm_and_other_scales_have_theirs():
    assert norm(rbf("2*exp(-2*(t - 1/3)**2)")).overlaps(arb(2))
    assert norm(rbf("exp(-(t - 1/3)**2/18)", "1", "3")).overlaps(arb(1))
    two = norm(rbf("2*exp(-2*(t - 1/3)**2) - 6*exp(-2*(t + 5)**2)"))
    assert two.overlaps(2 - 12 * (-2 * (arb(16) / 3) ** 2).exp() + 18)
    tau = 1 / (2 * sqrt(1.5))  # of exp(-t^2/(2 T^2)): T^2/(v l sqrt(2 T^2 - l^2))
    assert float(norm(rbf("exp(-3*t**2)")).mid()) == pytest.approx(tau**2 / (2 * 0.5 * sqrt(2 * tau**2 - 0.25)))


def test_evaluations_see_less_than_the_norm_under_rbf_and_nearly_all_of_it():
    noise = rbf("exp(-t**2)")
    seen = [float(evaluations.seen(rbf("exp(-t**2)", count=num(n)), noise.differences[0]).mid()) for n in (1, 3, 6, 10)]
    whole = float(norm(noise).mid())
    assert seen == sorted(seen) and seen[-1] < whole and seen[-1] == pytest.approx(whole, rel=1e-2)


INSIDE = ("exp(-t**2/1000)", "exp(-(3999/1000)*t**2)", "exp(-2*t**2 + 50*t)", "t**2*exp(-t**2)", "1 - exp(-t)*exp(t) + exp(-t**2)")
OUTSIDE = (
    "1",
    "t",
    "t**2 - t",
    "exp(t)",
    "exp(-4*t**2)",
    "exp(-5*t**2)",
    "exp(t**2)",
    "exp(-2*t**2) + 1/1000",
    "exp(-4*t**2) + exp(-4*t**2 + t)",
    "cosh(t)",
    "t*exp(-4*t**2)",
    "abs(t - 1/2)",
    "(t - 1/2)*abs(t - 1/2)",
    "max(t, 1/3)*exp(-t**2)",
)
UNDECIDED = ("sqrt(1 + t)", "1/(1 + t)", "exp(-t**3)", "exp(exp(-t))", "t**9*exp(-2*t**2)", "(1 + t)**64", "erf(t)")


@pytest.mark.parametrize("h", INSIDE)
def test_what_is_in_the_space_of_rbf_is_never_said_to_be_outside(h):
    noise = rbf(h)
    assert derivations(noise, 6) == [{}] and outside(noise) is None
    for number in range(len(gaussian_functions.terms_of(noise.differences[0]))):
        assert not processes.is_infinite(noise, noise.differences[0], {"term": number})


@pytest.mark.sampled(5)
@pytest.mark.parametrize("h", OUTSIDE)
def test_what_is_outside_the_space_of_rbf_is_shown_to_be(h):
    noise = rbf(h)
    with pytest.raises(Undecided):
        norm(noise)
    number, told = outside(noise)
    assert number == 0 and processes.is_infinite(noise, noise.differences[0], told)
    assert verify(Claim(noise, num(20), parse("1 - 1e-9"))).judgement.verdict == "REFUTED"


@pytest.mark.parametrize("h", UNDECIDED)
def test_other_functions_under_rbf_are_not_decided_and_the_message_says_for_which_it_is(h):
    noise = rbf(h)
    assert outside(noise) is None
    with pytest.raises(Undecided, match="sums of c"):
        derivations(noise, 6)


def test_terms_that_cancel_are_no_terms():
    assert gaussian_functions.terms_of(parse("exp(t)*exp(-t) - 1")) == ()
    assert norm(rbf("t*exp(-t) - exp(-t)*t")) == 0
    [term] = gaussian_functions.terms_of(parse("exp(1 - 2*t**2 + 3*t)*5"))
    assert float(constant(term.c).mid()) == pytest.approx(5 * exp(1)) and (term.m, term.a, term.b) == (0, num(2), num(3))


def test_a_term_that_another_may_cancel_shows_nothing():
    near = parse("exp(-5*t**2) - exp(-(4 + sqrt(1 + 1e-40*0))*t**2)")
    assert not any(processes.is_infinite(rbf("0"), near, {"term": i}) for i in range(len(gaussian_functions.terms_of(near))))


@pytest.mark.parametrize(
    ("noise", "told", "why"),
    [
        (rbf("a*exp(-t**2)"), {}, "without a value"),
        (rbf("exp(-t**2)", variance="a"), {}, "without a value"),
        (rbf("exp(-t**2)", variance="0"), {}, "not certainly positive"),
        (rbf("exp(-t**2)", length="-1"), {}, "not certainly positive"),
        (rbf("exp(-t**2)", interval=("1", "1")), {}, "before it starts"),
    ],
)
def test_the_norm_under_rbf_wants_numbers_and_no_more(noise, told, why):
    with pytest.raises((Rejected, CertificateError), match=why):
        processes.squared_norm(noise, noise.differences[0], told)


@pytest.mark.parametrize("told", [{}, {"term": -1}, {"term": 1}, {"term": True}, {"term": "0"}])
def test_a_term_that_shows_a_function_outside_is_one_of_its_terms(told):
    with pytest.raises(CertificateError, match="not a whole number from 0 to 0"):
        processes.is_infinite(rbf("exp(t)"), parse("exp(t)"), told)


# -- covariances that are written out ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kernel", "h", "expected"),
    [
        ("min(s, t)", "t**2", 4 / 3),  # int h'^2
        ("t", "min(t, 1/3)*t", 4 / 81 + 2 / 27),
        ("4*min(s, t)", "t**2", 1 / 3),
        ("1 + min(s, t)", "3 + t**2", 9 + 4 / 3),
        ("exp(-s - t)*(1 + min(s, t))", "exp(-t)*(3 + t**2)", 9 + 4 / 3),  # a process times exp(-t), and so the function
        ("exp(-abs(s - t))", "t**2", (1 + 1 / 5 + 4 / 3) / 2),  # half of h(0)^2 + h(1)^2 + int h^2 + h'^2
        ("exp(-(s - t))", "abs(t - 1/2)", (1 / 4 + 1 / 4 + 2 * (1 / 2) ** 3 / 3 + 1) / 2),
        ("2*exp(t - s)", "t**2", (1 + 1 / 5 + 4 / 3) / 4),
    ],
)
def test_a_covariance_of_the_earlier_point_times_the_later_is_brownian_motion_at_another_time(kernel, h, expected):
    noise = written(kernel, h)
    [told] = derivations(noise, 6)
    assert float(norm(noise, told).mid()) == pytest.approx(expected)
    assert norm(noise, told).rel_accuracy_bits() > 30
    seen = [float(evaluations.seen(written(kernel, h, count=num(n)), noise.differences[0]).mid()) for n in (4, 16, 64)]
    assert seen == sorted(seen) and seen[-1] <= expected * (1 + 1e-9) and seen[-1] == pytest.approx(expected, rel=3e-2)


def test_a_difference_that_is_not_0_where_the_noise_is_shows_everything():
    noise = written("min(s, t)", "1 + t")
    number, told = outside(noise)
    assert number == 0 and processes.is_infinite(noise, noise.differences[0], told)
    assert verify(Claim(noise, num(20), parse("1 - 1e-9"))).judgement.verdict == "REFUTED"
    for kernel, h in (("min(s, t)", "t"), ("1 + min(s, t)", "1 + t"), ("exp(-(s - t)**2)", "1 + t")):
        assert outside(written(kernel, h)) is None


@pytest.mark.parametrize(
    ("kernel", "h", "told", "why"),
    [
        ("exp(-(s - t)**2)", "t**2", {"cells": 4, "at": "1/2"}, "not certainly a product"),
        ("min(s, t) + 1/10**9*s**2*t**2", "t**2", {"cells": 4, "at": "1/2"}, "not certainly a product"),
        ("min(s, t)", "t**2", {"cells": 4}, "rational"),
        ("min(s, t)", "floor(2*t)*t", {"cells": 4, "at": "1/2"}, "floor"),
        ("min(s, t)*floor(2 + s)", "t", {"cells": 4, "at": "1/2"}, "floor"),
        ("min(s, t)", "1 + t", {"cells": 4, "at": "1/2"}, "not certainly 0 at t = 0"),
        ("min(s, t)", "abs(t - 1/2) - 1/2", {"cells": 4, "at": "1/2"}, "abs has no derivative"),  # the kink is no cut
        ("min(s, t)*(1 - max(s, t))", "t*(1 - t)", {"cells": 4, "at": "1/2"}, "not certainly other than 0|not certainly smooth"),
        ("min(s, t)", "sqrt(t)", {"cells": 4, "at": "1/2"}, "not certainly smooth"),
        ("min(s, t)*max(s, t)**2", "t**3", {"cells": 4, "at": "1/2"}, "its part of the later point is not certainly other than 0"),
    ],
)
def test_what_is_no_process_at_another_time_is_refused(kernel, h, told, why):
    with pytest.raises(DpverifyError, match=why):
        norm(written(kernel, h), told)


@pytest.mark.parametrize(
    ("kernel", "h", "expected"),
    [
        ("min(s, t)", "2*min(t, 1/2) - min(t, 3/4)", 4 / 2 + 3 / 4 - 4 / 2),
        ("t", "3*min(t, 1/5)", 9 / 5),
        ("exp(-abs(s - t))", "exp(-abs(t - 1/3))", 1),
        ("exp(-(s - t))", "exp(-abs(t - 1/3)) - exp(-abs(t - 1))/2", 1 + 1 / 4 - exp(-2 / 3)),
        ("exp(s*t)", "exp(t/2)", exp(1 / 4)),
        ("1 + s*t", "5 + 3*t/2", 45 / 4 + 9 / 4 * 0 + 25 - 45 / 4 + 9 / 4),
        ("max(0, 1/2 - abs(s - t))", "max(0, 1/2 - abs(t - 1/2))", 1 / 2),
    ],
)
def test_a_combination_of_kernels_has_its_norm(kernel, h, expected):
    noise = written(kernel, h)
    [told] = derivations(noise, 6)
    assert float(norm(noise, told).mid()) == pytest.approx(expected)
    assert elliptical_process.processes.assumed(noise) == (processes.WRITTEN,)


def test_the_norm_of_a_combination_agrees_with_that_of_a_named_covariance():
    h = "min(t, 1/3) + 2*min(t, 2/3)"
    named = process("brownian", h, ("1", "1"), ("0", "1"))
    assert norm(named, {"cells": 4, "cuts": ["1/3", "2/3"]}).overlaps(
        norm(written("min(s, t)", h), derivations(written("min(s, t)", h), 6)[0])
    )


GOOD = {"points": ["1/2"], "weights": ["1"]}


@pytest.mark.parametrize(
    ("noise", "told", "why"),
    [
        (written("min(s, t)", "min(t, 1/2)"), {"points": ["1/3"], "weights": ["1"]}, "not certainly that combination"),
        (written("min(s, t)", "min(t, 1/2)"), {"points": ["1/2"], "weights": ["2"]}, "not certainly that combination"),
        (written("min(s, t)", "min(t, 1/2)"), {"points": [], "weights": []}, "not certainly that combination"),
        (written("min(s, t)", "t"), GOOD, "from t = 1/2 to 1"),
        (written("s", "max(t, 1/2)"), {"points": ["3/2"], "weights": ["1"]}, "inside the interval"),
        (written("s", "max(t, 1/2)"), {"points": ["-1/2"], "weights": ["1"]}, "inside the interval"),
        (written("min(s, t)", "min(t, 1/2)"), {"points": ["1/2", "1/2"], "weights": ["1", "0"]}, "that rise"),
        (written("min(s, t)", "min(t, 1/2)"), {"points": ["1/2"], "weights": []}, "a weight for each"),
        (written("min(s, t)", "min(t, 1/2)"), {"points": [str(i) for i in range(65)], "weights": ["1"] * 65}, "at most 64"),
        (written("min(s, t) + 0*floor(s)", "min(t, 1/2) + floor(t)"), GOOD, "floor"),
        (written("min(s, t)*(1 + floor(s))", "min(t, 1/2)"), GOOD, "floor"),
        (written("-min(s, t)", "-min(t, 1/2)"), GOOD, "negative variance"),
        (written("a*min(s, t)", "a*min(t, 1/2)"), GOOD, "without a value"),
        (written("min(s, t)", "min(t, 1/2)", ("1", "0")), GOOD, "before it starts"),
    ],
)
def test_a_combination_that_is_none_is_refused(noise, told, why):
    with pytest.raises((Rejected, CertificateError), match=why):
        processes.squared_norm(noise, noise.differences[0], told)


def test_what_is_no_combination_is_not_decided_and_the_message_says_so():
    with pytest.raises(Undecided, match="rational points of the interval"):
        derivations(written("exp(s*t)", "sqrt(1 + t)"), 6)
    assert outside(written("exp(s*t)", "sqrt(1 + t)")) is None
    with pytest.raises(CertificateError, match="not an exact rational"):
        processes.is_infinite(written("min(s, t)", "1"), ONE, {"side": "left"})


def test_bounds_from_below_rest_on_infinite_rank_which_a_finite_sum_of_products_has_not():
    told = {"sensitivity": [{"points": ["1"], "weights": ["1"]}]}
    found = unbounded.check(Claim(written("min(s, t)", "t"), ONE), told)
    assert (found.value, found.assumed) == (INFINITE, (processes.WRITTEN, *elliptical_process.below(written("min(s, t)", "t"))))
    with pytest.raises(Rejected, match="rank is finite"):
        unbounded.check(Claim(written("s*t", "t"), ONE), told)
    one = evaluations.Sensitivity(ONE, ONE)
    assert elliptical_process.curve(written("s*t", "t"), one).lower is None
    assert elliptical_process.curve(written("min(s, t)", "t"), one).below == (elliptical_process.WHOLE, elliptical_process.INFINITE_RANK)
    assert elliptical_process.curve(rbf("exp(-t**2)"), one).below == (elliptical_process.WHOLE,)
    assert processes.assumed(rbf("exp(-t**2)")) == ()
