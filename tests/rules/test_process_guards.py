"""Processes whose covariance is declared: what every guard refuses, and numbers that a second method gives."""

import math
from dataclasses import replace
from fractions import Fraction

import pytest
from flint import arb

from dpverify.trusted.geometry.sensitivity import Sensitivity
from dpverify.trusted.kernel.balls import constant, hull
from dpverify.trusted.kernel.bounds import INFINITE
from dpverify.trusted.kernel.errors import CertificateError, DpverifyError, Rejected, Undecided
from dpverify.trusted.kernel.expr import ONE, ZERO, Num, num, parse
from dpverify.trusted.kernel.model import Claim, Domain, EllipticalProcess
from dpverify.trusted.theories.processes import evaluations, infinite_sums, observed_variance
from dpverify.trusted.theories.processes import norms as processes
from dpverify.trusted.theories.processes.rules import (
    cameron_martin,
    elliptical_process,
    evaluations_epsilon,
    orthogonal_laws,
    process_evaluations,
)
from dpverify.trusted.theories.processes.rules import elliptical_process_unbounded as unbounded

EXPONENTIAL, T5 = parse("exp(-v)"), parse("v**(-7/2)*exp(-5/(2*v))")
OPEN = (("a", Domain(Fraction(0))),)
REFUSED = (Rejected, CertificateError, Undecided)


def process(covariance, *differences, shape=("1", "1/3"), interval=("0", "1"), mixing=EXPONENTIAL, **more):
    ends = () if covariance == "eigenvalues" else tuple(map(parse, interval))
    made = tuple(map(parse, differences))
    return EllipticalProcess(mixing, covariance=covariance, shape=tuple(map(parse, shape)), interval=ends, differences=made, **more)


def sequence(eigenvalues, *differences, **more):
    return process("eigenvalues", *differences, shape=(eigenvalues,), **more)


def at(*points):
    return tuple(map(parse, points))


# -- norms -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("noise", "told", "why"),
    [
        (process("brownian", "a*t"), {"cells": 1}, "without a value"),
        (process("brownian", "t", shape=("a", "1")), {"cells": 1}, "without a value"),
        (process("brownian", "t", shape=("0", "1")), {"cells": 1}, "variance and length"),
        (process("matern-1/2", "t", shape=("1", "0")), {"cells": 1}, "variance and length"),
        (process("brownian", "t"), {"cells": 1, "cuts": [f"{i}/99" for i in range(1, 66)]}, "more than 64"),
        (process("brownian", "t"), {"cells": 1, "cuts": ["1/2", "1/2"]}, "do not rise"),
        (process("brownian", "t"), {"cells": 1, "cuts": ["0"]}, "do not rise"),
        (process("brownian", "t"), {"cells": 1, "cuts": ["1"]}, "do not rise"),
        (process("brownian", "t"), {"cells": 0}, "whole number from 1 to 4096"),
        (process("brownian", "t"), {"cells": 4097}, "whole number from 1 to 4096"),
        (process("brownian", "t"), {"cells": True}, "whole number from 1 to 4096"),
        (process("brownian", "t*floor(1 + t/4)"), {"cells": 1}, "floor in it"),
        (process("brownian", "t + 1"), {"cells": 1}, "not certainly 0 at t = 0"),
        (process("bridge", "t + 1"), {"cells": 1}, "not certainly 0 at t = 0"),
        (process("bridge", "t"), {"cells": 1}, "not certainly 0 at t = 1"),
        (process("matern-3/2", "abs(t - 1/2)"), {"cells": 1, "cuts": ["1/2"]}, "order 1 is not certainly continuous"),
        (process("matern-1/2", "sqrt(t)"), {"cells": 4, "left": 6}, "where this covariance is not"),
        (process("matern-1/2", "sqrt(1 - t)"), {"cells": 4, "right": 6}, "where this covariance is not"),
        (process("brownian", "1 + sqrt(t)"), {"cells": 4, "left": 6}, "tend to 0"),
        (process("brownian", "sqrt(t)"), {"cells": 4}, "not certainly smooth|finite"),
        (process("brownian", "t/(3*t - 1)"), {"cells": 4}, "not certainly smooth"),
        (process("brownian", "t**(3/4)"), {"cells": 4, "left": 3}, "whole number from 4 to 1000"),
        (process("brownian", "t**(3/4)"), {"cells": 4, "left": 1001}, "whole number from 4 to 1000"),
        (process("brownian", "t**(3/4)"), {"cells": 4, "left": True}, "whole number from 4 to 1000"),
        (process("brownian", "t**(3/4)"), {"cells": 4, "left": 4, "cuts": ["1/16"]}, "longer than the piece"),
        (process("brownian", "t", interval=("0", "0")), {"cells": 1}, "before it starts"),
        (process("brownian", "t", interval=("0", "sqrt(2)")), {"cells": 1}, "two rational numbers"),
        (process("brownian", "t", interval=("0",)), {"cells": 1}, "two rational numbers"),
        (process("brownian", "t", interval=("1/2", "1")), {"cells": 1}, "starts at 0"),
        (process("bridge", "t", interval=("-1", "1")), {"cells": 1}, "starts at 0"),
        (sequence("1/k**2", "a/k**2"), {"start": 16, "order": 1, "logarithms": 0}, "without a value"),
        (sequence("a/k**2", "1/k**2"), {"start": 16, "order": 1, "logarithms": 0}, "without a value"),
        (sequence("(k - 3)**2/k**4", "1/k**4"), {"start": 16, "order": 1, "logarithms": 0}, "positive at k = 3"),
        (sequence("(k - 15)**2/k**4", "1/k**4"), {"start": 16, "order": 1, "logarithms": 0}, "positive at k = 15"),
        (sequence("1 - k/99", "1/k**4"), {"start": 16, "order": 1, "logarithms": 0}, "positive from k = 16"),
    ],
    ids=lambda value: "",
)  # fmt: skip
def test_a_norm_is_derived_from_what_it_is_told_or_not_at_all(noise, told, why):
    with pytest.raises(REFUSED, match=why):
        processes.squared_norm(noise, noise.differences[0], told)


def test_functions_may_be_singular_at_the_ends_where_the_noise_is_pinned():
    for h, side in (("t**(3/4)*(1 - t)", "left"), ("t*(1 - t)**(3/4)", "right")):
        found = processes.squared_norm(process("bridge", h), parse(h), {"cells": 64, side: 8})
        assert abs(found - arb(3) / 5) < 1e-9  # 9/8 - 7/4 + 49/40
    in_two = processes.squared_norm(process("brownian", "t**(3/4)"), parse("t**(3/4)"), {"cells": 64, "left": 8, "cuts": ["1/2"]})
    assert abs(in_two - arb(9) / 8) < 1e-9
    assert processes.squared_norm(process("matern-1/2", "t"), ZERO, None) == 0


@pytest.mark.parametrize(
    ("noise", "told", "outside"),
    [
        (process("brownian", "1"), {"side": "left"}, True),
        (process("brownian", "-1"), {"side": "left"}, True),
        (process("brownian", "t"), {"side": "left"}, False),
        (process("brownian", "1"), {"side": "right"}, False),
        (process("bridge", "t"), {"side": "right"}, True),
        (process("bridge", "-t"), {"side": "right"}, True),
        (process("matern-1/2", "1"), {"side": "left"}, False),
        (process("brownian", "1"), {"side": "right", "end": 6}, False),
        (process("brownian", "sqrt(t)"), {"side": "left", "end": 6}, True),
        (process("brownian", "sqrt(1 - t)"), {"side": "right", "end": 6}, True),
        (process("brownian", "sqrt(t)/log(2/t)"), {"side": "left", "end": 8}, False),
        (process("brownian", "sqrt(t)/sqrt(log(2/t))"), {"side": "left", "end": 8}, True),
        (process("brownian", "exp(-1/t)"), {"side": "left", "end": 8}, False),
        (process("brownian", "exp(1/t)"), {"side": "left", "end": 8}, True),
        (process("brownian", "floor(2*t)"), {"cells": 1, "cuts": ["1/2"], "cut": 0, "derivative": 0}, True),
        (process("brownian", "-floor(2*t)"), {"cells": 1, "cuts": ["1/2"], "cut": 0, "derivative": 0}, True),
        (process("brownian", "floor(2*t)"), {"cells": 1, "cuts": ["1/4", "1/2"], "cut": 0, "derivative": 0}, False),
        (process("matern-3/2", "abs(t - 1/2)"), {"cells": 1, "cuts": ["1/2"], "cut": 0, "derivative": 1}, True),
        (process("matern-3/2", "abs(t - 1/2)"), {"cells": 1, "cuts": ["1/2"], "cut": 0, "derivative": 0}, False),
        (sequence("1/k**2", "1/k"), {"start": 16, "end": 6, "logarithms": 0}, True),
        (sequence("1/k**2", "1/k**2"), {"start": 16, "end": 6, "logarithms": 0}, False),
        (sequence("1/k**2", "0"), {"start": 16, "end": 6, "logarithms": 0}, False),
    ],
    ids=lambda value: "",
)
def test_a_difference_is_outside_exactly_where_theory_says(noise, told, outside):
    assert processes.is_infinite(noise, noise.differences[0], told) is outside


@pytest.mark.parametrize(
    ("noise", "told", "why"),
    [
        (process("brownian", "1"), {"side": "left", "end": 3}, "whole number from 4"),
        (process("rbf", "1"), {"side": "left"}, "'term' is"),
        *(
            (process("brownian", "t"), {"cells": 1, "cuts": ["1/2"], **told}, "whole number from 0 to 0")
            for told in (
                {"cut": -1, "derivative": 0}, {"cut": 1, "derivative": 0}, {"cut": 0, "derivative": -1}, {"cut": 0, "derivative": 1},
                {"cut": False, "derivative": 0}, {"cut": 0, "derivative": False}, {"cut": 0},
            )
        ),
        (process("brownian", "floor(3*t)"), {"cells": 1, "cuts": ["1/2"], "cut": 0, "derivative": 0}, "kink|jump|smooth|step|floor"),
        (sequence("1/k**2", "1/k"), {"start": 15, "end": 6, "logarithms": 0}, "from 16 to 4096"),
        (sequence("1/k**2", "1/k"), {"start": 4097, "end": 6, "logarithms": 0}, "from 16 to 4096"),
        (sequence("1/k**2", "1/k"), {"start": True, "end": 6, "logarithms": 0}, "from 16 to 4096"),
        (sequence("(k - 3)**2/k**4", "1/k"), {"start": 16, "end": 6, "logarithms": 0}, "positive at k = 3"),
    ],
    ids=lambda value: "",
)  # fmt: skip
def test_that_a_difference_is_outside_is_shown_by_what_there_is(noise, told, why):
    with pytest.raises(DpverifyError, match=why):
        processes.is_infinite(noise, noise.differences[0], told)


def test_the_greatest_of_the_norms_is_between_two_rationals_that_are_at_least_0():
    found = processes.between([hull(Fraction(1, 4), Fraction(4)), arb(1)])
    assert float(constant(found.lower)) == 1 and 2 <= constant(found.upper) < 2.001
    assert processes.sensitivity(process("brownian", "0", "0"), None) == Sensitivity(ZERO, ZERO)
    noise = process("brownian", "t", "2*t")
    assert constant(processes.sensitivity(noise, [{"cells": 1}] * 2).upper).overlaps(arb(2))
    for evidence in (None, [{"cells": 1}], {"cells": 1}):
        with pytest.raises(Rejected, match="how the norm of each"):
            processes.sensitivity(noise, evidence)


def test_the_theorem_about_a_space_is_shown_where_all_of_a_function_is_released():
    assert processes.assumed(process("matern-3/2", "t")) == (processes.SPACES["matern-3/2"],)
    assert processes.assumed(process("matern-3/2", "t", count=num(3))) == processes.assumed(sequence("1/k**2", "1/k**2")) == ()
    assert [processes.is_finite(process("rbf", "t", **more)) for more in ({}, {"count": ONE}, {"places": at("1")})] == [False, True, True]


# -- sums ----------------------------------------------------------------------------------------------------------------


GOOD = {"start": 64, "order": 2, "logarithms": 0, "end": 10}


@pytest.mark.parametrize(
    "wrong",
    [{"start": 15}, {"start": 4097},
     {"order": 0}, {"order": 7}, {"logarithms": -1}, {"logarithms": 3}, {"end": 3}, {"end": 1001}, {"end": None},
     {"start": True}, {"order": "1"}],
)  # fmt: skip
def test_what_a_sum_is_told_is_in_range(wrong):
    assert infinite_sums.read(GOOD) == infinite_sums.Told(64, 2, 0, 10)
    for least, most in (("start", 16), ("start", 4096), ("order", 1), ("order", 6), ("logarithms", 2), ("end", 4), ("end", 1000)):
        infinite_sums.read({**GOOD, least: most})
    with pytest.raises(CertificateError, match="whole number from"):
        infinite_sums.read({**GOOD, **wrong})


@pytest.mark.parametrize(("power", "zeta"), [("3", "1.2020569031595942853997381615114500"), ("9/2", "1.0547075107614543")])
def test_a_tail_by_its_scale_is_a_power_of_its_end(power, zeta):
    found = infinite_sums.total(parse(f"k**(-{power})"), infinite_sums.read(GOOD), 80)
    assert abs(found - arb(zeta)) < 1e-8 and found.overlaps(arb(zeta, 1e-15))


@pytest.mark.parametrize(
    ("terms", "told", "why"),
    [
        ("1/k - 1/k**2 - 1/64", {}, "not certainly at least 0 from|not certainly"),
        ("-1/k**2", {}, "at least 0 from k = 64"),
        ("1/k**2", {"start": 1024}, "beyond the start"),
        ("k**2*exp(-k/8)", {}, "the derivative of the order 4 of the terms is not certainly at least 0 from k = 64 on"),
        ("1/k", {}, "a < -1"),
        ("1/(k + 1)/log(k + 1)", {"start": 64}, "a < -1"),
    ],
)
def test_a_sum_that_is_not_told_well_is_undecided(terms, told, why):
    with pytest.raises(REFUSED, match=why):
        infinite_sums.total(parse(terms), infinite_sums.read({**GOOD, **told}), 60)


# -- evaluations -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("noise", "why"),
    [
        (process("brownian", "a*t", count=ONE), "without a value"),
        (process("brownian", "t", shape=("a", "1"), count=ONE), "without a value"),
        (process("brownian", "t", shape=("0", "1"), count=ONE), "variance and length"),
        (process("rbf", "t", shape=("1", "0"), count=ONE), "variance and length"),
        (process("rbf", "t", count=num(1025)), "more than are computed with"),
        (process("brownian", "t", count=parse("3/2")), "no positive integer"),
        (process("brownian", "t", count=ZERO), "no positive integer"),
        (process("brownian", "t", count=parse("n")), "no positive integer"),
        (process("brownian", "t", places=at("1/2", "sqrt(2)")), "not rational"),
        (process("brownian", "t", places=at("1/2", "3/2")), "where the function lives"),
        (process("brownian", "1 + t", places=at("0", "1/2")), "where others decide the noise"),
        (process("bridge", "t", places=at("1/2", "1")), "where others decide the noise"),
        (process("bridge", "1 - t", places=at("0")), "where others decide the noise"),
        (process("kernel", "t**2", shape=("s*t",), places=at("1/2", "1")), "where others decide the noise"),
        (process("kernel", "t", shape=("s + t",), places=at("1/2", "1")), "positive definite"),
        (process("rbf", "t", places=at("-1/2")), "where the function lives"),
        (sequence("1/k", "1/k", places=at("0")), "from 1"),
        (sequence("1/k", "1/k", places=at("3/2")), "from 1"),
        (sequence("1 - 1/k", "1/k", places=at("1")), "not certainly positive"),
    ],
    ids=lambda value: "",
)
def test_evaluations_are_where_the_noise_has_a_variance(noise, why):
    with pytest.raises(REFUSED, match=why):
        evaluations.seen(noise, noise.differences[0])


def test_evaluations_may_be_at_the_ends_that_a_noise_has(monkeypatch):
    ends = [("brownian", "1", 1), ("matern-1/2", "0", 1), ("rbf", "0", 1), ("rbf", "1", 1), ("matern-3/2", "0", 1)]
    for name, point, expected in ends:
        assert evaluations.seen(process(name, "1", places=at(point)), ONE).overlaps(arb(expected))
    assert evaluations.seen(sequence("1/k", "1/k", places=at("1", "3")), parse("1/k")).overlaps(1 + arb(1) / 3)
    assert evaluations.seen(process("kernel", "t**2", shape=("t",), count=num(2)), parse("t**2")).overlaps(arb(1) / 8 + arb(9) / 8)
    assert evaluations.first_points(process("bridge", interval=("0", "1")), 3) == [Fraction(i, 4) for i in (1, 2, 3)]
    assert evaluations.first_points(process("rbf", interval=("1", "3")), 2) == [2, 3]
    assert evaluations.first_points(sequence("1/k"), 3) == [1, 2, 3]
    monkeypatch.setattr(evaluations, "MOST", 3)
    monkeypatch.setattr(evaluations, "MOST_DENSE", 2)
    assert evaluations.seen(process("brownian", "t", count=num(3)), parse("t")).overlaps(arb(1))
    evaluations.seen(process("rbf", "t", count=num(2)), parse("t"))
    for noise in (process("brownian", "t", count=num(4)), process("rbf", "t", count=num(3))):
        with pytest.raises(Rejected, match="more than are computed with"):
            evaluations.seen(noise, parse("t"))


# -- the law of the variance -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("atoms", "why"),
    [
        ((("1", "1", "1"),), "not certainly positive"),
        ((("0", "1"),), "not certainly positive"),
        ((("1", "1"), ("2", "0")), "not certainly positive"),
        ((("1", "1/2"),), "add up to 1"),
    ],
)
def test_values_of_a_variance_are_positive_with_probabilities_that_sum_to_1(atoms, why):
    law = observed_variance.law_of(process("brownian", "t", atoms=tuple(at(*pair) for pair in atoms)))
    for asked in (lambda: observed_variance.check(law), lambda: observed_variance.observed(law, ONE)):
        with pytest.raises(Rejected, match=why):
            asked()


def test_a_variance_that_is_seen_wants_a_shift_and_a_law():
    law = observed_variance.Atoms((at("1", "1"),))
    with pytest.raises(Rejected, match="at least 0"):
        observed_variance.observed(law, num(-1))
    with pytest.raises(Rejected, match="ends are not rational"):
        observed_variance.law_of(process("brownian", "t", support=at("0", "sqrt(2)")))
    with pytest.raises(Rejected, match="ends are not rational"):
        observed_variance.law_of(process("brownian", "t", support=at("sqrt(2)", "2")))
    with pytest.raises(Rejected, match="moment generating function"):
        observed_variance.law_of(process("brownian", "t", transform=at("exp(u)")))


# -- the rules -----------------------------------------------------------------------------------------------------------------


WHOLE, SOME = process("brownian", "t", mixing=T5), process("brownian", "t", mixing=T5, count=num(4))
STATED = process("brownian", mixing=T5)
NONE, TWO = process("brownian", "0", mixing=T5), process("brownian", "t", mixing=T5, places=at("1/2", "1"))
BRIDGE, SEQUENCE = process("bridge", "t*(1 - t)", mixing=T5), sequence("1/k**2", "1/k")
OUT = {"start": 16, "end": 6, "logarithms": 0}


@pytest.mark.parametrize(
    ("rule", "asked", "evidence", "why"),
    [
        (orthogonal_laws, Claim(SEQUENCE, ONE, domains=OPEN), {"difference": 0, "outside": OUT}, "value for every parameter"),
        (orthogonal_laws, Claim(SEQUENCE, ONE, None), {"difference": 0, "outside": OUT, "quantity": "epsilon"}, "below 1"),
        (orthogonal_laws, Claim(SEQUENCE, ONE), {"difference": 0, "outside": OUT, "quantity": "none"}, "not pure, epsilon or delta"),
        (orthogonal_laws, Claim(SEQUENCE, ONE), {"difference": False, "outside": OUT}, "'difference' is"),
        (orthogonal_laws, Claim(SEQUENCE, ONE), {"difference": -1, "outside": OUT}, "'difference' is"),
        (orthogonal_laws, Claim(SEQUENCE, ONE), {"difference": 1, "outside": OUT}, "'difference' is"),
        (orthogonal_laws, Claim(replace(SEQUENCE, mixing=parse("-exp(-v)")), ONE), {"difference": 0, "outside": OUT}, "dens|law"),
        (orthogonal_laws, Claim(sequence("1/k**2", "1/k**3"), ONE), {"difference": 0, "outside": OUT}, "not certainly outside"),
        (orthogonal_laws, Claim(replace(SEQUENCE, count=num(3)), ONE), {"difference": 0, "outside": OUT}, "not certainly outside"),
        (orthogonal_laws, Claim(replace(WHOLE, places=at("0", "1")), ONE), {"difference": 0}, "not certainly outside"),
        (unbounded, Claim(SOME, ONE), {}, "finitely many numbers"),
        (orthogonal_laws, Claim(STATED, ONE), {"difference": 0, "outside": OUT}, "no process under declared"),
        (unbounded, Claim(WHOLE, ONE, domains=OPEN), {"sensitivity": [{"cells": 1}]}, "value for every parameter"),
        (unbounded, Claim(process("brownian", "0"), ONE), {}, "no difference is certainly positive"),
        (unbounded, Claim(process("brownian", "t", atoms=(at("1", "2"),)), ONE), {"sensitivity": [{"cells": 1}]}, "add up"),
        (evaluations_epsilon, Claim(SOME, ONE), {}, "upper, or lower"),
        (evaluations_epsilon, Claim(SOME, ONE), {"side": "upper", "at": {}}, "which alone takes"),
        (evaluations_epsilon, Claim(SOME, ONE), {"side": "upper", "n": 4}, "which alone takes"),
        (evaluations_epsilon, Claim(SOME, ONE), {"side": "upper", "seen": 4}, "which alone takes"),
        (evaluations_epsilon, Claim(SOME, ONE, domains=OPEN), {"side": "upper"}, "without open parameters"),
        (evaluations_epsilon, Claim(parse("1"), ONE), {"side": "upper"}, "about a process"),
        (evaluations_epsilon, Claim(SOME, ONE), {"side": "lower", "n": 4}, "itself says how many"),
        (evaluations_epsilon, Claim(WHOLE, ONE), {"side": "lower", "n": True, "seen": 1}, "a positive integer"),
        (evaluations_epsilon, Claim(WHOLE, ONE), {"side": "lower", "n": 0, "seen": 1}, "a positive integer"),
        (evaluations_epsilon, Claim(WHOLE, ONE), {"side": "upper"}, "a positive integer"),
        (evaluations_epsilon, Claim(WHOLE, ONE), {"side": "lower", "n": 4}, "'seen' is how many"),
        (evaluations_epsilon, Claim(WHOLE, ONE), {"side": "lower", "n": 4, "seen": True}, "'seen' is how many"),
        (evaluations_epsilon, Claim(WHOLE, ONE), {"side": "lower", "n": 4, "seen": 0}, "'seen' is how many"),
        (evaluations_epsilon, Claim(WHOLE, ONE), {"side": "lower", "n": 4, "seen": 5}, "'seen' is how many"),
        (evaluations_epsilon, Claim(TWO, ONE), {"side": "lower", "seen": 1}, "'seen' is"),
        (evaluations_epsilon, Claim(WHOLE, ONE), {"side": "lower", "n": 4, "seen": 3}, "not among the 4"),
        (evaluations_epsilon, Claim(BRIDGE, ONE), {"side": "lower", "n": 4, "seen": 2}, "not among the 4"),
        (evaluations_epsilon, Claim(WHOLE, parse("1/9")), {"side": "lower", "n": 4, "seen": 4, "radius": "0"}, "positive number"),
        (evaluations_epsilon, Claim(WHOLE, parse("x")), {"side": "lower", "n": 4, "seen": 4, "radius": "1/9"}, "positive number"),
        (evaluations_epsilon, Claim(NONE, ONE), {"side": "lower", "n": 4, "seen": 4, "radius": "1/9"}, "positive number"),
        (evaluations_epsilon, Claim(replace(SOME, scale=ZERO), ONE), {"side": "upper"}, "scale not certainly positive"),
        (evaluations_epsilon, Claim(replace(STATED, count=num(4)), ONE, sensitivity=num(-1)), {"side": "upper"}, "at least 0"),
        (cameron_martin, Claim(WHOLE, ONE, domains=OPEN), {"sensitivity": [{"cells": 1}]}, "value for every parameter"),
        (cameron_martin, Claim(WHOLE, None), {"sensitivity": [{"cells": 1}]}, "an epsilon"),
        (cameron_martin, Claim(replace(STATED, count=num(4)), ONE, sensitivity=ONE), {}, "no covariance is declared"),
        (cameron_martin, Claim(STATED, ONE, sensitivity=ZERO), {}, "sensitivity and epsilon are not certainly positive"),
        (cameron_martin, Claim(STATED, num(3), sensitivity=ONE), {}, "where it is proved"),
        (cameron_martin, Claim(STATED, parse("1/9"), sensitivity=ONE), {}, "no better than delta = 1|between 0 and 2"),
    ],
    ids=lambda value: "",
)  # fmt: skip
def test_what_a_rule_wants_is_there(rule, asked, evidence, why):
    with pytest.raises(REFUSED, match=why):
        rule.check(asked, evidence)


def test_bounds_show_what_they_take_for_granted():
    evidence = {"sensitivity": [{"cells": 1}]}
    found = unbounded.check(Claim(WHOLE, ONE), evidence)
    assert (found.value, found.assumed) == (INFINITE, (processes.SPACES["brownian"], elliptical_process.WHOLE)) and found.side == "lower"
    for quantity, expected in (("pure", INFINITE), ("epsilon", INFINITE), ("delta", ONE)):
        found, *more = orthogonal_laws.check(Claim(SEQUENCE, ONE, parse("1/2")), {"quantity": quantity, "difference": 0, "outside": OUT})
        assert (found.side, found.value, found.quantity) == ("lower", expected, quantity)
        assert found.assumed == (elliptical_process.WHOLE,)
        assert [(b.side, b.value, b.quantity, b.assumed) for b in more] == [("upper", ONE, "delta", ())] * (quantity == "delta")
    lower = {"side": "lower", "n": 4}
    assumed = [
        evaluations_epsilon.check(asked, told).assumed
        for asked, told in (
            (Claim(WHOLE, ONE), {**lower, "seen": 2}),
            (Claim(STATED, ONE, sensitivity=ONE), lower),
            (Claim(SOME, ONE), {"side": "upper"}),
            (Claim(replace(STATED, count=num(4)), ONE, sensitivity=ONE), {"side": "upper"}),
        )
    ]
    assert assumed == [
        (evaluations_epsilon.WHOLE,),
        (evaluations_epsilon.WHOLE, evaluations_epsilon.SEEN),
        (),
        (process_evaluations.FULL_RANK,),
    ]
    assert "only the evaluations are released" in process_evaluations.ASSUMED
    assert process_evaluations.assumed(SOME) == () and process_evaluations.assumed(STATED) == (process_evaluations.FULL_RANK,)


def test_epsilons_of_evaluations_are_the_closed_form_on_both_sides():
    closed = (5 + 4) * math.asinh(1 / (2 * math.sqrt(5)))
    for side in ("upper", "lower"):
        assert float(constant(evaluations_epsilon.check(Claim(SOME, ONE), {"side": side}).value)) == pytest.approx(closed)
    sequences = Claim(sequence("1/k**2", "1/k**2", mixing=T5), ONE)  # the first three of eight: 1 + 1/4 + 1/9
    some = evaluations_epsilon.check(sequences, {"side": "lower", "n": 8, "seen": 3})
    assert float(constant(some.value)) == pytest.approx(13 * math.asinh(math.sqrt(49 / 36) / (2 * math.sqrt(5))))
    bridge = Claim(process("bridge", "t*(1 - t)", mixing=T5), ONE)  # 1 of 3: at 1/2, 1/16 over 1/4
    one = evaluations_epsilon.check(bridge, {"side": "lower", "n": 3, "seen": 1})
    assert float(constant(one.value)) == pytest.approx(8 * math.asinh(0.5 / (2 * math.sqrt(5))))


def test_the_ball_that_is_shown_has_the_probabilities_of_t_noise():
    from scipy.stats import t

    stated = Claim(replace(STATED, count=ONE, scale=num(2)), parse("1/2"), sensitivity=num(3))
    found = evaluations_epsilon.check(stated, {"side": "lower", "radius": "1/100"}).witness
    d = 1.5
    top = d * (1 + math.sqrt(1 + 20 / d**2)) / 2
    for name, middle in (("log P", top - d), ("log Q", top)):
        assert arb(found[name]).overlaps(arb(math.log(t.cdf(middle + 0.01, 5) - t.cdf(middle - 0.01, 5)), 1e-6))
        assert arb(found[name]).rad() < 0.06


def test_curves_want_the_process_that_they_are_of():
    far = Sensitivity(ONE, ONE)
    for noise in (replace(STATED, count=num(3)), replace(STATED, places=at("1/2"))):
        with pytest.raises(Rejected, match="or it releases finitely many"):
            elliptical_process.curve(noise, far)
    with pytest.raises(Rejected, match="finitely many numbers are released"):
        process_evaluations.curve(WHOLE, far, False)
    with pytest.raises(CertificateError, match="'exactly' is true or false"):
        process_evaluations.infer(None, {"exactly": "yes"}, ())
    with pytest.raises(Rejected, match="it is no elliptical process"):
        elliptical_process.curve(ONE, far)
    curve = elliptical_process.curve(replace(WHOLE, scale=num(2)), Sensitivity(num(3), num(1)))
    assert float(curve.lower.forward(arb(1))) < float(curve.upper.forward(arb(1))) and curve.below == (elliptical_process.WHOLE,)


@pytest.mark.parametrize(
    ("law", "found"),
    [
        ({"mixing": T5}, (2.5, 2.5)),
        ({"mixing": parse("7*v**(-3)*exp(-4/v)")}, (2, 4)),
        ({"mixing": T5, "support": (ONE, None)}, None),
        ({"mixing": T5, "support": (ZERO, ONE)}, None),
        ({"mixing": T5, "atoms": (at("1", "1"),)}, None),
        ({"mixing": parse("v**(-7/2)*exp(-a/v)")}, None),
        ({"mixing": parse("v**(-1)*exp(-1/v)")}, None),
        ({"mixing": parse("v**(-3)*exp(1/v)")}, None),
        ({"mixing": parse("v**(-3)*exp(-1/v - v)")}, None),
    ],
    ids=lambda value: "",
)
def test_only_an_inverse_gamma_law_makes_t_noise(law, found):
    noise = replace(WHOLE, **law)
    if found is None:
        with pytest.raises(Undecided, match="not recognised"):
            process_evaluations.inverse_gamma(noise)
    else:
        assert tuple(float(constant(one)) for one in process_evaluations.inverse_gamma(noise)) == found
        assert isinstance(process_evaluations.inverse_gamma(noise)[0], Num)
