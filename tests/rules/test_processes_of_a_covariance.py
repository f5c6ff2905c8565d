"""Processes whose covariance is declared: norms, orthogonal laws, evaluations."""

import math
from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from flint import arb

from dpverify.search.processes import evaluation_tables
from dpverify.search.processes import norms as search
from dpverify.search.verify import replayed, verify
from dpverify.trusted.kernel.balls import constant, precision
from dpverify.trusted.kernel.bounds import INFINITE
from dpverify.trusted.kernel.canonical_form import from_json, to_json
from dpverify.trusted.kernel.errors import STUMBLES, CertificateError, DpverifyError, Rejected, Undecided
from dpverify.trusted.kernel.expr import ONE, ZERO, Num, Sym, num, parse
from dpverify.trusted.kernel.model import Claim, Domain, EllipticalProcess
from dpverify.trusted.theories.processes import evaluations
from dpverify.trusted.theories.processes import norms as processes
from dpverify.trusted.theories.processes.rules import (
    cameron_martin,
    elliptical_process,
    evaluations_epsilon,
    orthogonal_laws,
    process_evaluations,
)
from dpverify.trusted.theories.processes.rules import elliptical_process_unbounded as unbounded

EXPONENTIAL = parse("exp(-v)")
T5 = parse("v**(-7/2)*exp(-5/(2*v))")


def process(covariance, *differences, shape=("1", "1/3"), mixing=EXPONENTIAL, interval=("0", "1"), **more):
    shape = (covariance,) if "k" in covariance and covariance not in processes.SPACES | {"kernel": ""} else shape
    name = "eigenvalues" if len(shape) == 1 and covariance != "kernel" else covariance
    ends = () if name == "eigenvalues" else tuple(map(parse, interval))
    made = tuple(map(parse, differences))
    return EllipticalProcess(mixing, covariance=name, shape=tuple(map(parse, shape)), interval=ends, differences=made, **more)


def squared(noise, digits=12):
    with precision(128):
        [told] = search.derivations(noise, digits)
        return processes.squared_norm(noise, noise.differences[0], told)


def near(ball, expected, slack=1e-9):
    return ball.overlaps(arb(float(expected), slack)) and ball.rad() < slack


# -- norms ---------------------------------------------------------------------------------------------


def matern(nu, r):
    x = abs(r) * np.sqrt(2 * nu)
    return {0.5: 1, 1.5: 1 + x, 2.5: 1 + x + x * x / 3}[nu] * np.exp(-x)


WRITTEN = {
    "matern-1/2": "exp(-3*abs(t - {c}))",
    "matern-3/2": "(1 + 3*sqrt(3)*abs(t - {c}))*exp(-3*sqrt(3)*abs(t - {c}))",
    "matern-5/2": "(1 + 3*sqrt(5)*abs(t - {c}) + 15*abs(t - {c})**2)*exp(-3*sqrt(5)*abs(t - {c}))",
}


@pytest.mark.parametrize("name, nu", [("matern-1/2", 0.5), ("matern-3/2", 1.5), ("matern-5/2", 2.5)])
def test_the_covariance_with_a_point_reproduces(name, nu):
    c, d = "1/4", "2/3"
    h = f"{WRITTEN[name].format(c=c)} + 2*{WRITTEN[name].format(c=d)}"
    assert near(squared(process(name, h)), 1 + 4 + 4 * matern(nu, 3 * (2 / 3 - 1 / 4)))


@pytest.mark.parametrize(
    "name, h, expected",
    [
        ("brownian", "min(t, 1/3)", 1 / 3),
        ("brownian", "t*(2 - t)", 4 / 3),
        ("brownian", "t**(51/100)", 0.51**2 / 0.02),
        ("brownian", "max(t - 1/2, 0)", 1 / 2),
        ("bridge", "min(t, 1/4) - t/4", 3 / 16),
        ("bridge", "t*(1 - t)", 1 / 3),
        ("matern-1/2", "1", 1 + 1.5),
    ],
)
def test_norms_of_functions_that_are_known(name, h, expected):
    assert near(squared(process(name, h)), expected)


def test_the_norm_of_a_sequence_is_its_sum():
    assert near(squared(process("1/k**4", "1/k**3")), np.pi**2 / 6)


@pytest.mark.parametrize("name, h", [("brownian", "t**2"), ("bridge", "t*(1 - t)"), ("matern-1/2", "1 + t**2"), ("matern-3/2", "exp(-t)")])
def test_what_evaluations_see_rises_to_the_norm(name, h):
    seen = [float(evaluations.seen(process(name, h, count=num(n)), parse(h))) for n in (1, 3, 7, 15)]
    assert seen == sorted(seen)
    assert 0.5 * float(squared(process(name, h))) < seen[-1] < float(squared(process(name, h)))


POINTS = ("1/10", "1/7", "1/2", "9/10")
KERNELS = {
    "brownian": lambda s, t: np.minimum(s, t),
    "bridge": lambda s, t: np.minimum(s, t) - s * t,
    "matern-1/2": lambda s, t: matern(0.5, 3 * (s - t)),
    "matern-3/2": lambda s, t: matern(1.5, 3 * (s - t)),
    "matern-5/2": lambda s, t: matern(2.5, 3 * (s - t)),
    "rbf": lambda s, t: np.exp(-9 * (s - t) ** 2 / 2),
}


@pytest.mark.parametrize("name", KERNELS)
def test_evaluations_see_what_the_inverse_of_their_covariance_says(name):
    at = np.array([float(Fraction(point)) for point in POINTS])
    h = 1 + at**2
    expected = h @ np.linalg.solve(KERNELS[name](at[:, None], at[None, :]), h)
    found = evaluations.seen(process(name, "1 + t**2", places=tuple(map(parse, reversed(POINTS)))), parse("1 + t**2"))
    assert near(found, expected, 1e-6)


@pytest.mark.parametrize("name", ["brownian", "matern-3/2"])
def test_evaluations_of_a_gaussian_process_have_the_curve_of_a_gaussian_vector(name):
    """From both sides, also with scale 2 and V = 3; a V of two values leaves room between them, for it is not quite seen."""
    at = np.array([float(Fraction(point)) for point in POINTS])
    squared_length = (1 + at**2) @ np.linalg.solve(KERNELS[name](at[:, None], at[None, :]), 1 + at**2)
    mu = math.sqrt(squared_length / 12)
    true = (math.erfc((1 / mu - mu / 2) / math.sqrt(2)) - math.e * math.erfc((1 / mu + mu / 2) / math.sqrt(2))) / 2
    for atoms, exact in (((("3", "1"),), True), ((("3", "1/2"), ("1", "1/2")), False)):
        values = tuple(tuple(map(parse, one)) for one in atoms)
        noise = process(name, "1 + t**2", mixing=ONE, places=tuple(map(parse, POINTS)), scale=num(2), atoms=values)
        judged = verify(Claim(noise, ONE, None), 8).judgement
        assert float(judged.delta_lower.value) <= float(judged.delta_upper.value)
        if exact:
            assert float(judged.delta_lower.value) == pytest.approx(true, abs=1e-7) == float(judged.delta_upper.value)


def test_a_covariance_that_is_written_out_is_the_named_one():
    named = process("brownian", "t**2", count=num(100))
    written = process("kernel", "t**2", shape=("min(s, t)",), count=num(100))
    with precision(128):
        assert evaluations.seen(written, parse("t**2")).overlaps(evaluations.seen(named, parse("t**2")))


def test_a_covariance_that_is_none_is_refused():
    for written in ("s + t", "min(s, t) - 1/2", "s*t - (s - t)**2"):
        with pytest.raises(Undecided):
            evaluations.seen(process("kernel", "t", shape=(written,), count=num(3)), parse("t"))


# -- in the space or not ---------------------------------------------------------------------------------

INSIDE = [
    ("1/k**2", "k**(-3/2)/log(k + 1)**(51/100)"),
    ("1/k**2", "k**(-1501/1000)"),
    ("2**(-k)", "2**(-k/2)/k"),
    ("brownian", "t**(501/1000)"),
    ("matern-3/2", "t*abs(t)"),
    ("matern-3/2", "max(t - 1/2, 0)**2"),
]
OUTSIDE = [
    ("1/k**2", "k**(-3/2)/log(k + 1)**(1/2)"),
    ("1/k**2", "k**(-3/2)"),
    ("2**(-k)", "2**(-k/2)/sqrt(k)"),
    ("brownian", "sqrt(t)"),
    ("brownian", "1 + t"),
    ("bridge", "t"),
    ("brownian", "floor(2*t)"),
    ("matern-3/2", "max(t - 1/2, 0)"),
    ("matern-3/2", "t**(3/2)"),
    ("matern-5/2", "max(t - 1/2, 0)**2"),
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("covariance, h", INSIDE)
def test_a_difference_just_inside_is_private_at_some_delta(covariance, h):
    found = verify(Claim(process(covariance, h, scale=num(100)), parse("2"), parse("1/2")), 6)
    assert found.judgement.verdict == "PROVED"
    assert replayed(found.certificate).judgement.verdict == "PROVED"
    assert search.outside(process(covariance, h)) is None


@pytest.mark.parametrize("covariance, h", OUTSIDE)
def test_a_difference_just_outside_is_private_at_none(covariance, h):
    found = verify(Claim(process(covariance, h), parse("1000"), parse("999/1000")), 6)
    assert found.judgement.verdict == "REFUTED"
    assert found.judgement.lower == INFINITE
    assert replayed(found.certificate).judgement.verdict == "REFUTED"


@pytest.mark.parametrize("covariance, h", INSIDE[:4])
def test_that_one_inside_is_outside_cannot_be_forged(covariance, h):
    noise = process(covariance, h)
    for told in (
        one for other in (process("1/k**2", "1/k"), process("brownian", "sqrt(t)")) for one in search._shown(other, other.differences[0])
    ):
        with pytest.raises((DpverifyError, *STUMBLES)):
            orthogonal_laws.check(Claim(noise, ONE, parse("1/2")), {"quantity": "delta", "difference": 0, "outside": told})


@pytest.mark.parametrize("covariance, h", OUTSIDE)
def test_that_one_outside_is_inside_cannot_be_forged(covariance, h):
    noise = process(covariance, h)
    sequences = [{"start": 64, "order": 1, "logarithms": c, "end": 10} for c in (0, 1)]
    functions = [{"cells": 8}, {"cells": 64, "left": 6}, {"cells": 64, "right": 6}]
    for told in (*sequences, *functions):
        for cuts in ({}, {"cuts": ["1/2"]}):
            with pytest.raises((DpverifyError, ArithmeticError)):
                processes.squared_norm(noise, noise.differences[0], {**told, **cuts})


def test_a_hidden_kink_is_no_smooth_function():
    noise = process("matern-3/2", "sqrt((t - 1/2)**2)")
    for cells in (1, 7, 64):
        with pytest.raises(DpverifyError):
            processes.squared_norm(noise, noise.differences[0], {"cells": cells})


@pytest.mark.parametrize("h", ["floor(1 - abs(t - 1/2))", "floor(1 - (t - 1/2)**2)", "t*floor(3/2 - t/4)"])
def test_a_difference_at_a_single_point_is_no_difference_of_nothing(h):
    assert verify(Claim(process("brownian", h), ONE, parse("1/2")), 6).judgement.verdict != "PROVED"
    for told in ({"cells": 8}, {"cells": 8, "cuts": ["1/2"]}):
        with pytest.raises(DpverifyError):
            processes.squared_norm(process("brownian", h), parse(h), told)


def test_a_difference_of_nothing_is_private_at_epsilon_0():
    assert verify(Claim(process("brownian", "0"), ZERO), 6).judgement.verdict == "PROVED"


@pytest.mark.parametrize("evidence", [{}, {"difference": 1}, {"difference": 0}, {"difference": 0, "quantity": "none"}])
def test_evidence_of_orthogonal_laws_that_is_none_is_refused(evidence):
    with pytest.raises((CertificateError, *STUMBLES)):
        orthogonal_laws.check(Claim(process("1/k**2", "1/k"), ONE), evidence)


def test_at_delta_1_nothing_is_refuted():
    evidence = {"quantity": "epsilon", "difference": 0, "outside": {"start": 16, "end": 6, "logarithms": 0}}
    with pytest.raises(Rejected, match="below 1"):
        orthogonal_laws.check(Claim(process("1/k**2", "1/k"), ONE, ONE), evidence)


# -- curves ------------------------------------------------------------------------------------------------


def gaussian(epsilon, mu):
    return mpmath.ncdf(mu / 2 - epsilon / mu) - mpmath.exp(epsilon) * mpmath.ncdf(-mu / 2 - epsilon / mu)


def test_the_limit_for_five_degrees_of_freedom_is_known_to_twelve_digits():
    judged = verify(Claim(process("1/k**2", "sqrt(6)/(pi*k**2)", mixing=T5), ONE, None), 20).judgement
    low, high = judged.delta_lower.value, judged.delta_upper.value
    assert Fraction("0.12452640506641105816") < low < high < Fraction("0.12452640506641105818")  # by quadrature over chi^2, in mpmath


def test_two_values_of_the_variance_are_a_mean_of_two_gaussian_curves():
    noise = process("brownian", "t", mixing=ONE, atoms=((parse("1/2"), parse("1/3")), (parse("2"), parse("2/3"))))
    judged = verify(Claim(noise, ONE, None), 10).judgement
    expected = gaussian(1, mpmath.sqrt(2)) / 3 + 2 * gaussian(1, 1 / mpmath.sqrt(2)) / 3
    assert abs(float(constant(judged.delta_upper)) / expected - 1) < 1e-9


@pytest.mark.parametrize("atoms", [(("1/2", "1/3"), ("2", "1/3")), (("0", "1/3"), ("2", "2/3")), (("1", "2"), ("2", "-1"))])
def test_values_that_are_no_law_of_a_variance_are_refused(atoms):
    noise = process("brownian", "t", atoms=tuple(tuple(map(parse, pair)) for pair in atoms))
    assert verify(Claim(noise, ONE, None), 6).judgement.verdict == "UNKNOWN"


@pytest.mark.parametrize("mixing", ["exp(-log(v)**2/2)/v", "v*exp(-v/2)", "exp(-v)", "v**(-3)*exp(-1/v)"])
def test_usual_laws_of_the_variance_have_curves(mixing):
    judged = verify(Claim(process("brownian", "t", mixing=parse(mixing)), ONE, None), 8).judgement
    assert judged.verdict == "PROVED"
    assert constant(judged.delta_upper) - constant(judged.delta_lower) < 1e-7


# -- evaluations --------------------------------------------------------------------------------------------


def test_the_epsilon_of_two_evaluations_is_the_greatest_loss():
    noise = process("brownian", "t", mixing=T5, places=(parse("1/2"), ONE))
    judged = verify(Claim(noise, None), 15).judgement
    r = np.linspace(-20, 20, 200_001)
    losses = 3.5 * np.log((1 + r**2 / 5) / (1 + (r - 1) ** 2 / 5))
    assert float(constant(judged.lower)) == pytest.approx(losses.max(), rel=1e-8)
    assert float(constant(judged.upper)) == pytest.approx(losses.max(), rel=1e-8)


def test_the_curve_of_evaluations_rises_to_that_of_the_function():
    whole = constant(verify(Claim(process("brownian", "t**2", mixing=T5), ONE, None), 8).judgement.delta_lower)
    found = [
        constant(verify(Claim(process("brownian", "t**2", mixing=T5, count=num(n)), ONE, None), 8).judgement.delta_upper)
        for n in (2, 8, 32)
    ]
    assert found[0] < found[1] < found[2] < whole


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name, h", [("1/k**2", "1/k**2"), ("brownian", "t**2"), ("bridge", "t*(1 - t)"), ("rbf", "t")])
def test_no_epsilon_holds_for_all_numbers_of_evaluations(name, h):
    claim = Claim(
        process(name, h, mixing=T5, count=Sym("n")),
        parse("1000*log(n + 1)"),
        domains=(("n", Domain(Fraction(1), lower_open=False, integer=True)),),
    )
    found = verify(claim, 6)
    assert found.judgement.verdict == "REFUTED"
    assert replayed(found.certificate).judgement.witness["log P"]


@pytest.mark.parametrize("n", [1, 2, 64])
def test_what_is_shown_at_one_number_of_evaluations_is_what_these_cost(n):
    claimed, domain = "(5 + n)*asinh(1/(2*sqrt(5)))", Domain(Fraction(1), lower_open=False, integer=True)
    claim = Claim(process("brownian", "t", mixing=T5, count=Sym("n")), parse(claimed), domains=(("n", domain),))
    found = evaluations_epsilon.check(claim, {"side": "lower", "at": {"n": str(n)}, "seen": n})
    assert constant(found.value) <= constant(parse(claimed.replace("n)*", f"{n})*"))).upper()
    assert found.at == {"n": num(n)}


def test_the_probabilities_of_the_ball_differ_by_more_than_the_claim():
    found = verify(Claim(process("1/k**2", "1/k**2", mixing=T5), parse("20")), 6).judgement
    assert found.verdict == "REFUTED"
    p, q = arb(found.witness["log P"]), arb(found.witness["log Q"])
    assert p - q > 20 - 5 and p < 0 and q < p


@pytest.mark.parametrize(
    "evidence",
    [
        {},
        {"side": "upper", "n": 9},
        {"side": "lower", "n": 0},
        {"side": "lower", "n": 4, "seen": 5},
        {"side": "lower", "n": 4, "seen": 0},
        {"side": "upper"},
    ],
)
def test_evidence_of_functionals_that_is_none_is_refused(evidence):
    with pytest.raises(CertificateError):
        evaluations_epsilon.check(Claim(process("1/k**2", "1/k**2", mixing=T5), ONE), evidence)


def test_evaluations_that_are_not_among_those_released_show_nothing():
    with pytest.raises(CertificateError, match="not among"):
        evaluations_epsilon.check(Claim(process("brownian", "t", mixing=T5), ONE), {"side": "lower", "n": 10, "seen": 4})


def test_a_ball_that_reaches_too_far_is_refused():
    evidence = {"side": "lower", "n": 1000, "seen": 4, "radius": "2"}
    with pytest.raises(Rejected, match="smaller"):
        evaluations_epsilon.check(Claim(process("1/k**2", "1/k**2", mixing=T5), parse("100")), evidence)


@pytest.mark.parametrize("mixing", ["exp(-v)", "v**(-3)*exp(-1/v - v)", "v**(-1/2)*exp(-1/v)"])
def test_other_laws_than_those_of_t_noise_have_no_such_epsilon(mixing):
    with pytest.raises(Undecided):
        process_evaluations.inverse_gamma(process("brownian", "t", mixing=parse(mixing)))


# -- what the rules refuse -----------------------------------------------------------------------------------


def test_a_sensitivity_beside_differences_is_refused():
    claim = Claim(process("brownian", "t"), ONE, parse("1/2"), sensitivity=ONE)
    with pytest.raises(CertificateError, match="beside"):
        from_json(to_json(claim))


def test_finitely_many_evaluations_are_no_function():
    with pytest.raises(Rejected, match="finitely many"):
        elliptical_process.whole(process("brownian", "t", count=num(3)), "a rule")
    assert (
        verify(Claim(replace(process("brownian", count=num(3)), differences=()), parse("1000"), sensitivity=ONE), 6).judgement.verdict
        == "UNKNOWN"
    )


def test_the_pure_refutation_wants_a_norm_that_is_positive():
    evidence = {"sensitivity": [{}]}
    with pytest.raises(DpverifyError):
        unbounded.check(Claim(process("brownian", "0"), ONE), evidence)


def test_a_claim_with_a_covariance_is_read_back():
    claim = Claim(process("matern-3/2", "t", "1 - t", places=(Num(Fraction(1, 2)),)), ONE, parse("1/2"))
    assert from_json(to_json(claim)) == claim


# -- a law by its transform ------------------------------------------------------------------------------------


def by_transform(text, *differences, **more):
    return replace(process("brownian", *differences, **more), transform=(parse(text),), scale=num(4))


def test_theorem_5_by_the_transform_is_that_by_the_density():
    evidence = {"sensitivity": [{"cells": 1}]}
    asked = {"epsilon": ONE, "delta": None}
    gamma = replace(process("brownian", "t", mixing=parse("v**(3/2)*exp(-v/2)")), scale=num(4))
    told, drawn = (cameron_martin.check(Claim(noise, **asked), evidence).value for noise in (by_transform("(1 - 2*u)**(-5/2)", "t"), gamma))
    assert constant(told).overlaps(arb("0.00167844723208535", 1e-15))
    assert (constant(told) - constant(drawn)).abs_upper() < 1e-15


@pytest.mark.parametrize("text", ["2*exp(u)", "exp(-u)", "1 + u", "(1 + 2*u)**(-5/2)"])
def test_what_is_no_transform_of_a_variance_is_refused(text):
    with pytest.raises(DpverifyError):
        cameron_martin.check(Claim(by_transform(text, "t"), ONE, None), {"sensitivity": [{"cells": 1}]})


def test_a_transform_gives_no_curve():
    with pytest.raises(Rejected, match="moment generating function"):
        elliptical_process.curve(by_transform("exp(u)", "t"), processes.sensitivity(process("brownian", "t"), [{"cells": 1}]))


# -- tables ------------------------------------------------------------------------------------------------------


def test_a_table_of_evaluations_is_what_each_of_them_costs():
    rows = evaluation_tables.table(process("matern-3/2", "1 + t", mixing=T5), 8)
    for n in (1, 3, 8):
        points = tuple(Num(Fraction(i, 8)) for i in range(1, n + 1))
        claim = Claim(process("matern-3/2", "1 + t", mixing=T5, places=points), None)
        judged = verify(claim, 10).judgement
        assert (
            constant(judged.upper).overlaps(rows[n - 1].epsilon) or abs(float(constant(judged.upper)) - float(rows[n - 1].epsilon)) < 1e-12
        )


def test_a_table_at_a_stated_norm_is_the_closed_form():
    rows = evaluation_tables.table(process("brownian", mixing=T5), 100, norm=ONE)
    assert [float(row.epsilon) for row in rows] == pytest.approx([(5 + n) * np.arcsinh(1 / (2 * np.sqrt(5))) for n in range(1, 101)])


def test_points_too_close_for_any_precision_that_is_tried_are_refused():
    with pytest.raises(Undecided, match="digits"):
        evaluation_tables.table(process("kernel", "t", shape=("s*t",), mixing=T5), 3)
